//! Columns as Parquet files.

use crate::{Cells, Table};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError as Refusal;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ParquetError {
    /// It cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The columns cannot be one table.
    #[error("no table can be made of these columns")]
    Columns(#[source] Refusal),
    /// It is not a Parquet file, is damaged, or has other columns than those of [`Cells`].
    #[error("{} is not a table of numbers and words", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Refusal,
    },
}

/// Writes columns of equal length as an uncompressed Parquet file of one row group: whole, or not at all.
///
/// # Errors
/// If the columns differ in length or two have one name, or the file cannot be written.
pub fn write_parquet<'a>(
    path: &Path,
    columns: impl IntoIterator<Item = (&'a str, &'a Cells)>,
) -> Result<(), ParquetError> {
    let io = |source| ParquetError::Write { path: path.into(), source };
    let columns: Vec<(&str, &Cells)> = columns.into_iter().collect();
    let bytes = encoded(&columns).map_err(ParquetError::Columns)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable by whom the user's mask allows, not only by the user as temporary files are.
    let permissions = std::fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder).map_err(io)?;
    file.write_all(&bytes).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}

fn encoded(columns: &[(&str, &Cells)]) -> Result<Vec<u8>, Refusal> {
    let n_rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let mut names = BTreeSet::new();
    for (name, cells) in columns {
        if !names.insert(name) {
            return Err(Refusal::General(format!("two columns are called `{name}`")));
        }
        if cells.len() != n_rows {
            return Err(Refusal::General(format!(
                "column `{name}` has {} cells, others {n_rows}",
                cells.len()
            )));
        }
    }
    let fields = columns.iter().map(|(name, cells)| field(name, cells)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_created_by("oxeye".into());
    let properties = properties.set_max_row_group_row_count(None).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    if n_rows > 0 {
        let mut group = writer.next_row_group()?;
        for (_, cells) in columns {
            let column =
                group.next_column()?.ok_or_else(|| Refusal::General("a column is missing".into()))?;
            match cells {
                Cells::Integers(cells) => write::<Int64Type>(column, cells.iter().copied())?,
                Cells::Numbers(cells) => write::<DoubleType>(column, cells.iter().copied())?,
                Cells::Texts(cells) => {
                    let texts = cells.iter().map(|cell| cell.as_deref().map(ByteArray::from));
                    write::<ByteArrayType>(column, texts)?;
                }
            }
        }
        group.close()?;
    }
    writer.into_inner()
}

fn field(name: &str, cells: &Cells) -> Result<TypePtr, Refusal> {
    let (physical, logical) = match cells {
        Cells::Integers(_) => (Physical::INT64, None),
        Cells::Numbers(_) => (Physical::DOUBLE, None),
        Cells::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).build()?))
}

fn write<T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), Refusal> {
    let mut values = Vec::new();
    let levels: Vec<i16> = cells.map(|cell| cell.map(|value| values.push(value)).is_some().into()).collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

/// Reads a file with columns of whole numbers, numbers and words, such as [`write_parquet`] writes.
///
/// # Errors
/// If the file cannot be read, is damaged, or has other columns.
pub fn read_parquet(path: &Path) -> Result<Table, ParquetError> {
    let file =
        std::fs::File::open(path).map_err(|source| ParquetError::Read { path: path.into(), source })?;
    decoded(file).map_err(|source| ParquetError::Content { path: path.into(), source })
}

fn decoded(file: std::fs::File) -> Result<Table, Refusal> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut table = Table::default();
    for column in schema.columns() {
        let none = match column.physical_type() {
            Physical::INT64 => Cells::Integers(Vec::new()),
            Physical::DOUBLE => Cells::Numbers(Vec::new()),
            Physical::BYTE_ARRAY => Cells::Texts(Vec::new()),
            other => {
                return Err(Refusal::General(format!("column `{}` has cells of {other}", column.name())));
            }
        };
        if table.columns.insert(column.name().to_owned(), none).is_some() {
            return Err(Refusal::General(format!("two columns are called `{}`", column.name())));
        }
    }
    for k in 0..reader.num_row_groups() {
        let group = reader.get_row_group(k)?;
        let n_rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| Refusal::General("a negative number of rows".into()))?;
        table.n_rows += n_rows;
        for (position, column) in schema.columns().iter().enumerate() {
            let known = table.columns.get_mut(column.name());
            match (known, group.get_column_reader(position)?) {
                (Some(Cells::Integers(known)), ColumnReader::Int64ColumnReader(column)) => {
                    known.extend(cells(column, n_rows, Ok)?);
                }
                (Some(Cells::Numbers(known)), ColumnReader::DoubleColumnReader(column)) => {
                    known.extend(cells(column, n_rows, Ok)?);
                }
                (Some(Cells::Texts(known)), ColumnReader::ByteArrayColumnReader(column)) => {
                    known.extend(cells(column, n_rows, |bytes| Ok(bytes.as_utf8()?.to_owned()))?);
                }
                _ => return Err(Refusal::General(format!("column `{}` changes its type", column.name()))),
            }
        }
    }
    Ok(table)
}

