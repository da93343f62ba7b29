//! What the nests of a program read and write, and what could be saved there.
//!
//! In: one run of the watched program. Out: findings, each an array in a nest whose values have something in common, or
//! whose stores change or feed nothing.

mod page;
mod patterns;
mod unread;

use super::profile_report::SkippedNest;
use super::watching::{Looked, WatchedFile};
use crate::parallel::guarded;
use crate::request::{FoundValue, VALUES_SCHEMA, ValueRecipe};
use crate::schedule::steps_for;
use crate::session::Session;
use indexmap::IndexMap;
use oxeye_measure::WatchedSite;
pub use patterns::Pattern;
use patterns::{Group, Held, percent};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Share of what is stored from which on stores are told of that nobody reads.
const LEAST_NOT_READ: f64 = 0.5;

/// What is found of the values of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ValuesReport {
    /// [`VALUES_SCHEMA`].
    pub schema: &'static str,
    /// The user's file.
    pub input: PathBuf,
    /// The compiler and its arguments.
    pub compiler: String,
    /// How much was looked at, and what that cost.
    pub looked: Looked,
    /// The nests that were watched, in the order of the file.
    pub nests: Vec<ValuesNest>,
    /// What was found, the largest share of the accesses first.
    pub findings: Vec<Finding>,
    /// The nests that were not watched, and why.
    pub skipped: Vec<SkippedNest>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// A nest that was watched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValuesNest {
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
    /// Its accesses.
    pub accesses: u64,
    /// Share of all accesses, from 0 to 1.
    pub share: f64,
}

/// An array in a nest of whose values there is something to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub pattern: Pattern,
    /// The array.
    pub array: String,
    /// The nest, by its position in the file.
    pub nest: usize,
    /// Function it stands in.
    pub function: String,
    /// First line of the nest.
    pub line: u32,
    /// Lines of the accesses.
    pub lines: Vec<u32>,
    /// Whether it is about stores.
    pub is_store: bool,
    /// The accesses it is about.
    pub accesses: u64,
    /// Their share of all accesses of the program's nests, from 0 to 1.
    pub share: f64,
    /// The share of them for which it holds, from 0 to 1, of those that were looked at.
    pub holds: f64,
    /// What exactly.
    pub detail: String,
    /// The value, if all accesses that were looked at have one, as a C literal without a suffix.
    pub value: Option<String>,
    /// The recipe that would profit, if there is one.
    pub recipe: Option<ValueRecipe>,
    /// The first steps of the candidates that [`optimize`](crate::optimize()) tries if it is given the report.
    pub steps: Vec<String>,
    /// Why there are none, if there is a recipe.
    pub no_steps: Option<String>,
    /// What could be done.
    pub advice: String,
}

/// What was seen of the values.
pub(super) fn report(session: &Session<'_>, watched: &WatchedFile) -> ValuesReport {
    let all = watched.looked.accesses.max(1) as f64;
    let mut findings = findings(session, watched);
    findings.sort_by(|a, b| {
        b.share.total_cmp(&a.share).then_with(|| {
            (a.nest, &a.array, &a.lines, a.pattern).cmp(&(b.nest, &b.array, &b.lines, b.pattern))
        })
    });
    let runs = watched.seen.nests.iter().filter(|nest| nest.entered + nest.concurrent > 0);
    let nests = runs.map(|nest| {
        let (function, line) = watched.place_of(nest.nest);
        let own = watched.sites().filter(|(access, _)| access.nest == nest.nest);
        let accesses: u64 = own.map(|(_, site)| site.all).sum();
        ValuesNest {
            id: nest.nest as usize,
            function,
            line,
            runs: nest.entered + nest.concurrent,
            watched_runs: nest.watched,
            accesses,
            share: accesses as f64 / all,
        }
    });
    ValuesReport {
        schema: VALUES_SCHEMA,
        input: session.options.file.clone(),
        compiler: session.options.compiler.line(),
        nests: nests.collect(),
        findings,
        looked: watched.looked.clone(),
        skipped: watched.skipped.clone(),
        notes: watched.notes.clone(),
    }
}

/// What a group of accesses is: nest and array, and of stores the line. What is read is told of together.
type Kind<'w> = (u32, &'w str, Option<u32>);

/// A group of accesses with the lines where they stand.
struct Lines {
    group: Group,
    lines: Vec<u32>,
    /// Whether what is stored does not follow from the text alone.
    is_computed: bool,
    /// Whether something is added to what is there.
    is_sum: bool,
}

