//! Which functions of the file a nest may call, directly or not. What replays a nest need not compile the others.

use crate::ast::{File, Range};
use crate::layout::Layout;
use crate::lexer::{Token, TokenKind, tokens};
use crate::places::Places;
use crate::preprocess::Preprocessed;
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
    /// Bodies, with their braces, in the user's own file, of functions that may be left out.
    bodies: Vec<Option<Span>>,
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
            // Directives in it may hold for what follows, or begin or end elsewhere.
            let is_plain = |body: &Span| {
                let mut inside =
                    layout.directives.iter().filter(|d| (body.start..body.end).contains(&d.start));
                inside.all(|d| d.name() == "pragma")
            };
            calls.bodies.push(body.filter(is_plain));
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
        let inside = self.tokens[from..].iter().take_while(|t| t.start < range.end);
        let words = inside.filter(|t| t.kind == TokenKind::Word);
        let named = |t: &Token<'_>| {
            let by_pointer = self.by_pointer.get(t.text).into_iter().flatten();
            by_pointer.chain(self.by_name.get(t.text)).copied().collect::<Vec<_>>()
        };
        words.flat_map(named).collect()
    }

    /// The functions mentioned outside of functions that were read, other than by declarations of them.
    fn mentioned_outside(&self, file: &File, preprocessed: &Preprocessed) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut read: Vec<Range> = file.functions.iter().map(|f| f.body.range).collect();
        read.sort_by_key(|r| r.start);
        let mut depth = 0_usize;
        let mut bodies = read.into_iter().filter(|r| r.start < r.end).peekable();
        for (at, token) in self.tokens.iter().enumerate() {
            while bodies.next_if(|body| body.end <= token.start).is_some() {}
            if bodies.peek().is_some_and(|body| body.start <= token.start) {
                continue;
            }
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth = depth.saturating_sub(1);
            } else if let (TokenKind::Word, Some(function)) = (token.kind, self.by_name.get(token.text)) {
                let is_declared = depth == 0 && self.tokens.get(at + 1).is_some_and(|next| next.is("("));
                if !is_declared {
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
    pub(crate) fn never_called(&self, nest: Range) -> Vec<Span> {
        let mut called = BTreeSet::new();
        let mut next: Vec<usize> =
            self.mentioned(nest).into_iter().chain(self.always.iter().copied()).collect();
        while let Some(function) = next.pop() {
            if called.insert(function) {
                next.extend(&self.callees[function]);
            }
        }
        let others = self.bodies.iter().enumerate().filter(|(idx, _)| !called.contains(idx));
        others.filter_map(|(_, body)| *body).collect()
    }
}

/// Whether functions may be called that nobody names.
pub(crate) fn has_hidden_calls(preprocessed: &Preprocessed, source: &str) -> bool {
    let mut own = preprocessed.defines.iter().filter(|d| !d.is_predefined).filter_map(|d| d.body.as_deref());
    mentions_calling_attribute(source) || own.any(mentions_calling_attribute)
}

fn mentions_calling_attribute(text: &str) -> bool {
    tokens(text).iter().any(|t| CALLING_ATTRIBUTES.contains(&t.text.trim_matches('_')))
}
