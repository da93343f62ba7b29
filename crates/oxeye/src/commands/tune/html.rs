//! The report of a project as a page.

use super::report::{FileReport, TuneReport};
use crate::commands::apply_command;
use crate::openmp::SIMD_FLAG;
use crate::stages::{
    NestReport, Unchanged, about, flows, names, nest_entry, program_times, shared_time, unread,
};
use oxeye_profile::{
    About, DataFlow, FileEntry, NestEntry, ProjectData, ReportData, UnreadEntry, html_project_report,
};
use std::collections::BTreeMap;

impl TuneReport {
    /// The report as one HTML file with plots that needs nothing else: files, nests before and after, what could not be read,
    /// and where the run's own time went. `None` without a host profile: there is no roofline then.
    pub fn to_html(&self) -> Option<String> {
        let reports = || self.files.iter().filter_map(|file| file.report.as_ref());
        let changed = self.files.iter().any(|file| file.changed);
        let mut notes = self.notes.clone();
        for report in reports() {
            notes.extend(
                report.notes.iter().filter(|note| !notes.contains(note)).cloned().collect::<Vec<_>>(),
            );
        }
        if changed && !self.added.is_empty() {
            let linked = if self.added == [SIMD_FLAG] { "" } else { ", and the program linked," };
            notes.push(format!("The tuned files are compiled{linked} with {}.", self.added.join(" ")));
        }
        let data = ProjectData {
            report: ReportData {
                title: self.run.clone(),
                build: Some(self.build.clone()),
                about: About {
                    counted: Some((
                        self.files.iter().flat_map(FileReport::tuned).count(),
                        self.files.iter().flat_map(FileReport::counted).count(),
                    )),
                    commands: self.commands(),
                    flows: self.flows(),
                    ..about(&self.program)
                },
                program: program_times(&self.program, changed),
                host: reports().find_map(|report| report.host_profile.clone())?,
                threads: reports().map(|report| report.threads).max().unwrap_or(1),
                nests: self.nest_entries(),
                shared: self.shared_time(),
                unread: Some(self.unread()),
                sections: Vec::new(),
                notes,
            },
            files: self.files.iter().map(file_entry).collect(),
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

    /// What to type now, and what for.
    fn commands(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        if let Some(patch) = &self.patch {
            let apply = apply_command(patch);
            all.push(("Apply the patch".to_owned(), apply.clone()));
            all.push(("Revert it".to_owned(), apply.replacen("git apply", "git apply -R", 1)));
            all.push(("Build and run it as before".to_owned(), format!("{}\n{}", self.build, self.run)));
        }
        all
    }

    /// What the nests on the page hand on to each other.
    fn flows(&self) -> Vec<DataFlow> {
        let of_file = |(k, file)| nests_on_page(file).map(move |nest| (k, nest));
        let all = self.files.iter().enumerate().flat_map(of_file);
        flows(all.enumerate().map(|(number, (file, nest))| (number, file, nest)))
    }

    /// The files by their names, where no other one has that.
    fn file_names(&self) -> Vec<String> {
        let mut files: BTreeMap<_, usize> = BTreeMap::new();
        self.files.iter().for_each(|file| *files.entry(file.path.file_name()).or_insert(0) += 1);
        let name = |file: &FileReport| match (file.path.file_name(), files.get(&file.path.file_name())) {
            (Some(name), Some(1)) => name.to_string_lossy().into_owned(),
            _ => file.path.display().to_string(),
        };
        self.files.iter().map(name).collect()
    }

    /// Which nests on the page do the work of others of their file, too.
    fn shared_time(&self) -> Vec<String> {
        let of_file = |(name, file): (String, &FileReport)| {
            let told = shared_time(&nests_on_page(file).collect::<Vec<_>>(), &names);
            told.into_iter().map(move |sentence| format!("{name}: {sentence}"))
        };
        self.file_names().into_iter().zip(&self.files).flat_map(of_file).collect()
    }

    /// The nests of all files, numbered through, with their files in their names.
    fn nest_entries(&self) -> Vec<NestEntry> {
        let mut entries = Vec::new();
        for (name, file) in self.file_names().iter().zip(&self.files) {
            for mut entry in nests_on_page(file).filter_map(nest_entry) {
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
        let of_file = |file: &FileReport| Some(unread(file.report.as_ref()?, &file.path));
        let mut found: Vec<UnreadEntry> = self.files.iter().filter_map(of_file).flatten().collect();
        found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
        found
    }
}

/// The nests of a file that have an entry.
fn nests_on_page(file: &FileReport) -> impl Iterator<Item = &NestReport> {
    let nests = file.report.iter().flat_map(|report| &report.nests);
    nests.filter(|nest| matters(nest) && nest.profile_before.is_some())
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
        tunable: file.report.as_ref().and_then(|report| {
            report.coverage.as_ref()?;
            Some(nests().filter_map(|nest| nest.time.own_share).sum())
        }),
        nests: nests().count(),
        tuned,
        note: file.note.as_ref().map(|note| format!("left as it is: {note}")),
    }
}
