//! What was read and rewritten, construct by construct.

use crate::examine::Examined;
use crate::generate::Construct;
use crate::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Sums over programs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub n_programs: usize,
    /// Programs of which at least one nest was rewritten.
    pub n_with_rewritten: usize,
    /// Versions that were built and run.
    pub n_versions: usize,
    /// Nests that were read.
    pub n_nests: usize,
    /// Blocks in place of nests, over all versions.
    pub n_blocks: usize,
    rows: BTreeMap<Construct, Row>,
    not_rendered: BTreeMap<String, usize>,
}

/// Pieces with a construct.
#[derive(Clone, Debug, Default)]
struct Row {
    n_pieces: usize,
    /// All of their loops were read.
    n_read: usize,
    /// Some of them were.
    n_partly: usize,
    n_rewritten: usize,
    reasons: BTreeMap<String, usize>,
}

impl Tally {
    /// Adds a program.
    pub fn add(&mut self, program: &Program, examined: &Examined) {
        self.n_programs += 1;
        self.n_with_rewritten += usize::from(examined.n_rewritten > 0);
        self.n_versions += examined.n_versions;
        self.n_nests += examined.n_nests;
        self.n_blocks += examined.n_rewritten;
        for piece in &program.pieces {
            let Some(reading) = examined.pieces.get(&piece.number) else { continue };
            for construct in &piece.constructs {
                let row = self.rows.entry(*construct).or_default();
                row.n_pieces += 1;
                match (reading.n_nests, reading.kept.is_empty()) {
                    (0, _) => {}
                    (_, true) => row.n_read += 1,
                    (_, false) => row.n_partly += 1,
                }
                row.n_rewritten += usize::from(reading.n_rewritten > 0);
                for reason in &reading.kept {
                    *row.reasons.entry(without_names(reason)).or_default() += 1;
                }
            }
        }
        for reason in &examined.not_rendered {
            let reason = reason.split_once(": ").map_or(reason.as_str(), |(_, rest)| rest);
            *self.not_rendered.entry(without_names(reason)).or_default() += 1;
        }
    }

    /// Constructs that no program had.
    pub fn missing(&self) -> Vec<Construct> {
        Construct::ALL.iter().copied().filter(|c| !self.rows.contains_key(c)).collect()
    }

    /// Constructs of which no piece was rewritten.
    pub fn never_rewritten(&self) -> Vec<Construct> {
        self.rows.iter().filter(|(_, row)| row.n_rewritten == 0).map(|(construct, _)| *construct).collect()
    }

    /// A line a construct: pieces with it, how many of them were read wholly or partly, how many were rewritten, and the
    /// most frequent reason for loops that stay.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} programs, {} with nests that were rewritten; {} nests read, {} blocks in {} versions\n\n\
             {:<36} {:>6} {:>6} {:>6} {:>6}  why loops of the others stay\n",
            self.n_programs,
            self.n_with_rewritten,
            self.n_nests,
            self.n_blocks,
            self.n_versions,
            "construct",
            "pieces",
            "read",
            "partly",
            "new"
        );
        for construct in Construct::ALL {
            let Row { n_pieces, n_read, n_partly, n_rewritten, reasons } =
                self.rows.get(construct).cloned().unwrap_or_default();
            let most = reasons.iter().max_by_key(|(_, n)| **n);
            let why = most.map_or(String::new(), |(reason, n)| format!("{n} x {reason}"));
            let line = format!(
                "{:<36} {n_pieces:>6} {n_read:>6} {n_partly:>6} {n_rewritten:>6}  {why}",
                construct.words()
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for (what, constructs) in
            [("in no program", self.missing()), ("never rewritten", self.never_rewritten())]
        {
            if !constructs.is_empty() {
                let words: Vec<&str> = constructs.into_iter().map(Construct::words).collect();
                let _ = writeln!(text, "\n{what}: {}", words.join("; "));
            }
        }
        if !self.not_rendered.is_empty() {
            text += "\nrecipes that gave no text:\n";
            let mut reasons: Vec<_> = self.not_rendered.iter().collect();
            reasons.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
            for (reason, n) in reasons.into_iter().take(12) {
                let _ = writeln!(text, "  {n} x {reason}");
            }
        }
        text
    }
}

/// A reason without the names of the program, so that like ones are alike.
fn without_names(reason: &str) -> String {
    let parts: Vec<&str> = reason.split('`').collect();
    let kept = parts
        .iter()
        .enumerate()
        .map(|(k, part)| if k % 2 == 0 { (*part).to_owned() } else { "`…`".to_owned() });
    let text: String = kept.collect();
    text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect::<String>().replace("##", "#")
}
