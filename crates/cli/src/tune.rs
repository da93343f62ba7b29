//! `oxeye tune`: tune the loop nests of a C file, or of a project.

use crate::draw::Drawing;
use crate::dry;
use crate::events::Events;
use crate::exit::Exit;
use crate::go_on::GoOn;
use crate::knowledge::{KnowledgeArgs, Memory};
use crate::manner::Manner;
use crate::mistakes::Mistake;
use crate::nodes;
use crate::notes;
use crate::program::{FileArgs, ProgramArgs, RunArgs};
use crate::project::{BuildArgs, Told, given};
use crate::table;
use crate::terminal::View;
use crate::tuning::{JudgingArgs, ReportFormat, ResultArgs, duration, print_report};
use anyhow::bail;
use clap::Args as _;
use oxeye::{
    CONFIG_FILE, Focus, FoundValues, LEAST_SPEEDUP, LOCK_FILE, NamedPlace, Options, Progress, ProjectConfig,
    Report, SavedRecipes, TuneOutput, TuneReport,
};
use oxeye_database::Location;
use oxeye_nodes::NodesArgs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MORE: &str = "\
Examples:
  oxeye tune gemm.c -- gcc -O3 -march=native -lm
  oxeye tune --build 'make clean && make' --run './solver -n 200'";

const EXAMPLES: &str = "\
Examples:
  A program of one file: it is run once, and its loop nests are tuned with its
  data; the result is gemm.oxeye.c
    oxeye tune gemm.c -- gcc -O3 -march=native -ffast-math -lm

  A project that make builds; clean first, since only what is compiled is seen.
  The result is a patch
    oxeye tune --build 'make clean && make -j2' --run './solver < input.dat'

  The options kept in an oxeye.toml, and used again; what was found is kept in
  oxeye.lock.json, and `oxeye check` fails if that is lost
    oxeye tune --build 'make clean && make' --run ./solver --save-config
    oxeye tune --budget 10m
    oxeye check

Recipes that helped similar nests of the recipe database are tried first;
`oxeye explain` shows which nests those are, and why. If none of them is faster,
or no nest is similar, Oxeye tries what the nest itself suggests. In the time
that is left, nests that are far from their roofs are searched further.

A project's build runs as you give it; what Oxeye compiles goes into a temporary
folder. Where --build or --run is not given, oxeye.toml in the present folder is
read; the command line wins. Its keys have the names of options: build or
compile-commands, run, cwd, exit-code, timeout, copies, rank, threads, no-alias,
budget, only, exclude, min-share, min-speedup, fp, tolerance, ignore and compare.

Exit codes:
  0    done; if nothing was faster, nothing is changed, and the report says why
  1    the tuned program did not behave like the original and was discarded, or
       nothing was changed and --fail-if-unchanged is given
  2    could not run
  130  interrupted";

/// Make the loop nests of a C file or of a project faster
#[derive(clap::Args)]
#[command(after_help = MORE, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The C file or DaCe program; without one, a project
    ///
    /// A project is that in the present folder.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How FILE is compiled [default: cc -O3 -march=native -lm]
    ///
    /// As you would type it, with further sources, objects and libraries.
    #[arg(last = true, value_name = "CC ARGS", requires = "file")]
    compiler: Vec<String>,
    #[command(flatten)]
    build: BuildArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    of_file: FileArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    nodes: NodesArgs,
    #[command(flatten)]
    judging: JudgingArgs,
    /// Least gain that is kept [default: 1.03]
    ///
    /// The program has to be so many times as fast, and its interval has to lie above 1. At 1 and below, whatever is not slower is kept.
    #[arg(long, value_name = "FACTOR", value_parser = factor, help_heading = "Correctness")]
    min_speedup: Option<f64>,
    #[command(flatten)]
    results: ResultArgs,
    /// Keep options and result for `oxeye check`
    ///
    /// Of a project: the options go to oxeye.toml, which later runs read; what was found to oxeye.lock.json.
    #[arg(long, conflicts_with = "file", help_heading = "Output")]
    save_config: bool,
    /// Write the fastest candidates of every nest of FILE to a folder
    ///
    /// It is for `oxeye rerun`; candidates that were edited stay.
    #[arg(long, value_name = "FOLDER", requires = "file", help_heading = "Output", hide_short_help = true)]
    keep_candidates: Option<PathBuf>,
    /// Write what happens, as it happens, as JSON Lines: for dashboards
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    events: Option<PathBuf>,
    /// Show nests, shares, and why not; change nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// End with exit code 1 if nothing was changed
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    fail_if_unchanged: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    /// Add every trial to the recipe database
    #[arg(long, requires = "file", help_heading = "Database", hide_short_help = true)]
    learn: bool,
}

