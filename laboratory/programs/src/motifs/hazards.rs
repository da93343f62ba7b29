//! What a hasty reader gets wrong: memory that is the same, bounds that change, arithmetic that wraps.

use super::parts::{READ, WRITTEN, read, shifted};
use crate::generate::{Construct, Element, Maker, Manner, Operand, PAD};

/// Pointers into the same memory, now and then apart.
pub(super) fn overlap(m: &mut Maker) -> String {
    m.has(Construct::Overlaps);
    let n_dims = m.between(1, 2);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let element = m.element();
    let wish = super::time::ELEMENTS;
    let mut operands: Vec<Operand> = Vec::new();
    while operands.len() < 2 {
        let operand = m.array(&dims, element, wish);
        // Pointers of the file cannot be replaced in a call.
        if operand.parameter.is_some() || operands.len() == 1 {
            operands.push(operand);
        }
    }
    let (to, from) = (operands[1].clone(), operands[0].clone());
    let order = m.order(n_dims);
    let text = m.nest(&dims, &order, (1, 1), Manner::ANY, &mut |m, at| {
        let reads = m.reads(std::slice::from_ref(&from), at, 1);
        let value = m.value(element, &reads[..reads.len().min(3)], at);
        m.assignment(&to.at(at), element, &value)
    });
    // The pointer that is read leads to or near the memory that is written; elements behind the end are not there, so
    // that it only moves as far as the block is larger than what is used.
    if let (Some(parameter), Some(memory)) = (&from.parameter, &to.memory) {
        if n_dims == 1 {
            // Rows may be longer there.
            m.calls.push(vec![(parameter.clone(), memory.clone())]);
        }
        let ty = element.c();
        let room = format!("room_{parameter}");
        let extents: Vec<String> =
            dims.iter().map(|d| format!("({} + {PAD} + 3)", m.sizes[*d].value)).collect();
        m.setup.push(format!(
            "{ty} *{room} = some_{}((long){} + 9, 77);",
            element.helper(),
            extents.join(" * ")
        ));
        m.shown.push(format!(
            "show_{}(\"{room}\", {room}, (long){} + 9);",
            element.helper(),
            extents.join(" * ")
        ));
        if let Some(other) = &to.parameter {
            for most in [3, 9] {
                let (by, far) = (m.between(0, most), m.between(0, 9));
                m.calls.push(vec![
                    (parameter.clone(), format!("{room} + {by}")),
                    (other.clone(), format!("{room} + {far}")),
                ]);
            }
        }
    }
    text
}

