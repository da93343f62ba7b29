//! Nests and the control structure around them, reduced to what determines addresses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::NoTraffic;
use super::call::Call;
use super::form::{Formula, Linear, Scope, Term};
use super::layout::Layout;
use crate::counts::evaluate_symbols;
use oxeye_ir::{
    Access, ArrayId, BinaryOp, Bound, Expr, Loop, Nest, NestId, Node, Program, Region, Stmt, SymId,
};

/// What runs, in order, with arrays and iterators as positions in tables.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) body: Vec<Op>,
    pub(super) n_slots: usize,
    /// First address of each array.
    pub(super) bases: Vec<i64>,
    /// The first call and array that each entry of `bases` stands for.
    pub(super) arrays: Vec<(usize, ArrayId)>,
    /// Call and nest behind each [`Op::Nest`].
    pub(super) nests: Vec<(usize, NestId)>,
    /// What is not exact, as messages for the user.
    pub(super) notes: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Loop(PlanLoop),
    Guard(PlanGuard),
    Touch(PlanTouch),
    /// A nest, by its position in [`Plan::nests`].
    Nest(usize, Vec<Op>),
    /// Exchanges the memory of two arrays.
    Swap(usize, usize),
}

#[derive(Clone, Debug)]
pub(super) struct PlanLoop {
    pub(super) slot: usize,
    pub(super) lower: Vec<Term>,
    pub(super) upper: Vec<Term>,
    pub(super) step: i64,
    pub(super) body: Vec<Op>,
    /// Whether there is no loop inside.
    pub(super) is_innermost: bool,
    /// Whether bounds or guards inside depend on its iterator.
    pub(super) shapes_inside: bool,
}

/// Both sides run if the condition has no value.
#[derive(Clone, Debug)]
pub(super) struct PlanGuard {
    pub(super) condition: Formula,
    pub(super) then: Vec<Op>,
    pub(super) otherwise: Vec<Op>,
}

#[derive(Clone, Debug)]
pub(super) struct PlanTouch {
    pub(super) array: usize,
    /// Bytes from the first address of the array: the linear part.
    pub(super) linear: Linear,
    /// The other indices.
    pub(super) others: Vec<Index>,
    pub(super) is_write: bool,
    /// Whether it stays in a register while the innermost loop around it runs.
    pub(super) is_hoisted: bool,
}

/// A non-linear index; where it has no value, one is drawn below `extent`.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) formula: Formula,
    pub(super) extent: i64,
    pub(super) stride_bytes: i64,
}

impl Plan {
    /// A single nest.
    pub(super) fn of_nest(
        program: &Program,
        nest: &Nest,
        value_of: &dyn Fn(SymId) -> Option<i64>,
    ) -> Result<Plan, NoTraffic> {
        let mut planner = Planner::new();
        let memory = BTreeMap::new();
        let mut body = CallPlanner::new(&mut planner, program, &memory, value_of, 0);
        let op = body.nest(nest)?;
        planner.plan.body.push(op);
        Ok(planner.plan)
    }

