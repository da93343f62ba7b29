//! Branches, exits, and loops that count in their own ways.

use super::parts::{READ, WRITTEN, read, shifted, variable};
use crate::generate::{Construct, Element, Maker, Manner, as_float, as_small, block, indented};

/// Looking for something in every row.
pub(super) fn search(m: &mut Maker) -> String {
    m.has(Construct::Searches);
    m.has(Construct::Early);
    let (n, o) = (m.size(), m.size());
    let element = m.element();
    let keys = m.array(&[n], element, READ);
    let table = m.array(&[o], element, READ);
    let found = m.array(&[n], Element::I32, WRITTEN);
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let inner = m.over(0, o, 0, Manner::FORWARD, |m, k| {
            let (a, b) = (read(&table, &[k.to_owned()]), read(&keys, std::slice::from_ref(&i)));
            let order = m.one(&["==", ">=", "=="]);
            format!("if ({} {order} {}) {{\n    at = {k};\n    break;\n}}\n", as_small(&a), as_small(&b))
        });
        format!("int at = -1;\n{inner}{} = at;\n", found.at(&[&i]))
    })
}

/// Loops that end before their bound, with work inside.
pub(super) fn early(m: &mut Maker) -> String {
    m.has(Construct::Early);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[o], element, READ);
    let form = m.between(0, 4);
    let manner = if form == 1 { Manner::CONTINUES } else { Manner::FORWARD };
    if form == 2 {
        m.has(Construct::EarlyReturns);
        m.returns = Some("int");
    }
    if form == 3 {
        m.has(Construct::Jumps);
    }
    let text = m.over(0, n, 0, manner, |m, i| {
        let i = i.to_owned();
        let corner = read(&a, &[i.clone(), "1".into()]);
        let exit = match form {
            0 => format!("if ({} > 90)\n    break;\n", as_small(&corner)),
            1 => {
                m.has(Construct::Jumps);
                format!("if ({} < -1)\n    continue;\n", as_small(&corner))
            }
            2 => format!("if ({} > 3)\n    return (int)({i}) + 1;\n", as_small(&corner)),
            3 => format!("if ({} > 3)\n    goto out;\n", as_small(&corner)),
            _ => format!("if ({i} > 4 && {} != 0)\n    break;\n", as_small(&corner)),
        };
        let inner = m.over(0, o, 1, Manner::ANY, |m, j| {
            let at = [i.clone(), j.to_owned()];
            let reads = [read(&a, &at), read(&w, &at[1..])];
            let value = m.value(element, &reads, &at);
            m.assignment(&a.at(&at), element, &value)
        });
        if m.chance(50) { exit + &inner } else { inner + &exit }
    });
    match form {
        2 => text + "return 0;\n",
        3 => text + "out:;\n",
        _ => text,
    }
}

/// `switch` inside of loops.
pub(super) fn cases(m: &mut Maker) -> String {
    m.has(Construct::Switches);
    let dims = [m.size(), m.size()];
    let element = m.element();
    let a = m.array(&dims, element, WRITTEN);
    let kind = m.array(&[dims[1]], Element::I32, READ);
    let by = m.between(0, 2);
    if by == 2 {
        m.integer("mode", "int", "kind % 3");
    }
    let order = m.order(2);
    m.nest(&dims, &order, (0, 1), Manner::ANY, &mut |m, at| {
        let on = match by {
            0 => format!("{} & 3", kind.at(&at[1..])),
            1 => format!("({} + {}) % 3", at[0], at[1]),
            _ => "mode".to_owned(),
        };
        let mut text = format!("switch ({on}) {{\n");
        for label in ["case 0:", "case 1:\ncase 2:", "default:"] {
            let reads = [read(&a, at)];
            let value = m.value(element, &reads, at);
            text += &format!("{label}\n{}", indented(&m.assignment(&a.at(at), element, &value)));
            if label != "default:" && !m.chance(15) {
                text += "    break;\n";
            }
        }
        text + "}\n"
    })
}

/// Remainders and quotients of counters, in values, indices and conditions.
pub(super) fn remainders(m: &mut Maker) -> String {
    m.has(Construct::Remainders);
    let (n, five) = (m.size(), m.size_of("5", true));
    let element = m.element();
    let a = m.array(&[n], element, WRITTEN);
    let small = m.array(&[five], element, WRITTEN);
    let wrap = m.size_of("7", true);
    let ring = m.array(&[wrap], element, READ);
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let by = m.between(2, 5);
        let own = [i.to_owned()];
        match m.between(0, 3) {
            0 => {
                m.has(Construct::Guards);
                let value = m.value(element, &[read(&ring, &[format!("{i} % 7")])], &own);
                format!("if ({i} % {by} == 0)\n    {}", m.assignment(&a.at(&own), element, &value))
            }
            1 => {
                let value = m.value(element, &[read(&a, &own)], &own);
                format!("{} += {value};\n", small.at(&[format!("{i} % {by}")]))
            }
            2 => {
                let value = m.value(element, &[read(&ring, &[format!("({i} + {by}) % 7")])], &own);
                m.assignment(&a.at(&own), element, &value)
            }
            _ => {
                let half = [format!("{i} / 2")];
                let value = m.value(element, &[read(&a, &half), read(&ring, &[format!("{i} % 3")])], &own);
                m.assignment(&a.at(&own), element, &value)
            }
        }
    })
}

