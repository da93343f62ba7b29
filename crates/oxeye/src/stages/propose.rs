//! Stage 3: for every nest worth tuning, recipes as C text: first the few that helped nests like it, then what its own
//! loops suggest.

use crate::transfer::{Advice, AdvisedOption, Choice};
use crate::{Captured, DonorSearch, Error, NestDescription, Tuner};
use indexmap::IndexMap;
use oxeye_codegen::{RenderOptions, render_nest};
use oxeye_ir::{LoopId, Nest, Program};
use oxeye_transform::templates::Template;
use oxeye_transform::{Applied, Machine, Policy, Recipe, Suggestion, Suggestions, apply, suggest};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Nests with recipes to try.
pub struct Candidates {
    /// What the nests are called with.
    pub captured: Captured,
    /// One entry a nest of `captured`; empty for nests that are not tuned.
    pub nests: Vec<NestCandidates>,
}

/// The recipes to try for one nest.
#[derive(Default)]
pub struct NestCandidates {
    /// Best guess first.
    pub candidates: Vec<Candidate>,
    /// How many of them to try; the others are for when none of these is faster.
    pub n_first: usize,
    /// What was found impossible, in words.
    pub refused: Vec<String>,
    /// Where the candidates come from, if there is something to say.
    pub note: Option<String>,
    /// What the nest is known by, and what was advised.
    pub advice: Option<Box<(NestDescription, Advice)>>,
}

/// A recipe to try.
pub struct Candidate {
    /// Short name for people.
    pub name: String,
    /// What the recipe was made from, if from a template.
    pub template: Option<Template>,
    /// The recipe.
    pub recipe: Recipe,
    /// What came of applying it.
    pub state: CandidateState,
    /// What is thought of it.
    pub choice: Choice,
}

/// What came of applying a recipe.
#[derive(Clone, Debug)]
pub enum CandidateState {
    /// Proved legal and rendered.
    Ready {
        /// The new nest as a C block.
        text: String,
        /// Whether the text needs OpenMP.
        openmp: bool,
        /// Whether floating-point sums are taken in another order.
        reassociated: bool,
    },
    /// A step is not legal, does not apply, or the nest cannot be rendered.
    Refused(String),
    /// The same text as another candidate of the nest.
    Duplicate(String),
}

impl Candidates {
    /// The outermost loop of a nest that is tuned.
    pub fn outermost_loop(&self, nest_idx: usize) -> Option<LoopId> {
        let captured = &self.captured.nests[nest_idx];
        let (_, _, nest) = captured.of(&self.captured.unit);
        captured.skip.is_none().then(|| nest.loops().first().map(|l| l.id))?
    }

    /// Adds a recipe to try for a nest, before the others.
    pub fn add(&mut self, tuner: &Tuner<'_>, nest_idx: usize, name: &str, recipe: Recipe) {
        let (_, program, nest) = self.captured.nests[nest_idx].of(&self.captured.unit);
        let state = prove(tuner.rendering(&self.captured.unit.source), program, nest, &recipe);
        let choice = Choice::default();
        let candidate = Candidate { name: name.to_owned(), template: None, recipe, state, choice };
        let nest = &mut self.nests[nest_idx];
        nest.candidates.insert(0, candidate);
        nest.n_first += 1;
        mark_duplicates(&mut nest.candidates);
    }
}

