//! The decision procedure and the questions answered with it.

use super::problem::{Bounds, Budget, Problem, Shadow, Step, Stop};
use super::system::{Row, System};

/// The answer of [`feasible`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feasibility {
    /// Some integer point satisfies every constraint.
    Feasible,
    /// No integer point does.
    Infeasible,
    /// The work limit was reached, or a number overflowed 64 bits.
    Unknown,
}

/// The work limit of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Row operations; each takes some tens of nanoseconds.
    pub steps: u64,
}

impl Default for Limit {
    fn default() -> Self {
        Self { steps: 200_000 }
    }
}

/// Whether some integer point satisfies `system`. Exact unless the answer is [`Feasibility::Unknown`].
pub fn feasible(system: &System, limit: Limit) -> Feasibility {
    match Problem::new(system).and_then(|problem| decide(problem, limit)) {
        Ok(()) => Feasibility::Feasible,
        Err(Stop::Infeasible) => Feasibility::Infeasible,
        Err(Stop::Unknown) => Feasibility::Unknown,
    }
}

/// Whether every integer point of `system` satisfies `sum(terms) + constant >= 0`. "Unknown" counts as no.
pub fn implies_ge(system: &System, terms: &[(usize, i64)], constant: i64) -> bool {
    let Some(negated) = negation(terms, constant) else { return false };
    if negated.coeffs.len() > system.n_vars() {
        // A variable the system does not have may take any value.
        return false;
    }
    let added = Problem::new(system).and_then(|mut problem| {
        problem.push_ge(&negated)?;
        decide(problem, Limit::default())
    });
    added == Err(Stop::Infeasible)
}

/// Whether every integer point of `system` satisfies `sum(terms) + constant == 0`. "Unknown" counts as no.
pub fn implies_eq(system: &System, terms: &[(usize, i64)], constant: i64) -> bool {
    let opposite: Option<Vec<_>> = terms.iter().map(|&(var, c)| Some((var, c.checked_neg()?))).collect();
    let (Some(opposite), Some(negative)) = (opposite, constant.checked_neg()) else { return false };
    implies_ge(system, terms, constant) && implies_ge(system, &opposite, negative)
}

/// An integer point of `system`, if one is found within `limit` per test. Coordinates are chosen in variable order,
/// each the smallest non-negative one if there is one.
pub fn sample(system: &System, limit: Limit) -> Option<Vec<i64>> {
    if feasible(system, limit) != Feasibility::Feasible {
        return None;
    }
    let mut system = system.clone();
    let mut point = Vec::with_capacity(system.n_vars());
    for var in 0..system.n_vars() {
        let value = value_of(&mut system, var, limit)?;
        system.add_eq(&[(var, 1)], -value);
        point.push(value);
    }
    Some(point)
}

/// A value that `var` takes at some integer point of `system`: the smallest non-negative one, else the greatest. `None`
/// if there is no point, or none was found.
pub fn sample_var(system: &System, var: usize, limit: Limit) -> Option<i64> {
    match feasible(system, limit) {
        Feasibility::Feasible => value_of(&mut system.clone(), var, limit),
        Feasibility::Infeasible | Feasibility::Unknown => None,
    }
}

fn value_of(system: &mut System, var: usize, limit: Limit) -> Option<i64> {
    let mut holds_within = |low: i64, high: i64| {
        let mark = system.mark();
        system.add_ge(&[(var, 1)], -low);
        system.add_ge(&[(var, -1)], high);
        let answer = feasible(system, limit);
        system.rollback(mark);
        match answer {
            Feasibility::Feasible => Some(true),
            Feasibility::Infeasible => Some(false),
            Feasibility::Unknown => None,
        }
    };
    least_magnitude(|m| holds_within(0, m)).or_else(|| Some(-least_magnitude(|m| holds_within(-m, -1))?))
}

/// The least `m >= 0` for which the monotone `holds` is true, below 2^40.
fn least_magnitude(mut holds: impl FnMut(i64) -> Option<bool>) -> Option<i64> {
    let (mut low, mut high) = (0, 0);
    while !holds(high)? {
        low = high + 1;
        high = 2 * high + 1;
        if high >= 1 << 40 {
            return None;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// `-sum(terms) - constant - 1`, as a row.
fn negation(terms: &[(usize, i64)], constant: i64) -> Option<Row> {
    let len = terms.iter().map(|&(var, _)| var + 1).max().unwrap_or(0);
    let mut coeffs = vec![0_i64; len];
    for &(var, coeff) in terms {
        coeffs[var] = coeffs[var].checked_sub(coeff)?;
    }
    coeffs.truncate(coeffs.iter().rposition(|&coeff| coeff != 0).map_or(0, |last| last + 1));
    Some(Row { coeffs, constant: constant.checked_neg()?.checked_sub(1)? })
}

/// `Ok` if the problem has an integer point.
pub(super) fn decide(mut problem: Problem, limit: Limit) -> Step {
    problem.compact();
    let mut solver = Solver { budget: Budget(limit.steps), table: Vec::new() };
    solver.solve(problem)
}

struct Solver {
    budget: Budget,
    table: Vec<u32>,
}

impl Solver {
    fn solve(&mut self, mut problem: Problem) -> Step {
        loop {
            problem.eliminate_equalities(&mut self.budget)?;
            problem.normalise_inequalities(&mut self.budget, &mut self.table)?;
            if problem.has_eqs() {
                continue;
            }
            let bounds = problem.drop_unbounded();
            if problem.n_geqs() == 0 {
                return Ok(());
            }
            let Some(col) = cheapest(&bounds) else { return Ok(()) };
            if !bounds[col].is_exact() {
                return self.split(&problem, col);
            }
            problem.eliminate(col, Shadow::Real, &mut self.budget)?;
        }
    }

    /// Decides by the real shadow of `col`, then its dark shadow, then the splinters between.
    fn split(&mut self, problem: &Problem, col: usize) -> Step {
        self.shadow(problem, col, Shadow::Real)?;
        if let done @ (Ok(()) | Err(Stop::Unknown)) = self.shadow(problem, col, Shadow::Dark) {
            return done;
        }
        for splinter in problem.splinters(col)? {
            let mut part = problem.clone();
            part.push_splinter(&splinter);
            match self.solve(part) {
                Err(Stop::Infeasible) => {}
                done => return done,
            }
        }
        Err(Stop::Infeasible)
    }

    fn shadow(&mut self, problem: &Problem, col: usize, shadow: Shadow) -> Step {
        let mut part = problem.clone();
        part.eliminate(col, shadow, &mut self.budget)?;
        self.solve(part)
    }
}

/// The column to eliminate: one whose elimination is exact if there is any, then the one that adds the fewest rows.
fn cheapest(bounds: &[Bounds]) -> Option<usize> {
    (1..bounds.len()).min_by_key(|&col| (!bounds[col].is_exact(), bounds[col].growth()))
}
