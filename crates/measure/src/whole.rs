//! The whole program before and after.

use serde::Serialize;

use crate::error::MeasureError;
use crate::process::{Exit, Invocation, Limits, RunOutcome, run_program};
use crate::statistics::{RatioInterval, Stat, ratio_interval};

/// How whole programs are run and compared.
#[derive(Clone, Debug)]
pub struct WholeOptions {
    /// Limits of each run.
    pub limits: Limits,
    /// `OMP_NUM_THREADS`, if it is to be set.
    pub threads: Option<usize>,
    /// How far numbers in the output may be apart, relative to the larger one; `None` asks for equal bytes.
    pub relative_tolerance: Option<f64>,
    /// Standard outputs of earlier runs of the program before, from which numbers that vary from run to run are known
    /// even when `before` is run only once.
    pub earlier_outputs: Vec<Vec<u8>>,
}

impl Default for WholeOptions {
    fn default() -> WholeOptions {
        WholeOptions {
            limits: Limits::default(),
            threads: None,
            relative_tolerance: Some(1e-6),
            earlier_outputs: Vec::new(),
        }
    }
}

/// A program before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WholeComparison {
    /// Wall-clock nanoseconds of the runs before.
    pub before_ns: Stat,
    /// Wall-clock nanoseconds of the runs after.
    pub after_ns: Stat,
    /// Speedup: time before over time after.
    pub speedup: RatioInterval,
    /// How the first run before ended.
    pub before_exit: Exit,
    /// Whether a run before was stopped at the time limit.
    pub before_timed_out: bool,
    /// How the first run after that ended differently from it did, else the same.
    pub after_exit: Exit,
    /// Whether all runs ended alike and by themselves, with equal standard output.
    pub equal: bool,
    /// The difference in words.
    pub difference: Option<String>,
    /// Largest relative difference of two numbers in the outputs.
    pub max_rel_error: f64,
    /// Numbers that already differ between runs of the program before, such as times it prints; they are not compared.
    pub unstable_numbers: usize,
}

/// Runs two programs `n` times each (at least once), in turns, and compares times, exit codes and standard output.
///
/// With `n` of 2 or more, or with earlier outputs, numbers that vary between runs of `before` by more than the
/// tolerance are found and not compared.
///
/// # Errors
/// When one of them cannot be started.
pub fn run_whole(
    before: &Invocation,
    after: &Invocation,
    n: usize,
    options: &WholeOptions,
) -> Result<WholeComparison, MeasureError> {
    let run = |program: &Invocation| -> Result<RunOutcome, MeasureError> {
        let mut invocation = program.clone();
        if let Some(threads) = options.threads {
            invocation = invocation.env("OMP_NUM_THREADS", threads.to_string());
        }
        run_program(&invocation, &options.limits)
    };
    let (mut befores, mut afters) = (Vec::new(), Vec::new());
    for round in 0..n.max(1) {
        // Taking turns at going first cancels a drift of the machine's speed.
        if round % 2 == 0 {
            befores.push(run(before)?);
            afters.push(run(after)?);
        } else {
            afters.push(run(after)?);
            befores.push(run(before)?);
        }
        let stopped = |runs: &[RunOutcome]| runs.last().is_some_and(|run| run.exit == Exit::TimedOut);
        if stopped(&befores) || stopped(&afters) {
            break;
        }
    }
    let ratios: Vec<f64> = befores
        .iter()
        .zip(&afters)
        .map(|(b, a)| b.elapsed_ns.max(1) as f64 / a.elapsed_ns.max(1) as f64)
        .collect();
    let speedup = ratio_interval(&ratios).unwrap_or(RatioInterval {
        median: 1.0,
        low: 1.0,
        high: 1.0,
        n: 0,
        confidence: 0.0,
    });
    let before_exit = befores[0].exit;
    let odd = befores.iter().chain(&afters).find(|run| run.exit != before_exit);
    let after_exit =
        afters.iter().map(|run| run.exit).find(|exit| *exit != before_exit).unwrap_or(before_exit);
    let earlier = options.earlier_outputs.iter().map(|output| &output[..]);
    let references: Vec<&[u8]> = befores.iter().map(|run| &run.stdout[..]).chain(earlier).collect();
    let mut result = WholeComparison {
        before_ns: Stat::of(befores.iter().map(|run| run.elapsed_ns as f64)),
        after_ns: Stat::of(afters.iter().map(|run| run.elapsed_ns as f64)),
        speedup,
        before_exit,
        before_timed_out: befores.iter().any(|run| run.exit == Exit::TimedOut),
        after_exit,
        equal: true,
        difference: None,
        max_rel_error: 0.0,
        unstable_numbers: 0,
    };
    if !matches!(before_exit, Exit::Exited(_)) {
        result.difference = Some(format!("the program before did not end by itself: {before_exit}"));
    } else if let Some(odd) = odd {
        result.difference = Some(format!("one run ended with {}, another with {before_exit}", odd.exit));
    } else {
        for after in &afters {
            let text = compare_text(&references, &after.stdout, options.relative_tolerance);
            result.max_rel_error = result.max_rel_error.max(text.max_rel_error);
            result.unstable_numbers = text.unstable_numbers;
            result.difference = result.difference.or(text.difference);
        }
    }
    result.equal = result.difference.is_none();
    Ok(result)
}

