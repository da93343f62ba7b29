//! The contents of a dataset, and the noise of its numbers.

use crate::nest::Family;
use crate::record::{Record, Status};
use std::collections::BTreeMap;
use std::fmt;

/// A summary of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Rows.
    pub n_nests: usize,
    /// Rows without measurements of their own, which share those of another row.
    pub n_shared: usize,
    /// Why rows have no measurements, with counts.
    pub failures: BTreeMap<String, usize>,
    /// By family.
    pub families: Vec<FamilyStatistics>,
    /// By template.
    pub templates: Vec<TemplateStatistics>,
    /// Absolute differences of log2 speedup between a measurement and its repetition right afterwards.
    pub retest: Vec<f64>,
    /// The same between spellings with one normal form, measured at different times.
    pub spellings: Vec<f64>,
    /// log2 of time as generated over time in normal form.
    pub normal_forms: Vec<f64>,
    /// Times of the subjects, in seconds.
    pub seconds: Vec<f64>,
    /// Seconds of judging, compiling, and timing.
    pub cost: [f64; 3],
}

/// One family.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyStatistics {
    /// The family.
    pub family: Family,
    /// Nests with measurements.
    pub n_measured: usize,
    /// Templates that were timed, on average.
    pub n_timed: f64,
    /// log2 speedups of the best template of each nest.
    pub best: Vec<f64>,
}

/// One template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateStatistics {
    /// Its text.
    pub template: String,
    /// How often each status occurs.
    pub statuses: BTreeMap<Status, usize>,
    /// log2 speedups over the original nest.
    pub log_speedups: Vec<f64>,
    /// Nests for which it is the fastest, or the first of the fastest.
    pub n_best: usize,
}

impl Statistics {
    /// Of a dataset.
    pub fn of(records: &[Record]) -> Self {
        let measured: Vec<&Record> = records.iter().filter(|r| r.subject_seconds().is_some()).collect();
        let mut failures = BTreeMap::new();
        for why in records.iter().filter_map(|r| r.failure.as_ref()) {
            let short: String = why.chars().take(100).collect();
            *failures.entry(short).or_default() += 1;
        }
        let families = Family::ALL.into_iter().map(|family| {
            let of: Vec<&&Record> = measured.iter().filter(|r| r.nest.family == family).collect();
            let n_timed: usize =
                of.iter().map(|r| r.panel.iter().filter(|p| p.seconds.is_some()).count()).sum();
            FamilyStatistics {
                family,
                n_measured: of.len(),
                n_timed: n_timed as f64 / of.len().max(1) as f64,
                best: of.iter().filter_map(|r| best(r).map(|(_, s)| s)).collect(),
            }
        });
        let n_templates = measured.first().map_or(0, |r| r.panel.len());
        let templates = (0..n_templates).map(|t| {
            let mut statuses = BTreeMap::new();
            for response in measured.iter().filter_map(|r| r.panel.get(t)) {
                *statuses.entry(response.status).or_default() += 1;
            }
            TemplateStatistics {
                template: measured.first().map_or(String::new(), |r| r.panel[t].template.clone()),
                statuses,
                log_speedups: measured
                    .iter()
                    .filter_map(|r| r.log_speedups().get(t).copied().flatten())
                    .collect(),
                n_best: measured.iter().filter(|r| best(r).is_some_and(|(b, _)| b == t)).count(),
            }
        });
        let mut cost = [0.0; 3];
        for record in records {
            record.cost.iter().zip(&mut cost).for_each(|(c, sum)| *sum += c);
        }
        let normal_form = |r: &&Record| Some((r.source_seconds? / r.subject_seconds()?).log2());
        Self {
            n_nests: records.len(),
            n_shared: records.iter().filter(|r| r.same_form_as.is_some()).count(),
            failures,
            families: families.collect(),
            templates: templates.collect(),
            retest: measured.iter().filter_map(|r| r.retest_difference().map(f64::abs)).collect(),
            spellings: spelling_differences(&measured),
            normal_forms: measured.iter().filter_map(normal_form).collect(),
            seconds: measured.iter().filter_map(|r| r.subject_seconds()).collect(),
            cost,
        }
    }
}

