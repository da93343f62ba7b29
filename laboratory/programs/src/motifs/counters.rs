//! Counters that do more than count: read behind their loops, doubled, changed in bodies.

use super::parts::{READ, WRITTEN, read, variable};
use crate::generate::{Construct, Element, Maker, Read, as_small, indented};

/// Counters that are read behind their loops.
pub(super) fn left(m: &mut Maker) -> String {
    m.has(Construct::LeftCounters);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[n], element, READ);
    let (size, width) = (signed(m, n), signed(m, o));
    let ty = m.one(&["int", "int", "long", "short"]);
    m.locals.push(format!("{ty} i, j = 1;"));
    m.returns = Some("int");
    let at_i = ["i".to_owned()];
    let value = m.value(element, &[read(&w, &at_i), read(&a, &at_i)], &at_i);
    let store = m.assignment(&a.at(&at_i), element, &value);
    let at = ["i".to_owned(), "j".to_owned()];
    let value = m.value(element, &[read(&b, &at)], &at);
    let inner = m.assignment(&b.at(&at), element, &value);
    let key = as_small(&read(&a, &at_i));
    match m.between(0, 6) {
        0 => format!("for (i = 0; i < {size}; i++)\n    {store}return (int)i;\n"),
        1 => format!(
            "for (i = 1; i < {size}; i++)\n    for (j = 0; j < {width}; j++)\n        {inner}return (int)(i * 100 + j);\n"
        ),
        2 => format!(
            "for (i = 0; i < {size} / 2; i++)\n    {store}for (; i < {size}; i++)\n    {store}return (int)i;\n"
        ),
        3 => {
            m.has(Construct::Searches);
            m.has(Construct::WhileLoops);
            format!(
                "i = 0;\nwhile (i < {size} && {key} != 3)\n    i++;\nif (i < {size})\n    {store}return (int)i;\n"
            )
        }
        4 => {
            m.has(Construct::Searches);
            m.has(Construct::Early);
            format!(
                "for (i = {size} - 1; i >= 0; i--)\n    if ({key} > 2)\n        break;\nfor (j = 0; j < i; j++)\n    {}return (int)(i + 2 * j);\n",
                a.at(&["j"]) + " += 1;\n"
            )
        }
        5 => {
            m.has(Construct::OddSteps);
            format!("for (i = 0; i < {size}; i += 3)\n    {store}{}return (int)i;\n", {
                format!("for (j = 7; j > 0; j -= 2)\n    {} += j;\n", a.at(&["0"]))
            })
        }
        _ => {
            m.has(Construct::DownToZero);
            format!("i = {size};\nwhile (i-- > 0)\n    {store}return (int)i;\n")
        }
    }
}

/// The text of a size as a signed number.
fn signed(m: &Maker, size: usize) -> String {
    format!("(int)({})", m.sizes[size].text)
}

/// Bodies written two, three or four times, and what remains.
pub(super) fn unrolled(m: &mut Maker) -> String {
    m.has(Construct::Unrolled);
    let n = m.size();
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let w = m.array(&[n], element, READ);
    let size = signed(m, n);
    let by = m.between(2, 4);
    let sum = m.chance(40);
    if sum {
        m.has(Construct::Reductions);
        let ty = if element.is_float() { "double" } else { "long" };
        m.returns = Some(ty);
        m.locals
            .push(format!("{ty} {};", (0..by).map(|k| format!("s{k} = 0")).collect::<Vec<_>>().join(", ")));
    }
    let one = |m: &mut Maker, at: &str, k: usize| {
        let at = [at.to_owned()];
        let reads = [read(&w, &at), read(&a, &at)];
        if sum {
            let of = if element.is_float() { Element::F64 } else { Element::I64 };
            format!("s{k} += {};\n", m.value(of, &reads, &[]))
        } else {
            let value = m.value(element, &reads, &[]);
            m.assignment(&a.at(&at), element, &value)
        }
    };
    let same = m.chance(60);
    let first = one(m, "i", 0);
    let mut body = String::new();
    for k in 0..by {
        let at = if k == 0 { "i".to_owned() } else { format!("i + {k}") };
        body += &if same {
            // Only what is counted differs.
            let at = format!("[{at}]");
            let text = first.replace("[i]", &at);
            if sum { text.replacen("s0", &format!("s{k}"), 1) } else { text }
        } else {
            one(m, &at, k)
        };
    }
    let body = indented(&body);
    let text = match m.between(0, 3) {
        0 => format!(
            "int i;\nfor (i = 0; i + {} < {size}; i += {by}) {{\n{body}}}\nfor (; i < {size}; i++)\n    {first}",
            by - 1
        ),
        1 => format!(
            "int i = 0, whole = {size} - {size} % {by};\nfor (i = 0; i < whole; i += {by}) {{\n{body}}}\nfor (i = whole; i < {size}; i++)\n    {first}"
        ),
        2 => format!(
            "int i;\nfor (i = 0; i < {size} - {}; i += {by}) {{\n{body}}}\nwhile (i < {size}) {{\n    {first}    i++;\n}}\n",
            by - 1
        ),
        _ => format!(
            "int i, rest = {size} % {by};\nfor (i = 0; i < rest; i++)\n    {first}for (i = rest; i < {size}; i += {by}) {{\n{body}}}\n"
        ),
    };
    if !sum {
        return text;
    }
    let all: Vec<String> = (0..by).map(|k| format!("s{k}")).collect();
    format!("{text}return {};\n", all.join(" + "))
}

