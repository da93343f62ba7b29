//! Measured nests as a Parquet file, one row per nest.
//!
//! | column | type | |
//! |---|---|---|
//! | `id`, `family`, `group`, `spelling`, `seed` | text, text, text, text, integer | as [`GeneratedNest`] has them |
//! | `source_ir`, `subject_ir` | text | the nest as generated, and what the panel was applied to |
//! | `sizes`, `fills` | JSON | values of symbols, contents of arrays |
//! | `normal_hash` | text | hash of the normal form, hexadecimal |
//! | `same_form_as` | text | the row whose measurements hold for this one, which has none |
//! | `host`, `cpu`, `threads`, `compiler`, `flags` | JSON, text, integer, text, text | where and how it was measured |
//! | `panel_version`, `panel` | integer, text | version and templates, one per line |
//! | `footprint_bytes`, `flops` | number | bytes of the arrays, floating-point operations of a run |
//! | `source_seconds` | number | best time as generated |
//! | `retest_template`, `retest_subject_seconds`, `retest_seconds` | integer, number, number | the second measurement |
//! | `failure` | text | why there are no measurements |
//! | `judging_seconds`, `compiling_seconds`, `timing_seconds` | number | cost of the measurement |
//! | `tNN_status` | text | [`Status`] of template NN, counted from 0 |
//! | `tNN_seconds`, `tNN_median_seconds` | number | its best and median time, if it was timed |
//! | `tNN_same_as` | integer | the first template with the same C text |
//!
//! Times are of one call with warm caches. Recipes and reasons are in the journals only.

use crate::nest::{Family, GeneratedNest};
use crate::record::{Record, Response, Retest, Status};
use oxeye_columns::{Cells, MissingColumn, ParquetError, Table, read_parquet, write_parquet};
use std::path::Path;

/// A dataset cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] ParquetError),
    /// It lacks a column.
    #[error("not a dataset of this version")]
    Missing(#[from] MissingColumn),
    /// It does not hold what it should.
    #[error("not a dataset of this version: {what}")]
    Content {
        /// What is wrong.
        what: String,
    },
}

/// Writes records: the whole file or nothing.
///
/// # Errors
/// If the file cannot be written, or records are of different panels.
pub fn write(path: &Path, records: &[Record]) -> Result<(), TableError> {
    let columns = columns(records)?;
    Ok(write_parquet(path, columns.iter().map(|(name, cells)| (name.as_str(), cells)))?)
}

/// Reads records that [`write()`] has written. Recipes and reasons are empty.
///
/// # Errors
/// If the file cannot be read, or lacks columns.
pub fn read(path: &Path) -> Result<Vec<Record>, TableError> {
    records(&read_parquet(path)?)
}

fn columns(records: &[Record]) -> Result<Vec<(String, Cells)>, TableError> {
    let panel = records.iter().find(|r| !r.panel.is_empty()).map(panel_text).unwrap_or_default();
    if let Some(other) = records.iter().find(|r| !r.panel.is_empty() && panel_text(r) != panel) {
        let what = format!("{} was measured with another panel than the nests before it", other.nest.id);
        return Err(TableError::Content { what });
    }
    let mut columns: Vec<(String, Cells)> = Vec::new();
    let mut text = |name: &str, of: &dyn Fn(&Record) -> Option<String>| {
        columns.push((name.into(), Cells::Texts(records.iter().map(of).collect())));
    };
    text("id", &|r| Some(r.nest.id.clone()));
    text("family", &|r| Some(r.nest.family.name().into()));
    text("group", &|r| Some(r.nest.group.clone()));
    text("spelling", &|r| Some(r.nest.spelling.clone()));
    text("source_ir", &|r| Some(r.nest.program.clone()));
    text("subject_ir", &|r| Some(r.subject.clone()));
    text("sizes", &|r| Some(serde_json::json!(r.nest.sizes).to_string()));
    text("fills", &|r| Some(serde_json::json!(r.nest.fills).to_string()));
    text("normal_hash", &|r| Some(r.normal_hash.clone()));
    text("same_form_as", &|r| r.same_form_as.clone());
    text("host", &|r| Some(serde_json::json!(r.host).to_string()));
    text("cpu", &|r| Some(r.cpu.clone()));
    text("compiler", &|r| Some(r.compiler.clone()));
    text("flags", &|r| Some(r.flags.clone()));
    text("panel", &|_| Some(panel.clone()));
    text("failure", &|r| r.failure.clone());
    let n_templates = panel.lines().count();
    for t in 0..n_templates {
        text(&template_column(t, "status"), &|r| Some(r.panel.get(t)?.status.name().into()));
    }
    let mut integer = |name: &str, of: &dyn Fn(&Record) -> Option<i64>| {
        columns.push((name.into(), Cells::Integers(records.iter().map(of).collect())));
    };
    integer("seed", &|r| Some(r.nest.seed as i64));
    integer("threads", &|r| Some(r.threads.into()));
    integer("panel_version", &|r| Some(r.panel_version.into()));
    integer("retest_template", &|r| Some(r.retest.as_ref()?.template as i64));
    for t in 0..n_templates {
        integer(&template_column(t, "same_as"), &|r| Some(r.panel.get(t)?.same_as? as i64));
    }
    let mut number = |name: &str, of: &dyn Fn(&Record) -> Option<f64>| {
        columns.push((name.into(), Cells::Numbers(records.iter().map(of).collect())));
    };
    number("estimated_seconds", &|r| Some(r.nest.estimated_seconds));
    number("footprint_bytes", &|r| Some(r.footprint_bytes));
    number("flops", &|r| Some(r.flops));
    number("source_seconds", &|r| r.source_seconds);
    number("retest_subject_seconds", &|r| Some(r.retest.as_ref()?.subject_seconds));
    number("retest_seconds", &|r| Some(r.retest.as_ref()?.seconds));
    for (k, name) in COSTS.into_iter().enumerate() {
        number(name, &|r| Some(r.cost[k]));
    }
    for t in 0..n_templates {
        number(&template_column(t, "seconds"), &|r| r.panel.get(t)?.seconds);
        number(&template_column(t, "median_seconds"), &|r| r.panel.get(t)?.median_seconds);
    }
    Ok(columns)
}

