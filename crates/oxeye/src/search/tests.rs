//! Searches on made-up measurements: what is decided must be a function of the nest, the seed and the measurements.

use super::explore::{Bounds, Explorer, Known, Limits, Measurements, Settled, State, Stop};
use super::log::{Header, Log, NestName, SEARCH_SCHEMA, trial_recipes};
use super::record::{Candidate, Measurement, Outcome, Plan, TrialRecord};
use super::space::{self, Space};

use super::workbench::Remembering;
use crate::budget::{Allowance, Budget, Clock};
use crate::request::{Compiler, Error};
use crate::schedule::{Rendering, Schedule, digest};
use oxeye_ir::Program;
use oxeye_transform::{Machine, Policy, PreparedNest, Recipe};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const PRODUCT: &str = "program matmul {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n][n] param
  array A2 c: f64[n][n] param
  dataflow { N0 }
  nest N0 in matmul {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. n {
        for L2 k: i32 in 0 .. n { S0: c[i][j] += a[i][k] * b[k][j] }
      }
    }
  }
}";
const MACHINE: Machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 32 };
const BASELINE: f64 = 0.2;

/// Time passes only when someone says so.
#[derive(Default)]
struct FakeClock(Cell<Duration>);

impl FakeClock {
    fn pass(&self, seconds: f64) {
        self.0.set(self.0.get() + Duration::from_secs_f64(seconds));
    }
}

impl Clock for FakeClock {
    fn elapsed(&self) -> Duration {
        self.0.get()
    }
}

/// Measurements that are a function of the C text. They take their time, and obey limits as real ones do.
struct Made<'c> {
    clock: &'c FakeClock,
    /// Of compiling a batch.
    compile_seconds: f64,
    /// Of candidates, before their limit.
    scale: f64,
    /// Texts that were measured.
    measured: &'c RefCell<Vec<String>>,
}

impl Made<'_> {
    /// Between a tenth and all of the baseline, some of them wrong.
    fn of(&self, candidate: &Candidate) -> Measurement {
        let hash = u64::from_str_radix(&candidate.digest, 16).expect("a digest");
        if hash % 7 == 3 {
            return Measurement::without(Outcome::WrongResult, "made up");
        }
        let seconds = Some(self.scale * BASELINE * (0.1 + 0.9 * (hash % 1009) as f64 / 1009.0));
        Measurement { outcome: Outcome::Right, seconds, samples: 3, max_rel_error: Some(0.0), why: None }
    }
}

impl Measurements for Made<'_> {
    fn measure(
        &mut self,
        batch: &[Candidate],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.clock.pass(self.compile_seconds.min(limits.time.left().as_secs_f64()));
        let mut best = limits.best_seconds;
        for (k, candidate) in batch.iter().enumerate() {
            let left = limits.time.left().as_secs_f64();
            if left == 0.0 {
                return Ok(());
            }
            let made = self.of(candidate);
            let limit = 1.5 * best + 0.5;
            let takes = made.seconds.unwrap_or(0.01);
            self.clock.pass(takes.min(limit).min(left));
            if takes > limit.min(left) {
                if left < limit {
                    return Ok(());
                }
                found(k, Measurement::without(Outcome::TooSlow, "made up"))?;
                continue;
            }
            best = best.min(takes);
            self.measured.borrow_mut().push(candidate.digest.clone());
            found(k, made)?;
        }
        Ok(())
    }
}

/// Nothing is measured any more.
struct Nothing;

impl Measurements for Nothing {
    fn measure(
        &mut self,
        batch: &[Candidate],
        _: Limits<'_>,
        _: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        panic!("`{}` is not in the log", batch[0].schedule.name)
    }
}

fn rendering() -> Rendering<'static> {
    Rendering {
        source: "",
        binding: oxeye_binding::Binding::none(),
        threads: 2,
        policy: Policy { reassociate: true, finite: false },
        plain_sums: false,
        roots_set_errno: false,
        declarations_first: false,
        checks: false,
        known: &[],
        isa: None,
        own: None,
        guard: Default::default(),
    }
}

fn nest_name() -> NestName {
    NestName {
        function: "matmul".into(),
        ordinal: 0,
        threads: None,
        within: Vec::new(),
        joined: None,
        size: None,
        uneven: Vec::new(),
    }
}

fn header(seed: u64) -> Header {
    Header {
        schema: SEARCH_SCHEMA.into(),
        input: "matmul.c".into(),
        source: digest(""),
        compiler: Compiler::default(),
        compiler_version: None,
        threads: 2,
        reassociate: true,
        no_alias: false,
        sizes: BTreeMap::new(),
        inputs: BTreeMap::new(),
        cpu: None,
        seed,
    }
}

