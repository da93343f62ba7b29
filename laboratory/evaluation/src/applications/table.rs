//! What was found of each program: kept as JSON, shown as Markdown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::definition::{Application, Program};
use crate::bench::build::Tuning;
use crate::bench::stats::{Ratio, median};
use crate::machine::Machine;

/// Everything about one program at one size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    application: String,
    title: String,
    program: String,
    what: String,
    size: String,
    unit: String,
    per: f64,
    against_untuned: f64,
    against_peer: f64,
    threads: u16,
    cpu: String,
    date: String,
    commit: String,
    /// Options of `oxeye optimize`.
    #[serde(default)]
    options: String,
    /// The `-D` options it was timed with.
    pub(super) sizes: String,
    /// Largest difference from the oracle, as a share of a field's maximum, of the untuned program.
    pub(super) oracle_before: Option<f64>,
    /// In how many fields the oracle noticed a changed element.
    pub(super) changes_found: Option<usize>,
    /// As `oracle_before`, of the tuned program.
    pub(super) oracle_after: Option<f64>,
    /// Largest difference of the tuned program from the untuned one at the sizes of the timing.
    pub(super) tuned_difference: Option<f64>,
    /// As `tuned_difference`, of the peer.
    pub(super) peer_difference: Option<f64>,
    /// What tuning did.
    pub(super) tuning: Option<TuningFacts>,
    /// Seconds of each run of the untuned program.
    pub(super) untuned: Vec<f64>,
    /// Seconds of each run of the tuned program.
    pub(super) tuned: Vec<f64>,
    /// Seconds of each run of the peer.
    pub(super) peer: Option<Vec<f64>>,
    /// The work of a run.
    pub(super) work: Option<f64>,
    /// Why there is no more.
    pub(super) failure: Option<String>,
}

/// What stays the same over all programs of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions<'a> {
    /// The name of the sizes.
    pub(super) size: &'a str,
    /// Threads of tuned programs and peers.
    pub(super) threads: u16,
    /// Options of `oxeye optimize`.
    pub(super) options: &'a str,
    /// Where and when.
    pub(super) machine: &'a Machine,
}

/// What is kept of a tuning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TuningFacts {
    seconds: f64,
    nests: usize,
    tuned_nests: usize,
}

impl From<&Tuning> for TuningFacts {
    fn from(tuning: &Tuning) -> TuningFacts {
        TuningFacts { seconds: tuning.seconds, nests: tuning.nests, tuned_nests: tuning.tuned_nests }
    }
}

impl Row {
    /// A row in which nothing has been measured yet.
    pub(super) fn new(application: &Application, program: &Program, conditions: &Conditions<'_>) -> Row {
        let Conditions { size, threads, options, machine } = *conditions;
        Row {
            application: application.name.clone(),
            title: application.title.clone(),
            program: program.name.clone(),
            what: program.what.clone(),
            size: size.to_owned(),
            unit: program.unit.clone(),
            per: program.per,
            against_untuned: application.against_untuned,
            against_peer: program.against_peer.unwrap_or(application.against_peer),
            threads,
            cpu: machine.cpu.clone(),
            date: machine.date.clone(),
            commit: machine.commit.clone(),
            options: options.to_owned(),
            sizes: String::new(),
            oracle_before: None,
            changes_found: None,
            oracle_after: None,
            tuned_difference: None,
            peer_difference: None,
            tuning: None,
            untuned: Vec::new(),
            tuned: Vec::new(),
            peer: None,
            work: None,
            failure: None,
        }
    }

    /// How many times as fast as the untuned program the tuned one is.
    fn gain(&self) -> Option<Ratio> {
        ratio(&self.untuned, &self.tuned)
    }

    /// How many times as fast as the peer the tuned program is.
    fn lead(&self) -> Option<Ratio> {
        ratio(self.peer.as_ref()?, &self.tuned)
    }

    /// The rate of these runs, in the program's unit.
    fn rate(&self, seconds: &[f64]) -> String {
        let Some((work, seconds)) = self.work.zip(median(seconds.to_vec())) else { return "-".to_owned() };
        let rate = work / seconds / self.per;
        let digits = match rate {
            100.0.. => 0,
            1.0.. => 1,
            _ => 3,
        };
        format!("{rate:.digits$}")
    }

    /// The row in a line, for the terminal.
    pub(super) fn in_words(&self) -> String {
        if let Some(failure) = &self.failure {
            return format!("failed: {failure}");
        }
        let mut text = String::new();
        if let (Some(before), Some(found)) = (self.oracle_before, self.changes_found) {
            text = format!("oracle {before:.1e}, {found} changed fields found");
        }
        if let Some(gain) = self.gain() {
            let rates = (self.rate(&self.untuned), self.rate(&self.tuned), &self.unit);
            let _ = write!(text, "; {} -> {} {}, {:.2}x", rates.0, rates.1, rates.2, gain.ratio);
        }
        if let (Some(lead), Some(peer)) = (self.lead(), &self.peer) {
            let _ = write!(text, "; peer {}, {:.2}x", self.rate(peer), lead.ratio);
        }
        text
    }
}

fn ratio(theirs: &[f64], ours: &[f64]) -> Option<Ratio> {
    let ratio = median(theirs.to_vec())? / median(ours.to_vec())?;
    let rounds = theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours);
    let (low, high) = rounds.fold((ratio, ratio), |(low, high), r| (low.min(r), high.max(r)));
    Some(Ratio { ratio, low, high })
}

