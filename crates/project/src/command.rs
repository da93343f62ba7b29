//! What a call of a compiler, linker or archiver makes of what.

use crate::observe::ToolCall;
use std::path::{Component, Path, PathBuf};

/// A step of a build. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Sources and objects become objects, or a program.
    Drive(Drive),
    /// Objects are put into an archive.
    Archive { archive: PathBuf, members: Vec<PathBuf> },
    /// A file gets another name.
    Copy { from: PathBuf, to: PathBuf },
}

/// A call of a compiler driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drive {
    pub(crate) folder: PathBuf,
    pub(crate) tool: String,
    /// Flags and inputs as they stand in the command, without `-o` and what only writes dependencies.
    pub(crate) parts: Vec<Part>,
    pub(crate) output: Option<PathBuf>,
    /// `-c`.
    pub(crate) compiles_only: bool,
}

/// A flag with its argument, or an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Flag(Vec<String>),
    Input(PathBuf),
}

/// Flags whose argument is the next word.
const WITH_ARGUMENT: [&str; 34] = [
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-J",
    "-A",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-target",
    "--param",
    "-rpath",
    "-arch",
    "-wrapper",
];

/// Flags whose argument is a path, together with it or before it.
const WITH_PATH: [&str; 12] = [
    "-I",
    "-L",
    "-B",
    "-J",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--sysroot=",
    "-T",
];

/// The step that a call makes; `None` for those that make nothing that is linked.
pub(crate) fn step(call: &ToolCall) -> Option<Step> {
    let (tool, words) = call.words.split_first()?;
    let name = Path::new(tool).file_name()?.to_string_lossy().into_owned();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match stem.rsplit('-').next()? {
        "ar" => archive(words, &call.folder),
        "cp" | "mv" | "ln" | "install" => copy(words, &call.folder),
        "ld" => None,
        _ => drive(tool, words, &call.folder).map(Step::Drive),
    }
}

fn drive(tool: &str, words: &[String], folder: &Path) -> Option<Drive> {
    let mut drive = Drive {
        folder: folder.into(),
        tool: tool.into(),
        parts: Vec::new(),
        output: None,
        compiles_only: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-c" => drive.compiles_only = true,
            // Nothing that can be linked comes of these.
            "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" | "--version" | "-v" | "-" | "-###" => return None,
            "-MD" | "-MMD" | "-MP" | "-MG" | "-pipe" | "-s" => {}
            w if w.starts_with("-save-temps") || w.starts_with("-Wl,-Map") => {}
            w if w.starts_with("-Wp,-M") || w.starts_with("-MJ") => {}
            "-MF" | "-MT" | "-MQ" => drop(words.next()),
            "-o" => drive.output = Some(normal(&folder.join(words.next()?))),
            w if w.starts_with("-o") && w.len() > 2 && !w.starts_with("-open") && !w.starts_with("-objc") => {
                drive.output = Some(normal(&folder.join(&w[2..])));
            }
            w if WITH_ARGUMENT.contains(&w) => {
                let argument = words.next()?;
                let argument = match WITH_PATH.contains(&w) {
                    true => absolute(argument, folder),
                    false => argument.clone(),
                };
                drive.parts.push(Part::Flag(vec![word.clone(), argument]));
            }
            w if w.starts_with('-') => {
                let start = WITH_PATH.iter().find(|start| w.starts_with(**start) && w.len() > start.len());
                let flag = match start {
                    Some(start) => format!("{start}{}", absolute(&w[start.len()..], folder)),
                    None => word.clone(),
                };
                drive.parts.push(Part::Flag(vec![flag]));
            }
            input => drive.parts.push(Part::Input(normal(&folder.join(input)))),
        }
    }
    drive.parts.iter().any(|part| matches!(part, Part::Input(_))).then_some(drive)
}

/// A path in a flag. `-I=...` and `-I$SYSROOT` are relative to the system's root, and stay.
fn absolute(path: &str, folder: &Path) -> String {
    if path.starts_with(['=', '$']) {
        return path.to_owned();
    }
    // A forced include is looked for in the folders of `-I` as well.
    let joined = folder.join(path);
    if joined.exists() { normal(&joined).to_string_lossy().into_owned() } else { path.to_owned() }
}

fn archive(words: &[String], folder: &Path) -> Option<Step> {
    let (operation, rest) = words.split_first()?;
    let letters = operation.trim_start_matches('-');
    // Replaced or added members; not deleting, printing, or making tables.
    if operation.starts_with("--") || !letters.contains(['r', 'q']) {
        return None;
    }
    let mut paths = rest.iter().filter(|word| !word.starts_with("--")).map(|word| normal(&folder.join(word)));
    // A position (`a`, `b`, `i`) or a count (`N`) comes first.
    if letters.contains(['a', 'b', 'i', 'N']) {
        paths.next();
    }
    Some(Step::Archive { archive: paths.next()?, members: paths.collect() })
}

fn copy(words: &[String], folder: &Path) -> Option<Step> {
    let mut paths = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-m" | "-o" | "-g" | "-t" | "-S" => drop(words.next()),
            w if w.starts_with('-') => {}
            w => paths.push(folder.join(w)),
        }
    }
    let [from, to] = paths.as_slice() else { return None };
    let to = if to.is_dir() { to.join(from.file_name()?) } else { to.clone() };
    Some(Step::Copy { from: normal(from), to: normal(&to) })
}

/// A path without `.`, `..` and links, as far as it exists.
pub(crate) fn normal(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let mut lexical = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(lexical.pop()),
            other => lexical.push(other),
        }
    }
    match (lexical.parent().and_then(|parent| parent.canonicalize().ok()), lexical.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => lexical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(line: &str) -> Option<Step> {
        let words = shlex::split(line).expect("words");
        step(&ToolCall { folder: "/nowhere/src".into(), words })
    }

    #[test]
    fn a_compiler_call_keeps_its_order_and_loses_what_writes_elsewhere() {
        let Some(Step::Drive(drive)) = made(
            "x86_64-linux-gnu-gcc-12 -O2 -MMD -MF x.d -DA='b c' ../a.c -c -o ./obj/a.o -l m -Wl,-Map=x.map",
        ) else {
            panic!("a compiler");
        };
        assert_eq!(drive.output, Some("/nowhere/src/obj/a.o".into()));
        assert!(drive.compiles_only);
        let flag = |words: &[&str]| Part::Flag(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(
            drive.parts,
            [flag(&["-O2"]), flag(&["-DA=b c"]), Part::Input("/nowhere/a.c".into()), flag(&["-l", "m"])]
        );
    }

    #[test]
    fn calls_that_make_nothing_to_link_are_no_steps() {
        for line in
            ["gcc -E a.c", "cc --version", "clang -fsyntax-only a.c", "ar t lib.a", "gcc -v", "ld a.o"]
        {
            assert_eq!(made(line), None, "{line}");
        }
    }

    #[test]
    fn archives_and_copies() {
        assert_eq!(
            made("ar -rcs libx.a a.o b.o"),
            Some(Step::Archive {
                archive: "/nowhere/src/libx.a".into(),
                members: vec!["/nowhere/src/a.o".into(), "/nowhere/src/b.o".into()]
            })
        );
        assert_eq!(
            made("install -m 755 prog ../bin/prog"),
            Some(Step::Copy { from: "/nowhere/src/prog".into(), to: "/nowhere/bin/prog".into() })
        );
    }
}
