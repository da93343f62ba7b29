//! The report as a page.

use super::report::{NestReport, ProgramReport, Report};
use super::shared_time::{names, shared_time};
use super::unread::unread;
use oxeye_host::{Provenance, Quantity, now_rfc3339};
use oxeye_profile::{About, DataFlow, Listing, NestEntry, ProgramTimes, ReportData, html_report};
use std::collections::BTreeMap;

impl Report {
    /// The report as one HTML file with plots that needs nothing else. `None` without a host profile: there is no
    /// roofline then.
    pub fn to_html(&self) -> Option<String> {
        let counted = || self.nests.iter().filter(|nest| nest.counts(self.changed));
        let data = ReportData {
            title: self.input.display().to_string(),
            build: Some(format!("{} {}", self.build.compiler, self.build.args.join(" "))),
            about: About {
                counted: Some((counted().filter(|nest| nest.unchanged.is_none()).count(), counted().count())),
                commands: self.commands(),
                flows: flows(self.nests.iter().map(|nest| (nest.id, 0, nest))),
                ..about(&self.program)
            },
            program: program_times(&self.program, self.changed),
            host: self.host_profile.clone()?,
            threads: self.threads,
            nests: self.nests.iter().filter_map(nest_entry).collect(),
            shared: shared_time(
                &self.nests.iter().filter(|nest| nest.profile_before.is_some()).collect::<Vec<_>>(),
                &names,
            ),
            unread: Some(unread(self, &self.input)),
            sections: Vec::new(),
            notes: self.notes.clone(),
        };
        Some(html_report(&data))
    }

    /// What to type now, and what for.
    fn commands(&self) -> Vec<(String, String)> {
        if !self.changed {
            return Vec::new();
        }
        let words = |words: &[String]| shlex::try_join(words.iter().map(String::as_str)).ok();
        let (input, output) = (self.input.display().to_string(), self.output.display().to_string());
        let compiler = [vec![self.build.compiler.clone()], self.build.args.clone()].concat();
        // Libraries stand behind what needs them.
        let compile = [
            vec![self.build.compiler.clone(), output.clone()],
            self.build.args.clone(),
            self.build.added.clone(),
        ];
        let compile = compile.concat();
        let verify = ["oxeye", "verify", &input, "--tuned", &output, "--"].map(str::to_owned).to_vec();
        let all = [
            ("Compile it", words(&compile)),
            ("See what changed", words(&["diff".into(), "-u".into(), input.clone(), output.clone()])),
            ("Look for errors by debug builds", words(&[verify, compiler].concat())),
        ];
        all.into_iter().filter_map(|(what, command)| Some((what.to_owned(), command?))).collect()
    }
}

/// When and by what a page is made, and what was compared of the program.
pub(crate) fn about(program: &ProgramReport) -> About {
    let mut compared = Vec::new();
    if program.verified {
        let tolerance = match program.tolerance {
            Some(tolerance) => format!("numbers may be apart by {tolerance:e} of the larger one"),
            None => "byte for byte".to_owned(),
        };
        compared.push(format!("compared: exit code, {}; {tolerance}", program.compared.join(", ")));
    }
    compared.extend(program.compared_less());
    About {
        made_at: Some(now_rfc3339()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        compared,
        ..About::default()
    }
}

/// The figures of a program, and whether it is changed.
pub(crate) fn program_times(program: &ProgramReport, changed: bool) -> ProgramTimes {
    let time = |ms: Option<f64>| {
        let spread = program.spread.unwrap_or(0.0);
        ms.map(|ms| measured(1e6 * ms, spread, program.samples))
    };
    ProgramTimes {
        before_ns: time(program.baseline_ms),
        after_ns: time(program.optimized_ms).filter(|_| changed),
        speedup: program.speedup,
        speedup_interval: program.speedup_interval.filter(|_| changed),
        verified: program.verified,
        max_rel_error: program.max_rel_error,
        note: program.mismatch.clone().or_else(|| program.note.clone()),
    }
}

/// What nests hand on, each given with its number on the page and its file: an array goes from the last nest before that writes it in
/// the same function, or else from the last one behind, in an earlier run.
pub(crate) fn flows<'a>(nests: impl Iterator<Item = (usize, usize, &'a NestReport)>) -> Vec<DataFlow> {
    let nests: Vec<_> = nests.filter(|(.., nest)| !nest.time.covered).collect();
    let mut found: BTreeMap<(usize, usize), DataFlow> = BTreeMap::new();
    for (at, (to, file, reader)) in nests.iter().enumerate() {
        for array in &reader.source.reads {
            let writes = |k: &usize| {
                let (_, other, writer) = &nests[*k];
                let is_beside = other == file && writer.function == reader.function;
                is_beside && writer.source.writes.iter().any(|written| written.name == array.name)
            };
            let writer = (0..at).rev().find(writes).or_else(|| (at + 1..nests.len()).rev().find(writes));
            let Some((from, ..)) = writer.map(|k| nests[k]) else { continue };
            let new = DataFlow { from, to: *to, arrays: Vec::new(), bytes: 0.0 };
            let flow = found.entry((from, *to)).or_insert(new);
            flow.arrays.push(array.name.clone());
            flow.bytes += array.bytes.unwrap_or(0) as f64;
        }
    }
    found.into_values().collect()
}

