//! `cargo xtask eval`: how much of the speedup of a long search the first few transferred recipes reach, on the programs
//! in `benchmarks/kernels`.
//!
//! Every program is searched once; the report says what each method of choosing three candidates would have found.
//! Tables and plots are made from these reports alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxeye_database::SqliteStore;
use serde_json::Value;

use crate::corpus::{self, Group, Kernel};
use crate::machine::Machine;
use crate::{Verdict, errand, repository};
pub use args::Args;
use families::Families;
use overlap::Overlap;
use report::Place;
use runs::Runs;
use speedup::ProgramRun;
use summary::{Answer, Corpus, Goal, goals};
use table::{Conditions, Evaluation};

mod args;
mod donors;
mod families;
mod markdown;
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

/// Results so far.
#[derive(Debug, Default)]
struct Found {
    programs: Vec<ProgramRun>,
    failures: Vec<(String, String)>,
    places: BTreeSet<Place>,
}

impl Found {
    /// Adds what a search has found of a program, among the others by name.
    fn add(&mut self, kernel: &Kernel, n_kernels: usize, report: Result<Value>) {
        let name = &kernel.name;
        let number = self.programs.len() + self.failures.len() + 1;
        let read =
            |report: Value| Ok((report::program(name, kernel.group(), &report)?, report::place(&report)));
        match report.and_then(read) {
            Ok((program, place)) => {
                eprintln!("[{number}/{n_kernels}] {name}: {}", brief(&program));
                let at = self.programs.partition_point(|other| other.name < *name);
                self.programs.insert(at, program);
                self.places.insert(place);
            }
            Err(error) => {
                eprintln!("[{number}/{n_kernels}] {name}: {error:#}");
                self.failures.push((name.clone(), format!("{error:#}")));
            }
        }
    }
}

/// Searches, and rewrites tables and plots after each program.
///
/// # Errors
/// If the corpus or the database cannot be read, or results cannot be written.
pub fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let folder = root.join("benchmarks/kernels");
    let kernels = corpus::select(&folder, &args.kernels)?;
    let runs = Runs::open(args, root.join(&args.work))?;
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
    let is_missing = |kernel: &&Kernel| !args.no_search && (args.refresh || !runs.has(kernel));
    let (missing, there): (Vec<&Kernel>, Vec<&Kernel>) = kernels.iter().partition(is_missing);
    let mut found = Found::default();
    for kernel in there {
        found.add(kernel, kernels.len(), runs.report(kernel));
    }
    if !missing.is_empty() {
        let oxeye = match &args.oxeye {
            Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
            None => repository::build_binary("oxeye")?,
        };
        let searches =
            missing.iter().map(|kernel| runs.search(kernel, &oxeye)).collect::<Result<Vec<_>>>()?;
        errand::run_all(&searches, errand::start(&args.nodes)?.as_ref(), &mut |idx, finished| {
            let kernel = missing[idx];
            let ended = finished.and_then(|finished| runs.ended(kernel, &finished));
            found.add(kernel, kernels.len(), ended.and_then(|()| runs.report(kernel)));
            task.write(&found, None).map(drop)
        })?;
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

/// What results are made from.
struct Task<'a> {
    args: &'a Args,
    kernels: &'a [Kernel],
    corpus: Corpus,
    out: PathBuf,
    families: Option<Families>,
    store: Option<SqliteStore>,
}

impl Task<'_> {
    /// Writes everything, the comparison with the database and its picture included.
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

    /// Writes the tables, and the plot of shares.
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
