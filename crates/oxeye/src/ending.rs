//! How a run of the program ended that did not end as it should, in words.

use crate::request::RunCommand;
use oxeye_measure::{Exit, RunOutcome};

/// Words of lines that say what is wrong.
const TROUBLE: [&str; 16] = [
    "abort",
    "assert",
    "can't",
    "cannot",
    "could not",
    "denied",
    "error",
    "exception",
    "fail",
    "fatal",
    "illegal",
    "invalid",
    "no such",
    "not found",
    "unable",
    "usage",
];
/// A line of so many equal signs is a rule, as launchers put them around what they say.
const LEAST_OF_A_RULE: usize = 8;
/// Characters of what is quoted, at most.
const MOST_QUOTED: usize = 200;

/// How a run ended, with the line on standard error that says why.
pub(crate) fn ending(outcome: &RunOutcome) -> String {
    let words = String::from_utf8_lossy(&outcome.stderr);
    let why = telling(&words).map(|why| format!(": {why}"));
    format!("ends with {}{}", outcome.exit, why.unwrap_or_default())
}

/// What is wrong with a run that did not end as it should, and what would help.
pub(crate) fn failure(outcome: &RunOutcome, run: &RunCommand) -> String {
    let mut words = ending(outcome);
    match outcome.exit {
        Exit::Exited(code) => {
            if run.is_bare() {
                words += "; if it needs arguments or input, give them: --run \"./prog ARGS < FILE\"";
            }
            if !String::from_utf8_lossy(&outcome.stderr).lines().any(tells_of_trouble) {
                words += &format!("; if all is well when it ends so, say --exit-code {code}");
            }
        }
        _ => words += "; oxeye needs a program that runs to its end",
    }
    words
}

/// The line that says what is wrong: the last one of the program itself that speaks of trouble, or else its last one; of what stands
/// between rules, as launchers write, only the first sentence, and only if there is nothing else.
fn telling(words: &str) -> Option<String> {
    let (mut own, mut framed): (Vec<&str>, Vec<Vec<&str>>) = (Vec::new(), Vec::new());
    for line in words.lines().map(str::trim) {
        match framed.last_mut() {
            _ if is_rule(line) => framed.push(Vec::new()),
            Some(block) => block.push(line),
            None => own.push(line),
        }
    }
    let has_words = |line: &&&str| line.chars().any(char::is_alphanumeric);
    let of_trouble = own.iter().rev().filter(has_words).find(|line| tells_of_trouble(line));
    let line = of_trouble.or_else(|| own.iter().rev().find(has_words)).map(|line| (*line).to_owned());
    let line = line.or_else(|| framed.iter().find_map(|block| first_sentence(block)))?;
    Some(line.chars().take(MOST_QUOTED).collect())
}

fn is_rule(line: &str) -> bool {
    let first = line.chars().next();
    line.chars().count() >= LEAST_OF_A_RULE
        && first.is_some_and(|first| !first.is_alphanumeric() && line.chars().all(|c| c == first))
}

fn tells_of_trouble(line: &str) -> bool {
    let line = line.to_lowercase();
    TROUBLE.iter().any(|word| line.contains(word)) && !line.contains("end of error message")
}

/// The first paragraph of a block, up to the end of its first sentence.
fn first_sentence(block: &[&str]) -> Option<String> {
    let paragraph = block.iter().skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let text = paragraph.copied().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").unwrap_or(text.len());
    let text = text[..end].trim_end_matches(['.', ':']);
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "--------------------------------------------------------------------------";

    #[test]
    fn the_line_that_says_what_is_wrong_is_quoted() {
        let mpirun = format!(
            "{RULE}\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has \
             been aborted.\n{RULE}\n{RULE}\nmpirun detected that one or more processes exited with non-zero status\n{RULE}\n"
        );
        let own = format!("solver: deck.in: No such file or directory\nstopping\n{mpirun}");
        let slots = format!(
            "{RULE}\nThere are not enough slots available in the system to satisfy the 4\nslots that were requested by the \
             application:\n\n  ./a.out\n{RULE}\n"
        );
        for (stderr, line) in [
            (own.as_str(), Some("solver: deck.in: No such file or directory")),
            (&mpirun, Some("Primary job  terminated normally, but 1 process returned a non-zero exit code")),
            (
                &slots,
                Some(
                    "There are not enough slots available in the system to satisfy the 4 slots that were requested by the \
                     application",
                ),
            ),
            ("reading\nusage: prog FILE\n  -h  this help\n", Some("usage: prog FILE")),
            ("one\ntwo\n\n", Some("two")),
            ("====================\n", None),
            ("", None),
        ] {
            assert_eq!(telling(stderr).as_deref(), line, "{stderr}");
        }
    }

    #[test]
    fn an_exit_code_is_only_said_to_be_allowed_where_nothing_speaks_of_trouble() {
        let told = |stderr: &str| {
            let outcome = RunOutcome {
                exit: Exit::Exited(3),
                stdout: Vec::new(),
                stderr: stderr.into(),
                truncated: false,
                elapsed_ns: 0,
                held_ns: 0,
                max_rss: 0,
            };
            failure(&outcome, &RunCommand::default())
        };
        assert!(told("converged\n").contains("--exit-code 3"));
        assert!(!told("error: no input\n").contains("--exit-code"));
    }
}
