//! Facts about a nest's loops, statements and accesses, from which features are made.

use crate::vectors::HostVector;
use oxeye_analysis::{
    Count, NestModel, Role, StmtAccess, Stride, evaluate_symbols, executions, iterations, stride, trip_count,
};
use oxeye_ir::{Access, ArrayId, Expr, Loop, Nest, Node, Program, Stmt, SymId};

/// Bytes of a cache line, as assumed by strides and footprints.
pub(super) const LINE_BYTES: f64 = 64.0;

/// The nest with sizes.
pub(super) struct Facts<'a> {
    pub(super) program: &'a Program,
    pub(super) nest: &'a Nest,
    pub(super) value_of: &'a dyn Fn(SymId) -> Option<i64>,
    pub(super) host: &'a HostVector,
    pub(super) model: NestModel,
    /// In pre-order.
    pub(super) loops: Vec<LoopFacts<'a>>,
    /// In textual order.
    pub(super) stmts: Vec<StmtFacts<'a>>,
}

pub(super) struct LoopFacts<'a> {
    pub(super) l: &'a Loop,
    /// Positions of the loops around it in [`Facts::loops`], outermost first.
    pub(super) path: Vec<usize>,
    /// Conditions between it and the loop around it.
    n_guards: usize,
    /// Iterations each time it is entered.
    pub(super) trip: Option<Count>,
    /// Iterations in total.
    pub(super) total: Option<Count>,
}

pub(super) struct StmtFacts<'a> {
    pub(super) stmt: &'a Stmt,
    /// Positions of the loops around it in [`Facts::loops`], outermost first.
    pub(super) path: Vec<usize>,
    /// Conditions around it.
    pub(super) guards: Vec<&'a Expr>,
    /// Executions.
    pub(super) runs: Option<Count>,
    /// As in [`oxeye_analysis::StmtModel::accesses`].
    pub(super) accesses: Vec<AccessFacts>,
}

pub(super) struct AccessFacts {
    pub(super) source: Access,
    pub(super) role: Role,
    pub(super) exact: bool,
    /// For each loop around the place where it is evaluated, outermost first.
    pub(super) steps: Vec<Step>,
}

