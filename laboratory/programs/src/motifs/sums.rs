//! Sums, extrema and counts.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Element, Maker, Manner, Operand, Read, as_float, as_small, indented};

/// Where a scalar result goes.
fn result(m: &mut Maker, ty: &'static str) -> (String, String) {
    match m.between(0, 3) {
        0 => {
            m.returns = Some(ty);
            (String::new(), "return result;\n".into())
        }
        1 => {
            m.setup.push(format!("{ty} out_value = 3;"));
            m.shown.push("printf(\"out %.15g\\n\", (double)out_value);".into());
            m.parameter(2, "out", format!("{ty} *out"), "&out_value".into());
            m.plain_types = false;
            (String::new(), "*out = result;\n".into())
        }
        2 => {
            let name = m.global("total");
            m.before += &format!("static {ty} {name};\n");
            m.shown.push(format!("printf(\"{name} %.15g\\n\", (double){name});"));
            (String::new(), format!("{name} += result;\n"))
        }
        _ => {
            let name = m.member_array(&format!("{ty} total;"), "total", |own| {
                (format!("{own} = 1;"), format!("printf(\"total %.15g\\n\", (double){own});"))
            });
            (String::new(), format!("{name} = result - {name};\n"))
        }
    }
}

/// One sum or count over an array.
pub(super) fn scalar(m: &mut Maker) -> String {
    m.has(Construct::Reductions);
    let n_dims = m.between(1, 2);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let element = m.element();
    let a = m.array(&dims, element, READ);
    let b = m.array(&dims, element, READ);
    let (ty, of) = if element.is_float() { ("double", Element::F64) } else { ("long", Element::I64) };
    let (before, behind) = result(m, ty);
    m.locals.push(format!("{ty} result = 0;"));
    let order = m.order(n_dims);
    let kind = m.between(0, 3);
    let text = m.nest(&dims, &order, (0, 0), Manner::ANY, &mut |m, at| {
        let reads = [read(&a, at), read(&b, at)];
        match kind {
            0 if of == Element::F64 => {
                format!("result += {} * {};\n", as_float(&reads[0]), as_float(&reads[1]))
            }
            1 => {
                m.has(Construct::Guards);
                format!("if ({})\n    result++;\n", m.condition(&reads, at))
            }
            2 => {
                m.has(Construct::Guards);
                let (condition, value) = (m.condition(&reads, at), m.value(of, &reads, at));
                format!("if ({condition})\n    result += {value};\n")
            }
            _ => format!("result += {};\n", m.value(of, &reads, at)),
        }
    });
    format!("{before}{text}{behind}")
}

/// One sum for every row.
pub(super) fn rows(m: &mut Maker) -> String {
    m.has(Construct::Reductions);
    let (n, o) = (m.size(), m.size());
    let element = m.element();
    let a = m.array(&[n, o], element, READ);
    let s = m.array(&[n], element, WRITTEN);
    let order = m.order(2);
    let start = if m.chance(50) {
        m.over(0, n, 0, Manner::ANY, |_, i| format!("{} = 0;\n", s.at(&[i])))
    } else {
        String::new()
    };
    let text = m.nest(&[n, o], &order, (0, 1), Manner::ANY, &mut |m, at| {
        let value = m.value(element, &[read(&a, at)], &[]);
        format!("{} += {value};\n", s.at(&at[..1]))
    });
    format!("{start}{text}")
}

/// The largest or smallest element, and where it is.
pub(super) fn extrema(m: &mut Maker) -> String {
    m.has(Construct::Reductions);
    let n = m.size();
    let element = m.float();
    let a: Operand = m.array(&[n], element, READ);
    let (before, behind) = result(m, "double");
    m.locals.push("double result = -1.0;".into());
    let form = m.between(0, 3);
    let manner = if form == 2 { Manner::FORWARD } else { Manner::ANY };
    if form == 2 {
        m.locals.push("int best = 0;".into());
    }
    let text = m.over(0, n, 1, manner, |m, i| {
        let read = Read { text: a.at(&[i]), element };
        let value = &read.text;
        match form {
            0 => format!("if ({value} > result)\n    result = {value};\n"),
            1 => format!("result = {value} > result ? {value} : result;\n"),
            2 => format!("if ({value} > result) {{\n    result = {value};\n    best = {i};\n}}\n"),
            _ => {
                let small = as_small(&read);
                format!("result = {small} < result ? {small} : result;\n{}", m.one(&["", "result += 0.5;\n"]))
            }
        }
    });
    let best = if form == 2 { "result += best;\n" } else { "" };
    let again =
        if m.chance(30) { format!("if (result > 0) {{\n{}}}\n", indented(&text)) } else { String::new() };
    format!("{before}{text}{again}{best}{behind}")
}
