//! Profiles as a table: one row per nest, one documented column per figure.
//!
//! | columns | unit | |
//! |---|---|---|
//! | `id`, `nest`, `threads` | | number, `function:line`, threads of the timed code |
//! | `share` | 1 | share of the program's time |
//! | `runtime_ms`, `basis` | ms | time of one invocation that the rates are of, and which it is: `warm` or `cold` |
//! | `cold_ms`, `warm_ms` | ms | both times |
//! | `runtime_spread` | 1 | half the interquartile distance of `runtime_ms`, relative |
//! | `mflop` | 10⁶ | floating-point operations of one invocation |
//! | `gflops`, `attainable_gflops` | GFLOP/s | reached, and at the binding roof |
//! | `bound`, `roof_fraction` | 1 | the binding roof, and the share of it that is reached |
//! | `footprint_mb`, `compulsory_mb` | 10⁶ bytes | distinct bytes, and bytes that any cache must move |
//! | `compulsory_intensity` | FLOP/B | operations per byte of compulsory traffic |
//! | `LEVEL_mb`, `LEVEL_gb_s`, `LEVEL_intensity` | 10⁶ bytes, GB/s, FLOP/B | traffic of a memory level (`l1`, .., `dram`), its rate, operations per byte |
//! | `threads_N_speedup` | 1 | time of one thread over that of N |
//! | `counter_NAME` | | reading of a counter |
//! | `missing`, `notes` | | why figures are missing, and what else to know |

use crate::figures::{format_number, format_percent};
use crate::nest::NestProfile;
use oxeye_columns::Cells;
use oxeye_host::Quantity;
use std::collections::{BTreeSet, HashSet};

/// A table of profiles. Cells without a figure are empty (`null` in JSON), never a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in files.
    pub name: String,
    /// Its meaning, with the unit.
    pub meaning: String,
    /// Its cells; numbers are all finite.
    pub cells: Cells,
}

/// The columns that fit a terminal, for [`Table::select`].
pub const SUMMARY: [&str; 9] =
    ["id", "nest", "share", "runtime_ms", "basis", "gflops", "attainable_gflops", "bound", "roof_fraction"];

impl Table {
    /// The table of some profiles, in their order.
    pub fn of(profiles: &[NestProfile]) -> Table {
        let mut table = Table { columns: Vec::new(), rows: profiles.len() };
        table.integers("id", "number of the nest", profiles.iter().map(|p| Some(p.id as i64)));
        table.texts("nest", "function:line", profiles.iter().map(|p| Some(p.name.clone())));
        table.integers(
            "threads",
            "threads of the timed code",
            profiles.iter().map(|p| Some(i64::from(p.threads))),
        );
        let mut figures =
            |name: &str, meaning: &str, scale: f64, get: &dyn Fn(&NestProfile) -> Option<Quantity>| {
                let cells = profiles.iter().map(|p| get(p).map(|f| f.value * scale));
                table.numbers(name, meaning, cells);
            };
        figures("share", "share of the program's time, 0 to 1", 1.0, &|p| p.share);
        figures("runtime_ms", "time of one invocation that the rates are of, ms", 1e-6, &|p| p.runtime_ns());
        figures("runtime_spread", "half the interquartile distance of runtime_ms, relative", 1.0, &|p| {
            p.runtime_ns().map(|f| Quantity { value: f.spread, ..f })
        });
        figures("cold_ms", "time with the data outside the caches, ms", 1e-6, &|p| p.cold_ns);
        figures("warm_ms", "time with the data where the invocation before left them, ms", 1e-6, &|p| {
            p.warm_ns
        });
        figures("mflop", "floating-point operations of one invocation, millions", 1e-6, &|p| p.flops);
        figures("gflops", "performance, GFLOP/s", 1.0, &|p| p.gflops);
        figures("attainable_gflops", "performance at the binding roof, GFLOP/s", 1.0, &|p| {
            p.attainable_gflops
        });
        figures("roof_fraction", "share of the binding roof that is reached, 0 to 1", 1.0, &|p| {
            p.roof_fraction
        });
        figures("footprint_mb", "distinct bytes touched, MB", 1e-6, &|p| p.footprint_bytes);
        figures("compulsory_mb", "bytes that any cache must move, MB", 1e-6, &|p| p.compulsory_bytes);
        figures("compulsory_intensity", "operations per compulsory byte, FLOP/B", 1.0, &|p| {
            p.compulsory_intensity
        });
        for level in levels(profiles) {
            let lower = level.to_lowercase();
            figures(&format!("{lower}_mb"), &format!("traffic of {level}, MB"), 1e-6, &|p| {
                p.level(&level)?.bytes
            });
            figures(&format!("{lower}_gb_s"), &format!("bandwidth of {level}, GB/s"), 1.0, &|p| {
                p.level(&level)?.gb_per_s
            });
            let meaning = format!("operations per byte that {level} serves, FLOP/B");
            figures(&format!("{lower}_intensity"), &meaning, 1.0, &|p| p.level(&level)?.intensity);
        }
        let threads: BTreeSet<u32> =
            profiles.iter().flat_map(|p| p.scaling.iter().map(|s| s.threads)).filter(|n| *n > 1).collect();
        for n in threads {
            let meaning = format!("time of one thread over that of {n}");
            figures(&format!("threads_{n}_speedup"), &meaning, 1.0, &|p| {
                p.scaling.iter().find(|s| s.threads == n)?.speedup
            });
        }
        let counters: BTreeSet<&str> =
            profiles.iter().flat_map(|p| p.counters.iter().map(|c| c.counter.as_str())).collect();
        for counter in counters {
            let value = |p: &NestProfile| Some(p.counters.iter().find(|c| c.counter == counter)?.value);
            let meaning = format!("reading of the counter {counter}, one invocation");
            table.numbers(
                &format!("counter_{}", counter.replace(['-', ' '], "_")),
                &meaning,
                profiles.iter().map(value),
            );
        }
        let basis = profiles.iter().map(|p| p.basis.map(|b| b.to_string()));
        table.texts("basis", "which time runtime_ms is: warm or cold", basis);
        table.texts("bound", "the binding roof", profiles.iter().map(|p| Some(p.bound.to_string())));
        let joined = |lines: &[String]| (!lines.is_empty()).then(|| lines.join("; "));
        table.texts("missing", "why figures are missing", profiles.iter().map(|p| joined(&p.why_missing)));
        table.texts("notes", "what else to know", profiles.iter().map(|p| joined(&p.notes)));
        table
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows
    }

