//! What shells and `man` know of the command: `oxeye completions` and `oxeye man`.

use crate::exit::Exit;
use crate::manner::Manner;
use crate::terminal::print_or_quit;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// Subcommands that help does not list, as most do without them, and that have manual pages all the same.
const MORE_COMMANDS: [&str; 6] = ["apply", "rerun", "db", "cache", "completions", "man"];

/// Print what a shell needs to complete options
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  oxeye completions bash > ~/.local/share/bash-completion/completions/oxeye
  oxeye completions zsh > ~/.zfunc/_oxeye
  oxeye completions fish > ~/.config/fish/completions/oxeye.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Write the manual pages into a folder
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  oxeye man ~/.local/share/man/man1 && man oxeye-tune")]
pub(crate) struct ManArgs {
    /// The folder
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(crate) fn completions(args: CompletionsArgs, mut command: Command) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "oxeye", &mut text);
    print_or_quit(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// Writes the manual pages.
pub(crate) fn man(args: ManArgs, command: Command, manner: &Manner) -> anyhow::Result<Exit> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder).with_context(|| format!("cannot make the folder {folder}"))?;
    let shown = |command: Command, name: &str| command.mut_subcommand(name, |part| part.hide(false));
    let command = MORE_COMMANDS.into_iter().fold(command.disable_help_subcommand(true), shown);
    clap_mangen::generate_to(command, &args.folder).with_context(|| format!("cannot write into {folder}"))?;
    manner.say(&|_| format!("manual pages written to {folder}\n"))?;
    Ok(Exit::Done)
}
