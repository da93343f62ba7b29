//! Generated nests, and files of them: one JSON object per line.

use oxeye_ir::{Nest, Program, SymId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

/// A kind of nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Sums of products over one to three dimensions.
    Contraction,
    /// Neighbourhoods on grids: one sweep, sweeps over time, in place, coupled fields.
    Stencil,
    /// Sums, norms, minima and maxima along dimensions.
    Reduction,
    /// Prefix sums, filters, tridiagonal systems.
    Recurrence,
    /// Indices read from memory.
    Indirect,
    /// Chains of element-wise statements.
    Elementwise,
    /// Triangular solves and eliminations.
    Triangular,
    /// Statements at several depths, each with a different use of the loops around it.
    Mixed,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 8] = [
        Family::Contraction,
        Family::Stencil,
        Family::Reduction,
        Family::Recurrence,
        Family::Indirect,
        Family::Elementwise,
        Family::Triangular,
        Family::Mixed,
    ];

    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Family::Contraction => "contraction",
            Family::Stencil => "stencil",
            Family::Reduction => "reduction",
            Family::Recurrence => "recurrence",
            Family::Indirect => "indirect",
            Family::Elementwise => "elementwise",
            Family::Triangular => "triangular",
            Family::Mixed => "mixed",
        }
    }

    /// The family of this name.
    pub fn from_name(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|f| f.name() == name)
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The contents of an array before the nest runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Uniform in 0.1..1; integers in 0..10.
    #[default]
    Uniform,
    /// Integers in `0..bound`, where `bound` is the value of this symbol.
    Below(String),
    /// A diagonally dominant square matrix: 1..2 on the diagonal, the rest in 0..1 over the row length.
    Dominant,
}

/// A generated nest with everything that is needed to run it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratedNest {
    /// Unique in its file.
    pub id: String,
    /// Its kind.
    pub family: Family,
    /// The id of the first spelling of the same computation.
    pub group: String,
    /// How it is spelled, in words.
    pub spelling: String,
    /// The program as IR text; it has one nest.
    pub program: String,
    /// Values of the symbols by name.
    pub sizes: BTreeMap<String, i64>,
    /// Contents of arrays by name; others are [`Fill::Uniform`].
    pub fills: BTreeMap<String, Fill>,
    /// The seed it was drawn with, together with the number in its id.
    pub seed: u64,
    /// Estimate of one run by executions and costs of statements, in seconds.
    pub estimated_seconds: f64,
}

/// A file of nests cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NestError {
    /// It cannot be read or written.
    #[error("cannot use {path}")]
    Io {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A line is not a nest.
    #[error("{path}, line {line}: not a generated nest")]
    Line {
        /// The file.
        path: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The text is not a valid program with one nest.
    #[error("nest {id}: {what}")]
    Program {
        /// Of the nest.
        id: String,
        /// What is wrong.
        what: String,
    },
}

impl GeneratedNest {
    /// The program and its nest.
    ///
    /// # Errors
    /// If the text is not a valid program with one nest.
    pub fn parse(&self) -> Result<(Program, Nest), NestError> {
        let invalid = |what: String| NestError::Program { id: self.id.clone(), what };
        let program = Program::parse(&self.program).map_err(|e| invalid(e.to_string()))?;
        let nest = program.nests.values().next().cloned().ok_or_else(|| invalid("it has no nest".into()))?;
        Ok((program, nest))
    }

    /// Values of a program's symbols.
    pub fn values(&self, program: &Program) -> BTreeMap<SymId, i64> {
        symbol_values(program, &self.sizes)
    }
}

/// Values of a program's symbols, given by name.
pub fn symbol_values(program: &Program, sizes: &BTreeMap<String, i64>) -> BTreeMap<SymId, i64> {
    program.symbols.values().filter_map(|s| Some((s.id, *sizes.get(&s.name)?))).collect()
}

/// Reads a file of nests.
///
/// # Errors
/// If it cannot be read, or a line is not a nest.
pub fn read_nests(path: &Path) -> Result<Vec<GeneratedNest>, NestError> {
    let io = |source| NestError::Io { path: path.display().to_string(), source };
    let file = std::io::BufReader::new(std::fs::File::open(path).map_err(io)?);
    let mut nests = Vec::new();
    for (number, line) in file.lines().enumerate() {
        let line = line.map_err(io)?;
        if line.trim().is_empty() {
            continue;
        }
        let nest = serde_json::from_str(&line).map_err(|source| NestError::Line {
            path: path.display().to_string(),
            line: number + 1,
            source,
        })?;
        nests.push(nest);
    }
    Ok(nests)
}

/// Writes a file of nests.
///
/// # Errors
/// If it cannot be written.
pub fn write_nests(path: &Path, nests: &[GeneratedNest]) -> Result<(), NestError> {
    let io = |source| NestError::Io { path: path.display().to_string(), source };
    let mut text = String::new();
    for nest in nests {
        text += &serde_json::json!(nest).to_string();
        text.push('\n');
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder).map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}
