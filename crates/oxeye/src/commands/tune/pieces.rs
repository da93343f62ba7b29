//! The places at which a tuned file differs from the original, so that either can be made of the other, whatever else is
//! edited in it.

use oxeye_ir::Span;
use serde::{Deserialize, Serialize};
use similar::{DiffOp, TextDiff};

/// A part of a file before and after, of whole lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// The nests in it, by their positions among those of the file; none of what only helps them.
    pub(crate) nests: Vec<usize>,
    /// The lines above, which it leaves as they are; a few.
    pub(crate) above: String,
    /// The original lines.
    pub(crate) before: String,
    /// What stands there instead.
    pub(crate) after: String,
}

/// A file whose tuned parts were looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Restored {
    /// The file with the original text in the place of every part that was found.
    pub(super) text: String,
    /// Of each piece, whether it was found.
    pub(super) found: Vec<bool>,
}

/// So many lines tell a place in the original from the same text as a part of the new one.
const LINES_ABOVE: usize = 2;

impl Piece {
    /// Whether the original lines stand in a text where they stood.
    pub(super) fn is_undone_in(&self, text: &str) -> bool {
        let place = format!("{}{}", self.above, self.before);
        text.starts_with(&place) || text.contains(&format!("\n{place}"))
    }
}

/// The pieces of a change, in the order of the file. `nests` are the bytes of the rewritten nests in the text before.
pub(super) fn pieces(before: &str, after: &str, nests: &[Span]) -> Vec<Piece> {
    let lines: [Vec<&str>; 2] = [before, after].map(|text| text.split_inclusive('\n').collect());
    let line_of = |at: usize| before.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    let diff = TextDiff::from_lines(before, after);
    // As pairs of ranges: [from, to) before, and the same after.
    let mut parts: Vec<([usize; 2], [usize; 2], Vec<usize>)> = diff
        .ops()
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            ([old.start, old.end], [new.start, new.end], Vec::new())
        })
        .collect();
    for (idx, span) in nests.iter().enumerate() {
        let (first, last) = (line_of(span.start), line_of(span.end.max(1) - 1));
        // What is put in behind the last line belongs to it, too.
        let touches = |[from, to]: &[usize; 2]| {
            *from <= last && (*to > first || *from >= first) || from == to && *from == last + 1
        };
        let Some(at) = parts.iter().position(|(old, ..)| touches(old)) else { continue };
        // Lines that a nest and its new form have in common part its changes: they are one piece.
        let n = parts[at..].iter().take_while(|(old, ..)| touches(old)).count();
        let joined: Vec<_> = parts.drain(at..at + n).collect();
        let (Some(head), Some(tail)) = (joined.first(), joined.last()) else { continue };
        // The whole nest, so that it is found where nothing else is like it.
        let (more_above, more_below) =
            (head.0[0].saturating_sub(first), (last + 1).saturating_sub(tail.0[1]));
        let old = [head.0[0] - more_above, tail.0[1] + more_below];
        let new = [head.1[0] - more_above, tail.1[1] + more_below];
        let mut inside: Vec<usize> = joined.iter().flat_map(|(.., nests)| nests.clone()).collect();
        inside.push(idx);
        parts.insert(at, (old, new, inside));
    }
    let text = |of: &[&str], [from, to]: [usize; 2]| of[from..to].concat();
    parts
        .into_iter()
        .map(|(old, new, nests)| Piece {
            nests,
            above: text(&lines[0], [old[0].saturating_sub(LINES_ABOVE), old[0]]),
            before: text(&lines[0], old),
            after: text(&lines[1], new),
        })
        .collect()
}

/// The file before these pieces came into it, as far as they are still there, in their order.
pub(super) fn restored(text: &str, pieces: &[Piece]) -> Restored {
    let (mut rest, mut restored, mut found) = (text, String::new(), Vec::new());
    for piece in pieces {
        let at = rest.find(&piece.after).filter(|_| !piece.after.is_empty());
        found.push(at.is_some());
        let Some(at) = at else { continue };
        restored += &rest[..at];
        restored += &piece.before;
        rest = &rest[at + piece.after.len()..];
    }
    restored += rest;
    Restored { text: restored, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "#include <x.h>\nint a;\nvoid f() {\n    for (i)\n        s();\n}\nvoid g() {\n    for (i) {\n        s();\n    }\n    for (j)\n        t();\n}\n";

    fn span(text: &str, what: &str) -> Span {
        let start = text.find(what).expect("it is there");
        Span { start, end: start + what.len(), line: 1 }
    }

    #[test]
    fn what_was_changed_is_found_and_taken_back() {
        let after = BEFORE
            .replace("int a;", "#pragma quiet\nint a;")
            .replace("    for (i)\n        s();\n}", "    { /* one */\n    for (i)\n        q();\n    }\n}")
            .replace(
                "    for (i) {\n        s();\n    }",
                "    { /* two */\n    for (i) {\n        q();\n    }\n    }",
            );
        let nests = [span(BEFORE, "for (i)\n        s();"), span(BEFORE, "for (i) {\n        s();\n    }")];
        let all = pieces(BEFORE, &after, &nests);
        assert_eq!(
            all.iter().map(|piece| piece.nests.clone()).collect::<Vec<_>>(),
            [vec![], vec![0], vec![1]]
        );
        assert!(all[1].after.contains("/* one */") && all[1].before.contains("for (i)\n"), "{all:?}");
        let back = restored(&after, &all);
        assert_eq!((back.text.as_str(), back.found.as_slice()), (BEFORE, &[true, true, true][..]));
        // The original may be a part of the new text, too.
        let twice = BEFORE.replace(
            "    for (j)\n        t();",
            "    if (y)\n        q();\n    else\n        for (j)\n        t();",
        );
        let all = [pieces(BEFORE, &twice, &[span(BEFORE, "for (j)\n        t();")]), all.clone()];
        assert!(all[0][0].is_undone_in(BEFORE) && !all[0][0].is_undone_in(&twice), "{all:?}");
        let [_, all] = all;
        // What else is edited stays; what was changed in a piece is said.
        let edited = after.replace("int a;", "int a, b;").replace("/* two */", "/* mine */");
        let back = restored(&edited, &all);
        assert_eq!(back.found, [true, true, false]);
        assert!(back.text.contains("int a, b;") && back.text.contains("/* mine */"));
        assert!(!back.text.contains("/* one */"), "{}", back.text);
    }

    #[test]
    fn all_that_stands_around_the_original_belongs_to_its_piece() {
        let after = BEFORE.replace(
            "    for (j)\n        t();\n",
            "    {\n    if (y)\n        q();\n    else {\n    for (j)\n        t();\n    }\n    }\n",
        );
        let all = pieces(BEFORE, &after, &[span(BEFORE, "for (j)\n        t();")]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].after.starts_with("    {\n") && all[0].after.ends_with("    }\n    }\n"), "{all:?}");
        assert_eq!(restored(&after, &all).text, BEFORE);
    }

    #[test]
    fn line_ends_and_the_lack_of_one_do_not_matter() {
        let before = "a\r\nfor (i)\r\n x;\r\nb";
        let after = "a\r\n{\r\nfor (i)\r\n y;\r\n}\r\nb";
        let all = pieces(before, after, &[span(before, "for (i)\r\n x;")]);
        assert_eq!(restored(after, &all).text, before);
        assert_eq!(pieces(before, before, &[]), []);
    }
}