/// Bounds in memory that the loop itself stores to, or may.
pub(super) fn bounds_change(m: &mut Maker) -> String {
    m.has(Construct::ChangedBounds);
    let n = m.open_size();
    let value = m.sizes[n].value.clone();
    m.setup.push(format!("int *counts_data = keep(({value} + 2) * sizeof(int));"));
    m.setup.push(format!("for (int z = 0; z < {value} + 2; z++)\n        counts_data[z] = z % 3;"));
    m.setup.push(format!("counts_data[{value} / 2] = {value};"));
    m.shown.push(format!("show_i(\"counts\", counts_data, {value} + 2);"));
    match m.between(0, 5) {
        0 => {
            // The bound is one of the elements, and becomes smaller than it was.
            m.parameter(2, "limit", "int *limit".into(), format!("&counts_data[{value} / 2]"));
            m.parameter(2, "counts", "int *counts".into(), "counts_data".into());
            "for (int i = 0; i < *limit; i++)\n    counts[i] = i / 2;\n".into()
        }
        1 => {
            m.parameter(2, "counts", "int *counts".into(), "counts_data".into());
            let bound = m.integer("end", "int", &value);
            format!(
                "for (int i = 0; i < {bound}; i++) {{\n    counts[i] += i % 4;\n    if (counts[i] > 4)\n        {bound}--;\n}}\n"
            )
        }
        2 => {
            let bound = m.global("bound");
            m.before += &format!("static int {bound};\n");
            m.setup.push(format!("{bound} = {value};"));
            m.parameter(2, "counts", "int *counts".into(), "counts_data".into());
            format!(
                "for (int i = 0; i < {bound}; i++) {{\n    counts[i] *= 2;\n    if (i == 3)\n        {bound} = {bound} / 2;\n}}\n"
            )
        }
        3 => {
            let bound = m.member("int limit;", "limit", &value);
            let counts = m.member("int *counts;", "counts", "counts_data");
            let inner = if m.chance(50) {
                format!("    if ({counts}[i] == 2)\n        {bound}--;\n")
            } else {
                String::new()
            };
            format!("for (int i = 0; i < {bound}; i++) {{\n    {counts}[i] = {counts}[i] + 1;\n{inner}}}\n")
        }
        4 => {
            // A member's address among the pointers.
            let bound = m.member("int limit;", "limit", &value);
            m.parameter(2, "counts", "int *counts".into(), "counts_data".into());
            m.locals.push(format!("int *where = &{bound};"));
            format!(
                "for (int i = 0; i < {bound}; i++) {{\n    counts[i] -= 1;\n    *where = *where - i % 2;\n}}\n"
            )
        }
        _ => {
            // Elements tell how far the inner loops go, and change meanwhile.
            let size = m.sizes[n].text.clone();
            m.parameter(2, "counts", "int *counts".into(), "counts_data".into());
            format!(
                "for (int i = 0; i < {size}; i++)\n    for (int k = 0; k < counts[i] && k < 3; k++)\n        counts[k % 2 + i] = k + i % 2;\n"
            )
        }
    }
}