/// A search that writes and goes on with a log.
fn explore(
    log: &mut Log,
    measurements: &mut dyn Measurements,
    time: Allowance<'_>,
    seed: u64,
    max_trials: usize,
) -> Result<(State, Stop), Error> {
    let program: Program = PRODUCT.parse().expect("a program");
    let known = log.past(&nest_name()).measured;
    let mut measurements = Remembering { known, source: measurements };
    let explorer = Explorer {
        space: Space::new(&program, &program.nests[0], &MACHINE, rendering()),
        bounds: Bounds::default(),
        baseline_seconds: BASELINE,
        seed,
        max_trials,
        time,
        first: Vec::new(),
        known: Vec::new(),
        settled_after: None,
        enough: &|| false,
        measurements: &mut measurements,
        record: &mut |tried, _| log.trial(&nest_name(), 1, time.used(), tried),
    };
    explorer.explore()
}

fn made<'c>(clock: &'c FakeClock, measured: &'c RefCell<Vec<String>>) -> Made<'c> {
    Made { clock, compile_seconds: 2.0, scale: 1.0, measured }
}

const LONG: Duration = Duration::from_secs(100_000);

/// A whole search of so many trials, logged if there is a path.
fn whole(seed: u64, max_trials: usize, path: Option<&Path>) -> Vec<TrialRecord> {
    let (clock, measured) = (FakeClock::default(), RefCell::default());
    let budget = Budget::new(&clock);
    let mut log = path.map_or_else(Log::default, |path| Log::open(path, header(seed)).expect("a log"));
    let time = budget.allow(LONG, Duration::ZERO);
    let (state, stop) =
        explore(&mut log, &mut made(&clock, &measured), time, seed, max_trials).expect("a search");
    assert_eq!((stop, state.n_measured), (Stop::Trials, max_trials));
    state.tried
}

#[test]
fn a_seed_is_a_search() {
    let first = whole(5, 40, None);
    assert_eq!(first, whole(5, 40, None));
    assert_ne!(first, whole(6, 40, None));
    // It goes beyond what is suggested, and beyond templates.
    assert!(first.iter().any(|t| t.generation > 1 && t.found.outcome == Outcome::Right));
    // No text is measured twice.
    let mut codes: Vec<_> =
        first.iter().filter(|t| t.found.outcome.was_measured()).map(|t| t.code.clone()).collect();
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), 40);
}

/// The same measurements by several nodes, which are done in another order.
struct ByNodes<'c> {
    made: Made<'c>,
    width: usize,
}

impl Measurements for ByNodes<'_> {
    fn measure(
        &mut self,
        batch: &[Candidate],
        _: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        batch.iter().enumerate().rev().try_for_each(|(k, candidate)| found(k, self.made.of(candidate)))
    }

    fn width(&self) -> usize {
        self.width
    }
}

#[test]
fn nodes_find_what_one_finds_in_whichever_order() {
    let by_nodes = |width: usize| {
        let (clock, measured) = (FakeClock::default(), RefCell::default());
        let budget = Budget::new(&clock);
        let mut nodes = ByNodes { made: made(&clock, &measured), width };
        let time = budget.allow(LONG, Duration::ZERO);
        explore(&mut Log::default(), &mut nodes, time, 5, 40).expect("a search").0.tried
    };
    assert_eq!(by_nodes(1), whole(5, 40, None));
    // As many as there are nodes make a generation, and a seed is a search.
    let wide = by_nodes(8);
    assert_eq!(wide, by_nodes(8));
    let n_second = |tried: &[TrialRecord]| tried.iter().filter(|trial| trial.generation == 1).count();
    assert!(n_second(&wide) > 16, "{}", n_second(&wide));
}

