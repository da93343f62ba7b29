//! Specialise: a version of the nest for an array, or a scalar, all of whose elements that it reads have one value.
//!
//! *Rewrite*: `for i y[i] += a[i] * x[i]` with `a` being 1 → `for i differs |= a[i] != 1; if (!differs) for i y[i] += x[i]; else`
//! the nest as it was. What is multiplied with zero falls away where the policy says that numbers are finite.
//!
//! *Legal when*: always, since the values are tested before the nest. *Refused when* the nest stores into the array, or what it
//! reads of it cannot be read before the nest.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::values::{
    Group, Literal, NestRewrite, Valued, assign, grouped, is_value, only_if, reads_under, replaced_by,
    simplified, wrapped,
};
use oxeye_ir::{Access, ArrayId, BinaryOp, Expr, Node, ScalarType, UnaryOp};

step! {
    /// A version of the nest for one value of an array.
    Specialise: "specialise",
    "a version of the nest for an array all of whose elements have one value, which is tested before the nest",
    "{array} to {value}",
    .renumbers();
    /// The array, or scalar.
    array: ArrayId = Kind::Array,
    /// The value of its elements.
    value: Literal = Kind::Value,
}

impl NestRewrite for Specialise {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        let name = nest.unchanged(self.array)?;
        let element = nest.program.array(self.array).element;
        let Some(value) = self.value.as_value(element) else {
            let text = format!("`{name}` has no element {}", self.value);
            return Err(Reason::new(RefusalKind::BadArgument { argument: "value".into() }, text));
        };
        let reads = reads_under(&nest.original().roots, self.array)?;
        let groups = grouped(&nest.program, nest.original(), &reads)?;
        let (differs, same) = (nest.differs(), nest.scalar("same", ScalarType::I32));
        let read = |scalar| Expr::Read(Access::scalar(scalar));
        for Group { steps, accesses } in groups {
            let test = |access: &Access| {
                let test = is_value(access, element, &value, policy.finite);
                assign(same, Expr::binary(BinaryOp::BitAnd, read(same), test))
            };
            let is_loop = |node: &Node| matches!(node, Node::Loop(_));
            let mut nodes = wrapped(&steps, accesses.iter().map(test).collect());
            let told = |inside: Vec<Node>| {
                let not_same =
                    only_if(Expr::unary(UnaryOp::Not, read(same)), vec![assign(differs, Expr::from(1))]);
                let all = [vec![assign(same, Expr::from(1))], inside, vec![not_same]].concat();
                vec![only_if(Expr::unary(UnaryOp::Not, read(differs)), all)]
            };
            // The first row with another value ends the search.
            nodes = match nodes.pop() {
                Some(Node::Loop(mut l)) if nodes.is_empty() && l.body.iter().any(is_loop) => {
                    l.body = told(l.body);
                    vec![Node::Loop(l)]
                }
                last => told(nodes.into_iter().chain(last).collect()),
            };
            nest.before(nodes);
        }
        replaced_by(&mut nest.nest.roots, self.array, &value);
        simplified(&nest.program, &mut nest.nest, policy.finite);
        Ok(())
    }
}
