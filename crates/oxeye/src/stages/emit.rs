//! Stage 5: the winners in the user's file, and the whole program before and after.

use super::good_part::{Judge, good_part};
use super::kept::{keep_recipes, place_aside};
use super::measure::{Measured, conclude};
use crate::budget::n_runs;
use crate::causes::NotKept;
use crate::nest::{ORIGINAL, ProgramRun, TunedNest, Workpiece, helper, replacement};
use crate::request::{
    Error, FpPolicy, Guard, NestRecipe, Options, Phase, RECIPE_SCHEMA, RecipeFile, Setback, write_atomically,
};
use crate::schedule::{Proved, Trial, Verdict};
use crate::session::Session;
use crate::whole::{
    InDoubt, LONGEST_TO_REPEAT, OTHER_BUILDS, OTHER_CONTRACTIONS, as_time_allows, compare_in_threads, rules,
};
use crate::workshop::{ProgramJob, complaint};
use crate::written::{ChangedFile, by_itself, changed_files, changed_names, tuned_text};
use oxeye_frontend::encoded;
use oxeye_ir::{Program, Span};
use oxeye_measure::{Left, Limits, MeasureError, RatioInterval, WholeComparison, WholeOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// So many sets of winners that spoil the program are looked at before what is left is dropped.
const MOST_CHECKS: usize = 16;

/// Nests with a lower share of the program's time cannot be told apart in it.
const LEAST_SHARE_TO_REPEAT: f64 = 0.05;
/// Winners that claim to save this share of the program's time have to make the program faster.
const VISIBLE_GAIN: f64 = 0.1;
/// Directives that make the program no faster than this are not worth a flag.
const LEAST_GAIN: f64 = 1.01;
/// Speedups below this are confirmed in the program.
const MODEST_SPEEDUP: f64 = 1.6;
/// With a smaller speedup a program is slower, whatever longer runs would say.
const FAR_SLOWER: f64 = 0.75;

/// The tuned file and how its program compares.
pub struct Emitted {
    /// What was measured, with dropped winners taken out.
    pub workpiece: Workpiece,
    /// The text of the tuned file. Files that it includes and that are tuned stand in it.
    pub text: String,
    /// The changed files, each as it stands where it stands.
    pub(crate) files: Vec<ChangedFile>,
    /// The recipes that make it.
    pub recipes: RecipeFile,
    /// The C blocks that stand there in place of nests, by the positions of the nests.
    pub blocks: BTreeMap<usize, String>,
    /// The whole program before and after, if there is one.
    pub whole: Option<WholeComparison>,
    /// How the program with all winners first behaved unlike the original.
    pub mismatch: Option<String>,
    /// Why nothing is kept of what was found.
    pub(crate) not_kept: Option<NotKept>,
    /// Sentences on what was dropped.
    pub notes: Vec<String>,
    /// Whether directives of OpenMP that the build leaves off shall be on.
    pub(crate) is_woken: bool,
}

/// The program has to be so much faster with calls in one nest than with what they call tuned in its place, where it can be read, and
/// serves all callers.
const CALLED_TOGETHER: f64 = 1.1;

/// What is wrong with a set of winners.
enum Trouble {
    /// It does not build, or behaves differently.
    Wrong(String),
    /// It is slower than the original.
    Slower(Box<WholeComparison>),
    /// It gains less than is asked for, in words.
    TooLittle(String),
    /// Other winners do the same work, and gain more: these, in words.
    Overlapping(String),
    /// The original did not end in time, so there is nothing to compare with.
    Undecided,
}

/// Puts the winners into the user's text, builds the program with the user's flags and runs it before and after. Winners
/// that change what it prints, or slow it down, are dropped.
///
/// # Errors
/// If the run is interrupted, or the original does not run any more.
pub fn emit(session: &Session<'_>, measured: Measured) -> Result<Emitted, Error> {
    session.enter(Phase::Finishing)?;
    let workpiece = measured.workpiece;
    let mut emitted = Emitted {
        text: workpiece.unit.own.clone(),
        files: Vec::new(),
        recipes: recipes(session, &workpiece, &[], &[]),
        blocks: blocks(&workpiece),
        workpiece,
        whole: None,
        mismatch: None,
        not_kept: None,
        notes: Vec::new(),
        is_woken: session.awake.is_some(),
    };
    emitted.drop_overlapping();
    let nests = &emitted.workpiece.nests;
    let mut winners: Vec<usize> = (0..nests.len()).filter(|idx| nests[*idx].winner.is_some()).collect();
    // The least gain goes first when something has to go.
    winners.sort_by(|a, b| emitted.gain(*b).total_cmp(&emitted.gain(*a)));
    match emitted.workpiece.program.clone() {
        None => emitted.drop_unbuildable(session, &mut winners)?,
        Some(_) if session.is_judged_later() => emitted.drop_unbuildable(session, &mut winners)?,
        Some(program) => {
            emitted.drop_useless(session, &mut winners, &program)?;
            emitted.settle_directives(session, &mut winners, &program)?;
            emitted.expect_gain(session, &mut winners);
        }
    }
    emitted.settle(session, &winners);
    if let Some((output, aside)) = emitted.put_aside(session) {
        let (output, aside) = (output.display(), aside.display());
        emitted.notes.push(format!("{output} was made by an earlier run; that one is in {aside} now"));
    }
    Ok(emitted)
}

impl Emitted {
    /// Writes the tuned file, and the recipe file if one is wanted. Either is replaced whole or not at all.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, session: &Session<'_>) -> Result<(), Error> {
        session.check_cancelled()?;
        if let Some((output, aside)) = self.put_aside(session) {
            let error = |source| Error::Io { action: "rename", path: output.clone(), source };
            std::fs::rename(&output, aside).map_err(error)?;
        }
        write_atomically(&session.options.output_path(), &encoded(&self.text))?;
        keep_recipes(&self.text, &self.recipes);
        if let Some(path) = &session.options.save_recipe {
            write_atomically(path, self.recipes.to_json().as_bytes())?;
        }
        Ok(())
    }

    /// The tuned file of an earlier run, where the input would replace it, and where it is put. A run that only looks replaces
    /// nothing.
    fn put_aside(&self, session: &Session<'_>) -> Option<(PathBuf, PathBuf)> {
        let options = session.options;
        let is_written = options.project.is_none() && !options.focus.is_dry;
        let is_unchanged = is_written && self.text == self.workpiece.unit.own;
        let output = session.options.output_path();
        let aside = is_unchanged.then(|| place_aside(&output)).flatten()?;
        Some((output, aside))
    }

    /// Runs the program before and after, and drops winners until it is right and faster.
    fn drop_useless(
        &mut self,
        session: &Session<'_>,
        winners: &mut Vec<usize>,
        program: &ProgramRun,
    ) -> Result<(), Error> {
        let awake = session.awake.as_ref().map(|awake| {
            // What it printed with its directives off tells nothing of it, nor what it prints of what it was without them.
            ProgramRun::new(awake.executable.clone(), program.seconds, Vec::new())
        });
        let program = awake.as_ref().unwrap_or(program);
        let base = Vec::new();
        let mut judge = Winners { emitted: self, session, program, base, n_checks: MOST_CHECKS };
        let mut kept = good_part(&mut judge, winners)?;
        let revived = judge.emitted.revive_inside();
        judge.base = kept.as_ref().map_or(Vec::new(), |(set, _)| set.clone());
        if let Some((more, whole)) = good_part(&mut judge, &revived)? {
            kept = Some(([judge.base, more].concat(), whole));
        }
        winners.clear();
        if let Some((set, whole)) = kept {
            (*winners, self.whole) = (set, Some(whole));
        }
        if winners.len() > 1 {
            self.drop_idle(session, winners, program)?;
        }
        if session.awake.is_some() {
            return Ok(());
        }
        let is_worth_it = session.wall_time().allows(session.budget_used(), 2.0 * program.seconds);
        if winners.is_empty() && is_worth_it && !session.options.focus.is_dry {
            self.whole = Some(run_both(session, &program.executable, program, 1)?);
        }
        Ok(())
    }

    /// Where the winners were compared with the program that has its directives on, compares what came of it with the program as
    /// it is. If that is no better, everything stays as it is.
    fn settle_directives(
        &mut self,
        session: &Session<'_>,
        winners: &mut Vec<usize>,
        program: &ProgramRun,
    ) -> Result<(), Error> {
        let Some(awake) = &session.awake else { return Ok(()) };
        if winners.is_empty() && awake.speedup < LEAST_GAIN {
            self.is_woken = false;
        }
        let trouble = match self.check(session, winners, program) {
            Ok(whole) => {
                self.whole = Some(whole);
                return Ok(());
            }
            Err(setback) => setback.item()?,
        };
        if let (Trouble::Wrong(difference), true) = (&trouble, winners.is_empty()) {
            self.notes.push(format!(
                "its directives stay off after all: the program behaves differently ({difference})"
            ));
        }
        winners.drain(..).for_each(|idx| self.drop_winner(idx, &trouble));
        (self.is_woken, self.whole) = (false, None);
        Ok(())
    }

    /// Drops everything where the program gains less than is asked for. Of a project, all files together have to gain that.
    fn expect_gain(&mut self, session: &Session<'_>, winners: &mut Vec<usize>) {
        let focus = &session.options.focus;
        let changes = !winners.is_empty() || self.is_woken;
        let Some(speedup) = self.whole.as_ref().filter(|_| changes && session.options.project.is_none())
        else {
            return;
        };
        let speedup = speedup.speedup;
        let Some(why) = focus.too_little(speedup.median, Some((speedup.low, speedup.high))) else { return };
        // One word on the program is enough for all nests.
        let words = why.to_string();
        winners.drain(..).for_each(|idx| self.drop_winner(idx, &Trouble::TooLittle(words.clone())));
        self.notes.retain(|note| !note.ends_with(&words));
        self.not_kept = Some(why);
        self.is_woken = false;
    }

    /// Puts others in the place of winners: of several nests, only where the winner has several threads and the program is slower
    /// for it. Whether there were any.
    fn replace(&mut self, session: &Session<'_>, set: &[usize], trouble: &Trouble) -> bool {
        let mut is_any = false;
        for idx in set {
            let nest = &mut self.workpiece.nests[*idx];
            let is_parallel = nest.winner.is_some_and(|winner| nest.trials[winner].is_parallel());
            let is_guilty = set.len() == 1 || is_parallel && matches!(trouble, Trouble::Slower(_));
            if !is_guilty || nest.others.is_empty() {
                continue;
            }
            let (other, note) = (nest.others.remove(0), nest.note.clone());
            self.drop_winner(*idx, trouble);
            self.notes.pop();
            let nest = &mut self.workpiece.nests[*idx];
            (nest.winner, nest.note) = (Some(other), note);
            nest.trials[other].verdict = Verdict::Chosen;
            let roofs = nest.roofs(session, &self.workpiece.unit, *idx);
            conclude(session, roofs.as_ref(), nest);
            self.blocks.extend(block((*idx, &self.workpiece.nests[*idx])));
            is_any = true;
        }
        is_any
    }

    /// A gain taken out of its function can be lost in place, behind the gains of other nests. Drops winners with modest
    /// claims that the program does as well without.
    fn drop_idle(
        &mut self,
        session: &Session<'_>,
        winners: &mut Vec<usize>,
        program: &ProgramRun,
    ) -> Result<(), Error> {
        if program.seconds > LONGEST_TO_REPEAT || !session.has_seconds(4.0 * program.seconds) {
            return Ok(());
        }
        let with = match self.build(session, winners) {
            Ok(tuned) => tuned,
            Err(setback) => return setback.item().map(drop),
        };
        for idx in winners.clone() {
            let nest = &self.workpiece.nests[idx];
            let share = nest.calls.share.unwrap_or(0.0);
            let modest = nest.winner().is_some_and(|(_, timing)| timing.speedup < MODEST_SPEEDUP);
            let n_runs = 2 * n_runs(program.seconds);
            let has_time = session.has_seconds(2.0 * n_runs as f64 * program.seconds);
            if !modest || share < LEAST_SHARE_TO_REPEAT || !has_time {
                continue;
            }
            let others: Vec<usize> = winners.iter().copied().filter(|k| *k != idx).collect();
            let without = match self.build(session, &others) {
                Ok(executable) => ProgramRun { executable, ..program.clone() },
                Err(setback) => {
                    setback.item()?;
                    continue;
                }
            };
            let whole = run_both(session, &with, &without, n_runs)?;
            if whole.speedup.median < 1.0 {
                self.drop_winner(idx, &Trouble::Slower(Box::new(whole)));
                winners.retain(|k| *k != idx);
                // What is left is compared with the original again.
                match self.check(session, winners, program) {
                    Ok(whole) => self.whole = Some(whole),
                    Err(setback) => return setback.item().map(drop),
                }
                return self.drop_idle(session, winners, program);
            }
        }
        Ok(())
    }

    /// Where the program is not run here, the tuned file must at least compile.
    fn drop_unbuildable(&mut self, session: &Session<'_>, winners: &mut Vec<usize>) -> Result<(), Error> {
        if winners.is_empty() {
            return Ok(());
        }
        let Err(setback) = self.build(session, winners) else { return Ok(()) };
        setback.item()?;
        let mut good = Vec::new();
        for idx in std::mem::take(winners) {
            good.push(idx);
            if let Err(setback) = self.build(session, &good) {
                self.drop_winner(idx, &setback.item()?);
                good.pop();
            }
        }
        *winners = good;
        Ok(())
    }

    /// The program with these winners; a library where there is no program. Warnings in their text that are errors are
    /// switched off.
    fn build(&mut self, session: &Session<'_>, winners: &[usize]) -> Result<PathBuf, Setback<Trouble>> {
        loop {
            match self.build_once(session, winners) {
                Err(Error::Measure(MeasureError::CompileFailed { text, .. })) => {
                    session.check_cancelled()?;
                    let new: Vec<String> = warnings_as_errors(&text)
                        .filter(|name| !self.recipes.quiet.iter().any(|known| known == name))
                        .map(str::to_owned)
                        .collect();
                    if new.is_empty() {
                        let words = format!("the tuned file does not compile: {}", complaint(&text));
                        return Err(Setback::Item(Trouble::Wrong(words)));
                    }
                    self.recipes.quiet.extend(BTreeSet::from_iter(new));
                }
                Err(Error::Measure(MeasureError::CompileTimedOut { seconds, .. })) => {
                    session.check_cancelled()?;
                    let words = format!("the tuned file did not finish compiling within {seconds:.0} s");
                    return Err(Setback::Item(Trouble::Wrong(words)));
                }
                Err(error) => return Err(error.into()),
                Ok(tuned) => return Ok(tuned),
            }
        }
    }

    fn build_once(&self, session: &Session<'_>, winners: &[usize]) -> Result<PathBuf, Error> {
        let workshop = &session.workshop;
        let text = tuned_text(&self.workpiece.unit, &self.replacements(winners), &self.recipes.quiet);
        let openmp = winners.iter().any(|idx| self.proved(*idx).is_some_and(|proved| proved.openmp));
        // Each set of winners has a name of its own; there may be too many of them to write them all into it.
        let mut sorted = winners.to_vec();
        sorted.sort_unstable();
        let set = sorted.iter().fold(0u64, |set, idx| set.wrapping_mul(0x100_0000_01b3) ^ (*idx as u64 + 1));
        let name = format!("tuned-{}-{set:x}", winners.len());
        let source = workshop.write_variant(&format!("{name}.c"), &text)?;
        if openmp || session.awake.is_some() {
            workshop.try_without_openmp(&source, &name)?;
        }
        Ok(match self.workpiece.program {
            Some(_) => workshop.build(&workshop.program_job(&source, &name, openmp)),
            None => workshop.replay_compiler().compile(&workshop.replay_job(&source, &name, openmp)),
        }?)
    }

    /// Builds and runs the program with these winners.
    fn check(
        &mut self,
        session: &Session<'_>,
        winners: &[usize],
        program: &ProgramRun,
    ) -> Result<WholeComparison, Setback<Trouble>> {
        let tuned = self.build(session, winners)?;
        let n_runs = session.wall_time().verdict_runs(session.budget_used());
        let mut whole = run_both(session, &tuned, program, n_runs)?;
        let is_close = whole.equal && whole.speedup.median < 1.0 && whole.speedup.high > 1.0;
        if is_close && session.has_seconds(4.0 * n_runs as f64 * program.seconds) {
            // Noise, or a loss? Once more, and longer.
            whole = run_both(session, &tuned, program, 2 * n_runs)?;
        }
        match &whole.difference {
            Some(_) if whole.before_timed_out => Err(Setback::Item(Trouble::Undecided)),
            Some(difference) => Err(Setback::Item(Trouble::Wrong(difference.clone()))),
            None if is_slower(&whole.speedup, self.claimed(winners)) => {
                Err(Setback::Item(Trouble::Slower(Box::new(whole))))
            }
            None => Ok(whole),
        }
    }

    /// What the winner of a nest makes of it.
    pub(super) fn proved(&self, idx: usize) -> Option<&Proved> {
        let (trial, _) = self.workpiece.nests[idx].winner()?;
        trial.proved.as_deref()
    }

    /// The function that the new form of a nest calls; empty if there is none.
    pub(super) fn helper(&self, idx: usize) -> &str {
        self.proved(idx).map_or("", Proved::before)
    }

    /// What stands in the places of these nests, and before their functions.
    fn replacements(&self, winners: &[usize]) -> Vec<(Span, String)> {
        let unit = &self.workpiece.unit;
        let place = |idx: &usize| {
            let place = &self.workpiece.nests[*idx].place;
            let function = &unit.functions[place.function_idx];
            let block = self.blocks.get(idx)?.clone();
            let builds = (self.proved(*idx)?, self.recipes.vector_bytes);
            Some((place.span, replacement(unit, function, place.nest_id, place.span, block, builds)))
        };
        let helpers = winners.iter().filter_map(|idx| {
            let place = &self.workpiece.nests[*idx].place;
            helper(unit, &unit.functions[place.function_idx], place.nest_id, self.proved(*idx)?)
        });
        let mut replacements: Vec<(Span, String)> = winners.iter().filter_map(place).chain(helpers).collect();
        replacements.sort_by_key(|(span, _)| span.start);
        replacements
    }

    /// Share of the program's time that winners save, going by their own measurements.
    fn claimed(&self, winners: &[usize]) -> f64 {
        winners.iter().map(|idx| self.gain(*idx)).sum()
    }

    /// Speedup of the program that its winners promise.
    pub(crate) fn expected_speedup(&self) -> f64 {
        let nests = &self.workpiece.nests;
        let winners: Vec<usize> = (0..nests.len()).filter(|idx| nests[*idx].winner.is_some()).collect();
        1.0 / (1.0 - self.claimed(&winners)).max(0.1)
    }

    /// Share of the program's time a winner saves.
    fn gain(&self, idx: usize) -> f64 {
        let nest = &self.workpiece.nests[idx];
        let share = nest.calls.share.unwrap_or(1.0);
        nest.winner().map_or(0.0, |(_, timing)| share * (1.0 - 1.0 / timing.speedup))
    }

    /// Whether a nest is a group with functions in place of their calls.
    fn is_of_calls(&self, idx: usize) -> bool {
        let place = &self.workpiece.nests[idx].place;
        let inlined = &self.workpiece.unit.functions[place.function_idx].inlined;
        place.joined > 0 && inlined.contains_key(&place.nest_id)
    }

    /// A nest that has functions in place of their calls does the work of the nests of these functions, and one that was opened
    /// that of its loops. Of winners here and there those stay that gain more.
    fn drop_overlapping(&mut self) {
        if self.workpiece.program.is_none() {
            return;
        }
        for (outer, _) in self.workpiece.by_weight() {
            let nests = &self.workpiece.nests;
            let lines = nests[outer].place.lines(&self.workpiece.unit);
            let mut inside = nests[outer].place.inside.clone();
            inside.retain(|idx| nests[*idx].winner.is_some());
            if nests[outer].winner.is_none() || inside.is_empty() {
                continue;
            }
            let gain_inside: f64 = inside.iter().map(|idx| self.gain(*idx)).sum();
            let least = if self.is_of_calls(outer) { CALLED_TOGETHER } else { 1.0 };
            if 1.0 - gain_inside >= least * (1.0 - self.gain(outer)) {
                let by = match lines.last {
                    Some(_) => format!("the loops in lines {lines}, which do its work, gain more"),
                    None => format!("the loop at line {lines}, which does its work, gains more"),
                };
                inside.into_iter().for_each(|idx| self.drop_winner(idx, &Trouble::Overlapping(by.clone())));
            } else {
                let by = "the loops that do its work gain more by themselves";
                self.drop_winner(outer, &Trouble::Overlapping(by.into()));
            }
        }
    }

    /// Where a nest that did the work of others is dropped, those are winners again. Gives their numbers.
    fn revive_inside(&mut self) -> Vec<usize> {
        let is_dropped = |nest: &TunedNest| {
            nest.winner.is_none() && nest.trials.iter().any(|trial| trial.verdict == Verdict::Dropped)
        };
        let nests = &self.workpiece.nests;
        let inside = nests.iter().filter(|nest| is_dropped(nest)).flat_map(|nest| nest.place.inside.clone());
        let mut found: Vec<usize> = Vec::new();
        let mut inside: Vec<usize> = inside.collect::<BTreeSet<usize>>().into_iter().collect();
        // Of those that do the same work, the outermost.
        inside.sort_by_key(|idx| std::cmp::Reverse(nests[*idx].place.inside.len()));
        for idx in inside {
            let is_free =
                self.workpiece.around(idx).iter().all(|k| self.workpiece.nests[*k].winner.is_none());
            let nest = &mut self.workpiece.nests[idx];
            let is_its_winner =
                |trial: &Trial| trial.verdict == Verdict::Overlapped && trial.proved.is_some();
            let winner = nest.trials.iter().position(is_its_winner);
            if let Some(winner) = winner.filter(|_| is_free && nest.winner.is_none()) {
                (nest.winner, nest.note) = (Some(winner), None);
                (nest.trials[winner].verdict, nest.trials[winner].why) = (Verdict::Chosen, None);
                found.push(idx);
            }
        }
        found.sort_by(|a, b| self.gain(*b).total_cmp(&self.gain(*a)));
        found
    }

    fn settle(&mut self, session: &Session<'_>, winners: &[usize]) {
        self.recipes = recipes(session, &self.workpiece, winners, &self.recipes.quiet);
        let (unit, replacements) = (&self.workpiece.unit, self.replacements(winners));
        self.text = by_itself(unit, &replacements, &self.recipes.quiet);
        self.files = changed_files(unit, &replacements, &self.recipes.quiet);
        if session.options.project.is_none() {
            let stands = |name: String| {
                format!(
                    "the tuned text of {name} stands in the place of its #include; the file itself stays as it is"
                )
            };
            self.notes.extend(changed_names(unit, &replacements).into_iter().map(stands));
        }
        self.blocks.retain(|idx, _| winners.contains(idx));
    }

    fn drop_winner(&mut self, idx: usize, trouble: &Trouble) {
        let nest = &mut self.workpiece.nests[idx];
        let line = self.workpiece.unit.included.line(nest.place.span.line).to_string();
        let Some(speedup) = nest.winner().map(|(_, timing)| timing.speedup) else { return };
        let Some(winner) = nest.winner.take() else { return };
        let why = match trouble {
            Trouble::Wrong(difference) => {
                self.mismatch.get_or_insert_with(|| difference.clone());
                format!("the whole program behaves differently with it ({difference})")
            }
            Trouble::Slower(whole) => {
                format!("the whole program does not gain from it ({:.2}x)", whole.speedup.median)
            }
            Trouble::Overlapping(by) | Trouble::TooLittle(by) => by.clone(),
            Trouble::Undecided => {
                "the original program did not end in time when the two were compared (--budget)".to_owned()
            }
        };
        let first = why.lines().next().unwrap_or_default().to_owned();
        let trial = &mut nest.trials[winner];
        let verdict = match trouble {
            Trouble::Overlapping(_) => Verdict::Overlapped,
            _ => Verdict::Dropped,
        };
        trial.reject(verdict, why);
        nest.note = Some(format!("{speedup:.2}x faster alone by `{}`, but {first}", trial.schedule.name));
        if verdict == Verdict::Dropped {
            self.notes.push(format!("line {line}: dropped, since {first}"));
        }
    }
}

