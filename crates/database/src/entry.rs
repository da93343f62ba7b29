//! What the database remembers: one trial of one recipe on one nest.

use crate::{DatabaseError, EntryId, Json, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Everything known about one trial, as given to [`RecipeStore::add`](crate::RecipeStore::add). Its JSON form is the
/// member `entry` of a line of the exchange format; see [`EXCHANGE_SCHEMA`](crate::EXCHANGE_SCHEMA).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewEntry {
    /// The nest the recipe was tried on.
    pub nest: NormalForm,
    /// The nest as vectors; without them the entry is found by its hash only.
    pub embedding: Option<Embedding>,
    /// The recipe.
    pub recipe: RecipeText,
    /// What came of it.
    pub verdict: Verdict,
    /// Times before and after; every verdict but a failure has them.
    pub measured: Option<Measured>,
    /// Measurements behind the verdict; a failure seen once counts as one.
    pub n_samples: u32,
    /// Where and how it was built and run.
    pub context: Context,
    /// Version of the compiler.
    pub compiler_version: String,
    /// The host in brief: cores, caches, bandwidths.
    pub host_summary: Json,
    /// Values of the symbols of the normal form.
    pub sizes: BTreeMap<String, i64>,
    /// How the entry came about.
    pub provenance: Provenance,
    /// When it was measured.
    pub created_at: Timestamp,
    /// Version of the Oxeye that measured it.
    pub oxeye_version: String,
}

/// A normalised nest without names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormalForm {
    /// Hash of the text, in lower-case hexadecimal digits.
    pub hash: String,
    /// Textual IR.
    pub text: String,
}

/// A nest as vectors. Vectors can be compared with others of the same space only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// What made the vectors.
    pub space: EmbeddingSpace,
    /// The nest as a whole.
    pub nest: Vec<f32>,
    /// Its nodes: vectors of one length, which may differ from that of the nest.
    pub nodes: Vec<NodeEmbedding>,
}

/// A model and the features it reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSpace {
    /// Version of the feature schema.
    pub feature_schema: u32,
    /// Name of the model.
    pub model: String,
    /// Hash of its weights.
    pub model_hash: String,
}

/// One node of a nest as a vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEmbedding {
    /// The id of the node in the text of the normal form.
    pub id: String,
    /// What it is: a loop, a statement, an access.
    pub kind: String,
    /// The vector.
    pub vector: Vec<f32>,
}

/// A recipe as it is stored and exchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// Name and version of the format.
    pub format: String,
    /// The steps.
    pub steps: Json,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Faster beyond noise.
    Gained,
    /// Slower beyond noise.
    Slowed,
    /// Neither.
    Even,
    /// It could not be applied, built or run, or gave a wrong result; the reason.
    Failed(String),
}

/// A [`Verdict`] without its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictKind {
    /// [`Verdict::Gained`].
    Gained,
    /// [`Verdict::Slowed`].
    Slowed,
    /// [`Verdict::Even`].
    Even,
    /// [`Verdict::Failed`].
    Failed,
}

/// Times of one nest, measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The original.
    pub baseline_seconds: f64,
    /// With the recipe.
    pub best_seconds: f64,
    /// Time of the original over time with the recipe.
    pub speedup: Speedup,
}

/// A typical speedup and the interval it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speedup {
    /// The estimate.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The probability that the interval holds the true ratio.
    pub confidence: f64,
}

/// Where and how code was built and run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The host, by the key of its profile.
    pub host_key: String,
    /// Name of the compiler.
    pub compiler: String,
    /// Its flags, in order.
    pub flags: Vec<String>,
    /// Threads the code may use.
    pub threads: u32,
    /// Whether floating-point sums may be reordered.
    pub policy: FpPolicy,
}

/// Whether floating-point sums may be reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FpPolicy {
    /// Never.
    Strict,
    /// Yes.
    Reassociate,
}

