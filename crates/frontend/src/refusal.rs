//! Why something is not read.

use crate::ast::Range;

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

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

pub(crate) type Lowered<T> = Result<T, Box<Refusal>>;
