//! Macros that change between a nest and the end of its function, behind which its text stands again.

use std::collections::BTreeMap;

/// A `#define` or `#undef`.
#[derive(Clone, Copy)]
struct Directive<'s> {
    at: usize,
    name: &'s str,
    /// All of its lines if it defines the macro.
    definition: Option<&'s str>,
    /// Whether an `#if` around it may leave it out.
    is_conditional: bool,
}

/// Directives that bring back the macros as they are at `from`, and those that make them again what they are at `to`, for
/// text that is moved from there to here. Macros of which conditions decide what they are stay as they are.
pub(crate) fn restored(source: &str, from: usize, to: usize) -> (String, String) {
    let mut states: BTreeMap<&str, [Option<Directive<'_>>; 2]> = BTreeMap::new();
    for directive in directives(source).take_while(|d| d.at < to) {
        let [then, now] = states.entry(directive.name).or_default();
        if directive.at < from {
            *then = Some(directive);
        }
        *now = Some(directive);
    }
    let (mut before, mut after) = (String::new(), String::new());
    for (name, [then, now]) in states {
        let changes = now.is_some_and(|d| d.at >= from);
        let is_clear = [then, now].into_iter().flatten().all(|d| !d.is_conditional);
        let Some(back) = then.and_then(|d| d.definition).filter(|_| changes && is_clear) else { continue };
        before += &format!("#undef {name}\n{}\n", back.trim_end());
        after += &format!("#undef {name}\n");
        if let Some(definition) = now.and_then(|d| d.definition) {
            after += &format!("{}\n", definition.trim_end());
        }
    }
    (before, after)
}

/// All in the order of the text.
fn directives(source: &str) -> impl Iterator<Item = Directive<'_>> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let mut n = 0;
        // A backslash at the end of a line continues it.
        for line in rest.split_inclusive('\n') {
            n += line.len();
            if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
                break;
            }
        }
        let text = &rest[..n];
        if let Some(words) = text.trim_start().strip_prefix('#').map(str::trim_start) {
            let end = words.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(words.len());
            let (word, argument) = (&words[..end], words[end..].trim_start());
            let end = argument.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(argument.len());
            match word {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" => depth = depth.saturating_sub(1),
                "define" | "undef" if end > 0 => found.push(Directive {
                    at,
                    name: &argument[..end],
                    definition: (word == "define").then_some(text),
                    is_conditional: depth > 0,
                }),
                _ => {}
            }
        }
        at += n;
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::restored;

    #[test]
    fn macros_are_as_at_the_nest() {
        let source = "#define M 3\nint f(void)\n{\n# define N \\\n    700\n  for (;;);\n# undef N\n#define M 4\n}\n#undef M\n";
        let nest = source.find("for").expect("a loop");
        let end = source.find('}').expect("an end");
        let (before, after) = restored(source, nest, end);
        assert_eq!(before, "#undef M\n#define M 3\n#undef N\n# define N \\\n    700\n");
        assert_eq!(after, "#undef M\n#define M 4\n#undef N\n");
    }

    #[test]
    fn what_stays_or_depends_on_conditions_is_left() {
        let source = "#define A 1\n#ifdef X\n#define B 2\n#endif\nfor (;;);\n#undef B\n#define C 3\n";
        let nest = source.find("for").expect("a loop");
        assert_eq!(restored(source, nest, source.len()), (String::new(), String::new()));
    }
}