    /// The named columns in that order; names that are not there are skipped.
    pub fn select(&self, names: &[&str]) -> Table {
        let columns = names.iter().filter_map(|name| self.columns.iter().find(|c| c.name == *name).cloned());
        Table { columns: columns.collect(), rows: self.rows }
    }

    /// Aligned text: numbers to the right with three digits, fractions as per cent, `–` where there is no figure.
    pub fn to_text(&self) -> String {
        let shown: Vec<Vec<String>> = self
            .columns
            .iter()
            .map(|c| std::iter::once(c.name.clone()).chain((0..self.rows).map(|row| c.shown(row))).collect())
            .collect();
        let width = |cells: &Vec<String>| cells.iter().map(|c| c.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = shown.iter().map(width).collect();
        let mut text = String::new();
        for row in 0..=self.rows {
            let cells = shown.iter().zip(&widths).zip(&self.columns).map(|((cells, width), column)| {
                let (cell, width) = (&cells[row], *width);
                match column.cells {
                    Cells::Texts(_) => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// Comma-separated values after RFC 4180, with a line of column names.
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        };
        line(self.columns.iter().map(|c| quoted(&c.name)).collect());
        for row in 0..self.rows {
            line(self.columns.iter().map(|c| quoted(&c.exact(row).unwrap_or_default())).collect());
        }
        text
    }

    /// An array with one object per row; keys are the column names.
    pub fn to_json(&self) -> serde_json::Value {
        let row = |row: usize| {
            let cells = self.columns.iter().map(|c| (c.name.clone(), c.json(row)));
            serde_json::Value::Object(cells.collect())
        };
        (0..self.rows).map(row).collect()
    }

    /// Writes the table as a Parquet file: whole, or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    #[cfg(feature = "tables")]
    pub fn write_parquet(&self, path: &std::path::Path) -> Result<(), oxeye_columns::ParquetError> {
        let columns = self.columns.iter().map(|column| (column.name.as_str(), &column.cells));
        oxeye_columns::write_parquet(path, columns)
    }

    fn integers(&mut self, name: &str, meaning: &str, cells: impl Iterator<Item = Option<i64>>) {
        self.push(name, meaning, Cells::Integers(cells.collect()));
    }

    fn numbers(&mut self, name: &str, meaning: &str, cells: impl Iterator<Item = Option<f64>>) {
        self.push(name, meaning, Cells::Numbers(cells.map(|cell| cell.filter(|x| x.is_finite())).collect()));
    }

    fn texts(&mut self, name: &str, meaning: &str, cells: impl Iterator<Item = Option<String>>) {
        self.push(name, meaning, Cells::Texts(cells.collect()));
    }

    /// Two counters may turn into the same name: the first one keeps it.
    fn push(&mut self, name: &str, meaning: &str, cells: Cells) {
        if self.columns.iter().all(|c| c.name != name) {
            self.columns.push(Column { name: name.into(), meaning: meaning.into(), cells });
        }
    }
}

impl Column {
    fn shown(&self, row: usize) -> String {
        let shown = match &self.cells {
            Cells::Integers(cells) => cells[row].map(|x| x.to_string()),
            Cells::Numbers(cells) if self.is_share() => cells[row].map(format_percent),
            Cells::Numbers(cells) => cells[row].map(format_number),
            Cells::Texts(cells) => cells[row].clone().map(|text| text.replace(['\n', '\r', '\t'], " ")),
        };
        shown.unwrap_or_else(|| "–".into())
    }

    fn exact(&self, row: usize) -> Option<String> {
        match &self.cells {
            Cells::Integers(cells) => cells[row].map(|x| x.to_string()),
            Cells::Numbers(cells) => cells[row].map(|x| x.to_string()),
            Cells::Texts(cells) => cells[row].clone(),
        }
    }

    fn json(&self, row: usize) -> serde_json::Value {
        match &self.cells {
            Cells::Integers(cells) => cells[row].into(),
            Cells::Numbers(cells) => cells[row].into(),
            Cells::Texts(cells) => cells[row].clone().into(),
        }
    }

    fn is_share(&self) -> bool {
        matches!(self.name.as_str(), "share" | "roof_fraction" | "runtime_spread")
    }
}

/// Every level of any profile, in the order they first appear.
fn levels(profiles: &[NestProfile]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = profiles.iter().flat_map(|p| p.levels.iter().map(|l| l.level.clone()));
    names.filter(|name| seen.insert(name.clone())).collect()
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into()
    }
}
