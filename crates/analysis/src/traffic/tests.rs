//! The model against a naive one: accesses listed one by one, and caches as lists.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError};

use super::plan::Plan;
use super::*;
use crate::counts::evaluate;
use crate::testing::{Menu, Sample, sample};
use oxeye_ir::{Access, Affine, Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, Stmt, SymId, Var};

/// A random nest whose arrays have extents, with a few more iterations.
fn sized(seed: u64, menu: Menu) -> Sample {
    let mut found = sample(seed, menu);
    for array in found.program.arrays.values_mut() {
        let extents: &[i64] = if array.shape.len() == 2 { &[24, 20] } else { &[40] };
        array.shape = extents.iter().take(array.shape.len()).map(|&e| Some(Expr::from(e))).collect();
    }
    for value in found.values.values_mut() {
        *value = 3 * *value + 1;
    }
    found
}

fn caches(geometries: &[(u64, u32)]) -> Vec<CacheGeometry> {
    let cache = |(idx, &(n_sets, ways)): (usize, &(u64, u32))| CacheGeometry {
        name: format!("L{}", idx + 1),
        bytes: n_sets * u64::from(ways) * 16,
        line_bytes: 16,
        ways,
    };
    geometries.iter().enumerate().map(cache).collect()
}

/// Lists addresses and whether they are written.
struct Lister<'a> {
    sample: &'a Sample,
    /// First addresses by array.
    bases: BTreeMap<u32, i64>,
    iterators: BTreeMap<LoopId, i64>,
    trace: Vec<(i64, bool)>,
}

impl<'a> Lister<'a> {
    fn list(sample: &'a Sample) -> Vec<(i64, bool)> {
        let value_of = |id: SymId| sample.values.get(&id).copied();
        let plan = Plan::of_nest(&sample.program, &sample.nest, &value_of).expect("it can be planned");
        let bases = plan.arrays.iter().zip(&plan.bases).map(|((_, id), base)| (id.0, *base)).collect();
        let mut this = Self { sample, bases, iterators: BTreeMap::new(), trace: Vec::new() };
        this.nodes(&sample.nest.roots);
        this.trace
    }

    fn var(&self, var: Var) -> Option<i64> {
        match var {
            Var::Loop(id) => self.iterators.get(&id).copied(),
            Var::Sym(id) => self.sample.values.get(&id).copied(),
        }
    }

    fn value(&self, expr: &Expr) -> i64 {
        evaluate(expr, &|var| self.var(var)).expect("it has a value")
    }

    fn strides(&self, access: &Access) -> Vec<i64> {
        if access.indices.len() == 2 { vec![160, 8] } else { vec![8] }
    }

    fn push(&mut self, access: &Access, is_write: bool) {
        if access.indices.is_empty() {
            return;
        }
        let offset: i64 = access
            .indices
            .iter()
            .zip(self.strides(access))
            .map(|(index, stride)| self.value(index) * stride)
            .sum();
        self.trace.push((self.bases[&access.array.0] + offset, is_write));
    }

    fn moves(&self, access: &Access, l: &Loop) -> bool {
        let coefficient =
            |(index, stride): (&Expr, i64)| index.as_affine().map(|a| a.coefficient(l.id) * stride);
        let sum: Option<i64> = access.indices.iter().zip(self.strides(access)).map(coefficient).sum();
        sum != Some(0)
    }