#[test]
fn an_interrupted_search_goes_on_without_measuring_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    let wanted = whole(5, 30, None);
    let (clock, measured) = (FakeClock::default(), RefCell::default());

    // Killed in the middle of a batch, and of a line.
    let budget = Budget::new(&clock);
    let mut log = Log::open(&path, header(5)).expect("a log");
    let killed_after = Cell::new(11);
    struct Killed<'k, 'c>(Made<'c>, &'k Cell<usize>);
    impl Measurements for Killed<'_, '_> {
        fn measure(
            &mut self,
            batch: &[Candidate],
            limits: Limits<'_>,
            found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
        ) -> Result<(), Error> {
            let left = self.1;
            self.0.measure(batch, limits, &mut |k, measurement| {
                left.set(left.get().checked_sub(1).ok_or(Error::Cancelled)?);
                found(k, measurement)
            })
        }
    }
    let mut killed = Killed(made(&clock, &measured), &killed_after);
    let time = budget.allow(LONG, Duration::ZERO);
    assert!(matches!(explore(&mut log, &mut killed, time, 5, 30), Err(Error::Cancelled)));
    drop(log);
    let text = std::fs::read_to_string(&path).expect("the log");
    std::fs::write(&path, format!("{text}{{\"line\":\"trial\",\"tri")).expect("written");

    measured.borrow_mut().clear();
    let mut log = Log::open(&path, header(5)).expect("the same log");
    let past = log.past(&nest_name());
    assert_eq!(past.measured.len(), 11);
    assert!(past.used > Duration::ZERO);
    let time = budget.allow(LONG, past.used);
    assert_eq!(time.used(), past.used);
    let (state, _) = explore(&mut log, &mut made(&clock, &measured), time, 5, 30).expect("a search");
    assert_eq!(state.tried, wanted);
    // Two runs do not write into one log.
    assert!(Log::open(&path, header(5)).is_err_and(|error| error.to_string().contains("in use")));
    drop(log);
    let again = measured.borrow().iter().filter(|digest| past.measured.contains_key(*digest)).count();
    assert_eq!(again, 0);

    // With the whole log nothing is measured at all, and nothing is written.
    let text = std::fs::read_to_string(&path).expect("the log");
    let mut log = Log::open(&path, header(5)).expect("the same log");
    let (state, _) = explore(&mut log, &mut Nothing, time, 5, 30).expect("a search");
    assert_eq!(state.tried, wanted);
    assert_eq!(std::fs::read_to_string(&path).expect("the log"), text);
}

#[test]
fn the_time_is_kept_even_by_slow_candidates() {
    for (compile_seconds, scale) in [(2.0, 1.0), (40.0, 1.0), (0.1, 400.0), (5.0, 40.0)] {
        let (clock, measured) = (FakeClock::default(), RefCell::default());
        let budget = Budget::new(&clock);
        let time = budget.allow(Duration::from_secs(60), Duration::ZERO);
        let mut made = Made { compile_seconds, scale, ..made(&clock, &measured) };
        let (state, stop) = explore(&mut Log::default(), &mut made, time, 1, usize::MAX).expect("a search");
        assert_eq!(stop, Stop::Time);
        let used = clock.elapsed().as_secs_f64();
        assert!((60.0..66.0).contains(&used), "{used}");
        // What was stopped for want of time is not called slow.
        let slow = |t: &&TrialRecord| t.found.outcome == Outcome::TooSlow;
        assert!(scale > 1.0 || state.tried.iter().filter(slow).count() == 0);
    }
}

#[test]
fn what_was_used_before_is_used_up() {
    let (clock, measured) = (FakeClock::default(), RefCell::default());
    let budget = Budget::new(&clock);
    let time = budget.allow(Duration::from_secs(60), Duration::from_secs(59));
    assert_eq!((time.used(), time.left()), (Duration::from_secs(59), Duration::from_secs(1)));
    let (state, stop) =
        explore(&mut Log::default(), &mut made(&clock, &measured), time, 1, usize::MAX).expect("a search");
    assert_eq!((state.n_measured, stop), (0, Stop::Time));
    // The next nest has what is left of the whole.
    assert_eq!(budget.used(), Duration::from_secs(60));
}

#[test]
fn hopeless_candidates_are_not_measured_and_a_roof_ends_the_search() {
    let program: Program = PRODUCT.parse().expect("a program");
    let (clock, measured) = (FakeClock::default(), RefCell::default());
    let budget = Budget::new(&clock);
    let run = |one: f64, all: f64| {
        let mut measurements = made(&clock, &measured);
        let explorer = Explorer {
            space: Space::new(&program, &program.nests[0], &MACHINE, rendering()),
            bounds: Bounds {
                one_thread: Some((one, "f64 peak".into())),
                all_threads: Some((all, "f64 peak".into())),
            },
            baseline_seconds: BASELINE,
            seed: 1,
            max_trials: 60,
            time: budget.allow(LONG, Duration::ZERO),
            first: Vec::new(),
            known: Vec::new(),
            settled_after: None,
            enough: &|| false,
            measurements: &mut measurements,
            record: &mut |_, _| Ok(()),
        };
        explorer.explore().expect("a search")
    };
    let (state, _) = run(2.0 * BASELINE, 1e-6);
    assert!(state.count(Outcome::Hopeless) > 0);
    let single = |t: &&TrialRecord| t.found.outcome.was_measured() && !t.openmp;
    assert_eq!(state.tried.iter().filter(single).count(), 0);
    let (state, stop) = run(1e-6, 0.5 * BASELINE);
    // No time can be below its bound, so measurements that are show the bound to be wrong.
    match stop {
        Stop::Roof(bound) => assert_eq!(bound, "f64 peak"),
        _ => assert!(state.best_seconds < 0.5 * BASELINE),
    }
}

