//! The working form of a system and the elimination steps of the Omega test.

use super::system::{Row, System};

/// Why an elimination ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The constraints contradict each other.
    Infeasible,
    /// The work limit was reached, or a coefficient overflowed.
    Unknown,
}

pub(super) type Step = Result<(), Stop>;

/// Remaining work, in row operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(pub(super) u64);

impl Budget {
    pub(super) fn spend(&mut self, amount: usize) -> Step {
        self.0 = self.0.checked_sub(amount as u64).ok_or(Stop::Unknown)?;
        Ok(())
    }
}

/// Which shadow an elimination casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shadow {
    /// Contains the projection of every integer point.
    Real,
    /// Each of its integer points is the projection of an integer point.
    Dark,
}

/// How a row may be scaled down when its numbers grow too large.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Divide exactly, or not at all.
    Eq,
    /// Divide and round the constant down.
    Ge,
    /// Not at all: the constant will still change.
    Unfinished,
}

/// Rows stored one after another, `stride` numbers each: the constant, then one coefficient per column.
/// Columns `1..=n` are in use. Every number lies in `-i64::MAX..=i64::MAX`.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) n: usize,
    stride: usize,
    eqs: Vec<i64>,
    geqs: Vec<i64>,
}

/// How the inequalities bound one column.
#[derive(Clone, Copy, Default)]
pub(super) struct Bounds {
    pub(super) n_lower: usize,
    pub(super) n_upper: usize,
    max_lower: i64,
    max_upper: i64,
}

impl Bounds {
    /// Whether eliminating the column keeps the integer points exactly.
    pub(super) fn is_exact(&self) -> bool {
        self.max_lower <= 1 || self.max_upper <= 1
    }

    /// The number of rows that an elimination adds, less those it removes.
    pub(super) fn growth(&self) -> isize {
        (self.n_lower * self.n_upper) as isize - (self.n_lower + self.n_upper) as isize
    }

    fn is_unused(&self) -> bool {
        self.n_lower + self.n_upper == 0
    }

    fn is_one_sided(&self) -> bool {
        (self.n_lower == 0) != (self.n_upper == 0)
    }
}

impl Problem {
    /// The problem whose column `i + 1` is variable `i`.
    pub(super) fn new(system: &System) -> Result<Self, Stop> {
        if system.overflowed() {
            return Err(Stop::Unknown);
        }
        let n = system.n_vars();
        let stride = n + 1;
        let mut problem = Self {
            n,
            stride,
            eqs: Vec::with_capacity(stride * (system.eqs().len() + 2)),
            geqs: Vec::with_capacity(stride * (system.geqs().len() + 2)),
        };
        for row in system.eqs() {
            problem.push_eq(row)?;
        }
        for row in system.geqs() {
            problem.push_ge(row)?;
        }
        Ok(problem)
    }

    /// Drops the columns that no row uses.
    pub(super) fn compact(&mut self) {
        let mut used = vec![false; self.n + 1];
        for row in self.eqs.chunks_exact(self.stride).chain(self.geqs.chunks_exact(self.stride)) {
            used.iter_mut().zip(row).for_each(|(used, &value)| *used |= value != 0);
        }
        for col in (1..=self.n).rev() {
            if !used[col] {
                self.remove_column(col);
            }
        }
    }

    /// Adds `row == 0`.
    pub(super) fn push_eq(&mut self, row: &Row) -> Step {
        push_row(&mut self.eqs, self.stride, row)
    }

    /// Adds `row >= 0`.
    pub(super) fn push_ge(&mut self, row: &Row) -> Step {
        push_row(&mut self.geqs, self.stride, row)
    }

    /// Turns inequality `idx` into its negation.
    pub(super) fn negate_ge(&mut self, idx: usize) {
        let row = &mut self.geqs[idx * self.stride..][..self.stride];
        row.iter_mut().for_each(|value| *value = -*value);
        row[0] = row[0].saturating_sub(1).max(-i64::MAX);
    }

    /// Removes inequality `idx`; those after it move down by one.
    pub(super) fn remove_ge(&mut self, idx: usize) {
        self.geqs.drain(idx * self.stride..(idx + 1) * self.stride);
    }

