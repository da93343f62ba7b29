//! Files of the user's that are moved aside while programs run that would change them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// A place that was cleared for programs to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    path: PathBuf,
    /// Where the file is that was there before.
    aside: Option<PathBuf>,
}

/// The places that are not put back yet.
static LIVE: Mutex<Vec<Place>> = Mutex::new(Vec::new());

impl Place {
    /// Moves the file aside, if there is one.
    pub(crate) fn clear(path: &Path, is_there: bool) -> io::Result<Place> {
        let mut live = live();
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".oxeye-{}", std::process::id()));
        let aside = is_there.then(|| path.with_file_name(name));
        if let Some(aside) = &aside {
            fs::rename(path, aside)?;
        }
        let place = Place { path: path.to_path_buf(), aside };
        live.push(place.clone());
        Ok(place)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was not put back; it stays so as long as the value lives.
    pub(crate) fn is_clear(&self) -> Option<MutexGuard<'static, Vec<Place>>> {
        Some(live()).filter(|live| live.contains(self))
    }

    /// Removes what programs wrote, and puts back what was there before, unless that was done.
    pub(crate) fn put_back(&self) {
        let mut live = live();
        if let Some(at) = live.iter().position(|place| place == self) {
            live.remove(at).restore();
        }
    }

    fn restore(&self) {
        let _ = match &self.aside {
            Some(aside) => fs::rename(aside, &self.path),
            None => fs::remove_file(&self.path),
        };
    }
}

/// Puts back all of them, for a process that ends without dropping its values.
pub(crate) fn put_back_all() {
    live().drain(..).for_each(|place| place.restore());
}

fn live() -> MutexGuard<'static, Vec<Place>> {
    LIVE.lock().unwrap_or_else(|e| e.into_inner())
}
