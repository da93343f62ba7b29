//! Random small nests and an interpreter that records what they touch, for the tests of this crate.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::access::Role;
use crate::omega::System;
use oxeye_ir::*;

/// Random numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub(crate) fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What a random nest may contain.
#[derive(Clone, Copy)]
pub(crate) struct Menu {
    /// Guards, bounds and indices that analysis over-approximates.
    pub(crate) inexact: bool,
}

/// A program with one nest, and values for its two symbols.
pub(crate) struct Sample {
    pub(crate) program: Program,
    pub(crate) nest: Nest,
    pub(crate) values: BTreeMap<SymId, i64>,
}

pub(crate) fn array(name: &str, shape: Vec<Option<Expr>>) -> Array {
    Array {
        id: ArrayId(0),
        name: name.to_owned(),
        element: ScalarType::F64,
        c_type: None,
        shape,
        form: Form::Nested,
        storage: Storage::Param,
        align: 0,
    }
}

pub(crate) fn sample(seed: u64, menu: Menu) -> Sample {
    let mut program = Program::new("f");
    let n = program.add_symbol("n", ScalarType::I32);
    let m = program.add_symbol("m", ScalarType::I32);
    program.assumptions.push(Constraint::ge(n.into(), 1.into()));
    program.assumptions.push(Constraint::ge(m.into(), 0.into()));
    for (name, rank) in [("a", 1), ("b", 2), ("s", 0), ("x", 1)] {
        program.add_array(array(name, vec![None; rank]));
    }
    let mut random = Random::new(seed);
    (0..20).for_each(|_| {
        random.below(2);
    });
    let values = BTreeMap::from([(n, random.within(1, 4)), (m, random.within(0, 4))]);
    let mut maker = Maker { random, menu, n, m, n_loops: 0, n_stmts: 0, scope: Vec::new() };
    let n_roots = 1 + u64::from(maker.random.one_in(3));
    let mut roots: Vec<Node> = (0..n_roots).map(|_| maker.loop_node(0)).collect();
    if maker.n_stmts == 0 {
        roots.push(maker.stmt());
    }
    let nest = Nest::new(NestId(0), "f", roots);
    Sample { program, nest, values }
}

struct Maker {
    random: Random,
    menu: Menu,
    n: SymId,
    m: SymId,
    n_loops: u32,
    n_stmts: u32,
    scope: Vec<LoopId>,
}

impl Maker {
    fn body(&mut self, depth: usize) -> Vec<Node> {
        (0..1 + self.random.below(2)).map(|_| self.node(depth)).collect()
    }

    fn node(&mut self, depth: usize) -> Node {
        match self.random.below(6) {
            0 | 1 if depth < 3 => self.loop_node(depth),
            2 => {
                let condition = self.condition();
                let then = vec![if depth < 3 && self.random.one_in(3) {
                    self.loop_node(depth)
                } else {
                    self.stmt()
                }];
                let otherwise = if self.random.one_in(3) { vec![self.stmt()] } else { Vec::new() };
                Node::If { condition, then, otherwise }
            }
            _ => self.stmt(),
        }
    }

    fn loop_node(&mut self, depth: usize) -> Node {
        let id = LoopId(self.n_loops);
        self.n_loops += 1;
        let step = [1, 1, 1, -1, 2, -2, 3][self.random.below(7) as usize];
        let (lower, upper) = match self.iterator().filter(|_| self.menu.inexact && self.random.one_in(5)) {
            Some(tiles) => self.tile(tiles),
            None => (self.bound(true), self.bound(false)),
        };
        self.scope.push(id);
        let body = self.body(depth + 1);
        self.scope.pop();
        let execution = Execution::Sequential;
        Node::Loop(Loop {
            id,
            name: format!("i{}", id.0),
            ty: ScalarType::I32,
            lower,
            upper,
            step,
            execution,
            body,
        })
    }

    fn iterator(&mut self) -> Option<LoopId> {
        if self.scope.is_empty() {
            return None;
        }
        Some(self.scope[self.random.below(self.scope.len() as u64) as usize])
    }

