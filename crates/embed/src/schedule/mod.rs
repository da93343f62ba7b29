//! Features of a scheduled nest: what keeps a machine busy when it runs these loops.
//!
//! Dependences are not needed: everything follows from the loops as they are, a few sampled iterations, and boxes
//! around accesses. The times are those of a simple model: the innermost loops of the text bound by units, ports or
//! latencies (in the manner of Stengel et al., "Quantifying performance bottlenecks of stencil computations using the
//! execution-cache-memory model", 2015), and the traffic between memory levels by working sets. They need not be right:
//! the encoder learns what they leave out.

mod core;
mod memory;
mod reach;
mod tree;

use crate::schema::{N_SCHEDULE, ScheduleFeature};
use crate::vector::Features;
use crate::vectors::HostVector;
use core::{Leaf, leaves, shares_lines};
use memory::{Keeper, LINE, Memory, Moved, PAGE};
use oxeye_ir::{Expr, MathFn, Nest, Program, Storage, SymId, Update};
use tree::{AccessNode, StmtNode, Tree};

/// What [`ScheduleFeature`] lists, of one scheduled nest.
pub type ScheduleFeatures = Features<N_SCHEDULE>;

/// Seconds to start threads and to wait for them.
const FORK: f64 = 1.5e-6;
/// Seconds to hand out one iteration of a dynamic schedule.
const DISPATCH: f64 = 1e-7;
/// Assumed where the machine is unknown: bytes of caches, GB/s of one core, GHz.
const USUAL_CACHES: [f64; 3] = [32768.0, 524288.0, 8388608.0];
const USUAL_GB_PER_S: [f64; 3] = [64.0, 32.0, 12.0];
const USUAL_GHZ: f64 = 3.0;
/// Entries of the translation lookaside buffer.
const KNOWN_PAGES: f64 = 1536.0;
/// Cycles of a miss in it.
const PAGE_WALK: f64 = 7.0;

/// Additional seconds of one of many misses in the first, second and third cache.
const MISS: [f64; 3] = [4e-10, 4e-9, 6e-9];

/// The features of a nest as it stands, which belongs to `program` (a transformed nest need not be in it yet), under
/// values of the symbols and on a machine. They depend neither on names nor on ids. Loops whose bounds are not known
/// count with a guess.
pub fn schedule_features(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    host: &HostVector,
) -> ScheduleFeatures {
    let threads = host.threads.unwrap_or(1.0).clamp(1.0, 4096.0).floor();
    let tree = Tree::new(program, nest, value_of, threads);
    let machine = Machine::new(host, threads);
    let leaves = leaves(&tree);
    let mut features = Features::zero();
    times(&tree, &leaves, &machine, &mut features);
    concurrency(&tree, &leaves, &mut features);
    lanes(&tree, &leaves, &mut features);
    accesses(&tree, &mut features);
    shape(&tree, &leaves, &mut features);
    features
}

/// What the model needs to know about a machine.
struct Machine {
    hertz: f64,
    caches: [f64; 3],
    /// Bytes per second from behind each cache, of one thread and of all.
    alone: [f64; 3],
    together: [f64; 3],
}

impl Machine {
    fn new(host: &HostVector, threads: f64) -> Self {
        let known = |value: Option<f64>| value.filter(|v| v.is_finite() && *v > 0.0);
        let caches = [host.l1_bytes, host.l2_bytes, host.l3_bytes];
        let rates = [host.l2_gb_per_s, host.l3_gb_per_s, host.dram_gb_per_s];
        let cores = known(host.cores).unwrap_or(threads).max(1.0);
        let together =
            [0, 1, 2].map(|k| known(rates[k]).unwrap_or(USUAL_GB_PER_S[k] * cores.min(threads)) * 1e9);
        Self {
            hertz: known(host.clock_ghz).unwrap_or(USUAL_GHZ) * 1e9,
            caches: [0, 1, 2].map(|k| known(caches[k]).unwrap_or(USUAL_CACHES[k])),
            alone: [0, 1, 2].map(|k| together[k].min((together[k] / cores).max(USUAL_GB_PER_S[k] * 1e9))),
            together,
        }
    }
}