/// The cells of a column of one row group.
fn cells<T: DataType, V>(
    mut column: ColumnReaderImpl<T>,
    n_rows: usize,
    value_of: impl Fn(T::T) -> Result<V, Refusal>,
) -> Result<Vec<Option<V>>, Refusal> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut n_read = 0;
    while n_read < n_rows {
        let (records, ..) = column.read_records(n_rows - n_read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(Refusal::General("a column is cut off".into()));
        }
        n_read += records;
    }
    let mut values = values.into_iter();
    // A column that may not be empty has no levels.
    if levels.is_empty() {
        return values.map(|value| value_of(value).map(Some)).collect();
    }
    let cell = |level: i16| match level {
        0 => Ok(None),
        _ => values.next().map(&value_of).transpose(),
    };
    levels.into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.parquet");
        let integers = Cells::Integers(vec![Some(i64::MAX), None, Some(-1)]);
        let numbers = Cells::Numbers(vec![None, Some(0.1), Some(f64::MIN_POSITIVE)]);
        let texts = Cells::Texts(vec![Some("ä, \"b\"\n".into()), Some(String::new()), None]);
        let columns = [("i", &integers), ("n", &numbers), ("t", &texts)];
        write_parquet(&path, columns).expect("the folder is writable");
        let table = read_parquet(&path).expect("it was written");
        assert_eq!(table.n_rows(), 3);
        for (name, cells) in columns {
            assert_eq!(table.cells(name), Some(cells));
        }
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            1,
            "nothing is left beside it"
        );
        write_parquet(&path, [("i", &Cells::Integers(Vec::new()))]).expect("a table without rows is one");
        assert_eq!(read_parquet(&path).expect("it was written").n_rows(), 0);
    }

    #[test]
    fn errors_name_the_file_or_the_columns() {
        let cells = Cells::Integers(vec![Some(1)]);
        let error =
            write_parquet("/nowhere/at/all.parquet".as_ref(), [("x", &cells)]).expect_err("no folder");
        assert_eq!(error.to_string(), "cannot write /nowhere/at/all.parquet");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.parquet");
        let longer = Cells::Integers(vec![None; 2]);
        assert!(matches!(
            write_parquet(&path, [("x", &cells), ("y", &longer)]),
            Err(ParquetError::Columns(_))
        ));
        assert!(matches!(
            write_parquet(&path, [("x", &cells), ("x", &cells)]),
            Err(ParquetError::Columns(_))
        ));
        assert!(!path.exists());
        std::fs::write(&path, "PAR1 is not enough").expect("a file");
        assert!(matches!(read_parquet(&path), Err(ParquetError::Content { .. })));
        write_parquet(&path, [("x", &cells)]).expect("a table");
        let whole = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &whole[..whole.len() - 20]).expect("a file");
        assert!(matches!(read_parquet(&path), Err(ParquetError::Content { .. })));
        let table = Table { columns: BTreeMap::from([("x".into(), cells)]), n_rows: 1 };
        assert_eq!(table.text("y", 0).expect_err("no y").to_string(), "there is no column `y`");
        assert_eq!(
            table.text("x", 0).expect_err("no text").to_string(),
            "column `x` has cells of another kind"
        );
    }
}