    /// Whether inequality `idx` bounds some column from a side on which nothing else does. Such a row is not
    /// implied by the others, unless these contradict each other.
    pub(super) fn alone_bounds_something(&self, idx: usize) -> bool {
        let row = &self.geqs[idx * self.stride..][..=self.n];
        (1..=self.n).any(|col| {
            row[col] != 0
                && self.eqs.chunks_exact(self.stride).all(|eq| eq[col] == 0)
                && self
                    .geqs
                    .chunks_exact(self.stride)
                    .enumerate()
                    .all(|(other, geq)| other == idx || geq[col].signum() != row[col].signum())
        })
    }

    pub(super) fn n_geqs(&self) -> usize {
        self.geqs.len() / self.stride
    }

    pub(super) fn has_eqs(&self) -> bool {
        !self.eqs.is_empty()
    }

    /// The system over the same columns.
    pub(super) fn to_system(&self, n_vars: usize) -> System {
        let row = |row: &[i64]| {
            let len = row.iter().rposition(|&value| value != 0).unwrap_or(0);
            Row { coeffs: row[1..=len].to_vec(), constant: row[0] }
        };
        let mut system = System::new(n_vars);
        system.eqs_mut().extend(self.eqs.chunks_exact(self.stride).map(row));
        system.geqs_mut().extend(self.geqs.chunks_exact(self.stride).map(row));
        system
    }