/// Counters that double or halve.
pub(super) fn geometric(m: &mut Maker) -> String {
    m.has(Construct::Geometric);
    m.has(Construct::OddSteps);
    let n = m.open_size();
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let size = signed(m, n);
    let double = m.one(&["gap *= 2", "gap <<= 1", "gap += gap", "gap = gap * 2"]);
    let halve = m.one(&["gap /= 2", "gap >>= 1", "gap = gap / 2"]);
    let store = |m: &mut Maker, to: &str, from: &str| {
        let reads = [Read { text: b.at(&[from]), element }, Read { text: a.at(&[from]), element }];
        let value = m.value(element, &reads, &[]);
        m.assignment(&a.at(&[to]), element, &value)
    };
    match m.between(0, 4) {
        0 => {
            let store = store(m, "i", "i + gap");
            format!(
                "for (int gap = 1; gap < {size}; {double})\n    for (int i = 0; i + gap < {size}; i += 2 * gap)\n        {store}"
            )
        }
        1 => {
            let store = store(m, "i", "i + gap");
            format!(
                "for (int gap = {size} / 2; gap > 0; {halve})\n    for (int i = 0; i < gap; i++)\n        {store}"
            )
        }
        2 => {
            let store = store(m, "j + gap", "j");
            format!(
                "for (int gap = 1; gap <= {size} / 2; {double})\n    for (int k = 0; k + 2 * gap <= {size}; k += 2 * gap)\n        for (int j = k; j < k + gap; j++)\n            {store}"
            )
        }
        3 => {
            let store = store(m, "i", "gap");
            format!(
                "int gap = 1;\nfor (int i = 0; i < {size}; i++) {{\n    if (gap < {size})\n        {store}    {double};\n    if (gap > 1000)\n        gap = 1;\n}}\n"
            )
        }
        _ => {
            let store = store(m, "i", "i / gap");
            format!(
                "int gap = 4;\nfor (int i = {size} - 1; i >= 0; i--) {{\n    {store}    if (i % 3 == 0)\n        {halve};\n    if (gap == 0)\n        gap = 3;\n}}\n"
            )
        }
    }
}

/// Bodies that change the counter.
pub(super) fn skipping(m: &mut Maker) -> String {
    m.has(Construct::Skipping);
    let n = m.open_size();
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let size = signed(m, n);
    let (own, key) = (a.at(&["i"]), as_small(&read(&a, &["i".into()])));
    let value = m.value(element, &[read(&b, &["i".into()])], &[]);
    let store = m.assignment(&own, element, &value);
    match m.between(0, 3) {
        0 => {
            format!("for (int i = 0; i < {size}; i++) {{\n    {store}    if ({key} > 3)\n        i++;\n}}\n")
        }
        1 => format!("int i = 0;\nwhile (i < {size}) {{\n    {store}    i += {key} > 0 ? 1 : 2;\n}}\n"),
        2 => format!(
            "int k = 0;\nfor (int i = 0; i < {size}; i++) {{\n    if ({key} > 0)\n        {} = {own};\n}}\nfor (int i = k; i < {size}; i++)\n    {} *= 2;\n",
            b.at(&["k++"]),
            b.at(&["i"])
        ),
        _ => format!(
            "for (int i = 0, k = 0; i < {size}; i++) {{\n    if ({key} % 2)\n        continue;\n    {} = {own};\n    k++;\n}}\n",
            b.at(&["k"])
        ),
    }
}

