//! The results as text.

use std::fmt::Write as _;

use oxeye_analysis::traffic::{CacheGeometry, Traffic};

use super::reference::Misses;
use oxeye_evaluation::corpus::Kernel;

/// One program.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    name: String,
    sizes: String,
    result: Result<Figures, String>,
}

/// Bytes by model and by callgrind.
#[derive(Debug, Clone)]
struct Figures {
    /// Accesses of the model and of callgrind.
    accesses: [f64; 2],
    /// Fills of the first cache.
    first: [f64; 2],
    /// Fills of the last cache.
    last: [f64; 2],
    compulsory: f64,
    sampled: f64,
    /// What the sampled result says of its own error.
    sampled_error: f64,
    sampled_seconds: f64,
    notes: Vec<String>,
}

impl Row {
    /// A program that both counted.
    pub(crate) fn new(
        kernel: &Kernel,
        sizes: &[String],
        full: &Traffic,
        (sampled, sampled_seconds): (&Traffic, f64),
        reference: Misses,
        line_bytes: u64,
    ) -> Self {
        let fill = |traffic: &Traffic, level: usize| traffic.levels.get(level).map_or(0.0, |l| l.fill_bytes);
        let bytes = |lines: u64| (lines * line_bytes) as f64;
        let figures = Figures {
            accesses: [full.accesses, reference.accesses as f64],
            first: [fill(full, 0), bytes(reference.first)],
            last: [fill(full, 1), bytes(reference.last)],
            compulsory: full.compulsory_bytes,
            sampled: fill(sampled, 1),
            sampled_error: sampled.relative_error,
            sampled_seconds,
            notes: full.notes.clone(),
        };
        let sizes = sizes.iter().map(|size| size.trim_start_matches("-D")).collect::<Vec<_>>().join(" ");
        Self { name: kernel.name.clone(), sizes, result: Ok(figures) }
    }

    /// A program without figures.
    pub(crate) fn failed(kernel: &Kernel, why: String) -> Self {
        Self { name: kernel.name.clone(), sizes: String::new(), result: Err(why) }
    }

    /// Whether the fills of the last cache are no more than `tolerance` percent apart.
    pub(crate) fn is_close(&self, tolerance: f64) -> bool {
        self.result.as_ref().is_ok_and(|figures| distance(figures.last) <= tolerance / 100.0)
    }

    /// For the terminal.
    pub(crate) fn in_words(&self) -> String {
        match &self.result {
            Ok(f) => format!(
                "{:<16} D1 {:9.3} / {:9.3} MB ({:.3})   LL {:9.3} / {:9.3} MB ({:.3})   sampled {:.3} ± {:.3}, {:.2} s",
                self.name,
                f.first[0] / 1e6,
                f.first[1] / 1e6,
                ratio(f.first),
                f.last[0] / 1e6,
                f.last[1] / 1e6,
                ratio(f.last),
                ratio([f.sampled, f.last[0]]),
                f.sampled_error,
                f.sampled_seconds,
            ),
            Err(why) => format!("{:<16} {why}", self.name),
        }
    }
}

fn ratio([model, reference]: [f64; 2]) -> f64 {
    if reference == 0.0 { f64::from(u8::from(model == 0.0)) } else { model / reference }
}

fn distance(pair: [f64; 2]) -> f64 {
    (ratio(pair) - 1.0).abs()
}

/// All figures, in bytes.
pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text =
        "kernel,sizes,accesses_model,accesses_callgrind,d1_model,d1_callgrind,ll_model,ll_callgrind,\
                    ll_ratio,compulsory,ll_sampled,sampled_error,why_missing\n"
            .to_owned();
    for row in rows {
        let figures = match &row.result {
            Ok(f) => format!(
                "{:.0},{:.0},{:.0},{:.0},{:.0},{:.0},{:.4},{:.0},{:.0},{:.4},",
                f.accesses[0],
                f.accesses[1],
                f.first[0],
                f.first[1],
                f.last[0],
                f.last[1],
                ratio(f.last),
                f.compulsory,
                f.sampled,
                f.sampled_error
            ),
            Err(why) => format!(",,,,,,,,,,\"{}\"", why.replace('"', "'")),
        };
        let _ = writeln!(text, "{},{},{figures}", row.name, row.sizes);
    }
    text
}

/// The table for people. `tolerance` is in percent; `flags` are those of gcc.
pub(crate) fn markdown(rows: &[Row], caches: &[CacheGeometry; 2], tolerance: f64, flags: &str) -> String {
    let n_close = rows.iter().filter(|row| row.is_close(tolerance)).count();
    let geometry = |c: &CacheGeometry| {
        format!("{} KiB, {} ways, lines of {} bytes", c.bytes / 1024, c.ways, c.line_bytes)
    };
    let mut text = format!(
        "# Modelled memory traffic against callgrind\n\n\
         {n_close} of {} programs are within {tolerance} % for the bytes brought in from beyond the last cache.\n\n\
         D1: {}. LL: {}.\n\n\
         The model runs the nests as read from the C file through caches that begin empty. Callgrind runs the program \
         built with `gcc {}`, from `bench_start()` to `bench_stop()`, after a sweep over an array of four times the \
         last cache; its figures are data misses times the line size. Megabytes (10⁶). *Ratio* is model over \
         callgrind. *Sampled* is the last cache's figure at the cost of few accesses, over that of the full \
         simulation, with the error that it states.\n\n",
        rows.len(),
        geometry(&caches[0]),
        geometry(&caches[1]),
        flags,
    );
    let mut pairs: Vec<(&str, [f64; 2])> =
        rows.iter().filter_map(|row| Some((row.name.as_str(), row.result.as_ref().ok()?.last))).collect();
    pairs.sort_by(|a, b| distance(b.1).total_cmp(&distance(a.1)));
    let n_named = (rows.len() - n_close).max(5);
    let worst: Vec<String> =
        pairs.iter().take(n_named).map(|(name, pair)| format!("{name} ({:.2})", ratio(*pair))).collect();
    let _ = writeln!(text, "The farthest apart: {}.\n", worst.join(", "));
    text.push_str(
        "| program | sizes | D1 model | D1 callgrind | ratio | LL model | LL callgrind | ratio | sampled | notes |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    for row in rows {
        let _ = match &row.result {
            Ok(f) => writeln!(
                text,
                "| {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {}{:.3}{} | {:.3} ± {:.3} | {} |",
                row.name,
                row.sizes,
                f.first[0] / 1e6,
                f.first[1] / 1e6,
                ratio(f.first),
                f.last[0] / 1e6,
                f.last[1] / 1e6,
                if row.is_close(tolerance) { "" } else { "**" },
                ratio(f.last),
                if row.is_close(tolerance) { "" } else { "**" },
                ratio([f.sampled, f.last[0]]),
                f.sampled_error,
                f.notes.join("; ")
            ),
            Err(why) => {
                writeln!(text, "| {} | | | | | | | **none** | | {} |", row.name, why.replace('|', "/"))
            }
        };
    }
    text
}
