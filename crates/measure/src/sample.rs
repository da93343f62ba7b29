//! The input arguments of one invocation of a nest, kept in a file.
//!
//! The file is written by the capture runtime or by [`Sample::synthetic`]: eight little-endian 64-bit words (magic,
//! version, site, invocation, number of arguments, end of data, 0, 0), then six words per argument (address, declared
//! bytes, stored bytes, file offset, source of the size, bytes before what the program's pointer leads to), then from
//! offset 16384 on the arguments' bytes, each at a multiple of 4096.

use oxeye_random::SplitMix64;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::argument::ElementType;
use crate::error::MeasureError;
use crate::npy;

const MAGIC: u64 = u64::from_le_bytes(*b"OXEYECAP");
const VERSION: u64 = 2;
const HEADER_BYTES: u64 = 16384;
const WORDS_PER_ARG: usize = 6;
const MAX_ARGS: usize = 256;

/// Where the size of a captured argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSource {
    /// From the instrumented program.
    Declared,
    /// From the memory allocator, the program's symbols or the end of the stack; it may be more than the program uses.
    Allocator,
    /// Unknown: no bytes were stored, and the sample cannot be replayed.
    Unknown,
    /// The memory of the declared size could not be read: no bytes were stored.
    Unreadable,
    /// Rows that do not lie evenly were gathered into one array.
    Gathered,
}

/// One argument of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleArg {
    /// Where it was in the captured program; 0 in a synthetic sample, and if it was gathered from several places.
    pub address: u64,
    /// How many bytes are stored.
    pub bytes: u64,
    /// Where they are in the sample file.
    pub offset: u64,
    /// Where the size comes from.
    pub size_source: SizeSource,
    /// How many of the bytes lie before what the program's pointer leads to.
    pub before: u64,
}

/// The input arguments of one invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The file that holds the bytes.
    pub path: PathBuf,
    /// Which nest.
    pub site: u32,
    /// Which of its invocations, from 0.
    pub invocation: u64,
    /// How long the captured invocation took in the instrumented program, if known.
    pub nanoseconds: Option<u64>,
    /// How long the shortest invocation took from then on that had as much to do. The captured one may have been the first.
    pub least_nanoseconds: Option<u64>,
    /// The [`SizeClass`](crate::SizeClass) it belongs to, by its `log2`, if it was captured.
    pub size_class: Option<u32>,
    /// The arguments, in order.
    pub args: Vec<SampleArg>,
    /// Pairs of arguments, by position, whose memory overlapped.
    pub overlaps: Vec<(usize, usize)>,
    /// The file of what the captured invocation left in its arguments, each where the sample has it, if that was kept.
    pub results: Option<PathBuf>,
}

/// How the elements of a synthetic argument are chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Uniform: floating-point numbers in [0.1, 1), integers in 0..=9.
    Random {
        /// Equal seeds give equal bytes.
        seed: u64,
    },
    /// Uniform integers in `0..bound` (as floating-point numbers in a floating-point array).
    RandomBelow {
        /// Equal seeds give equal bytes.
        seed: u64,
        /// Exclusive bound; 0 counts as 1.
        bound: u64,
    },
    /// The contents of an `.npy` file of the same element type and number of elements.
    Npy(PathBuf),
    /// Its bytes as they are in memory.
    Bytes(Vec<u8>),
    /// Every element has this value.
    Value(f64),
    /// Every element has this value; for integers that a floating-point number cannot hold.
    Integer(i64),
}

/// A synthetic argument.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticArg {
    /// Its element type.
    pub element: ElementType,
    /// How many elements; 1 for a scalar.
    pub elements: u64,
    /// What is in them.
    pub init: Init,
}

