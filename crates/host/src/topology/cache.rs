//! Caches.

use serde::{Deserialize, Serialize};

/// A cache as the system describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheInfo {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Size.
    pub bytes: u64,
    /// Size of a line; `None` where the system does not tell.
    pub line_bytes: Option<u64>,
    /// Associativity; `None` where the system does not tell, or where any line may go anywhere.
    pub ways: Option<u32>,
    /// Logical processors that share it.
    pub shared_by: u32,
}