impl Tuner<'_> {
    /// Stage 3: recipes for every nest that is not skipped, each applied and rendered if it is legal.
    ///
    /// # Errors
    /// If the run is interrupted, or the recipe database cannot be read.
    pub fn candidates(&self, captured: Captured) -> Result<Candidates, Error> {
        let mut nests = Vec::new();
        for (idx, nest) in captured.nests.iter().enumerate() {
            self.check_cancelled()?;
            nests.push(if nest.skip.is_none() {
                self.candidates_by(&captured, idx, self.options.donors)?
            } else {
                NestCandidates::default()
            });
        }
        Ok(Candidates { captured, nests })
    }

    /// The candidates of one nest, donors found in one way or another.
    pub(crate) fn candidates_by(
        &self,
        captured: &Captured,
        idx: usize,
        how: DonorSearch,
    ) -> Result<NestCandidates, Error> {
        let suggested = match self.suggestions(captured, idx) {
            Ok(suggested) => suggested,
            Err(reason) => return Ok(NestCandidates { refused: vec![reason], ..NestCandidates::default() }),
        };
        if self.recipes.is_none() || how == DonorSearch::None {
            return Ok(self.suggested(captured, idx, suggested));
        }
        let (description, advice) = match self.advice(captured, idx, &suggested, how)? {
            Ok(advised) => advised,
            Err(why) => {
                let found = self.suggested(captured, idx, suggested);
                return Ok(NestCandidates { note: Some(format!("no donors: {why}")), ..found });
            }
        };
        let found = match advice.useless() {
            Some(why) => {
                let found = self.suggested(captured, idx, suggested);
                NestCandidates { note: Some(why), ..found }
            }
            None => advised(&advice, suggested),
        };
        Ok(NestCandidates { advice: Some(Box::new((description, advice))), ..found })
    }

    /// What the nest's own loops suggest; a bug there must cost no more than this nest.
    pub(crate) fn suggestions(&self, captured: &Captured, idx: usize) -> Result<Suggestions, String> {
        let (_, program, nest) = captured.nests[idx].of(&captured.unit);
        guarded(|| suggest(program, nest, &self.machine(), self.policy()))
    }

    fn suggested(&self, captured: &Captured, idx: usize, suggestions: Suggestions) -> NestCandidates {
        let (_, program, nest) = captured.nests[idx].of(&captured.unit);
        let mut refused = suggestions.refused;
        let recipes = suggestions.recipes;
        let states = in_parallel(&recipes, self.host.cores as usize, |suggestion| {
            prove(self.rendering(&captured.unit.source), program, nest, &suggestion.recipe)
        });
        let mut candidates: Vec<Candidate> = recipes
            .into_iter()
            .zip(states)
            .map(|(Suggestion { name, template, recipe }, state)| Candidate {
                name,
                template: Some(template),
                recipe,
                state,
                choice: Choice::default(),
            })
            .collect();
        mark_duplicates(&mut candidates);
        for candidate in &candidates {
            if let CandidateState::Refused(reason) = &candidate.state {
                let sentence = format!("{}: {reason}", candidate.name);
                if !refused.contains(&sentence) {
                    refused.push(sentence);
                }
            }
        }
        let n_first = candidates.len();
        NestCandidates { candidates, n_first, refused, ..NestCandidates::default() }
    }

    /// What recipes need to know of the machine.
    pub(crate) fn machine(&self) -> Machine {
        Machine {
            l1: self.host.l1_bytes,
            l2: self.host.l2_bytes,
            l3: self.host.l3_bytes,
            threads: self.threads,
            vector_bytes: self.host.vector_bytes,
        }
    }

    pub(crate) fn rendering<'s>(&self, source: &'s str) -> Rendering<'s> {
        let plain_sums = self.options.compiler.vectorizes_sums();
        Rendering { source, threads: self.threads, policy: self.policy(), plain_sums }
    }

    /// The policy under which recipes are applied.
    pub(crate) fn policy(&self) -> Policy {
        Policy { reassociate: self.options.reassociate() }
    }
}

/// The schedules that were chosen, and behind them those that the nest itself suggests.
fn advised(advice: &Advice, suggested: Suggestions) -> NestCandidates {
    let mut order = advice.chosen.clone();
    for suggestion in &suggested.recipes {
        let makes_it = |option: &AdvisedOption| option.templates.contains(&suggestion.template);
        let position = advice.options.iter().position(makes_it);
        order.extend(position.filter(|position| !order.contains(position)));
    }
    let candidate = |position: &usize| {
        let AdvisedOption { name, templates, recipe, state, choice, .. } = advice.options[*position].clone();
        Candidate { name, template: templates.first().copied(), recipe, state, choice }
    };
    let mut refused = suggested.refused;
    // What only the panel proposed, and does not fit, nobody asked for.
    let told = advice.refused.iter().filter(|r| r.helped.is_some() || r.recipe.is_some());
    let mut by_reason: IndexMap<&str, Vec<String>> = IndexMap::new();
    for refusal in told {
        by_reason.entry(&refusal.reason).or_default().push(refusal.what());
    }
    refused.extend(by_reason.into_iter().map(|(reason, what)| format!("{}: {reason}", what.join(", "))));
    NestCandidates {
        candidates: order.iter().map(candidate).collect(),
        n_first: advice.chosen.len(),
        refused,
        ..NestCandidates::default()
    }
}

