//! Loops under the directives of OpenMP.

use super::parts::{DISTINCT, READ, read, variable};
use crate::generate::{Construct, Element, Maker, Manner, Operand, indented};

/// What loops that threads share are made of: sizes, an array that is written, arrays that are read.
struct Shared {
    dims: Vec<usize>,
    target: Operand,
    sources: Vec<Operand>,
}

impl Shared {
    fn new(m: &mut Maker) -> Self {
        m.own_counters = true;
        let n_dims = m.between(1, 2);
        let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
        let element = m.element();
        let target = m.array(&dims, element, DISTINCT);
        let sources = (0..m.between(1, 2))
            .map(|_| {
                let element = m.element();
                m.array(&dims, element, READ)
            })
            .collect();
        Self { dims, target, sources }
    }

    /// A loop whose iterations are independent, with so many loops perfectly inside each other; `more` is read as well.
    fn independent(&self, m: &mut Maker, more: &[crate::generate::Read], hints: bool) -> (String, usize) {
        let Shared { dims, target, sources } = self;
        let reach = m.between(0, 1) as i64;
        let text =
            m.nest(dims, &(0..dims.len()).collect::<Vec<_>>(), (1, 1), Manner::CANONICAL, &mut |m, at| {
                let mut reads = m.reads(sources, at, reach);
                reads.truncate(4);
                reads.push(read(target, at));
                reads.extend_from_slice(more);
                let value = m.value(target.element, &reads, at);
                m.assignment(&target.at(at), target.element, &value)
            });
        if hints && dims.len() == 2 {
            let hint = m.hint();
            if !hint.is_empty() {
                // Above the inner loop.
                let at = text[1..].find("for (").map(|at| at + 1);
                if let Some(at) = at.and_then(|at| text[..at].rfind('\n')) {
                    let (outer, inner) = text.split_at(at + 1);
                    return (format!("{outer}{hint}{inner}"), 1);
                }
            }
        }
        (text, dims.len())
    }
}

/// `parallel for`.
pub(super) fn independent(m: &mut Maker) -> String {
    m.has(Construct::ParallelFor);
    let shared = Shared::new(m);
    let mut clauses = String::new();
    let mut more = Vec::new();
    if m.chance(25) {
        m.has(Construct::FirstPrivate);
        m.locals.push("double factor = 0.75;".into());
        more.push(variable("factor", Element::F64));
        clauses += " firstprivate(factor)";
    }
    let word = m.one(&["parallel for", "parallel for", "parallel for simd", "simd"]);
    if word.ends_with("simd") {
        m.has(Construct::Simd);
        let (text, _) = shared.independent(m, &[], false);
        // Nothing of the above is a clause of all of these.
        return format!("#pragma omp {word}\n{text}");
    }
    let (text, depth) = shared.independent(m, &more, true);
    let directive = m.directive(word, depth, &clauses);
    let mut text = format!("{directive}{text}");
    if m.chance(25) {
        text = format!("#ifdef _OPENMP\n{directive}#endif\n{}", &text[directive.len()..]);
    }
    text
}

/// A region with several loops, with private variables and without barriers where none is needed.
pub(super) fn region(m: &mut Maker) -> String {
    m.has(Construct::ParallelRegion);
    let (first, second) = (Shared::new(m), Shared::new(m));
    m.has(Construct::PrivateClause);
    m.locals.push("double mine = 0;".into());
    m.locals.push("int i, j;".into());
    let size = m.sizes[first.dims[0]].text.clone();
    // A loop with counters from outside of the region.
    let at: Vec<String> = ["i", "j"][..first.dims.len()].iter().map(|s| (*s).to_owned()).collect();
    let value =
        m.value(first.target.element, &[read(&first.target, &at), variable("mine", Element::F64)], &at);
    let store = m.assignment(&first.target.at(&at), first.target.element, &value);
    let inner = match first.dims.get(1) {
        Some(dim) => {
            format!(
                "for (j = 0; j < {}; j++) {{\n    mine = 0.25 * (i % 3);\n    {store}}}\n",
                m.sizes[*dim].text
            )
        }
        None => format!("mine = 0.5 * (i % 2);\n{store}"),
    };
    let outer = format!("for (i = 0; i < {size}; i++) {{\n{}}}\n", indented(&inner));
    let (other, depth) = second.independent(m, &[], true);
    let nowait = if m.chance(50) {
        m.has(Construct::NoWait);
        " nowait"
    } else {
        ""
    };
    let one = m.directive("for", 1, nowait);
    let two = m.directive("for", depth, "");
    let mut inside = format!("{one}{outer}{two}{other}");
    if m.chance(30) {
        let (again, depth) = first.independent(m, &[], false);
        let three = m.directive("for", depth, "");
        if nowait.is_empty() {
            inside = format!("{inside}{three}{again}");
        }
    }
    let counts = m.one(&["", " num_threads(2)"]);
    format!("#pragma omp parallel private(i, j, mine){counts}\n{{\n{}}}\n", indented(&inside))
}

