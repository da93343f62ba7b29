//! A temporary folder for sources, libraries and samples.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::MeasureError;

/// A temporary folder, removed when dropped; kept when the environment says `OXEYE_KEEP=1`.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    keep: bool,
}

static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl WorkDir {
    /// Makes a new folder among the temporary files of the system.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new() -> Result<WorkDir, MeasureError> {
        WorkDir::within(None)
    }

    /// Makes a new folder inside this one, for what others have to see, too; without one as [`WorkDir::new`].
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn within(parent: Option<&Path>) -> Result<WorkDir, MeasureError> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let dir = tempfile::Builder::new()
            .prefix("oxeye-")
            .tempdir_in(&parent)
            .map_err(MeasureError::io("make a temporary folder in", &parent))?;
        Ok(WorkDir::of(dir.keep()))
    }

    /// Makes this very folder, which is not there yet; nobody else may look into it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn at(path: &Path) -> Result<WorkDir, MeasureError> {
        let made = fs::DirBuilder::new().mode(0o700).create(path).and_then(|()| path.canonicalize());
        Ok(WorkDir::of(made.map_err(MeasureError::io("make", path))?))
    }

    fn of(path: PathBuf) -> WorkDir {
        let keep = std::env::var_os("OXEYE_KEEP").is_some_and(|v| v == "1");
        if !keep {
            LIVE.lock().unwrap_or_else(|e| e.into_inner()).insert(path.clone());
        }
        WorkDir { path, keep }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in the folder.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file and returns its path. Folders in `name` are made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Result<PathBuf, MeasureError> {
        let path = self.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(MeasureError::io("make", parent))?;
        }
        fs::write(&path, contents).map_err(MeasureError::io("write", &path))?;
        Ok(path)
    }

    /// Makes a folder inside and returns its path.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn subdir(&self, name: impl AsRef<Path>) -> Result<PathBuf, MeasureError> {
        let path = self.join(name);
        fs::create_dir_all(&path).map_err(MeasureError::io("make", &path))?;
        Ok(path)
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        LIVE.lock().unwrap_or_else(|e| e.into_inner()).remove(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes all remaining work folders, for a process that ends without dropping its values.
pub(crate) fn remove_all() {
    let paths = std::mem::take(&mut *LIVE.lock().unwrap_or_else(|e| e.into_inner()));
    for path in paths {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_folder_goes_with_its_value() {
        let work = WorkDir::new().expect("work folder");
        let file = work.write("a/b.txt", "text").expect("written");
        assert_eq!(fs::read(&file).expect("read"), b"text");
        let (path, keep) = (work.path().to_path_buf(), work.keep);
        drop(work);
        assert_eq!(path.exists(), keep);
    }
}
