//! Loops that count with a pointer, that run once before they test anything, and tables in functions that are called.

use super::parts::{WRITTEN, read, variable};
use super::time::ELEMENTS;
use crate::generate::{Construct, Maker, Manner};

/// `for (p = a; p < end; p++)` and the like.
pub(super) fn pointers(m: &mut Maker) -> String {
    m.has(Construct::Iterators);
    let n = m.open_size();
    let element = m.float();
    let ty = element.c();
    let (a, b) = (m.array(&[n], element, ELEMENTS), m.array(&[n], element, ELEMENTS));
    let (x, y) = (a.name.clone(), b.name.clone());
    let size = format!("(int)({})", m.sizes[n].text);
    let value = m.value(element, &[variable("*it", element), variable("*jt", element)], &[]);
    let store = m.assignment("*it", element, &value);
    let alone = m.value(element, &[variable("*it", element)], &[]);
    let alone = m.assignment("*it", element, &alone);
    match m.between(0, 8) {
        0 => format!(
            "const {ty} *jt = {y};\nfor ({ty} *it = {x}, *stop = {x} + {size}; it != stop; ++it, jt++)\n    {store}"
        ),
        1 => format!(
            "{ty} *it, *stop = {x} + {size};\nconst {ty} *jt;\nfor (it = {x}, jt = {y}; it < stop; it++, jt++)\n    {store}"
        ),
        2 => format!(
            "{ty} *it = {x}, *stop = {x} + {size};\nconst {ty} *jt = {y};\nwhile (it < stop) {{\n    {store}    it++;\n    ++jt;\n}}\n"
        ),
        3 => {
            m.returns = Some("int");
            format!(
                "{ty} *it = {x}, *stop = it + {size};\nwhile (it < stop)\n    *it++ *= 0.5;\nreturn (int)(it - {x});\n"
            )
        }
        4 => format!("for ({ty} *it = {x} + {size} - 1; it >= {x}; it--)\n    {alone}"),
        5 => format!(
            "{ty} *it = {x};\nfor (; it < {x} + {size}; it += 2)\n    {alone}for (int i = 0; i < {size}; i++)\n    {x}[i] += 1;\n"
        ),
        6 => format!("{ty} *it = {x}, *stop = {x} + {size};\ndo {{\n    {alone}}} while (++it < stop);\n"),
        7 => format!(
            "for (int i = 0; i < {size}; i++) {{\n    int at = 0;\n    for (const {ty} *it = {y}; it < {y} + {size}; it++, at++)\n        if (*it > 0.125 * i)\n            break;\n    {x}[i] += at;\n}}\n"
        ),
        _ => format!(
            "for (int i = 0; i < {size}; i++) {{\n    {ty} *it = {x} + i, *stop = {x} + {size};\n    const {ty} *jt = {y};\n    while (it != stop) {{\n        {}        it++, jt++;\n    }}\n}}\n",
            m.assignment("*it", element, "0.5 * *it + 0.25 * *jt")
        ),
    }
}

/// `do { ... } while (--k);` and the like.
pub(super) fn once(m: &mut Maker) -> String {
    m.has(Construct::Once);
    let n = m.open_size();
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let size = format!("(int)({})", m.sizes[n].text);
    let stored = |m: &mut Maker, at: &str| {
        let at = [at.to_owned()];
        let value = m.value(element, &[read(&b, &at), read(&a, &at)], &[]);
        m.assignment(&a.at(&at), element, &value)
    };
    let ty = m.one(&["int", "long", "unsigned"]);
    match m.between(0, 5) {
        0 => format!("{ty} k = {size} + 1;\ndo {{\n    {}}} while (--k);\n", stored(m, "k - 1")),
        1 => format!("{ty} k = 0;\ndo {{\n    {}    k++;\n}} while (k < {size});\n", stored(m, "k")),
        2 => format!("int k = {size};\ndo\n    {}while (k-- > 0);\n", stored(m, "k")),
        3 => {
            m.returns = Some("int");
            format!(
                "int k = {size};\ndo {{\n    {}    k -= 2;\n}} while (k > 0);\nreturn k;\n",
                stored(m, "k")
            )
        }
        4 => format!(
            "for (int i = 1; i < {size}; i++) {{\n    int k = i;\n    do {{\n        {}    }} while (--k > 0);\n}}\n",
            stored(m, "k")
        ),
        _ => format!(
            "{ty} k = 0;\nwhile (1) {{\n    {}    if (++k >= {size})\n        break;\n}}\n",
            stored(m, "k")
        ),
    }
}

/// Functions with tables and constants of their own.
pub(super) fn tables(m: &mut Maker) -> String {
    m.has(Construct::Tables);
    m.has(Construct::SmallFunctions);
    let n = m.open_size();
    let element = m.float();
    let a = m.array(&[n], element, WRITTEN);
    let (weight, par) = (m.global("weight"), m.global("par"));
    let values: Vec<String> = (0..m.between(1, 5)).map(|k| format!("{}", 0.25 * k as f64 - 0.5)).collect();
    let extent = values.len() + m.between(0, 2);
    let table = format!("static const double t[{extent}] = {{{}}};", values.join(", "));
    let by = m.one(&["static const double by = 0.5;", "static const int by = 2;", "const double by = 0.25;"]);
    m.before += &format!(
        "static const struct {{ double scale; int shift; }} {par} = {{0.25, 1}};\n\
         static double {weight}(int i)\n{{\n    {table}\n    {by}\n    return by * t[(i + {par}.shift) % {extent}] + {par}.scale;\n}}\n"
    );
    let call = |at: &str| format!("{weight}((int)({at}))");
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let at = [i.to_owned()];
        let value = m.value(element, &[read(&a, &at), variable(&call(i), element)], &[]);
        m.assignment(&a.at(&at), element, &value)
    })
}