/// Winners in the whole program.
struct Winners<'a> {
    emitted: &'a mut Emitted,
    session: &'a Session<'a>,
    program: &'a ProgramRun,
    /// What is good, and among all sets that are looked at.
    base: Vec<usize>,
    /// So many sets may still be looked at.
    n_checks: usize,
}

impl Judge for Winners<'_> {
    type Good = WholeComparison;
    type Trouble = Trouble;
    type Error = Error;

    fn check(&mut self, set: &[usize]) -> Result<Result<WholeComparison, Trouble>, Error> {
        self.n_checks = self.n_checks.saturating_sub(1);
        let set = [self.base.as_slice(), set].concat();
        match self.emitted.check(self.session, &set, self.program) {
            Ok(whole) => Ok(Ok(whole)),
            Err(setback) => Ok(Err(setback.item()?)),
        }
    }

    fn replace(&mut self, set: &[usize], trouble: &Trouble) -> bool {
        self.emitted.replace(self.session, set, trouble)
    }

    fn take_out(&mut self, set: &[usize], trouble: &Trouble) {
        set.iter().for_each(|idx| self.emitted.drop_winner(*idx, trouble));
    }

    fn has_time(&mut self, trouble: &Trouble) -> bool {
        let is_undecided = matches!(trouble, Trouble::Undecided);
        self.n_checks > 0 && !is_undecided && self.session.has_seconds(2.0 * self.program.seconds)
    }
}

