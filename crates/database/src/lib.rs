//! The recipe database: which recipe was tried on which nest and host, and the result, failures included.
//!
//! A nest is known by the hash of its normal form and, if a model made one, by an embedding. [`RecipeStore::exact`]
//! finds what was tried on this very nest, [`RecipeStore::nearest`] what was tried on nests like it. Recipes, normal
//! forms and host summaries are opaque text here.
//!
//! ```
//! use oxeye_database::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("recipes.sqlite");
//! let mut store = SqliteStore::open(&path, OnDamage::SetAside)?;
//! let space = EmbeddingSpace { feature_schema: 1, model: "small".into(), model_hash: "5eed".into() };
//! let context = Context {
//!     host_key: "my-host".into(),
//!     compiler: "gcc".into(),
//!     flags: vec!["-O3".into()],
//!     threads: 2,
//!     policy: FpPolicy::Strict,
//! };
//! let speedup = Speedup { median: 4.0, low: 3.8, high: 4.1, confidence: 0.95 };
//! store.add(NewEntry {
//!     nest: NormalForm { hash: "00c0ffee".into(), text: "nest ...".into() },
//!     embedding: Some(Embedding { space: space.clone(), nest: vec![0.6, 0.8], nodes: vec![] }),
//!     recipe: RecipeText { format: "oxeye.recipe/1".into(), steps: Json::parse(r#"[{"step": "vectorize"}]"#)? },
//!     verdict: Verdict::Gained,
//!     measured: Some(Measured { baseline_seconds: 0.4, best_seconds: 0.1, speedup }),
//!     n_samples: 9,
//!     context: context.clone(),
//!     compiler_version: "12.2.0".into(),
//!     host_summary: Json::parse(r#"{"cores": 2}"#)?,
//!     sizes: [("s0".to_owned(), 1000)].into(),
//!     provenance: Provenance { origin: Origin::Search, imported_from: None },
//!     created_at: Timestamp::now(),
//!     oxeye_version: env!("CARGO_PKG_VERSION").into(),
//! })?;
//! assert_eq!(store.exact("00c0ffee", &context)?.len(), 1);
//!
//! let like_it = Embedding { space, nest: vec![0.8, 0.6], nodes: vec![] };
//! let gained = Filter { verdict: Some(VerdictKind::Gained), ..Filter::default() };
//! let donors = store.nearest(&like_it, 3, &gained)?;
//! assert_eq!(donors.len(), 1);
//! assert!((donors[0].1 - 0.08f32.sqrt()).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
//!
//! # Stores
//!
//! [`SqliteStore`] is one file, [`PostgresStore`] a server's that many share, [`MemoryStore`] lasts as long as the process,
//! [`Layered`] puts the user's own store in front of the others'. All are [`RecipeStore`]s and behave alike.
//!
//! # The file
//!
//! [`default_path`] is the user's own file. The first entry creates it. Any number of processes may read and write it
//! at once. A damaged file is renamed, not deleted, and named in [`SqliteStore::take_set_aside`]; a file
//! of a newer schema or of another program is refused and left alone. [`export`], [`import`] and [`merge`] carry
//! entries between stores.
//!
//! # What it does not do
//!
//! It makes no embeddings, applies no recipes and measures nothing. Nothing leaves the machine but by [`export`] and [`push`].

mod consent;
mod entry;
mod error;
mod exchange;
mod file;
mod id;
mod json;
mod layered;
mod location;
mod matrix;
mod memory;
mod rows;
mod schema;
mod server;
mod sharing;
mod sqlite;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod timestamp;

pub use consent::Consents;
pub use entry::{
    Context, Embedding, EmbeddingSpace, Entry, FpPolicy, Identity, Measured, NewEntry, NodeEmbedding,
    NormalForm, Origin, Provenance, RecipeText, Speedup, Verdict, VerdictKind,
};
pub use error::DatabaseError;
pub use exchange::{
    BadLine, EXCHANGE_SCHEMA, OnBadLine, Tally, exchange_line, export, export_file, import, merge,
    parse_line, push,
};
pub use file::{OnDamage, SetAside};
pub use id::EntryId;
pub use json::Json;
pub use layered::Layered;
pub use location::{Location, default_location, default_path};
pub use memory::MemoryStore;
pub use server::PostgresStore;
pub use sharing::{Difference, SharedField, Sharing, difference};
pub use sqlite::{SqliteStore, schema_version};
pub use store::{AddOutcome, Addition, Change, Count, Entries, Filter, Order, RecipeStore};
pub use timestamp::Timestamp;
