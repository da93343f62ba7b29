//! Which trials of a nest are worth keeping.

use oxeye_database::{Context, NewEntry, Verdict, VerdictKind};
use std::collections::{BTreeMap, BTreeSet};

/// Most gains kept of a nest.
pub const MOST_GAINS: usize = 6;
/// Most losses and failures kept of a nest.
pub const MOST_LOSSES: usize = 3;
/// A loss is worth keeping below this speedup.
const NOTABLE_LOSS: f64 = 0.7;

/// One trial.
pub(super) struct Tried<K> {
    /// What was tried; breaks ties, the lower first.
    pub(super) key: K,
    /// Its verdict.
    pub(super) verdict: Verdict,
    /// The speedup, if it was timed.
    pub(super) speedup: Option<f64>,
}

/// Positions of the trials of one nest to keep: the greatest gains, the greatest first; if there is none, the fastest
/// of the even ones, which shows that; then failures and the greatest losses.
pub(super) fn choose<K: Ord>(tried: &[Tried<K>]) -> Vec<usize> {
    let of = |kind: VerdictKind, sign: f64| {
        let mut found: Vec<usize> = (0..tried.len()).filter(|k| tried[*k].verdict.kind() == kind).collect();
        let speedup = |k: usize| tried[k].speedup.unwrap_or(0.0);
        found.sort_by(|a, b| {
            let by_speedup = (sign * speedup(*b)).total_cmp(&(sign * speedup(*a)));
            by_speedup.then_with(|| tried[*a].key.cmp(&tried[*b].key))
        });
        found
    };
    let mut chosen = of(VerdictKind::Gained, 1.0);
    chosen.truncate(MOST_GAINS);
    if chosen.is_empty() {
        chosen.extend(of(VerdictKind::Even, 1.0).first());
    }
    let slowed = of(VerdictKind::Slowed, -1.0).into_iter();
    let notable = slowed.filter(|k| tried[*k].speedup.is_some_and(|speedup| speedup <= NOTABLE_LOSS));
    chosen.extend(of(VerdictKind::Failed, 1.0).into_iter().chain(notable).take(MOST_LOSSES));
    chosen
}

/// The same choice among entries of a database, for each nest and context. Of several with one template only the one
/// with the greatest speedup counts. Ordered by hash and context.
pub fn chosen_trials(entries: &[NewEntry]) -> Vec<&NewEntry> {
    let mut nests: BTreeMap<(&str, &Context), Vec<Tried<&NewEntryKey<'_>>>> = BTreeMap::new();
    let keys: Vec<NewEntryKey<'_>> = entries.iter().map(NewEntryKey).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|a, b| {
        let speedup = |k: usize| entries[k].speedup().unwrap_or(0.0);
        speedup(*b).total_cmp(&speedup(*a)).then_with(|| keys[*a].cmp(&keys[*b]))
    });
    let mut templates = BTreeSet::new();
    for k in order {
        let (entry, key) = (&entries[k], &keys[k]);
        let nest = (entry.nest.hash.as_str(), &entry.context);
        if let Some(template) = key.template()
            && !templates.insert((nest, template))
        {
            continue;
        }
        let tried = Tried { key, verdict: entry.verdict.clone(), speedup: entry.speedup() };
        nests.entry(nest).or_default().push(tried);
    }
    nests.values().flat_map(|tried| choose(tried).into_iter().map(|k| tried[k].key.0)).collect()
}

/// Orders entries by their recipes.
struct NewEntryKey<'e>(&'e NewEntry);

impl NewEntryKey<'_> {
    fn template(&self) -> Option<String> {
        self.0.recipe.steps.value()["template"].as_str().map(str::to_owned)
    }
}

impl PartialEq for NewEntryKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.recipe == other.0.recipe
    }
}

impl Eq for NewEntryKey<'_> {}

impl PartialOrd for NewEntryKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NewEntryKey<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.recipe.cmp(&other.0.recipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(key: usize, verdict: Verdict, speedup: f64) -> Tried<usize> {
        let timed = verdict.kind() != VerdictKind::Failed;
        Tried { key, verdict, speedup: timed.then_some(speedup) }
    }

    #[test]
    fn the_greatest_gains_then_failures_then_losses() {
        let mut all: Vec<Tried<usize>> =
            (0..10).map(|k| tried(k, Verdict::Gained, 1.5 + (k % 5) as f64)).collect();
        all.push(tried(10, Verdict::Even, 1.01));
        all.push(tried(11, Verdict::Slowed, 0.2));
        all.push(tried(12, Verdict::Slowed, 0.1));
        all.push(tried(13, Verdict::Slowed, 0.9));
        all.push(tried(14, Verdict::Failed("no".into()), 0.0));
        assert_eq!(choose(&all), [4, 9, 3, 8, 2, 7, 14, 12, 11]);
    }

    #[test]
    fn where_nothing_gained_one_even_trial_says_so() {
        let all =
            [tried(0, Verdict::Even, 1.00), tried(1, Verdict::Even, 1.02), tried(2, Verdict::Slowed, 0.95)];
        assert_eq!(choose(&all), [1]);
    }
}
