//! Nests rewritten before they are scheduled: for what their values have in common, or to do less for the same results.
//!
//! In: a nest, and the first steps of a recipe, which say what its values are thought to be. Out: the nest rewritten for
//! that, which the other steps schedule; and around the result what makes it right whatever the values are: loops before it
//! that look at them, and the nest as it was for when they are others.
//!
//! [`reads`] finds out which elements a nest reads, [`literal`] and [`simplify`] put constants in their places, and
//! [`found`] puts what is found at run time where the schedule had symbols.

mod found;
mod literal;
mod reads;
mod simplify;

pub(crate) use found::read_in;
pub use literal::Literal;
pub(crate) use literal::is_value;
pub(crate) use reads::{Group, Read, Step, entered, grouped, range_over, reads_under, wrapped};
pub(crate) use simplify::{replaced_by, simplified};

use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::scan::make_unique;
use oxeye_ir::{
    Access, Affine, Array, ArrayId, Constraint, Expr, Form, LoopId, Nest, Node, Program, ScalarType, Stmt,
    StmtId, Storage, SymId, UnaryOp, Update,
};
use std::collections::BTreeSet;

/// A step that rewrites the nest itself, before any other edits its schedule.
pub(crate) trait NestRewrite {
    /// Rewrites the nest.
    ///
    /// # Errors
    /// Why it cannot.
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason>;
}

/// A nest that is being rewritten.
#[derive(Clone, Debug)]
pub(crate) struct Valued {
    /// The program, in which the nest is the one that was read.
    pub(crate) program: Program,
    /// The nest that the next steps see.
    pub(crate) nest: Nest,
    /// The nest that was read.
    original: Nest,
    /// The arrays of the program then.
    original_arrays: Vec<ArrayId>,
    /// What runs before the nest.
    scan: Vec<Node>,
    /// The scalar that is set if values are not what they were thought to be.
    differs: Option<ArrayId>,
    /// The symbols of the schedule that are scalars of the scan.
    found: Vec<(SymId, ArrayId)>,
    /// The new scalars and arrays.
    temporaries: Vec<Array>,
    /// Whether floating-point sums are added up in another order.
    pub(crate) reassociated: bool,
}

impl Valued {
    /// A nest as it was read.
    ///
    /// # Errors
    /// If nothing can stand before it.
    pub(crate) fn new(program: &Program, nest: &Nest) -> Result<Self, Reason> {
        if program.has_team(nest.id) {
            return Err(Reason::unsupported("threads that are there already run the nest together"));
        }
        Ok(Self {
            program: program.clone(),
            nest: nest.clone(),
            original: nest.clone(),
            original_arrays: program.arrays.keys().copied().collect(),
            scan: Vec::new(),
            differs: None,
            found: Vec::new(),
            temporaries: Vec::new(),
            reassociated: false,
        })
    }

    /// The nest that was read.
    pub(crate) fn original(&self) -> &Nest {
        &self.original
    }

    /// The name of an array whose elements have the same values during the whole nest.
    ///
    /// # Errors
    /// If the nest does not use it, or writes to it.
    pub(crate) fn unchanged(&self, array: ArrayId) -> Result<String, Reason> {
        let accesses = self.nest.accesses();
        let mut own = accesses.iter().filter(|(access, _)| access.array == array).peekable();
        let known = self.program.arrays.get(&array).filter(|_| own.peek().is_some());
        let Some(known) = known else {
            return Err(bad_array(format!("the nest uses no array {array}")));
        };
        let name = known.name.clone();
        if matches!(known.storage, Storage::Body(_) | Storage::Temp(_)) {
            return Err(Reason::unsupported(format!("`{name}` is declared inside the nest")));
        }
        if own.any(|(_, is_written)| *is_written) {
            return Err(Reason::unsupported(format!("the nest stores into `{name}`, so its values change")));
        }
        if self.original.rotations.iter().any(|rotation| rotation.pointers.contains(&array)) {
            return Err(Reason::unsupported(format!("`{name}` changes places with other pointers")));
        }
        Ok(name)
    }

    /// A new scalar.
    pub(crate) fn scalar(&mut self, name: &str, element: ScalarType) -> ArrayId {
        self.temporary(name, element, Vec::new())
    }

    /// A new array of these extents.
    pub(crate) fn temporary(&mut self, name: &str, element: ScalarType, shape: Vec<Expr>) -> ArrayId {
        let array = Array {
            id: ArrayId(0),
            name: name.to_owned(),
            element,
            c_type: None,
            shape: shape.into_iter().map(Some).collect(),
            form: Form::Nested,
            storage: Storage::Temp(None),
            align: 0,
        };
        let id = self.program.add_array(array);
        self.temporaries.push(self.program.array(id).clone());
        id
    }

    /// A symbol for the steps that follow, which is the value of a new scalar.
    pub(crate) fn symbol(&mut self, name: &str, ty: ScalarType) -> (SymId, ArrayId) {
        let scalar = self.scalar(name, ty);
        let symbol = self.program.add_symbol(name, ty);
        self.found.push((symbol, scalar));
        (symbol, scalar)
    }

    /// Something that is known of symbols.
    pub(crate) fn assume(&mut self, fact: Constraint) {
        self.program.assumptions.push(fact);
    }

    /// Runs further nodes before the nest. Their loops and statements may have any ids.
    pub(crate) fn before(&mut self, nodes: Vec<Node>) {
        self.scan.extend(nodes);
    }

