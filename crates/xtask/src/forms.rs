//! Normal forms of the nests of C programs: what two programs share is found by comparing them.

use crate::bench::corpus::{self, Kernel};
use crate::normal_forms;
use anyhow::{Context, Result};
use oxeye_frontend::{Diagnostic, ReadOptions, read_c};
use oxeye_transform::{Policy, normalize_nest};
use std::collections::BTreeSet;
use std::path::Path;

/// A nest of a program under one policy.
pub(crate) struct NestForm {
    /// The function it stands in.
    pub(crate) function: String,
    /// The line of its outermost loop, from 1; 0 if unknown.
    pub(crate) line: usize,
    /// Hash of its normal form, as the recipe database has it.
    pub(crate) hash: String,
}

/// The nests of a program, and what of it could not be read.
pub(crate) struct ProgramForms {
    pub(crate) nests: Vec<NestForm>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Its text.
    pub(crate) source: String,
}

/// Both ways to treat sums.
pub(crate) const POLICIES: [Policy; 2] = [Policy { reassociate: false }, Policy { reassociate: true }];

/// The nests of a program under a policy.
pub(crate) fn of_program(path: &Path, policy: Policy) -> Result<ProgramForms> {
    read(path, policy, &ReadOptions::default())
}

/// The nests of a program, read with these options, under a policy.
pub(crate) fn read(path: &Path, policy: Policy, options: &ReadOptions) -> Result<ProgramForms> {
    let unit = read_c(path, options).with_context(|| path.display().to_string())?;
    let mut nests = Vec::new();
    for function in &unit.functions {
        for nest in function.program.nests.values() {
            let normal = normalize_nest(&function.program, nest, policy);
            let line = nest.span.map_or(0, |s| s.line as usize);
            nests.push(NestForm { function: function.name.clone(), line, hash: hexadecimal(normal.hash) });
        }
    }
    Ok(ProgramForms { nests, diagnostics: unit.diagnostics, source: unit.source })
}

/// The hashes of everything in `benchmarks/kernels`: of each nest as it stands, with its sizes as numbers and as symbols,
/// and of what a program times as a whole; under both policies, with and without the word that pointers do not overlap.
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

fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}
