//! Reading `.npy` files, versions 1 to 3 (numpy's `lib.format`): little endian, C order.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use crate::argument::ElementType;
use crate::error::MeasureError;

/// The header of an `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyArray {
    /// The type of the elements.
    pub element: ElementType,
    /// The extents; empty for a single value.
    pub shape: Vec<u64>,
    /// Offset of the elements in the file.
    pub data_offset: u64,
}

impl NpyArray {
    /// How many elements there are; `u64::MAX` for shapes with more.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |n: u64, extent| n.saturating_mul(*extent))
    }
}

/// Reads the header of an `.npy` file.
///
/// # Errors
/// When the file cannot be read, is no `.npy` file, or holds elements or an order that cannot be used.
pub fn read_npy_header(path: &Path) -> Result<NpyArray, MeasureError> {
    open(path).map(|(array, _)| array)
}

/// Copies the elements of an `.npy` file, which must be `elements` many of type `element`.
pub(crate) fn copy_elements(
    path: &Path,
    element: ElementType,
    elements: u64,
    out: &mut impl Write,
) -> Result<(), MeasureError> {
    let (array, data) = open(path)?;
    if array.element != element {
        return Err(npy_error(
            path,
            format!(
                "holds {found}, but the argument is {wanted}; convert it with .astype(\"{wanted}\")",
                found = array.element.numpy_name(),
                wanted = element.numpy_name()
            ),
        ));
    }
    if array.elements() != elements {
        return Err(npy_error(
            path,
            format!(
                "has shape {:?} ({} elements), but the argument has {elements} elements",
                array.shape,
                array.elements()
            ),
        ));
    }
    let bytes = elements.saturating_mul(element.size() as u64);
    let copied = std::io::copy(&mut data.take(bytes), out).map_err(MeasureError::io("copy", path))?;
    if copied != bytes {
        return Err(npy_error(path, format!("is cut off: {copied} of {bytes} bytes of elements")));
    }
    Ok(())
}

/// The header of what would be an `.npy` file; `None` if it is none, or not one that can be read.
pub(crate) fn parse_npy(bytes: &[u8]) -> Option<NpyArray> {
    let array = read(&mut &*bytes, Path::new("")).ok()?;
    (array.data_offset <= bytes.len() as u64).then_some(array)
}

fn open(path: &Path) -> Result<(NpyArray, BufReader<File>), MeasureError> {
    let mut file = BufReader::new(File::open(path).map_err(MeasureError::io("read", path))?);
    let array = read(&mut file, path)?;
    Ok((array, file))
}

fn read(file: &mut impl Read, path: &Path) -> Result<NpyArray, MeasureError> {
    let cut = |_| npy_error(path, "is no .npy file or cut off in its header");
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(cut)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(npy_error(path, "is no .npy file; write it with numpy.save"));
    }
    let (length, prefix) = match start[6] {
        1 => {
            let mut bytes = [0; 2];
            file.read_exact(&mut bytes).map_err(cut)?;
            (u64::from(u16::from_le_bytes(bytes)), 10)
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            file.read_exact(&mut bytes).map_err(cut)?;
            (u64::from(u32::from_le_bytes(bytes)), 12)
        }
        version => {
            return Err(npy_error(path, format!("has format version {version}; versions 1 to 3 are read")));
        }
    };
    if length > 1 << 20 {
        return Err(npy_error(path, "has an absurdly long header"));
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header).map_err(cut)?;
    let header = String::from_utf8_lossy(&header);
    let (element, shape) = parse_header(&header).map_err(|text| npy_error(path, text))?;
    Ok(NpyArray { element, shape, data_offset: prefix + length })
}