/// Seconds outside and inside parallel loops.
#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    serial: f64,
    parallel: f64,
}

impl Seconds {
    fn total(self) -> f64 {
        self.serial + self.parallel
    }

    fn of_bytes(moved: Moved, alone: f64, together: f64) -> Self {
        Self { serial: moved.serial / alone, parallel: moved.parallel / together }
    }

    /// Cycles of leaves, shared by the threads that share them.
    fn of_leaves(tree: &Tree<'_>, leaves: &[Leaf], hertz: f64, cycles: impl Fn(&Leaf) -> f64) -> Self {
        let mut seconds = Self::default();
        for leaf in leaves {
            match leaf.team {
                Some(parallel) => seconds.parallel += cycles(leaf) / hertz / tree.team_speedup(parallel),
                None => seconds.serial += cycles(leaf) / hertz,
            }
        }
        seconds
    }
}

fn times(tree: &Tree<'_>, leaves: &[Leaf], machine: &Machine, features: &mut ScheduleFeatures) {
    use ScheduleFeature as F;
    let cycles = |of: fn(&Leaf) -> f64| Seconds::of_leaves(tree, leaves, machine.hertz, of);
    let core = cycles(Leaf::cycles);
    let memory = Memory::new(tree, LINE);
    let mut levels = [Seconds::default(); 3];
    for (k, level) in levels.iter_mut().enumerate() {
        let moved = memory.moved(Keeper { bytes: machine.caches[k], is_private: k < 2 });
        *level = Seconds::of_bytes(moved, machine.alone[k], machine.together[k]);
        features.set([F::L1Traffic, F::L2Traffic, F::L3Traffic][k], moved.total());
        let ratio = memory.footprint() / machine.caches[k];
        features.set([F::FootprintL1, F::FootprintL2, F::FootprintL3][k], ratio);
    }
    let pages = Memory::new(tree, PAGE).moved(Keeper { bytes: KNOWN_PAGES * PAGE, is_private: true });
    let walk = PAGE_WALK / machine.hertz / PAGE;
    let walks = Seconds { serial: pages.serial * walk, parallel: pages.parallel * walk / tree.threads };
    let traffic = |of: fn(Seconds) -> f64| levels.into_iter().map(of).sum::<f64>();
    let mut random = Seconds::default();
    for (k, latency) in MISS.into_iter().enumerate() {
        let missed = memory.random_misses(Keeper { bytes: machine.caches[k], is_private: k < 2 });
        random.serial += missed.serial * latency;
        random.parallel += missed.parallel * latency / tree.threads;
    }
    let sync = synchronisation(tree);
    let one = |core: f64, traffic: f64, walks: f64| core.max(traffic).max(walks);
    let serial = one(core.serial, traffic(|l| l.serial) + random.serial, walks.serial);
    let parallel = one(core.parallel, traffic(|l| l.parallel) + random.parallel, walks.parallel);
    let estimate = serial + parallel + sync;
    let all = core.total() + traffic(Seconds::total) + random.total() + walks.total() + sync;
    features.flag(F::SizesKnown, tree.is_known);
    for (seconds, share, value) in [
        (F::CoreSeconds, F::CoreShare, core.total()),
        (F::ArithmeticSeconds, F::ArithmeticShare, cycles(|l| l.arithmetic).total()),
        (F::PortsSeconds, F::PortsShare, cycles(|l| l.ports).total()),
        (F::LatencySeconds, F::LatencyShare, cycles(|l| l.latency).total()),
        (F::OverheadSeconds, F::OverheadShare, cycles(|l| l.overhead).total()),
        (F::L2Seconds, F::L2Share, levels[0].total()),
        (F::L3Seconds, F::L3Share, levels[1].total()),
        (F::DramSeconds, F::DramShare, levels[2].total()),
        (F::PagesSeconds, F::PagesShare, walks.total()),
        (F::RandomSeconds, F::RandomShare, random.total()),
        (F::SyncSeconds, F::SyncShare, sync),
        (F::SerialSeconds, F::SerialShare, serial),
    ] {
        features.set(seconds, value.max(LEAST_SECONDS));
        features.set(share, if all > 0.0 { value / all } else { 0.0 });
    }
    features.set(F::Seconds, estimate.max(LEAST_SECONDS));
    features.set(F::SecondsInTurn, all.max(LEAST_SECONDS));
}

