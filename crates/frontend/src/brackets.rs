//! Which brackets of a text belong together.

use crate::lexer::{Token, TokenKind};

/// For each opening bracket, the position of the closing one.
pub(crate) struct Brackets(Vec<Option<usize>>);

impl Brackets {
    pub(crate) fn of(tokens: &[Token<'_>]) -> Self {
        let mut found = vec![None; tokens.len()];
        let mut open: Vec<(usize, &str)> = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Punct {
                continue;
            }
            match token.text {
                "(" => open.push((position, ")")),
                "[" => open.push((position, "]")),
                "{" => open.push((position, "}")),
                ")" | "]" | "}" => match open.pop() {
                    Some((start, expected)) if expected == token.text => found[start] = Some(position),
                    // Open brackets can no longer be trusted.
                    _ => open.clear(),
                },
                _ => {}
            }
        }
        Brackets(found)
    }

    /// The position of the bracket that matches the one at `close`.
    pub(crate) fn opening(&self, close: usize) -> Option<usize> {
        self.0[..close.min(self.0.len())].iter().rposition(|end| *end == Some(close))
    }

    /// The position of the bracket that matches the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        self.0.get(open).copied().flatten()
    }
}
