//! Summary of all runs, and whether transfer tuning keeps its promises.

use std::collections::BTreeMap;

use super::overlap::Overlap;
use super::speedup::{Method, ProgramRun, Scope};
use super::statistics::{Comparison, compare};
use crate::bench::stats::geometric_mean;

/// The size of the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corpus {
    /// The thirty computations.
    pub(crate) n_base: usize,
    /// Second spellings of them.
    pub(crate) n_variants: usize,
}

/// A method on all programs it was tried on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    /// The method.
    pub(crate) method: Method,
    /// Number of programs.
    pub(crate) n_programs: usize,
    /// Geometric mean of the speedups.
    pub(crate) speedup: f64,
    /// Geometric mean of the shares of the search's speedup, of whole programs.
    pub(crate) share: f64,
    /// The same of the searched nests alone.
    pub(crate) share_of_nests: f64,
    /// Programs with at least [`GOOD_SHARE`] of the search's speedup.
    pub(crate) n_good: usize,
    /// The same of the searched nests alone.
    pub(crate) n_good_nests: usize,
    /// The least share, and the program that has it.
    pub(crate) worst: (f64, String),
    /// Programs that are slower than before.
    pub(crate) n_slower: usize,
    /// Nests that keep their code, as no pick was faster.
    pub(crate) n_kept: usize,
    /// Nests searched in these programs.
    pub(crate) n_nests: usize,
    /// Candidates measured.
    pub(crate) n_picks: usize,
    /// Candidates that the search measured on the same programs.
    pub(crate) n_trials: usize,
}

/// A good share of the search's speedup.
pub(crate) const GOOD_SHARE: f64 = 0.8;
/// The geometric mean that shares must reach.
const LEAST_MEAN_SHARE: f64 = 0.9;
/// How many of 45 programs must have a good share.
const LEAST_GOOD: (usize, usize) = (40, 45);
/// How many times fewer measurements.
const LEAST_SAVING: f64 = 50.0;

impl Summary {
    /// `None` if the method was tried nowhere.
    pub(crate) fn of(method: Method, programs: &[ProgramRun]) -> Option<Summary> {
        let tried: Vec<(&ProgramRun, f64)> =
            programs.iter().filter_map(|p| Some((p, p.method_speedup(Scope::Program, method)?))).collect();
        let shares_in = |scope| -> Vec<f64> {
            tried.iter().filter_map(|(p, _)| p.share_of_search(scope, method)).collect()
        };
        let shares = shares_in(Scope::Program);
        let shares_of_nests = shares_in(Scope::Nests);
        let n_good = |shares: &[f64]| shares.iter().filter(|share| **share >= GOOD_SHARE).count();
        let speedups: Vec<f64> = tried.iter().map(|(_, speedup)| *speedup).collect();
        let worst = shares.iter().zip(&tried).min_by(|a, b| a.0.total_cmp(b.0))?;
        let nests = || tried.iter().flat_map(|(p, _)| &p.nests);
        Some(Summary {
            method,
            n_programs: tried.len(),
            speedup: geometric_mean(&speedups)?,
            share: geometric_mean(&shares)?,
            share_of_nests: geometric_mean(&shares_of_nests)?,
            n_good: n_good(&shares),
            n_good_nests: n_good(&shares_of_nests),
            worst: (*worst.0, worst.1.0.name.clone()),
            n_slower: speedups.iter().filter(|speedup| **speedup < 1.0).count(),
            n_kept: nests()
                .filter(|n| n.tries_of(method).best_seconds.is_none_or(|s| s >= n.baseline_seconds))
                .count(),
            n_nests: nests().count(),
            n_picks: tried.iter().map(|(p, _)| p.n_picks(method)).sum(),
            n_trials: tried.iter().map(|(p, _)| p.n_trials()).sum(),
        })
    }

    /// Candidates measured by the search over candidates measured by this method; `None` if that is nothing.
    pub(crate) fn saving(&self) -> Option<f64> {
        (self.n_picks > 0).then(|| self.n_trials as f64 / self.n_picks as f64)
    }
}

/// How much better one method is than another on the programs that both were tried on.
pub(crate) fn against((a, b): (Method, Method), scope: Scope, programs: &[ProgramRun]) -> Option<Comparison> {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for program in programs {
        let speedup = |method| program.method_speedup(scope, method);
        if let (Some(a), Some(b)) = (speedup(a), speedup(b)) {
            groups.entry(program.computation()).or_default().push(a / b);
        }
    }
    compare(&groups.into_values().collect::<Vec<_>>())
}

/// Something that must hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Goal {
    /// The requirement.
    pub(crate) wanted: String,
    /// What was found, in words.
    pub(crate) found: String,
    /// Whether it is met.
    pub(crate) answer: Answer,
}

/// Whether a goal is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes.
    Met,
    /// Yes, but by no more than chance can explain.
    WithinNoise,
    /// No.
    NotMet,
}

impl Answer {
    fn of(holds: bool) -> Answer {
        if holds { Answer::Met } else { Answer::NotMet }
    }

