//! What the user allows transformations to do.

use serde::{Deserialize, Serialize};

/// What transformations may do to floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Policy {
    /// Floating-point sums may be reordered.
    pub reassociate: bool,
    /// Numbers are finite and zeros have no sign: products with zero may be left out.
    #[serde(default)]
    pub finite: bool,
}
