//! Factorize: adds up once what the terms of a sum have in common.
//!
//! *Rewrite*: `for i for j for v for u t[v][u] += g[i][j] * y[j][v] * x[i][u]`, over `j` →
//! `for i { for v { part[v] = 0; for j part[v] += g[i][j] * y[j][v] } for v for u t[v][u] += part[v] * x[i][u] }`. Loops around
//! the sum that all of its factors move with stay around both parts. The new statements get the next free ids, and so do the
//! loops of the first part, but for the one that is summed over. This is what is known as operation minimization of tensor
//! contractions (Lam, Sadayappan and Wenger, "On optimizing a class of multi-dimensional loops with reductions for parallel
//! execution", 1997).
//!
//! *Legal when* the policy lets sums be reordered, and nothing in the loops writes what the sum reads. *Refused when* the
//! statement is not alone in the loops, adds no product, or all loops around it move the factors that are summed.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::values::{Literal, NestRewrite, Valued, entered, only_if, replace_loop};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, BoundTerm, Expr, Form, Loop, LoopId, Node, Program, ScalarType,
    Stmt, StmtId, Storage, Update, Var,
};

step! {
    /// Adds up once what the terms of a sum have in common.
    Factorize: "factorize",
    "compute a sum over a loop once for all iterations of the other loops that do not change it",
    "{stmt} over {loop}";
    /// The statement.
    stmt: StmtId = Kind::Statement,
    /// The loop.
    over as "loop": LoopId = Kind::Loop,
}

impl NestRewrite for Factorize {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        if !policy.reassociate {
            return Err(Reason::unsupported(
                "a sum is taken apart only where the compiler's flags let sums be reordered, as -ffast-math does",
            ));
        }
        if !nest.nest.stmts().iter().any(|s| s.id == self.stmt) {
            let text = format!("the nest has no statement {}", self.stmt);
            return Err(Reason::new(RefusalKind::NoSuchStatement, text));
        }
        let alone = || Reason::unsupported("the statement is not alone in the loops around it");
        let (around, chain, statement) = chain_of(&nest.nest.roots, self.stmt, None).ok_or_else(alone)?;
        let sum = Sum::of(&nest.program, chain, statement, self.over)?;
        let next_loop = nest.nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0);
        let next_stmt = nest.nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
        let enclosing = sum.common.last().map(|l| l.id).or(around);
        let part = nest.program.add_array(sum.part(enclosing)?);
        let made = sum.apart(part, (next_loop, next_stmt))?;
        replace_loop(&mut nest.nest.roots, sum.outermost, &made);
        nest.reassociated = true;
        Ok(())
    }
}

/// The outermost loop that holds nothing but further loops and the statement, and those loops; with the loop around them.
fn chain_of(
    nodes: &[Node],
    stmt: StmtId,
    around: Option<LoopId>,
) -> Option<(Option<LoopId>, Vec<Loop>, &Stmt)> {
    nodes.iter().find_map(|node| match node {
        Node::Stmt(_) => None,
        Node::If { then, otherwise, .. } => {
            chain_of(then, stmt, around).or_else(|| chain_of(otherwise, stmt, around))
        }
        Node::Loop(l) => {
            let mut chain = vec![Loop { body: Vec::new(), ..l.clone() }];
            let mut body = &l.body;
            loop {
                match body.as_slice() {
                    [Node::Loop(inner)] => {
                        chain.push(Loop { body: Vec::new(), ..inner.clone() });
                        body = &inner.body;
                    }
                    [Node::Stmt(s)] if s.id == stmt => return Some((around, chain, s)),
                    _ => return chain_of(&l.body, stmt, Some(l.id)),
                }
            }
        }
    })
}

/// A sum, taken apart.
struct Sum {
    statement: Stmt,
    element: ScalarType,
    /// Factors that the loop moves, and the others.
    summed: Vec<Expr>,
    others: Vec<Expr>,
    over: Loop,
    /// The outermost of all its loops.
    outermost: LoopId,
    /// Loops around both parts.
    common: Vec<Loop>,
    /// Loops inside these, except the one that is summed over.
    rest: Vec<Loop>,
}

fn uses(factors: &[Expr], id: LoopId) -> bool {
    factors.iter().any(|factor| factor.uses(id))
}

fn bounds(l: &Loop) -> impl Iterator<Item = &BoundTerm> {
    l.lower.0.iter().chain(&l.upper.0)
}

fn bounds_use(l: &Loop, id: LoopId) -> bool {
    bounds(l).any(|term| term.uses(id))
}