impl Sample {
    /// Makes synthetic arguments for a nest and writes them to `path`.
    ///
    /// # Errors
    /// When the file cannot be written, an `.npy` file does not fit, or the sizes are absurd.
    pub fn synthetic(path: &Path, args: &[SyntheticArg]) -> Result<Sample, MeasureError> {
        if args.len() > MAX_ARGS {
            return Err(MeasureError::sample(
                path,
                format!("{} arguments are more than {MAX_ARGS}", args.len()),
            ));
        }
        let mut table = Vec::with_capacity(args.len());
        let mut end = HEADER_BYTES;
        for arg in args {
            let bytes = arg.elements.checked_mul(arg.element.size() as u64).filter(|b| *b < 1 << 46);
            let bytes = bytes.ok_or_else(|| {
                MeasureError::sample(path, format!("an argument of {} elements is too large", arg.elements))
            })?;
            let size_source = SizeSource::Declared;
            table.push(SampleArg { address: 0, bytes, offset: end, size_source, before: 0 });
            end += bytes.next_multiple_of(4096);
        }
        let failed = |source| MeasureError::Io { action: "write", path: path.to_path_buf(), source };
        let file = File::create(path).map_err(failed)?;
        let mut header: Vec<u64> = vec![MAGIC, VERSION, 0, 0, args.len() as u64, end, 0, 0];
        for arg in &table {
            header.extend([0, arg.bytes, arg.bytes, arg.offset, 0, arg.before]);
        }
        let header: Vec<u8> = header.into_iter().flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&header, 0).map_err(failed)?;
        for (arg, slot) in args.iter().zip(&table) {
            let mut out = BufWriter::with_capacity(1 << 20, AtOffset { file: &file, offset: slot.offset });
            match &arg.init {
                Init::Bytes(bytes) if bytes.len() as u64 == slot.bytes => {
                    out.write_all(bytes).map_err(failed)?;
                }
                Init::Bytes(_) => {
                    return Err(MeasureError::sample(
                        path,
                        "the bytes of an argument are not as many as it has",
                    ));
                }
                Init::Npy(source) => npy::copy_elements(source, arg.element, arg.elements, &mut out)?,
                init => fill(arg.element, arg.elements, init, &mut out).map_err(failed)?,
            }
            out.flush().map_err(failed)?;
        }
        file.set_len(end).map_err(failed)?;
        Ok(Sample {
            path: path.to_path_buf(),
            site: 0,
            invocation: 0,
            nanoseconds: None,
            least_nanoseconds: None,
            size_class: None,
            args: table,
            overlaps: Vec::new(),
            results: None,
        })
    }

    /// Reads the description of a sample file; the arguments' bytes stay in the file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a sample.
    pub fn open(path: &Path) -> Result<Sample, MeasureError> {
        let file = File::open(path).map_err(MeasureError::io("read", path))?;
        let length = file.metadata().map_err(MeasureError::io("read", path))?.len();
        let word = |bytes: &[u8], i: usize| {
            bytes.get(8 * i..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
        };
        let mut fixed = [0; 64];
        file.read_exact_at(&mut fixed, 0)
            .map_err(|_| MeasureError::sample(path, "not a sample file: too short"))?;
        if word(&fixed, 0) != MAGIC || word(&fixed, 1) != VERSION {
            return Err(MeasureError::sample(path, format!("not a sample file of version {VERSION}")));
        }
        let n_args = usize::try_from(word(&fixed, 4)).ok().filter(|n| *n <= MAX_ARGS);
        let n_args =
            n_args.ok_or_else(|| MeasureError::sample(path, "damaged sample file: too many arguments"))?;
        let mut table = vec![0; 8 * WORDS_PER_ARG * n_args];
        file.read_exact_at(&mut table, 64).map_err(MeasureError::io("read", path))?;
        let mut args = Vec::with_capacity(n_args);
        for i in 0..n_args {
            let arg = SampleArg {
                address: word(&table, WORDS_PER_ARG * i),
                bytes: word(&table, WORDS_PER_ARG * i + 2),
                offset: word(&table, WORDS_PER_ARG * i + 3),
                size_source: match word(&table, WORDS_PER_ARG * i + 4) {
                    0 => SizeSource::Declared,
                    1 => SizeSource::Allocator,
                    2 => SizeSource::Unknown,
                    4 => SizeSource::Gathered,
                    _ => SizeSource::Unreadable,
                },
                before: word(&table, WORDS_PER_ARG * i + 5),
            };
            let is_cut_off = arg.offset.checked_add(arg.bytes).is_none_or(|end| end > length);
            if arg.bytes > 0 && (is_cut_off || arg.before > arg.bytes) {
                return Err(MeasureError::sample(
                    path,
                    format!("damaged sample file: argument {i} is cut off"),
                ));
            }
            args.push(arg);
        }
        let overlaps = find_overlaps(&file, &args).map_err(MeasureError::io("read", path))?;
        Ok(Sample {
            path: path.to_path_buf(),
            site: u32::try_from(word(&fixed, 2)).unwrap_or(u32::MAX),
            invocation: word(&fixed, 3),
            nanoseconds: None,
            least_nanoseconds: None,
            size_class: None,
            args,
            overlaps,
            results: None,
        })
    }

    /// Sum of the arguments' sizes.
    pub fn total_bytes(&self) -> u64 {
        self.args.iter().map(|arg| arg.bytes).sum()
    }

    /// Positions of arguments without bytes because their size is unknown or wrong. Such a sample cannot be replayed.
    pub fn missing(&self) -> Vec<usize> {
        let missing =
            |arg: &SampleArg| matches!(arg.size_source, SizeSource::Unknown | SizeSource::Unreadable);
        (0..self.args.len()).filter(|&i| missing(&self.args[i])).collect()
    }

    /// The bytes of an argument.
    ///
    /// # Errors
    /// When there is no such argument or the file cannot be read.
    pub fn read_arg(&self, position: usize) -> Result<Vec<u8>, MeasureError> {
        let arg = self.arg(position)?;
        let file = File::open(&self.path).map_err(MeasureError::io("read", &self.path))?;
        let mut bytes = vec![0; arg.bytes as usize];
        file.read_exact_at(&mut bytes, arg.offset).map_err(MeasureError::io("read", &self.path))?;
        Ok(bytes)
    }

    /// The share of an argument's elements of so many bytes that are zero, from parts of it that lie evenly.
    ///
    /// # Errors
    /// When there is no such argument or the file cannot be read.
    pub fn share_of_zeros(&self, position: usize, element_bytes: usize) -> Result<f64, MeasureError> {
        const PARTS: u64 = 64;
        const PART_BYTES: u64 = 4096;
        let arg = self.arg(position)?;
        let file = File::open(&self.path).map_err(MeasureError::io("read", &self.path))?;
        let element_bytes = element_bytes.max(1);
        let n_parts = arg.bytes.div_ceil(PART_BYTES).min(PARTS);
        let mut part = vec![0; PART_BYTES as usize];
        let (mut zeros, mut all) = (0usize, 0usize);
        for k in 0..n_parts {
            // Parts begin with an element.
            let size = element_bytes as u64;
            let start = (arg.bytes / n_parts * k) / size * size;
            let n = (arg.bytes - start).min(PART_BYTES) as usize / element_bytes * element_bytes;
            file.read_exact_at(&mut part[..n], arg.offset + start)
                .map_err(MeasureError::io("read", &self.path))?;
            all += n / element_bytes;
            zeros += part[..n].chunks_exact(element_bytes).filter(|e| e.iter().all(|b| *b == 0)).count();
        }
        Ok(if all == 0 { 0.0 } else { zeros as f64 / all as f64 })
    }

    /// The value of an integer scalar argument, such as a size.
    ///
    /// # Errors
    /// When there is no such argument, the file cannot be read, or the type is not an integer or does not fit.
    pub fn read_integer(&self, position: usize, element: ElementType) -> Result<i64, MeasureError> {
        let bytes = self.read_arg(position)?;
        element.read_integer(&bytes).and_then(|value| i64::try_from(value).ok()).ok_or_else(|| {
            MeasureError::sample(
                &self.path,
                format!("argument {position} is no {} scalar", element.numpy_name()),
            )
        })
    }

    /// The value of a scalar argument as a floating-point number.
    ///
    /// # Errors
    /// When there is no such argument or the file cannot be read.
    pub fn read_f64(&self, position: usize, element: ElementType) -> Result<f64, MeasureError> {
        let bytes = self.read_arg(position)?;
        element.read_f64(&bytes).ok_or_else(|| {
            MeasureError::sample(
                &self.path,
                format!("argument {position} is no {} scalar", element.numpy_name()),
            )
        })
    }

    fn arg(&self, position: usize) -> Result<&SampleArg, MeasureError> {
        let n_args = self.args.len();
        self.args.get(position).ok_or_else(|| {
            MeasureError::sample(
                &self.path,
                format!("there is no argument {position}, only {n_args} arguments"),
            )
        })
    }

    /// Arguments that must lie in one piece of memory, as they overlapped when captured.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut group_of: Vec<usize> = (0..self.args.len()).collect();
        for &(i, j) in &self.overlaps {
            let (from, to) = (group_of[i].max(group_of[j]), group_of[i].min(group_of[j]));
            for group in &mut group_of {
                if *group == from {
                    *group = to;
                }
            }
        }
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.args.len()];
        for (arg, group) in group_of.into_iter().enumerate() {
            groups[group].push(arg);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }
}