/// How an entry came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Who measured it.
    pub origin: Origin,
    /// Name of the file it was imported or merged from.
    pub imported_from: Option<String>,
}

/// Who measured an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `oxeye search`.
    Search,
    /// `oxeye optimize --learn`.
    Learn,
    /// Whoever built the default database.
    Shipped,
}

/// An entry of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its id in this store.
    pub id: EntryId,
    /// How often a trial of the same identity was added.
    pub n_added: u64,
    /// The trial that was kept of them.
    pub content: NewEntry,
}

/// Two trials with the same identity are one: the later updates the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity<'e> {
    /// Hash of the normal form.
    pub hash: &'e str,
    /// The recipe.
    pub recipe: &'e RecipeText,
    /// Where and how it was run.
    pub context: &'e Context,
}

impl NormalForm {
    /// The text of a normal form that was not shared; it contradicts no other text.
    pub const WITHHELD: &str = "(not shared)";

    /// Whether two texts of one hash may be of one nest.
    pub(crate) fn agree(a: &str, b: &str) -> bool {
        a == b || [a, b].contains(&Self::WITHHELD)
    }
}

impl NewEntry {
    /// The identity of this trial.
    pub fn identity(&self) -> Identity<'_> {
        Identity { hash: &self.nest.hash, recipe: &self.recipe, context: &self.context }
    }

    /// The estimated speedup, where it was measured.
    pub fn speedup(&self) -> Option<f64> {
        self.measured.map(|m| m.speedup.median)
    }

    /// Checks that the members fit together and every figure is finite.
    ///
    /// # Errors
    /// [`DatabaseError::Invalid`] with the first member that is wrong.
    pub fn validate(&self) -> Result<(), DatabaseError> {
        let hash = &self.nest.hash;
        let is_hex = hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        require("nest.hash", is_hex && (8..=128).contains(&hash.len()), || {
            format!("`{hash}` is not 8 to 128 lower-case hexadecimal digits")
        })?;
        require("nest.text", !self.nest.text.is_empty(), || "it is empty".into())?;
        require("recipe.format", !self.recipe.format.is_empty(), || "it is empty".into())?;
        require("context.host_key", !self.context.host_key.is_empty(), || "it is empty".into())?;
        require("context.compiler", !self.context.compiler.is_empty(), || "it is empty".into())?;
        require("context.threads", self.context.threads > 0, || "it is 0".into())?;
        require("n_samples", self.n_samples > 0, || "a verdict needs at least one".into())?;
        if let Some(embedding) = &self.embedding {
            embedding.validate()?;
        }
        if let Some(measured) = &self.measured {
            measured.validate()?;
        }
        let fits = match (&self.verdict, self.speedup()) {
            (Verdict::Failed(_), _) => true,
            (_, None) => false,
            (Verdict::Gained, Some(speedup)) => speedup > 1.0,
            (Verdict::Slowed, Some(speedup)) => speedup < 1.0,
            (Verdict::Even, Some(_)) => true,
        };
        require("verdict", fits, || match self.speedup() {
            None => format!("`{}` without times", self.verdict.kind()),
            Some(speedup) => format!("`{}` with a speedup of {speedup}", self.verdict.kind()),
        })
    }
}

impl Embedding {
    /// Checks that the vectors are not empty, fit together, and hold numbers only.
    pub(crate) fn validate(&self) -> Result<(), DatabaseError> {
        require("embedding.nest", !self.nest.is_empty(), || "it is empty".into())?;
        require("embedding.nest", self.nest.iter().all(|x| x.is_finite()), || "it holds no number".into())?;
        let dimension = self.nodes.first().map_or(0, |node| node.vector.len());
        for node in &self.nodes {
            require("embedding.nodes", node.vector.len() == dimension && dimension > 0, || {
                format!(
                    "the vector of {} has {} numbers, others have {dimension}",
                    node.id,
                    node.vector.len()
                )
            })?;
            require("embedding.nodes", node.vector.iter().all(|x| x.is_finite()), || {
                format!("the vector of {} holds no number", node.id)
            })?;
        }
        Ok(())
    }
}

