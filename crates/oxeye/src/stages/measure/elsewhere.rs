//! Candidates on other nodes: what they found, as if they had been run here.
//!
//! What nodes say decides what is looked at closer, and nothing else: whoever is to win is run, compared and timed here. What a
//! node calls wrong is run here, too, as roundings may have to be judged, and nodes may be broken.

use super::bench::{Bench, Screened, verdict_of};
use super::pace::Pace;
use crate::request::{Error, Event, Setback};
use crate::schedule::{Screening, Trial, Verdict};
use oxeye_measure::{CompileJob, Patience, Rejection};
use oxeye_nodes::{
    Bench as SharedBench, Build, Candidate, Finding, Nodes, NodesError, Outcome, SharedOutputs,
};
use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// How often it is looked for results.
const SHORT_LOOK: Duration = Duration::from_millis(5);
const LONG_LOOK: Duration = Duration::from_millis(100);

/// What is known of a candidate by the node that ran it.
pub(crate) type Told = Result<Screening, Rejection>;

impl<'a> Bench<'a> {
    /// The nodes of the run, if any take part at the moment. Those of a nest that is hurried through would come too late.
    pub(crate) fn nodes(&self) -> Option<&'a Nodes> {
        self.site.session.nodes().filter(|nodes| self.pace == Pace::Usual && nodes.width() > 0)
    }

    /// Lets nodes build and run candidates as long as `goes_on` says so, and tells of each as soon as it is known. Returns those
    /// that nothing is known of.
    ///
    /// # Errors
    /// If the run is interrupted, or `found` fails.
    pub(crate) fn run_elsewhere(
        &self,
        nodes: &Nodes,
        (jobs, patience): (&[CompileJob], Patience),
        goes_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(usize, Told) -> Result<(), Error>,
    ) -> Result<BTreeSet<usize>, Error> {
        let mut left: BTreeSet<usize> = (0..jobs.len()).collect();
        let mut collect = || -> Result<(), Setback<NodesError>> {
            let tasks = self.tasks(nodes, jobs, patience).map_err(Setback::Item)?;
            let mut round = nodes.post(tasks).map_err(Setback::Item)?;
            self.site.session.progress.event(Event::Nodes { n_nodes: nodes.width() });
            let mut pause = SHORT_LOOK;
            while !round.is_done() && goes_on() && nodes.width() > 0 {
                self.site.session.check_cancelled()?;
                let news = round.poll().map_err(Setback::Item)?;
                pause = if news.is_empty() { (pause * 2).min(LONG_LOOK) } else { SHORT_LOOK };
                for (k, finding) in news {
                    left.remove(&k);
                    found(k, self.told(nodes, &jobs[k], patience, finding)?)?;
                }
                sleep(pause);
            }
            Ok(())
        };
        if let Err(setback) = collect() {
            nodes.give_up(&setback.item()?.to_string());
        }
        Ok(left)
    }

    fn tasks(
        &self,
        nodes: &Nodes,
        jobs: &[CompileJob],
        patience: Patience,
    ) -> Result<Vec<Candidate>, NodesError> {
        let bench = match self.shared.get() {
            Some(name) => name.clone(),
            None => {
                let name = nodes.share_bench(&self.as_shared(nodes)?)?;
                self.shared.get_or_init(|| name).clone()
            }
        };
        let (best_seconds, call_seconds) = (patience.best, patience.call_seconds);
        let builds = self.builds_of(nodes, jobs)?.into_iter();
        Ok(builds
            .map(|build| Candidate { bench: bench.clone(), build, best_seconds, call_seconds })
            .collect())
    }

    fn as_shared(&self, nodes: &Nodes) -> Result<SharedBench, NodesError> {
        let site = self.site;
        let original = site.original().map_err(|error| NodesError::Other(error.to_string()))?;
        let samples = || std::iter::once(self.sample()).chain(self.others.iter().map(|other| other.sample));
        let changed = |k| self.reference.changed(k);
        let seconds = self.others.iter().map(|other| other.baseline_seconds);
        let options = self.replay.options();
        let version = site.session.workshop.replay_compiler().version();
        Ok(SharedBench {
            original: self.builds_of(nodes, &[original])?.remove(0),
            compiler_version: version.map_err(|error| NodesError::Other(error.to_string()))?,
            samples: samples().map(|sample| nodes.share_file(&sample.path)).collect::<Result<_, _>>()?,
            original_seconds: std::iter::once(self.baseline_seconds).chain(seconds).collect(),
            reference: SharedOutputs {
                file: nodes.share_file(self.reference.path())?,
                changed: (0..self.reference.n_args()).map(changed).collect(),
                first_call_ns: self.reference.first_call_ns,
            },
            arguments: self.arguments.clone(),
            tolerance: site.session.tolerance(site.nest()),
            is_steady: !site.shares_work(),
            threads: options.threads,
            copies: options.copies,
        })
    }

    /// How nodes build what is built so here.
    fn builds_of(&self, nodes: &Nodes, jobs: &[CompileJob]) -> Result<Vec<Build>, NodesError> {
        let text = |job: &CompileJob| match job.sources.as_slice() {
            [source, ..] => fs::read(source).map_err(|error| NodesError::Other(error.to_string())),
            [] => Err(NodesError::Other("a candidate without a text".into())),
        };
        let texts = jobs.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let compiler = self.site.session.workshop.replay_compiler();
        let build = |(job, text): (&CompileJob, String)| {
            let CompileJob { args, link_args, seconds, .. } = job.clone();
            Build { text, compiler: compiler.clone(), args, link_args, seconds }
        };
        Ok(jobs.iter().zip(nodes.share_texts(&texts)?).map(build).collect())
    }

    /// What a finding means here, where the original takes as long as it does here.
    fn told(
        &self,
        nodes: &Nodes,
        job: &CompileJob,
        patience: Patience,
        finding: Finding,
    ) -> Result<Told, Setback<NodesError>> {
        let session = self.site.session;
        match finding.outcome {
            Outcome::Right { seconds, samples, max_rel_error } => {
                let here = |k: usize, original: f64| -> Option<f64> {
                    Some(original * seconds.get(k)? / finding.original_seconds.get(k)?)
                };
                let first = here(0, self.baseline_seconds).unwrap_or(f64::INFINITY);
                let others = self.others.iter().enumerate();
                let others =
                    others.map(|(k, other)| here(k + 1, other.baseline_seconds).unwrap_or(f64::INFINITY));
                let mixed = self.mixed_of(first, &others.collect::<Vec<_>>());
                Ok(Ok(Screening { seconds: first, mixed, samples, max_rel_error: Some(max_rel_error) }))
            }
            Outcome::Wrong => {
                let built = session.workshop.replay_compiler().compile(job);
                match self.run_candidate(built, patience) {
                    Ok(Screened { screening, .. }) => {
                        let is_exact = screening.max_rel_error == Some(0.0) && !self.site.shares_work();
                        if is_exact {
                            nodes.distrust(&finding.node, "it called a candidate wrong that is right");
                        }
                        Ok(Ok(screening))
                    }
                    Err(Setback::Item(why)) => Ok(Err(why)),
                    Err(Setback::Run(error)) => Err(Setback::Run(error)),
                }
            }
            Outcome::Rejected { why } => Ok(Err(why)),
        }
    }

    /// Lets nodes screen trials, and runs the fastest of them here, too. Returns the positions of those.
    ///
    /// # Errors
    /// If the run is interrupted, or a process cannot be started.
    pub(super) fn screen_elsewhere(
        &self,
        nodes: &Nodes,
        (trials, which): (&mut [Trial], &[usize]),
        best: f64,
        heard: &mut dyn FnMut(usize, f64),
    ) -> Result<Vec<usize>, Error> {
        let session = self.site.session;
        let (mut numbers, mut jobs) = (Vec::new(), Vec::new());
        for k in which {
            let Some(job) = self.site.candidate(*k, &trials[*k], self.deadline)? else { continue };
            numbers.push(*k);
            jobs.push(job);
        }
        let patience = Patience::for_best(best);
        let mut best_told = best;
        let goes_on = || !session.is_over(self.deadline) && !session.progress.enough();
        let mut n_told = 0;
        let left = self.run_elsewhere(nodes, (&jobs, patience), &goes_on, &mut |k, told| {
            let trial = &mut trials[numbers[k]];
            match told {
                Ok(screening) => {
                    (trial.verdict, trial.screened) = (Verdict::Slower, Some(screening));
                    best_told = best_told.min(screening.score());
                }
                Err(why) => trial.reject(verdict_of(&why), self.site.words(&why)),
            }
            n_told += 1;
            heard(n_told, best_told);
            Ok(())
        })?;
        let score = |trials: &[Trial], k: usize| trials[numbers[k]].screened.map(|found| found.score());
        let mut ranked: Vec<(usize, f64)> =
            (0..jobs.len()).filter_map(|k| Some((k, score(trials, k)?))).filter(|(_, s)| *s < best).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.truncate(session.options.top_k.max(1));
        // What all nodes have left undone is run here alone.
        let here = ranked.into_iter().map(|(k, _)| k).chain(left);
        let mut right = Vec::new();
        for k in here {
            session.check_cancelled()?;
            let trial = &mut trials[numbers[k]];
            if trial.is_ready() && !goes_on() {
                break;
            }
            let built = session.workshop.replay_compiler().compile(&jobs[k]);
            match self.run_candidate(built, patience) {
                Ok(Screened { library, screening }) => {
                    trial.verdict = Verdict::Slower;
                    (trial.screened, trial.library) = (Some(screening), Some(library));
                    right.push(numbers[k]);
                }
                Err(setback) => {
                    let why = setback.item()?;
                    trial.reject(verdict_of(&why), self.site.words(&why));
                }
            }
        }
        Ok(right)
    }
}
