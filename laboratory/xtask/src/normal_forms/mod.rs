//! `cargo xtask normal-forms`: do two spellings of one kernel reach the same normal form?

mod source;

use anyhow::{Context, Result, bail};
use oxeye_evaluation::Verdict;
use oxeye_evaluation::repository::root;
use oxeye_frontend::{ReadOptions, read_c};
use oxeye_ir::{Program, Region, Storage};
use oxeye_transform::{NormalForm, Policy, normalize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Compare the normal forms of the two spellings of each kernel.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Kernels to compare; all with a second spelling if none is named.
    kernels: Vec<String>,
    /// Keep floating-point sums in order.
    #[arg(long)]
    strict: bool,
    /// Show both normal forms and what was done to reach them.
    #[arg(long)]
    show: bool,
    /// Least number of kernels that must agree.
    #[arg(long, default_value_t = 0)]
    at_least: usize,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let folder = root().join("benchmarks/kernels");
    let policy = Policy { reassociate: !args.strict, finite: false };
    let pairs = pairs(&folder, &args.kernels)?;
    let mut n_equal = 0;
    println!("{:<14} {:<10} {:<18} {:<18}", "kernel", "", "a", "b");
    for (name, a, b) in &pairs {
        let (a, b) = (normal_form(a, policy), normal_form(b, policy));
        match (&a, &b) {
            (Ok(a), Ok(b)) => {
                let equal = a.text == b.text;
                n_equal += usize::from(equal);
                let word = if equal { "equal" } else { "different" };
                println!("{name:<14} {word:<10} {:<18} {:<18}", hash(a), hash(b));
                if let Some((line, x, y)) = first_difference(&a.text, &b.text) {
                    println!("    line {line}:\n      a: {x}\n      b: {y}");
                }
                if args.show {
                    show("a", a);
                    show("b", b);
                }
            }
            _ => {
                println!("{name:<14} failed");
                for (which, side) in [("a", a), ("b", b)] {
                    if let Err(error) = side {
                        println!("    {which}: {error:#}");
                    }
                }
            }
        }
    }
    println!("{n_equal} of {} equal", pairs.len());
    Ok(if n_equal >= args.at_least { Verdict::Good } else { Verdict::Bad })
}

fn hash(form: &NormalForm) -> String {
    format!("{:016x}", form.hash)
}

fn show(which: &str, form: &NormalForm) {
    println!("--- {which}\n{}", form.text);
    for entry in &form.log {
        println!("    {entry}");
    }
}

/// Number and text of the first line in which two texts differ.
fn first_difference<'a>(a: &'a str, b: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let lines = a.lines().map(Some).chain(std::iter::repeat(None));
    let others = b.lines().map(Some).chain(std::iter::repeat(None));
    let n = a.lines().count().max(b.lines().count());
    let mut both = lines.zip(others).take(n).enumerate();
    both.find(|(_, (x, y))| x != y)
        .map(|(k, (x, y))| (k + 1, x.map_or("(nothing)", str::trim), y.map_or("(nothing)", str::trim)))
}

/// Kernels with two spellings: `NAME.c` and `NAME-b.c`.
fn pairs(folder: &Path, wanted: &[String]) -> Result<Vec<(String, PathBuf, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix("-b.c"))
        else {
            continue;
        };
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            found.push((name.to_owned(), folder.join(format!("{name}.c")), path.clone()));
        }
    }
    if found.is_empty() {
        bail!("no kernel in {} has two spellings and one of these names", folder.display());
    }
    found.sort();
    Ok(found)
}

/// The normal form of the timed part of a program.
pub(crate) fn normal_form(path: &Path, policy: Policy) -> Result<NormalForm> {
    Ok(normalize(&timed_region(path)?, policy))
}

/// The timed part of a program as one function. Arrays that the program does not use afterwards are scratch.
fn timed_region(path: &Path) -> Result<Program> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let composed = source::compose(&text)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("region.c");
    std::fs::write(&file, &composed.text)?;
    let include = path.parent().map_or(".".into(), |p| p.display().to_string());
    let options = ReadOptions {
        args: vec![format!("-I{include}")],
        function: Some(source::NAME.to_owned()),
        no_alias: true,
        ..ReadOptions::default()
    };
    let unit = read_c(&file, &options)?;
    let function = unit.functions.into_iter().find(|f| f.name == source::NAME);
    let mut program = function.with_context(|| format!("no loop nest in\n{}", composed.text))?.program;
    if let Some(diagnostic) = unit.diagnostics.first() {
        let mut opaque = false;
        program.body.visit(&mut |r| opaque |= matches!(r, Region::Opaque(_)));
        if opaque {
            bail!("{}", diagnostic.render(&file, &unit.source));
        }
    }
    set_liveness(&mut program, &composed.live);
    Ok(program)
}

/// Arrays and scalars whose names are not in `live` are scratch, all others live.
fn set_liveness(program: &mut Program, live: &BTreeSet<String>) {
    let mut scratch = BTreeSet::new();
    for array in program.arrays.values_mut() {
        match array.storage {
            Storage::Body(_) | Storage::Temp(_) => {}
            _ if live.contains(&array.name) => array.storage = Storage::Param,
            _ => {
                array.storage = Storage::Local;
                scratch.insert(array.id);
            }
        }
    }
    for nest in program.nests.values_mut() {
        nest.live_out.retain(|id| !scratch.contains(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels whose spellings may differ: covariance computes the other triangle and divides elsewhere, fdtd-2d takes
    /// its boundary from another place.
    const MAY_DIFFER: [&str; 2] = ["covariance", "fdtd-2d"];

    #[test]
    fn spellings_of_kernels_meet() {
        let folder = root().join("benchmarks/kernels");
        let policy = Policy { reassociate: true, finite: false };
        for (name, a, b) in pairs(&folder, &[]).unwrap() {
            let (a, b) = (normal_form(&a, policy).unwrap(), normal_form(&b, policy).unwrap());
            let difference = first_difference(&a.text, &b.text);
            assert!(difference.is_none() || MAY_DIFFER.contains(&name.as_str()), "{name}: {difference:?}");
        }
    }

    #[test]
    fn first_differences() {
        assert_eq!(first_difference("a\nb", "a\nb"), None);
        assert_eq!(first_difference("a\nb", "a\n  c"), Some((2, "b", "c")));
        assert_eq!(first_difference("a", "a\nb"), Some((2, "(nothing)", "b")));
    }
}
