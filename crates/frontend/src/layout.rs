//! Places of loops and function bodies in the user's own text, before preprocessing.

use crate::brackets::Brackets;
use crate::directives::{self, Directive};
use crate::lexer::{ARITHMETIC_WORDS, DirectiveLine, Token, TokenKind, tokens, tokens_and_directives};
use oxeye_ir::Span;
use std::collections::{HashMap, HashSet};

/// The bytes of a statement or definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Line of the first byte, from 1.
    pub(crate) line: u32,
}

/// A brace-enclosed block at file scope with the text before it: a function definition, or something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) whole: Extent,
    /// Directly after the opening brace.
    pub(crate) inside: usize,
}

/// A `for`, `while` or `do` statement, the use of a macro that expands to one, or the call of a function of the text, and the text before
/// it that is not a statement.
#[derive(Clone, Debug)]
pub(crate) struct StatementPlace {
    pub(crate) whole: Extent,
    /// The macro.
    pub(crate) maker: Option<String>,
    /// The end of the semicolon after the use of a macro.
    pub(crate) semicolon: Option<usize>,
    /// The bytes with the conditional directives that start or end within the statement; `None` if other code lies
    /// between.
    pub(crate) balanced: Option<(usize, usize)>,
    /// The end of the statement before it, or of what opens the enclosing one.
    after: usize,
    /// Place and line of each `_Pragma(...)` and each use of a macro between `after` and the `for`.
    words: Vec<(usize, u32)>,
}

/// The loops, calls and file-scope blocks of a text, in textual order.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    text: &'a str,
    pub(crate) statements: Vec<StatementPlace>,
    pub(crate) directives: Vec<DirectiveLine<'a>>,
    pub(crate) blocks: Vec<Block>,
    /// The parts that the preprocessor skipped; `None` if it is not known which these are.
    left_out: Option<Vec<LeftOut<'a>>>,
}

/// A part of a text that other builds have.
#[derive(Debug)]
struct LeftOut<'a> {
    range: std::ops::Range<usize>,
    tokens: Vec<Token<'a>>,
    /// The words of the macros that it defines.
    macros: HashSet<&'a str>,
    /// Whether parts of it are left out in some of those builds.
    has_conditions: bool,
}

impl<'a> LeftOut<'a> {
    fn of(range: std::ops::Range<usize>, all: &[Token<'a>], directives: &[DirectiveLine<'a>]) -> Self {
        let own = directives.iter().filter(|d| range.contains(&d.start) && d.name() == "define");
        let macros = own.flat_map(|d| tokens(d.text.trim_start_matches('#'))).map(|t| t.text).collect();
        let tokens = all.iter().filter(|t| range.contains(&t.start)).copied().collect();
        let has_conditions =
            directives.iter().any(|d| range.contains(&d.start) && d.name().starts_with("if"));
        Self { range, tokens, macros, has_conditions }
    }

    /// Whether it may read a variable of this name, which its first statements need not have set or declared.
    fn reads(&self, name: &str) -> bool {
        let Some(first) = self.tokens.iter().position(|t| t.is(name)) else {
            return self.macros.contains(name);
        };
        let is_sure = |t: &Token<'_>| {
            let is_type = ARITHMETIC_WORDS.contains(&t.text) || t.is("const");
            is_type || t.is(";") || t.is(",")
        };
        // Whatever comes before it may be a condition.
        let is_at_begin = self.tokens[..first].iter().all(is_sure);
        let rest = &self.tokens[first + 1..];
        let is_set = rest.first().is_some_and(|t| t.is("=")) && !rest.get(1).is_some_and(|t| t.is("="));
        let mut value = rest.iter().take_while(|t| !t.is(";"));
        let is_own = is_at_begin && is_set && !value.any(|t| t.is(name));
        !is_own || self.has_conditions || self.macros.contains(name)
    }
}

const MAX_DEPTH: usize = 200;

/// The preprocessor's treatment of the file's directives.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Which of the `#if`, `#elif` and `#else` were taken, by index among all directives; `None` if unknown.
    pub(crate) taken: Option<HashSet<usize>>,
    /// Macros that contain a `for`.
    pub(crate) loop_macros: HashMap<String, Ending>,
    /// Macros that expand to closing braces only: how many.
    pub(crate) closing_macros: HashMap<String, usize>,
    /// Macros whose expansion ends a statement.
    pub(crate) statement_macros: HashSet<String>,
}

