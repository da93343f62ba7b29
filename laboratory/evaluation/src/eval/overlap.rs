//! Whether the database contains the programs that it is judged by.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use oxeye_database::{Order, RecipeStore, SqliteStore};
use oxeye_frontend::ReadOptions;
use oxeye_transform::Policy;

use super::speedup::{NestRun, ProgramRun};
use crate::corpus::Kernel;
use crate::forms::{self, NestForm};

/// Nests of the corpus and nests of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overlap {
    /// Nests that were searched.
    pub(crate) n_nests: usize,
    /// Those whose normal form is in the database: program and line.
    pub(crate) seen: Vec<String>,
    /// Those that have no normal form to compare, and why.
    pub(crate) unread: Vec<String>,
}

impl Overlap {
    /// Looks for the searched nests of `programs` in a database.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(crate) fn of(
        programs: &[ProgramRun],
        kernels: &[Kernel],
        compiler_args: impl Fn(&Kernel) -> Vec<String>,
        store: &SqliteStore,
    ) -> Result<Overlap> {
        let mut known = BTreeSet::new();
        for entry in store.entries(Order::OldestFirst) {
            known.insert(entry?.content.nest.hash);
        }
        let mut overlap = Overlap::default();
        for program in programs {
            overlap.n_nests += program.nests.len();
            let Some(kernel) = kernels.iter().find(|k| k.name == program.name) else { continue };
            let args = compiler_args(kernel);
            let policy = Policy { reassociate: args.iter().any(|arg| arg == "-ffast-math"), finite: false };
            let forms = forms::read(&kernel.path, policy, &ReadOptions { args, ..ReadOptions::default() })?;
            for nest in &program.nests {
                let place = format!("{} line {}", program.name, nest.line);
                match hash(&forms.nests, nest) {
                    Ok(hash) if known.contains(hash) => overlap.seen.push(place),
                    Ok(_) => {}
                    Err(error) => overlap.unread.push(format!("{place} ({error:#})")),
                }
            }
        }
        Ok(overlap)
    }
}

/// The hash by which the database knows a nest.
fn hash<'f>(forms: &'f [NestForm], wanted: &NestRun) -> Result<&'f str> {
    let mut found = forms.iter().filter(|f| f.function == wanted.function && f.line as u64 == wanted.line);
    match (found.next(), found.next()) {
        (Some(form), None) => Ok(&form.hash),
        (None, _) => bail!("no nest starts there"),
        (Some(_), Some(_)) => bail!("several nests start there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use crate::eval::donors::tests::{entry, store};
    use crate::eval::speedup::tests::{nest, program};
    use crate::repository;

    #[test]
    fn a_nest_of_the_database_is_found_in_its_program() {
        let folder = repository::root().join("benchmarks/kernels");
        let kernels = corpus::select(&folder, &["gemm".to_owned()]).expect("it is there");
        let args = |_: &Kernel| vec!["-ffast-math".to_owned()];
        let options = ReadOptions { args: args(&kernels[0]), ..ReadOptions::default() };
        let policy = Policy { reassociate: true, finite: false };
        let forms = forms::read(&kernels[0].path, policy, &options).expect("it can be read").nests;
        let run = |form: &NestForm| {
            let (function, line) = (form.function.clone(), form.line as u64);
            NestRun { function, line, ..nest(1.0, 0.5, [0.5; 5]) }
        };
        let mut nests: Vec<NestRun> = forms.iter().map(run).collect();
        assert!(nests.len() > 1, "{nests:?}");
        let known = nests.last().expect("there is one").clone();
        let mut learnt = entry(1, Some("source threads simd"), 2.0);
        learnt.nest.hash = hash(&forms, &known).expect("it has a normal form").to_owned();
        let elsewhere = NestRun { line: 1, ..known.clone() };
        nests.push(elsewhere);
        let n_nests = nests.len();

        let scratch = tempfile::tempdir().expect("a folder");
        let store = store(&scratch.path().join("r.sqlite"), vec![learnt]);
        let overlap = Overlap::of(&[program("gemm", nests)], &kernels, args, &store).expect("it can be read");
        assert_eq!(overlap.seen, [format!("gemm line {}", known.line)]);
        assert_eq!(overlap.unread, ["gemm line 1 (no nest starts there)"]);
        assert_eq!(overlap.n_nests, n_nests);
    }
}
