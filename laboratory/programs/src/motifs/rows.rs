//! Rows behind pointers, and arrays whose rows lie in unexpected ways.

use super::parts::{READ, WRITTEN, shifted};
use crate::generate::{Construct, Element, Maker, Manner, Read, as_small, indented};

/// Rows of pointers that a motif makes by itself.
struct Rows {
    name: String,
    element: Element,
}

impl Rows {
    /// A parameter with `(n + 2)` rows of `(o + 2)` elements, which the caller shows; rows may be shared.
    fn new(m: &mut Maker, element: Element, n: usize, o: usize) -> Self {
        let name = Self::made(m, element, n, o);
        m.parameter(2, &name, format!("{} **{name}", element.c()), format!("{name}_data"));
        Self { name, element }
    }

    /// The same as a member of a structure.
    fn in_structure(m: &mut Maker, element: Element, n: usize, o: usize) -> Self {
        m.has(Construct::Structures);
        m.has(Construct::MemberPointers);
        let name = Self::made(m, element, n, o);
        let tag = m.global(&format!("struct {name}_table"));
        m.before += &format!("{tag} {{ int n; {} **rows; }};\n", element.c());
        m.setup.push(format!("{tag} {name}_table = {{1, {name}_data}};"));
        m.parameter(1, &name, format!("{tag} *{name}"), format!("&{name}_table"));
        Self { name: format!("{name}->rows"), element }
    }

    /// Rows under a name, with `_data` behind it.
    fn made(m: &mut Maker, element: Element, n: usize, o: usize) -> String {
        m.has(Construct::Rows);
        let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
        let (ty, helper) = (element.c(), element.helper());
        let name = m.name();
        let (shift, seed) = (m.between(0, 4), m.between(1, 999));
        m.setup.push(format!(
            "{ty} **{name}_data = rows_{helper}({rows} + 2, {length} + 2, (kind + {shift}) % 5, {seed});"
        ));
        m.shown.push(format!("show_rows_{helper}(\"{name}\", {name}_data, {rows} + 2, {length} + 2);"));
        name
    }

    fn read(&self, i: &str, j: &str) -> Read {
        Read { text: format!("{}[{i}][{j}]", self.name), element: self.element }
    }
}

fn element_of(row: &str, j: &str, element: Element) -> Read {
    Read { text: format!("{row}[{j}]"), element }
}

/// Rows that have names of their own inside the loop.
pub(super) fn local(m: &mut Maker) -> String {
    m.has(Construct::LocalRows);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let ty = element.c();
    let (u, v) = (Rows::new(m, element, n, o), Rows::new(m, element, n, o));
    let (by, form) = (m.between(0, 2) as i64 - 1, m.between(0, 3));
    m.over(1, n, 1, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let near = shifted(&i, by);
        let from = if form == 1 { &u.name } else { &v.name };
        let inner = m.over(0, o, 1, Manner::ANY, |m, j| {
            let next = shifted(j, 1);
            let reads = [element_of("up", j, element), element_of("row", &next, element)];
            let value = m.value(element, &reads, &[]);
            m.assignment(&format!("row[{j}]"), element, &value)
        });
        let constness = m.one(&["", "const "]);
        let declared = match form {
            2 => format!("{ty} *row, *up;\nrow = {0}[{i}], up = {from}[{near}];\n", u.name),
            3 => format!("{ty} *row = &{0}[{i}][0], *up = {from}[{near}] + 0;\n", u.name),
            _ => format!("{ty} *row = {0}[{i}];\n{constness}{ty} *up = {from}[{near}];\n", u.name),
        };
        declared + &inner
    })
}

