//! Ways of finding donors, compared on one bench: what each would try on a nest, and how that fared in the search.

use super::explore::State;
use super::space::digest;
use super::trial::{Outcome, Plan};
use crate::stages::propose::CandidateState;
use crate::{Captured, DonorSearch, Error, Recipe, Tuner};
use oxeye_transform::templates::Template;
use serde::Serialize;

/// What one way of finding donors picked for a nest.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedMethod {
    /// [`DonorSearch::name`]; `none` picks the first of the suggested schedules.
    pub method: &'static str,
    /// Names of the schedules it picked, best guess first.
    pub picks: Vec<String>,
    /// Seconds of the fastest of them; `None` if none gave the right outputs in time.
    pub best_seconds: Option<f64>,
    /// Original by the fastest.
    pub speedup: Option<f64>,
    /// Why it picked nothing, or fell back on what it did.
    pub note: Option<String>,
}

/// The picks of one method.
pub(crate) struct Picks {
    method: DonorSearch,
    picks: Vec<Pick>,
    note: Option<String>,
}

struct Pick {
    name: String,
    template: Option<Template>,
    recipe: Recipe,
    /// Of its C text.
    digest: String,
}

impl Picks {
    /// What every method picks for a nest.
    pub(crate) fn of_all(tuner: &Tuner<'_>, captured: &Captured, idx: usize) -> Result<Vec<Picks>, Error> {
        DonorSearch::ALL.into_iter().map(|method| Self::of(tuner, captured, idx, method)).collect()
    }

    fn of(tuner: &Tuner<'_>, captured: &Captured, idx: usize, method: DonorSearch) -> Result<Self, Error> {
        let found = tuner.candidates_by(captured, idx, method)?;
        let k = tuner.options.top_k.max(1);
        let ready = found.candidates.iter().take(found.n_first).filter_map(|candidate| {
            let CandidateState::Ready { text, .. } = &candidate.state else { return None };
            Some(Pick {
                name: candidate.name.clone(),
                template: candidate.template,
                recipe: candidate.recipe.clone(),
                digest: digest(text),
            })
        });
        Ok(Self { method, picks: ready.take(k).collect(), note: found.note })
    }

    /// As plans of a search.
    pub(crate) fn plans(&self) -> impl Iterator<Item = Plan> + '_ {
        self.picks.iter().map(|pick| match pick.template {
            Some(template) => Plan::Template(template),
            None => Plan::Recipe { name: pick.name.clone(), recipe: pick.recipe.clone() },
        })
    }

    /// How the picks fared.
    pub(crate) fn judged(&self, state: &State, baseline_seconds: f64) -> ComparedMethod {
        let right = |pick: &Pick| {
            let tried = state.tried.iter().find(|tried| {
                tried.code.as_ref() == Some(&pick.digest) && tried.found.outcome == Outcome::Right
            });
            tried.and_then(|tried| tried.found.seconds)
        };
        let best_seconds = self.picks.iter().filter_map(right).reduce(f64::min);
        ComparedMethod {
            method: self.method.name(),
            picks: self.picks.iter().map(|pick| pick.name.clone()).collect(),
            best_seconds,
            speedup: best_seconds.map(|seconds| baseline_seconds / seconds),
            note: self.note.clone(),
        }
    }
}
