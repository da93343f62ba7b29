//! Watching a build: every compiler, linker and archiver that it starts is noted.

use crate::error::ProjectError;
use oxeye_measure::{CompileJob, Compiler, Invocation, Limits, MeasureError, WorkDir, run_program};
use std::path::{Path, PathBuf};

/// Preloaded into all processes of the build.
const OBSERVE_C: &str = include_str!("c/observe.c");

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Where it was called.
    pub folder: PathBuf,
    /// The tool and its arguments.
    pub words: Vec<String>,
}

/// Runs a build by the shell in `folder` and returns the calls of its tools, in the order in which they began. `cc` compiles
/// what watches.
///
/// # Errors
/// If the build fails, or nothing in it is compiled.
pub fn observe_build(
    command: &str,
    folder: &Path,
    cc: &Compiler,
    work: &WorkDir,
    limits: &Limits,
) -> Result<Vec<ToolCall>, ProjectError> {
    let source = work.write("observe.c", OBSERVE_C)?;
    let library = cc.compile(&CompileJob::shared_library(source, work.join("observe.so")))?;
    let log = work.write("tool-calls", [])?;
    let build = Invocation::new("/bin/sh")
        .args(["-c", command])
        .cwd(Some(folder.to_owned()))
        .env("OXEYE_TOOL_CALLS", &log)
        .preload(&library);
    let outcome = run_program(&build, limits)?;
    if !outcome.exit.success() {
        let both = [outcome.stdout, outcome.stderr].concat();
        let words = last_lines(&String::from_utf8_lossy(&both));
        return Err(ProjectError::Build { command: command.into(), how: outcome.exit.to_string(), words });
    }
    let bytes =
        std::fs::read(&log).map_err(|source| MeasureError::Io { action: "read", path: log, source })?;
    let calls = records(&bytes);
    if calls.is_empty() {
        return Err(ProjectError::NothingCompiled { command: command.into() });
    }
    Ok(calls)
}

/// The calls in a log: see `observe.c`. Response files (`@file`) are read.
fn records(bytes: &[u8]) -> Vec<ToolCall> {
    let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut calls = Vec::new();
    while let (Some(folder), Some(count)) = (fields.next(), fields.next()) {
        let Ok(count) = count.parse::<usize>() else { break };
        let words: Vec<String> = fields.by_ref().take(count).collect();
        if words.len() < count {
            break;
        }
        let folder = PathBuf::from(folder);
        let words = words.into_iter().flat_map(|word| expanded(word, &folder)).collect();
        calls.push(ToolCall { folder, words });
    }
    calls
}

/// A word, or what stands in the file that it names.
fn expanded(word: String, folder: &Path) -> Vec<String> {
    let text = word.strip_prefix('@').and_then(|name| std::fs::read_to_string(folder.join(name)).ok());
    text.and_then(|text| shlex::split(&text)).unwrap_or_else(|| vec![word])
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_seen_through_scripts_and_absolute_names() {
        let work = WorkDir::new().expect("a folder");
        work.write("a b.c", "int main(void) { return 0; }\n").expect("written");
        work.write("flags", "-DX=1 '-DY=2 3'").expect("written");
        let command =
            "set -e; gcc @flags -c 'a b.c' -o a.o; sh -c '/usr/bin/cc a.o -o prog'; ar rc lib.a a.o";
        let cc = Compiler::new("cc", [""; 0]);
        let observed = WorkDir::new().expect("a folder");
        let calls = observe_build(command, work.path(), &cc, &observed, &Limits::default()).expect("a build");
        let words: Vec<Vec<&str>> =
            calls.iter().map(|call| call.words.iter().map(String::as_str).collect()).collect();
        assert_eq!(
            words,
            [
                vec!["gcc", "-DX=1", "-DY=2 3", "-c", "a b.c", "-o", "a.o"],
                vec!["/usr/bin/cc", "a.o", "-o", "prog"],
                vec!["ar", "rc", "lib.a", "a.o"]
            ]
        );
        assert!(calls.iter().all(|call| call.folder.canonicalize().ok() == work.path().canonicalize().ok()));
    }

    #[test]
    fn compilers_that_are_scripts_are_seen_as_they_are_called() {
        let work = WorkDir::new().expect("a folder");
        work.write("a.c", "int main(void) { return 0; }\n").expect("written");
        work.write("gcc", "#!/bin/sh\nexec \"$(command -v cc)\" -DWRAPPED \"$@\"\n").expect("written");
        let cc = Compiler::new("cc", [""; 0]);
        let observed = WorkDir::new().expect("a folder");
        let command = "chmod +x gcc && ./gcc -c a.c -o a.o && ls -l ./gcc > list";
        let calls = observe_build(command, work.path(), &cc, &observed, &Limits::default()).expect("a build");
        let words: Vec<&[String]> = calls.iter().map(|call| &call.words[..]).collect();
        assert_eq!(words, [["./gcc", "-c", "a.c", "-o", "a.o"]]);
    }

    #[test]
    fn what_cannot_be_learnt_from_is_said() {
        let work = WorkDir::new().expect("a folder");
        let cc = Compiler::new("cc", [""; 0]);
        let observe = |command: &str| {
            let observed = WorkDir::new().expect("a folder");
            observe_build(command, work.path(), &cc, &observed, &Limits::default())
                .expect_err("nothing to learn")
                .to_string()
        };
        let failed = observe("echo no rule for this; exit 3");
        assert!(failed.contains("exit code 3") && failed.contains("no rule for this"), "{failed}");
        assert!(observe("echo done").contains("make clean"));
    }
}
