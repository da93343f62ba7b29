//! Loops whose iterations depend on earlier ones, and triangles.

use super::parts::{READ, WRITTEN, read, shifted};
use crate::generate::{Construct, Maker, Manner, Read};

/// Prefix sums, recurrences along rows or columns, backwards too.
pub(super) fn recurrence(m: &mut Maker) -> String {
    m.has(Construct::Sweeps);
    let n_dims = m.between(1, 2);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let element = m.element();
    let x = m.array(&dims, element, WRITTEN);
    let w = m.array(&dims, element, READ);
    let (by, along) = (if m.chance(60) { -1 } else { 1 }, m.between(0, n_dims - 1));
    let order = m.order(n_dims);
    let both = n_dims == 2 && m.chance(40);
    m.nest(&dims, &order, (1, 1), Manner::ANY, &mut |m, at| {
        let mut near = at.to_vec();
        near[along] = shifted(&near[along], by);
        let mut reads = vec![read(&x, &near), read(&w, at)];
        if both {
            let mut other = at.to_vec();
            other[1 - along] = shifted(&other[1 - along], -by);
            reads.push(read(&x, &other));
        }
        let value = m.value(element, &reads, &[]);
        m.assignment(&x.at(at), element, &value)
    })
}

/// One index up to the other.
pub(super) fn triangle(m: &mut Maker) -> String {
    m.has(Construct::Triangles);
    let n = m.size();
    let element = m.float();
    let a = m.array(&[n, n], element, WRITTEN);
    let b = m.array(&[n, n], element, READ);
    let form = m.between(0, 4);
    let size = m.sizes[n].clone();
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let own = i.to_owned();
        let (low, high) = match form {
            0 => ("0".to_owned(), format!("{own} + 1")),
            1 => (format!("{own} + 1"), size.text.clone()),
            2 => (own.clone(), format!("{} + 1", size.text)),
            3 => ("0".to_owned(), format!("(int)({}) - (int)({own})", size.text)),
            _ => (format!("{own} / 2"), own.clone()),
        };
        m.counting(&low, &high, true, Manner::ANY, |m, j| {
            let at = [own.clone(), j.to_owned()];
            let back = [j.to_owned(), own.clone()];
            let reads: Vec<Read> = match m.between(0, 2) {
                0 => vec![read(&b, &at), read(&b, &back)],
                1 => vec![read(&a, &back), read(&b, &at)],
                _ => vec![read(&b, &back)],
            };
            let value = m.value(element, &reads, &at);
            m.assignment(&a.at(&at), element, &value)
        })
    })
}

/// In-place elimination.
pub(super) fn factorisation(m: &mut Maker) -> String {
    m.has(Construct::Triangles);
    m.has(Construct::Sweeps);
    let n = m.size();
    let element = m.float();
    let a = m.array(&[n, n], element, WRITTEN);
    let size = m.sizes[n].text.clone();
    let divides = m.chance(50);
    let lower = m.chance(40);
    m.over(0, n, 0, Manner::FORWARD, |m, k| {
        let k = k.to_owned();
        let mut text = String::new();
        if divides {
            text += &m.counting(&format!("{k} + 1"), &size, true, Manner::ANY, |_, i| {
                let (at, diagonal) = (a.at(&[i, &k]), a.at(&[&k, &k]));
                format!("{at} = {at} * 0.25 + ({diagonal} > 0 ? 0.5 : 0.25);\n")
            });
        }
        text += &m.counting(&format!("{k} + 1"), &size, true, Manner::ANY, |m, i| {
            let i = i.to_owned();
            let (low, high) = match lower {
                true => (format!("{k} + 1"), format!("{i} + 1")),
                false => (format!("{k} + 1"), size.clone()),
            };
            m.counting(&low, &high, true, Manner::ANY, |_, j| {
                format!("{} -= {} * {} * 0.0625;\n", a.at(&[i.as_str(), j]), a.at(&[&i, &k]), a.at(&[&k, j]))
            })
        });
        text
    })
}
