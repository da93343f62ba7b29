//! Texts that programs print as numbers and words.

/// A part of a text: a number, or words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_number: bool,
}

impl Token<'_> {
    /// Whether it is this number, written so.
    pub(crate) fn is(&self, number: &str) -> bool {
        self.is_number && self.bytes.trim_ascii() == number.as_bytes()
    }
}

/// Splits a text into numbers, with the blanks before them, and words, with the blanks around them. Digits inside a word, as
/// in `x86`, are no number; `1,034,567` is one.
pub(crate) fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut result = Vec::new();
    let (mut at, mut text_start) = (0, 0);
    while at < text.len() {
        let before = at.checked_sub(1).map(|i| text[i]);
        let in_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'.');
        let mut length = if in_word { 0 } else { number_length(&text[at..]) };
        if length > 0 && before != Some(b',') {
            length = grouped_length(&text[at..]).unwrap_or(length);
        }
        if length == 0 {
            at += 1;
            continue;
        }
        let blanks = text[text_start..at].iter().rev().take_while(|c| **c == b' ').count();
        let start = at - blanks;
        words(&text[text_start..start], &mut result);
        result.push(Token { bytes: &text[start..at + length], is_number: true });
        at += length;
        text_start = at;
    }
    words(&text[text_start..], &mut result);
    result
}

/// Splits what stands between numbers where a word begins behind a blank.
fn words<'a>(text: &'a [u8], found: &mut Vec<Token<'a>>) {
    let mut start = 0;
    let mut has_word = false;
    for at in 0..text.len() {
        let is_blank = text[at].is_ascii_whitespace();
        if !is_blank && has_word && text[at - 1].is_ascii_whitespace() {
            found.push(Token { bytes: &text[start..at], is_number: false });
            start = at;
        }
        has_word |= !is_blank;
    }
    if start < text.len() {
        found.push(Token { bytes: &text[start..], is_number: false });
    }
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

/// How many bytes at the start of `text` are a whole number with commas between thousands. A list of numbers looks the same, so that
/// two of these are close only if they are equal.
fn grouped_length(text: &[u8]) -> Option<usize> {
    const GROUP: usize = 4;
    let digits = |text: &[u8]| text.iter().take_while(|c| c.is_ascii_digit()).count();
    let first = digits(text);
    let is_group = |text: &[u8]| text.first() == Some(&b',') && digits(&text[1..]) == GROUP - 1;
    let n_groups = text[first..].chunks(GROUP).take_while(|text| is_group(text)).count();
    let length = first + n_groups * GROUP;
    let goes_on = matches!(text.get(length), Some(b',' | b'.') if digits(&text[length + 1..]) > 0);
    let is_longer = digits(&text[length..]) > 0;
    ((1..GROUP).contains(&first) && n_groups > 0 && !goes_on && !is_longer).then_some(length)
}

/// A number as it is printed; NaN for what is none.
pub(crate) fn value(token: &Token<'_>) -> f64 {
    let text = std::str::from_utf8(token.bytes).ok();
    text.and_then(|text| text.trim().replace(',', "").parse().ok()).unwrap_or(f64::NAN)
}

/// A text with one sign for each number.
pub(crate) fn shape(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    for token in tokens(text) {
        match token.is_number {
            true => result.push(b'#'),
            false => result.extend(squeezed(token.bytes)),
        }
    }
    result
}

/// A text with every run of blanks as one.
pub(crate) fn squeezed(text: &[u8]) -> impl Iterator<Item = u8> {
    let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
    let mut was_blank = false;
    text.iter().filter_map(move |byte| {
        let (before, now) = (was_blank, is_blank(*byte));
        was_blank = now;
        (!now || !before).then_some(if now { b' ' } else { *byte })
    })
}
