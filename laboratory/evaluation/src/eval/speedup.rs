//! Speedups of a program by a search and by each method of choosing candidates.

use std::collections::BTreeMap;

use crate::corpus::Group;

/// A method of choosing the few candidates that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    /// Recipes of the nearest donors by static and profiled embedding, as `oxeye optimize` takes them.
    Embedding,
    /// Recipes of the nearest donors by the static embedding alone.
    Static,
    /// Recipes of the nearest donors by features that were chosen by hand.
    HandMade,
    /// Recipes of donors drawn at random.
    Random,
    /// No donors: the heuristic scheduler.
    Suggestions,
}

impl Method {
    /// All of them, in the order of tables and legends.
    pub(crate) const ALL: [Method; 5] =
        [Method::Embedding, Method::Static, Method::HandMade, Method::Random, Method::Suggestions];

    /// The word in reports and CSV files.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Method::Embedding => "embedding",
            Method::Static => "static",
            Method::HandMade => "hand-made",
            Method::Random => "random",
            Method::Suggestions => "suggestions",
        }
    }

    /// Its name in tables and legends.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Method::Embedding => "embedding, static + profile",
            Method::Static => "embedding, static",
            Method::HandMade => "hand-made features",
            Method::Random => "random donor",
            Method::Suggestions => "heuristic scheduler",
        }
    }

    /// The method of a word. `none`, for no donors, is another word for the suggestions.
    pub(crate) fn from_word(word: &str) -> Option<Method> {
        let word = if word == "none" { Method::Suggestions.word() } else { word };
        Method::ALL.into_iter().find(|method| method.word() == word)
    }
}

/// Candidates that were measured for a nest.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tries {
    /// Number of candidates that were compiled and run.
    pub(crate) n_measured: usize,
    /// Seconds of one invocation of the fastest right one.
    pub(crate) best_seconds: Option<f64>,
}

/// A nest that was searched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NestRun {
    /// Its function.
    pub(crate) function: String,
    /// Its first line.
    pub(crate) line: u64,
    /// Its share of the program's time, from 0 to 1, if there is a program.
    pub(crate) share: Option<f64>,
    /// Number of invocations, if counted.
    pub(crate) invocations: Option<f64>,
    /// Seconds of one invocation as the user's compiler builds it.
    pub(crate) baseline_seconds: f64,
    /// The whole search.
    pub(crate) search: Tries,
    /// The picks of each method.
    pub(crate) picks: BTreeMap<Method, Tries>,
}

impl NestRun {
    /// Seconds of the whole program in this nest, before.
    fn seconds_before(&self) -> f64 {
        self.invocations.unwrap_or(1.0) * self.baseline_seconds
    }

    /// Seconds of the whole program in this nest if the fastest of `tries` replaces it, should that be faster.
    fn seconds_after(&self, tries: Tries) -> f64 {
        let best = tries.best_seconds.unwrap_or(f64::INFINITY).min(self.baseline_seconds);
        self.invocations.unwrap_or(1.0) * best
    }
}

/// A program that was searched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProgramRun {
    /// Its name.
    pub(crate) name: String,
    /// Its group.
    pub(crate) group: Group,
    /// The nests that were searched.
    pub(crate) nests: Vec<NestRun>,
    /// Speedup of the whole program with what the search chose, measured.
    pub(crate) measured_speedup: Option<f64>,
}

/// Which time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// That of the whole program: what is outside the searched nests stays as it is.
    Program,
    /// That of the searched nests.
    Nests,
}

impl ProgramRun {
    /// The speedup that the search found. By Amdahl's law, from the times of single nests.
    pub(crate) fn search_speedup(&self, scope: Scope) -> f64 {
        self.speedup(scope, |nest| nest.search)
    }

    /// The speedup with the picks of a method; `None` if it was not tried on this program.
    pub(crate) fn method_speedup(&self, scope: Scope, method: Method) -> Option<f64> {
        self.was_tried(method).then(|| self.speedup(scope, |nest| nest.tries_of(method)))
    }

    /// The share of the search's speedup that a method reaches.
    pub(crate) fn share_of_search(&self, scope: Scope, method: Method) -> Option<f64> {
        Some(self.method_speedup(scope, method)? / self.search_speedup(scope))
    }

    /// Candidates measured by the search, over all nests.
    pub(crate) fn n_trials(&self) -> usize {
        self.nests.iter().map(|nest| nest.search.n_measured).sum()
    }

    /// Candidates measured for a method, over all nests.
    pub(crate) fn n_picks(&self, method: Method) -> usize {
        self.nests.iter().map(|nest| nest.tries_of(method).n_measured).sum()
    }

    /// The computation that it is a spelling of.
    pub(crate) fn computation(&self) -> &str {
        self.name.strip_suffix("-b").unwrap_or(&self.name)
    }

    fn was_tried(&self, method: Method) -> bool {
        self.nests.iter().any(|nest| nest.picks.contains_key(&method))
    }