/// Whether a factor has elements of another type in it, indices apart.
pub(super) fn has_other_type(program: &Program, e: &Expr, element: ScalarType) -> bool {
    match e {
        Expr::Read(a) => program.arrays.get(&a.array).is_none_or(|array| array.element != element),
        _ => e.children().into_iter().any(|child| has_other_type(program, child, element)),
    }
}

pub(super) fn product(first: Expr, others: &[Expr]) -> Expr {
    others.iter().cloned().fold(first, |l, r| Expr::binary(BinaryOp::Mul, l, r))
}

impl Sum {
    fn of(program: &Program, chain: Vec<Loop>, statement: &Stmt, over: LoopId) -> Result<Self, Reason> {
        let unsupported = Reason::unsupported;
        let Some(at) = chain.iter().position(|l| l.id == over) else {
            let text = format!("loop {over} is none of those around nothing but the statement");
            return Err(Reason::new(RefusalKind::NoSuchLoop, text));
        };
        let target = &statement.target;
        let element = program.array(target.array).element;
        if !matches!(statement.update, Update::Add | Update::Sub) || !element.is_float() {
            return Err(unsupported("the statement adds up no floating-point numbers"));
        }
        if target.indices.iter().any(|e| e.uses(over)) {
            return Err(unsupported("the loop moves what is added to, so nothing is summed over it"));
        }
        if statement.value.factors().into_iter().any(|factor| has_other_type(program, factor, element)) {
            return Err(unsupported("the numbers that are multiplied are of several types"));
        }
        let in_bounds = chain.iter().flat_map(bounds).flat_map(BoundTerm::reads);
        let in_target = target.indices.iter().flat_map(Expr::reads);
        let mut read = statement.value.reads().into_iter().chain(in_bounds).chain(in_target);
        let is_changing = read.any(|a| a.array == target.array);
        drop(read);
        if is_changing {
            return Err(unsupported("the sum depends on what it is added to"));
        }
        let (summed, others): (Vec<&Expr>, Vec<&Expr>) =
            statement.value.factors().into_iter().partition(|factor| factor.uses(over));
        let (summed, others) =
            (summed.into_iter().cloned().collect::<Vec<_>>(), others.into_iter().cloned().collect());
        let mut rest = chain;
        let outermost = rest[0].id;
        let over = rest.remove(at);
        let n_common = rest[..at].iter().take_while(|l| uses(&summed, l.id)).count();
        let common = rest.drain(..n_common).collect();
        let statement = statement.clone();
        let sum = Self { statement, element, summed, others, over, outermost, common, rest };
        if sum.unmoved().next().is_none() {
            return Err(unsupported("every loop around the statement moves what would be added up once"));
        }
        let depends = |l: &Loop, of: &Loop| bounds_use(l, of.id);
        let is_entangled = sum.rest.iter().any(|l| depends(l, &sum.over))
            || sum.unmoved().any(|e| depends(&sum.over, e) || sum.moved().any(|k| depends(k, e)));
        if is_entangled {
            return Err(unsupported("the bounds of its loops depend on each other"));
        }
        Ok(sum)
    }

    /// The loops inside the common ones that move the factors which are summed.
    fn moved(&self) -> impl Iterator<Item = &Loop> {
        self.rest.iter().filter(|l| uses(&self.summed, l.id))
    }

    /// Those that do not.
    fn unmoved(&self) -> impl Iterator<Item = &Loop> {
        self.rest.iter().filter(|l| !uses(&self.summed, l.id))
    }

    /// The array of the sums; it lives in a loop.
    fn part(&self, inside: Option<LoopId>) -> Result<Array, Reason> {
        Ok(Array {
            id: ArrayId(0),
            name: "part".into(),
            element: self.element,
            c_type: None,
            shape: self.moved().map(|l| size(l).map(Some)).collect::<Result<_, Reason>>()?,
            form: Form::Nested,
            storage: Storage::Temp(inside),
            align: 0,
        })
    }

