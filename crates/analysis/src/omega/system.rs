//! Systems of linear equalities and inequalities over integer variables.

use std::fmt;

/// One linear constraint: `sum(coeffs[i] * x[i]) + constant`, which is zero in an equality and at least zero otherwise.
///
/// `coeffs` may be shorter than the number of variables of its system; missing coefficients are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    /// The coefficient of each variable, by variable index.
    pub coeffs: Vec<i64>,
    /// The constant term.
    pub constant: i64,
}

impl Row {
    /// The coefficient of variable `var`.
    pub fn coeff(&self, var: usize) -> i64 {
        self.coeffs.get(var).copied().unwrap_or(0)
    }

    /// The variables with a non-zero coefficient, in ascending order.
    pub fn terms(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.coeffs.iter().copied().enumerate().filter(|&(_, coeff)| coeff != 0)
    }

    /// The value of the row at `point`; variables beyond its end count as zero.
    pub fn value_at(&self, point: &[i64]) -> i128 {
        let sum: i128 = self.coeffs.iter().zip(point).map(|(&c, &x)| i128::from(c) * i128::from(x)).sum();
        sum + i128::from(self.constant)
    }

    /// Whether every coefficient is zero.
    pub fn is_constant(&self) -> bool {
        self.coeffs.iter().all(|&coeff| coeff == 0)
    }
}

/// A conjunction of linear constraints over integer variables, which may be negative.
///
/// Program parameters are variables like any other. Constraints are added in place and taken back with
/// [`System::mark`] and [`System::rollback`], so one system can serve many tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    n_vars: usize,
    eqs: Vec<Row>,
    geqs: Vec<Row>,
    overflowed: bool,
}

/// A state of a [`System`] that can be restored.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    n_vars: usize,
    n_eqs: usize,
    n_geqs: usize,
    overflowed: bool,
}

impl System {
    /// The system without constraints over `n_vars` variables.
    pub fn new(n_vars: usize) -> Self {
        Self { n_vars, ..Self::default() }
    }

    /// The number of variables.
    pub fn n_vars(&self) -> usize {
        self.n_vars
    }

    /// The rows that equal zero.
    pub fn eqs(&self) -> &[Row] {
        &self.eqs
    }

    /// The rows that are at least zero.
    pub fn geqs(&self) -> &[Row] {
        &self.geqs
    }

    /// Adds an unconstrained variable and returns its index.
    pub fn add_var(&mut self) -> usize {
        self.add_vars(1)
    }

    /// Adds `count` unconstrained variables and returns the index of the first.
    pub fn add_vars(&mut self, count: usize) -> usize {
        self.n_vars += count;
        self.n_vars - count
    }

    /// Requires `sum(terms) + constant == 0`. A variable may occur in several terms.
    ///
    /// # Panics
    /// If a term names a variable the system does not have.
    pub fn add_eq(&mut self, terms: &[(usize, i64)], constant: i64) {
        let row = self.row(terms, constant);
        self.eqs.push(row);
    }

    /// Requires `sum(terms) + constant >= 0`. A variable may occur in several terms.
    ///
    /// # Panics
    /// If a term names a variable the system does not have.
    pub fn add_ge(&mut self, terms: &[(usize, i64)], constant: i64) {
        let row = self.row(terms, constant);
        self.geqs.push(row);
    }

    /// Requires `row == 0`.
    pub fn add_eq_row(&mut self, row: Row) {
        assert!(row.coeffs.len() <= self.n_vars, "a row names a variable beyond {}", self.n_vars);
        self.eqs.push(row);
    }

    /// Requires `row >= 0`.
    pub fn add_ge_row(&mut self, row: Row) {
        assert!(row.coeffs.len() <= self.n_vars, "a row names a variable beyond {}", self.n_vars);
        self.geqs.push(row);
    }

    /// Adds a constraint that no point satisfies.
    pub fn add_false(&mut self) {
        self.geqs.push(Row { coeffs: Vec::new(), constant: -1 });
    }

    /// Adds the constraints of `other`, whose variable `i` is variable `i` here. Grows to the larger number of
    /// variables.
    pub fn extend(&mut self, other: &System) {
        self.n_vars = self.n_vars.max(other.n_vars);
        self.eqs.extend_from_slice(&other.eqs);
        self.geqs.extend_from_slice(&other.geqs);
        self.overflowed |= other.overflowed;
    }

    /// Adds the constraints of `other`, whose variable `i` is variable `map[i]` here.
    ///
    /// # Panics
    /// If `map` is shorter than the variables `other` uses, or names a variable this system does not have.
    pub fn extend_mapped(&mut self, other: &System, map: &[usize]) {
        let mapped = |row: &Row| -> Vec<(usize, i64)> { row.terms().map(|(v, c)| (map[v], c)).collect() };
        for row in &other.eqs {
            self.add_eq(&mapped(row), row.constant);
        }
        for row in &other.geqs {
            self.add_ge(&mapped(row), row.constant);
        }
        self.overflowed |= other.overflowed;
    }