    fn speedup(&self, scope: Scope, tries: impl Fn(&NestRun) -> Tries) -> f64 {
        let before: f64 = self.nests.iter().map(NestRun::seconds_before).sum();
        let after: f64 = self.nests.iter().map(|nest| nest.seconds_after(tries(nest))).sum();
        let rest = match scope {
            Scope::Program => before * self.rest_by_searched(),
            Scope::Nests => 0.0,
        };
        if before > 0.0 { (before + rest) / (after + rest) } else { 1.0 }
    }

    /// The share of the program's time that its searched nests take, from 0 to 1; `None` if unknown.
    pub(crate) fn searched_share(&self) -> Option<f64> {
        let share: Option<f64> = self.nests.iter().map(|nest| nest.share).sum();
        share.filter(|share| *share > 0.0).map(|share| share.min(1.0))
    }

    /// Time outside the searched nests over the time in them; 0 if shares are unknown.
    fn rest_by_searched(&self) -> f64 {
        self.searched_share().map_or(0.0, |share| (1.0 - share) / share)
    }
}

impl NestRun {
    /// What was measured for a method; nothing, if it had nothing to try here.
    pub(crate) fn tries_of(&self, method: Method) -> Tries {
        self.picks.get(&method).copied().unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Tries with a best time; without, if it is not positive.
    pub(crate) fn tries(n_measured: usize, best_seconds: f64) -> Tries {
        Tries { n_measured, best_seconds: (best_seconds > 0.0).then_some(best_seconds) }
    }

    /// A nest that takes 1 s in one invocation, with `seconds` after the search and with the picks of all methods.
    pub(crate) fn nest(share: f64, searched: f64, picked: [f64; 5]) -> NestRun {
        NestRun {
            function: "kernel".into(),
            line: 7,
            share: Some(share),
            invocations: Some(1.0),
            baseline_seconds: 1.0,
            search: tries(200, searched),
            picks: Method::ALL.into_iter().zip(picked.map(|seconds| tries(3, seconds))).collect(),
        }
    }

    /// A program of these nests.
    pub(crate) fn program(name: &str, nests: Vec<NestRun>) -> ProgramRun {
        let group = if name.ends_with("-b") { Group::Variant } else { Group::Base };
        ProgramRun { name: name.into(), group, nests, measured_speedup: None }
    }

    #[test]
    fn what_is_not_searched_stays() {
        // 80 % of the time four times as fast: Amdahl's law.
        let program = program("k", vec![nest(0.8, 0.25, [0.5, 2.0, 0.0, 1.0, 0.25])]);
        assert!((program.search_speedup(Scope::Program) - 1.0 / (0.2 + 0.8 / 4.0)).abs() < 1e-12);
        assert!((program.search_speedup(Scope::Nests) - 4.0).abs() < 1e-12);
        let embedding = program.method_speedup(Scope::Program, Method::Embedding).expect("was tried");
        assert!((embedding - 1.0 / (0.2 + 0.8 / 2.0)).abs() < 1e-12);
        let share = program.share_of_search(Scope::Nests, Method::Embedding).expect("was tried");
        assert!((share - 0.5).abs() < 1e-12);
        // Slower candidates and none at all leave the nest as it is.
        assert_eq!(program.method_speedup(Scope::Program, Method::Static), Some(1.0));
        assert_eq!(program.method_speedup(Scope::Program, Method::HandMade), Some(1.0));
    }

    #[test]
    fn nests_weigh_as_much_as_the_program_runs_them() {
        let mut often = nest(0.5, 0.0, [0.01; 5]);
        (often.baseline_seconds, often.invocations) = (0.1, Some(30.0));
        let once = nest(0.25, 0.5, [0.0; 5]);
        let program = program("k", vec![often, once]);
        // 3 s and 1 s are 75 % of the program; the rest is 4/3 s.
        let rest = 4.0 / 3.0;
        assert!((program.search_speedup(Scope::Program) - (4.0 + rest) / (3.5 + rest)).abs() < 1e-12);
        let picked = program.method_speedup(Scope::Program, Method::Random).expect("was tried");
        assert!((picked - (4.0 + rest) / (0.3 + 1.0 + rest)).abs() < 1e-12);
        assert_eq!((program.n_trials(), program.n_picks(Method::Random)), (400, 6));
    }

    #[test]
    fn shares_may_be_unknown_or_too_large() {
        let mut unknown = nest(0.5, 0.5, [0.5; 5]);
        (unknown.share, unknown.invocations) = (None, None);
        assert_eq!(program("k", vec![unknown]).search_speedup(Scope::Program), 2.0);
        let both = program("k", vec![nest(0.7, 0.5, [0.5; 5]), nest(0.6, 0.5, [0.5; 5])]);
        assert_eq!(both.search_speedup(Scope::Program), 2.0);
    }

    #[test]
    fn a_method_that_was_not_tried_has_no_speedup() {
        let mut nest = nest(1.0, 0.5, [0.5; 5]);
        nest.picks.remove(&Method::Static);
        let program = program("k-b", vec![nest]);
        assert_eq!(program.method_speedup(Scope::Program, Method::Static), None);
        assert_eq!(program.n_picks(Method::Static), 0);
        assert_eq!(program.computation(), "k");
    }
}
