//! Scratch that is carried from one iteration to the next, wholly or in part, and scratch that functions fill.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Maker, Manner, Operand, as_float};

/// A scratch array of the function or of the file, of so many elements as the size in `o` and two more; its name.
fn scratch(m: &mut Maker, o: usize, ty: &str, helper: &str) -> String {
    let value = m.sizes[o].value.clone();
    match m.between(0, 2) {
        0 => {
            let name = m.named("tmp");
            m.locals.push(format!("{ty} {name}[{value} + 2];"));
            m.locals.push(format!("for (int z = 0; z < {value} + 2; z++)\n        {name}[z] = 0.25 * z;"));
            name
        }
        1 => {
            let name = m.global("scratch");
            m.before += &format!("static {ty} {name}[{value} + 2];\n");
            m.shown.push(format!("show_{helper}(\"{name}\", {name}, {value} + 2);"));
            name
        }
        _ => {
            let name = m.named("work");
            m.setup.push(format!("{ty} *{name}_data = some_{helper}({value} + 2, 91);"));
            m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, {value} + 2);"));
            m.parameter(2, &name, format!("{ty} *{name}"), format!("{name}_data"));
            name
        }
    }
}

struct Parts {
    n: usize,
    o: usize,
    a: Operand,
    w: Operand,
    tmp: String,
}

fn parts(m: &mut Maker) -> Parts {
    let value = m.one(&["M", "N", "5"]);
    let (n, o) = (m.size(), m.size_of(value, true));
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[n], element, READ);
    let tmp = scratch(m, o, element.c(), element.helper());
    Parts { n, o, a, w, tmp }
}

/// Scratch of which something is left from earlier iterations.
pub(super) fn carried(m: &mut Maker) -> String {
    m.has(Construct::CarriedScratch);
    m.has(Construct::PrivateScratch);
    let Parts { n, o, a, w, tmp } = parts(m);
    let (form, manner) = (m.between(0, 5), if m.chance(50) { Manner::FORWARD } else { Manner::ANY });
    let width = m.sizes[o].text.clone();
    m.over(0, n, 0, manner, |m, i| {
        let i = i.to_owned();
        let own = as_float(&read(&w, std::slice::from_ref(&i)));
        let set = |m: &mut Maker, low: i64, more: i64| {
            m.over(low, o, more, Manner::ANY, |_, j| {
                format!("{tmp}[{j}] = 0.5 * {} + {own};\n", a.at(&[i.as_str(), j]))
            })
        };
        let first = match form {
            // Not in every iteration.
            0 => format!("if ({own} > 0) {{\n{}}}\n", set(m, 0, 0)),
            // The first element stays.
            1 => set(m, 1, 0),
            // As far as data say.
            2 => {
                format!("for (int j = 0; j < (int)({width}) - (int)({i}) % 2; j++)\n    {tmp}[j] = {own};\n")
            }
            // Only some elements.
            3 => m.over(0, o, 0, Manner::ANY, |_, j| {
                format!("if ({} > 0)\n    {tmp}[{j}] = {own};\n", a.at(&[i.as_str(), j]))
            }),
            // All of them, from what they were.
            4 => m.over(0, o, 1, Manner::ANY, |_, j| format!("{tmp}[{j}] = 0.5 * {tmp}[{j}] + {own};\n")),
            // All of them; this one is private.
            _ => set(m, 0, 2),
        };
        let then = m.over(0, o, 0, Manner::ANY, |m, j| {
            let more = if m.chance(30) { format!(" + 0.25 * {tmp}[{j} + 1]") } else { String::new() };
            format!("{} = {tmp}[{j}] * 0.5{more};\n", a.at(&[i.as_str(), j]))
        });
        if form == 0 && m.chance(30) { then + &first } else { first + &then }
    })
}

/// Scratch that one function fills and another one uses.
pub(super) fn filled(m: &mut Maker) -> String {
    m.has(Construct::FilledByCalls);
    m.has(Construct::PrivateScratch);
    m.has(Construct::SmallFunctions);
    let Parts { n, o, a, w, tmp } = parts(m);
    let ty = a.element.c();
    let (fill, sum) = (m.global("prepare"), m.global("finish"));
    let by = m.between(0, 2);
    let early = match by {
        0 => String::new(),
        1 => {
            m.has(Construct::EarlyReturns);
            "    if (by > 3)\n        return;\n".to_owned()
        }
        _ => {
            m.has(Construct::EarlyReturns);
            "    if (count < 3) {\n        q[0] = by;\n        return;\n    }\n".to_owned()
        }
    };
    let head = if m.chance(30) { "static inline" } else { "static" };
    m.before += &format!(
        "{head} void {fill}({ty} *q, int count, {ty} by)\n{{\n{early}    for (int i = 0; i < count; i++)\n        q[i] = by + 0.5 * i;\n}}\n\
         {head} {ty} {sum}(const {ty} q[], int count)\n{{\n    {ty} total = 0;\n    for (int k = 0; k < count; k++)\n        total += q[k];\n    return total;\n}}\n"
    );
    let width = format!("(int)({})", m.sizes[o].text);
    let form = m.between(0, 2);
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let own = w.at(&[&i]);
        let first = format!("{fill}({tmp}, {width}, {own});\n");
        let last = a.at(&[i.as_str(), "0"]);
        match form {
            0 => format!("{first}{last} += 0.125 * {sum}({tmp}, {width});\n"),
            1 => {
                let inner = m.over(0, o, 0, Manner::ANY, |_, j| {
                    format!("{} += {tmp}[{j}];\n", a.at(&[i.as_str(), j]))
                });
                first + &inner
            }
            _ => {
                let inner = m.over(0, o, 0, Manner::ANY, |_, j| {
                    format!("{tmp}[{j}] += 0.5 * {};\n", a.at(&[i.as_str(), j]))
                });
                format!("{first}{inner}{last} = 0.125 * {sum}({tmp}, {width} - 1);\n")
            }
        }
    })
}

/// Scalars that some iterations leave as the one before them did.
pub(super) fn scalars(m: &mut Maker) -> String {
    m.has(Construct::CarriedScratch);
    m.has(Construct::PrivateScalars);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let w = m.array(&[n], element, READ);
    m.locals.push("double acc = 0.5, last = 1;".into());
    let form = m.between(0, 3);
    let text = m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let own = as_float(&read(&w, std::slice::from_ref(&i)));
        let inner = m.over(0, o, 0, Manner::ANY, |_, j| {
            let at = a.at(&[i.as_str(), j]);
            match form {
                0 => format!("{at} = 0.5 * {at} + acc;\n"),
                1 => format!("if ({at} > 0)\n    last = {at};\n{at} = 0.25 * last;\n"),
                2 => format!("acc = 0.5 * {at};\n{at} = acc - 1;\n"),
                _ => format!("last = acc;\nacc = 0.5 * {at};\n{at} = acc + last;\n"),
            }
        });
        let before = match form {
            0 => format!("if ({own} > 0)\n    acc = {own};\n"),
            2 => String::new(),
            _ => format!("if ({own} > 2)\n    acc = 0.25;\n"),
        };
        before + &inner
    });
    // What is left is of use behind the loop.
    m.returns = Some("double");
    format!("{text}return acc + 2 * last;\n")
}
