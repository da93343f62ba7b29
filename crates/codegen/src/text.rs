//! C text that knows how tightly it binds.

/// Precedence of the outermost operator of a text; greater binds tighter.
pub(crate) mod prec {
    pub(crate) const TERNARY: u8 = 3;
    pub(crate) const ADD: u8 = 12;
    pub(crate) const MUL: u8 = 13;
    pub(crate) const UNARY: u8 = 14;
    pub(crate) const PRIMARY: u8 = 16;
}

/// A text and its precedence.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) prec: u8,
}

impl Text {
    pub(crate) fn new(text: impl Into<String>, prec: u8) -> Self {
        Self { text: text.into(), prec }
    }

    pub(crate) fn primary(text: impl Into<String>) -> Self {
        Self::new(text, prec::PRIMARY)
    }

    /// The text as an operand that must bind at least this tightly.
    pub(crate) fn at(self, prec: u8) -> String {
        if self.prec >= prec { self.text } else { format!("({})", self.text) }
    }
}
