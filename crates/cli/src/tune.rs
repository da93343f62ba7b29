//! `oxeye tune`: tune a project.

use crate::checks::CheckArgs;
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::table;
use crate::terminal::View;
use crate::tuning::{FpArgs, KnowledgeArgs, duration, print_report};
use anyhow::bail;
use oxeye::{BuildSource, CONFIG_FILE, LOCK_FILE, Progress, ProjectConfig, TuneOutput, TuneReport};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  A program that make builds; clean first, since only what is compiled is seen
    oxeye tune --build 'make clean && make -j2' --run './solver -n 200 input.dat'

  The same with a file for standard input, and more time
    oxeye tune --build 'make clean && make' --run './solver < input.dat' --budget 5m

  A project that CMake has configured with
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and built
    oxeye tune --compile-commands build/compile_commands.json \\
        --run build/solver

  A library that another program loads
    oxeye tune --build 'python setup.py build_ext --inplace --force' \\
        --run 'python bench.py'

  Copies of the changed files instead of a patch, and the recipes of all nests
  to be applied again later without measuring
    oxeye tune --build 'make clean && make' --run ./solver -o tuned/ \\
        --save-recipe solver.recipes.json
    oxeye replay solver.recipes.json

  A page with all files and nests, and the roofline of this machine
    oxeye tune --build 'make clean && make' --run ./solver --html solver.html

  A program that prints times and writes its result to files
    oxeye tune --build 'make clean && make' --run './solver input.dat' \\
        --ignore 'took [0-9.]+ s' --compare out/u.npy --compare log.txt

  The options kept in an oxeye.toml, and used again; what was found is kept in
  oxeye.lock.json, and `oxeye check` fails if that is lost
    oxeye tune --build 'make clean && make' --run ./solver --save-config
    oxeye tune --budget 10m
    oxeye check

The program is sampled first; only the files that take its time are read. The
build runs as you give it; what Oxeye compiles goes into a temporary folder.
Where --build or --run is not given, oxeye.toml in the present folder is read; the
command line wins. Its keys are build or compile-commands, run, cwd, exit-code,
budget, threads, fp, tolerance, ignore and compare.

Exit codes:
  0    done; if nothing was faster, no patch is written, and the report says why
  2    could not run
  130  interrupted";

/// How a project is built, run and compared; what is not given stands in an `oxeye.toml`.
#[derive(clap::Args)]
pub(crate) struct ProjectArgs {
    /// The command that builds all of it, as in a shell; it runs in the present folder
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// The file that lists how the sources are compiled, instead of a build
    #[arg(long, value_name = "FILE", conflicts_with = "build")]
    compile_commands: Option<PathBuf>,
    /// How the program is run, as in a shell: `./solver -n 200 < input.dat`
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// The folder that the program runs in [default: the present one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The exit code of the program when all is well [default: 0]
    #[arg(long, value_name = "CODE")]
    exit_code: Option<i32>,
    /// Most threads to use; 1 emits no OpenMP [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    #[command(flatten)]
    fp: FpArgs,
    #[command(flatten)]
    checks: CheckArgs,
}

/// What a run on a project is told.
pub(crate) struct Told {
    /// By the command line, and where that says nothing, by the file.
    pub(crate) config: ProjectConfig,
    /// Whether what is built and run is what the file says.
    pub(crate) is_of_file: bool,
}

impl ProjectArgs {
    /// What these arguments say, and what the file in the present folder says where build or run are not given.
    pub(crate) fn told(&self, budget: Option<Duration>) -> anyhow::Result<Told> {
        let build = match (&self.build, &self.compile_commands) {
            (Some(command), _) => Some(BuildSource::Command(command.clone())),
            (None, file) => file.clone().map(BuildSource::CompileCommands),
        };
        let is_complete = build.is_some() && self.run.is_some();
        let is_silent = build.is_none() && self.run.is_none() && self.cwd.is_none();
        let given = ProjectConfig {
            build,
            run: self.run.clone(),
            cwd: self.cwd.clone(),
            exit_code: self.exit_code,
            budget,
            threads: self.threads,
            fp: self.fp.given(),
            checks: self.checks.checks(),
        };
        let file = Path::new(CONFIG_FILE);
        if is_complete || !file.exists() {
            return Ok(Told { config: given, is_of_file: false });
        }
        Ok(Told { config: ProjectConfig::load(file)?.under(given), is_of_file: is_silent })
    }
}

