//! Sizes, indices and regions that macros, tables and enumerations make.

use super::parts::{READ, WRITTEN, read, shifted};
use crate::generate::{Construct, Element, Maker, Manner, Read, indented};

/// Macros made of macros, as bounds, extents and in values.
pub(super) fn derived(m: &mut Maker) -> String {
    m.has(Construct::DerivedMacros);
    m.has(Construct::MacroSizes);
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let (wide, last, pad, real) = (m.global("WIDE"), m.global("LAST"), m.global("PADDED"), m.global("REAL"));
    let (data, other) = (m.global("data"), m.global("other"));
    let by = m.between(1, 3);
    m.before += &format!(
        "#define {real} {ty}\n#define {wide} (N + {by})\n#define {last} ({wide} - 1)\n#define {pad} ({wide} * 2 + M)\nstatic {real} {data}[{wide}][{pad}], {other}[{pad}];\n"
    );
    for (name, count) in [(&data, format!("(long){wide} * {pad}")), (&other, pad.clone())] {
        m.setup.push(format!("fill_{helper}(({ty} *){name}, {count}, 4);"));
        m.shown.push(format!("show_{helper}(\"{name}\", (const {ty} *){name}, {count});"));
    }
    let form = m.between(0, 4);
    let (low, high) = match form {
        0 => ("0".to_owned(), last.clone()),
        1 => {
            let name = m.global("COUNT");
            m.before += &format!("enum {{ {name} = {last} > 3 ? 3 : {last} }};\n");
            m.has(Construct::Enums);
            ("0".to_owned(), name)
        }
        2 => ("0".to_owned(), format!("(int)(sizeof {data} / sizeof {data}[0])")),
        3 => {
            let name = m.global("limit");
            m.before += &format!("static const int {name} = {wide};\n");
            ("0".to_owned(), name)
        }
        _ => ("0".to_owned(), format!("{wide} / 2")),
    };
    m.counting(&low, &high, false, Manner::ANY, |m, i| {
        let i = i.to_owned();
        m.counting("0", &format!("{pad} - 1"), false, Manner::ANY, |m, j| {
            let reads = [
                Read { text: format!("{other}[{}]", shifted(j, 1)), element },
                Read { text: format!("{data}[{i}][{j}]"), element },
            ];
            let value = m.value(element, &reads, &[]);
            format!("{data}[{i}][{j}] = {value} + {last} * 0.5;\n")
        })
    })
}

/// A macro that is something else further down, and macros that index.
pub(super) fn changed(m: &mut Maker) -> String {
    m.has(Construct::ChangedMacros);
    m.has(Construct::IndexMacros);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let (step, at) = (m.global("STEP"), m.global("AT"));
    let (one, two) = (m.between(1, 2), m.between(1, 2));
    m.before += &format!("#define {step} {one}\n#define {at}(i, j) {}\n", a.at(&["(i)", "(j)"]));
    let own = |i: &str, j: &str| format!("{at}({i}, {j})");
    let first = m.nest(&[n, o], &[0, 1], (0, 0), Manner::ANY, &mut |_, index| {
        let (i, j) = (&index[0], &index[1]);
        format!("{} = 0.5 * {} + {step};\n", own(i, j), own(&shifted(i, 1), j))
    });
    let again = m.nest(&[n, o], &[0, 1], (0, 0), Manner::ANY, &mut |_, index| {
        let (i, j) = (&index[0], &index[1]);
        format!("{} = 0.25 * {} - {step};\n", own(i, j), own(i, &format!("{j} + {step}")))
    });
    format!("{first}#undef {step}\n#define {step} {two}\n{again}")
}

