//! The macros that the meaning of a nest depends on, and the conditions under which they have the values that were
//! read.
//!
//! A nest is read with the macros of one build. Another build of the same file, with another `-DN=...`, may have other
//! bounds and other extents. The conditions state, in the preprocessor's language or, where that does not suffice, in
//! C, that everything the nest uses, directly or through its declarations, is unchanged. So do they for what the text of
//! the file defines and a nest has copies of: people edit constants.

use crate::ast::{File, Range, VarId};
use crate::copied::{Copied, copied};
use crate::lexer::{DirectiveLine, Token, TokenKind, is_type_word, tokens, tokens_and_directives};
use crate::preprocess::{Define, Preprocessed};
use crate::scopes::Scopes;
use oxeye_ir::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// The conditions under which a nest is what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// For `#if`; all of them must hold.
    pub preprocessor: Vec<String>,
    /// C constant expressions; all of them must hold.
    pub constant: Vec<String>,
    /// Variables of the function with constant values, by name, each with the condition under which it has that value.
    pub values: Vec<(String, String)>,
}

impl Conditions {
    /// The condition of builds that leave OpenMP off.
    pub(crate) const WITHOUT_OPENMP: &str = "!defined(_OPENMP)";

    /// Whether the nest is what was read only in builds that leave OpenMP off.
    pub fn is_without_openmp(&self) -> bool {
        self.preprocessor.iter().any(|condition| condition == Self::WITHOUT_OPENMP)
    }

    /// Whether the nest is the same in every build.
    pub fn is_empty(&self) -> bool {
        self.preprocessor.is_empty() && self.constant.is_empty() && self.values.is_empty()
    }
}

/// Greatest depth of nested expansions.
const MAX_DEPTH: usize = 32;
/// Most names looked up for one nest.
const MOST_NAMES: usize = 4000;

/// One of the user's files: its tokens and directives.
struct Text<'a> {
    tokens: Vec<Token<'a>>,
    directives: Vec<DirectiveLine<'a>>,
}

/// Finds conditions.
pub(crate) struct Reliance<'a> {
    file: &'a File,
    preprocessed: &'a Preprocessed,
    macros: HashMap<&'a str, Vec<&'a Define>>,
    source: Text<'a>,
    text: &'a str,
    /// Whether directives of OpenACC are ignored, which another build would act on.
    ignores_openacc: bool,
    headers: BTreeMap<u32, String>,
}

impl<'a> Reliance<'a> {
    pub(crate) fn new(
        file: &'a File,
        preprocessed: &'a Preprocessed,
        source: &'a str,
        ignores_openacc: bool,
    ) -> Self {
        let mut macros: HashMap<&str, Vec<&Define>> = HashMap::new();
        for define in &preprocessed.defines {
            macros.entry(&define.name).or_default().push(define);
        }
        let (tokens, directives) = tokens_and_directives(source);
        let read =
            |(k, name): (usize, &String)| Some((k as u32, std::fs::read_to_string(Path::new(name)).ok()?));
        let headers = preprocessed.headers.iter().enumerate().filter_map(read).collect();
        Reliance {
            file,
            preprocessed,
            macros,
            text: source,
            source: Text { tokens, directives },
            ignores_openacc,
            headers,
        }
    }