impl Measured {
    fn validate(&self) -> Result<(), DatabaseError> {
        for seconds in [self.baseline_seconds, self.best_seconds] {
            require("measured", seconds.is_finite() && seconds > 0.0, || format!("{seconds} is not a time"))?;
        }
        let s = &self.speedup;
        let ordered = 0.0 < s.median && 0.0 <= s.low && s.low <= s.median && s.median <= s.high;
        require("measured.speedup", ordered && s.high.is_finite(), || {
            format!("{} is not in its interval, {} to {}", s.median, s.low, s.high)
        })?;
        require("measured.speedup", (0.0..=1.0).contains(&s.confidence), || {
            format!("a confidence of {} is no probability", s.confidence)
        })
    }
}

fn require(field: &'static str, holds: bool, reason: impl FnOnce() -> String) -> Result<(), DatabaseError> {
    if holds { Ok(()) } else { Err(DatabaseError::Invalid { field, reason: reason() }) }
}

impl Verdict {
    /// Without the reason.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Gained => VerdictKind::Gained,
            Verdict::Slowed => VerdictKind::Slowed,
            Verdict::Even => VerdictKind::Even,
            Verdict::Failed(_) => VerdictKind::Failed,
        }
    }
}

impl VerdictKind {
    const ALL: [VerdictKind; 4] =
        [VerdictKind::Gained, VerdictKind::Slowed, VerdictKind::Even, VerdictKind::Failed];

    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            VerdictKind::Gained => "gained",
            VerdictKind::Slowed => "slowed",
            VerdictKind::Even => "even",
            VerdictKind::Failed => "failed",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FpPolicy {
    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            FpPolicy::Strict => "strict",
            FpPolicy::Reassociate => "reassociate",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [FpPolicy::Strict, FpPolicy::Reassociate].into_iter().find(|policy| policy.name() == name)
    }
}

impl Origin {
    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Search => "search",
            Origin::Learn => "learn",
            Origin::Shipped => "shipped",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Origin::Search, Origin::Learn, Origin::Shipped].into_iter().find(|origin| origin.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        type Spoil = fn(&mut NewEntry);
        let cases: [(Spoil, &str); 12] = [
            (|e| e.nest.hash = "XYZ".into(), "nest.hash"),
            (|e| e.nest.text.clear(), "nest.text"),
            (|e| e.n_samples = 0, "n_samples"),
            (|e| e.measured = None, "verdict"),
            (|e| e.verdict = Verdict::Slowed, "verdict"),
            (|e| e.context.threads = 0, "context.threads"),
            (|e| e.measured.as_mut().expect("times").best_seconds = f64::NAN, "measured"),
            (|e| e.measured.as_mut().expect("times").speedup.low = 9e9, "measured.speedup"),
            (|e| e.measured.as_mut().expect("times").speedup.high = f64::INFINITY, "measured.speedup"),
            (|e| e.embedding.as_mut().expect("vectors").nest[0] = f32::NAN, "embedding.nest"),
            (|e| e.embedding.as_mut().expect("vectors").nest.clear(), "embedding.nest"),
            (|e| e.embedding.as_mut().expect("vectors").nodes[1].vector.push(0.0), "embedding.nodes"),
        ];
        testing::entry(1, 1).validate().expect("sound");
        for (spoil, expected) in cases {
            let mut entry = testing::entry(1, 1);
            spoil(&mut entry);
            match entry.validate() {
                Err(DatabaseError::Invalid { field, .. }) => assert_eq!(field, expected),
                other => panic!("{expected}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_failure_needs_no_times() {
        let mut entry = testing::entry(1, 1);
        (entry.verdict, entry.measured) = (Verdict::Failed("outputs differ".into()), None);
        entry.validate().expect("sound");
    }
}