/// Shorter times are rounded up to this, so that no logarithm becomes large and negative.
const LEAST_SECONDS: f64 = 1e-9;

/// Seconds to start and end parallel loops, and to hand out iterations.
fn synchronisation(tree: &Tree<'_>) -> f64 {
    let teams = tree.loops.iter().filter(|node| node.is_parallel() && tree.team(&node.path).is_none());
    teams
        .map(|node| {
            let handed_out = if node.is_dynamic() { node.iterations * DISPATCH } else { 0.0 };
            node.entries * FORK + handed_out
        })
        .sum()
}

fn concurrency(tree: &Tree<'_>, leaves: &[Leaf], features: &mut ScheduleFeatures) {
    use ScheduleFeature as F;
    let all: f64 = leaves.iter().map(Leaf::cycles).sum();
    let share = |is: &dyn Fn(&Leaf) -> bool| {
        let some: f64 = leaves.iter().filter(|leaf| is(leaf)).map(Leaf::cycles).sum();
        if all > 0.0 { some / all } else { 0.0 }
    };
    let parallel = share(&|leaf| leaf.team.is_some());
    features.set(F::ParallelShare, parallel);
    features.set(F::DynamicShare, share(&|leaf| leaf.team.is_some_and(|team| tree.loops[team].is_dynamic())));
    let mean = |of: &dyn Fn(usize) -> f64| {
        let weighed = leaves.iter().filter_map(|leaf| Some(leaf.cycles() * of(leaf.team?)));
        if parallel > 0.0 { weighed.sum::<f64>() / (all * parallel) } else { 0.0 }
    };
    features.set(F::Imbalance, if parallel > 0.0 { mean(&|team| tree.loops[team].imbalance()) } else { 1.0 });
    features.set(F::TeamIterations, mean(&|team| tree.loops[team].trips()));
    let teams = || tree.loops.iter().filter(|node| node.is_parallel() && tree.team(&node.path).is_none());
    let regions: f64 = teams().map(|node| node.entries).sum();
    features.set(F::Regions, regions);
    features.set(F::RegionCycles, if regions > 0.0 { all * parallel / regions } else { 0.0 });
    features.set(F::AmdahlSpeedup, {
        let spread = leaves.iter().map(|leaf| match leaf.team {
            Some(team) => leaf.cycles() / tree.team_speedup(team),
            None => leaf.cycles(),
        });
        let spread: f64 = spread.sum();
        if spread > 0.0 { all / spread } else { 1.0 }
    });
}