/// Sweeps until little changes.
pub(super) fn converging(m: &mut Maker) -> String {
    m.has(Construct::Converging);
    m.has(Construct::WhileLoops);
    let n = m.size();
    let element = Element::F64;
    let x = m.array(&[n], element, WRITTEN);
    let y = m.array(&[n], element, WRITTEN);
    let most = m.integer("most", "int", "t + 3");
    let sweep = m.over(1, n, 1, Manner::ANY, |_, i| {
        let near = |by| x.at(&[shifted(i, by)]);
        format!("{} = 0.25 * ({} + {}) + 0.5 * {};\n", y.at(&[i]), near(-1), near(1), near(0))
    });
    let back = m.over(1, n, 1, Manner::ANY, |_, i| {
        let (a, b) = (x.at(&[i]), y.at(&[i]));
        format!("double by = {b} - {a};\nif (by < 0)\n    by = -by;\nif (by > change)\n    change = by;\n{a} = {b};\n")
    });
    let body = format!("change = 0;\n{sweep}{back}rounds++;\n");
    m.locals.push("double change = 1;".into());
    m.locals.push("int rounds = 0;".into());
    m.returns = Some("int");
    let text = match m.between(0, 1) {
        0 => format!("while (change > 0.125 && rounds < {most})\n{}", block(&body)),
        _ => format!("do {{\n{}}} while (change > 0.125 && rounds < {most});\n", indented(&body)),
    };
    text + "return rounds;\n"
}

/// Loops in every iteration that go on until something is reached: bisection, halving, wrapping around, walks with jumps out.
pub(super) fn until_done(m: &mut Maker) -> String {
    m.has(Construct::WhileLoops);
    m.has(Construct::UntilDone);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let x = m.array(&[n], element, WRITTEN);
    let y = m.array(&[n], element, WRITTEN);
    let table = m.array(&[o], element, READ);
    let o_text = m.sizes[o].text.clone();
    let form = m.between(0, 5);
    if form == 4 {
        m.has(Construct::Jumps);
    }
    let ty = element.c();
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let own = [i.to_owned()];
        let (a, b) = (x.at(&own), y.at(&own));
        let value = m.value(element, &[read(&x, &own), read(&table, &["0".into()])], &own);
        let store = m.assignment(&b, element, &value);
        match form {
            0 => format!(
                "int lo = 0, hi = (int)({o_text});\nwhile (hi - lo > 1) {{\n    int mid = (lo + hi) / 2;\n    \
                 if ({} > {a})\n        hi = mid;\n    else\n        lo = mid;\n}}\n{store}{b} += lo;\n",
                table.at(&["mid"])
            ),
            1 => format!(
                "{ty} rest = {a};\nint times = 0;\nwhile ((rest > 1 || rest < -1) && times < 40) {{\n    rest *= 0.5f;\n    \
                 times++;\n}}\n{store}{b} += rest + times;\n"
            ),
            2 => format!(
                "int turns = 0;\nwhile ({a} > 2 && turns < 9) {{\n    {a} -= 2;\n    turns++;\n}}\nfor (; {a} < -2; {a} += 2) {{\n    \
                 if (turns > 15)\n        break;\n    turns++;\n}}\n{store}"
            ),
            3 => format!(
                "{ty} old, at = {a};\nint left = 12;\ndo {{\n    old = at;\n    at = 0.25f * (at + 1);\n    left--;\n}} \
                 while (left > 0 && (at - old > 0.125f || old - at > 0.125f));\n{store}{b} += at;\n"
            ),
            4 => format!(
                "int k = 0;\nfor (;;) {{\n    if (k >= (int)({o_text}))\n        break;\n    if ({} > {a}) {{\n        k += 2;\n        \
                 continue;\n    }}\n    {b} += 1;\n    if ({b} > 3)\n        break;\n    k++;\n}}\n{store}",
                table.at(&["k"])
            ),
            _ => format!(
                "int at = {i} % 7, steps = 0;\nwhile (at != 1 && steps < 20) {{\n    at = at % 2 ? 3 * at + 1 : at / 2;\n    \
                 steps++;\n}}\n{store}{b} += steps;\n"
            ),
        }
    })
}

