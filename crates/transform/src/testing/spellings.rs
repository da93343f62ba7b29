//! Nests as people write them, for normalization to undo.

use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{Constraint, Program};
use std::fmt::Write;

/// A random nest of one to three pieces, each of which gives normalization something to rewrite: values and sums passed
/// through scalars, scratch arrays, dead stores, successive updates in place, peeled iterations, rotating buffers.
pub fn random_spelling(random: &mut Random) -> Sample {
    let mut writer = Writer { random, text: String::new(), n_loops: 0, n_stmts: 0 };
    let around = writer.random.chance(20).then(|| writer.open("0", "2"));
    for _ in 0..writer.random.between(1, 3) {
        writer.piece();
    }
    if around.is_some() {
        writer.text.push_str(" }");
    }
    let Writer { random, text: body, .. } = writer;
    let ty = if random.chance(20) { "f32" } else { "f64" };
    let text = format!(
        "program spelling {{
           symbol P0 n: i32
           symbol P1 m: i32
           array A0 A: {ty}[12][12] param
           array A1 B: {ty}[12][12] param
           array A2 x: {ty}[12] param
           array A3 y: {ty}[12] param
           array A4 z: {ty}[12] param
           array A5 alpha: {ty} param
           array A6 W: {ty}[12] local
           array A7 T: {ty}[12][12] local
           array A8 R: {ty}[2][12] param
           array A9 s: {ty} local
           array A10 t: {ty} local
           dataflow {{ N0 }}
           nest N0 in spelling {{ {body} }}
         }}"
    );
    let mut program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let symbols: Vec<_> = program.symbols.keys().copied().map(|s| (s, random.between(1, 6))).collect();
    for (symbol, _) in &symbols {
        program.assumptions.push(Constraint::ge((*symbol).into(), 1.into()));
    }
    Sample { program, symbols }
}

struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    n_loops: u32,
    n_stmts: u32,
}

