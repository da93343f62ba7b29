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

/// The user's text with the lines after its first moved to the right. Directives and what a backslash continues stay as they are.
pub(crate) fn moved(text: &str, columns: usize) -> String {
    let mut moved = String::with_capacity(text.len());
    let mut is_continued = false;
    for (k, line) in text.split('\n').enumerate() {
        let stays = k == 0 || is_continued || line.trim().is_empty() || line.trim_start().starts_with('#');
        if k > 0 {
            moved.push('\n');
        }
        if !stays {
            moved.extend(std::iter::repeat_n(' ', columns));
        }
        moved.push_str(line);
        is_continued = line.trim_end_matches('\r').ends_with('\\');
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_text_keeps_its_directives_and_literals() {
        let text = "for (;;)\n  f(\"a\\\n  b\");\n\n  #if X\n  g();\n";
        assert_eq!(moved(text, 4), "for (;;)\n      f(\"a\\\n  b\");\n\n  #if X\n      g();\n");
    }
}