/// Unsigned numbers beyond their range, in values, conditions and indices.
pub(super) fn wrapping(m: &mut Maker) -> String {
    m.has(Construct::Wrapping);
    let n = m.open_size();
    let element = m.element();
    let a = m.array(&[n], Element::U32, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let size = m.sizes[n].text.clone();
    match m.between(0, 5) {
        0 => m.over(0, n, 1, Manner::ANY, |m, i| {
            let own = [i.to_owned()];
            let value = m.value(Element::U32, &[read(&a, &own), read(&b, &own)], &own);
            m.assignment(&a.at(&own), Element::U32, &value)
        }),
        1 => {
            // Wraps for the first, and the test sees it.
            let (before, own) = (b.at(&["i - 1u"]), b.at(&["i"]));
            format!(
                "for (unsigned i = 0; i < (unsigned)({size}); i++)\n    if (i - 1u < (unsigned)({size}) - 1u)\n        {own} = {before} / 2;\n"
            )
        }
        2 => {
            let at = |i: &str| a.at(&[i]);
            format!(
                "unsigned state = 12345u;\nfor (int i = 0; i < (int)({size}); i++) {{\n    state = state * 1664525u + 1013904223u;\n    \
                 {} = state >> 7;\n}}\n",
                at("i")
            )
        }
        3 => {
            let place = format!("(unsigned)i * 2654435761u % ((unsigned)({size}) + 2u)");
            format!("for (int i = 0; i < (int)({size}); i++)\n    {}++;\n", a.at(&[place]))
        }
        4 => format!(
            "for (unsigned i = (unsigned)({size}) - 1u; i < (unsigned)({size}); i--)\n    {} += i - 5u;\n",
            a.at(&["i"])
        ),
        _ => {
            let own = a.at(&["c"]);
            format!(
                "for (unsigned char c = 0; c < 250 && c < (unsigned)({size}); c++)\n    {own} = {own} - c * 2147483647u;\n"
            )
        }
    }
}

/// Two names for one memory: members of structures.
pub(super) fn same_memory(m: &mut Maker) -> String {
    m.has(Construct::AliasedMembers);
    let n = m.open_size();
    let value = m.sizes[n].value.clone();
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    m.setup.push(format!("{ty} *both_data = some_{helper}({value} + 6, 31);"));
    m.shown.push(format!("show_{helper}(\"both\", both_data, {value} + 6);"));
    let by = m.between(0, 3);
    let x = m.member(&format!("{ty} *x;"), "x", "both_data");
    let y = m.member(&format!("{ty} *y;"), "y", &format!("both_data + {by} * (kind % 2)"));
    m.has(Construct::MemberPointers);
    let reads = |m: &mut Maker, i: &str| {
        let near = shifted(i, 1);
        let of = |name: &str, at: &str| crate::generate::Read { text: format!("{name}[{at}]"), element };
        let reads = [of(&y, i), of(&y, &near), of(&x, i)];
        m.value(element, &reads, &[])
    };
    let text = m.over(0, n, 1, Manner::ANY, |m, i| {
        let value = reads(m, i);
        m.assignment(&format!("{x}[{i}]"), element, &value)
    });
    let back = m.over(0, n, 0, Manner::ANY, |m, i| {
        let value = reads(m, i);
        m.assignment(&format!("{y}[{i} + 1]"), element, &value)
    });
    if m.chance(50) { text + &back } else { text }
}

/// Rows whose pointers the function changes, or that are the same row.
pub(super) fn rows_change(m: &mut Maker) -> String {
    m.has(Construct::ChangedRows);
    m.has(Construct::Rows);
    let (n, o) = (m.open_size(), m.size());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    for (name, seed, kinds) in [("u", 5, 5), ("v", 6, 4)] {
        m.setup.push(format!(
            "{ty} **{name}_data = rows_{helper}({rows} + {PAD}, {length} + {PAD}, (kind + 1) % {kinds}, {seed});"
        ));
        m.shown
            .push(format!("show_rows_{helper}(\"{name}\", {name}_data, {rows} + {PAD}, {length} + {PAD});"));
        m.parameter(2, name, format!("{ty} **{name}"), format!("{name}_data"));
    }
    let form = m.between(0, 3);
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let inner = m.over(0, o, 1, Manner::ANY, |m, j| {
            let read = |name: &str| crate::generate::Read { text: format!("{name}[{i}][{j}]"), element };
            let value = m.value(element, &[read("u"), read("v")], &[]);
            format!("u[{i}][{j}] = {value};\n")
        });
        match form {
            0 => format!("{inner}{ty} *row = u[{i}];\nu[{i}] = v[{i}];\nv[{i}] = row;\n"),
            1 => format!("{ty} *row = u[{i} + 1];\nu[{i} + 1] = u[{i}];\n{inner}u[{i} + 1] = row;\n"),
            2 => format!("{inner}v[{i}] = u[{i} / 2];\n"),
            _ => inner,
        }
    })
}

/// Offsets from where a window begins, as in codes with ranges of their own.
pub(super) fn guarded_offsets(m: &mut Maker) -> String {
    m.has(Construct::NegativeOffsets);
    m.has(Construct::Guards);
    let n = m.open_size();
    let o = m.size();
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let b = m.array(&[n, o], element, READ);
    let (size, width) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let first = m.integer("first", "int", "3 - t");
    let reach = m.integer("reach", "int", "t + 1");
    match m.between(0, 1) {
        0 => format!(
            "for (int i = {first}; i < (int)({size}) + {first}; i++)\n    for (int by = -{reach}; by <= {reach}; by++)\n        \
             if (i + by >= {first} && i + by < (int)({size}) + {first})\n            for (int j = 0; j < {width}; j++)\n                \
             {} += 0.25 * {};\n",
            a.at(&[&format!("i - {first}"), "j"]),
            b.at(&[&format!("i + by - {first}"), "j"])
        ),
        _ => format!(
            "for (int i = {first}; i < (int)({size}) + {first}; i++) {{\n    int own = i - {first};\n    if (own < {reach} || own >= (int)({size}) - {reach})\n        \
             continue;\n    for (int j = 0; j < {width}; j++)\n        {} = 0.5 * {} + 0.25 * {};\n}}\n",
            a.at(&["own", "j"]),
            b.at(&[&format!("own - {reach}"), "j"]),
            b.at(&[&format!("own + {reach}"), "j"])
        ),
    }
}
