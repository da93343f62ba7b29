//! Tuning with a search in place of proposals and their measurement.

use super::optimize::woken;
use super::sdfg;
use crate::request::{Error, Options, Progress};
use crate::search::{SearchOptions, search_nests};
use crate::session::Session;
use crate::stages::{Report, capture, emit, entries, read, report};
use oxeye_database::{NewEntry, Origin};

/// Searches schedules for the loop nests of `options.file` and writes the tuned file. Also returns every trial, for a
/// recipe database.
///
/// # Errors
/// If the run cannot be done, or the log is that of another search; no tuned file is written then.
pub fn search(
    options: &Options,
    searching: &SearchOptions,
    progress: &dyn Progress,
) -> Result<(Report, Vec<NewEntry>), Error> {
    let found = |session: &Session<'_>| {
        let captured = capture(session, read(session)?)?;
        session.tell_budget();
        let (measured, found) = search_nests(session, captured, searching)?;
        Ok((emit(session, measured)?, Some(found)))
    };
    if sdfg::is_sdfg(&options.file) {
        return sdfg::written(options, progress, Origin::Search, &found);
    }
    let session = woken(options, progress)?;
    let run = || {
        let (emitted, search) = found(&session)?;
        emitted.write(&session)?;
        let report = Report { search, ..report(&session, &emitted) };
        Ok((report, entries(&session, &emitted, Origin::Search)))
    };
    session.outcome(run())
}
