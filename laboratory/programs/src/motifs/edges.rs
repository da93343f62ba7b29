//! Numbers at the edges of their types, and the arithmetic of C where it differs from that of integers.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Maker, Manner, Read};

/// Quotients and remainders of negative numbers, which C rounds towards zero.
pub(super) fn truncation(m: &mut Maker) -> String {
    m.has(Construct::NegativeQuotients);
    m.has(Construct::Remainders);
    let n = m.open_size();
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let value = m.sizes[n].value.clone();
    let far = format!("(int)({})", m.sizes[n].text);
    let a = m.named("around");
    m.setup.push(format!("{ty} *{a}_data = some_{helper}(4 * {value} + 12, 12);"));
    m.shown.push(format!("show_{helper}(\"{a}\", {a}_data, 4 * {value} + 12);"));
    // The middle, so that negative indices are there.
    m.parameter(2, &a, format!("{ty} *{a}"), format!("{a}_data + 2 * {value} + 6"));
    let w = m.array(&[n], element, READ);
    let by = m.between(2, 4);
    let kind = m.one(&["int", "int", "long", "short"]);
    let form = m.between(0, 6);
    let at = |index: &str| Read { text: format!("{a}[{index}]"), element };
    let store = |m: &mut Maker, to: &str, from: &str| {
        let value = m.value(element, &[at(from), read(&w, &["1".into()])], &[]);
        m.assignment(&at(to).text, element, &value)
    };
    let head = format!("for ({kind} i = -{far}; i <= {far}; i++)\n    ");
    match form {
        0 => head + &store(m, "i", &format!("i / {by}")),
        1 => head + &store(m, &format!("i / {by}"), "i"),
        2 => head + &store(m, "i", &format!("i % {by}")),
        3 => head + &store(m, &format!("i % {by}"), "i"),
        4 => format!("{head}if (i % {by} == {})\n        {}", m.one(&["1", "-1", "0"]), store(m, "i", "-i")),
        5 => format!("{head}if (i / {by} == 0)\n        {}", store(m, "i + 1", "i")),
        _ => {
            let bound = m.integer("low", "int", "1 - t");
            format!(
                "for (int i = {bound} / 2; i < {bound} % 3 + {far}; i++)\n    for (int j = (i - {far}) / 2; j <= {far} / 2; j++)\n        {}",
                store(m, "j", "i - 1")
            )
        }
    }
}

/// Bounds that are differences of unsigned numbers.
pub(super) fn unsigned_bounds(m: &mut Maker) -> String {
    m.has(Construct::UnsignedBounds);
    m.has(Construct::Wrapping);
    let (value, other) = (m.one(&["n", "m"]), m.one(&["n", "m", "t"]));
    let n = m.size_of(value, false);
    let element = m.element();
    let a = m.array(&[n, n], element, WRITTEN);
    let b = m.array(&[n], element, READ);
    let ty = m.one(&["unsigned", "size_t", "unsigned long"]);
    let size = format!("({ty})({})", m.sizes[n].text);
    let less = m.integer("less", ty, other);
    let at = ["i".to_owned(), "j".to_owned()];
    let new = m.value(element, &[read(&a, &at), read(&b, &at[1..])], &[]);
    let store = m.assignment(&a.at(&at), element, &new);
    match m.between(0, 5) {
        0 => format!(
            "if ({size} > 0)\n    for ({ty} i = 0; i < {size} - 1; i++)\n        for ({ty} j = 0; j < {size} - i; j++)\n            {store}"
        ),
        1 => format!(
            "for ({ty} i = 0; i + 1 < {size}; i++)\n    for ({ty} j = i + 1; j < {size}; j++)\n        {store}"
        ),
        2 => format!(
            "if ({less} <= {size})\n    for ({ty} i = 0; i < {size} - {less}; i++)\n        for ({ty} j = i; j < i + {less}; j++)\n            {store}"
        ),
        // The difference wraps where it is not used.
        3 => format!(
            "for ({ty} i = 0; i < {size}; i++)\n    for ({ty} j = 0; j < {size}; j++)\n        if (i - j < {less})\n            {store}"
        ),
        4 => format!(
            "for ({ty} i = 0; i < {size}; i++)\n    for ({ty} j = i < {less} ? 0 : i - {less}; j <= i; j++)\n        {store}"
        ),
        _ => format!(
            "for ({ty} i = {size}; i-- > 0;)\n    for ({ty} j = {size} - 1; j != i; j--)\n        {store}"
        ),
    }
}

