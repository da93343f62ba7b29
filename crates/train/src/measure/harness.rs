//! The harness: a process that verifies and times all versions of one nest.

use oxeye_measure::{CompileJob, Compiler, Exit, Invocation, Limits, MeasureError, WorkDir, run_program};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

const HARNESS_C: &str = include_str!("harness.c");

/// Slower by this factor than the nest as generated, a version is timed no further.
const HOPELESS: f64 = 3.0;

/// The compiled harness.
pub(super) struct Harness {
    program: PathBuf,
    threads: u32,
}

/// One version of a nest in a library.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) id: usize,
    pub(super) library: PathBuf,
    /// Whether it uses several threads.
    pub(super) team: bool,
}

/// What came of one version.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// Best and median seconds of a call.
    Timed { best: f64, median: f64 },
    /// Its outputs are wrong, in words.
    Wrong(String),
    /// It crashed, in words.
    Crashed(String),
    /// It did not come back in time.
    TimedOut,
}

/// What came of all versions.
pub(super) enum Outcomes {
    /// By id.
    Timed(BTreeMap<usize, Outcome>),
    /// One call of the first version takes so many seconds, which is too long.
    TooLong(f64),
}

/// Limits of a run, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// For timing all versions.
    pub(super) budget: f64,
    /// Longest call of the first version.
    pub(super) longest: f64,
}

impl Harness {
    pub(super) fn build(work: &WorkDir, threads: u32) -> Result<Self, MeasureError> {
        let source = work.write("harness.c", HARNESS_C)?;
        let job = CompileJob::executable(source, work.join("harness")).link_args(["-lm", "-ldl", "-fopenmp"]);
        let program = Compiler::new("gcc", ["-O2", "-march=native"]).compile(&job)?;
        Ok(Self { program, threads })
    }

    /// Verifies and times; the first function is the oracle. A version that brings the process down is left out and the
    /// rest run again.
    pub(super) fn run(
        &self,
        work: &WorkDir,
        arguments: &str,
        functions: &[Function],
        pace: Pace,
    ) -> Result<Outcomes, MeasureError> {
        let mut lost = BTreeMap::new();
        let mut checked = BTreeSet::new();
        loop {
            let left: Vec<&Function> = functions.iter().filter(|f| !lost.contains_key(&f.id)).collect();
            let plan = work.write("plan.txt", plan(arguments, &left, &checked, pace))?;
            let invocation =
                Invocation::new(&self.program).args([plan]).env("OMP_NUM_THREADS", self.threads.to_string());
            let limits = Limits { seconds: 300.0, memory_bytes: None, output_bytes: 1 << 20 };
            let outcome = run_program(&invocation, &limits)?;
            let report = parse(&String::from_utf8_lossy(&outcome.stdout));
            if let Some(seconds) = report.too_long {
                return Ok(Outcomes::TooLong(seconds));
            }
            if outcome.exit.success() {
                lost.extend(report.outcomes);
                return Ok(Outcomes::Timed(lost));
            }
            lost.extend(report.outcomes);
            checked.extend(report.good);
            let how = match outcome.exit {
                Exit::TimedOut | Exit::Signal(14) => Outcome::TimedOut,
                exit => Outcome::Crashed(exit.to_string()),
            };
            match report.running {
                // The oracle itself does not run: nothing can be said of the others.
                Some(id) if left.first().is_some_and(|f| f.id != id) && !lost.contains_key(&id) => {
                    lost.insert(id, how);
                }
                _ => return Ok(Outcomes::Timed(functions.iter().map(|f| (f.id, how.clone())).collect())),
            }
        }
    }
}

/// `checked` functions have been found right before.
fn plan(arguments: &str, functions: &[&Function], checked: &BTreeSet<usize>, pace: Pace) -> String {
    let mut libraries: Vec<&PathBuf> = functions.iter().map(|f| &f.library).collect();
    libraries.sort();
    libraries.dedup();
    let mut plan = arguments.to_owned();
    for library in &libraries {
        let _ = writeln!(plan, "lib {}", library.display());
    }
    for f in functions {
        let library = libraries.binary_search(&&f.library).unwrap_or(0);
        let (team, checked) = (i32::from(f.team), i32::from(checked.contains(&f.id)));
        let _ = writeln!(plan, "function {} {library} oxeye_{} {team} {checked}", f.id, f.id);
    }
    let _ = writeln!(plan, "limits {} {HOPELESS} {}", pace.budget, pace.longest);
    plan
}