fn lanes(tree: &Tree<'_>, leaves: &[Leaf], features: &mut ScheduleFeatures) {
    use ScheduleFeature as F;
    let runs = |leaf: &Leaf| leaf.stmts.iter().map(|idx| tree.stmts[*idx].runs).sum::<f64>();
    let all: f64 = leaves.iter().map(runs).sum();
    let mean = |of: &dyn Fn(&Leaf) -> f64| {
        let sum: f64 = leaves.iter().map(|leaf| runs(leaf) * of(leaf)).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    };
    let share = |is: &dyn Fn(&Leaf) -> bool| mean(&|leaf| f64::from(u8::from(is(leaf))));
    features.set(F::AskedLanes, share(&|leaf| leaf.lanes.is_asked && leaf.lanes.n > 1.0));
    features.set(F::WrittenLanes, share(&|leaf| leaf.lanes.is_asked && leaf.lanes.n <= 1.0));
    features.set(F::GuessedLanes, share(&|leaf| !leaf.lanes.is_asked && leaf.lanes.n > 1.0));
    features.set(F::Lanes, mean(&|leaf| leaf.lanes.n.log2()).exp2());
    features.set(F::Scattered, {
        let scattered: f64 = leaves.iter().map(|leaf| leaf.scattered).sum();
        if all > 0.0 { scattered / all } else { 0.0 }
    });
    features.set(F::InMemory, {
        let in_memory: f64 = leaves.iter().map(|leaf| leaf.in_memory).sum();
        if all > 0.0 { in_memory / all } else { 0.0 }
    });
    let bound = |is: &dyn Fn(&Leaf) -> bool| {
        let cycles: f64 = leaves.iter().map(Leaf::cycles).sum();
        let some: f64 = leaves.iter().filter(|leaf| is(leaf)).map(Leaf::cycles).sum();
        if cycles > 0.0 { some / cycles } else { 0.0 }
    };
    features.set(F::LatencyBound, bound(&|leaf| leaf.latency > leaf.arithmetic.max(leaf.ports)));
    features.set(F::OverheadBound, bound(&|leaf| 2.0 * leaf.overhead > leaf.cycles()));
    features
        .set(F::InnerTrips, mean(&|leaf| (leaf.iterations / leaf.entries.max(1.0)).max(1.0).log2()).exp2());
    features.set(F::Copies, mean(&|leaf| (runs(leaf) / leaf.iterations / leaf.stmts.len() as f64).max(1.0)));
    features.set(F::CyclesPerRun, {
        let cycles: f64 = leaves.iter().map(Leaf::cycles).sum();
        if all > 0.0 { cycles / all } else { 0.0 }
    });
}

