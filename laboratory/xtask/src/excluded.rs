//! Normal forms of `benchmarks/kernels`, with which Oxeye is evaluated: no recipe may be learnt from them.

use crate::normal_forms;
use anyhow::{Context, Result};
use oxeye_evaluation::corpus::{self, Kernel};
use oxeye_evaluation::forms::{POLICIES, hexadecimal, read};
use oxeye_frontend::ReadOptions;
use std::collections::BTreeSet;
use std::path::Path;

/// The hashes of everything in `benchmarks/kernels`: of each nest, with its sizes as numbers and as symbols, and of the
/// whole timed part of each program; under both policies, with and without the assumption that pointers do not overlap.
///
/// # Errors
/// If a program cannot be read.
pub(crate) fn of_corpus(folder: &Path) -> Result<BTreeSet<String>> {
    let mut hashes = BTreeSet::new();
    for kernel in corpus::select(folder, &["all".to_owned()])? {
        let sizes = tempfile::Builder::new().suffix(".h").tempfile()?;
        let symbolic = symbolic_sizes(&kernel, sizes.path())?;
        for policy in POLICIES {
            for args in [Vec::new(), symbolic.clone()] {
                for no_alias in [false, true] {
                    let options = ReadOptions { args: args.clone(), no_alias, ..ReadOptions::default() };
                    let nests = read(&kernel.path, policy, &options)?.nests;
                    hashes.extend(nests.into_iter().map(|nest| nest.hash));
                }
            }
            hashes.insert(hexadecimal(normal_forms::normal_form(&kernel.path, policy)?.hash));
        }
    }
    Ok(hashes)
}

/// Preprocessor arguments that make the sizes of a program variables, which the file `header` declares.
fn symbolic_sizes(kernel: &Kernel, header: &Path) -> Result<Vec<String>> {
    let names: Vec<String> = kernel.sizes().into_iter().map(|(name, _)| name).collect();
    let declarations: String = names.iter().map(|name| format!("extern const int size_{name};\n")).collect();
    std::fs::write(header, declarations).with_context(|| format!("cannot write {}", header.display()))?;
    let mut args: Vec<String> = names.iter().map(|name| format!("-D{name}=size_{name}")).collect();
    args.extend(["-include".to_owned(), header.display().to_string()]);
    Ok(args)
}
