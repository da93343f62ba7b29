//! How noisy the machine is.

use crate::kernels;
use crate::pool::Pool;
use crate::profile::{FloatType, Noise};
use crate::timed::Timed;
use oxeye_measure::quantile;

/// The system's counts of processor time at some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessorTimes {
    total: u64,
    stolen: u64,
}

impl ProcessorTimes {
    /// Reads `/proc/stat`; `None` where there is none or it does not tell about stolen time.
    pub(crate) fn now() -> Option<ProcessorTimes> {
        ProcessorTimes::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<ProcessorTimes> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let times: Vec<u64> = line.split_whitespace().map(|t| t.parse().ok()).collect::<Option<_>>()?;
        // User, nice, system, idle, waiting, interrupts, soft interrupts, stolen; guests are in user already.
        Some(ProcessorTimes { total: times.iter().take(8).sum(), stolen: *times.get(7)? })
    }

    /// The share of the time since then that a hypervisor gave to others.
    fn stolen_since(self, then: ProcessorTimes) -> Option<f64> {
        let total = self.total.checked_sub(then.total).filter(|t| *t > 0)?;
        Some(self.stolen.saturating_sub(then.stolen) as f64 / total as f64)
    }
}

/// Times a fixed piece of work of about a millisecond repeatedly for the given seconds.
pub(crate) fn work_times(pool: &Pool, seconds: f64) -> Vec<f64> {
    const WORK_S: f64 = 1e-3;
    let Some(kernel) = kernels::addition_chain().or_else(|| kernels::multiply_add(FloatType::F64, 0)) else {
        return Vec::new();
    };
    let work = move |_: usize, repeats: usize| {
        // SAFETY: the kernel was offered for this processor.
        unsafe { (kernel.run)(64 * repeats as u64) }
    };
    Timed::new(pool, 1, WORK_S, 1.0, work).sample((seconds / WORK_S).ceil() as usize)
}

/// Judges times of equal work, and the time stolen between two moments.
pub(crate) fn judge(times: &[f64], before: Option<ProcessorTimes>, after: Option<ProcessorTimes>) -> Noise {
    const MEDIAN: f64 = 1.03;
    const P95: f64 = 1.10;
    const STOLEN: f64 = 0.01;
    let mut sorted: Vec<f64> = times.iter().copied().filter(|t| *t > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let (median_slowdown, p95_slowdown) = match sorted.first() {
        Some(best) => (quantile(&sorted, 0.5) / best, quantile(&sorted, 0.95) / best),
        None => (1.0, 1.0),
    };
    let steal_fraction = before.zip(after).and_then(|(before, after)| after.stolen_since(before));
    let stolen = steal_fraction.unwrap_or(0.0);
    let noisy = median_slowdown > MEDIAN || p95_slowdown > P95 || stolen > STOLEN;
    let percent = |slowdown: f64| format!("{:.1} %", 100.0 * (slowdown - 1.0));
    let mut sentence = format!(
        "{}: the same work takes {} longer than its best time in half of the rounds, and {} or more in one of twenty",
        if noisy { "The machine is noisy" } else { "The machine is quiet" },
        percent(median_slowdown),
        percent(p95_slowdown),
    );
    match steal_fraction {
        Some(stolen) if stolen > 0.0 => {
            sentence +=
                &format!("; other virtual machines took {:.1} % of the processors' time", 100.0 * stolen);
        }
        Some(_) => {}
        None => sentence += "; the system does not tell how much time other virtual machines took",
    }
    sentence += match noisy {
        true => ". Bandwidths and rates are the best seen; single times taken here should be doubted.",
        false => ".",
    };
    Noise { median_slowdown, p95_slowdown, steal_fraction, noisy, sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_and_noisy_times_are_told_apart() {
        let quiet: Vec<f64> = (0..100).map(|i| 1.0 + 1e-4 * f64::from(i)).collect();
        let judged = judge(&quiet, None, None);
        assert!(!judged.noisy && judged.sentence.contains("quiet"), "{}", judged.sentence);
        let disturbed: Vec<f64> = (0..100).map(|i| if i % 10 == 0 { 2.0 } else { 1.0 }).collect();
        let judged = judge(&disturbed, None, None);
        assert!(judged.noisy && judged.p95_slowdown == 2.0 && judged.median_slowdown == 1.0);
    }

    #[test]
    fn stolen_time_alone_makes_noise() {
        let before = ProcessorTimes::parse("cpu  100 0 0 100 0 0 0 10 50 0\ncpu0 1 2 3\n");
        let after = ProcessorTimes::parse("cpu  180 0 0 110 0 0 0 20 90 0\n");
        let judged = judge(&[1.0, 1.0], before, after);
        assert_eq!(judged.steal_fraction, Some(0.1));
        assert!(judged.noisy && judged.sentence.contains("10.0 %"), "{}", judged.sentence);
    }

    #[test]
    fn odd_texts_and_no_times_are_no_trouble() {
        for text in ["", "cpu", "cpu  a b", "cpu  1 2 3"] {
            assert_eq!(ProcessorTimes::parse(text), None, "{text}");
        }
        let judged = judge(&[], None, None);
        assert!(judged.median_slowdown == 1.0 && judged.sentence.contains("does not tell"));
    }
}
