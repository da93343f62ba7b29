//! What was read in a run, so that no file is read twice in the same way: that takes seconds where files are long.

use oxeye_frontend::{FrontendError, ReadOptions, Unit, read_c};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files as they were read. Nothing that they are made of changes as long as a run lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings(Arc<Mutex<Vec<Reading>>>);

#[derive(Debug)]
struct Reading {
    path: PathBuf,
    options: ReadOptions,
    unit: Unit,
}

impl Readings {
    /// A file as functions of loop nests.
    ///
    /// # Errors
    /// As [`read_c`].
    pub(crate) fn read(&self, path: &Path, options: &ReadOptions) -> Result<Unit, FrontendError> {
        if let Some(unit) = self.known(path, options) {
            return Ok(unit);
        }
        let unit = read_c(path, options)?;
        let reading = Reading { path: path.to_owned(), options: options.clone(), unit: unit.clone() };
        self.0.lock().unwrap_or_else(|e| e.into_inner()).push(reading);
        Ok(unit)
    }

    fn known(&self, path: &Path, options: &ReadOptions) -> Option<Unit> {
        let all = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let is_it = |reading: &&Reading| reading.path == path && reading.is_as(options);
        all.iter().find(is_it).map(|reading| reading.unit.clone())
    }
}

impl Reading {
    /// Whether it would be the same with these options: files that are closed since must not be in its text.
    fn is_as(&self, options: &ReadOptions) -> bool {
        let closed = &self.options.closed;
        let is_in_text = |path: &PathBuf| self.unit.included.files().iter().any(|file| file.path == *path);
        closed.is_subset(&options.closed)
            && !options.closed.difference(closed).any(is_in_text)
            && self.options == ReadOptions { closed: closed.clone(), ..options.clone() }
    }
}