/// How an iteration of a loop moves an access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) class: StrideClass,
    /// Signed; `None` if unknown.
    pub(super) bytes: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrideClass {
    Zero,
    One,
    Small,
    Large,
    Unknown,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        program: &'a Program,
        nest: &'a Nest,
        value_of: &'a dyn Fn(SymId) -> Option<i64>,
        host: &'a HostVector,
    ) -> Self {
        let model = NestModel::new(program, nest);
        let mut facts = Self { program, nest, value_of, host, model, loops: Vec::new(), stmts: Vec::new() };
        facts.walk(&nest.roots, &mut Vec::new(), &mut Vec::new(), 0);
        for loop_idx in 0..facts.loops.len() {
            let (trip, total) = facts.counts(loop_idx);
            facts.loops[loop_idx].trip = trip;
            facts.loops[loop_idx].total = total;
        }
        for stmt_idx in 0..facts.stmts.len() {
            let runs = facts.runs(stmt_idx);
            let accesses = facts.accesses(stmt_idx);
            facts.stmts[stmt_idx].runs = runs;
            facts.stmts[stmt_idx].accesses = accesses;
        }
        facts
    }

    /// `n_guards` of `guards` stand inside the innermost loop.
    fn walk(
        &mut self,
        nodes: &'a [Node],
        path: &mut Vec<usize>,
        guards: &mut Vec<&'a Expr>,
        n_guards: usize,
    ) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    let position = self.loops.len();
                    self.loops.push(LoopFacts { l, path: path.clone(), n_guards, trip: None, total: None });
                    path.push(position);
                    self.walk(&l.body, path, guards, 0);
                    path.pop();
                }
                Node::Stmt(stmt) => {
                    let (path, guards) = (path.clone(), guards.clone());
                    self.stmts.push(StmtFacts { stmt, path, guards, runs: None, accesses: Vec::new() });
                }
                Node::If { condition, then, otherwise } => {
                    guards.push(condition);
                    self.walk(then, path, guards, n_guards + 1);
                    self.walk(otherwise, path, guards, n_guards + 1);
                    guards.pop();
                }
            }
        }
    }

    /// Iterations each time a loop is entered, and in total; the loops around it have been counted.
    fn counts(&self, loop_idx: usize) -> (Option<Count>, Option<Count>) {
        let facts = &self.loops[loop_idx];
        let total = iterations(self.nest, facts.l.id, self.value_of);
        let entries = match facts.path.last() {
            _ if facts.n_guards > 0 => return (trip_count(self.nest, facts.l.id, self.value_of), total),
            Some(&outer) => self.loops[outer].total,
            None => Some(Count { value: 1.0, exact: true, at_most: false }),
        };
        let trip = entries.zip(total).map(|(entries, total)| Count {
            value: if entries.value > 0.0 { total.value / entries.value } else { 0.0 },
            exact: entries.exact && total.exact,
            at_most: entries.at_most || total.at_most,
        });
        (trip, total)
    }

    fn runs(&self, stmt_idx: usize) -> Option<Count> {
        let facts = &self.stmts[stmt_idx];
        match facts.path.last() {
            _ if !facts.guards.is_empty() => executions(self.nest, facts.stmt.id, self.value_of),
            Some(&inner) => self.loops[inner].total,
            None => Some(Count { value: 1.0, exact: true, at_most: false }),
        }
    }

    fn accesses(&self, stmt_idx: usize) -> Vec<AccessFacts> {
        let facts = &self.stmts[stmt_idx];
        let Some(model) = self.model.stmt(facts.stmt.id) else { return Vec::new() };
        let access = |access: &StmtAccess| {
            let around = facts.path.iter().take(access.anchor.n_loops);
            AccessFacts {
                source: access.source.clone(),
                role: access.role,
                exact: access.exact,
                steps: around.map(|&loop_idx| self.step(&access.source, self.loops[loop_idx].l)).collect(),
            }
        };
        model.accesses.iter().map(access).collect()
    }

    fn step(&self, access: &Access, l: &Loop) -> Step {
        let stride = stride(self.program, access, l);
        let element_bytes = self.element_bytes(access.array);
        let Some(elements) = stride.evaluate(self.value_of) else {
            // A product of unknown extents is most likely large.
            let is_product = matches!(stride, Stride::Symbolic(_));
            let class = if is_product { StrideClass::Large } else { StrideClass::Unknown };
            return Step { class, bytes: None };
        };
        let bytes = elements as f64 * element_bytes;
        let class = match elements.unsigned_abs() {
            0 => StrideClass::Zero,
            1 => StrideClass::One,
            _ if bytes.abs() < LINE_BYTES => StrideClass::Small,
            _ => StrideClass::Large,
        };
        Step { class, bytes: Some(bytes) }
    }

    pub(super) fn element_bytes(&self, array: ArrayId) -> f64 {
        self.program.array(array).element.bytes() as f64
    }

    /// The extent of a dimension, if it has a value.
    pub(super) fn extent(&self, array: ArrayId, dim: usize) -> Option<f64> {
        let extent = self.program.array(array).shape.get(dim)?.as_ref()?;
        evaluate_symbols(extent, self.value_of).map(|extent| extent.max(0) as f64)
    }

    /// Declared bytes of an array, if all extents have values.
    pub(super) fn array_bytes(&self, array: ArrayId) -> Option<f64> {
        let n_dims = self.program.array(array).shape.len();
        let elements: Option<f64> = (0..n_dims).map(|dim| self.extent(array, dim)).product();
        elements.map(|elements| elements * self.element_bytes(array))
    }

    /// The statements below a loop.
    pub(super) fn stmts_below(&self, loop_idx: usize) -> impl Iterator<Item = &StmtFacts<'a>> {
        self.stmts.iter().filter(move |stmt| stmt.path.contains(&loop_idx))
    }

    /// The loops anywhere inside a loop.
    pub(super) fn loops_below(&self, loop_idx: usize) -> impl Iterator<Item = &LoopFacts<'a>> {
        self.loops.iter().filter(move |inner| inner.path.contains(&loop_idx))
    }

    /// Executions of an access.
    pub(super) fn access_runs(&self, stmt: &StmtFacts<'_>, access: &AccessFacts) -> Option<Count> {
        match access.steps.len() {
            n if n == stmt.path.len() && !matches!(access.role, Role::Bound | Role::Guard) => stmt.runs,
            0 => Some(Count { value: 1.0, exact: true, at_most: false }),
            n => self.loops[stmt.path[n - 1]].total,
        }
    }
}

/// The id of an access node.
pub(super) fn access_id(stmt: &StmtFacts<'_>, access_idx: usize) -> String {
    format!("{}.{access_idx}", stmt.stmt.id)
}
