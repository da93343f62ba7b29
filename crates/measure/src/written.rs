//! Comparing the files that programs write.

use crate::argument::ElementType;
use crate::compare::{Mean, Tolerance};
use crate::error::MeasureError;
use crate::left::ComparedFile;
use crate::npy::parse_npy;
use crate::swings::SAFETY;
use crate::text::{TextComparison, TextRules, compare_text};

/// The numbers in a file, and what stands before them.
struct Numbers<'a> {
    element: ElementType,
    bytes: &'a [u8],
    header: &'a [u8],
}

/// Compares a file with those of runs of the original. Numbers in texts are compared by the rules for texts; arrays of
/// floating-point numbers by the tolerance, relative to the larger one or the root mean square of the original's; what is
/// neither byte for byte.
///
/// # Errors
/// When the original's is not what it was said to be.
pub(crate) fn compare_files(
    file: &ComparedFile,
    references: &[&[u8]],
    actual: &[u8],
    rules: &TextRules<'_>,
    tolerance: Tolerance,
) -> Result<TextComparison, MeasureError> {
    let Some((expected, others)) = references.split_first() else { return Ok(TextComparison::default()) };
    let mut result = match numbers(file, expected)? {
        Some(numbers) => compare_arrays(&numbers, others, actual, rules, tolerance),
        None if is_text(expected) && is_text(actual) => compare_text(references, actual, rules),
        None => {
            let at = expected.iter().zip(actual).position(|(a, b)| a != b);
            let at = at.or((expected.len() != actual.len()).then_some(expected.len().min(actual.len())));
            let difference = at.map(|at| format!("it differs from byte {at} on"));
            TextComparison { difference, ..TextComparison::default() }
        }
    };
    result.difference = result.difference.map(|what| format!("{}: {what}", file.path.display()));
    Ok(result)
}

/// The numbers of a file, if it is known to be an array of them.
fn numbers<'a>(file: &ComparedFile, bytes: &'a [u8]) -> Result<Option<Numbers<'a>>, MeasureError> {
    if let Some(element) = file.element {
        if !bytes.len().is_multiple_of(element.size()) {
            let name = element.numpy_name();
            let text = format!("has {} bytes, which are no {name} numbers", bytes.len());
            return Err(MeasureError::NotComparable { path: file.path.clone(), text });
        }
        return Ok(Some(Numbers { element, bytes, header: &[] }));
    }
    // What cannot be read as an array is still compared, byte for byte.
    let Some(array) = parse_npy(bytes) else { return Ok(None) };
    let (header, bytes) = bytes.split_at(array.data_offset as usize);
    let fits = array.elements().checked_mul(array.element.size() as u64) == Some(bytes.len() as u64);
    Ok(fits.then_some(Numbers { element: array.element, bytes, header }))
}

