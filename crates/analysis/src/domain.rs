//! The iteration domains of a nest's statements.

use std::collections::HashMap;

use crate::access::{Anchor, StmtAccess, TreeAccesses};
use crate::constraints::bound_constraint;
use crate::linear::{Encoder, Space, added, difference, offset, scaled};
use crate::omega::{Row, System};
use oxeye_ir::{
    Affine, ArrayId, Bound, BoundTerm, Constraint, Expr, Loop, Nest, NestId, Node, Program, Region, Relation,
    Stmt, StmtId, Storage, SymId, Var,
};

/// A nest as the exact analyses see it: every statement with its iteration domain and its accesses.
///
/// Arrays that [`Program::may_alias`] lists are taken to be distinct: users of the result must guard it with a run-time
/// test.
#[derive(Clone, Debug, Default)]
pub struct NestModel {
    /// The symbols of the program, in the order of their variables.
    pub symbols: Vec<SymId>,
    /// Statements in textual order.
    pub stmts: Vec<StmtModel>,
    /// Arrays of which every iteration of a loop has its own copy.
    pub private: HashMap<ArrayId, oxeye_ir::LoopId>,
}

/// A loop around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopStep {
    /// The loop.
    pub id: oxeye_ir::LoopId,
    /// Its step; with a negative step, greater iterators come first.
    pub step: i64,
}

impl LoopStep {
    /// `1` if greater iterators come later, `-1` if they come first.
    pub fn sign(&self) -> i64 {
        if self.step < 0 { -1 } else { 1 }
    }
}

/// One statement of a [`NestModel`].
#[derive(Clone, Debug)]
pub struct StmtModel {
    /// The statement.
    pub id: StmtId,
    /// Enclosing loops, outermost first.
    pub loops: Vec<LoopStep>,
    /// The instances.
    pub domain: Domain,
    /// What each instance reads and writes, and what the guards and loop bounds around it read.
    pub accesses: Vec<StmtAccess>,
    /// Its loops over the elements of tiles whose size is a symbol.
    pub(crate) strips: Vec<Strip>,
}

/// A loop over the elements of one tile, whose size is a symbol: `for it in c * i .. c * i + c`. No two tiles have an element in
/// common, and elements of later tiles are later, which the product hides from linear constraints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strip {
    /// The depth of the loop over tiles.
    pub(crate) tiles: usize,
    /// The depth of the loop itself.
    pub(crate) elements: usize,
    /// How many elements a tile has.
    pub(crate) size: Affine,
}

impl Strip {
    /// The strip that the innermost of these loops is, if it is one.
    fn innermost(loops: &[&Loop]) -> Option<Self> {
        let (l, outer) = loops.split_last()?;
        let (id, size) = l.tile()?;
        let tiles = outer.iter().position(|outer| outer.id == id && outer.step == 1)?;
        Some(Self { tiles, elements: outer.len(), size: size.clone() })
    }
}

/// The instances of a statement: integer points over the enclosing loops' iterators (outermost first), the symbols,
/// and existential variables.
#[derive(Clone, Debug)]
pub struct Domain {
    /// What the first variables of `system` stand for; the others are existential.
    pub space: Space,
    /// The constraints, including the assumptions on symbols.
    pub system: System,
    /// Whether the domain has exactly the instances that run. Otherwise it is a superset of them.
    pub exact: bool,
}

impl NestModel {
    /// Analyses `nest`, which belongs to `program`; a transformed nest need not be in it yet.
    pub fn new(program: &Program, nest: &Nest) -> Self {
        let symbols: Vec<SymId> = program.symbols.keys().copied().collect();
        let context = symbol_context(program, nest.id);
        let mut builder = Builder {
            symbols: &symbols,
            context: &context,
            position: 0,
            path: Vec::new(),
            stmts: Vec::new(),
        };
        builder.nodes(&nest.roots);
        let stmts = builder.stmts;
        let private = program
            .arrays
            .values()
            .filter_map(|array| match array.storage {
                Storage::Body(id) | Storage::Temp(Some(id)) => Some((array.id, id)),
                _ => None,
            })
            .collect();
        Self { symbols, stmts, private }
    }

