//! Projection and simplification of systems.

use super::problem::{Bounds, Budget, Problem, Shadow, Stop};
use super::solve::{Feasibility, Limit, decide, feasible};
use super::system::{Row, System};

/// Work limit for one projection, and for each redundancy test of a row.
const PROJECTION_STEPS: u64 = 200_000;
const REDUNDANCY: Limit = Limit { steps: 5_000 };
/// Number of inequalities above which redundant ones are removed between eliminations.
const CROWDED: usize = 40;
/// Number of inequalities above which redundancy is no longer tested.
const HOPELESS: usize = 300;

/// The result of [`project`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// The constraints on the remaining variables, which keep their numbers.
    pub system: System,
    /// Whether `system` has exactly the points of the projection. Otherwise it has more.
    pub exact: bool,
}

/// Eliminates `vars`. The result contains the projection of every integer point of `system`, and other points only
/// where the rational shadow is not exact or a divisibility condition is lost. Variables keep their numbers; the
/// eliminated ones no longer occur. Redundant inequalities are removed.
pub fn project_out(system: &System, vars: &[usize]) -> System {
    project(system, vars).system
}

/// [`project_out`], which also says whether points were added.
pub fn project(system: &System, vars: &[usize]) -> Projection {
    let mut exact = true;
    let projected = Problem::new(system).and_then(|problem| eliminate_all(problem, vars, &mut exact));
    let system = match projected {
        Ok(problem) => {
            let mut result = problem.to_system(system.n_vars());
            remove_redundant(&mut result, &System::default());
            result
        }
        Err(Stop::Infeasible) => {
            exact = true;
            let mut result = System::new(system.n_vars());
            result.add_false();
            result
        }
        Err(Stop::Unknown) => {
            exact = false;
            let mut result = system.clone();
            let is_kept = |row: &Row| vars.iter().all(|&var| row.coeff(var) == 0);
            result.retain_eqs(is_kept);
            result.retain_geqs(is_kept);
            result
        }
    };
    Projection { system, exact }
}

/// Removes the constraints of `system` that the others and `context` imply. An infeasible system becomes one
/// constraint that never holds.
pub fn simplify(system: &System, context: &System) -> System {
    let mut all = system.clone();
    all.extend(context);
    if feasible(&all, REDUNDANCY) == Feasibility::Infeasible {
        let mut result = System::new(system.n_vars());
        result.add_false();
        return result;
    }
    let mut result = tidy(system);
    remove_redundant(&mut result, context);
    result
}

fn eliminate_all(mut problem: Problem, vars: &[usize], exact: &mut bool) -> Result<Problem, Stop> {
    let mut budget = Budget(PROJECTION_STEPS);
    let mut table = Vec::new();
    let cols: Vec<usize> = vars.iter().map(|&var| var + 1).collect();
    loop {
        problem.normalise_equalities()?;
        if let Some((idx, col)) = problem.find_equality(&cols) {
            budget.spend(1 + problem.n_geqs())?;
            *exact &= problem.is_unit_pivot(idx, col);
            problem.substitute(idx, col)?;
            continue;
        }
        problem.normalise_inequalities(&mut budget, &mut table)?;
        if problem.find_equality(&cols).is_some() {
            continue;
        }
        let mut bounds = vec![Bounds::default(); problem.n + 1];
        problem.count_bounds(&mut bounds);
        let used = cols.iter().copied().filter(|&col| bounds[col].n_lower + bounds[col].n_upper > 0);
        let Some(col) = used.min_by_key(|&col| (bounds[col].growth(), !bounds[col].is_exact())) else {
            return Ok(problem);
        };
        *exact &= bounds[col].is_exact();
        let before = problem.n_geqs();
        problem.eliminate(col, Shadow::Real, &mut budget)?;
        if problem.n_geqs() > CROWDED.max(before) && problem.n_geqs() <= HOPELESS {
            problem.normalise_inequalities(&mut budget, &mut table)?;
            remove_redundant_rows(&mut problem, 0);
        }
    }
}

/// The system with normalised rows, without duplicates or trivial rows.
fn tidy(system: &System) -> System {
    let mut budget = Budget(PROJECTION_STEPS);
    let tidied = Problem::new(system).and_then(|mut problem| {
        problem.normalise_equalities()?;
        problem.normalise_inequalities(&mut budget, &mut Vec::new())?;
        Ok(problem)
    });
    tidied.map_or_else(|_| system.clone(), |problem| problem.to_system(system.n_vars()))
}

/// Drops the constraints of `system` that its others and `context` imply.
fn remove_redundant(system: &mut System, context: &System) {
    let n_vars = system.n_vars().max(context.n_vars());
    let mut idx = 0;
    while idx < system.eqs().len() {
        let row = system.eqs()[idx].clone();
        let mut others = System::new(n_vars);
        others.extend(system);
        others.eqs_mut().remove(idx);
        others.extend(context);
        let terms: Vec<_> = row.terms().collect();
        if row.is_constant() && row.constant == 0 || super::implies_eq(&others, &terms, row.constant) {
            system.eqs_mut().remove(idx);
        } else {
            idx += 1;
        }
    }
    if system.geqs().len() > HOPELESS {
        return;
    }
    // The rows of `system` come first, those of `context` after them.
    let mut all = System::new(n_vars);
    all.extend(system);
    all.extend(context);
    let Ok(mut problem) = Problem::new(&all) else { return };
    let n_context = context.geqs().len();
    let mut kept = remove_redundant_rows(&mut problem, n_context).into_iter();
    system.retain_geqs(|_| kept.next().unwrap_or(true));
}

/// Drops the inequalities that the rest of the problem implies, except the last `n_fixed`. Returns, for each inequality
/// tested, whether it stayed.
fn remove_redundant_rows(problem: &mut Problem, n_fixed: usize) -> Vec<bool> {
    let n_tested = problem.n_geqs() - n_fixed;
    let mut kept = vec![true; n_tested];
    for idx in (0..n_tested).rev() {
        if problem.alone_bounds_something(idx) {
            continue;
        }
        let mut negated = problem.clone();
        negated.negate_ge(idx);
        if decide(negated, REDUNDANCY) == Err(Stop::Infeasible) {
            problem.remove_ge(idx);
            kept[idx] = false;
        }
    }
    kept
}
