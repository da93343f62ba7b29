//! The database file: opening, creating, and setting a damaged one aside.

use crate::{DatabaseError, Timestamp, schema};
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for other processes that write.
const PATIENCE: Duration = Duration::from_secs(60);
/// Attempts to open a file that turns out damaged each time, although the damaged one was set aside.
const MOST_ATTEMPTS: usize = 4;

/// What to do with a file that is not a sound database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Rename it, report that, and start a new one: for the user's own file in its usual place.
    SetAside,
    /// Report it and leave it alone: for files that a person named, perhaps by mistake.
    Refuse,
}

/// A damaged file was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its old name.
    pub path: PathBuf,
    /// Its new name.
    pub moved_to: PathBuf,
    /// What was wrong with it.
    pub reason: String,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, moved_to) = (self.path.display(), self.moved_to.display());
        write!(f, "the recipe database {path} was damaged ({}); it is kept as {moved_to}", self.reason)
    }
}

/// An open file.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// Why it cannot be written, if so.
    pub(crate) read_only: Option<String>,
}

/// Opens an existing file, for writing too where that is possible; `None` if there is none, or nothing in it yet.
pub(crate) fn open(
    path: &Path,
    on_damage: OnDamage,
    set_aside: &mut Vec<SetAside>,
) -> Result<Option<Opened>, DatabaseError> {
    let _turn = Turn::wait_for(path);
    for _ in 0..MOST_ATTEMPTS {
        let Some(found) = existing(path)? else { return Ok(None) };
        match open_found(path, Access::WriteIfPossible) {
            Err(DatabaseError::Damaged { reason, .. }) if on_damage == OnDamage::SetAside => {
                set_aside.extend(put_aside(path, &found, reason)?);
            }
            other => return other,
        }
    }
    let reason = "it is damaged again as soon as it is replaced".into();
    Err(DatabaseError::Damaged { path: path.to_owned(), reason })
}

/// Opens an existing file for reading only; `None` if there is nothing in it yet.
pub(crate) fn open_read_only(path: &Path) -> Result<Option<Opened>, DatabaseError> {
    match existing(path)? {
        Some(_) => open_found(path, Access::ReadOnly),
        None => Err(DatabaseError::Io {
            action: "read",
            path: path.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        }),
    }
}

/// Creates the file and its folder if they are not there, and gives it tables if it has none.
pub(crate) fn create(path: &Path) -> Result<Opened, DatabaseError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| match source.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                DatabaseError::ReadOnly {
                    path: path.to_owned(),
                    reason: format!("the folder {} cannot be created: {source}", folder.display()),
                }
            }
            _ => DatabaseError::Io { action: "create the folder", path: folder.to_owned(), source },
        })?;
    }
    let _turn = Turn::wait_for(path);
    let connect = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = connect(path, flags)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        schema::migrate(&connection, schema::MIGRATIONS)?;
        Ok(connection)
    };
    let connection = patiently(connect).map_err(|e| failed("create", path, e))?;
    Ok(Opened { connection, read_only: None })
}

/// A lock for opening, creating or setting aside the files of a folder. Without it a process could see half of what
/// another does, or rename the file that another has just created.
struct Turn {
    _folder: Option<std::fs::File>,
}

impl Turn {
    /// Where folders cannot be locked, there is no lock. The folder is locked and not the file, as closing the
    /// database would drop the locks that SQLite holds on it.
    fn wait_for(path: &Path) -> Self {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let lock = std::fs::File::open(folder).ok().filter(|folder| folder.lock().is_ok());
        Self { _folder: lock }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    WriteIfPossible,
    ReadOnly,
    /// For a folder where SQLite cannot even keep its shared index of a file in WAL mode.
    Immutable,
}

fn open_found(path: &Path, access: Access) -> Result<Option<Opened>, DatabaseError> {
    let unwritable = access != Access::WriteIfPossible;
    let opened = patiently(|| match access {
        Access::WriteIfPossible => connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE),
        Access::ReadOnly => connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY),
        Access::Immutable => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            connect(&immutable_uri(path), flags)
        }
    });
    let checked = opened
        .map_err(|e| failed("open", path, e))
        .and_then(|connection| Ok(check(&connection, path, unwritable)?.then_some(connection)));
    let connection = match (checked, access) {
        (Ok(Some(connection)), _) => connection,
        (Ok(None), _) => return Ok(None),
        (Err(e), Access::WriteIfPossible) if is_unwritable(&e) => return open_found(path, Access::ReadOnly),
        (Err(e), Access::ReadOnly) if is_unwritable(&e) => return open_found(path, Access::Immutable),
        (Err(e), _) => return Err(e),
    };
    let read_only = match connection.is_readonly(MAIN_DB) {
        Ok(false) => None,
        Ok(true) => Some("no permission to write the file or into its folder".to_owned()),
        Err(e) => return Err(failed("open", path, e)),
    };
    Ok(Some(Opened { connection, read_only }))
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // With a write-ahead log a power failure can cost the last entries, never the file.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// Checks that this is an intact file of ours with a known schema; returns whether there is anything in it.
pub(crate) fn check(connection: &Connection, path: &Path, unwritable: bool) -> Result<bool, DatabaseError> {
    let fail = |e| failed("read", path, e);
    if patiently(|| schema::is_foreign(connection)).map_err(fail)? {
        return Err(DatabaseError::Foreign { path: path.to_owned() });
    }
    let known = schema::MIGRATIONS.len() as i64;
    let found = schema::version(connection).map_err(fail)?;
    if found > known {
        return Err(DatabaseError::NewerSchema { path: path.to_owned(), found, known });
    }
    let verdict: String =
        connection.query_row("pragma quick_check(1)", [], |row| row.get(0)).map_err(fail)?;
    if verdict != "ok" {
        return Err(DatabaseError::Damaged { path: path.to_owned(), reason: one_line(&verdict) });
    }
    if found == known || found <= 0 {
        return Ok(found == known);
    }
    if unwritable {
        let reason = format!("its schema {found} is old; open it once with permission to write");
        return Err(DatabaseError::ReadOnly { path: path.to_owned(), reason });
    }
    patiently(|| schema::migrate(connection, schema::MIGRATIONS)).map_err(|e| failed("update", path, e))?;
    Ok(true)
}

