//! Which project a subcommand is about, and how it is built.

use crate::mistakes::{self, Mistake};
use crate::program::RunArgs;
use crate::tuning::JudgingArgs;
use oxeye::{BuildSource, CONFIG_FILE, ProjectConfig, TuneOptions};
use std::path::{Path, PathBuf};

/// How a project is built; what is not given stands in an `oxeye.toml`.
#[derive(clap::Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct BuildArgs {
    /// The command that builds the whole project
    ///
    /// As in a shell; it runs in the present folder.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) build: Option<String>,
    /// The file that lists how the sources of a project are compiled, instead of a build
    #[arg(long, value_name = "FILE", conflicts_with = "build", hide_short_help = true)]
    pub(crate) compile_commands: Option<PathBuf>,
}

impl BuildArgs {
    /// How it is built, if that is said.
    pub(crate) fn source(&self) -> Option<BuildSource> {
        match (&self.build, &self.compile_commands) {
            (Some(command), _) => Some(BuildSource::Command(command.clone())),
            (None, file) => file.clone().map(BuildSource::CompileCommands),
        }
    }
}

/// What a run on a project is told.
pub(crate) struct Told {
    /// By the command line, and where that says nothing, by the file.
    pub(crate) config: ProjectConfig,
    /// Whether what is built and run is what the file says.
    pub(crate) is_of_file: bool,
}

/// What these arguments say.
pub(crate) fn given(build: &BuildArgs, run: &RunArgs, judging: &JudgingArgs) -> ProjectConfig {
    ProjectConfig {
        build: build.source(),
        run: run.run.clone(),
        cwd: run.cwd.clone(),
        exit_code: run.exit_code,
        timeout: run.timeout,
        copies: run.copies,
        rank: run.rank,
        threads: run.threads,
        fp: judging.fp.given(),
        checks: judging.checks.checks(),
        ..ProjectConfig::default()
    }
}

impl Told {
    /// What a command line says, and what the file in the present folder says where that does not give build or run.
    pub(crate) fn by(given: ProjectConfig) -> anyhow::Result<Self> {
        let is_complete = given.build.is_some() && given.run.is_some();
        let is_silent = given.build.is_none() && given.run.is_none() && given.cwd.is_none();
        let file = Path::new(CONFIG_FILE);
        let (config, is_of_file) = match is_complete || !file.exists() {
            true => (given, false),
            false => (ProjectConfig::load(file)?.under(given), is_silent),
        };
        Ok(Self { config, is_of_file })
    }

    /// The options of a run that is told so.
    ///
    /// # Errors
    /// If it is not said how the project is built or run, or where there is nothing to run in.
    pub(crate) fn options(&self) -> anyhow::Result<TuneOptions> {
        if self.config.build.is_none() && self.config.run.is_none() {
            return Err(Mistake::new(format!(
                "name a FILE (oxeye tune FILE -- CC ...), or for a project give --build (or --compile-commands) and --run, \
                 here or in an {CONFIG_FILE}"
            ))
            .into());
        }
        let options = self.config.options()?;
        mistakes::check_folder(options.run.folder.as_deref())?;
        Ok(options)
    }
}