    /// The elements of one tile, whose size is a symbol.
    fn tile(&mut self, tiles: LoopId) -> (Bound, Bound) {
        let size = || Expr::from(Affine::from(self.m));
        let first = Expr::binary(BinaryOp::Mul, size(), Affine::var(tiles).into());
        let end = Expr::binary(BinaryOp::Add, first.clone(), size());
        let mut upper = vec![BoundTerm::Data(end)];
        if self.random.one_in(2) {
            upper.push(self.bound_term(false));
        }
        (Bound(vec![BoundTerm::Data(first)]), Bound(upper))
    }

    fn bound(&mut self, is_lower: bool) -> Bound {
        let mut terms = vec![self.bound_term(is_lower)];
        if self.random.one_in(5) {
            terms.push(self.bound_term(is_lower));
        }
        Bound(terms)
    }

    fn bound_term(&mut self, is_lower: bool) -> BoundTerm {
        if self.menu.inexact && self.random.one_in(10) {
            return BoundTerm::Data(Expr::Read(self.access(1)));
        }
        let offset = self.random.within(0, 2);
        let base = match (is_lower, self.random.below(4)) {
            (true, 0 | 1) => Affine::constant(0),
            (false, 0) => Affine::constant(3),
            (false, 1) => Affine::from(self.n),
            (_, 2) => Affine::from(self.m),
            _ => self.iterator().map_or(Affine::constant(2), Affine::from),
        };
        let divisor = if self.random.one_in(6) { 2 } else { 1 };
        BoundTerm::Affine { expr: base.offset(offset - 1), divisor }
    }

    fn affine(&mut self) -> Affine {
        let mut result = Affine::constant(self.random.within(-1, 2));
        for _ in 0..1 + self.random.below(2) {
            if let Some(iterator) = self.iterator() {
                let coefficient = [1, 1, 1, -1, 2][self.random.below(5) as usize];
                result = result + Affine::term(iterator, coefficient);
            }
        }
        if self.random.one_in(5) { result + self.n.into() } else { result }
    }

    fn condition(&mut self) -> Expr {
        let compare = |maker: &mut Self| {
            use BinaryOp::*;
            let op = [Lt, Le, Gt, Ge, Eq, Ne][maker.random.below(6) as usize];
            let left: Expr = maker.affine().into();
            let left = if maker.random.one_in(4) { Expr::binary(Rem, left, 2.into()) } else { left };
            Expr::binary(op, left, maker.random.within(0, 2).into())
        };
        let first = compare(self);
        match self.random.below(8) {
            0 => Expr::binary(BinaryOp::And, first, compare(self)),
            1 => Expr::binary(BinaryOp::Or, first, compare(self)),
            2 => Expr::Unary(UnaryOp::Not, Box::new(first)),
            3 if self.menu.inexact => {
                let read = Expr::Read(self.access(1));
                Expr::binary(BinaryOp::And, first, Expr::binary(BinaryOp::Gt, read, 2.into()))
            }
            _ => first,
        }
    }

    fn index(&mut self, depth: usize) -> Expr {
        let base: Expr = self.affine().into();
        let op = match self.random.below(16) {
            0 => BinaryOp::Rem,
            1 => BinaryOp::Div,
            2 => BinaryOp::BitAnd,
            3 => BinaryOp::Shr,
            4 if self.menu.inexact => BinaryOp::Min,
            5 if self.menu.inexact => BinaryOp::Max,
            6 if self.menu.inexact && depth > 0 => return Expr::Read(self.access(depth - 1)),
            7 if self.menu.inexact => {
                let condition = Expr::binary(BinaryOp::Lt, base.clone(), 0.into());
                let clamped = Expr::binary(BinaryOp::Min, base, self.affine().into());
                let (condition, then, otherwise) =
                    (Box::new(condition), Box::new(0.into()), Box::new(clamped));
                return Expr::Select { condition, then, otherwise };
            }
            // On a ring of `n` elements.
            8 if self.menu.inexact => return Expr::binary(BinaryOp::Rem, base, Affine::from(self.n).into()),
            9 if self.menu.inexact => {
                let Some(iterator) = self.iterator() else { return base };
                let before = Affine::var(iterator).offset(-1);
                return Expr::Select {
                    condition: Box::new(Expr::binary(BinaryOp::Eq, Affine::var(iterator).into(), 0.into())),
                    then: Box::new((before.clone() + self.n.into()).into()),
                    otherwise: Box::new(before.into()),
                };
            }
            _ => return base,
        };
        let right = match op {
            BinaryOp::BitAnd | BinaryOp::Shr => 1,
            BinaryOp::Rem | BinaryOp::Div => self.random.within(2, 3),
            _ => self.random.within(0, 2),
        };
        Expr::binary(op, base, right.into())
    }

