//! Tuning a file: the stages, one after another.

use super::rerun::keep_candidates;
use super::sdfg;
use crate::request::{Error, Options, Progress};
use crate::search::search_further;
use crate::session::Session;
use crate::stages::{
    Emitted, Report, SearchReport, agree, capture, emit, entries, expect_nests, measure, open, propose, read,
    report, second_round, wake_directives,
};
use oxeye_database::{NewEntry, Origin};

/// Tunes the loop nests of `options.file`, a C file or a DaCe program (`.sdfg`), and writes the tuned file. If nothing faster is found, the tuned file is the
/// input byte for byte, and the report says why.
///
/// # Errors
/// If the run cannot be done; no file is written then.
pub fn optimize(options: &Options, progress: &dyn Progress) -> Result<Report, Error> {
    if sdfg::is_sdfg(&options.file) {
        return Ok(sdfg::written(options, progress, Origin::Learn, &found)?.0);
    }
    let session = woken(options, progress)?;
    let emitted = session.outcome(written(&session))?;
    Ok(report(&session, &emitted))
}

/// The same as [`optimize`], and every trial, failures included, for a recipe database.
///
/// # Errors
/// As [`optimize`].
pub fn optimize_and_learn(
    options: &Options,
    progress: &dyn Progress,
) -> Result<(Report, Vec<NewEntry>), Error> {
    if sdfg::is_sdfg(&options.file) {
        return sdfg::written(options, progress, Origin::Learn, &found);
    }
    let session = woken(options, progress)?;
    let emitted = session.outcome(written(&session))?;
    Ok((report(&session, &emitted), entries(&session, &emitted, Origin::Learn)))
}

/// A session in which it is decided what becomes of directives that the build leaves off.
pub(super) fn woken<'a>(options: &'a Options, progress: &'a dyn Progress) -> Result<Session<'a>, Error> {
    let mut session = Session::new(options, progress)?;
    if options.focus.is_dry {
        return Ok(session);
    }
    let woken = wake_directives(&mut session);
    session.outcome(woken)?;
    Ok(session)
}

fn found(session: &Session<'_>) -> Result<(Emitted, Option<SearchReport>), Error> {
    Ok((tuned(session)?, None))
}

fn written(session: &Session<'_>) -> Result<Emitted, Error> {
    let emitted = tuned(session)?;
    if session.options.focus.is_dry {
        return Ok(emitted);
    }
    emitted.write(session)?;
    if let Some(folder) = &session.options.keep_candidates {
        keep_candidates(session, &emitted, folder)?;
    }
    Ok(emitted)
}

/// The tuned file, written nowhere yet.
pub(super) fn tuned(session: &Session<'_>) -> Result<Emitted, Error> {
    let unit = read(session)?;
    expect_nests(session, &unit)?;
    let mut captured = capture(session, unit)?;
    if !session.options.focus.is_dry {
        session.tell_budget();
    }
    agree(session, &mut captured)?;
    captured.heed(session)?;
    let mut proposed = propose(session, captured)?;
    proposed.add_candidates(session)?;
    let opened = open(session, proposed)?;
    let measured = measure(session, opened)?;
    let measured = second_round(session, measured)?;
    let measured = search_further(session, measured)?;
    emit(session, measured)
}
