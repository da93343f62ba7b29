//! Which functions of the file a nest may call, directly or not. What replays a nest need not compile the others.

use crate::ast::{File, Range};
use crate::layout::Layout;
use crate::lexer::{Token, TokenKind, tokens};
use crate::places::Places;
use crate::preprocess::Preprocessed;
use oxeye_binding::UnusedBody;
use oxeye_ir::Span;
use std::collections::{BTreeSet, HashMap};

/// Attributes by which functions are called that nobody names.
const CALLING_ATTRIBUTES: [&str; 6] = ["constructor", "destructor", "cleanup", "ifunc", "alias", "weakref"];

/// The calls of the file. A mention of a function counts as a call.
pub(crate) struct Calls<'a> {
    tokens: Vec<Token<'a>>,
    /// First definitions of functions, by name.
    by_name: HashMap<&'a str, usize>,
    /// The functions that parameters of these names lead to.
    by_pointer: HashMap<&'a str, BTreeSet<usize>>,
    /// The functions that each function mentions.
    callees: Vec<BTreeSet<usize>>,
    /// Functions mentioned outside of functions, as in the values of variables.
    always: BTreeSet<usize>,
    /// Bodies in the user's own file of functions that may be left out.
    bodies: Vec<Option<UnusedBody>>,
}

impl<'a> Calls<'a> {
    pub(crate) fn of(
        file: &'a File,
        preprocessed: &'a Preprocessed,
        layout: &Layout<'_>,
        places: &Places<'_>,
        source: &str,
    ) -> Self {
        let functions = &file.functions;
        let is_hidden = has_hidden_calls(preprocessed, source);
        let mut calls = Calls {
            tokens: tokens(&preprocessed.text),
            by_name: HashMap::new(),
            by_pointer: HashMap::new(),
            callees: vec![BTreeSet::new(); functions.len()],
            always: BTreeSet::new(),
            bodies: Vec::new(),
        };
        for (idx, function) in functions.iter().enumerate() {
            calls.by_name.entry(&function.name).or_insert(idx);
        }
        for (param, name) in &file.callees {
            let leads_to = calls.by_name.get(name.as_str());
            calls.by_pointer.entry(&file.var(*param).name).or_default().extend(leads_to);
        }
        for function in functions {
            let body = places.body(function.body.range).filter(|_| function.problem.is_none() && !is_hidden);
            calls.bodies.push(body.and_then(|body| unused_body(body, layout)));
        }
        for (idx, function) in functions.iter().enumerate() {
            calls.callees[idx] = calls.mentioned(function.body.range);
        }
        calls.always = calls.mentioned_outside(file, preprocessed);
        calls
    }

    /// The functions mentioned in a part of the preprocessed text.
    fn mentioned(&self, range: Range) -> BTreeSet<usize> {
        let from = self.tokens.partition_point(|t| t.start < range.start);
        let to = self.tokens.partition_point(|t| t.start < range.end);
        let words = (from..to).filter(|at| self.tokens[*at].kind == TokenKind::Word && !self.is_member(*at));
        let named = |at: usize| {
            let name = self.tokens[at].text;
            let by_pointer = self.by_pointer.get(name).into_iter().flatten();
            by_pointer.chain(self.by_name.get(name)).copied().collect::<Vec<_>>()
        };
        words.flat_map(named).collect()
    }

    /// Whether a word is the name of a member where that is used.
    fn is_member(&self, at: usize) -> bool {
        self.has_before(at, 1, ".") || (self.has_before(at, 1, ">") && self.has_before(at, 2, "-"))
    }

    /// Whether this token stands so many before another one.
    fn has_before(&self, at: usize, back: usize, text: &str) -> bool {
        at.checked_sub(back).and_then(|at| self.tokens.get(at)).is_some_and(|token| token.is(text))
    }

    /// Whether a brace opens the members of a structure.
    fn opens_members(&self, at: usize) -> bool {
        [1, 2].iter().any(|back| self.has_before(at, *back, "struct") || self.has_before(at, *back, "union"))
    }

    /// The functions mentioned outside of functions that were read, other than by declarations of them.
    fn mentioned_outside(&self, file: &File, preprocessed: &Preprocessed) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut read: Vec<Range> = file.functions.iter().map(|f| f.body.range).collect();
        read.sort_by_key(|r| r.start);
        // For each brace that is open, whether it is around members.
        let mut open: Vec<bool> = Vec::new();
        let mut bodies = read.into_iter().filter(|r| r.start < r.end).peekable();
        for (at, token) in self.tokens.iter().enumerate() {
            while bodies.next_if(|body| body.end <= token.start).is_some() {}
            if bodies.peek().is_some_and(|body| body.start <= token.start) {
                continue;
            }
            if token.is("{") {
                open.push(self.opens_members(at));
            } else if token.is("}") {
                open.pop();
            } else if let (TokenKind::Word, Some(function)) = (token.kind, self.by_name.get(token.text)) {
                let is_declared = open.is_empty() && self.tokens.get(at + 1).is_some_and(|next| next.is("("));
                let is_member = open.last() == Some(&true) || self.is_member(at);
                if !is_declared && !is_member {
                    found.insert(*function);
                }
            }
        }
        for (_, pragma) in &preprocessed.pragmas {
            found.extend(tokens(pragma).iter().filter_map(|t| self.by_name.get(t.text)));
        }
        found
    }

    /// The bodies of functions that are never called by a nest at this place of the preprocessed text.
    pub(crate) fn never_called(&self, nest: Range) -> Vec<UnusedBody> {
        let mut called = BTreeSet::new();
        let mut next: Vec<usize> =
            self.mentioned(nest).into_iter().chain(self.always.iter().copied()).collect();
        while let Some(function) = next.pop() {
            if called.insert(function) {
                next.extend(&self.callees[function]);
            }
        }
        let others = self.bodies.iter().enumerate().filter(|(idx, _)| !called.contains(idx));
        others.filter_map(|(_, body)| body.clone()).collect()
    }
}

/// A body as what may be left out but for its directives, if none of these begins or ends elsewhere or stands for code.
fn unused_body(whole: Span, layout: &Layout<'_>) -> Option<UnusedBody> {
    let mut directives = Vec::new();
    let mut depth = 0_usize;
    for d in layout.directives.iter().filter(|d| (whole.start..whole.end).contains(&d.start)) {
        match d.name() {
            "pragma" => continue,
            "if" | "ifdef" | "ifndef" => depth += 1,
            "elif" | "elifdef" | "elifndef" | "else" if depth > 0 => {}
            "endif" => depth = depth.checked_sub(1)?,
            "define" | "undef" | "error" | "warning" => {}
            _ => return None,
        }
        directives.push(Span { start: d.start, end: d.end(), line: d.line });
    }
    (depth == 0).then_some(UnusedBody { whole, directives })
}

/// Whether functions may be called that nobody names.
pub(crate) fn has_hidden_calls(preprocessed: &Preprocessed, source: &str) -> bool {
    let mut own = preprocessed.defines.iter().filter(|d| !d.is_predefined).filter_map(|d| d.body.as_deref());
    mentions_calling_attribute(source) || own.any(mentions_calling_attribute)
}

fn mentions_calling_attribute(text: &str) -> bool {
    tokens(text).iter().any(|t| CALLING_ATTRIBUTES.contains(&t.text.trim_matches('_')))
}