    fn access(&mut self, depth: usize) -> Access {
        let (id, rank) = [(0, 1), (0, 1), (1, 2), (2, 0), (3, 1)][self.random.below(5) as usize];
        Access { array: ArrayId(id), indices: (0..rank).map(|_| self.index(depth)).collect() }
    }

    fn stmt(&mut self) -> Node {
        let id = StmtId(self.n_stmts);
        self.n_stmts += 1;
        let target = self.access(1);
        let update = if self.random.one_in(3) { Update::Add } else { Update::Assign };
        let mut value = Expr::Read(self.access(1));
        if self.random.one_in(2) {
            value = Expr::binary(BinaryOp::Mul, value, Expr::Read(self.access(1)));
        }
        Node::Stmt(Stmt { id, target, update, value, line: None })
    }
}

/// One access of one statement instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// When it happened.
    pub(crate) time: usize,
    pub(crate) stmt: StmtId,
    /// Iterators of the loops around the statement.
    pub(crate) instance: Vec<i64>,
    pub(crate) role: Role,
    pub(crate) access: Access,
    pub(crate) element: Vec<i64>,
}

/// Runs a nest and records the accesses of each statement instance. Values read from memory are drawn at random.
pub(crate) struct Interpreter<'a> {
    sample: &'a Sample,
    env: BTreeMap<LoopId, i64>,
    stack: Vec<i64>,
    /// Accesses of the surrounding guards and bounds, with their times.
    pending: Vec<(usize, Role, Access, Vec<i64>)>,
    clock: usize,
    random: Random,
    pub(crate) events: Vec<Event>,
    /// Instances run, per statement.
    pub(crate) n_instances: BTreeMap<StmtId, u64>,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn run(sample: &'a Sample, seed: u64) -> Self {
        let mut this = Self {
            sample,
            env: BTreeMap::new(),
            stack: Vec::new(),
            pending: Vec::new(),
            clock: 0,
            random: Random::new(seed),
            events: Vec::new(),
            n_instances: BTreeMap::new(),
        };
        this.nodes(&sample.nest.roots);
        this
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.clock += 1;
            let n_pending = self.pending.len();
            match node {
                Node::Stmt(stmt) => self.stmt(stmt),
                Node::If { condition, then, otherwise } => {
                    let holds = self.evaluate(condition, Role::Guard) != 0;
                    // The branches run later than the condition.
                    self.nodes(if holds { then } else { otherwise });
                }
                Node::Loop(l) => {
                    let lower = l.lower.0.iter().map(|t| self.bound(t)).max().expect("a bound has terms");
                    let upper = l.upper.0.iter().map(|t| self.bound(t)).min().expect("a bound has terms");
                    let mut i = if l.step > 0 { lower } else { upper - 1 };
                    self.stack.push(0);
                    while lower <= i && i < upper {
                        self.env.insert(l.id, i);
                        *self.stack.last_mut().expect("pushed above") = i;
                        self.nodes(&l.body);
                        i += l.step;
                    }
                    self.stack.pop();
                }
            }
            self.pending.truncate(n_pending);
        }
    }

    fn bound(&mut self, term: &BoundTerm) -> i64 {
        match term {
            BoundTerm::Affine { expr, divisor } => -(-self.affine(expr)).div_euclid(*divisor),
            BoundTerm::Data(expr) => self.evaluate(expr, Role::Bound),
            BoundTerm::Open => panic!("no nest here has open loops"),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let n_pending = self.pending.len();
        self.evaluate(&stmt.value, Role::Value);
        let element: Vec<i64> =
            stmt.target.indices.iter().map(|index| self.evaluate(index, Role::TargetIndex)).collect();
        if stmt.update.reads_target() {
            self.pending.push((self.clock, Role::Update, stmt.target.clone(), element.clone()));
        }
        self.pending.push((self.clock, Role::Target, stmt.target.clone(), element));
        *self.n_instances.entry(stmt.id).or_default() += 1;
        for (time, role, access, element) in self.pending.clone() {
            let instance = self.stack.clone();
            self.events.push(Event { time, stmt: stmt.id, instance, role, access, element });
        }
        self.pending.truncate(n_pending);
    }

    fn affine(&self, affine: &Affine) -> i64 {
        affine
            .evaluate(&|var| match var {
                Var::Loop(id) => self.env.get(&id).copied(),
                Var::Sym(id) => self.sample.values.get(&id).copied(),
            })
            .expect("every variable has a value")
    }

    fn evaluate(&mut self, expr: &Expr, role: Role) -> i64 {
        match expr {
            Expr::Affine(affine) => self.affine(affine),
            Expr::Read(access) => {
                let element: Vec<i64> =
                    access.indices.iter().map(|index| self.evaluate(index, role)).collect();
                self.pending.push((self.clock, role, access.clone(), element));
                self.random.within(0, 4)
            }
            Expr::Unary(op, inner) => {
                let value = self.evaluate(inner, role);
                match op {
                    UnaryOp::Neg => -value,
                    UnaryOp::Not => i64::from(value == 0),
                    UnaryOp::BitNot => !value,
                }
            }
            Expr::Binary(op, left, right) => {
                let left = self.evaluate(left, role);
                match (op, left != 0) {
                    (BinaryOp::And, false) => return 0,
                    (BinaryOp::Or, true) => return 1,
                    _ => {}
                }
                let right = self.evaluate(right, role);
                match op {
                    BinaryOp::Add => left + right,
                    BinaryOp::Sub => left - right,
                    BinaryOp::Mul => left * right,
                    BinaryOp::Div => left / right,
                    // Where C would stop, no order of accesses is wrong.
                    BinaryOp::Rem => left.checked_rem(right).unwrap_or(0),
                    BinaryOp::Min => left.min(right),
                    BinaryOp::Max => left.max(right),
                    BinaryOp::Lt => i64::from(left < right),
                    BinaryOp::Le => i64::from(left <= right),
                    BinaryOp::Gt => i64::from(left > right),
                    BinaryOp::Ge => i64::from(left >= right),
                    BinaryOp::Eq => i64::from(left == right),
                    BinaryOp::Ne => i64::from(left != right),
                    BinaryOp::And | BinaryOp::Or => i64::from(right != 0),
                    BinaryOp::BitAnd => left & right,
                    BinaryOp::BitOr => left | right,
                    BinaryOp::BitXor => left ^ right,
                    BinaryOp::Shl => left << right,
                    BinaryOp::Shr => left >> right,
                }
            }
            Expr::Select { condition, then, otherwise } => {
                let side = if self.evaluate(condition, role) != 0 { then } else { otherwise };
                self.evaluate(side, role)
            }
            Expr::Cast(_, inner) => self.evaluate(inner, role),
            Expr::Float { .. } | Expr::Call { .. } => 0,
        }
    }
}