/// The first of the fastest templates, and its log2 speedup.
fn best(record: &Record) -> Option<(usize, f64)> {
    let speedups = record.log_speedups();
    let known = speedups.iter().enumerate().filter_map(|(t, s)| Some((t, (*s)?)));
    known.reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// Between nests of one group that were measured in the same normal form.
fn spelling_differences(measured: &[&Record]) -> Vec<f64> {
    let mut first: BTreeMap<(&str, &str), &Record> = BTreeMap::new();
    let mut found = Vec::new();
    for record in measured {
        let key = (record.nest.group.as_str(), record.normal_hash.as_str());
        let earlier = *first.entry(key).or_insert(record);
        if std::ptr::eq(earlier, *record) || earlier.nest.sizes.values().ne(record.nest.sizes.values()) {
            continue;
        }
        let pairs = earlier.log_speedups().into_iter().zip(record.log_speedups()).skip(1);
        found.extend(pairs.filter_map(|(a, b)| Some((a? - b?).abs())));
    }
    found
}

/// The value of nearest rank to this share, not interpolated, as the default recipe database is made with it; NaN without
/// values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(position).copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_failed: usize = self.failures.values().sum();
        let n_measured: usize = self.families.iter().map(|x| x.n_measured).sum();
        writeln!(
            f,
            "{} nests: {n_measured} measured, {} with the normal form of another spelling, {n_failed} without",
            self.n_nests, self.n_shared
        )?;
        let [judging, compiling, timing] = self.cost.map(|c| c / n_measured.max(1) as f64);
        writeln!(
            f,
            "per measured nest {judging:.2} s judging, {compiling:.2} s compiling, {timing:.2} s timing"
        )?;
        writeln!(
            f,
            "one run takes {:.2} to {:.1} ms (5 % and 95 %), {:.2} in the middle",
            1e3 * percentile(&self.seconds, 0.05),
            1e3 * percentile(&self.seconds, 0.95),
            1e3 * percentile(&self.seconds, 0.5)
        )?;
        writeln!(f, "normal form over source: {}", Spread(&self.normal_forms))?;
        writeln!(f, "\nnoise of a speedup, as its ratio to a repetition")?;
        for (name, values) in [("right afterwards", &self.retest), ("later, other spelling", &self.spellings)]
        {
            let ratio = |share| 100.0 * (percentile(values, share).exp2() - 1.0);
            writeln!(
                f,
                "  {name:22} {:5} pairs: {:.1} % in the middle, {:.1} % at 75 %, {:.1} % at 90 %",
                values.len(),
                ratio(0.5),
                ratio(0.75),
                ratio(0.9)
            )?;
        }
        writeln!(f, "\nfamily        nests  templates  speedup of the best")?;
        for x in &self.families {
            writeln!(f, "{:12} {:6} {:10.1}  {}", x.family.name(), x.n_measured, x.n_timed, Spread(&x.best))?;
        }
        writeln!(f, "\n timed   none  wrong  other   best  speedup (5 %, middle, 95 %)   template")?;
        for x in &self.templates {
            let count = |s: Status| x.statuses.get(&s).copied().unwrap_or(0);
            let other =
                n_measured - count(Status::Timed) - count(Status::Inapplicable) - count(Status::Wrong);
            writeln!(
                f,
                "{:6} {:6} {:6} {other:6} {:6}  {:28}  {}",
                count(Status::Timed),
                count(Status::Inapplicable),
                count(Status::Wrong),
                x.n_best,
                Spread(&x.log_speedups).to_string(),
                x.template
            )?;
        }
        for (why, n) in &self.failures {
            writeln!(f, "{n} x {why}")?;
        }
        Ok(())
    }
}

/// Percentiles of logarithms, as factors.
struct Spread<'a>(&'a [f64]);

impl fmt::Display for Spread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| percentile(self.0, share).exp2());
        write!(f, "{low:.2} {middle:.2} {high:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn a_summary_counts_everything_once() {
        let mut records: Vec<Record> = (0..6).map(record).collect();
        records[5].panel.clear();
        records[5].failure = Some("no".into());
        let s = Statistics::of(&records);
        assert_eq!(s.n_nests, 6);
        assert_eq!(s.families.iter().map(|f| f.n_measured).sum::<usize>(), 5);
        assert_eq!(s.templates.iter().map(|t| t.n_best).sum::<usize>(), 5);
        assert!(s.templates.iter().all(|t| t.statuses.values().sum::<usize>() == 5));
        assert!(s.to_string().contains("1 x no"));
    }

    #[test]
    fn percentiles_of_few_values() {
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(&[1.0, 2.0], 1.0), 2.0);
        assert!(percentile(&[], 0.5).is_nan());
    }
}