/// Sums and extrema that threads have parts of; whole numbers, whose sums do not depend on the order.
pub(super) fn reduction(m: &mut Maker) -> String {
    m.has(Construct::ReductionClause);
    m.has(Construct::ParallelFor);
    m.has(Construct::Reductions);
    m.own_counters = true;
    let n_dims = m.between(1, 2);
    let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
    let element = m.element();
    let a = m.array(&dims, element, READ);
    let (op, ty, start) = match m.between(0, 4) {
        0 => ("+", "long", "0"),
        1 => ("max", "int", "-100000"),
        2 => ("^", "unsigned", "0"),
        3 => ("+", "unsigned", "1"),
        _ => ("+", "double", "0"),
    };
    m.returns = Some(ty);
    m.locals.push(format!("{ty} result = {start};"));
    let text = m.nest(&dims, &(0..n_dims).collect::<Vec<_>>(), (0, 0), Manner::CANONICAL, &mut |m, at| {
        let value = crate::generate::as_small(&read(&a, at));
        match op {
            "max" => format!("if ({value} > result)\n    result = {value};\n"),
            "^" => format!("result ^= {value} & {};\n", m.between(3, 60)),
            _ => format!("result += {value} * {};\n", m.between(1, 5)),
        }
    });
    let directive = m.directive("parallel for", n_dims, &format!(" reduction({op}:result)"));
    format!("{directive}{text}return result;\n")
}

/// Values that the last iteration leaves.
pub(super) fn last(m: &mut Maker) -> String {
    m.has(Construct::LastPrivate);
    m.has(Construct::ParallelFor);
    let shared = Shared::new(m);
    let n = shared.dims[0];
    let element = shared.target.element;
    let ty = element.c();
    m.returns = Some(ty);
    m.locals.push(format!("{ty} left = 1;"));
    // At least one iteration: else nobody says what is left.
    let text = m.over(0, n, 1, Manner::CANONICAL, |m, i| {
        let mut at = vec![i.to_owned()];
        at.resize(shared.dims.len(), "1".to_owned());
        let value = m.value(element, &[read(&shared.sources[0], &at)], &at[..1]);
        format!("left = {value};\n{} = left;\n", shared.target.at(&at))
    });
    // With other schedules LLVM's runtime now and then forgets the last value.
    let schedule = m.one(&["", " schedule(static)", " schedule(static, 2)"]);
    format!("#pragma omp parallel for{schedule} lastprivate(left)\n{text}return left;\n")
}

/// A function whose loop is shared by the team of its caller.
pub(super) fn orphaned(m: &mut Maker) -> String {
    m.has(Construct::Orphaned);
    m.has(Construct::ParallelRegion);
    m.own_counters = true;
    let n = m.open_size();
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, super::time::ELEMENTS);
    let b = m.array(&[n], element, super::time::ELEMENTS);
    let name = m.global("team");
    m.has(Construct::ScheduleClause);
    let schedule = m.one(&["", " schedule(static)", " schedule(dynamic, 2)"]);
    m.before += &format!(
        "static void {name}(int count, {ty} *x, {ty} *y)\n{{\n    int i;\n    #pragma omp for{schedule}\n    \
         for (i = 0; i < count; i++)\n        x[i] = 0.5 * y[i] + 0.25 * x[i];\n}}\n"
    );
    let size = m.sizes[n].text.clone();
    let (x, y) = (a.name, b.name);
    let steps = m.integer("steps", "int", "t + 1");
    let back = if m.chance(50) { format!("        {name}({size}, {y}, {x});\n") } else { String::new() };
    format!(
        "#pragma omp parallel\n{{\n    for (int step = 0; step < {steps}; step++) {{\n        {name}({size}, {x}, {y});\n{back}    }}\n}}\n"
    )
}