/// The names of warnings that a compiler takes for errors, in its words: `[-Werror=shadow]`, `[-Werror,-Wshadow]`, and
/// `[-Wpedantic]` where what is pedantic is an error.
fn warnings_as_errors(words: &str) -> impl Iterator<Item = &str> {
    let errors = words.lines().filter(|line| line.contains("error: "));
    let names =
        errors.filter_map(|line| line.trim_end().strip_suffix(']')?.rsplit_once('[')?.1.strip_prefix("-W"));
    names.map(|name| ["error=", "error,-W"].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name))
}

/// The C blocks of the winners.
fn blocks(workpiece: &Workpiece) -> BTreeMap<usize, String> {
    workpiece.nests.iter().enumerate().filter_map(block).collect()
}

/// The C block of the winner of a nest, with the number of the nest.
fn block((idx, nest): (usize, &TunedNest)) -> Option<(usize, String)> {
    let (trial, _) = nest.winner()?;
    let proved = trial.proved.as_ref()?;
    Some((idx, proved.emitted(&trial.schedule.name, &trial.schedule.recipe)))
}

/// The recipes of these nests, in the order of the file, and the warnings that are switched off in them.
fn recipes(session: &Session<'_>, workpiece: &Workpiece, winners: &[usize], quiet: &[String]) -> RecipeFile {
    let mut winners = winners.to_vec();
    winners.sort_by_key(|idx| workpiece.nests[*idx].place.span.start);
    let nests = winners.into_iter().filter_map(|idx| {
        let (trial, _) = workpiece.nests[idx].winner()?;
        Some(recipe_of(workpiece, idx, trial))
    });
    RecipeFile {
        schema: RECIPE_SCHEMA.to_owned(),
        compiler: session.options.compiler.clone(),
        threads: session.threads,
        reassociate: session.options.reassociate(),
        no_alias: session.options.no_alias,
        keeps_order: session.options.fp == FpPolicy::Strict,
        directives: session.awake.is_some(),
        quiet: quiet.to_vec(),
        vector_bytes: (!session.options.is_stand_in).then_some(session.host.vector_bytes),
        machine: session.host_profile.as_ref().map(|profile| profile.key.to_string()),
        nests: nests.collect(),
    }
}