/// How two texts with numbers in them differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextComparison {
    /// What differs, in words; `None` when nothing does.
    pub difference: Option<String>,
    /// Largest relative difference of two numbers.
    pub max_rel_error: f64,
    /// Numbers that vary among the references and are not compared.
    pub unstable_numbers: usize,
}

/// Compares a text with reference runs. Numbers that vary among these are not compared. Neither are others with the same
/// unit behind them that are smaller, before and after, than what those vary by: short times, which may stand still for a
/// while. With a tolerance, numbers may differ by that fraction, or by one unit of their last printed place when they are
/// printed with four or more places; the amount of blank space around them is free. Everything else is equal byte for
/// byte.
pub fn compare_text(references: &[&[u8]], text: &[u8], relative_tolerance: Option<f64>) -> TextComparison {
    let mut result = TextComparison::default();
    let Some((first, others)) = references.split_first() else { return result };
    let expected = tokens(first);
    let mut stable = vec![true; expected.len()];
    let others_tokens: Vec<Vec<Token<'_>>> = others.iter().map(|other| tokens(other)).collect();
    for other in &others_tokens {
        if other.len() != expected.len() {
            result.difference = Some("the output of the program before varies from run to run".to_owned());
            return result;
        }
        for (i, (a, b)) in expected.iter().zip(other).enumerate() {
            let equal = |tolerance| compare_numbers(a.bytes, b.bytes, tolerance).1;
            stable[i] &=
                a.bytes == b.bytes || !(a.is_number && b.is_number) || relative_tolerance.is_some_and(equal);
        }
    }
    let noise = noise(&expected, &stable, &others_tokens);
    result.unstable_numbers = stable.iter().filter(|stable| !**stable).count();
    let actual = tokens(text);
    let mut line = 1;
    for (i, a) in expected.iter().enumerate() {
        let Some(b) = actual.get(i) else {
            result.difference =
                Some(format!("line {line}: the output ends early, before `{}`", shown(a.bytes)));
            return result;
        };
        let equal = a.bytes == b.bytes
            || match (a.is_number && b.is_number, relative_tolerance) {
                (true, _) if !stable[i] => true,
                (true, _) if noise[i].is_some_and(|most| is_within(a, most) && is_within(b, most)) => {
                    result.unstable_numbers += 1;
                    true
                }
                (true, Some(tolerance)) => {
                    let (error, close) = compare_numbers(a.bytes, b.bytes, tolerance);
                    result.max_rel_error = result.max_rel_error.max(error);
                    close
                }
                (false, Some(_)) => squeezed(a.bytes) == squeezed(b.bytes),
                (_, None) => false,
            };
        if !equal {
            result.difference =
                Some(format!("line {line}: `{}` instead of `{}`", shown(b.bytes), shown(a.bytes)));
            return result;
        }
        line += a.bytes.iter().filter(|byte| **byte == b'\n').count();
    }
    if let Some(more) = actual.get(expected.len()) {
        result.difference = Some(format!("line {line}: more output than before, `{}`", shown(more.bytes)));
    }
    result
}