/// SQLite does not wait in a few rare moments, such as while another process turns on the write-ahead log.
fn patiently<T>(work: impl Fn() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let start = Instant::now();
    loop {
        match work() {
            Err(e) if is_busy(&e) && start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// An error of SQLite as one of ours.
pub(crate) fn failed(action: &'static str, path: &Path, error: rusqlite::Error) -> DatabaseError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            DatabaseError::Damaged { path, reason: one_line(&error.to_string()) }
        }
        Some(ErrorCode::ReadOnly) => DatabaseError::ReadOnly { path, reason: error.to_string() },
        Some(ErrorCode::CannotOpen) if action == "create" => {
            let reason = "no permission to create it, or its folder is not one".into();
            DatabaseError::ReadOnly { path, reason }
        }
        _ => DatabaseError::Sqlite { action, path, source: error },
    }
}

/// Whether an error may go away when nothing needs to be written beside the file.
fn is_unwritable(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::ReadOnly { .. } => true,
        DatabaseError::Sqlite { source, .. } => {
            matches!(source.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        }
        _ => false,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `path` names now, so that it can be told from what replaces it.
#[derive(PartialEq)]
struct Found {
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    created: Option<std::time::SystemTime>,
}

fn existing(path: &Path) -> Result<Option<Found>, DatabaseError> {
    let fail = |source| DatabaseError::Io { action: "open", path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(fail(e)),
        Ok(metadata) if metadata.is_dir() => Err(fail(std::io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if !metadata.is_file() => Err(fail(std::io::Error::other("it is not a regular file"))),
        #[cfg(unix)]
        Ok(metadata) => {
            use std::os::unix::fs::MetadataExt;
            Ok(Some(Found { inode: (metadata.dev(), metadata.ino()) }))
        }
        #[cfg(not(unix))]
        Ok(metadata) => Ok(Some(Found { created: metadata.created().ok() })),
    }
}

/// Renames a damaged file with what SQLite keeps beside it; `None` if another process was first.
fn put_aside(path: &Path, found: &Found, reason: String) -> Result<Option<SetAside>, DatabaseError> {
    // Links stay where they are; the file they lead to is renamed.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if existing(path)?.as_ref() != Some(found) {
        return Ok(None);
    }
    let moved_to = free_name(&target);
    let rename = |from: &Path, to: &Path| {
        std::fs::rename(from, to).map_err(|source| DatabaseError::Io {
            action: "set aside the damaged",
            path: from.to_owned(),
            source,
        })
    };
    // The log first: it must not be taken for the log of a new file.
    for suffix in ["-wal", "-shm"] {
        let beside = with_suffix(&target, suffix);
        if beside.exists() {
            rename(&beside, &with_suffix(&moved_to, suffix))?;
        }
    }
    rename(&target, &moved_to)?;
    Ok(Some(SetAside { path: path.to_owned(), moved_to, reason }))
}

fn free_name(path: &Path) -> PathBuf {
    let stamped = with_suffix(path, &format!(".damaged-{}", Timestamp::now().compact()));
    let numbered = (2..).map(|k| with_suffix(&stamped, &format!("-{k}")));
    std::iter::once(stamped.clone()).chain(numbered).find(|name| !name.exists()).unwrap_or(stamped)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn immutable_uri(path: &Path) -> PathBuf {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_signs_survive_as_uri() {
        let uri = immutable_uri(Path::new("/no such/100%?#é.sqlite"));
        assert_eq!(uri, Path::new("file:///no%20such/100%25%3F%23%C3%A9.sqlite?immutable=1"));
    }

    #[test]
    fn only_the_file_that_was_found_is_set_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recipes.sqlite");
        std::fs::write(&path, "old").expect("writes");
        let found = existing(&path).expect("looks").expect("is there");
        std::fs::rename(&path, folder.path().join("kept")).expect("renames");
        std::fs::write(&path, "new").expect("writes");
        assert_eq!(put_aside(&path, &found, "test".into()).expect("looks"), None);
        assert_eq!(std::fs::read(&path).expect("reads"), b"new");
    }
}