/// What makes a trial of the nest with this number, as recipe files have it.
pub(crate) fn recipe_of(workpiece: &Workpiece, idx: usize, trial: &Trial) -> NestRecipe {
    let nest = &workpiece.nests[idx];
    NestRecipe {
        function: workpiece.unit.functions[nest.place.function_idx].name.clone(),
        ordinal: nest.place.ordinal,
        within: nest.place.within.iter().map(|nest| nest.ordinal).collect(),
        joined: nest.place.joined,
        line: nest.place.span.line,
        name: trial.schedule.name.clone(),
        threads: (nest.is_single() || trial.is_alone).then_some(1),
        guard: Guard::of(trial.guard),
        known: known_names(trial, nest.place.of(&workpiece.unit).1),
        isa: trial.proved.as_ref().and_then(|proved| proved.isa()).map(|isa| isa.word().to_owned()),
        own_text: trial.proved.as_ref().is_some_and(|proved| proved.own.is_some()),
        uneven: nest.place.uneven_rows(&workpiece.unit),
        recipe: trial.schedule.recipe.clone().into(),
    }
}

/// The sizes that a trial is for one value of, by name.
pub(super) fn known_names(trial: &Trial, program: &Program) -> BTreeMap<String, i64> {
    let known = trial.proved.iter().flat_map(|proved| &proved.known);
    known.filter_map(|(symbol, value)| Some((program.symbols.get(symbol)?.name.clone(), *value))).collect()
}

