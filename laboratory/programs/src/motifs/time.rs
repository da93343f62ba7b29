//! Time loops: buffers that take turns.

use super::parts::{READ, read, shifted};
use crate::generate::{Construct, Element, Maker, Manner, Read, Wish, indented};

/// A pointer to elements in a row.
const POINTER: Wish = Wish { written: true, distinct: true, pointer: true };

/// A sweep of one buffer into another over one or two dimensions, as reads and stores of `[i]` or `[i * width + j]`.
struct Field {
    dims: Vec<usize>,
    width: String,
    element: Element,
}

impl Field {
    fn new(m: &mut Maker) -> Self {
        let n_dims = m.between(1, 2);
        let dims: Vec<usize> = (0..n_dims).map(|_| m.size()).collect();
        let width = dims.get(1).map_or(String::new(), |d| format!("({} + 2)", m.sizes[*d].text));
        Self { dims, width, element: m.float() }
    }

    /// Elements of a buffer, in the caller.
    fn count(&self, m: &Maker) -> String {
        let extents: Vec<String> = self.dims.iter().map(|d| format!("({} + 2)", m.sizes[*d].value)).collect();
        format!("(long){}", extents.join(" * "))
    }

    fn at(&self, buffer: &str, at: &[String]) -> String {
        match at {
            [i] => format!("{buffer}[{i}]"),
            [i, j] => format!("{buffer}[{} * {} + {j}]", crate::generate::bracketed(i), self.width),
            _ => String::new(),
        }
    }

    /// `to` from the neighbours in `from`.
    fn sweep(&self, m: &mut Maker, to: &str, from: &str, older: Option<&str>) -> String {
        let order = m.order(self.dims.len());
        m.nest(&self.dims, &order, (1, 1), Manner::EVERY, &mut |m, at| {
            let mut reads = vec![Read { text: self.at(from, at), element: self.element }];
            for dim in 0..at.len() {
                for by in [-1, 1] {
                    let mut near = at.to_vec();
                    near[dim] = shifted(&near[dim], by);
                    reads.push(Read { text: self.at(from, &near), element: self.element });
                }
            }
            if let Some(older) = older {
                reads.push(Read { text: self.at(older, at), element: self.element });
            }
            let value = m.value(self.element, &reads, &[]);
            format!("{} = {value};\n", self.at(to, at))
        })
    }

    /// A parameter that is a buffer.
    fn buffer(&self, m: &mut Maker) -> (String, String) {
        let (ty, helper) = (self.element.c(), self.element.helper());
        let name = m.name();
        let (data, seed, count) = (format!("{name}_data"), m.between(1, 999), self.count(m));
        m.setup.push(format!("{ty} *{data} = some_{helper}({count}, {seed});"));
        m.shown.push(format!("show_{helper}(\"{name}\", {data}, {count});"));
        m.parameter(2, &name, format!("{ty} *{name}"), data.clone());
        (name, data)
    }
}

