//! Loops that end early: those that do nothing any more once a flag is set.

use crate::expand::{Item, for_each_stmt};
use oxeye_ir::{Access, Affine, Execution, Expr, Loop, UnaryOp, Update};

/// The flag that is tested before everything else in a loop, and once it is set stays set, and what is done while it is not:
/// once it is set, the loop may as well end.
pub(crate) fn left_early<'i>(header: &Loop, body: &'i [Item]) -> Option<(&'i Access, &'i [Item])> {
    let [Item::If { condition: Expr::Unary(UnaryOp::Not, flag), then, otherwise }] = body else {
        return None;
    };
    let Expr::Read(flag) = &**flag else { return None };
    let is_fixed = flag.indices.iter().all(|e| !e.uses(header.id) && e.reads().is_empty());
    let mut is_set = false;
    let mut stays = true;
    for_each_stmt(then, &mut |s| {
        if s.target.array == flag.array {
            let sets =
                s.update == Update::Assign && s.value.as_affine().and_then(Affine::as_constant) == Some(1);
            is_set = true;
            stays &= sets && s.target == *flag;
        }
    });
    let is_plain = header.execution == Execution::Sequential && otherwise.is_empty();
    (is_plain && is_fixed && is_set && stays).then_some((flag, then.as_slice()))
}
