//! Share sums: adds up once what windows have in common.
//!
//! *Rewrite*: `for y for x { s = 0; for u for v s += a[y + u][x + v]; b[y][x] = s }`, over `v` →
//! `for z for x { part[z][x] = 0; for v part[z][x] += a[z][x + v] }; for y for x { s = 0; for u s += part[y + u][x]; b[y][x] = s }`.
//! What is summed changes with `y` and `u` by their sum alone, so all windows that have a row share its sum. Loops that nothing of
//! this moves in two ways stay around both parts. The same is done for products with factors that the loop does not move, and for
//! minima and maxima. (Gautam and Rajopadhye, "Simplifying reductions", 2006; separable filters are a case of it.)
//!
//! *Legal when* the policy lets floating-point sums be reordered, and nothing in the loops writes what the sum reads. *Refused when*
//! no two loops move the same elements, the sum is under a condition or beside another statement, or the ranges of the loops depend
//! on each other.

use super::argument::Kind;
use super::factorize::{at_least_one, condition, extent, has_other_type, product};
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::values::{Literal, NestRewrite, Valued, only_if, put_before, replace_loop};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, Expr, Form, Loop, LoopId, Nest, Node, Program,
    ScalarType, Stmt, StmtId, Storage, Types, Update, Var,
};

step! {
    /// Adds up once what windows have in common.
    ShareSums: "share_sums",
    "compute a sum over a loop once for all windows that it is part of",
    "{stmt} over {loop}";
    /// The statement.
    stmt: StmtId = Kind::Statement,
    /// The innermost loop around it.
    over as "loop": LoopId = Kind::Loop,
}

impl NestRewrite for ShareSums {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        if !nest.nest.stmts().iter().any(|s| s.id == self.stmt) {
            let text = format!("the nest has no statement {}", self.stmt);
            return Err(Reason::new(RefusalKind::NoSuchStatement, text));
        }
        let conditional =
            || Reason::unsupported("the statement is not alone in its loop, or under a condition");
        let (path, statement) = path_to(&nest.nest.roots, self.stmt).ok_or_else(conditional)?;
        let sum = Sum::of(&nest.program, path, statement, self.over, policy)?;
        sum.check_reads(&nest.program, &nest.nest)?;
        let next_loop = nest.nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0);
        let next_stmt = nest.nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
        let part = nest.program.add_array(sum.part());
        let sums = sum.sums(part, (next_loop, next_stmt))?;
        let adding = sum.adding(part)?;
        replace_loop(&mut nest.nest.roots, sum.over.id, &adding);
        put_before(&mut nest.nest.roots, sum.place, &sums);
        nest.reassociated |= sum.element.is_float();
        Ok(())
    }
}

/// The loops around a statement that no condition is around and nothing else is beside, without their bodies.
fn path_to(nodes: &[Node], stmt: StmtId) -> Option<(Vec<Loop>, &Stmt)> {
    nodes.iter().find_map(|node| {
        let Node::Loop(l) = node else { return None };
        let own = Loop { body: Vec::new(), ..l.clone() };
        if let [Node::Stmt(s)] = l.body.as_slice()
            && s.id == stmt
        {
            return Some((vec![own], s));
        }
        let (inner, found) = path_to(&l.body, stmt)?;
        Some(([vec![own], inner].concat(), found))
    })
}

/// Loops that move the same elements, taken together.
struct Moved {
    loops: Vec<LoopId>,
    name: String,
    ty: ScalarType,
    /// The least sum of their iterators, and how many there are.
    first: Affine,
    extent: Affine,
}

/// A sum, to be shared by windows.
struct Sum {
    statement: Stmt,
    element: ScalarType,
    /// What is summed up over the loop, and the other factors.
    summed: Expr,
    others: Vec<Expr>,
    over: Loop,
    /// The loops inside those around both parts, without the one that is summed over.
    inner: Vec<Loop>,
    /// The outermost of these.
    place: LoopId,
    /// The innermost loop around both parts.
    around: Option<LoopId>,
    moved: Vec<Moved>,
    /// Whether adding nothing is the same as adding zero.
    has_zero: bool,
}

