//! Loop nests: the loop tree with its statements.

use crate::{
    Access, Affine, ArrayId, BinaryOp, Expr, LoopId, NestId, ScalarType, Span, StmtId, SymId, UnaryOp, Var,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// `⌈expr / divisor⌉` of an affine expression, or a value read from memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BoundTerm {
    /// `⌈expr / divisor⌉`, divisor ≥ 1.
    Affine {
        /// Numerator.
        expr: Affine,
        /// Denominator, at least 1.
        divisor: i64,
    },
    /// A bound that analysis cannot see through (`row[i + 1]`); evaluated once when the loop is entered.
    Data(Expr),
    /// None: the loop goes on until it is left ([`Loop::left_by`]). Upper bounds alone may be open, and have no other term.
    Open,
}

impl From<Affine> for BoundTerm {
    fn from(expr: Affine) -> Self {
        BoundTerm::Affine { expr, divisor: 1 }
    }
}

/// The greatest (lower bound) or least (upper bound) of its terms; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bound(pub Vec<BoundTerm>);

impl<T: Into<Affine>> From<T> for Bound {
    fn from(expr: T) -> Self {
        Bound(vec![BoundTerm::from(expr.into())])
    }
}

impl Bound {
    /// The only term, if it is affine with divisor 1.
    pub fn as_affine(&self) -> Option<&Affine> {
        match self.0.as_slice() {
            [BoundTerm::Affine { expr, divisor: 1 }] => Some(expr),
            _ => None,
        }
    }

    /// Whether there is none.
    pub fn is_open(&self) -> bool {
        self.0.contains(&BoundTerm::Open)
    }
}

impl BoundTerm {
    /// The term, if it is affine with divisor 1.
    pub fn as_affine(&self) -> Option<&Affine> {
        match self {
            BoundTerm::Affine { expr, divisor: 1 } => Some(expr),
            _ => None,
        }
    }

    /// Whether it depends on a loop.
    pub fn uses(&self, id: LoopId) -> bool {
        match self {
            BoundTerm::Affine { expr, .. } => expr.uses(id),
            BoundTerm::Data(e) => e.uses(id),
            BoundTerm::Open => false,
        }
    }

    /// What it reads from memory.
    pub fn reads(&self) -> Vec<&Access> {
        match self {
            BoundTerm::Data(e) => e.reads(),
            BoundTerm::Affine { .. } | BoundTerm::Open => Vec::new(),
        }
    }
}

/// How the iterations of a loop are executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Execution {
    /// One after the other.
    #[default]
    Sequential,
    /// By a team of threads.
    Parallel {
        /// Scalars or arrays accumulated privately and combined at the end.
        reductions: Vec<Reduction>,
        /// How iterations are assigned to threads.
        #[serde(rename = "distribution")]
        sharing: WorkSharing,
    },
    /// In vector lanes.
    Vector {
        /// Elements per vector for explicit vector types; `None` leaves the width to the compiler.
        lanes: Option<u32>,
        /// Accumulated per lane and combined at the end.
        reductions: Vec<Reduction>,
    },
    /// Body repeated for every iteration. Requires constant bounds.
    Unrolled,
}

/// An accumulation that a concurrent loop reorders.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reduction {
    /// The accumulator.
    pub array: ArrayId,
    /// The update.
    pub op: Update,
}

/// How the iterations of a loop are shared among threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkSharing {
    /// Equal contiguous shares.
    #[default]
    Static,
    /// One iteration at a time, to the next free thread.
    Dynamic,
}

/// A counted loop: iterators `lower ≤ i < upper`. With `step > 0` it visits `lower, lower + step, …`; with `step < 0`
/// it visits `upper − 1, upper − 1 + step, …` down to `lower`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Loop {
    /// Unique inside the nest.
    pub id: LoopId,
    /// The iterator's name in the source or for the emitted code; not necessarily unique.
    pub name: String,
    /// The iterator's C type (`I32` or `I64`, or unsigned as in the source).
    pub ty: ScalarType,
    /// Maximum of the terms.
    pub lower: Bound,
    /// Minimum of the terms, exclusive.
    pub upper: Bound,
    /// Non-zero.
    pub step: i64,
    /// How iterations are executed.
    pub execution: Execution,
    /// Children in execution order.
    pub body: Vec<Node>,
}

