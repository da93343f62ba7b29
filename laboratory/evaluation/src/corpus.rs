//! The benchmark programs: finding them, and the sizes they can be built with.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// One program of `benchmarks/kernels`.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// File name without `.c`.
    pub name: String,
    /// The source file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The groups of programs that the corpus distinguishes by file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// One of the thirty computations of PolyBench.
    Base,
    /// A rewritten variant of one, `NAME-b.c`.
    Variant,
    /// Anything else.
    Extra,
}

/// Programs that are neither one of the thirty computations nor a variant of one.
const EXTRAS: [&str; 1] = ["haar"];

impl Kernel {
    /// The group this program belongs to.
    pub fn group(&self) -> Group {
        if EXTRAS.contains(&self.name.as_str()) {
            Group::Extra
        } else if self.name.ends_with("-b") {
            Group::Variant
        } else {
            Group::Base
        }
    }

    /// The size macros that `-D` overrides, with their defaults, in order of appearance.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let lines: Vec<&str> = self.text.lines().collect();
        lines
            .windows(2)
            .filter_map(|pair| {
                let name = pair[0].strip_prefix("#ifndef ")?.trim();
                let value = pair[1].strip_prefix("#define ")?.trim().strip_prefix(name)?.trim();
                Some((name.to_owned(), value.parse().ok()?))
            })
            .collect()
    }

    /// The `-D` options that divide every size by `divisor`, keeping each at least 4.
    pub fn shrunk(&self, divisor: u64) -> Vec<String> {
        if divisor <= 1 {
            return Vec::new();
        }
        self.sizes()
            .into_iter()
            .map(|(name, size)| format!("-D{name}={}", (size / divisor).max(size.min(4))))
            .collect()
    }
}

/// The programs in `folder` that `wanted` names, ordered by name; `all`, `base` and `b` name groups.
///
/// # Errors
/// If there is no such program, or the folder or a file cannot be read.
pub fn select(folder: &Path, wanted: &[String]) -> Result<Vec<Kernel>> {
    let kernels = load(folder)?;
    for name in wanted {
        let known = ["all", "base", "b"].contains(&name.as_str()) || kernels.iter().any(|k| k.name == *name);
        if !known {
            let names: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
            bail!("no kernel `{name}`; there are all, base, b, {}", names.join(", "));
        }
    }
    let chosen = |kernel: &Kernel| {
        wanted.iter().any(|name| match name.as_str() {
            "all" => true,
            "base" => kernel.group() == Group::Base,
            "b" => kernel.group() == Group::Variant,
            name => kernel.name == name,
        })
    };
    Ok(kernels.into_iter().filter(chosen).collect())
}

fn load(folder: &Path) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        // Output of `oxeye optimize` is not part of the corpus.
        let is_generated = path.to_string_lossy().ends_with(".oxeye.c");
        if !is_generated && path.extension().is_some_and(|extension| extension == "c") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            kernels.push(Kernel { name, path, text });
        }
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kernels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository;

    fn corpus() -> Vec<Kernel> {
        select(&repository::root().join("benchmarks/kernels"), &["all".to_owned()]).expect("the corpus loads")
    }

    #[test]
    fn corpus_has_its_three_groups() {
        let kernels = corpus();
        let count = |group| kernels.iter().filter(|k| k.group() == group).count();
        assert_eq!((count(Group::Base), count(Group::Variant), count(Group::Extra)), (30, 15, 1));
    }

    #[test]
    fn every_variant_has_its_base_with_the_same_sizes() {
        let kernels = corpus();
        for variant in kernels.iter().filter(|k| k.group() == Group::Variant) {
            let base = kernels.iter().find(|k| Some(k.name.as_str()) == variant.name.strip_suffix("-b"));
            let base = base.unwrap_or_else(|| panic!("{} has no base", variant.name));
            assert_eq!(variant.sizes(), base.sizes(), "{}", variant.name);
        }
    }

    #[test]
    fn sizes_are_found_and_shrunk() {
        let kernel = corpus().into_iter().find(|k| k.name == "gemm").expect("gemm is in the corpus");
        assert_eq!(kernel.sizes(), [("NI".into(), 1000), ("NJ".into(), 1100), ("NK".into(), 1200)]);
        assert_eq!(kernel.shrunk(20), ["-DNI=50", "-DNJ=55", "-DNK=60"]);
        assert!(kernel.shrunk(1).is_empty());
    }

    #[test]
    fn tuned_files_are_no_kernels() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["gemm.c", "gemm.oxeye.c", "gemm.txt"] {
            fs::write(folder.path().join(name), "int main(void) { return 0; }").expect("a file");
        }
        let names: Vec<_> = load(folder.path()).expect("it loads").into_iter().map(|k| k.name).collect();
        assert_eq!(names, ["gemm"]);
    }

    #[test]
    fn unknown_kernels_are_named() {
        let folder = repository::root().join("benchmarks/kernels");
        let error = select(&folder, &["gemn".to_owned()]).expect_err("gemn does not exist");
        assert!(error.to_string().contains("no kernel `gemn`"));
    }
}
