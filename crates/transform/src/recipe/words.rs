//! Splitting text into words.

use std::fmt;
use std::str::FromStr;

/// Why text or JSON is not a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable(String);

impl Unreadable {
    /// The same for an argument: its position, counted from 0, and its parameter.
    pub(super) fn in_argument(self, position: usize, parameter: &str) -> Self {
        Self(format!("argument {}, `{parameter}`: {self}", position + 1))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Unreadable {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl From<&str> for Unreadable {
    fn from(why: &str) -> Self {
        Self(why.into())
    }
}

/// The rest of a text.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(pub(super) &'a str);

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text.trim())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next word; `wanted`, with its article, describes it.
    pub(super) fn next(&mut self, wanted: &str) -> Result<&'a str, Unreadable> {
        if self.is_empty() {
            return Err(format!("{wanted} is missing").into());
        }
        let (word, rest) = self.0.split_once(char::is_whitespace).unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        Ok(word)
    }

    /// Consumes the next word if it is this one.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.next(word) == Ok(word);
        if found {
            *self = ahead;
        }
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), Unreadable> {
        match self.accept(word) {
            true => Ok(()),
            false if self.is_empty() => Err(format!("`{word}` is missing").into()),
            false => Err(format!("`{word}` is missing before `{}`", self.0).into()),
        }
    }

    pub(super) fn end(&self) -> Result<(), Unreadable> {
        if self.is_empty() { Ok(()) } else { Err(format!("`{}` is left over", self.0).into()) }
    }
}

/// A number.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T, Unreadable> {
    text.parse().map_err(|_| Unreadable::from(format!("`{text}` is not a number that fits here")))
}