    /// The definition of a macro at a place of the preprocessed text.
    fn define(&self, name: &str, at: usize) -> Option<&'a Define> {
        let last = self.macros.get(name)?.iter().rev().find(|d| d.at <= at)?;
        last.body.is_some().then_some(*last)
    }

    /// The conditions of a nest, whose statement is at `range`, and in the user's own text at `span`, in the function
    /// with this index.
    pub(crate) fn of(
        &self,
        range: Range,
        span: std::ops::Range<usize>,
        function: usize,
        scopes: &Scopes<'_>,
    ) -> Conditions {
        let at = range.start;
        let mut conditions = Conditions::default();
        let mut preprocessor = BTreeSet::new();
        let mut constant = BTreeSet::new();
        let mut values = BTreeSet::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut next: Vec<String> = Vec::new();
        let mut mention = |tokens: &[Token<'_>], next: &mut Vec<String>| {
            let words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
            next.extend(words.filter(|t| seen.insert(t.text.to_owned())).map(|t| t.text.to_owned()));
        };
        mention(between(&self.source.tokens, span.start, span.end), &mut next);
        if self.ignores_openacc {
            preprocessor.insert("!defined(_OPENACC)".to_owned());
        }
        // Pragmas may use macros too.
        let whole = Span { start: span.start, end: span.end, line: 0 };
        let opening = whole.opening(self.text);
        let is_opening = |start: usize| opening.as_ref().is_some_and(|line| line.start == start);
        let inside = self.source.directives.iter().filter(|d| span.contains(&d.start) || is_opening(d.start));
        for directive in inside {
            match directive.name() {
                "pragma" => mention(&tokens(directive.text.trim_start_matches('#')), &mut next),
                "if" | "ifdef" | "ifndef" => {
                    preprocessor.extend(self.taken(&self.source, directive, at));
                }
                _ => {}
            }
        }
        let mut n_names = 0;
        while let Some(name) = next.pop() {
            n_names += 1;
            if n_names > MOST_NAMES {
                break;
            }
            if let Some(define) = self.define(&name, at) {
                if define.is_predefined {
                    continue;
                }
                if let (true, line) = self.preprocessed.origin(define.at) {
                    preprocessor.extend(self.around(&self.source, line.saturating_sub(1), at));
                }
                let body = define.body.as_deref().unwrap_or("");
                if define.is_function {
                    mention(&tokens(body), &mut next);
                } else if let Some(value) = self.value(&name, at) {
                    preprocessor.insert(format!("({name}) == {value}"));
                } else {
                    let expanded = self.expanded(body, at, 0);
                    constant.extend(expanded.and_then(|words| same(&name, &words)));
                    mention(&tokens(body), &mut next);
                }
                continue;
            }
            // What an enumeration or the name of a type stands for is tested: what else its definition names does not matter.
            let mut is_known = false;
            match copied(self.file, self.preprocessed, scopes, &name, range) {
                Some(Copied::Value(condition)) => _ = values.insert((name.clone(), condition)),
                Some(Copied::Constant(condition)) => is_known = constant.insert(condition),
                None => {}
            }
            for range in self.declarations(&name, function, scopes, range) {
                match self.preprocessed.place(range.start) {
                    (None, line) => {
                        preprocessor.extend(self.around(&self.source, line, at));
                        preprocessor.extend(self.inside(&self.source, range, at));
                        if !is_known {
                            mention(&types(self.declared(&self.source.tokens, range)), &mut next);
                        }
                    }
                    (Some(header), _) => {
                        let Some(text) = self.headers.get(&header) else { continue };
                        let (tokens, directives) = tokens_and_directives(text);
                        let text = Text { tokens, directives };
                        let line = self.preprocessed.place(range.start).1;
                        preprocessor.extend(self.around(&text, line, at));
                        preprocessor.extend(self.inside(&text, range, at));
                        if !is_known {
                            mention(&types(self.declared(&text.tokens, range)), &mut next);
                        }
                    }
                }
            }
        }
        conditions.preprocessor.extend(preprocessor);
        conditions.constant.extend(constant);
        conditions.values.extend(values);
        conditions
    }

    /// The declarations of this name that a nest of the function at `position` may refer to, other than its own. Functions that
    /// it calls count as a whole, including their declarations.
    fn declarations(&self, name: &str, position: usize, scopes: &Scopes<'_>, nest: Range) -> Vec<Range> {
        let vars = (0..).map(VarId).zip(&self.file.vars).filter(|(_, v)| v.name == name);
        let vars = vars.filter(|(_, v)| v.function.is_none_or(|f| f == position));
        let mut found: Vec<Range> =
            vars.filter(|(id, _)| scopes.includes(*id, nest)).map(|(_, v)| v.range).collect();
        if scopes.visible(name, nest).is_some() {
            // It hides what else has the name.
            return found;
        }
        found.extend(self.file.named.iter().filter(|(n, _)| n == name).map(|(_, range)| *range));
        let functions = self.file.functions.iter().enumerate();
        let called = functions.filter(|(k, f)| *k != position && f.name == name);
        found.extend(called.map(|(_, f)| f.range));
        found
    }

    /// The tokens of a declaration, from the end of what precedes it.
    fn declared<'t, 'x>(&self, all: &'t [Token<'x>], range: Range) -> &'t [Token<'x>] {
        let first_line = self.preprocessed.place(range.start).1;
        let last_line = self.preprocessed.place(range.end.saturating_sub(1)).1.max(first_line);
        let mut start = all.partition_point(|t| t.line < first_line);
        let end = all.partition_point(|t| t.line <= last_line);
        while let Some(before) = start.checked_sub(1) {
            if [";", "{", "}"].iter().any(|end| all[before].is(end)) {
                break;
            }
            start = before;
        }
        all.get(start..end).unwrap_or_default()
    }

    /// The conditions of the `#if`s around a line, as far as they mean the same at the nest.
    fn around(&self, text: &Text<'_>, line: u32, nest: usize) -> Vec<String> {
        let mut open: Vec<Vec<String>> = Vec::new();
        for directive in text.directives.iter().take_while(|d| d.line <= line) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => open.push(vec![condition(directive)]),
                "elif" => {
                    if let Some(branch) = open.last_mut() {
                        negate_last(branch);
                        branch.push(condition(directive));
                    }
                }
                "else" => open.iter_mut().last().into_iter().for_each(negate_last),
                "endif" => _ = open.pop(),
                _ => {}
            }
        }
        let all = open.into_iter().flatten();
        // What does not hold at the nest has served its purpose there, such as `#ifndef N`.
        all.filter(|c| self.truth(c, nest) == Some(true) && !is_settled(c)).collect()
    }

    /// The conditions for the branches that the preprocessor took within a declaration.
    fn inside(&self, text: &Text<'_>, range: Range, nest: usize) -> Vec<String> {
        let first = self.preprocessed.place(range.start).1;
        let last = self.preprocessed.place(range.end.saturating_sub(1)).1;
        let opens = |d: &&DirectiveLine<'_>| {
            (first..=last).contains(&d.line) && matches!(d.name(), "if" | "ifdef" | "ifndef")
        };
        let directives = text.directives.iter().filter(opens);
        directives.flat_map(|directive| self.taken(text, directive, nest)).collect()
    }

    /// The condition for the branch that the preprocessor took among the directives that start here.
    fn taken(&self, text: &Text<'_>, first: &DirectiveLine<'_>, at: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut depth = 0;
        for directive in text.directives.iter().filter(|d| d.start >= first.start) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" => depth -= 1,
                _ => {}
            }
            let is_own = depth == 1 && matches!(directive.name(), "if" | "ifdef" | "ifndef" | "elif");
            if is_own {
                let condition = condition(directive);
                match self.truth(&condition, at) {
                    Some(true) => found.push(condition),
                    Some(false) => found.push(format!("!({condition})")),
                    None => {}
                }
            }
            if depth == 0 {
                break;
            }
        }
        found
    }

    /// Whether a condition holds; `None` if uncertain.
    fn truth(&self, condition: &str, at: usize) -> Option<bool> {
        let mut words = Vec::new();
        let all = tokens(condition);
        let mut k = 0;
        while let Some(token) = all.get(k) {
            if token.is("defined") {
                let (name, length) = match all.get(k + 1) {
                    Some(open) if open.is("(") => (all.get(k + 2)?, 4),
                    _ => (all.get(k + 1)?, 2),
                };
                words.push(i64::from(self.define(name.text, at).is_some()).to_string());
                k += length;
            } else {
                words.extend(self.expanded(token.text, at, 0)?);
                k += 1;
            }
        }
        let words: Vec<String> = words
            .into_iter()
            .map(|w| if w.starts_with(|c: char| c.is_alphabetic() || c == '_') { "0".to_owned() } else { w })
            .collect();
        evaluate(&words).map(|v| v != 0)
    }

    /// The value of an object-like macro, if it is an integer to the preprocessor.
    fn value(&self, name: &str, at: usize) -> Option<i64> {
        let words = self.expanded(name, at, 0)?;
        if words.iter().any(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_')) {
            return None;
        }
        evaluate(&words)
    }

    /// The tokens of a text with object-like macros expanded; `None` if there are other macros, or too many.
    fn expanded(&self, text: &str, at: usize, depth: usize) -> Option<Vec<String>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut words = Vec::new();
        for token in tokens(text) {
            match self.define(token.text, at).filter(|_| token.kind == TokenKind::Word) {
                Some(define) if define.is_function => return None,
                Some(define) => {
                    let body = define.body.as_deref().unwrap_or("");
                    words.extend(self.expanded(body, at, depth + 1)?);
                }
                None => words.push(token.text.to_owned()),
            }
            if words.len() > 1000 {
                return None;
            }
        }
        Some(words)
    }
}

