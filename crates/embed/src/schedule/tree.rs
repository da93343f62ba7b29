//! A scheduled nest with the execution counts of all its parts, from a few sampled iterations of each loop.

use oxeye_analysis::{evaluate, evaluate_symbols};
use oxeye_ir::{
    Access, ArrayId, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program, Stmt, SymId,
    Update, Var, WorkSharing,
};

/// Iterations assumed for a loop with unknown bounds.
const UNKNOWN_TRIPS: f64 = 64.0;
/// Sampled iterations of one loop, and the limit of their product along a path.
const SAMPLES: u64 = 6;
const WORK: u64 = 36;
/// Loops of at most this many vectors are unrolled in the text, as by the renderer.
const MAX_CHUNKS: u64 = 16;
/// Innermost loops with fewer iterations are worth interchanging.
const SHORT_TRIPS: f64 = 16.0;
/// Innermost loops of at most this many iterations are unrolled by compilers.
const MAX_PEELED: u64 = 8;

/// The nest as arenas of loops and statements.
pub(super) struct Tree<'a> {
    pub(super) program: &'a Program,
    value_of: &'a dyn Fn(SymId) -> Option<i64>,
    pub(super) threads: f64,
    /// In pre-order.
    pub(super) loops: Vec<LoopNode<'a>>,
    /// In textual order.
    pub(super) stmts: Vec<StmtNode<'a>>,
    pub(super) roots: Vec<Item<'a>>,
    /// Whether every bound could be evaluated.
    pub(super) is_known: bool,
    /// Current values of the iterators, outermost first.
    at: Vec<(LoopId, i64)>,
}

/// A node of the tree.
#[derive(Clone)]
pub(super) enum Item<'a> {
    /// A position in [`Tree::loops`].
    Loop(usize),
    /// A position in [`Tree::stmts`].
    Stmt(usize),
    /// A guard.
    If { condition: &'a Expr, then: Vec<Item<'a>>, otherwise: Vec<Item<'a>> },
}

pub(super) struct LoopNode<'a> {
    pub(super) l: &'a Loop,
    /// Positions of the loops around it, outermost first.
    pub(super) path: Vec<usize>,
    pub(super) body: Vec<Item<'a>>,
    /// Times it is entered.
    pub(super) entries: f64,
    /// Executions of its body.
    pub(super) iterations: f64,
    /// For parallel loops, work of the busiest thread over the mean, summed with entries as weights.
    imbalance: f64,
    /// Whether bounds or guards inside depend on its iterator.
    is_used: bool,
    /// Whether there are loops inside.
    holds_loops: bool,
    /// Whether all its iterations do the same, so that one sample is enough.
    pub(super) runs_once: bool,
    /// Number of iterations, if it does not depend on the loops around.
    pub(super) constant_trips: Option<u64>,
}

pub(super) struct StmtNode<'a> {
    pub(super) stmt: &'a Stmt,
    /// Positions of the loops around it, outermost first.
    pub(super) path: Vec<usize>,
    /// Guards around it, inside its innermost loop.
    pub(super) n_guards: usize,
    /// Executions.
    pub(super) runs: f64,
    /// Whether its loops are assumed to run in another order than written.
    pub(super) is_reordered: bool,
    pub(super) accesses: Vec<AccessNode<'a>>,
}

/// An access of a statement.
pub(super) struct AccessNode<'a> {
    pub(super) access: &'a Access,
    pub(super) is_write: bool,
    pub(super) element_bytes: f64,
    /// Extents of the array, where known.
    pub(super) extents: Vec<Option<f64>>,
    /// An index is read from memory.
    pub(super) is_indirect: bool,
    /// For each dimension, the index in the middle of all loops; `None` if it is not affine.
    pub(super) middle: Vec<Option<f64>>,
    /// For each loop around, how far one iteration moves each index, inner loops at their first iteration.
    pub(super) steps: Vec<Vec<Option<f64>>>,
    /// For each loop around, the same in bytes of the array's layout.
    pub(super) strides: Vec<Option<f64>>,
}

