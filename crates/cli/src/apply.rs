//! `oxeye apply`: apply a saved recipe file.

use crate::exit::Exit;
use crate::manner::Manner;
use crate::table::build_with;
use crate::terminal::print_or_quit;
use crate::tuning::output;
use anyhow::bail;
use oxeye::{
    BuildSource, Compiler, ProjectReading, ProjectRecipes, ProjectReplay, RecipeFile, ReplayOptions,
    Rewritten, SavedRecipes, Silent, TuneOutput,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Apply the recipes of an earlier run to a file or a project: the same result byte for byte, without running anything
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  oxeye apply gemm.recipe.json gemm.c
  oxeye apply report.json gemm.c -o gemm_fast.c -- clang -O3
  oxeye apply gemm.search.jsonl gemm.c --trial 12 -o gemm_12.c

  The recipes of a project (`oxeye tune --save-recipe`): a patch, as of `tune`
    oxeye apply solver.recipes.json
    oxeye apply solver.recipes.json --in-place
    oxeye apply solver.recipes.json -o tuned/

  The same, the files read as the project compiles them now
    oxeye apply solver.recipes.json --build 'make clean && make'

Every step is proved legal again. Compile the result with the flags of the run
that found the recipes, and with -fopenmp unless that used --threads 1.

Recipe files may come from anywhere: the compiler that one names is not run, nor
is any flag of it that loads something. Files are read with `cc` unless you name
a compiler.")]
pub(crate) struct Args {
    /// Recipe file of `--save-recipe`, a report of `--json`, or a log of a search
    recipe: PathBuf,
    /// The C file; for a project, its root [default: the repository, else the present folder]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Which trial of a search's log to apply
    #[arg(long, value_name = "N")]
    trial: Option<usize>,
    /// Where the tuned file goes; `-` is standard output [default: FILE with `.oxeye` before its extension; for a project
    /// the patch oxeye.patch. A folder gets copies of a project's files]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Change the files themselves instead
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// For a project: the command that builds it; files are read as it compiles them
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// For a project: the file that lists how its sources are compiled, for the same
    #[arg(long, value_name = "FILE", conflicts_with = "build")]
    compile_commands: Option<PathBuf>,
    /// For a project: write what was done as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
    /// Compiler and arguments to read the file with [default: cc, with what the recipe file has of flags]
    #[arg(last = true, value_name = "CC ARGS", conflicts_with_all = ["build", "compile_commands"])]
    compiler: Vec<String>,
}

/// What was done.
pub(crate) enum Replayed {
    /// With one file.
    File(ReplayedFile),
    /// With the files of a project.
    Project(ProjectReplay),
}

/// A file with its recipes.
#[derive(serde::Serialize)]
pub(crate) struct ReplayedFile {
    /// The user's file.
    pub(crate) input: PathBuf,
    /// Where the tuned file was written; `None` if it was to go to standard output.
    pub(crate) output: Option<PathBuf>,
    /// Nests that were rewritten.
    pub(crate) n_nests: usize,
    /// Its text.
    pub(crate) text: String,
    /// Flags that it is to be compiled with besides those it was read with.
    pub(crate) added: Vec<String>,
    /// What cannot be known of the result: with which compiler it was read, if that is not the one it names, and what it gains on
    /// another machine.
    pub(crate) notes: Vec<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let json = args.json.clone();
    match args.answer()? {
        Replayed::File(done) => {
            done.notes.iter().for_each(|note| eprintln!("note: {note}"));
            match &done.output {
                None => print_or_quit(&done.text)?,
                Some(output) => manner.say(&|_| {
                    let flags = match done.added.as_slice() {
                        [] => String::new(),
                        added => format!("; compile it with {} added", added.join(" ")),
                    };
                    format!("{} rewritten; written to {}{flags}\n", nests(done.n_nests), output.display())
                })?,
            }
        }
        Replayed::Project(done) => match json.as_deref() {
            Some(path) if path == Path::new("-") => print_or_quit(&done.to_json())?,
            json => {
                if let Some(path) = json {
                    oxeye::write_atomically(path, done.to_json().as_bytes())?;
                }
                manner.say(&|_| shown(&done))?;
            }
        },
    }
    Ok(Exit::Done)
}

impl Args {
    /// Applies the recipes, and writes what comes of it.
    pub(crate) fn answer(self) -> anyhow::Result<Replayed> {
        let is_c = |path: &Path| path.extension().is_some_and(|extension| extension == "c");
        if let Some(file) = self.file.as_deref().filter(|file| is_c(&self.recipe) && !is_c(file)) {
            let (recipe, file) = (self.recipe.display(), file.display());
            bail!("{recipe} is C: the recipe file comes first: oxeye apply {file} {recipe}");
        }
        let recipes = match self.trial {
            Some(trial) => SavedRecipes::File(oxeye::trial_recipes(&self.recipe, trial)?),
            None => SavedRecipes::load(&self.recipe)?,
        };
        Ok(match recipes {
            SavedRecipes::File(recipes) => Replayed::File(replay_file(self, recipes)?),
            SavedRecipes::Project(recipes) => Replayed::Project(replay_project(self, &recipes)?),
        })
    }
}

fn replay_file(args: Args, mut recipes: RecipeFile) -> anyhow::Result<ReplayedFile> {
    let Some(file) = args.file else {
        bail!("{} is for one file; name that behind it", args.recipe.display())
    };
    if args.build.is_some() || args.compile_commands.is_some() || args.json.is_some() {
        bail!(
            "{} is for one file: --build, --compile-commands and --json are for projects",
            args.recipe.display()
        );
    }
    let n_nests = recipes.nests.len();
    let (Rewritten { text, added, .. }, note) = match args.compiler.is_empty() {
        true => {
            let own = &recipes.compiler;
            let note = own.plain().note(own).map(|note| format!("{note}; as then: -- {}", own.line()));
            (oxeye::replay(&recipes, &file)?, note)
        }
        false => {
            recipes.compiler = Compiler::from_words(&args.compiler, &file);
            (oxeye::replay_with(&recipes, &recipes.compiler, &file)?, None)
        }
    };
    let output = output(args.output, args.in_place, &file)?.unwrap_or_else(|| oxeye::default_output(&file));
    let output = (output.as_os_str() != "-").then_some(output);
    if let Some(output) = &output {
        if output.is_dir() {
            bail!("{} is a directory; name a file with -o", output.display());
        }
        oxeye::write_atomically(output, &oxeye::encoded(&text))?;
    }
    let notes = note.into_iter().chain(elsewhere(recipes.machine.as_deref())).collect();
    Ok(ReplayedFile { input: file, output, n_nests, text, added, notes })
}

/// What is not known of recipes that were found on another machine.
fn elsewhere(machine: Option<&str>) -> Option<String> {
    let here = oxeye_host::this_machine().to_string();
    let there = machine.filter(|there| *there != here)?;
    Some(format!(
        "found on {there}, and this is {here}: what it gains here is not known; `oxeye tune --recipes` measures it"
    ))
}

fn replay_project(args: Args, recipes: &ProjectRecipes) -> anyhow::Result<ProjectReplay> {
    if args.file.as_ref().is_some_and(|file| !file.is_dir()) {
        bail!(
            "{} is for a project: behind it stands the project's root folder, or nothing",
            args.recipe.display()
        );
    }
    let reading = match (args.build, args.compile_commands) {
        (Some(command), _) => ProjectReading::Build(BuildSource::Command(command)),
        (None, Some(file)) => ProjectReading::Build(BuildSource::CompileCommands(file)),
        (None, None) if args.compiler.is_empty() => ProjectReading::Plain,
        (None, None) => ProjectReading::Compiler(Compiler::from_words(&args.compiler, Path::new(""))),
    };
    let output = match (args.in_place, &args.output) {
        (true, _) => TuneOutput::InPlace,
        (false, output) => TuneOutput::named(output.as_deref().unwrap_or(Path::new("oxeye.patch"))),
    };
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[&args.recipe])?;
    }
    let options = ReplayOptions { root: args.file, reading, output };
    let mut done = oxeye::replay_project(recipes, &options, &Silent)?;
    let machines = recipes.files.iter().find_map(|file| elsewhere(file.recipes.machine.as_deref()));
    done.notes.extend(machines);
    Ok(done)
}

/// What was done, for people.
fn shown(done: &ProjectReplay) -> String {
    let mut out = String::new();
    for file in &done.files {
        out += &format!("{}: {} rewritten\n", file.path.display(), nests(file.nests));
    }
    done.notes.iter().for_each(|note| out += &format!("{note}\n"));
    out += &match (&done.patch, &done.folder) {
        _ if done.files.is_empty() => "there are no recipes; nothing is changed\n".to_owned(),
        (Some(patch), _) => {
            format!("patch written to {}; try it with: {}\n", patch.display(), oxeye::apply_command(patch))
        }
        (None, Some(folder)) => format!("copies of the changed files written to {}\n", folder.display()),
        (None, None) => "the files are changed in place\n".to_owned(),
    };
    let needs = done.files.iter().filter(|file| !file.added.is_empty());
    let flags: BTreeSet<&str> = needs.clone().flat_map(|file| &file.added).map(String::as_str).collect();
    if !flags.is_empty() {
        let names: Vec<String> = needs.map(|file| file.path.display().to_string()).collect();
        out += &build_with(&names, &Vec::from_iter(flags));
        out.push('\n');
    }
    out
}

fn nests(n: usize) -> String {
    format!("{n} {}", if n == 1 { "nest" } else { "nests" })
}
