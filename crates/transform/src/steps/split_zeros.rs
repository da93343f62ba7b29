//! Split at zeros: cuts the range of a loop in three, so that in the middle part an array is zero and left out.
//!
//! *Rewrite*: `for i u[i] -= s[i] * u[i]` → the longest run `[first, last)` of zeros in `s` is found; `for i < first` as before,
//! `for first ≤ i < last` with 0 in the place of `s[i]`, `for i ≥ last` as before. The copies of loops and statements get the
//! next free ids, those of the middle part first. What is multiplied with zero falls away where the policy says that numbers are
//! finite; otherwise only the loads do.
//!
//! *Legal when*: always, since the zeros are found before the nest and the order stays. *Refused when* the nest stores into the
//! array, more than the one loop decides which of its elements are read, or the loop runs backwards or over a range that other
//! loops decide.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::scan::make_unique;
use crate::values::{
    Group, Literal, NestRewrite, Read, Step, Valued, assign, grouped, is_value, only_if, reads_under,
    replaced_by, simplified, wrapped,
};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Constraint, Expr, Loop, LoopId, Node, ScalarType, UnaryOp,
};

step! {
    /// Cuts the range of a loop where an array begins and ends to be zero.
    SplitZeros: "split_zeros",
    "cut the range of a loop in three, in the middle one of which an array is zero; found before the nest",
    "{at} of {array}",
    .renumbers();
    /// The loop.
    at: LoopId = Kind::Loop,
    /// The array.
    array: ArrayId = Kind::Array,
}

impl SplitZeros {
    /// The loop, if its range is known before the nest.
    fn range(&self, nest: &Valued) -> Result<Loop, Reason> {
        let Some(found) = nest.nest.find_loop(self.at) else {
            return Err(Reason::new(RefusalKind::NoSuchLoop, format!("the nest has no loop {}", self.at)));
        };
        if found.step != 1 {
            return Err(Reason::unsupported(format!("loop {} does not go one by one", found.name)));
        }
        let is_known = |term: &BoundTerm| match term {
            BoundTerm::Affine { expr, divisor: 1 } => expr.loops().next().is_none(),
            _ => false,
        };
        if !found.lower.0.iter().chain(&found.upper.0).all(is_known) {
            let text = format!("the range of loop {} is not known before the nest", found.name);
            return Err(Reason::unsupported(text));
        }
        Ok(found.clone())
    }
}

impl NestRewrite for SplitZeros {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        let name = nest.unchanged(self.array)?;
        let (at, element) = (self.range(nest)?, nest.program.array(self.array).element);
        let reads = reads_under(&nest.nest.roots, self.array)?;
        let in_loop = |read: &Read| read.steps.iter().any(|s| matches!(s, Step::Loop(l) if l.id == at.id));
        let reads: Vec<_> = reads.into_iter().filter(in_loop).collect();
        if reads.is_empty() || reads.iter().any(|read| !read.uses(at.id)) {
            let text = format!("loop {} does not decide which elements of `{name}` are read", at.name);
            return Err(Reason::unsupported(text));
        }
        let groups = grouped(&nest.program, &nest.nest, &reads)?;
        let Some(zero) = Literal::zero().as_value(element) else {
            return Err(Reason::unsupported(format!("`{name}` has no zero")));
        };
        let (first, first_found) = nest.symbol(&format!("{name}_zero"), at.ty);
        let (last, last_found) = nest.symbol(&format!("{name}_zero_end"), at.ty);
        let (other, run) = (nest.scalar("other", ScalarType::I32), nest.scalar("run", at.ty));
        let read = |scalar| Expr::Read(Access::scalar(scalar));
        let mut body = vec![assign(other, Expr::from(0))];
        let mut around: Vec<Step> = Vec::new();
        for Group { steps, accesses } in groups {
            // What stands around the loop is the same for all of its iterations.
            let Some(position) = steps.iter().position(|step| matches!(step, Step::Loop(l) if l.id == at.id))
            else {
                return Err(Reason::unsupported(format!("loop {} does not reach `{name}`", at.name)));
            };
            let (outside, inside) = (&steps[..position], &steps[position + 1..]);
            if steps.iter().filter(|step| matches!(step, Step::Loop(_))).count() != 1 {
                let text = format!("more than loop {} decides which elements of `{name}` are read", at.name);
                return Err(Reason::unsupported(text));
            }
            if around.is_empty() {
                around = outside.to_vec();
            }
            let inside = match around == outside {
                true => inside.to_vec(),
                false => [outside, inside].concat(),
            };
            let is_other = |access: &Access| {
                let is_zero = is_value(access, element, &zero, policy.finite);
                assign(other, Expr::binary(BinaryOp::BitOr, read(other), Expr::unary(UnaryOp::Not, is_zero)))
            };
            body.extend(wrapped(&inside, accesses.iter().map(is_other).collect()));
        }
        let next = Expr::Affine(Affine::var(at.id).offset(1));
        let more = Expr::Select {
            condition: Box::new(read(other)),
            then: Box::new(Expr::from(0)),
            otherwise: Box::new(Expr::binary(BinaryOp::Add, read(run), Expr::from(1))),
        };
        body.push(assign(run, more));
        let known = Expr::binary(BinaryOp::Sub, read(last_found), read(first_found));
        let longest = vec![
            assign(last_found, next.clone()),
            assign(first_found, Expr::binary(BinaryOp::Sub, next, read(run))),
        ];
        body.push(only_if(Expr::binary(BinaryOp::Gt, read(run), known), longest));
        let search = Node::Loop(Loop { body, execution: Default::default(), ..at.clone() });
        let start = |scalar| assign(scalar, Expr::from(0));
        nest.before(
            [vec![start(first_found), start(last_found), start(run)], wrapped(&around, vec![search])]
                .concat(),
        );
        nest.assume(Constraint::ge(last.into(), first.into()));
        let parts = |l: &Loop| {
            let limited = |lower: Option<Affine>, upper: Option<Affine>| {
                let mut part = l.clone();
                part.lower.0.extend(lower.map(BoundTerm::from));
                part.upper.0.extend(upper.map(BoundTerm::from));
                part
            };
            let mut middle = limited(Some(first.into()), Some(last.into()));
            replaced_by(&mut middle.body, self.array, &zero);
            [limited(None, Some(first.into())), middle, limited(Some(last.into()), None)]
        };
        put(&mut nest.nest.roots, at.id, &parts);
        make_unique(&mut nest.program, &mut nest.nest, 0);
        simplified(&nest.program, &mut nest.nest, policy.finite);
        Ok(())
    }
}

/// Puts parts of a loop in its place.
fn put(nodes: &mut Vec<Node>, at: LoopId, parts: &dyn Fn(&Loop) -> [Loop; 3]) {
    for k in (0..nodes.len()).rev() {
        match &mut nodes[k] {
            Node::Loop(l) if l.id == at => {
                let parts = parts(l);
                nodes.splice(k..=k, parts.into_iter().map(Node::Loop));
            }
            node => node.bodies_mut().into_iter().for_each(|body| put(body, at, parts)),
        }
    }
}