/// The original and a tuned program in turns, so many times each.
///
/// # Errors
/// If one of them cannot be started, or the run is interrupted.
pub(crate) fn run_both(
    session: &Session<'_>,
    tuned: &Path,
    program: &ProgramRun,
    n_runs: usize,
) -> Result<WholeComparison, Error> {
    run_in_threads(session, tuned, program, n_runs, (session.threads, &[]))
}

/// The same where OpenMP has so many threads, and in these other numbers of them, one run each, unless the program is far slower.
///
/// # Errors
/// As [`run_both`].
pub(super) fn run_in_threads(
    session: &Session<'_>,
    tuned: &Path,
    program: &ProgramRun,
    n_runs: usize,
    (threads, others): (u32, &[u32]),
) -> Result<WholeComparison, Error> {
    let Options { run, checks, fp, .. } = session.options;
    let reassociate = session.options.reassociate();
    let options = WholeOptions {
        limits: Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() },
        threads: Some(threads as usize),
        earlier: program.outputs.iter().cloned().map(Left::printed).collect(),
        ..rules(checks, *fp, reassociate)
    };
    let (before, after) = (run.of(&program.executable), run.of(tuned));
    let witnesses = |options: &WholeOptions| match fp {
        FpPolicy::Strict => Ok(Vec::new()),
        _ if reassociate || session.leaves_order_open() => {
            witnesses(session, program, options, &OTHER_BUILDS)
        }
        // Compilers may still round a product and a sum together, or not.
        _ => witnesses(session, program, options, &OTHER_CONTRACTIONS),
    };
    let in_doubt = InDoubt { seconds: program.seconds, clocks: &program.clocks, witnesses: &witnesses };
    let others = (FAR_SLOWER, others);
    let whole =
        session.in_program(|| compare_in_threads(&before, &after, n_runs, &options, &in_doubt, others));
    session.check_cancelled()?;
    whole
}

