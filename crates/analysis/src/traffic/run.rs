//! From nests and calls to figures.

use std::collections::BTreeMap;

use super::cache::Hierarchy;
use super::call::Call;
use super::plan::Plan;
use super::sample::{LineSample, N_RESIDUES, Tally};
use super::walk::{Cost, Walk, Walked, cost};
use super::{CacheGeometry, LevelTraffic, NoTraffic, Traffic, TrafficOptions};
use crate::footprint::{Footprint, footprints};
use oxeye_ir::{Nest, NestId, Program, SymId};

/// Bytes moved by several nests that ran one after the other through the same caches.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTraffic {
    /// The sum of all nests.
    pub total: Traffic,
    /// Each nest with the misses that happened while it ran.
    pub nests: Vec<NestTraffic>,
}

/// The share of one nest.
#[derive(Clone, Debug, PartialEq)]
pub struct NestTraffic {
    /// Position of the call.
    pub call: usize,
    /// The nest of the called function.
    pub nest: NestId,
    /// One per cache. A line counts as written back by the nest that evicts it; lines still modified at the end, by the
    /// last nest.
    pub levels: Vec<LevelTraffic>,
    /// Accesses to memory.
    pub accesses: f64,
}

/// Bytes that one run of `nest` moves between `caches` (nearest first) under values of the symbols.
///
/// # Errors
/// If a symbol has no value, a cache geometry is impossible, or loop bounds or inner extents depend on data, so that
/// the accesses are not known.
pub fn traffic(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    caches: &[CacheGeometry],
    options: TrafficOptions,
) -> Result<Traffic, NoTraffic> {
    let plan = Plan::of_nest(program, nest, value_of)?;
    let found = footprints(program, nest, value_of).unwrap_or_default();
    let compulsory = found.iter().map(|footprint| compulsory_bytes(program, footprint, caches));
    Ok(simulate(&plan, compulsory.fold(0.0, |sum, bytes| sum + bytes), caches, options)?.total)
}