impl LoopNode<'_> {
    /// Iterations each time it is entered.
    pub(super) fn trips(&self) -> f64 {
        if self.entries > 0.0 { self.iterations / self.entries } else { 0.0 }
    }

    pub(super) fn is_parallel(&self) -> bool {
        matches!(self.l.execution, Execution::Parallel { .. })
    }

    pub(super) fn is_dynamic(&self) -> bool {
        matches!(self.l.execution, Execution::Parallel { sharing: WorkSharing::Dynamic, .. })
    }

    /// Work of the busiest thread over the mean.
    pub(super) fn imbalance(&self) -> f64 {
        if self.entries > 0.0 { (self.imbalance / self.entries).max(1.0) } else { 1.0 }
    }

    /// Whether it is unrolled, in the text or by the compiler.
    pub(super) fn is_written_out(&self) -> bool {
        match (&self.l.execution, self.constant_trips) {
            _ if self.runs_once => true,
            (Execution::Unrolled, Some(_)) => true,
            (Execution::Vector { lanes: Some(lanes), .. }, Some(trips)) => {
                trips <= MAX_CHUNKS * u64::from(*lanes)
            }
            (Execution::Vector { lanes: None, .. } | Execution::Sequential, Some(trips)) => {
                trips <= MAX_PEELED && !self.holds_loops
            }
            _ => false,
        }
    }

    pub(super) fn is_vector(&self) -> bool {
        matches!(self.l.execution, Execution::Vector { .. })
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        program: &'a Program,
        nest: &'a Nest,
        value_of: &'a dyn Fn(SymId) -> Option<i64>,
        threads: f64,
    ) -> Self {
        let mut tree = Self {
            program,
            value_of,
            threads: threads.max(1.0),
            loops: Vec::new(),
            stmts: Vec::new(),
            roots: Vec::new(),
            is_known: true,
            at: Vec::new(),
        };
        tree.roots = tree.import(&nest.roots, &mut Vec::new(), &mut Vec::new());
        let roots = tree.roots.clone();
        tree.count(&roots, 1.0, 1.0, WORK);
        for stmt_idx in 0..tree.stmts.len() {
            tree.place(stmt_idx);
        }
        for loop_idx in (0..tree.loops.len()).rev() {
            if tree.repeats_itself(loop_idx) {
                tree.run_once(loop_idx);
            }
        }
        for stmt_idx in 0..tree.stmts.len() {
            if let Some(depth) = tree.other_order(stmt_idx) {
                tree.move_inside(stmt_idx, depth);
            }
        }
        tree
    }

    /// The depth of a loop that a compiler would make the innermost one around a statement: all loops from there on are
    /// plain, around nothing but this statement, and independent of each other; that loop moves all accesses by one
    /// element or not at all, while the innermost one does not, or is short.
    fn other_order(&self, stmt_idx: usize) -> Option<usize> {
        let stmt = &self.stmts[stmt_idx];
        let inner = stmt.path.len().checked_sub(1)?;
        let node = |depth: usize| &self.loops[stmt.path[depth]];
        let is_plain = |depth: usize| node(depth).l.execution == Execution::Sequential;
        let is_alone = |depth: usize| node(depth).l.body.len() == 1;
        if self.team(&stmt.path).is_some() || !is_plain(inner) || !is_alone(inner) || stmt.n_guards > 0 {
            return None;
        }
        let reads_suit = |depth: usize| {
            stmt.accesses.iter().all(|access| access.is_contiguous(depth) || !access.is_moved(depth))
        };
        let suits = |depth: usize| {
            let mut writes = stmt.accesses.iter().filter(|access| access.is_write);
            reads_suit(depth) && writes.all(|access| access.is_contiguous(depth))
        };
        let is_short = node(inner).trips() < SHORT_TRIPS;
        if !is_short && (suits(inner) || reads_suit(inner)) {
            return None;
        }
        let is_free =
            |depth: usize| (depth + 1..=inner).all(|inside| !bounds_use(node(inside).l, node(depth).l.id));
        let band =
            (0..inner).rev().take_while(|depth| is_plain(*depth) && is_alone(*depth) && is_free(*depth));
        band.into_iter()
            .find(|depth| suits(*depth) && (!is_short || node(*depth).trips() > node(inner).trips()))
    }

    /// Makes the loop at a depth the innermost one around a statement that is alone in it.
    fn move_inside(&mut self, stmt_idx: usize, depth: usize) {
        let path = self.stmts[stmt_idx].path[depth..].to_vec();
        let mut entries = self.loops[path[0]].entries;
        let content = |node: &LoopNode<'a>| (node.l, node.trips(), node.constant_trips);
        let mut contents: Vec<_> = path.iter().map(|loop_idx| content(&self.loops[*loop_idx])).collect();
        contents.rotate_left(1);
        for (loop_idx, (l, trips, constant_trips)) in path.into_iter().zip(contents) {
            let node = &mut self.loops[loop_idx];
            (node.l, node.constant_trips) = (l, constant_trips);
            (node.entries, node.iterations) = (entries, entries * trips);
            entries *= trips;
        }
        let stmt = &mut self.stmts[stmt_idx];
        stmt.is_reordered = true;
        for access in &mut stmt.accesses {
            access.steps[depth..].rotate_left(1);
            access.strides[depth..].rotate_left(1);
        }
    }

    /// Whether a plain innermost loop repeats the same work, and a compiler can prove it: inside parallel loops any two
    /// arrays may be the same.
    fn repeats_itself(&self, loop_idx: usize) -> bool {
        let node = &self.loops[loop_idx];
        let below: Vec<&StmtNode<'_>> =
            self.stmts.iter().filter(|stmt| stmt.path.contains(&loop_idx)).collect();
        let is_still = |stmt: &StmtNode<'_>| {
            stmt.stmt.update == Update::Assign
                && stmt.n_guards == 0
                && !stmt.stmt.value.uses(node.l.id)
                && stmt.accesses.iter().all(|access| !access.is_moved(node.path.len()))
        };
        let is_set_first = |position: usize, access: &AccessNode<'_>| {
            let is_written = below.iter().any(|stmt| stmt.stmt.target.array == access.array());
            let mut before = below[..position].iter();
            !is_written || before.any(|stmt| stmt.stmt.target == *access.access)
        };
        let mut inside = self.loops.iter().filter(|inner| inner.path.contains(&loop_idx));
        node.l.execution == Execution::Sequential
            && inside.all(LoopNode::is_written_out)
            && self.team(&node.path).is_none()
            && below.iter().enumerate().all(|(position, stmt)| {
                let mut reads = stmt.accesses.iter().filter(|access| !access.is_write);
                is_still(stmt) && reads.all(|access| is_set_first(position, access))
            })
    }

    /// Counts a loop as if it had one iteration, which is in the text of the loop around it.
    fn run_once(&mut self, loop_idx: usize) {
        let trips = self.loops[loop_idx].trips().max(1.0);
        for stmt in self.stmts.iter_mut().filter(|stmt| stmt.path.contains(&loop_idx)) {
            stmt.runs /= trips;
        }
        self.loops[loop_idx].iterations = self.loops[loop_idx].entries;
        self.loops[loop_idx].runs_once = true;
    }

    fn import(
        &mut self,
        nodes: &'a [Node],
        path: &mut Vec<usize>,
        guards: &mut Vec<&'a Expr>,
    ) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    let position = self.loops.len();
                    self.loops.push(LoopNode {
                        l,
                        path: path.clone(),
                        body: Vec::new(),
                        entries: 0.0,
                        iterations: 0.0,
                        imbalance: 0.0,
                        is_used: l.body.iter().any(|inner| controls(inner, l.id)),
                        holds_loops: l.body.iter().any(holds_loops),
                        runs_once: false,
                        constant_trips: l.constant_trip_count(),
                    });
                    path.push(position);
                    let body = self.import(&l.body, path, &mut Vec::new());
                    path.pop();
                    self.loops[position].body = body;
                    items.push(Item::Loop(position));
                }
                Node::Stmt(stmt) => {
                    items.push(Item::Stmt(self.stmts.len()));
                    let accesses = self.accesses(stmt, guards);
                    let (path, n_guards) = (path.clone(), guards.len());
                    self.stmts.push(StmtNode {
                        stmt,
                        path,
                        n_guards,
                        runs: 0.0,
                        is_reordered: false,
                        accesses,
                    });
                }
                Node::If { condition, then, otherwise } => {
                    guards.push(condition);
                    let then = self.import(then, path, guards);
                    let otherwise = self.import(otherwise, path, guards);
                    guards.pop();
                    items.push(Item::If { condition, then, otherwise });
                }
            }
        }
        items
    }

    /// The accesses of a statement and of the guards directly around it, without places.
    fn accesses(&self, stmt: &'a Stmt, guards: &[&'a Expr]) -> Vec<AccessNode<'a>> {
        let mut reads: Vec<&'a Access> = stmt.value.reads();
        stmt.target.indices.iter().for_each(|index| reads.extend(index.reads()));
        guards.iter().for_each(|guard| reads.extend(guard.reads()));
        if stmt.update.reads_target() {
            reads.push(&stmt.target);
        }
        let with_kind = std::iter::once((&stmt.target, true)).chain(reads.into_iter().map(|a| (a, false)));
        with_kind
            .filter_map(|(access, is_write)| {
                let array = self.program.arrays.get(&access.array)?;
                let extent = |e: &Option<Expr>| {
                    e.as_ref().and_then(|e| evaluate_symbols(e, self.value_of)).map(|e| e.max(1) as f64)
                };
                Some(AccessNode {
                    access,
                    is_write,
                    element_bytes: array.element.bytes() as f64,
                    extents: array.shape.iter().map(extent).collect(),
                    is_indirect: access.indices.iter().any(|index| !index.reads().is_empty()),
                    middle: Vec::new(),
                    steps: Vec::new(),
                    strides: Vec::new(),
                })
            })
            .collect()
    }

    /// Counts what runs when `items` run `weight` times; `around` is the product of the trips of the loops around.
    fn count(&mut self, items: &[Item<'a>], weight: f64, around: f64, work: u64) {
        for item in items {
            match item {
                Item::Stmt(stmt_idx) => self.stmts[*stmt_idx].runs += weight,
                Item::If { condition, then, otherwise } => match self.evaluate(condition) {
                    Some(0) => self.count(otherwise, weight, around, work),
                    Some(_) => self.count(then, weight, around, work),
                    // It depends on the data: both branches are equally likely, a single guard most likely holds.
                    None if otherwise.is_empty() => self.count(then, weight, around, work),
                    None => {
                        self.count(then, weight / 2.0, around, work);
                        self.count(otherwise, weight / 2.0, around, work);
                    }
                },
                Item::Loop(loop_idx) => self.count_loop(*loop_idx, weight, around, work),
            }
        }
    }

    fn count_loop(&mut self, loop_idx: usize, weight: f64, around: f64, work: u64) {
        let l = self.loops[loop_idx].l;
        self.loops[loop_idx].entries += weight;
        let range = self.range(l);
        let (first, n) = match range {
            Some((first, n)) => (first, n as f64),
            None => (0, self.assumed_trips(loop_idx, around)),
        };
        self.is_known &= range.is_some();
        if n <= 0.0 {
            return;
        }
        self.loops[loop_idx].iterations += weight * n;
        let body = self.loops[loop_idx].body.clone();
        let at = |iteration: f64| {
            i64::try_from(iteration as i128 * i128::from(l.step) + i128::from(first)).unwrap_or(first)
        };
        let n_looked_at = match self.loops[loop_idx].is_used {
            true => (n as u64).clamp(1, SAMPLES.min(work.max(1))),
            false => 1,
        };
        let mut shares = vec![0.0; self.threads as usize];
        for idx in 0..n_looked_at {
            // The middles of equal parts.
            let middle = (idx as f64 + 0.5) / n_looked_at as f64;
            self.at.push((l.id, at((middle * n).floor())));
            let before: f64 = self.total_runs();
            self.count(&body, weight * n / n_looked_at as f64, around * n, work / n_looked_at);
            self.at.pop();
            let thread = (middle * shares.len() as f64) as usize;
            shares[thread] += self.total_runs() - before;
        }
        let node = &mut self.loops[loop_idx];
        if node.is_parallel() {
            let threads = shares.len() as f64;
            // Whole iterations cannot be shared.
            let granularity = (n / threads).ceil() * threads / n;
            let total: f64 = shares.iter().sum();
            let is_uneven = !node.is_dynamic() && n_looked_at as usize >= shares.len() && total > 0.0;
            let busiest = if is_uneven { shares.iter().fold(0.0, |a, b| f64::max(a, *b)) } else { 0.0 };
            node.imbalance += weight * granularity.max(busiest * threads / total.max(1.0));
        }
    }

    fn total_runs(&self) -> f64 {
        self.stmts.iter().map(|stmt| stmt.runs).sum()
    }

    /// First iterator and number of iterations; `None` if not all bounds can be evaluated.
    fn range(&self, l: &Loop) -> Option<(i64, u64)> {
        let lower = self.bound(&l.lower, i64::max)?;
        let upper = self.bound(&l.upper, i64::min)?;
        let size = upper.checked_sub(lower)?.max(0).unsigned_abs();
        let n = size.div_ceil(l.step.unsigned_abs().max(1));
        Some((if l.step > 0 { lower } else { upper.saturating_sub(1) }, n))
    }

    fn bound(&self, bound: &Bound, choose: fn(i64, i64) -> i64) -> Option<i64> {
        let term = |term: &BoundTerm| match term {
            BoundTerm::Affine { expr, divisor } => {
                let value = expr.evaluate(&|var| self.var(var))?;
                value.checked_neg()?.checked_div_euclid(*divisor)?.checked_neg()
            }
            BoundTerm::Data(expr) => self.evaluate(expr),
            BoundTerm::Open => None,
        };
        bound.0.iter().map(term).reduce(|a, b| Some(choose(a?, b?)))?
    }

    /// A loop bounded by data: all its runs together walk through an array that it indexes.
    fn assumed_trips(&self, loop_idx: usize, around: f64) -> f64 {
        let id = self.loops[loop_idx].l.id;
        let below = self.stmts.iter().filter(|stmt| stmt.path.contains(&loop_idx));
        let walked = below.flat_map(|stmt| &stmt.accesses).filter_map(|access| {
            let is_walk =
                |index: &Expr| index.as_affine().is_some_and(|affine| affine.coefficient(id).abs() == 1);
            let dim = access.access.indices.iter().position(is_walk)?;
            access.extents.get(dim).copied().flatten()
        });
        walked.reduce(f64::min).map_or(UNKNOWN_TRIPS, |extent| (extent / around.max(1.0)).max(1.0))
    }

    fn var(&self, var: Var) -> Option<i64> {
        match var {
            Var::Loop(id) => self.at.iter().rev().find(|(other, _)| *other == id).map(|(_, value)| *value),
            Var::Sym(id) => (self.value_of)(id),
        }
    }

    /// The value of a condition or bound; `None` if it reads memory, or a symbol has no value.
    fn evaluate(&self, expr: &Expr) -> Option<i64> {
        evaluate(expr, &|var| self.var(var))
    }

    /// Fills in where the accesses of a statement are and how loops move them.
    fn place(&mut self, stmt_idx: usize) {
        let path = self.stmts[stmt_idx].path.clone();
        // Starts and middles, each loop's depending on the middles of those around it.
        let (mut starts, mut middles) = (Vec::new(), Vec::new());
        self.at.clear();
        for &loop_idx in &path {
            let l = self.loops[loop_idx].l;
            let start = self.range(l).map_or(0, |(first, _)| first);
            let half = (self.loops[loop_idx].trips() / 2.0).floor() as i64;
            let middle = start.saturating_add(half.saturating_mul(l.step));
            starts.push(start);
            middles.push(middle);
            self.at.push((l.id, middle));
        }
        let here = self.indices(stmt_idx);
        let mut moved = Vec::new();
        for (depth, &loop_idx) in path.iter().enumerate() {
            let l = self.loops[loop_idx].l;
            self.at.clear();
            self.at.extend((0..depth).map(|outer| (self.loops[path[outer]].l.id, middles[outer])));
            self.at.push((l.id, middles[depth].saturating_add(l.step)));
            for inside in depth + 1..path.len() {
                let inner = self.loops[path[inside]].l;
                let start = self.range(inner).map_or(0, |(first, _)| first);
                let offset = middles[inside].saturating_sub(starts[inside]);
                self.at.push((inner.id, start.saturating_add(offset)));
            }
            moved.push(self.indices(stmt_idx));
        }
        self.at.clear();
        for (access_idx, access) in self.stmts[stmt_idx].accesses.iter_mut().enumerate() {
            access.middle = here[access_idx].clone();
            access.steps = moved
                .iter()
                .map(|moved| {
                    let step = |(a, b): (&Option<f64>, &Option<f64>)| Some((*b)? - (*a)?);
                    access.middle.iter().zip(&moved[access_idx]).map(step).collect()
                })
                .collect();
            access.strides = access.steps.iter().map(|steps| access.stride(steps)).collect();
        }
        self.forget_loops_that_do_not_matter(stmt_idx);
    }

    /// An index that is not affine does not move with loops that matter neither to it nor to the bounds of loops that
    /// do.
    fn forget_loops_that_do_not_matter(&mut self, stmt_idx: usize) {
        let path: Vec<&Loop> = self.stmts[stmt_idx].path.iter().map(|idx| self.loops[*idx].l).collect();
        for access in &mut self.stmts[stmt_idx].accesses {
            let mut is_still = vec![true; path.len()];
            for (dim, index) in access.access.indices.iter().enumerate() {
                let mut matters: Vec<bool> = path.iter().map(|l| index.uses(l.id)).collect();
                for inner in (0..path.len()).rev() {
                    for outer in 0..inner {
                        matters[outer] |= matters[inner] && bounds_use(path[inner], path[outer].id);
                    }
                }
                for depth in 0..path.len() {
                    if access.steps[depth][dim].is_none() && !matters[depth] {
                        access.steps[depth][dim] = Some(0.0);
                    }
                    is_still[depth] &= access.steps[depth][dim] == Some(0.0);
                }
            }
            for (stride, _) in access.strides.iter_mut().zip(is_still).filter(|(_, is_still)| *is_still) {
                *stride = Some(0.0);
            }
        }
    }

    /// For each access of a statement the value of each index, at the moment's iterators.
    fn indices(&self, stmt_idx: usize) -> Vec<Vec<Option<f64>>> {
        let value = |index: &Expr| match index {
            Expr::Affine(affine) => affine.evaluate(&|var| self.var(var)).map(|value| value as f64),
            _ => None,
        };
        let of = |access: &AccessNode<'_>| access.access.indices.iter().map(value).collect();
        self.stmts[stmt_idx].accesses.iter().map(of).collect()
    }

    /// The innermost loop of the text around a statement: unrolled loops do not count.
    pub(super) fn rolled(&self, stmt: &StmtNode<'_>) -> Option<usize> {
        stmt.path.iter().rev().copied().find(|loop_idx| !self.loops[*loop_idx].is_written_out())
    }

    /// The outermost parallel loop around.
    pub(super) fn team(&self, path: &[usize]) -> Option<usize> {
        path.iter().copied().find(|loop_idx| self.loops[*loop_idx].is_parallel())
    }

    /// Speedup of the work inside a parallel loop.
    pub(super) fn team_speedup(&self, parallel: usize) -> f64 {
        self.threads / self.loops[parallel].imbalance()
    }
}

