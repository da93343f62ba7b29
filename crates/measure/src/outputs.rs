//! Results of nests: their arguments after a call.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::MeasureError;
use crate::sample::{Sample, SampleArg, same_bytes};

/// The arguments after one call of a library, or of the captured program itself.
#[derive(Debug)]
pub struct Outputs {
    pub(crate) sample: Sample,
    pub(crate) path: PathBuf,
    /// Whether the file is removed with the value.
    pub(crate) is_own: bool,
    pub(crate) changed: Vec<bool>,
    /// Nanoseconds of the call. It is a first call, with everything cold: good for a limit, not for a comparison.
    pub first_call_ns: u64,
}

impl Outputs {
    /// The results of the captured invocation itself, if they were kept and it was timed. They stay in their file.
    ///
    /// # Errors
    /// When the files of the sample cannot be read.
    pub fn captured(sample: &Sample) -> Result<Option<Outputs>, MeasureError> {
        let (Some(path), Some(first_call_ns)) = (&sample.results, sample.nanoseconds) else {
            return Ok(None);
        };
        let before = File::open(&sample.path).map_err(MeasureError::io("read", &sample.path))?;
        let after = File::open(path).map_err(MeasureError::io("read", path))?;
        let is_changed = |arg: &SampleArg| {
            same_bytes((&before, arg.offset), (&after, arg.offset), arg.bytes).map(|same| !same)
        };
        let changed = sample.args.iter().map(is_changed).collect::<Result<_, _>>();
        let changed = changed.map_err(MeasureError::io("read", path))?;
        let (sample, path) = (sample.clone(), path.clone());
        Ok(Some(Outputs { sample, path, is_own: false, changed, first_call_ns }))
    }

    /// What a call on this sample left, of which another process keeps the file: it stays. `changed` says of each argument whether
    /// the call changed it.
    pub fn kept(sample: &Sample, path: PathBuf, changed: Vec<bool>, first_call_ns: u64) -> Outputs {
        Outputs { sample: sample.clone(), path, is_own: false, changed, first_call_ns }
    }

    /// The file with those arguments that the call changed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of arguments.
    pub fn n_args(&self) -> usize {
        self.sample.args.len()
    }

    /// Whether the call changed an argument at all.
    pub fn changed(&self, position: usize) -> bool {
        self.changed.get(position).copied().unwrap_or(false)
    }

    /// Size of an argument in bytes.
    pub fn bytes(&self, position: usize) -> u64 {
        self.sample.args.get(position).map_or(0, |arg| arg.bytes)
    }

    /// An argument after the call.
    ///
    /// # Errors
    /// When there is no such argument or it cannot be read.
    pub fn read_arg(&self, position: usize) -> Result<Vec<u8>, MeasureError> {
        let mut bytes = vec![0; self.bytes(position) as usize];
        self.reader(position)?.read(0, &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn reader(&self, position: usize) -> Result<OutputReader<'_>, MeasureError> {
        let path = if self.changed(position) { &self.path } else { &self.sample.path };
        let file = File::open(path).map_err(MeasureError::io("read", path))?;
        Ok(OutputReader { path, file, offset: self.sample.args.get(position).map_or(0, |arg| arg.offset) })
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        if self.is_own {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads one argument of [`Outputs`] in parts.
pub(crate) struct OutputReader<'a> {
    path: &'a Path,
    file: File,
    offset: u64,
}

impl OutputReader<'_> {
    /// Where the argument begins in a sample.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn read(&self, from: u64, buffer: &mut [u8]) -> Result<(), MeasureError> {
        self.file.read_exact_at(buffer, self.offset + from).map_err(MeasureError::io("read", self.path))
    }
}