/// Rows that are as long as they must be.
pub(super) fn ragged(m: &mut Maker) -> String {
    m.has(Construct::RaggedRows);
    m.has(Construct::Rows);
    let n = m.size();
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let rows = m.sizes[n].value.clone();
    let triangle = m.chance(50);
    let length = if triangle { "z + 1" } else { "lengths_data[z]" };
    m.setup.push(format!("int *lengths_data = keep({rows} * sizeof(int));"));
    m.setup.push(format!("for (int z = 0; z < {rows}; z++)\n        lengths_data[z] = z * 3 % 5;"));
    let together = m.chance(40);
    for (name, seed) in [("low", 3), ("other", 4)] {
        m.setup.push(format!("{ty} **{name}_data = keep({rows} * sizeof *{name}_data);"));
        let row = if together {
            m.setup.push(format!("long {name}_at = 0;\n    {ty} *{name}_all = some_{helper}((long){rows} * ({rows} + 5), {seed});"));
            format!("{name}_all + {name}_at, {name}_at += {length}")
        } else {
            format!("some_{helper}({length}, {seed} + z)")
        };
        m.setup.push(format!("for (int z = 0; z < {rows}; z++)\n        {name}_data[z] = {row};"));
        m.shown.push(format!(
            "{{\n        struct check c = {{0}};\n        for (int z = 0; z < {rows}; z++)\n            \
             add_{helper}(&c, {name}_data[z], {length});\n        show(\"{name}\", &c);\n    }}"
        ));
        m.parameter(2, name, format!("{ty} **{name}"), format!("{name}_data"));
    }
    if !triangle {
        m.parameter(2, "lengths", "const int *lengths".into(), "lengths_data".into());
    }
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let high = if triangle { format!("{i} + 1") } else { format!("lengths[{i}]") };
        m.counting("0", &high, true, Manner::ANY, |m, j| {
            let reads = [
                element_of(&format!("low[{i}]"), j, element),
                element_of(&format!("other[{i}]"), j, element),
            ];
            let value = m.value(element, &reads, &[]);
            m.assignment(&format!("low[{i}][{j}]"), element, &value)
        })
    })
}

/// Time steps after which arrays of rows, or single rows, change places.
pub(super) fn swapped(m: &mut Maker) -> String {
    m.has(Construct::SwappedRows);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let ty = element.c();
    let (u, v) = (Rows::new(m, element, n, o), Rows::new(m, element, n, o));
    let steps = m.integer("steps", "int", "t + 1");
    let order = m.order(2);
    let body = m.nest(&[n, o], &order, (1, 1), Manner::EVERY, &mut |m, at| {
        let mut reads = vec![u.read(&at[0], &at[1])];
        for by in [-1, 1] {
            reads.push(u.read(&shifted(&at[0], by), &at[1]));
            reads.push(u.read(&at[0], &shifted(&at[1], by)));
        }
        let value = m.value(element, &reads, &[]);
        format!("{} = {value};\n", v.read(&at[0], &at[1]).text)
    });
    let (x, y) = (&u.name, &v.name);
    let swap = match m.between(0, 2) {
        0 => format!("{ty} **old = {x};\n{x} = {y};\n{y} = old;\n"),
        1 => format!("{ty} *old = {x}[1];\n{x}[1] = {y}[1];\n{y}[1] = old;\n"),
        _ => m.over(0, n, 1, Manner::ANY, |_, i| {
            format!("{ty} *old = {x}[{i}];\n{x}[{i}] = {y}[{i}];\n{y}[{i}] = old;\n")
        }),
    };
    format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&(body + &swap)))
}

