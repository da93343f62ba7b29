//! Tables as polars data frames.

use crate::table::Table;
use oxeye_columns::Cells;
use polars_core::prelude::{Column, DataFrame, NamedFrom, PolarsResult, Series};

impl Table {
    /// The table as a polars frame, with the same column names.
    ///
    /// # Errors
    /// None in practice: columns have one length, and names of their own.
    pub fn to_frame(&self) -> PolarsResult<DataFrame> {
        let columns = self.columns().iter().map(|column| {
            let name = column.name.as_str().into();
            let series = match &column.cells {
                Cells::Integers(cells) => Series::new(name, cells.as_slice()),
                Cells::Numbers(cells) => Series::new(name, cells.as_slice()),
                Cells::Texts(cells) => Series::new(name, cells.as_slice()),
            };
            Column::from(series)
        });
        DataFrame::new(self.n_rows(), columns.collect())
    }
}
