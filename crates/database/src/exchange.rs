//! Entries as lines of text, for sharing and keeping.

use crate::{Addition, Change, Count, DatabaseError, Entry, NewEntry, Order, RecipeStore, Sharing};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;

/// Name and version of the exchange format: JSON Lines in UTF-8, an entry a line, lines of white space ignored. A line
/// is an object of exactly
///
/// - `schema`: this name,
/// - `n_added`: how often a trial of this identity was added, at least 1,
/// - `entry`: a [`NewEntry`], its members named as its fields. Members that may be absent there are `null` here; a
///   verdict is `"gained"`, `"slowed"`, `"even"` or `{"failed": "why"}`; moments are RFC 3339 in UTC to the second;
///   the recipe's `steps` and the `host_summary` are JSON values of any kind.
///
/// Numbers are read back bit for bit. Ids of entries are left out: they belong to a store.
pub const EXCHANGE_SCHEMA: &str = "oxeye.recipes/1";

/// How many entries [`merge`] writes at once.
const PORTION: usize = 256;

#[derive(Serialize)]
struct LineOut<'e> {
    schema: &'static str,
    n_added: u64,
    entry: &'e NewEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineIn {
    schema: String,
    n_added: u64,
    entry: NewEntry,
}

/// What to do with lines that are not entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBadLine {
    /// Import nothing.
    Stop,
    /// Import the others.
    Skip,
}

/// What came of an import or a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Entries that were not there before.
    pub inserted: u64,
    /// Entries that took the place of weaker or older ones.
    pub replaced: u64,
    /// Entries that were there already, as good or better.
    pub kept: u64,
    /// Lines that are not entries, in order.
    pub bad_lines: Vec<BadLine>,
}

/// A line that is not an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Line number, from 1.
    pub line: usize,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl Tally {
    /// Entries that were read and are valid.
    pub fn n_good(&self) -> u64 {
        self.inserted + self.replaced + self.kept
    }

    fn count(&mut self, change: Change) {
        match change {
            Change::Inserted => self.inserted += 1,
            Change::Replaced => self.replaced += 1,
            Change::Kept => self.kept += 1,
        }
    }
}

/// Writes all entries of a store, oldest first, and returns how many.
///
/// # Errors
/// If the store cannot be read, or the text cannot be written.
pub fn export(store: &dyn RecipeStore, name: &Path, out: &mut dyn Write) -> Result<u64, DatabaseError> {
    let fail = |source| DatabaseError::Io { action: "write", path: name.to_owned(), source };
    let mut n_written = 0;
    for entry in store.entries(Order::OldestFirst) {
        let mut text = exchange_line(&entry?).map_err(|e| fail(e.into()))?;
        text.push('\n');
        out.write_all(text.as_bytes()).map_err(fail)?;
        n_written += 1;
    }
    out.flush().map_err(fail)?;
    Ok(n_written)
}

/// An entry as a line of the exchange format, without the line's end.
///
/// # Errors
/// If a figure is not finite, which [`NewEntry::validate`] refuses.
pub fn exchange_line(entry: &Entry) -> Result<String, serde_json::Error> {
    serde_json::to_string(&LineOut { schema: EXCHANGE_SCHEMA, n_added: entry.n_added, entry: &entry.content })
}

/// Writes all entries of a store into a file, whole or not at all, and returns how many. What is not a regular file (a
/// pipe, `/dev/stdout`) is written directly.
///
/// # Errors
/// If the store cannot be read, or the file cannot be written.
pub fn export_file(store: &dyn RecipeStore, path: &Path) -> Result<u64, DatabaseError> {
    let fail = |source| DatabaseError::Io { action: "write", path: path.to_owned(), source };
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let file = std::fs::OpenOptions::new().write(true).open(path).map_err(fail)?;
        return export(store, path, &mut BufWriter::new(file));
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".oxeye-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(fail)?;
    let n_written = export(store, path, &mut BufWriter::new(file.as_file_mut()))?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(&target).map_err(|e| fail(e.error))?;
    Ok(n_written)
}

