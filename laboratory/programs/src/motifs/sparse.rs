//! Index arrays.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Element, Maker, Manner, as_small};

/// A sparse matrix by rows times a vector.
pub(super) fn matrix(m: &mut Maker) -> String {
    m.has(Construct::IndexArrays);
    let (n, o) = (m.size(), m.size());
    let rows = format!("({} + 3)", m.sizes[n].value);
    // Rows of 0 to 4 entries.
    m.setup.push(format!("int *start_data = keep({rows} * sizeof(int));"));
    m.setup.push(format!(
        "start_data[0] = 0;\n    for (int z = 1; z < {rows}; z++)\n        start_data[z] = start_data[z - 1] + z * 3 % 5;"
    ));
    m.setup.push(format!("int *column_data = places(5 * {rows}, {} + 2, 3);", m.sizes[o].value));
    let (start, column) = if m.chance(25) {
        (m.member("int *start;", "start", "start_data"), m.member("int *column;", "column", "column_data"))
    } else {
        m.parameter(2, "start", "const int *start".into(), "start_data".into());
        m.parameter(2, "column", "const int *column".into(), "column_data".into());
        ("start".into(), "column".into())
    };
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    m.setup.push(format!("{ty} *entries_data = some_{helper}(5 * {rows}, 5);"));
    m.parameter(2, "entries", format!("const {ty} *entries"), "entries_data".into());
    let x = m.array(&[o], element, READ);
    let y = m.array(&[n], element, WRITTEN);
    let in_variable = m.chance(60);
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let target = if in_variable { "sum".to_owned() } else { y.at(&[&i]) };
        let inner =
            m.counting(&format!("{start}[{i}]"), &format!("{start}[{i} + 1]"), true, Manner::ANY, |_, k| {
                format!("{target} += entries[{k}] * {};\n", x.at(&[format!("{column}[{k}]")]))
            });
        if in_variable {
            m.has(Construct::PrivateScalars);
            format!("{ty} sum = 0;\n{inner}{} = 0.5 * sum;\n", y.at(&[&i]))
        } else {
            format!("{target} = 0;\n{inner}")
        }
    })
}

/// Elements at places that an array tells, of rows or of whole arrays, read or written.
pub(super) fn gather(m: &mut Maker) -> String {
    let (n, o) = (m.size(), m.open_size());
    let element = m.element();
    let place = m.places(n, o);
    let two = m.chance(40);
    let dims = if two { vec![o, n] } else { vec![o] };
    let from = m.array(&dims, element, READ);
    let scatter = m.chance(40);
    let to = m.array(&[n], element, WRITTEN);
    let far = m.array(&dims, element, WRITTEN);
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let there = place.at(&[i]);
        let at = if two { vec![there, "1".to_owned()] } else { vec![there] };
        let own = [i.to_owned()];
        if scatter {
            let value = m.value(element, &[read(&to, &own), read(&far, &at)], &own);
            format!("{} = {value};\n", far.at(&at))
        } else {
            let value = m.value(element, &[read(&from, &at)], &own);
            m.assignment(&to.at(&own), element, &value)
        }
    })
}

/// Sums into elements that arrays tell, some of them with what the other end of a pair gets taken away.
pub(super) fn scattered_sums(m: &mut Maker) -> String {
    let (n, o) = (m.size(), m.open_size());
    let element = m.float();
    let (place, other) = (m.places(n, o), m.places(n, o));
    let weights = m.array(&[n], element, READ);
    let sums = m.array(&[o], element, WRITTEN);
    let (in_variable, in_pairs) = (m.chance(50), m.chance(50));
    let in_twos = m.chance(25);
    let ty = element.c();
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let own = [i.to_owned()];
        let value = m.value(element, &[read(&weights, &own)], &own);
        let at = |place: String| if in_twos { format!("{place} / 2 * 2") } else { place };
        let (first, second) = (at(place.at(&own)), at(other.at(&own)));
        let mut text = String::new();
        if in_variable {
            m.has(Construct::PrivateScalars);
            text +=
                &format!("{ty} part = {value};\nint there = {first};\n{} += part;\n", sums.at(&["there"]));
        } else {
            text += &format!("{} += {value};\n", sums.at(&[first]));
        }
        if in_pairs {
            let part = if in_variable { "part".to_owned() } else { format!("0.5 * {}", weights.at(&own)) };
            text += &format!("{} -= {part};\n", sums.at(&[second]));
        }
        text
    })
}

/// Counts by value.
pub(super) fn histogram(m: &mut Maker) -> String {
    m.has(Construct::Histograms);
    let (n, o) = (m.size(), m.size_of("5", true));
    let element = m.element();
    let data = m.array(&[n], element, READ);
    let counts = m.array(&[o], Element::I32, WRITTEN);
    let text = m.over(0, n, 1, Manner::ANY, |m, i| {
        let value = read(&data, &[i.to_owned()]);
        let bin = format!("({} % 5 + 5) % 5", as_small(&value));
        match m.between(0, 2) {
            0 => format!("{}++;\n", counts.at(&[bin])),
            1 => format!("int bin = {bin};\n{} += {i} % 3;\n", counts.at(&["bin"])),
            _ => {
                m.has(Construct::Guards);
                format!("if ({} > 1)\n    {} += 2;\n", as_small(&value), counts.at(&[bin]))
            }
        }
    });
    let then = m.over(1, o, 0, Manner::FORWARD, |_, i| {
        format!("{} += {} % 1000;\n", counts.at(&[i]), counts.at(&[format!("{i} - 1")]))
    });
    m.has(Construct::Sweeps);
    text + &then
}
