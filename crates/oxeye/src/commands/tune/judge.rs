//! When a tuned nest is no longer as good as it was.

use super::given::Figures;
use super::lock::LockedNest;

/// What is asked of a nest.
pub(super) struct Judge {
    /// Whether the nest was measured on this machine when it was tuned.
    pub(super) same_machine: bool,
    /// Whether the program was run as it is now.
    pub(super) same_run: bool,
    /// By which part a figure may be worse than it was.
    pub(super) slack: f64,
}

impl Judge {
    /// What is worse than it was by more than noise.
    pub(super) fn failure(&self, then: &LockedNest, now: &Figures) -> Option<String> {
        let least = 1.0 - self.slack;
        let speedup = now.speedup;
        if !self.same_machine {
            return (speedup < least).then(|| format!("slower than the original here ({speedup:.2}x)"));
        }
        if let Some(then) = then.speedup.filter(|then| speedup < 1.0 && then * least > 1.0) {
            return Some(format!("no faster than the original ({speedup:.2}x); it was {then:.2}x as fast"));
        }
        if let (Some(share), Some(share_then)) = (now.roof_fraction, then.roof_fraction) {
            let ms = 1e3 * now.seconds;
            // Ceilings that were measured anew may be higher than they were; the nest is none the slower for it.
            let is_slower = !self.same_run || then.optimized_ms.is_none_or(|then| ms * least > then);
            if share >= share_then * least || !is_slower {
                return None;
            }
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            let mut words = format!("reaches {} of its roof; it was {}", percent(share), percent(share_then));
            let original = then.baseline_ms.map_or(1.0, |then| 1e3 * now.baseline_seconds / then);
            if self.same_run && original * least > 1.0 {
                words += &format!(
                    " (the original takes {original:.1}x as long as then, too: a busy machine, or other flags?)"
                );
            }
            return Some(words);
        }
        let then = then.speedup?;
        (speedup < then * least).then(|| format!("{speedup:.2}x as fast as the original; it was {then:.2}x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn then() -> LockedNest {
        LockedNest {
            function: "f".into(),
            line: 7,
            recipe: "r".into(),
            baseline_ms: Some(100.0),
            optimized_ms: Some(10.0),
            speedup: Some(10.0),
            bound: None,
            roof_fraction: Some(0.8),
        }
    }

    fn now(baseline: f64, seconds: f64, roof_fraction: Option<f64>) -> Figures {
        let speedup = baseline / seconds;
        Figures {
            baseline_seconds: baseline,
            seconds,
            speedup,
            bound: None,
            roof_fraction,
            text: String::new(),
            is_threaded: false,
        }
    }

    #[test]
    fn a_nest_may_be_worse_by_the_slack() {
        let judge = Judge { same_machine: true, same_run: true, slack: 0.25 };
        assert_eq!(judge.failure(&then(), &now(0.1, 0.0125, Some(0.64))), None);
        let why = judge.failure(&then(), &now(0.1, 0.02, Some(0.4))).expect("half as fast");
        assert_eq!(why, "reaches 40 % of its roof; it was 80 %");
        let why = judge.failure(&then(), &now(0.2, 0.02, Some(0.4))).expect("both half as fast");
        assert!(why.contains("the original takes 2.0x as long"), "{why}");
        // The roof was measured anew, and is higher.
        assert_eq!(judge.failure(&then(), &now(0.1, 0.011, Some(0.4))), None);
        // With other input, times say nothing.
        let other = Judge { same_run: false, ..judge };
        assert!(other.failure(&then(), &now(0.01, 0.001, Some(0.4))).is_some());
        // Without roofs, what is left is the ratio.
        assert!(
            judge.failure(&then(), &now(0.1, 0.02, None)).is_some_and(|why| why.contains("it was 10.00x"))
        );
        assert_eq!(judge.failure(&then(), &now(0.1, 0.012, None)), None);
    }

    #[test]
    fn a_nest_whose_gain_is_gone_fails_however_near_its_roof_it_is() {
        let judge = Judge { same_machine: true, same_run: true, slack: 0.25 };
        let why = judge.failure(&then(), &now(0.009, 0.01, Some(0.8))).expect("slower than the original");
        assert_eq!(why, "no faster than the original (0.90x); it was 10.00x as fast");
        // What gained little may be lost in noise.
        let little = LockedNest { speedup: Some(1.2), ..then() };
        assert_eq!(judge.failure(&little, &now(0.009, 0.01, Some(0.8))), None);
    }

    #[test]
    fn on_another_machine_a_nest_must_not_be_slower() {
        let judge = Judge { same_machine: false, same_run: true, slack: 0.25 };
        assert_eq!(judge.failure(&then(), &now(0.1, 0.09, Some(0.1))), None);
        assert!(judge.failure(&then(), &now(0.1, 0.2, Some(0.9))).is_some_and(|why| why.contains("0.50x")));
    }
}