impl Writer<'_> {
    /// Opens a loop and returns its iterator.
    fn open(&mut self, lower: &str, upper: &str) -> String {
        let k = self.n_loops;
        self.n_loops += 1;
        let _ = write!(self.text, " for L{k} i{k}: i32 in {lower} .. {upper} {{");
        format!("i{k}")
    }

    fn close(&mut self, n: usize) {
        self.text.push_str(&" }".repeat(n));
    }

    fn stmt(&mut self, stmt: &str) {
        let k = self.n_stmts;
        self.n_stmts += 1;
        let _ = write!(self.text, " S{k}: {stmt}");
    }

    fn size(&mut self) -> &'static str {
        self.random.pick(&["n", "m"])
    }

    fn vector(&mut self) -> &'static str {
        self.random.pick(&["x", "y", "z"])
    }

    fn matrix(&mut self) -> &'static str {
        self.random.pick(&["A", "B"])
    }

    fn piece(&mut self) {
        match self.random.below(9) {
            0 => self.handed_on(),
            1 => self.summed_in_a_scalar(),
            2 => self.scratch_row(),
            3 => self.factor_in_scratch(),
            4 => self.dead_store(),
            5 => self.updates(),
            6 => self.peeled(),
            7 => self.buffers(),
            _ => self.odd_range(),
        }
    }

    /// `t = …; b[i][j] = f(t)`, sometimes with something in between.
    fn handed_on(&mut self) {
        let (n, m, v, w) = (self.size(), self.size(), self.vector(), self.vector());
        let (a, b) = (self.matrix(), self.matrix());
        let i = self.open("0", n);
        let j = self.open("0", m);
        self.stmt(&format!("t = {a}[{i}][{j}] * {v}[{j}]"));
        if self.random.chance(30) {
            let (between, other) = (self.vector(), self.matrix());
            self.stmt(&format!("{between}[{j}] += {other}[{j}][{i}]"));
        }
        let value = self.random.pick(&["t + w", "w - 2.0 * t", "-t", "t / (1.0 + w * w)"]);
        let value = value.replace('w', &format!("{w}[{i}]"));
        self.stmt(&format!("{b}[{i}][{j}] = {value}"));
        self.close(2);
    }

    /// `s = 0; for j: s += …; y[i] = s`, starting from zero or from the element, ending plainly or scaled.
    fn summed_in_a_scalar(&mut self) {
        let (n, m, v, w, a) = (self.size(), self.size(), self.vector(), self.vector(), self.matrix());
        let i = self.open("0", n);
        let start = if self.random.chance(50) { "0.0".to_owned() } else { format!("{w}[{i}]") };
        self.stmt(&format!("s = {start}"));
        let j = self.open("0", m);
        let op = self.random.pick(&["+=", "-="]);
        self.stmt(&format!("s {op} {a}[{i}][{j}] * {v}[{j}]"));
        self.close(1);
        let end = self.random.pick(&["s", "s", "alpha * s", "s + 1.0"]);
        self.stmt(&format!("{w}[{i}] = {end}"));
        self.close(1);
    }

    /// A row that every iteration writes before reading it, entirely or in part.
    fn scratch_row(&mut self) {
        let (n, m, v, a, b) = (self.size(), self.size(), self.vector(), self.matrix(), self.matrix());
        let i = self.open("0", n);
        let j = self.open("0", m);
        self.stmt(&format!("W[{j}] = {a}[{i}][{j}] + {v}[{j}]"));
        self.close(1);
        let read = if self.random.chance(85) { m } else { self.size() };
        let k = self.open("0", read);
        self.stmt(&format!("{b}[{i}][{k}] = W[{k}] * W[{k}]"));
        self.close(2);
    }

    /// A scaled sum in a scratch array that another product uses.
    fn factor_in_scratch(&mut self) {
        let (n, m, v, w, a) = (self.size(), self.size(), self.vector(), self.vector(), self.matrix());
        let i = self.open("0", n);
        self.stmt(&format!("W[{i}] = 0.0"));
        let j = self.open("0", m);
        self.stmt(&format!("W[{i}] += alpha * {a}[{i}][{j}] * {v}[{j}]"));
        self.close(2);
        let k = self.open("0", n);
        self.stmt(&format!("{w}[{k}] += W[{k}] * {a}[{k}][0]"));
        self.close(1);
    }

    fn dead_store(&mut self) {
        let (n, v, w) = (self.size(), self.vector(), self.vector());
        let i = self.open("0", n);
        self.stmt(&format!("T[{i}][{i}] = {v}[{i}]"));
        self.stmt(&format!("{w}[{i}] = {v}[{i}] + 1.0"));
        self.close(1);
    }

    /// Two updates of the same elements, in shared or separate loops, with or without a statement between them.
    fn updates(&mut self) {
        let (n, v, w, u) = (self.size(), self.vector(), self.vector(), self.vector());
        let first = self.random.pick(&["-=", "+=", "*="]);
        let second = self.random.pick(&["/=", "*=", "+="]);
        let i = self.open("0", n);
        self.stmt(&format!("{v}[{i}] {first} {w}[{i}] + 3.0"));
        self.close(1);
        if self.random.chance(30) {
            let k = self.open("0", n);
            self.stmt(&format!("{u}[{k}] += {v}[{k}]"));
            self.close(1);
        }
        let j = self.open("0", n);
        self.stmt(&format!("{v}[{j}] {second} {u}[{j}] + 9.0"));
        self.close(1);
    }

    /// The first or last iteration peeled off.
    fn peeled(&mut self) {
        let (n, v, w) = (self.size(), self.vector(), self.vector());
        let at = |i: &str| format!("{w}[{i}] = 2.0 * {v}[{i}] + alpha");
        let is_first = self.random.chance(50);
        if is_first {
            self.stmt(&at("0"));
        }
        let (lower, upper) =
            if is_first { ("1".to_owned(), n.to_owned()) } else { ("0".to_owned(), format!("{n} - 1")) };
        let i = self.open(&lower, &upper);
        self.stmt(&at(&i));
        self.close(1);
        if !is_first {
            self.stmt(&at(&upper));
        }
    }

    /// Time steps alternating between two buffers.
    fn buffers(&mut self) {
        let n = self.size();
        let trips = self.random.pick(&["2", "4", "3"]);
        let t = self.open("0", trips);
        let i = self.open("1", n);
        self.stmt(&format!("R[({t} + 1) % 2][{i}] = R[{t} % 2][{i}] + R[{t} % 2][{i} - 1]"));
        self.close(2);
    }

    /// Ranges that do not start at zero, or contain one iteration.
    fn odd_range(&mut self) {
        let (n, v, a) = (self.size(), self.vector(), self.matrix());
        let i = self.open("2", &format!("{n} + 3"));
        let j = self.open("4", "5");
        self.stmt(&format!("{a}[{i}][{j}] = {v}[{i} - 1] * {a}[{i} - 2][{j}] + {v}[{j}] * {a}[{j}][{i}]"));
        self.close(2);
    }
}
