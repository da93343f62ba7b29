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

use crate::corpus::{self, Group, Kernel};
use crate::machine::Machine;
use crate::{Verdict, repository};
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

/// Searches, and rewrites tables and plots after each program.
///
/// # Errors
/// If the corpus or the database cannot be read, or results cannot be written.
pub fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let folder = root.join("benchmarks/kernels");
    let kernels = corpus::select(&folder, &args.kernels)?;
    let runs = Runs::open(args, root.join(&args.work))?;
    let must_search = !args.no_search && (args.refresh || kernels.iter().any(|k| !runs.has(k)));
    let oxeye = match (&args.oxeye, must_search) {
        (_, false) => None,
        (Some(path), true) => Some(path.clone()),
        (None, true) => Some(repository::build_binary("oxeye")?),
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