/// A loop over regions whose bounds come from tables, switches or branches.
pub(super) fn regions(m: &mut Maker) -> String {
    m.has(Construct::RegionTables);
    m.has(Construct::Selected);
    let (n, o) = (m.open_size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[o], element, READ);
    let size = format!("(int)({})", m.sizes[n].text);
    let width = format!("(int)({})", m.sizes[o].text);
    let border = m.integer("border", "int", "t % 3");
    let inner = m.between(0, 1);
    let value = {
        let at = ["i".to_owned(), "j".to_owned()];
        let mut reads = vec![read(&a, &at), read(&w, &at[1..])];
        if m.chance(50) {
            reads.push(Read { text: "region".into(), element: Element::I32 });
        }
        m.value(element, &reads, &[])
    };
    let store = m.assignment(&a.at(&["i", "j"]), element, &value);
    // Borders may be as wide as all of it, or wider.
    let inside = format!("({border} < {size} ? {border} : {size})");
    let body = if inner == 0 {
        format!("for (int i = from; i < to; i++)\n    for (int j = 0; j < {width}; j++)\n        {store}")
    } else {
        format!(
            "for (int j = 0; j < {width}; j++)\n    for (int i = to - 1; i >= from; i--)\n        {store}"
        )
    };
    let n_regions = m.between(2, 4);
    match m.between(0, 4) {
        0 => format!(
            "int lows[4] = {{0, {inside}, {size}, 0}}, highs[4] = {{{inside}, {size}, {size} + 1, {inside}}};\nfor (int region = 0; region < {n_regions}; region++) {{\n    \
             int from = lows[region], to = highs[region];\n{}}}\n",
            indented(&body)
        ),
        1 => format!(
            "for (int region = 0; region < {n_regions}; region++) {{\n    int from, to;\n    switch (region) {{\n    case 0:\n        from = 0;\n        to = {inside};\n        \
             break;\n    case 1:\n        from = {inside};\n        to = {size};\n        break;\n    default:\n        from = {size} / 2;\n        to = {size} + 1;\n    }}\n{}}}\n",
            indented(&body)
        ),
        2 => format!(
            "for (int region = 0; region < {n_regions}; region++) {{\n    int from = 0, to = {size};\n    if (region == 0)\n        to = {inside};\n    else if (region == 1)\n        \
             from = {inside};\n    else {{\n        from = {size};\n        to += 1;\n    }}\n{}}}\n",
            indented(&body)
        ),
        3 => format!(
            "for (int region = {n_regions} - 1; region >= 0; region--) {{\n    const int from = region ? {inside} : 0;\n    const int to = region == 2 ? {size} + 1 : region ? {size} : {inside};\n{}}}\n",
            indented(&body)
        ),
        _ => format!(
            "for (int region = -1; region <= 1; region += 2) {{\n    int from = region < 0 ? 0 : {inside}, to = region < 0 ? {inside} : {size};\n{}}}\n",
            indented(&body)
        ),
    }
}

/// Heads of functions and loops in branches of the preprocessor, comments in all places, lines that are joined.
pub(super) fn written_oddly(m: &mut Maker) -> String {
    m.has(Construct::Comments);
    let (n, o) = (m.open_size(), m.size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n, o], element, WRITTEN);
    let b = m.array(&[n], element, READ);
    let (size, width) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let (at, own) = (a.at(&["i", "j"]), b.at(&["i"]));
    match m.between(0, 5) {
        0 => format!(
            "/* for (;;) {{ */\nfor (int i = 0; /* \" */ i < (int)({size}); i++) // {{ ' }}\n{{\n    for (int j = 0; \\\n         j < {width}; \\\n         j++) {{\n        \
             {at} = 0.5 * {at} /* }} */ + {own}; // \u{10FEE9}t\u{10FEE9} }}\n    }}\n}}\n"
        ),
        1 => {
            m.has(Construct::Conditionals);
            let test = m.one(&["#if N > 6", "#ifdef M", "#if M % 2"]);
            format!(
                "{test}\nif ((int)({size}) > 1) {{\n#else\nif ((int)({size}) >= 0) {{\n#endif\n    for (int i = 0; i < (int)({size}); i++)\n        for (int j = 0; j < {width}; j++)\n            {at} += {own};\n}}\n"
            )
        }
        2 => {
            m.has(Construct::Conditionals);
            m.has(Construct::SmallFunctions);
            let name = m.global("scaled");
            let test = m.one(&["#if N > 6", "#if defined(M) && M > 5", "#ifdef __OPTIMIZE__"]);
            m.before += &format!(
                "{test}\nstatic {ty} {name}({ty} x, int q)\n{{\n    x = 0.5 * x;\n#else\nstatic inline {ty} {name}(const {ty} y, int q)\n{{\n    {ty} x = 0.5 * y + 0;\n#endif\n    return q % 2 ? x : -x;\n}}\n"
            );
            format!(
                "for (int i = 0; i < (int)({size}); i++) for (int j = 0; j < {width}; j++) {{ {at} = {name}({at}, j); {at} += {own}; }}\n"
            )
        }
        3 => {
            m.has(Construct::Conditionals);
            format!(
                "for (int i = 0; i < (int)({size}); i++)\n    for (int j = 0; j < {width}; j++)\n        {at} = 0.5 * {at}\n#if N % 2\n            + {own}\n#else\n            - {own}\n#endif\n            + 1;\n"
            )
        }
        4 => format!(
            "int i, j; for (i = 0; i < (int)({size}); i++) for (j = 0; j < (int)({width}); j++) {at} = 0.5 * {at} + {own}; for (i = 0; i < (int)({size}); i++) {0} += 1;\n",
            a.at(&["i", "0"])
        ),
        _ => {
            m.has(Construct::Conditionals);
            m.has(Construct::MacroSizes);
            let text =
                format!("for (int i = 0; i < (int)({size}); i++)\n    for (int j = 0; j < {width}; j++)\n");
            format!(
                "#if N > 10\n{text}        {at} = 0.5 * {at} + {own};\n#elif N > 4\n{text}        {at} -= {own};\n#else\nfor (int i = 0; i < (int)({size}); i++)\n    {} = {own};\n#endif\n",
                a.at(&["i", "0"])
            )
        }
    }
}
