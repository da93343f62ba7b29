//! Core time: a throughput and latency model of the innermost loops of the text.

use super::memory::LINE;
use super::tree::{AccessNode, StmtNode, Tree};
use oxeye_analysis::{Operations, operations};
use oxeye_ir::{Access, ArrayId, Execution, Expr, MathFn, Update};

/// Bytes of the vectors that compilers prefer, where registers are wider.
const PREFERRED_VECTOR: f64 = 32.0;
/// Latency of a floating-point addition or multiplication in cycles.
const LATENCY: f64 = 4.0;
/// Cycles until a stored value can be loaded again.
const FORWARDING: f64 = 5.0;
/// Cycles to get back a cache line that another thread has written to.
const CONTENTION: f64 = 30.0;
/// Cycles to combine the lanes of an accumulator at the end of a loop: of one that the compiler chose to vectorize, and
/// of one marked for it, where every lane goes through memory.
const COMBINE: f64 = 14.0;
const COMBINE_ASKED: f64 = 30.0;
/// Vector registers.
const REGISTERS: f64 = 30.0;
/// Cycles lost when a loop ends: a mispredicted branch, unless the loop is short.
const EXIT: f64 = 12.0;
const SHORT_EXIT: f64 = 3.0;
const SHORT: f64 = 16.0;
/// Cycles before a vector loop starts.
const PROLOGUE: f64 = 8.0;

/// The statements that share an innermost loop of the text.
pub(super) struct Leaf {
    pub(super) stmts: Vec<usize>,
    /// The outermost parallel loop around.
    pub(super) team: Option<usize>,
    /// How its iterations run in lanes.
    pub(super) lanes: Lanes,
    /// Iterations in total, and times it is entered.
    pub(super) iterations: f64,
    pub(super) entries: f64,
    /// Cycles of all executions.
    pub(super) arithmetic: f64,
    pub(super) ports: f64,
    pub(super) latency: f64,
    pub(super) overhead: f64,
    /// Executions that accumulate in memory.
    pub(super) in_memory: f64,
    /// Loads and stores that a vector loop makes element by element.
    pub(super) scattered: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lanes {
    /// Iterations at a time; 1 for none.
    pub(super) n: f64,
    /// Whether vectors are asked for, with or without a width; otherwise a guess at what the compiler does.
    pub(super) is_asked: bool,
}

impl Leaf {
    /// Cycles of one thread.
    pub(super) fn cycles(&self) -> f64 {
        self.arithmetic.max(self.ports).max(self.latency) + self.overhead
    }
}

/// The innermost loops of the text with their statements, in textual order.
pub(super) fn leaves(tree: &Tree<'_>) -> Vec<Leaf> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (stmt_idx, stmt) in tree.stmts.iter().enumerate().filter(|(_, stmt)| stmt.runs > 0.0) {
        let rolled = tree.rolled(stmt);
        match groups.iter_mut().find(|(other, _)| *other == rolled) {
            Some((_, stmts)) => stmts.push(stmt_idx),
            None => groups.push((rolled, vec![stmt_idx])),
        }
    }
    groups.into_iter().map(|(rolled, stmts)| Model::new(tree, rolled, &stmts).leaf(stmts.clone())).collect()
}

struct Model<'t, 'a> {
    tree: &'t Tree<'a>,
    rolled: Option<usize>,
    /// Depth of the rolled loop.
    depth: usize,
    stmts: Vec<&'t StmtNode<'a>>,
    iterations: f64,
    /// Values that an iteration takes from an earlier one: distance in iterations, and cycles between.
    recurrences: Vec<(f64, f64)>,
}

