//! Groups: neighbouring loops, and calls of functions that have loops, that are one nest with several roots, since one hands the other
//! what it has stored.
//!
//! [`runs_on`] says which statements may stand between them; [`join`] makes one statement of a group before the function is
//! read, so that it is lowered, and has a place in the file, like any other nest.

use crate::ast::{ExprKind, File, Function, Range, Stmt, StmtKind, VarId};
use crate::directives::Directives;
use crate::layout::Layout;
use crate::lexer::{Token, TokenKind, is_typeof, tokens};
use crate::places::Places;
use crate::preprocess::Preprocessed;
use crate::unseen::Unseen;
use oxeye_ir::{NestId, Span};
use std::collections::{BTreeSet, HashSet};

/// What a group is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// A nest of the function.
    Nest(NestId),
    /// The call of a function that has loops.
    Call {
        /// Its name.
        function: String,
        /// The statement in the user's file.
        span: Span,
    },
}

/// The names of the functions that have loops.
pub(crate) fn with_loops(file: &File) -> HashSet<String> {
    let have_loops = file.functions.iter().filter(|f| f.problem.is_none() && f.body.contains_for());
    have_loops.map(|f| f.name.clone()).collect()
}

/// The function with loops that a statement calls, if that is all it does.
pub(crate) fn called_for_loops<'e>(with_loops: &HashSet<String>, s: &'e Stmt) -> Option<&'e str> {
    let StmtKind::Expr(e) = &s.kind else { return None };
    let ExprKind::Call(callee, _) = &e.kind else { return None };
    let ExprKind::Name(name) = &callee.kind else { return None };
    with_loops.contains(name).then_some(name)
}

/// Whether a statement holds loops, or calls of functions that have some.
pub(crate) fn has_loops(with_loops: &HashSet<String>, s: &Stmt) -> bool {
    let mut found = false;
    s.walk(&mut |s| found |= matches!(s.kind, StmtKind::For(_)) || called_for_loops(with_loops, s).is_some());
    found
}

/// Whether loops before and behind a statement may be one nest together with it.
pub(crate) fn runs_on(s: &Stmt) -> bool {
    let mut does = true;
    s.walk(&mut |s| {
        does &= matches!(
            s.kind,
            StmtKind::Empty
                | StmtKind::Expr(_)
                | StmtKind::Declare(_)
                | StmtKind::Block(_)
                | StmtKind::If { .. }
                | StmtKind::For(_)
        );
    });
    does
}

/// Makes a block of the statements from the loop or call at which a span of the user's file begins to the one at which it ends, in the
/// function of this name. Whether there are such.
pub(crate) fn join(
    file: &mut File,
    (function, group): (&str, Span),
    places: &mut Places<'_>,
    (directives, preprocessed, layout): (&Directives, &Preprocessed, &Layout<'_>),
) -> bool {
    let text = &preprocessed.text;
    let place = |s: &Stmt| places.of_statement(s.range, directives.above(text, s.range.start));
    let is_first = |s: &Stmt| place(s).is_some_and(|span| span.start == group.start && span.end < group.end);
    let is_last = |s: &Stmt| place(s).is_some_and(|span| span.start > group.start && span.end == group.end);
    let Some(position) = file.functions.iter().position(|f| f.name == function) else { return false };
    let Some(found) = Members::find(&file.functions[position].body, &is_first, &is_last) else {
        return false;
    };
    let own = Declared::of(file, position, &found, text);
    let unseen = Unseen::of(layout, preprocessed, file.functions[position].range, false);
    if own.is_needed_behind(&file.functions[position], (directives, text), unseen.words().as_ref()) {
        return false;
    }
    let Members { first, last } = found;
    places.join(first, last);
    put_together(&mut file.functions[position].body, &Members { first, last });
    true
}

/// The first and the last statement of a group.
struct Members {
    first: Range,
    last: Range,
}

impl Members {
    fn find(s: &Stmt, is_first: &dyn Fn(&Stmt) -> bool, is_last: &dyn Fn(&Stmt) -> bool) -> Option<Self> {
        let mut found = None;
        s.walk(&mut |s| {
            let StmtKind::Block(body) = &s.kind else { return };
            let Some(first) = body.iter().position(is_first) else { return };
            let Some(last) = body[first..].iter().position(is_last) else { return };
            let statements = &body[first..=first + last];
            if statements.iter().all(runs_on) {
                found = Some(Members { first: body[first].range, last: body[first + last].range });
            }
        });
        found
    }

    fn whole(&self) -> Range {
        Range { start: self.first.start, end: self.last.end }
    }
}

/// What a group declares: what stands in its place does not.
struct Declared<'a> {
    members: &'a Members,
    variables: BTreeSet<VarId>,
    names: BTreeSet<&'a str>,
    /// Whether there are types, enumerations, or functions and variables of other places among it.
    has_types: bool,
}