impl Sum {
    fn of(
        program: &Program,
        mut path: Vec<Loop>,
        statement: &Stmt,
        over: LoopId,
        policy: Policy,
    ) -> Result<Self, Reason> {
        let unsupported = Reason::unsupported;
        let Some(last) = path.pop_if(|l| l.id == over) else {
            let text = format!("loop {over} is not the innermost one around the statement");
            return Err(Reason::new(RefusalKind::NoSuchLoop, text));
        };
        let target = &statement.target;
        let element = program.array(target.array).element;
        let statement = &extreme(statement, element, policy).unwrap_or_else(|| statement.clone());
        let is_extreme = matches!(statement.update, Update::Min | Update::Max);
        if !is_extreme && !matches!(statement.update, Update::Add | Update::Sub) {
            return Err(unsupported("the statement adds nothing up"));
        }
        if element.is_float() && !policy.reassociate {
            return Err(unsupported(
                "sums are shared only where the compiler's flags let them be reordered, as -ffast-math does",
            ));
        }
        if target.indices.iter().any(|e| e.uses(over)) {
            return Err(unsupported("the loop moves what is added to, so nothing is summed over it"));
        }
        let all: Vec<&Loop> = path.iter().chain([&last]).collect();
        let ty = Types::inside(program, &all).expr(&statement.value);
        if (is_extreme && ty != element) || element.is_float() != ty.is_float() && !element.is_float() {
            return Err(unsupported("the numbers are of another type than what they are added to"));
        }
        let (summed, others) = split(program, statement, over, !is_extreme && element.is_float());
        extent(&last)?;
        let is_alone = |l: &Loop| path.iter().all(|k| k.id == l.id || !move_alike(&summed, k.id, l.id));
        let n_alone = path.iter().take_while(|l| summed.uses(l.id) && is_alone(l)).count();
        // What is declared in a loop is read in it.
        let declared =
            summed.reads().into_iter().filter_map(|read| match program.array(read.array).storage {
                Storage::Body(id) | Storage::Temp(Some(id)) => path.iter().position(|l| l.id == id),
                _ => None,
            });
        let n_around = declared.map(|k| k + 1).chain([n_alone]).max().unwrap_or(0);
        let inner = path.split_off(n_around);
        let moved = moved(&inner, &summed)?;
        if !moved.iter().any(|m| m.loops.len() > 1) {
            return Err(unsupported("no two loops around the statement move the same elements"));
        }
        if inner.iter().any(|l| !matches!(l.ty, ScalarType::I32 | ScalarType::I64)) {
            return Err(unsupported("an iterator is unsigned"));
        }
        Ok(Self {
            statement: statement.clone(),
            element,
            summed,
            others,
            over: last,
            place: inner[0].id,
            around: path.last().map(|l| l.id),
            inner,
            moved,
            has_zero: !is_extreme && (policy.finite || !element.is_float()),
        })
    }

    /// Whether what is summed up is the same before the loops as in them.
    fn check_reads(&self, program: &Program, nest: &Nest) -> Result<(), Reason> {
        let inside = |id: LoopId| id == self.over.id || self.inner.iter().any(|l| l.id == id);
        let written = written_in(&nest.roots, self.place);
        for read in self.summed.reads() {
            let array = program.array(read.array);
            let name = &array.name;
            if matches!(array.storage, Storage::Body(l) | Storage::Temp(Some(l)) if inside(l)) {
                return Err(Reason::unsupported(format!("`{name}` is declared inside the loops")));
            }
            if written.contains(&read.array) {
                return Err(Reason::unsupported(format!(
                    "the loops store into `{name}`, so its values change"
                )));
            }
            if nest.rotations.iter().any(|rotation| rotation.pointers.contains(&read.array)) {
                return Err(Reason::unsupported(format!("`{name}` changes places with other pointers")));
            }
        }
        Ok(())
    }

    /// The array of the sums.
    fn part(&self) -> Array {
        Array {
            id: ArrayId(0),
            name: "part".into(),
            element: self.element,
            c_type: None,
            shape: self.moved.iter().map(|m| Some(at_least_one(m.extent.clone()))).collect(),
            form: Form::Nested,
            storage: Storage::Temp(self.around),
            align: 0,
        }
    }

