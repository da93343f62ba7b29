//! The log of a search: JSON Lines, one for the search, one for every nest, one for every trial.
//!
//! It is written line by line while the search runs. With it an interrupted search goes on without measuring again what
//! it had measured, and any trial can be applied again byte for byte ([`trial_recipes`]).

use super::record::{Measurement, TrialRecord};
use crate::request::{Compiler, Error, NestRecipe, RECIPE_SCHEMA, RecipeFile, files};
use crate::schedule::digest;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name and version of the log's form.
pub const SEARCH_SCHEMA: &str = "oxeye.search/1";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first.
    Search(Header),
    /// The original of a nest was measured.
    Nest {
        /// Which nest.
        nest: NestName,
        /// Its first line; for people.
        at: u32,
        /// Seconds of one invocation.
        baseline_seconds: f64,
        /// Timed runs behind that.
        samples: usize,
    },
    /// A trial.
    Trial {
        /// Number in this log, from 1.
        trial: usize,
        /// Of which nest.
        nest: NestName,
        /// Its first line; for people.
        at: u32,
        /// Seconds of the budget that the nest had used when the trial was over.
        used_seconds: f64,
        /// What was tried, and what came of it.
        #[serde(flatten)]
        tried: TrialRecord,
    },
}

/// What a search is about: everything that its trials depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// [`SEARCH_SCHEMA`].
    pub(crate) schema: String,
    /// The user's file; for people.
    pub(crate) input: PathBuf,
    /// Hash of its text.
    pub(crate) source: String,
    /// The compiler and its flags.
    pub(crate) compiler: Compiler,
    /// What it says of its version.
    pub(crate) compiler_version: Option<String>,
    /// Threads of the emitted code.
    pub(crate) threads: u32,
    /// Whether floating-point sums may be reordered.
    pub(crate) reassociate: bool,
    /// The user's word that pointer parameters never overlap.
    pub(crate) no_alias: bool,
    /// Sizes that were given.
    pub(crate) sizes: BTreeMap<String, i64>,
    /// Files with the contents of arrays.
    pub(crate) inputs: BTreeMap<String, PathBuf>,
    /// The processor.
    pub(crate) cpu: Option<String>,
    /// Of the random choices.
    pub(crate) seed: u64,
}

/// A nest of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct NestName {
    /// Function it stands in.
    pub(crate) function: String,
    /// Which nest of that function, from 0.
    pub(crate) ordinal: usize,
    /// Threads of its code where they are fewer than the search's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) threads: Option<u32>,
    /// The nests around it that are taken as control, outermost first, each by its ordinal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) within: Vec<usize>,
    /// How many nests behind it are one with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) joined: Option<usize>,
    /// How large it is, where logs are kept for calls of other sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// Arrays of which the rows, behind pointers, are not evenly spaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) uneven: Vec<String>,
}

/// What an earlier process has found out of a nest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Seconds and samples of the original.
    pub(crate) baseline: Option<(f64, usize)>,
    /// Of the budget.
    pub(crate) used: Duration,
    /// Measurements by digest of the C text.
    pub(crate) measured: BTreeMap<String, Measurement>,
    /// All trials.
    written: HashSet<String>,
}

/// The log of a running search.
#[derive(Default)]
pub(crate) struct Log {
    file: Option<(PathBuf, File)>,
    pasts: BTreeMap<NestName, Past>,
    n_trials: usize,
}

impl Log {
    /// Begins a log, or goes on with the one that is there. A line that was cut off is taken away.
    ///
    /// # Errors
    /// If the file cannot be read or written, or is the log of another search or no log at all.
    pub(crate) fn open(path: &Path, header: Header) -> Result<Self, Error> {
        let io = |action| move |source| Error::Io { action, path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(io("write"))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::Input(format!("{} is in use by another run", path.display())));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io("read"))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let cut_off = &text[whole..];
        if whole == 0 && !cut_off.is_empty() && !cut_off.starts_with("{\"line\":") {
            return Err(not_a_log(path, "it is another file"));
        }
        file.set_len(whole as u64).map_err(io("write"))?;
        file.seek(std::io::SeekFrom::End(0)).map_err(io("write"))?;
        let mut log = Self { file: Some((path.to_owned(), file)), ..Self::default() };
        let mut lines = parse(path, &text[..whole])?.into_iter();
        match lines.next() {
            None => log.write(&Line::Search(header))?,
            Some(Line::Search(old)) => {
                if let Some(what) = difference(&old, &header) {
                    let reason = format!("it is the log of a search with {what}; name another file");
                    return Err(not_a_log(path, &reason));
                }
            }
            Some(_) => return Err(not_a_log(path, "its first line is not that of a search")),
        }
        lines.for_each(|line| log.remember(line));
        Ok(log)
    }

    /// What is known of a nest.
    pub(crate) fn past(&self, nest: &NestName) -> Past {
        self.pasts.get(nest).cloned().unwrap_or_default()
    }

    /// Appends the measurement of an original.
    ///
    /// # Errors
    /// If the file cannot be written; so for trials.
    pub(crate) fn nest(&mut self, nest: &NestName, at: u32, baseline: (f64, usize)) -> Result<(), Error> {
        let (baseline_seconds, samples) = baseline;
        self.add(Line::Nest { nest: nest.clone(), at, baseline_seconds, samples })
    }

    /// Appends a trial, unless it is there.
    pub(crate) fn trial(
        &mut self,
        nest: &NestName,
        at: u32,
        used: Duration,
        tried: &TrialRecord,
    ) -> Result<(), Error> {
        if self.pasts.get(nest).is_some_and(|past| past.written.contains(&key(tried))) {
            return Ok(());
        }
        self.add(Line::Trial {
            trial: self.n_trials + 1,
            nest: nest.clone(),
            at,
            used_seconds: used.as_secs_f64(),
            tried: tried.clone(),
        })
    }

    fn add(&mut self, line: Line) -> Result<(), Error> {
        self.write(&line)?;
        self.remember(line);
        Ok(())
    }

    fn remember(&mut self, line: Line) {
        match line {
            Line::Search(_) => {}
            Line::Nest { nest, baseline_seconds, samples, .. } => {
                self.pasts.entry(nest).or_default().baseline = Some((baseline_seconds, samples));
            }
            Line::Trial { trial, nest, used_seconds, tried, .. } => {
                self.n_trials = self.n_trials.max(trial);
                let past = self.pasts.entry(nest).or_default();
                let used = Duration::try_from_secs_f64(used_seconds).unwrap_or_default();
                past.used = past.used.max(used);
                past.written.insert(key(&tried));
                if let Some(code) = tried.code.filter(|_| tried.found.outcome.was_measured()) {
                    past.measured.insert(code, tried.found);
                }
            }
        }
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let fail = |source| Error::Io { action: "write", path: path.clone(), source };
        let mut text = serde_json::to_string(line).map_err(|e| fail(e.into()))?;
        text.push('\n');
        file.write_all(text.as_bytes()).map_err(fail)
    }
}

