//! The report of a project as a page.

use super::report::{FileReport, TuneReport};
use crate::coverage::LineReport;
use crate::stages::{NestReport, Report, Unchanged, measured, nest_entry};
use oxeye_profile::{
    FileEntry, NestEntry, ProgramTimes, ProjectData, ReportData, UnreadEntry, html_project_report,
};
use std::collections::BTreeMap;

/// Loops with a smaller share of the time are not listed.
const LEAST_SHARE: f64 = 0.005;

impl TuneReport {
    /// The report as one HTML file with plots that needs nothing else: files, nests before and after, what could not be read,
    /// and where the run's own time went. `None` without a host profile: there is no roofline then.
    pub fn to_html(&self) -> Option<String> {
        let reports = || self.files.iter().filter_map(|file| file.report.as_ref());
        let program = &self.program;
        let time =
            |ms: Option<f64>| ms.map(|ms| measured(1e6 * ms, program.spread.unwrap_or(0.0), program.samples));
        let changed = self.files.iter().any(|file| file.changed);
        let mut notes = self.notes.clone();
        for report in reports() {
            notes.extend(
                report.notes.iter().filter(|note| !notes.contains(note)).cloned().collect::<Vec<_>>(),
            );
        }
        if changed && !self.added.is_empty() {
            notes.push(format!(
                "The tuned files are compiled, and the program linked, with {}.",
                self.added.join(" ")
            ));
        }
        let data = ProjectData {
            report: ReportData {
                title: self.run.clone(),
                build: Some(self.build.clone()),
                made_at: None,
                program: ProgramTimes {
                    before_ns: time(program.baseline_ms),
                    after_ns: time(program.optimized_ms).filter(|_| changed),
                    speedup: program.speedup,
                    verified: program.verified,
                    max_rel_error: program.max_rel_error,
                    note: program.mismatch.clone().or_else(|| program.note.clone()),
                },
                host: reports().find_map(|report| report.host_profile.clone())?,
                threads: reports().map(|report| report.threads).max().unwrap_or(1),
                nests: self.nest_entries(),
                sections: Vec::new(),
                notes,
            },
            files: self.files.iter().map(file_entry).collect(),
            unread: self.unread(),
            elsewhere: self.elsewhere,
            phases: self
                .phases
                .iter()
                .map(|phase| (phase.phase.to_owned(), phase.seconds))
                .chain([("all".to_owned(), self.seconds)])
                .collect(),
        };
        Some(html_project_report(&data))
    }

    /// The nests of all files, numbered through, with their files in their names.
    fn nest_entries(&self) -> Vec<NestEntry> {
        let mut files: BTreeMap<_, usize> = BTreeMap::new();
        self.files.iter().for_each(|file| *files.entry(file.path.file_name()).or_insert(0) += 1);
        let mut entries = Vec::new();
        for file in &self.files {
            // The name will do where no other file has it.
            let name = match (file.path.file_name(), files.get(&file.path.file_name())) {
                (Some(name), Some(1)) => name.to_string_lossy().into_owned(),
                _ => file.path.display().to_string(),
            };
            for nest in file.report.iter().flat_map(|report| &report.nests).filter(|nest| matters(nest)) {
                let Some(mut entry) = nest_entry(nest) else { continue };
                if !file.changed {
                    (entry.after, entry.recipe, entry.speedup) = (None, None, None);
                    entry.note = file.note.clone().or(entry.note);
                }
                for profile in [Some(&mut entry.before), entry.after.as_mut()].into_iter().flatten() {
                    profile.id = entries.len();
                    profile.name = format!("{name}: {}", profile.name);
                }
                entries.push(entry);
            }
        }
        entries
    }

    /// The loops that stay as they are because they could not be read, those first that take most of the time.
    fn unread(&self) -> Vec<UnreadEntry> {
        let mut found = Vec::new();
        for file in &self.files {
            let Some(report) = &file.report else { continue };
            let Some(coverage) = &report.coverage else { continue };
            for unread in coverage.loops.iter().filter(|unread| unread.share >= LEAST_SHARE) {
                let (reason, help) = reason(report, &unread.line);
                let place = match &unread.line.file {
                    Some(_) => unread.line.to_string(),
                    None => format!("{}:{}", file.path.display(), unread.line),
                };
                found.push(UnreadEntry { place, share: Some(unread.share), reason, help });
            }
        }
        found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
        found
    }
}

/// Why a loop stays as it is, and what would help.
fn reason(report: &Report, line: &LineReport) -> (String, Option<String>) {
    if let Some(told) = report.diagnostics.iter().find(|told| told.loop_place().as_ref() == Some(line)) {
        return (told.message.clone(), told.help.clone());
    }
    let nest = report.nests.iter().find(|nest| nest.line == *line);
    let note = nest.and_then(|nest| nest.note.clone().or(nest.unchanged?.words().map(str::to_owned)));
    (note.unwrap_or_else(|| "it is no loop nest that can be tuned".to_owned()), None)
}

/// Whether a nest takes any time.
fn matters(nest: &NestReport) -> bool {
    nest.recipe.is_some() || !matches!(nest.unchanged, Some(Unchanged::TooShort | Unchanged::LeftOut))
}

fn file_entry(file: &FileReport) -> FileEntry {
    let nests = || file.report.iter().flat_map(|report| &report.nests).filter(|nest| matters(nest));
    let tuned = nests().filter(|nest| nest.recipe.is_some() && file.changed).count();
    FileEntry {
        path: file.path.display().to_string(),
        share: file.share,
        tunable: file.report.as_ref().and_then(|report| Some(report.coverage.as_ref()?.tunable)),
        nests: nests().count(),
        tuned,
        note: file.note.as_ref().map(|note| format!("left as it is: {note}")),
    }
}