/// `u[t % 2]`, one array of all time levels.
pub(super) fn by_modulus(m: &mut Maker) -> String {
    m.has(Construct::Rotating);
    let n_levels = m.between(2, 3);
    let (n, o) = (m.size(), m.size());
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let value = |m: &Maker, d: usize| format!("({} + 2)", m.sizes[d].value);
    let count = format!("(long){n_levels} * {} * {}", value(m, n), value(m, o));
    m.setup.push(format!("{ty} *u_data = some_{helper}({count}, 17);"));
    m.shown.push(format!("show_{helper}(\"u\", u_data, {count});"));
    m.plain_types = false;
    let rows = format!("[{} + 2][{} + 2]", m.sizes[n].text, m.sizes[o].text);
    if m.is_open(n) && m.is_open(o) && m.chance(60) {
        m.has(Construct::VariableLengths);
        m.parameter(2, "u", format!("{ty} (*u){rows}"), "(void *)u_data".into());
    } else {
        m.has(Construct::CastRows);
        m.parameter(2, "data", "void *data".into(), "u_data".into());
        m.locals.push(format!("{ty} (*u){rows} = data;"));
    }
    let steps = m.integer("steps", "int", "2 * t + 1");
    let order = m.order(2);
    let named = m.chance(40);
    let level = |by: usize| match (named, by) {
        (true, _) => format!("t{by}"),
        (false, 0) => format!("step % {n_levels}"),
        (false, by) => format!("(step + {by}) % {n_levels}"),
    };
    let body = m.nest(&[n, o], &order, (1, 1), Manner::EVERY, &mut |m, at| {
        let from = level(0);
        let mut reads: Vec<Read> = Vec::new();
        for (dim, by) in [(0, -1), (0, 1), (1, -1), (1, 1), (0, 0)] {
            let mut near = at.to_vec();
            near[dim] = shifted(&near[dim], by);
            reads.push(Read { text: format!("u[{from}][{}][{}]", near[0], near[1]), element });
        }
        if n_levels == 3 {
            reads.push(Read { text: format!("u[{}][{}][{}]", level(2), at[0], at[1]), element });
        }
        let value = m.value(element, &reads, &[]);
        format!("u[{}][{}][{}] = {value};\n", level(1), at[0], at[1])
    });
    let mut declared = String::new();
    if named {
        for by in 0..n_levels {
            declared += &format!("int t{by} = (step + {by}) % {n_levels};\n");
        }
    }
    format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&(declared + &body)))
}

/// The time levels among the variables of the loop's head.
pub(super) fn by_header(m: &mut Maker) -> String {
    m.has(Construct::Rotating);
    m.has(Construct::SeveralCounters);
    let field = Field::new(m);
    let n_levels = m.between(2, 3);
    let (ty, helper) = (field.element.c(), field.element.helper());
    let count = field.count(m);
    m.setup.push(format!("{ty} *u_data = some_{helper}({n_levels} * ({count}), 23);"));
    m.shown.push(format!("show_{helper}(\"u\", u_data, {n_levels} * ({count}));"));
    m.parameter(2, "u", format!("{ty} *u"), "u_data".into());
    let plane = m.integer("plane", "long", &count);
    let steps = m.integer("steps", "int", "t + 2");
    let body = field.sweep(m, &format!("(u + t1 * {plane})"), &format!("(u + t0 * {plane})"), None);
    format!(
        "for (int step = 0, t0 = 0, t1 = 1; step < {steps}; step++, t0 = step % {n_levels}, t1 = (step + 1) % {n_levels}) {{\n{}}}\n",
        indented(&body)
    )
}

/// `from = step & 1 ? b : a`.
pub(super) fn by_condition(m: &mut Maker) -> String {
    m.has(Construct::ConditionalPointers);
    let field = Field::new(m);
    let ty = field.element.c();
    let ((a, _), (b, _)) = (field.buffer(m), field.buffer(m));
    let steps = m.integer("steps", "int", "2 * t");
    let body = field.sweep(m, "to", "from", None);
    let test = m.one(&["step & 1", "step % 2", "step % 2 == 1"]);
    format!(
        "for (int step = 0; step < {steps}; step++) {{\n    {ty} *from = {test} ? {b} : {a}, *to = {test} ? {a} : {b};\n{}}}\n",
        indented(&body)
    )
}

/// Two pointers that change places.
pub(super) fn by_swap(m: &mut Maker) -> String {
    m.has(Construct::Swaps);
    let field = Field::new(m);
    let ty = field.element.c();
    let ((a, _), (b, _)) = (field.buffer(m), field.buffer(m));
    let steps = m.integer("steps", "int", "t + 1");
    let body = field.sweep(m, &b, &a, None);
    let border = if m.chance(40) && field.dims.len() == 1 {
        format!("{b}[0] = 0.5 * {a}[0];\n")
    } else {
        String::new()
    };
    let read_after = if m.chance(40) { format!("{a}[0] += 0.25;\n") } else { String::new() };
    let text = if m.chance(40) {
        // The sweep is a function of its own.
        m.has(Construct::SmallFunctions);
        let name = m.global("swept");
        m.before += &format!(
            "static void {name}(int n, {ty} *y, {ty} *x)\n{{\n    for (int i = 1; i < n - 1; i++)\n        \
             y[i] = 0.5 * x[i] + 0.25 * (x[i - 1] + x[i + 1]);\n}}\n"
        );
        let count = m.integer("count", "int", &field.count(m));
        format!("{name}({count}, {b}, {a});\n")
    } else {
        body
    };
    format!(
        "for (int step = 0; step < {steps}; step++) {{\n{}    {ty} *old = {a};\n    {a} = {b};\n    {b} = old;\n}}\n{read_after}",
        indented(&(border + &text))
    )
}

