//! The accesses that the text of a nest tells of, by their numbers in the watch runtime.

use oxeye_ir::{Access, StmtId};
use std::rc::Rc;

/// The variable of the runtime that says whether accesses are looked at.
pub(crate) const IS_ON: &str = "oxeye_watch_on";

/// The numbers of the accesses of the nest that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// The accesses of the nest.
    pub(crate) sites: Rc<Vec<Key>>,
    /// The number of the first of them.
    pub(crate) first: usize,
    /// The statement that is being written; none for bounds and conditions.
    pub(crate) at: Option<StmtId>,
}

/// Which access: equal ones of a statement are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The statement; none for bounds and conditions.
    pub(crate) stmt: Option<StmtId>,
    /// What is accessed.
    pub(crate) access: Access,
    /// Whether it stores.
    pub(crate) is_store: bool,
}

impl Watch {
    /// The number of an access of the statement that is being written.
    pub(crate) fn number(&self, access: &Access, is_store: bool) -> Option<usize> {
        let is_it = |key: &Key| key.stmt == self.at && key.is_store == is_store && key.access == *access;
        self.sites.iter().position(is_it).map(|k| self.first + k)
    }
}
