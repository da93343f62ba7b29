//! Windows that reach beyond the border of an array.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Maker, Manner};

/// Sums over windows whose places at a border are computed into variables: clamped, mirrored, or around a ring.
pub(super) fn places(m: &mut Maker) -> String {
    m.has(Construct::PlacesAtBorders);
    let (n, o) = (m.open_size(), m.open_size());
    let element = m.element();
    let ty = element.c();
    let a = m.array(&[n, o], element, READ);
    let b = m.array(&[n, o], element, WRITTEN);
    let [rows, columns] = [n, o].map(|size| format!("(int)({})", m.sizes[size].text));
    let [y, x, sum] = ["y", "x", "sum"].map(|name| m.named(name));
    let reach = m.between(1, 2);
    // Declared before the loops, they may be used after them.
    let (is_before, is_used) = (m.chance(50), m.chance(30));
    let declared = if is_before { "" } else { "int " };
    let moves = m.chance(50);
    let window = |k: &str, at: &str| match moves {
        true => format!("for (int {k} = {at} - {reach}; {k} <= {at} + {reach}; {k}++)"),
        false => format!("for (int {k} = -{reach}; {k} <= {reach}; {k}++)"),
    };
    let from = |k: &str, at: &str| if moves { k.to_owned() } else { format!("{at} + {k}") };
    let row = place(m, &y, declared, &from("k", "i"), &rows);
    let column = place(m, &x, declared, &from("l", "j"), &columns);
    let value = m.value(element, &[read(&a, &[y.clone(), x.clone()])], &[]);
    let store = m.assignment(&b.at(&["i".to_owned(), "j".to_owned()]), element, &sum);
    let (over_rows, over_columns) = (window("k", "i"), window("l", "j"));
    let mut text = String::new();
    if is_before {
        text += &format!("int {y} = 0, {x} = 0;\n");
    }
    text += &format!(
        "for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++) {{\n        {ty} {sum} = 0;\n        \
         {over_rows}\n            {over_columns} {{\n{row}{column}                {sum} += {value};\n            }}\n        \
         {store}    }}\n"
    );
    if is_before && is_used {
        let first = b.at(&["0".to_owned(), "0".to_owned()]);
        text += &format!("if ({rows} > 0 && {columns} > 0)\n    {first} += ({ty})({y} + {x});\n");
    }
    text
}

/// Fluxes that come from the neighbour which a sign chooses, in rows or in columns.
pub(super) fn upwind(m: &mut Maker) -> String {
    m.has(Construct::ChosenNeighbours);
    let dims = [m.size(), m.size()];
    let element = m.float();
    let [flux, field] = [READ, READ].map(|access| m.array(&dims, element, access));
    let out = m.array(&dims, element, WRITTEN);
    let [up, donor] = ["up", "donor"].map(|name| m.named(name));
    let is_before = m.chance(60);
    if is_before {
        m.locals.push(format!("int {up}, {donor};"));
    }
    let along = m.between(0, 1);
    let order = m.order(2);
    m.nest(&dims, &order, (1, 1), Manner::ANY, &mut |m, at| {
        let of = |name: &str| {
            let mut place = at.to_vec();
            name.clone_into(&mut place[along]);
            read(&field, &place)
        };
        let i = &at[along];
        let (here, flux) = (if m.chance(50) { "" } else { " + 1" }, flux.at(at));
        let value = m.value(element, &[of(&donor), of(&up), read(&out, at)], &[]);
        let store = m.assignment(&out.at(at), element, &value);
        let declared = if is_before { String::new() } else { format!("int {up}, {donor};\n") };
        format!(
            "{declared}if ({flux} < 0.0) {{\n    {up} = {i} + 1;\n    {donor} = {i}{here};\n}} else {{\n    {donor} = {i};\n    \
             {up} = {donor} - 1;\n}}\n{store}"
        )
    })
}

/// Statements after which a variable is the place of this index in as many rows or columns.
fn place(m: &mut Maker, name: &str, declared: &str, index: &str, size: &str) -> String {
    let lines = match m.between(0, 4) {
        0 => vec![
            format!("{declared}{name} = {index} < 0 ? 0 : {index};"),
            format!("{name} = {name} >= {size} ? {size} - 1 : {name};"),
        ],
        1 => vec![
            format!("{declared}{name} = {index};"),
            format!("if ({name} < 0)"),
            format!("    {name} = 0;"),
            format!("if ({name} > {size} - 1)"),
            format!("    {name} = {size} - 1;"),
        ],
        2 => vec![
            format!("{declared}{name};"),
            format!("if ({index} < 0)"),
            format!("    {name} = 0;"),
            format!("else if ({index} >= {size})"),
            format!("    {name} = {size} - 1;"),
            "else".to_owned(),
            format!("    {name} = {index};"),
        ],
        3 => vec![format!("{declared}{name} = {index} + 2 * {size};"), format!("{name} %= {size};")],
        _ => vec![
            format!("{declared}{name} = {index};"),
            format!("if ({name} < 0)"),
            format!("    {name} = -{name};"),
            format!("if ({name} >= {size})"),
            format!("    {name} = 2 * {size} - 2 - {name};"),
            format!("if ({name} < 0)"),
            format!("    {name} = 0;"),
            format!("if ({name} >= {size})"),
            format!("    {name} = {size} - 1;"),
        ],
    };
    let lines = lines.into_iter().filter(|line| *line != format!("{name};"));
    lines.map(|line| format!("                {line}\n")).collect()
}
