//! What a run of a program leaves: what it prints, and the files that it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

use crate::argument::ElementType;
use crate::aside::Place;
use crate::error::MeasureError;
use crate::process::{Exit, Invocation, Limits, RunOutcome, run_program};

/// A file that a program writes, and that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedFile {
    /// As seen from the folder in which the program runs.
    pub path: PathBuf,
    /// What is in it, if that cannot be seen: nothing but such numbers.
    pub element: Option<ElementType>,
}

impl FromStr for ComparedFile {
    type Err = String;

    /// `FILE`, `FILE:f32` or `FILE:f64`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, element) = match text.rsplit_once(':') {
            Some((path, "f32")) => (path, Some(ElementType::F32)),
            Some((path, "f64")) => (path, Some(ElementType::F64)),
            _ => (text, None),
        };
        if path.is_empty() {
            return Err("it names no file".into());
        }
        Ok(Self { path: path.into(), element })
    }
}

impl std::fmt::Display for ComparedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let format = match self.element {
            Some(ElementType::F32) => ":f32",
            Some(_) => ":f64",
            None => "",
        };
        write!(f, "{}{format}", self.path.display())
    }
}

/// What a run left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// The contents of the compared files, in their order; `None` for one that it did not write. Empty where no files were
    /// looked at.
    pub files: Vec<Option<Arc<Vec<u8>>>>,
}

impl Left {
    /// What was only seen to be printed.
    pub fn printed(stdout: Vec<u8>) -> Left {
        Left { stdout, files: Vec::new() }
    }

    /// Keeps contents that another run left as well only once.
    pub(crate) fn share_with(&mut self, other: &Left) {
        for (own, known) in self.files.iter_mut().zip(&other.files) {
            if own == known {
                own.clone_from(known);
            }
        }
    }

    /// The files that are not there, by their positions.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        self.files.iter().enumerate().filter(|(_, file)| file.is_none()).map(|(k, _)| k)
    }
}

/// Larger files are not compared.
const MOST_BYTES: u64 = 1 << 30;

/// Files that runs of a program write. What was there before is kept aside, so that no run finds what another one left, and
/// is put back when the value is dropped.
#[derive(Debug)]
pub struct WatchedFiles {
    places: Vec<Place>,
}

impl WatchedFiles {
    /// For runs in `folder`.
    ///
    /// # Errors
    /// When what is there is no file, or cannot be moved.
    pub fn new(files: &[ComparedFile], folder: Option<&Path>) -> Result<WatchedFiles, MeasureError> {
        let mut watched = WatchedFiles { places: Vec::new() };
        for file in files {
            let path = folder.map_or_else(|| file.path.clone(), |folder| folder.join(&file.path));
            let path = path.canonicalize().unwrap_or(path);
            if watched.places.iter().any(|place| *place.path() == path) {
                return Err(MeasureError::NotComparable { path, text: "is named twice".into() });
            }
            let found = fs::metadata(&path).ok();
            if found.as_ref().is_some_and(|found| !found.is_file()) {
                return Err(MeasureError::NotComparable { path, text: "is no file".into() });
            }
            let place = Place::clear(&path, found.is_some()).map_err(MeasureError::io("move", &path))?;
            watched.places.push(place);
        }
        Ok(watched)
    }

    /// What a run has written; the files are removed.
    ///
    /// # Errors
    /// When one cannot be read or removed, or is too large.
    pub fn take(&self) -> Result<Vec<Option<Arc<Vec<u8>>>>, MeasureError> {
        let take = |place: &Place| {
            let path = place.path();
            // An interruption has put back what was there before.
            let Some(_clear) = place.is_clear() else { return Ok(None) };
            let Ok(found) = fs::symlink_metadata(path) else { return Ok(None) };
            if !found.is_file() {
                return Err(MeasureError::NotComparable {
                    path: path.to_path_buf(),
                    text: "is no file".into(),
                });
            }
            if found.len() > MOST_BYTES {
                let text = format!("has {} bytes; files of up to {MOST_BYTES} are compared", found.len());
                return Err(MeasureError::NotComparable { path: path.to_path_buf(), text });
            }
            let bytes = fs::read(path).map_err(MeasureError::io("read", path))?;
            fs::remove_file(path).map_err(MeasureError::io("remove", path))?;
            Ok(Some(Arc::new(bytes)))
        };
        self.places.iter().map(take).collect()
    }

    /// Runs a program, and takes what it leaves.
    ///
    /// # Errors
    /// When it cannot be started, or what it writes cannot be taken.
    pub fn run(&self, program: &Invocation, limits: &Limits) -> Result<(RunOutcome, Left), MeasureError> {
        // What a run before has left, if it was stopped.
        self.take()?;
        let mut outcome = run_program(program, limits)?;
        let files = self.take()?;
        let stdout = std::mem::take(&mut outcome.stdout);
        Ok((outcome, Left { stdout, files }))
    }

    /// That the original wrote every file when it ran to its end.
    ///
    /// # Errors
    /// Which one it did not write.
    pub fn expect_all(&self, left: &Left, exit: Exit) -> Result<(), MeasureError> {
        match left.missing().next() {
            Some(k) if matches!(exit, Exit::Exited(_)) => {
                Err(MeasureError::NotWritten { path: self.places[k].path().to_path_buf() })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for WatchedFiles {
    fn drop(&mut self) {
        self.places.iter().for_each(Place::put_back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::WorkDir;

    fn shell(script: &str) -> Invocation {
        Invocation::new("sh").args(["-c", script])
    }

    #[test]
    fn files_have_formats() {
        let read = |text: &str| text.parse::<ComparedFile>().expect("a file");
        assert_eq!(
            read("out/u.bin:f32"),
            ComparedFile { path: "out/u.bin".into(), element: Some(ElementType::F32) }
        );
        assert_eq!(read("a:b").path, Path::new("a:b"));
        assert_eq!(read("u:f64").to_string(), "u:f64");
        assert!(":f32".parse::<ComparedFile>().is_err());
    }

    #[test]
    fn a_run_leaves_only_what_it_writes_itself() {
        let work = WorkDir::new().expect("work folder");
        work.write("old.txt", "of the user").expect("written");
        let files = ["old.txt".parse().expect("a file"), "new.txt".parse().expect("a file")];
        let run = |watched: &WatchedFiles, script: &str| {
            let program = shell(script).cwd(Some(work.path().to_path_buf()));
            let (outcome, left) = watched.run(&program, &Limits::default()).expect("runs");
            watched.expect_all(&left, outcome.exit).map(|()| left)
        };
        let watched = WatchedFiles::new(&files, Some(work.path())).expect("watched");
        let left =
            run(&watched, "echo hi; cat old.txt; echo 1 > old.txt; echo 2 > new.txt").expect("writes both");
        assert_eq!(left.stdout, b"hi\n");
        assert_eq!(left.files[0].as_deref().map(|bytes| &bytes[..]), Some(&b"1\n"[..]));
        // It does not find what the run before has left, and a file that it does not write is missed.
        let error = run(&watched, "echo 3 > old.txt").expect_err("writes one").to_string();
        assert!(error.contains("new.txt"), "{error}");
        assert!(WatchedFiles::new(&["..".parse().expect("a name")], Some(work.path())).is_err());
        drop(watched);
        assert_eq!(fs::read(work.join("old.txt")).expect("put back"), b"of the user");
        assert!(!work.join("new.txt").exists());
        assert_eq!(fs::read_dir(work.path()).expect("read").count(), 1);
    }
}
