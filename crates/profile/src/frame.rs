//! Tables as polars data frames, and as Parquet files.

use crate::table::{Cells, Table};
use polars_core::prelude::{Column, CompatLevel, DataFrame, NamedFrom, PolarsError, SchemaExt, Series};
use polars_parquet::write::{
    CompressionOptions, FileWriter, RowGroupIterator, StatisticsOptions, Version, WriteOptions,
    get_dtype_encoding,
};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A table could not become a frame or a file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Polars refuses it.
    #[error("cannot make a data frame of the table")]
    Polars(#[from] PolarsError),
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl Table {
    /// The table as a polars frame, with the same column names.
    ///
    /// # Errors
    /// [`TableError::Polars`] should polars refuse it.
    pub fn to_frame(&self) -> Result<DataFrame, TableError> {
        let columns: Vec<Column> = self
            .columns()
            .iter()
            .map(|column| {
                let name = column.name.as_str().into();
                let series = match &column.cells {
                    Cells::Integers(cells) => Series::new(name, cells.as_slice()),
                    Cells::Numbers(cells) => Series::new(name, cells.as_slice()),
                    Cells::Texts(cells) => Series::new(name, cells.as_slice()),
                };
                series.into()
            })
            .collect();
        Ok(DataFrame::new(self.n_rows(), columns)?)
    }

    /// Writes the table as an uncompressed Parquet file: whole, or not at all.
    ///
    /// # Errors
    /// [`TableError::Io`] if the file cannot be written, [`TableError::Polars`] should polars refuse the table.
    pub fn write_parquet(&self, path: &Path) -> Result<(), TableError> {
        let io = |source| TableError::Io { path: path.into(), source };
        let bytes = self.to_parquet()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Readable by whom the user's mask allows, not only by the user as temporary files are.
        let permissions = std::fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder).map_err(io)?;
        file.write_all(&bytes).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(path).map_err(|e| io(e.error))?;
        Ok(())
    }

    fn to_parquet(&self) -> Result<Vec<u8>, TableError> {
        let frame = self.to_frame()?;
        let level = CompatLevel::newest();
        let schema = frame.schema().to_arrow(level);
        let options = WriteOptions {
            statistics: StatisticsOptions::default(),
            version: Version::V1,
            compression: CompressionOptions::Uncompressed,
            data_page_size: None,
        };
        let encodings = schema.iter_values().map(|field| get_dtype_encoding(&field.dtype)).collect();
        let groups = frame.iter_chunks(level, false).filter(|batch| !batch.is_empty()).map(Ok);
        let groups = RowGroupIterator::try_new(groups, &schema, options, encodings)?;
        let mut writer = FileWriter::try_new(Vec::new(), schema, options)?;
        for group in groups {
            writer.write(self.n_rows() as u64, group?)?;
        }
        writer.end(None)?;
        Ok(writer.into_inner())
    }
}
