//! Stage 4: candidates compiled, run isolated, compared with the original, and timed.
//!
//! In: nests with the schedules to try. Out: the same with what became of each, and the winners. `bench` runs the original
//! and candidates of one nest (with what the compiler knows where it stands: `in_place`), `doubts` says which results are right where roundings decide them; `screen` runs each of many
//! once or a few times; `select` times the fastest in turns with the original; `guard` asks from which size on one is faster, on
//! the smaller samples that `shrink` makes; `choose` takes the best that passes; `special` tries the fastest for one value of
//! a small size, `wide` with instructions that not every processor has; `cut` shortens what takes too long; where many nests wait,
//! `pace` hurries each.
//!
//! Calls of a nest are told apart by `Nest::work`, the product of its extents: the capture runtime counts calls and time by
//! powers of two of that, and keeps samples of the classes that take the time. `oxeye::mix` chooses up to three to be timed;
//! candidates are compared, and speedups reported, over their mix. A winner is then measured on smaller samples
//! (`stages/measure/{shrink, guard}`), where the sizes are plain variables and every access is proved to stay in what was
//! captured; where it loses below some `Nest::size` (steps of time left out), it is rendered with a test of that
//! (`codegen::SizeGuard`), and parallel loops with an `if` clause where one thread is faster on small sizes. A winner with
//! threads that one thread runs slower than the original is for builds with OpenMP only (`SizeGuard::openmp`, an `#if` around
//! the nest). Recipe files keep all of it (`NestRecipe::guard`). The fastest candidates are tried once more for one value each
//! of small sizes (`stages/measure/special`, `RenderOptions::known`, `NestRecipe::known`), and with wider vectors than the
//! user's build allows, in a function of their own before the one with the nest (`stages/measure/wide`, `codegen::{Isa,
//! render_outlined}`, `NestRecipe::isa`); the nest's own text is tried so before anything else (`codegen::outline_own_text`), and
//! where wider vectors won, the search goes on with them (`NestSearch::isa`).
//! Integers that the compiler knows where the nest stands, and that arrays are apart, are known in its replays if the original is
//! faster in its place than replayed without (`stages/measure/in_place`, `TunedNest::known`). Where a test fails, the original

mod bench;
mod choose;
mod cut;
mod doubts;
mod elsewhere;
mod guard;
mod in_place;
mod pace;
mod screen;
mod select;
mod shrink;
mod special;
mod wide;

pub(crate) use bench::{Bench, ReplaySite, Screened, verdict_of};
pub(crate) use choose::choose;
pub(crate) use cut::cut_long;
pub(crate) use pace::Pace;
pub(crate) use select::{DISTURBED, measure_alone};

use super::propose::Proposed;
use crate::budget::{
    LONG_SECONDS, TRIED_FIRST, compiled_together, for_suggestions, turn_before_opening, turn_of,
};
use crate::machine::Roofs;
use crate::nest::{KnownInPlace, TunedNest, Workpiece, remark};
use crate::request::{Error, Event, Phase, Setback};
use crate::schedule::{Rendering, Trial, Verdict};
use crate::session::Session;
use bench::NotBuilt;
use oxeye_frontend::Unit;
use oxeye_measure::{MeasureError, compile_all};
use screen::screen;
use special::specialise;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
pub(crate) use wide::is_worth_it;
use wide::{widen, widen_own_text};

/// Nests with this share of the program's time have a turn in any case.
const SHARE_WITH_TURN: f64 = 0.01;

/// A call that is over sooner is hardly ever faster with threads, which take time to begin and to end.
const WORTH_THREADS_SECONDS: f64 = 50e-6;

/// Where more nests than this wait and a turn is shorter than the time, each is hurried.
const FEW_NESTS: usize = 3;
const SHORT_TURN: Duration = Duration::from_millis(2500);

/// So many trials of a nest are kept besides the winner.
const MOST_OTHERS: usize = 2;

/// A file with what was measured of its nests' candidates.
pub struct Measured {
    /// The file.
    pub workpiece: Workpiece,
    /// When to stop trying: early enough for the final runs of the whole program.
    pub(crate) end: Instant,
}

/// What was compiled of a nest before anything was run.
struct Built {
    original: Result<PathBuf, Setback<NotBuilt>>,
    /// Candidates by their positions among the trials.
    candidates: BTreeMap<usize, Result<PathBuf, MeasureError>>,
}

