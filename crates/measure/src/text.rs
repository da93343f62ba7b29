//! Comparing what programs print: numbers by tolerance, everything else byte for byte.

use std::borrow::Cow;
use std::str::FromStr;

use regex::bytes::Regex;

use crate::swings::SAFETY;
use crate::thread_lines;
use crate::tokens::{Token, shape, squeezed, tokens, value};

/// A regular expression for what is not compared in lines of text.
///
/// ```
/// let pattern: oxeye_measure::Pattern = "took .* s".parse()?;
/// assert_eq!(pattern.to_string(), "took .* s");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Regex::new(text) {
            Ok(pattern) => Ok(Self(pattern)),
            // The last line says what is wrong, those before it where.
            Err(error) => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                Err(last.trim().trim_start_matches("error: ").to_owned())
            }
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// How texts are compared.
#[derive(Clone, Debug, Default)]
pub struct TextRules<'a> {
    /// How far numbers may be apart, relative to the larger one; `None` asks for equal bytes.
    pub relative_tolerance: Option<f64>,
    /// What matches one of these in a line is not compared.
    pub ignore: &'a [Pattern],
    /// What other builds of the same program print. A number outside the tolerance may be as far off as [`SAFETY`] times the
    /// farthest of these; an integer no farther than these.
    pub witnesses: &'a [&'a [u8]],
    /// Threads of the program that printed the text. Lines about them may be more than in the references, and say this number where
    /// these say `1`, as those of a program that is built with OpenMP do.
    pub threads: Option<usize>,
}

/// How two texts with numbers in them differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextComparison {
    /// What differs, in words; `None` when nothing does.
    pub difference: Option<String>,
    /// Whether what differs is a number.
    pub is_number: bool,
    /// Largest relative difference of two numbers, but for those that differ in their last printed place only.
    pub max_rel_error: f64,
    /// Numbers that differ by more than the tolerance, but by no more than one unit of their last printed place.
    pub last_place_numbers: usize,
    /// Numbers that vary among the references and are not compared.
    pub unstable_numbers: usize,
    /// Words that vary likewise, and lines whose form does.
    pub unstable_words: usize,
    /// Whether lines were compared in any order, since it varies.
    pub in_any_order: bool,
    /// Numbers outside the tolerance that are as near as those of the witnesses.
    pub widened_numbers: usize,
    /// Parts of the first reference that are not compared because they match a pattern.
    pub ignored_parts: usize,
    /// Lines about how many threads there are, which are others without OpenMP.
    pub thread_lines: usize,
}

