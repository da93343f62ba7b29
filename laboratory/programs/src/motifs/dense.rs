//! Loops over whole arrays.

use super::parts::{READ, WRITTEN, read, shifted, variable};
use crate::generate::{Construct, Element, Maker, Manner, Operand, block, indented};

/// Every element of an array from the same elements of others; some of them under conditions.
pub(super) fn pointwise(m: &mut Maker) -> String {
    let n_dims = m.between(1, 3);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let target_element = m.element();
    let target = m.array(&dims, target_element, WRITTEN);
    let n_sources = m.between(1, 3);
    let sources: Vec<Operand> = (0..n_sources)
        .map(|_| {
            let element = m.element();
            m.array(&dims, element, READ)
        })
        .collect();
    let order = m.order(n_dims);
    let range = (0, m.between(0, 2) as i64);
    let guarded = m.chance(35);
    m.nest(&dims, &order, range, Manner::ANY, &mut |m, at| {
        let mut reads = m.reads(&sources, at, 0);
        if m.chance(40) {
            reads.push(read(&target, at));
        }
        let value = m.value(target.element, &reads, at);
        let store = m.assignment(&target.at(at), target.element, &value);
        if !guarded {
            return store;
        }
        m.has(Construct::Guards);
        let condition = m.condition(&reads, at);
        let other = if m.chance(40) {
            let value = m.value(target.element, &reads[..1], at);
            format!("else\n{}", indented(&m.assignment(&target.at(at), target.element, &value)))
        } else {
            String::new()
        };
        format!("if ({condition})\n{}{other}", indented(&store))
    })
}

/// Neighbours, sometimes in place.
pub(super) fn stencil(m: &mut Maker) -> String {
    let n_dims = m.between(1, 3);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let element = m.float();
    let target = m.array(&dims, element, WRITTEN);
    let mut sources = vec![m.array(&dims, element, READ)];
    if m.chance(30) {
        sources.push(target.clone());
        m.has(Construct::Sweeps);
    }
    let order = m.order(n_dims);
    let repeats = m.chance(30);
    let text = m.nest(&dims, &order, (1, 1), Manner::ANY, &mut |m, at| {
        let mut reads = m.reads(&sources, at, 1);
        reads.truncate(5);
        let value = m.value(element, &reads, at);
        m.assignment(&target.at(at), element, &value)
    });
    if repeats {
        let steps = m.integer("steps", "int", "t + 1");
        return format!("for (int step = 0; step < {steps}; step++)\n{}", block(&text));
    }
    text
}

/// A matrix product in some order, scaled or not, sometimes of a triangle.
pub(super) fn product(m: &mut Maker) -> String {
    let (n, o, l) = (m.size(), m.size(), m.size());
    let element = m.float();
    let c = m.array(&[n, o], element, WRITTEN);
    let a = m.array(&[n, l], element, READ);
    let transposed = m.chance(30);
    let b = m.array(&if transposed { [o, l] } else { [l, o] }, element, READ);
    let factor = |at: &[String]| {
        let (k, j) = (at[2].clone(), at[1].clone());
        b.at(&if transposed { [j, k] } else { [k, j] })
    };
    let alpha = if m.chance(40) { "0.25 * " } else { "" };
    if m.chance(35) {
        // A sum in a variable.
        m.has(Construct::PrivateScalars);
        m.has(Construct::Reductions);
        let outside = m.chance(40);
        if outside {
            m.locals.push(format!("{} acc;", element.c()));
        }
        let declare = if outside { String::new() } else { format!("{} ", element.c()) };
        return m.nest(&[n, o], &[0, 1], (0, 0), Manner::ANY, &mut |m, at| {
            let at = at.to_vec();
            let inner = m.over(0, l, 0, Manner::ANY, |_, k| {
                let at = [at[0].clone(), at[1].clone(), k.to_owned()];
                format!("acc += {} * {};\n", a.at(&[&at[0], &at[2]]), factor(&at))
            });
            format!("{declare}acc = 0;\n{inner}{} = {alpha}acc;\n", c.at(&at[..2]))
        });
    }
    let order = m.order(3);
    let mut text = String::new();
    if m.chance(50) {
        text += &m.nest(&[n, o], &[0, 1], (0, 0), Manner::ANY, &mut |m, at| {
            let zero = m.one(&["= 0", "*= 0.5"]);
            format!("{} {zero};\n", c.at(at))
        });
    }
    text += &m.nest(&[n, o, l], &order, (0, 0), Manner::ANY, &mut |_, at| {
        format!("{} += {alpha}{} * {};\n", c.at(&at[..2]), a.at(&[&at[0], &at[2]]), factor(at))
    });
    text
}

