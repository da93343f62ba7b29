//! Pointers that change places: `tmp = a; a = b; b = tmp;`, also three or four of them in turns.

use crate::ast::*;

/// Most pointers that are read as taking turns.
const MOST: usize = 4;

/// Pointers that take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rotation {
    /// Each gets what the next one led to, and the last what the first did.
    pub(crate) pointers: Vec<VarId>,
    /// The variable that holds one of them meanwhile.
    pub(crate) saved: VarId,
    /// Whether the statements declare that variable.
    pub(crate) is_own: bool,
    /// The statements.
    pub(crate) range: Range,
}

impl Rotation {
    /// How many statements it takes.
    pub(crate) fn n_statements(&self) -> usize {
        self.pointers.len() + 1
    }
}

/// The rotation at the start of `statements`.
pub(crate) fn rotation_at(file: &File, statements: &[Stmt]) -> Option<Rotation> {
    let (first, rest) = statements.split_first()?;
    let (saved, start, is_own) = match &first.kind {
        StmtKind::Declare(declared) => match declared.as_slice() {
            [Declared { var, init: Some(init), .. }] => (*var, init.as_var()?, true),
            _ => return None,
        },
        _ => copy(first).map(|(saved, a)| (saved, a, false))?,
    };
    let is_pointer = |v: VarId| file.var(v).ty.is_pointer() && !file.is_member(v);
    if start == saved {
        return None;
    }
    let mut pointers = vec![start];
    for s in rest.iter().take(MOST) {
        let (target, value) = copy(s)?;
        if Some(&target) != pointers.last() {
            return None;
        }
        if value == saved {
            let fits = pointers.len() > 1 && pointers.iter().all(|v| is_pointer(*v));
            let range = Range { start: first.range.start, end: s.range.end };
            return fits.then_some(Rotation { pointers, saved, is_own, range });
        }
        if pointers.contains(&value) {
            return None;
        }
        pointers.push(value);
    }
    None
}

/// The rotations at the end of a loop's body, and the statements before them.
pub(crate) fn split_rotations<'a>(file: &File, body: &'a Stmt) -> (&'a [Stmt], Vec<Rotation>) {
    let mut rest = match &body.kind {
        StmtKind::Block(body) => body.as_slice(),
        _ => std::slice::from_ref(body),
    };
    let mut found = Vec::new();
    let last = |rest: &'a [Stmt]| {
        (3..=MOST + 1).find_map(|n| {
            let at = rest.len().checked_sub(n)?;
            let rotation = rotation_at(file, &rest[at..]).filter(|r| r.n_statements() == n)?;
            Some((at, rotation))
        })
    };
    while let Some((at, rotation)) = last(rest) {
        found.push(rotation);
        rest = &rest[..at];
    }
    found.reverse();
    (rest, found)
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

/// Every rotation in a statement.
pub(crate) fn rotations_in(file: &File, s: &Stmt) -> Vec<Rotation> {
    let mut found = Vec::new();
    s.walk(&mut |s| {
        if let StmtKind::Block(body) = &s.kind {
            let mut at = 0;
            while at < body.len() {
                match rotation_at(file, &body[at..]) {
                    Some(rotation) => {
                        at += rotation.n_statements();
                        found.push(rotation);
                    }
                    None => at += 1,
                }
            }
        }
    });
    found
}