/// A nest with a profile.
pub(crate) fn nest_entry(nest: &NestReport) -> Option<NestEntry> {
    let interval = nest.speedup_interval.map_or(0.0, |(low, high)| 0.5 * (high - low));
    let speedup = nest.speedup.filter(|_| nest.recipe.is_some());
    let listing = |code: &String| Listing { heading: "emitted code".into(), text: code.clone() };
    let ns = |ms: f64| 1e6 * ms;
    Some(NestEntry {
        after: nest.profile_after.clone(),
        recipe: nest.recipe.clone(),
        learnt_from: nest.learnt_from(),
        steps: nest.steps.clone(),
        speedup: speedup.map(|s| measured(s, interval / s, nest.samples)),
        verified: nest.verified,
        refused: nest.refused.clone(),
        times_ns: nest.baseline_ms.map(ns).zip(nest.optimized_ms.map(ns)),
        own_share: nest.time.own_share,
        guard: nest.guard.as_ref().map(|guard| guard.in_words()),
        original: nest.source.original.clone(),
        listings: nest.source.code.iter().map(listing).collect(),
        note: nest.note.clone(),
        help: nest.help.clone(),
        ..NestEntry::new(nest.profile_before.clone()?)
    })
}

/// A measured figure.
pub(crate) fn measured(value: f64, spread: f64, samples: usize) -> Quantity {
    Quantity { value, spread, samples: samples as u32, provenance: Provenance::Measured }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::{ArrayReport, SourceReport};

    #[test]
    fn arrays_flow_from_the_last_nest_that_writes_them() {
        let arrays = |names: &[&str]| {
            let array = |name: &&str| ArrayReport { name: (*name).to_owned(), bytes: Some(8) };
            names.iter().map(array).collect::<Vec<_>>()
        };
        let nest = |function: &str, reads: &[&str], writes: &[&str]| NestReport {
            function: function.into(),
            source: SourceReport { reads: arrays(reads), writes: arrays(writes), ..SourceReport::default() },
            ..NestReport::default()
        };
        let nests = [
            nest("f", &["x", "c"], &["y"]),
            nest("f", &["y", "c"], &["z"]),
            nest("f", &["y", "z"], &["x"]),
            nest("g", &["x"], &["x"]),
        ];
        let found = flows(nests.iter().enumerate().map(|(id, nest)| (id, 0, nest)));
        let found: Vec<_> = found.iter().map(|flow| (flow.from, flow.to, flow.arrays.join(" "))).collect();
        let wanted = [(0, 1, "y"), (0, 2, "y"), (1, 2, "z"), (2, 0, "x")];
        assert_eq!(found, wanted.map(|(from, to, arrays)| (from, to, arrays.to_owned())));
    }
}