fn between<'t, 'a>(tokens: &'t [Token<'a>], start: usize, end: usize) -> &'t [Token<'a>] {
    let first = tokens.partition_point(|t| t.start < start);
    let last = tokens.partition_point(|t| t.start < end);
    tokens.get(first..last).unwrap_or_default()
}

/// The text after `#if`, as one expression.
fn condition(directive: &DirectiveLine<'_>) -> String {
    let name = directive.name();
    let at = directive.text.find(name).unwrap_or(0) + name.len();
    let words: Vec<_> = tokens(&directive.text[at..]).iter().map(|t| t.text.to_owned()).collect();
    let first = words.first().cloned().unwrap_or_default();
    match name {
        "ifdef" => format!("defined({first})"),
        "ifndef" => format!("!defined({first})"),
        _ => words
            .join(" ")
            .replace("& &", "&&")
            .replace("| |", "||")
            .replace("= =", "==")
            .replace("! =", "!=")
            .replace("< =", "<=")
            .replace("> =", ">=")
            .replace("< <", "<<")
            .replace("> >", ">>"),
    }
}

/// Whether a condition uses no macro.
fn is_settled(condition: &str) -> bool {
    tokens(condition).iter().all(|t| t.kind != TokenKind::Word || t.text == "defined")
}

fn negate_last(branch: &mut Vec<String>) {
    if let Some(last) = branch.pop() {
        branch.push(format!("!({last})"));
    }
}

