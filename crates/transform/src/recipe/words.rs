//! Text taken apart word by word.

use std::str::FromStr;

/// What is left of a text.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(pub(super) &'a str);

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text.trim())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next word; `wanted`, with its article, is what it stands for.
    pub(super) fn next(&mut self, wanted: &str) -> Result<&'a str, String> {
        if self.is_empty() {
            return Err(format!("{wanted} is missing"));
        }
        let (word, rest) = self.0.split_once(char::is_whitespace).unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        Ok(word)
    }

    /// Takes the next word if it is this one.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.next(word) == Ok(word);
        if found {
            *self = ahead;
        }
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.accept(word) {
            true => Ok(()),
            false if self.is_empty() => Err(format!("`{word}` is missing")),
            false => Err(format!("`{word}` is missing before `{}`", self.0)),
        }
    }

    pub(super) fn end(&self) -> Result<(), String> {
        if self.is_empty() { Ok(()) } else { Err(format!("`{}` is left over", self.0)) }
    }
}

/// A number.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}