impl Loop {
    /// The loop over tiles and how many elements each has, if this is the loop over the elements of one:
    /// `for it in c * i .. c * i + c`, where `c` is made of symbols. If it has any, `c` is positive.
    pub fn tile(&self) -> Option<(LoopId, &Affine)> {
        let first = self.lower.0.iter().find_map(|term| match term {
            BoundTerm::Data(first @ Expr::Binary(BinaryOp::Mul, ..)) => Some(first),
            _ => None,
        })?;
        let Expr::Binary(_, left, right) = first else { return None };
        let (left, right) = (left.as_affine()?, right.as_affine()?);
        let (size, tiles) = if left.loops().next().is_none() { (left, right) } else { (right, left) };
        let id = tiles.loops().next().filter(|id| *tiles == Affine::var(*id))?;
        let is_size = |e: &Expr| e.as_affine() == Some(size);
        let is_end = |term: &BoundTerm| match term {
            BoundTerm::Data(Expr::Binary(BinaryOp::Add, a, b)) => {
                (**a == *first && is_size(b)) || (**b == *first && is_size(a))
            }
            _ => false,
        };
        let is_one = self.step == 1 && size.loops().next().is_none() && self.upper.0.iter().any(is_end);
        is_one.then_some((id, size))
    }

    /// The flag that a loop tests before all else and sets in its body, and never unsets: `if (!flag) { ... }`. Once it is set,
    /// iterations do nothing, and the loop may as well end.
    pub fn left_by(&self) -> Option<&Access> {
        let [Node::If { condition: Expr::Unary(UnaryOp::Not, flag), then, otherwise }] = self.body.as_slice()
        else {
            return None;
        };
        let Expr::Read(flag) = &**flag else { return None };
        let is_fixed = flag.indices.iter().all(|e| !e.uses(self.id) && e.reads().is_empty());
        let (mut is_set, mut stays) = (false, true);
        for node in then {
            node.for_each_stmt(&mut |s| {
                if s.target.array == flag.array {
                    is_set = true;
                    stays &= s.target == *flag && s.sets_flag();
                }
            });
        }
        let is_plain = self.execution == Execution::Sequential && otherwise.is_empty();
        (is_plain && is_fixed && is_set && stays).then_some(flag)
    }

    /// The number of iterations, if it is the same constant every time the loop is entered. The bounds themselves may
    /// vary (`ii .. ii + 4`).
    pub fn constant_trip_count(&self) -> Option<u64> {
        let constant = |bound: &Bound, combine: fn(i64, i64) -> i64| {
            let value = |term: &BoundTerm| match term {
                BoundTerm::Affine { expr, divisor } if *divisor >= 1 => {
                    let value = expr.as_constant()?;
                    Some(value.div_euclid(*divisor) + i64::from(value.rem_euclid(*divisor) != 0))
                }
                _ => None,
            };
            let values: Option<Vec<i64>> = bound.0.iter().map(value).collect();
            values?.into_iter().reduce(combine)
        };
        let length = match (constant(&self.lower, i64::max), constant(&self.upper, i64::min)) {
            (Some(lower), Some(upper)) => upper.checked_sub(lower)?,
            _ => (self.upper.as_affine()?.clone() - self.lower.as_affine()?.clone()).as_constant()?,
        };
        let step = self.step.unsigned_abs();
        (step > 0).then(|| length.max(0).unsigned_abs().div_ceil(step))
    }
}

/// How a statement combines its value with the target: `target = value`, `target += value`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Update {
    Assign,
    Add,
    Sub,
    Mul,
    Div,
    /// `target = target < value ? target : value`
    Min,
    /// `target = target > value ? target : value`
    Max,
}

impl Update {
    /// Whether instances may be combined in any order when reassociation is allowed (always, for `Min` and `Max`
    /// without NaN).
    pub fn is_reduction(self) -> bool {
        matches!(self, Update::Add | Update::Sub | Update::Mul | Update::Min | Update::Max)
    }

    /// Whether the target is read.
    pub fn reads_target(self) -> bool {
        self != Update::Assign
    }
}

/// One assignment to an array element or scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stmt {
    /// Unique inside the nest.
    pub id: StmtId,
    /// The element written.
    pub target: Access,
    /// How the value is combined with the target.
    pub update: Update,
    /// The value.
    pub value: Expr,
    /// Line in the source, if known.
    pub line: Option<u32>,
}

impl Stmt {
    /// Whether it is `target = 1`.
    pub fn sets_flag(&self) -> bool {
        self.update == Update::Assign && self.value.as_affine().and_then(Affine::as_constant) == Some(1)
    }
}

/// A node of the loop tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Node {
    /// A loop.
    Loop(Loop),
    /// A statement.
    Stmt(Stmt),
    /// `if (condition) then else otherwise`; the condition has no side effects.
    If {
        /// Selects `then` if non-zero, else `otherwise`.
        condition: Expr,
        /// Children if the condition holds.
        then: Vec<Node>,
        /// Children otherwise.
        otherwise: Vec<Node>,
    },
}