/// How the expansion of a macro ends that contains a `for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a statement, but for a semicolon.
    Statement,
    /// With the header of a loop.
    Header,
    /// With that many open braces.
    Braces(usize),
}

impl Survey {
    /// The parts of the text that the preprocessor skipped.
    fn skipped(&self, directives: &[DirectiveLine<'_>], end: usize) -> Vec<std::ops::Range<usize>> {
        let Some(taken) = &self.taken else { return Vec::new() };
        let mut found = Vec::new();
        let mut open: Vec<(usize, bool)> = Vec::new();
        for (k, directive) in directives.iter().enumerate() {
            let name = directive.name();
            if matches!(name, "elif" | "else" | "endif" | "elifdef" | "elifndef")
                && let Some((start, is_taken)) = open.pop()
                && !is_taken
            {
                found.push(start..directive.start);
            }
            if matches!(name, "if" | "ifdef" | "ifndef" | "elif" | "else" | "elifdef" | "elifndef") {
                open.push((directive.end(), taken.contains(&k)));
            }
        }
        found.extend(open.into_iter().filter(|(_, is_taken)| !is_taken).map(|(start, _)| start..end));
        found
    }
}

impl<'a> Layout<'a> {
    pub(crate) fn of(text: &'a str, survey: &Survey) -> Self {
        let (mut tokens, directives) = tokens_and_directives(text);
        let skipped = survey.skipped(&directives, text.len());
        let is_skipped = |t: &Token<'_>| skipped.iter().any(|range| range.contains(&t.start));
        let left_out = survey.taken.as_ref().map(|_| {
            let parts = skipped.iter().cloned();
            parts.map(|range| LeftOut::of(range, &tokens, &directives)).collect()
        });
        tokens.retain(|t| !is_skipped(t));
        let brackets = Brackets::of(&tokens);
        let defined = defined_functions(&tokens, &brackets);
        let statements = Statements { tokens: &tokens, brackets: &brackets, survey, defined: &defined };
        let mut layout = Layout { text, directives, left_out, ..Layout::default() };
        let (mut parens, mut braces) = (0usize, 0usize);
        // The `while` at the end of `do ... while (...)`, and `do` without a loop.
        let mut ends_of_do: HashSet<usize> = HashSet::new();
        let mut blocks: HashSet<usize> = HashSet::new();
        let mut definition: Option<usize> = None;
        for (position, token) in tokens.iter().enumerate() {
            if braces == 0 && definition.is_none() {
                definition = Some(position);
            }
            if token.kind == TokenKind::Word {
                if token.text == "do" {
                    let end = statements.end(position + 1, 0).map(|end| statements.past_semicolon(end));
                    ends_of_do.extend(end);
                    let condition = |end: usize| tokens.get(end + 1..end + 4);
                    let is_block = end
                        .and_then(condition)
                        .is_some_and(|c| c.iter().zip(["(", "0", ")"]).all(|(token, text)| token.is(text)));
                    blocks.extend(is_block.then_some(position));
                }
                let is_loop = token.text == "for"
                    || (token.text == "do" && !blocks.contains(&position))
                    || (token.text == "while" && !ends_of_do.contains(&position))
                    || statements.is_loop_macro(position);
                let is_inside = parens == 0 && braces > 0;
                let end = match is_loop {
                    true if is_inside => statements.end(position, 0),
                    false if is_inside => statements.end_of_call(position),
                    _ => None,
                };
                if let Some(end) = end {
                    let next = tokens.get(end).filter(|t| t.is(";"));
                    let maker = Some(token.text.to_owned()).filter(|word| is_loop && !is_loop_word(word));
                    let semicolon = next.filter(|_| maker.is_some()).map(Token::end);
                    let end = tokens[end - 1].end();
                    let whole = Extent { start: token.start, end, line: token.line };
                    let (after, words) = before_statement(&tokens, &brackets, position);
                    let balanced = layout.balanced(&tokens, whole.start, semicolon.unwrap_or(whole.end), end);
                    layout.statements.push(StatementPlace {
                        whole,
                        maker,
                        semicolon,
                        balanced,
                        after,
                        words,
                    });
                }
                continue;
            }
            if token.kind != TokenKind::Punct {
                continue;
            }
            match token.text {
                "(" | "[" => parens += 1,
                ")" | "]" => parens = parens.saturating_sub(1),
                "{" => {
                    if braces == 0
                        && parens == 0
                        && let (Some(first), Some(end)) = (definition, brackets.closing(position))
                    {
                        let first = &tokens[first];
                        let whole = Extent { start: first.start, end: tokens[end].end(), line: first.line };
                        layout.blocks.push(Block { whole, inside: token.end() });
                    }
                    braces += 1;
                }
                "}" => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        definition = None;
                        parens = 0;
                    }
                }
                ";" if braces == 0 && parens == 0 => definition = None,
                _ => {}
            }
        }
        layout
    }

    /// The words of the parts that other builds may have; `None` if they are not known.
    pub(crate) fn left_out(&self) -> Option<HashSet<&'a str>> {
        let words = |part: &LeftOut<'a>| {
            let own = part.tokens.iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text);
            own.chain(part.macros.iter().copied()).collect::<Vec<_>>()
        };
        Some(self.left_out.as_ref()?.iter().flat_map(words).collect())
    }

    /// Whether another build may read a variable of this name in the function around a part of it.
    pub(crate) fn may_be_read_around(&self, span: Span, name: &str) -> bool {
        let is_around = |block: &&Block| block.whole.start <= span.start && span.end <= block.whole.end;
        let Some(Block { whole, .. }) = self.blocks.iter().find(is_around) else { return false };
        let is_near = |part: &LeftOut<'_>| {
            let at = part.range.start;
            (whole.start..whole.end).contains(&at) && !(span.start..span.end).contains(&at)
        };
        let mut parts = self.left_out.iter().flatten();
        parts.any(|part| if is_near(part) { part.reads(name) } else { part.macros.contains(name) })
    }

    /// The words of the function at a line that are not in what the preprocessor made of it as often: macros drop arguments, and
    /// what stands there may be used in other builds.
    pub(crate) fn dropped(&self, line: u32, preprocessed: &str) -> HashSet<&'a str> {
        let mut before = self.blocks.iter().rev();
        let Some(Block { whole, .. }) = before.find(|block| block.whole.line <= line) else {
            return HashSet::new();
        };
        let is_left_out = |t: &Token<'_>| {
            let mut parts = self.left_out.iter().flatten();
            parts.any(|part| part.range.contains(&(whole.start + t.start)))
        };
        let mut more: HashMap<&str, i32> = HashMap::new();
        for token in tokens(&self.text[whole.start..whole.end]).into_iter().filter(|t| !is_left_out(t)) {
            *more.entry(token.text).or_default() += 1;
        }
        for token in tokens(preprocessed) {
            if let Some(n) = more.get_mut(token.text) {
                *n -= 1;
            }
        }
        more.into_iter().filter(|(_, n)| *n > 0).map(|(word, _)| word).collect()
    }

    /// Whether a macro that the text behind a span knows is defined, or no longer defined, inside.
    fn defines_for_others(&self, span: Span) -> bool {
        let inside = self.directives.iter().filter(|d| (span.start..span.end).contains(&d.start));
        let names = inside.filter(|d| ["define", "undef"].contains(&d.name())).filter_map(|d| {
            let words = d.text.trim_start_matches('#').trim_start().strip_prefix(d.name())?;
            tokens(words).first().map(|t| t.text)
        });
        let names: Vec<&str> = names.collect();
        if names.is_empty() {
            return false;
        }
        let behind = tokens(&self.text[span.end..]);
        let uses = |d: &DirectiveLine<'_>, name: &str| {
            let words = tokens(d.text.trim_start_matches('#'));
            // What others stand for, wherever they are defined, and conditions behind it.
            let own = if d.name() == "define" { 2 } else { 1 };
            let is_behind = d.name() == "define" || (d.start >= span.end && d.name() != "undef");
            is_behind && words.iter().skip(own).any(|t| t.is(name))
        };
        let outside = || self.directives.iter().filter(|d| !(span.start..span.end).contains(&d.start));
        names.into_iter().any(|name| behind.iter().any(|t| t.is(name)) || outside().any(|d| uses(d, name)))
    }

    /// Whether a file is included inside a span.
    pub(crate) fn has_include(&self, span: Span) -> bool {
        let mut inside = self.directives.iter().filter(|d| (span.start..span.end).contains(&d.start));
        inside.any(|d| d.name() == "include")
    }

    /// A statement extended by the conditional directives of which only the start or the end is inside it; `None` if
    /// other code lies between.
    fn balanced(
        &self,
        tokens: &[Token<'_>],
        start: usize,
        limit: usize,
        end: usize,
    ) -> Option<(usize, usize)> {
        let (mut from, mut to) = (start, end);
        let mut open: Vec<usize> = Vec::new();
        // An `#else` at the outermost level has its `#if` before and perhaps its `#endif` after.
        let (mut depth, mut least) = (0i64, 0i64);
        for directive in self.directives.iter().filter(|d| start <= d.start && d.start < end) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" => {
                    depth -= 1;
                    least = least.min(depth);
                }
                "else" | "elif" => least = least.min(depth - 1),
                _ => {}
            }
        }
        let n_before = -least;
        let n_after = depth - least;
        for directive in self.directives.iter().filter(|d| d.start < start) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => open.push(directive.start),
                "endif" => _ = open.pop(),
                _ => {}
            }
        }
        if n_before > 0 {
            from = open.len().checked_sub(n_before as usize).and_then(|k| open.get(k)).copied()?;
        }
        if n_after > 0 {
            let mut missing = n_after;
            for directive in self.directives.iter().filter(|d| d.start >= end) {
                match directive.name() {
                    "if" | "ifdef" | "ifndef" => missing += 1,
                    "endif" => missing -= 1,
                    _ => {}
                }
                if missing == 0 {
                    to = directive.end();
                    break;
                }
            }
            if missing > 0 {
                return None;
            }
        }
        let is_between =
            |t: &Token<'_>| (from <= t.start && t.start < start) || (limit <= t.start && t.start < to);
        (!tokens.iter().any(is_between)).then_some((from, to))
    }

    /// The start of a loop including the pragmas above it, of which those in force are on these lines of the file;
    /// `None` if they cannot be separated from other code there.
    pub(crate) fn start_with_pragmas(&self, place: &StatementPlace, lines: &[u32]) -> Option<usize> {
        let (first, _) = place.balanced?;
        let between: Vec<&DirectiveLine<'_>> = self
            .directives
            .iter()
            .filter(|d| place.after <= d.start && d.end() <= place.whole.start)
            .collect();
        let mut start = first;
        let mut rest: &[&DirectiveLine<'_>] = &between;
        while let Some((last, before)) = rest.split_last().filter(|(last, _)| last.start >= first) {
            _ = last;
            rest = before;
        }
        while let Some((last, before)) = rest.split_last() {
            rest = match last.name() {
                "pragma" => {
                    match directives::parse(last.text.split_once("pragma").map_or("", |(_, text)| text)) {
                        Directive::Alone => break,
                        Directive::Other => before,
                        _ => {
                            start = last.start;
                            before
                        }
                    }
                }
                // `#ifdef` around pragmas only belongs to them.
                "endif" => {
                    let Some(first) = start_of_pragma_group(rest) else {
                        start = self.start_in_group(rest, lines).unwrap_or(start);
                        break;
                    };
                    let group = rest[first].start..last.start;
                    if place.words.iter().any(|(at, _)| group.contains(at)) {
                        break;
                    }
                    start = group.start;
                    &rest[..first]
                }
                _ => break,
            };
        }
        let mut n_made = 0;
        for line in lines {
            match between.iter().find(|d| d.line == *line && d.name() == "pragma") {
                Some(directive) if directive.start < start => return None,
                Some(_) => {}
                None => {
                    let (at, _) = place.words.iter().find(|(_, l)| l == line)?;
                    start = start.min(*at);
                    n_made += 1;
                }
            }
        }
        // A macro that does not expand to a pragma is a statement before the loop.
        let n_words = place.words.iter().filter(|(at, _)| *at >= start).count();
        (n_words == n_made).then_some(start)
    }

    /// Whether a span can be replaced as far as directives go.
    pub(crate) fn is_whole(&self, span: Span) -> bool {
        self.is_balanced(span) && !self.defines_for_others(span)
    }

    /// Whether an `#if` that opens before a span and ends inside is the only one of which that is so, found by everyone, and may be
    /// repeated before the span.
    fn is_balanced(&self, span: Span) -> bool {
        let (mut depth, mut n_closed) = (0usize, 0);
        for directive in self.directives.iter().filter(|d| (span.start..span.end).contains(&d.start)) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" => n_closed += 1,
                "else" | "elif" | "elifdef" | "elifndef" if depth == 0 => return false,
                _ => {}
            }
        }
        depth == 0
            && match span.opening(self.text) {
                None => n_closed == 0,
                opening => n_closed == 1 && opening == self.repeatable(span.start),
            }
    }

    /// The start of the pragmas in force at the end of a part `#if ... #endif` that other code begins: the `#if` can be
    /// repeated before them. The `#endif` is the last of the directives; `lines` are those of the pragmas in force.
    fn start_in_group(&self, directives: &[&DirectiveLine<'_>], lines: &[u32]) -> Option<usize> {
        let (last, before) = directives.split_last()?;
        let first = pragmas_at_end(before).last()?;
        if !pragmas_at_end(before).all(|pragma| lines.contains(&pragma.line)) {
            return None;
        }
        let span = Span { start: first.start, end: last.end(), line: first.line };
        let opening = self.repeatable(first.start)?;
        (span.opening(self.text)? == opening).then_some(first.start)
    }

    /// The innermost `#if` that is open at a place, if it means the same there.
    fn repeatable(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let mut open = Vec::new();
        for directive in self.directives.iter().take_while(|d| d.start < at) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => open.push((directive, true)),
                "endif" => _ = open.pop(),
                // Its condition is not that of one line, or may change on the way.
                "else" | "elif" | "elifdef" | "elifndef" => open.last_mut()?.1 = false,
                "define" | "undef" | "include" | "pragma"
                    if directive.text.contains("macro") || directive.name() != "pragma" =>
                {
                    open.iter_mut().for_each(|(_, is_simple)| *is_simple = false);
                }
                _ => {}
            }
        }
        let (opening, is_simple) = open.pop()?;
        let is_one_line = !opening.text.contains(['\\', '/', '\n']);
        (is_simple && is_one_line).then(|| opening.start..opening.end())
    }
}