    fn accesses(stmt: &Stmt) -> Vec<(&Access, bool)> {
        let mut found: Vec<_> = stmt.value.reads().into_iter().map(|access| (access, false)).collect();
        if stmt.update.reads_target() {
            found.push((&stmt.target, false));
        }
        found.push((&stmt.target, true));
        found
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Stmt(stmt) => Self::accesses(stmt).into_iter().for_each(|(a, w)| self.push(a, w)),
                Node::If { condition, then, otherwise } => {
                    self.nodes(if self.value(condition) != 0 { then } else { otherwise });
                }
                Node::Loop(l) => self.for_loop(l),
            }
        }
    }

    fn for_loop(&mut self, l: &Loop) {
        let bound = |bound: &Bound| -> Vec<i64> {
            let term = |term: &BoundTerm| match term {
                BoundTerm::Affine { expr, divisor } => {
                    let value = Affine::evaluate(expr, &|var| self.var(var)).expect("it has a value");
                    -(-value).div_euclid(*divisor)
                }
                BoundTerm::Data(expr) => self.value(expr),
                BoundTerm::Open => panic!("no nest here has open loops"),
            };
            bound.0.iter().map(term).collect()
        };
        let lower = bound(&l.lower).into_iter().max().expect("it has terms");
        let upper = bound(&l.upper).into_iter().min().expect("it has terms");
        let first = if l.step > 0 { lower } else { upper - 1 };
        let mut visits = Vec::new();
        let mut i = first;
        while lower <= i && i < upper {
            visits.push(i);
            i += l.step;
        }
        if visits.is_empty() {
            return;
        }
        let is_innermost = !has_loop(&l.body);
        if is_innermost {
            self.iterators.insert(l.id, first);
            self.held(&l.body, l, false);
        }
        for i in visits {
            self.iterators.insert(l.id, i);
            if is_innermost { self.moved(&l.body, l, true) } else { self.nodes(&l.body) }
        }
        if is_innermost {
            self.iterators.insert(l.id, first);
            self.held(&l.body, l, true);
        }
    }

    /// Accesses that are in registers while `l` runs.
    fn held(&mut self, nodes: &[Node], l: &Loop, writes_only: bool) {
        for node in nodes {
            match node {
                Node::Stmt(stmt) => {
                    for (access, is_write) in Self::accesses(stmt) {
                        if !self.moves(access, l) && (is_write || !writes_only) {
                            self.push(access, is_write);
                        }
                    }
                }
                Node::If { condition, then, otherwise } if !condition.uses(l.id) => {
                    self.held(if self.value(condition) != 0 { then } else { otherwise }, l, writes_only);
                }
                _ => {}
            }
        }
    }

    /// The other accesses. `is_free`: no surrounding guard depends on the iterator.
    fn moved(&mut self, nodes: &[Node], l: &Loop, is_free: bool) {
        for node in nodes {
            match node {
                Node::Stmt(stmt) => {
                    for (access, is_write) in Self::accesses(stmt) {
                        if !is_free || self.moves(access, l) {
                            self.push(access, is_write);
                        }
                    }
                }
                Node::If { condition, then, otherwise } => {
                    let side = if self.value(condition) != 0 { then } else { otherwise };
                    self.moved(side, l, is_free && !condition.uses(l.id));
                }
                Node::Loop(_) => {}
            }
        }
    }
}

fn has_loop(nodes: &[Node]) -> bool {
    nodes
        .iter()
        .any(|node| matches!(node, Node::Loop(_)) || node.bodies().into_iter().any(|body| has_loop(body)))
}

/// Lines filled and written back per level, by caches that are lists of (line, modified), least recently used first.
fn naive(trace: &[(i64, bool)], geometries: &[(u64, u32)]) -> Vec<(f64, f64)> {
    let mut levels: Vec<Vec<Vec<(u64, bool)>>> =
        geometries.iter().map(|(n_sets, _)| vec![Vec::new(); *n_sets as usize]).collect();
    let mut counts = vec![(0.0, 0.0); geometries.len()];
    for &(address, is_write) in trace {
        let line = address as u64 / 16;
        for level in 0..geometries.len() {
            let (n_sets, ways) = geometries[level];
            let set = &mut levels[level][(line % n_sets) as usize];
            let found = set.iter().position(|entry| entry.0 == line);
            let was_modified = found.is_some_and(|at| set.remove(at).1);
            set.push((line, was_modified || (is_write && level == 0)));
            if found.is_some() {
                break;
            }
            counts[level].0 += 1.0;
            if set.len() > ways as usize {
                let (victim, true) = set.remove(0) else { continue };
                for beyond in level..geometries.len() {
                    counts[beyond].1 += 1.0;
                    let Some(next) = levels.get_mut(beyond + 1) else { break };
                    let set = &mut next[(victim % geometries[beyond + 1].0) as usize];
                    if let Some(entry) = set.iter_mut().find(|entry| entry.0 == victim) {
                        entry.1 = true;
                        break;
                    }
                }
            }
        }
    }
    let mut modified = std::collections::BTreeSet::new();
    for (level, sets) in levels.iter().enumerate() {
        modified.extend(sets.iter().flatten().filter(|entry| entry.1).map(|entry| entry.0));
        counts[level].1 += modified.len() as f64;
    }
    counts
}

const GEOMETRIES: [&[(u64, u32)]; 3] = [&[(2, 2)], &[(4, 2), (8, 3)], &[(1, 3), (3, 4), (16, 4)]];

