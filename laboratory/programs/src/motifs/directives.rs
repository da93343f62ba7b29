//! Directives and clauses that few programs have.

use super::parts::{DISTINCT, READ, read, variable};
use crate::generate::{Construct, Element, Maker, Manner, as_small, indented};

/// `simd` with promises.
pub(super) fn simd(m: &mut Maker) -> String {
    m.has(Construct::Simd);
    m.own_counters = true;
    let n = m.open_size();
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, super::time::ELEMENTS);
    let b = m.array(&[n], element, super::time::ELEMENTS);
    let size = format!("(int)({})", m.sizes[n].text);
    let (x, y) = (a.name.clone(), b.name.clone());
    match m.between(0, 5) {
        0 => {
            // As far as lanes go, iterations are independent.
            m.has(Construct::SafeLength);
            let far = m.between(2, 8);
            let length = m.between(2, far);
            format!(
                "#pragma omp simd safelen({length})\nfor (int i = {far}; i < {size}; i++)\n    {x}[i] = 0.5 * {x}[i - {far}] + {y}[i];\n"
            )
        }
        1 => {
            m.has(Construct::SafeLength);
            let bytes = if element == Element::F64 { 8 } else { 4 };
            format!(
                "#pragma omp simd aligned({x}, {y}: {bytes})\nfor (int i = 0; i < {size}; i++)\n    {x}[i] += 0.25 * {y}[i];\n"
            )
        }
        2 => {
            m.has(Construct::SafeLength);
            m.has(Construct::Companions);
            format!(
                "int k = 1;\n#pragma omp simd linear(k:1)\nfor (int i = 0; i <= {size}; i++) {{\n    {x}[k] = 0.5 * {y}[i];\n    k++;\n}}\n{y}[0] += k;\n"
            )
        }
        3 => {
            m.has(Construct::ReductionClause);
            m.has(Construct::Reductions);
            m.returns = Some("long");
            let value = as_small(&read(&a, &["i".into()]));
            format!(
                "long result = 0;\n#pragma omp simd reduction(+:result)\nfor (int i = 0; i < {size}; i++)\n    result += {value};\nreturn result;\n"
            )
        }
        4 => {
            m.has(Construct::PrivateClause);
            format!(
                "{ty} half = 1;\n#pragma omp simd private(half)\nfor (int i = 0; i < {size}; i++) {{\n    half = 0.5 * {y}[i];\n    {x}[i] = half + half * {x}[i];\n}}\n{y}[0] += 1;\n"
            )
        }
        _ => {
            m.has(Construct::ParallelFor);
            format!(
                "#pragma omp parallel for simd schedule(static)\nfor (int i = 0; i < {size}; i++)\n    {x}[i] = 0.5 * {x}[i] + {y}[i];\n"
            )
        }
    }
}

/// Parallel loops with clauses about who may see what, and arrays of each thread.
pub(super) fn clauses(m: &mut Maker) -> String {
    m.has(Construct::ParallelFor);
    m.own_counters = true;
    let (n, o) = (m.open_size(), m.size_of("5", true));
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n, o], element, DISTINCT);
    let b = m.array(&[n], element, READ);
    let n_text = m.sizes[n].text.clone();
    let size = format!("(int)({n_text})");
    let (at, own) = (a.at(&["i", "j"]), b.at(&["i"]));
    match m.between(0, 8) {
        0 => {
            m.has(Construct::SharedClauses);
            let clause =
                m.one(&["if(t > 1)", "num_threads(2)", "if(parallel: t) num_threads(2)", "proc_bind(close)"]);
            let t = m.integer("t", "int", "t");
            format!(
                "#pragma omp parallel for {clause}\nfor (int i = 0; i < {size}; i++)\n    for (int j = 0; j < 5; j++)\n        {at} = 0.5 * {at} + {own} + {t};\n"
            )
        }
        1 => {
            m.has(Construct::PrivateArrays);
            m.has(Construct::PrivateScratch);
            m.has(Construct::PrivateClause);
            let (clause, first) = if m.chance(50) {
                m.has(Construct::FirstPrivate);
                ("firstprivate(mine)", 1)
            } else {
                ("private(mine)", 0)
            };
            format!(
                "{ty} mine[5] = {{0.5, 1}};\n#pragma omp parallel for {clause}\nfor (int i = 0; i < {size}; i++) {{\n    for (int j = {first}; j < 5; j++)\n        \
                 mine[j] = {own} + j;\n    for (int j = 0; j < 5; j++)\n        {at} = mine[j] * 0.5;\n}}\n"
            )
        }
        2 | 6 | 7 => {
            m.has(Construct::ArrayReductions);
            m.has(Construct::ReductionClause);
            m.has(Construct::Histograms);
            let bins = m.named("bins");
            m.setup.push(format!("int *{bins}_data = some_i(5, 3);"));
            m.shown.push(format!("show_i(\"{bins}\", {bins}_data, 5);"));
            m.parameter(2, &bins, format!("int *{bins}"), format!("{bins}_data"));
            let value = as_small(&read(&b, &["i".into()]));
            format!(
                "#pragma omp parallel for reduction(+:{bins}[:5])\nfor (int i = 0; i < {size}; i++)\n    {bins}[(({value}) % 5 + 5) % 5] += i % 3;\n"
            )
        }
        3 => {
            m.has(Construct::ReductionClause);
            m.has(Construct::Reductions);
            m.returns = Some("int");
            let value = as_small(&read(&b, &["i".into()]));
            let (op, start, body) = match m.between(0, 4) {
                0 => ("min", "1000", format!("if ({value} < result)\n        result = {value};")),
                1 => ("|", "4", format!("result |= {value} & 63;")),
                2 => ("&&", "1", format!("result = result && {value} < 5;")),
                3 => ("-", "7", format!("result -= {value};")),
                _ => ("*", "1", format!("result *= {value} % 2 ? 1 : -1;")),
            };
            format!(
                "int result = {start};\n#pragma omp parallel for reduction({op}:result)\nfor (int i = 0; i < {size}; i++)\n    {body}\nreturn result;\n"
            )
        }
        4 => {
            // The inner loop is the parallel one.
            format!(
                "for (int step = 0; step < 2; step++)\n    for (int j = 0; j < 5; j++)\n#pragma omp parallel for\n        for (int i = 0; i < {size}; i++)\n            {at} = 0.5 * {at} + {own} * step;\n"
            )
        }
        _ => {
            m.has(Construct::PragmaOperators);
            let define = "#define PARALLEL _Pragma(\"omp parallel for\")\n";
            m.before = format!("#undef PARALLEL\n{define}{}", m.before);
            let head = m.one(&["PARALLEL\n", "_Pragma(\"omp parallel for\")\n", "PARALLEL "]);
            let value = m.value(element, &[variable(&own, element), variable(&at, element)], &[]);
            format!(
                "{head}for (int i = 0; i < {size}; i++)\n    for (int j = 0; j < 5; j++)\n        {at} = {value};\n"
            )
        }
    }
}