    /// The calls one after the other, the whole sequence `times` times.
    pub(super) fn of_calls(calls: &[Call<'_>], times: u64) -> Result<Plan, NoTraffic> {
        let mut planner = Planner::new();
        let slot = planner.new_slot();
        let mut body = Vec::new();
        for (idx, call) in calls.iter().enumerate() {
            let value_of = |id: SymId| call.values.get(&id).copied();
            let mut inside = CallPlanner::new(&mut planner, call.program, &call.memory, &value_of, idx);
            inside.region(&call.program.body, &mut body)?;
        }
        let constant = |value| vec![Term::Quotient(Linear { terms: Vec::new(), constant: value }, 1)];
        let upper = constant(i64::try_from(times).unwrap_or(i64::MAX));
        planner.plan.body = vec![Op::Loop(PlanLoop::new(slot, constant(0), upper, 1, body))];
        Ok(planner.plan)
    }
}

impl PlanLoop {
    fn new(slot: usize, lower: Vec<Term>, upper: Vec<Term>, step: i64, mut body: Vec<Op>) -> Self {
        let is_innermost = !contains_loop(&body);
        if is_innermost {
            hoist(&mut body, slot);
        }
        let shapes_inside = shapes(&body, slot);
        Self { slot, lower, upper, step, body, is_innermost, shapes_inside }
    }
}

fn contains_loop(ops: &[Op]) -> bool {
    ops.iter().any(|op| match op {
        Op::Loop(_) | Op::Nest(..) | Op::Swap(..) => true,
        Op::Guard(guard) => contains_loop(&guard.then) || contains_loop(&guard.otherwise),
        Op::Touch(_) => false,
    })
}

fn hoist(ops: &mut [Op], slot: usize) {
    for op in ops {
        match op {
            Op::Touch(touch) => {
                touch.is_hoisted = touch.others.is_empty() && touch.linear.coefficient(slot) == 0;
            }
            Op::Guard(guard) if guard.condition.is_known() && !guard.condition.uses(slot) => {
                hoist(&mut guard.then, slot);
                hoist(&mut guard.otherwise, slot);
            }
            _ => {}
        }
    }
}

fn shapes(ops: &[Op], slot: usize) -> bool {
    ops.iter().any(|op| match op {
        Op::Loop(l) => l.lower.iter().chain(&l.upper).any(|term| term.uses(slot)) || shapes(&l.body, slot),
        Op::Guard(guard) => {
            guard.condition.uses(slot) || shapes(&guard.then, slot) || shapes(&guard.otherwise, slot)
        }
        Op::Nest(_, body) => shapes(body, slot),
        Op::Touch(_) | Op::Swap(..) => false,
    })
}

/// State shared by all calls.
struct Planner {
    plan: Plan,
    layout: Layout,
    /// Arrays by the names of their memory.
    named: HashMap<String, usize>,
}

impl Planner {
    fn new() -> Self {
        let plan = Plan {
            body: Vec::new(),
            n_slots: 0,
            bases: Vec::new(),
            arrays: Vec::new(),
            nests: Vec::new(),
            notes: BTreeSet::new(),
        };
        Self { plan, layout: Layout::new(), named: HashMap::new() }
    }

    fn new_slot(&mut self) -> usize {
        self.plan.n_slots += 1;
        self.plan.n_slots - 1
    }
}

/// Compiles one call.
struct CallPlanner<'a> {
    planner: &'a mut Planner,
    program: &'a Program,
    memory: &'a BTreeMap<ArrayId, String>,
    scope: Scope<'a>,
    call: usize,
    arrays: HashMap<ArrayId, usize>,
}

impl<'a> CallPlanner<'a> {
    fn new(
        planner: &'a mut Planner,
        program: &'a Program,
        memory: &'a BTreeMap<ArrayId, String>,
        value_of: &'a dyn Fn(SymId) -> Option<i64>,
        call: usize,
    ) -> Self {
        let scope = Scope { loops: HashMap::new(), symbols: HashMap::new(), value_of };
        Self { planner, program, memory, scope, call, arrays: HashMap::new() }
    }

    fn region(&mut self, region: &Region, ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        match region {
            Region::Sequence(parts) => parts.iter().try_for_each(|part| self.region(part, ops))?,
            Region::Dataflow(graph) => {
                for id in graph.nests() {
                    if let Some(nest) = self.program.nests.get(id) {
                        ops.push(self.nest(nest)?);
                    }
                }
            }
            Region::Loop(control) => {
                let Some((first, end)) = &control.range else {
                    return Err(NoTraffic("the trip count of a loop around nests is not known".into()));
                };
                let (first, end) = (self.scope.formula(first), self.scope.formula(end));
                if !first.is_known() || !end.is_known() {
                    let why = "the trip count of a loop around nests depends on data, or on a symbol that \
                               has no value";
                    return Err(NoTraffic(why.into()));
                }
                let slot = self.planner.new_slot();
                if let Some(iterator) = control.iterator {
                    self.scope.symbols.insert(iterator, slot);
                }
                let mut body = Vec::new();
                self.region(&control.body, &mut body)?;
                let (lower, upper) = (vec![Term::Formula(first)], vec![Term::Formula(end)]);
                ops.push(Op::Loop(PlanLoop::new(slot, lower, upper, 1, body)));
            }
            Region::Branch { condition, then, otherwise } => {
                let condition = condition.as_ref().map_or(Formula::Unknown, |c| self.scope.formula(c));
                if !condition.is_known() {
                    self.note("both sides of a branch around nests are counted");
                }
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.region(then, &mut yes)?;
                self.region(otherwise, &mut no)?;
                ops.push(Op::Guard(PlanGuard { condition, then: yes, otherwise: no }));
            }
            Region::Swap(a, b) => {
                let pair = (self.array(*a), self.array(*b));
                ops.push(Op::Swap(pair.0, pair.1));
            }
            Region::Opaque(opaque) => {
                let touched = |arrays: &Option<Vec<ArrayId>>| match arrays {
                    None => true,
                    Some(ids) => ids.iter().any(|id| !self.program.array(*id).shape.is_empty()),
                };
                if touched(&opaque.reads) || touched(&opaque.writes) {
                    self.note(&format!("code that was not read ({}) is left out", opaque.reason));
                }
            }
        }
        Ok(())
    }