/// One loop after the other over the same data, with scalars in between.
pub(super) fn several(m: &mut Maker) -> String {
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let matrix = m.array(&[n, o], element, WRITTEN);
    let row = m.array(&[o], element, WRITTEN);
    let column = m.array(&[n], element, WRITTEN);
    let mut text = String::new();
    m.locals.push("double scale = 0.5;".into());
    for _ in 0..m.between(2, 4) {
        text += &match m.between(0, 4) {
            0 => m.over(0, o, 0, Manner::ANY, |m, j| {
                let at = [j.to_owned()];
                let value = m.value(element, &[read(&row, &at)], &at);
                m.assignment(&row.at(&at), element, &value)
            }),
            1 => m.nest(&[n, o], &[1, 0], (0, 0), Manner::ANY, &mut |_, at| {
                format!(
                    "{} += 0.125 * {} + scale * {};\n",
                    matrix.at(at),
                    row.at(&at[1..]),
                    column.at(&at[..1])
                )
            }),
            2 => m.nest(&[n, o], &[0, 1], (0, 1), Manner::ANY, &mut |_, at| {
                format!("{} += 0.0625 * {};\n", column.at(&at[..1]), matrix.at(at))
            }),
            3 => format!("scale = scale * 0.5 + 0.25;\nif (scale > 0.4)\n    {} = scale;\n", row.at(&["0"])),
            _ => m.over(1, n, 1, Manner::ANY, |m, i| {
                let (before, own) = ([shifted(i, -1), "1".into()], [i.to_owned(), "0".into()]);
                let reads = [read(&matrix, &before), variable("scale", Element::F64)];
                let value = m.value(element, &reads, &[]);
                m.assignment(&matrix.at(&own), element, &value)
            }),
        };
    }
    text
}

/// Arrays of structures inside structures.
pub(super) fn of_structures(m: &mut Maker) -> String {
    m.has(Construct::Structures);
    m.has(Construct::ArraysOfStructures);
    m.has(Construct::NestedStructures);
    let n = m.size();
    let extent = format!("({} + 2)", m.sizes[n].value);
    let (cell, near) = (m.global("struct cell"), m.global("struct near"));
    m.before += &format!(
        "{near} {{ int number, weight; double x[4]; }};\n{cell} {{ double v[3]; int count; {near} nei[4]; float mass; }};\n"
    );
    m.setup.push(format!("{cell} *cells_data = keep({extent} * sizeof *cells_data);"));
    m.setup.push(format!("memset(cells_data, 0, {extent} * sizeof *cells_data);"));
    m.setup.push(format!(
        "for (int z = 0; z < {extent}; z++) {{\n        cells_data[z].count = (z * 3 + kind) % 5;\n        \
         cells_data[z].mass = 0.5f * z;\n        for (int y = 0; y < 3; y++)\n            \
         cells_data[z].v[y] = value_d(7, 3 * z + y);\n        for (int y = 0; y < 4; y++) {{\n            \
         cells_data[z].nei[y].number = (z + y * 5) % {extent};\n            cells_data[z].nei[y].x[y] = value_d(9, z + y);\n        }}\n    }}"
    ));
    m.shown.push(format!(
        "{{\n        struct check c = {{0}};\n        for (int z = 0; z < {extent}; z++) {{\n            \
         check(&c, cells_data[z].count + cells_data[z].mass);\n            for (int y = 0; y < 3; y++)\n                \
         check(&c, cells_data[z].v[y]);\n            for (int y = 0; y < 16; y++)\n                \
         check(&c, cells_data[z].nei[y / 4].x[y % 4] + cells_data[z].nei[y / 4].weight);\n        }}\n        show(\"cells\", &c);\n    }}"
    ));
    let cells = if m.chance(30) {
        let name = m.member(&format!("{cell} *cells;"), "cells", "cells_data");
        m.has(Construct::MemberPointers);
        name
    } else {
        m.parameter(2, "cells", format!("{cell} *cells"), "cells_data".into());
        "cells".to_owned()
    };
    match m.between(0, 4) {
        0 => m.over(0, n, 0, Manner::ANY, |m, i| {
            let inner = m.counting("0", "3", false, Manner::ANY, |_, k| {
                format!("{cells}[{i}].v[{k}] += 0.25 * {cells}[{i}].mass * {cells}[{i} + 1].v[{k}];\n")
            });
            format!("{inner}{cells}[{i}].mass *= 0.5f;\n")
        }),
        1 => m.over(0, n, 0, Manner::ANY, |m, i| {
            m.has(Construct::IndexArrays);
            let inner = m.over_count(&format!("{cells}[{i}].count % 4"), |_, k| {
                format!("{cells}[{i}].v[0] += 0.125 * {cells}[{cells}[{i}].nei[{k}].number].v[1];\n")
            });
            format!("{inner}{cells}[{i}].count++;\n")
        }),
        2 => m.over(0, n, 0, Manner::ANY, |m, i| {
            m.counting("0", "4", false, Manner::ANY, |m, k| {
                m.counting("0", "4", false, Manner::ANY, |_, q| {
                    format!("{cells}[{i}].nei[{k}].x[{q}] = {cells}[{i}].v[{q} % 3] * 0.5 + {cells}[{i}].nei[{q}].x[{k}];\n")
                })
            })
        }),
        3 => {
            m.has(Construct::Handles);
            m.over(0, n, 1, Manner::ANY, |m, i| {
                let inner = m.counting("0", "3", false, Manner::ANY, |_, k| {
                    format!("c->v[{k}] = c->v[{k}] * 0.5 + c->nei[{k}].x[0];\n")
                });
                format!("{cell} *c = &{cells}[{i}];\n{inner}c->nei[1].weight += c->count;\n")
            })
        }
        _ => m.over(1, n, 0, Manner::FORWARD, |_, i| {
            format!(
                "{cells}[{i}].v[2] = {cells}[{i} - 1].v[2] * 0.5 + {cells}[{i}].v[0];\n\
                 {cells}[{i}].nei[0].weight = {cells}[{i} - 1].nei[0].weight % 50 + {cells}[{i}].count;\n"
            )
        }),
    }
}