/// Elements that move up until they are in order.
pub(super) fn sorting(m: &mut Maker) -> String {
    m.has(Construct::Sorting);
    m.has(Construct::WhileLoops);
    let (n, o) = (m.size(), m.open_size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n, o], element, WRITTEN);
    let width = signed(m, o);
    m.over(0, n, 0, crate::generate::Manner::ANY, |m, row| {
        let at = |k: &str| a.at(&[row, k]);
        match m.between(0, 2) {
            0 => format!(
                "for (int at = 1; at < {width}; at++) {{\n    {ty} key = {};\n    int to = at;\n    while (to > 0 && {} > key) {{\n        {} = {};\n        to--;\n    }}\n    {} = key;\n}}\n",
                at("at"),
                at("to - 1"),
                at("to"),
                at("to - 1"),
                at("to")
            ),
            1 => format!(
                "for (int at = 0; at < {width}; at++)\n    for (int to = 0; to < {width} - 1 - at; to++)\n        if ({0} > {1}) {{\n            {ty} key = {0};\n            {0} = {1};\n            {1} = key;\n        }}\n",
                at("to"),
                at("to + 1")
            ),
            _ => format!(
                "for (int at = 0; at < {width}; at++) {{\n    int least = at;\n    for (int to = at + 1; to < {width}; to++)\n        if ({} < {})\n            least = to;\n    {ty} key = {};\n    {} = {};\n    {} = key;\n}}\n",
                at("to"),
                at("least"),
                at("at"),
                at("at"),
                at("least"),
                at("least")
            ),
        }
    })
}

/// Loops whose test is in the middle, between two halves of their work.
pub(super) fn tested_inside(m: &mut Maker) -> String {
    m.has(Construct::Endless);
    m.has(Construct::Early);
    let n = m.open_size();
    let element = m.float();
    let a = m.array(&[n], element, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let size = signed(m, n);
    let (x, y) = (a.at(&["i"]), b.at(&["i"]));
    let value = m.value(element, &[read(&b, &["i".into()]), variable("carry", element)], &[]);
    let ty = element.c();
    let head = m.one(&["for (;;)", "while (1)", "for (; 1;)"]);
    match m.between(0, 2) {
        0 => format!(
            "int i = 0;\n{ty} carry = 1;\n{head} {{\n    {x} = {value};\n    if (++i >= {size})\n        break;\n    carry = 0.5 * {y};\n}}\n"
        ),
        1 => format!(
            "int i = 0;\n{ty} carry = 1;\ndo {{\n    {x} = {value};\n    if (i > 5)\n        break;\n    i++;\n    carry = 0.5 * {y};\n}} while (i < {size});\n"
        ),
        _ => format!(
            "int i = -1;\n{ty} carry = 1;\n{head} {{\n    i++;\n    if (i == {size})\n        break;\n    {y} = {value};\n    carry = {x};\n}}\n"
        ),
    }
}

/// One counter for several loops, taken apart by quotient and remainder.
pub(super) fn collapsed(m: &mut Maker) -> String {
    m.has(Construct::TakenApart);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.element();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[n, o], element, READ);
    let (rows, width) = (signed(m, n), signed(m, o));
    let ty = m.one(&["int", "int", "long", "size_t"]);
    // Rows in the other order, or within each other, as well.
    let by = if m.chance(70) { width.clone() } else { m.one(&["3", "4"]).to_owned() };
    let end = if by == width {
        format!("{rows} * ({width})")
    } else {
        format!("({rows} * ({width})) / {by} * {by}")
    };
    let (total, end) = if m.chance(40) {
        (format!("const {ty} total = {end};\n"), "total".to_owned())
    } else {
        (String::new(), end)
    };
    let at = |i: &str, j: &str| {
        if by == width {
            [i.to_owned(), j.to_owned()]
        } else {
            [format!("({i} + {j}) % {rows}"), format!("{j} % ({width})")]
        }
    };
    let own = at("i", "j");
    let previous = at("i", "(j > 0 ? j - 1 : 0)");
    let value = m.value(element, &[read(&w, &own), read(&a, &previous)], &[]);
    let store = m.assignment(&a.at(&own), element, &value);
    let apart = match m.between(0, 2) {
        0 => format!("{ty} i = cell / ({by}), j = cell % ({by});\n    {store}"),
        1 => format!("{ty} i = cell / ({by});\n    {ty} j = cell - i * ({by});\n    {store}"),
        _ => store.replace("[i]", &format!("[cell / ({by})]")).replace("[j]", &format!("[cell % ({by})]")),
    };
    let apart = match apart.contains("i =") {
        true => apart,
        // The names that are left.
        false => format!("{ty} i = cell / ({by}), j = cell % ({by});\n    {apart}"),
    };
    let text = format!("{total}for ({ty} cell = 0; cell < {end}; cell++) {{\n    {apart}}}\n");
    if m.chance(25) {
        let inner = indented(&text);
        return format!("for (int t = 0; t < 3; t++) {{\n{inner}}}\n");
    }
    text
}