/// Rows and elements that are counted from 1; what stands before them is no row at all.
pub(super) fn from_one(m: &mut Maker) -> String {
    m.has(Construct::OneBased);
    m.has(Construct::Rows);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    for (name, seed, nothing) in [("a", 5, "0"), ("b", 6, "(void *)8")] {
        m.setup.push(format!(
            "{ty} **{name}_rows = rows_{helper}({rows}, {length} + 1, (kind + 1) % 4, {seed}), **{name}_data = keep(({rows} + 1) * sizeof *{name}_data);"
        ));
        m.setup.push(format!(
            "{name}_data[0] = {nothing};\n    for (int z = 0; z < {rows}; z++)\n        {name}_data[z + 1] = {name}_rows[z];"
        ));
        m.shown.push(format!("show_rows_{helper}(\"{name}\", {name}_rows, {rows}, {length} + 1);"));
        m.parameter(2, name, format!("{ty} **{name}"), format!("{name}_data"));
    }
    let order = m.order(2);
    let before = m.chance(40);
    m.nest(&[n, o], &order, (1, 1), Manner::ANY, &mut |m, at| {
        let [i, j] = at else { unreachable!("two sizes") };
        let left = shifted(j, if before { -1 } else { 0 });
        let reads = [
            Read { text: format!("b[{i}][{left}]"), element },
            Read { text: format!("a[{i}][{j}]"), element },
        ];
        let value = m.value(element, &reads, &[]);
        m.assignment(&format!("a[{i}][{j}]"), element, &value)
    })
}

/// Rows that an array chooses.
pub(super) fn chosen(m: &mut Maker) -> String {
    m.has(Construct::ChosenRows);
    let (n, o) = (m.open_size(), m.size());
    let element = m.element();
    let rows = |m: &mut Maker| match m.chance(30) {
        true => Rows::in_structure(m, element, n, o),
        false => Rows::new(m, element, n, o),
    };
    let (u, v) = (rows(m), rows(m));
    let place = m.places(n, n);
    let (writes, order, condition) = (m.chance(50), m.order(2), m.between(0, 3));
    m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |m, at| {
        let there = place.at(&at[..1]);
        let (near, far) = (u.read(&at[0], &at[1]), v.read(&there, &at[1]));
        let value = m.value(element, &[near.clone(), far.clone()], &[]);
        let done = m.assignment(if writes { &far.text } else { &near.text }, element, &value);
        // Whether a row is used at all is for memory to say.
        match condition {
            0 => format!("if ({there} % 3 == 1) {{\n{}}}\n", indented(&done)),
            1 => format!("if ({there} >= {0} && {0} > 1) {{\n{1}}}\n", at[0], indented(&done)),
            _ => done,
        }
    })
}

/// Structures in a row, each with an array of its own and the size of that.
pub(super) fn layers(m: &mut Maker) -> String {
    m.has(Construct::Layers);
    m.has(Construct::Structures);
    m.has(Construct::ArraysOfStructures);
    m.has(Construct::MemberPointers);
    m.has(Construct::MemberBounds);
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let tag = m.global("struct layer");
    m.before += &format!("{tag} {{ int n, m; {ty} *w, *b; int kind; }};\n");
    // The second has the arrays of the first, now and then; the last has none.
    m.setup.push(format!("{tag} layers_data[4] = {{{{0}}}};"));
    m.setup.push(format!(
        "for (int z = 0; z < 3; z++) {{\n        layers_data[z].n = z == 1 ? n : m, layers_data[z].m = z == 2 ? 3 : m;\n        \
         layers_data[z].kind = z % 2;\n        layers_data[z].w = some_{helper}((long)layers_data[z].n * layers_data[z].m, z + 3);\n        \
         layers_data[z].b = some_{helper}(layers_data[z].n, z + 5);\n    }}\n    \
         if (kind == 2)\n        layers_data[2].b = layers_data[0].b;\n    if (kind == 3 && m > 0)\n        layers_data[0].b = layers_data[0].w;"
    ));
    m.shown.push(format!(
        "for (int z = 0; z < 3; z++) {{\n        show_{helper}(\"w\", layers_data[z].w, (long)layers_data[z].n * layers_data[z].m);\n        \
         show_{helper}(\"b\", layers_data[z].b, layers_data[z].n);\n    }}"
    ));
    m.parameter(1, "layers", format!("{tag} *layers"), "layers_data".into());
    let form = m.between(0, 2);
    let (of, declared) = match m.between(0, 2) {
        0 => ("layers[l].", String::new()),
        1 => ("layer->", format!("{tag} *layer = &layers[l];\n")),
        _ => ("layer->", format!("{tag} *layer = layers + l;\n")),
    };
    let inner = m.counting("0", &format!("{of}n"), false, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let inner = m.counting("0", &format!("{of}m"), false, Manner::ANY, |m, j| {
            let w = Read { text: format!("{of}w[{i} * {of}m + {j}]"), element };
            let b = Read { text: format!("{of}b[{i}]"), element };
            let value = m.value(element, &[w.clone(), b.clone()], &[]);
            match form {
                0 => format!("{} = {value};\n", w.text),
                1 => format!("{} += {value};\n", b.text),
                _ => format!("{} -= {value};\nif ({} > 9)\n    {of}kind++;\n", w.text, as_small(&b)),
            }
        });
        format!("{inner}{of}b[{i}] *= 0.5;\n")
    });
    let test = m.one(&["if (layers[l].kind == 1)\n    continue;\n", ""]);
    format!("for (int l = 0; l < 4; l++) {{\n{}}}\n", indented(&(test.to_owned() + &declared + &inner)))
}

