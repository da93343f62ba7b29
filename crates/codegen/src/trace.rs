//! The user's file with a call at both ends of its nests.

use crate::capture::{line_of, splice, starts_line, top};
use oxeye_ir::Span;

/// The user's file, in which every nest calls the runtime before and after, by its number. The text of the runtime is
/// inserted at the top; it defines `oxeye_trace_begin` and `oxeye_trace_end`.
pub fn trace_program(source: &str, nests: &[(u32, Span)], runtime: &str) -> String {
    let at = top(source);
    let mut pieces = vec![(Span { start: at, end: at, line: 1 }, format!("{runtime}\n#line 1\n"))];
    let mut nests = nests.to_vec();
    nests.sort_by_key(|(_, span)| span.start);
    for (id, span) in nests {
        let before = if starts_line(source, span.start) { "" } else { "\n" };
        let begin = format!("{before}{{ oxeye_trace_begin({id});\n#line {}\n", line_of(source, span.start));
        let end = format!("\noxeye_trace_end({id}); }}\n#line {}\n", line_of(source, span.end));
        pieces.push((Span { end: span.start, ..span }, begin));
        pieces.push((Span { start: span.end, ..span }, end));
    }
    splice(source, &pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_stay_statements_where_they_stand() {
        let source = "void f(void) {\n    if (a) for (;;) g();\n    else h();\n}\n";
        let start = source.find("for").expect("there");
        let end = source.find(";\n    else").expect("there") + 1;
        let text = trace_program(source, &[(3, Span { start, end, line: 2 })], "/* runtime */");
        assert_eq!(
            text,
            "/* runtime */\n#line 1\nvoid f(void) {\n    if (a) \n{ oxeye_trace_begin(3);\n#line 2\nfor (;;) g();\n\
             oxeye_trace_end(3); }\n#line 2\n\n    else h();\n}\n"
        );
    }
}
