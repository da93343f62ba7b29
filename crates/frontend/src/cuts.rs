//! Loops in time that now and then do what no nest can: `for (t = 0; t < n; t++) { …; if (t % 50 == 0) print(u); }`.
//!
//! Such a loop is cut where that happens. Its iterations up to the next such step become a loop of their own inside of it,
//! which is a nest like others. The condition must depend on the counter and on what the iterations leave alone, so that
//! the next step can be looked for beforehand; it is asked for the same values as before, and some more often. The text
//! gets insertions for that, none of which has a line end, and loses nothing.

use crate::ast::{self, Expr, ExprKind, For, Stmt, StmtKind, Type, VarId, VarKind};
use crate::brackets::Brackets;
use crate::directives::Directives;
use crate::flow::{is_address_taken, of_library};
use crate::lexer::{Token, TokenKind, tokens, tokens_and_directives};
use crate::places::Places;
use crate::preprocess::Preprocessed;
use crate::scan::{assigned_var, counter};
use oxeye_ir::{BinaryOp, MathFn, Span};
use std::collections::BTreeSet;

/// What is inserted into a text so that a loop is cut. Bytes are those of the text with the insertions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The insertion before the iterations: statements, and the header of the loop over them.
    pub before: Span,
    /// Where that header begins.
    pub header: usize,
    /// The insertion behind the iterations: the end of that loop, and a statement.
    pub behind: Span,
    /// Where that loop ends.
    pub end: usize,
    /// Where the loop begins that is cut.
    pub(crate) of: usize,
    /// What stands before the header and behind the loop, as lines.
    lines: [Vec<String>; 2],
}

impl Cut {
    /// What becomes of its insertions in a text in which other spans are replaced: they go if none of these is the loop that
    /// it makes, and are lines of their own otherwise, indented by `column` spaces.
    pub fn edits(&self, replaced: &[Span], column: usize) -> [(Span, String); 2] {
        let is_loop = |span: &Span| span.start <= self.header && span.end >= self.end;
        if !replaced.iter().any(is_loop) {
            return [(self.before, String::new()), (self.behind, String::new())];
        }
        let lines = |k: usize| -> Vec<String> {
            self.lines[k].iter().map(|line| format!("{}{line}", " ".repeat(column))).collect()
        };
        let before = format!("{}\n{}", lines(0).join("\n").trim_start(), " ".repeat(column));
        let behind = format!("\n{}\n{}", lines(1).join("\n"), " ".repeat(column));
        let head = Span { end: self.header, ..self.before };
        [(head, before), (Span { start: self.end, ..self.behind }, behind)]
    }

    /// Whether what is said of a place is said of the cut, not of the user's text.
    pub(crate) fn is_own(&self, span: Span) -> bool {
        let is_inserted = |by: &Span| (by.start..by.end).contains(&span.start);
        span.start == self.of || is_inserted(&self.before) || is_inserted(&self.behind)
    }

    /// The same in a text in which the bytes of this one are elsewhere.
    pub(crate) fn moved(mut self, to: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let Self { before, header, behind, end, of, .. } = &mut self;
        for at in [of, &mut before.start, &mut before.end, header, &mut behind.start, &mut behind.end, end] {
            *at = to(*at)?;
        }
        Some(self)
    }
}

/// A cut of a text that is not in it yet.
struct Plan {
    /// Where the loop begins.
    of: usize,
    /// Where the iterations begin and end.
    body: std::ops::Range<usize>,
    line: u32,
    lines: [Vec<String>; 2],
    header: String,
}