#[test]
fn a_search_goes_on_from_what_is_known_until_it_has_settled() {
    let program: Program = PRODUCT.parse().expect("a program");
    let (clock, measured) = (FakeClock::default(), RefCell::default());
    let budget = Budget::new(&clock);
    let explored = |known: Vec<Known>| {
        let mut measurements = made(&clock, &measured);
        let explorer = Explorer {
            space: Space::new(&program, &program.nests[0], &MACHINE, rendering()),
            bounds: Bounds::default(),
            baseline_seconds: BASELINE,
            seed: 1,
            max_trials: usize::MAX,
            time: budget.allow(LONG, Duration::ZERO),
            first: Vec::new(),
            known,
            settled_after: Some(Settled { generations: 2, least_gain: 0.03 }),
            enough: &|| false,
            measurements: &mut measurements,
            record: &mut |_, _| Ok(()),
        };
        explorer.explore().expect("a search")
    };
    let (state, stop) = explored(Vec::new());
    assert_eq!(stop, Stop::Settled(2, 3));
    assert_eq!(stop.to_string(), "2 generations of candidates brought less than 3 %");
    let best = state.tried.iter().min_by(|a, b| {
        let seconds = |t: &TrialRecord| t.found.seconds.unwrap_or(f64::INFINITY);
        seconds(a).total_cmp(&seconds(b))
    });
    let best = best.expect("trials");
    let schedule = Schedule {
        name: best.name.clone(),
        templates: best.template.into_iter().collect(),
        recipe: best.recipe.clone().expect("a recipe"),
    };
    let template = schedule.template();
    // What is known is not tried again, and two generations without gain are enough.
    let seconds = Some(0.5 * best.found.seconds.expect("seconds"));
    let (again, stop) = explored(vec![Known { schedule, seconds }]);
    assert!(template.is_none() || again.tried.iter().all(|t| t.template != template));
    assert_eq!((stop, Some(again.best_seconds)), (Stop::Settled(2, 3), seconds));
    assert!(again.n_generations() <= 2, "{}", again.n_generations());
}

#[test]
fn every_logged_trial_can_be_applied_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    let tried = whole(5, 24, Some(&path));
    let program: Program = PRODUCT.parse().expect("a program");
    let logged = std::fs::read_to_string(&path).expect("the log");
    let lines: Vec<serde_json::Value> =
        logged.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), tried.len());
    let mut n_replayed = 0;
    for line in &lines {
        let number = line["trial"].as_u64().expect("a number") as usize;
        if line["recipe"].is_null() {
            assert!(
                trial_recipes(&path, number).is_err_and(|e| e.to_string().contains("never had a recipe"))
            );
            continue;
        }
        let recipes = trial_recipes(&path, number).expect("a recipe");
        assert_eq!((recipes.threads, recipes.reassociate), (2, true));
        let [nest] = recipes.nests.as_slice() else { panic!("one nest") };
        let recipe = nest.recipe.resolve(&program, &program.nests[0], rendering().policy).expect("ids only");
        let schedule = Schedule { name: nest.name.clone(), templates: Vec::new(), recipe };
        let made = space::candidate(rendering(), &PreparedNest::new(&program, &program.nests[0]), schedule);
        if let Some(code) = line["code"].as_str() {
            assert_eq!(made.expect("legal again").digest, code);
            n_replayed += 1;
        }
    }
    assert!(n_replayed >= 24, "{n_replayed}");
    assert!(trial_recipes(&path, 100_000).is_err());
}

/// The steps after these two speak of the loops that they make.
#[test]
fn edits_keep_the_normal_form_and_the_order() {
    let text = "normalize; reorder S0[0 L0 0 L2 0 L1 0]; tile L3:8; vectorize L5";
    let recipe: Recipe = text.parse().expect("a recipe");
    let edits = space::edits("x", &recipe);
    assert!(edits.len() > 3, "{edits:?}");
    for edit in edits {
        let Plan::Recipe { recipe: edited, .. } = edit else { panic!("{edit:?}") };
        assert_eq!(edited.steps[..2], recipe.steps[..2]);
    }
}

#[test]
fn a_log_is_not_mistaken_for_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    whole(5, 3, Some(&path));
    let error = |header: Header| Log::open(&path, header).err().expect("refused").to_string();
    assert!(error(header(6)).contains("another seed"), "{}", error(header(6)));
    assert!(error(Header { threads: 1, ..header(5) }).contains("another number of threads"));
    let text = std::fs::read_to_string(&path).expect("the log");
    std::fs::write(&path, text.replacen("\"Trial\"", "?", 1) + "not JSON\n").expect("written");
    assert!(error(header(5)).contains("line "), "{}", error(header(5)));
    // A user's file is not overwritten.
    std::fs::write(&path, "int main(void) {}").expect("written");
    assert!(error(header(5)).contains("another file"));
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "int main(void) {}");
}
