//! Named columns of numbers and words, and Parquet files of them.
//!
//! ```
//! # #[cfg(feature = "parquet")] {
//! use oxeye_columns::{Cells, read_parquet, write_parquet};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("table.parquet");
//! let sizes = Cells::Integers(vec![Some(3), None]);
//! write_parquet(&path, [("size", &sizes)])?;
//! let table = read_parquet(&path)?;
//! assert_eq!((table.n_rows(), table.integer("size", 0)?), (2, Some(3)));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without the feature `parquet` there are only the types. The crate computes nothing.

mod cells;
#[cfg(feature = "parquet")]
mod parquet;

pub use cells::{Cells, MissingColumn, Table};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetError, read_parquet, write_parquet};
