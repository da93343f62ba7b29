//! The extension module of the Python package `oxeye`: what its Python files are made on. It passes on words of the
//! command line and JSON; the classes that people see are in `python/oxeye`.

mod database;
mod errors;
mod reading;
mod running;
mod table;

use pyo3::prelude::*;

#[pymodule]
mod _oxeye {
    use super::errors::Raised;
    use super::running::attended;
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use super::database::Store;
    #[pymodule_export]
    use super::reading::Reading;
    #[pymodule_export]
    use super::table::Columns;

    /// Version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs a subcommand of the command line, and returns its report as JSON, its pages, and what else there is to say.
    #[pyfunction]
    #[pyo3(signature = (words, listener = None))]
    fn call(
        py: Python<'_>,
        words: Vec<OsString>,
        listener: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<String>, Option<String>)> {
        attended(py, listener.as_ref(), move |watch| {
            let answer = oxeye_cli::call(&words, watch).map_err(Raised::from)?;
            Ok((answer.json, answer.pages, answer.note))
        })
    }

    /// The command line itself, in place of this program.
    #[pyfunction]
    fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| oxeye_cli::run(words)).code()
    }

    /// Kills the children of a run that is left alone when Python ends.
    #[pyfunction]
    fn interrupt() {
        oxeye::interrupt();
    }
}
