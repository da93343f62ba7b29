//! `oxeye optimize`: tune the loop nests of a C file.

use crate::draw::Drawing;
use crate::exit::Exit;
use crate::go_on::GoOn;
use crate::program::ProgramArgs;
use crate::tuning::{KnowledgeArgs, Memory, TuningArgs, duration};
use anyhow::bail;
use oxeye::{FoundValues, Progress, Report, SavedRecipes};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  A program with a main: it is run once, and its nests are tuned with its data
    oxeye optimize gemm.c -- gcc -O3 -march=native -ffast-math -lm

  The same, the kernel in one file and the main in another
    oxeye optimize kernel.c -o kernel_fast.c -- clang -O3 main.c -lm

  A program with arguments and input, of several files
    oxeye optimize solver.c --run './solver -n 200 < input.dat' \\
        -- gcc -O3 -fopenmp util.c -lm

  A program that prints times and writes raw numbers to a file
    oxeye optimize solver.c --ignore 'took [0-9.]+ s' --compare u.bin:f32 \\
        --tolerance 1e-4 -- gcc -O3 -ffast-math -lm

  A function without a program: sizes are given, data are random or NumPy files
    oxeye optimize kernel.c -f jacobi --set n=2000 --input A=a.npy -- gcc -O2

  Keep the recipe, and apply it again later without measuring
    oxeye optimize gemm.c --save-recipe gemm.recipe.json -- gcc -O3
    oxeye replay gemm.recipe.json gemm.c

  Keep the fastest candidates as files, to be edited and run again
    oxeye optimize gemm.c --keep-candidates candidates -- gcc -O3
    oxeye rerun gemm.c --candidates candidates -- gcc -O3

  Use what the arrays hold: one value, zeros, what is overwritten unread
    oxeye values solver.c --json values.json -- gcc -O3 -ffast-math
    oxeye optimize solver.c --values values.json -- gcc -O3 -ffast-math

  Keep every trial in the recipe database, failures included
    oxeye optimize gemm.c --learn -- gcc -O3 -march=native -lm

  Take recipes from another database, or from none
    oxeye optimize gemm.c --database team.sqlite -- gcc -O3
    oxeye optimize gemm.c --no-database -- gcc -O3

Recipes that helped similar nests of the recipe database are tried first;
`oxeye explain` shows which nests those are, and why. If none of them is faster,
or no nest is similar, Oxeye tries what the nest itself suggests. In the time
that is left, nests that are far from their roofs are searched further.

Exit codes:
  0    done; if nothing was faster, the output is the input unchanged, and the
       report says why
  1    the tuned program did not behave like the original and was discarded
  2    could not run
  130  interrupted";

/// Rewrite the loop nests of a C file so that they run faster, checked against the original
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Time for trying candidates, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// Stop at what similar nests and the nests themselves suggest, however much time is left
    #[arg(long)]
    quick: bool,
    /// Measure everything anew; otherwise a search goes on where an earlier run of the same command ended
    #[arg(long)]
    fresh: bool,
    /// Try the recipes of this file on their nests before the others, such as those of another machine
    #[arg(long, value_name = "RECIPE")]
    candidates: Option<PathBuf>,
    /// Try recipes for what a report of `oxeye values --json` found: each is proved, or tested at run time before its nest
    #[arg(long, value_name = "REPORT")]
    values: Option<PathBuf>,
    /// Write the fastest candidates of every nest to a folder, as files for `oxeye rerun`; those that were edited stay
    #[arg(long, value_name = "FOLDER")]
    keep_candidates: Option<PathBuf>,
    #[command(flatten)]
    tuning: TuningArgs,
    /// Add every trial to the recipe database
    #[arg(long)]
    learn: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(args.tuning.is_verbose());
    let outcome = args.answer(&drawing);
    drawing.finish();
    let (report, more) = outcome?;
    let (go_on, given) = (args.go_on(), args.given_function());
    args.tuning.deliver(&report, &more, &|function| go_on.command(function, given))
}

impl Args {
    /// Tunes the file. Also returns what there is to say of what was learnt.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<(Report, String)> {
        let mut options = self.program.options();
        options.budget = self.budget;
        options.quick = self.quick;
        options.fresh = self.fresh;
        if let Some(path) = &self.candidates {
            options.candidates = match SavedRecipes::load(path)? {
                SavedRecipes::File(recipes) => recipes.nests,
                SavedRecipes::Project(_) => bail!("{} is for a project, not for one file", path.display()),
            };
        }
        options.values = self.values.as_deref().map(FoundValues::load).transpose()?;
        options.keep_candidates = self.keep_candidates.clone();
        self.tuning.apply(&mut options, &[])?;
        let memory = if self.learn { Some(Memory::open(self.knowledge.database.clone())?) } else { None };
        self.knowledge.apply(&mut options);
        let Some(memory) = memory else {
            return Ok((oxeye::optimize(&options, progress)?, self.kept()));
        };
        let (report, entries) = oxeye::optimize_and_learn(&options, progress)?;
        Ok((report, self.kept() + &memory.learn(entries)))
    }

    /// Where candidates are, and what to do with them; nothing if none were asked for.
    fn kept(&self) -> String {
        let Some(folder) = &self.keep_candidates else { return String::new() };
        let folder = folder.display();
        format!(
            "candidates written to {folder}; edit one, then: oxeye rerun {} --candidates {folder}, with the same compiler\n",
            self.program.file.display()
        )
    }

    /// The search that would go on.
    pub(crate) fn go_on(&self) -> GoOn {
        GoOn::after(&self.program, self.tuning.words(), self.knowledge.database.as_deref(), self.budget)
    }

    /// The function that the run was about, if it was about one.
    pub(crate) fn given_function(&self) -> Option<&str> {
        self.program.function.as_deref()
    }
}