    /// Eliminates every equality, by substitution or by the symmetric modulo of Pugh's test.
    pub(super) fn eliminate_equalities(&mut self, budget: &mut Budget) -> Step {
        while self.has_eqs() {
            budget.spend(1 + (self.eqs.len() + self.geqs.len()) / self.stride)?;
            self.normalise_equalities()?;
            // The row and column with the smallest coefficient.
            let mut best: Option<(i64, usize, usize)> = None;
            'rows: for (idx, row) in self.eqs.chunks_exact(self.stride).enumerate() {
                for (col, &coeff) in row.iter().enumerate().take(self.n + 1).skip(1) {
                    if coeff != 0 && best.is_none_or(|(least, ..)| coeff.abs() < least) {
                        best = Some((coeff.abs(), idx, col));
                        if coeff.abs() == 1 {
                            break 'rows;
                        }
                    }
                }
            }
            let Some((least, idx, col)) = best else { return Ok(()) };
            if least == 1 {
                self.substitute(idx, col)?;
                self.remove_column(col);
            } else {
                self.reduce_coefficients(idx, col)?;
            }
        }
        Ok(())
    }

    /// Divides equalities by the greatest common divisor of their coefficients and drops trivial ones.
    pub(super) fn normalise_equalities(&mut self) -> Step {
        let (n, stride) = (self.n, self.stride);
        let mut idx = 0;
        while idx * stride < self.eqs.len() {
            let row = &mut self.eqs[idx * stride..][..=n];
            let divisor = gcd_all(&row[1..]);
            if divisor == 0 {
                if row[0] != 0 {
                    return Err(Stop::Infeasible);
                }
                swap_remove_row(&mut self.eqs, stride, idx);
                continue;
            }
            if divisor > 1 {
                if row[0] % divisor != 0 {
                    return Err(Stop::Infeasible);
                }
                row.iter_mut().for_each(|value| *value /= divisor);
            }
            idx += 1;
        }
        Ok(())
    }

    /// An equality with a unit coefficient in one of `cols`, else any equality that mentions one.
    pub(super) fn find_equality(&self, cols: &[usize]) -> Option<(usize, usize)> {
        let mut best: Option<(i64, usize, usize)> = None;
        for (idx, row) in self.eqs.chunks_exact(self.stride).enumerate() {
            for &col in cols {
                let abs = row[col].abs();
                if abs != 0 && best.is_none_or(|(least, ..)| abs < least) {
                    best = Some((abs, idx, col));
                }
            }
        }
        best.map(|(_, idx, col)| (idx, col))
    }

    /// Whether equality `idx` defines the variable of `col` in integers.
    pub(super) fn is_unit_pivot(&self, idx: usize, col: usize) -> bool {
        self.eqs[idx * self.stride + col].abs() == 1
    }

    /// Removes equality `idx` and uses it to clear column `col` everywhere else. The rational solutions stay the
    /// same; the integer ones too if the coefficient is a unit.
    pub(super) fn substitute(&mut self, idx: usize, col: usize) -> Step {
        let (n, stride) = (self.n, self.stride);
        let eq: Vec<i64> = self.eqs[idx * stride..][..=n].to_vec();
        swap_remove_row(&mut self.eqs, stride, idx);
        let pivot = eq[col];
        for (kind, rows) in [(Kind::Eq, &mut self.eqs), (Kind::Ge, &mut self.geqs)] {
            for row in rows.chunks_exact_mut(stride) {
                let row = &mut row[..=n];
                if row[col] == 0 {
                    continue;
                }
                let common = gcd(pivot, row[col]);
                let scale = (pivot / common).abs();
                let factor = -(row[col] / common) * pivot.signum();
                combine_into(kind, scale, row, factor, &eq)?;
            }
        }
        Ok(())
    }

    /// Replaces the variable of `col` by one that makes the coefficients of equality `idx` smaller: with
    /// `m = |a| + 1` for its least coefficient `a`, the substitution that follows from taking the equality
    /// modulo `m`.
    fn reduce_coefficients(&mut self, idx: usize, col: usize) -> Step {
        let (n, stride) = (self.n, self.stride);
        let eq: Vec<i64> = self.eqs[idx * stride..][..=n].to_vec();
        let sign = eq[col].signum();
        let modulus = eq[col].abs().checked_add(1).ok_or(Stop::Unknown)?;
        // x[col] = sign * (sum of hats) - sign * modulus * fresh, with the fresh variable kept in `col`.
        let mut value: Vec<i64> = eq.iter().map(|&coeff| sign * symmetric_mod(coeff, modulus)).collect();
        value[col] = -sign * modulus;
        for (kind, rows) in [(Kind::Eq, &mut self.eqs), (Kind::Ge, &mut self.geqs)] {
            for row in rows.chunks_exact_mut(stride) {
                let row = &mut row[..=n];
                let factor = std::mem::take(&mut row[col]);
                if factor != 0 {
                    combine_into(kind, 1, row, factor, &value)?;
                }
            }
        }
        Ok(())
    }

    /// Tightens inequalities, drops duplicates, finds contradictions between parallel ones, and turns opposite
    /// pairs that leave a single value into equalities (then [`Problem::has_eqs`]).
    pub(super) fn normalise_inequalities(&mut self, budget: &mut Budget, table: &mut Vec<u32>) -> Step {
        let (n, stride) = (self.n, self.stride);
        let n_rows = self.n_geqs();
        budget.spend(1 + n_rows)?;
        let n_slots = (2 * n_rows + 1).next_power_of_two();
        table.clear();
        table.resize(n_slots, 0);
        let mut kept = 0;
        'rows: for idx in 0..n_rows {
            let (done, rest) = self.geqs.split_at_mut(idx * stride);
            let row = &mut rest[..=n];
            let divisor = gcd_all(&row[1..]);
            if divisor == 0 {
                if row[0] < 0 {
                    return Err(Stop::Infeasible);
                }
                continue;
            }
            if divisor > 1 {
                row[1..].iter_mut().for_each(|value| *value /= divisor);
                row[0] = row[0].div_euclid(divisor);
            }
            let mut slot = slot_of(&row[1..]) & (n_slots - 1);
            while table[slot] != 0 {
                let other = &mut done[(table[slot] as usize - 1) * stride..][..=n];
                if other[1..] == row[1..] {
                    other[0] = other[0].min(row[0]);
                    continue 'rows;
                }
                slot = (slot + 1) & (n_slots - 1);
            }
            table[slot] = kept as u32 + 1;
            self.geqs.copy_within(idx * stride..idx * stride + n + 1, kept * stride);
            kept += 1;
        }
        self.geqs.truncate(kept * stride);
        self.match_opposites(table)
    }

    /// Compares each row with the opposite one. `table` holds every row under its hash.
    fn match_opposites(&mut self, table: &[u32]) -> Step {
        let (n, stride) = (self.n, self.stride);
        let mask = table.len() - 1;
        let mut eqs = std::mem::take(&mut self.eqs);
        for (idx, row) in self.geqs.chunks_exact(stride).enumerate() {
            let mut slot = slot_of(&row[1..=n]) & mask;
            while table[slot] != 0 {
                let other_idx = table[slot] as usize - 1;
                let other = &self.geqs[other_idx * stride..][..=n];
                if other_idx < idx && row[1..=n].iter().zip(&other[1..]).all(|(&a, &b)| a == -b) {
                    match row[0].checked_add(other[0]) {
                        Some(0) => eqs.extend_from_slice(row),
                        Some(width) if width < 0 => return Err(Stop::Infeasible),
                        None if row[0] < 0 => return Err(Stop::Infeasible),
                        _ => {}
                    }
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
        self.eqs = eqs;
        Ok(())
    }

    /// Drops inequalities that a variable unbounded on one side can always satisfy and columns no longer used, and
    /// returns the bounds of the columns that remain.
    pub(super) fn drop_unbounded(&mut self) -> Vec<Bounds> {
        let mut bounds = vec![Bounds::default(); self.n + 1];
        loop {
            bounds.clear();
            bounds.resize(self.n + 1, Bounds::default());
            self.count_bounds(&mut bounds);
            if bounds.iter().any(Bounds::is_one_sided) {
                let mut idx = 0;
                while idx * self.stride < self.geqs.len() {
                    let row = &self.geqs[idx * self.stride..][..=self.n];
                    if row.iter().zip(&bounds).any(|(&value, b)| value != 0 && b.is_one_sided()) {
                        swap_remove_row(&mut self.geqs, self.stride, idx);
                    } else {
                        idx += 1;
                    }
                }
                continue;
            }
            for col in (1..=self.n).rev() {
                if bounds[col].is_unused() {
                    self.remove_column(col);
                    bounds.swap_remove(col);
                }
            }
            return bounds;
        }
    }

    /// Counts the inequalities that bound each column; `bounds` has one entry per column, zeroed.
    pub(super) fn count_bounds(&self, bounds: &mut [Bounds]) {
        for row in self.geqs.chunks_exact(self.stride) {
            for (&coeff, bound) in row[1..=self.n].iter().zip(&mut bounds[1..]) {
                if coeff > 0 {
                    bound.n_lower += 1;
                    bound.max_lower = bound.max_lower.max(coeff);
                } else if coeff < 0 {
                    bound.n_upper += 1;
                    bound.max_upper = bound.max_upper.max(-coeff);
                }
            }
        }
    }

    /// Fourier-Motzkin: replaces the inequalities on `col` by all their combinations.
    pub(super) fn eliminate(&mut self, col: usize, shadow: Shadow, budget: &mut Budget) -> Step {
        let (n, stride) = (self.n, self.stride);
        let mut lower = Vec::new();
        let mut upper = Vec::new();
        let mut out = Vec::with_capacity(self.geqs.len());
        for row in self.geqs.chunks_exact(stride) {
            match row[col] {
                0 => out.extend_from_slice(row),
                coeff if coeff > 0 => lower.push(row),
                _ => upper.push(row),
            }
        }
        budget.spend(lower.len() * upper.len())?;
        for low in &lower {
            for up in &upper {
                let (b, a) = (low[col], -up[col]);
                let start = out.len();
                out.resize(start + stride, 0);
                let row = &mut out[start..][..=n];
                row.copy_from_slice(&low[..=n]);
                match shadow {
                    Shadow::Real => {
                        let common = gcd(a, b);
                        combine_into(Kind::Ge, a / common, row, b / common, &up[..=n])?;
                    }
                    Shadow::Dark => {
                        combine_into(Kind::Unfinished, a, row, b, &up[..=n])?;
                        let gap = (a - 1).checked_mul(b - 1).ok_or(Stop::Unknown)?;
                        row[0] = row[0].checked_sub(gap).filter(|&c| c != i64::MIN).ok_or(Stop::Unknown)?;
                    }
                }
            }
        }
        self.geqs = out;
        Ok(())
    }

    /// The splinters: at any integer point that the dark shadow of `col` misses, one of these equalities holds.
    pub(super) fn splinters(&self, col: usize) -> Result<Vec<Vec<i64>>, Stop> {
        let rows = || self.geqs.chunks_exact(self.stride);
        let max_lower = rows().map(|row| row[col]).max().unwrap_or(0);
        let max_upper = rows().map(|row| -row[col]).max().unwrap_or(0);
        // The largest distance by which a bound with coefficient c misses an opposite one with coefficient m.
        let reach = |c: i64, m: i64| {
            let (c, m) = (i128::from(c), i128::from(m));
            (m * c - m - c).div_euclid(m)
        };
        let total = |sign: i64, opposite: i64| -> i128 {
            rows().map(|row| sign * row[col]).filter(|&c| c > 0).map(|c| reach(c, opposite) + 1).sum()
        };
        let (lower, upper) = (total(1, max_upper), total(-1, max_lower));
        let (sign, opposite) = if lower <= upper { (1, max_upper) } else { (-1, max_lower) };
        if lower.min(upper) > 10_000 {
            return Err(Stop::Unknown);
        }
        let mut splinters = Vec::new();
        for row in rows().filter(|row| sign * row[col] > 0) {
            for i in 0..=reach(sign * row[col], opposite) {
                let mut splinter = row.to_vec();
                splinter[0] = splinter[0].checked_sub(i as i64).ok_or(Stop::Unknown)?;
                splinters.push(splinter);
            }
        }
        Ok(splinters)
    }

    /// Adds an equality in the layout of this problem.
    pub(super) fn push_splinter(&mut self, row: &[i64]) {
        self.eqs.extend_from_slice(row);
    }

    /// Removes `col`, whose coefficients are all zero; the last column takes its place.
    fn remove_column(&mut self, col: usize) {
        let last = self.n;
        if col != last {
            for row in self.eqs.chunks_exact_mut(self.stride).chain(self.geqs.chunks_exact_mut(self.stride)) {
                row[col] = row[last];
                row[last] = 0;
            }
        }
        self.n -= 1;
    }
}

fn push_row(rows: &mut Vec<i64>, stride: usize, row: &Row) -> Step {
    debug_assert!(row.coeffs.len() < stride, "a row names a variable beyond the problem's");
    if row.constant == i64::MIN || row.coeffs.contains(&i64::MIN) {
        return Err(Stop::Unknown);
    }
    let start = rows.len();
    rows.push(row.constant);
    rows.extend_from_slice(&row.coeffs);
    rows.resize(start + stride, 0);
    Ok(())
}

fn swap_remove_row(rows: &mut Vec<i64>, stride: usize, idx: usize) {
    let last = rows.len() - stride;
    rows.copy_within(last.., idx * stride);
    rows.truncate(last);
}

/// `row = p * row + q * other`, falling back to 128 bits and division by the common divisor.
fn combine_into(kind: Kind, p: i64, row: &mut [i64], q: i64, other: &[i64]) -> Step {
    let fits = row.iter().zip(other).all(|(&x, &y)| small(x) && small(y)) && small(p) && small(q);
    if fits {
        for (x, &y) in row.iter_mut().zip(other) {
            *x = p * *x + q * y;
        }
        return Ok(());
    }
    // Products stay below 2^126, so their sum fits.
    let product = |x: i64, y: i64| i128::from(p) * i128::from(x) + i128::from(q) * i128::from(y);
    let mut wide: Vec<i128> = row.iter().zip(other).map(|(&x, &y)| product(x, y)).collect();
    let divisor = wide[1..].iter().fold(0_u128, |acc, &value| gcd_wide(acc, value.unsigned_abs())) as i128;
    let divide = match kind {
        Kind::Eq => divisor > 1 && wide[0] % divisor == 0,
        Kind::Ge => divisor > 1,
        Kind::Unfinished => false,
    };
    if divide {
        wide[1..].iter_mut().for_each(|value| *value /= divisor);
        wide[0] = wide[0].div_euclid(divisor);
    }
    narrow(row, &wide)
}

fn narrow(row: &mut [i64], wide: &[i128]) -> Step {
    for (value, &source) in row.iter_mut().zip(wide) {
        *value = i64::try_from(source).ok().filter(|&v| v != i64::MIN).ok_or(Stop::Unknown)?;
    }
    Ok(())
}

/// Whether a sum of two products of such values fits in 64 bits.
fn small(value: i64) -> bool {
    (-(1 << 30)..=1 << 30).contains(&value)
}

/// A hash that is equal for opposite rows.
fn slot_of(coeffs: &[i64]) -> usize {
    let mut weight = 0x9e37_79b9_7f4a_7c15_u64;
    let mut hash = 0_u64;
    for &coeff in coeffs {
        hash = hash.wrapping_add((coeff as u64).wrapping_mul(weight));
        weight = weight.wrapping_mul(0xd129_42bb_7e6c_84a5);
    }
    (hash.min(hash.wrapping_neg()) >> 32) as usize
}

/// The value congruent to `value` nearest to zero, in `-modulus/2 ..` below `modulus/2`.
fn symmetric_mod(value: i64, modulus: i64) -> i64 {
    let rest = value.rem_euclid(modulus);
    if rest >= modulus - rest { rest - modulus } else { rest }
}

/// The greatest common divisor of all values; zero if they all are.
fn gcd_all(values: &[i64]) -> i64 {
    let mut divisor = 0;
    for &value in values {
        if value != 0 {
            divisor = gcd(divisor, value);
            if divisor == 1 {
                break;
            }
        }
    }
    divisor
}

/// The greatest common divisor, not negative. Neither argument is `i64::MIN`.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

fn gcd_wide(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