/// Rows so near to each other that they share elements.
pub(super) fn near(m: &mut Maker) -> String {
    m.has(Construct::SmallStrides);
    m.has(Construct::Flat);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let kind = m.one(&["int", "int", "long", "size_t", "unsigned", "const int"]);
    let count = format!("(long)({rows} + 2) * ({length} + 6)");
    let c = m.named("c");
    m.setup.push(format!("{ty} *c_data = some_{helper}({count}, 9);"));
    m.shown.push(format!("show_{helper}(\"c\", c_data, {count});"));
    m.parameter(2, &c, format!("{ty} *c"), "c_data".into());
    let ld = m.integer("ld", kind, &format!("{length} + 2"));
    let x = m.array(&[o], element, READ);
    // Negative ones lead back from the last row.
    let smaller = [length.clone(), format!("{length} > 1 ? {length} - 1 : 1"), "1".into(), "0".into()];
    let plain = kind.trim_start_matches("const ");
    for small in &smaller {
        if m.chance(60) {
            m.calls.push(vec![(ld.clone(), format!("({plain})({small})"))]);
        }
    }
    let back = matches!(plain, "int" | "long") && m.chance(60);
    if back {
        m.calls.push(vec![
            (ld.clone(), format!("-({length} + 1)")),
            ("c".to_owned(), format!("c_data + (long){rows} * ({length} + 1)")),
        ]);
        m.calls.push(vec![(ld.clone(), "-1".into()), ("c".to_owned(), format!("c_data + {rows}"))]);
    }
    let columns = m.chance(30);
    let order = m.order(2);
    let text = m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |m, at| {
        // Unsigned counters would make large numbers of negative ones.
        let signed = |text: &String| {
            let text = crate::generate::bracketed(text);
            if back { format!("(int){text}") } else { text }
        };
        let (i, j) = (signed(&at[0]), signed(&at[1]));
        let target = if columns { format!("c[{j} + {ld} * {i}]") } else { format!("c[{i} * {ld} + {j}]") };
        let reads = [Read { text: target.clone(), element }, Read { text: x.at(&at[1..]), element }];
        let value = m.value(element, &reads, &at[..1]);
        m.assignment(&target, element, &value)
    });
    if m.chance(40) {
        let again = m.over(0, n, 0, Manner::ANY, |_, i| format!("c[(int)({i}) * (int){ld}] += 1;\n"));
        return text + &again;
    }
    text
}

