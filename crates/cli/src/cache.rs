//! `oxeye cache`: what is kept to be quicker the next time.

use crate::exit::Exit;
use crate::manner::Manner;
use crate::terminal::print_or_quit;
use anyhow::Context;
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// Show or remove what is kept of earlier runs: the machine's profile, programs' profiles, trials, recipes of tuned files
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Remove everything that can be measured again; the recipe database stays
    Clean,
    /// Print the path of the folder
    Path,
}

/// The parts of the folder: nothing else in it is ours.
const PARTS: [&str; 4] = ["hosts", "profiles", "searches", "tuned"];

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let hosts = oxeye_host::cache_folder();
    let folder = hosts.parent().unwrap_or(&hosts).to_owned();
    match args.command {
        Command::Path => print_or_quit(&format!("{}\n", folder.display()))?,
        Command::Clean => {
            let (mut n_files, mut n_bytes) = (0, 0);
            for part in PARTS.map(|part| folder.join(part)).iter().filter(|part| part.is_dir()) {
                for file in files(part) {
                    n_bytes += file.metadata().map_or(0, |found| found.len());
                    n_files += 1;
                }
                std::fs::remove_dir_all(part).with_context(|| format!("cannot remove {}", part.display()))?;
            }
            let files = if n_files == 1 { "file" } else { "files" };
            let size = n_bytes as f64 / f64::from(1 << 20);
            manner
                .say(&|_| format!("{n_files} {files}, {size:.1} MiB, removed from {}\n", folder.display()))?;
        }
    }
    Ok(Exit::Done)
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() && !path.is_symlink() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
