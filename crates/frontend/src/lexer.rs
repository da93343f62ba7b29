//! C tokens: enough to find matching brackets and keywords while skipping comments, literals and directives.

/// The words that form the names of C's arithmetic types.
pub(crate) const ARITHMETIC_WORDS: &[&str] =
    &["char", "short", "int", "long", "float", "double", "signed", "unsigned"];

/// Whether a word is a type name or part of one, in C itself or in its usual headers.
pub(crate) fn is_type_word(word: &str) -> bool {
    const OTHERS: &[&str] = &[
        "void",
        "_Bool",
        "bool",
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "int32_t",
        "int64_t",
        "uint32_t",
        "uint64_t",
    ];
    ARITHMETIC_WORDS.contains(&word) || OTHERS.contains(&word)
}

/// Whether a word begins the type of an expression, in any spelling.
pub(crate) fn is_typeof(word: &str) -> bool {
    ["typeof", "__typeof", "__typeof__"].contains(&word)
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifier or keyword.
    Word,
    /// Number.
    Number,
    /// String or character literal.
    Literal,
    /// One character of punctuation.
    Punct,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// From 1.
    pub(crate) line: u32,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether this is that word or punctuation.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != TokenKind::Literal && self.text == text
    }
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// A preprocessor directive, including continuation lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectiveLine<'a> {
    /// From `#` up to the newline.
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// From 1.
    pub(crate) line: u32,
}

impl DirectiveLine<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// `if`, `pragma` and so on.
    pub(crate) fn name(&self) -> &str {
        let rest = self.text.trim_start_matches('#').trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    }
}

/// The tokens of `text` outside of preprocessor directives.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    tokens_and_directives(text).0
}

/// The tokens of `text`, and the preprocessor directives.
pub(crate) fn tokens_and_directives(text: &str) -> (Vec<Token<'_>>, Vec<DirectiveLine<'_>>) {
    let mut directives = Vec::new();
    let bytes = text.as_bytes();
    let (mut at, mut line, mut at_line_start) = (0, 1, true);
    let mut found = Vec::new();
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\n' => {
                at_line_start = true;
                line += 1;
                at += 1;
                continue;
            }
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => {
                line += 1;
                at += 2;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                at = skip_comment(bytes, at);
                line += count_newlines(&bytes[start..at]);
                continue;
            }
            b'#' if at_line_start => {
                at = skip_directive(bytes, at);
                let directive = text.get(start..at).unwrap_or("").trim_end();
                directives.push(DirectiveLine { text: directive, start, line });
                line += count_newlines(&bytes[start..at]);
                continue;
            }
            _ => {}
        }
        at_line_start = false;
        let kind = match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at = skip_literal(bytes, at, quote);
                TokenKind::Literal
            }
            b if b.is_ascii_digit() || (b == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) => {
                at += 1;
                while let Some(&b) = bytes.get(at) {
                    let after_exponent = matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P');
                    if is_word_byte(b) || b == b'.' || (after_exponent && (b == b'+' || b == b'-')) {
                        at += 1;
                    } else {
                        break;
                    }
                }
                TokenKind::Number
            }
            b if is_word_byte(b) => {
                while bytes.get(at).copied().is_some_and(is_word_byte) {
                    at += 1;
                }
                TokenKind::Word
            }
            _ => {
                at += 1;
                TokenKind::Punct
            }
        };
        found.push(Token { kind, text: text.get(start..at).unwrap_or(""), start, line });
        line += count_newlines(&bytes[start..at]);
    }
    (found, directives)
}

fn count_newlines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|b| **b == b'\n').count() as u32
}

/// The end of the comment that starts at `at`; a line comment ends before its newline.
fn skip_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at + 2..];
    if bytes[at + 1] == b'*' {
        return rest.windows(2).position(|w| w == b"*/").map_or(bytes.len(), |p| at + 2 + p + 2);
    }
    let mut end = at + 2;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += if bytes[end] == b'\\' && bytes.get(end + 1) == Some(&b'\n') { 2 } else { 1 };
    }
    end.min(bytes.len())
}

/// The end of the directive that starts at `at`, before its newline.
fn skip_directive(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => {
                let is_crlf = bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n');
                at += if is_crlf { 3 } else { 2 };
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => at = skip_comment(bytes, at),
            quote @ (b'"' | b'\'') => at = skip_literal(bytes, at, quote),
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

/// The end of a literal; an unfinished one ends at its line.
fn skip_literal(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'\n' => return end,
            b if b == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|t| t.text).collect()
    }

    #[test]
    fn comments_literals_and_directives_are_skipped() {
        let text = "a /* for */ b // for\n#define X for \\\n  for\n'\\'' \"for\" 1.5e-3f + x1";
        assert_eq!(texts(text), ["a", "b", "'\\''", "\"for\"", "1.5e-3f", "+", "x1"]);
        assert_eq!(tokens(text).last().map(|t| t.line), Some(4));
    }

    #[test]
    fn unfinished_input_ends() {
        for text in ["/* x", "\"abc", "'", "#if \\", "// \\", "a\\", "é /", "\"\\"] {
            tokens(text);
        }
    }
}