impl Node {
    /// The accesses of the node itself, without those of the nodes inside, with whether they write.
    pub fn own_accesses(&self) -> Vec<(&Access, bool)> {
        let mut found = Vec::new();
        match self {
            Node::Loop(l) => {
                for term in l.lower.0.iter().chain(&l.upper.0) {
                    if let BoundTerm::Data(e) = term {
                        found.extend(e.reads().into_iter().map(|a| (a, false)));
                    }
                }
            }
            Node::If { condition, .. } => found.extend(condition.reads().into_iter().map(|a| (a, false))),
            Node::Stmt(s) => {
                if s.update.reads_target() {
                    found.push((&s.target, false));
                }
                found.push((&s.target, true));
                for index in &s.target.indices {
                    found.extend(index.reads().into_iter().map(|a| (a, false)));
                }
                found.extend(s.value.reads().into_iter().map(|a| (a, false)));
            }
        }
        found
    }

    /// Calls `f` with every statement in and under the node, in order.
    pub fn for_each_stmt<'n>(&'n self, f: &mut dyn FnMut(&'n Stmt)) {
        if let Node::Stmt(s) = self {
            f(s);
        }
        self.bodies().into_iter().flatten().for_each(|node| node.for_each_stmt(f));
    }

    /// Lists of children, mutable.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Node>> {
        match self {
            Node::Loop(l) => vec![&mut l.body],
            Node::Stmt(_) => Vec::new(),
            Node::If { then, otherwise, .. } => vec![then, otherwise],
        }
    }

    /// Lists of children.
    pub fn bodies(&self) -> Vec<&Vec<Node>> {
        match self {
            Node::Loop(l) => vec![&l.body],
            Node::Stmt(_) => Vec::new(),
            Node::If { then, otherwise, .. } => vec![then, otherwise],
        }
    }

    /// Replaces variables everywhere in and under the node.
    pub fn substitute(&mut self, with: &dyn Fn(Var) -> Option<Affine>) {
        match self {
            Node::Loop(l) => {
                for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                    match term {
                        BoundTerm::Affine { expr, .. } => *expr = expr.substitute(with),
                        BoundTerm::Data(e) => e.substitute(with),
                        BoundTerm::Open => {}
                    }
                }
            }
            Node::If { condition, .. } => condition.substitute(with),
            Node::Stmt(s) => {
                s.target.indices.iter_mut().for_each(|e| e.substitute(with));
                s.value.substitute(with);
            }
        }
        for child in self.bodies_mut().into_iter().flatten() {
            child.substitute(with);
        }
    }
}

/// A loop nest: the unit that is tuned and replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nest {
    /// Unique inside the program.
    pub id: NestId,
    /// The function that contains it.
    pub function: String,
    /// Its place in the user's file.
    pub span: Option<Span>,
    /// Trees in execution order; from a source file usually one loop.
    pub roots: Vec<Node>,
    /// Scalars and local arrays whose values may be read after the nest. Everything that is not local to the function
    /// is live anyway.
    pub live_out: Vec<ArrayId>,
    /// Pointers that change places while the nest runs. Inside, every access names its memory by the pointer that leads
    /// there before the nest.
    pub rotations: Vec<Rotation>,
    /// Symbols that its text in the source uses beyond what it reads itself: in directives, as in `num_threads(n)`, or to
    /// compute other symbols.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<SymId>,
    /// Arrays and scalars whose accumulations in the nest may come in any order, whatever the rounding: the source says so,
    /// as in `reduction(+: sum)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<ArrayId>,
    /// Arrays whose first extent is not known, but of which something finds out before the nest which elements it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounded: Vec<ArrayId>,
}

/// Pointers that take turns in every iteration of a time loop, such as those to the old and the new field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// Two or more. In every turn each gets what the next one led to, and the last what the first did.
    pub pointers: Vec<ArrayId>,
    /// The number of turns, over symbols; zero if negative.
    pub times: Affine,
}

impl Rotation {
    /// How many places the pointers have moved on after this many turns: `pointers[k]` leads where `pointers[k + n]` did
    /// before, round and round.
    pub fn left(&self, times: i64) -> usize {
        let n_pointers = (self.pointers.len() as i64).max(1);
        usize::try_from(times.max(0) % n_pointers).unwrap_or(0)
    }

    /// The pointers in pairs that exchange their places one after the other in one turn.
    pub fn exchanges(&self) -> impl Iterator<Item = (ArrayId, ArrayId)> + '_ {
        self.pointers.windows(2).map(|pair| (pair[0], pair[1]))
    }
}

impl Nest {
    /// Forgets where the nest and its statements stand in a file.
    pub fn forget_places(&mut self) {
        fn forget(nodes: &mut [Node]) {
            for node in nodes {
                if let Node::Stmt(s) = node {
                    s.line = None;
                }
                node.bodies_mut().into_iter().for_each(|body| forget(body));
            }
        }
        self.span = None;
        forget(&mut self.roots);
    }

