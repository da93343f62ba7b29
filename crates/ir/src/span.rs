//! Parts of the user's file.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes `start..end` of a part of the user's file, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the statement, from 1; pragmas above it may start earlier.
    pub line: u32,
}

impl Span {
    /// The line of the `#if` that opens before the span and ends inside: it has pragmas of the nest within it, and other code
    /// before them.
    pub fn opening(self, source: &str) -> Option<Range<usize>> {
        let mut depth = 0usize;
        let closes = conditionals(source.get(self.start..self.end)?).any(|(is_end, _)| {
            let is_last = is_end && depth == 0;
            depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
            is_last
        });
        if !closes {
            return None;
        }
        let mut open = Vec::new();
        for (is_end, line) in conditionals(&source[..self.start]) {
            if is_end {
                open.pop();
            } else {
                open.push(line);
            }
        }
        open.pop()
    }

    /// The text, with that line before it if there is one: as it may stand somewhere else.
    pub fn text(self, source: &str) -> Cow<'_, str> {
        let own = source.get(self.start..self.end).unwrap_or_default();
        match self.opening(source) {
            // A directive begins a line.
            Some(line) => Cow::Owned(format!("\n{}\n{own}", &source[line])),
            None => Cow::Borrowed(own),
        }
    }
}

/// The directives that open and close conditional parts, and whether they close one, each up to its newline.
fn conditionals(text: &str) -> impl Iterator<Item = (bool, Range<usize>)> {
    let (mut at, mut is_comment) = (0, false);
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        let is_code = !is_comment;
        is_comment = ends_in_comment(line, is_comment);
        let word = line.trim_start().strip_prefix('#').filter(|_| is_code)?.trim_start();
        let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let end = start + line.trim().len();
        match word {
            "if" | "ifdef" | "ifndef" => Some((false, start..end)),
            "endif" => Some((true, start..end)),
            _ => None,
        }
    })
}

/// Whether a comment that began with `/*` goes on behind a line.
fn ends_in_comment(line: &str, mut is_comment: bool) -> bool {
    let mut quote = None;
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let n_bytes = match (is_comment, quote) {
            (true, _) if rest.starts_with("*/") => {
                is_comment = false;
                2
            }
            (false, None) if rest.starts_with("//") => return false,
            (false, None) if rest.starts_with("/*") => {
                is_comment = true;
                2
            }
            (false, None) if matches!(next, '"' | '\'') => {
                quote = Some(next);
                1
            }
            (false, Some(_)) if next == '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (false, Some(open)) if next == open => {
                quote = None;
                1
            }
            _ => next.len_utf8(),
        };
        rest = &rest[n_bytes..];
    }
    is_comment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_ends_inside_is_opened_once_more() {
        let source = "#if 1\n#endif\n#ifdef A\n  f();\n  #pragma x\n#endif\n for (;;) {\n#if B\n#endif\n \"/*\"; /*\n#endif\n*/ }\n";
        let at = |from: &str| Span { start: source.find(from).expect("there"), end: source.len(), line: 1 };
        let span = at("#pragma");
        assert_eq!(span.opening(source).map(|line| &source[line]), Some("#ifdef A"));
        assert_eq!(span.text(source), format!("\n#ifdef A\n{}", &source[span.start..]));
        assert_eq!(at("for").opening(source), None);
        assert_eq!(at("#ifdef").text(source), &source[at("#ifdef").start..]);
    }
}
