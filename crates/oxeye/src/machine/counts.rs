//! What a nest does, counted from its loops and modelled for the machine's caches: the part of its profile that needs no
//! clock.

use super::sizes::Sizes;
use oxeye_analysis::traffic::{CacheGeometry, LevelTraffic, TrafficOptions, traffic};
use oxeye_analysis::{Count, Operations, executions, footprints, operations};
use oxeye_host::{FloatType, HostProfile, Operation, Provenance, Quantity};
use oxeye_ir::{MathFn, Nest, Program, ScalarType, Stmt};
use oxeye_profile::{CacheTraffic, ExpensiveOperations, Flops, NestInput, levels_served};
use std::collections::BTreeMap;

/// Modelled traffic that may be off by a larger part is not shown.
const MOST_ERROR: f64 = 0.25;

/// The static part of a nest's profile, for values of its symbols on a machine.
pub(crate) fn count(
    mut input: NestInput,
    program: &Program,
    nest: &Nest,
    sizes: &Sizes,
    host: &HostProfile,
) -> NestInput {
    let value_of = |sym| sizes.get(sym);
    let mut work = Work::default();
    for stmt in nest.stmts() {
        match executions(nest, stmt.id, &value_of) {
            Some(n) => work.add(program, stmt, n),
            None => work.uncounted = true,
        }
    }
    work.write(&mut input);
    match footprints(program, nest, &value_of) {
        Some(found) => {
            // Scalars live in registers.
            let arrays = || found.iter().filter(|f| !program.array(f.array).shape.is_empty());
            let exact = arrays().all(|f| f.touched.exact);
            let bytes = counted(arrays().map(|f| f.bytes()).sum(), exact);
            input.footprint_bytes = Some(bytes);
            // Whether an element that is read and written is read first is not asked here: it moves once at least.
            input.compulsory_bytes = Some(bytes);
        }
        None => input.why_missing.push("footprint: the extent of some access depends on data".into()),
    }
    count_traffic(&mut input, program, nest, sizes, host);
    input
}

/// The bytes that each memory level serves to a nest, modelled.
pub(crate) fn count_traffic(
    input: &mut NestInput,
    program: &Program,
    nest: &Nest,
    sizes: &Sizes,
    host: &HostProfile,
) {
    let caches = geometry(host);
    let modelled = traffic(program, nest, &|sym| sizes.get(sym), &caches, TrafficOptions::default());
    let modelled = modelled.map_err(|why| why.to_string()).and_then(|modelled| {
        let percent = 100.0 * modelled.relative_error;
        match modelled.relative_error > MOST_ERROR {
            true => Err(format!("so many accesses were sampled, with an error of {percent:.0} %")),
            false => Ok(modelled),
        }
    });
    let levels = modelled.map(|modelled| {
        let of_cache = |l: &LevelTraffic| CacheTraffic {
            cache: l.name.clone(),
            fill_bytes: l.fill_bytes,
            write_back_bytes: l.write_back_bytes,
        };
        let caches: Vec<CacheTraffic> = modelled.levels.iter().map(of_cache).collect();
        let accessed = Some(modelled.accesses * mean_access_bytes(program, nest));
        levels_served(accessed, &caches, Provenance::Modelled, host)
    });
    (input.levels, input.why_no_levels) = match levels {
        Ok(levels) => (levels, None),
        Err(why) => (Vec::new(), Some(format!("traffic by memory level: {why}"))),
    };
}

/// The nearest memory level that holds so many bytes, private caches of all threads together.
pub(crate) fn home_level(host: &HostProfile, bytes: f64, threads: u32) -> String {
    let fits = |level: u32| {
        let shared = host.topology.cache(level).is_some_and(|c| c.shared_by > 1);
        let caches = if shared { 1 } else { threads.max(1) };
        host.cache_bytes(level).is_some_and(|each| bytes <= each as f64 * f64::from(caches))
    };
    let caches = host.levels().iter().filter(|l| l.name != "DRAM");
    caches.map(|l| (l, fits(l.level))).find(|(_, fits)| *fits).map_or("DRAM".into(), |(l, _)| l.name.clone())
}

