//! Transfer tuning: what helped other nests, tried on this one.
//!
//! [`donors`] finds nests of the recipe database that are like this one, with everything that was tried on them.
//! [`advice`] makes what was tried there, the panel and the suggested schedules into candidates for this nest, each proved
//! legal. [`score`] chooses the few that are worth a measurement, from what they gained on the donors and from what the
//! encoder predicts ([`predict`]). [`align`] says which loop of a donor is which loop of this nest, and [`remap`] carries
//! recipes over that no template makes.

mod advice;
mod align;
mod donors;
mod predict;
mod remap;
mod score;
#[cfg(test)]
mod tests;

pub use advice::{Advice, AdvisedOption, AdvisedRefusal, Choice};
pub use align::AlignedNode;
pub use donors::{Donor, DonorTrial};

use crate::machine::description as machine;
use crate::stages::record;
use crate::{Captured, DonorSearch, Error, NestDescription, Sizes, Tuner};
use advice::Adviser;
use donors::DonorFinder;
use oxeye_ir::SymId;
use oxeye_transform::Suggestions;
use predict::{ByEncoder, Predict};

impl Tuner<'_> {
    /// What a captured nest is known by; `seconds` is the time of one run, if known.
    ///
    /// # Errors
    /// Why there is no description.
    pub(crate) fn describe(
        &self,
        captured: &Captured,
        idx: usize,
        seconds: Option<f64>,
    ) -> Result<NestDescription, String> {
        let embedder = self.embedder.as_ref().map_err(Clone::clone)?;
        let nest = &captured.nests[idx];
        let (_, program, ir) = nest.of(&captured.unit);
        let sizes = Sizes::of_nest(nest);
        let value_of = |symbol: SymId| sizes.get(symbol);
        embedder.describe(program, ir, &value_of, &self.host_vector(), self.policy(), seconds)
    }

    /// What donors and the encoder advise for a nest; the inner error says why nobody can advise.
    ///
    /// # Errors
    /// If the recipe database cannot be read.
    pub(crate) fn advice(
        &self,
        captured: &Captured,
        idx: usize,
        suggested: &Suggestions,
        how: DonorSearch,
    ) -> Result<Result<(NestDescription, Advice), String>, Error> {
        let Some(recipes) = &self.recipes else { return Ok(Err("there is no recipe database".into())) };
        let nest = &captured.nests[idx];
        let seconds = nest.samples.first().and_then(|sample| sample.nanoseconds).map(|ns| 1e-9 * ns as f64);
        let description = match self.describe(captured, idx, seconds.filter(|_| how != DonorSearch::Static)) {
            Ok(description) => description,
            Err(why) => return Ok(Err(why)),
        };
        let (context, host) = (record::context(self), self.host_vector());
        let finder =
            DonorFinder { store: recipes.store(), context: &context, host: &host, seed: self.options.seed };
        let donors = finder.find(&description, how)?;
        let is_learnt = matches!(how, DonorSearch::Embedding | DonorSearch::Static);
        let encoder = self.embedder.as_ref().ok().map(|embedder| embedder.encoder()).filter(|_| is_learnt);
        let (_, program, ir) = nest.of(&captured.unit);
        let sizes = Sizes::of_nest(nest);
        let value_of = |symbol: SymId| sizes.get(symbol);
        let predict =
            encoder.and_then(|encoder| ByEncoder::of(encoder, &description, (program, ir), &value_of, &host));
        let machine = self.machine();
        let adviser = Adviser {
            program,
            nest: ir,
            machine: &machine,
            how: self.rendering(&captured.unit.source),
            n_cores: self.host.cores as usize,
            description: &description,
            predict: predict.as_ref().map(|predict| predict as &dyn Predict),
            // Other ways of finding donors have other distances.
            far: encoder.filter(|_| how == DonorSearch::Embedding).and_then(|e| e.info().far).map(f64::from),
            k: self.options.top_k.max(1),
        };
        let advice = adviser.advise(donors, suggested);
        Ok(Ok((description, advice)))
    }

    fn host_vector(&self) -> oxeye_embed::HostVector {
        machine::vector(&self.host, self.host_profile.as_ref(), self.threads)
    }
}

impl Advice {
    /// Why nobody's word counts here; `None` if somebody's does. Where donors are too far away, the encoder still ranks what
    /// the nest itself suggests.
    pub(crate) fn useless(&self) -> Option<String> {
        if self.options.iter().any(|option| option.choice.predicted.is_some()) {
            return None;
        }
        if self.donors.is_empty() {
            return Some("the recipe database knows no other nest".into());
        }
        let far = self.far?;
        let nearest = self.donors.iter().filter_map(|donor| donor.distance).reduce(f64::min)?;
        (nearest > far).then(|| {
            format!("the nearest nest of the recipe database is at a distance of {nearest:.2}, and beyond {far:.2} others say nothing")
        })
    }
}
