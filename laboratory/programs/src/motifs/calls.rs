//! Calls inside of loops: of the file's own functions, and of others.

use super::parts::{READ, WRITTEN, read};
use crate::generate::{Construct, Element, Maker, Manner, indented};

/// A small function with a loop, and often with an early return.
pub(super) fn small_function(m: &mut Maker) -> String {
    m.has(Construct::SmallFunctions);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[o], element, super::time::ELEMENTS);
    let x = m.array(&[n], element, WRITTEN);
    let name = m.global("small");
    let form = m.between(0, 3);
    let unused = m.chance(30);
    if unused {
        m.has(Construct::UnusedParameters);
    }
    let (more, given) = if unused { (", int channels", ", 3") } else { ("", "") };
    let storage = m.one(&["static ", "static inline "]);
    let text = match form {
        0 => format!(
            "{storage}{ty} {name}(const {ty} *p, int count{more})\n{{\n    {ty} sum = 0;\n    for (int q = 0; q < count; q++)\n        \
             sum += p[q];\n    return sum;\n}}\n"
        ),
        1 => {
            m.has(Construct::EarlyReturns);
            format!(
                "{storage}{ty} {name}(const {ty} *p, int count{more})\n{{\n    if (count < 2)\n        return 0.5;\n    \
                 {ty} best = p[0];\n    for (int q = 1; q < count; q++)\n        if (p[q] > best)\n            best = p[q];\n    \
                 return best;\n}}\n"
            )
        }
        2 => {
            m.has(Construct::EarlyReturns);
            m.has(Construct::Searches);
            format!(
                "{storage}int {name}(const {ty} *p, int count{more})\n{{\n    for (int q = 0; q < count; q++)\n        \
                 if (p[q] > 2)\n            return q;\n    return -1;\n}}\n"
            )
        }
        _ => {
            m.has(Construct::EarlyReturns);
            format!(
                "{storage}{ty} {name}(const {ty} *p, int count{more})\n{{\n    if (*p < 0 && count > 3)\n        return -*p;\n    \
                 return *p * 0.5 + count % 3;\n}}\n"
            )
        }
    };
    m.before += &text;
    let size = m.sizes[o].text.clone();
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let count = match m.between(0, 2) {
            0 => size.clone(),
            1 => format!("{i} % ((int)({size}) + 1)"),
            _ => "2".to_owned(),
        };
        let target = x.at(&[i]);
        format!("{target} = 0.25 * {target} + {name}({}, {count}{given});\n", a.name)
    })
}

/// A function that writes through two pointers.
pub(super) fn writes_twice(m: &mut Maker) -> String {
    m.has(Construct::WritesThroughPointers);
    m.has(Construct::SmallFunctions);
    let (n, o) = (m.open_size(), m.size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, super::time::ELEMENTS);
    let b = m.array(&[n], element, super::time::ELEMENTS);
    let w = m.array(&[o], element, WRITTEN);
    let name = m.global("both");
    let whole = m.chance(50);
    m.before += &if whole {
        format!(
            "static void {name}(int count, {ty} *x, {ty} *y, {ty} by)\n{{\n    for (int q = 0; q < count; q++) {{\n        \
             x[q] = 0.5 * y[q] + by;\n        y[q] = 0.25 * x[q];\n    }}\n}}\n"
        )
    } else {
        format!(
            "static void {name}(int q, {ty} *x, {ty} *y, {ty} by)\n{{\n    x[q] = 0.5 * x[q] + by;\n    y[q] -= 0.25 * x[q];\n}}\n"
        )
    };
    let (of_a, of_b) = (a.name, b.name);
    if whole {
        let count = m.sizes[n].text.clone();
        m.over(0, o, 0, Manner::ANY, |_, i| {
            let at = w.at(&[i]);
            format!("{name}({count}, {of_a}, {of_b}, {at});\n{at} *= 0.5;\n")
        })
    } else {
        m.over(0, o, 0, Manner::ANY, |m, j| {
            let j = j.to_owned();
            m.over(0, n, 1, Manner::ANY, |_, i| format!("{name}({i}, {of_a}, {of_b}, {});\n", w.at(&[&j])))
        })
    }
}