fn compare_arrays(
    expected: &Numbers<'_>,
    others: &[&[u8]],
    actual: &[u8],
    rules: &TextRules<'_>,
    tolerance: Tolerance,
) -> TextComparison {
    let mut result = TextComparison::default();
    let element = expected.element;
    let of_same_shape = |bytes: &'_ &[u8]| {
        bytes.len() == expected.header.len() + expected.bytes.len() && bytes.starts_with(expected.header)
    };
    if !of_same_shape(&actual) {
        let (before, after) = (expected.header.len() + expected.bytes.len(), actual.len());
        result.difference = Some(match before == after {
            true => "its shape or type is another one".into(),
            false => format!("it has {after} bytes instead of {before}"),
        });
        return result;
    }
    let body = |bytes: &'_ &'_ [u8]| bytes[expected.header.len()..].to_vec();
    let others: Vec<Vec<u8>> = others.iter().filter(|b| of_same_shape(b)).map(body).collect();
    let witnesses: Vec<Vec<u8>> = rules.witnesses.iter().filter(|b| of_same_shape(b)).map(body).collect();
    let actual = &actual[expected.header.len()..];
    let mut mean = Mean::default();
    if element.is_float() {
        expected
            .bytes
            .chunks_exact(element.size())
            .filter_map(|b| element.read_f64(b))
            .for_each(|x| mean.add(x));
    }
    let scale = mean.value();
    let most = match tolerance {
        Tolerance::Relative { f32, .. } if element == ElementType::F32 => f32,
        Tolerance::Relative { f64, .. } if element == ElementType::F64 => f64,
        _ => 0.0,
    };
    let size = element.size();
    let error = |a: &[u8], b: &[u8]| {
        let (x, y) = (element.read_f64(a)?, element.read_f64(b)?);
        match () {
            () if a == b || element.is_float() && (x == y || x.is_nan() && y.is_nan()) => Some((0.0, 0.0)),
            () if !element.is_float() || !x.is_finite() || !y.is_finite() => None,
            () => Some(((x - y).abs(), (x - y).abs() / x.abs().max(y.abs()).max(scale))),
        }
    };
    let is_exact = tolerance == Tolerance::Strict;
    for (k, (a, b)) in expected.bytes.chunks_exact(size).zip(actual.chunks_exact(size)).enumerate() {
        if a == b {
            continue;
        }
        let of = |bytes: &'_ Vec<u8>| error(a, &bytes[k * size..][..size]);
        // What differs in every way, as a number that is not finite, does not vary but for a reason.
        let found = error(a, b);
        let (distance, relative) = found.unwrap_or((f64::INFINITY, f64::INFINITY));
        if relative.is_finite() {
            result.max_rel_error = result.max_rel_error.max(relative);
        }
        if found.is_some() && !is_exact && relative <= most {
            continue;
        }
        if others.iter().any(|bytes| of(bytes).is_none_or(|(_, relative)| relative > most)) {
            result.unstable_numbers += 1;
            continue;
        }
        let swing = witnesses.iter().filter_map(|bytes| Some(of(bytes)?.0)).fold(0.0, f64::max);
        if !is_exact && swing > 0.0 && distance <= SAFETY * swing {
            result.widened_numbers += 1;
            continue;
        }
        let shown = |b: &[u8]| match element.read_integer(b) {
            Some(value) => value.to_string(),
            None => element.read_f64(b).unwrap_or(f64::NAN).to_string(),
        };
        result.is_number = element.is_float();
        result.difference = Some(format!("number {k} is {} instead of {}", shown(b), shown(a)));
        return result;
    }
    result
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn npy(descr: &str, values: &[u8], n: usize) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    fn compare(name: &str, references: &[&[u8]], actual: &[u8], witnesses: &[&[u8]]) -> TextComparison {
        let rules = TextRules { relative_tolerance: Some(1e-6), witnesses, ..TextRules::default() };
        let tolerance = Tolerance::Relative { f64: 1e-6, f32: 1e-4 };
        let file: ComparedFile = name.parse().expect("a file");
        compare_files(&file, references, actual, &rules, tolerance).expect("comparable")
    }

    #[test]
    fn arrays_are_compared_as_numbers() {
        let before = doubles(&[1.0, 2.0, 1e-30, f64::NAN]);
        let near = doubles(&[1.0 + 1e-8, 2.0, -1e-30, f64::NAN]);
        let far = doubles(&[1.0, 2.001, 1e-30, f64::NAN]);
        let compared = compare("u:f64", &[&before], &near, &[]);
        assert!(compared.difference.is_none() && compared.max_rel_error > 1e-9, "{compared:?}");
        let found = compare("u:f64", &[&before], &far, &[]);
        assert_eq!(found.difference.as_deref(), Some("u: number 1 is 2.001 instead of 2"));
        assert!(found.is_number);
        // The same bytes without a word on what they are.
        assert!(compare("u", &[&before], &near, &[]).difference.is_some());
        assert_eq!(compare("u", &[&before], &before, &[]).difference, None);
        assert!(compare("u:f64", &[&before], &before[..24], &[]).difference.is_some());
        // Where a run differs from the others, and where another build does.
        assert_eq!(
            compare("u:f64", &[&before, &far], &doubles(&[1.0, 7.0, 1e-30, f64::NAN]), &[]).unstable_numbers,
            1
        );
        let widened = compare("u:f64", &[&before], &doubles(&[1.0, 2.005, 1e-30, f64::NAN]), &[&far]);
        assert_eq!((widened.difference, widened.widened_numbers), (None, 1));
        assert!(
            compare("u:f64", &[&before], &doubles(&[1.0, 2.5, 1e-30, f64::NAN]), &[&far])
                .difference
                .is_some()
        );
        assert!(
            compare("u:f64", &[&before], &doubles(&[1.001, 2.0, 1e-30, f64::NAN]), &[&far])
                .difference
                .is_some()
        );
        assert!(
            compare("u:f64", &[&before], &doubles(&[f64::NAN, 2.0, 1e-30, 1.0]), &[]).difference.is_some()
        );
    }

    #[test]
    fn numpy_files_say_what_they_are() {
        let before = npy("<f8", &doubles(&[1.0, 2.0]), 2);
        assert_eq!(
            compare("a.npy", &[&before], &npy("<f8", &doubles(&[1.0, 2.0 + 1e-8]), 2), &[]).difference,
            None
        );
        assert!(
            compare("a.npy", &[&before], &npy("<f8", &doubles(&[1.0, 2.1]), 2), &[]).difference.is_some()
        );
        assert!(
            compare("a.npy", &[&before], &npy("<i8", &doubles(&[1.0, 2.0]), 2), &[]).difference.is_some()
        );
        let integers = |n: i32| npy("<i4", &[1i32.to_le_bytes(), n.to_le_bytes()].concat(), 2);
        assert_eq!(compare("a.npy", &[&integers(5)], &integers(5), &[]).difference, None);
        let found = compare("a.npy", &[&integers(1 << 30)], &integers((1 << 30) + 1), &[]);
        assert_eq!(found.difference.as_deref(), Some("a.npy: number 1 is 1073741825 instead of 1073741824"));
    }

    #[test]
    fn texts_and_other_files() {
        assert_eq!(compare("log", &[b"x 1.00000001\n"], b"x  1.00000002\n", &[]).difference, None);
        assert!(compare("log", &[b"x 1.1\n"], b"x 1.2\n", &[]).difference.is_some());
        let found = compare("image", &[b"\x00\x01\x02"], b"\x00\x01\x03", &[]);
        assert_eq!(found.difference.as_deref(), Some("image: it differs from byte 2 on"));
        let file: ComparedFile = "u:f64".parse().expect("a file");
        assert!(compare_files(&file, &[b"123"], b"123", &TextRules::default(), Tolerance::Strict).is_err());
    }
}