/// The pragmas for loops that are last among directives.
fn pragmas_at_end<'d, 'a>(
    directives: &'d [&'d DirectiveLine<'a>],
) -> impl Iterator<Item = &'d DirectiveLine<'a>> {
    directives.iter().rev().copied().take_while(|d| {
        let text = d.text.split_once("pragma").map_or("", |(_, text)| text);
        d.name() == "pragma" && !matches!(directives::parse(text), Directive::Alone | Directive::Other)
    })
}

/// The position of the `#if` whose `#endif` comes last, if there are only pragmas for loops in between.
fn start_of_pragma_group(directives: &[&DirectiveLine<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (k, directive) in directives.iter().enumerate().rev() {
        match directive.name() {
            "endif" => depth += 1,
            "if" | "ifdef" | "ifndef" => {
                depth -= 1;
                if depth == 0 {
                    return Some(k);
                }
            }
            "else" | "elif" => {}
            "pragma" => {
                let text = directive.text.split_once("pragma").map_or("", |(_, text)| text);
                if matches!(directives::parse(text), Directive::Alone | Directive::Other) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    None
}

fn is_loop_word(text: &str) -> bool {
    ["for", "while", "do"].contains(&text)
}

/// The end of the code before the statement at `position`, and the macros and `_Pragma`s in between.
fn before_statement(
    tokens: &[Token<'_>],
    brackets: &Brackets,
    position: usize,
) -> (usize, Vec<(usize, u32)>) {
    let mut words = Vec::new();
    let mut first = position;
    while let Some(token) = first.checked_sub(1).map(|k| &tokens[k]) {
        let word = if token.is(")") {
            let Some(open) = brackets.opening(first - 1) else { break };
            let Some(word) = open.checked_sub(1) else { break };
            if ["if", "while", "for", "switch"].contains(&tokens[word].text) {
                break;
            }
            word
        } else {
            first - 1
        };
        if tokens[word].kind != TokenKind::Word || ["else", "do"].contains(&tokens[word].text) {
            break;
        }
        words.push((tokens[word].start, tokens[word].line));
        first = word;
    }
    words.reverse();
    (first.checked_sub(1).map_or(0, |k| tokens[k].end()), words)
}

/// Finds the ends of statements.
struct Statements<'t, 'a> {
    tokens: &'t [Token<'a>],
    brackets: &'t Brackets,
    survey: &'t Survey,
    defined: &'t HashSet<&'a str>,
}

/// The functions that a text defines.
fn defined_functions<'a>(tokens: &[Token<'a>], brackets: &Brackets) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_open = |k: usize, bracket: &str| tokens.get(k).is_some_and(|t| t.is(bracket));
        let closing = |k: usize| brackets.closing(k).unwrap_or(k);
        if tokens[at].kind == TokenKind::Word && is_open(at + 1, "(") && is_open(closing(at + 1) + 1, "{") {
            found.insert(tokens[at].text);
        }
        at = if is_open(at, "{") { closing(at) } else { at } + 1;
    }
    found
}

