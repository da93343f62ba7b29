//! Loops whose text is not what is compiled.

use super::parts::{READ, WRITTEN, read, variable};
use crate::generate::{Construct, Maker, Manner};

/// Loops that a macro makes whole.
pub(super) fn macro_made(m: &mut Maker) -> String {
    m.has(Construct::MacroLoops);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let b = m.array(&[n, o], element, READ);
    let name = m.global("SWEEP");
    let (outer, inner) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let (at_a, at_b) = (a.at(&["i", "j"]), b.at(&["i", "j"]));
    let left = b.at(&["i - 1", "j"]);
    let form = m.between(0, 1);
    m.before += &match form {
        0 => format!(
            "#define {name}(first, value) \\\n    for (int i = first; i < {outer} + 1; i++) \\\n        \
             for (int j = 0; j < {inner}; j++) \\\n            {at_a} = value;\n"
        ),
        _ => format!(
            "#define {name}(first, value) {{ int i, j; for (i = first; i < {outer}; i++) for (j = 0; j <= {inner}; j++) {{ {at_a} += (value); }} }}\n"
        ),
    };
    let end = if m.chance(30) { "\n" } else { ";\n" };
    format!("{name}(0, 0.5 * {at_b} + i % 3){end}{name}(1, 0.25 * {left} - 0.5 * {at_b}){end}")
}

/// Conditionals of the preprocessor inside of nests.
pub(super) fn conditional(m: &mut Maker) -> String {
    m.has(Construct::Conditionals);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let b = m.array(&[n], element, READ);
    let test =
        m.one(&["#ifdef WIDE", "#if N > 9", "#ifndef NDEBUG", "#if M > 4 && N != 3", "#ifdef _OPENMP"]);
    let form = m.between(0, 2);
    if form == 1 {
        // Heads that depend on it.
        let size = m.sizes[n].text.clone();
        let i = m.counter();
        let body = m.over(0, o, 0, Manner::ANY, |m, j| {
            let at = [i.clone(), j.to_owned()];
            let value = m.value(element, &[read(&a, &at), read(&b, &at[..1])], &at);
            m.assignment(&a.at(&at), element, &value)
        });
        m.leave();
        return format!(
            "{test}\nfor (int i = 0; i < {size}; i++) {{\n#else\nfor (int i = 1; i <= {size}; i++) {{\n#endif\n{body}}}\n"
        );
    }
    let order = m.order(2);
    m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |m, at| {
        let reads = [read(&a, at), read(&b, &at[..1])];
        let mut store = || {
            let value = m.value(element, &reads, at);
            m.assignment(&a.at(at), element, &value)
        };
        let (one, two, three) = (store(), store(), store());
        match form {
            0 => format!("{test}\n{one}#else\n{two}#endif\n"),
            _ => format!("{one}{test}\n{two}{three}#endif\n"),
        }
    })
}

/// Statement expressions and commas.
pub(super) fn expressions(m: &mut Maker) -> String {
    let n = m.size();
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n], element, READ);
    let comma = m.chance(50);
    if !comma {
        m.has(Construct::StatementExpressions);
    }
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let own = [i.to_owned()];
        let (x, y) = (a.at(&own), b.at(&own));
        let value = m.value(element, &[variable("half", element)], &own);
        if comma {
            format!("{ty} half;\nhalf = 0.5 * {y}, {x} = {value};\n")
        } else {
            format!("{x} += ({{ {ty} half = 0.5 * {y}; {value}; }});\n")
        }
    })
}
