//! Candidates whose outputs differ by more than the usual tolerance where operations may be reordered: are they wrong, or is
//! the nest ill-conditioned?

use super::bench::Bench;
use crate::budget::for_doubts;
use crate::nest::IllConditioned;
use crate::request::Setback;
use crate::whole::OTHER_BUILDS;
use oxeye_measure::{CompileJob, Conditioning, Doubt, Outputs, Rejection, Sample, compile_all};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The builds of the original that candidates are compared with, of [`OTHER_BUILDS`].
const N_BUILDS: usize = 2;

/// What is known of a nest's conditioning. Nothing is built or run before a candidate asks for it.
#[derive(Default)]
pub(crate) struct Doubts {
    judge: RefCell<Option<Conditioning>>,
    found: RefCell<Option<IllConditioned>>,
}

impl Doubts {
    /// The largest relative difference of outputs that are right by what the original does to itself.
    ///
    /// # Errors
    /// What is wrong with them, or why the run cannot go on.
    pub(crate) fn judge(
        &self,
        bench: &Bench<'_>,
        sample: &Sample,
        reference: &Outputs,
        library: &Path,
        outputs: &Outputs,
    ) -> Result<f64, Setback<Rejection>> {
        let session = bench.site.session;
        let mut judge = self.judge.borrow_mut();
        let judge = match &mut *judge {
            Some(known) => known,
            none => none.insert(conditioning(bench)?),
        };
        let comparison = session.judge(judge.judge(sample, reference, library, outputs))?;
        if let Some(doubt) = comparison.doubt {
            let runs = judge.n_runs(sample);
            let mut found = self.found.borrow_mut();
            let left = |digits: f64, lost: f64| digits - lost;
            let is_news = found.as_ref().is_none_or(|known| {
                left(doubt.digits, doubt.digits_lost) < left(known.digits, known.digits_lost)
            });
            if is_news {
                let Doubt { elements, name, digits_lost, digits } = doubt;
                *found = Some(IllConditioned { argument: name, digits_lost, digits, elements, runs });
            }
        }
        Ok(comparison.max_rel_error)
    }

    /// What was found so far.
    pub(crate) fn found(&self) -> Option<IllConditioned> {
        self.found.borrow().clone()
    }
}

/// Builds the original in other ways.
fn conditioning(bench: &Bench<'_>) -> Result<Conditioning, Setback<Rejection>> {
    let site = bench.site;
    let session = site.session;
    let text = site.place.text(site.unit);
    let job = |(k, flags): (usize, &&[&str])| -> Result<CompileJob, crate::request::Error> {
        Ok(site.library(&format!("witness{k}"), text, false)?.args(flags.iter().copied()))
    };
    let jobs = OTHER_BUILDS[..N_BUILDS].iter().enumerate().map(job).collect::<Result<Vec<_>, _>>()?;
    let built = compile_all(&session.workshop.replay_compiler(), &jobs, session.host.cores as usize);
    session.check_cancelled()?;
    let others = built.into_iter().flatten();
    let builds: Vec<PathBuf> = std::iter::once(bench.baseline.clone()).chain(others).collect();
    let folder = session.workshop.folder.subdir(format!("nest{}/conditioning", site.idx))?;
    Ok(Conditioning::new(
        bench.replay.clone(),
        builds,
        bench.arguments.clone(),
        session.tolerance(site.nest()),
        folder,
        for_doubts(session.options.budget),
    ))
}
