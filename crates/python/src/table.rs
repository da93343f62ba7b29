//! Tables that other libraries take over without copying through text: the Arrow PyCapsule interface.

use crate::errors::Raised;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use oxeye::NestProfile;
use oxeye_columns::Cells;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// Columns of whole numbers, numbers and words; cells may be empty.
#[pyclass(frozen, module = "oxeye._oxeye")]
pub(crate) struct Columns {
    batch: RecordBatch,
    meanings: Vec<(String, String)>,
}

fn failed(error: ArrowError) -> Raised {
    Raised::new("OxeyeError", format!("there is no such table: {error}"))
}

impl Columns {
    fn of(columns: Vec<(String, String, Cells)>) -> Result<Self, Raised> {
        let array = |cells: Cells| -> (DataType, ArrayRef) {
            match cells {
                Cells::Integers(cells) => (DataType::Int64, Arc::new(Int64Array::from(cells))),
                Cells::Numbers(cells) => (DataType::Float64, Arc::new(Float64Array::from(cells))),
                Cells::Texts(cells) => (DataType::Utf8, Arc::new(StringArray::from(cells))),
            }
        };
        let (mut fields, mut arrays, mut meanings) = (Vec::new(), Vec::new(), Vec::new());
        for (name, meaning, cells) in columns {
            let (kind, cells) = array(cells);
            fields.push(Field::new(&name, kind, true));
            arrays.push(cells);
            meanings.push((name, meaning));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(failed)?;
        Ok(Self { batch, meanings })
    }
}

#[pymethods]
impl Columns {
    /// From columns: names, meanings, kinds of cells (`int`, `float` or `str`), and the cells.
    #[new]
    fn new(columns: Vec<(String, String, String, Bound<'_, PyList>)>) -> PyResult<Self> {
        let cells = |kind: &str, cells: Bound<'_, PyList>| {
            Ok::<_, PyErr>(match kind {
                "int" => Cells::Integers(cells.extract()?),
                "float" => Cells::Numbers(cells.extract()?),
                _ => Cells::Texts(cells.extract()?),
            })
        };
        let columns = columns.into_iter();
        let columns = columns.map(|(name, meaning, kind, list)| Ok((name, meaning, cells(&kind, list)?)));
        Ok(Self::of(columns.collect::<PyResult<_>>()?)?)
    }

    /// The profiles of some nests, given as the JSON text of a list.
    #[staticmethod]
    fn of_profiles(json: &str) -> PyResult<Self> {
        let profiles: Vec<NestProfile> = serde_json::from_str(json)
            .map_err(|error| Raised::new("InputError", format!("these are no profiles: {error}")))?;
        let table = oxeye_profile::Table::of(&profiles);
        let columns = table.columns().iter();
        Ok(Self::of(columns.map(|c| (c.name.clone(), c.meaning.clone(), c.cells.clone())).collect())?)
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names and meanings.
    #[getter]
    fn meanings(&self) -> Vec<(String, String)> {
        self.meanings.clone()
    }

    /// The cells as lists, by the names of the columns.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for ((name, _), array) in self.meanings.iter().zip(self.batch.columns()) {
            let any = array.as_any();
            if let Some(cells) = any.downcast_ref::<Int64Array>() {
                columns.set_item(name, cells.iter().collect::<Vec<_>>())?;
            } else if let Some(cells) = any.downcast_ref::<Float64Array>() {
                columns.set_item(name, cells.iter().collect::<Vec<_>>())?;
            } else if let Some(cells) = any.downcast_ref::<StringArray>() {
                columns.set_item(name, cells.iter().collect::<Vec<_>>())?;
            }
        }
        Ok(columns)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Consumers may ask for other types; these columns have one type each.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