/// The caches of a machine, as the traffic model takes them: capacities that a program can count on, in the ways of the
/// real ones.
pub(crate) fn geometry(host: &HostProfile) -> Vec<CacheGeometry> {
    let known = |level: u32| {
        let cache = host.topology.cache(level)?;
        let line_bytes = cache.line_bytes.unwrap_or(64).max(16).next_power_of_two();
        let ways = cache.ways.unwrap_or(16).max(1);
        let bytes = host.cache_bytes(level)?.max(line_bytes * u64::from(ways));
        Some(CacheGeometry { name: format!("L{level}"), bytes, line_bytes, ways })
    };
    let mut caches: Vec<CacheGeometry> = (1..=4).map_while(known).collect();
    if let Some(line_bytes) = caches.first().map(|c| c.line_bytes) {
        caches.iter_mut().for_each(|c| c.line_bytes = line_bytes);
    }
    caches
}

/// Operations of all instances of the statements of a nest.
#[derive(Default)]
struct Work {
    flops: BTreeMap<FloatType, f64>,
    expensive: BTreeMap<(Operation, FloatType), f64>,
    /// Some statement's executions are an estimate.
    estimated: bool,
    /// Some statement stands behind guards that depend on data, which are assumed to hold.
    at_most: bool,
    /// Some statement's executions are not known at all.
    uncounted: bool,
}

impl Work {
    fn add(&mut self, program: &Program, stmt: &Stmt, count: Count) {
        let executions = count.value;
        self.estimated |= !count.exact;
        self.at_most |= count.at_most;
        let Operations { float_adds, float_muls, float_divs, calls, .. } = operations(program, stmt);
        let ty = match program.array(stmt.target.array).element {
            ScalarType::F32 => FloatType::F32,
            _ => FloatType::F64,
        };
        let of = |function| calls.get(&function).copied().unwrap_or(0);
        let roots = of(MathFn::Sqrt);
        *self.flops.entry(ty).or_default() +=
            executions * (float_adds + float_muls + float_divs + roots) as f64;
        let expensive =
            [(Operation::Div, float_divs), (Operation::Sqrt, roots), (Operation::Exp, of(MathFn::Exp))];
        for (operation, each) in expensive {
            if each > 0 {
                *self.expensive.entry((operation, ty)).or_default() += executions * each as f64;
            }
        }
    }

    fn write(self, input: &mut NestInput) {
        if self.uncounted {
            let why = "operations: how often a statement runs depends on data";
            input.why_missing.push(why.into());
            return;
        }
        let figure = |value| match self.at_most {
            true => Quantity { provenance: Provenance::Assumed, ..counted(value, false) },
            false => counted(value, !self.estimated),
        };
        input.flops = self.flops.iter().map(|(ty, n)| Flops { ty: *ty, count: figure(*n) }).collect();
        input.expensive = self
            .expensive
            .iter()
            .map(|((operation, ty), n)| ExpensiveOperations {
                operation: *operation,
                ty: *ty,
                count: figure(*n),
            })
            .collect();
    }
}

/// A count; one that over-approximates what only the data know is a model's.
fn counted(value: f64, exact: bool) -> Quantity {
    let provenance = if exact { Provenance::Counted } else { Provenance::Modelled };
    Quantity { value, spread: 0.0, samples: 0, provenance }
}

/// Bytes that the accesses of the program's text move on average.
fn mean_access_bytes(program: &Program, nest: &Nest) -> f64 {
    let sizes: Vec<u64> = nest
        .accesses()
        .iter()
        .filter(|(access, _)| !access.indices.is_empty())
        .map(|(access, _)| program.array(access.array).element.bytes())
        .collect();
    if sizes.is_empty() { 0.0 } else { sizes.iter().sum::<u64>() as f64 / sizes.len() as f64 }
}