/// Compares a text with reference runs. Numbers and words that vary among these are not compared, nor lines that have varying
/// numbers of them; if only the order of the lines varies, it is not compared. Neither are other numbers with the same unit
/// behind them that are smaller, before and after, than what those vary by: short times, which may stand still for a while. With a
/// tolerance, numbers may differ by that fraction, or by one unit of their last printed place when they are
/// printed with four or more places; the amount of blank space around them is free. Everything else is equal byte for
/// byte.
pub fn compare_text(references: &[&[u8]], text: &[u8], rules: &TextRules<'_>) -> TextComparison {
    let relative_tolerance = rules.relative_tolerance;
    let mut result = TextComparison::default();
    let Some((first, others)) = references.split_first() else { return result };
    let (text, n_lines) = match rules.threads {
        Some(threads) => thread_lines::as_without(references, text, threads),
        None => (Cow::Borrowed(text), 0),
    };
    result.thread_lines = n_lines;
    let (first, n_masked) = masked(first, rules.ignore);
    result.ignored_parts = n_masked;
    let mut texts: Vec<Cow<'_, [u8]>> = vec![masked(&text, rules.ignore).0, first];
    // Runs that printed the same tell nothing new.
    for other in others.iter().map(|text| masked(text, rules.ignore).0) {
        if !texts[1..].contains(&other) {
            texts.push(other);
        }
    }
    if texts.len() == 2 && texts[0] == texts[1] {
        return result;
    }
    let n_texts = texts.len();
    texts.extend(rules.witnesses.iter().map(|text| masked(text, rules.ignore).0));
    let kept = leave_out_equal_lines(&mut texts);
    let witness_texts = texts.split_off(n_texts);
    (result.in_any_order, result.unstable_words) = align(&mut texts);
    let in_any_order = result.in_any_order;
    // Of lines that were put in order nobody knows where they stood.
    let at = |line: usize| match kept.as_ref().map_or(Some(line), |kept| kept.get(line - 1).copied()) {
        Some(line) if !in_any_order => format!("line {line}: "),
        _ => String::new(),
    };
    let mut texts = texts.iter().map(|text| tokens(text));
    let (actual, expected) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    let others_tokens: Vec<Vec<Token<'_>>> = texts.collect();
    let Some(stable) = stable(&expected, &others_tokens, relative_tolerance) else {
        result.difference = Some("the output of the program before varies from run to run".to_owned());
        return result;
    };
    let noise = noise(&expected, &stable, &others_tokens);
    let unstable = || expected.iter().zip(&stable).filter(|(_, stable)| !**stable);
    result.unstable_numbers = unstable().filter(|(token, _)| token.is_number).count();
    result.unstable_words += unstable().count() - result.unstable_numbers;
    let mut witnesses: Option<Witnesses> = None;
    let mut line = 1;
    for (i, a) in expected.iter().enumerate() {
        let Some(b) = actual.get(i) else {
            // The blanks before a word may end lines.
            let words = a.bytes.trim_ascii_start();
            let blanks = if words.is_empty() { 0 } else { a.bytes.len() - words.len() };
            let line = line + n_line_ends(&a.bytes[..blanks]);
            result.difference =
                Some(format!("{}the output ends early, before `{}`", at(line), shown(a.bytes)));
            return result;
        };
        let equal = a.bytes == b.bytes
            || match (a.is_number && b.is_number, relative_tolerance) {
                _ if !stable[i] => true,
                (true, _)
                    if noise
                        .get(i)
                        .copied()
                        .flatten()
                        .is_some_and(|most| is_within(a, most) && is_within(b, most)) =>
                {
                    result.unstable_numbers += 1;
                    true
                }
                (true, Some(tolerance)) => {
                    let close = result.takes_as_close(compare_numbers(a.bytes, b.bytes, tolerance));
                    let widened = !close
                        && witnesses
                            .get_or_insert_with(|| Witnesses::of(&expected, &stable, &witness_texts))
                            .allow(i, value(a), b);
                    result.widened_numbers += usize::from(widened);
                    close || widened
                }
                (false, Some(_)) => are_same_words(a.bytes, b.bytes),
                (_, None) => false,
            };
        if !equal {
            result.is_number = a.is_number && b.is_number;
            let same = a.bytes.iter().zip(b.bytes).take_while(|(a, b)| a == b).count();
            let line = line + n_line_ends(&a.bytes[..same]);
            result.difference =
                Some(format!("{}`{}` instead of `{}`", at(line), shown(b.bytes), shown(a.bytes)));
            return result;
        }
        line += n_line_ends(a.bytes);
    }
    if let Some(more) = actual.get(expected.len()) {
        result.difference = Some(format!("{}more output than before, `{}`", at(line), shown(more.bytes)));
    }
    result
}

