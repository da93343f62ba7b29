//! The features of every version of a nest that was timed: the nest as each template of the panel schedules it.
//!
//! Datasets keep responses but no schedules; these are made again from the nest and the templates, which takes about a
//! tenth of a second per nest. A file of them can be kept beside the data.

use oxeye_dataset::measure::{in_parallel, machine_of, schedules};
use oxeye_dataset::nest::symbol_values;
use oxeye_dataset::record::Record;
use oxeye_embed::{FEATURE_SCHEMA, ScheduleFeatures, schedule_features};
use oxeye_ir::{Program, SymId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One entry per template: the features of its schedule, if it was timed and can be made again. Templates with the same
/// text share their features.
pub type Versions = Vec<Option<ScheduleFeatures>>;

/// The file of versions cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}", path.display())]
pub struct VersionsError {
    path: PathBuf,
    source: std::io::Error,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    versions: Versions,
}

/// The versions of all records, in their order; records without measurements have none. With a file, known versions are
/// read from it and new ones are added to it. `progress` is called for each record.
///
/// # Errors
/// If the file cannot be read or written.
pub fn versions_of_all(
    records: &[Record],
    file: Option<&Path>,
    jobs: usize,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Versions>, VersionsError> {
    let error = |source| VersionsError { path: file.unwrap_or(Path::new("")).to_owned(), source };
    let known = match file.filter(|f| f.exists()) {
        Some(file) => read(&std::fs::read_to_string(file).map_err(error)?),
        None => BTreeMap::new(),
    };
    let of = |k: usize| {
        let key = key(&records[k]);
        let found = match known.get(&key) {
            Some(versions) => (versions.clone(), None),
            None => {
                let versions = versions(&records[k]);
                let line = serde_json::json!(Line { key, versions: versions.clone() }).to_string();
                (versions, Some(line))
            }
        };
        progress();
        found
    };
    let (all, lines): (Vec<Versions>, Vec<Option<String>>) =
        in_parallel(records.len(), jobs, &of).into_iter().unzip();
    if let Some(file) = file {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let mut open = std::io::BufWriter::new(open.map_err(error)?);
        lines.iter().flatten().try_for_each(|line| writeln!(open, "{line}")).map_err(error)?;
        open.flush().map_err(error)?;
    }
    Ok(all)
}

/// The valid lines of a file; the rest is made again.
fn read(text: &str) -> BTreeMap<String, Versions> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines.map(|line| (line.key, line.versions)).collect()
}

/// What determines the versions of a record, except the code.
fn key(record: &Record) -> String {
    let nest = &record.nest;
    let sizes: Vec<String> = nest.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
    format!(
        "{FEATURE_SCHEMA} panel {} {} {} {} {} {} threads",
        record.panel_version,
        nest.id,
        nest.seed,
        record.normal_hash,
        sizes.join(","),
        record.threads
    )
}

/// The versions of one record. Versions timed with another recipe than the template makes now are left out.
pub fn versions(record: &Record) -> Versions {
    let n_templates = record.panel.len();
    let nothing = vec![None; n_templates];
    let Ok(program) = Program::parse(&record.subject) else { return nothing };
    let Some(nest) = program.nests.values().next() else { return nothing };
    if record.subject_seconds().is_none() {
        return nothing;
    }
    let machine = machine_of(&record.host, record.threads);
    let is_wanted = |t: usize| {
        record.panel.get(t).is_some_and(|response| response.seconds.is_some() && response.same_as.is_none())
    };
    let values = symbol_values(&program, &record.nest.sizes);
    let value_of = |s: SymId| values.get(&s).copied();
    let own: Versions = schedules(&program, nest, &machine, 1, &is_wanted)
        .into_iter()
        .zip(&record.panel)
        .map(|(scheduled, response)| {
            let scheduled = scheduled?.ok()?;
            // Datasets, other than journals, do not keep recipes.
            let is_known = !response.detail.is_empty();
            (!is_known || scheduled.recipe.to_string() == response.detail)
                .then(|| schedule_features(&scheduled.program, &scheduled.nest, &value_of, &record.host))
        })
        .collect();
    let of = |(t, response): (usize, &oxeye_dataset::record::Response)| {
        response.seconds?;
        own.get(response.same_as.unwrap_or(t)).copied().flatten()
    };
    record.panel.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_dataset::record::Status;
    use oxeye_dataset::testing::record;

    /// A record whose templates were timed as they are made now.
    fn measured(k: usize) -> Record {
        let mut record = record(k);
        let program = Program::parse(&record.subject).unwrap();
        let nest = program.nests.values().next().unwrap();
        let machine = machine_of(&record.host, record.threads);
        let made = schedules(&program, nest, &machine, 1, &|_| true);
        for (response, made) in record.panel.iter_mut().zip(made) {
            (response.seconds, response.status) = (None, Status::Inapplicable);
            if let Some(Ok(made)) = made {
                (response.seconds, response.status) = (Some(1e-3), Status::Timed);
                response.detail = made.recipe.to_string();
            }
        }
        record
    }

    #[test]
    fn every_timed_template_has_a_version() {
        let record = measured(0);
        let found = versions(&record);
        assert!(found[0].is_some());
        for (response, version) in record.panel.iter().zip(&found) {
            assert_eq!(response.seconds.is_some(), version.is_some(), "{}", response.template);
        }
        assert!(found.iter().flatten().any(|version| Some(*version) != found[0]));
        let mut without_recipes = record.clone();
        without_recipes.panel.iter_mut().for_each(|response| response.detail.clear());
        assert_eq!(versions(&without_recipes), found);
        let mut other = record.clone();
        let changed = (1..found.len()).find(|t| found[*t].is_some()).unwrap();
        other.panel[changed].detail = "another recipe".into();
        assert_eq!(versions(&other)[changed], None);
    }

    #[test]
    fn a_file_gives_what_was_made() {
        let records: Vec<Record> = (0..3).map(measured).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("versions.jsonl");
        let load = |records: &[Record]| versions_of_all(records, Some(&file), 2, &|| {}).unwrap();
        let first = load(&records[..2]);
        let size = std::fs::metadata(&file).unwrap().len();
        assert_eq!(load(&records[..2]), first);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), size);
        let all = load(&records);
        assert_eq!(all[..2], first[..]);
        assert_eq!(all, records.iter().map(versions).collect::<Vec<_>>());
    }
}
