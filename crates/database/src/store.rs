//! What every store of recipes can do, and the rules they share.

use crate::{Context, DatabaseError, Embedding, Entry, EntryId, FpPolicy, NewEntry, Timestamp, VerdictKind};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A place where trials of recipes are remembered.
///
/// Distances are Euclidean. For embeddings of unit length the order is that of the cosine, as the square of the
/// distance is 2 − 2 cos.
pub trait RecipeStore: Send + Sync {
    /// Number of entries.
    ///
    /// # Errors
    /// If the store cannot be read, as with every function that reads.
    fn n_entries(&self) -> Result<u64, DatabaseError>;

    /// The entry with this id.
    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError>;

    /// All entries of a normal form, whatever their verdict and wherever they were measured. Those of this host come
    /// first, then those that share more of threads, compiler, flags and policy; then the faster, then the older.
    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError>;

    /// The `k` entries nearest to an embedding, with their distances, among those of the same space that pass the
    /// filter: nearest first, ties by lower id.
    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError>;

    /// One entry per normal form, the one with the lowest id, ordered by hash.
    fn nests(&self) -> Result<Vec<Entry>, DatabaseError>;

    /// All entries by id, read in batches: entries added meanwhile may or may not be among them.
    fn entries(&self, order: Order) -> Entries<'_>;

    /// Adds entries, all or none. An entry with the identity of an old one updates it: the one with more samples is
    /// kept, else the newer, else the old one. A trial without an embedding does not remove one. Outcomes are in the
    /// order of the batch.
    ///
    /// # Errors
    /// If an entry contradicts itself ([`NewEntry::validate`]) or its hash stands for another normal form, or if the
    /// store cannot be written.
    fn put(&mut self, batch: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError>;

    /// Gives an entry another embedding, such as a newer model's.
    ///
    /// # Errors
    /// If there is no such entry, the embedding is invalid, or the store cannot be written.
    fn set_embedding(&mut self, id: EntryId, embedding: Embedding) -> Result<(), DatabaseError>;

    /// Adds one trial; see [`RecipeStore::put`].
    ///
    /// # Errors
    /// As [`RecipeStore::put`].
    fn add(&mut self, content: NewEntry) -> Result<AddOutcome, DatabaseError> {
        let outcomes = self.put(&[Addition { content, count: Count::Trial }])?;
        Ok(outcomes[0])
    }
}

/// The entries of a store, one after another.
pub type Entries<'s> = Box<dyn Iterator<Item = Result<Entry, DatabaseError>> + 's>;

/// An entry to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The entry.
    pub content: NewEntry,
    /// How it changes the count of trials.
    pub count: Count,
}

/// How an addition changes the count of trials of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One more trial.
    Trial,
    /// It comes from another store that has counted this many; the larger count stays, so that merging twice is the
    /// same as merging once.
    Copy(u64),
}

/// The outcome of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddOutcome {
    /// The entry that now has this identity.
    pub id: EntryId,
    /// What changed.
    pub change: Change,
}

/// What an addition changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There was no entry of this identity.
    Inserted,
    /// It replaced a weaker or older one.
    Replaced,
    /// The old entry stays, with a higher count.
    Kept,
}

/// The order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    OldestFirst,
    /// Newest first.
    NewestFirst,
}

/// Which entries may be neighbours; by default all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only entries of this verdict.
    pub verdict: Option<VerdictKind>,
    /// Only entries measured under this policy.
    pub policy: Option<FpPolicy>,
    /// Only entries measured with this number of threads.
    pub threads: Option<u32>,
    /// Only entries of this host.
    pub host_key: Option<String>,
    /// No entries of these nests.
    pub exclude_hashes: BTreeSet<String>,
    /// Only entries within this distance.
    pub max_distance: Option<f32>,
    /// At most one entry per normal form: the nearest, ties by greater speedup.
    pub one_per_nest: bool,
}

impl Filter {
    /// Whether an entry may be a neighbour at this distance.
    pub(crate) fn admits(&self, content: &NewEntry, distance: f32) -> bool {
        self.verdict.is_none_or(|verdict| verdict == content.verdict.kind())
            && self.policy.is_none_or(|policy| policy == content.context.policy)
            && self.threads.is_none_or(|threads| threads == content.context.threads)
            && self.host_key.as_ref().is_none_or(|key| *key == content.context.host_key)
            && !self.exclude_hashes.contains(&content.nest.hash)
            && self.max_distance.is_none_or(|most| distance <= most)
    }
}

/// Why a store could not write one entry.
pub(crate) enum PutError<E> {
    /// What keeps the rows failed.
    Rows(E),
    /// The hash stands for another text.
    Conflict,
}