    fn nest(&mut self, nest: &Nest) -> Result<Op, NoTraffic> {
        let position = self.planner.plan.nests.len();
        self.planner.plan.nests.push((self.call, nest.id));
        let mut body = Vec::new();
        self.nodes(&nest.roots, &mut body)?;
        Ok(Op::Nest(position, body))
    }

    fn nodes(&mut self, nodes: &[Node], ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        for node in nodes {
            match node {
                Node::Stmt(stmt) => self.stmt(stmt, ops)?,
                Node::Loop(l) => self.for_loop(l, ops)?,
                Node::If { condition, then, otherwise } => {
                    self.reads(condition, ops)?;
                    let condition = self.condition(condition);
                    let (mut yes, mut no) = (Vec::new(), Vec::new());
                    self.nodes(then, &mut yes)?;
                    self.nodes(otherwise, &mut no)?;
                    ops.push(Op::Guard(PlanGuard { condition, then: yes, otherwise: no }));
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, l: &Loop, ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        if l.step == 0 {
            return Err(NoTraffic(format!("loop {} has step zero", l.name)));
        }
        for term in l.lower.0.iter().chain(&l.upper.0) {
            if let oxeye_ir::BoundTerm::Data(expr) = term {
                self.reads(expr, ops)?;
            }
        }
        let lower = self.bound(&l.lower, l)?;
        let upper = self.bound(&l.upper, l)?;
        let slot = self.planner.new_slot();
        let shadowed = self.scope.loops.insert(l.id, slot);
        let mut body = Vec::new();
        self.nodes(&l.body, &mut body)?;
        match shadowed {
            Some(slot) => self.scope.loops.insert(l.id, slot),
            None => self.scope.loops.remove(&l.id),
        };
        ops.push(Op::Loop(PlanLoop::new(slot, lower, upper, l.step, body)));
        Ok(())
    }

    fn bound(&mut self, bound: &Bound, l: &Loop) -> Result<Vec<Term>, NoTraffic> {
        let mut terms = Vec::new();
        for term in &bound.0 {
            match (self.scope.term(term), term) {
                (Some(term), _) => terms.push(term),
                (None, oxeye_ir::BoundTerm::Affine { expr, .. }) => return Err(self.no_value(expr)),
                (None, oxeye_ir::BoundTerm::Data(_) | oxeye_ir::BoundTerm::Open) => {
                    self.note(&format!("a data-dependent bound of loop {} is left out", l.name));
                }
            }
        }
        if terms.is_empty() {
            return Err(NoTraffic(format!("the bounds of loop {} depend on data", l.name)));
        }
        Ok(terms)
    }

    fn no_value(&self, affine: &oxeye_ir::Affine) -> NoTraffic {
        let missing = affine.terms().find_map(|(var, _)| match var {
            oxeye_ir::Var::Sym(id) if (self.scope.value_of)(id).is_none() => self.program.symbols.get(&id),
            _ => None,
        });
        NoTraffic(match missing {
            Some(symbol) => format!("{} has no value", symbol.name),
            None => "an index or bound is beyond 64 bits".into(),
        })
    }

    fn stmt(&mut self, stmt: &Stmt, ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        self.reads(&stmt.value, ops)?;
        for index in &stmt.target.indices {
            self.reads(index, ops)?;
        }
        if stmt.update.reads_target() {
            self.touch(&stmt.target, false, ops)?;
        }
        self.touch(&stmt.target, true, ops)
    }

    fn reads(&mut self, expr: &Expr, ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        let (condition, then, otherwise) = match expr {
            Expr::Select { condition, then, otherwise } => (&**condition, Some(&**then), Some(&**otherwise)),
            Expr::Binary(BinaryOp::And, left, right) => (&**left, Some(&**right), None),
            Expr::Binary(BinaryOp::Or, left, right) => (&**left, None, Some(&**right)),
            _ => {
                expr.children().into_iter().try_for_each(|child| self.reads(child, ops))?;
                if let Expr::Read(access) = expr {
                    self.touch(access, false, ops)?;
                }
                return Ok(());
            }
        };
        self.reads(condition, ops)?;
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        then.map_or(Ok(()), |side| self.reads(side, &mut yes))?;
        otherwise.map_or(Ok(()), |side| self.reads(side, &mut no))?;
        if !yes.is_empty() || !no.is_empty() {
            let condition = self.condition(condition);
            ops.push(Op::Guard(PlanGuard { condition, then: yes, otherwise: no }));
        }
        Ok(())
    }

    fn condition(&mut self, condition: &Expr) -> Formula {
        let formula = self.scope.formula(condition);
        if !formula.is_known() {
            self.note("both sides of a data-dependent condition are counted");
        }
        formula
    }

    fn touch(&mut self, access: &Access, is_write: bool, ops: &mut Vec<Op>) -> Result<(), NoTraffic> {
        let array = self.program.array(access.array);
        if access.indices.is_empty() {
            return Ok(());
        }
        let beyond = || NoTraffic(format!("{} is too large", array.name));
        let mut stride_bytes = i64::try_from(array.element.bytes()).map_err(|_| beyond())?;
        let mut linear = Linear::default();
        let mut others = Vec::new();
        for (dim, index) in access.indices.iter().enumerate().rev() {
            let extent = array.shape.get(dim).and_then(Option::as_ref);
            let extent = extent.and_then(|extent| evaluate_symbols(extent, self.scope.value_of));
            match index.as_affine() {
                Some(affine) => {
                    let index = self.scope.linear(affine).ok_or_else(|| self.no_value(affine))?;
                    linear = linear.plus(&index, stride_bytes).ok_or_else(beyond)?;
                }
                None => {
                    let formula = self.scope.formula(index);
                    if !formula.is_known() {
                        self.note(&format!("data-dependent indices of {} are drawn at random", array.name));
                    }
                    let extent = match extent {
                        Some(extent) => extent,
                        None if formula.is_known() => 1,
                        None => {
                            return Err(NoTraffic(format!(
                                "an index of {} depends on data, and its extent is not known",
                                array.name
                            )));
                        }
                    };
                    others.push(Index { formula, extent: extent.max(1), stride_bytes });
                }
            }
            if dim > 0 {
                let extent = extent
                    .ok_or_else(|| NoTraffic(format!("the extents of {} are not known", array.name)))?;
                stride_bytes = stride_bytes.checked_mul(extent).ok_or_else(beyond)?;
            }
        }
        let array = self.array(access.array);
        ops.push(Op::Touch(PlanTouch { array, linear, others, is_write, is_hoisted: false }));
        Ok(())
    }

    /// The array's position; it is placed in memory on its first use.
    fn array(&mut self, id: ArrayId) -> usize {
        if let Some(&position) = self.arrays.get(&id) {
            return position;
        }
        let name = self.memory.get(&id);
        let position = match name.and_then(|name| self.planner.named.get(name)) {
            Some(&position) => position,
            None => {
                let array = self.program.array(id);
                let bytes = array.shape.iter().try_fold(array.element.bytes(), |bytes, extent| {
                    let extent = evaluate_symbols(extent.as_ref()?, self.scope.value_of)?;
                    bytes.checked_mul(u64::try_from(extent).ok()?)
                });
                let plan = &mut self.planner.plan;
                plan.bases.push(self.planner.layout.place(bytes));
                plan.arrays.push((self.call, id));
                if let Some(name) = name {
                    self.planner.named.insert(name.clone(), plan.bases.len() - 1);
                }
                plan.bases.len() - 1
            }
        };
        self.arrays.insert(id, position);
        position
    }

    fn note(&mut self, note: &str) {
        self.planner.plan.notes.insert(note.to_owned());
    }
}