impl<'t, 'a> Model<'t, 'a> {
    fn new(tree: &'t Tree<'a>, rolled: Option<usize>, stmts: &[usize]) -> Self {
        let node = rolled.map(|loop_idx| &tree.loops[loop_idx]);
        let stmts: Vec<&StmtNode<'_>> = stmts.iter().map(|idx| &tree.stmts[*idx]).collect();
        let mut model = Self {
            tree,
            rolled,
            depth: node.map_or(0, |node| node.path.len()),
            stmts,
            iterations: node.map_or(1.0, |node| node.iterations.max(1.0)),
            recurrences: Vec::new(),
        };
        model.recurrences = model.recurrences();
        model
    }

    fn leaf(&self, stmts: Vec<usize>) -> Leaf {
        let lanes = self.lanes();
        let mut ports = Ports::default();
        let mut arithmetic = 0.0;
        let mut known: Vec<(&Access, bool)> = Vec::new();
        for stmt in &self.stmts {
            arithmetic += self.arithmetic(stmt, lanes);
            for access in &stmt.accesses {
                if !known.contains(&(access.access, access.is_write)) {
                    known.push((access.access, access.is_write));
                    self.access(stmt, access, lanes, &mut ports);
                }
            }
        }
        let spilled = (ports.kept - REGISTERS).max(0.0);
        let busy = (ports.loads / 2.0).max(ports.stores).max((ports.loads + ports.stores) / 2.5) + spilled;
        let entries = self.rolled.map_or(1.0, |loop_idx| self.tree.loops[loop_idx].entries);
        let guards: f64 = self.stmts.iter().map(|stmt| stmt.n_guards as f64 * self.copies(stmt)).sum();
        let trips = self.iterations / entries.max(1.0);
        let remainder = if lanes.n > 1.0 { (0.5 * (lanes.n - 1.0)).min(trips) } else { 0.0 };
        let exit = if trips / lanes.n < SHORT { SHORT_EXIT } else { EXIT };
        let start = if lanes.n > 1.0 || lanes.is_asked { PROLOGUE } else { 0.0 };
        let overhead = entries * (exit + start)
            + self.combining(lanes)
            + self.iterations * (0.5 + guards) / lanes.n
            + entries * remainder * (arithmetic.max(busy) * (1.0 - 1.0 / lanes.n)).max(1.0);
        Leaf {
            team: self.stmts.first().and_then(|stmt| self.tree.team(&stmt.path)),
            lanes,
            iterations: self.iterations,
            entries,
            arithmetic: arithmetic * self.iterations,
            ports: busy * self.iterations,
            latency: self.latency(lanes) * self.iterations,
            overhead,
            in_memory: {
                let stmts = self.stmts.iter().filter(|stmt| self.accumulates_in_memory(stmt));
                stmts.map(|stmt| stmt.runs).sum()
            },
            scattered: ports.scattered * self.iterations,
            stmts,
        }
    }

    /// Executions of a statement in one iteration.
    fn copies(&self, stmt: &StmtNode<'_>) -> f64 {
        stmt.runs / self.iterations
    }

    /// The loop of vectors that are explicit or asked for: the rolled one, or an unrolled one inside.
    fn vector(&self, stmt: &StmtNode<'_>) -> Option<usize> {
        let from = self.depth;
        (from..stmt.path.len()).rev().find(|depth| self.tree.loops[stmt.path[*depth]].is_vector())
    }

    /// Lanes of the vectors that compilers prefer.
    fn preferred(&self) -> f64 {
        let bytes = self.stmts.iter().flat_map(|stmt| &stmt.accesses).filter(|a| !a.extents.is_empty());
        PREFERRED_VECTOR / bytes.map(|access| access.element_bytes).fold(4.0, f64::max)
    }

    fn lanes(&self) -> Lanes {
        let preferred = self.preferred();
        let Some(loop_idx) = self.rolled else { return Lanes { n: 1.0, is_asked: false } };
        let node = &self.tree.loops[loop_idx];
        let within = |n: f64| if node.trips() < n { 1.0 } else { n };
        match &node.l.execution {
            Execution::Vector { lanes, .. } => {
                Lanes { n: within(lanes.map_or(preferred, f64::from)), is_asked: true }
            }
            // Vectors along an unrolled loop.
            _ if self.stmts.iter().any(|stmt| self.vector(stmt).is_some()) => {
                Lanes { n: 1.0, is_asked: true }
            }
            _ => Lanes {
                n: if self.is_vectorizable(preferred) { within(preferred) } else { 1.0 },
                is_asked: false,
            },
        }
    }