/// Compiles the candidates of every nest, runs each isolated on the captured arguments, compares its outputs with those of
/// the original nest as the user's compiler builds it, and times the best against it.
///
/// # Errors
/// If the run is interrupted.
pub fn measure(session: &Session<'_>, proposed: Proposed) -> Result<Measured, Error> {
    session.enter(Phase::Trying)?;
    let mut workpiece = proposed.workpiece;
    let end = session.end_of_trials();
    let order = workpiece.turns();
    take_turns(session, &mut workpiece, (&order, Round::First), end)?;
    Ok(Measured { workpiece, end })
}

/// Nests are opened, and loops inside them tried, between the first two rounds. In the third, nests go on where they stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    First,
    Second,
    Third,
}

/// Tries the candidates of nests in this order, which comes with their shares of the time, until the end. One for several threads
/// and one for one are tried first, and nests that matter have their turn however long those before them take.
///
/// # Errors
/// If the run is interrupted.
pub(super) fn take_turns(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    (order, round): (&[(usize, f64)], Round),
    end: Instant,
) -> Result<(), Error> {
    for (position, (idx, weight)) in order.iter().enumerate() {
        session.check_cancelled()?;
        let rest: f64 = order[position..].iter().map(|(_, weight)| weight).sum();
        let others = &order[position + 1..];
        let n_others = others.iter().filter(|(_, weight)| *weight >= SHARE_WITH_TURN).count();
        let left = end.saturating_duration_since(Instant::now());
        let turn = turn_of(left, *weight, rest, n_others);
        let is_first = round == Round::First;
        let hides_nests = || workpiece.nests[*idx].place.of(&workpiece.unit).2.innermost_loops().len() > 1;
        let turn = if is_first && hides_nests() { turn_before_opening(turn) } else { turn };
        let deadline = Instant::now() + turn;
        let saved = workpiece.saved_inside(*idx);
        let Workpiece { unit, nests, .. } = &mut *workpiece;
        let nest = &mut nests[*idx];
        let is_over = session.is_over(end);
        nest.is_late = is_over && (nest.is_late || round != Round::Third);
        if is_over {
            let why = nothing_won(&nest.trials);
            nest.note.get_or_insert(why);
            continue;
        }
        let how = session.rendering(nest.place.around(unit), nest.threads(session));
        let pace = if order.len() > FEW_NESTS && turn < SHORT_TURN { Pace::of(nest) } else { Pace::Usual };
        if round != Round::Third {
            nest.try_plain_first(how, pace == Pace::Hurried && nest.place.sweeps(unit));
        }
        nest.saved_inside = saved;
        measure_nest(session, unit, *idx, nest, (pace, deadline))?;
    }
    Ok(())
}

impl TunedNest {
    /// Puts two candidates before all others: the first of those for several threads, unless the nest is too short for them, and
    /// one that one thread runs, as written or where the steps are for several, which is what is left where the program does not
    /// gain from threads. Where time is short, the first of the two is all that is tried: that is one without tiles, if these are
    /// a gamble.
    fn try_plain_first(&mut self, how: Rendering<'_>, tiles_are_a_gamble: bool) {
        let seconds = self.seconds_in_place();
        // Each call of a long nest takes its time from the others.
        let is_long = seconds.is_some_and(|seconds| seconds > LONG_SECONDS);
        // No more than were to be tried.
        let n_first = if is_long { 1 } else { TRIED_FIRST }.min(self.n_first.max(1));
        let pays_threads = n_first > 1 && seconds.is_none_or(|seconds| seconds > WORTH_THREADS_SECONDS);
        let ready: Vec<usize> = (0..self.trials.len()).filter(|k| self.trials[*k].is_ready()).collect();
        let is_parallel = |k: &usize| self.trials[*k].is_parallel();
        let is_gamble = |k: &usize| tiles_are_a_gamble && self.trials[*k].schedule.recipe.only_tiles();
        let for_threads = ready.iter().copied().filter(|k| pays_threads && is_parallel(k));
        let mut chosen: Vec<usize> = for_threads.min_by_key(is_gamble).into_iter().collect();
        chosen.extend(ready.iter().filter(|k| !is_parallel(k)).take(n_first - chosen.len()));
        let trials = ready.iter().map(|k| &self.trials[*k]);
        let made = trials.filter_map(|trial| trial.alone(how, Some(self.place.span)));
        let made: Vec<Trial> = made.take(n_first - chosen.len()).collect();
        self.n_first += made.len() + chosen.iter().filter(|k| **k >= self.n_first).count();
        let rank = |k: usize| chosen.iter().position(|c| *c == k).unwrap_or(chosen.len());
        let mut ranked: Vec<(usize, Trial)> = self.trials.drain(..).enumerate().collect();
        ranked.sort_by_key(|(k, _)| rank(*k));
        self.trials.extend(ranked.into_iter().map(|(_, trial)| trial));
        self.trials.splice(chosen.len()..chosen.len(), made);
        Trial::mark_duplicates(&mut self.trials);
    }
}