/// A function that changes file-scope arrays and counters.
pub(super) fn file_scope(m: &mut Maker) -> String {
    m.has(Construct::FileScope);
    m.has(Construct::SmallFunctions);
    let n = m.size();
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let (table, calls, name) = (m.global("table"), m.global("calls"), m.global("tick"));
    m.before += &format!("static {ty} {table}[M + 4];\nstatic int {calls};\n");
    m.setup.push(format!("fill_{helper}({table}, M + 4, 8);\n    {calls} = kind;"));
    m.shown.push(format!("show_{helper}(\"{table}\", {table}, M + 4);"));
    m.shown.push(format!("printf(\"{calls} %d\\n\", {calls});"));
    let form = m.between(0, 2);
    m.before += &match form {
        0 => format!(
            "static {ty} {name}(int q)\n{{\n    {table}[q % (M + 4)] += 0.25;\n    return {table}[(q + 1) % (M + 4)];\n}}\n"
        ),
        1 => format!(
            "static {ty} {name}(int q)\n{{\n    {calls}++;\n    for (int k = 0; k < M; k++)\n        {table}[k] = 0.5 * {table}[k + 1];\n    \
             return {table}[0] + q % 2;\n}}\n"
        ),
        _ => format!("static {ty} {name}(int q)\n{{\n    return {table}[q % 3] * 0.5;\n}}\n"),
    };
    let x = m.array(&[n], element, WRITTEN);
    // The array that the function names may be passed as well.
    let pass = m.chance(40);
    if pass {
        m.parameter(2, "passed", format!("{ty} *passed"), table);
    }
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let more = if pass { " + 0.5 * passed[1]" } else { "" };
        let store =
            if pass && m.chance(50) { format!("passed[2] = {};\n", x.at(&[i])) } else { String::new() };
        let target = x.at(&[i]);
        format!("{target} = 0.25 * {target} + {name}({i}){more};\n{store}")
    })
}

/// Prints and timers between nests.
pub(super) fn outer_prints(m: &mut Maker) -> String {
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let a = m.array(&[n, o], element, WRITTEN);
    let steps = m.integer("steps", "int", "t + 1");
    let order = m.order(2);
    let body = m.nest(&[n, o], &order, (0, 0), Manner::ANY, &mut |m, at| {
        let value = m.value(element, &[read(&a, at)], at);
        m.assignment(&a.at(at), element, &value)
    });
    let form = m.between(0, 2);
    let (before, after) = match form {
        0 => {
            m.has(Construct::Prints);
            (String::new(), format!("printf(\"%d %.15g\\n\", step, (double){});\n", a.at(&["0", "1"])))
        }
        1 => {
            m.has(Construct::Clocks);
            m.locals.push("clock_t spent = 0;".into());
            ("clock_t began = clock();\n".to_owned(), "spent += clock() - began;\n".to_owned())
        }
        _ => {
            m.has(Construct::Prints);
            m.has(Construct::Clocks);
            (
                "struct timespec now;\nclock_gettime(CLOCK_MONOTONIC, &now);\n".to_owned(),
                "if (step % 2)\n    printf(\"step %d\\n\", step);\n".to_owned(),
            )
        }
    };
    let end = if form == 1 { "if (spent < 0)\n    printf(\"never\\n\");\n" } else { "" };
    format!(
        "for (int step = 0; step < {steps}; step++) {{\n{}}}\n{end}",
        indented(&(before + &body + &after))
    )
}

/// `memset` and `memcpy` between and inside of loops.
pub(super) fn copies(m: &mut Maker) -> String {
    m.has(Construct::Memory);
    let (n, o) = (m.size(), m.open_size());
    let element = m.element();
    let a = m.array(&[o], element, super::time::ELEMENTS);
    let b = m.array(&[o], element, super::time::ELEMENTS);
    let w = m.array(&[n], Element::I32, READ);
    let size = m.sizes[o].text.clone();
    let (x, y) = (a.name.clone(), b.name.clone());
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let i = i.to_owned();
        let copy = match m.between(0, 3) {
            0 => format!("memset({x}, 0, {size} * sizeof *{x});\n"),
            1 => format!("memcpy({y}, {x}, {size} * sizeof *{y});\n"),
            2 => format!("memset({y}, 0, ({size} + 1) * sizeof({}));\n", element.c()),
            _ => format!("memmove({x}, {y}, {size} * sizeof *{x});\n"),
        };
        let inner = m.over(0, o, 1, Manner::ANY, |m, j| {
            let at = [j.to_owned()];
            let reads = [read(&b, &at), read(&w, std::slice::from_ref(&i))];
            let value = m.value(element, &reads, &at);
            m.assignment(&a.at(&at), element, &value)
        });
        let then = m.over(0, o, 0, Manner::ANY, |m, j| {
            let at = [j.to_owned()];
            let value = m.value(element, &[read(&a, &at)], &at);
            m.assignment(&b.at(&at), element, &value)
        });
        match m.between(0, 2) {
            0 => copy + &inner,
            1 => inner + &copy + &then,
            _ => copy + &inner + &then,
        }
    })
}
