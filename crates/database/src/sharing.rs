//! What of a trial may leave this machine.

use crate::{DatabaseError, Json, NewEntry, NormalForm, Order, RecipeStore, Verdict};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What may be shared besides what always is: the hash of the nest's normal form, the recipe, verdict and gain, the compiler's
/// name and version, flags that choose how code is made, threads, policy, time and version of Oxeye. The program's text never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedField {
    /// The vectors that nests like this one are found by.
    Embedding,
    /// What the machine can do, its processor's name among it.
    Host,
    /// The sizes that the nest was measured with.
    Sizes,
    /// The loops and operations of the nest, without its names.
    NormalForm,
    /// All of the compiler's flags, folders and macros among them.
    Flags,
    /// Why a recipe failed, which may quote the program.
    Reasons,
}

impl SharedField {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Embedding, Self::Host, Self::Sizes, Self::NormalForm, Self::Flags, Self::Reasons];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Host => "host",
            Self::Sizes => "sizes",
            Self::NormalForm => "normal-form",
            Self::Flags => "flags",
            Self::Reasons => "reasons",
        }
    }
}

impl fmt::Display for SharedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SharedField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|field| field.name() == text);
        found.ok_or_else(|| format!("it is one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Which fields are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing(BTreeSet<SharedField>);

impl Default for Sharing {
    /// What others need to find a recipe and to judge whether it suits their machine.
    fn default() -> Self {
        Self([SharedField::Embedding, SharedField::Host].into())
    }
}

impl FromIterator<SharedField> for Sharing {
    fn from_iter<I: IntoIterator<Item = SharedField>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Sharing {
    /// Whether a field is shared.
    pub fn has(&self, field: SharedField) -> bool {
        self.0.contains(&field)
    }

    /// The fields that are shared.
    pub fn fields(&self) -> impl Iterator<Item = SharedField> + '_ {
        self.0.iter().copied()
    }

    /// A trial as it may leave this machine.
    pub fn shared(&self, content: &NewEntry) -> NewEntry {
        let mut shared = content.clone();
        shared.provenance.imported_from = None;
        // A path tells of the machine; the name is enough.
        if let Some(name) = Path::new(&content.context.compiler).file_name() {
            shared.context.compiler = name.to_string_lossy().into_owned();
        }
        if !self.has(SharedField::NormalForm) {
            shared.nest.text = NormalForm::WITHHELD.to_owned();
        }
        if !self.has(SharedField::Embedding) {
            shared.embedding = None;
        }
        if !self.has(SharedField::Host) {
            shared.host_summary = Json::from(&serde_json::Value::Null);
            shared.context.host_key = NormalForm::WITHHELD.to_owned();
        }
        if !self.has(SharedField::Sizes) {
            shared.sizes.clear();
        }
        if !self.has(SharedField::Flags) {
            shared.context.flags.retain(|flag| chooses_code(flag));
        }
        if let (Verdict::Failed(reason), false) = (&mut shared.verdict, self.has(SharedField::Reasons)) {
            *reason = NormalForm::WITHHELD.to_owned();
        }
        shared
    }
}

/// Whether a flag of a compiler says how code is made, and holds no name of a folder or a macro.
fn chooses_code(flag: &str) -> bool {
    let is_code = ["-O", "-f", "-m", "-std="].iter().any(|start| flag.starts_with(start));
    is_code && !flag.contains('/')
}

/// What one store knows and another does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// Trials that only the first has.
    pub only_here: u64,
    /// Trials that only the second has.
    pub only_there: u64,
    /// Trials that both have.
    pub both: u64,
}

/// Compares what `own` would share with what `other` has, trial by trial.
///
/// # Errors
/// If one of them cannot be read.
pub fn difference(
    own: &dyn RecipeStore,
    other: &dyn RecipeStore,
    sharing: &Sharing,
) -> Result<Difference, DatabaseError> {
    let key = |content: &NewEntry| {
        let identity = content.identity();
        (identity.hash.to_owned(), identity.recipe.clone(), identity.context.clone())
    };
    let mut here = BTreeSet::new();
    for entry in own.entries(Order::OldestFirst) {
        here.insert(key(&sharing.shared(&entry?.content)));
    }
    let mut found = Difference::default();
    let mut n_there = 0;
    for entry in other.entries(Order::OldestFirst) {
        n_there += 1;
        found.both += u64::from(here.contains(&key(&entry?.content)));
    }
    found.only_here = here.len() as u64 - found.both;
    found.only_there = n_there - found.both;
    Ok(found)
}
