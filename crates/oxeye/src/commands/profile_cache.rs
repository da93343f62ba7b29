//! Profiles of earlier runs, kept by content: what program, inputs, compiler, flags and machine a profile is of.

use super::profile_report::{PROFILE_SCHEMA, ProfileOptions, ProfileReport};
use crate::request::{Error, write_atomically};
use crate::session::Session;
use oxeye_frontend::Unit;
use oxeye_host::HostProfile;
use oxeye_measure::{Invocation, Limits, run_program};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What a kept profile is found by. Files that the program itself opens are not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey(Option<String>);

impl CacheKey {
    /// The key of a run; one that finds and keeps nothing if something that matters cannot be read.
    pub(crate) fn of(
        session: &Session<'_>,
        unit: &Unit,
        host: &HostProfile,
        profiling: &ProfileOptions,
    ) -> CacheKey {
        CacheKey(digest(session, unit, host, profiling))
    }

    fn path(&self) -> Option<PathBuf> {
        let folder = oxeye_host::cache_folder().parent()?.join("profiles");
        Some(folder.join(format!("{}.json", self.0.as_ref()?)))
    }
}

/// The kept profile, if there is one that can be read.
pub(crate) fn load(key: &CacheKey) -> Option<ProfileReport> {
    let text = std::fs::read_to_string(key.path()?).ok()?;
    serde_json::from_str(&text).ok().filter(|report: &ProfileReport| report.schema == PROFILE_SCHEMA)
}

/// Keeps a profile.
pub(crate) fn save(key: &CacheKey, report: &ProfileReport) -> Result<(), Error> {
    let Some(path) = key.path() else { return Ok(()) };
    if let Some(folder) = path.parent() {
        let fail = |source| Error::Io { action: "create", path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    write_atomically(&path, report.to_json().as_bytes())
}

fn digest(
    session: &Session<'_>,
    unit: &Unit,
    host: &HostProfile,
    profiling: &ProfileOptions,
) -> Option<String> {
    let options = session.options;
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(PROFILE_SCHEMA.as_bytes());
    part(env!("CARGO_PKG_VERSION").as_bytes());
    part(b"sections");
    part(unit.source.as_bytes());
    part(&preprocessed(session)?);
    let more = options.compiler.args.iter().filter(|a| !a.starts_with('-')).map(Path::new);
    for file in more.chain(options.inputs.values().map(PathBuf::as_path)) {
        part(&std::fs::read(file).ok()?);
    }
    part(session.workshop.compiler.version().ok()?.as_bytes());
    // Maps keep the order of the command line, which does not matter.
    let mut sizes: Vec<_> = options.sizes.iter().collect();
    sizes.sort();
    let inputs: Vec<_> = options.inputs.keys().collect();
    let rest = (
        &options.compiler,
        &options.focus.function,
        (sizes, inputs, options.seed, options.no_alias),
        (session.threads, profiling.counters, profiling.seconds.to_bits()),
        (&host.key, &host.measured_at),
    );
    part(&serde_json::to_vec(&rest).ok()?);
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The file with everything it includes, as the user's compiler sees it.
fn preprocessed(session: &Session<'_>) -> Option<Vec<u8>> {
    let compiler = &session.options.compiler;
    let is_other = |a: &&String| compiler.sources().any(|s| s.as_os_str() == a.as_str()) || a.ends_with(".o");
    let flags = compiler.args.iter().filter(|a| !is_other(a)).cloned();
    let invocation = Invocation::new(&session.workshop.compiler.program)
        .args(flags)
        .args(["-E", "-w"])
        .args([&session.options.file]);
    let outcome = run_program(&invocation, &Limits { seconds: 20.0, ..Limits::default() }).ok()?;
    outcome.exit.success().then_some(outcome.stdout)
}