fn npy_error(path: &Path, text: impl Into<String>) -> MeasureError {
    MeasureError::Npy { path: path.to_path_buf(), text: text.into() }
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(header: &str) -> Result<(ElementType, Vec<u64>), String> {
    let value_of = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|q| header.find(q).map(|at| at + q.len()));
        at.and_then(|at| header[at..].trim_start().strip_prefix(':')).map(str::trim_start)
    };
    let damaged = |key| format!("has a header without a readable {key}");
    let descr = value_of("descr").ok_or_else(|| damaged("descr"))?;
    if descr.starts_with('[') {
        return Err("holds records; save a plain array of numbers".to_owned());
    }
    let descr = descr.strip_prefix(['\'', '"']).and_then(|d| d.split(['\'', '"']).next()).unwrap_or_default();
    let shape = value_of("shape").and_then(|s| s.strip_prefix('(')).and_then(|s| s.split(')').next());
    let shape = shape.ok_or_else(|| damaged("shape"))?;
    let extents = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
    let shape: Vec<u64> =
        extents.map(|s| s.parse().map_err(|_| damaged("shape"))).collect::<Result<_, _>>()?;
    if shape.iter().try_fold(1u64, |n, e| n.checked_mul(*e)).is_none_or(|n| n >= 1 << 46) {
        return Err(format!("has the absurd shape {shape:?}"));
    }
    let fortran = value_of("fortran_order").ok_or_else(|| damaged("fortran_order"))?;
    if fortran.starts_with("True") && shape.len() > 1 {
        return Err("is in Fortran order; save numpy.ascontiguousarray of it".to_owned());
    }
    let (order, kind) = descr.split_at_checked(1).ok_or_else(|| damaged("descr"))?;
    if order == ">" {
        return Err(format!("is big endian ({descr}); save it with .astype(\"<{kind}\")"));
    }
    let element = match kind {
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        "i1" => ElementType::I8,
        "i2" => ElementType::I16,
        "i4" => ElementType::I32,
        "i8" => ElementType::I64,
        "u1" | "b1" => ElementType::U8,
        "u2" => ElementType::U16,
        "u4" => ElementType::U32,
        "u8" => ElementType::U64,
        _ => {
            return Err(format!("holds elements of type {descr}; f4, f8, i1 to i8 and u1 to u8 can be read"));
        }
    };
    Ok((element, shape))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::WorkDir;

    fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn all_versions_are_read() {
        let work = WorkDir::new().expect("work folder");
        let data: Vec<u8> = [1.5f64, -2.0].into_iter().flat_map(f64::to_le_bytes).collect();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }   \n";
        for version in 1..=3 {
            let path = work.write("a.npy", npy(version, header, &data)).expect("written");
            let array = read_npy_header(&path).expect("read");
            assert_eq!((array.element, &array.shape[..]), (ElementType::F64, &[2, 1][..]));
            let mut out = Vec::new();
            copy_elements(&path, ElementType::F64, 2, &mut out).expect("copied");
            assert_eq!(out, data);
        }
    }

    #[test]
    fn what_does_not_fit_is_explained() {
        let work = WorkDir::new().expect("work folder");
        let complaint = |header: &str| {
            let path = work.write("a.npy", npy(1, header, &[0; 8])).expect("written");
            copy_elements(&path, ElementType::F64, 1, &mut Vec::new()).expect_err("does not fit").to_string()
        };
        let cases = [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "astype(\"float64\")"),
            ("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", "big endian"),
            ("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }", "ascontiguousarray"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", "[3]"),
            ("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", "<c16"),
            ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "records"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (x,), }", "shape"),
            ("{}", "descr"),
            ("{'descr': '', 'fortran_order': False, 'shape': (1,), }", "descr"),
        ];
        for (header, expected) in cases {
            let text = complaint(header);
            assert!(text.contains(expected), "{header}: {text}");
        }
        let path = work.write("b.npy", b"PK not numpy").expect("written");
        assert!(read_npy_header(&path).is_err());
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
        let path = work.write("c.npy", npy(1, header, &[0; 8])).expect("written");
        let error = copy_elements(&path, ElementType::F64, 2, &mut Vec::new()).expect_err("cut off");
        assert!(error.to_string().contains("cut off"), "{error}");
    }
}
