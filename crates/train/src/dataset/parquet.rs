//! Columns as Parquet files, through polars.

use polars_core::prelude::{
    Column as Frame, CompatLevel, DataFrame, NamedFrom, PolarsError, SchemaExt, Series,
};
use polars_parquet::read::{
    BasicDecompressor, PageReader, column_iter_to_arrays, infer_schema, read_metadata,
};
use polars_parquet::write::{
    CompressionOptions, FileWriter, RowGroupIterator, StatisticsOptions, Version, WriteOptions,
    get_dtype_encoding,
};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A dataset cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Polars refuses it.
    #[error("not a table that polars can handle")]
    Polars(#[from] PolarsError),
    /// It does not hold what it should.
    #[error("not a dataset of this version: {what}")]
    Content {
        /// What is wrong.
        what: String,
    },
}

/// A column to write.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cells: Cells,
}

/// Its cells, some of which may be empty.
pub(super) enum Cells {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

/// Columns of a file.
pub(super) struct Columns {
    columns: BTreeMap<String, Series>,
    n_rows: usize,
}

/// The bytes of a Parquet file of one row group.
pub(super) fn encode(columns: &[Column]) -> Result<Vec<u8>, TableError> {
    let n_rows = columns.first().map_or(0, |c| match &c.cells {
        Cells::Integers(cells) => cells.len(),
        Cells::Numbers(cells) => cells.len(),
        Cells::Texts(cells) => cells.len(),
    });
    let frames: Vec<Frame> = columns
        .iter()
        .map(|column| {
            let name = column.name.as_str().into();
            match &column.cells {
                Cells::Integers(cells) => Series::new(name, cells.as_slice()),
                Cells::Numbers(cells) => Series::new(name, cells.as_slice()),
                Cells::Texts(cells) => Series::new(name, cells.as_slice()),
            }
            .into()
        })
        .collect();
    let frame = DataFrame::new(n_rows, frames)?;
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
        writer.write(n_rows as u64, group?)?;
    }
    writer.end(None)?;
    Ok(writer.into_inner())
}

/// The columns of a Parquet file.
pub(super) fn decode(path: &Path) -> Result<Columns, TableError> {
    let bytes = std::fs::read(path).map_err(|source| TableError::Io { path: path.to_owned(), source })?;
    let metadata = read_metadata(&mut Cursor::new(&bytes))?;
    let schema = infer_schema(&metadata)?;
    let mut columns: BTreeMap<String, Series> = BTreeMap::new();
    for group in &metadata.row_groups {
        for chunk in group.parquet_columns() {
            let name = chunk.descriptor().path_in_schema[0].as_str();
            let Some(field) = schema.get(name) else { continue };
            let range = chunk.byte_range();
            let page_bytes = bytes.get(range.start as usize..range.end as usize).map(<[u8]>::to_vec);
            let page_bytes =
                page_bytes.ok_or_else(|| TableError::Content { what: "it is cut off".into() })?;
            let pages = PageReader::new(Cursor::new(page_bytes.into()), chunk, Vec::new(), usize::MAX);
            let types = vec![&chunk.descriptor().descriptor.primitive_type];
            let decompressor = vec![BasicDecompressor::new(pages, Vec::new())];
            let (arrays, _) = column_iter_to_arrays(decompressor, types, field.clone(), None)?;
            for array in arrays {
                let series = Series::from_arrow(name.into(), array)?;
                match columns.get_mut(name) {
                    Some(known) => {
                        known.append(&series)?;
                    }
                    None => {
                        columns.insert(name.to_owned(), series);
                    }
                }
            }
        }
    }
    Ok(Columns { n_rows: metadata.num_rows, columns })
}

impl Columns {
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn column(&self, name: &str) -> Result<&Series, TableError> {
        self.columns
            .get(name)
            .ok_or_else(|| TableError::Content { what: format!("there is no column `{name}`") })
    }

    pub(super) fn text(&self, name: &str, row: usize) -> Result<Option<String>, TableError> {
        Ok(self.column(name)?.str()?.get(row).map(str::to_owned))
    }

    pub(super) fn integer(&self, name: &str, row: usize) -> Result<Option<i64>, TableError> {
        Ok(self.column(name)?.i64()?.get(row))
    }

    pub(super) fn number(&self, name: &str, row: usize) -> Result<Option<f64>, TableError> {
        Ok(self.column(name)?.f64()?.get(row))
    }
}
