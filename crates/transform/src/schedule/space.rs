//! Conversion between IR constraints and the integer systems of the exact test.

pub(crate) use oxeye_analysis::implies;
use oxeye_analysis::omega::{Row, System, project_out, simplify};
use oxeye_ir::{Affine, Constraint, LoopId, Relation, Var};
use std::collections::BTreeMap;

/// Numbers IR variables as columns of a system. Loops may occur in several instances; symbols are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    columns: BTreeMap<(u8, Var), usize>,
    vars: Vec<(u8, Var)>,
}

impl Space {
    /// The column of a variable of an instance.
    pub(crate) fn column(&mut self, instance: u8, var: Var) -> usize {
        let key = match var {
            Var::Sym(_) => (0, var),
            Var::Loop(_) => (instance, var),
        };
        *self.columns.entry(key).or_insert_with(|| {
            self.vars.push(key);
            self.vars.len() - 1
        })
    }

    /// The column of a variable that already has one.
    pub(crate) fn find(&self, instance: u8, var: Var) -> Option<usize> {
        let instance = if matches!(var, Var::Sym(_)) { 0 } else { instance };
        self.columns.get(&(instance, var)).copied()
    }

    /// Terms of an expression.
    pub(crate) fn terms(&mut self, instance: u8, expr: &Affine) -> Vec<(usize, i64)> {
        expr.terms().map(|(v, c)| (self.column(instance, v), c)).collect()
    }

    /// `y − x` of two instances: its terms, with each column once, and its constant.
    pub(crate) fn difference(
        &mut self,
        (i, x): (u8, &Affine),
        (j, y): (u8, &Affine),
    ) -> (Vec<(usize, i64)>, i64) {
        let mut terms = self.terms(j, y);
        for (column, c) in self.terms(i, x) {
            match terms.iter_mut().find(|(k, _)| *k == column) {
                Some((_, existing)) => *existing -= c,
                None => terms.push((column, -c)),
            }
        }
        (terms, y.constant_part() - x.constant_part())
    }

    /// Adds a constraint.
    pub(crate) fn add(&mut self, system: &mut System, instance: u8, constraint: &Constraint) {
        let terms = self.terms(instance, &constraint.expr);
        self.fit(system);
        let constant = constraint.expr.constant_part();
        match constraint.relation {
            Relation::Zero => system.add_eq(&terms, constant),
            Relation::NonNegative => system.add_ge(&terms, constant),
        }
    }

    /// Extends the system to all columns.
    pub(crate) fn fit(&self, system: &mut System) {
        let missing = self.vars.len().saturating_sub(system.n_vars());
        if missing > 0 {
            system.add_vars(missing);
        }
    }

    fn affine(&self, row: &Row) -> Affine {
        row.terms().fold(Affine::constant(row.constant), |sum, (column, c)| {
            sum.add_scaled(&Affine::var(self.vars[column].1), c)
        })
    }

    fn constraints(&self, system: &System) -> Vec<Constraint> {
        let of = |row: &Row, relation| Constraint { expr: self.affine(row), relation };
        system
            .eqs()
            .iter()
            .map(|r| of(r, Relation::Zero))
            .chain(system.geqs().iter().map(|r| of(r, Relation::NonNegative)))
            .collect()
    }
}

/// A system over instance 0 of all variables.
pub(crate) fn system_of<'a>(
    space: &mut Space,
    constraints: impl IntoIterator<Item = &'a Constraint>,
) -> System {
    let mut system = System::new(0);
    for c in constraints {
        space.add(&mut system, 0, c);
    }
    space.fit(&mut system);
    system
}

/// Over-approximation of the projection of `constraints` without the loops in `away`.
pub(crate) fn project(constraints: &[Constraint], away: &[LoopId]) -> Vec<Constraint> {
    let mut space = Space::default();
    let columns: Vec<usize> = away.iter().map(|l| space.column(0, Var::Loop(*l))).collect();
    let system = system_of(&mut space, constraints);
    space.constraints(&project_out(&system, &columns))
}

/// The constraints that `context` and the others do not imply.
pub(crate) fn gist(constraints: &[Constraint], context: &[Constraint]) -> Vec<Constraint> {
    let mut space = Space::default();
    let mut context = system_of(&mut space, context);
    let mut system = system_of(&mut space, constraints);
    space.fit(&mut context);
    space.fit(&mut system);
    space.constraints(&simplify(&system, &context))
}

/// Whether no integer point satisfies all constraints (false if undecided).
pub(crate) fn is_empty(constraints: &[Constraint]) -> bool {
    let mut space = Space::default();
    let system = system_of(&mut space, constraints);
    oxeye_analysis::omega::feasible(&system, Default::default())
        == oxeye_analysis::omega::Feasibility::Infeasible
}
