//! Ways of finding donors, compared on one bench: what each would try on a nest, and how that fared in the search.

use super::explore::State;
use super::record::{Outcome, Plan};
use crate::nest::TunedNest;
use crate::request::{DonorSearch, Error};
use crate::schedule::Schedule;
use crate::session::Session;
use crate::stages::{ComparedMethod, proposal};
use oxeye_frontend::Unit;

/// The picks of one method.
pub(crate) struct Picks {
    method: DonorSearch,
    picks: Vec<Pick>,
    note: Option<String>,
}

struct Pick {
    schedule: Schedule,
    /// Of its C text.
    digest: String,
}

impl Picks {
    /// What every method picks for a nest.
    pub(crate) fn of_all(session: &Session<'_>, unit: &Unit, nest: &TunedNest) -> Result<Vec<Picks>, Error> {
        DonorSearch::ALL.into_iter().map(|method| Self::of(session, unit, nest, method)).collect()
    }

    fn of(session: &Session<'_>, unit: &Unit, nest: &TunedNest, method: DonorSearch) -> Result<Self, Error> {
        let found = proposal(session, unit, nest, method)?;
        let k = session.options.top_k.max(1);
        let ready = found.trials.into_iter().take(found.n_first).filter_map(|trial| {
            let digest = trial.proved.as_ref()?.digest();
            Some(Pick { schedule: trial.schedule, digest })
        });
        Ok(Self { method, picks: ready.take(k).collect(), note: found.note })
    }

    /// As plans of a search.
    pub(crate) fn plans(&self) -> impl Iterator<Item = Plan> + '_ {
        self.picks.iter().map(|Pick { schedule, .. }| match schedule.template() {
            Some(template) => Plan::Template(template),
            None => Plan::Recipe { name: schedule.name.clone(), recipe: schedule.recipe.clone() },
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
            picks: self.picks.iter().map(|pick| pick.schedule.name.clone()).collect(),
            best_seconds,
            speedup: best_seconds.map(|seconds| baseline_seconds / seconds),
            note: self.note.clone(),
        }
    }
}