/// What is tried, and where.
#[derive(clap::Args)]
#[command(next_help_heading = "Search")]
struct SearchArgs {
    /// Time for the whole run: 90s, 5m [default: 60s]
    ///
    /// It begins at the end of the first run of the program.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Try only what is suggested, even if time is left
    ///
    /// Suggested is what helped similar nests, and what the nests themselves suggest.
    #[arg(long)]
    quick: bool,
    /// Measure everything anew
    ///
    /// Otherwise a run goes on where an earlier one of the same command ended.
    #[arg(long, hide_short_help = true)]
    fresh: bool,
    /// Tune only this file, FILE:LINE or function
    ///
    /// May be repeated.
    #[arg(long, value_name = "PLACE")]
    only: Vec<NamedPlace>,
    /// Do not tune this file, FILE:LINE or function
    ///
    /// May be repeated.
    #[arg(long, value_name = "PLACE", hide_short_help = true)]
    exclude: Vec<NamedPlace>,
    /// Leave nests that take less of the program's time
    #[arg(long, value_name = "PERCENT", value_parser = percent, hide_short_help = true)]
    min_share: Option<f64>,
    /// Candidates to try first on each nest, from what helped similar nests
    ///
    /// Of one file, also how many of the fastest are timed against the original.
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100), hide_short_help = true)]
    top_k: u32,
    /// Try the recipes of this file on their nests before the others
    ///
    /// They may be those of another machine.
    #[arg(long, alias = "candidates", value_name = "RECIPES", requires = "file", hide_short_help = true)]
    recipes: Option<PathBuf>,
    /// Try recipes for what a report of `oxeye inspect --json` found
    ///
    /// Each is proved, or tested at run time before its nest.
    #[arg(long, value_name = "REPORT", requires = "file", hide_short_help = true)]
    values: Option<PathBuf>,
}

fn factor(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('x').parse() {
        Ok(value) if (0.0..1000.0).contains(&value) => Ok(value),
        _ => Err("it is a factor such as 1.03".into()),
    }
}

/// A number of percent below a hundred.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse() {
        Ok(value) if (0.0..100.0).contains(&value) => Ok(value),
        _ => Err("it is a number of percent from 0 to below 100".into()),
    }
}

/// What a run found, and what is needed to show it.
pub(crate) enum Tuned {
    /// Of a file. The text is on what was learnt.
    File(Box<Report>, String),
    /// Of a project.
    Project {
        report: Box<TuneReport>,
        /// The command that was run.
        command: String,
        /// Whether what it found was kept for `oxeye check`.
        kept: bool,
    },
}