/// The user's own file with all cuts that its loops allow, in bytes of that; `None` if there are none. `own_at` says where a byte of
/// the text that was read is in it.
pub(crate) fn cut(
    file: &ast::File,
    (preprocessed, directives): (&Preprocessed, &Directives),
    places: &Places<'_>,
    (source, own): (&str, &str),
    own_at: impl Fn(usize) -> Option<usize>,
) -> Option<(String, Vec<Cut>)> {
    if directives.are_for_several_loops() {
        return None;
    }
    let mut plans = Vec::new();
    for function in file.functions.iter().filter(|f| preprocessed.origin(f.range.start).0) {
        function.body.walk(&mut |s| {
            // A directive directly above knows the loop that it is for.
            if let StmtKind::For(f) = &s.kind
                && directives.above(&preprocessed.text, s.range.start).next().is_none()
            {
                let of = Loop { file, preprocessed, f };
                plans.extend(
                    places.of_statement(s.range, std::iter::empty()).and_then(|span| of.plan(source, span)),
                );
            }
        });
    }
    plans.retain_mut(|plan| match [plan.of, plan.body.start, plan.body.end].map(&own_at) {
        [Some(of), Some(start), Some(end)] => {
            (plan.of, plan.body) = (of, start..end);
            true
        }
        _ => false,
    });
    plans.sort_by_key(|plan| plan.body.start);
    // Of loops in each other, the outer one.
    let mut end = 0;
    plans.retain(|plan| {
        plan.body.start >= end && {
            end = plan.body.end;
            true
        }
    });
    if plans.is_empty() {
        return None;
    }
    let (mut text, mut done) = (String::new(), 0);
    let mut cuts = Vec::new();
    for Plan { of, body, line, lines, header } in plans {
        let of = of + text.len() - done;
        let mut insert = |text: &mut String, at: usize, what: &str| {
            *text += &own[done..at];
            done = at;
            let start = text.len();
            *text += what;
            Span { start, end: text.len(), line }
        };
        let head = format!("{} ", lines[0].join(" "));
        let before = insert(&mut text, body.start, &format!("{head}{header}"));
        let behind = insert(&mut text, body.end, &format!("}} {} ", lines[1].join(" ")));
        let (header, end) = (before.start + head.len(), behind.start + 1);
        cuts.push(Cut { before, header, behind, end, of, lines });
    }
    text += &own[done..];
    Some((text, cuts))
}

/// Functions of the C library that give memory or take it back.
const MEMORY: [&str; 3] = ["malloc", "calloc", "free"];

/// A `for` loop with what is known around it.
struct Loop<'a> {
    file: &'a ast::File,
    preprocessed: &'a Preprocessed,
    f: &'a For,
}

/// Where what happens now and then stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Last,
}