impl Statements<'_, '_> {
    /// The end of the statement that starts at `at`, as the position after its semicolon, if it is a call of a function of the text and
    /// nothing else.
    fn end_of_call(&self, at: usize) -> Option<usize> {
        let is = |k: usize, text: &str| self.tokens.get(k).is_some_and(|t| t.is(text));
        let starts = at.checked_sub(1).is_some_and(|k| [";", "{", "}"].iter().any(|end| is(k, end)));
        if !starts || !self.defined.contains(self.tokens[at].text) || !is(at + 1, "(") {
            return None;
        }
        let end = self.brackets.closing(at + 1)? + 1;
        is(end, ";").then_some(end + 1)
    }

    /// Whether a statement starts here with a macro that expands to a loop.
    fn is_loop_macro(&self, at: usize) -> bool {
        let starts = at.checked_sub(1).is_none_or(|k| {
            let before = &self.tokens[k];
            [";", "{", "}", ")", ":", "else", "do"].iter().any(|end| before.is(end))
                || self.survey.statement_macros.contains(before.text)
        });
        starts && self.tokens.get(at).is_some_and(|t| self.survey.loop_macros.contains_key(t.text))
    }

    /// The end of the statement that starts at `at`, as the position after its last token; before the semicolon after a
    /// macro that expands to a whole loop.
    fn end(&self, at: usize, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let token = self.tokens.get(at)?;
        let statement = |at| self.end(at, depth + 1);
        let past_parens = |at: usize| {
            self.tokens.get(at).filter(|t| t.is("("))?;
            Some(self.brackets.closing(at)? + 1)
        };
        match token.text {
            "{" if token.kind == TokenKind::Punct => Some(self.brackets.closing(at)? + 1),
            "for" | "while" | "switch" => statement(past_parens(at + 1)?),
            "if" => {
                let end = self.past_semicolon(statement(past_parens(at + 1)?)?);
                let is_else = self.tokens.get(end).is_some_and(|t| t.is("else"));
                if is_else { statement(end + 1) } else { Some(end) }
            }
            "do" => {
                let end = self.past_semicolon(statement(at + 1)?);
                self.tokens.get(end).filter(|t| t.is("while"))?;
                let end = past_parens(end + 1)?;
                self.tokens.get(end).filter(|t| t.is(";"))?;
                Some(end + 1)
            }
            name if self.is_loop_macro(at) => {
                let end = past_parens(at + 1).unwrap_or(at + 1);
                match self.survey.loop_macros.get(name).copied().unwrap_or(Ending::Statement) {
                    Ending::Statement => Some(end),
                    Ending::Header if self.tokens.get(end).is_none_or(|t| t.is(";") || t.is("}")) => {
                        Some(end)
                    }
                    Ending::Header => statement(end),
                    Ending::Braces(open) => self.closed(end, open),
                }
            }
            _ => {
                let mut at = at;
                loop {
                    let token = self.tokens.get(at)?;
                    at = match (token.kind, token.text) {
                        (TokenKind::Punct, ";") => return Some(at + 1),
                        (TokenKind::Punct, "(" | "[" | "{") => self.brackets.closing(at)? + 1,
                        (TokenKind::Punct, ")" | "]" | "}") => return None,
                        _ => at + 1,
                    };
                }
            }
        }
    }