/// Complex numbers, of C and as pairs.
pub(super) fn complex_numbers(m: &mut Maker) -> String {
    m.has(Construct::Complex);
    let (n, o) = (m.size(), m.size());
    let count = format!("(long)({} + 2) * ({} + 2)", m.sizes[n].value, m.sizes[o].value);
    let width = format!("({} + 2)", m.sizes[o].text);
    let pairs = m.chance(60);
    let ty = if pairs {
        m.has(Construct::ArraysOfStructures);
        let tag = m.global("number");
        m.before += &format!("typedef struct {{ double re, im; }} {tag};\n");
        tag
    } else {
        "double complex".to_owned()
    };
    for (name, seed) in [("za", 3), ("zb", 4)] {
        m.setup.push(format!("{ty} *{name}_data = keep(({count}) * sizeof *{name}_data);"));
        m.setup.push(format!(
            "for (long z = 0; z < 2 * ({count}); z++)\n        ((double *){name}_data)[z] = value_d({seed}, z);"
        ));
        m.shown.push(format!("show_d(\"{name}\", (double *){name}_data, 2 * ({count}));"));
        m.parameter(2, name, format!("{ty} *{name}"), format!("{name}_data"));
    }
    m.nest(&[n, o], &[0, 1], (0, 1), Manner::ANY, &mut |m, at| {
        let at = format!("{} * {width} + {}", crate::generate::bracketed(&at[0]), at[1]);
        match (pairs, m.between(0, 1)) {
            (true, 0) => format!(
                "double re = za[{at}].re * zb[{at}].re - za[{at}].im * zb[{at}].im;\n\
                 double im = za[{at}].re * zb[{at}].im + za[{at}].im * zb[{at}].re;\n\
                 za[{at}].re = 0.25 * re;\nza[{at}].im = 0.25 * im;\n"
            ),
            (true, _) => format!("za[{at}].im += zb[{at}].re * 0.5;\nzb[{at}].im = -zb[{at}].im;\n"),
            (false, 0) => format!("za[{at}] = 0.25 * za[{at}] + conj(zb[{at}]);\n"),
            (false, _) => format!("za[{at}] = creal(zb[{at}]) * 0.5 + I * 0.5 * cimag(za[{at}]);\n"),
        }
    })
}

impl Maker {
    /// A loop from 0 to a bound that is an expression.
    fn over_count(&mut self, bound: &str, body: impl FnOnce(&mut Self, &str) -> String) -> String {
        let k = self.counter();
        let body = body(self, &k);
        self.leave();
        format!("for (int {k} = 0; {k} < {bound}; {k}++)\n{}", block(&body))
    }
}