    /// The loops that compute the sums. `next` are the first free ids of loops and statements.
    fn sums(&self, part: ArrayId, (next_loop, next_stmt): (u32, u32)) -> Result<Vec<Node>, Reason> {
        let ids: Vec<LoopId> = (next_loop..).take(self.moved.len() + 1).map(LoopId).collect();
        let (over, ids) = (ids[self.moved.len()], &ids[..self.moved.len()]);
        // One loop in place of several: the others stand still.
        let place = |v: Var| {
            let Var::Loop(id) = v else { return None };
            if id == self.over.id {
                return Some(Affine::var(over));
            }
            let k = self.moved.iter().position(|m| m.loops.contains(&id))?;
            Some(if self.moved[k].loops[0] == id { Affine::var(ids[k]) } else { Affine::default() })
        };
        let mut summed = self.summed.clone();
        summed.substitute(&place);
        let indices = self.moved.iter().zip(ids).map(|(m, id)| Affine::var(*id) - m.first.clone());
        let target = Access::new(part, indices);
        let line = self.statement.line;
        let stmt = |k: u32, update: Update, value: Expr| {
            Node::Stmt(Stmt { id: StmtId(next_stmt + k), target: target.clone(), update, value, line })
        };
        let (first, n) = extent(&self.over)?;
        let update = if self.statement.update == Update::Sub { Update::Add } else { self.statement.update };
        let is_extreme = matches!(update, Update::Min | Update::Max);
        let start = if is_extreme {
            let mut value = summed.clone();
            value.substitute(&|v| (v == Var::Loop(over)).then(|| first.clone()));
            value
        } else {
            Literal::zero()
                .as_value(self.element)
                .ok_or_else(|| Reason::unsupported("the numbers have no zero"))?
        };
        let summing = Node::Loop(Loop {
            id: over,
            lower: Bound::from(first.clone().offset(i64::from(is_extreme))),
            upper: Bound::from(first + n),
            body: vec![stmt(1, update, summed)],
            ..self.over.clone()
        });
        let mut nodes = vec![stmt(0, Update::Assign, start), summing];
        for (m, id) in self.moved.iter().zip(ids).rev() {
            nodes = vec![Node::Loop(Loop {
                id: *id,
                name: m.name.clone(),
                ty: m.ty,
                lower: Bound::from(m.first.clone()),
                upper: Bound::from(m.first.clone() + m.extent.clone()),
                body: nodes,
                ..self.over.clone()
            })];
        }
        let over = Some(&self.over).filter(|_| !self.has_zero);
        let conditions = self.inner.iter().chain(over).map(condition);
        for condition in conditions.collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
            nodes = vec![only_if(condition, nodes)];
        }
        Ok(nodes)
    }

    /// What is done with the sums, in place of the loop that is summed over.
    fn adding(&self, part: ArrayId) -> Result<Vec<Node>, Reason> {
        let index = |m: &Moved| {
            let sum = m.loops.iter().fold(Affine::default(), |sum, id| sum + Affine::var(*id));
            sum - m.first.clone()
        };
        let read = Expr::Read(Access::new(part, self.moved.iter().map(index)));
        let value = product(read, &self.others);
        let adding = Node::Stmt(Stmt { value, ..self.statement.clone() });
        Ok(match condition(&self.over)? {
            Some(condition) if !self.has_zero => vec![only_if(condition, vec![adding])],
            _ => vec![adding],
        })
    }
}

/// The factors of what is added up that a loop moves, and the others, if these can be taken out of the sum.
fn split(program: &Program, statement: &Stmt, over: LoopId, may_split: bool) -> (Expr, Vec<Expr>) {
    let element = program.array(statement.target.array).element;
    let factors = statement.value.factors();
    let (summed, others): (Vec<&Expr>, Vec<&Expr>) =
        factors.iter().copied().partition(|factor| factor.uses(over));
    let are_alike = !factors.iter().any(|factor| has_other_type(program, factor, element));
    match &summed[..] {
        [first, more @ ..] if may_split && are_alike => {
            let more: Vec<Expr> = more.iter().map(|e| (*e).clone()).collect();
            (product((*first).clone(), &more), others.into_iter().cloned().collect())
        }
        _ => (statement.value.clone(), Vec::new()),
    }
}

/// The loops that move what is summed up, those together that move the same elements.
fn moved(loops: &[Loop], summed: &Expr) -> Result<Vec<Moved>, Reason> {
    let mut moved: Vec<Moved> = Vec::new();
    for l in loops {
        let (first, n) = extent(l)?;
        if !summed.uses(l.id) {
            continue;
        }
        match moved.iter_mut().find(|m| move_alike(summed, m.loops[0], l.id)) {
            Some(m) => {
                m.loops.push(l.id);
                m.first = m.first.clone() + first;
                m.extent = (m.extent.clone() + n).offset(-1);
                m.ty = if l.ty == ScalarType::I64 { l.ty } else { m.ty };
            }
            None => {
                let name = l.name.clone();
                moved.push(Moved { loops: vec![l.id], name, ty: l.ty, first, extent: n });
            }
        }
    }
    Ok(moved)
}

/// `m = max(value, m)` as an update of `m`, where no number is missing and zeros have no sign.
fn extreme(statement: &Stmt, element: ScalarType, policy: Policy) -> Option<Stmt> {
    let Expr::Binary(op, one, other) = &statement.value else { return None };
    let update = match op {
        BinaryOp::Min => Update::Min,
        BinaryOp::Max => Update::Max,
        _ => return None,
    };
    let is_old = |e: &Expr| matches!(e, Expr::Read(a) if *a == statement.target);
    let value = if is_old(one) { other } else { one };
    let fits = statement.update == Update::Assign && (is_old(one) || is_old(other));
    (fits && (policy.finite || !element.is_float())).then(|| Stmt {
        update,
        value: (**value).clone(),
        ..statement.clone()
    })
}

/// Whether an expression changes with two iterators in the same way wherever it uses them.
fn move_alike(e: &Expr, one: LoopId, other: LoopId) -> bool {
    let (mut are_alike, mut is_used) = (true, false);
    e.visit(&mut |e| {
        if let Expr::Affine(a) = e {
            are_alike &= a.coefficient(one) == a.coefficient(other);
            is_used |= a.uses(one);
        }
    });
    are_alike && is_used
}

/// The arrays that are written in a loop.
fn written_in(nodes: &[Node], id: LoopId) -> Vec<ArrayId> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Loop(l) if l.id == id => node.for_each_stmt(&mut |s| found.push(s.target.array)),
            _ => node.bodies().into_iter().for_each(|body| found.extend(written_in(body, id))),
        }
    }
    found
}