/// Bytes that `calls`, one after the other and the whole sequence `times` times, move between `caches` (nearest first):
/// all nests with the loops, branches and swaps around them. Code that was not read is left out.
///
/// # Errors
/// As [`traffic`], and for surrounding loops with an unknown range.
pub fn call_traffic(
    calls: &[Call<'_>],
    times: u64,
    caches: &[CacheGeometry],
    options: TrafficOptions,
) -> Result<CallTraffic, NoTraffic> {
    let plan = Plan::of_calls(calls, times)?;
    // Of the nests that touch the same memory, the one that touches most.
    let mut most: BTreeMap<String, f64> = BTreeMap::new();
    for &(idx, id) in &plan.nests {
        let call = &calls[idx];
        let Some(nest) = call.program.nests.get(&id) else { continue };
        for footprint in
            footprints(call.program, nest, &|id| call.values.get(&id).copied()).unwrap_or_default()
        {
            let memory = call.memory.get(&footprint.array).cloned();
            let bytes = compulsory_bytes(call.program, &footprint, caches);
            let entry =
                most.entry(memory.unwrap_or_else(|| format!("{idx}.{}", footprint.array))).or_default();
            *entry = entry.max(bytes);
        }
    }
    simulate(&plan, most.values().fold(0.0, |sum, bytes| sum + bytes), caches, options)
}

/// Approximate accesses to memory of `calls`, `times` times over.
///
/// # Errors
/// As [`call_traffic`].
pub fn call_accesses(calls: &[Call<'_>], times: u64) -> Result<f64, NoTraffic> {
    let plan = Plan::of_calls(calls, times)?;
    Ok(cost(&plan, &LineSample::all(), 1).accesses)
}

/// Bytes of the fewest lines that an array may occupy.
fn compulsory_bytes(program: &Program, footprint: &Footprint, caches: &[CacheGeometry]) -> f64 {
    if program.array(footprint.array).shape.is_empty() {
        return 0.0;
    }
    let line_bytes = caches.first().map_or(1, |cache| cache.line_bytes.max(1)) as f64;
    let bytes = footprint.at_least * footprint.element_bytes as f64;
    (bytes / line_bytes).ceil() * line_bytes
}

/// Fewest residues followed before loops run in windows.
const MIN_RESIDUES: usize = 4;

/// How a plan runs.
struct Choice {
    sample: LineSample,
    caches: Vec<CacheGeometry>,
    /// The allowed cost.
    budget: f64,
}

impl Choice {
    fn new(plan: &Plan, caches: &[CacheGeometry], line_bytes: u64, options: TrafficOptions) -> Self {
        let budget = options.max_accesses as f64;
        let all = LineSample::all();
        if cost(plan, &all, line_bytes).accesses <= budget {
            return Self { sample: all, caches: caches.to_vec(), budget: f64::INFINITY };
        }
        let Some(caches) = LineSample::fitting(caches) else {
            return Self { sample: all, caches: caches.to_vec(), budget };
        };
        let mut n = N_RESIDUES / 2;
        loop {
            let sample = LineSample::random(n, options.seed);
            let Cost { steps, .. } = cost(plan, &sample, line_bytes);
            if steps <= budget {
                return Self { sample, caches, budget: f64::INFINITY };
            }
            if n <= MIN_RESIDUES {
                return Self { sample, caches, budget };
            }
            n /= 2;
        }
    }
}

fn simulate(
    plan: &Plan,
    compulsory_bytes: f64,
    caches: &[CacheGeometry],
    options: TrafficOptions,
) -> Result<CallTraffic, NoTraffic> {
    let line_bytes = caches.first().map_or(0, |cache| cache.line_bytes);
    if caches.is_empty() || caches.iter().any(|cache| cache.line_bytes != line_bytes) {
        return Err(NoTraffic("no caches are given, or their line sizes differ".into()));
    }
    let choice = Choice::new(plan, caches, line_bytes, options);
    let tally = Tally::new(plan.nests.len(), caches.len(), choice.sample.clone());
    let hierarchy = Hierarchy::new(&choice.caches, tally)?;
    let mut walk = Walk::new(plan, &choice.sample, line_bytes, options.seed, hierarchy);
    let mut budget = choice.budget;
    if !options.cold {
        budget /= 2.0;
        walk.warm(budget);
    }
    let Walked { sink, accesses, has_windows, has_partial_windows } = walk.run(budget);
    let tally = sink.finish();

    let is_sampled = has_windows || !choice.sample.is_all();
    let mut notes: Vec<String> = plan.notes.iter().cloned().collect();
    if !choice.sample.is_all() {
        notes.push(format!("{:.1} % of the cache sets were simulated", 100.0 * choice.sample.fraction()));
    }
    if has_windows {
        notes.push("only windows of some loops were simulated".to_owned());
    }
    if has_partial_windows {
        notes.push("windows of loops in windows were simulated; reuse between them is not seen".to_owned());
    }
    let bytes = |lines: f64| lines * line_bytes as f64;
    let levels_of = |nest: usize| -> Vec<LevelTraffic> {
        let level = |(idx, cache): (usize, &CacheGeometry)| LevelTraffic {
            name: cache.name.clone(),
            fill_bytes: bytes(tally.fills(nest, idx)),
            write_back_bytes: bytes(tally.write_backs(nest, idx)),
        };
        caches.iter().enumerate().map(level).collect()
    };
    let nests: Vec<NestTraffic> = plan
        .nests
        .iter()
        .enumerate()
        .map(|(idx, &(call, nest))| NestTraffic {
            call,
            nest,
            levels: levels_of(idx),
            accesses: accesses[idx],
        })
        .collect();
    let sum = |level: usize, of: fn(&LevelTraffic) -> f64| -> f64 {
        nests.iter().map(|nest| of(&nest.levels[level])).sum()
    };
    let levels = caches
        .iter()
        .enumerate()
        .map(|(idx, cache)| {
            let fill_bytes = sum(idx, |level| level.fill_bytes);
            LevelTraffic {
                name: cache.name.clone(),
                // A sample may find a little less than the lower bound.
                fill_bytes: if is_sampled && options.cold {
                    fill_bytes.max(compulsory_bytes)
                } else {
                    fill_bytes
                },
                write_back_bytes: sum(idx, |level| level.write_back_bytes),
            }
        })
        .collect();
    let total = Traffic {
        levels,
        accesses: accesses.iter().sum(),
        compulsory_bytes,
        exact: !is_sampled && plan.notes.is_empty(),
        relative_error: tally.relative_error(nests.len(), caches.len() - 1),
        notes,
    };
    Ok(CallTraffic { total, nests })
}