/// What the harness printed.
#[derive(Default)]
struct Report {
    outcomes: BTreeMap<usize, Outcome>,
    /// Found right.
    good: Vec<usize>,
    running: Option<usize>,
    too_long: Option<f64>,
}

fn parse(text: &str) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(word), Some(Ok(id))) = (words.next(), words.next().map(str::parse::<usize>)) else {
            continue;
        };
        let rest = words.next().unwrap_or_default();
        let mut numbers = rest.split(' ').map_while(|n| n.parse::<f64>().ok());
        match word {
            "start" | "turn" => report.running = Some(id),
            "good" => report.good.push(id),
            "bad" => {
                report.outcomes.insert(id, Outcome::Wrong(rest.to_owned()));
            }
            "long" => report.too_long = numbers.next(),
            "time" => {
                if let (Some(best), Some(median)) = (numbers.next(), numbers.next()) {
                    report.outcomes.insert(id, Outcome::Timed { best, median });
                }
            }
            _ => {}
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions that double an array: right, wrong, crashing, endless, and out of bounds.
    const VERSIONS_C: &str = "\
#include <stdlib.h>
static void twice(void **args) { int n = *(int *)args[0]; double *x = args[1]; for (int i = 0; i < n; i++) x[i] *= 2; }
void oxeye_0(void **args) { twice(args); }
void oxeye_1(void **args) { twice(args); }
void oxeye_2(void **args) { twice(args); ((double *)args[1])[3] += 1; }
void oxeye_3(void **args) { abort(); }
void oxeye_4(void **args) { for (volatile int i = 0;;) i = 0; }
void oxeye_5(void **args) { twice(args); ((double *)args[1])[*(int *)args[0]] = 1; }
";

    #[test]
    fn right_wrong_and_broken_versions_are_told_apart() {
        let work = WorkDir::new().unwrap();
        let harness = Harness::build(&work, 1).unwrap();
        let source = work.write("versions.c", VERSIONS_C).unwrap();
        let job = CompileJob::shared_library(source, work.join("versions.so"));
        let library = Compiler::new("gcc", ["-O1"]).compile(&job).unwrap();
        let functions: Vec<Function> =
            (0..6).map(|id| Function { id, library: library.clone(), team: false }).collect();
        let arguments = "arg 2 1 0 value 1000 0\narg 1 1000 1 uniform 0 1\n";
        let pace = Pace { budget: 0.01, longest: 10.0 };
        let Outcomes::Timed(found) = harness.run(&work, arguments, &functions, pace).unwrap() else {
            panic!("a thousand elements take less than ten seconds");
        };
        assert!(matches!(found[&0], Outcome::Timed { .. }) && matches!(found[&1], Outcome::Timed { .. }));
        assert!(matches!(found[&2], Outcome::Wrong(_)), "{:?}", found[&2]);
        assert!(matches!(found[&3], Outcome::Crashed(_)), "{:?}", found[&3]);
        assert_eq!(found[&4], Outcome::TimedOut);
        assert_eq!(found[&5], Outcome::Wrong("out of bounds".into()));
        let pace = Pace { longest: 0.0, ..pace };
        let outcomes = harness.run(&work, arguments, &functions, pace).unwrap();
        assert!(matches!(outcomes, Outcomes::TooLong(seconds) if seconds > 0.0));
    }

    #[test]
    fn what_is_printed_is_understood() {
        let report =
            parse("start 0 \nstart 1 \ngood 1 0\nstart 2 \nbad 2 0.5\nturn 1 \ntime 1 0.25 0.5 3\ndone 0 \n");
        assert_eq!(report.outcomes[&1], Outcome::Timed { best: 0.25, median: 0.5 });
        assert_eq!(report.outcomes[&2], Outcome::Wrong("0.5".into()));
        assert_eq!((report.running, report.good), (Some(1), vec![1]));
        assert_eq!(parse("start 0 \nlong 0 2.5\n").too_long, Some(2.5));
    }
}
