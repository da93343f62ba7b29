//! Donors and the encoder asked about one nest.

use super::advice::{Advice, Adviser};
use super::donors::DonorFinder;
use super::predict::{ByEncoder, Predict};
use crate::knowledge::{NestDescription, Undescribed};
use crate::machine::Sizes;
use crate::parallel::{Panicked, guarded};
use crate::request::{DonorSearch, Setback};
use crate::session::Session;
use oxeye_binding::Binding;
use oxeye_ir::SymId;
use oxeye_transform::{PreparedNest, Suggestions};

/// A nest for which advice is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The user's file, and how the function with the nest meets it.
    pub(crate) around: (&'a str, &'a Binding),
    pub(crate) nest: &'a PreparedNest<'a>,
    pub(crate) sizes: &'a Sizes,
    /// Seconds of one run as it is, if that is known.
    pub(crate) seconds: Option<f64>,
    /// Threads its code may use.
    pub(crate) threads: u32,
    /// Its own suggestions.
    pub(crate) suggested: &'a Suggestions,
}

/// Why nobody can advise.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAdvice {
    #[error("there is no recipe database")]
    NoDatabase,
    #[error(transparent)]
    Undescribed(#[from] Undescribed),
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// What donors and the encoder advise for a nest, and what it is known by.
///
/// # Errors
/// Why nobody can advise, or if the recipe database cannot be read.
pub(crate) fn advice(
    session: &Session<'_>,
    asked: Asked<'_>,
    how: DonorSearch,
) -> Result<(NestDescription, Advice), Setback<NoAdvice>> {
    let Some(recipes) = &session.known.recipes else { return Err(Setback::Item(NoAdvice::NoDatabase)) };
    let out = |why: NoAdvice| Setback::Item(why);
    let Asked { around, nest, sizes, seconds, threads, suggested } = asked;
    let value_of = |symbol: SymId| sizes.get(symbol);
    let seconds = seconds.filter(|_| how != DonorSearch::Static);
    let description = session.describe(nest, &value_of, seconds).map_err(|why| out(why.into()))?;
    let (context, host) = (session.context(), session.host_vector());
    let finder =
        DonorFinder { store: &**recipes, context: &context, host: &host, seed: session.options.seed };
    let donors = finder.find(&description, how)?;
    let is_learnt = matches!(how, DonorSearch::Embedding | DonorSearch::Static);
    let encoder = session.embedder().ok().map(|embedder| embedder.encoder()).filter(|_| is_learnt);
    let machine = session.machine(threads);
    // A bug in the encoder or in what makes recipes of templates must cost no more than the advice.
    let advised = guarded(|| {
        let predict = encoder.and_then(|encoder| {
            ByEncoder::of(encoder, &description, (nest.program(), nest.nest()), &value_of, &host)
        });
        let adviser = Adviser {
            nest,
            machine: &machine,
            how: session.rendering(around, threads),
            description: &description,
            predict: predict.as_ref().map(|predict| predict as &dyn Predict),
            // Other ways of finding donors have other distances.
            far: encoder.filter(|_| how == DonorSearch::Embedding).and_then(|e| e.info().far).map(f64::from),
            k: session.options.top_k.max(1),
        };
        adviser.advise(donors, suggested)
    });
    let advice = advised.map_err(|why| out(why.into()))?;
    Ok((description, advice))
}
