//! The report as a page.

use super::report::{NestReport, Report};
use oxeye_host::{Provenance, Quantity};
use oxeye_profile::{Listing, NestEntry, ProgramTimes, ReportData, html_report};

impl Report {
    /// The report as one HTML file with plots that needs nothing else. `None` without a host profile: there is no
    /// roofline then.
    pub fn to_html(&self) -> Option<String> {
        let program = &self.program;
        let time = |ms: Option<f64>| {
            let spread = program.spread.unwrap_or(0.0);
            ms.map(|ms| measured(1e6 * ms, spread, program.samples))
        };
        let data = ReportData {
            title: self.input.display().to_string(),
            build: Some(format!("{} {}", self.build.compiler, self.build.args.join(" "))),
            made_at: None,
            program: ProgramTimes {
                before_ns: time(program.baseline_ms),
                after_ns: time(program.optimized_ms).filter(|_| self.changed),
                speedup: program.speedup,
                verified: program.verified,
                max_rel_error: program.max_rel_error,
                note: program.mismatch.clone().or_else(|| program.note.clone()),
            },
            host: self.host_profile.clone()?,
            threads: self.threads,
            nests: self.nests.iter().filter_map(nest_entry).collect(),
            sections: Vec::new(),
            notes: self.notes.clone(),
        };
        Some(html_report(&data))
    }
}

/// A nest with a profile.
pub(crate) fn nest_entry(nest: &NestReport) -> Option<NestEntry> {
    let interval = nest.speedup_interval.map_or(0.0, |(low, high)| 0.5 * (high - low));
    let speedup = nest.speedup.filter(|_| nest.recipe.is_some());
    Some(NestEntry {
        after: nest.profile_after.clone(),
        recipe: nest.recipe.clone(),
        learnt_from: nest.learnt_from(),
        steps: nest.steps.clone(),
        speedup: speedup.map(|s| measured(s, interval / s, nest.samples)),
        verified: nest.verified,
        refused: nest.refused.clone(),
        listings: nest
            .code
            .iter()
            .map(|code| Listing { heading: "emitted code".into(), text: code.clone() })
            .collect(),
        note: nest.note.clone(),
        ..NestEntry::new(nest.profile_before.clone()?)
    })
}

/// A measured figure.
pub(crate) fn measured(value: f64, spread: f64, samples: usize) -> Quantity {
    Quantity { value, spread, samples: samples as u32, provenance: Provenance::Measured }
}