/// Which of these numbers and words are the same in other runs; `None` if these have more or fewer of them.
fn stable(
    expected: &[Token<'_>],
    others: &[Vec<Token<'_>>],
    relative_tolerance: Option<f64>,
) -> Option<Vec<bool>> {
    let mut stable = vec![true; expected.len()];
    for other in others {
        if other.len() != expected.len() {
            return None;
        }
        for (i, (a, b)) in expected.iter().zip(other).enumerate() {
            let equal =
                |tolerance| !matches!(compare_numbers(a.bytes, b.bytes, tolerance), Nearness::Apart(_));
            stable[i] &= match a.is_number && b.is_number {
                _ if a.bytes == b.bytes => true,
                true => relative_tolerance.is_some_and(equal),
                false => are_same_words(a.bytes, b.bytes),
            };
        }
    }
    Some(stable)
}

fn n_line_ends(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Leaves out the lines that are the same in all texts, and gives the numbers of those that stay, from 1; `None`, and all of them
/// stay, if the texts do not have equally many.
fn leave_out_equal_lines(texts: &mut [Cow<'_, [u8]>]) -> Option<Vec<usize>> {
    let (first, others) = texts.split_first()?;
    let n = n_line_ends(first);
    if others.iter().any(|other| n_line_ends(other) != n) {
        return None;
    }
    let mut kept = Vec::new();
    let mut changed: Vec<Vec<u8>> = vec![Vec::new(); texts.len()];
    let mut lines: Vec<_> = texts.iter().map(|text| text.split_inclusive(|byte| *byte == b'\n')).collect();
    // One more than there are line ends: the last line may have none.
    for number in 1..=n + 1 {
        let present: Vec<&[u8]> = lines.iter_mut().map(|lines| lines.next().unwrap_or_default()).collect();
        if present.iter().any(|line| *line != present[0]) {
            kept.push(number);
            changed.iter_mut().zip(present).for_each(|(text, line)| text.extend_from_slice(line));
        }
    }
    texts.iter_mut().zip(changed).for_each(|(text, changed)| *text = Cow::Owned(changed));
    Some(kept)
}

/// Lays texts side by side, of which the first is compared with the others: lines in an order that does not depend on the
/// run, if it does among the others and that helps, and lines masked whose form varies among them. Says whether lines were
/// put in order, and how many were masked.
fn align(texts: &mut [Cow<'_, [u8]>]) -> (bool, usize) {
    let has_one_form = |texts: &[Cow<'_, [u8]>]| {
        let mut forms = texts.iter().skip(1).map(|text| shape(text));
        let first = forms.next();
        forms.all(|form| Some(form) == first)
    };
    if texts.len() < 3 || has_one_form(texts) {
        return (false, 0);
    }
    let n_lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
    let n = n_lines(&texts[1]);
    if texts.iter().skip(2).any(|text| n_lines(text) != n) {
        return (false, 0);
    }
    let in_order: Vec<Cow<'_, [u8]>> = texts.iter().map(|text| Cow::Owned(sorted(text))).collect();
    if has_one_form(&in_order) {
        texts.iter_mut().zip(in_order).for_each(|(text, sorted)| *text = sorted);
        return (true, 0);
    }
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let mut split: Vec<Vec<Vec<u8>>> = texts.iter().map(|text| lines(text)).collect();
    let mut n_masked = 0;
    for line in 0..n {
        let n_tokens = |lines: &Vec<Vec<u8>>| tokens(&lines[line]).len();
        if split.iter().skip(2).any(|lines| n_tokens(lines) != n_tokens(&split[1])) {
            n_masked += 1;
            let masked = split.iter_mut().filter_map(|lines| lines.get_mut(line));
            masked.for_each(|text| *text = [MASK, b"\n"].concat());
        }
    }
    texts.iter_mut().zip(split).for_each(|(text, lines)| *text = Cow::Owned(lines.concat()));
    (false, n_masked)
}

/// The lines of a text by what they are besides numbers, then by these.
fn sorted(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<(Vec<u8>, &[u8])> =
        text.split_inclusive(|byte| *byte == b'\n').map(|line| (shape(line), line)).collect();
    lines.sort();
    lines.into_iter().flat_map(|(_, line)| line.iter().copied()).collect()
}

/// What stands for a part that is not compared: no number, and nothing that a program would print.
const MASK: &[u8] = b"\x1a";

/// A text without what matches a pattern, and how many parts that were. The blanks before such a part go with it, as they
/// depend on its width.
fn masked<'t>(text: &'t [u8], ignore: &[Pattern]) -> (Cow<'t, [u8]>, usize) {
    if ignore.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut result = Vec::with_capacity(text.len());
    let mut n_parts = 0;
    for whole in text.split_inclusive(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let mut parts: Vec<(usize, usize)> = ignore
            .iter()
            .flat_map(|pattern| pattern.0.find_iter(line))
            .filter(|found| !found.is_empty())
            .map(|found| (found.start(), found.end()))
            .collect();
        parts.sort_unstable();
        let mut at = 0;
        for (start, end) in parts {
            if start >= at {
                let kept = &line[at..start];
                result.extend_from_slice(kept.trim_ascii_end());
                result.extend_from_slice(MASK);
                n_parts += 1;
            }
            at = at.max(end);
        }
        result.extend_from_slice(&whole[at..]);
    }
    (Cow::Owned(result), n_parts)
}

/// The numbers that other builds of the program print, token by token.
struct Witnesses {
    values: Vec<Vec<f64>>,
}

impl Witnesses {
    /// Of those that print the same but for numbers and what varies anyway.
    fn of(expected: &[Token<'_>], stable: &[bool], texts: &[Cow<'_, [u8]>]) -> Witnesses {
        let alike = |text: &Cow<'_, [u8]>| {
            let found = tokens(text);
            let is_alike = |i: usize| match (expected[i], found[i]) {
                _ if !stable[i] => true,
                (a, b) if a.is_number || b.is_number => a.is_number && b.is_number,
                (a, b) => are_same_words(a.bytes, b.bytes),
            };
            let fits = found.len() == expected.len() && (0..found.len()).all(is_alike);
            fits.then(|| found.iter().map(value).collect())
        };
        Witnesses { values: texts.iter().filter_map(alike).collect() }
    }

    /// Whether a number may stand in the place of `expected`, going by how far the witnesses are from that.
    fn allow(&self, i: usize, expected: f64, actual: &Token<'_>) -> bool {
        let deviations = || self.values.iter().map(|values| values[i] - expected).filter(|d| d.is_finite());
        let deviation = value(actual) - expected;
        if !actual.bytes.iter().any(|c| matches!(c, b'.' | b'e' | b'E')) {
            let (low, high) = deviations().fold((0.0_f64, 0.0_f64), |(l, h), d| (l.min(d), h.max(d)));
            return (low..=high).contains(&deviation);
        }
        deviation.abs() <= SAFETY * deviations().map(f64::abs).fold(0.0, f64::max)
    }
}

/// By how much numbers of the same unit vary among the runs, for every number that itself does not; empty if none does.
fn noise(expected: &[Token<'_>], stable: &[bool], others: &[Vec<Token<'_>>]) -> Vec<Option<f64>> {
    let mut spreads: Vec<(&[u8], f64)> = Vec::new();
    for i in (0..expected.len()).filter(|i| !stable[*i] && expected[*i].is_number) {
        let Some(unit) = unit(expected, i) else { continue };
        let values = || std::iter::once(&expected[i]).chain(others.iter().map(|other| &other[i])).map(value);
        let spread = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
        match spreads.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, known)) => *known = known.max(spread),
            None => spreads.push((unit, spread)),
        }
    }
    if spreads.is_empty() {
        return Vec::new();
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

/// The word behind a number, if that is a unit of time, or a share of it.
fn unit<'a>(tokens: &[Token<'a>], number: usize) -> Option<&'a [u8]> {
    const UNITS: [&str; 10] = ["s", "sec", "secs", "seconds", "ms", "msec", "us", "usec", "ns", "%"];
    let text = tokens.get(number + 1).filter(|token| !token.is_number)?.bytes;
    let text = &text[text.iter().take_while(|c| matches!(c, b' ' | b'(' | b'[')).count()..];
    let length = text.iter().take_while(|c| c.is_ascii_alphabetic() || **c == b'%').count();
    let word = &text[..length];
    UNITS.iter().any(|unit| unit.as_bytes() == word).then_some(word)
}

