//! The path of the user's own database.

use crate::DatabaseError;
use std::ffi::OsString;
use std::path::PathBuf;

/// The user's own file: `$OXEYE_DATABASE`, else `$XDG_DATA_HOME/oxeye/recipes.sqlite`, else
/// `~/.local/share/oxeye/recipes.sqlite`. It need not exist.
///
/// # Errors
/// [`DatabaseError::NoHome`] if none of the variables is set.
pub fn default_path() -> Result<PathBuf, DatabaseError> {
    path_from(|name| std::env::var_os(name)).ok_or(DatabaseError::NoHome)
}

fn path_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // The XDG specification says to ignore paths that are not absolute.
    let data = || path("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let home = || Some(path("HOME")?.join(".local").join("share"));
    path("OXEYE_DATABASE").or_else(|| Some(data().or_else(home)?.join("oxeye").join("recipes.sqlite")))
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
    }
}
