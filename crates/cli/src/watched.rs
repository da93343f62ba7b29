//! What the subcommands share that watch a program.

use crate::manner::Manner;
use crate::terminal::{View, print_or_quit};
use oxeye::WatchOptions;
use std::path::{Path, PathBuf};

/// How much is looked at.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// Seconds of the run in which accesses are looked at; then it runs on by itself
    #[arg(long, value_name = "S", default_value_t = WatchOptions::default().seconds)]
    seconds: f64,
    /// Millions of accesses after which every other block of memory is left alone from then on, and again
    #[arg(long, value_name = "MILLIONS", default_value_t = WatchOptions::default().looks >> 20,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    accesses: u64,
}

impl WatchArgs {
    /// The same as options.
    pub(crate) fn options(self) -> WatchOptions {
        WatchOptions { seconds: self.seconds.max(0.0), looks: self.accesses << 20 }
    }
}

/// The files that a report is written to.
pub(crate) struct Outputs {
    to_stdout: bool,
}

impl Outputs {
    /// Checks that all of them can be written, and that none is the input or another one.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn new(input: &Path, files: &[&Option<PathBuf>]) -> anyhow::Result<Self> {
        let mut taken: Vec<&Path> = vec![input];
        for path in files.iter().copied().flatten().filter(|path| *path != Path::new("-")) {
            oxeye::check_writable(path, &taken)?;
            taken.push(path);
        }
        Ok(Self { to_stdout: false })
    }

    /// Writes a text to a file, if there is one; `-` is standard output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&mut self, path: &Option<PathBuf>, text: &dyn Fn() -> String) -> anyhow::Result<()> {
        match path {
            Some(path) if path == Path::new("-") => {
                self.to_stdout = true;
                print_or_quit(&text())
            }
            Some(path) => Ok(oxeye::write_atomically(path, text().as_bytes())?),
            None => Ok(()),
        }
    }

    /// Prints the report for people, unless standard output is taken.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn print(self, manner: &Manner, shown: &dyn Fn(View) -> String) -> anyhow::Result<()> {
        if self.to_stdout { Ok(()) } else { manner.say(shown) }
    }
}