/// How near two printed numbers are.
enum Nearness {
    /// With this relative difference, which is acceptable.
    Near(f64),
    /// Sums that differ in their last bit may be printed on either side of a rounding boundary.
    LastPlace,
    /// With this relative difference, which is not.
    Apart(f64),
}

impl TextComparison {
    /// Takes in how near two numbers are; returns whether that is acceptable.
    fn takes_as_close(&mut self, nearness: Nearness) -> bool {
        match nearness {
            Nearness::Near(error) | Nearness::Apart(error) => {
                self.max_rel_error = self.max_rel_error.max(error);
            }
            Nearness::LastPlace => self.last_place_numbers += 1,
        }
        !matches!(nearness, Nearness::Apart(_))
    }
}

/// How near two printed numbers are, with this relative tolerance.
fn compare_numbers(a: &[u8], b: &[u8], tolerance: f64) -> Nearness {
    let parse = |bytes| value(&Token { bytes, is_number: true });
    let is_grouped = |bytes: &[u8]| bytes.contains(&b',');
    if is_grouped(a) || is_grouped(b) {
        return if a.trim_ascii() == b.trim_ascii() { Nearness::Near(0.0) } else { Nearness::Apart(0.0) };
    }
    let (x, y) = (parse(a), parse(b));
    if x == y || (x.is_nan() && y.is_nan()) {
        return Nearness::Near(0.0);
    }
    let error = (x - y).abs() / x.abs().max(y.abs());
    if !error.is_finite() {
        return Nearness::Apart(0.0);
    }
    let (unit_a, unit_b) = (last_place(a), last_place(b));
    let rounding = unit_a == unit_b && unit_a.is_some_and(|unit| (x - y).abs() <= 1.01 * unit);
    match error <= tolerance {
        true => Nearness::Near(error),
        false if rounding => Nearness::LastPlace,
        false => Nearness::Apart(error),
    }
}