/// Counters that come as near to the ends of their types as they may.
pub(super) fn near_limits(m: &mut Maker) -> String {
    m.has(Construct::NearLimits);
    let (n, o) = (m.open_size(), m.size());
    let element = m.element();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[o], element, READ);
    let value = m.sizes[n].value.clone();
    let size = format!("(int)({})", m.sizes[n].text);
    let width = m.sizes[o].text.clone();
    let step = m.between(1, 3);
    let (ty, first) = match m.between(0, 4) {
        0 => ("int", format!("2147483647 - {value} - {step}")),
        1 => ("int", "-2147483647 - 1".to_owned()),
        2 => ("unsigned", format!("4294967295u - (unsigned){value} - {step}u")),
        3 => ("long", format!("9223372036854775807 - {value} - {step}")),
        _ => ("short", format!("32767 - {value} - {step}")),
    };
    m.plain_types = false;
    let first = m.integer("first", ty, &first);
    let i = m.counter();
    let own = format!("({i} - {first})");
    let reads = |m: &mut Maker, own: &str, j: &str| {
        let at = [own.to_owned(), j.to_owned()];
        let value = m.value(element, &[read(&a, &at), read(&w, &at[1..])], &[]);
        m.assignment(&a.at(&at), element, &value)
    };
    let going = match m.between(0, 2) {
        0 => format!("for ({ty} {i} = {first}; {i} < {first} + {size}; {i} += {step})\n"),
        1 => format!("for ({ty} {i} = {first}; {size} > 0 && {i} <= {first} + {size} - 1; {i} += {step})\n"),
        _ => format!("for ({ty} {i} = {first}; {i} - {first} < {size}; {i} += {step})\n"),
    };
    let text = if m.chance(50) {
        let inner = m.over(0, o, 0, Manner::ANY, |m, j| reads(m, &own, j));
        let inner = inner.replace('\n', "\n    ");
        format!("{going}{{\n    {}\n}}\n", inner.trim_end())
    } else {
        let store = reads(m, &own, "j");
        format!("for (int j = 0; j < (int)({width}); j++)\n    {going}        {store}")
    };
    m.leave();
    text
}

/// Elements of types that arithmetic widens.
pub(super) fn narrow(m: &mut Maker) -> String {
    m.has(Construct::NarrowElements);
    let (n, o) = (m.open_size(), m.open_size());
    let ty = m.one(&["unsigned char", "signed char", "short", "unsigned short", "char", "_Bool"]);
    let other = m.one(&["unsigned char", "short", "int", "float"]);
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let count = format!("(long)({rows} + 2) * ({length} + 2)");
    let width = format!("((int)({}) + 2)", m.sizes[o].text);
    for (name, ty, seed) in [("p", ty, 3), ("q", other, 4)] {
        m.named(name);
        m.setup.push(format!("{ty} *{name}_data = keep(({count}) * sizeof *{name}_data);"));
        m.setup.push(format!(
            "for (long z = 0; z < {count}; z++)\n        {name}_data[z] = number({seed}, z) + 16;"
        ));
        m.shown.push(format!(
            "{{\n        struct check c = {{0}};\n        for (long z = 0; z < {count}; z++)\n            check(&c, {name}_data[z]);\n        show(\"{name}\", &c);\n    }}"
        ));
        m.parameter(2, name, format!("{ty} *{name}"), format!("{name}_data"));
    }
    m.plain_types = false;
    let form = m.between(0, 5);
    if form == 5 {
        m.returns = Some("int");
        m.locals.push(format!("{ty} sum = 0;"));
    }
    let order = m.order(2);
    let text = m.nest(&[n, o], &order, (0, 1), Manner::ANY, &mut |_, at| {
        let at = format!("{} * {width} + {}", crate::generate::bracketed(&at[0]), at[1]);
        match form {
            0 => format!("p[{at}] = p[{at}] + (int)q[{at}];\n"),
            1 => format!("p[{at}] += 100;\nq[{at}] = p[{at}] > 64 ? 3 : p[{at}] & 31;\n"),
            2 => format!("q[{at}] = (p[{at}] + 200) >> 1 & 63;\n"),
            3 => format!("p[{at}]++;\nif (p[{at}] == 20)\n    p[{at}] = 0;\n"),
            4 => format!("p[{at}] ^= (int)q[{at}] & 15;\n"),
            _ => format!("sum += (int)q[{at}] * 3;\n"),
        }
    });
    if form == 5 { text + "return sum;\n" } else { text }
}