/// Constructs in which loops stay as they are, around and beside others.
pub(super) fn others(m: &mut Maker) -> String {
    m.has(Construct::Ordered);
    m.has(Construct::ParallelRegion);
    m.own_counters = true;
    let n = m.open_size();
    let element = m.float();
    let a = m.array(&[n], element, super::time::ELEMENTS);
    let b = m.array(&[n], element, super::time::ELEMENTS);
    let size = format!("(int)({})", m.sizes[n].text);
    let (x, y) = (a.name.clone(), b.name.clone());
    let simple = |to: &str, from: &str| {
        format!("for (int i = 0; i < {size}; i++)\n    {to}[i] = 0.5 * {from}[i] + {to}[i];\n")
    };
    match m.between(0, 5) {
        0 => format!(
            "#pragma omp parallel for ordered\nfor (int i = 0; i < {size}; i++) {{\n    {y}[i] *= 0.5;\n    #pragma omp ordered\n    {x}[i + 1] = 0.5 * {x}[i] + {y}[i];\n}}\n"
        ),
        1 => {
            m.has(Construct::Atomics);
            format!(
                "#pragma omp parallel\n{{\n    #pragma omp master\n    {{\n{}    }}\n    #pragma omp barrier\n    #pragma omp for\n{}}}\n",
                indented(&indented(&simple(&y, &x))),
                indented(&simple(&x, &y))
            )
        }
        2 => {
            m.has(Construct::Atomics);
            format!(
                "#pragma omp parallel\n#pragma omp single\n{{\n    #pragma omp task\n    {{\n{}    }}\n    #pragma omp taskwait\n    {}}}\n",
                indented(&indented(&simple(&y, &x))),
                indented(&simple(&x, &y)).trim_start()
            )
        }
        3 => {
            // Each thread does all of it, in memory of its own.
            m.has(Construct::PrivateScalars);
            format!(
                "double all = 0;\n#pragma omp parallel num_threads(2)\n{{\n    double own = 0;\n    for (int i = 0; i < {size}; i++)\n        own += {x}[i] * 0.5;\n    \
                 #pragma omp critical\n    all = own;\n    #pragma omp barrier\n    #pragma omp for\n{}}}\n{x}[0] += all;\n",
                indented(&simple(&y, &x))
            )
        }
        4 => format!(
            "#pragma omp parallel sections\n{{\n    #pragma omp section\n    {{\n{}    }}\n    #pragma omp section\n    {{\n        {y}[0] = {y}[0] * 0.5;\n    }}\n}}\n",
            indented(&indented(&format!("for (int i = 0; i < {size}; i++)\n    {x}[i] *= 0.25;\n")))
        ),
        _ => m.over(0, n, 1, Manner::CANONICAL, |_, i| {
            format!("#pragma omp parallel\n{{\n    #pragma omp single\n    {x}[{i}] += {y}[{i}] * 0.5;\n}}\n")
        }),
    }
}
