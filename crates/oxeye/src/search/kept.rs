//! Logs of searches that ended before they were done, kept between runs: run again, a search goes on.

use super::log::{Header, Log};
use crate::request::Error;
use crate::schedule::digest;
use crate::session::Session;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Logs that were not touched for so long are removed.
const OLDEST: Duration = Duration::from_secs(60 * 24 * 3600);

/// The log of an earlier run of the same command on the same file and machine, or a new one. Where it cannot be kept, or
/// another run is using it, nothing is kept.
pub(super) fn kept_log(session: &Session<'_>, header: Header) -> Log {
    let Some(path) = path(session, &header) else { return Log::default() };
    if session.options.fresh {
        // If it is not there, nothing is known either.
        let _ = std::fs::remove_file(&path);
    }
    match Log::open(&path, header.clone()) {
        Ok(log) => log,
        Err(Error::Log { .. }) if std::fs::remove_file(&path).is_ok() => {
            // It was of another version.
            Log::open(&path, header).unwrap_or_default()
        }
        Err(_) => Log::default(),
    }
}

fn path(session: &Session<'_>, header: &Header) -> Option<PathBuf> {
    let folder = oxeye_host::cache_folder().parent()?.join("searches");
    std::fs::create_dir_all(&folder).ok()?;
    remove_old(&folder);
    let options = session.options;
    let file = options.file.canonicalize().ok()?;
    let run = &options.run;
    let how = (&run.env, &run.args, &run.script, &run.stdin, &run.folder, &run.program);
    let key = serde_json::to_string(&(env!("CARGO_PKG_VERSION"), header, file, &options.focus.function, how))
        .ok()?;
    Some(folder.join(format!("{}.jsonl", digest(&key))))
}

fn remove_old(folder: &Path) {
    let now = SystemTime::now();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let touched = entry.metadata().and_then(|metadata| metadata.modified());
        let age = touched.ok().and_then(|touched| now.duration_since(touched).ok());
        if age.is_some_and(|age| age > OLDEST) {
            // Another run may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
