//! C literals.

use oxeye_ir::ScalarType;

/// A number as spelt in the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Int(i64, ScalarType),
    /// An `unsigned long` that is no `long`, as the `long` with the same bits.
    Great(i64),
    Float(String, ScalarType),
}

/// Reads a number; `None` if it has no IR type (`1.0L`, `3i`).
pub(crate) fn number(text: &str) -> Option<Literal> {
    let lower = text.to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    let is_float = lower.contains('.')
        || if is_hex { lower.contains('p') } else { lower.contains('e') && !lower.starts_with("0b") };
    if is_float {
        if lower.ends_with('l') || lower.ends_with('i') || lower.ends_with('j') {
            return None;
        }
        let is_single = lower.ends_with('f') && (!is_hex || lower.contains('p'));
        let digits = if is_single { &lower[..lower.len() - 1] } else { &lower };
        if !is_hex && digits.parse::<f64>().is_err() {
            return None;
        }
        let ty = if is_single { ScalarType::F32 } else { ScalarType::F64 };
        return Some(Literal::Float(text.to_owned(), ty));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let value = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8)
    } else {
        digits.parse()
    };
    let value = value.ok()?;
    let is_decimal = !digits.starts_with('0') || digits == "0";
    let is_unsigned = suffix.contains('u');
    let is_long = suffix.contains('l');
    let ty = if !is_unsigned && !is_long && value <= i32::MAX as u64 {
        ScalarType::I32
    } else if !is_long && (is_unsigned || !is_decimal) && value <= u64::from(u32::MAX) {
        ScalarType::U32
    } else if !is_unsigned && value <= i64::MAX as u64 {
        ScalarType::I64
    } else {
        ScalarType::U64
    };
    Some(i64::try_from(value).map_or(Literal::Great(value.cast_signed()), |value| Literal::Int(value, ty)))
}

/// A `long double` literal that is exactly a `double`, as in the macros of `<float.h>`: the literal without its suffix.
pub(crate) fn exact_double(text: &str) -> Option<String> {
    let digits = text.strip_suffix(['l', 'L'])?;
    let value: f64 = digits.parse().ok()?;
    let (mantissa, _) = digits.split_once(['e', 'E']).unwrap_or((digits, ""));
    let significant = |t: &str| -> String {
        let all: String = t.chars().filter(char::is_ascii_digit).collect();
        all.trim_start_matches('0').chars().chain("0".repeat(24).chars()).take(24).collect()
    };
    // Both roundings, to `long double` and to `double`, give the nearest value if it is this near.
    let exact = format!("{value:.40e}");
    let (exact, _) = exact.split_once('e')?;
    (value.is_finite() && significant(mantissa) == significant(exact)).then(|| digits.to_owned())
}

/// A `float` literal that is the same number as a `double`: the literal without its suffix.
pub(crate) fn exact_single(text: &str) -> Option<String> {
    let digits = text.strip_suffix(['f', 'F']).filter(|d| !d.starts_with("0x") && !d.starts_with("0X"))?;
    let (single, double): (f32, f64) = (digits.parse().ok()?, digits.parse().ok()?);
    (f64::from(single) == double).then(|| digits.to_owned())
}

/// The value of a character literal without prefix, where a plain `char` may have no sign.
pub(crate) fn character(text: &str, has_unsigned_char: bool) -> Option<i64> {
    let byte = |value: u8| if has_unsigned_char { i64::from(value) } else { i64::from(value as i8) };
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let bytes = inner.as_bytes();
    match bytes {
        [b] if b.is_ascii() => Some(i64::from(*b)),
        [b'\\', rest @ ..] => match rest {
            [b'n'] => Some(10),
            [b't'] => Some(9),
            [b'r'] => Some(13),
            [b'\\'] => Some(92),
            [b'\''] => Some(39),
            [b'"'] => Some(34),
            [b'a'] => Some(7),
            [b'b'] => Some(8),
            [b'f'] => Some(12),
            [b'v'] => Some(11),
            [b'x', hex @ ..] => u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok().map(byte),
            octal => u8::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok().map(byte),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::*;

    #[test]
    fn numbers_have_the_types_of_c() {
        let cases = [
            ("0", 0, I32),
            ("017", 15, I32),
            ("0x7fffffff", 0x7fff_ffff, I32),
            ("0xffffffff", 0xffff_ffff, U32),
            ("4294967295", 0xffff_ffff, I64),
            ("3u", 3, U32),
            ("3UL", 3, U64),
            ("3ll", 3, I64),
            ("0b101", 5, I32),
        ];
        for (text, value, ty) in cases {
            assert_eq!(number(text), Some(Literal::Int(value, ty)), "{text}");
        }
        for (text, ty) in [("1.5", F64), ("1e3f", F32), (".5F", F32), ("0x1p3", F64), ("1.", F64)] {
            assert_eq!(number(text), Some(Literal::Float(text.into(), ty)), "{text}");
        }
        for text in ["1.0L", "09", "1.2.3", "99999999999999999999", "0x", "2i"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn long_double_literals_that_are_doubles() {
        let max = "1.79769313486231570814527423731704357e+308L";
        assert_eq!(exact_double(max).as_deref(), max.strip_suffix('L'));
        assert_eq!(
            exact_double("2.22044604925031308084726333618164062e-16L").as_deref(),
            Some("2.22044604925031308084726333618164062e-16")
        );
        assert_eq!(exact_double("0.5L").as_deref(), Some("0.5"));
        assert_eq!(exact_double("0.1L"), None);
        assert_eq!(exact_double("1e999L"), None);
        assert_eq!(exact_double("0.5"), None);
    }

    #[test]
    fn float_literals_that_are_doubles() {
        assert_eq!(exact_single("1.0F").as_deref(), Some("1.0"));
        assert_eq!(exact_single("0.5f").as_deref(), Some("0.5"));
        for text in ["0.1f", "1.0", "0x1p3f"] {
            assert_eq!(exact_single(text), None, "{text}");
        }
    }

    #[test]
    fn characters() {
        let texts = ["'a'", r"'\n'", r"'\0'", r"'\xff'", r"'\377'", "L'a'"];
        assert_eq!(
            texts.map(|t| character(t, false)),
            [Some(97), Some(10), Some(0), Some(-1), Some(-1), None]
        );
        assert_eq!(texts.map(|t| character(t, true))[3..5], [Some(255), Some(255)]);
    }
}
