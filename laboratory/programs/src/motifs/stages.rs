//! Stages that hand arrays on: what one loop stores, the next ones read, beside themselves and in their neighbourhood.

use super::parts::{READ, WRITTEN, shifted};
use crate::generate::{Construct, Maker, Manner};

/// An array between two stages.
struct Handed {
    name: String,
    /// Elements a row where it is flat.
    flat: Option<String>,
    /// Read there, it has been written: so many elements from its beginning, and from its end.
    margin: i64,
}

impl Handed {
    fn at(&self, i: &str, j: &str) -> String {
        match &self.flat {
            Some(width) => format!("{}[({i}) * ({width}) + {j}]", self.name),
            None => format!("{}[{i}][{j}]", self.name),
        }
    }
}

/// An array of the function, of the file, of the heap or of the caller; what is to be done with it at the end.
fn handed(
    m: &mut Maker,
    (rows, columns): (&str, &str),
    ty: &str,
    helper: &str,
    margin: i64,
) -> (Handed, String) {
    let (rows, columns) = (format!("{rows} + 2"), format!("{columns} + 2"));
    let (name, flat, end) = match m.between(0, 4) {
        0 => {
            let name = m.named("stage");
            m.locals.push(format!("static {ty} {name}[{rows}][{columns}];"));
            (name, None, String::new())
        }
        1 => {
            let name = m.named("part");
            m.locals.push(format!("{ty} {name}[{rows}][{columns}];"));
            m.locals.push(format!(
                "for (int z = 0; z < ({rows}) * ({columns}); z++)\n        (&{name}[0][0])[z] = 0.25 * z;"
            ));
            (name, None, String::new())
        }
        2 => {
            let name = m.global("buffer");
            m.before += &format!("static {ty} {name}[{rows}][{columns}];\n");
            (name, None, String::new())
        }
        3 => {
            let name = m.named("block");
            m.locals.push(format!("{ty} *{name} = calloc(({rows}) * ({columns}), sizeof *{name});"));
            let end = format!("free({name});\n");
            (name, Some(columns), end)
        }
        _ => {
            let name = m.named("lent");
            m.setup.push(format!("{ty} *{name}_data = some_{helper}(({rows}) * ({columns}), 93);"));
            m.parameter(2, &name, format!("{ty} *{name}"), format!("{name}_data"));
            if m.chance(40) {
                m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, ({rows}) * ({columns}));"));
            }
            (name, Some(columns), String::new())
        }
    };
    (Handed { name, flat, margin }, end)
}

/// Two to four stages; sometimes something stands between them, or reads what was left.
pub(super) fn stages(m: &mut Maker) -> String {
    m.has(Construct::Stages);
    let value = |m: &mut Maker| m.one(&["M", "N", "5"]);
    let (high, wide) = (value(m), value(m));
    let (n, o) = (m.size_of(high, true), m.size_of(wide, true));
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let (source, result) = (m.array(&[n, o], element, READ), m.array(&[n, o], element, WRITTEN));
    m.locals.push(format!("{ty} level = 0.5;"));
    let n_handed = m.between(1, 3);
    let mut known: Vec<Handed> = Vec::new();
    let (mut text, mut ends) = (String::new(), String::new());
    let mut margin = m.between(0, 1) as i64;
    for k in 0..=n_handed {
        let reach = if k > 0 && margin < 2 && m.chance(70) { 1 } else { 0 };
        margin += reach;
        // Now and then one more element is read than was written.
        let low = if m.chance(10) && k > 0 { margin - reach } else { margin };
        let is_last = k == n_handed;
        let own = (!is_last).then(|| handed(m, (high, wide), ty, helper, margin));
        let order = if m.chance(25) { [1, 0] } else { [0, 1] };
        let manner = if m.chance(60) { Manner::FORWARD } else { Manner::ANY };
        text += &m.nest(&[n, o], &order, (low.max(reach), 2 - margin), manner, &mut |m, at| {
            let mut reads = vec![source.at(at)];
            for before in &known {
                for _ in 0..m.between(1, 2) {
                    let most = (margin - before.margin).min(1);
                    let at: Vec<String> = at
                        .iter()
                        .map(|index| {
                            let by = m.between(0, 2 * most as usize) as i64 - most;
                            shifted(index, by)
                        })
                        .collect();
                    reads.push(before.at(&at[0], &at[1]));
                }
            }
            let sum = reads.iter().skip(usize::from(k > 0 && m.chance(40))).cloned().collect::<Vec<_>>();
            let target = own.as_ref().map_or_else(|| result.at(at), |(own, _)| own.at(&at[0], &at[1]));
            let by = m.one(&["level", "0.25", "(level + 1)"]);
            format!("{target} = {by} * ({});\n", sum.join(m.one(&[" + ", " - "])))
        });
        if let Some((own, end)) = own {
            ends += &end;
            known.push(own);
        }
        if is_last {
            break;
        }
        let between = m.between(0, 7);
        let name = known.last().map(|own| own.at("1", "1")).unwrap_or_default();
        text += &match between {
            0 => "level *= 0.5;\n".to_owned(),
            1 => "if (level > 1)\n    level = 1;\n".to_owned(),
            2 => format!("level += 0.125 * {name};\n"),
            3 => {
                let own = known.last().map(|own| own.margin).unwrap_or_default();
                m.nest(&[n, o], &[0, 1], (own, 2 - own), Manner::FORWARD, &mut |_, at| {
                    known
                        .last()
                        .map(|k| format!("level += 0.0625 * {};\n", k.at(&at[0], &at[1])))
                        .unwrap_or_default()
                })
            }
            _ => String::new(),
        };
    }
    if m.chance(25) {
        let left = known.last().map(|own| own.at("1", "1")).unwrap_or_default();
        let at = ["1".to_owned(), "1".to_owned()];
        text += &format!("{} += {left};\n", result.at(&at));
    }
    let at = ["0".to_owned(), "1".to_owned()];
    text += &format!("{} += level;\n", result.at(&at));
    if m.chance(30) {
        let steps = m.integer("steps", "int", "t + 1");
        text = format!("for (int step = 0; step < {steps}; step++)\n{}", crate::generate::block(&text));
    }
    text + &ends
}
