//! Candidates whose outputs differ by more than the usual tolerance where operations may be reordered: are they wrong, or is
//! the nest ill-conditioned?

use crate::nest::IllConditioned;
use crate::request::Setback;
use crate::session::Session;
use oxeye_measure::{Conditioning, Doubt, Outputs, Rejection, Sample};
use std::cell::RefCell;
use std::path::Path;

/// What is known of a nest's conditioning. Nothing is built or run before a candidate asks for it.
#[derive(Default)]
pub(crate) struct Doubts {
    judge: RefCell<Option<Conditioning>>,
    found: RefCell<Option<IllConditioned>>,
}

impl Doubts {
    /// The largest relative difference of outputs that are right by what the original does to itself. `open` makes the judge,
    /// at the first question.
    ///
    /// # Errors
    /// What is wrong with them, or why the run cannot go on.
    pub(crate) fn judge(
        &self,
        session: &Session<'_>,
        open: impl FnOnce() -> Result<Conditioning, Setback<Rejection>>,
        sample: &Sample,
        reference: &Outputs,
        library: &Path,
        outputs: &Outputs,
    ) -> Result<f64, Setback<Rejection>> {
        let mut judge = self.judge.borrow_mut();
        let judge = match &mut *judge {
            Some(known) => known,
            none => none.insert(open()?),
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