    /// In words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Answer::Met => "met",
            Answer::WithinNoise => "ahead, within noise",
            Answer::NotMet => "not met",
        }
    }
}

/// All goals, in the order of the table. Shares of the search's speedup must be good both for whole programs and for
/// their searched nests alone: where little of a program's time is searched, its share says little. Without the
/// embedding, or without a database, a goal is not met.
pub(crate) fn goals(programs: &[ProgramRun], corpus: Corpus, overlap: Option<&Overlap>) -> Vec<Goal> {
    let mut goals = vec![all_there(programs, corpus), unseen(overlap)];
    match Summary::of(Method::Embedding, programs) {
        Some(summary) => goals.extend(of_summary(&summary, programs)),
        None => goals.push(Goal {
            wanted: "picks by the embedding are measured".into(),
            found: "no report has any".into(),
            answer: Answer::NotMet,
        }),
    }
    goals.extend([Method::HandMade, Method::Random].map(|other| better_than(other, programs)));
    goals
}

fn all_there(programs: &[ProgramRun], corpus: Corpus) -> Goal {
    Goal {
        wanted: format!(
            "all {} base programs and {} b variants are measured",
            corpus.n_base, corpus.n_variants
        ),
        found: format!("{} of {}", programs.len(), corpus.n_base + corpus.n_variants),
        answer: Answer::of(programs.len() >= corpus.n_base + corpus.n_variants),
    }
}

fn unseen(overlap: Option<&Overlap>) -> Goal {
    let wanted = "none of the searched nests has its normal form in the default database".into();
    let Some(overlap) = overlap else {
        return Goal { wanted, found: "there is no database to compare with".into(), answer: Answer::NotMet };
    };
    let found = match overlap.seen.as_slice() {
        [] => format!("none of {}", overlap.n_nests),
        seen => format!("{} of {}: {}", seen.len(), overlap.n_nests, listed(seen)),
    };
    let unread = match overlap.unread.as_slice() {
        [] => String::new(),
        unread => format!("; {} could not be compared: {}", unread.len(), listed(unread)),
    };
    let answer = Answer::of(overlap.seen.is_empty() && overlap.unread.is_empty());
    Goal { wanted, found: found + &unread, answer }
}

/// A list of names, cut so that it does not swamp the table.
fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    match names.len() {
        n if n > MOST + 1 => format!("{} and {} more", names[..MOST].join(", "), n - MOST),
        _ => names.join(", "),
    }
}

fn of_summary(summary: &Summary, programs: &[ProgramRun]) -> Vec<Goal> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let needed = (summary.n_programs * LEAST_GOOD.0).div_ceil(LEAST_GOOD.1);
    let below: Vec<String> = programs
        .iter()
        .filter_map(|p| {
            let share = p.share_of_search(Scope::Nests, summary.method)?;
            (share < GOOD_SHARE).then(|| format!("{} {:.0} %", p.name, 100.0 * share))
        })
        .collect();
    let below = if below.is_empty() { String::new() } else { format!(" (not {})", listed(&below)) };
    let saving = summary.saving();
    vec![
        Goal {
            wanted: format!(
                "the picks reach {:.0} % of the search's speedup in geometric mean",
                100.0 * LEAST_MEAN_SHARE
            ),
            found: format!(
                "{}; of the searched nests alone {}",
                percent(summary.share),
                percent(summary.share_of_nests)
            ),
            answer: Answer::of(summary.share.min(summary.share_of_nests) >= LEAST_MEAN_SHARE),
        },
        Goal {
            wanted: format!(
                "at least {:.0} % of it on {needed} of {} programs",
                100.0 * GOOD_SHARE,
                summary.n_programs
            ),
            found: format!(
                "{} of {}; of the searched nests alone on {}{below}",
                summary.n_good, summary.n_programs, summary.n_good_nests
            ),
            answer: Answer::of(summary.n_good.min(summary.n_good_nests) >= needed),
        },
        Goal {
            wanted: format!("at least {LEAST_SAVING:.0} times fewer measurements"),
            found: match saving {
                Some(saving) => format!(
                    "{saving:.1} times: {} instead of {} for {} nests",
                    summary.n_picks, summary.n_trials, summary.n_nests
                ),
                None => "no pick was measured".into(),
            },
            answer: Answer::of(saving.is_some_and(|saving| saving >= LEAST_SAVING)),
        },
        Goal {
            wanted: "no program is slower than its baseline".into(),
            found: format!(
                "{} slower; {} of {} nests keep their code, as none of their picks was faster",
                summary.n_slower, summary.n_kept, summary.n_nests
            ),
            answer: Answer::of(summary.n_slower == 0),
        },
    ]
}

