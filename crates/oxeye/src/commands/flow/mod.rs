//! Which nest's output feeds which.
//!
//! In: one run of the watched program. Out: nests in the order in which they run first, and how many bytes flow between
//! them. A byte flows where a nest reads what another one, or an earlier run of its own, stored last; it is counted once for
//! every time that it is stored and every nest that reads it. What no nest stored, or what changed since, comes from
//! elsewhere: the parts of the program that are not nests.

mod draw;

use super::profile_report::SkippedNest;
use super::watching::{Looked, WatchedFile};
use crate::session::Session;
use oxeye_codegen::WatchedAccess;
use oxeye_measure::WatchedRuns;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name and version of the report's form.
pub const FLOW_SCHEMA: &str = "oxeye.flow/1";

/// What flows between the nests of a program.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// [`FLOW_SCHEMA`].
    pub schema: &'static str,
    /// The user's file.
    pub input: PathBuf,
    /// The compiler and its arguments.
    pub compiler: String,
    /// How much was looked at, and what that cost. If it is not all, bytes are estimates.
    pub looked: Looked,
    /// The nests that were watched, in the order in which they ran first.
    pub nests: Vec<FlowNest>,
    /// What flows, the most bytes first.
    pub flows: Vec<Flow>,
    /// Arrays that held the same, byte for byte, behind some runs of nests.
    pub duplicates: Vec<Duplicate>,
    /// The nests that were not watched, and why.
    pub skipped: Vec<SkippedNest>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// A nest, and what became of what it stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowNest {
    /// Position in the file, from 0.
    pub id: usize,
    /// Function it stands in.
    pub function: String,
    /// First line.
    pub line: u32,
    /// Times it ran, and of those watched.
    pub runs: u64,
    /// See above.
    pub watched_runs: u64,
    /// Bytes that its stores to arrays wrote.
    pub stored_bytes: u64,
    /// Of those, bytes that were there before.
    pub unchanged_bytes: u64,
    /// Of those, bytes that nests overwrote before a nest had read them.
    pub overwritten_unread_bytes: u64,
    /// Of these, bytes overwritten by the same run of the nest, so that nothing else can have read them either.
    pub surely_unread_bytes: u64,
    /// Bytes that no nest had read when the program ended; 0 if it was no longer watched then.
    pub left_bytes: u64,
    /// Bytes that it read and had stored in the same run.
    pub inner_bytes: u64,
}

/// What flows from one nest to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The nest that stored it; `None` for code elsewhere.
    pub from: Option<usize>,
    /// The nest that read it.
    pub to: usize,
    /// Bytes.
    pub bytes: u64,
    /// By the names of arrays in the nest that read them, the most bytes first.
    pub arrays: Vec<(String, u64)>,
}

/// Two arrays that held the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The name of one of them, and a nest that has it.
    pub first: (String, usize),
    /// The same of the other.
    pub second: (String, usize),
    /// Their size.
    pub bytes: u64,
    /// How often they were found to be the same.
    pub times: u64,
}

/// What was seen of the flow.
pub(super) fn report(session: &Session<'_>, watched: &WatchedFile) -> FlowReport {
    let mut nests: Vec<&WatchedRuns> = watched.seen.nests.iter().filter(|nest| nest.watched > 0).collect();
    nests.sort_by_key(|nest| nest.order);
    FlowReport {
        schema: FLOW_SCHEMA,
        input: session.options.file.clone(),
        compiler: session.options.compiler.line(),
        nests: nests.into_iter().map(|nest| flow_nest(watched, nest)).collect(),
        flows: flows(watched),
        duplicates: duplicates(watched),
        looked: watched.looked.clone(),
        skipped: watched.skipped.clone(),
        notes: watched.notes.clone(),
    }
}

fn flow_nest(watched: &WatchedFile, runs: &WatchedRuns) -> FlowNest {
    let (function, line) = watched.place_of(runs.nest);
    let mut nest = FlowNest {
        id: runs.nest as usize,
        function,
        line,
        runs: runs.entered + runs.concurrent,
        watched_runs: runs.watched,
        stored_bytes: 0,
        unchanged_bytes: 0,
        overwritten_unread_bytes: 0,
        surely_unread_bytes: 0,
        left_bytes: 0,
        inner_bytes: 0,
    };
    // Variables are kept in registers, if the compiler can.
    let is_own = |access: &WatchedAccess| access.nest == runs.nest && !access.is_scalar;
    for (access, site) in watched.sites().filter(|(access, _)| is_own(access)) {
        nest.inner_bytes += site.inner;
        if access.is_store {
            nest.stored_bytes += site.bytes;
            let share = site.unchanged as f64 / site.stands.max(1) as f64;
            nest.unchanged_bytes += (site.bytes as f64 * share).round() as u64;
            nest.overwritten_unread_bytes += site.dead;
            nest.surely_unread_bytes += site.surely_dead;
            nest.left_bytes += site.left;
        }
    }
    // Of a sample, parts may come out larger than the whole.
    for part in [&mut nest.overwritten_unread_bytes, &mut nest.surely_unread_bytes, &mut nest.left_bytes] {
        *part = (*part).min(nest.stored_bytes);
    }
    nest
}

fn flows(watched: &WatchedFile) -> Vec<Flow> {
    let mut found: BTreeMap<(Option<u32>, u32), BTreeMap<&str, u64>> = BTreeMap::new();
    for (access, site) in watched.sites() {
        for (from, bytes) in &site.flows {
            *found.entry((*from, access.nest)).or_default().entry(&access.name).or_default() += bytes;
        }
    }
    let flow = |((from, to), arrays): ((Option<u32>, u32), BTreeMap<&str, u64>)| {
        let mut arrays: Vec<(String, u64)> =
            arrays.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        arrays.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let bytes = arrays.iter().map(|(_, bytes)| bytes).sum();
        Flow { from: from.map(|from| from as usize), to: to as usize, bytes, arrays }
    };
    let mut flows: Vec<Flow> = found.into_iter().map(flow).collect();
    flows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.from, a.to).cmp(&(b.from, b.to))));
    flows
}

fn duplicates(watched: &WatchedFile) -> Vec<Duplicate> {
    let name = |(nest, argument): (u32, u32)| {
        let known = watched.nests.iter().find(|known| known.nest == nest)?;
        Some((known.arguments.get(argument as usize)?.clone(), nest as usize))
    };
    let mut found: Vec<Duplicate> = Vec::new();
    for same in &watched.seen.same {
        let (Some(first), Some(second)) = (name(same.first), name(same.second)) else { continue };
        let is_it = |known: &&mut Duplicate| {
            let (a, b) = (&known.first.0, &known.second.0);
            known.bytes == same.bytes
                && ((*a == first.0 && *b == second.0) || (*a == second.0 && *b == first.0))
        };
        match found.iter_mut().find(is_it) {
            Some(known) => known.times = known.times.max(same.times),
            None => found.push(Duplicate { first, second, bytes: same.bytes, times: same.times }),
        }
    }
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.first.cmp(&b.first)));
    found
}

impl FlowReport {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }

    /// `function:line` of a nest by its position in the file.
    pub fn name_of(&self, nest: usize) -> String {
        match self.nests.iter().find(|known| known.id == nest) {
            Some(nest) => format!("{}:{}", nest.function, nest.line),
            None => format!("nest {nest}"),
        }
    }
}
