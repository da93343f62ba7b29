//! Maps loops, calls and functions of the parsed text to the user's file.

use crate::ast::Range;
use crate::directives::{Directive, Pragma};
use crate::layout::{Block, Extent, Layout, Mark, StatementPlace};
use crate::lexer::tokens;
use crate::preprocess::Preprocessed;
use oxeye_ir::Span;
use std::collections::HashMap;

/// The places in the user's file of the parsed text's loops, calls and functions.
pub(crate) struct Places<'a> {
    layout: &'a Layout<'a>,
    preprocessed: &'a Preprocessed,
    /// With a flag that says whether the semicolon after it belongs to it.
    statements: HashMap<Range, (&'a StatementPlace, bool)>,
    /// Loops that macros expand to with braces or `do` around.
    made: Vec<(Range, (&'a StatementPlace, bool))>,
    /// The first and the last statement of a group.
    joined: HashMap<Range, [Range; 2]>,
    /// Keyed by the place of the opening brace.
    functions: HashMap<usize, Block>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(preprocessed: &'a Preprocessed, layout: &'a Layout<'a>) -> Self {
        let text = &preprocessed.text;
        let before = |at: usize| text[..at].trim_end().len();
        let mut starts: HashMap<usize, usize> = HashMap::new();
        let mut places = Places {
            layout,
            preprocessed,
            statements: HashMap::new(),
            made: Vec::new(),
            joined: HashMap::new(),
            functions: HashMap::new(),
        };
        for (at, mark) in &preprocessed.marks {
            match mark {
                Mark::Start(k) => {
                    let rest = &text[*at..];
                    starts.insert(*k, at + (rest.len() - rest.trim_start().len()));
                }
                Mark::End(k) | Mark::Semicolon(k) => {
                    if let (Some(start), Some(place)) = (starts.get(k), layout.statements.get(*k)) {
                        let range = Range { start: *start, end: before(*at) };
                        let with_semicolon = matches!(mark, Mark::Semicolon(_));
                        places.statements.insert(range, (place, with_semicolon));
                        if with_semicolon || place.semicolon.is_none() {
                            places.made.extend(
                                inside_wrapper(text, range).map(|inner| (inner, (place, with_semicolon))),
                            );
                        }
                    }
                }
                Mark::Block(k) => {
                    if let (Some(brace), Some(block)) = (before(*at).checked_sub(1), layout.blocks.get(*k)) {
                        places.functions.insert(brace, *block);
                    }
                }
            }
        }
        for (range, place) in std::mem::take(&mut places.made) {
            places.statements.entry(range).or_insert(place);
        }
        places
    }

    /// The text after preprocessing.
    pub(crate) fn text(&self, range: Range) -> Option<&str> {
        self.preprocessed.text.get(range.start..range.end)
    }

    /// The definition of the function with this body.
    pub(crate) fn function(&self, body: Range) -> Option<&Extent> {
        self.functions.get(&body.start).map(|block| &block.whole)
    }

    /// The bytes of this body in the user's file, with its braces.
    pub(crate) fn body(&self, body: Range) -> Option<Span> {
        let Block { whole, inside } = self.functions.get(&body.start)?;
        Some(Span { start: inside.checked_sub(1)?, end: whole.end, line: whole.line })
    }

    /// Whether the loop or call is written out in the user's file; if not, it comes from a macro.
    pub(crate) fn has_statement(&self, range: Range) -> bool {
        match self.joined.get(&range) {
            Some(ends) => ends.iter().all(|end| self.has_statement(*end)),
            None => self.statements.get(&range).is_some_and(|(place, _)| place.balanced.is_some()),
        }
    }

    /// Makes one place of all from one statement to another behind it.
    pub(crate) fn join(&mut self, first: Range, last: Range) {
        self.joined.insert(Range { start: first.start, end: last.end }, [first, last]);
    }

    /// Whether it is the place of a group.
    pub(crate) fn is_joined(&self, range: Range) -> bool {
        self.joined.contains_key(&range)
    }

    /// The macro that expands to a loop.
    pub(crate) fn maker(&self, range: Range) -> Option<&str> {
        let (is_own, line) = self.preprocessed.origin(range.start);
        let mut there = self.layout.statements.iter().filter(|place| is_own && place.whole.line == line);
        there.find_map(|place| place.maker.as_deref())
    }

    /// The bytes of a loop or call in the user's file including the pragmas above it that are in force; `None` if
    /// that is not one contiguous text.
    pub(crate) fn of_statement<'p>(
        &self,
        range: Range,
        above: impl Iterator<Item = &'p Pragma>,
    ) -> Option<Span> {
        if let Some([first, last]) = self.joined.get(&range) {
            let span = Span { end: self.end(*last)?, ..self.with_pragmas(*first, above)? };
            return (self.layout.is_whole(span) && !self.layout.has_include(span)).then_some(span);
        }
        let span = self.with_pragmas(range, above)?;
        self.layout.is_whole(span).then_some(span)
    }

    /// The end of a statement.
    fn end(&self, range: Range) -> Option<usize> {
        let (place, with_semicolon) = self.statements.get(&range)?;
        place.semicolon.filter(|_| *with_semicolon).or(Some(place.balanced?.1))
    }

    /// A statement with the pragmas above it.
    fn with_pragmas<'p>(&self, range: Range, above: impl Iterator<Item = &'p Pragma>) -> Option<Span> {
        let (place, _) = self.statements.get(&range)?;
        let mut lines = Vec::new();
        for pragma in above.filter(|p| p.directive != Directive::Other) {
            let (is_own, line) = self.preprocessed.origin(pragma.at);
            if !is_own {
                return None;
            }
            lines.push(line);
        }
        let start = self.layout.start_with_pragmas(place, &lines)?;
        Some(Span { start, end: self.end(range)?, line: place.whole.line })
    }
}

/// The loop in `{ for ... }` or `do { for ... } while (0);`, if there is nothing else.
fn inside_wrapper(text: &str, whole: Range) -> Option<Range> {
    let all = tokens(text.get(whole.start..whole.end)?);
    let n_before = all.iter().take_while(|t| t.is("do") || t.is("{")).count();
    let n_after = all
        .iter()
        .rev()
        .take_while(|t| ["}", "while", "(", "0", ")", ";"].iter().any(|end| t.is(end)))
        .count();
    let first = all.get(n_before).filter(|t| t.is("for") && n_before > 0)?;
    let n_braces = all.iter().take(n_before).filter(|t| t.is("{")).count();
    // As many closing braces as opening ones belong to the wrapper, counted from the end.
    let closing: Vec<_> = all.iter().rev().take(n_after).filter(|t| t.is("}")).collect();
    let outermost = closing.get(n_braces.checked_sub(1)?)?;
    let last = all.iter().rev().find(|t| t.start < outermost.start)?;
    Some(Range { start: whole.start + first.start, end: whole.start + last.end() })
}