    /// Cycles to combine the lanes of accumulators, behind every vector loop that has any.
    fn combining(&self, lanes: Lanes) -> f64 {
        let mut loops: Vec<(usize, f64)> = Vec::new();
        for stmt in self.stmts.iter().filter(|stmt| stmt.stmt.update.reads_target()) {
            let Some(target) = stmt.accesses.iter().find(|access| access.is_write) else { continue };
            let asked = self.vector(stmt);
            let Some(depth) = asked.or(self.rolled.filter(|_| lanes.n > 1.0).map(|_| self.depth)) else {
                continue;
            };
            let has_width = matches!(
                self.tree.loops[stmt.path[depth]].l.execution,
                Execution::Vector { lanes: Some(_), .. }
            );
            if !target.is_moved(depth)
                && !has_width
                && !loops.iter().any(|(known, _)| *known == stmt.path[depth])
            {
                loops.push((stmt.path[depth], if asked.is_some() { COMBINE_ASKED } else { COMBINE }));
            }
        }
        loops.into_iter().map(|(loop_idx, cycles)| self.tree.loops[loop_idx].entries * cycles).sum()
    }

    /// Whether a statement accumulates into an element that stays the same during the rolled loop, but has to be stored
    /// every time: something else that is read may be that element, as far as the compiler can tell. Threads are handed
    /// plain pointers, so inside parallel loops any array may be.
    fn accumulates_in_memory(&self, stmt: &StmtNode<'_>) -> bool {
        let Some(target) = stmt.accesses.iter().find(|access| access.is_write) else { return false };
        if target.extents.is_empty() || self.rolled.is_none() || target.is_moved(self.depth) {
            return false;
        }
        let is_asked = self.vector(stmt).is_some();
        let is_in_team = self.tree.team(&stmt.path).is_some();
        let others = self.stmts.iter().flat_map(|stmt| &stmt.accesses).filter(|a| !a.extents.is_empty());
        let may_be_it = |other: &&AccessNode<'_>| {
            (other.array() == target.array() && other.access != target.access && other.is_moved(self.depth))
                || (is_in_team && other.array() != target.array())
        };
        // Copies of the statement in rows whose distance only the sizes tell.
        let has_rows_apart = || {
            let array = self.tree.program.arrays.get(&target.array());
            let is_constant = |e: &Option<Expr>| {
                e.as_ref().and_then(Expr::as_affine).is_some_and(|a| a.as_constant().is_some())
            };
            let is_plain = array.is_some_and(|array| !array.shape.iter().skip(1).all(is_constant));
            let rows = target.access.indices.len().saturating_sub(1);
            let moves_row = |depth: usize| (0..rows).any(|dim| target.steps[depth][dim] != Some(0.0));
            is_plain && (self.depth + 1..stmt.path.len()).any(moves_row)
        };
        stmt.stmt.update.reads_target()
            && !is_asked
            && (has_rows_apart() || others.into_iter().any(|other| may_be_it(&other)))
    }

    /// A guess at whether the compiler vectorizes the rolled loop.
    fn is_vectorizable(&self, lanes: f64) -> bool {
        let holds_loops = self.rolled.is_some_and(|loop_idx| {
            let inside = self.tree.loops.iter().filter(|l| l.path.contains(&loop_idx));
            inside.filter(|l| l.iterations > 0.0).any(|l| !l.is_written_out())
        });
        let writes = || self.stmts.iter().flat_map(|stmt| stmt.accesses.iter().map(move |a| (stmt, a)));
        let are_writes_sound = writes().filter(|(_, access)| access.is_write).all(|(stmt, access)| {
            access.is_contiguous(self.depth)
                || (!access.is_moved(self.depth)
                    && (stmt.stmt.update != Update::Assign || access.extents.is_empty()))
        });
        let is_in_memory = self.stmts.iter().any(|stmt| self.accumulates_in_memory(stmt));
        !holds_loops
            && are_writes_sound
            && !is_in_memory
            && self.recurrences.iter().all(|(distance, _)| *distance >= lanes)
    }

    /// Cycles of arithmetic in one iteration.
    fn arithmetic(&self, stmt: &StmtNode<'_>, lanes: Lanes) -> f64 {
        let operations = operations(self.tree.program, stmt.stmt);
        let bytes = stmt.accesses.iter().map(|access| access.element_bytes).fold(4.0, f64::max);
        let n = self.lanes_of(stmt, lanes);
        let registers = (n * bytes / PREFERRED_VECTOR).max(1.0);
        let vectors = if n > 1.0 { registers / n } else { 1.0 };
        self.copies(stmt) * cycles(&operations, bytes, n > 1.0) * vectors
    }

    /// Executions of a statement at a time.
    fn lanes_of(&self, stmt: &StmtNode<'_>, lanes: Lanes) -> f64 {
        match self.vector(stmt) {
            Some(depth) if self.rolled.is_none() || depth > self.depth => {
                let node = &self.tree.loops[stmt.path[depth]];
                match node.l.execution {
                    Execution::Vector { lanes: Some(n), .. } => f64::from(n),
                    _ => node.trips().clamp(1.0, self.preferred()),
                }
            }
            _ => lanes.n,
        }
    }

    /// Adds what an access costs in one iteration.
    fn access(&self, stmt: &StmtNode<'_>, access: &AccessNode<'_>, lanes: Lanes, ports: &mut Ports) {
        let inside = self.depth + usize::from(self.rolled.is_some());
        let mut copies = 1.0;
        for depth in inside..stmt.path.len() {
            if access.is_moved(depth) {
                copies *= self.tree.loops[stmt.path[depth]].trips().max(1.0);
            }
        }
        let n = self.lanes_of(stmt, lanes);
        let along = self.vector(stmt).unwrap_or(self.depth);
        let presence = (self.copies(stmt) / self.written_out(stmt)).min(1.0);
        if self.rolled.is_some() && !access.is_moved(self.depth) {
            // In registers for the whole loop.
            let vectors = if access.is_moved(along) { n } else { 1.0 };
            ports.kept += copies / vectors;
            return;
        }
        let moves = match () {
            () if n <= 1.0 => copies,
            // One element for all lanes.
            () if !access.is_moved(along) => copies,
            () if access.is_contiguous(along) => {
                copies / n * (n * access.element_bytes / PREFERRED_VECTOR).max(1.0)
            }
            () => {
                let each = if along > self.depth { copies } else { copies.max(1.0) };
                ports.scattered += each * presence;
                // An element goes through a port and a shuffle.
                1.5 * each
            }
        };
        match access.is_write {
            true => ports.stores += moves * presence,
            false => ports.loads += moves * presence,
        }
    }

    /// Copies of a statement in the text of one iteration.
    fn written_out(&self, stmt: &StmtNode<'_>) -> f64 {
        let inside = self.depth + usize::from(self.rolled.is_some());
        let trips = stmt.path[inside.min(stmt.path.len())..].iter();
        trips.map(|loop_idx| self.tree.loops[*loop_idx].trips().max(1.0)).product()
    }

    /// Cycles that one iteration waits for an earlier one.
    fn latency(&self, lanes: Lanes) -> f64 {
        let mut longest: f64 = 0.0;
        for (position, stmt) in self.stmts.iter().enumerate() {
            let Some(target) = stmt.accesses.iter().find(|access| access.is_write) else { continue };
            // What starts anew in every iteration waits for nothing.
            if !stmt.stmt.update.reads_target() || self.is_set_before(target.array(), position) {
                continue;
            }
            if self.rolled.is_some() && !target.is_moved(self.depth) {
                // Copies that accumulate into one element wait for each other.
                let inside = self.depth + 1..stmt.path.len();
                let waiting: f64 = inside
                    .filter(|depth| !target.is_moved(*depth))
                    .map(|depth| self.tree.loops[stmt.path[depth]].trips().max(1.0))
                    .product();
                let division = if stmt.stmt.update == Update::Div { 3.0 } else { 1.0 };
                let memory = match self.accumulates_in_memory(stmt) {
                    true if shares_lines(self.tree, stmt) => CONTENTION,
                    true => FORWARDING,
                    false => 0.0,
                };
                longest = longest.max((LATENCY * division + memory) * waiting / lanes.n);
            }
        }
        let chains = self.recurrences.iter().map(|(distance, cycles)| match lanes.n {
            n if n > 1.0 => cycles / distance.max(n),
            _ => cycles / distance,
        });
        chains.fold(longest, f64::max)
    }

    /// Values that an iteration takes from an earlier one: distance and cycles.
    fn recurrences(&self) -> Vec<(f64, f64)> {
        let mut found = Vec::new();
        if self.rolled.is_none() {
            return found;
        }
        for (position, writer) in self.stmts.iter().enumerate() {
            let Some(target) = writer.accesses.iter().find(|access| access.is_write) else { continue };
            for (reader_position, reader) in self.stmts.iter().enumerate() {
                for read in reader.accesses.iter().filter(|a| !a.is_write && a.array() == target.array()) {
                    let is_update = std::ptr::eq(*writer, *reader)
                        && writer.stmt.update.reads_target()
                        && read.access == target.access;
                    if is_update {
                        continue;
                    }
                    let distance = if target.extents.is_empty() {
                        // A scalar that is read before it is written has the value of the iteration before.
                        (reader_position <= position && !self.is_set_before(read.array(), reader_position))
                            .then_some(1.0)
                    } else {
                        self.distance(target, read)
                    };
                    if let Some(distance) = distance {
                        let depth = depth_of(&reader.stmt.value, read.access).unwrap_or(LATENCY);
                        let forwarding = if target.extents.is_empty() { 0.0 } else { FORWARDING / 2.0 };
                        found.push((distance, depth + forwarding));
                    }
                }
            }
        }
        found
    }

    fn is_set_before(&self, array: ArrayId, position: usize) -> bool {
        self.stmts[..position].iter().any(|stmt| {
            stmt.stmt.target.array == array && stmt.stmt.update == Update::Assign && stmt.n_guards == 0
        })
    }

    /// Iterations of the rolled loop from the write to the read of the same element, if there are any.
    fn distance(&self, target: &AccessNode<'_>, read: &AccessNode<'_>) -> Option<f64> {
        let (steps, others) = (target.steps.get(self.depth)?, read.steps.get(self.depth)?);
        let mut distance = None;
        for dim in 0..target.middle.len() {
            let difference = target.middle[dim]? - read.middle[dim]?;
            match steps[dim]? {
                step if Some(step) != others[dim] => return None,
                0.0 if difference != 0.0 => return None,
                0.0 => {}
                step => {
                    let here = difference / step;
                    if here < 1.0 || here.fract() != 0.0 || distance.is_some_and(|other| other != here) {
                        return None;
                    }
                    distance = Some(here);
                }
            }
        }
        distance
    }
}