/// Tries the candidates of one nest until the deadline.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn measure_nest(
    session: &Session<'_>,
    unit: &Unit,
    idx: usize,
    nest: &mut TunedNest,
    (pace, deadline): (Pace, Instant),
) -> Result<(), Error> {
    let outcome = cut_long(session, unit, idx, nest);
    let outcome = outcome.and_then(|()| try_candidates(session, unit, idx, nest, (pace, deadline)));
    nest.release_trials();
    left_out(outcome, nest)
}

/// What fails with a nest leaves that nest as it is, and is said; only an interruption ends the run.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn left_out(outcome: Result<(), Error>, nest: &mut TunedNest) -> Result<(), Error> {
    match outcome {
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(error) => {
            remark(&mut nest.note, &error.to_string());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn try_candidates(
    session: &Session<'_>,
    unit: &Unit,
    idx: usize,
    nest: &mut TunedNest,
    (pace, deadline): (Pace, Instant),
) -> Result<(), Error> {
    let (function, _, _) = nest.place.of(unit);
    let (first, rest) = (0..nest.n_first, nest.n_first..nest.trials.len());
    let n_candidates = nest.trials[first.clone()].iter().filter(|trial| trial.is_ready()).count();
    session.progress.event(Event::Nest { function, line: nest.place.line(unit), n_candidates });
    if !nest.trials.iter().any(Trial::is_ready) {
        remark(&mut nest.note, "no schedule other than its own was found to be legal and different");
        if session.isa().is_none() {
            return Ok(());
        }
    }
    if session.progress.enough() {
        return Ok(());
    }
    let roofs = nest.roofs(session, unit, idx);
    let how = session.rendering(nest.place.around(unit), nest.threads(session));
    let known;
    let (place, calls) = (&nest.place, &nest.calls);
    let site = ReplaySite { session, unit, idx, place, calls, known: KnownInPlace::NOTHING };
    let mut built = build_first(site, &nest.trials[first.clone()], deadline)?;
    let mut opened = Bench::open(site, built.original, roofs.as_ref(), (pace, deadline));
    let asks_more = pace == Pace::Usual && !session.is_over(deadline);
    if let Some(bench) = opened.as_ref().ok().filter(|_| asks_more) {
        known = bench.known_in_place()?;
        if !known.is_nothing() {
            let site = ReplaySite { known: &known, ..site };
            built = build_first(site, &nest.trials[first.clone()], deadline)?;
            opened = Bench::open(site, built.original, roofs.as_ref(), (pace, deadline));
        }
    }
    let mut bench = match opened {
        Ok(bench) => bench,
        Err(setback) => {
            remark(&mut nest.note, &setback.item()?.to_string());
            return Ok(());
        }
    };
    let mut baseline = bench.baseline_seconds;
    bench.to_beat *= 1.0 - nest.saved_inside;
    nest.baseline_seconds = Some(baseline);
    let mut finalists = screen(&bench, &mut nest.trials, first, &mut built.candidates)?;
    let mut own_text = match finalists.is_empty() || !session.is_over(bench.deadline) {
        true => widen_own_text(&bench, how, &mut nest.trials)?,
        false => Vec::new(),
    };
    let score = |k: &usize| nest.trials[*k].screened.map_or(f64::INFINITY, |screened| screened.score());
    let others = finalists.iter().map(score).fold(baseline, f64::min);
    own_text.retain(|k| is_worth_it(&nest.trials[*k], others));
    finalists.extend(&own_text);
    nest.winner = choose(&bench, how, &mut finalists, &mut nest.trials, &mut baseline)?;
    let is_advised_faster = nest.winner.is_some_and(|winner| !own_text.contains(&winner));
    // Nodes that wait can as well try the rest.
    if is_advised_faster && bench.nodes().is_none() {
        let why = "a schedule that was advised is faster than the original";
        let untried = nest.trials[rest].iter_mut().filter(|trial| trial.verdict == Verdict::NotTried);
        untried.for_each(|trial| trial.why = Some(why.into()));
    } else if !rest.is_empty() && !session.is_over(bench.deadline) {
        // Wider vectors than the user's build has may be all that is missing.
        nest.winner = refined_by(widen, &bench, how, (nest.winner, &mut nest.trials), &mut baseline)?;
        if !is_advised_faster {
            let note =
                "nothing that was advised is faster, so what the nest itself suggests was tried as well";
            remark(&mut nest.note, note);
        }
        let time = for_suggestions(session.options.budget, nest.calls.share);
        bench.deadline = bench.deadline.min(Instant::now() + time);
        finalists.extend(screen(&bench, &mut nest.trials, rest, &mut built.candidates)?);
        let before = nest.winner;
        if let Some(winner) = before.and_then(|winner| nest.trials[winner].screened) {
            let is_faster = |k: &usize| nest.trials[*k].screened.is_some_and(|s| s.score() < winner.score());
            finalists.retain(is_faster);
        }
        nest.winner = choose(&bench, how, &mut finalists, &mut nest.trials, &mut baseline)?.or(before);
        demote(&mut nest.trials, before, nest.winner);
    }
    nest.winner = refine(&bench, how, nest.winner, &mut nest.trials, &mut baseline)?;
    nest.others = runners_up(&bench, how, nest.winner, &mut nest.trials)?;
    nest.baseline_seconds = Some(baseline);
    nest.conditioning = bench.conditioning().or(nest.conditioning.take());
    nest.known = bench.site.known.clone();
    conclude(session, roofs.as_ref(), nest);
    Ok(())
}

/// Tries the fastest schedules in forms that are for some calls or processors only. Gives the position of the winner then.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(crate) fn refine(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    mut winner: Option<usize>,
    trials: &mut Vec<Trial>,
    baseline_seconds: &mut f64,
) -> Result<Option<usize>, Error> {
    for refinement in [specialise as Refinement, widen] {
        winner = refined_by(refinement, bench, how, (winner, trials), baseline_seconds)?;
    }
    Ok(winner)
}

/// Adds the fastest schedules in another form to the trials, and gives the positions of those that may win.
type Refinement = fn(&Bench<'_>, Rendering<'_>, &mut Vec<Trial>) -> Result<Vec<usize>, Error>;

/// The winner with what one refinement adds.
fn refined_by(
    refinement: Refinement,
    bench: &Bench<'_>,
    how: Rendering<'_>,
    (winner, trials): (Option<usize>, &mut Vec<Trial>),
    baseline_seconds: &mut f64,
) -> Result<Option<usize>, Error> {
    let mut finalists = refinement(bench, how, trials)?;
    if finalists.is_empty() {
        return Ok(winner);
    }
    let after = choose(bench, how, &mut finalists, trials, baseline_seconds)?.or(winner);
    demote(trials, winner, after);
    Ok(after)
}

/// Positions of the best trials besides the winner that one thread runs and that are faster than the original: what is faster
/// taken out of its function need not be in its place. One is looked for however late it is, if the winner has several threads.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
fn runners_up(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    winner: Option<usize>,
    trials: &mut [Trial],
) -> Result<Vec<usize>, Error> {
    let Some(winner) = winner else { return Ok(Vec::new()) };
    let session = bench.site.session;
    let is_needed = trials[winner].is_parallel();
    let kind = |trial: &Trial| (trial.is_for_sizes, trial.isa);
    let mut kinds: Vec<_> = (!is_needed).then(|| kind(&trials[winner])).into_iter().collect();
    let mut found = Vec::new();
    while found.len() < MOST_OTHERS {
        if session.is_over(bench.deadline) && !(is_needed && found.is_empty()) {
            break;
        }
        let is_free = |k: &usize| {
            let trial = &trials[*k];
            *k != winner && !found.contains(k) && trial.library.is_some() && !trial.is_parallel()
        };
        let free: Vec<usize> = (0..trials.len()).filter(is_free).collect();
        let mut new: Vec<usize> =
            free.iter().copied().filter(|k| !kinds.contains(&kind(&trials[*k]))).collect();
        let mut baseline = bench.baseline_seconds;
        // What is of another kind need not lose for the same reason.
        let mut best = choose(bench, how, &mut new, trials, &mut baseline)?;
        if best.is_none() {
            let mut rest = free;
            rest.retain(|k| kinds.contains(&kind(&trials[*k])));
            best = choose(bench, how, &mut rest, trials, &mut baseline)?;
        }
        let Some(best) = best else { break };
        trials[best].verdict = Verdict::Slower;
        kinds.push(kind(&trials[best]));
        found.push(best);
    }
    Ok(found)
}

/// What was the winner before and is no more, is slower.
fn demote(trials: &mut [Trial], before: Option<usize>, winner: Option<usize>) {
    if let Some(before) = before.filter(|before| winner != Some(*before)) {
        trials[before].verdict = Verdict::Slower;
    }
}

/// Compares before and after with the roofs, and says why nothing won, if nothing did.
pub(crate) fn conclude(session: &Session<'_>, roofs: Option<&Roofs<'_>>, nest: &mut TunedNest) {
    if let Some(roofs) = roofs {
        let winner = nest.winner();
        let baseline = winner.map(|(_, timing)| timing.baseline_seconds).or(nest.baseline_seconds);
        let before = baseline.map(|seconds| roofs.before(seconds));
        let after = winner.and_then(|(trial, timing)| {
            let proved = trial.proved.as_ref().filter(|_| !trial.schedule.recipe.does_less())?;
            Some(roofs.after(&proved.applied, timing.seconds, proved.threads(session.threads)))
        });
        (nest.before, nest.after) = (before, after);
    }
    if nest.winner.is_none() {
        remark(&mut nest.note, &nothing_won(&nest.trials));
    }
}

/// Builds the original and the candidates to begin with, on all cores.
fn build_first(site: ReplaySite<'_>, trials: &[Trial], deadline: Instant) -> Result<Built, Error> {
    let session = site.session;
    let in_place = site.calls.samples.first().and_then(|s| s.nanoseconds);
    let in_place = in_place.map_or(0.0, |ns| 1e-9 * ns as f64);
    let left = deadline.saturating_duration_since(Instant::now());
    let n_first = compiled_together(in_place, session.host.cores, left, session.workshop.build_seconds());
    let (mut numbers, mut jobs) = (Vec::new(), vec![site.original()?]);
    // The original takes the place of one.
    let n_first = (n_first - 1).max(1);
    for (k, trial) in trials.iter().enumerate().filter(|(_, trial)| trial.is_ready()).take(n_first) {
        let Some(job) = site.candidate(k, trial, deadline)? else { continue };
        numbers.push(k);
        jobs.push(job);
    }
    let compiler = session.workshop.replay_compiler();
    let mut libraries = compile_all(&compiler, &jobs, session.host.cores as usize).into_iter();
    let original = match libraries.next() {
        Some(built) => site.built(built),
        None => Err(Setback::Item(NotBuilt(String::new()))),
    };
    Ok(Built { original, candidates: numbers.into_iter().zip(libraries).collect() })
}

/// Why no candidate was chosen, from what became of them.
fn nothing_won(trials: &[Trial]) -> String {
    none_of(&trials.iter().map(|trial| trial.verdict).collect::<Vec<_>>())
}

fn none_of(verdicts: &[Verdict]) -> String {
    let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let counts = [
        (Verdict::Slower, "not faster beyond noise"),
        (Verdict::TooSlow, "much slower"),
        (Verdict::WrongResult, "wrong"),
        (Verdict::Crashed, "crashed"),
        (Verdict::DoesNotCompile, "did not compile"),
        (Verdict::NotTried, "not tried within the budget"),
    ];
    let found: Vec<(usize, Verdict, &str)> = counts
        .into_iter()
        .map(|(verdict, words)| (count(verdict), verdict, words))
        .filter(|(n, ..)| *n > 0)
        .collect();
    match found.as_slice() {
        [(1, Verdict::NotTried, _)] => "the budget was spent before its candidate could be tried".into(),
        [(n, Verdict::NotTried, _)] => {
            format!("the budget was spent before any of {n} candidates could be tried")
        }
        found => {
            let parts: Vec<String> = found.iter().map(|(n, _, words)| format!("{n} {words}")).collect();
            format!("nothing faster found; candidates: {}", parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_tried_was_not_found_slow() {
        use Verdict::{NotTried, Refused, Slower};
        let told = |verdicts: &[Verdict]| none_of(verdicts);
        assert_eq!(
            told(&[NotTried, Refused, NotTried]),
            "the budget was spent before any of 2 candidates could be tried"
        );
        assert_eq!(told(&[NotTried]), "the budget was spent before its candidate could be tried");
        assert_eq!(
            told(&[Slower, NotTried]),
            "nothing faster found; candidates: 1 not faster beyond noise, 1 not tried within the budget"
        );
    }
}