    /// A nest that is not in a file, after which no local of the function is read.
    pub fn new(id: NestId, function: impl Into<String>, roots: Vec<Node>) -> Self {
        let function = function.into();
        Self {
            id,
            function,
            span: None,
            roots,
            live_out: Vec::new(),
            rotations: Vec::new(),
            mentions: Vec::new(),
            unordered: Vec::new(),
            bounded: Vec::new(),
        }
    }

    /// Calls `f` on every node, parents first, in execution order, with the enclosing loops outermost first.
    pub fn visit<'a>(&'a self, f: &mut dyn FnMut(&[&'a Loop], &'a Node)) {
        fn go<'a>(nodes: &'a [Node], path: &mut Vec<&'a Loop>, f: &mut dyn FnMut(&[&'a Loop], &'a Node)) {
            for node in nodes {
                f(path, node);
                if let Node::Loop(l) = node {
                    path.push(l);
                }
                for body in node.bodies() {
                    go(body, path, f);
                }
                if let Node::Loop(_) = node {
                    path.pop();
                }
            }
        }
        go(&self.roots, &mut Vec::new(), f);
    }

    /// All loops in pre-order.
    pub fn loops(&self) -> Vec<&Loop> {
        let mut found = Vec::new();
        self.visit(&mut |_, node| {
            if let Node::Loop(l) = node {
                found.push(l);
            }
        });
        found
    }

    /// The loops without others inside, in their order.
    pub fn innermost_loops(&self) -> Vec<&Loop> {
        let mut outer = BTreeSet::new();
        self.visit(&mut |around, node| {
            if let (Some(parent), Node::Loop(_)) = (around.last(), node) {
                outer.insert(parent.id);
            }
        });
        self.loops().into_iter().filter(|l| !outer.contains(&l.id)).collect()
    }

    /// The symbols in the affine bounds of the loops inside the outermost ones.
    pub fn symbols_of_inner_bounds(&self) -> BTreeSet<SymId> {
        let mut found = BTreeSet::new();
        self.visit(&mut |around, node| {
            let Node::Loop(l) = node else { return };
            let ends = l.lower.0.iter().chain(&l.upper.0).filter(|_| !around.is_empty());
            for end in ends {
                if let BoundTerm::Affine { expr, .. } = end {
                    found.extend(expr.terms().filter_map(|(var, _)| match var {
                        Var::Sym(symbol) => Some(symbol),
                        Var::Loop(_) => None,
                    }));
                }
            }
        });
        found
    }

    /// All statements in textual order.
    pub fn stmts(&self) -> Vec<&Stmt> {
        let mut found = Vec::new();
        self.visit(&mut |_, node| {
            if let Node::Stmt(s) = node {
                found.push(s);
            }
        });
        found
    }

    /// The loop with this id.
    pub fn find_loop(&self, id: LoopId) -> Option<&Loop> {
        self.loops().into_iter().find(|l| l.id == id)
    }

    /// Every access and whether it writes: targets, reads of values, guards, indices and data-dependent bounds.
    pub fn accesses(&self) -> Vec<(&Access, bool)> {
        let mut found = Vec::new();
        self.visit(&mut |_, node| found.extend(node.own_accesses()));
        found
    }

    /// The arrays accessed, each once, by ascending id.
    pub fn arrays(&self) -> Vec<ArrayId> {
        let mut ids: Vec<_> = self.accesses().into_iter().map(|(a, _)| a.array).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Every variable of every affine part: bounds, guards, indices, values.
    pub fn vars(&self) -> std::collections::BTreeSet<Var> {
        let mut found = std::collections::BTreeSet::new();
        self.visit_affine(&mut |a| found.extend(a.terms().map(|(v, _)| v)));
        found
    }

    /// Visits every affine part: bounds, guards, indices, values.
    pub fn visit_affine(&self, f: &mut dyn FnMut(&Affine)) {
        self.visit_exprs(&mut |e| {
            if let Expr::Affine(a) = e {
                f(a);
            }
        });
    }

    /// Visits every expression and all of its parts: bounds, guards, indices, values.
    pub fn visit_exprs(&self, f: &mut dyn FnMut(&Expr)) {
        let mut visit = |e: &Expr| e.visit(f);
        self.visit(&mut |_, node| match node {
            Node::Loop(l) => {
                for term in l.lower.0.iter().chain(&l.upper.0) {
                    match term {
                        BoundTerm::Affine { expr, .. } => visit(&Expr::Affine(expr.clone())),
                        BoundTerm::Data(e) => visit(e),
                        BoundTerm::Open => {}
                    }
                }
            }
            Node::If { condition, .. } => visit(condition),
            Node::Stmt(s) => {
                s.target.indices.iter().for_each(&mut visit);
                visit(&s.value);
            }
        });
    }
}
