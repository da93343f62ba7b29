//! Whether the database has seen the programs that it is judged by.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use oxeye_database::{Order, RecipeStore, SqliteStore};
use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_transform::{Policy, normalize_nest};

use super::speedup::{NestRun, ProgramRun};
use crate::bench::corpus::Kernel;

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
            let policy = Policy { reassociate: args.iter().any(|arg| arg == "-ffast-math") };
            let unit = read_c(&kernel.path, &ReadOptions { args, ..ReadOptions::default() })
                .with_context(|| format!("cannot read {}", kernel.path.display()))?;
            for nest in &program.nests {
                let place = format!("{} line {}", program.name, nest.line);
                match hash(&unit, nest, policy) {
                    Ok(hash) if known.contains(&hash) => overlap.seen.push(place),
                    Ok(_) => {}
                    Err(error) => overlap.unread.push(format!("{place} ({error:#})")),
                }
            }
        }
        Ok(overlap)
    }
}

/// What the database knows a nest by.
fn hash(unit: &Unit, wanted: &NestRun, policy: Policy) -> Result<String> {
    let function = unit.functions.iter().find(|f| f.name == wanted.function);
    let function = function.with_context(|| format!("there is no function {}", wanted.function))?;
    let starts_there = |line: Option<u32>| line.is_some_and(|line| u64::from(line) == wanted.line);
    let mut nests = function.program.nests.values().filter(|n| starts_there(n.span.map(|s| s.line)));
    match (nests.next(), nests.next()) {
        (Some(nest), None) => Ok(format!("{:016x}", normalize_nest(&function.program, nest, policy).hash)),
        (None, _) => bail!("no nest starts there"),
        (Some(_), Some(_)) => bail!("several nests start there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::corpus;
    use crate::eval::donors::tests::{entry, store};
    use crate::eval::speedup::tests::{nest, program};
    use crate::repository;

    #[test]
    fn a_nest_of_the_database_is_found_in_its_program() {
        let folder = repository::root().join("benchmarks/kernels");
        let kernels = corpus::select(&folder, &["gemm".to_owned()]).expect("it is there");
        let args = |_: &Kernel| vec!["-ffast-math".to_owned()];
        let options = ReadOptions { args: args(&kernels[0]), ..ReadOptions::default() };
        let unit = read_c(&kernels[0].path, &options).expect("it can be read");
        let mut nests = Vec::new();
        for function in &unit.functions {
            for found in function.program.nests.values() {
                let mut run = nest(1.0, 0.5, [0.5; 5]);
                run.function = function.name.clone();
                run.line = found.span.map_or(0, |span| u64::from(span.line));
                nests.push(run);
            }
        }
        assert!(nests.len() > 1, "{nests:?}");
        let known = nests.last().expect("there is one").clone();
        let mut learnt = entry(1, Some("source threads simd"), 2.0);
        learnt.nest.hash = hash(&unit, &known, Policy { reassociate: true }).expect("it has a normal form");
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