/// Find the loop nests that take the time of a project, make them faster, and write a patch
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// Time for trying candidates, such as 90s or 5m [default: 60s]
    #[arg(long, value_parser = duration)]
    budget: Option<Duration>,
    /// Stop at what similar nests and the nests themselves suggest, however much time is left
    #[arg(long)]
    quick: bool,
    /// Measure everything anew; otherwise a search goes on where an earlier run of the same command ended
    #[arg(long)]
    fresh: bool,
    /// Assume that pointer parameters of a function never overlap
    #[arg(long)]
    no_alias: bool,
    /// Where the patch goes; a folder (`tuned/`) gets copies of the changed files instead
    #[arg(short, long, value_name = "OUT", default_value = "oxeye.patch")]
    output: PathBuf,
    /// Change the files themselves instead
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// Candidates to try first on each nest, from what helped similar nests
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    /// Show everything about every nest: steps, donors, all candidates, and what was not possible and why
    #[arg(short, long)]
    verbose: bool,
    /// Write the recipes of all changed files to a file for `oxeye replay`
    #[arg(long, value_name = "RECIPES")]
    save_recipe: Option<PathBuf>,
    /// Keep the options of this run in an oxeye.toml, and what it found in oxeye.lock.json for `oxeye check`
    #[arg(long)]
    save_config: bool,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
    /// Write the report as a self-contained HTML page: files, nests, roofline, what could not be read
    #[arg(long, value_name = "REPORT")]
    html: Option<PathBuf>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// What a run found, and what is needed to show it.
pub(crate) struct Tuned {
    pub(crate) report: TuneReport,
    /// The command that was run.
    command: String,
    /// Whether what it found was kept for `oxeye check`.
    kept: bool,
}

impl Args {
    /// Tunes the project, and writes what comes of it.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<Tuned> {
        let told = self.project.told(self.budget)?;
        let mut options = told.config.options()?;
        if self.save_config && Path::new(CONFIG_FILE).exists() {
            bail!("{CONFIG_FILE} is there already; --save-config writes a new one where there is none");
        }
        options.quick = self.quick;
        options.fresh = self.fresh;
        options.no_alias = self.no_alias;
        options.top_k = self.top_k as usize;
        options.output = if self.in_place { TuneOutput::InPlace } else { TuneOutput::named(&self.output) };
        options.save_recipe = self.save_recipe.clone();
        // What another run than that of the file finds is not what `check` would compare with.
        options.lock = (told.is_of_file || self.save_config).then(|| LOCK_FILE.into());
        (options.knowledge, options.donors) = self.knowledge.chosen();
        let mut taken: Vec<&Path> =
            options.output.patch().into_iter().chain(options.save_recipe.as_deref()).collect();
        for path in
            self.json.iter().chain(&self.html).map(PathBuf::as_path).filter(|path| *path != Path::new("-"))
        {
            oxeye::check_writable(path, &taken)?;
            taken.push(path);
        }
        let report = oxeye::tune(&options, progress)?;
        if self.save_config {
            oxeye::write_atomically(Path::new(CONFIG_FILE), told.config.to_toml().as_bytes())?;
        }
        let (command, kept) = (told.config.run.unwrap_or_default(), options.lock.is_some());
        Ok(Tuned { report, command, kept })
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(args.verbose);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let Tuned { report, command, kept } = outcome?;
    if let Some(path) = &args.html {
        match report.to_html() {
            Some(page) => oxeye::write_atomically(path, page.as_bytes())?,
            None => {
                eprintln!("{}: no page was written, as the machine could not be measured", path.display())
            }
        }
    }
    let shown = |view: View| table::render_project(&report, &command, kept, view);
    print_report(args.json.as_deref(), &|| report.to_json(), args.verbose, &shown)?;
    Ok(Exit::Done)
}