/// What the original leaves when it is built in other ways, if that was asked, or is.
pub(crate) fn known_witnesses<'p>(
    session: &'p Session<'_>,
    program: &'p ProgramRun,
) -> &'p OnceLock<Vec<Left>> {
    session.awake.as_ref().map_or(&program.witnesses, |awake| &awake.witnesses)
}

/// What the original leaves when it is built in these other ways, or the first of them, as there is time; found out once.
fn witnesses(
    session: &Session<'_>,
    program: &ProgramRun,
    options: &WholeOptions,
    builds: &[&[&str]],
) -> Result<Vec<Left>, Error> {
    let known = known_witnesses(session, program);
    if let Some(known) = known.get() {
        return Ok(known.clone());
    }
    let workshop = &session.workshop;
    let seconds = program.seconds + workshop.build_seconds() / f64::from(session.host.cores);
    let builds = as_time_allows(builds, seconds, |seconds| session.has_seconds(seconds));
    let source = workshop.folder.join(ORIGINAL);
    let job = |(k, flags): (usize, &&[&str])| {
        workshop.plain_job(&source, &format!("witness{k}"), false).args(flags.iter().copied())
    };
    let jobs: Vec<ProgramJob> = builds.iter().enumerate().map(job).collect();
    let built = workshop.build_all(&jobs, session.host.cores as usize);
    session.check_cancelled()?;
    let mut found = Vec::new();
    // Builds that fail, or do not run to their end, tell nothing.
    for executable in built.into_iter().flatten() {
        if !found.is_empty() && !session.has_seconds(program.seconds) {
            break;
        }
        let run = options.run(&session.options.run.of(&executable));
        session.check_cancelled()?;
        let Ok((outcome, left)) = run else { continue };
        if session.options.run.is_success(outcome.exit) {
            found.push(left);
        }
    }
    Ok(known.get_or_init(|| found).clone())
}

