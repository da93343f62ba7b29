//! Where recipes are kept.

use crate::DatabaseError;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// What names a recipe database: a file, or a PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An SQLite file. It need not exist.
    File(PathBuf),
    /// The address of a database on a server, as libpq reads it.
    Server(String),
}

impl From<&OsStr> for Location {
    /// What begins with `postgresql://` or `postgres://` is the address of a server.
    fn from(text: &OsStr) -> Self {
        let is_address = |text: &str| ["postgresql://", "postgres://"].iter().any(|s| text.starts_with(s));
        match text.to_str().filter(|text| is_address(text)) {
            Some(address) => Self::Server(address.to_owned()),
            None => Self::File(text.into()),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(address) => f.write_str(address),
        }
    }
}

/// What `$OXEYE_DATABASE` names, else the user's own file. It need not exist.
///
/// # Errors
/// [`DatabaseError::NoHome`] if there is no place for a file.
pub fn default_location() -> Result<Location, DatabaseError> {
    match std::env::var_os("OXEYE_DATABASE").filter(|v| !v.is_empty()) {
        Some(named) => Ok(Location::from(named.as_os_str())),
        None => Ok(Location::File(default_path()?)),
    }
}

/// The user's own file: `$OXEYE_DATABASE` if that is one, else `$XDG_DATA_HOME/oxeye/recipes.sqlite`, else
/// `~/.local/share/oxeye/recipes.sqlite`. It need not exist.
///
/// # Errors
/// [`DatabaseError::NoHome`] if none of the variables is set.
pub fn default_path() -> Result<PathBuf, DatabaseError> {
    path_from(|name| std::env::var_os(name)).ok_or(DatabaseError::NoHome)
}

fn path_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty());
    let path = |name: &str| set(name).map(PathBuf::from);
    // The XDG specification says to ignore paths that are not absolute.
    let data = || path("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let home = || Some(path("HOME")?.join(".local").join("share"));
    match set("OXEYE_DATABASE").map(|named| Location::from(named.as_os_str())) {
        Some(Location::File(path)) => Some(path),
        _ => Some(data().or_else(home)?.join("oxeye").join("recipes.sqlite")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_variable_wins() {
        let with = |set: &[(&str, &str)]| {
            path_from(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
                .map(|path| path.display().to_string())
        };
        let (home, data) = (("HOME", "/home/u"), ("XDG_DATA_HOME", "/data"));
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[home]).as_deref(), Some("/home/u/.local/share/oxeye/recipes.sqlite"));
        assert_eq!(with(&[home, data]).as_deref(), Some("/data/oxeye/recipes.sqlite"));
        assert_eq!(with(&[home, ("XDG_DATA_HOME", "data")]), with(&[home]));
        assert_eq!(with(&[home, data, ("OXEYE_DATABASE", "my.db")]).as_deref(), Some("my.db"));
        assert_eq!(with(&[data, ("OXEYE_DATABASE", "")]), with(&[data]));
        // A server is no file: the user's own stays where it is.
        assert_eq!(with(&[data, ("OXEYE_DATABASE", "postgresql://db/recipes")]), with(&[data]));
    }
}