/// Two arguments overlap when their addresses do and the common part was stored alike. Temporaries whose stack slot was
/// reused between two calls of the runtime share an address but seldom a value; when they do, sharing is harmless.
fn find_overlaps(file: &File, args: &[SampleArg]) -> io::Result<Vec<(usize, usize)>> {
    let mut overlaps = Vec::new();
    for (j, b) in args.iter().enumerate() {
        for (i, a) in args[..j].iter().enumerate() {
            let start = a.address.max(b.address);
            let end = a.address.saturating_add(a.bytes).min(b.address.saturating_add(b.bytes));
            if a.address == 0 || b.address == 0 || start >= end {
                continue;
            }
            let (in_a, in_b) = (a.offset + (start - a.address), b.offset + (start - b.address));
            if same_bytes((file, in_a), (file, in_b), end - start)? {
                overlaps.push((i, j));
            }
        }
    }
    Ok(overlaps)
}

/// Whether two pieces of files are the same.
pub(crate) fn same_bytes(a: (&File, u64), b: (&File, u64), length: u64) -> io::Result<bool> {
    for part in chunks(length) {
        let mut left = vec![0; (part.end - part.start) as usize];
        let mut right = left.clone();
        a.0.read_exact_at(&mut left, a.1 + part.start)?;
        b.0.read_exact_at(&mut right, b.1 + part.start)?;
        if left != right {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Splits `0..length` into parts of at most a mebibyte.
pub(crate) fn chunks(length: u64) -> impl Iterator<Item = Range<u64>> {
    const CHUNK: u64 = 1 << 20;
    (0..length.div_ceil(CHUNK)).map(move |i| i * CHUNK..((i + 1) * CHUNK).min(length))
}

struct AtOffset<'a> {
    file: &'a File,
    offset: u64,
}

impl Write for AtOffset<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let n = self.file.write_at(buffer, self.offset)?;
        self.offset += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fill(element: ElementType, elements: u64, init: &Init, out: &mut impl Write) -> io::Result<()> {
    let mut random = match init {
        Init::Random { seed } | Init::RandomBelow { seed, .. } => SplitMix64::new(*seed),
        _ => SplitMix64::new(0),
    };
    let mut buffer = Vec::with_capacity(8 * 4096);
    for i in 0..elements {
        match init {
            Init::Random { .. } if element.is_float() => {
                element.write_f64(0.1 + 0.9 * random.unit(), &mut buffer)
            }
            Init::Random { .. } => element.write_f64(random.below(10) as f64, &mut buffer),
            Init::RandomBelow { bound, .. } => {
                element.write_f64(random.below((*bound).max(1)) as f64, &mut buffer)
            }
            Init::Value(value) => element.write_f64(*value, &mut buffer),
            Init::Integer(value) if element.is_float() => element.write_f64(*value as f64, &mut buffer),
            Init::Integer(value) => buffer.extend_from_slice(&value.to_le_bytes()[..element.size()]),
            Init::Npy(_) | Init::Bytes(_) => {}
        }
        if i % 4096 == 4095 {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::WorkDir;

    fn arg(element: ElementType, elements: u64, init: Init) -> SyntheticArg {
        SyntheticArg { element, elements, init }
    }

    #[test]
    fn synthetic_samples_are_reproducible_and_in_range() {
        let work = WorkDir::new().expect("work folder");
        let args = [
            arg(ElementType::F64, 10_000, Init::Random { seed: 7 }),
            arg(ElementType::I32, 1000, Init::Random { seed: 7 }),
            arg(ElementType::I64, 1, Init::Integer(-5)),
            arg(ElementType::U16, 100, Init::RandomBelow { seed: 1, bound: 3 }),
            arg(ElementType::F32, 0, Init::Value(1.0)),
        ];
        let one = Sample::synthetic(&work.join("one"), &args).expect("made");
        let two = Sample::synthetic(&work.join("two"), &args).expect("made");
        for (i, arg) in args.iter().enumerate() {
            let bytes = one.read_arg(i).expect("read");
            assert_eq!(bytes, two.read_arg(i).expect("read"));
            assert_eq!(bytes.len() as u64, arg.elements * arg.element.size() as u64);
        }
        let doubles = one.read_arg(0).expect("read");
        let mut values = doubles.chunks(8).map(|b| ElementType::F64.read_f64(b).expect("eight bytes"));
        assert!(values.all(|v| (0.1..1.0).contains(&v)));
        assert_eq!(one.read_integer(2, ElementType::I64).expect("scalar"), -5);
        assert!(one.read_arg(3).expect("read").chunks(2).all(|b| b[0] < 3 && b[1] == 0));
        let again = Sample::open(&one.path).expect("opened");
        assert_eq!(again.args, one.args);
    }

    #[test]
    fn other_files_are_refused() {
        let work = WorkDir::new().expect("work folder");
        let path = work.write("x", vec![7; 100]).expect("written");
        assert!(Sample::open(&path).is_err());
        let path = work.write("y", b"short").expect("written");
        assert!(Sample::open(&path).is_err());
    }
}
