//! `oxeye tune`: tune a project.

use crate::checks::CheckArgs;
use crate::draw::Drawing;
use crate::table;
use crate::terminal::View;
use crate::tuning::{FpArgs, KnowledgeArgs, duration, print_report};
use oxeye::{BuildSource, RunCommand, TuneOptions, TuneOutput};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  A program that make builds; -B, since only what is compiled is seen
    oxeye tune --build 'make -B -j2' --run './solver -n 200 input.dat'

  The same with a file for standard input, and more time
    oxeye tune --build 'make -B' --run './solver < input.dat' --budget 5m

  A project that CMake has configured with
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and built
    oxeye tune --compile-commands build/compile_commands.json \\
        --run build/solver

  A library that another program loads
    oxeye tune --build 'python setup.py build_ext --inplace --force' \\
        --run 'python bench.py'

  A program that prints times and writes its result to files
    oxeye tune --build 'make -B' --run './solver input.dat' \\
        --ignore 'took [0-9.]+ s' --compare out/u.npy --compare log.txt

The program is sampled first; only the files that take its time are read. The
build runs as you give it; what Oxeye compiles goes into a temporary folder.

Exit codes:
  0    done; if nothing was faster, no patch is written, and the report says why
  2    could not run
  130  interrupted";

/// Find the loop nests that take the time of a project, make them faster, and write a patch
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command that builds all of it, as in a shell; it runs in the present folder
    #[arg(long, value_name = "COMMAND", required_unless_present = "compile_commands")]
    build: Option<String>,
    /// The file that lists how the sources are compiled, instead of a build
    #[arg(long, value_name = "FILE", conflicts_with = "build")]
    compile_commands: Option<PathBuf>,
    /// How the program is run, as in a shell: `./solver -n 200 < input.dat`
    #[arg(long, value_name = "COMMAND")]
    run: String,
    /// The folder that the program runs in [default: the present one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The exit code of the program when all is well
    #[arg(long, value_name = "CODE", default_value_t = 0)]
    exit_code: i32,
    /// Time for trying candidates, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// Stop at what similar nests and the nests themselves suggest, however much time is left
    #[arg(long)]
    quick: bool,
    /// Measure everything anew; otherwise a search goes on where an earlier run of the same command ended
    #[arg(long)]
    fresh: bool,
    /// Most threads to use; 1 emits no OpenMP [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// Assume that pointer parameters of a function never overlap
    #[arg(long)]
    no_alias: bool,
    /// Where the patch goes
    #[arg(short, long, value_name = "PATCH", default_value = "oxeye.patch")]
    output: PathBuf,
    /// Change the files themselves instead
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// Candidates to try first on each nest, from what helped similar nests
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    #[command(flatten)]
    fp: FpArgs,
    #[command(flatten)]
    checks: CheckArgs,
    /// Show everything about every nest: steps, donors, all candidates, and what was not possible and why
    #[arg(short, long)]
    verbose: bool,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut run = RunCommand::in_project(&args.run).map_err(|why| anyhow::anyhow!("--run: {why}"))?;
    run.folder = args.cwd.clone();
    run.exit_code = args.exit_code;
    let build = match (args.build, args.compile_commands) {
        (Some(command), _) => BuildSource::Command(command),
        (None, file) => BuildSource::CompileCommands(file.unwrap_or_default()),
    };
    let mut options = TuneOptions::new(build, run);
    options.budget = args.budget;
    options.quick = args.quick;
    options.fresh = args.fresh;
    options.threads = args.threads.unwrap_or(options.threads);
    options.no_alias = args.no_alias;
    options.fp = args.fp.policy();
    options.checks = args.checks.checks();
    options.top_k = args.top_k as usize;
    options.output = if args.in_place { TuneOutput::InPlace } else { TuneOutput::Patch(args.output.clone()) };
    (options.knowledge, options.donors) = args.knowledge.chosen();
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[args.output.as_path()])?;
    }
    let drawing = Drawing::new(args.verbose);
    let outcome = oxeye::tune(&options, &drawing);
    drawing.finish();
    let report = outcome?;
    let shown = |view: View| table::render_project(&report, &args.run, args.in_place, view);
    print_report(args.json.as_deref(), &|| report.to_json(), args.verbose, &shown)?;
    Ok(ExitCode::SUCCESS)
}