    /// The statement with this id.
    pub fn stmt(&self, id: StmtId) -> Option<&StmtModel> {
        self.stmts.iter().find(|stmt| stmt.id == id)
    }
}

impl StmtModel {
    /// The points at which one of its accesses happens.
    pub fn points_of<'a>(&'a self, access: &'a StmtAccess) -> &'a System {
        access.evaluated.as_ref().unwrap_or(&self.domain.system)
    }

    /// How many enclosing loops this statement shares with `other`.
    pub fn n_common_loops(&self, other: &StmtModel) -> usize {
        self.loops.iter().zip(&other.loops).take_while(|(a, b)| a.id == b.id).count()
    }
}

/// A step on the path from the root of the loop tree to a statement.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Loop(&'a Loop),
    Guard(&'a Expr, bool),
}

impl<'a> Step<'a> {
    fn as_loop(&self) -> Option<&'a Loop> {
        match self {
            Step::Loop(l) => Some(l),
            Step::Guard(..) => None,
        }
    }
}

struct Builder<'a> {
    symbols: &'a [SymId],
    context: &'a [Constraint],
    position: usize,
    path: Vec<(Step<'a>, usize)>,
    stmts: Vec<StmtModel>,
}

impl<'a> Builder<'a> {
    fn nodes(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            let position = self.position;
            self.position += 1;
            match node {
                Node::Stmt(stmt) => {
                    let model = self.stmt(stmt, position);
                    self.stmts.push(model);
                }
                Node::Loop(l) => {
                    self.path.push((Step::Loop(l), position));
                    self.nodes(&l.body);
                    self.path.pop();
                }
                Node::If { condition, then, otherwise } => {
                    for (body, holds) in [(then, true), (otherwise, false)] {
                        self.path.push((Step::Guard(condition, holds), position));
                        self.nodes(body);
                        self.path.pop();
                    }
                }
            }
        }
    }

    fn stmt(&self, stmt: &Stmt, position: usize) -> StmtModel {
        let path: Vec<&Loop> = self.path.iter().filter_map(|(step, _)| step.as_loop()).collect();
        let loops: Vec<LoopStep> = path.iter().map(|l| LoopStep { id: l.id, step: l.step }).collect();
        let space = Space { loops: loops.iter().map(|l| l.id).collect(), symbols: self.symbols.to_vec() };
        let mut encoder = Encoder::new(&space, System::new(space.len()));
        for constraint in self.context {
            require(&mut encoder, constraint);
        }
        // A guard or bound reads at the points that reach it, which the constraints so far describe.
        let mut accesses = Vec::new();
        let mut n_loops = 0;
        for (step, position) in &self.path {
            let mut outside = TreeAccesses::new(&space, &encoder.system);
            let anchor = Anchor { n_loops, position: *position };
            match step {
                Step::Loop(l) => outside.bound_reads(l, anchor),
                Step::Guard(condition, _) => outside.guard_reads(condition, anchor),
            }
            accesses.extend(outside.finish());
            match step {
                Step::Loop(l) => {
                    require_loop(&mut encoder, l);
                    n_loops += 1;
                }
                Step::Guard(condition, holds) => encoder.assume(condition, *holds),
            }
        }
        let Encoder { system, exact, .. } = encoder;
        let mut own = TreeAccesses::new(&space, &system);
        own.stmt_accesses(stmt, Anchor { n_loops, position });
        accesses.extend(own.finish());
        let strips = (1..=path.len()).filter_map(|n| Strip::innermost(&path[..n])).collect();
        StmtModel { id: stmt.id, loops, domain: Domain { space, system, exact }, accesses, strips }
    }
}

fn require(encoder: &mut Encoder<'_>, constraint: &Constraint) {
    let Some(row) = encoder.space.row(&constraint.expr) else { return };
    match constraint.relation {
        Relation::Zero => encoder.system.add_eq_row(row),
        Relation::NonNegative => encoder.require_ge(row),
    }
}

