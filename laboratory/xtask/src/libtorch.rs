//! `cargo xtask libtorch`: a CPU libtorch for `oxeye-train`, outside the checkout.
//!
//! It comes from wheels on PyPI, which `pip` can fetch: the CPU part of PyTorch, and two libraries of NVIDIA that it
//! links but never calls here. `pip` checks every wheel against the hash below.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use oxeye_evaluation::Verdict;

/// Options of `cargo xtask libtorch`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Where to put it.
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Python with pip; it also unpacks the wheels.
    #[arg(long, default_value = "python3")]
    python: String,
    /// Fetch it even if it is there.
    #[arg(long)]
    force: bool,
}

/// Requirement, hash of the wheel, and its members to unpack: their prefix and target.
type Wheel = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const WHEELS: [Wheel; 3] = [
    (
        "torch==2.13.0",
        "60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7",
        &[
            ("torch/lib/libtorch_cpu.so", "lib/libtorch_cpu.so"),
            ("torch/lib/libc10.so", "lib/libc10.so"),
            ("torch/lib/libgomp.so.1", "lib/libgomp.so.1"),
            ("torch/include/", "include/"),
        ],
    ),
    (
        "nvidia-cuda-cupti==13.0.85",
        "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
        &[("nvidia/cu13/lib/libcupti.so.13", "lib/libcupti.so.13")],
    ),
    (
        "nvidia-cuda-runtime==13.0.96",
        "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        &[("nvidia/cu13/lib/libcudart.so.13", "lib/libcudart.so.13")],
    ),
];

/// Wheels of this Python and these platforms, whichever Python runs pip.
const TAGS: [&str; 10] = [
    "--only-binary=:all:",
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--abi=none",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux_2_25_x86_64",
    "--platform=manylinux2014_x86_64",
    "--no-deps",
    "--require-hashes",
];

/// Written last, so that a prefix with it is complete; contains the wheels' versions and hashes.
const MARKER: &str = "oxeye-complete";

/// Unpacks the members of a wheel (first argument) into a prefix (second) by pairs of member and target.
const UNPACK: &str = "\
import os, shutil, sys, zipfile
wheel, prefix, *pairs = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for source, target in zip(pairs[::2], pairs[1::2]):
        names = [n for n in archive.namelist() if n == source or source.endswith('/') and n.startswith(source)]
        if not names:
            sys.exit(f'{wheel} has no {source}')
        for name in names:
            path = os.path.join(prefix, target + name[len(source):])
            if name.endswith('/'):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(name) as member, open(path, 'wb') as file:
                shutil.copyfileobj(member, file, 1 << 20)
";

/// Fetches libtorch if it is missing, and prints the environment to build with.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let prefix = match &args.prefix {
        Some(prefix) => std::path::absolute(prefix)?,
        None => cache_folder()?.join("libtorch"),
    };
    if args.force || !is_complete(&prefix) {
        fetch(&prefix, &args.python)?;
    } else {
        eprintln!("{} is complete", prefix.display());
    }
    let shown = prefix.display();
    println!("export LIBTORCH={shown}");
    println!("export LIBTORCH_CXX11_ABI=1");
    println!("export LD_LIBRARY_PATH={shown}/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}");
    Ok(Verdict::Good)
}

/// `oxeye` in the user's cache folder.
fn cache_folder() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("there is neither HOME nor XDG_CACHE_HOME; say --prefix")?;
    Ok(cache.join("oxeye"))
}

fn is_complete(prefix: &Path) -> bool {
    fs::read_to_string(prefix.join(MARKER)).is_ok_and(|text| text == requirements())
}

/// The lines for pip.
fn requirements() -> String {
    WHEELS.iter().map(|(wheel, hash, _)| format!("{wheel} --hash=sha256:{hash}\n")).collect()
}

fn fetch(prefix: &Path, python: &str) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!(
            "there are wheels for Linux on x86-64 only; elsewhere set LIBTORCH to a libtorch 2.13 of your own"
        );
    }
    let pip = Command::new(python).args(["-m", "pip", "--version"]).stderr(Stdio::null()).output();
    if !pip.is_ok_and(|output| output.status.success()) {
        bail!(
            "`{python} -m pip` does not work; install pip (Debian: apt-get install python3-pip), or name another Python \
             with --python, or set LIBTORCH to a libtorch 2.13 of your own"
        );
    }
    let parent = prefix.parent().context("the prefix has no parent folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    // Beside the prefix, so that the finished folder can be renamed.
    let folder = tempfile::Builder::new().prefix("libtorch-").tempdir_in(parent)?;
    let list = folder.path().join("requirements.txt");
    fs::write(&list, requirements())?;
    let wheels = folder.path().join("wheels");
    eprintln!("fetching 540 MB of wheels");
    let status = Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"])
        .args(TAGS)
        .arg("--dest")
        .arg(&wheels)
        .arg("--requirement")
        .arg(&list)
        .stdout(Stdio::null())
        .status()
        .context("pip does not start")?;
    if !status.success() {
        bail!("pip could not fetch the wheels ({status})");
    }
    let unpacked = folder.path().join("prefix");
    for (requirement, _, members) in WHEELS {
        let wheel = wheel_of(&wheels, requirement)?;
        eprintln!("unpacking {requirement}");
        let pairs = members.iter().flat_map(|(from, to)| [from, to]);
        let status =
            Command::new(python).args(["-c", UNPACK]).arg(&wheel).arg(&unpacked).args(pairs).status()?;
        if !status.success() {
            bail!("{} could not be unpacked", wheel.display());
        }
    }
    std::os::unix::fs::symlink("libtorch_cpu.so", unpacked.join("lib/libtorch.so"))?;
    let mut marker = fs::File::create(unpacked.join(MARKER))?;
    marker.write_all(requirements().as_bytes())?;
    marker.sync_all()?;
    if prefix.exists() {
        fs::remove_dir_all(prefix).with_context(|| format!("cannot replace {}", prefix.display()))?;
    }
    fs::rename(&unpacked, prefix).with_context(|| format!("cannot make {}", prefix.display()))?;
    Ok(())
}

/// The downloaded wheel of a requirement.
fn wheel_of(folder: &Path, requirement: &str) -> Result<PathBuf> {
    let start =
        format!("{}-", requirement.replace("==", "-").replacen('-', "_", requirement.matches('-').count()));
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&start)) {
            return Ok(path);
        }
    }
    bail!("pip left no wheel that starts with {start}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_are_found_by_their_requirements() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            "nvidia_cuda_cupti-13.0.85-py3-none-any.whl",
        ];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        for (requirement, name) in ["torch==2.13.0", "nvidia-cuda-cupti==13.0.85"].into_iter().zip(names) {
            assert_eq!(wheel_of(folder.path(), requirement).unwrap(), folder.path().join(name));
        }
        assert!(wheel_of(folder.path(), "nvidia-cuda-runtime==13.0.96").is_err());
    }

    #[test]
    fn a_prefix_is_complete_only_with_its_marker() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_complete(folder.path()));
        fs::write(folder.path().join(MARKER), "torch==1.0").unwrap();
        assert!(!is_complete(folder.path()));
        fs::write(folder.path().join(MARKER), requirements()).unwrap();
        assert!(is_complete(folder.path()));
    }
}