/// The value of one unit of the last printed place; `None` with fewer than four places after the point.
fn last_place(number: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(number).ok()?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let places = mantissa.split_once('.')?.1.len();
    let exponent: i32 = exponent.parse().ok()?;
    (places >= 4).then(|| 10f64.powi(exponent.saturating_sub(places as i32)))
}

/// Whether texts are the same but for how wide blanks are.
fn are_same_words(a: &[u8], b: &[u8]) -> bool {
    a == b || squeezed(a).eq(squeezed(b))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).escape_debug().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(references: &[&[u8]], text: &[u8], relative_tolerance: Option<f64>) -> TextComparison {
        compare_text(references, text, &TextRules { relative_tolerance, ..TextRules::default() })
    }

    fn differ(a: &str, b: &str, tolerance: Option<f64>) -> Option<String> {
        compare(&[a.as_bytes()], b.as_bytes(), tolerance).difference
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
    fn numbers_that_differ_in_their_last_place_have_no_relative_difference() {
        let found = compare(&[b"a 0.0003 b 1.00000000"], b"a 0.0004 b 1.00000001", Some(1e-6));
        assert_eq!((found.difference, found.last_place_numbers), (None, 1));
        assert!(found.max_rel_error > 0.0 && found.max_rel_error < 2e-8, "{}", found.max_rel_error);
    }

    #[test]
    fn everything_else_is_equal_bytes() {
        assert!(differ("x86", "x87", Some(0.5)).is_some());
        assert!(differ("abc 1", "abd 1", Some(0.5)).is_some());
        assert!(differ("1\n2\n", "1\n", Some(0.5)).is_some());
        assert!(differ("1\n", "1\n2\n", Some(0.5)).is_some());
        assert!(differ("1.0", "1.00", None).is_some());
        assert_eq!(differ("1.0\n", "1.0\n", None), None);
        for (a, b) in [("1\n2\n3 three", "1\n2\n3 four"), ("1\nx\nb\n4", "1\nx\nc\n4")] {
            assert!(differ(a, b, Some(0.1)).expect("differs").starts_with("line 3: "), "{a}");
        }
        assert!(differ("1\n2\n", "1\n2", Some(0.1)).expect("differs").starts_with("line 2: "));
    }

    #[test]
    fn numbers_that_vary_by_themselves_are_not_compared() {
        let references: [&[u8]; 2] = [b"time 1.53 sum 4.0", b"time 1.61 sum 4.0"];
        let same = compare(&references, b"time 0.21 sum 4.0", None);
        assert_eq!((same.difference, same.unstable_numbers), (None, 1));
        assert!(compare(&references, b"time 0.21 sum 4.1", Some(1e-6)).difference.is_some());
        // A short time that stood still in all runs so far.
        let references: [&[u8]; 2] = [b"0.00 s: A\n1.53 s: B\nC 4.0 m\n", b"0.00 s: A\n1.61 s: B\nC 4.0 m\n"];
        let same = compare(&references, b"0.01 s: A\n0.42 s: B\nC 4.0 m\n", None);
        assert_eq!((same.difference, same.unstable_numbers), (None, 2));
        assert!(compare(&references, b"0.00 s: A\n0.42 s: B\nC 4.1 m\n", None).difference.is_some());
        // A time that is longer than what varies is a result.
        let references: [&[u8]; 2] = [b"arrives at 3.21 s\nran 1.53 s\n", b"arrives at 3.21 s\nran 1.61 s\n"];
        assert!(compare(&references, b"arrives at 3.24 s\nran 0.42 s\n", None).difference.is_some());
        let references: [&[u8]; 2] = [b"0.00 s: A\n1.53 s: B\nC 4.0 m\n", b"0.00 s: A\n1.61 s: B\nC 4.0 m\n"];
        assert!(compare(&references, b"0.30 s: A\n1.53 s: B\nC 4.0 m\n", None).difference.is_some());
        // Where no time varies, none is left out.
        assert!(compare(&references[..1], b"0.01 s: A\n1.53 s: B\nC 4.0 m\n", None).difference.is_some());
    }

    #[test]
    fn a_number_with_commas_between_thousands_is_one() {
        let references: [&[u8]; 2] = [b"512,975 lookups/s: 340,000\n", b"97,310 lookups/s: 340,000\n"];
        let same = compare(&references, b"1,034,567 lookups/s: 340,000\n", Some(1e-6));
        assert_eq!((same.difference, same.unstable_numbers), (None, 1));
        // One that does not vary is compared to its last digit: it could be a list.
        for other in ["340,001", "340,00", "3,400,000", "340,000,1"] {
            let text = format!("512,975 lookups/s: {other}\n");
            assert!(compare(&references, text.as_bytes(), Some(0.1)).difference.is_some(), "{other}");
        }
        for (a, b) in [("1,234,567.5", "1,234,567.9"), ("x 1,200,3", "x 1,200,4"), ("1,2345", "1,2346")] {
            assert!(differ(a, b, Some(1e-6)).is_some(), "{a}");
        }
        assert_eq!(differ("1.00000000,100", "1.00000010,100", Some(1e-6)), None);
        assert_eq!(differ("  1,024 MB", " 1,024 MB", Some(1e-6)), None);
    }

    #[test]
    fn words_and_lines_that_vary_by_themselves_are_not_compared() {
        let references: [&[u8]; 2] =
            [b"Mon Nov 23 at 0x7f3a: sum 4.0 ok\n", b"Tue Nov 24 at 0x7f1e5: sum 4.0 ok\n"];
        let same = compare(&references, b"Wed Nov 25 at 0x7b: sum 4.0 ok\n", Some(1e-6));
        assert_eq!((same.difference, same.unstable_numbers, same.unstable_words), (None, 1, 2));
        for other in ["Wed Dec 25 at 0x7b: sum 4.0 ok\n", "Wed Nov 25 at 0x7b: sum 4.1 ok\n"] {
            assert!(compare(&references, other.as_bytes(), Some(1e-6)).difference.is_some(), "{other}");
        }
        // Threads print when they are done.
        let references: [&[u8]; 2] = [b"one 1.5\ntwo 2.5\nall 4\n", b"two 2.5\none 1.5\nall 4\n"];
        let same = compare(&references, b"two 2.5\nall 4\none 1.5\n", None);
        assert_eq!((same.difference, same.in_any_order), (None, true));
        assert!(compare(&references, b"two 1.5\nall 4\none 2.5\n", None).difference.is_some());
        // Some lines have another form each time.
        let references: [&[u8]; 2] = [b"x 1 2 3\nsum 4\n", b"x 1 2\nsum 4\n"];
        let same = compare(&references, b"x\nsum 4\n", None);
        assert_eq!((same.difference, same.unstable_words), (None, 1));
        assert!(compare(&references, b"x\nsum 5\n", None).difference.is_some());
        assert!(compare(&references, b"x\nx\nsum 4\n", None).difference.is_some());
    }

    #[test]
    fn what_matches_a_pattern_is_not_compared() {
        let ignore = ["took .*s", "0x[0-9a-f]+"].map(|text| text.parse().expect("a pattern"));
        let rules = TextRules { ignore: &ignore, ..TextRules::default() };
        let compare = |a: &str, b: &str| compare_text(&[a.as_bytes()], b.as_bytes(), &rules);
        let same = compare("at 0x7f10: 3\ntook   9.5 s\nsum 4\n", "at 0x7e20: 3\ntook 10.5 s\nsum 4\n");
        assert_eq!((same.difference, same.ignored_parts), (None, 2));
        // What stands around it is compared, and so is where it stands.
        assert!(compare("at 0x7f10: 3\n", "at 0x7f10: 4\n").difference.is_some());
        assert!(compare("took 1 s\nsum 4\n", "sum 4\ntook 1 s\n").difference.is_some());
        assert!(compare("took 1 s\nsum 4\n", "sum 4\n").difference.is_some());
        assert_eq!("a(".parse::<Pattern>().expect_err("no pattern"), "unclosed group");
        // Nothing matches over the end of a line.
        assert!(compare("took\n1 s\n", "took\n2 s\n").difference.is_some());
    }

    #[test]
    fn a_number_may_move_as_far_as_it_moves_in_other_builds() {
        let compare = |witnesses: &[&[u8]], text: &str| {
            let rules = TextRules { relative_tolerance: Some(1e-6), witnesses, ..TextRules::default() };
            compare_text(&[b"n 50 sum -8.94768e+05 mean 2.00000\n"], text.as_bytes(), &rules)
        };
        let moved = "n 50 sum -8.94759e+05 mean 2.00000\n";
        let alone = compare(&[], moved);
        assert!(alone.difference.is_some() && alone.is_number);
        let witnesses: [&[u8]; 2] =
            [b"n 50 sum -8.94766e+05 mean 2.00000\n", b"n 52 sum -8.94768e+05 mean 2.00000\n"];
        let widened = compare(&witnesses, moved);
        assert_eq!((widened.difference, widened.widened_numbers), (None, 1));
        // Every number by its own: neither farther off, nor another one.
        assert!(compare(&witnesses, "n 50 sum -8.94700e+05 mean 2.00000\n").difference.is_some());
        assert!(compare(&witnesses, "n 50 sum -8.94768e+05 mean 2.00100\n").difference.is_some());
        // Integers are counts: no farther than they were seen.
        assert_eq!(compare(&witnesses, "n 51 sum -8.94768e+05 mean 2.00000\n").difference, None);
        assert!(compare(&witnesses, "n 53 sum -8.94768e+05 mean 2.00000\n").difference.is_some());
        assert!(compare(&witnesses, "n 49 sum -8.94768e+05 mean 2.00000\n").difference.is_some());
        // Builds that print something else say nothing.
        assert!(compare(&[b"n 50 total -8.94766e+05 mean 2.00000\n"], moved).difference.is_some());
    }
}
