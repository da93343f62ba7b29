//! `goto next;` as `continue;`, where `next:` stands at the end of the loop's body and nothing else jumps there.

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
