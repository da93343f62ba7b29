//! Complex numbers, of C and of the program's own, in rows, sums and functions.

use crate::generate::{Construct, Maker, Manner, bracketed};

/// Two arrays of `count` numbers of a type that begins with two reals.
fn numbers(m: &mut Maker, ty: &str, real: (&str, &str), count: &str) {
    let (of, helper) = real;
    for (name, seed) in [("za", 3), ("zb", 4)] {
        m.setup.push(format!("{ty} *{name}_data = keep(({count}) * sizeof *{name}_data);"));
        m.setup.push(format!("fill_{helper}(({of} *){name}_data, 2 * ({count}), {seed});"));
        m.shown.push(format!("show_{helper}(\"{name}\", ({of} *){name}_data, 2 * ({count}));"));
    }
}

/// Arithmetic and functions of C's complex numbers.
pub(super) fn arithmetic(m: &mut Maker) -> String {
    m.has(Construct::Complex);
    let single = m.chance(25);
    let (ty, real, f) = if single {
        (m.one(&["float complex", "float _Complex"]), ("float", "f"), "f")
    } else {
        (m.one(&["double complex", "double _Complex", "complex double"]), ("double", "d"), "")
    };
    let (n, o) = (m.open_size(), m.open_size());
    let (rows, length) = (m.sizes[n].value.clone(), m.sizes[o].value.clone());
    let count = format!("(long)({rows} + 2) * ({length} + 2)");
    numbers(m, ty, real, &count);
    let form = m.between(0, 2);
    if form == 1 {
        m.has(Construct::ComplexRows);
        m.has(Construct::Rows);
        for name in ["za", "zb"] {
            m.setup.push(format!("{ty} **{name}_rows = keep(({rows} + 2) * sizeof *{name}_rows);"));
            m.setup.push(format!(
                "for (int z = 0; z < {rows} + 2; z++)\n        {name}_rows[z] = {name}_data + (kind % 2 ? z : {rows} + 1 - z) * (long)({length} + 2);"
            ));
            m.parameter(2, name, format!("{ty} **{name}"), format!("{name}_rows"));
        }
    } else {
        for name in ["za", "zb"] {
            m.parameter(2, name, format!("{ty} *{name}"), format!("{name}_data"));
        }
    }
    let width = format!("((int)({}) + 2)", m.sizes[o].text);
    let at = |name: &str, i: &str, j: &str| match form {
        1 => format!("{name}[{i}][{j}]"),
        _ => format!("{name}[{} * {width} + {j}]", bracketed(i)),
    };
    if m.chance(30) {
        // A sum of products.
        m.has(Construct::ComplexProducts);
        m.has(Construct::Reductions);
        let conj = m.one(&["conj", ""]);
        let conj = if conj.is_empty() { String::new() } else { format!("{conj}{f}") };
        return m.over(0, n, 0, Manner::ANY, |m, i| {
            let i = i.to_owned();
            let inner = m.over(0, o, 1, Manner::ANY, |_, k| {
                format!("sum += {conj}({}) * {};\n", at("za", &i, k), at("zb", &i, k))
            });
            format!("{ty} sum = 0;\n{inner}{} = 0.0625{f} * sum;\n", at("zb", &i, "0"))
        });
    }
    let order = m.order(2);
    let what = m.between(0, 9);
    m.nest(&[n, o], &order, (0, 1), Manner::ANY, &mut |m, index| {
        let (a, b) = (at("za", &index[0], &index[1]), at("zb", &index[0], &index[1]));
        match what {
            0 => {
                m.has(Construct::ComplexProducts);
                format!("{a} = 0.25{f} * {a} * {b};\n")
            }
            1 => {
                m.has(Construct::ComplexProducts);
                format!("{a} = {a} / ({b} * conj{f}({b}) + 1.0{f});\n")
            }
            2 => {
                m.has(Construct::ComplexFunctions);
                format!("{a} += cexp{f}(I * 0.5{f} * creal{f}({b}));\n")
            }
            3 => {
                m.has(Construct::ComplexFunctions);
                format!("{a} = csqrt{f}({b}) - cabs{f}({a});\n")
            }
            4 => format!("{ty} t0 = {a};\n{a} = {b};\n{b} = conj{f}(t0) * I;\n"),
            5 => format!("{a} *= I;\n{b} -= 2 * {a};\n"),
            6 => format!("if (creal{f}({a}) > cimag{f}({b}))\n    {a} = -{b};\nelse\n    {b} = {a} == {b} ? 1 : 0.5{f} * {a};\n"),
            7 => {
                m.has(Construct::ComplexParts);
                let of = real.0;
                format!("__real__ {a} = 0.5{f} * __imag__ {b};\n(({of} *)&{b})[1] = creal{f}({a});\n")
            }
            8 => format!("{} w0 = creal{f}({a}) * creal{f}({a}) + cimag{f}({a}) * cimag{f}({a});\n{a} = w0 > 4 ? {a} / 4 : w0;\n", real.0),
            _ => {
                m.has(Construct::ComplexProducts);
                format!("{a} = ({b} + 1.0{f} * I) * (0.25{f} - 0.5{f} * I) + {};\n", index[1])
            }
        }
    })
}

