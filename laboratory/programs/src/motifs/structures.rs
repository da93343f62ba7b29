//! Structures that live inside loops, and structures of which a loop may or may not follow the pointers.

use super::parts::{READ, WRITTEN};
use crate::generate::{Construct, Maker, Manner};

/// A few pieces that each iteration makes, in an array of structures of its own.
pub(super) fn local_arrays(m: &mut Maker) -> String {
    m.has(Construct::LocalStructures);
    m.has(Construct::SmallFunctions);
    let n = m.size();
    let element = m.float();
    let ty = element.c();
    let x = m.array(&[n], element, READ);
    let y = m.array(&[n], element, WRITTEN);
    let (tag, split, weight) = (m.global("piece"), m.global("split"), m.global("weight"));
    m.before += &format!("typedef struct {{ {ty} low, high, parts[2]; int at; }} {tag};\n");
    m.before += &format!(
        "static int {split}({tag} *own, {ty} x, int at)\n{{\n    {tag} *first = own;\n    first->low = 0.25 * x;\n    first->high = x;\n    \
         first->parts[0] = first->parts[1] = 0.125;\n    first->at = at;\n    if (at % 3 == 0)\n        return 1;\n    \
         own[1] = own[0];\n    own[1].parts[at % 2] = x - 1;\n    own[0].high *= 0.5;\n    return 2;\n}}\n"
    );
    m.before += &format!(
        "static {ty} {weight}(const {tag} *one, int count)\n{{\n    {ty} sum = 0;\n    for (int k = 0; k < count; k++)\n        \
         sum += one[k].parts[0] * one[k].low + one[k].parts[1];\n    return sum;\n}}\n"
    );
    let form = m.between(0, 5);
    m.over(0, n, 0, Manner::ANY, |_, i| {
        let (x, y) = (x.at(&[i]), y.at(&[i]));
        match form {
            0 => format!("{tag} own[2];\nint count = {split}(own, {x}, {i});\n{y} += {weight}(own, count);\n"),
            1 => format!(
                "{tag} own[3];\nint count = {split}(own, {x}, {i});\nfor (int k = 0; k < count; k++)\n    {y} += own[k].high - own[k].low;\n"
            ),
            2 => format!(
                "{tag} own[2] = {{{{{x}, 2}}, {{1, {x}, {{3}}, 1}}}};\n{tag} last = own[1 - {i} % 2];\n{y} = last.low + own[last.at].high + last.parts[0];\n"
            ),
            3 => format!(
                "{tag} own[3];\nfor (int k = 0; k < 3; k++) {{\n    own[k].low = k * {x};\n    own[k].high = own[k].low - 1;\n}}\n{tag} old = own[0];\n\
                 own[0] = own[2];\nown[2] = old;\n{y} += own[0].high + 0.5 * own[2].low;\n"
            ),
            4 => format!(
                "{tag} own[2] = {{0}};\nif ({x} > 0)\n    own[{i} % 2].low = {x};\n{y} = own[0].low - own[1].low;\n"
            ),
            _ => format!(
                "{tag} own[2][2];\n{split}(own[0], {x}, {i} + 1 - {i} % 3);\n{split}(&own[1][0], 0.5 * {x}, 1);\n{y} += own[0][1].high + {weight}(own[1], 2);\n"
            ),
        }
    })
}

/// Cells behind a pointer of a structure, which is null where there are none, read before and inside of conditions.
pub(super) fn followed_late(m: &mut Maker) -> String {
    m.has(Construct::Structures);
    m.has(Construct::MemberBounds);
    m.has(Construct::MemberPointers);
    m.has(Construct::Optional);
    let (cells, tag) = (m.global("struct cells"), m.global("struct area"));
    m.before += &format!("{cells} {{ int *order; double *u; }};\n{tag} {{ int n, own; {cells} *cells; }};\n");
    m.setup.push(format!(
        "int *order_data = places(9, 9, 3);\n    double *cells_data = some_d(9, 5);\n    {cells} cells_there = {{order_data, cells_data}};\n    \
         {tag} area_data = {{m % 4 * 3, m % 5, m % 4 ? &cells_there : 0}};"
    ));
    m.shown.push("show_d(\"cells\", cells_data, 9);".into());
    m.parameter(2, "area", format!("{tag} *area"), "&area_data".into());
    let inner = match m.between(0, 3) {
        0 => {
            "if (i < area->own && other <= order)\n            continue;\n        area->cells->u[i] += 0.5 * other;\n"
        }
        1 => "if (order > 4 || other > 4)\n            area->cells->u[j] -= 0.25 * order;\n",
        2 => {
            "double got = i > j && other > 2 ? 1 : 0.5;\n        if (got * order > 3)\n            area->cells->u[other] = got;\n"
        }
        _ => "if (other != order)\n            continue;\n        area->cells->u[i] = order;\n",
    };
    let reads = [
        "int order = area->cells->order[i];\n    for (int j = 0; j < area->n; j++) {\n        int other = area->cells->order[j];\n        ",
        "for (int j = 0; j < area->n; j++) {\n        int order = area->cells->order[i], other = area->cells->order[j];\n        ",
    ];
    let read = m.one(&reads);
    format!("for (int i = 0; i < area->n; i++) {{\n    {read}{inner}    }}\n}}\n")
}
