//! Scalars behind pointers, members and index arrays that may be elements of what the loops store to.

use super::parts::{READ, read};
use crate::generate::{Construct, Maker, Manner, Read, as_small, indented};

/// Scalars behind pointers, as in languages that pass everything by reference; calls put them into the arrays.
pub(super) fn behind_pointers(m: &mut Maker) -> String {
    m.has(Construct::ScalarPointers);
    m.has(Construct::Overlaps);
    let n = m.open_size();
    let element = m.element();
    let (ty, helper) = (element.c(), element.helper());
    let a = m.array(&[n], element, super::time::ELEMENTS);
    let b = m.array(&[n], element, super::time::ELEMENTS);
    let scalar = m.named("alpha");
    m.setup.push(format!("{ty} {scalar}_value = 2;"));
    m.shown.push(format!("show_{helper}(\"{scalar}\", &{scalar}_value, 1);"));
    m.parameter(2, &scalar, format!("{ty} *{scalar}"), format!("&{scalar}_value"));
    for operand in [&a, &b] {
        if let Some(memory) = &operand.memory {
            let place = m.one(&["0", "1", &m.sizes[n].value.clone()]).to_owned();
            m.calls.push(vec![(scalar.clone(), format!("&{memory}[{place}]"))]);
        }
    }
    let form = m.between(0, 5);
    let own = Read { text: format!("*{scalar}"), element };
    let range = m.between(0, 1) as i64;
    m.over(0, n, range, Manner::ANY, |m, i| {
        let at = [i.to_owned()];
        let (x, y) = (read(&a, &at), read(&b, &at));
        match form {
            0 => {
                let value = m.value(element, &[x], &[]);
                m.assignment(&own.text, element, &value)
            }
            1 => {
                let value = m.value(element, &[own.clone(), y], &[]);
                m.assignment(&x.text, element, &value)
            }
            2 => format!("if ({} > {})\n    {} = {};\n", x.text, own.text, own.text, x.text),
            3 => {
                let value = m.value(element, &[own.clone(), x], &[]);
                format!("{} = {value};\n{} = {};\n", y.text, own.text, y.text)
            }
            4 => {
                let value = m.value(element, &[own.clone(), x], &[]);
                format!("{} = {value};\nif ({} > 3)\n    {} += 1;\n", y.text, as_small(&y), own.text)
            }
            _ => {
                // A private scalar, were it not somewhere else.
                let value = m.value(element, &[x.clone(), y], &[]);
                format!("{} = {value};\n{} = {} + 1;\n", own.text, x.text, own.text)
            }
        }
    })
}

/// A count behind a pointer, which says where the next element goes.
pub(super) fn counted(m: &mut Maker) -> String {
    m.has(Construct::ScalarPointers);
    m.has(Construct::Companions);
    let n = m.open_size();
    let value = m.sizes[n].value.clone();
    let w = m.array(&[n], crate::generate::Element::I32, READ);
    m.setup.push(format!("int *list_data = some_i({value} + 3, 6), found_value = 0;"));
    m.shown.push(format!(
        "show_i(\"list\", list_data, {value} + 3);\n    printf(\"found %d\\n\", found_value);"
    ));
    m.parameter(2, "list", "int *list".into(), "list_data".into());
    let own = w.at(&["i"]);
    let size = format!("(int)({})", m.sizes[n].text);
    let found = match m.between(0, 2) {
        0 => {
            m.parameter(2, "found", "int *found".into(), "&found_value".into());
            "(*found)".to_owned()
        }
        1 => {
            let name = m.global("found");
            m.before += &format!("static int {name};\n");
            m.setup.push(format!("{name} = 0;"));
            m.shown.push(format!("printf(\"{name} %d\\n\", {name});"));
            name
        }
        _ => m.member_array("int found;", "found", |own| {
            (format!("{own} = 0;"), format!("printf(\"found %d\\n\", {own});"))
        }),
    };
    match m.between(0, 3) {
        0 => format!("for (int i = 0; i < {size}; i++)\n    if ({own} > 0)\n        list[{found}++] = i;\n"),
        1 => format!("{found} = 0;\nfor (int i = 0; i < {size}; i++) {{\n    list[{found}] = {own} % 9;\n    {found} += 1;\n}}\n"),
        2 => format!("{found} = 0;\nfor (int i = 0; i < {size}; i++) {{\n    list[i] = {found};\n    {found} += {own} & 3;\n}}\n"),
        _ => format!(
            "{found} = {size};\nfor (int i = 0; i < {found}; i++)\n    list[i] += 2;\nwhile ({found} > 0) {{\n    {found}--;\n    list[{found}] -= {own};\n}}\n"
        )
        .replace(&own, &w.at(&["0"])),
    }
}

