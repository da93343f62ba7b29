//! What can go wrong with a recipe database.

use crate::id::EntryId;
use std::path::PathBuf;

/// Why a recipe database could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// SQLite refused.
    #[error("cannot {action} the recipe database {}: {source}", path.display())]
    Sqlite {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The message of SQLite.
        source: rusqlite::Error,
    },
    /// A server cannot be reached, or refused.
    #[error("cannot {action} the recipe database {address}: {reason}")]
    Server {
        /// What was tried, as a verb.
        action: &'static str,
        /// Its address.
        address: String,
        /// The message of the server, or of its client library.
        reason: String,
    },
    /// What should be the address of a server is none, or one that must not be used. It is not shown, as it may hold a secret.
    #[error("the address of the recipe database cannot be used: {reason}")]
    Address {
        /// Why not.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file was written by a newer Oxeye.
    #[error(
        "the recipe database {} has schema {found}, this oxeye knows schemas up to {known}; \
         use a newer oxeye, or another one with --database",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version this crate knows.
        known: i64,
    },
    /// An intact SQLite file of another program.
    #[error("{} is an SQLite file, but not a recipe database; it is left alone", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a database, or its contents contradict each other.
    #[error("the recipe database {} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// Neither the file nor its folder may be written, or it was opened for reading only.
    #[error("the recipe database {} cannot be written: {reason}", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// An entry contradicts itself.
    #[error("{field}: {reason}")]
    Invalid {
        /// The member of [`NewEntry`](crate::NewEntry).
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Two different nests claim one hash.
    #[error("the nest hash {hash} already stands for another normal form")]
    Conflict {
        /// Which entry of the batch, from 0.
        position: usize,
        /// The hash.
        hash: String,
    },
    /// An entry that is not in the store, or not in a part of it that can be changed.
    #[error("there is no entry {id} that can be changed")]
    NoSuchEntry {
        /// Its number.
        id: EntryId,
    },
    /// No environment variable says where the user's data are.
    #[error("no place for the recipe database: set HOME, XDG_DATA_HOME or OXEYE_DATABASE")]
    NoHome,
}