/// Loads and stores of one iteration, and values that stay in registers.
#[derive(Default)]
struct Ports {
    loads: f64,
    stores: f64,
    kept: f64,
    scattered: f64,
}

/// Cycles of one execution of a statement, or of one vector of them per element, on two units for floating point.
fn cycles(operations: &Operations, bytes: f64, in_vectors: bool) -> f64 {
    let n = |count: u64| count as f64;
    let (adds, muls) = (n(operations.float_adds), n(operations.float_muls));
    // A multiplication and an addition are one instruction.
    let fused = adds.max(muls) / 2.0 + adds.min(muls) * 0.1;
    let is_double = bytes > 4.0;
    // A vector division takes nearly as long as its elements one by one.
    let division = match (in_vectors, is_double) {
        (true, true) => 8.0,
        (true, false) => 5.0,
        (false, true) => 4.0,
        (false, false) => 3.0,
    };
    let calls: f64 = operations
        .calls
        .iter()
        .map(|(function, count)| n(*count) * call_cycles(*function, division, in_vectors))
        .sum();
    let compares = n(operations.float_compares) / 2.0 + n(operations.integer) / 3.0;
    fused + compares + division * n(operations.float_divs) + calls
}

fn call_cycles(function: MathFn, division: f64, in_vectors: bool) -> f64 {
    use MathFn as F;
    match function {
        F::Fabs | F::Abs | F::Fmin | F::Fmax | F::Fdim | F::Fma | F::Copysign => 0.5,
        F::Popcount | F::Popcountl => 1.0,
        F::Floor | F::Ceil | F::Round | F::Trunc | F::Rint | F::Nearbyint => 1.0,
        F::ReProduct | F::ImProduct => 3.0,
        F::Sqrt => 1.3 * division,
        F::Exp | F::Exp2 | F::Log | F::Log2 | F::Log10 if in_vectors => 25.0,
        F::Exp | F::Exp2 | F::Log | F::Log2 | F::Log10 => 18.0,
        F::Sin | F::Cos if in_vectors => 35.0,
        F::Pow if in_vectors => 60.0,
        _ => 40.0,
    }
}

