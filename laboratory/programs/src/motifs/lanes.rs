//! Vectors of SSE, which every x86-64 processor has: in loops, across loops, in arrays, and moved about.

use crate::generate::{Construct, Maker, Manner, bracketed};

/// Numbers of one type in the lanes of vectors.
#[derive(Clone, Copy)]
struct Lanes {
    ty: &'static str,
    vector: &'static str,
    suffix: &'static str,
    n: usize,
}

const SINGLE: Lanes = Lanes { ty: "float", vector: "__m128", suffix: "ps", n: 4 };
const DOUBLE: Lanes = Lanes { ty: "double", vector: "__m128d", suffix: "pd", n: 2 };

impl Lanes {
    fn call(self, what: &str, args: &[String]) -> String {
        format!("_mm_{what}_{}({})", self.suffix, args.join(", "))
    }

    /// A vector of one number.
    fn all(self, number: &str) -> String {
        self.call("set1", &[number.to_owned()])
    }

    /// Those that lie in an array from an element on, which is in it with the next few.
    fn load(self, array: &str, i: &str, more: usize) -> String {
        self.call("loadu", &[format!("{array} + {} * {} + {more}", self.n, bracketed(i))])
    }

    /// Stores an eighth of it, so that nothing grows without end.
    fn store(self, array: &str, i: &str, more: usize, value: String) -> String {
        let to = format!("{array} + {} * {} + {more}", self.n, bracketed(i));
        let value = self.call("mul", &[self.all("0.125f"), value]);
        format!("{};\n", self.call("storeu", &[to, value]))
    }

    /// A value made of vectors of these names and of what the arrays hold.
    fn value(self, m: &mut Maker, i: &str, names: &[&str], depth: usize) -> String {
        if depth == 0 || m.chance(25) {
            return match m.between(0, 4) {
                0 | 1 if !names.is_empty() => m.one(names).to_owned(),
                0 => self.all(m.one(&["0.5f", "-2", "0.25"])),
                4 => self.all(&format!("vb[{i}]")),
                _ => {
                    let more = m.between(0, self.n - 1);
                    let array = m.one(&["va", "vb"]);
                    self.load(array, i, more)
                }
            };
        }
        let (l, r) = (self.value(m, i, names, depth - 1), self.value(m, i, names, depth - 1));
        match m.between(0, 7) {
            0 | 1 => self.call("add", &[l, r]),
            2 => self.call("sub", &[l, r]),
            3 | 4 => self.call("mul", &[self.all("0.125f"), self.call("mul", &[l, r])]),
            5 => self.call(m.one(&["min", "max"]), &[l, r]),
            6 => self.call(m.one(&["unpacklo", "unpackhi"]), &[l, r]),
            _ => format!("-{}", self.call("add", &[l, r])),
        }
    }
}

/// Loops over vectors.
pub(super) fn vectors(m: &mut Maker) -> String {
    if !cfg!(target_arch = "x86_64") {
        return super::dense::pointwise(m);
    }
    m.has(Construct::Vectors);
    m.before += "#include <emmintrin.h>\n";
    let of = if m.chance(50) { SINGLE } else { DOUBLE };
    let n = m.open_size();
    let count = format!("{} * ((long){} + 2)", of.n, m.sizes[n].value);
    let helper = if of.ty == "float" { "f" } else { "d" };
    for (name, seed) in [("va", 3), ("vb", 4)] {
        m.setup.push(format!("{0} *{name}_data = some_{helper}({count}, {seed});", of.ty));
        m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, {count});"));
        m.parameter(2, name, format!("{} *{name}", of.ty), format!("{name}_data"));
    }
    match m.between(0, 3) {
        0 => m.over(0, n, 1, Manner::ANY, |m, i| {
            let to = m.one(&["va", "vb"]);
            let more = m.between(0, 2);
            let value = of.value(m, i, &[], 2);
            of.store(to, i, more, value)
        }),
        1 => across(m, of, n),
        2 => {
            let o = m.open_size();
            m.over(0, n, 0, Manner::ANY, |m, i| {
                let i = i.to_owned();
                let first = of.value(m, &i, &[], 1);
                let inner = m.over(0, o, 0, Manner::ANY, |_, k| {
                    format!(
                        "v0 = {};\n",
                        of.call(
                            "sub",
                            &[
                                of.all("0.5"),
                                of.call("mul", &["v0".into(), of.all(&format!("({k} & 3) * 0.25f"))])
                            ]
                        )
                    )
                });
                format!("{} v0 = {first};\n{inner}{}", of.vector, of.store("va", &i, 0, "v0".into()))
            })
        }
        _ => m.over(0, n, 1, Manner::ANY, |m, i| {
            let (first, second) = (of.value(m, i, &[], 1), of.value(m, i, &["v0[0]"], 2));
            let stored = of.value(m, i, &["v0[0]", "v0[1]"], 1);
            format!(
                "{} v0[2];\nv0[0] = {first};\nv0[1] = {second};\n{}v0[0] = v0[1];\n{}",
                of.vector,
                of.store("va", i, 0, stored),
                of.store("vb", i, 1, "v0[0]".into())
            )
        }),
    }
}

/// A loop with vectors that are set before it, one of which is used behind it.
fn across(m: &mut Maker, of: Lanes, n: usize) -> String {
    let before = of.value(m, "0", &[], 1);
    let body = m.over(0, n, 1, Manner::ANY, |m, i| {
        let added = of.value(m, i, &["w0"], 1);
        let mut text = format!("v0 = {};\n", of.call(m.one(&["add", "max"]), &["v0".into(), added]));
        if m.chance(50) {
            let stored = of.value(m, i, &["w0", "v0"], 1);
            text += &of.store("va", i, 0, stored);
        }
        text
    });
    format!(
        "const {0} w0 = {before};\n{0} v0 = {1};\n{body}{2}",
        of.vector,
        of.call("setzero", &[]),
        of.store("vb", "0", 0, "v0".into())
    )
}
