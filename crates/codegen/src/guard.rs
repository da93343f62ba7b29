//! Guards for nests that are the text that was read only in some builds of the file.

use crate::text::moved;
use oxeye_ir::Span;

/// The text in place of a nest: `block` where the conditions hold, the user's own text elsewhere. `preprocessor` is for
/// `#if`, `constant` are C constant expressions; all of them must hold.
pub fn guarded(
    source: &str,
    span: Span,
    block: &str,
    preprocessor: &[String],
    constant: &[String],
) -> String {
    let original = span.text(source);
    let line_start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &source[line_start..span.start];
    let indent = &before[..before.len() - before.trim_start().len()];
    let block = if constant.is_empty() {
        block.to_owned()
    } else {
        let condition = constant.join(" && ");
        let original = moved(&original, 4);
        format!(
            "{{\n{indent}if ({condition})\n{indent}{block}\n{indent}else {{\n{indent}    {original}\n{indent}}}\n{indent}}}"
        )
    };
    if preprocessor.is_empty() {
        return block;
    }
    let condition = all_of(preprocessor);
    let begin = if before.trim().is_empty() { "" } else { "\n" };
    let rest = source[span.end..].split('\n').next().unwrap_or("");
    let end = if rest.trim().is_empty() { "" } else { "\n" };
    format!("{begin}#if {condition}\n{indent}{block}\n{indent}#else\n{indent}{original}\n{indent}#endif{end}")
}

/// A function, to stand before the one that begins at `at`, only where these conditions hold.
pub fn guarded_function(source: &str, at: usize, function: &str, preprocessor: &[String]) -> String {
    let begin = if source[..at].ends_with('\n') || at == 0 { "" } else { "\n" };
    match preprocessor.is_empty() {
        true => format!("{begin}{function}"),
        false => format!("{begin}#if {}\n{}\n#endif\n\n", all_of(preprocessor), function.trim_end()),
    }
}

/// All conditions as one.
fn all_of(conditions: &[String]) -> String {
    match conditions {
        [only] => only.clone(),
        all => {
            let term = |c: &String| if needs_parens(c) { format!("({c})") } else { c.clone() };
            all.iter().map(term).collect::<Vec<_>>().join(" && ")
        }
    }
}

fn needs_parens(condition: &str) -> bool {
    condition.contains("||") || condition.contains('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_text_stands_where_conditions_fail() {
        let source = "void f(void) { if (a)\n    for (;;);\n    else g(); for (;;) h(); }\n";
        let at = |text: &str| {
            let start = source.find(text).expect("there");
            Span { start, end: start + text.len(), line: 1 }
        };
        let one = ["(N) == 4".to_owned()];
        assert_eq!(
            guarded(source, at("for (;;);"), "{\n    }", &one, &[]),
            "#if (N) == 4\n    {\n    }\n    #else\n    for (;;);\n    #endif"
        );
        let two = ["(N) == 4".to_owned(), "A || B".to_owned()];
        assert_eq!(
            guarded(source, at("for (;;) h();"), "{ }", &two, &[]),
            "\n#if (N) == 4 && (A || B)\n    { }\n    #else\n    for (;;) h();\n    #endif\n"
        );
        assert_eq!(
            guarded(source, at("for (;;);"), "{ }", &[], &["(D) == (0.5)".to_owned()]),
            "{\n    if ((D) == (0.5))\n    { }\n    else {\n        for (;;);\n    }\n    }"
        );
        assert_eq!(guarded(source, at("for (;;);"), "{ }", &[], &[]), "{ }");
    }
}