/// By how much numbers of the same unit vary among the runs, for every number that itself does not.
fn noise(expected: &[Token<'_>], stable: &[bool], others: &[Vec<Token<'_>>]) -> Vec<Option<f64>> {
    let mut spreads: Vec<(&[u8], f64)> = Vec::new();
    for i in (0..expected.len()).filter(|i| !stable[*i]) {
        let Some(unit) = unit(expected, i) else { continue };
        let values = || std::iter::once(&expected[i]).chain(others.iter().map(|other| &other[i])).map(value);
        let spread = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
        match spreads.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, known)) => *known = known.max(spread),
            None => spreads.push((unit, spread)),
        }
    }
    let of = |i: usize| {
        let unit = unit(expected, i).filter(|_| stable[i] && expected[i].is_number)?;
        spreads.iter().find(|(known, _)| *known == unit).map(|(_, spread)| *spread)
    };
    (0..expected.len()).map(of).collect()
}

fn is_within(number: &Token<'_>, most: f64) -> bool {
    value(number).abs() <= most
}

/// A number as it is printed; NaN for what is none.
fn value(token: &Token<'_>) -> f64 {
    let text = std::str::from_utf8(token.bytes).ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(f64::NAN)
}

/// The word behind a number, if that is a unit of time, or a share of it.
fn unit<'a>(tokens: &[Token<'a>], number: usize) -> Option<&'a [u8]> {
    const UNITS: [&str; 10] = ["s", "sec", "secs", "seconds", "ms", "msec", "us", "usec", "ns", "%"];
    let text = tokens.get(number + 1).filter(|token| !token.is_number)?.bytes;
    let text = &text[text.iter().take_while(|c| matches!(c, b' ' | b'(' | b'[')).count()..];
    let length = text.iter().take_while(|c| c.is_ascii_alphabetic() || **c == b'%').count();
    let word = &text[..length];
    UNITS.iter().any(|unit| unit.as_bytes() == word).then_some(word)
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Token<'a> {
    bytes: &'a [u8],
    is_number: bool,
}

/// Splits a text into numbers, with the blanks before them, and the text between them. Digits inside a word, as in
/// `x86`, are no number.
fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut result = Vec::new();
    let (mut at, mut text_start) = (0, 0);
    while at < text.len() {
        let before = at.checked_sub(1).map(|i| text[i]);
        let in_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'.');
        let length = if in_word { 0 } else { number_length(&text[at..]) };
        if length == 0 {
            at += 1;
            continue;
        }
        let blanks = text[text_start..at].iter().rev().take_while(|c| **c == b' ').count();
        let start = at - blanks;
        if text_start < start {
            result.push(Token { bytes: &text[text_start..start], is_number: false });
        }
        result.push(Token { bytes: &text[start..at + length], is_number: true });
        at += length;
        text_start = at;
    }
    if text_start < text.len() {
        result.push(Token { bytes: &text[text_start..], is_number: false });
    }
    result
}