/// How recipes become text.
#[derive(Clone, Copy)]
pub(crate) struct Rendering<'s> {
    /// The user's file.
    pub(crate) source: &'s str,
    /// Threads of the emitted code.
    pub(crate) threads: u32,
    /// Under which recipes are applied.
    pub(crate) policy: Policy,
    /// [`Compiler::vectorizes_sums`](crate::Compiler::vectorizes_sums) of the user's compiler.
    pub(crate) plain_sums: bool,
}

/// Applies a recipe, every step of which must be proved legal, and renders the result.
pub(crate) fn prove(how: Rendering<'_>, program: &Program, nest: &Nest, recipe: &Recipe) -> CandidateState {
    proved(how, program, nest, recipe).map_or_else(CandidateState::Refused, |(state, _)| state)
}

/// The same, with what the recipe makes of the nest.
///
/// # Errors
/// Why a step is not legal or does not apply, or why the nest cannot be rendered.
pub(crate) fn proved(
    how: Rendering<'_>,
    program: &Program,
    nest: &Nest,
    recipe: &Recipe,
) -> Result<(CandidateState, Applied), String> {
    guarded(|| {
        let applied = apply(program, nest, recipe, how.policy).map_err(|refusal| refusal.to_string())?;
        let text = render(how, nest, &applied, Vec::new())?;
        let openmp = text.contains("#pragma omp");
        Ok((CandidateState::Ready { text, openmp, reassociated: applied.reassociated }, applied))
    })
    .and_then(|proved| proved)
}

/// The C block of a transformed nest. `nest` is the original.
pub(crate) fn render(
    how: Rendering<'_>,
    nest: &Nest,
    applied: &Applied,
    comment: Vec<String>,
) -> Result<String, String> {
    let Rendering { source, threads, policy, plain_sums } = how;
    let original = nest.span.and_then(|s| source.get(s.start..s.end)).map(str::to_owned);
    let indent = nest.span.map_or(0, |s| column(source, s.start));
    let reassociate = policy.reassociate;
    let options = RenderOptions { threads, comment, indent, reassociate, plain_sums, original };
    render_nest(&applied.program, &applied.nest, &options).map_err(|e| e.to_string())
}

/// Columns of white space before a position, a tab counting as four.
fn column(source: &str, at: usize) -> usize {
    let line = source.get(..at).and_then(|text| text.rsplit('\n').next()).unwrap_or_default();
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn mark_duplicates(candidates: &mut [Candidate]) {
    for idx in 1..candidates.len() {
        let (before, rest) = candidates.split_at_mut(idx);
        let CandidateState::Ready { text, .. } = &rest[0].state else { continue };
        let same =
            before.iter().find(|c| matches!(&c.state, CandidateState::Ready { text: t, .. } if t == text));
        if let Some(same) = same {
            rest[0].state = CandidateState::Duplicate(same.name.clone());
        }
    }
}

/// A bug in a transformation must cost no more than the candidate.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let cause =
            cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
        format!("internal error, please report it: {}", cause.unwrap_or("unknown"))
    })
}

/// Maps with several threads, keeping order.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_threads.clamp(1, items.len().max(1)))
            .map(|_| {
                scope.spawn(|| {
                    let mut done = Vec::new();
                    loop {
                        let idx = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(item) = items.get(idx) else { return done };
                        done.push((idx, work(item)));
                    }
                })
            })
            .collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_default()).collect()
    });
    results.sort_by_key(|(idx, _)| *idx);
    results.into_iter().map(|(_, result)| result).collect()
}