    /// The position after the macro that closes `open` braces, which macros before `at` have opened.
    fn closed(&self, mut at: usize, mut open: usize) -> Option<usize> {
        while open > 0 {
            let token = self.tokens.get(at)?;
            at = match (token.kind, token.text) {
                (TokenKind::Punct, "(" | "[" | "{") => self.brackets.closing(at)? + 1,
                (TokenKind::Punct, ")" | "]" | "}") => return None,
                (TokenKind::Word, name) => {
                    if let Some(closed) = self.survey.closing_macros.get(name) {
                        open = open.checked_sub(*closed)?;
                    } else if let Some(Ending::Braces(more)) = self.survey.loop_macros.get(name) {
                        open += more;
                    }
                    at + 1
                }
                _ => at + 1,
            };
        }
        Some(at)
    }

    /// Skips the semicolon after a macro at the end of a statement.
    fn past_semicolon(&self, end: usize) -> usize {
        let is_open = end.checked_sub(1).is_some_and(|k| !self.tokens[k].is(";") && !self.tokens[k].is("}"));
        end + usize::from(is_open && self.tokens.get(end).is_some_and(|t| t.is(";")))
    }
}

/// A mark that survives preprocessing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// Directly before this statement.
    Start(usize),
    /// Directly after it.
    End(usize),
    /// After the semicolon after this statement, which a macro expands to.
    Semicolon(usize),
    /// Directly after the opening brace of this block.
    Block(usize),
}

