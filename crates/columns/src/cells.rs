//! Columns in memory.

use std::collections::BTreeMap;

/// The cells of a column, some of which may be empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Words.
    Texts(Vec<Option<String>>),
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Integers(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table does not have what is asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingColumn {
    /// No column has the name.
    #[error("there is no column `{0}`")]
    Name(String),
    /// The column has cells of another kind.
    #[error("column `{0}` has cells of another kind")]
    Kind(String),
}

/// Columns by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(crate) columns: BTreeMap<String, Cells>,
    pub(crate) n_rows: usize,
}

impl Table {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The cells of a column, if it is there.
    pub fn cells(&self, name: &str) -> Option<&Cells> {
        self.columns.get(name)
    }

    /// The cell of a column of words.
    ///
    /// # Errors
    /// If there is no such column of words.
    pub fn text(&self, name: &str, row: usize) -> Result<Option<&str>, MissingColumn> {
        match self.column(name)? {
            Cells::Texts(cells) => Ok(cells.get(row).and_then(|cell| cell.as_deref())),
            _ => Err(MissingColumn::Kind(name.into())),
        }
    }

    /// The cell of a column of whole numbers.
    ///
    /// # Errors
    /// If there is no such column of whole numbers.
    pub fn integer(&self, name: &str, row: usize) -> Result<Option<i64>, MissingColumn> {
        match self.column(name)? {
            Cells::Integers(cells) => Ok(cells.get(row).copied().flatten()),
            _ => Err(MissingColumn::Kind(name.into())),
        }
    }

    /// The cell of a column of numbers.
    ///
    /// # Errors
    /// If there is no such column of numbers.
    pub fn number(&self, name: &str, row: usize) -> Result<Option<f64>, MissingColumn> {
        match self.column(name)? {
            Cells::Numbers(cells) => Ok(cells.get(row).copied().flatten()),
            _ => Err(MissingColumn::Kind(name.into())),
        }
    }

    fn column(&self, name: &str) -> Result<&Cells, MissingColumn> {
        self.columns.get(name).ok_or_else(|| MissingColumn::Name(name.into()))
    }
}