impl Loop<'_> {
    fn plan(&self, source: &str, span: Span) -> Option<Plan> {
        let counter = counter(self.f)?;
        let condition = self.f.condition.as_ref()?;
        let StmtKind::Block(body) = &self.f.body.kind else { return None };
        let n_last = self.n_now_and_then(counter, body.iter().rev());
        let n_first = self.n_now_and_then(counter, body.iter());
        let (side, n) = match (n_first, n_last) {
            (0, 0) => return None,
            (0, n) => (Side::Last, n),
            (n, 0) => (Side::First, n),
            _ => return None,
        };
        let (seldom, often) = match side {
            Side::First => body.split_at(n),
            Side::Last => {
                let (often, seldom) = body.split_at(body.len() - n);
                (seldom, often)
            }
        };
        let by = self.step(counter, seldom.iter().any(may_end))?;
        if !often.iter().any(repeats) || !Self::is_plain(often) || !self.keeps(counter, seldom) {
            return None;
        }
        let changes = self.changes(often);
        let mut asked = seldom.iter().filter_map(condition_of).chain([condition]);
        if changes.is_unknown
            || changes.assigned.contains(&counter)
            || !asked.all(|e| self.is_steady(e, &changes))
        {
            return None;
        }
        // What stands before the loop ends keeps its names.
        let declared: BTreeSet<VarId> = often.iter().flat_map(declared).collect();
        let uses = |s: &Stmt| {
            let mut found = false;
            s.walk_exprs(&mut |e| found |= e.as_var().is_some_and(|v| declared.contains(&v)));
            found
        };
        if seldom.iter().any(uses) {
            return None;
        }
        self.written(source, span, seldom, (counter, by, side))
    }

    /// The plan in the words of the source.
    fn written(
        &self,
        source: &str,
        span: Span,
        seldom: &[Stmt],
        (counter, by, side): (VarId, i64, Side),
    ) -> Option<Plan> {
        let text = source.get(span.start..span.end)?;
        let (words, directives) = tokens_and_directives(text);
        if directives.iter().any(|d| d.name() != "pragma") {
            return None;
        }
        let brackets = Brackets::of(&words);
        if !words.first()?.is("for") || !words.get(1)?.is("(") {
            return None;
        }
        let close = brackets.closing(1)?;
        let open = close + 1;
        if !words.get(open)?.is("{") || brackets.closing(open)? + 1 != words.len() {
            return None;
        }
        // In one line, and without comments.
        let at = |range: std::ops::Range<usize>| -> Option<String> {
            let (first, last) = (words.get(range.start)?, words.get(range.end.checked_sub(1)?)?);
            let text = text.get(first.start..last.end()).filter(|text| !text.contains(['\\', '"', '\'']))?;
            let is_plain = !text.contains("//") && !text.contains("/*");
            is_plain.then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let semicolons: Vec<usize> = (2..close).filter(|k| words[*k].is(";")).collect();
        let [first, second] = semicolons.as_slice() else { return None };
        let (condition, step) = (at(first + 1..*second)?, at(second + 1..close)?);
        // The statements, by the lines of their first words.
        let ifs = ifs(&words, &brackets, open);
        let lines: Vec<u32> = seldom.iter().map(|s| self.preprocessed.origin(s.range.start).1).collect();
        let found: Vec<&(usize, usize)> = match side {
            Side::First => ifs.iter().take(seldom.len()).collect(),
            Side::Last => ifs.iter().rev().take(seldom.len()).rev().collect(),
        };
        let is_same =
            |((first, _), line): (&&(usize, usize), &u32)| words[*first].line + span.line - 1 == *line;
        if found.len() != lines.len() || !found.iter().zip(&lines).all(is_same) {
            return None;
        }
        let asked: Option<Vec<String>> = found
            .iter()
            .map(|(first, _)| Some(format!("({})", at(first + 2..brackets.closing(first + 1)?)?)))
            .collect();
        let (asked, last) = (asked?.join(" || "), brackets.closing(open)?);
        let (before, behind) = match side {
            Side::First if found.first()?.0 != open + 1 => return None,
            Side::First => (found.last()?.1, last),
            Side::Last if found.last()?.1 + 1 != last => return None,
            Side::Last => (open, found.first()?.0),
        };
        // A directive is for what stands behind it.
        let has_directive =
            |k: usize| directives.iter().any(|d| (words[k].end()..words[k + 1].start).contains(&d.start));
        if has_directive(behind - 1) {
            return None;
        }
        let body_start = if has_directive(before) { words[before].end() } else { words[before + 1].start };
        let body_end = words[behind].start;
        let t = &self.file.var(counter).name;
        let known: BTreeSet<&str> = tokens(source).into_iter().map(|t| t.text).collect();
        let fresh = |end: &str| {
            let name = format!("{t}_{end}");
            if known.contains(name.as_str()) { format!("oxeye_{name}") } else { name }
        };
        let (from, to) = (fresh("from"), fresh("to"));
        let scalar = self.file.var(counter).ty.as_scalar()?;
        let ty = scalar.spelling.clone().unwrap_or_else(|| scalar.ty.c_name().to_owned());
        let until = match asked.contains("||") {
            true => format!("!({asked})"),
            false => format!("!{asked}"),
        };
        let mut before = vec![format!("{{ const {ty} {from} = {t}; {ty} {to};")];
        match side {
            Side::Last => {
                before.push(format!("while ({condition} && {until}) {step};"));
                before.push(format!("{to} = {condition} ? {t} + {by} : {t};"));
            }
            Side::First => {
                before.push(format!("{step};"));
                before.push(format!("while ({condition} && {until}) {step};"));
                before.push(format!("{to} = {t};"));
            }
        }
        Some(Plan {
            of: span.start,
            body: span.start + body_start..span.start + body_end,
            line: span.line,
            lines: [before, vec![format!("{t} = {to} - {by}; }}")]],
            header: format!("for ({t} = {from}; {t} < {to}; {step}) {{"),
        })
    }

    /// By how much the counter grows, if the header does nothing else. `may_end` is whether the loop may end other than by its
    /// condition.
    fn step(&self, counter: VarId, may_end: bool) -> Option<i64> {
        let ty = self.file.var(counter).ty.as_scalar()?;
        if ty.ty.is_float() || ty.is_volatile || ty.is_bool || self.is_lent(counter) {
            return None;
        }
        let is_own =
            matches!(self.file.var(counter).kind, VarKind::Local { is_static: false } | VarKind::Param(_));
        let by = match &self.f.step.as_ref()?.kind {
            ExprKind::Step { target, by, .. } if target.as_var() == Some(counter) => *by,
            ExprKind::Assign(Some(BinaryOp::Add), target, by) if target.as_var() == Some(counter) => {
                ast::constant(by)?
            }
            _ => return None,
        };
        let is_below = match &self.f.condition.as_ref()?.kind {
            ExprKind::Binary(op, left, right) => {
                let is_upper = match op {
                    BinaryOp::Lt => by == 1 || !may_end,
                    // One more is a number of its type, unless the loop goes on with it in any case.
                    BinaryOp::Le => !may_end,
                    BinaryOp::Ne => by == 1 && !ty.ty.is_unsigned(),
                    _ => false,
                };
                is_upper && left.as_var() == Some(counter) && !right.mentions(counter)
            }
            _ => false,
        };
        (is_own && by > 0 && is_below && !self.f.is_behind && !self.f.runs_first).then_some(by)
    }

    /// How many of these statements in a row are under a condition on the counter; none if all of them may be parts of a nest.
    fn n_now_and_then<'s>(&self, counter: VarId, body: impl Iterator<Item = &'s Stmt>) -> usize {
        let is_one = |s: &&Stmt| matches!(&s.kind, StmtKind::If { condition, otherwise: None, .. } if condition.mentions(counter));
        let found: Vec<&Stmt> = body.take_while(is_one).collect();
        let is_in_the_way = |s: &&Stmt| self.changes(std::slice::from_ref(*s)).is_unknown;
        if found.iter().any(is_in_the_way) { found.len() } else { 0 }
    }

    /// Whether the iterations may stand in a loop of their own.
    fn is_plain(often: &[Stmt]) -> bool {
        fn leaves(s: &Stmt, is_inside: bool) -> bool {
            match &s.kind {
                StmtKind::Break | StmtKind::Continue => !is_inside,
                StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Label(..) => true,
                StmtKind::For(f) => leaves(&f.body, true),
                StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => leaves(body, true),
                _ => s.children().into_iter().any(|s| leaves(s, is_inside)),
            }
        }
        !often.iter().any(|s| leaves(s, false))
    }

    /// Whether what happens now and then leaves the counter alone.
    fn keeps(&self, counter: VarId, seldom: &[Stmt]) -> bool {
        let mut keeps = true;
        for s in seldom {
            s.walk_exprs(&mut |e| keeps &= assigned_var(e) != Some(counter));
        }
        keeps
    }

    /// Whether an expression has no effects, and nothing that it depends on but the counter changes in these statements.
    fn is_steady(&self, e: &Expr, changes: &Changes) -> bool {
        let mut is_steady = true;
        e.walk(&mut |e| {
            is_steady &= match &e.kind {
                ExprKind::Int(..) | ExprKind::Promote(_) | ExprKind::Unary(..) | ExprKind::Binary(..) => true,
                ExprKind::Cast(to, _) => to.as_scalar().is_some(),
                ExprKind::Var(v) => {
                    let var = self.file.var(*v);
                    let is_integer = matches!(&var.ty, Type::Scalar(s) if !s.ty.is_float() && !s.is_volatile);
                    let is_out_of_reach = matches!(
                        var.kind,
                        VarKind::Param(_) | VarKind::Local { .. } | VarKind::Global { is_static: true }
                    ) && !self.is_lent(*v);
                    // A member is another one where the pointer to its structure is.
                    let is_kept = [*v, self.file.root(*v)].iter().all(|v| !changes.assigned.contains(v));
                    is_integer && is_kept && (is_out_of_reach || !changes.stores_integers)
                }
                _ => false,
            };
        });
        is_steady
    }

    /// What these statements change, and the functions that they call.
    fn changes(&self, often: &[Stmt]) -> Changes {
        let mut found = Changes::default();
        let mut next: Vec<&Stmt> = often.iter().collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        while let Some(s) = next.pop() {
            s.walk_exprs(&mut |e| match &e.kind {
                ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => match target.as_var() {
                    Some(v) => {
                        found.assigned.insert(v);
                        found.stores_integers |= self.file.is_member(v) && !self.is_float(target);
                    }
                    None => found.stores_integers |= !self.is_float(target),
                },
                ExprKind::Call(f, _) => {
                    let called = match &f.kind {
                        ExprKind::Name(name) => self.file.function(name),
                        _ => None,
                    };
                    match called {
                        Some((_, function)) if function.problem.is_none() => {
                            if seen.insert(&function.name) {
                                next.push(&function.body);
                            }
                        }
                        _ => match &f.kind {
                            ExprKind::Name(name) if of_library(name).is_some() => {
                                found.stores_integers = true;
                            }
                            ExprKind::Name(name) if MEMORY.contains(&name.as_str()) => {}
                            _ => found.is_unknown |= !is_function_of_math(f),
                        },
                    }
                }
                ExprKind::Unknown(..) => found.is_unknown = true,
                _ => {}
            });
            s.walk(&mut |s| {
                found.assigned.extend(declared(s));
                found.is_unknown |= matches!(s.kind, StmtKind::Unknown(..));
            });
        }
        found
    }

    /// Whether the address of a variable is taken somewhere in the file.
    fn is_lent(&self, var: VarId) -> bool {
        self.file.functions.iter().any(|function| is_address_taken(function, var))
            || self.file.global_inits.iter().any(|(_, init)| init.mentions(var))
    }

    /// Whether a target is a number with a fraction.
    fn is_float(&self, target: &Expr) -> bool {
        match &target.kind {
            ExprKind::Index(of, _) | ExprKind::Deref(of) => self.is_float(of),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, of, _) => self.is_float(of),
            ExprKind::Var(v) => self.file.var(*v).ty.innermost().as_scalar().is_some_and(|s| s.ty.is_float()),
            _ => false,
        }
    }
}

