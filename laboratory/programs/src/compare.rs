//! What two versions of a program print.

/// How the texts differ first, if they do. With a tolerance numbers may differ by that, relative to the largest of their
/// line, and check sums of bits by anything.
pub(crate) fn difference(expected: &str, actual: &str, tolerance: Option<f64>) -> Option<String> {
    let mut size = "";
    let (mut left, mut right) = (expected.lines(), actual.lines());
    loop {
        let (a, b) = match (left.next(), right.next()) {
            (None, None) => return None,
            (a, b) => (a.unwrap_or("(the end)"), b.unwrap_or("(the end)")),
        };
        if a.starts_with("sizes ") {
            size = a;
        }
        if a != b && !tolerance.is_some_and(|tolerance| is_near(a, b, tolerance)) {
            return Some(format!("{size}: `{b}` in place of `{a}`"));
        }
    }
}

fn is_near(a: &str, b: &str, tolerance: f64) -> bool {
    let words = |line: &str| -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        // Name, count, sum, sum of magnitudes, hash.
        if words.len() == 5 { words[..4].to_vec() } else { words }
    };
    let (a, b) = (words(a), words(b));
    let numbers = |words: &[String]| -> Vec<Option<f64>> { words.iter().map(|w| w.parse().ok()).collect() };
    let (x, y) = (numbers(&a), numbers(&b));
    let largest =
        x.iter().skip(2).chain(x.iter().skip(1).take(1)).flatten().fold(1.0, |m: f64, v| m.max(v.abs()));
    a.len() == b.len()
        && (0..a.len()).all(|k| match (x[k], y[k]) {
            _ if a[k] == b[k] => true,
            (Some(x), Some(y)) => (x - y).abs() <= tolerance * largest,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn the_first_line_that_differs_is_told() {
        let expected = "sizes 1 1\na 3 0.5 2 00ff\nsizes 2 2\na 4 0.25 2 00fe\n";
        assert_eq!(difference(expected, expected, None), None);
        let other = expected.replace("0.25", "0.250000001");
        let said = difference(expected, &other, None).expect("they differ");
        assert_eq!(said, "sizes 2 2: `a 4 0.250000001 2 00fe` in place of `a 4 0.25 2 00fe`");
        assert_eq!(difference(expected, &other, Some(1e-6)), None);
        assert!(difference(expected, &other, Some(1e-12)).is_some());
        assert!(difference(expected, &other.replace("00ff", "0000"), Some(1e-6)).is_none());
        assert!(difference(expected, "sizes 1 1\n", Some(1e-6)).is_some());
        assert!(difference("sizes 1 1\n", expected, Some(1e-6)).is_some());
    }
}