/// The rows in `path`; none if there is no such file.
pub(super) fn read(path: &Path) -> Result<Vec<Row>> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} has no rows", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Puts `row` in the place of the one of the same program and size.
pub(super) fn put(rows: &mut Vec<Row>, row: Row) {
    let key = |row: &Row| (row.application.clone(), row.program.clone(), row.size.clone());
    rows.retain(|other| key(other) != key(&row));
    rows.push(row);
    rows.sort_by_key(key);
}

/// Writes both files into `out`.
pub(super) fn write(out: &Path, rows: &[Row]) -> Result<()> {
    let json = serde_json::to_string_pretty(rows)? + "\n";
    for (name, text) in [("applications.json", json), ("applications.md", markdown(rows))] {
        let path = out.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The Markdown file.
fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Applications\n\nWritten by `cargo xtask applications`. Rates are of medians of interleaved runs; untuned and \
         tuned programs have the same flags; the peer is the package's own code on the same inputs. In brackets the \
         smallest and largest ratio within one round; in bold what stays below the aim. `oracle`: the largest difference \
         from the package (or the reference that stands in its place), before and after tuning, as a share of the field's \
         maximum; allowed are 1e-5 (f32), 1e-10 (f64), 0 (integers). An element that is changed was noticed in every \
         field.\n",
    );
    let mut names: Vec<&str> = rows.iter().map(|row| row.application.as_str()).collect();
    names.dedup();
    for name in names {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.application == name).collect();
        let Some(first) = rows.first() else { continue };
        let _ = writeln!(
            text,
            "\n## {}\n\nAims: {}x the untuned program, {}x the package.\n\n\
             | program | size | oracle | nests tuned | unit | untuned | tuned | gain | peer | lead |\n\
             |---|---|---|---|---|---|---|---|---|---|",
            first.title, first.against_untuned, first.against_peer
        );
        for row in &rows {
            let _ = writeln!(text, "{}", line(row));
        }
        text.push('\n');
        for row in &rows {
            let Row { program, size, what, sizes, threads, cpu, date, commit, options, .. } = row;
            let options = if options.is_empty() { String::new() } else { format!("; `{options}`") };
            let _ = writeln!(
                text,
                "- {program}, {size}: {what}; `{sizes}`; {threads} threads{options}; {cpu}; {date}; commit {commit}"
            );
        }
    }
    text
}

fn line(row: &Row) -> String {
    if let Some(failure) = &row.failure {
        let failure = failure.lines().next().unwrap_or("unknown").replace('|', "/");
        return format!("| {} | {} | **failed: {failure}** | | | | | | | |", row.program, row.size);
    }
    let difference = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0e}"));
    let against = |ratio: Option<Ratio>, aim: f64| {
        ratio.map_or("-".to_owned(), |Ratio { ratio, low, high }| {
            let bold = if ratio < aim { "**" } else { "" };
            format!("{bold}{ratio:.2}x{bold} ({low:.2}-{high:.2})")
        })
    };
    format!(
        "| {} | {} | {}, {} | {} | {} | {} | {} | {} | {} | {} |",
        row.program,
        row.size,
        difference(row.oracle_before),
        difference(row.oracle_after),
        row.tuning.as_ref().map_or("-".to_owned(), |t| format!("{} of {}", t.tuned_nests, t.nests)),
        row.unit,
        row.rate(&row.untuned),
        row.rate(&row.tuned),
        against(row.gain(), row.against_untuned),
        row.peer.as_ref().map_or("-".to_owned(), |peer| row.rate(peer)),
        against(row.lead(), row.against_peer),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str, tuned: &[f64]) -> Row {
        let facts = serde_json::json!({
            "application": "waves", "title": "Waves", "program": program, "what": "waves", "size": "small",
            "unit": "Mcells/s", "per": 1e6, "against_untuned": 3.0, "against_peer": 2.0, "threads": 2,
            "cpu": "a processor", "date": "today", "commit": "abc", "sizes": "-DN=8", "oracle_before": 1e-7,
            "changes_found": 2, "oracle_after": 2e-7, "tuned_difference": 1e-7, "peer_difference": 1e-7,
            "tuning": {"seconds": 9.0, "nests": 3, "tuned_nests": 2}, "untuned": [4.0, 4.0, 4.0],
            "tuned": tuned, "peer": [2.0, 2.0, 2.2], "work": 1e7, "failure": null
        });
        serde_json::from_value(facts).expect("it is a row")
    }

    #[test]
    fn what_stays_below_the_aim_is_bold() {
        let good = line(&row("a", &[1.0, 1.0, 1.0]));
        assert!(good.contains("| 2.5 | 10.0 | 4.00x (4.00-4.00) | 5.0 | 2.00x (2.00-2.20) |"), "{good}");
        let slow = line(&row("a", &[2.0, 2.0, 2.0]));
        assert!(slow.contains("**2.00x**") && slow.contains("**1.00x**"), "{slow}");
    }

    #[test]
    fn rows_replace_those_of_the_same_program() {
        let mut rows = vec![row("b", &[1.0]), row("a", &[1.0])];
        put(&mut rows, row("b", &[3.0]));
        let names: Vec<&str> = rows.iter().map(|row| row.program.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(rows[1].tuned, [3.0]);
        assert_eq!(markdown(&rows).matches("## Waves").count(), 1);
    }
}