/// Vectors whose elements are apart, the same, or backwards.
pub(super) fn spaced(m: &mut Maker) -> String {
    m.has(Construct::VectorSteps);
    m.has(Construct::Companions);
    let n = m.open_size();
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let value = m.sizes[n].value.clone();
    for (name, seed) in [("x", 2), ("y", 3)] {
        m.setup.push(format!("{ty} *{name}_data = some_{helper}(3 * (long){value} + 4, {seed});"));
        m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, 3 * (long){value} + 4);"));
        m.parameter(2, name, format!("{ty} *{name}"), format!("{name}_data"));
        m.parameter(0, &format!("inc{name}"), format!("int inc{name}"), "t".into());
    }
    for (incx, incy) in [("1", "1"), ("2", "-1"), ("-3", "2"), ("1", "0"), ("0", "3")] {
        if m.chance(60) {
            let same = if m.chance(40) { "y_data + 1" } else { "x_data" };
            m.calls.push(vec![
                ("incx".into(), incx.into()),
                ("incy".into(), incy.into()),
                ("x".into(), same.into()),
            ]);
        }
    }
    let size = m.sizes[n].text.clone();
    let start = |of: &str| format!("{of} < 0 ? (1 - (int)({size})) * {of} : 0");
    let (x, y) = (start("incx"), start("incy"));
    let form = m.between(0, 3);
    let product = |m: &mut Maker, x: &str, y: &str| {
        let reads = [Read { text: x.to_owned(), element }, Read { text: y.to_owned(), element }];
        let value = m.value(element, &reads, &[]);
        m.assignment(y, element, &value)
    };
    match form {
        0 => {
            let store = product(m, "x[ix]", "y[iy]");
            format!(
                "int ix = {x}, iy = {y};\nfor (int i = 0; i < (int)({size}); i++) {{\n{}    ix += incx;\n    iy += incy;\n}}\n",
                indented(&store)
            )
        }
        1 => {
            let store = product(m, "x[ix]", "y[iy]");
            format!(
                "for (int i = 0, ix = {x}, iy = {y}; i < (int)({size}); i++, ix += incx, iy += incy)\n{}",
                indented(&store)
            )
        }
        2 => {
            let store = product(m, "x[i * incx]", "y[i * incy]");
            format!(
                "if (incx < 0 || incy < 0)\n    return;\nfor (int i = 0; i < (int)({size}); i++)\n{}",
                indented(&store)
            )
        }
        _ => {
            let store = product(m, "*from", "*to");
            format!(
                "if ((int)({size}) < 1)\n    return;\n{ty} *from = x + ({x}), *to = y + ({y});\nfor (int i = 0; i < (int)({size}) - 1; i++, from += incx, to += incy)\n{}",
                indented(&store)
            )
        }
    }
}

/// Arrays that have as many elements as there are, none if there are none, and pointers that are null then.
pub(super) fn tight(m: &mut Maker) -> String {
    m.has(Construct::Tight);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let width = m.sizes[o].text.clone();
    m.plain_types = false;
    let form = loop {
        let form = m.between(0, 4);
        if form != 1 || m.is_open(o) {
            break form;
        }
    };
    let nothing = if form != 1 && m.chance(50) {
        m.has(Construct::Optional);
        format!("{rows} == 0 || {length} == 0 ? 0 : ")
    } else {
        String::new()
    };
    let at: fn(&str, &str, &str) -> String = match form {
        0 => |i, j, width| format!("a[{} * {width} + {j}]", crate::generate::bracketed(i)),
        4 => |i, _, _| format!("a[{i}]"),
        _ => |i, j, _| format!("a[{i}][{j}]"),
    };
    match form {
        0 | 1 | 4 => {
            let count = if form == 4 { rows.clone() } else { format!("(long){rows} * {length}") };
            m.setup.push(format!("{ty} *a_data = {nothing}some_{helper}({count}, 21);"));
            let guard = if nothing.is_empty() { "" } else { "if (a_data)\n        " };
            m.shown.push(format!("{guard}show_{helper}(\"a\", a_data, {count});"));
            let (declaration, argument) = match form {
                1 => (format!("{ty} (*a)[{width}]"), "(void *)a_data".to_owned()),
                _ => (format!("{ty} *a"), "a_data".to_owned()),
            };
            // An extent of nothing would be undefined.
            if form == 1 {
                m.setup.push(format!("if ({length} == 0)\n        return;"));
            }
            m.parameter(2, "a", declaration, argument);
        }
        _ => {
            m.has(Construct::Rows);
            m.setup.push(format!(
                "{ty} **a_data = {nothing}rows_{helper}({rows}, {length}, (kind + {}) % 4, 22);",
                form
            ));
            let guard = if nothing.is_empty() { "" } else { "if (a_data)\n        " };
            m.shown.push(format!("{guard}show_rows_{helper}(\"a\", a_data, {rows}, {length});"));
            m.parameter(2, "a", format!("{ty} **a"), "a_data".into());
        }
    }
    m.setup.push(format!("{ty} *b_data = {nothing}some_{helper}({length}, 23);"));
    m.parameter(2, "b", format!("const {ty} *b"), "b_data".into());
    let order = m.order(2);
    m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |m, index| {
        let target = at(&index[0], &index[1], &width);
        let reads =
            [Read { text: target.clone(), element }, Read { text: format!("b[{}]", index[1]), element }];
        let value = m.value(element, &reads, &[]);
        m.assignment(&target, element, &value)
    })
}

