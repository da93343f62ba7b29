//! Normal forms of the nests of C programs, to find what two programs share.

use anyhow::{Context, Result};
use oxeye_frontend::{Diagnostic, ReadOptions, read_c};
use oxeye_transform::{Policy, normalize_nest};
use std::path::Path;

/// A nest of a program under one policy.
pub struct NestForm {
    /// Its function.
    pub function: String,
    /// The line of its outermost loop, from 1; 0 if unknown.
    pub line: usize,
    /// Hash of its normal form, as the recipe database has it.
    pub hash: String,
}

/// The nests of a program, and what could not be read.
pub struct ProgramForms {
    /// One for each nest.
    pub nests: Vec<NestForm>,
    /// Diagnostics of the frontend.
    pub diagnostics: Vec<Diagnostic>,
    /// Its text.
    pub source: String,
}

/// Sums in order, and sums reordered.
pub const POLICIES: [Policy; 2] =
    [Policy { reassociate: false, finite: false }, Policy { reassociate: true, finite: false }];

/// The nests of a program under a policy.
///
/// # Errors
/// If the program cannot be read.
pub fn of_program(path: &Path, policy: Policy) -> Result<ProgramForms> {
    read(path, policy, &ReadOptions::default())
}

/// The nests of a program, read with these options, under a policy.
///
/// # Errors
/// If the program cannot be read.
pub fn read(path: &Path, policy: Policy, options: &ReadOptions) -> Result<ProgramForms> {
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

/// A hash as the recipe database writes it.
pub fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}
