//! Stage 5: the winners in the user's file, and the whole program before and after.

use crate::commands::replay::tuned_text;
use crate::stages::capture::complaint;
use crate::{
    Error, FpPolicy, Measured, NestRecipe, Options, Phase, ProgramRun, RECIPE_SCHEMA, RecipeFile, Tuner,
    Verdict, write_atomically,
};
use oxeye_measure::{Limits, MeasureError, WholeComparison, WholeOptions, run_whole};
use std::path::{Path, PathBuf};

/// Runs of a short program, before and after.
const MOST_RUNS: usize = 7;
/// How often a set of winners that spoils the program is made smaller before all are dropped.
const MOST_ATTEMPTS: usize = 6;

/// Programs that take longer are not run again for every nest.
const LONGEST_TO_REPEAT: f64 = 2.0;
/// Nests with a lower share of the program's time cannot be told apart in it.
const LEAST_SHARE_TO_REPEAT: f64 = 0.05;
/// Speedups below this are confirmed in the program.
const MODEST_SPEEDUP: f64 = 1.6;

/// The tuned file and how its program compares.
pub struct Emitted<'t> {
    pub(crate) tuner: &'t Tuner<'t>,
    /// What was measured, with dropped winners taken out.
    pub measured: Measured,
    /// The text of the tuned file.
    pub text: String,
    /// The recipes that make it.
    pub recipes: RecipeFile,
    /// The whole program before and after, if there is one.
    pub whole: Option<WholeComparison>,
    /// How the program with all winners first behaved unlike the original.
    pub mismatch: Option<String>,
    /// Sentences on what was dropped.
    pub notes: Vec<String>,
}

/// What is wrong with a set of winners.
enum Trouble {
    /// It does not build, or behaves differently.
    Wrong(String),
    /// It is slower than the original.
    Slower(WholeComparison),
    /// Other winners do the same work, and gain more: these, in words.
    Overlapping(String),
}