/// Members that pointers lead to: a bound, a factor, an array inside the structure.
pub(super) fn own_members(m: &mut Maker) -> String {
    m.has(Construct::AliasedMembers);
    m.has(Construct::Structures);
    m.has(Construct::MemberBounds);
    let element = m.float();
    let ty = element.c();
    let tag = m.global("struct self");
    m.before += &format!("{tag} {{ int n, first[4]; {ty} scale, w[8]; int *ints; {ty} *reals; }};\n");
    let (ints, reals) = (
        m.one(&["&self.n", "self.first", "self.first + 1", "ints_data"]),
        m.one(&["&self.scale", "self.w", "self.w + 2", "reals_data"]),
    );
    let helper = element.helper();
    m.setup.push("int *ints_data = some_i(8, 4);".into());
    m.setup.push(format!("{ty} *reals_data = some_{helper}(8, 5);"));
    m.setup.push(format!("{tag} self = {{m % 5, {{1, 2, 0, 3}}, 0.5, {{1, 2, 3, 4, 5, 6, 7, 8}}}};"));
    m.setup.push(format!("self.ints = {ints};\n    self.reals = {reals};"));
    m.shown.push(format!(
        "printf(\"self %d\\n\", self.n);\n    show_i(\"first\", self.first, 4);\n    show_{helper}(\"scale\", &self.scale, 1);\n    \
         show_{helper}(\"w\", self.w, 8);\n    show_i(\"ints\", ints_data, 8);\n    show_{helper}(\"reals\", reals_data, 8);"
    ));
    m.parameter(2, "self", format!("{tag} *self"), "&self".into());
    let (p, q) = if m.chance(40) {
        m.parameter(2, "p", "int *p".into(), ints.to_owned());
        m.parameter(2, "q", format!("{ty} *q"), reals.to_owned());
        ("p".to_owned(), "q".to_owned())
    } else {
        ("self->ints".to_owned(), "self->reals".to_owned())
    };
    // Where a single member is behind the pointer, only that is touched.
    let of = |single: bool, index: &str| if single { "0".to_owned() } else { index.to_owned() };
    let (i, j) = (of(ints == "&self.n", "i % 3"), of(reals == "&self.scale", "i % 6"));
    match m.between(0, 5) {
        0 => format!(
            "for (int i = 0; i < self->n && i < 4; i++)\n    {q}[{j}] = 0.5 * {q}[{j}] + self->scale;\n"
        ),
        1 => format!("for (int i = 0; i < self->n && i < 7; i++)\n    {p}[{i}] = (self->n + i) % 6;\n"),
        2 => format!(
            "for (int k = 0; k < 3; k++)\n    for (int i = 0; i < self->n && i < 8; i++)\n        {q}[{j}] = self->scale * self->w[i] * 0.125;\n"
        ),
        3 => format!(
            "for (int i = 0; i < 8; i++) {{\n    self->w[i] += self->scale;\n    {q}[{j}] -= 0.5;\n}}\n"
        ),
        4 => format!(
            "for (int i = 0; i < 3; i++) {{\n    {p}[{i}] = self->first[i + 1];\n    for (int k = 0; k < self->first[i] && k < 4; k++)\n        self->w[k] += {q}[{j}] * 0.25;\n}}\n"
        ),
        _ => format!(
            "int count = self->n;\nfor (int i = 0; i < count && i < 4; i++) {{\n    {p}[{i}] = 3;\n    {q}[{j}] = self->n + self->scale;\n}}\n"
        ),
    }
}

/// Index arrays that loops change while they use them.
pub(super) fn changed_places(m: &mut Maker) -> String {
    m.has(Construct::ChangedPlaces);
    m.has(Construct::IndexArrays);
    let n = m.open_size();
    let (value, size) = (m.sizes[n].value.clone(), format!("(int)({})", m.sizes[n].text));
    m.setup.push(format!(
        "int *order_data = places({value} + 2, {value}, 7), *back_data = some_i({value} + 2, 8);"
    ));
    m.shown.push(format!(
        "show_i(\"order\", order_data, {value} + 2);\n    show_i(\"back\", back_data, {value} + 2);"
    ));
    m.parameter(2, "order", "int *order".into(), "order_data".into());
    m.parameter(2, "back", "int *back".into(), "back_data".into());
    // What is stored are places, whichever array is meant.
    m.calls.push(vec![("back".into(), "order_data".into())]);
    let text = match m.between(0, 4) {
        0 => format!("for (int i = 0; i < {size}; i++)\n    back[order[i]] = i;\n"),
        1 => format!("for (int i = 0; i < {size}; i++)\n    order[i] = order[order[i]];\n"),
        2 => format!(
            "for (int i = 0; i < {size}; i++) {{\n    int old = order[i];\n    order[i] = order[{size} - 1 - i];\n    order[{size} - 1 - i] = old;\n}}\n"
        ),
        3 => format!(
            "for (int i = 0; i < {size}; i++)\n    if (order[i] > i)\n        back[order[i]] = order[i] - 1;\n"
        ),
        _ => format!(
            "for (int i = 0; i < {size}; i++) {{\n    int at = i;\n    for (int k = 0; k < 3; k++)\n        at = order[at];\n    back[i] = at;\n}}\n"
        ),
    };
    if m.chance(40) {
        let steps = m.integer("steps", "int", "t");
        return format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&text));
    }
    text
}