/// Adds the entries of a text to a store in one transaction. `source` becomes their [`imported_from`] and names the
/// text in messages. With [`OnBadLine::Stop`], a bad line leaves the store as it was.
///
/// [`imported_from`]: crate::Provenance::imported_from
///
/// # Errors
/// If the text cannot be read, or the store cannot be written. Bad lines are no errors; the tally lists them.
pub fn import(
    store: &mut dyn RecipeStore,
    source: &str,
    text: &mut dyn BufRead,
    on_bad: OnBadLine,
) -> Result<Tally, DatabaseError> {
    let mut tally = Tally::default();
    let (mut batch, mut line_of) = (Vec::new(), Vec::new());
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let n_read = text.read_until(b'\n', &mut bytes).map_err(|e| DatabaseError::Io {
            action: "read",
            path: source.into(),
            source: e,
        })?;
        if n_read == 0 {
            break;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match parse_line(&bytes) {
            Ok(mut addition) => {
                addition.content.provenance.imported_from = Some(source.to_owned());
                batch.push(addition);
                line_of.push(line);
            }
            Err(reason) => tally.bad_lines.push(BadLine { line, reason }),
        }
    }
    loop {
        if on_bad == OnBadLine::Stop && !tally.bad_lines.is_empty() {
            return Ok(tally);
        }
        match store.put(&batch) {
            Err(DatabaseError::Conflict { position, hash }) => {
                let reason = DatabaseError::Conflict { position, hash }.to_string();
                batch.remove(position);
                tally.bad_lines.push(BadLine { line: line_of.remove(position), reason });
                tally.bad_lines.sort_by_key(|bad| bad.line);
            }
            outcomes => {
                outcomes?.into_iter().for_each(|outcome| tally.count(outcome.change));
                return Ok(tally);
            }
        }
    }
}

/// One line of the exchange format, checked.
///
/// # Errors
/// The reason, if it is not an entry.
pub fn parse_line(bytes: &[u8]) -> Result<Addition, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let text = std::str::from_utf8(bytes.trim_ascii_end()).map_err(|_| "it is not UTF-8".to_owned())?;
    let words = |e: serde_json::Error| e.to_string().replace(" at line 1 column ", " at column ");
    let head: Head = serde_json::from_str(text).map_err(words)?;
    match head.schema.as_deref() {
        Some(EXCHANGE_SCHEMA) => {}
        Some(other) => return Err(format!("its schema is `{other}`, this oxeye reads {EXCHANGE_SCHEMA}")),
        None => return Err(format!("its schema is missing, it should be {EXCHANGE_SCHEMA}")),
    }
    let line: LineIn = serde_json::from_str(text).map_err(words)?;
    debug_assert_eq!(line.schema, EXCHANGE_SCHEMA);
    if line.n_added == 0 {
        return Err("n_added: it is 0".into());
    }
    line.entry.validate().map_err(|e| e.to_string())?;
    Ok(Addition { content: line.entry, count: Count::Copy(line.n_added) })
}

/// Adds all entries of one store to another, in batches. A merge that failed half-way can be repeated: merging twice is
/// the same as merging once. `source` becomes the entries'
/// [`imported_from`](crate::Provenance::imported_from).
///
/// # Errors
/// If one cannot be read or the other cannot be written, or one hash stands for different normal forms in them.
pub fn merge(
    store: &mut dyn RecipeStore,
    source: &str,
    other: &dyn RecipeStore,
) -> Result<Tally, DatabaseError> {
    carry(store, other, &|mut content| {
        content.provenance.imported_from = Some(source.to_owned());
        Some(content)
    })
}

/// Adds what is shared of the entries of one's own store to that of `server`, as [`merge`] does. What came from there is not sent
/// back.
///
/// # Errors
/// As of [`merge`].
pub fn push(
    store: &mut dyn RecipeStore,
    server: &str,
    own: &dyn RecipeStore,
    sharing: &Sharing,
) -> Result<Tally, DatabaseError> {
    carry(store, own, &|content| {
        let is_theirs = content.provenance.imported_from.as_deref() == Some(server);
        (!is_theirs).then(|| sharing.shared(&content))
    })
}

/// Adds what `change` makes of the entries of one store to another, in batches.
fn carry(
    store: &mut dyn RecipeStore,
    other: &dyn RecipeStore,
    change: &dyn Fn(NewEntry) -> Option<NewEntry>,
) -> Result<Tally, DatabaseError> {
    let mut tally = Tally::default();
    let mut entries = other.entries(Order::OldestFirst).filter_map(|entry| match entry {
        Ok(Entry { n_added, content, .. }) => {
            Some(Ok(Addition { content: change(content)?, count: Count::Copy(n_added) }))
        }
        Err(error) => Some(Err(error)),
    });
    loop {
        let batch: Vec<Addition> = entries.by_ref().take(PORTION).collect::<Result<_, DatabaseError>>()?;
        if batch.is_empty() {
            return Ok(tally);
        }
        store.put(&batch)?.into_iter().for_each(|outcome| tally.count(outcome.change));
    }
}