/// Pairs with functions and macros of their own.
pub(super) fn pairs(m: &mut Maker) -> String {
    m.has(Construct::Complex);
    m.has(Construct::ByValue);
    m.has(Construct::ArraysOfStructures);
    m.has(Construct::Structures);
    let (n, o) = (m.size(), m.size());
    let single = m.chance(25);
    let real = if single { ("float", "f") } else { ("double", "d") };
    let tag = m.global("dcomplex");
    let count = format!("(long)({} + 2) * ({} + 2)", m.sizes[n].value, m.sizes[o].value);
    let width = format!("((int)({}) + 2)", m.sizes[o].text);
    let text = match m.between(0, 1) {
        0 => format!("typedef struct {{ {} re, im; }} {tag};\n", real.0),
        _ => format!(
            "typedef struct number_{} {tag};\nstruct number_{} {{ {} re; {} im; }};\n",
            m.number, m.number, real.0, real.0
        ),
    };
    m.before += &text;
    numbers(m, &tag, real, &count);
    for name in ["za", "zb"] {
        m.parameter(2, name, format!("{tag} *{name}"), format!("{name}_data"));
    }
    let (times, plus, define) = (m.global("cmul"), m.global("cadd"), m.global("CADD"));
    m.before += &format!(
        "static inline {tag} {times}({tag} a, {tag} b)\n{{\n    {tag} c = {{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}};\n    return c;\n}}\n\
         static void {plus}(const {tag} *a, const {tag} *b, {tag} *c)\n{{\n    c->re = a->re + b->re;\n    c->im = a->im - b->im;\n}}\n\
         #define {define}(a, b, c) {{ (c).re = (a).re + (b).im; (c).im = (a).im - 0.5 * (b).re; }}\n"
    );
    let order = m.order(2);
    let what = m.between(0, 6);
    m.nest(&[n, o], &order, (0, 1), Manner::ANY, &mut |_, index| {
        let at = |name: &str, more: i64| {
            format!("{name}[{} * {width} + {}]", bracketed(&index[0]), super::parts::shifted(&index[1], more))
        };
        let (a, b) = (at("za", 0), at("zb", 0));
        match what {
            0 => format!("{tag} t0 = {times}({a}, {b});\n{a}.re = 0.25 * t0.re, {a}.im = 0.25 * t0.im;\n"),
            1 => format!("{a} = {times}({b}, ({tag}){{0.25, -0.5}});\n"),
            2 => format!("{plus}(&{a}, &{b}, &{a});\n"),
            3 => format!("{define}({a}, {b}, {b})\n{a}.im *= 0.5;\n"),
            4 => format!("{tag} *at = &{a};\nat->re += {b}.im;\n*at = {b};\nat->im = -at->im;\n"),
            5 => format!("{tag} t0 = {a};\n{a} = {b};\n{b} = t0;\n"),
            _ => format!("{}.re = 0.5 * {}.im;\n{a}.im = {b}.re;\n", at("za", 1), b),
        }
    })
}

/// The same memory as complex numbers and as twice as many reals.
pub(super) fn parts(m: &mut Maker) -> String {
    m.has(Construct::Complex);
    m.has(Construct::ComplexParts);
    m.has(Construct::AliasedMembers);
    let n = m.open_size();
    let count = format!("((long){} + 2)", m.sizes[n].value);
    numbers(m, "double complex", ("double", "d"), &count);
    m.parameter(2, "za", "double complex *za".into(), "za_data".into());
    m.parameter(2, "zb", "double complex *zb".into(), "zb_data".into());
    let how = m.one(&["parameter", "local"]);
    if how == "parameter" {
        let which = m.one(&["za_data", "zb_data", "za_data + 1"]);
        m.parameter(2, "parts", "double *parts".into(), format!("(double *)({which})"));
    } else {
        m.locals.push("double *parts = (double *)za;".into());
    }
    let form = m.between(0, 3);
    m.over(0, n, 1, Manner::ANY, |_, i| match form {
        0 => format!("za[{i}] = 0.5 * zb[{i}];\nparts[{i}] += 1;\n"),
        1 => format!("parts[2 * {0} + 1] = 0.25 * parts[2 * {0}];\nzb[{i}] = za[{i}] + I;\n", bracketed(i)),
        2 => format!("parts[{i} + 1] = creal(za[{i}]) - 0.5 * parts[{i}];\n"),
        _ => format!("za[{i} / 2] += parts[{i}] * 0.5;\nparts[{i}] = cimag(zb[{i}]);\n"),
    })
}