const PREFIX: &str = "oxeye_mark_";

impl Mark {
    pub(crate) fn parse(word: &str) -> Option<Mark> {
        let rest = word.strip_prefix(PREFIX)?;
        let number = rest.get(1..)?.parse().ok()?;
        match rest.as_bytes().first()? {
            b's' => Some(Mark::Start(number)),
            b'e' => Some(Mark::End(number)),
            b'c' => Some(Mark::Semicolon(number)),
            b'b' => Some(Mark::Block(number)),
            _ => None,
        }
    }

    fn word(self) -> String {
        match self {
            Mark::Start(k) => format!("{PREFIX}s{k}"),
            Mark::End(k) => format!("{PREFIX}e{k}"),
            Mark::Semicolon(k) => format!("{PREFIX}c{k}"),
            Mark::Block(k) => format!("{PREFIX}b{k}"),
        }
    }
}

/// The text with a mark at each of its layout's places.
pub(crate) fn marked(text: &str, layout: &Layout<'_>) -> String {
    let mut marks = Vec::new();
    for (k, l) in layout.statements.iter().enumerate() {
        marks.push((l.whole.start, 1, Mark::Start(k)));
        marks.push((l.whole.end, 0, Mark::End(k)));
        marks.extend(l.semicolon.map(|end| (end, 0, Mark::Semicolon(k))));
    }
    for (k, block) in layout.blocks.iter().enumerate() {
        marks.push((block.inside, 0, Mark::Block(k)));
    }
    marks.sort_by_key(|(at, order, _)| (*at, *order));
    let mut out = String::with_capacity(text.len() + marks.len() * 24);
    let mut done = 0;
    for (at, _, mark) in marks {
        out.push_str(&text[done..at]);
        out.push(' ');
        out.push_str(&mark.word());
        out.push(' ');
        done = at;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_end_where_their_statement_ends() {
        let text =
            "void f(void) { for (;;) if (a) b; else for (;;) { c; } /* } */ d; for(;;);do x; while(1); }";
        let layout = Layout::of(text, &Survey::default());
        let found: Vec<_> = layout.statements.iter().map(|l| &text[l.whole.start..l.whole.end]).collect();
        assert_eq!(
            found,
            ["for (;;) if (a) b; else for (;;) { c; }", "for (;;) { c; }", "for(;;);", "do x; while(1);"]
        );
        assert_eq!(layout.blocks.len(), 1);
        assert_eq!(layout.blocks[0].whole.end, text.len());
    }

    #[test]
    fn loops_in_parentheses_and_directives_do_not_count() {
        let text = "#define L for (;;) ;\nvoid f(void) { M(for (;;) ;); ({ for (;;) ; }); L }\nint x = 3, y[] = { 1 };";
        let layout = Layout::of(text, &Survey::default());
        assert!(layout.statements.is_empty());
        assert_eq!(layout.blocks.len(), 2);
    }

    #[test]
    fn marks_come_back() {
        for mark in [Mark::Start(3), Mark::End(0), Mark::Semicolon(4), Mark::Block(17)] {
            assert_eq!(Mark::parse(&mark.word()), Some(mark));
        }
        assert_eq!(Mark::parse("oxeye_mark_"), None);
    }
}
