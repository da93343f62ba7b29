//! Pointer swaps: `tmp = a; a = b; b = tmp;`

use crate::ast::*;

/// Two pointers that are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swap {
    pub(crate) first: VarId,
    pub(crate) second: VarId,
    /// The variable that holds one of them meanwhile, if it is declared elsewhere.
    pub(crate) saved: Option<VarId>,
    /// The three statements.
    pub(crate) range: Range,
}

/// The swap at the start of `statements`.
pub(crate) fn swap_at(file: &File, statements: &[Stmt]) -> Option<Swap> {
    let [first, second, third, ..] = statements else { return None };
    let (saved, a, is_own) = match &first.kind {
        StmtKind::Declare(declared) => match declared.as_slice() {
            [Declared { var, init: Some(init) }] => (*var, init.as_var()?, true),
            _ => return None,
        },
        _ => copy(first).map(|(saved, a)| (saved, a, false))?,
    };
    let (target, b) = copy(second)?;
    let (last, source) = copy(third)?;
    let is_pointer = |v: VarId| file.var(v).ty.is_pointer() && !file.is_member(v);
    let fits = target == a && last == b && source == saved && a != b && saved != a && saved != b;
    let range = Range { start: first.range.start, end: third.range.end };
    let saved = (!is_own).then_some(saved);
    (fits && is_pointer(a) && is_pointer(b)).then_some(Swap { first: a, second: b, saved, range })
}

/// The swaps at the end of a loop's body, and the statements before them.
pub(crate) fn split_swaps<'a>(file: &File, body: &'a Stmt) -> (&'a [Stmt], Vec<Swap>) {
    let mut rest = match &body.kind {
        StmtKind::Block(body) => body.as_slice(),
        _ => std::slice::from_ref(body),
    };
    let mut swaps = Vec::new();
    while let Some(at) = rest.len().checked_sub(3)
        && let Some(swap) = swap_at(file, &rest[at..])
    {
        swaps.push(swap);
        rest = &rest[..at];
    }
    swaps.reverse();
    (rest, swaps)
}

/// `a = b;`
fn copy(s: &Stmt) -> Option<(VarId, VarId)> {
    match &s.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
            Some((target.as_var()?, value.as_var()?))
        }
        _ => None,
    }
}

/// Every swap in a statement.
pub(crate) fn swaps_in(file: &File, s: &Stmt) -> Vec<Swap> {
    let mut found = Vec::new();
    s.walk(&mut |s| {
        if let StmtKind::Block(body) = &s.kind {
            let mut at = 0;
            while at < body.len() {
                match swap_at(file, &body[at..]) {
                    Some(swap) => {
                        found.push(swap);
                        at += 3;
                    }
                    None => at += 1,
                }
            }
        }
    });
    found
}
