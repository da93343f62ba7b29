//! `cargo xtask eval`: how much of what a long search finds the first few transferred recipes find, on the programs in
//! `benchmarks/kernels`.
//!
//! Every program is searched once; the report says what each way of choosing three candidates would have found. The tables
//! and plots follow from these reports alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxeye_database::SqliteStore;

use crate::bench::corpus::{self, Group, Kernel};
use crate::bench::machine::Machine;
use crate::{Verdict, repository};
use families::Families;
use overlap::Overlap;
use report::Place;
use runs::Runs;
use speedup::ProgramRun;
use summary::{Answer, Goal, goals};
use table::{Conditions, Evaluation};

mod donors;
mod families;
mod overlap;
mod plots;
mod report;
mod runs;
mod speedup;
mod statistics;
mod summary;
mod table;
mod tsne;

/// Neighbours that t-SNE takes into account.
const PERPLEXITY: f64 = 30.0;

/// Options of `cargo xtask eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs to search: names without `.c`, or the groups all, base (the thirty) and b (their variants)
    #[arg(long, value_delimiter = ',', default_value = "base,b")]
    kernels: Vec<String>,
    /// Divide every size by this number
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    shrink: u64,
    /// Candidates that a search measures for each nest, at most
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    max_trials: u32,
    /// Seconds for the search of one program
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    budget: u64,
    /// Seed of the searches
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Candidates that each method may pick for a nest
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    /// Threads that may be used [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// Compiler and flags
    #[arg(long, default_value = "gcc -O3 -march=native -ffast-math", allow_hyphen_values = true)]
    compiler: String,
    /// Further options for `oxeye search`
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    oxeye_options: String,
    /// The `oxeye` to run instead of a freshly built one
    #[arg(long)]
    oxeye: Option<PathBuf>,
    /// Folder for reports and logs; programs whose report is there are not searched again
    #[arg(long, default_value = "target/eval")]
    work: PathBuf,
    /// Search all programs again
    #[arg(long)]
    refresh: bool,
    /// Search nothing: tables and plots of the reports that are there
    #[arg(long, conflicts_with = "refresh")]
    no_search: bool,
    /// The recipe database whose nests are drawn, and compared with those of the programs
    #[arg(long, default_value = "models/recipes.sqlite")]
    database: PathBuf,
    /// What training wrote beside the weights; its tables are taken over
    #[arg(long, default_value = "models/encoder.json")]
    card: PathBuf,
    /// Folder for eval.md, eval.csv, eval-nests.csv, eval.svg and embedding.svg
    #[arg(long, default_value = "models")]
    out: PathBuf,
}

/// How large the corpus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corpus {
    /// The thirty computations.
    pub(crate) n_base: usize,
    /// Second spellings of them.
    pub(crate) n_variants: usize,
}

/// What has been found so far.
#[derive(Debug, Default)]
struct Found {
    programs: Vec<ProgramRun>,
    failures: Vec<(String, String)>,
    places: BTreeSet<Place>,
}

/// Searches, and writes tables and plots after each program anew.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let folder = root.join("benchmarks/kernels");
    let kernels = corpus::select(&folder, &args.kernels)?;
    let runs = Runs::open(args, root.join(&args.work))?;
    let must_search = !args.no_search && (args.refresh || kernels.iter().any(|k| !runs.has(k)));
    let oxeye = match (&args.oxeye, must_search) {
        (_, false) => None,
        (Some(path), true) => Some(path.clone()),
        (None, true) => Some(repository::build_binary("oxeye-cli")?),
    };
    let database = Some(root.join(&args.database)).filter(|path| path.exists());
    let store = database.as_deref().map(SqliteStore::open_read_only).transpose()?;
    let task = Task {
        args,
        kernels: &kernels,
        corpus: size(&folder)?,
        out: root.join(&args.out),
        families: Families::read(&root.join(&args.card))?,
        store,
    };
    fs::create_dir_all(&task.out).with_context(|| format!("cannot create {}", task.out.display()))?;
    let mut found = Found::default();
    for (idx, kernel) in kernels.iter().enumerate() {
        let is_new = oxeye.is_some() && (args.refresh || !runs.has(kernel));
        match runs.report(kernel, oxeye.as_deref()).and_then(|report| {
            let program = report::program(&kernel.name, kernel.group(), &report)?;
            Ok((program, report::place(&report)))
        }) {
            Ok((program, place)) => {
                eprintln!("[{}/{}] {}: {}", idx + 1, kernels.len(), kernel.name, brief(&program));
                found.programs.push(program);
                found.places.insert(place);
            }
            Err(error) => {
                eprintln!("[{}/{}] {}: {error:#}", idx + 1, kernels.len(), kernel.name);
                found.failures.push((kernel.name.clone(), format!("{error:#}")));
            }
        }
        if is_new {
            task.write(&found, None)?;
        }
    }
    task.finish(&found)
}