/// Arrays that are there only if something says so.
pub(super) fn optional(m: &mut Maker) -> String {
    m.has(Construct::Optional);
    m.has(Construct::Guards);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    // No array gets these.
    for name in ["bias", "most", "o", "rows", "use"] {
        m.named(name);
    }
    let y = m.array(&[n, o], element, WRITTEN);
    let (size, width) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let form = m.between(0, 4);
    let there = m.one(&["kind % 2", "t > 1", "n > 1", "m > 2 && n > 1"]);
    match form {
        0 | 1 => {
            m.setup.push(format!("{ty} *bias_data = ({there}) ? some_{helper}({length}, 3) : 0;"));
            m.parameter(2, "bias", format!("const {ty} *bias"), "bias_data".into());
            let test = m.one(&["bias", "bias != NULL", "bias != 0"]);
            let add = |at: &str, j: &str| format!("{at} += 0.5 * bias[{j}];\n");
            if form == 0 {
                let order = m.order(2);
                m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |_, at| {
                    format!("if ({test})\n    {}", add(&y.at(at), &at[1]))
                })
            } else {
                let inner =
                    m.nest(&[n, o], &[0, 1], (0, 0), Manner::ANY, &mut |_, at| add(&y.at(at), &at[1]));
                format!("if ({test}) {{\n{}}}\n", indented(&inner))
            }
        }
        2 => {
            // How far the inner loop goes is only there if the outer one runs.
            m.setup.push(format!("int *most_data = {rows} > 0 ? keep(sizeof(int)) : 0;"));
            m.setup.push(format!("if (most_data)\n        *most_data = {length};"));
            m.parameter(2, "most", "const int *most".into(), "most_data".into());
            let at = y.at(&["i", "j"]);
            format!(
                "for (int i = 0; i < (int)({size}); i++)\n    for (int j = 0; j < *most; j++)\n        {at} = 0.5 * {at} + j;\n"
            )
        }
        3 => {
            let tag = m.global("struct option");
            m.before += &format!("{tag} {{ int n; {ty} scale, *v; }};\n");
            m.setup.push(format!(
                "{tag} here = {{{length}, 0.5, some_{helper}({length}, 6)}}, *given = {rows} > 0 && ({there}) ? &here : 0;"
            ));
            m.parameter(2, "o", format!("{tag} *o"), "given".into());
            m.parameter(2, "use", "int use".into(), format!("{rows} > 0 && ({there})"));
            let at = y.at(&["i", "j"]);
            format!(
                "for (int i = 0; i < (int)({size}); i++) {{\n    if (use)\n        for (int j = 0; j < o->n; j++)\n            {at} += o->scale * o->v[j];\n    {} *= 0.5;\n}}\n",
                y.at(&["i", "0"])
            )
        }
        _ => {
            // Rows of which some are missing.
            m.has(Construct::Rows);
            m.setup.push(format!("{ty} **rows_data = keep({rows} * sizeof *rows_data);"));
            m.setup.push(format!(
                "for (int z = 0; z < {rows}; z++)\n        rows_data[z] = (z + kind) % 3 ? some_{helper}({length}, z) : 0;"
            ));
            m.parameter(2, "rows", format!("{ty} **rows"), "rows_data".into());
            let at = y.at(&["i", "j"]);
            format!(
                "for (int i = 0; i < (int)({size}); i++) {{\n    if (!rows[i])\n        continue;\n    for (int j = 0; j < (int)({width}); j++) {{\n        \
                 {at} += 0.25 * rows[i][j];\n        rows[i][j] *= 0.5;\n    }}\n}}\n"
            )
        }
    }
}

