//! Screening: candidates run once or a few times, best guess first, until the time is up or a roof is near.

use super::bench::{Bench, Screened, verdict_of};
use super::pace::Pace;
use crate::budget::{LONG_SECONDS, TRIED_FIRST};
use crate::machine::ENOUGH_PERCENT;
use crate::request::{Error, Event};
use crate::schedule::{Trial, Verdict};
use oxeye_measure::{MeasureError, Patience, Rejection, compile_all};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// A call may take so many seconds, however late it is.
const LEAST_CALL: f64 = 1.0;

/// Compiles and runs some of the candidates, a few at a time until the deadline. Returns the positions of those with the
/// right outputs.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn screen(
    bench: &Bench<'_>,
    trials: &mut [Trial],
    which: Range<usize>,
    built: &mut BTreeMap<usize, Result<PathBuf, MeasureError>>,
) -> Result<Vec<usize>, Error> {
    let session = bench.site.session;
    let baseline_seconds = bench.baseline_seconds;
    let ready: Vec<usize> = which.filter(|k| trials[*k].is_ready()).collect();
    let mut right: Vec<usize> = Vec::new();
    let mut best = bench.to_beat;
    let mut n_done = 0;
    let mut waiting = ready.as_slice();
    while !waiting.is_empty() {
        let n_built = waiting.iter().take_while(|k| built.contains_key(*k)).count();
        let n = if n_built > 0 { n_built } else { bench.compiled_together() };
        let (chunk, later) = waiting.split_at(n.min(waiting.len()));
        waiting = later;
        // What is built is run while there is a budget, and the first of it however long that took.
        let end = if n_built > 0 { session.end_of_budget().max(bench.deadline) } else { bench.deadline };
        let n_certain = n_built.min(TRIED_FIRST);
        let nodes = bench.nodes().filter(|_| n_built == 0);
        // Half of the time is for the finalists of short nests; long ones are mostly decided here.
        let is_hurried_enough = |right: &[usize]| bench.pace == Pace::Hurried && !right.is_empty();
        if n_certain == 0 && session.is_over(end) || session.progress.enough() || is_hurried_enough(&right) {
            break;
        }
        // What leaves out a part of the work is under no roof of the whole.
        let does_less = |k: &usize| {
            let trial = &trials[*k];
            trial.schedule.recipe.does_less() && trial.screened.is_some_and(|found| found.score() <= best)
        };
        let roofs = bench.roofs.filter(|_| !right.is_empty() && !right.iter().any(does_less));
        let roof = roofs.and_then(|roofs| roofs.near(best, session.threads));
        if let Some(bound) = roof {
            let why = format!("the best before it is within {ENOUGH_PERCENT} % of its roof ({bound})");
            ready[n_done..].iter().for_each(|k| trials[*k].why = Some(why.clone()));
            break;
        }
        if let Some(nodes) = nodes {
            let all = [chunk, later].concat();
            let heard = &mut |n_told: usize, best: f64| {
                let n_done = n_done + n_told;
                let best_speedup = (best < baseline_seconds).then_some(baseline_seconds / best);
                session.progress.event(Event::Candidate { n_done, n_candidates: ready.len(), best_speedup });
            };
            right.extend(bench.screen_elsewhere(nodes, (trials, &all), best, heard)?);
            return Ok(right);
        }
        build(bench, trials, chunk, built)?;
        for k in chunk {
            session.check_cancelled()?;
            let is_over = n_done >= n_certain && session.is_over(end);
            if is_over || session.progress.enough() || is_hurried_enough(&right) {
                break;
            }
            let Some(library) = built.remove(k) else { continue };
            if baseline_seconds > LONG_SECONDS
                && !trials[*k].is_parallel()
                && right.iter().any(|k| trials[*k].is_parallel())
            {
                trials[*k].why = Some("one thread, where a long nest gains from several".into());
                n_done += 1;
                continue;
            }
            let trial = &mut trials[*k];
            let patience = Patience::for_best(best);
            // Of a call that is not over before the budget is, no more is known than that it is not much faster.
            let left = session.budget_left().as_secs_f64().max(LEAST_CALL);
            let is_cut = left < patience.call_seconds;
            let patience = Patience { call_seconds: patience.call_seconds.min(left), ..patience };
            match bench.run_candidate(library, patience) {
                Ok(Screened { library, screening }) => {
                    trial.verdict = Verdict::Slower;
                    (trial.screened, trial.library) = (Some(screening), Some(library));
                    best = best.min(screening.seconds);
                    right.push(*k);
                }
                Err(setback) => {
                    let why = setback.item()?;
                    if is_cut && matches!(why, Rejection::TimedOut { .. }) {
                        trial.reject(Verdict::TooSlow, "it was not done when the time was up".into());
                        return Ok(right);
                    }
                    trial.reject(verdict_of(&why), bench.site.words(&why));
                }
            }
            n_done += 1;
            session.progress.event(Event::Candidate {
                n_done,
                n_candidates: ready.len(),
                best_speedup: right.first().map(|_| baseline_seconds / best),
            });
        }
    }
    Ok(right)
}

/// Builds those of some candidates that are not built yet.
fn build(
    bench: &Bench<'_>,
    trials: &[Trial],
    which: &[usize],
    built: &mut BTreeMap<usize, Result<PathBuf, MeasureError>>,
) -> Result<(), Error> {
    let session = bench.site.session;
    let (mut numbers, mut jobs) = (Vec::new(), Vec::new());
    for k in which.iter().filter(|k| !built.contains_key(*k)) {
        let Some(job) = bench.site.candidate(*k, &trials[*k], bench.deadline)? else { continue };
        numbers.push(*k);
        jobs.push(job);
    }
    let libraries = compile_all(&session.workshop.replay_compiler(), &jobs, session.host.cores as usize);
    built.extend(numbers.into_iter().zip(libraries));
    Ok(())
}
