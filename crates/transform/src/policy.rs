//! What the user lets transformations do.

use serde::{Deserialize, Serialize};

/// What transformations may do to floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Policy {
    /// Sums may be taken in another order.
    pub reassociate: bool,
}
