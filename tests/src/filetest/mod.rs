//! Filetests: a command, a program as C or as text of the IR, and the expected output.
//!
//! ```text
//! // run: apply strict
//! // What the file shows.
//! // {"step":"interchange","outer":0,"inner":1}
//! program p { … }
//! // ----
//! the temporaries and the nest after the steps, or `refused: …`
//! ```
//!
//! | command | of | output |
//! |---|---|---|
//! | `read FLAGS` | C | programs and diagnostics of a file that is compiled with these flags |
//! | `render [threads] [reassociate] [declarations-first]` | IR | the C of every nest |
//! | `apply POLICY` | IR | the first nest after the recipe; every line `// {…}` is a step, in which loops may be given by name |
//! | `suggest POLICY` | IR | the recipes that are suggested |
//! | `normalize POLICY` | IR | the normal form without names |
//! | `verify` | IR | what the verifiers say |
//! | `roundtrip` | IR | the printed text |
//!
//! Policies are `strict`, `reassociate` and `finite`. In C, lines of the expectation begin with `// `. `OXEYE_BLESS=1`
//! rewrites the expectations with the output; read the difference before keeping it.

mod case;
mod check;
mod nest;
mod source;

use case::Case;
use similar::TextDiff;
use std::path::{Path, PathBuf};

const SEPARATOR: &str = "// ----";

/// All filetests below a folder, by name: their path in it.
///
/// # Errors
/// If a folder cannot be read, or has neither tests nor folders.
pub fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|e| format!("{}: {e}", next.display()))?;
        let before = found.len() + folders.len();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "oxir" || e == "c") {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, path));
            }
        }
        if found.len() + folders.len() == before {
            return Err(format!("{}: no `.oxir` or `.c` files", next.display()));
        }
    }
    found.sort();
    Ok(found)
}

/// Runs one file and compares with its expectation, or rewrites that with `OXEYE_BLESS`.
///
/// # Errors
/// What is wrong with the file, or how the output differs.
pub fn run_file(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let is_c = path.extension().is_some_and(|e| e == "c");
    let actual = run(input)?;
    let actual = match is_c {
        true => {
            actual.trim_end().lines().map(|line| format!("// {line}").trim_end().to_owned() + "\n").collect()
        }
        false => format!("{}\n", actual.trim()),
    };
    let expected = format!("{}\n", expected.trim());
    if actual == expected {
        return Ok(());
    }
    if std::env::var_os("OXEYE_BLESS").is_some() {
        let blessed = format!("{}\n{SEPARATOR}\n{actual}", input.trim_end());
        return std::fs::write(path, blessed).map_err(|e| e.to_string());
    }
    let difference = TextDiff::from_lines(&expected, &actual);
    let lines = difference.unified_diff().header("expected", "output").to_string();
    Err(format!("{lines}\nOXEYE_BLESS=1 takes over what came out"))
}

/// The output of a file's command.
///
/// # Errors
/// If the file is malformed, or an accepted recipe gives a nest that computes something else.
fn run(input: &str) -> Result<String, String> {
    let is_comment = |line: &&str| line.starts_with("//");
    let header: Vec<&str> = input.lines().take_while(is_comment).collect();
    let command = header
        .iter()
        .find_map(|line| line.strip_prefix("// run: "))
        .ok_or("the first line must be `// run: COMMAND`")?;
    let mut words: Vec<&str> = command.split_whitespace().collect();
    let name = if words.is_empty() { "" } else { words.remove(0) };
    let steps = header.iter().filter_map(|line| line.strip_prefix("// ")).filter(|l| l.starts_with('{'));
    let body = input.lines().skip(header.len()).map(|line| format!("{line}\n")).collect();
    let case = Case { words, steps: steps.collect(), text: input, body };
    match name {
        "read" => source::read(&case),
        "group" => source::group(&case),
        "render" => nest::render(&case),
        "apply" => nest::apply_steps(&case),
        "suggest" => nest::suggestions(&case),
        "normalize" => nest::normal_form(&case),
        "verify" => nest::verify(&case),
        "roundtrip" => nest::round_trip(&case),
        _ => Err(format!("`{command}` is no command")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("notes.txt"), "no test").expect("a file");
        let error = files(folder.path()).expect_err("no tests");
        assert!(error.contains("no `.oxir` or `.c` files"), "{error}");
    }

    #[test]
    fn what_differs_is_shown_as_a_difference() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.c");
        std::fs::write(&path, "// run: read\nint x;\n// ----\n// a program\n").expect("a file");
        let error = run_file(&path).expect_err("there is no program");
        assert!(error.contains("-// a program"), "{error}");
    }

    #[test]
    fn a_file_of_which_nothing_can_be_executed_fails() {
        let text = |index: &str| {
            format!(
                "// run: apply strict\nprogram p {{\n  symbol P0 n: i32\n  array A0 a: f64[n] param\n  dataflow {{ N0 }}\n  \
                 nest N0 in p {{\n    for L0 i: i32 in 0 .. n {{\n      S0: a[{index}] = 1.0\n    }}\n  }}\n}}\n"
            )
        };
        run(&text("i")).expect("it can be executed");
        let error = run(&text("i + 1")).expect_err("every size leaves the array");
        assert!(error.starts_with("nothing was executed"), "{error}");
    }
}