impl Args {
    /// Tunes the file or the project, and writes what comes of it.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<Tuned> {
        match self.program()? {
            Some(program) => {
                let (report, learnt) = self.tune_file(&program, progress)?;
                Ok(Tuned::File(Box::new(report), learnt))
            }
            None => self.tune_project(progress),
        }
    }

    /// The file with what it takes to compile and run it, if it is one.
    pub(crate) fn program(&self) -> Result<Option<ProgramArgs>, Mistake> {
        let Some(file) = self.file.clone() else { return Ok(None) };
        if let Some(build) = self.build.source() {
            return Err(Mistake::new(format!(
                "a build ({build}) is for a project, and {} a file of it; --only {0} tunes that file there",
                file.display()
            )));
        }
        let (of_file, run, compiler) = (self.of_file.clone(), self.run.clone(), self.compiler.clone());
        Ok(Some(ProgramArgs { file, of_file, run, compiler }))
    }

    /// Which nests are tuned, and what is kept.
    fn focus(&self, function: Option<String>) -> Focus {
        let search = &self.search;
        Focus {
            function,
            only: search.only.clone(),
            exclude: search.exclude.clone(),
            least_share: 0.01 * search.min_share.unwrap_or(0.0),
            least_speedup: self.min_speedup.unwrap_or(LEAST_SPEEDUP),
            is_dry: self.dry_run,
        }
    }

    /// Tunes a file. Also returns what there is to say of what was learnt.
    fn tune_file(&self, program: &ProgramArgs, progress: &dyn Progress) -> anyhow::Result<(Report, String)> {
        let mut options = program.options()?;
        let search = &self.search;
        options.budget = search.budget.unwrap_or(options.budget);
        (options.quick, options.fresh, options.top_k) = (search.quick, search.fresh, search.top_k as usize);
        options.focus = self.focus(options.focus.function.take());
        if let Some(path) = &search.recipes {
            options.candidates = match SavedRecipes::load(path)? {
                SavedRecipes::File(recipes) => recipes.nests,
                SavedRecipes::Project(_) => bail!("{} is for a project, not for one file", path.display()),
            };
        }
        options.values = search.values.as_deref().map(FoundValues::load).transpose()?;
        options.keep_candidates = self.keep_candidates.clone();
        self.judging.apply(&mut options);
        self.results.apply(&mut options, &[])?;
        let memory = match self.learn {
            true => Some(Memory::open(self.knowledge.database.as_ref())?),
            false => self.knowledge.check().map(|()| None)?,
        };
        self.knowledge.apply(&mut options);
        options.threads = self.nodes.threads(self.run.threads, options.threads);
        options.machines.nodes = nodes::start(&self.nodes)?;
        let Some(memory) = memory else {
            return Ok((oxeye::optimize(&options, progress)?, self.kept(&options)));
        };
        let (report, entries) = oxeye::optimize_and_learn(&options, progress)?;
        Ok((report, self.kept(&options) + &memory.learn(entries)))
    }

    /// Where candidates are, and what to do with them; nothing if none were asked for.
    fn kept(&self, options: &Options) -> String {
        let Some(folder) = &options.keep_candidates else { return String::new() };
        let (folder, file) = (folder.display(), options.file.display());
        format!(
            "candidates written to {folder}; edit one, then: oxeye rerun {file} --candidates {folder}, with the same compiler\n",
        )
    }

    /// What the command line says of a project.
    fn given(&self) -> ProjectConfig {
        let search = &self.search;
        ProjectConfig {
            budget: search.budget,
            no_alias: self.of_file.no_alias.then_some(true),
            only: search.only.clone(),
            exclude: search.exclude.clone(),
            min_share: search.min_share,
            min_speedup: self.min_speedup,
            database: self.knowledge.database.as_ref().map(Location::to_string),
            ..given(&self.build, &self.run, &self.judging)
        }
    }

    fn tune_project(&self, progress: &dyn Progress) -> anyhow::Result<Tuned> {
        let (search, results) = (&self.search, &self.results);
        results.check()?;
        let told = Told::by(self.given())?;
        let mut options = told.options()?;
        if self.save_config && Path::new(CONFIG_FILE).exists() {
            bail!(
                "{CONFIG_FILE} is there already; without --save-config, `oxeye tune` reads it and renews the lock file"
            );
        }
        (options.quick, options.fresh, options.top_k) = (search.quick, search.fresh, search.top_k as usize);
        options.focus.is_dry = self.dry_run;
        options.output = match &results.output {
            _ if results.in_place => TuneOutput::InPlace,
            Some(path) => TuneOutput::named(path),
            None => options.output,
        };
        options.save_recipe = results.save_recipe.clone();
        // What another run than that of the file finds is not what `check` would compare with.
        let keeps = (told.is_of_file || self.save_config) && !self.dry_run;
        options.lock = keeps.then(|| LOCK_FILE.into());
        self.knowledge.check()?;
        (options.knowledge, options.donors) = self.knowledge.chosen();
        let taken = options.output.patch().into_iter().chain(options.save_recipe.as_deref()).collect();
        results.check_reports(taken, &[])?;
        options.threads = self.nodes.threads(told.config.threads, options.threads);
        options.nodes = nodes::start(&self.nodes)?;
        let report = Box::new(oxeye::tune(&options, progress)?);
        if self.save_config && !self.dry_run {
            oxeye::write_atomically(Path::new(CONFIG_FILE), told.config.to_toml().as_bytes())?;
        }
        Ok(Tuned::Project { report, command: told.config.run.unwrap_or_default(), kept: keeps })
    }

    /// The longer run that would go on.
    pub(crate) fn go_on(&self) -> Option<GoOn> {
        let program = self.program().ok()??;
        let options = || {
            let database = match &self.knowledge.database {
                Some(Location::File(path)) => vec!["--database".to_owned(), path.to_str()?.to_owned()],
                Some(Location::Server(address)) => vec!["--database".to_owned(), address.clone()],
                None => Vec::new(),
            };
            Some([self.results.words()?, self.judging.words(), database].concat())
        };
        let budget = self.search.budget.unwrap_or(Options::new("").budget);
        Some(GoOn::after(&program, options(), budget))
    }

    /// The function that the run was about, if it was about one.
    pub(crate) fn given_function(&self) -> Option<&str> {
        self.of_file.function.as_deref()
    }
}

