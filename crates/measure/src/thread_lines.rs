//! Lines in which a program tells how many threads it has.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::tokens::{shape, tokens};

/// What lines about threads say.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| regex("thread|openmp"));
/// What lines say that tell more than how the program runs.
static RESULT: LazyLock<Regex> =
    LazyLock::new(|| regex("error|fail|wrong|invalid|mismatch|differ|warn|bad|not |n't"));

fn regex(words: &str) -> Regex {
    Regex::new(&format!("(?i){words}")).expect("a regular expression")
}

/// A text written in so many threads as a program without OpenMP writes it: lines about threads say `1` where these references do,
/// and such lines that none of them has are left out. Says how many lines that were. `Threads = 2` and `Running in 2 threads` say
/// nothing of what was computed.
pub(crate) fn as_without<'t>(references: &[&[u8]], text: &'t [u8], threads: usize) -> (Cow<'t, [u8]>, usize) {
    if !ABOUT.is_match(text) {
        return (Cow::Borrowed(text), 0);
    }
    let mut known: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
    for line in references.iter().flat_map(|text| lines(text)).filter(|line| ABOUT.is_match(line)) {
        let alike = known.entry(shape(line)).or_default();
        if !alike.contains(&line) {
            alike.push(line);
        }
    }
    let mut result = Vec::with_capacity(text.len());
    let mut n_lines = 0;
    for line in lines(text) {
        let alike = ABOUT.is_match(line).then(|| known.get(&shape(line)));
        let of_one = match alike {
            Some(None) if tells_how(line, threads) => Some(&b""[..]),
            Some(Some(alike)) if !alike.contains(&line) => {
                alike.iter().copied().find(|other| says_the_same(other, line, threads))
            }
            _ => None,
        };
        n_lines += usize::from(of_one.is_some());
        result.extend_from_slice(of_one.unwrap_or(line));
    }
    (Cow::Owned(result), n_lines)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Whether a line tells no more than that there are so many threads, or that there is OpenMP.
fn tells_how(line: &[u8], threads: usize) -> bool {
    let number = threads.to_string();
    let tokens = tokens(line);
    let has_none = !tokens.iter().any(|token| token.is_number);
    !RESULT.is_match(line) && (has_none || tokens.iter().any(|token| token.is(&number)))
}

/// Whether two lines of one form are the same but for `1` in the one where the other has this number.
fn says_the_same(one: &[u8], several: &[u8], threads: usize) -> bool {
    let number = threads.to_string();
    let mut pairs = tokens(one).into_iter().zip(tokens(several));
    pairs.all(|(a, b)| !a.is_number || a.bytes == b.bytes || a.is("1") && b.is(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(reference: &str, text: &str, threads: usize) -> (String, usize) {
        let (text, n_lines) = as_without(&[reference.as_bytes()], text.as_bytes(), threads);
        (String::from_utf8(text.into_owned()).expect("text"), n_lines)
    }

    #[test]
    fn numbers_of_threads_are_those_of_one() {
        let one = " Size = 1\n Threads =    1\n sum 3.5\n";
        assert_eq!(rewritten(one, " Size = 1\n Threads =    2\n sum 3.5\n", 2), (one.to_owned(), 1));
        // Neither another number, nor one in a line about something else.
        for other in [" Size = 2\n Threads =    1\n sum 3.5\n", " Size = 1\n Threads =    3\n sum 3.5\n"] {
            assert_eq!(rewritten(one, other, 2), (other.to_owned(), 0));
        }
        let error = "error over threads: 0.5 (1 bad)\n";
        for other in ["error over threads: 0.7 (2 bad)\n", "error over threads: 0.7 (1 bad)\n"] {
            assert_eq!(rewritten(error, other, 2), (other.to_owned(), 0));
        }
    }

    #[test]
    fn lines_about_threads_that_only_openmp_has_are_left_out() {
        let text = "Running OpenMP version using 2 threads\nsum 3.5\nOpenMP 2 max threads\n";
        assert_eq!(rewritten("sum 3.5\n", text, 2), ("sum 3.5\n".to_owned(), 2));
        for other in ["sum 3.5\nsum 3.5\n", "sum 3.5\nthread 1 adds 4\n", "sum 3.5\n2 threads do not agree\n"]
        {
            assert_eq!(rewritten("sum 3.5\n", other, 2), (other.to_owned(), 0));
        }
    }
}