/// Requires that the iterator of `l` takes one of the values the loop visits.
fn require_loop(encoder: &mut Encoder<'_>, l: &Loop) {
    let Some(iterator) = encoder.space.row(&Affine::var(l.id)) else { return };
    for (bound, is_lower) in [(&l.lower, true), (&l.upper, false)] {
        for term in &bound.0 {
            let row = match term {
                BoundTerm::Affine { .. } => bound_constraint(&Affine::var(l.id), term, is_lower)
                    .and_then(|constraint| encoder.space.row(&constraint.expr)),
                // lower <= i, or i < upper
                BoundTerm::Data(expr) => encoder.value(expr).and_then(|value| match is_lower {
                    true => difference(&iterator, &value),
                    false => offset(difference(&value, &iterator)?, -1),
                }),
                BoundTerm::Open => None,
            };
            require_or_forget(encoder, row);
        }
    }
    if l.step.unsigned_abs() == 1 {
        return;
    }
    // i = start + step * n, where n >= 0 follows from the bounds.
    let start = if l.step > 0 { &l.lower } else { &l.upper };
    let Some(first) = start_value(encoder, start, l.step < 0) else {
        encoder.exact = false;
        return;
    };
    let count = encoder.fresh();
    let difference =
        difference(&iterator, &first).and_then(|row| added(&row, 1, &count, l.step.checked_neg()?));
    match difference {
        Some(row) => encoder.system.add_eq_row(row),
        None => encoder.exact = false,
    }
}

fn require_or_forget(encoder: &mut Encoder<'_>, row: Option<Row>) {
    match row {
        Some(row) => encoder.require_ge(row),
        None => encoder.exact = false,
    }
}

/// Numerator and denominator of a term, if it is linear.
fn bound_term(encoder: &mut Encoder<'_>, term: &BoundTerm) -> Option<(Row, i64)> {
    match term {
        BoundTerm::Affine { expr, divisor } => Some((encoder.space.row(expr)?, *divisor)),
        BoundTerm::Data(expr) => Some((encoder.value(expr)?, 1)),
        BoundTerm::Open => None,
    }
}

/// The first iterator value: the only lower bound, or one less than the only upper bound.
fn start_value(encoder: &mut Encoder<'_>, bound: &Bound, from_above: bool) -> Option<Row> {
    let [term] = bound.0.as_slice() else { return None };
    let (value, divisor) = bound_term(encoder, term)?;
    let value = if divisor == 1 {
        value
    } else {
        // q = ceil(value / divisor)
        let quotient = encoder.fresh();
        let rest = added(&quotient, divisor, &value, -1)?;
        encoder.require_ge(rest.clone());
        encoder.require_ge(offset(scaled(&rest, -1)?, divisor - 1)?);
        quotient
    };
    if from_above { offset(value, -1) } else { Some(value) }
}

/// What is known of the symbols where `nest` stands: the program's assumptions and the ranges of the control loops
/// around it.
fn symbol_context(program: &Program, nest: NestId) -> Vec<Constraint> {
    let mut constraints = program.assumptions.clone();
    collect_ranges(&program.body, nest, &mut constraints);
    constraints.retain(|c| c.expr.terms().all(|(var, _)| matches!(var, Var::Sym(_))));
    constraints
}

/// Whether `nest` stands in `region`; if so, adds the ranges of the control loops between them.
fn collect_ranges(region: &Region, nest: NestId, constraints: &mut Vec<Constraint>) -> bool {
    match region {
        Region::Sequence(parts) => parts.iter().any(|part| collect_ranges(part, nest, constraints)),
        Region::Dataflow(graph) => graph.nests().contains(&nest),
        Region::Branch { then, otherwise, .. } => {
            collect_ranges(then, nest, constraints) || collect_ranges(otherwise, nest, constraints)
        }
        Region::Loop(control) => {
            let found = collect_ranges(&control.body, nest, constraints);
            if let (true, Some(iterator), Some((first, end))) = (found, control.iterator, &control.range) {
                if let Some(first) = first.as_affine() {
                    constraints.push(Constraint::ge(iterator.into(), first.clone()));
                }
                if let Some(end) = end.as_affine() {
                    constraints.push(Constraint::lt(iterator.into(), end.clone()));
                }
            }
            found
        }
        Region::Swap(..) | Region::Opaque(_) => false,
    }
}