/// Bounds that a condition selects, and regions of a domain.
pub(super) fn selected(m: &mut Maker) -> String {
    m.has(Construct::Selected);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[o], element, READ);
    let (n_text, o_text) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let border = m.integer("border", "int", "t % 2 + 1");
    format!(
        "for (int region = 0; region < 3; region++)\n    for (int i = region == 0 ? 0 : region == 1 ? {border} : {n_text}; \
         i < (region == 0 ? {border} : region == 1 ? (int)({n_text}) : (int)({n_text}) + 1); i++)\n{}",
        indented(&indented(&format!(
            "for (int j = 0; j < {o_text}; j++)\n{}",
            block(&{
                let at = ["i".to_owned(), "j".to_owned()];
                let reads = [read(&w, &at[1..]), read(&a, &at), variable("region", Element::I32)];
                let value = m.value(element, &reads, &[]);
                m.assignment(&a.at(&at), element, &value)
            })
        )))
    )
}

/// Pointers that go through arrays, and counters that are not the loop's.
pub(super) fn pointers(m: &mut Maker) -> String {
    m.has(Construct::PointerSteps);
    let (n, o) = (m.open_size(), m.size());
    let element = m.element();
    let ty = element.c();
    let wish = super::time::ELEMENTS;
    let (a, b) = (m.array(&[n], element, wish), m.array(&[n], element, wish));
    let matrix = m.array(&[n, o], element, WRITTEN);
    let (n_text, o_text) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let value = |m: &mut Maker, text: &str| m.value(element, &[variable(text, element)], &[]);
    match m.between(0, 4) {
        0 => format!(
            "{ty} *to = {}, *from = {};\nfor (int i = 0; i < {n_text}; i++, to++, from++)\n    *to = {};\n",
            a.name,
            b.name,
            value(m, "*from")
        ),
        1 => format!(
            "{ty} *from = {};\nint k = 0;\nwhile (k < (int)({n_text})) {{\n    {}[k] = {};\n    from++;\n    k++;\n}}\n",
            b.name,
            a.name,
            value(m, "*from")
        ),
        2 => format!(
            "{ty} *end = {0} + {n_text};\nfor ({ty} *at = {0}; at < end; at++)\n    *at = {1};\n",
            a.name,
            value(m, "*at")
        ),
        3 => {
            m.has(Construct::Companions);
            format!(
                "int k = 0;\nfor (int i = 0; i < {n_text}; i++)\n    for (int j = 0; j < {o_text}; j++)\n        \
                 if ((i + j) % 2 == 0)\n            {}[k++ % ((int)({n_text}) + 2)] = {};\n",
                a.name,
                value(m, &matrix.at(&["i", "j"]))
            )
        }
        _ => {
            m.has(Construct::Companions);
            m.has(Construct::SeveralCounters);
            format!(
                "for (int i = 0, back = (int)({n_text}) - 1; i < back; i++, back--) {{\n    {ty} kept = {0}[i];\n    \
                 {0}[i] = {1};\n    {0}[back] = kept;\n}}\n",
                a.name,
                value(m, &format!("{}[back]", a.name))
            )
        }
    }
}

/// Scratch arrays and scalars that every iteration sets before it reads them.
pub(super) fn private_scratch(m: &mut Maker) -> String {
    m.has(Construct::PrivateScratch);
    let (n, o) = (m.size(), m.size_of("M", true));
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[n], element, READ);
    let inside = m.chance(50);
    let declaration = format!("{ty} tmp[M + 2];");
    if !inside {
        m.locals.push(declaration.clone());
    }
    let scalar = m.chance(50);
    if scalar {
        m.has(Construct::PrivateScalars);
        m.locals.push(format!("{ty} s0;"));
    }
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let first = m.over(0, o, 0, Manner::EVERY, |m, j| {
            let reads = [read(&a, &[i.clone(), j.to_owned()]), read(&w, std::slice::from_ref(&i))];
            format!("tmp[{j}] = {};\n", m.value(element, &reads, &[]))
        });
        let mut text = if inside { format!("{declaration}\n") } else { String::new() };
        if scalar {
            let of = read(&w, std::slice::from_ref(&i));
            text +=
                &format!("if ({} > 0)\n    s0 = 0.5;\nelse\n    s0 = {};\n", as_float(&of), as_float(&of));
        }
        text += &first;
        if m.chance(50) {
            text += &m.over(1, o, 0, Manner::FORWARD, |_, j| format!("tmp[{j}] += 0.5 * tmp[{j} - 1];\n"));
        }
        let factor = if scalar { "s0" } else { "0.5" };
        text + &m
            .over(0, o, 0, Manner::ANY, |_, j| format!("{} = tmp[{j}] * {factor};\n", a.at(&[i.as_str(), j])))
    })
}