    /// The scalar that is not zero if values are not what they were thought to be; zero before the nodes that are added next.
    pub(crate) fn differs(&mut self) -> ArrayId {
        if let Some(differs) = self.differs {
            return differs;
        }
        let differs = self.scalar("differs", ScalarType::I32);
        self.before(vec![assign(differs, Expr::from(0))]);
        self.differs = Some(differs);
        differs
    }

    /// The whole nest, whatever its values are: `program` and `nest` are what the other steps made of this nest.
    ///
    /// # Errors
    /// If what is found out before the nest is needed before that.
    pub(crate) fn finish(mut self, mut program: Program, mut nest: Nest) -> Result<(Program, Nest), Reason> {
        let is_found = |a: &Affine| self.found.iter().any(|(symbol, _)| a.uses(*symbol));
        for array in program.arrays.values() {
            let mut extents = array.shape.iter().flatten();
            if extents.any(|extent| self.found.iter().any(|(symbol, _)| extent.uses(*symbol))) {
                return Err(Reason::not_writable(format!(
                    "the extent of {} would be known only when the zeros are found",
                    array.name
                )));
            }
        }
        nest.roots.iter_mut().chain(&mut self.scan).for_each(|node| found::read_in(node, &self.found));
        program.symbols.retain(|id, _| self.found.iter().all(|(symbol, _)| symbol != id));
        program.assumptions.retain(|fact| !is_found(&fact.expr));
        for array in &self.temporaries {
            program.arrays.insert(array.id, array.clone());
        }
        if let Some(differs) = self.differs {
            let condition = Expr::unary(UnaryOp::Not, Access::scalar(differs).into());
            // The nest as it was read keeps its ids.
            let then = std::mem::replace(&mut nest.roots, self.original.roots);
            nest.roots.push(only_if(condition, then));
            make_unique(&mut program, &mut nest, 0);
            if let Some(Node::If { condition, then, .. }) = nest.roots.pop() {
                let otherwise = std::mem::take(&mut nest.roots);
                nest.roots.push(Node::If { condition, then, otherwise });
            }
            let known = nest.arrays().into_iter().chain(self.original_arrays).collect::<BTreeSet<ArrayId>>();
            let is_own = |a: &Array| matches!(a.storage, Storage::Temp(_) | Storage::Body(_));
            program.arrays.retain(|id, array| {
                known.contains(id) || !is_own(array) || self.temporaries.iter().any(|t| t.id == *id)
            });
        }
        renumber(&mut self.scan, &nest);
        nest.roots.splice(0..0, self.scan);
        Ok((program, nest))
    }
}

/// `scalar = value`.
pub(crate) fn assign(scalar: ArrayId, value: Expr) -> Node {
    let target = Access::scalar(scalar);
    Node::Stmt(Stmt { id: StmtId(0), target, update: Update::Assign, value, line: None })
}

/// `if (condition) then`.
pub(crate) fn only_if(condition: Expr, then: Vec<Node>) -> Node {
    Node::If { condition, then, otherwise: Vec::new() }
}

/// Puts nodes in the place of a loop.
pub(crate) fn replace_loop(nodes: &mut Vec<Node>, id: LoopId, with: &[Node]) {
    if let Some(k) = nodes.iter().position(|node| matches!(node, Node::Loop(l) if l.id == id)) {
        nodes.splice(k..=k, with.iter().cloned());
        return;
    }
    for body in nodes.iter_mut().flat_map(Node::bodies_mut) {
        replace_loop(body, id, with);
    }
}

/// Puts nodes before a loop.
pub(crate) fn put_before(nodes: &mut Vec<Node>, id: LoopId, new: &[Node]) {
    if let Some(k) = nodes.iter().position(|node| matches!(node, Node::Loop(l) if l.id == id)) {
        nodes.splice(k..k, new.iter().cloned());
        return;
    }
    nodes.iter_mut().flat_map(Node::bodies_mut).for_each(|body| put_before(body, id, new));
}

/// An argument that is no array of the nest.
pub(crate) fn bad_array(text: String) -> Reason {
    Reason::new(RefusalKind::BadArgument { argument: "array".into() }, text)
}

/// Gives loops and statements ids that the nest does not have.
fn renumber(nodes: &mut [Node], nest: &Nest) {
    fn go(nodes: &mut [Node], next_loop: &mut u32, next_stmt: &mut u32) {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    s.id = StmtId(*next_stmt);
                    *next_stmt += 1;
                }
                Node::Loop(l) => {
                    let (old, new) = (l.id, LoopId(*next_loop));
                    *next_loop += 1;
                    l.id = new;
                    let with = |v: oxeye_ir::Var| (v == old.into()).then(|| Affine::var(new));
                    l.body.iter_mut().for_each(|node| node.substitute(&with));
                }
                Node::If { .. } => {}
            }
            for body in node.bodies_mut() {
                go(body, next_loop, next_stmt);
            }
        }
    }
    let mut next_loop = nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0);
    let mut next_stmt = nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
    // Ids that are not yet replaced must not be among the new ones.
    let mut highest = 0;
    for node in &*nodes {
        let alone = Nest { roots: vec![node.clone()], ..nest.clone() };
        highest = alone.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0).max(highest);
    }
    next_loop = next_loop.max(highest);
    go(nodes, &mut next_loop, &mut next_stmt);
}
