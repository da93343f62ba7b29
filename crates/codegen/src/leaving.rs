//! Loops that end early: those that do nothing any more once a flag is set.

use crate::expand::{Item, Places, all_accesses, for_each_stmt};
use oxeye_ir::{Access, Affine, ArrayId, Execution, Expr, Loop, Stmt, UnaryOp};
use std::collections::BTreeSet;

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
            is_set = true;
            stays &= s.sets_flag() && s.target == *flag;
        }
    });
    let is_plain = header.execution == Execution::Sequential && otherwise.is_empty();
    (is_plain && is_fixed && is_set && stays).then_some((flag, then.as_slice()))
}

/// The flags of open loops that the text does without: each is unset once, tested at the head of its loop alone, and set where
/// nothing of the loop follows, which is a `break` there. They are no longer declared.
pub(crate) fn jumps(items: &[Item], places: &mut Places) -> BTreeSet<ArrayId> {
    let (mut loops, accesses) = (Vec::new(), all_accesses(items));
    open_loops(items, &mut loops);
    let is_jump = |Behind { before, header, body }| {
        let (flag, inside) = left_early(header, body)?;
        let unsets = before.target == *flag && before.value.as_affine() == Some(&Affine::constant(0));
        let n_others = accesses.iter().filter(|a| a.array == flag.array).count() - 2;
        (unsets && n_others == n_set_last(inside, flag.array)).then_some(flag.array)
    };
    let found: Vec<ArrayId> = loops.into_iter().filter_map(is_jump).collect();
    found.into_iter().filter(|id| places.remove(id).is_some()).collect()
}

/// An open loop behind a statement.
struct Behind<'i> {
    before: &'i Stmt,
    header: &'i Loop,
    body: &'i [Item],
}

fn open_loops<'i>(items: &'i [Item], found: &mut Vec<Behind<'i>>) {
    for (k, item) in items.iter().enumerate() {
        match item {
            Item::Stmt(_) => {}
            Item::Loop { header, body } => {
                let before = k.checked_sub(1).map(|k| &items[k]);
                if let (true, Some(Item::Stmt(before))) = (header.upper.is_open(), before) {
                    found.push(Behind { before, header, body });
                }
                open_loops(body, found);
            }
            Item::Scope { body, .. } => open_loops(body, found),
            Item::Vector(v) => open_loops(&v.body, found),
            Item::If { then, otherwise, .. } => {
                open_loops(then, found);
                open_loops(otherwise, found);
            }
        }
    }
}

/// How many statements at the ends of the ways through these items set a flag.
fn n_set_last(items: &[Item], flag: ArrayId) -> usize {
    match items.last() {
        Some(Item::Stmt(s)) => usize::from(s.target.array == flag),
        Some(Item::If { then, otherwise, .. }) => n_set_last(then, flag) + n_set_last(otherwise, flag),
        _ => 0,
    }
}

/// The condition of a loop that does nothing but what it does while that holds, and what that is.
pub(crate) fn while_it_holds(inside: &[Item], flag: ArrayId) -> Option<(&Expr, &[Item])> {
    let [Item::If { condition, then, otherwise }] = inside else { return None };
    match otherwise.as_slice() {
        [Item::Stmt(s)] if s.target.array == flag => Some((condition, then)),
        _ => None,
    }
}
