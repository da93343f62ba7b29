//! JSON that is written back as it was read: numbers keep their spelling, members their order.
//!
//! Python writes `1e+308`, `NaN` and `Infinity`; DaCe files have all of these.

use crate::error::SdfgError;
use indexmap::IndexMap;
use std::fmt::Write;

/// A value of a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it is spelt, also `NaN`, `Infinity` and `-Infinity`.
    Number(String),
    /// A string, without its escapes.
    String(String),
    /// `[…]`
    Array(Vec<Json>),
    /// `{…}`, members in the order of the document. Of equal keys the last one counts.
    Object(IndexMap<String, Json>),
}

/// How deep values may be nested.
const MAX_DEPTH: usize = 500;

/// How a document is laid out, so that it is written as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Spaces per level; none for all in one line.
    pub indent: Option<usize>,
    /// Whether separators in one line are followed by spaces.
    pub is_spaced: bool,
    /// Whether all but ASCII is escaped.
    pub is_ascii: bool,
    /// Whether the document ends with a line end.
    pub has_newline: bool,
}

impl Layout {
    /// The layout of a text that is a JSON document.
    pub fn of(text: &str) -> Self {
        let body = text.trim_start();
        let inner = body.get(1..).unwrap_or("");
        let indent = inner.strip_prefix('\n').map(|rest| rest.len() - rest.trim_start_matches(' ').len());
        let key_end = inner.find("\":").map_or(0, |at| at + 2);
        let is_spaced = inner[key_end..].starts_with(' ');
        Self { indent, is_spaced, is_ascii: text.is_ascii(), has_newline: text.ends_with('\n') }
    }
}

impl Json {
    /// Parses a document.
    ///
    /// # Errors
    /// If it is not JSON or is nested too deeply, with line and column.
    pub fn parse(text: &str) -> Result<Json, SdfgError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let value = parser.value()?;
        parser.blanks();
        if parser.at < text.len() { Err(parser.error("text behind the document's end")) } else { Ok(value) }
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(key),
            _ => None,
        }
    }

    /// The member of an object, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        match self {
            Json::Object(members) => members.get_mut(key),
            _ => None,
        }
    }

    /// The string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// What a value is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        }
    }

    /// The document as text.
    pub fn write(&self, layout: Layout) -> String {
        let mut text = String::new();
        self.write_to(&mut text, layout, 0);
        if layout.has_newline {
            text.push('\n');
        }
        text
    }

    fn write_to(&self, out: &mut String, layout: Layout, level: usize) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => write_string(out, text, layout.is_ascii),
            Json::Array(items) => {
                let items = items.iter().map(|item| (None, item));
                write_list(out, layout, level, ['[', ']'], items);
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                write_list(out, layout, level, ['{', '}'], members);
            }
        }
    }
}

fn write_list<'a>(
    out: &mut String,
    layout: Layout,
    level: usize,
    brackets: [char; 2],
    items: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Json)>,
) {
    out.push(brackets[0]);
    let is_empty = items.len() == 0;
    let line = |out: &mut String, level: usize| {
        if let Some(indent) = layout.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * level));
        }
    };
    for (position, (key, value)) in items.enumerate() {
        if position > 0 {
            out.push(',');
            if layout.indent.is_none() && layout.is_spaced {
                out.push(' ');
            }
        }
        line(out, level + 1);
        if let Some(key) = key {
            write_string(out, key, layout.is_ascii);
            out.push(':');
            if layout.indent.is_some() || layout.is_spaced {
                out.push(' ');
            }
        }
        value.write_to(out, layout, level + 1);
    }
    if !is_empty {
        line(out, level);
    }
    out.push(brackets[1]);
}

