//! Who has allowed what to leave this machine, and where to.

use crate::{DatabaseError, SharedField, Sharing, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name and version of the file's form.
const SCHEMA: &str = "oxeye.sharing/1";

/// What a user has allowed, in a file beside the user's own database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consents {
    path: PathBuf,
    servers: BTreeMap<String, Consent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Consent {
    fields: Vec<String>,
    allowed_by: String,
    allowed_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    servers: BTreeMap<String, Consent>,
}

impl Consents {
    /// What was allowed by the user of a database file; nothing as long as nobody was asked.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn load(own_database: &Path) -> Result<Self, DatabaseError> {
        let path = own_database.with_file_name("sharing.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path, servers: BTreeMap::new() });
            }
            Err(source) => return Err(DatabaseError::Io { action: "read", path, source }),
        };
        let invalid = |reason: String| DatabaseError::Io {
            action: "read",
            path: path.clone(),
            source: std::io::Error::other(reason),
        };
        let file: File = serde_json::from_str(&text).map_err(|e| invalid(e.to_string()))?;
        if file.schema != SCHEMA {
            return Err(invalid(format!("its schema is `{}`, this oxeye reads {SCHEMA}", file.schema)));
        }
        Ok(Self { path, servers: file.servers })
    }

    /// What may be sent to a server; `None` if nobody has allowed anything. Fields that are not known here are left out.
    pub fn of(&self, server: &str) -> Option<Sharing> {
        let fields = &self.servers.get(server)?.fields;
        Some(fields.iter().filter_map(|field| field.parse::<SharedField>().ok()).collect())
    }

    /// Remembers what a person allows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn allow(&mut self, server: &str, sharing: &Sharing, person: &str) -> Result<(), DatabaseError> {
        let consent = Consent {
            fields: sharing.fields().map(|field| field.name().to_owned()).collect(),
            allowed_by: person.to_owned(),
            allowed_at: Timestamp::now(),
        };
        self.servers.insert(server.to_owned(), consent);
        let fail = |source| DatabaseError::Io { action: "write", path: self.path.clone(), source };
        let file = File { schema: SCHEMA.to_owned(), servers: self.servers.clone() };
        let mut text = serde_json::to_string_pretty(&file).map_err(|e| fail(e.into()))?;
        text.push('\n');
        let folder = self.path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(fail)?;
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        new.write_all(text.as_bytes()).map_err(fail)?;
        new.persist(&self.path).map_err(|e| fail(e.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_remembered_by_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("data/recipes.sqlite");
        let mut consents = Consents::load(&own).expect("loads");
        assert_eq!(consents.of("postgresql://db"), None);
        let all: Sharing = SharedField::ALL.into_iter().collect();
        consents.allow("postgresql://db", &Sharing::default(), "me").expect("writes");
        consents.allow("postgresql://other", &all, "me").expect("writes");
        let read = Consents::load(&own).expect("loads");
        assert_eq!(read, consents);
        assert_eq!(read.of("postgresql://db"), Some(Sharing::default()));
        assert_eq!(read.of("postgresql://other"), Some(all));
        std::fs::write(folder.path().join("data/sharing.json"), "{}").expect("writes");
        let refused = Consents::load(&own).expect_err("no schema").to_string();
        assert!(refused.contains("sharing.json: missing field `schema`"), "{refused}");
    }
}