fn check_exact(seed: u64) -> Result<(), TestCaseError> {
    let sample = sized(seed, Menu { inexact: false });
    let trace = Lister::list(&sample);
    for geometry in GEOMETRIES {
        let value_of = |id: SymId| sample.values.get(&id).copied();
        let options = TrafficOptions { max_accesses: u64::MAX, ..TrafficOptions::default() };
        let found = traffic(&sample.program, &sample.nest, &value_of, &caches(geometry), options);
        let found = found.expect("it can be counted");
        prop_assert_eq!(found.accesses, trace.len() as f64);
        prop_assert!(found.exact);
        let expected = naive(&trace, geometry);
        let lines: Vec<_> =
            found.levels.iter().map(|l| (l.fill_bytes / 16.0, l.write_back_bytes / 16.0)).collect();
        prop_assert_eq!(lines, expected);
    }
    Ok(())
}

fn check_compulsory(seed: u64) -> Result<(), TestCaseError> {
    let sample = sized(seed, Menu { inexact: true });
    let value_of = |id: SymId| sample.values.get(&id).copied();
    for max_accesses in [u64::MAX, 50] {
        let options = TrafficOptions { max_accesses, seed, cold: true };
        let caches = caches(&[(64, 1), (64, 4)]);
        let Ok(found) = traffic(&sample.program, &sample.nest, &value_of, &caches, options) else { continue };
        for level in &found.levels {
            prop_assert!(found.compulsory_bytes <= level.fill_bytes, "{:?}", found);
        }
    }
    Ok(())
}

/// Reuse distances against a list of lines, most recently used last.
fn check_reuse(seed: u64) -> Result<(), TestCaseError> {
    let sample = sized(seed, Menu { inexact: false });
    let value_of = |id: SymId| sample.values.get(&id).copied();
    let options = TrafficOptions { max_accesses: u64::MAX, ..TrafficOptions::default() };
    let found =
        reuse_distances(&sample.program, &sample.nest, &value_of, 16, options).expect("it can be counted");
    prop_assert!(found.exact);
    let trace = Lister::list(&sample);
    for n_lines in [1_u32, 2, 5, 12, 16, 20] {
        let expected = naive(&trace, &[(1, n_lines)])[0].0;
        let misses: f64 = found.arrays.iter().map(|array| array.misses(u64::from(n_lines))).sum();
        prop_assert_eq!(misses, expected, "{} lines", n_lines);
    }
    prop_assert_eq!(found.arrays.iter().map(ReuseHistogram::accesses).sum::<f64>(), trace.len() as f64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_traffic_is_that_of_the_naive_caches(seed in any::<u64>()) {
        check_exact(seed)?;
    }

    #[test]
    fn compulsory_traffic_is_never_more_than_the_modelled(seed in any::<u64>()) {
        check_compulsory(seed)?;
    }

    #[test]
    fn reuse_distances_give_the_misses_of_a_fully_associative_cache(seed in any::<u64>()) {
        check_reuse(seed)?;
    }
}

#[test]
fn bins_of_distances_are_in_order() {
    let mut last = 0;
    for bin in 1..200 {
        let distance = ReuseHistogram::distance(bin);
        assert!(distance > last, "{bin}");
        last = distance;
    }
}

const MATMUL: &str = "program p {
  symbol P0 n: i32
  array A0 C: f64[n][n] param
  array A1 A: f64[n][n] param
  array A2 B: f64[n][n] param
  dataflow { N0 }
  nest N0 in p {
    for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { for L2 k: i32 in 0 .. n {
      S0: C[i][j] += A[i][k] * B[k][j]
    } } }
  }
}";

const FACTORIZATION: &str = "program p {
  symbol P0 n: i32
  array A0 A: f64[n][n] param
  dataflow { N0 }
  nest N0 in p {
    for L0 k: i32 in 0 .. n { for L1 i: i32 in k + 1 .. n { for L2 j: i32 in k + 1 .. n {
      S0: A[i][j] -= A[i][k] * A[k][j]
    } } }
  }
}";

const STENCIL: &str = "program p {
  symbol P0 n: i32
  symbol P1 t: i32
  array A0 x: f64[n][n] param
  array A1 y: f64[n][n] param
  loop t in 0 .. 31 {
    sequence {
      dataflow { N0 }
      swap x y
    }
  }
  nest N0 in p {
    for L0 i: i32 in 1 .. n - 1 { for L1 j: i32 in 1 .. n - 1 {
      S0: y[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1])
    } }
  }
}";

const TRANSPOSE: &str = "program p {
  symbol P0 n: i32
  array A0 x: f32[n][n] param
  array A1 y: f32[n][n] param
  dataflow { N0 }
  nest N0 in p {
    for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: y[i][j] = x[j][i] } }
  }
}";