/// Three pointers that rotate.
pub(super) fn by_three_swaps(m: &mut Maker) -> String {
    m.has(Construct::ThreeWaySwaps);
    let field = Field::new(m);
    let ty = field.element.c();
    let ((a, _), (b, _), (c, _)) = (field.buffer(m), field.buffer(m), field.buffer(m));
    let steps = m.integer("steps", "int", "t + 2");
    let body = field.sweep(m, &c, &b, Some(&a));
    let (source, position) = (field.dims[0], m.between(0, 1));
    let extra = if m.chance(40) {
        let element = field.element;
        let w = m.array(&[source], element, READ);
        let at = [position.to_string()];
        format!("{c}[0] = {};\n", read(&w, &at).text)
    } else {
        String::new()
    };
    format!(
        "for (int step = 0; step < {steps}; step++) {{\n{}    {ty} *old = {a};\n    {a} = {b};\n    {b} = {c};\n    {c} = old;\n}}\n",
        indented(&(body + &extra))
    )
}

/// Steps that now and then print, call what prints, or end the loop.
pub(super) fn now_and_then(m: &mut Maker) -> String {
    m.has(Construct::Prints);
    let field = Field::new(m);
    let ((a, _), (b, _)) = (field.buffer(m), field.buffer(m));
    let steps = m.integer("steps", "int", "3 * t + 5");
    let every = m.integer("every", "int", "t + 2");
    let by = m.between(1, 3);
    let swaps = m.chance(30);
    let mut sweeps = field.sweep(m, &b, &a, None);
    if swaps {
        let ty = field.element.c();
        sweeps += &format!("{ty} *old = {a};\n{a} = {b};\n{b} = old;\n");
    } else {
        sweeps += &field.sweep(m, &a, &b, None);
    }
    if m.chance(15) {
        // What the condition depends on changes in every step.
        sweeps += &format!("{every} += {every} < 5;\n");
    }
    let mut asked = || {
        let condition = match m.between(0, 7) {
            0 | 1 => format!("step % {every} == 0"),
            2 => format!("step % 3 == {}", m.between(0, 2)),
            3 => format!("!(step % {every})"),
            4 => "(step & 3) == 0 && step > 2".to_owned(),
            5 => format!("step == {}", m.between(0, 9)),
            6 => format!("step + 1 == {steps} || step % {every} == 1"),
            _ => format!("step >= {}", m.between(2, 9)),
        };
        let print = format!("printf(\"%d %.15g\\n\", step, (double){a}[0]);");
        let does = match m.between(0, 5) {
            0 => format!("{{\n    {print}\n    {every}++;\n}}"),
            1 => format!("{{\n    {print}\n    if ({a}[1] > 3)\n        break;\n}}"),
            2 => format!("{{\n    {print}\n    {a}[1] *= 0.5;\n}}"),
            3 => format!("{{\n    {print}\n    continue;\n}}"),
            _ => print,
        };
        format!("if ({condition})\n{}", indented(&(does + "\n")))
    };
    let seldom = if asked().len() % 3 == 0 { asked() + &asked() } else { asked() };
    let body = match m.between(0, 4) {
        0 | 1 => format!("{seldom}{sweeps}"),
        2 => format!("{seldom}{sweeps}{seldom}"),
        _ => format!("{sweeps}{seldom}"),
    };
    let step = if by == 1 { "step++".to_owned() } else { format!("step += {by}") };
    format!("for (int step = 0; step < {steps}; {step}) {{\n{}}}\n", indented(&body))
}

/// A pointer parameter for other motifs.
pub(super) const ELEMENTS: Wish = POINTER;
