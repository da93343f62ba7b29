//! Which few of many schedules to measure.
//!
//! What a schedule will gain on this nest is not known; each donor is a scenario of what it may gain, and so is the
//! encoder's prediction. The set is chosen one by one, each time the schedule that raises the expected best gain most: so
//! the second is not a twin of the first, but what to have if the first fails.

/// What every option would gain if this nest behaved like one donor, or as predicted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scenario {
    /// How likely it is, relative to the others.
    pub(crate) weight: f64,
    /// log2 of the speedup over the nest as it is, option by option; `None` where the scenario does not tell.
    pub(crate) gains: Vec<Option<f64>>,
}

/// How much an expected loss counts against an option, where a gain counts one: a trial of a loser costs only time.
const REGRET: f64 = 0.1;
/// An option that raises the expected best gain by less than this is of no use beside those chosen before.
const LEAST_RISE: f64 = 1e-3;

/// Positions of at most `k` options, in the order in which they were chosen: what raises the weighted mean of the best
/// gain most comes first, of equals the lower position. The nest as it is can always be had, with a gain of 0. Options
/// that raise nothing follow by their expected gain.
pub(crate) fn choose(scenarios: &[Scenario], n_options: usize, k: usize) -> Vec<usize> {
    let mut best: Vec<f64> = vec![0.0; scenarios.len()];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < k.min(n_options) {
        let rest = (0..n_options).filter(|option| !chosen.contains(option));
        let value = |option: usize| {
            let rise = rise(scenarios, &best, option);
            let spare = expected(scenarios, option).unwrap_or(f64::NEG_INFINITY);
            if rise > LEAST_RISE { (true, rise) } else { (false, spare) }
        };
        let better = |a: (bool, f64), b: (bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).is_gt();
        let next = rest
            .map(|option| (option, value(option)))
            .reduce(|first, other| if better(other.1, first.1) { other } else { first });
        let Some((option, _)) = next else { break };
        for (best, scenario) in best.iter_mut().zip(scenarios) {
            *best = best.max(scenario.gain(option).unwrap_or(0.0));
        }
        chosen.push(option);
    }
    chosen
}

/// The weighted mean gain of an option over the scenarios that tell; `None` if none does.
pub(crate) fn expected(scenarios: &[Scenario], option: usize) -> Option<f64> {
    let told = scenarios.iter().filter_map(|s| Some((s.weight, s.gain(option)?)));
    let (weight, sum) = told.fold((0.0, 0.0), |(weight, sum), (w, gain)| (weight + w, sum + w * gain));
    (weight > 0.0).then(|| sum / weight)
}

/// By how much an option raises the weighted mean of the best gain, less what it is expected to lose.
fn rise(scenarios: &[Scenario], best: &[f64], option: usize) -> f64 {
    let weight: f64 = scenarios.iter().map(|s| s.weight).sum();
    let of_one = |(scenario, best): (&Scenario, &f64)| {
        let gain = scenario.gain(option).unwrap_or(0.0);
        scenario.weight * ((gain - best).max(0.0) - REGRET * (-gain).max(0.0))
    };
    if weight > 0.0 { scenarios.iter().zip(best).map(of_one).sum::<f64>() / weight } else { 0.0 }
}

impl Scenario {
    fn gain(&self, option: usize) -> Option<f64> {
        self.gains.get(option).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(weight: f64, gains: &[f64]) -> Scenario {
        // Not a number stands for not known.
        Scenario { weight, gains: gains.iter().map(|g| Some(*g).filter(|g| !g.is_nan())).collect() }
    }

    #[test]
    fn the_second_choice_is_what_helps_where_the_first_does_not() {
        // Options 0 and 1 gain under the same circumstances, option 2 under others.
        let scenarios = [scenario(2.0, &[3.0, 2.9, 0.0]), scenario(1.0, &[0.0, 0.0, 1.0])];
        assert_eq!(choose(&scenarios, 3, 2), [0, 2]);
        assert_eq!(choose(&scenarios, 3, 3), [0, 2, 1]);
    }

    #[test]
    fn near_scenarios_outweigh_far_ones() {
        let near = scenario(1.0, &[0.0, 1.0]);
        assert_eq!(choose(&[near.clone(), scenario(0.2, &[2.0, 0.0])], 2, 1), [1]);
        assert_eq!(choose(&[near, scenario(0.9, &[2.0, 0.0])], 2, 1), [0]);
    }

    #[test]
    fn losses_count_against_an_option() {
        let scenarios = [scenario(1.0, &[1.0, 1.0]), scenario(1.0, &[-2.0, 0.0])];
        assert_eq!(choose(&scenarios, 2, 1), [1]);
        // With nothing else to be had, it is still tried.
        assert_eq!(choose(&scenarios[..1], 1, 3), [0]);
    }

    #[test]
    fn equals_stand_in_the_order_of_the_options() {
        let scenarios = [scenario(1.0, &[1.0, 1.0, 1.0, f64::NAN])];
        assert_eq!(choose(&scenarios, 4, 4), [0, 1, 2, 3]);
        assert_eq!(choose(&[], 3, 2), [0, 1]);
        assert_eq!(choose(&scenarios, 0, 2), [0usize; 0]);
    }

    #[test]
    fn what_nobody_knows_comes_after_what_is_known_to_lose_little() {
        let scenarios = [scenario(1.0, &[f64::NAN, -0.2, 0.5])];
        assert_eq!(choose(&scenarios, 3, 3), [2, 1, 0]);
        assert_eq!(expected(&scenarios, 0), None);
        assert_eq!(expected(&scenarios, 2), Some(0.5));
    }
}
