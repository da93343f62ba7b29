//! Reading what `oxeye search --compare-donors` wrote.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::speedup::{Method, NestRun, ProgramRun, Tries};
use crate::corpus::Group;

/// The place of the measurements, according to the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Processor model.
    pub(crate) cpu: String,
    /// Threads that the tuned code may use.
    pub(crate) threads: u64,
    /// The version line of the compiler.
    pub(crate) compiler: String,
}

/// The place of a report.
pub(crate) fn place(report: &Value) -> Place {
    let text =
        |values: &[&Value]| values.iter().find_map(|value| value.as_str()).unwrap_or("unknown").to_owned();
    let build = &report["build"];
    Place {
        cpu: text(&[&report["host"]["cpu"]]),
        threads: report["threads"].as_u64().unwrap_or(0),
        compiler: text(&[&build["version"], &build["compiler"]]),
    }
}

/// The searched nests of a report.
///
/// # Errors
/// If there are none, or the report was not made with `--compare-donors`.
pub(crate) fn program(name: &str, group: Group, report: &Value) -> Result<ProgramRun> {
    let searched = report["search"]["nests"].as_array().context("it is not the report of a search")?;
    ensure!(!searched.is_empty(), "no nest was searched");
    let nests = searched.iter().map(|of_search| {
        let id = of_search["id"].as_u64().context("a searched nest has no id")?;
        let of_file = report["nests"].as_array().into_iter().flatten().find(|n| n["id"].as_u64() == Some(id));
        let of_file = of_file.with_context(|| format!("nest {id} was searched and is not in the report"))?;
        nest(of_search, of_file).with_context(|| format!("nest {id} of {name}"))
    });
    Ok(ProgramRun {
        name: name.to_owned(),
        group,
        nests: nests.collect::<Result<_>>()?,
        measured_speedup: report["program"]["speedup"].as_f64(),
    })
}

fn nest(of_search: &Value, of_file: &Value) -> Result<NestRun> {
    let compared =
        of_search["compared"].as_array().context("nothing was compared: search with --compare-donors")?;
    let picks: BTreeMap<Method, Tries> = compared.iter().map(picks).collect::<Result<_>>()?;
    let first = |of: [Option<f64>; 2]| of.into_iter().flatten().find(|x| x.is_finite() && *x > 0.0);
    let milliseconds = of_file["baseline_ms"].as_f64();
    let baseline = [of_search["baseline_seconds"].as_f64(), milliseconds.map(|ms| 1e-3 * ms)];
    let invocations = [of_search["invocations"].as_f64(), of_file["invocations"].as_f64()];
    Ok(NestRun {
        function: of_file["function"].as_str().unwrap_or_default().to_owned(),
        line: of_file["line"].as_u64().unwrap_or_default(),
        share: of_file["share"].as_f64(),
        invocations: first(invocations),
        baseline_seconds: first(baseline).context("it has no baseline time")?,
        search: Tries {
            n_measured: of_search["measured"].as_u64().context("its trials were not counted")? as usize,
            best_seconds: seconds(&of_search["best_seconds"])?,
        },
        picks,
    })
}

fn picks(compared: &Value) -> Result<(Method, Tries)> {
    let word = compared["method"].as_str().context("a comparison names no method")?;
    let method = Method::from_word(word).with_context(|| format!("no method `{word}` is known"))?;
    let picks = compared["picks"].as_array().context("a comparison has no picks")?;
    Ok((method, Tries { n_measured: picks.len(), best_seconds: seconds(&compared["best_seconds"])? }))
}

/// A time, or none.
fn seconds(value: &Value) -> Result<Option<f64>> {
    let seconds = value.as_f64();
    ensure!(value.is_null() || seconds.is_some_and(|s| s.is_finite() && s > 0.0), "{value} is not a time");
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::speedup::Scope;
    use serde_json::json;

    fn report() -> Value {
        json!({
            "schema": "oxeye.report/1",
            "host": {"cpu": "A Processor"},
            "threads": 2,
            "build": {"compiler": "gcc", "version": "gcc 12.2.0"},
            "program": {"speedup": 1.9},
            "nests": [
                {"id": 0, "function": "init", "line": 3, "share": 0.1, "invocations": 1, "baseline_ms": null},
                {"id": 1, "function": "kernel", "line": 12, "share": 0.9, "invocations": 10, "baseline_ms": 90.0},
            ],
            "search": {"nests": [{
                "id": 1, "generations": 4, "measured": 150, "baseline_seconds": 0.1, "best_seconds": 0.05,
                "compared": [
                    {"method": "embedding", "picks": ["a", "b", "c"], "best_seconds": 0.06, "speedup": 1.67},
                    {"method": "random", "picks": [], "best_seconds": null, "speedup": null},
                    {"method": "none", "picks": ["d"], "best_seconds": 0.2, "speedup": 0.5, "note": null},
                ],
            }]},
        })
    }

    #[test]
    fn a_report_is_read() {
        let program = program("k", Group::Base, &report()).expect("it is sound");
        assert_eq!((program.nests.len(), program.n_trials()), (1, 150));
        let nest = &program.nests[0];
        assert_eq!((nest.function.as_str(), nest.line, nest.invocations), ("kernel", 12, Some(10.0)));
        assert_eq!((nest.baseline_seconds, nest.share), (0.1, Some(0.9)));
        assert_eq!(nest.tries_of(Method::Embedding), Tries { n_measured: 3, best_seconds: Some(0.06) });
        assert_eq!(program.method_speedup(Scope::Program, Method::Random), Some(1.0));
        assert_eq!(program.method_speedup(Scope::Program, Method::Static), None);
        assert_eq!(program.n_picks(Method::Suggestions), 1);
        assert_eq!(program.measured_speedup, Some(1.9));
        assert_eq!(place(&report()).compiler, "gcc 12.2.0");
    }

    #[test]
    fn the_time_of_the_other_report_stands_in() {
        let mut report = report();
        report["search"]["nests"][0]["baseline_seconds"] = Value::Null;
        let program = program("k", Group::Base, &report).expect("it is sound");
        assert!((program.nests[0].baseline_seconds - 0.09).abs() < 1e-12);
    }

    #[test]
    fn what_is_missing_is_named() {
        type Spoil = fn(&mut Value);
        let cases: [(Spoil, &str); 6] = [
            (|r| r["search"] = Value::Null, "not the report of a search"),
            (|r| r["search"]["nests"] = json!([]), "no nest was searched"),
            (|r| r["search"]["nests"][0]["compared"] = Value::Null, "--compare-donors"),
            (|r| r["search"]["nests"][0]["compared"][0]["method"] = json!("luck"), "`luck`"),
            (|r| r["search"]["nests"][0]["best_seconds"] = json!(-1.0), "not a time"),
            (|r| r["search"]["nests"][0]["id"] = json!(7), "nest 7"),
        ];
        for (spoil, expected) in cases {
            let mut report = report();
            spoil(&mut report);
            let error = program("k", Group::Base, &report).expect_err(expected);
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
    }
}