/// Cycles from a read to the value of the expression; `None` if it is not in there.
fn depth_of(expr: &Expr, access: &Access) -> Option<f64> {
    if matches!(expr, Expr::Read(read) if read == access) {
        return Some(0.0);
    }
    let inside = expr.children().into_iter().filter_map(|child| depth_of(child, access)).reduce(f64::max)?;
    Some(inside + latency_of(expr))
}

fn latency_of(expr: &Expr) -> f64 {
    use oxeye_ir::BinaryOp as B;
    match expr {
        Expr::Binary(B::Div | B::Rem, ..) => 13.0,
        Expr::Binary(B::Add | B::Sub, ..) => LATENCY,
        // Fused with the addition around it.
        Expr::Binary(B::Mul, ..) => LATENCY / 2.0,
        Expr::Call { function: MathFn::Sqrt, .. } => 16.0,
        Expr::Call { function: MathFn::ReProduct | MathFn::ImProduct, .. } => 2.0 * LATENCY,
        Expr::Call { function: MathFn::Fabs | MathFn::Fmin | MathFn::Fmax, .. } => LATENCY,
        Expr::Call { function, .. } if function.integers().is_some() => LATENCY,
        Expr::Call { .. } => 30.0,
        Expr::Read(_) | Expr::Affine(_) | Expr::Float { .. } => 0.0,
        _ => LATENCY / 2.0,
    }
}

/// Whether neighbouring iterations of a parallel loop, most likely by different threads, write to one cache line.
pub(super) fn shares_lines(tree: &Tree<'_>, stmt: &StmtNode<'_>) -> bool {
    let Some(depth) = stmt.path.iter().position(|idx| tree.loops[*idx].is_parallel()) else { return false };
    let node = &tree.loops[stmt.path[depth]];
    let is_close = node.is_dynamic() || node.trips() < 16.0 * tree.threads;
    let target = stmt.accesses.iter().find(|access| access.is_write && !access.extents.is_empty());
    let stride = target.and_then(|target| target.strides[depth]);
    is_close && stride.is_some_and(|stride| stride != 0.0 && stride.abs() < LINE)
}