fn better_than(other: Method, programs: &[ProgramRun]) -> Goal {
    let pair = (Method::Embedding, other);
    let comparison = against(pair, Scope::Program, programs);
    let of_nests = against(pair, Scope::Nests, programs);
    Goal {
        wanted: format!("the embedding beats the {}", other.label()),
        found: match (comparison, of_nests) {
            (Some(c), Some(nests)) => format!(
                "{:.3} times its speedup, 95 % interval {:.3} to {:.3}; of the searched nests alone {:.3}, {:.3} to {:.3}",
                c.ratio, c.low, c.high, nests.ratio, nests.low, nests.high
            ),
            _ => "no program has both".into(),
        },
        answer: match comparison {
            Some(c) if c.low > 1.0 => Answer::Met,
            Some(c) if c.ratio > 1.0 => Answer::WithinNoise,
            _ => Answer::NotMet,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::speedup::tests::{nest, program};

    fn corpus() -> Corpus {
        Corpus { n_base: 2, n_variants: 1 }
    }

    fn runs() -> Vec<ProgramRun> {
        vec![
            program("gemm", vec![nest(1.0, 0.1, [0.1, 0.125, 0.2, 0.5, 0.25])]),
            program("gemm-b", vec![nest(1.0, 0.1, [0.125, 0.125, 0.2, 0.0, 0.25])]),
            program("lu", vec![nest(1.0, 0.5, [0.5, 0.5, 1.5, 1.0, 0.5])]),
        ]
    }

    #[test]
    fn a_summary_has_means_and_the_worst() {
        let summary = Summary::of(Method::Embedding, &runs()).expect("it was tried");
        assert!((summary.speedup - 160f64.cbrt()).abs() < 1e-9);
        assert!((summary.share - 0.8f64.cbrt()).abs() < 1e-12);
        assert_eq!((summary.n_good, summary.n_slower, summary.n_kept), (3, 0, 0));
        assert_eq!(summary.worst.1, "gemm-b");
        assert!((summary.saving().expect("picks were measured") - 200.0 / 3.0).abs() < 1e-12);
        let random = Summary::of(Method::Random, &runs()).expect("it was tried");
        assert_eq!((random.n_good, random.n_kept), (0, 2));
        assert_eq!(Summary::of(Method::Random, &[]), None);
    }

    #[test]
    fn goals_are_met_or_not() {
        let none = Overlap { n_nests: 3, seen: Vec::new(), unread: Vec::new() };
        let answers = |programs: &[ProgramRun], overlap: Option<&Overlap>| -> Vec<Answer> {
            goals(programs, corpus(), overlap).iter().map(|g| g.answer).collect()
        };
        assert_eq!(answers(&runs(), Some(&none)), [Answer::Met; 8]);

        let one = Overlap { n_nests: 3, seen: vec!["lu:7".into()], unread: Vec::new() };
        assert_eq!(answers(&runs(), Some(&one))[1], Answer::NotMet);
        assert_eq!(answers(&runs(), None)[1], Answer::NotMet);

        let mut worse = runs();
        for run in &mut worse {
            run.nests[0].picks.get_mut(&Method::Embedding).expect("it was tried").best_seconds = Some(0.7);
        }
        worse.pop();
        let found = answers(&worse, Some(&none));
        let not_met: Vec<usize> = (0..8).filter(|k| found[*k] == Answer::NotMet).collect();
        assert_eq!(not_met, [0, 2, 3, 6]);
        assert!(answers(&[], None).iter().all(|a| *a == Answer::NotMet));
    }

    #[test]
    fn a_program_that_is_hardly_searched_proves_nothing() {
        // Half of the search's speedup in 1 % of the time is all of the speedup of the program.
        let mut runs = runs();
        for run in &mut runs {
            run.nests[0] = nest(0.01, 0.25, [0.5, 0.5, 0.5, 0.5, 0.5]);
        }
        let summary = Summary::of(Method::Embedding, &runs).expect("it was tried");
        assert!(summary.share > 0.99 && (summary.share_of_nests - 0.5).abs() < 1e-12);
        assert_eq!((summary.n_good, summary.n_good_nests), (3, 0));
        let goals = goals(&runs, corpus(), None);
        assert_eq!([goals[2].answer, goals[3].answer], [Answer::NotMet; 2], "{goals:?}");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|k| format!("n{k}")).collect();
        assert_eq!(listed(&names[..2]), "n0, n1");
        assert!(listed(&names[..13]).ends_with("n12"));
        assert!(listed(&names).ends_with("n11 and 8 more"));
    }

    #[test]
    fn a_lead_within_noise_is_called_so() {
        let mut runs = runs();
        runs[2].nests[0].picks.get_mut(&Method::Embedding).expect("it was tried").best_seconds = Some(0.9);
        runs[2].nests[0].picks.get_mut(&Method::HandMade).expect("it was tried").best_seconds = Some(0.5);
        let goals = goals(&runs, corpus(), None);
        assert_eq!(goals[6].answer, Answer::WithinNoise, "{goals:?}");
    }

    #[test]
    fn spellings_of_one_computation_are_compared_together() {
        let comparison = against((Method::Embedding, Method::HandMade), Scope::Program, &runs());
        let comparison = comparison.expect("both were tried");
        assert!((comparison.ratio - (2.0f64 * 1.6 * 2.0).cbrt()).abs() < 1e-12);
        assert_eq!(comparison.wins, [3, 0, 0]);
    }
}
