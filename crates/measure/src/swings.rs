//! How far the results of a nest move when nothing changes but roundings.
//!
//! An operation that rounds differently (another order of a sum, a fused product) is to first order an input that was given
//! with another last bit (Wilkinson's backward error); how far a result moves for that is its condition number. Parker's
//! Monte Carlo arithmetic (*Monte Carlo Arithmetic: exploiting randomness in floating-point arithmetic*, UCLA, 1997) measures
//! it: run again with random last bits, and look at the spread of every result. [`Swings`] holds that spread of the original
//! nest, for every element by its own, over runs on inputs with random last bits and of builds with and without reordering.
//!
//! # The safety factor
//!
//! The results of the runs and of a right candidate are draws from one distribution. With standard deviation 1, the largest of
//! K deviations lies below a small x with a probability of at most (0.8 x)^K, so that a right element lies beyond F times
//! the largest with a probability of at most (0.8 / F)^K E|z|^K. For K = [`MOST_RUNS`] = 12 normal deviations E|z|^K is 10395,
//! and F = [`SAFETY`] = 10 makes that 7e-10: of ten million elements none is refused by chance in 99 of 100 nests. It is
//! one decimal digit.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::argument::{Argument, ElementType};
use crate::error::MeasureError;
use crate::outputs::Outputs;

/// How many times as far as the original itself a result may move.
pub const SAFETY: f64 = 10.0;
/// Runs of the original from which the spread is known.
pub const MOST_RUNS: usize = 12;

/// Elements that are read and written at once.
const BATCH: u64 = 1 << 16;

/// How far each result of the original is from itself in other runs: per floating-point element the largest distance. It is
/// infinite where a run gives a number and another one none.
#[derive(Debug)]
pub struct Swings {
    /// Laid out like the sample.
    path: PathBuf,
    n_runs: usize,
}

impl Swings {
    /// Without a run; kept in `path` until the value is dropped.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn new(path: &Path) -> Result<Swings, MeasureError> {
        File::create(path).map_err(MeasureError::io("write", path))?;
        Ok(Swings { path: path.to_path_buf(), n_runs: 0 })
    }

    /// How many runs there were.
    pub fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Takes in another run of the original. With `anything`, results of `base` that are not finite may become anything:
    /// for inputs that are not the user's.
    ///
    /// # Errors
    /// When results cannot be read, or the file cannot be written.
    pub fn add(
        &mut self,
        base: &Outputs,
        run: &Outputs,
        args: &[Argument],
        anything: bool,
    ) -> Result<(), MeasureError> {
        let file = OpenOptions::new().read(true).write(true).open(&self.path);
        let file = file.map_err(MeasureError::io("write", &self.path))?;
        for (position, arg) in args.iter().enumerate() {
            let (stride, runs) = arg.elements();
            let is_float = runs.iter().any(|(.., element)| element.is_float());
            if arg.is_scratch || !is_float || !base.changed(position) {
                continue;
            }
            let (a, b) = (base.reader(position)?, run.reader(position)?);
            let n = base.bytes(position).checked_div(stride).unwrap_or(0);
            for first in (0..n).step_by(BATCH as usize) {
                let mut expected = vec![0; ((n - first).min(BATCH) * stride) as usize];
                let (mut found, mut swings) = (expected.clone(), expected.clone());
                let at = first * stride;
                a.read(at, &mut expected)?;
                b.read(at, &mut found)?;
                read_or_zero(&file, a.offset() + at, &mut swings)
                    .map_err(MeasureError::io("read", &self.path))?;
                let structures =
                    expected.chunks_exact(stride as usize).zip(found.chunks_exact(stride as usize));
                for ((a, b), swing) in structures.zip(swings.chunks_exact_mut(stride as usize)) {
                    for (offset, n, element) in runs.iter().filter(|(.., element)| element.is_float()) {
                        let run = *offset as usize..*offset as usize + *n as usize * element.size();
                        let (Some(a), Some(b)) = (a.get(run.clone()), b.get(run.clone())) else { continue };
                        let Some(swing) = swing.get_mut(run) else { continue };
                        for (k, swing) in swing.chunks_exact_mut(element.size()).enumerate() {
                            let at = k * element.size();
                            widen(*element, &a[at..], &b[at..], swing, anything);
                        }
                    }
                }
                file.write_all_at(&swings, a.offset() + at).map_err(MeasureError::io("write", &self.path))?;
            }
        }
        self.n_runs += 1;
        Ok(())
    }

    pub(crate) fn reader(&self) -> Result<SwingReader<'_>, MeasureError> {
        let file = File::open(&self.path).map_err(MeasureError::io("read", &self.path))?;
        Ok(SwingReader { path: &self.path, file })
    }
}

impl Drop for Swings {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads swings from where the sample has the elements.
pub(crate) struct SwingReader<'a> {
    path: &'a Path,
    file: File,
}

impl SwingReader<'_> {
    pub(crate) fn read(&self, at: u64, buffer: &mut [u8]) -> Result<(), MeasureError> {
        read_or_zero(&self.file, at, buffer).map_err(MeasureError::io("read", self.path))
    }
}

/// What no run has written yet is zero.
fn read_or_zero(file: &File, at: u64, buffer: &mut [u8]) -> std::io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], at + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    buffer[done..].fill(0);
    Ok(())
}

fn widen(element: ElementType, a: &[u8], b: &[u8], swing: &mut [u8], anything: bool) {
    let (Some(a), Some(b)) = (element.read_f64(a), element.read_f64(b)) else { return };
    let known = element.read_f64(swing).unwrap_or(0.0);
    let distance = match (a.is_finite(), b.is_finite()) {
        (true, true) => (a - b).abs(),
        (false, _) if anything => f64::INFINITY,
        (false, false) if a == b || a.is_nan() && b.is_nan() => 0.0,
        _ => f64::INFINITY,
    };
    if distance > known {
        let mut bytes = Vec::with_capacity(8);
        element.write_f64(distance, &mut bytes);
        swing.copy_from_slice(&bytes);
    }
}