fn brief(program: &ProgramRun) -> String {
    use speedup::{Method, Scope};
    let share = program.share_of_search(Scope::Program, Method::Embedding);
    let share = share.map_or("no picks by the embedding".into(), |s| {
        format!("the embedding's picks reach {:.0} % of it", 100.0 * s)
    });
    let (n_trials, speedup) = (program.n_trials(), program.search_speedup(Scope::Program));
    format!("{speedup:.2} times faster after {n_trials} trials; {share}")
}

fn size(folder: &Path) -> Result<Corpus> {
    let all = corpus::select(folder, &["all".to_owned()])?;
    let count = |group| all.iter().filter(|kernel| kernel.group() == group).count();
    Ok(Corpus { n_base: count(Group::Base), n_variants: count(Group::Variant) })
}

/// What results are written from.
struct Task<'a> {
    args: &'a Args,
    kernels: &'a [Kernel],
    corpus: Corpus,
    out: PathBuf,
    families: Option<Families>,
    store: Option<SqliteStore>,
}

impl Task<'_> {
    /// Everything, with the comparison of the database and its picture.
    fn finish(&self, found: &Found) -> Result<Verdict> {
        let overlap = match &self.store {
            Some(store) => {
                let args = |kernel: &Kernel| runs::compiler(self.args, kernel).split_off(1);
                Some(Overlap::of(&found.programs, self.kernels, args, store)?)
            }
            None => None,
        };
        if let Some(store) = &self.store {
            let donors = donors::donors(store)?;
            let embeddings: Vec<Vec<f32>> = donors.iter().map(|donor| donor.embedding.clone()).collect();
            let at = tsne::layout(&embeddings, PERPLEXITY)?;
            write(&self.out.join(MAP), &plots::map(&donors, &at).standalone())?;
        }
        let goals = self.write(found, overlap.as_ref())?;
        goals.iter().for_each(|goal| println!("{}: {} – {}", goal.answer.word(), goal.wanted, goal.found));
        let good = found.failures.is_empty() && goals.iter().all(|goal| goal.answer == Answer::Met);
        Ok(if good { Verdict::Good } else { Verdict::Bad })
    }

    /// The tables, and the plot of shares.
    fn write(&self, found: &Found, overlap: Option<&Overlap>) -> Result<Vec<Goal>> {
        let conditions = Conditions {
            machine: Machine::detect(),
            places: found.places.iter().cloned().collect(),
            compiler: self.args.compiler.clone(),
            shrink: self.args.shrink,
            max_trials: self.args.max_trials,
            budget: self.args.budget,
        };
        let goals = goals(&found.programs, self.corpus, overlap);
        let mut plots = vec![(SHARES, "Share of the search's speedup by method".to_owned())];
        if self.out.join(MAP).exists() {
            plots.push((MAP, "Embeddings of the nests of the recipe database".to_owned()));
        }
        let evaluation = Evaluation {
            conditions: &conditions,
            programs: &found.programs,
            failures: &found.failures,
            goals: &goals,
            families: self.families.as_ref(),
            plots: &plots,
        };
        write(&self.out.join("eval.md"), &evaluation.markdown())?;
        write(&self.out.join("eval.csv"), &evaluation.csv())?;
        write(&self.out.join("eval-nests.csv"), &evaluation.nests_csv())?;
        write(&self.out.join(SHARES), &plots::shares(&found.programs).standalone())?;
        Ok(goals)
    }
}

const SHARES: &str = "eval.svg";
const MAP: &str = "embedding.svg";

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