/// Rows of structures that hold numbers of one type.
pub(super) fn of_structures(m: &mut Maker) -> String {
    m.has(Construct::RowsOfStructures);
    m.has(Construct::Structures);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let (ty, helper, name) = (element.c(), element.helper(), m.name());
    let (shift, seed) = (m.between(0, 4), m.between(1, 999));
    let tag = m.global(&format!("struct {name}_cell"));
    m.before += &format!("{tag} {{ {ty} a; struct {{ {ty} b; }} in; {ty} c[2]; }};\n");
    m.setup.push(format!(
        "{ty} **{name}_numbers = rows_{helper}({rows} + 2, 4 * ({length} + 2), (kind + {shift}) % 5, {seed});"
    ));
    m.setup.push(format!("{tag} **{name}_data = keep(({rows} + 2) * sizeof *{name}_data);"));
    m.setup.push(format!(
        "for (int z = 0; z < {rows} + 2; z++)\n        {name}_data[z] = ({tag} *){name}_numbers[z];"
    ));
    m.shown.push(format!("show_rows_{helper}(\"{name}\", {name}_numbers, {rows} + 2, 4 * ({length} + 2));"));
    let table = if m.chance(40) {
        m.has(Construct::MemberPointers);
        let grid = m.global(&format!("struct {name}_grid"));
        m.before += &format!("{grid} {{ int n; {tag} **cells; }};\n");
        m.setup.push(format!("{grid} {name}_grid = {{1, {name}_data}};"));
        m.parameter(1, &name, format!("{grid} *{name}"), format!("&{name}_grid"));
        format!("{name}->cells")
    } else {
        m.parameter(2, &name, format!("{tag} **{name}"), format!("{name}_data"));
        name
    };
    let form = m.between(0, 3);
    let order = m.order(2);
    m.nest(&[n, o], &order, (1, 1), Manner::EVERY, &mut |m, at| {
        let own = format!("{table}[{}][{}]", at[0], at[1]);
        let before = format!("{table}[{}][{}]", shifted(&at[0], -1), at[1]);
        let beside = format!("{table}[{}][{}]", at[0], shifted(&at[1], 1));
        let of = |text: String| Read { text, element };
        let set = |m: &mut Maker, target: String, reads: &[Read]| {
            let value = m.value(element, reads, &[]);
            m.assignment(&target, element, &value)
        };
        match form {
            0 => set(m, format!("{own}.a"), &[of(format!("{before}.in.b")), of(format!("{beside}.c[1]"))]),
            1 => {
                let first = set(m, format!("{own}.in.b"), &[of(format!("{beside}.a"))]);
                let second =
                    set(m, format!("{own}.c[0]"), &[of(format!("{own}.in.b")), of(format!("{before}.c[1]"))]);
                format!("{{\n{}}}\n", indented(&(first + &second)))
            }
            2 => {
                let inner = set(m, format!("{own}.c[p]"), &[of(format!("{before}.c[1 - p]"))]);
                format!("for (int p = 0; p < 2; p++)\n{}", indented(&inner))
            }
            _ => format!("{own} = {beside};\n"),
        }
    })
}