    /// Adds the constraints of `other`, whose variable `i` is here the sum of the terms of `forms[i]` and its constant.
    /// Constraints that the system already has are not repeated.
    ///
    /// # Panics
    /// If `forms` is shorter than the variables `other` uses, or names a variable this system does not have.
    pub fn extend_substituted(&mut self, other: &System, forms: &[(Vec<(usize, i64)>, i64)]) {
        let rows = other.eqs.iter().map(|row| (row, true)).chain(other.geqs.iter().map(|row| (row, false)));
        for (row, is_eq) in rows {
            let mut coeffs = vec![0_i64; self.n_vars];
            let mut constant = row.constant;
            let mut fits = true;
            for (var, factor) in row.terms() {
                let (terms, offset) = &forms[var];
                let mut add = |sum: &mut i64, value: i64| match factor
                    .checked_mul(value)
                    .and_then(|product| sum.checked_add(product))
                {
                    Some(total) => *sum = total,
                    None => fits = false,
                };
                terms.iter().for_each(|&(column, coeff)| add(&mut coeffs[column], coeff));
                add(&mut constant, *offset);
            }
            self.overflowed |= !fits;
            let row = Row { coeffs, constant };
            let list = if is_eq { &mut self.eqs } else { &mut self.geqs };
            let is_same = |old: &Row| {
                old.constant == row.constant && (0..self.n_vars).all(|var| old.coeff(var) == row.coeff(var))
            };
            if !list.iter().any(is_same) {
                list.push(row);
            }
        }
        self.overflowed |= other.overflowed;
    }

    /// The current state, for [`System::rollback`].
    pub fn mark(&self) -> Mark {
        Mark {
            n_vars: self.n_vars,
            n_eqs: self.eqs.len(),
            n_geqs: self.geqs.len(),
            overflowed: self.overflowed,
        }
    }

    /// Drops every constraint and variable added since `mark` was taken.
    pub fn rollback(&mut self, mark: Mark) {
        self.n_vars = mark.n_vars;
        self.eqs.truncate(mark.n_eqs);
        self.geqs.truncate(mark.n_geqs);
        self.overflowed = mark.overflowed;
    }

    /// The constraints added since `mark` was taken, over the current variables.
    pub fn since(&self, mark: Mark) -> System {
        System {
            n_vars: self.n_vars,
            eqs: self.eqs[mark.n_eqs..].to_vec(),
            geqs: self.geqs[mark.n_geqs..].to_vec(),
            overflowed: self.overflowed,
        }
    }

    /// Whether `point` satisfies every constraint. Variables beyond its end count as zero.
    pub fn contains(&self, point: &[i64]) -> bool {
        self.eqs.iter().all(|row| row.value_at(point) == 0)
            && self.geqs.iter().all(|row| row.value_at(point) >= 0)
    }

    /// Whether any constraint mentions `var`.
    pub fn mentions(&self, var: usize) -> bool {
        self.eqs.iter().chain(&self.geqs).any(|row| row.coeff(var) != 0)
    }

    /// Whether a constraint was added whose coefficients overflow; every answer is then "unknown".
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub(super) fn retain_eqs(&mut self, keep: impl FnMut(&Row) -> bool) {
        self.eqs.retain(keep);
    }

    pub(super) fn retain_geqs(&mut self, keep: impl FnMut(&Row) -> bool) {
        self.geqs.retain(keep);
    }

    pub(super) fn geqs_mut(&mut self) -> &mut Vec<Row> {
        &mut self.geqs
    }

    pub(super) fn eqs_mut(&mut self) -> &mut Vec<Row> {
        &mut self.eqs
    }

    fn row(&mut self, terms: &[(usize, i64)], constant: i64) -> Row {
        let len = terms.iter().map(|&(var, _)| var + 1).max().unwrap_or(0);
        assert!(len <= self.n_vars, "variable {} of a system with {}", len.wrapping_sub(1), self.n_vars);
        let mut coeffs = vec![0_i64; len];
        for &(var, coeff) in terms {
            let (sum, overflow) = coeffs[var].overflowing_add(coeff);
            coeffs[var] = sum;
            self.overflowed |= overflow;
        }
        Row { coeffs, constant }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (var, coeff) in self.terms() {
            let sign = match (coeff < 0, first) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            match coeff.unsigned_abs() {
                1 => write!(f, "{sign}x{var}")?,
                abs => write!(f, "{sign}{abs}*x{var}")?,
            }
            first = false;
        }
        match (first, self.constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) if c < 0 => write!(f, " - {}", c.unsigned_abs()),
            (false, c) => write!(f, " + {c}"),
        }
    }
}

/// Constraints joined by `and`, in isl notation: `x0 - 2*x1 + 3 >= 0`.
impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.eqs.iter().map(|row| (row, "=")).chain(self.geqs.iter().map(|row| (row, ">=")));
        let mut separator = "";
        for (row, relation) in rows {
            write!(f, "{separator}{row} {relation} 0")?;
            separator = " and ";
        }
        if separator.is_empty() { f.write_str("true") } else { Ok(()) }
    }
}
