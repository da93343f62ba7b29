//! `compile_commands.json`, as CMake, Meson and Bear write it.

use crate::error::ProjectError;
use crate::observe::ToolCall;
use oxeye_measure::{Invocation, Limits, run_program};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The calls that such a file lists, and those that link what they compile, as far as the build system beside it tells:
/// CMake's `link.txt` files, or Ninja, which Meson and CMake use.
///
/// # Errors
/// If the file cannot be read.
pub fn read_compile_commands(path: &Path) -> Result<Vec<ToolCall>, ProjectError> {
    let wrong = |reason: String| ProjectError::CompileCommands { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| {
        wrong(format!(
            "it is no compile_commands.json ({error}); CMake writes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; \
             for a Makefile give --build 'make clean && make'"
        ))
    })?;
    let here = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let call = |entry: Entry| {
        let words = entry.arguments.or_else(|| shlex::split(&entry.command?))?;
        Some(ToolCall { folder: here.join(entry.directory), words })
    };
    let mut calls: Vec<ToolCall> = entries.into_iter().filter_map(call).collect();
    if calls.is_empty() {
        return Err(wrong("it lists no commands".into()));
    }
    link_scripts(here, here, 0, &mut calls);
    ninja_commands(here, &mut calls);
    Ok(calls)
}

/// What Ninja would run to build everything but objects. Where there is no Ninja, it says nothing.
fn ninja_commands(folder: &Path, calls: &mut Vec<ToolCall>) {
    if !folder.join("build.ninja").exists() {
        return;
    }
    let ninja = Invocation::new("ninja").args(["-t", "commands"]).cwd(Some(folder.to_owned()));
    let limits = Limits { output_bytes: 64 << 20, ..Limits::default() };
    let Ok(outcome) = run_program(&ninja, &limits) else { return };
    let text = String::from_utf8_lossy(&outcome.stdout);
    // CMake puts `: && ` before a command and ` && :` behind it; archives are removed before they are made.
    let commands = text.lines().flat_map(|line| line.split(" && ")).filter_map(shlex::split);
    let links = commands.filter(|words| !words.is_empty() && !words.iter().any(|word| word == "-c"));
    calls.extend(links.map(|words| ToolCall { folder: folder.to_owned(), words }));
}

/// The commands in the `link.txt` files below a folder; CMake runs those in the folder that has `CMakeFiles`.
fn link_scripts(folder: &Path, built_in: &Path, depth: usize, calls: &mut Vec<ToolCall>) {
    const DEEPEST: usize = 12;
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        if path.file_name().is_some_and(|name| name == "link.txt") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let commands = text.lines().filter_map(shlex::split).filter(|words| !words.is_empty());
            calls.extend(commands.map(|words| ToolCall { folder: built_in.to_owned(), words }));
        } else if depth < DEEPEST && path.is_dir() && !path.is_symlink() {
            let inside = folder.file_name().is_some_and(|name| name == "CMakeFiles");
            link_scripts(
                &path,
                if inside || is_cmake_files(&path) { built_in } else { &path },
                depth + 1,
                calls,
            );
        }
    }
}

fn is_cmake_files(path: &Path) -> bool {
    path.components().any(|component| component.as_os_str() == "CMakeFiles")
}