/// Slower for certain, or slower than noise explains in the middle of its runs: where winners claim to save much of the
/// program's time, noise explains little.
pub(super) fn is_slower(speedup: &RatioInterval, claimed: f64) -> bool {
    let least = if claimed >= VISIBLE_GAIN { 1.0 } else { 0.98 };
    speedup.high < 1.0 || speedup.median < least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_are_errors_are_named() {
        let words = "a.c:1:2: error: `i` shadows [-Werror=shadow]\na.c:2:1: warning: x [-Wunused]\n\
                     a.c:3:1: error: declared [-Werror,-Wvla]\na.c:4:1: error: ISO C90 forbids it [-Wpedantic]\n\
                     a.c:5:1: error: expected `;`\n";
        assert_eq!(warnings_as_errors(words).collect::<Vec<_>>(), ["shadow", "vla", "pedantic"]);
    }

    #[test]
    fn who_claims_much_has_to_show_it() {
        let speedup = |low, median, high| RatioInterval { median, low, high, n: 6, confidence: 0.95 };
        assert!(!is_slower(&speedup(0.95, 0.99, 1.03), 0.01));
        assert!(is_slower(&speedup(0.95, 0.99, 1.03), 0.2));
        assert!(!is_slower(&speedup(0.95, 1.01, 1.03), 0.2));
        assert!(is_slower(&speedup(0.90, 0.97, 1.03), 0.01));
        assert!(is_slower(&speedup(0.98, 0.99, 0.995), 0.01));
    }
}