fn write_string(out: &mut String, text: &str, is_ascii: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || (is_ascii && !c.is_ascii()) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> SdfgError {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        SdfgError::Json { line, column, message: message.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), SdfgError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        let end = if self.at >= self.text.len() { "the document ends here; it may be truncated" } else { "" };
        let message = format!("`{}` is missing", byte as char);
        Err(self.error(if end.is_empty() { &message } else { end }))
    }

    fn value(&mut self) -> Result<Json, SdfgError> {
        self.blanks();
        let Some(byte) = self.peek() else {
            return Err(self.error("the document ends here; it may be truncated"));
        };
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(self.error("values are nested too deeply"));
                }
                self.at += 1;
                let value = if byte == b'{' { self.object()? } else { self.array()? };
                self.depth -= 1;
                Ok(value)
            }
            b'"' => Ok(Json::String(self.string()?)),
            _ => self.word(),
        }
    }

    fn object(&mut self) -> Result<Json, SdfgError> {
        let mut members = IndexMap::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                self.expect(b'"')?;
            }
            let key = self.string()?;
            self.blanks();
            self.expect(b':')?;
            let value = self.value()?;
            members.insert(key, value);
            self.blanks();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.expect(b'}')?;
            return Ok(Json::Object(members));
        }
    }

    fn array(&mut self) -> Result<Json, SdfgError> {
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.expect(b']')?;
            return Ok(Json::Array(items));
        }
    }

    fn string(&mut self) -> Result<String, SdfgError> {
        self.at += 1;
        let mut value = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(['"', '\\']) else {
                return Err(self.error("a string has no end; the document may be truncated"));
            };
            value.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(value);
            }
            let escape = self.peek().ok_or_else(|| self.error("a string has no end"))?;
            self.at += 1;
            value.push(match escape {
                b'"' | b'\\' | b'/' => escape as char,
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.escaped()?,
                _ => {
                    self.at -= 1;
                    return Err(self.error("an escape that JSON does not have"));
                }
            });
        }
    }

    fn unit(&mut self) -> Result<u32, SdfgError> {
        let digits = self.text.get(self.at..self.at + 4);
        let value = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        let value = value.ok_or_else(|| self.error("`\\u` needs four hexadecimal digits"))?;
        self.at += 4;
        Ok(value)
    }

    fn escaped(&mut self) -> Result<char, SdfgError> {
        let mut code = self.unit()?;
        if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let low = self.unit()?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        char::from_u32(code).ok_or_else(|| self.error("half of a character"))
    }

    fn word(&mut self) -> Result<Json, SdfgError> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "NaN" | "Infinity" | "-Infinity" => Json::Number(word.to_owned()),
            _ if word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && word.parse::<f64>().is_ok() =>
            {
                Json::Number(word.to_owned())
            }
            _ => return Err(self.error("this is no value")),
        };
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_it_was_read() {
        let texts = [
            "{\"a\": [1.50e+308, NaN, -Infinity], \"b\": {}, \"c\": [], \"d\": \"\\u00e9\\n\\ud83d\\ude00\"}",
            "{\"b\":[1,{\"a\":null}],\"a\":true}\n",
            "{\n  \"a\": [\n    1,\n    \"é\"\n  ],\n  \"b\": {}\n}",
        ];
        for text in texts {
            assert_eq!(Json::parse(text).unwrap().write(Layout::of(text)), text);
        }
    }

    #[test]
    fn errors_say_where() {
        let deep = "[".repeat(5_000_000);
        for (text, message) in [
            ("{\"a\": [1, 2", "line 1, column 12: the document ends here; it may be truncated"),
            ("{\n\"a\" 1}", "line 2, column 5: `:` is missing"),
            ("[1] x", "line 1, column 5: text behind the document's end"),
            ("[nul]", "line 1, column 2: this is no value"),
            ("\"\\x\"", "line 1, column 3: an escape that JSON does not have"),
            (deep.as_str(), "line 1, column 501: values are nested too deeply"),
        ] {
            assert_eq!(Json::parse(text).unwrap_err().to_string(), message);
        }
    }
}
