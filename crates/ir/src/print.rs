//! Writing the textual form, which the crate's front page describes.

use crate::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, BoundTerm, Constraint, Execution, Expr, Form, Loop,
    LoopId, MathFn, Nest, Node, Program, Reduction, Region, Relation, ScalarType, Storage, SymId, Threads,
    UnaryOp, Update, Var, WorkSharing,
};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Binding strength of the operators, weakest first; as in C.
pub(crate) mod strength {
    pub(crate) const SELECT: u8 = 0;
    pub(crate) const OR: u8 = 1;
    pub(crate) const SUM: u8 = 9;
    pub(crate) const PRODUCT: u8 = 10;
    pub(crate) const UNARY: u8 = 11;
    pub(crate) const PRIMARY: u8 = 12;
}

impl BinaryOp {
    /// The operator in C with its binding strength; `None` for `Min` and `Max`, which have none.
    pub fn symbol(self) -> Option<(&'static str, u8)> {
        Some(match self {
            BinaryOp::Or => ("||", strength::OR),
            BinaryOp::And => ("&&", 2),
            BinaryOp::BitOr => ("|", 3),
            BinaryOp::BitXor => ("^", 4),
            BinaryOp::BitAnd => ("&", 5),
            BinaryOp::Eq => ("==", 6),
            BinaryOp::Ne => ("!=", 6),
            BinaryOp::Lt => ("<", 7),
            BinaryOp::Le => ("<=", 7),
            BinaryOp::Gt => (">", 7),
            BinaryOp::Ge => (">=", 7),
            BinaryOp::Shl => ("<<", 8),
            BinaryOp::Shr => (">>", 8),
            BinaryOp::Add => ("+", strength::SUM),
            BinaryOp::Sub => ("-", strength::SUM),
            BinaryOp::Mul => ("*", strength::PRODUCT),
            BinaryOp::Div => ("/", strength::PRODUCT),
            BinaryOp::Rem => ("%", strength::PRODUCT),
            BinaryOp::Min | BinaryOp::Max => return None,
        })
    }
}

impl Update {
    /// The operator that combines target and value, as in the textual form; empty for an assignment.
    pub fn symbol(self) -> &'static str {
        match self {
            Update::Assign => "",
            Update::Add => "+",
            Update::Sub => "-",
            Update::Mul => "*",
            Update::Div => "/",
            Update::Min => "min",
            Update::Max => "max",
        }
    }
}

/// Words of the grammar; a thing with such a name is printed with its id.
const RESERVED: &[&str] = &[
    "program",
    "symbol",
    "assume",
    "array",
    "may_alias",
    "reshape",
    "origin",
    "distance",
    "sequence",
    "dataflow",
    "loop",
    "branch",
    "swap",
    "opaque",
    "reads",
    "writes",
    "nest",
    "for",
    "if",
    "else",
    "in",
    "step",
    "parallel",
    "vector",
    "unrolled",
    "reduce",
    "static",
    "dynamic",
    "line",
    "span",
    "live_out",
    "mentions",
    "unordered",
    "bounded",
    "min",
    "max",
    "ceil",
    "data",
    "param",
    "global",
    "local",
    "body",
    "temp",
    "linear",
    "align",
    "ctype",
];

/// Whether `text` is a C identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether `text` looks like an id (`A3`).
pub(crate) fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix(['A', 'L', 'N', 'P', 'S']);
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether `text` can be printed without its id.
fn is_plain(text: &str) -> bool {
    is_identifier(text)
        && !is_id(text)
        && !RESERVED.contains(&text)
        && ScalarType::ALL.iter().all(|t| t.name() != text)
        && MathFn::from_name(text).is_none()
}

/// A name as written at its declaration: bare if it is an identifier, else quoted.
fn declared(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// A text in quotation marks, as it is read back.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes IR as text at one place of a program: references depend on what else has the same name there.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    program: &'a Program,
    /// Number of symbols and arrays with each name.
    n_named: BTreeMap<&'a str, usize>,
    path: Vec<&'a Loop>,
}