fn findings(session: &Session<'_>, watched: &WatchedFile) -> Vec<Finding> {
    let mut groups: IndexMap<Kind<'_>, Lines> = IndexMap::new();
    for (access, site) in watched.sites().filter(|(access, _)| !access.is_scalar) {
        let kind = (access.nest, access.name.as_str(), access.is_store.then_some(access.line));
        let entry = groups.entry(kind).or_insert_with(|| Lines {
            group: Group::new(access.element),
            lines: Vec::new(),
            is_computed: false,
            is_sum: false,
        });
        entry.group.add(site);
        entry.is_computed |= access.is_computed;
        entry.is_sum |= access.is_sum;
        if !entry.lines.contains(&access.line) {
            entry.lines.push(access.line);
        }
    }
    let mut found = Vec::new();
    for ((nest, array, store), Lines { group, lines, is_computed, is_sum }) in &groups {
        let is_store = store.is_some();
        let mut held = Vec::new();
        // Of what the text itself stores, a constant or an iterator, there is nothing to find out.
        if !is_store || *is_computed {
            held.extend(group.of_values());
        }
        if is_store {
            // A sum that does not change adds zeros, which is told of the array that they come from.
            held.extend(group.unchanged().filter(|_| !is_sum));
            held.extend(not_read(session, watched, &group.seen, *nest, array));
        }
        let (function, line) = watched.place_of(*nest);
        let place = &watched.places[*nest as usize];
        let (_, program, ir) = place.of(&watched.unit);
        let asked = |held: &Held| {
            let found = FoundValue {
                array: (*array).to_owned(),
                function: function.clone(),
                line,
                lines: lines.clone(),
                pattern: held.pattern.word(),
                value: held.value.clone(),
                recipe: held.recipe,
            };
            let made = guarded(|| steps_for(&found, program, ir, session.policy()));
            match made.map_err(|bug| bug.to_string()).and_then(|made| made) {
                Ok(recipes) => (recipes.iter().map(ToString::to_string).collect(), None),
                Err(why) => (Vec::new(), held.recipe.map(|_| why)),
            }
        };
        let held = held.into_iter().map(|held| (asked(&held), held)).collect::<Vec<_>>();
        found.extend(held.into_iter().map(|((steps, no_steps), held)| {
            let Held { pattern, holds, detail, recipe, advice, value } = held;
            Finding {
                pattern,
                array: (*array).to_owned(),
                nest: *nest as usize,
                function: function.clone(),
                line,
                lines: lines.clone(),
                is_store,
                accesses: group.seen.all,
                share: group.seen.all as f64 / watched.looked.accesses.max(1) as f64,
                holds,
                detail,
                value,
                recipe,
                steps,
                no_steps,
                advice,
            }
        }));
    }
    // What is read is what was stored.
    let read: BTreeSet<(String, Pattern)> =
        found.iter().filter(|f| !f.is_store).map(|f| (f.array.clone(), f.pattern)).collect();
    found.retain(|f| !f.is_store || !read.contains(&(f.array.clone(), f.pattern)));
    found
}

/// Whether what is stored is overwritten before it is read, or never read at all.
fn not_read(
    session: &Session<'_>,
    watched: &WatchedFile,
    seen: &WatchedSite,
    nest: u32,
    array: &str,
) -> Option<Held> {
    let stored = seen.bytes.max(1) as f64;
    let dead = (seen.dead as f64 / stored).min(1.0);
    let left = (seen.left as f64 / stored).min(1.0);
    let is_unread = || unread::is_never_read(session, watched, nest, array);
    let (holds, detail, advice) = if dead + left >= LEAST_NOT_READ && is_unread() {
        let detail = "no nest reads it, and nothing else in the file names it";
        (dead + left, detail.to_owned(), "these stores can be left out".to_owned())
    } else if dead >= LEAST_NOT_READ {
        let (function, line) = watched.place_of(seen.killer);
        let by = match seen.killer == nest {
            true => "this nest itself".to_owned(),
            false => format!("the nest at {function}:{line}"),
        };
        let detail = format!("{} overwritten by {by} before a nest reads it", percent(dead));
        let advice = match seen.surely_dead as f64 >= 0.999 * seen.dead as f64 {
            true => {
                "in the same run of the nest, so that nothing can have read it: these stores can be left out"
            }
            false => "unless other code reads it in between, these stores can be left out",
        };
        (dead, detail, advice.to_owned())
    } else {
        return None;
    };
    Some(Held {
        pattern: Pattern::NotRead,
        holds: holds.min(1.0),
        detail,
        recipe: Some(ValueRecipe::DeadStore),
        advice,
        value: None,
    })
}

impl ValuesReport {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }
}
