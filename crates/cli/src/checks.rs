//! How what the program leaves is compared, as the user says it.

use oxeye::{Checks, ComparedFile, Pattern};

/// Arguments of the subcommands that run programs before and after.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// How far printed numbers may be apart, such as 1e-4
    ///
    /// Relative to the larger one. The same goes for files that are compared. [default: 1e-10, or 1e-6 where sums may be reordered; equal bytes with --fp
    /// strict]
    #[arg(long, value_name = "REL", value_parser = tolerance, hide_short_help = true)]
    tolerance: Option<f64>,
    /// Do not compare what matches: 'took [0-9.]+ s'
    ///
    /// It is a regular expression for a part of a line. May be repeated.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    ignore: Vec<Pattern>,
    /// Compare a file that the program writes as well
    ///
    /// May be repeated.
    /// It is text, NumPy, or other bytes; `FILE:f32` and `FILE:f64` are nothing but such numbers. As seen from the folder that
    /// the program runs in, and removed before each run.
    #[arg(long, value_name = "FILE")]
    compare: Vec<ComparedFile>,
}

impl CheckArgs {
    /// What these arguments say.
    pub(crate) fn checks(&self) -> Checks {
        Checks { tolerance: self.tolerance, ignore: self.ignore.clone(), files: self.compare.clone() }
    }

    /// These arguments as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let tolerance = self.tolerance.map(|tolerance| format!("--tolerance={tolerance:e}"));
        let ignore = self.ignore.iter().map(|pattern| format!("--ignore={pattern}"));
        let compare = self.compare.iter().map(|file| format!("--compare={file}"));
        tolerance.into_iter().chain(ignore).chain(compare).collect()
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("it is a number from 0 to below 1, such as 1e-4".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_shares() {
        assert_eq!(tolerance("1e-4"), Ok(1e-4));
        for wrong in ["", "-1", "1", "nan", "5 %"] {
            assert!(tolerance(wrong).is_err(), "{wrong}");
        }
    }
}
