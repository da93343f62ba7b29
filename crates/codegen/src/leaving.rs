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
    let mut found = BTreeSet::new();
    in_pairs(items, &mut |before, header, body| {
        let (Some((flag, inside)), Some(before)) = (left_early(header, body), before) else { return };
        let unsets = before.target == *flag && before.value.as_affine() == Some(&Affine::constant(0));
        let n_last = n_set_last(inside, flag.array);
        if unsets && all_accesses(items).iter().filter(|a| a.array == flag.array).count() == n_last + 2 {
            found.insert(flag.array);
        }
    });
    found.retain(|id| places.remove(id).is_some());
    found
}

/// Calls `f` with every open loop, and the statement before it if there is one.
fn in_pairs(items: &[Item], f: &mut dyn FnMut(Option<&Stmt>, &Loop, &[Item])) {
    for (k, item) in items.iter().enumerate() {
        match item {
            Item::Stmt(_) => {}
            Item::Loop { header, body } => {
                let before = match k.checked_sub(1).map(|k| &items[k]) {
                    Some(Item::Stmt(s)) => Some(s),
                    _ => None,
                };
                if header.upper.is_open() {
                    f(before, header, body);
                }
                in_pairs(body, f);
            }
            Item::Scope { body, .. } => in_pairs(body, f),
            Item::Vector(v) => in_pairs(&v.body, f),
            Item::If { then, otherwise, .. } => {
                in_pairs(then, f);
                in_pairs(otherwise, f);
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
