//! Tokens of the textual form.

use super::error::ParseError;

/// A place in the text; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Place {
    pub(super) fn error(self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, column: self.column, message: message.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Int(i64),
    Float(String),
    Text(String),
    Symbol(&'static str),
    End,
}

impl Token {
    /// For messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Int(i) => format!("`{i}`"),
            Token::Float(f) => format!("`{f}`"),
            Token::Text(t) => format!("\"{t}\""),
            Token::Symbol(s) => format!("`{s}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// Longer ones first.
const SYMBOLS: &[&str] = &[
    "..", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "{", "}", "(", ")", "[",
    "]", ",", ":", "?", ".", "@", "=", "<", ">", "+", "-", "*", "/", "%", "!", "~", "|", "^", "&",
];

pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, Place)>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut place = Place { line: 1, column: 1 };
    loop {
        let n_skipped = blank(rest);
        if n_skipped > 0 {
            advance(&mut place, &mut rest, n_skipped);
            continue;
        }
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, place));
            return Ok(tokens);
        };
        let (token, length) = if first.is_ascii_alphabetic() || first == '_' {
            let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Word(rest[..n].to_owned()), n)
        } else if first.is_ascii_digit() || starts_fraction(rest) {
            number(rest, place)?
        } else if first == '"' {
            string(rest, place)?
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            return Err(place.error(format!("unexpected character `{first}`")));
        };
        tokens.push((token, place));
        advance(&mut place, &mut rest, length);
    }
}

/// Bytes of white space or of a comment at the start.
fn blank(text: &str) -> usize {
    let space = text.len() - text.trim_start().len();
    if space == 0 && text.starts_with("//") { text.find('\n').unwrap_or(text.len()) } else { space }
}

fn advance(place: &mut Place, rest: &mut &str, n_bytes: usize) {
    for c in rest[..n_bytes].chars() {
        if c == '\n' {
            *place = Place { line: place.line + 1, column: 1 };
        } else {
            place.column += 1;
        }
    }
    *rest = &rest[n_bytes..];
}

fn starts_fraction(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next() == Some(b'.') && bytes.next().is_some_and(|b| b.is_ascii_digit())
}

fn number(text: &str, place: Place) -> Result<(Token, usize), ParseError> {
    let n = number_length(text);
    let word = &text[..n];
    if let Ok(value) = word.parse::<i64>() {
        return Ok((Token::Int(value), n));
    }
    if let Some(value) = word.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok()) {
        return Ok((Token::Int(value), n));
    }
    if float_type(word).is_some() {
        return Ok((Token::Float(word.to_owned()), n));
    }
    Err(place.error(format!("`{word}` is neither a 64-bit integer nor a C floating literal")))
}

/// The longest run that looks like a C number; `..` ends it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut n = 0;
    while let Some(b) = bytes.get(n) {
        let is_exponent = |e: u8| if is_hex { matches!(e, b'p' | b'P') } else { matches!(e, b'e' | b'E') };
        let is_sign = matches!(b, b'+' | b'-') && n > 0 && is_exponent(bytes[n - 1]);
        let is_point = *b == b'.' && bytes.get(n + 1) != Some(&b'.');
        if !(b.is_ascii_alphanumeric() || is_sign || is_point) {
            break;
        }
        n += 1;
    }
    n
}

/// The type of a C floating literal, from its suffix; `None` if it is not one.
pub(crate) fn float_type(text: &str) -> Option<crate::ScalarType> {
    use crate::ScalarType::{F32, F64};
    let (body, ty) = match text.strip_suffix(['f', 'F']) {
        Some(body) => (body, F32),
        None => (text, F64),
    };
    let lower = body.to_ascii_lowercase();
    let is_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let is_exponent = |s: &str| {
        let digits = s.strip_prefix(['+', '-']).unwrap_or(s);
        !digits.is_empty() && is_digits(digits)
    };
    if let Some(hex) = lower.strip_prefix("0x") {
        let (mantissa, exponent) = hex.split_once('p')?;
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_hex = |s: &str| s.bytes().all(|b| b.is_ascii_hexdigit());
        let is_valid = is_hex(whole) && is_hex(part) && !(whole.is_empty() && part.is_empty());
        return (is_valid && is_exponent(exponent)).then_some(ty);
    }
    let (mantissa, exponent) = match lower.split_once('e') {
        Some((m, e)) => (m, Some(e)),
        None => (lower.as_str(), None),
    };
    let is_valid = match mantissa.split_once('.') {
        Some((whole, part)) => is_digits(whole) && is_digits(part) && !(whole.is_empty() && part.is_empty()),
        None => exponent.is_some() && !mantissa.is_empty() && is_digits(mantissa),
    };
    (is_valid && exponent.is_none_or(is_exponent)).then_some(ty)
}

fn string(text: &str, place: Place) -> Result<(Token, usize), ParseError> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(value), at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, c)) => value.push(c),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err(place.error("this text has no closing `\"`"))
}