impl<'a> Names<'a> {
    /// Outside all loops.
    pub fn new(program: &'a Program) -> Self {
        let mut n_named = BTreeMap::new();
        let symbols = program.symbols.values().map(|s| s.name.as_str());
        for name in symbols.chain(program.arrays.values().map(|a| a.name.as_str())) {
            *n_named.entry(name).or_insert(0) += 1;
        }
        Self { program, n_named, path: Vec::new() }
    }

    /// Inside these loops, outermost first.
    pub fn inside(program: &'a Program, path: &[&'a Loop]) -> Self {
        Self { path: path.to_vec(), ..Self::new(program) }
    }

    /// Enters a loop.
    pub fn enter(&mut self, l: &'a Loop) {
        self.path.push(l);
    }

    /// Leaves the innermost loop.
    pub fn leave(&mut self) {
        self.path.pop();
    }

    fn n_loops_named(&self, name: &str) -> usize {
        self.path.iter().filter(|l| l.name == name).count()
    }

    fn reference(&self, name: &str, id: impl fmt::Display, is_unique: bool) -> String {
        if is_unique && is_plain(name) {
            name.to_owned()
        } else if is_identifier(name) {
            format!("{name}.{id}")
        } else {
            id.to_string()
        }
    }

    fn is_unique_global(&self, name: &str) -> bool {
        self.n_named.get(name) == Some(&1) && self.n_loops_named(name) == 0
    }

    /// A reference to an array.
    pub fn array(&self, id: ArrayId) -> String {
        match self.program.arrays.get(&id) {
            Some(array) => self.reference(&array.name, id, self.is_unique_global(&array.name)),
            None => id.to_string(),
        }
    }

    /// A reference to a symbol.
    pub fn symbol(&self, id: SymId) -> String {
        match self.program.symbols.get(&id) {
            Some(symbol) => self.reference(&symbol.name, id, self.is_unique_global(&symbol.name)),
            None => id.to_string(),
        }
    }

    /// A reference to a loop's iterator.
    pub fn iterator(&self, id: LoopId) -> String {
        match self.path.iter().find(|l| l.id == id) {
            Some(l) => {
                let is_unique =
                    self.n_loops_named(&l.name) == 1 && !self.n_named.contains_key(l.name.as_str());
                self.reference(&l.name, id, is_unique)
            }
            None => id.to_string(),
        }
    }

    /// A reference to a symbol or iterator.
    pub fn var(&self, var: Var) -> String {
        match var {
            Var::Loop(l) => self.iterator(l),
            Var::Sym(s) => self.symbol(s),
        }
    }

    /// An affine expression.
    pub fn affine(&self, affine: &Affine) -> String {
        self.affine_with_strength(affine).0
    }

    fn affine_with_strength(&self, affine: &Affine) -> (String, u8) {
        let mut pieces: Vec<(bool, String, u8)> = Vec::new();
        let (positive, negative): (Vec<_>, Vec<_>) = affine.terms().partition(|(_, c)| *c > 0);
        let term = |(var, c): &(Var, i64)| match c.unsigned_abs() {
            1 => (*c < 0, self.var(*var), strength::PRIMARY),
            n => (*c < 0, format!("{n}*{}", self.var(*var)), strength::PRODUCT),
        };
        pieces.extend(positive.iter().map(term));
        pieces.extend(negative.iter().map(term));
        let constant = affine.constant_part();
        if constant != 0 || pieces.is_empty() {
            let piece = (constant < 0, constant.unsigned_abs().to_string(), strength::PRIMARY);
            let at = if positive.is_empty() && constant > 0 { 0 } else { pieces.len() };
            pieces.insert(at, piece);
        }
        let mut text = String::new();
        for (position, (is_negative, piece, _)) in pieces.iter().enumerate() {
            text.push_str(match (position, is_negative) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            });
            text.push_str(piece);
        }
        let binding = match pieces.as_slice() {
            [(true, _, s)] => (*s).min(strength::UNARY),
            [(false, _, s)] => *s,
            _ => strength::SUM,
        };
        (text, binding)
    }

    /// An access.
    pub fn access(&self, access: &Access) -> String {
        let mut text = self.array(access.array);
        for index in &access.indices {
            text.push('[');
            text.push_str(&self.expr(index));
            text.push(']');
        }
        text
    }

    /// An expression.
    pub fn expr(&self, expr: &Expr) -> String {
        self.expr_with_strength(expr).0
    }

    fn operand(&self, expr: &Expr, at_least: u8) -> String {
        let (text, binding) = self.expr_with_strength(expr);
        if binding < at_least { format!("({text})") } else { text }
    }

    fn expr_with_strength(&self, expr: &Expr) -> (String, u8) {
        let list = |args: &[&Expr]| args.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
        match expr {
            Expr::Affine(a) => self.affine_with_strength(a),
            Expr::Float { text, .. } => (text.clone(), strength::PRIMARY),
            Expr::Read(access) => (self.access(access), strength::PRIMARY),
            Expr::Unary(op, e) => {
                let operand = self.operand(e, strength::UNARY);
                let text = match op {
                    UnaryOp::Neg if operand.starts_with('-') => format!("-({operand})"),
                    UnaryOp::Neg => format!("-{operand}"),
                    UnaryOp::Not => format!("!{operand}"),
                    UnaryOp::BitNot => format!("~{operand}"),
                };
                (text, strength::UNARY)
            }
            Expr::Cast(ty, e) => {
                (format!("({}) {}", ty.name(), self.operand(e, strength::UNARY)), strength::UNARY)
            }
            Expr::Binary(op, l, r) => match op.symbol() {
                Some((symbol, binding)) => {
                    let (l, r) = (self.operand(l, binding), self.operand(r, binding + 1));
                    (format!("{l} {symbol} {r}"), binding)
                }
                None => {
                    let name = if *op == BinaryOp::Min { "min" } else { "max" };
                    (format!("{name}({})", list(&[l, r])), strength::PRIMARY)
                }
            },
            Expr::Call { function, single, args } => {
                let suffix = if *single { "f" } else { "" };
                let args = list(&args.iter().collect::<Vec<_>>());
                (format!("{}{suffix}({args})", function.name()), strength::PRIMARY)
            }
            Expr::Select { condition, then, otherwise } => {
                let condition = self.operand(condition, strength::OR);
                (format!("{condition} ? {} : {}", self.expr(then), self.expr(otherwise)), strength::SELECT)
            }
        }
    }

    /// A constraint, with positive terms on the left.
    pub fn constraint(&self, constraint: &Constraint) -> String {
        let (mut left, mut right) = (Affine::default(), Affine::default());
        for (var, c) in constraint.expr.terms() {
            if c > 0 {
                left = left + Affine::term(var, c);
            } else {
                right = right - Affine::term(var, c);
            }
        }
        let constant = constraint.expr.constant_part();
        if constant > 0 || left == Affine::default() {
            left = left.offset(constant);
        } else {
            right = right - Affine::constant(constant);
        }
        let relation = match constraint.relation {
            Relation::Zero => "==",
            Relation::NonNegative => ">=",
        };
        format!("{} {relation} {}", self.affine(&left), self.affine(&right))
    }

    fn bound_term(&self, term: &BoundTerm) -> String {
        match term {
            BoundTerm::Affine { expr, divisor: 1 } => self.affine(expr),
            BoundTerm::Affine { expr, divisor } => {
                let (text, binding) = self.affine_with_strength(expr);
                if binding < strength::PRODUCT {
                    format!("ceil(({text}) / {divisor})")
                } else {
                    format!("ceil({text} / {divisor})")
                }
            }
            BoundTerm::Data(e) => format!("data({})", self.expr(e)),
            BoundTerm::Open => "open()".to_owned(),
        }
    }

    /// A loop bound; `combine` is `max` for lower and `min` for upper bounds.
    pub fn bound(&self, bound: &Bound, combine: &str) -> String {
        match bound.0.as_slice() {
            [term] => self.bound_term(term),
            terms => {
                let terms: Vec<_> = terms.iter().map(|t| self.bound_term(t)).collect();
                format!("{combine}({})", terms.join(", "))
            }
        }
    }

    fn reductions(&self, reductions: &[Reduction]) -> String {
        if reductions.is_empty() {
            return String::new();
        }
        let one = |r: &Reduction| match r.op.symbol() {
            "" => format!("= {}", self.array(r.array)),
            symbol => format!("{symbol} {}", self.array(r.array)),
        };
        format!(" reduce({})", reductions.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// The header of a loop, without its braces; to be called before entering it.
    pub fn header(&self, l: &Loop) -> String {
        let mut text = format!(
            "for {} {}: {} in {} .. {}",
            l.id,
            declared(&l.name),
            l.ty.name(),
            self.bound(&l.lower, "max"),
            self.bound(&l.upper, "min")
        );
        if l.step != 1 {
            _ = write!(text, " step {}", l.step);
        }
        match &l.execution {
            Execution::Sequential => {}
            Execution::Parallel { reductions, sharing } => {
                text.push_str(match sharing {
                    WorkSharing::Static => " parallel",
                    WorkSharing::Dynamic => " parallel dynamic",
                });
                text.push_str(&self.reductions(reductions));
            }
            Execution::Vector { lanes, reductions } => {
                text.push_str(" vector");
                if let Some(lanes) = lanes {
                    _ = write!(text, " {lanes}");
                }
                text.push_str(&self.reductions(reductions));
            }
            Execution::Unrolled => text.push_str(" unrolled"),
        }
        text
    }

    fn declaration(&self, array: &Array) -> String {
        let mut text = format!("array {} {}: {}", array.id, declared(&array.name), array.element.name());
        for extent in &array.shape {
            match extent {
                Some(e) => _ = write!(text, "[{}]", self.expr(e)),
                None => text.push_str("[?]"),
            }
        }
        match array.storage {
            Storage::Param => text.push_str(" param"),
            Storage::Global => text.push_str(" global"),
            Storage::Local => text.push_str(" local"),
            Storage::Body(l) => _ = write!(text, " body({l})"),
            Storage::Temp(None) => text.push_str(" temp"),
            Storage::Temp(Some(l)) => _ = write!(text, " temp({l})"),
        }
        match array.form {
            Form::Nested => {}
            Form::Linear => text.push_str(" linear"),
            Form::Leading(n) => _ = write!(text, " linear {n}"),
        }
        if array.align != 0 {
            _ = write!(text, " align {}", array.align);
        }
        if let Some(c_type) = &array.c_type {
            _ = write!(text, " ctype {}", quoted(c_type));
        }
        text
    }

    fn list(&self, arrays: &[ArrayId]) -> String {
        arrays.iter().map(|a| self.array(*a)).collect::<Vec<_>>().join(", ")
    }
}

/// Writes indented lines.
struct Printer<'a> {
    names: Names<'a>,
    out: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program, depth: usize) -> Self {
        Self { names: Names::new(program), out: String::new(), depth }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn program(&mut self, program: &'a Program, others: &dyn Fn(&mut Names<'a>) -> Vec<String>) {
        self.open(&format!("program {}", declared(&program.name)));
        for s in program.symbols.values() {
            self.line(&format!("symbol {} {}: {}", s.id, declared(&s.name), s.ty.name()));
        }
        for c in &program.assumptions {
            let text = self.names.constraint(c);
            self.line(&format!("assume {text}"));
        }
        for array in program.arrays.values() {
            let text = self.names.declaration(array);
            self.line(&text);
        }
        for (a, b) in &program.may_alias {
            let text = format!("may_alias {} {}", self.names.array(*a), self.names.array(*b));
            self.line(&text);
        }
        for (reshape, array) in &program.reshapes {
            self.line(&format!("reshape {reshape} {array}"));
        }
        let others = others(&mut self.names);
        others.iter().for_each(|text| self.line(text));
        for (nest, threads) in &program.threads {
            self.line(&match threads {
                Threads::One(reason) => format!("one_thread {nest} {}", quoted(reason)),
                Threads::Team => format!("team {nest}"),
            });
        }
        self.region(&program.body);
        for nest in program.nests.values() {
            self.nest(nest);
        }
        self.close();
    }

    fn region(&mut self, region: &Region) {
        match region {
            Region::Sequence(regions) => {
                self.open("sequence");
                for r in regions {
                    self.region(r);
                }
                self.close();
            }
            Region::Dataflow(graph) => {
                let nests: Vec<_> = graph.nests().iter().map(ToString::to_string).collect();
                self.line(&format!("dataflow {{ {} }}", nests.join(" ")));
            }
            Region::Loop(l) => {
                let mut head = String::from("loop");
                if let Some(iterator) = l.iterator {
                    _ = write!(head, " {}", self.names.symbol(iterator));
                }
                if let Some((from, to)) = &l.range {
                    _ = write!(head, " in {} .. {}", self.names.expr(from), self.names.expr(to));
                }
                self.open(&head);
                self.region(&l.body);
                self.close();
            }
            Region::Branch { condition, then, otherwise } => {
                let condition = condition.as_ref().map_or("?".to_owned(), |c| self.names.expr(c));
                self.open(&format!("branch {condition}"));
                self.region(then);
                self.depth -= 1;
                self.open("} else");
                self.region(otherwise);
                self.close();
            }
            Region::Swap(a, b) => {
                let text = format!("swap {} {}", self.names.array(*a), self.names.array(*b));
                self.line(&text);
            }
            Region::Opaque(opaque) => {
                let touched = |arrays: &Option<Vec<ArrayId>>| match arrays {
                    Some(arrays) => self.names.list(arrays),
                    None => "*".to_owned(),
                };
                let (reads, writes) = (touched(&opaque.reads), touched(&opaque.writes));
                self.line(&format!("opaque {} reads({reads}) writes({writes})", quoted(&opaque.reason)));
            }
        }
    }

    fn nest(&mut self, nest: &'a Nest) {
        let mut head = format!("nest {} in {}", nest.id, declared(&nest.function));
        if let Some(span) = nest.span {
            _ = write!(head, " span {} .. {} line {}", span.start, span.end, span.line);
        }
        if !nest.live_out.is_empty() {
            _ = write!(head, " live_out({})", self.names.list(&nest.live_out));
        }
        for rotation in &nest.rotations {
            let (pointers, times) = (self.names.list(&rotation.pointers), self.names.affine(&rotation.times));
            _ = match rotation.pointers.len() {
                2 => write!(head, " swap({pointers}, {times})"),
                _ => write!(head, " rotate({times}, {pointers})"),
            };
        }
        if !nest.mentions.is_empty() {
            let names: Vec<_> = nest.mentions.iter().map(|id| self.names.symbol(*id)).collect();
            _ = write!(head, " mentions({})", names.join(", "));
        }
        if !nest.unordered.is_empty() {
            _ = write!(head, " unordered({})", self.names.list(&nest.unordered));
        }
        if !nest.bounded.is_empty() {
            _ = write!(head, " bounded({})", self.names.list(&nest.bounded));
        }
        self.open(&head);
        self.nodes(&nest.roots);
        self.close();
    }

    fn nodes(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    let header = self.names.header(l);
                    self.open(&header);
                    self.names.enter(l);
                    self.nodes(&l.body);
                    self.names.leave();
                    self.close();
                }
                Node::Stmt(s) => {
                    let line = s.line.map_or(String::new(), |l| format!("@{l}"));
                    let (target, value) = (self.names.access(&s.target), self.names.expr(&s.value));
                    self.line(&format!("{}{line}: {target} {}= {value}", s.id, s.update.symbol()));
                }
                Node::If { condition, then, otherwise } => {
                    let condition = self.names.expr(condition);
                    self.open(&format!("if {condition}"));
                    self.nodes(then);
                    if !otherwise.is_empty() {
                        self.depth -= 1;
                        self.open("} else");
                        self.nodes(otherwise);
                    }
                    self.close();
                }
            }
        }
    }
}

/// The textual form of the whole program; [`Program::parse`] reads it back.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|_| Vec::new()))
    }
}

impl Program {
    /// The textual form with declarations of others among its own, a line each.
    pub fn display_with<'a>(&'a self, others: &dyn Fn(&mut Names<'a>) -> Vec<String>) -> String {
        let mut printer = Printer::new(self, 0);
        printer.program(self, others);
        printer.out
    }
}

impl Nest {
    /// The textual form of this nest, with the names of `program`; [`Nest::parse`] reads it back.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        let mut printer = Printer::new(program, 0);
        printer.nest(self);
        printer.out
    }
}