/// A C constant expression that holds if a macro expands to these tokens; `None` if there is none.
fn same(name: &str, words: &[String]) -> Option<String> {
    let is_type = |w: &String| is_type_word(w);
    let is_number = |w: &String| w.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_operator = |w: &String| "()+-*/".contains(w.as_str());
    if words.is_empty() {
        return None;
    }
    if words.iter().all(is_type) {
        return Some(format!("__builtin_types_compatible_p({name}, {})", words.join(" ")));
    }
    let is_constant =
        words.iter().any(is_number) && words.iter().all(|w| is_type(w) || is_number(w) || is_operator(w));
    is_constant.then(|| format!("({name}) == ({})", words.join(" ")))
}

/// The value of an integer expression as the preprocessor computes it; `None` if it is not one.
fn evaluate(words: &[String]) -> Option<i64> {
    let mut joined: Vec<String> = Vec::new();
    // Operators of two characters come as two tokens.
    for word in words {
        let pair = joined.last().map(|last| format!("{last}{word}"));
        match pair {
            Some(pair) if ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>"].contains(&pair.as_str()) => {
                joined.pop();
                joined.push(pair);
            }
            _ => joined.push(word.clone()),
        }
    }
    let mut evaluator = Evaluator { words: &joined, at: 0, depth: 0 };
    let value = evaluator.ternary()?;
    (evaluator.at == joined.len()).then_some(value)
}

struct Evaluator<'a> {
    words: &'a [String],
    at: usize,
    depth: usize,
}

impl Evaluator<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is_there = self.words.get(self.at).is_some_and(|w| w == word);
        self.at += usize::from(is_there);
        is_there
    }

    fn ternary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 200 {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.take("?") {
            let then = self.ternary()?;
            if !self.take(":") {
                return None;
            }
            let otherwise = self.ternary()?;
            if condition != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        const LEVELS: &[&[&str]] = &[
            &["||"],
            &["&&"],
            &["|"],
            &["^"],
            &["&"],
            &["==", "!="],
            &["<", ">", "<=", ">="],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(op) = operators.iter().find(|op| self.words.get(self.at).is_some_and(|w| w == **op)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = match *op {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => {
                    left.checked_mul(1i64.checked_shl(u32::try_from(right).ok().filter(|s| *s < 62)?)?)?
                }
                ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 200 {
            return None;
        }
        let value = if self.take("-") {
            self.unary()?.checked_neg()?
        } else if self.take("+") {
            self.unary()?
        } else if self.take("!") {
            i64::from(self.unary()? == 0)
        } else if self.take("~") {
            !self.unary()?
        } else if self.take("(") {
            let value = self.ternary()?;
            if !self.take(")") {
                return None;
            }
            value
        } else {
            let word = self.words.get(self.at)?;
            self.at += 1;
            match crate::literal::number(word)? {
                crate::literal::Literal::Int(value, _) => value,
                crate::literal::Literal::Great(_) | crate::literal::Literal::Float(..) => return None,
            }
        };
        self.depth -= 1;
        Some(value)
    }
}

/// What a declaration says of the variables that it declares, without their names: others in it do not matter to each.
fn types<'x>(declaration: &[Token<'x>]) -> Vec<Token<'x>> {
    let mut depth = 0usize;
    let mut has_value = false;
    let mut kept = Vec::new();
    for (k, token) in declaration.iter().enumerate() {
        let ends = |t: &Token<'_>| [",", ";", "=", "["].iter().any(|end| t.is(end));
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "=" if depth == 0 => has_value = true,
            "," | ";" if depth == 0 => has_value = false,
            _ => {}
        }
        let is_name = token.kind == TokenKind::Word && depth == 0 && !has_value;
        if !(is_name && declaration.get(k + 1).is_none_or(ends)) {
            kept.push(*token);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_evaluated_as_by_the_preprocessor() {
        let value = |text: &str| {
            let words: Vec<String> = tokens(text).iter().map(|t| t.text.to_owned()).collect();
            evaluate(&words)
        };
        assert_eq!(value("(1 << 4) * 3 - 7 % 4"), Some(45));
        assert_eq!(value("2 > 1 && !(3 == 4) ? 0x10 : 5"), Some(16));
        assert_eq!(value("-(-3) >= 3 || 1 / 0"), None);
        for text in ["", "1.5", "(1", "1 2", "x", "sizeof(int)", "1 +"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
