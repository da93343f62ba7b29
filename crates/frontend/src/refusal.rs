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