/// What some statements change.
#[derive(Default)]
struct Changes {
    /// Variables, by name.
    assigned: BTreeSet<VarId>,
    /// Whether integers may change that are reached otherwise.
    stores_integers: bool,
    /// Whether they do what is not known.
    is_unknown: bool,
}

/// The first and the last word of each `if` statement that stands by itself in the block that opens here.
fn ifs(words: &[Token<'_>], brackets: &Brackets, open: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let Some(close) = brackets.closing(open) else { return found };
    let mut at = open + 1;
    let mut begins = true;
    while at < close {
        let word = &words[at];
        if begins
            && word.is("if")
            && let Some(end) = end_of_if(words, brackets, at)
        {
            found.push((at, end));
            at = end + 1;
            continue;
        }
        begins = word.is(";") || word.is("{") || word.is("}");
        match brackets.closing(at) {
            Some(end) => {
                begins = word.is("{");
                at = end + 1;
            }
            None => at += 1,
        }
    }
    found
}

/// The last word of an `if` statement without `else`.
fn end_of_if(words: &[Token<'_>], brackets: &Brackets, at: usize) -> Option<usize> {
    let then = brackets.closing(at + 1)? + 1;
    let word = words.get(then)?;
    let end = if word.is("{") {
        brackets.closing(then)?
    } else {
        let is_compound = ["if", "for", "while", "do", "switch", "else"].iter().any(|w| word.is(w));
        if is_compound || word.kind != TokenKind::Word && !word.is("(") && !word.is("*") {
            return None;
        }
        let mut k = then;
        while !words.get(k)?.is(";") {
            k = brackets.closing(k).unwrap_or(k) + 1;
        }
        k
    };
    (!words.get(end + 1)?.is("else")).then_some(end)
}

/// Whether a loop may end at a statement of its body.
fn may_end(s: &Stmt) -> bool {
    let mut found = false;
    s.walk(&mut |s| found |= matches!(s.kind, StmtKind::Break | StmtKind::Return(_) | StmtKind::Goto(_)));
    let ends = |f: &Expr| matches!(&f.kind, ExprKind::Name(name) if ["exit", "_exit", "_Exit", "abort", "longjmp"].contains(&name.as_str()));
    s.walk_exprs(&mut |e| found |= matches!(&e.kind, ExprKind::Call(f, _) if ends(f)));
    found
}

fn condition_of(s: &Stmt) -> Option<&Expr> {
    match &s.kind {
        StmtKind::If { condition, .. } => Some(condition),
        _ => None,
    }
}

fn is_function_of_math(f: &Expr) -> bool {
    matches!(&f.kind, ExprKind::Name(name) if MathFn::from_c_name(name).is_some())
}

/// Whether there is a loop in it, or a call of a function, which may have one.
fn repeats(s: &Stmt) -> bool {
    let mut calls = false;
    s.walk_exprs(&mut |e| calls |= matches!(&e.kind, ExprKind::Call(f, _) if !is_function_of_math(f)));
    calls || s.contains_for()
}

/// The variables that a statement of a block declares in it.
fn declared(s: &Stmt) -> Vec<VarId> {
    match &s.kind {
        StmtKind::Declare(declared) => declared.iter().map(|d| d.var).collect(),
        _ => Vec::new(),
    }
}