/// What makes two trials of a nest the same.
fn key(tried: &TrialRecord) -> String {
    let TrialRecord { name, template, recipe, code, .. } = tried;
    digest(&serde_json::to_string(&(name, template, recipe, code)).unwrap_or_default())
}

/// A trial of a logged search as a recipe file, for [`replay`](crate::replay()).
///
/// # Errors
/// If the file cannot be read or is no log, there is no such trial, or it never had a recipe.
pub fn trial_recipes(log: &Path, trial: usize) -> Result<RecipeFile, Error> {
    let fail = |reason: String| Error::Recipe { path: log.to_owned(), reason };
    files::check_readable(log)?;
    let text = std::fs::read_to_string(log).map_err(|source| Error::Io {
        action: "read",
        path: log.to_owned(),
        source,
    })?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = parse(log, &text[..whole])?;
    let Some(Line::Search(header)) = lines.first() else {
        return Err(not_a_log(log, "its first line is not that of a search"));
    };
    let found = lines.iter().find_map(|line| match line {
        Line::Trial { trial: number, nest, at, tried, .. } if *number == trial => Some((nest, at, tried)),
        _ => None,
    });
    let (nest, at, tried) = found.ok_or_else(|| fail(format!("there is no trial {trial} in it")))?;
    let Some(recipe) = tried.recipe.clone() else {
        let why = tried.found.why.as_deref().unwrap_or("no reason is known");
        return Err(fail(format!("trial {trial} never had a recipe: {why}")));
    };
    Ok(RecipeFile {
        schema: RECIPE_SCHEMA.into(),
        compiler: header.compiler.clone(),
        threads: header.threads,
        reassociate: header.reassociate,
        no_alias: header.no_alias,
        keeps_order: false,
        directives: false,
        quiet: Vec::new(),
        vector_bytes: None,
        machine: None,
        nests: vec![NestRecipe {
            function: nest.function.clone(),
            ordinal: nest.ordinal,
            within: nest.within.clone(),
            joined: nest.joined.unwrap_or(0),
            line: *at,
            name: tried.name.clone(),
            threads: nest.threads,
            guard: None,
            known: BTreeMap::new(),
            isa: None,
            own_text: false,
            uneven: nest.uneven.clone(),
            recipe: recipe.into(),
        }],
    })
}

fn parse(path: &Path, text: &str) -> Result<Vec<Line>, Error> {
    let lines = text.lines().enumerate().map(|(k, line)| {
        serde_json::from_str(line).map_err(|e| not_a_log(path, &format!("line {}: {e}", k + 1)))
    });
    let lines: Vec<Line> = lines.collect::<Result<_, Error>>()?;
    match lines.first() {
        Some(Line::Search(header)) if header.schema != SEARCH_SCHEMA => Err(not_a_log(
            path,
            &format!("its schema is `{}`, this oxeye knows {SEARCH_SCHEMA}", header.schema),
        )),
        _ => Ok(lines),
    }
}

fn not_a_log(path: &Path, reason: &str) -> Error {
    Error::Log { path: path.to_owned(), reason: reason.to_owned() }
}

/// The first thing in which two searches differ.
fn difference(old: &Header, new: &Header) -> Option<&'static str> {
    [
        (old.source != new.source, "another source text"),
        (old.compiler != new.compiler, "another compile command"),
        (old.compiler_version != new.compiler_version, "another version of the compiler"),
        (old.threads != new.threads, "another number of threads"),
        (old.reassociate != new.reassociate, "another floating-point policy"),
        (old.no_alias != new.no_alias, "another word on --no-alias"),
        (old.sizes != new.sizes, "other sizes"),
        (old.inputs != new.inputs, "other inputs"),
        (old.cpu != new.cpu, "another processor"),
        (old.seed != new.seed, "another seed"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
}
