//! `goto next;` as `continue;`, where `next:` stands at the end of the loop's body and nothing else jumps there; and
//! `if (a) { ...; continue; } else ...; rest` without the `continue`, with `rest` in the branches that go on.

use crate::ast::*;
use std::collections::HashMap;

/// Reads the jumps of all functions so.
pub(super) fn settle(file: &mut File) {
    for function in &mut file.functions {
        let mut n_jumps: HashMap<String, usize> = HashMap::new();
        function.body.walk(&mut |s| {
            if let StmtKind::Goto(name) = &s.kind {
                *n_jumps.entry(name.clone()).or_default() += 1;
            }
        });
        if !n_jumps.is_empty() {
            inside(&mut function.body, &n_jumps);
        }
        branches(&mut function.body);
    }
}

fn inside(s: &mut Stmt, n_jumps: &HashMap<String, usize>) {
    s.children_mut().into_iter().for_each(|s| inside(s, n_jumps));
    let body = match &mut s.kind {
        StmtKind::For(f) => &mut f.body,
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => &mut **body,
        _ => return,
    };
    let StmtKind::Block(body) = &mut body.kind else { return };
    let Some((last, rest)) = body.split_last_mut() else { return };
    let StmtKind::Label(name, labelled) = &last.kind else { return };
    // Done at the end of every iteration, however that is reached.
    let at_end = match &labelled.kind {
        StmtKind::Empty => None,
        StmtKind::Expr(_) => Some((**labelled).clone()),
        _ => return,
    };
    let n_own: usize = rest.iter().map(|s| n_jumps_to(s, name)).sum();
    if n_own == 0 || n_jumps.get(name) != Some(&n_own) {
        return;
    }
    let name = name.clone();
    rest.iter_mut().for_each(|s| replace(s, &name, at_end.as_ref()));
    last.kind = at_end.map_or(StmtKind::Empty, |s| s.kind);
}

/// Jumps to a label other than from inside of further loops.
fn n_jumps_to(s: &Stmt, name: &str) -> usize {
    match &s.kind {
        StmtKind::Goto(to) => usize::from(to == name),
        StmtKind::Block(_) | StmtKind::If { .. } => {
            s.children().into_iter().map(|s| n_jumps_to(s, name)).sum()
        }
        _ => 0,
    }
}

fn replace(s: &mut Stmt, name: &str, at_end: Option<&Stmt>) {
    match &s.kind {
        StmtKind::Goto(to) if to == name => {
            let continuing = Stmt { kind: StmtKind::Continue, range: s.range };
            s.kind = match at_end {
                Some(before) => StmtKind::Block(vec![before.clone(), continuing]),
                None => StmtKind::Continue,
            };
        }
        StmtKind::Block(_) | StmtKind::If { .. } => {
            s.children_mut().into_iter().for_each(|s| replace(s, name, at_end));
        }
        _ => {}
    }
}

/// Takes `continue` out of branches of the bodies of loops.
fn branches(s: &mut Stmt) {
    s.children_mut().into_iter().for_each(branches);
    let body = match &mut s.kind {
        StmtKind::For(f) => &mut f.body,
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => &mut **body,
        _ => return,
    };
    match &mut body.kind {
        StmtKind::Block(body) => continuing(body, false),
        StmtKind::If { .. } => {
            let range = body.range;
            let mut only = vec![std::mem::replace(body, Stmt { kind: StmtKind::Empty, range })];
            continuing(&mut only, false);
            body.kind = StmtKind::Block(only);
        }
        _ => {}
    }
}

/// The same for statements behind which an iteration ends. Where they are `inside` of a branch, none may keep its `continue`.
fn continuing(body: &mut Vec<Stmt>, inside: bool) {
    for k in 0..body.len() {
        let is_last = k + 1 == body.len();
        let (n_skipping, n_going_on) = ways(&body[k]);
        let has_branches = match &body[k].kind {
            StmtKind::Block(_) => true,
            StmtKind::If { otherwise, .. } => is_last || inside || otherwise.is_some(),
            _ => false,
        };
        if n_skipping > 0 && has_branches && (is_last || n_going_on == 1) {
            let rest = body.split_off(k + 1);
            body[k] = going_on(std::mem::replace(&mut body[k].kind, StmtKind::Empty), rest, body[k].range);
            return;
        }
    }
}

/// How many ways through a statement end in `continue`, and at how many places others go on behind it.
fn ways(s: &Stmt) -> (usize, usize) {
    match &s.kind {
        StmtKind::Continue => (1, 0),
        StmtKind::Block(body) => {
            let all: Vec<_> = body.iter().map(ways).collect();
            let n_skipping = all.iter().map(|(n_skipping, _)| n_skipping).sum();
            // Behind each of several ways that go on in the middle, the rest would stand once more.
            let n_inside: usize = all.iter().rev().skip(1).map(|(_, n)| (*n).max(1)).product();
            (n_skipping, n_inside * all.last().map_or(1, |(_, n)| *n))
        }
        StmtKind::If { then, otherwise, .. } => {
            let (then, otherwise) = (ways(then), otherwise.as_deref().map_or((0, 1), ways));
            match then.0 + otherwise.0 {
                0 => (0, 1),
                n_skipping => (n_skipping, then.1 + otherwise.1),
            }
        }
        _ => (0, 1),
    }
}

/// The statement without `continue` at the ends of the ways through it, and with `rest` at that of the others.
fn going_on(kind: StmtKind, rest: Vec<Stmt>, range: Range) -> Stmt {
    let whole = Stmt { kind, range };
    let skips = ways(&whole).0 > 0;
    let kind = match whole.kind {
        StmtKind::Continue => StmtKind::Empty,
        StmtKind::Block(mut body) => {
            body.extend(rest);
            let at = body.iter().position(|s| matches!(s.kind, StmtKind::Continue));
            body.truncate(at.unwrap_or(body.len()));
            continuing(&mut body, true);
            StmtKind::Block(body)
        }
        StmtKind::If { condition, then, otherwise } if skips => {
            let (here, there) = if ways(&then).1 > 0 { (rest, Vec::new()) } else { (Vec::new(), rest) };
            let then = Box::new(going_on(then.kind, here, then.range));
            let otherwise = match otherwise {
                Some(otherwise) => Some(*otherwise),
                None => (!there.is_empty()).then_some(Stmt { kind: StmtKind::Empty, range }),
            };
            let otherwise = otherwise.map(|s| Box::new(going_on(s.kind, there, s.range)));
            StmtKind::If { condition, then, otherwise }
        }
        kind if rest.is_empty() => kind,
        kind => {
            let mut body: Vec<Stmt> = std::iter::once(Stmt { kind, range }).chain(rest).collect();
            continuing(&mut body, true);
            StmtKind::Block(body)
        }
    };
    Stmt { kind, range }
}
