//! What one has to know to trust the figures and the result: once a run, however many files it is true of.

use super::super::same_floats;
use super::nests::Place;
use super::run::{File, Run};
use oxeye::{LineReport, NestReport, Unchanged};

/// Sentences, the most important first.
pub(super) fn sentences(run: &Run<'_>) -> Vec<String> {
    let all = [
        kept_and_compared(run),
        run.files.iter().flat_map(ill_conditioned).collect(),
        of_run(run),
        notes(&run.files),
    ];
    all.concat()
}

/// Those that are about the program and the run, not about single nests and files.
pub(super) fn of_program(run: &Run<'_>) -> Vec<String> {
    [kept_and_compared(run), of_run(run)].concat()
}

/// Why nothing is kept, and what was dropped and not compared.
fn kept_and_compared(run: &Run<'_>) -> Vec<String> {
    let mut all: Vec<String> = run.program.not_kept.iter().map(ToString::to_string).collect();
    if let Some(mismatch) = &run.program.mismatch {
        let mismatch = mismatch.lines().next().unwrap_or_default();
        all.push(format!("some new code was dropped: the program behaves differently with it ({mismatch})"));
    }
    all.extend(run.program.compared_less());
    all
}

/// What became of floating-point results, and the notes on the run.
fn of_run(run: &Run<'_>) -> Vec<String> {
    let fp: Vec<_> = run.reports().map(|report| &report.fp).collect();
    let mut all = Vec::from_iter(same_floats(&fp));
    all.extend(run.program.note.clone().filter(|_| run.program.not_kept.is_none()));
    all.extend(run.notes.iter().cloned());
    all
}

/// The nests of which roundings decide the results.
fn ill_conditioned(file: &File<'_>) -> Vec<String> {
    let nests = file.report.into_iter().flat_map(|report| &report.nests);
    let sentence = |nest: &NestReport| {
        let found = nest.conditioning.as_ref()?;
        let place = Place::of(file, &nest.line);
        let (lost, digits, argument) = (found.digits_lost, found.digits, &found.argument);
        Some(format!("{place}: roundings change up to {lost:.0} of {digits:.0} digits of `{argument}`"))
    };
    nests.filter_map(sentence).collect()
}

/// The notes of files, each once, with how many files it is of.
fn notes(files: &[File<'_>]) -> Vec<String> {
    const THE_FILE: &str = "\0";
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for file in files {
        let Some(report) = file.report else { continue };
        let path = report.input.display().to_string();
        for note in report.notes.iter().filter(|note| !is_of_dropped(note, &report.nests)) {
            let note = note.replace(&path, THE_FILE);
            match all.iter_mut().find(|(known, _)| *known == note) {
                Some((_, names)) => names.push(&file.name),
                None => all.push((note, vec![&file.name])),
            }
        }
    }
    let named = |(note, names): (String, Vec<&str>)| match names.as_slice() {
        [name] => note.replace(THE_FILE, name),
        names => note.replace(THE_FILE, &format!("each of {} files", names.len())),
    };
    all.into_iter().map(named).collect()
}

/// Whether a note says of a nest what the reasons for unchanged ones say already.
fn is_of_dropped(note: &str, nests: &[NestReport]) -> bool {
    let mut dropped = nests.iter().filter(|nest| nest.unchanged == Some(Unchanged::Dropped));
    dropped.any(|nest| {
        let line = LineReport { last: None, column: None, ..nest.line.clone() };
        note.starts_with(&format!("line {line}: "))
    })
}