    /// Both parts: the sums, and what is done with them. `next` are the first free ids of loops and statements.
    fn apart(&self, part: ArrayId, (next_loop, next_stmt): (u32, u32)) -> Result<Vec<Node>, Reason> {
        let has_iterations = |loops: &mut dyn Iterator<Item = &Loop>| {
            let mut all: Option<Expr> = None;
            for l in loops {
                all = match (all, condition(l)?) {
                    (Some(all), Some(one)) => Some(Expr::binary(BinaryOp::And, all, one)),
                    (all, one) => all.or(one),
                };
            }
            Ok(all)
        };
        let needs = has_iterations(&mut self.unmoved())?;
        if needs.as_ref().is_some_and(|needs| self.unmoved().any(|l| needs.uses(l.id))) {
            return Err(Reason::unsupported("the bounds of its loops depend on each other"));
        }
        let given = has_iterations(&mut std::iter::once(&self.over))?;

        // The elements of the sums, by the iterators of each part.
        let copies: Vec<(LoopId, LoopId)> =
            self.moved().zip(next_loop..).map(|(l, new)| (l.id, LoopId(new))).collect();
        let copied =
            |v: Var| copies.iter().find(|(old, _)| v == Var::Loop(*old)).map(|(_, new)| Affine::var(*new));
        let index = |l: &Loop| extent(l).map(|(lower, _)| Affine::var(l.id) - lower);
        let element = Access::new(part, self.moved().map(index).collect::<Result<Vec<_>, _>>()?);

        let stmt = |id: u32, update: Update, value: Expr| {
            let line = self.statement.line;
            Node::Stmt(Stmt { id: StmtId(next_stmt + id), target: element.clone(), update, value, line })
        };
        let Some(zero) = Literal::zero().as_value(self.element) else {
            return Err(Reason::unsupported("the numbers have no zero"));
        };
        let [first, others @ ..] = self.summed.as_slice() else {
            return Err(Reason::unsupported("no factor moves with the loop"));
        };
        let term = stmt(1, Update::Add, product(first.clone(), others));
        let summing = Node::Loop(Loop { body: vec![term], ..self.over.clone() });
        let sums = vec![stmt(0, Update::Assign, zero), summing];
        let sums = match needs {
            Some(needs) => vec![only_if(needs, sums)],
            None => sums,
        };
        let mut sums = inside(self.moved(), sums);
        for node in &mut sums {
            rename_loops(node, &copies);
            node.substitute(&copied);
        }

        let value = product(Expr::Read(element), &self.others);
        let adding = Node::Stmt(Stmt { value, ..self.statement.clone() });
        let is_known_outside = given.as_ref().is_none_or(|given| self.rest.iter().all(|l| !given.uses(l.id)));
        let guarded = |nodes: Vec<Node>| match &given {
            Some(given) => vec![only_if(given.clone(), nodes)],
            None => nodes,
        };
        let adding = match is_known_outside {
            true => guarded(inside(self.rest.iter(), vec![adding])),
            false => inside(self.rest.iter(), guarded(vec![adding])),
        };
        Ok(inside(self.common.iter(), [sums, adding].concat()))
    }
}

/// Least iterator and number of iterations of a loop that indexes a new array.
pub(super) fn extent(l: &Loop) -> Result<(Affine, Affine), Reason> {
    let is_plain = |e: &&Affine| e.loops().next().is_none();
    let range = (l.lower.as_affine().filter(is_plain), l.upper.as_affine().filter(is_plain));
    match range {
        (Some(lower), Some(upper)) if l.step == 1 => Ok((lower.clone(), upper.clone() - lower.clone())),
        _ => Err(Reason::unsupported(format!("how often loop {} runs is not known before it", l.name))),
    }
}

/// The elements that a new array has for a loop, at least one.
pub(super) fn size(l: &Loop) -> Result<Expr, Reason> {
    extent(l).map(|(_, n)| at_least_one(n))
}

pub(super) fn at_least_one(n: Affine) -> Expr {
    match n.as_constant() {
        Some(n) => Expr::from(n.max(1)),
        None => Expr::binary(BinaryOp::Max, Expr::Affine(n), 1.into()),
    }
}

/// The condition that a loop has an iteration, if it may have none.
pub(super) fn condition(l: &Loop) -> Result<Option<Expr>, Reason> {
    let text = || format!("whether loop {} has an iteration cannot be tested", l.name);
    entered(l).ok_or_else(|| Reason::unsupported(text()))
}

/// The nodes inside the loops, the first of which is the outermost.
fn inside<'a>(loops: impl Iterator<Item = &'a Loop>, nodes: Vec<Node>) -> Vec<Node> {
    let loops: Vec<&Loop> = loops.collect();
    loops.into_iter().rev().fold(nodes, |body, l| vec![Node::Loop(Loop { body, ..l.clone() })])
}

fn rename_loops(node: &mut Node, copies: &[(LoopId, LoopId)]) {
    if let Node::Loop(l) = node
        && let Some((_, new)) = copies.iter().find(|(old, _)| *old == l.id)
    {
        l.id = *new;
    }
    for child in node.bodies_mut().into_iter().flatten() {
        rename_loops(child, copies);
    }
}