/// Whether isl finds each system empty. `None`, with a note, where Python or islpy is missing; that is a failure if
/// `OXEYE_REQUIRE` names `isl`.
pub(crate) fn isl_emptiness(systems: &[System]) -> Option<Vec<bool>> {
    const SCRIPT: &str = "
import sys
try:
    import islpy
except ImportError:
    print('missing'); sys.exit(0)
for line in sys.stdin:
    print(int(islpy.BasicSet(line).is_empty()))
";
    let text: String = systems
        .iter()
        .map(|system| {
            let vars: Vec<String> = (0..system.n_vars()).map(|var| format!("x{var}")).collect();
            format!("{{ [{}] : {system} }}\n", vars.join(", "))
        })
        .collect();
    let skip = |why: &str| {
        assert!(!oxeye_ir::testing::is_required("isl"), "isl is required but {why}");
        eprintln!("skipped: {why}");
    };
    let python =
        Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = match python {
        Ok(python) => python,
        Err(error) => {
            skip(&format!("python3 cannot be run ({error})"));
            return None;
        }
    };
    let mut stdin = python.stdin.take().expect("stdin is piped");
    // A Python without islpy exits without reading; its answer says so.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).ok());
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("writing does not panic");
    let answers = String::from_utf8(output.stdout).expect("answers are text");
    if answers.trim() == "missing" {
        skip("islpy is not installed");
        return None;
    }
    let answers: Vec<bool> = answers.lines().map(|answer| answer == "1").collect();
    assert_eq!(answers.len(), systems.len(), "isl answers for every system");
    Some(answers)
}