/// The exact result, and the one at a hundredth of the cost.
fn both(text: &str, n: i64) -> [CallTraffic; 2] {
    let program = Program::parse(text).expect("it is well formed");
    let values = program.symbols.values().filter(|s| s.name == "n").map(|s| (s.id, n)).collect();
    let calls = [Call { program: &program, values, memory: BTreeMap::new() }];
    let cache = |name: &str, kib: u64, ways| CacheGeometry {
        name: name.into(),
        bytes: kib << 10,
        line_bytes: 64,
        ways,
    };
    let caches = [cache("L1", 16, 4), cache("L2", 64, 8)];
    let accesses = call_accesses(&calls, 1).expect("they can be counted");
    [u64::MAX, accesses as u64 / 100].map(|max_accesses| {
        let options = TrafficOptions { max_accesses, ..TrafficOptions::default() };
        call_traffic(&calls, 1, &caches, options).expect("it can be counted")
    })
}

#[test]
fn samples_are_within_their_error() {
    for (text, n) in [(MATMUL, 120), (FACTORIZATION, 150), (STENCIL, 200), (TRANSPOSE, 900)] {
        let [exact, sampled] = both(text, n);
        assert!(exact.total.exact && !sampled.total.exact, "{:?}", sampled.total);
        let (truth, found) = (exact.total.levels[1].fill_bytes, sampled.total.levels[1].fill_bytes);
        let error = (found / truth - 1.0).abs();
        let stated = sampled.total.relative_error;
        assert!(error <= stated + 0.02 && stated < 0.4, "{error} but stated {stated} of {truth} in {text}");
        let accesses = sampled.total.accesses / exact.total.accesses;
        assert!((accesses - 1.0).abs() < 0.05, "{accesses} of the accesses of {text}");
    }
}

#[test]
fn swapped_arrays_change_places() {
    let [found, _] = both(STENCIL, 40);
    // Both fit the last cache: each line is brought in once, though rows 0 and n - 1 are never written.
    let bytes = found.total.levels[1].fill_bytes;
    assert!((2.0 * 12_600.0..2.0 * 12_900.0).contains(&bytes), "{bytes}");
    assert_eq!(found.nests.len(), 1);
    assert_eq!(found.nests[0].accesses, found.total.accesses);
}

#[test]
fn what_is_not_known_is_said() {
    let text = "program p {
      symbol P0 n: i32
      array A0 x: f64[n] param
      array A1 row: i32[n] param
      dataflow { N0 }
      nest N0 in p { for L0 i: i32 in 0 .. n { for L1 j: i32 in data(row[i]) .. data(row[i + 1]) { S0: x[j] = 0.0 } } }
    }";
    let count = |text: &str, n: Option<i64>| {
        let program = Program::parse(text).expect("it is well formed");
        let nest: &Nest = &program.nests[0];
        traffic(&program, nest, &|_| n, &caches(&[(4, 2)]), TrafficOptions::default())
    };
    let refused = count(text, Some(8)).expect_err("the bounds are unknown");
    assert_eq!(refused.to_string(), "the bounds of loop j depend on data");
    assert_eq!(count(text, None).expect_err("n has no value").to_string(), "n has no value");

    let gather = text.replace("data(row[i]) .. data(row[i + 1])", "0 .. 2").replace("x[j]", "x[row[i]]");
    let found = count(&gather, Some(8)).expect("an index can be drawn");
    assert!(!found.exact);
    assert_eq!(found.notes, ["data-dependent indices of x are drawn at random"]);
    assert_eq!(found.accesses, 8.0 * (1.0 + 2.0));
}

#[test]
fn warm_caches_keep_what_fits() {
    let text = TRANSPOSE.replace("f32", "f64");
    let program = Program::parse(&text).expect("it is well formed");
    let caches = caches(&[(4, 2), (256, 8)]);
    let fills = |cold: bool| {
        let options = TrafficOptions { cold, ..TrafficOptions::default() };
        let found = traffic(&program, &program.nests[0], &|_| Some(20), &caches, options);
        found.expect("it can be counted").levels.iter().map(|l| l.fill_bytes).collect::<Vec<_>>()
    };
    let (cold, warm) = (fills(true), fills(false));
    assert_eq!(warm[1], 0.0);
    assert_eq!(cold[1], 2.0 * 20.0 * 20.0 * 8.0);
    assert!(warm[0] > 0.0 && warm[0] <= cold[0]);
}