/// A loop that a team runs together around loops that it divides, which hand a row on to each other.
pub(super) fn together(m: &mut Maker) -> String {
    m.has(Construct::Together);
    m.has(Construct::ParallelRegion);
    m.has(Construct::PrivateClause);
    m.own_counters = true;
    let dims = [m.size(), m.size()];
    let element = m.float();
    let ty = element.c();
    let a = m.array(&dims, element, READ);
    let b = m.array(&dims, element, DISTINCT);
    let row = m.array(&dims[..1], element, DISTINCT);
    let (n, rounds) = (m.sizes[dims[0]].text.clone(), m.sizes[dims[1]].text.clone());
    m.locals.push("int i, j, left = 0;".into());
    let at: Vec<String> = ["i", "j"].map(str::to_owned).to_vec();
    let there = vec!["i".to_owned()];
    let first = vec!["0".to_owned()];
    let value = m.value(element, &[read(&a, &at), read(&b, &at)], &at);
    let fill = m.assignment(&row.at(&there), element, &value);
    let reads = [read(&b, &at), read(&row, &there), read(&row, &first), variable("weight", element)];
    let value = m.value(element, &reads, &at);
    let use_it = m.assignment(&b.at(&at), element, &value);
    let (one, two) = (m.directive("for", 1, ""), m.directive("for", 1, ""));
    // Barriers of their own in place of those of the loops.
    let (nowait, barrier) = if m.chance(30) {
        m.has(Construct::NoWait);
        (" nowait\n", "#pragma omp barrier\n")
    } else {
        ("\n", "")
    };
    let (one, two) = (one.replace('\n', nowait), two.replace('\n', nowait));
    let declared = m.chance(50);
    let set = if declared { "" } else { "left = j / 2;\n" };
    let left = if declared { "(j / 2)" } else { "left" };
    let inside = format!(
        "{set}{one}for (i = 0; i < {n}; i++) {{\n{}}}\n{barrier}{two}for (i = 0; i < {n}; i++) {{\n    {ty} weight = {left} % 3 * 0.25;\n{}}}\n{barrier}",
        indented(&fill),
        indented(&use_it)
    );
    let loops = format!("for (j = 0; j < {rounds}; j++) {{\n{}}}\n", indented(&inside));
    let region = "#pragma omp parallel private(i, j, left)\n";
    if m.chance(40) { format!("{region}{loops}") } else { format!("{region}{{\n{}}}\n", indented(&loops)) }
}

/// Directives that keep their loop as it is.
pub(super) fn kept(m: &mut Maker) -> String {
    m.has(Construct::Atomics);
    m.own_counters = true;
    let n = m.size();
    let a = m.array(&[n], Element::I32, READ);
    let form = m.between(0, 2);
    m.returns = Some("long");
    m.locals.push("long result = 0;".into());
    let inner = m.over(0, n, 0, Manner::CANONICAL, |_, i| {
        let value = crate::generate::as_small(&read(&a, &[i.to_owned()]));
        match form {
            0 => format!("#pragma omp atomic\nresult += {value};\n"),
            _ => format!("#pragma omp critical\nresult += {value};\n"),
        }
    });
    match form {
        2 => {
            let alone = m.over(0, n, 1, Manner::CANONICAL, |_, i| format!("result += {i} % 3;\n"));
            format!(
                "#pragma omp parallel\n{{\n    #pragma omp single\n    {{\n{}    }}\n    #pragma omp for\n{}}}\nreturn result;\n",
                indented(&indented(&alone)),
                indented(&inner)
            )
        }
        _ => format!("#pragma omp parallel for\n{inner}return result;\n"),
    }
}
