//! The journal of a measuring run: one record per line, on disk before the next nest begins.

use crate::record::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};

/// A journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("cannot use the journal {path}")]
    Io {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A line that is not the last is no record.
    #[error("{path}, line {line}: not a record; is it a journal of this version?")]
    Line {
        /// The file.
        path: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    done: BTreeSet<String>,
    /// The first nest with measurements of every group and normal form.
    forms: BTreeMap<(String, String), String>,
}

impl Journal {
    /// Opens a journal or starts one. An incomplete last line, left by a crash, is cut off.
    ///
    /// # Errors
    /// If the file cannot be used, or is no journal.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.display().to_string(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let (records, end) = read(&mut file, path)?;
        file.set_len(end).map_err(io)?;
        file.seek(std::io::SeekFrom::End(0)).map_err(io)?;
        let mut journal = Self { file, path: path.to_owned(), done: BTreeSet::new(), forms: BTreeMap::new() };
        records.iter().for_each(|record| journal.note(record));
        Ok(journal)
    }

    /// Whether a nest is in the journal.
    pub fn has(&self, id: &str) -> bool {
        self.done.contains(id)
    }

    /// Number of nests in the journal.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether no nest is in the journal.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Adds a record and waits until it is on disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.display().to_string(), source };
        let line = format!("{}\n", serde_json::json!(record));
        self.file.write_all(line.as_bytes()).map_err(io)?;
        self.file.sync_data().map_err(io)?;
        self.note(record);
        Ok(())
    }

    /// The nest of a group that has been measured in this normal form.
    pub fn measured_form(&self, group: &str, normal_hash: &str) -> Option<&str> {
        self.forms.get(&(group.to_owned(), normal_hash.to_owned())).map(String::as_str)
    }

    fn note(&mut self, record: &Record) {
        let nest = &record.nest;
        self.done.insert(nest.id.clone());
        if record.subject_seconds().is_some() {
            let form = (nest.group.clone(), record.normal_hash.clone());
            self.forms.entry(form).or_insert_with(|| nest.id.clone());
        }
    }
}

/// The records of a journal; an incomplete last line, left by a crash, is ignored.
///
/// # Errors
/// If the file cannot be read, or is no journal.
pub fn read_journal(path: &Path) -> Result<Vec<Record>, JournalError> {
    let mut file =
        File::open(path).map_err(|source| JournalError::Io { path: path.display().to_string(), source })?;
    Ok(read(&mut file, path)?.0)
}

/// The records, and where the last whole line ends.
fn read(file: &mut File, path: &Path) -> Result<(Vec<Record>, u64), JournalError> {
    let io = |source| JournalError::Io { path: path.display().to_string(), source };
    let mut reader = BufReader::new(file);
    let (mut records, mut end, mut line) = (Vec::new(), 0, Vec::new());
    for number in 1.. {
        line.clear();
        let n = reader.read_until(b'\n', &mut line).map_err(io)?;
        if n == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let record = serde_json::from_slice(&line).map_err(|source| JournalError::Line {
            path: path.display().to_string(),
            line: number,
            source,
        })?;
        records.push(record);
        end += n as u64;
    }
    Ok((records, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn a_journal_survives_a_crash_in_the_middle_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shard.jsonl");
        let records = [record(0), record(1), record(2)];
        let mut journal = Journal::open(&path).unwrap();
        assert!(journal.is_empty());
        journal.append(&records[0]).unwrap();
        journal.append(&records[1]).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"nest\": {\"id\": \"half"].concat()).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert!(journal.has(&records[1].nest.id) && !journal.has(&records[2].nest.id));
        journal.append(&records[2]).unwrap();
        assert_eq!(journal.len(), 3);
        let measured = journal.measured_form(&records[1].nest.group, &records[1].normal_hash);
        assert_eq!(measured, Some(records[1].nest.id.as_str()));
        assert_eq!(read_journal(&path).unwrap(), records);
    }

    #[test]
    fn a_file_that_is_no_journal_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "hello\nworld\n").unwrap();
        let error = Journal::open(&path).unwrap_err().to_string();
        assert!(error.contains("notes.txt, line 1"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello\nworld\n");
    }
}
