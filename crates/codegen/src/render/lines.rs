//! The lines of a block that is being written.

use crate::context::identifiers;
use crate::scans::IfUsed;

/// A line, or several that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// How many blocks it stands in; 0 for verbatim text, which keeps its own columns.
    pub(super) depth: usize,
    pub(super) text: String,
    /// Whether it declares something.
    pub(super) is_declaration: bool,
}

impl Line {
    pub(super) fn new(depth: usize, text: impl Into<String>) -> Self {
        Self { depth, text: text.into(), is_declaration: false }
    }

    pub(super) fn declaration(depth: usize, text: impl Into<String>) -> Self {
        Self { is_declaration: true, ..Self::new(depth, text) }
    }

    fn is_verbatim(&self) -> bool {
        self.depth == 0
    }
}

/// Puts in what the other lines turned out to use, directives with this clause. Whether there were any.
pub(super) fn insert_used(out: &mut Vec<Line>, at: usize, if_used: Vec<IfUsed>, clause: &str) -> bool {
    let mut has_directives = false;
    for IfUsed { names, mut lines, directives } in if_used.into_iter().rev() {
        let is_used = |word: &str| names.iter().any(|name| name == word);
        if out.iter().any(|line| identifiers(&line.text).any(is_used)) {
            has_directives |= !directives.is_empty();
            directives.into_iter().for_each(|k| lines[k] += clause);
            out.splice(at..at, lines.into_iter().map(|line| Line::declaration(1, line)));
        }
    }
    has_directives
}

/// Removes the braces of a block that is the only thing from a line on.
pub(super) fn unwrap_block(lines: &mut Vec<Line>, from: usize) {
    let Some(depth) = lines.get(from).filter(|line| line.text == "{").map(|line| line.depth) else { return };
    let is_end = |line: &Line| line.depth == depth && line.text.starts_with('}');
    if lines[from..].iter().position(is_end) != Some(lines.len() - from - 1) {
        return;
    }
    lines.pop();
    lines.remove(from);
    for line in lines[from..].iter_mut().filter(|line| !line.is_verbatim()) {
        line.depth -= 1;
    }
}

/// Puts declarations that stand behind statements of their block into blocks of their own, which reach as far as that block.
pub(super) fn declarations_first(lines: &mut Vec<Line>) {
    let mut at = 0;
    while at < lines.len() {
        let Line { depth, is_declaration, .. } = lines[at];
        let of_block = |line: &Line| line.is_verbatim() || line.depth >= depth;
        let begin = lines[..at].iter().rposition(|line| !of_block(line)).map_or(0, |k| k + 1);
        let is_late = lines[begin..at].iter().any(|line| !line.is_declaration);
        if is_declaration && is_late {
            let n = lines[at..].iter().take_while(|line| of_block(line)).count();
            for line in lines[at..at + n].iter_mut().filter(|line| !line.is_verbatim()) {
                line.depth += 1;
            }
            lines.insert(at + n, Line::new(depth, "}"));
            lines.insert(at, Line::new(depth, "{"));
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_behind_statements_open_blocks() {
        let mut lines = vec![
            Line::declaration(1, "int a = 1;"),
            Line::new(1, "f(a);"),
            Line::declaration(1, "int b = 2;"),
            Line::declaration(1, "int c = 3;"),
            Line::new(1, "if (b) {"),
            Line::declaration(2, "int d = 4;"),
            Line::new(2, "g(d);"),
            Line::new(0, "verbatim();"),
            Line::declaration(2, "int e = 5;"),
            Line::new(1, "}"),
            Line::new(1, "h();"),
        ];
        declarations_first(&mut lines);
        let text: String =
            lines.iter().map(|line| format!("{}{}\n", "  ".repeat(line.depth), line.text)).collect();
        let expected = "  int a = 1;\n  f(a);\n  {\n    int b = 2;\n    int c = 3;\n    if (b) {\n      int d = 4;\n      \
                        g(d);\nverbatim();\n      {\n        int e = 5;\n      }\n    }\n    h();\n  }\n";
        assert_eq!(text, expected);
    }
}