/// How many bytes at the start of `text` are a decimal number, `nan` or `inf`.
fn number_length(text: &[u8]) -> usize {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let rest = &text[sign..];
    for word in [&b"nan"[..], b"inf"] {
        let ends = |at: usize| rest.get(at).is_none_or(|c| !c.is_ascii_alphanumeric());
        if rest.len() >= 3 && rest[..3].eq_ignore_ascii_case(word) && ends(3) {
            return sign + 3;
        }
    }
    let digits = |from: usize| rest[from.min(rest.len())..].iter().take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if rest.get(whole) == Some(&b'.') {
        let fraction = digits(whole + 1);
        if whole + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if length == 0 {
        return 0;
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    sign + length
}

/// The relative difference of two printed numbers, and whether it is acceptable.
fn compare_numbers(a: &[u8], b: &[u8], tolerance: f64) -> (f64, bool) {
    let parse = |bytes| value(&Token { bytes, is_number: true });
    let (x, y) = (parse(a), parse(b));
    if x == y || (x.is_nan() && y.is_nan()) {
        return (0.0, true);
    }
    let error = (x - y).abs() / x.abs().max(y.abs());
    if !error.is_finite() {
        return (0.0, false);
    }
    // Two sums that differ in their last bit may be printed on either side of a rounding boundary.
    let (unit_a, unit_b) = (last_place(a), last_place(b));
    let rounding = unit_a == unit_b && unit_a.is_some_and(|unit| (x - y).abs() <= 1.01 * unit);
    (error, error <= tolerance || rounding)
}

/// The value of one unit of the last printed place; `None` with fewer than four places after the point.
fn last_place(number: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(number).ok()?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let places = mantissa.split_once('.')?.1.len();
    let exponent: i32 = exponent.parse().ok()?;
    (places >= 4).then(|| 10f64.powi(exponent.saturating_sub(places as i32)))
}

/// With every run of blanks as one.
fn squeezed(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    for &byte in text {
        let blank = byte == b' ' || byte == b'\t';
        if !blank || result.last() != Some(&b' ') {
            result.push(if blank { b' ' } else { byte });
        }
    }
    result
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).escape_debug().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(a: &str, b: &str, tolerance: Option<f64>) -> Option<String> {
        compare_text(&[a.as_bytes()], b.as_bytes(), tolerance).difference
    }

    #[test]
    fn numbers_are_compared_with_tolerance() {
        let tolerance = Some(1e-6);
        assert_eq!(differ("sum=1.00000000 ok\n", "sum=1.00000010 ok\n", tolerance), None);
        assert_eq!(differ("  9.9999999\n", " 10.0000000\n", tolerance), None);
        assert_eq!(differ(" 99.99999\n", "100.00000\n", tolerance), None);
        assert_eq!(differ("-0.0000 nan", "0.0000 -nan", tolerance), None);
        assert_eq!(differ("1.2345e+05", "1.2346e+05", tolerance), None);
        assert!(differ("sum=1.001\n", "sum=1.002\n", tolerance).is_some());
        assert!(differ("count 5", "count 6", tolerance).is_some());
        assert!(differ("1.0 inf", "1.0 nan", tolerance).is_some());
        assert!(differ("1.0 inf", "1.0 -inf", tolerance).is_some());
    }

    #[test]
    fn everything_else_is_equal_bytes() {
        assert!(differ("x86", "x87", Some(0.5)).is_some());
        assert!(differ("abc 1", "abd 1", Some(0.5)).is_some());
        assert!(differ("1\n2\n", "1\n", Some(0.5)).is_some());
        assert!(differ("1\n", "1\n2\n", Some(0.5)).is_some());
        assert!(differ("1.0", "1.00", None).is_some());
        assert_eq!(differ("1.0\n", "1.0\n", None), None);
        assert!(differ("1\n2\n3 three", "1\n2\n3 four", Some(0.1)).expect("differs").starts_with("line 3"));
    }

    #[test]
    fn numbers_that_vary_by_themselves_are_not_compared() {
        let references: [&[u8]; 2] = [b"time 1.53 sum 4.0", b"time 1.61 sum 4.0"];
        let same = compare_text(&references, b"time 0.21 sum 4.0", None);
        assert_eq!((same.difference, same.unstable_numbers), (None, 1));
        assert!(compare_text(&references, b"time 0.21 sum 4.1", Some(1e-6)).difference.is_some());
        // A short time that stood still in all runs so far.
        let references: [&[u8]; 2] = [b"0.00 s: A\n1.53 s: B\nC 4.0 m\n", b"0.00 s: A\n1.61 s: B\nC 4.0 m\n"];
        let same = compare_text(&references, b"0.01 s: A\n0.42 s: B\nC 4.0 m\n", None);
        assert_eq!((same.difference, same.unstable_numbers), (None, 2));
        assert!(compare_text(&references, b"0.00 s: A\n0.42 s: B\nC 4.1 m\n", None).difference.is_some());
        // A time that is longer than what varies is a result.
        let references: [&[u8]; 2] = [b"arrives at 3.21 s\nran 1.53 s\n", b"arrives at 3.21 s\nran 1.61 s\n"];
        assert!(compare_text(&references, b"arrives at 3.24 s\nran 0.42 s\n", None).difference.is_some());
        let references: [&[u8]; 2] = [b"0.00 s: A\n1.53 s: B\nC 4.0 m\n", b"0.00 s: A\n1.61 s: B\nC 4.0 m\n"];
        assert!(compare_text(&references, b"0.30 s: A\n1.53 s: B\nC 4.0 m\n", None).difference.is_some());
        // Where no time varies, none is left out.
        assert!(
            compare_text(&references[..1], b"0.01 s: A\n1.53 s: B\nC 4.0 m\n", None).difference.is_some()
        );
    }
}