impl AccessNode<'_> {
    fn stride(&self, steps: &[Option<f64>]) -> Option<f64> {
        let (mut total, mut row) = (0.0, Some(self.element_bytes));
        for (dim, step) in steps.iter().enumerate().rev() {
            let step = (*step)?;
            if step != 0.0 {
                total += step * row?;
            }
            row = row.zip(self.extents.get(dim).copied().flatten()).map(|(row, extent)| row * extent);
        }
        Some(total)
    }

    /// Whether consecutive executions touch elements anywhere, depending on data.
    pub(super) fn is_random(&self) -> bool {
        self.is_indirect && self.strides.last().is_some_and(Option::is_none)
    }

    pub(super) fn array(&self) -> ArrayId {
        self.access.array
    }

    /// Whether the loop at this depth moves it.
    pub(super) fn is_moved(&self, depth: usize) -> bool {
        self.strides.get(depth).is_some_and(|stride| *stride != Some(0.0))
    }

    /// Whether the loop at this depth moves it by one element, forward or backward.
    pub(super) fn is_contiguous(&self, depth: usize) -> bool {
        self.strides.get(depth).copied().flatten().is_some_and(|stride| stride.abs() == self.element_bytes)
    }
}

/// Whether a bound or guard of the node depends on the iterator.
fn controls(node: &Node, id: LoopId) -> bool {
    let here = match node {
        Node::Loop(l) => bounds_use(l, id),
        Node::If { condition, .. } => condition.uses(id),
        Node::Stmt(_) => false,
    };
    here || node.bodies().into_iter().flatten().any(|inner| controls(inner, id))
}

fn bounds_use(l: &Loop, id: LoopId) -> bool {
    l.lower.0.iter().chain(&l.upper.0).any(|term| term.uses(id))
}

fn holds_loops(node: &Node) -> bool {
    matches!(node, Node::Loop(_)) || node.bodies().into_iter().flatten().any(holds_loops)
}
