//! Why something is not read.

use crate::ast::{Expr, ExprKind, Range};

/// Why a loop is not a nest, as a message for its author.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// The place in the preprocessed text.
    pub(crate) range: Range,
}

impl Refusal {
    pub(crate) fn new(range: Range, message: impl Into<String>) -> Box<Self> {
        Box::new(Refusal { message: message.into(), help: None, range })
    }

    /// Of an expression that cannot be read, with what is in it.
    pub(crate) fn of_unknown(at: Range, what: &str, inside: &[Expr]) -> Box<Self> {
        let called = inside.iter().find_map(|e| match &e.kind {
            ExprKind::Name(name) => Some(name.as_str()),
            _ => None,
        });
        match called {
            Some(name) if name.starts_with("__assert") => {
                Self::new(at, "an `assert` in the loop may end the program")
                    .help("move it out of the loop, or compile with -DNDEBUG, which leaves it out")
            }
            Some(name) => Self::new(at, format!("{what} with a call of `{name}` cannot be analysed")),
            None => Self::new(at, format!("{what} cannot be analysed")),
        }
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

pub(crate) type Lowered<T> = Result<T, Box<Refusal>>;

/// What variables that reading makes are to the author of the source, by the beginnings of their names.
const MADE: [(&str, &str); 8] = [
    ("whole.result", "what the function returns"),
    ("structure.value", "the structure that a function returns"),
    ("structure.copy", "the copy that a function is passed"),
    ("structure.literal", "a compound literal"),
    ("structure.choice", "a choice of structures"),
    ("complex.value", "the complex number that a function returns"),
    ("complex.argument", "a complex argument"),
    ("covered.at", "the way that the loop has covered"),
];

/// A message in which variables that the source does not have are described.
pub(crate) fn in_words(message: &str) -> String {
    let mut out = String::new();
    let parts: Vec<&str> = message.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return message.to_owned();
    }
    for (k, part) in parts.into_iter().enumerate() {
        let is_code = k % 2 == 1;
        let made = MADE.iter().find_map(|(name, words)| Some((part.split_once(name)?, words)));
        match made.filter(|_| is_code) {
            Some((("", member), words)) => {
                let member = member.trim_start_matches("->").trim_start_matches('.');
                let of = if member.is_empty() { String::new() } else { format!("`{member}` of ") };
                out += &format!("{of}{words}");
            }
            Some((_, words)) => out += words,
            // What a counter is at the head of an iteration.
            None if is_code => out += &format!("`{}`", part.trim_end_matches(".at")),
            None => out += part,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn made_variables_are_described() {
        let cases = [
            ("`i` is set", "`i` is set"),
            ("`whole.result->x` is set in `f`", "`x` of what the function returns is set in `f`"),
            ("`structure.literal.p[]` is set", "`p[]` of a compound literal is set"),
            (
                "the pointer `structure.copy` leads on",
                "the pointer the copy that a function is passed leads on",
            ),
            ("`(__real__ complex.value)` is read", "the complex number that a function returns is read"),
            ("`i.at` steps", "`i` steps"),
            ("an odd ` is kept", "an odd ` is kept"),
        ];
        for (message, words) in cases {
            assert_eq!(in_words(message), words);
        }
    }
}