impl<'t> Tuner<'t> {
    /// Stage 5: puts the winners into the user's text, builds the program with the user's flags and runs it before and
    /// after. Winners that change what it prints, or slow it down, are dropped.
    ///
    /// # Errors
    /// If the run is interrupted, or the original does not run any more.
    pub fn emit(&'t self, measured: Measured) -> Result<Emitted<'t>, Error> {
        self.enter(Phase::Finishing)?;
        let mut emitted = Emitted {
            tuner: self,
            text: measured.captured.unit.source.clone(),
            recipes: self.recipes(&measured, &[]),
            measured,
            whole: None,
            mismatch: None,
            notes: Vec::new(),
        };
        emitted.drop_overlapping();
        let mut winners: Vec<usize> = (0..emitted.measured.nests.len())
            .filter(|idx| emitted.measured.nests[*idx].winner.is_some())
            .collect();
        // The least gain goes first when something has to go.
        winners.sort_by(|a, b| emitted.gain(*b).total_cmp(&emitted.gain(*a)));
        let Some(program) = emitted.measured.captured.program.clone() else {
            self.drop_unbuildable(&mut emitted, &mut winners)?;
            emitted.settle(&winners)?;
            return Ok(emitted);
        };
        let mut n_attempts = 0;
        while !winners.is_empty() {
            n_attempts += 1;
            let trouble = match self.check(&emitted.measured, &winners, &program)? {
                Ok(whole) => {
                    emitted.whole = Some(whole);
                    break;
                }
                Err(trouble) => trouble,
            };
            let dropped = if n_attempts == MOST_ATTEMPTS {
                std::mem::take(&mut winners)
            } else {
                self.to_drop(&emitted, &mut winners, &program, &trouble)?
            };
            for idx in dropped {
                emitted.drop_winner(idx, &trouble);
            }
        }
        if winners.len() > 1 {
            self.drop_idle(&mut emitted, &mut winners, &program)?;
        }
        if winners.is_empty() {
            emitted.whole = Some(self.run_both(&program.executable, &program, 1)?);
        }
        emitted.settle(&winners)?;
        Ok(emitted)
    }

    /// Takes out of `winners` what is at fault: for a wrong program every nest that is wrong alone, else the one with
    /// the least gain.
    fn to_drop(
        &self,
        emitted: &Emitted<'_>,
        winners: &mut Vec<usize>,
        program: &ProgramRun,
        trouble: &Trouble,
    ) -> Result<Vec<usize>, Error> {
        let mut guilty = Vec::new();
        if matches!(trouble, Trouble::Wrong(_)) && winners.len() > 1 {
            for idx in winners.iter() {
                let alone = self.check(&emitted.measured, &[*idx], program)?;
                if matches!(alone, Err(Trouble::Wrong(_))) {
                    guilty.push(*idx);
                }
            }
        }
        if guilty.is_empty() {
            guilty.extend(winners.last());
        }
        winners.retain(|idx| !guilty.contains(idx));
        Ok(guilty)
    }

    /// A gain taken out of its function can be lost in place, behind the gains of other nests. Drops winners with modest
    /// claims that the program does as well without.
    fn drop_idle(
        &self,
        emitted: &mut Emitted<'_>,
        winners: &mut Vec<usize>,
        program: &ProgramRun,
    ) -> Result<(), Error> {
        if program.seconds > LONGEST_TO_REPEAT {
            return Ok(());
        }
        let with = match self.build(&emitted.measured, winners)? {
            Ok(tuned) => tuned,
            Err(_) => return Ok(()),
        };
        for idx in winners.clone() {
            let share = emitted.measured.captured.nests[idx].share.unwrap_or(0.0);
            let modest =
                emitted.measured.nests[idx].winner.as_ref().is_some_and(|w| w.speedup < MODEST_SPEEDUP);
            if !modest || share < LEAST_SHARE_TO_REPEAT {
                continue;
            }
            let others: Vec<usize> = winners.iter().copied().filter(|k| *k != idx).collect();
            let Ok(without) = self.build(&emitted.measured, &others)? else { continue };
            let without = ProgramRun { executable: without, ..program.clone() };
            let whole = self.run_both(&with, &without, 2 * n_runs(program.seconds))?;
            if whole.speedup.median < 1.0 {
                emitted.drop_winner(idx, &Trouble::Slower(whole));
                winners.retain(|k| *k != idx);
                // What is left is compared with the original again.
                match self.check(&emitted.measured, winners, program)? {
                    Ok(whole) => emitted.whole = Some(whole),
                    Err(_) => return Ok(()),
                }
                return self.drop_idle(emitted, winners, program);
            }
        }
        Ok(())
    }

    /// Without a program to run, the tuned file must at least compile.
    fn drop_unbuildable(&self, emitted: &mut Emitted<'_>, winners: &mut Vec<usize>) -> Result<(), Error> {
        if winners.is_empty() || self.build(&emitted.measured, winners)?.is_ok() {
            return Ok(());
        }
        let mut good = Vec::new();
        for idx in std::mem::take(winners) {
            good.push(idx);
            if let Err(trouble) = self.build(&emitted.measured, &good)? {
                emitted.drop_winner(idx, &trouble);
                good.pop();
            }
        }
        *winners = good;
        Ok(())
    }

    /// The program with these winners; a library where there is no program.
    fn build(&self, measured: &Measured, winners: &[usize]) -> Result<Result<PathBuf, Trouble>, Error> {
        self.check_cancelled()?;
        let recipes = self.recipes(measured, winners);
        let text =
            match tuned_text(&measured.captured.unit, &recipes, &recipes.nests.iter().collect::<Vec<_>>()) {
                Ok(text) => text,
                Err(reason) => return Ok(Err(Trouble::Wrong(reason))),
            };
        let openmp = self.needs_openmp(measured, winners);
        // Each set of winners has a name of its own; there may be too many of them to write them all into it.
        let set = winners.iter().fold(0u64, |set, idx| set.wrapping_mul(0x100_0000_01b3) ^ (*idx as u64 + 1));
        let name = format!("tuned-{}-{set:x}", winners.len());
        let source = self.write_variant(&format!("{name}.c"), &text)?;
        let built = match measured.captured.program {
            Some(_) => self.compiler.compile(&self.program_job(&source, &name, openmp)),
            None => self.replay_compiler().compile(&self.replay_job(&source, &name, openmp)),
        };
        match built {
            Ok(tuned) => Ok(Ok(tuned)),
            Err(MeasureError::CompileFailed { text, .. }) => {
                self.check_cancelled()?;
                let words = format!("the tuned file does not compile: {}", complaint(&text));
                Ok(Err(Trouble::Wrong(words)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Builds and runs the program with these winners.
    fn check(
        &self,
        measured: &Measured,
        winners: &[usize],
        program: &ProgramRun,
    ) -> Result<Result<WholeComparison, Trouble>, Error> {
        let tuned = match self.build(measured, winners)? {
            Ok(tuned) => tuned,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let n_runs = n_runs(program.seconds);
        let mut whole = self.run_both(&tuned, program, n_runs)?;
        if whole.equal && whole.speedup.median < 1.0 && whole.speedup.high > 1.0 {
            // Noise, or a loss? Once more, and longer.
            whole = self.run_both(&tuned, program, 2 * n_runs)?;
        }
        Ok(match &whole.difference {
            Some(difference) => Err(Trouble::Wrong(difference.clone())),
            None if is_slower(&whole) => Err(Trouble::Slower(whole)),
            None => Ok(whole),
        })
    }

    fn run_both(&self, tuned: &Path, program: &ProgramRun, n_runs: usize) -> Result<WholeComparison, Error> {
        let options = WholeOptions {
            limits: Limits { seconds: self.program_limit().as_secs_f64(), ..Limits::default() },
            threads: Some(self.threads as usize),
            earlier_outputs: vec![program.output.clone()],
            relative_tolerance: match self.options.fp {
                FpPolicy::Strict => None,
                _ if self.options.reassociate() => Some(1e-6),
                _ => Some(1e-10),
            },
            ..WholeOptions::default()
        };
        let whole = self.in_program(|| run_whole(&program.executable, tuned, &[], n_runs, &options));
        self.check_cancelled()?;
        Ok(whole?)
    }

    pub(crate) fn needs_openmp(&self, measured: &Measured, winners: &[usize]) -> bool {
        winners.iter().any(|idx| measured.nests[*idx].winner.as_ref().is_some_and(|w| w.openmp))
    }

    /// The recipes of these nests, in the order of the file.
    fn recipes(&self, measured: &Measured, winners: &[usize]) -> RecipeFile {
        let mut winners = winners.to_vec();
        winners.sort_unstable();
        let nests = winners.into_iter().filter_map(|idx| {
            let nest = &measured.captured.nests[idx];
            let winner = measured.nests[idx].winner.as_ref()?;
            let trial = &measured.nests[idx].trials[winner.trial_idx];
            Some(NestRecipe {
                function: measured.captured.unit.functions[nest.function_idx].name.clone(),
                ordinal: nest.ordinal,
                line: nest.span.line,
                name: trial.name.clone(),
                recipe: trial.recipe.clone().into(),
            })
        });
        RecipeFile {
            schema: RECIPE_SCHEMA.to_owned(),
            compiler: self.options.compiler.clone(),
            threads: self.threads,
            reassociate: self.options.reassociate(),
            no_alias: self.options.no_alias,
            nests: nests.collect(),
        }
    }
}

impl Emitted<'_> {
    /// Where the tuned file goes.
    pub fn output(&self) -> PathBuf {
        self.tuner.options.output_path()
    }

    /// Writes the tuned file, and the recipe file if one is wanted. Either is replaced whole or not at all.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        let Options { save_recipe, .. } = self.tuner.options;
        self.tuner.check_cancelled()?;
        write_atomically(&self.output(), self.text.as_bytes())?;
        if let Some(path) = save_recipe {
            write_atomically(path, self.recipes.to_json().as_bytes())?;
        }
        Ok(())
    }

    /// Share of the program's time a winner saves.
    fn gain(&self, idx: usize) -> f64 {
        let share = self.measured.captured.nests[idx].share.unwrap_or(1.0);
        self.measured.nests[idx].winner.as_ref().map_or(0.0, |w| share * (1.0 - 1.0 / w.speedup))
    }

    /// A nest that has functions in place of their calls does the work of the nests of these functions. Of winners here and
    /// there those stay that gain more.
    fn drop_overlapping(&mut self) {
        let captured = &self.measured.captured;
        if captured.program.is_none() {
            return;
        }
        for (outer, _) in captured.by_weight() {
            let captured = &self.measured.captured;
            let line = captured.nests[outer].span.line;
            let mut inside = captured.inside(outer);
            inside.retain(|idx| self.measured.nests[*idx].winner.is_some());
            if self.measured.nests[outer].winner.is_none() || inside.is_empty() {
                continue;
            }
            if self.gain(outer) >= inside.iter().map(|idx| self.gain(*idx)).sum() {
                let by = format!(
                    "the loop at line {line}, which has its function in place of the call, gains more"
                );
                inside.into_iter().for_each(|idx| self.drop_winner(idx, &Trouble::Overlapping(by.clone())));
            } else {
                let by = "the loops in the functions that it calls gain more by themselves";
                self.drop_winner(outer, &Trouble::Overlapping(by.into()));
            }
        }
    }

    fn settle(&mut self, winners: &[usize]) -> Result<(), Error> {
        self.recipes = self.tuner.recipes(&self.measured, winners);
        let nests: Vec<&NestRecipe> = self.recipes.nests.iter().collect();
        self.text = tuned_text(&self.measured.captured.unit, &self.recipes, &nests)
            .map_err(|reason| Error::Input(format!("the winners cannot be put into the file: {reason}")))?;
        Ok(())
    }

    fn drop_winner(&mut self, idx: usize, trouble: &Trouble) {
        let line = self.measured.captured.nests[idx].span.line;
        let nest = &mut self.measured.nests[idx];
        let Some(winner) = nest.winner.take() else { return };
        let why = match trouble {
            Trouble::Wrong(difference) => {
                self.mismatch.get_or_insert_with(|| difference.clone());
                format!("the whole program behaves differently with it ({difference})")
            }
            Trouble::Slower(whole) => {
                format!("the whole program does not gain from it ({:.2}x)", whole.speedup.median)
            }
            Trouble::Overlapping(by) => by.clone(),
        };
        let trial = &mut nest.trials[winner.trial_idx];
        trial.verdict = Verdict::Dropped;
        trial.why = Some(why.clone());
        let first = why.lines().next().unwrap_or_default();
        nest.note = Some(format!("{:.2}x faster alone by `{}`, but {first}", winner.speedup, trial.name));
        self.notes.push(format!("line {line}: dropped, since {first}"));
    }
}

/// Enough for the ratio to be known, and not more than a few seconds of them.
fn n_runs(seconds: f64) -> usize {
    ((4.0 / seconds.max(1e-3)) as usize).clamp(1, MOST_RUNS)
}

/// Seconds that building a program and running it before and after take, for one that runs so long.
pub(crate) fn final_seconds(program_seconds: f64) -> f64 {
    1.0 + 2.2 * n_runs(program_seconds) as f64 * program_seconds.clamp(0.0, 1e6)
}

/// Slower for certain, or slower than noise explains in the middle of its runs.
fn is_slower(whole: &WholeComparison) -> bool {
    whole.speedup.high < 1.0 || whole.speedup.median < 0.98
}