const COSTS: [&str; 3] = ["judging_seconds", "compiling_seconds", "timing_seconds"];

fn template_column(t: usize, what: &str) -> String {
    format!("t{t:02}_{what}")
}

fn panel_text(record: &Record) -> String {
    record.panel.iter().map(|r| r.template.as_str()).collect::<Vec<_>>().join("\n")
}

fn records(table: &Table) -> Result<Vec<Record>, TableError> {
    let invalid = |what: String| TableError::Content { what };
    let json = |column: &str, row: usize, error: serde_json::Error| TableError::Content {
        what: format!("column `{column}`, row {row}: {error}"),
    };
    let mut records = Vec::with_capacity(table.n_rows());
    for row in 0..table.n_rows() {
        let needed = |name: &str| {
            let text = table.text(name, row)?.map(str::to_owned);
            text.ok_or_else(|| invalid(format!("column `{name}`, row {row}: it is empty")))
        };
        let number = |name: &str| table.number(name, row);
        let integer = |name: &str| table.integer(name, row);
        let panel = needed("panel")?;
        let mut responses = Vec::new();
        for (t, template) in panel.lines().enumerate() {
            let Some(status) = table.text(&template_column(t, "status"), row)? else { continue };
            let status = Status::ALL.into_iter().find(|s| s.name() == status);
            responses.push(Response {
                template: template.to_owned(),
                status: status.ok_or_else(|| invalid(format!("row {row}: unknown status")))?,
                seconds: number(&template_column(t, "seconds"))?,
                median_seconds: number(&template_column(t, "median_seconds"))?,
                same_as: integer(&template_column(t, "same_as"))?.map(|t| t as usize),
                detail: String::new(),
            });
        }
        let retest =
            integer("retest_template")?.zip(number("retest_subject_seconds")?).zip(number("retest_seconds")?);
        let family = needed("family")?;
        records.push(Record {
            nest: GeneratedNest {
                id: needed("id")?,
                family: Family::from_name(&family)
                    .ok_or_else(|| invalid(format!("row {row}: no family is called `{family}`")))?,
                group: needed("group")?,
                spelling: needed("spelling")?,
                program: needed("source_ir")?,
                sizes: serde_json::from_str(&needed("sizes")?).map_err(|e| json("sizes", row, e))?,
                fills: serde_json::from_str(&needed("fills")?).map_err(|e| json("fills", row, e))?,
                seed: integer("seed")?.unwrap_or(0) as u64,
                estimated_seconds: number("estimated_seconds")?.unwrap_or(0.0),
            },
            subject: needed("subject_ir")?,
            normal_hash: needed("normal_hash")?,
            host: serde_json::from_str(&needed("host")?).map_err(|e| json("host", row, e))?,
            cpu: needed("cpu")?,
            threads: integer("threads")?.unwrap_or(1) as u32,
            compiler: needed("compiler")?,
            flags: needed("flags")?,
            panel_version: integer("panel_version")?.unwrap_or(0) as u32,
            footprint_bytes: number("footprint_bytes")?.unwrap_or(0.0),
            flops: number("flops")?.unwrap_or(0.0),
            source_seconds: number("source_seconds")?,
            panel: responses,
            retest: retest.map(|((template, subject_seconds), seconds)| Retest {
                template: template as usize,
                subject_seconds,
                seconds,
            }),
            failure: table.text("failure", row)?.map(str::to_owned),
            same_form_as: table.text("same_form_as", row)?.map(str::to_owned),
            cost: [
                number(COSTS[0])?.unwrap_or(0.0),
                number(COSTS[1])?.unwrap_or(0.0),
                number(COSTS[2])?.unwrap_or(0.0),
            ],
        });
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.parquet");
        let mut records: Vec<Record> = (0..4).map(record).collect();
        records[1].retest = None;
        records[2].panel.clear();
        records[2].failure = Some("it did not compile".into());
        records[3].same_form_as = Some("other".into());
        write(&path, &records).unwrap();
        for response in records.iter_mut().flat_map(|r| &mut r.panel) {
            response.detail.clear();
        }
        assert_eq!(read(&path).unwrap(), records);
    }

    #[test]
    fn different_panels_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let mut records: Vec<Record> = (0..2).map(record).collect();
        records[1].panel.pop();
        let error = write(&folder.path().join("set.parquet"), &records).unwrap_err();
        assert!(error.to_string().contains("another panel"), "{error}");
    }
}