/// Writes the entries of a batch one after another, up to the first that cannot be.
pub(crate) fn put_each<E>(
    batch: &[Addition],
    failed: impl Fn(E) -> DatabaseError,
    mut put: impl FnMut(&Addition) -> Result<AddOutcome, PutError<E>>,
) -> Result<Vec<AddOutcome>, DatabaseError> {
    let outcomes = batch.iter().enumerate().map(|(position, addition)| {
        put(addition).map_err(|e| match e {
            PutError::Rows(e) => failed(e),
            PutError::Conflict => {
                DatabaseError::Conflict { position, hash: addition.content.nest.hash.clone() }
            }
        })
    });
    outcomes.collect()
}

/// How many entries are read at once.
const PORTION: usize = 256;

/// Entries that are read in portions: `read` gives so many of those behind an id, which at first is `start`.
pub(crate) fn portions<'s>(
    start: u64,
    read: impl Fn(u64, usize) -> Result<Vec<Entry>, DatabaseError> + 's,
) -> Entries<'s> {
    let mut portion = VecDeque::new();
    let (mut last, mut ended) = (start, false);
    Box::new(std::iter::from_fn(move || {
        if portion.is_empty() && !ended {
            match read(last, PORTION) {
                Ok(next) => portion.extend(next),
                Err(error) => {
                    ended = true;
                    return Some(Err(error));
                }
            }
            ended = portion.len() < PORTION;
        }
        let entry: Entry = portion.pop_front()?;
        if let EntryId::Own(number) = entry.id {
            last = number;
        }
        Some(Ok(entry))
    }))
}

/// The Euclidean distance of two vectors of equal length.
pub(crate) fn distance(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0f32; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            let difference = a[lane] - b[lane];
            sums[lane] += difference * difference;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    (sums.iter().sum::<f32>() + rest).sqrt()
}

/// The first `k` of the candidates in the order that [`RecipeStore::nearest`] promises.
pub(crate) fn rank(mut hits: Vec<(Entry, f32)>, k: usize, one_per_nest: bool) -> Vec<(Entry, f32)> {
    if one_per_nest {
        let mut best: BTreeMap<String, (Entry, f32)> = BTreeMap::new();
        for hit in hits {
            let hash = hit.0.content.nest.hash.clone();
            let better = |old: &(Entry, f32)| {
                let by_speedup = by_speedup(hit.0.content.speedup(), old.0.content.speedup());
                hit.1.total_cmp(&old.1).then(by_speedup).then(hit.0.id.cmp(&old.0.id)).is_lt()
            };
            if best.get(&hash).is_none_or(better) {
                best.insert(hash, hit);
            }
        }
        hits = best.into_values().collect();
    }
    hits.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.id.cmp(&b.0.id)));
    hits.truncate(k);
    hits
}

/// The greater speedup first, an unknown one last.
pub(crate) fn by_speedup(a: Option<f64>, b: Option<f64>) -> Ordering {
    let value = |speedup: Option<f64>| speedup.unwrap_or(f64::NEG_INFINITY);
    value(b).total_cmp(&value(a))
}

/// Sorts entries of one normal form as [`RecipeStore::exact`] promises.
pub(crate) fn sort_exact(entries: &mut [Entry], context: &Context) {
    let likeness = |entry: &Entry| {
        let theirs = &entry.content.context;
        let n_alike = [
            theirs.threads == context.threads,
            theirs.compiler == context.compiler,
            theirs.flags == context.flags,
            theirs.policy == context.policy,
        ];
        (theirs.host_key == context.host_key, n_alike.into_iter().filter(|alike| *alike).count())
    };
    entries.sort_by(|a, b| {
        Reverse(likeness(a))
            .cmp(&Reverse(likeness(b)))
            .then_with(|| by_speedup(a.content.speedup(), b.content.speedup()))
            .then_with(|| a.id.cmp(&b.id))
    });
}

/// SQLite's integers are signed.
const MOST_COUNTED: u64 = i64::MAX as u64;

/// The weight of a trial against another of the same identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Weight {
    pub(crate) n_samples: u32,
    pub(crate) created_at: Timestamp,
}

impl Weight {
    pub(crate) fn of(content: &NewEntry) -> Self {
        Self { n_samples: content.n_samples, created_at: content.created_at }
    }
}

impl Count {
    /// The count of trials after an addition to an identity with this count.
    pub(crate) fn after(self, n_before: u64) -> u64 {
        match self {
            Count::Trial => n_before.saturating_add(1),
            Count::Copy(n) => n_before.max(n).max(1),
        }
        .min(MOST_COUNTED)
    }
}
