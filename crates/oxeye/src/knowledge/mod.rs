//! What nests are known by, and what is known of other nests.
//!
//! In: a nest with its sizes. Out: its description, comparable with those of other nests (`describe`), and the encoder
//! and the database of what was tried on them (`store`, `shared`, `shipped`, `stored`).

mod describe;
mod shared;
mod shipped;
mod store;
mod stored;

pub use describe::{Embedder, NestDescription, NoEncoder, Undescribed};
pub(crate) use describe::{hand_made_of, static_vector};
pub use shipped::{shipped_embedder, shipped_recipes};
pub(crate) use store::KnownNests;
pub use stored::{UnreadableRecipe, recipe_text, stored_recipe};