fn accesses(tree: &Tree<'_>, features: &mut ScheduleFeatures) {
    use ScheduleFeature as F;
    let mut sums = [0.0; 6];
    let (mut all, mut temporary, mut single, mut floats, mut far) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for stmt in &tree.stmts {
        for access in stmt.accesses.iter().filter(|access| !access.extents.is_empty()) {
            all += stmt.runs;
            let storage = tree.program.arrays.get(&access.array()).map(|array| array.storage);
            if matches!(storage, Some(Storage::Temp(_))) {
                temporary += stmt.runs;
            }
            if jumps(tree, stmt, access) {
                far += stmt.runs;
            }
            let class = match innermost(tree, stmt).map(|depth| access.strides[depth]) {
                _ if access.is_indirect => 4,
                None => 0,
                Some(None) => 5,
                Some(Some(0.0)) => 0,
                Some(Some(stride)) if stride.abs() == access.element_bytes => 1,
                Some(Some(stride)) if stride.abs() < LINE => 2,
                Some(Some(_)) => 3,
            };
            sums[class] += stmt.runs;
        }
        let target = tree.program.arrays.get(&stmt.stmt.target.array);
        if let Some(array) = target.filter(|array| array.element.is_float()) {
            floats += stmt.runs;
            single += if array.element.bytes() < 8 { stmt.runs } else { 0.0 };
        }
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let classes = [F::Still, F::Contiguous, F::WithinLine, F::BeyondLine, F::Indirect, F::UnknownStride];
    for (feature, sum) in classes.into_iter().zip(sums) {
        features.set(feature, share(sum, all));
    }
    features.set(F::Jumps, share(far, all));
    features.set(F::Temporaries, share(temporary, all));
    features.set(F::SinglePrecision, share(single, floats));
}

/// Depth of the loop along which executions of a statement follow each other: the innermost that is not unrolled.
fn innermost(tree: &Tree<'_>, stmt: &StmtNode<'_>) -> Option<usize> {
    (0..stmt.path.len()).rev().find(|depth| {
        let node = &tree.loops[stmt.path[*depth]];
        node.is_vector() || !node.is_written_out()
    })
}

fn shape(tree: &Tree<'_>, leaves: &[Leaf], features: &mut ScheduleFeatures) {
    use ScheduleFeature as F;
    let all: f64 = tree.stmts.iter().map(|stmt| stmt.runs).sum();
    let mean = |of: &dyn Fn(&StmtNode<'_>) -> f64| {
        let sum: f64 = tree.stmts.iter().map(|stmt| stmt.runs * of(stmt)).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    };
    let flag = |is: bool| f64::from(u8::from(is));
    features.set(F::SharedLines, mean(&|stmt| flag(shares_lines(tree, stmt))));
    features.set(F::OtherOrder, mean(&|stmt| flag(stmt.is_reordered)));
    let once = |stmt: &StmtNode<'_>| stmt.path.iter().any(|loop_idx| tree.loops[*loop_idx].runs_once);
    features.set(F::Useless, mean(&|stmt| flag(once(stmt))));
    features.set(F::Executions, all);
    features.set(F::Depth, mean(&|stmt| stmt.path.len() as f64));
    features.set(F::Guards, mean(&|stmt| stmt.n_guards as f64));
    features.set(F::Leaves, leaves.len() as f64);
    features.set(F::Loops, tree.loops.len() as f64);
    let operations = |stmt: &StmtNode<'_>| oxeye_analysis::operations(tree.program, stmt.stmt);
    features.set(F::Flops, mean(&|stmt| operations(stmt).flops() as f64));
    features.set(
        F::Divisions,
        mean(&|stmt| {
            let operations = operations(stmt);
            let roots = operations.calls.get(&MathFn::Sqrt).copied().unwrap_or(0);
            (operations.float_divs + roots) as f64
        }),
    );
    features.set(
        F::Calls,
        mean(&|stmt| {
            let of = |f: &MathFn| {
                !matches!(f, MathFn::Sqrt | MathFn::Fabs | MathFn::Fmin | MathFn::Fmax)
                    && f.integers().is_none()
            };
            operations(stmt).calls.iter().filter(|(f, _)| of(f)).map(|(_, n)| *n as f64).sum()
        }),
    );
    features.set(
        F::Accesses,
        mean(&|stmt| stmt.accesses.iter().filter(|a| !a.extents.is_empty()).count() as f64),
    );
    let is_set = |stmt: &StmtNode<'_>| stmt.stmt.update == Update::Assign && stmt.accesses.len() == 1;
    features.set(
        F::Fills,
        mean(&|stmt| {
            let is_constant = matches!(stmt.stmt.value, Expr::Float { .. } | Expr::Affine(_));
            f64::from(u8::from(is_set(stmt) && is_constant))
        }),
    );
    features.set(
        F::Copying,
        mean(&|stmt| {
            f64::from(u8::from(
                stmt.stmt.update == Update::Assign && matches!(stmt.stmt.value, Expr::Read(_)),
            ))
        }),
    );
    features.set(F::Reductions, mean(&|stmt| f64::from(u8::from(stmt.stmt.update.reads_target()))));
}

/// Whether an access is to short pieces of memory far apart: no more than half a page in a row, then at another page.
fn jumps(tree: &Tree<'_>, stmt: &StmtNode<'_>, access: &AccessNode<'_>) -> bool {
    let Some(inner) = innermost(tree, stmt).filter(|depth| access.is_contiguous(*depth)) else {
        return false;
    };
    let run = tree.loops[stmt.path[inner]].trips() * access.element_bytes;
    let next =
        (0..inner).rev().find(|depth| access.is_moved(*depth) && tree.loops[stmt.path[*depth]].trips() > 1.0);
    let stride = next.and_then(|depth| access.strides[depth]);
    run <= PAGE / 2.0 && next.is_some() && stride.is_none_or(|stride| stride.abs() >= PAGE)
}
