//! Stages in functions of their own, which one function calls one behind the other: over flat images, by rows, by columns, over all
//! elements at once, and for a sum.

use crate::generate::{Construct, Maker};

/// How a stage takes an image.
#[derive(Clone, Copy)]
enum Way {
    Rows,
    Columns,
    All,
    Sum,
}

/// Writes a function for a stage; its name.
fn function(m: &mut Maker, way: Way, ty: &str) -> String {
    let own = m.named("stage");
    let name = m.global(&own);
    let (reach, by) = (m.between(1, 2), m.one(&["0.25", "half * half", "(half - 0.125)"]));
    let half = if by.contains("half") { format!("    {ty} half = 0.5;\n") } else { String::new() };
    let line = if m.chance(50) { "int i, j;" } else { "int j, i;" };
    m.before += &match way {
        Way::Rows => format!(
            "static void {name}(int w, int h, const {ty} *from, {ty} *to)\n{{\n{half}    for (int y = 0; y < h; y++)\n        \
             for (int x = 0; x < w; x++) {{\n            if (x < {reach} || x >= w - {reach})\n                \
             to[y * w + x] = from[y * w + x];\n            else\n                to[y * w + x] = {by} * (from[y * w + x - {reach}] + \
             from[y * w + x + {reach}]);\n        }}\n}}\n"
        ),
        Way::Columns => format!(
            "static void {name}(int w, int h, const {ty} *from, {ty} *to)\n{{\n    {line}\n{half}    \
             for (i = {reach}; i < h - {reach}; i++)\n        for (j = 0; j < w; j++)\n            \
             to[i * w + j] = {by} * (from[(i - {reach}) * w + j] - from[i * w + j] + from[(i + {reach}) * w + j]);\n}}\n"
        ),
        Way::All => format!(
            "static void {name}(int count, const {ty} *from, {ty} *to, {ty} more)\n{{\n{half}    \
             for (int k = 0; k < count; k++)\n        to[k] = {by} * from[k] + more;\n}}\n"
        ),
        Way::Sum => format!(
            "static {ty} {name}(int count, const {ty} *from)\n{{\n    {ty} sum = 0;\n    for (int k = 0; k < count; k++)\n        \
             sum += from[k];\n    return sum;\n}}\n"
        ),
    };
    name
}

/// Two to four calls of stages; sometimes loops stand between them, or one of the images is filled by a loop before.
pub(super) fn stages(m: &mut Maker) -> String {
    m.has(Construct::CalledStages);
    let value = |m: &mut Maker| m.one(&["M", "N", "5", "m % 20 + 1"]);
    let (high, wide) = (value(m), value(m));
    let (w, h) = (m.integer("wide", "int", wide), m.integer("high", "int", high));
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let mut images: Vec<String> = Vec::new();
    for (name, seed) in [("source", 91), ("result", 92)] {
        let name = m.named(name);
        m.setup.push(format!("{ty} *{name}_data = some_{helper}(({wide}) * ({high}) + 2, {seed});"));
        m.parameter(2, &name, format!("{ty} *{name}"), format!("{name}_data"));
        m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, ({wide}) * ({high}) + 2);"));
        images.push(name);
    }
    let mut ends = String::new();
    for _ in 0..m.between(1, 2) {
        let name = m.named("between");
        let take = m.one(&["malloc({} * sizeof *)", "calloc({}, sizeof *)"]);
        let size = format!("({w} * {h} + 2)");
        m.locals.push(format!(
            "{ty} *{name} = {};",
            take.replace("{}", &size).replace("*)", &format!("*{name})"))
        ));
        // What nothing was stored in is not read.
        if take.starts_with("malloc") || m.chance(40) {
            m.locals.push(format!("for (int z = 0; z < {w} * {h} + 2; z++)\n        {name}[z] = 0.25 * z;"));
        }
        ends += &format!("free({name});\n");
        images.insert(1, name);
    }
    m.locals.push(format!("{ty} level = 0.5;"));
    let mut text = String::new();
    for k in 1..images.len() {
        let (from, to) = (images[k - 1].clone(), images[k].clone());
        let way = [Way::Rows, Way::Columns, Way::All][m.between(0, 2)];
        if m.chance(25) {
            text += &format!("for (int k = 0; k < {w} * {h}; k++)\n    {to}[k] = level * k;\n");
        }
        let name = function(m, way, ty);
        text += &match way {
            Way::All => format!("{name}({w} * {h}, {from}, {to}, level);\n"),
            _ => format!("{name}({w}, {h}, {from}, {to});\n"),
        };
        if m.chance(25) {
            let sum = function(m, Way::Sum, ty);
            text += &format!("level = 0.0625 * {sum}({w} * {h}, {to});\n");
        }
    }
    if m.chance(30) {
        let steps = m.integer("steps", "int", "t + 1");
        text = format!("for (int step = 0; step < {steps}; step++)\n{}", crate::generate::block(&text));
    }
    text + &ends
}