impl<'a> Declared<'a> {
    fn of(file: &'a File, function: usize, members: &'a Members, text: &str) -> Self {
        let mut variables = BTreeSet::new();
        file.functions[function].body.walk(&mut |s| {
            if let StmtKind::Declare(declared) = &s.kind
                && members.whole().contains(s.range)
            {
                variables.extend(declared.iter().map(|d| d.var));
            }
        });
        let names = variables.iter().map(|var| file.var(*var).name.as_str()).collect();
        let Range { start, end } = members.whole();
        let has_types = declares_others(text.get(start..end).unwrap_or_default());
        Self { members, variables, names, has_types }
    }

    /// Whether anything behind the group, in this build or another, or a directive there, may use some of it.
    fn is_needed_behind(
        &self,
        function: &Function,
        (directives, text): (&Directives, &str),
        left_out: Option<&HashSet<&str>>,
    ) -> bool {
        let mut is_needed = self.has_types;
        let behind = Range { start: self.members.last.end, end: function.range.end };
        function.body.walk_exprs(&mut |e| {
            let is_behind = e.range.start >= behind.start;
            is_needed |= is_behind && e.as_var().is_some_and(|var| self.variables.contains(&var));
        });
        let is_own = |t: &Token<'_>| self.names.contains(t.text);
        let words = tokens(text.get(behind.start..behind.end).unwrap_or_default());
        let has_typeof = words.iter().any(|t| is_typeof(t.text));
        is_needed
            || (has_typeof && words.iter().any(is_own))
            || directives.inside(behind).iter().any(|pragma| tokens(&pragma.text).iter().any(is_own))
            || left_out.is_none_or(|words| self.names.iter().any(|name| words.contains(name)))
    }
}

/// Whether a text declares types, enumerators, functions, or variables of other places outside of all braces.
fn declares_others(text: &str) -> bool {
    let all = tokens(text);
    let mut depth = 0usize;
    for (at, token) in all.iter().enumerate() {
        match token.text {
            "{" | "(" => depth += 1,
            "}" | ")" => depth = depth.saturating_sub(1),
            "typedef" | "extern" if depth == 0 => return true,
            "enum" | "struct" | "union" if depth == 0 => {
                let next = all[at + 1..].iter().take(2);
                if next.take_while(|t| t.kind == TokenKind::Word || t.is("{")).any(|t| t.is("{")) {
                    return true;
                }
            }
            _ => {}
        }
        let starts = at == 0 || [";", "{", "}"].iter().any(|end| all[at - 1].is(end));
        if depth == 0 && starts && is_prototype(&all[at..]) {
            return true;
        }
    }
    false
}

/// Whether tokens begin with `type name(`.
fn is_prototype(all: &[Token<'_>]) -> bool {
    const STATEMENTS: [&str; 8] = ["if", "else", "for", "while", "do", "switch", "return", "sizeof"];
    let end = all.iter().position(|t| !(t.kind == TokenKind::Word || t.is("*"))).unwrap_or(all.len());
    let words = all[..end].iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text);
    all.get(end).is_some_and(|t| t.is("("))
        && words.clone().count() > 1
        && !words.into_iter().any(|word| STATEMENTS.contains(&word))
}

fn put_together(s: &mut Stmt, members: &Members) {
    if let StmtKind::Block(body) = &mut s.kind
        && let Some(first) = body.iter().position(|s| s.range == members.first)
        && let Some(last) = body.iter().position(|s| s.range == members.last)
    {
        let statements = body.drain(first..=last).collect();
        body.insert(first, Stmt { kind: StmtKind::Block(statements), range: members.whole() });
        return;
    }
    for child in s.children_mut() {
        put_together(child, members);
    }
}
