//! How what the program leaves is compared before and after.

use oxeye_measure::{ComparedFile, Pattern};
use std::path::PathBuf;

/// What of the program's output is compared, and how exactly, where that is not left to the floating-point policy.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// How far numbers that the program prints or writes may be apart, relative to the larger one.
    pub tolerance: Option<f64>,
    /// What is not compared in lines of text.
    pub ignore: Vec<Pattern>,
    /// Files that the program writes, and that are compared besides what it prints. They are removed before it is run.
    pub files: Vec<ComparedFile>,
}

impl Checks {
    /// Compares these files as well.
    pub fn compare_also(&mut self, files: &[PathBuf]) {
        let known: Vec<PathBuf> = self.files.iter().map(|file| file.path.clone()).collect();
        let new = files.iter().filter(|file| !known.contains(file));
        self.files.extend(new.map(|path| ComparedFile { path: path.clone(), element: None }));
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.tolerance.is_none() && self.ignore.is_empty() && self.files.is_empty()
    }
}