/// Whether the words are arguments of this subcommand.
pub(crate) fn are_arguments(words: &[String]) -> bool {
    let command = Args::augment_args(clap::Command::default().no_binary_name(true));
    command.try_get_matches_from(words).is_ok()
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(manner, manner.verbose);
    let events = args.events.as_deref().map(|path| Events::open(path, &drawing)).transpose()?;
    let progress: &dyn Progress = events.as_ref().map_or(&drawing, |events| events);
    let outcome = args.answer(progress);
    drawing.finish();
    let tuned = outcome?;
    let json = args.results.json.as_deref();
    let is_for_editors = args.results.format == ReportFormat::Gcc;
    let (exit, is_changed) = match &tuned {
        Tuned::File(report, _) if args.dry_run => {
            let shown = |view: View| match is_for_editors {
                true => notes::of_file(report),
                false => dry::of_file(report, view),
            };
            print_report(json, &|| report.to_json(), manner, &shown)?;
            return Ok(Exit::Done);
        }
        Tuned::Project { report, .. } if args.dry_run => {
            let shown = |view: View| match is_for_editors {
                true => notes::of_project(report),
                false => dry::of_project(report, view),
            };
            print_report(json, &|| report.to_json(), manner, &shown)?;
            return Ok(Exit::Done);
        }
        Tuned::File(report, more) => {
            let (go_on, given) = (args.go_on(), args.given_function());
            let go_on = |function: Option<&str>| go_on.as_ref()?.command(function, given, &are_arguments);
            (args.results.deliver(report, more, manner, &go_on)?, report.changed)
        }
        Tuned::Project { report, command, kept } => {
            if let Some(path) = &args.results.html {
                match report.to_html() {
                    Some(page) => oxeye::write_atomically(path, page.as_bytes())?,
                    None => {
                        eprintln!(
                            "{}: no page was written, as the machine could not be measured",
                            path.display()
                        )
                    }
                }
            }
            let shown = |view: View| match is_for_editors {
                true => notes::of_project(report),
                false => table::render_project(report, command, *kept, view),
            };
            print_report(json, &|| report.to_json(), manner, &shown)?;
            (Exit::Done, report.files.iter().any(|file| file.changed))
        }
    };
    Ok(if args.fail_if_unchanged && !is_changed { Exit::Negative } else { exit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_percentages_have_bounds() {
        assert_eq!((factor("1.1x"), factor("0")), (Ok(1.1), Ok(0.0)));
        assert_eq!((percent("25"), percent("10 %")), (Ok(25.0), Ok(10.0)));
        for wrong in ["", "-1", "nan", "x"] {
            assert!(percent(wrong).is_err() && factor(wrong).is_err(), "{wrong}");
        }
        assert!(percent("100").is_err());
    }
}
