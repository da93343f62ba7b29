//! The `.sdfg` file as a document: all of it, known or not.

use crate::error::SdfgError;
use crate::json::{Json, Layout};
use crate::model::Graph;

/// A DaCe program as it stands in its file.
///
/// ```
/// use oxeye_sdfg::Sdfg;
///
/// let text = r#"{"type": "SDFG", "attributes": {"name": "empty", "custom": 1e+3}, "nodes": [], "edges": []}"#;
/// let sdfg = Sdfg::parse(text)?;
/// assert_eq!(sdfg.write(), text);
/// # Ok::<(), oxeye_sdfg::SdfgError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sdfg {
    document: Json,
    layout: Layout,
}

impl Sdfg {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If the text is not JSON, or no SDFG.
    pub fn parse(text: &str) -> Result<Self, SdfgError> {
        let document = Json::parse(text)?;
        let sdfg = Self { document, layout: Layout::of(text) };
        sdfg.graph()?;
        Ok(sdfg)
    }

    /// The text of the file, laid out as it was read.
    pub fn write(&self) -> String {
        self.document.write(self.layout)
    }

    /// The document.
    pub fn document(&self) -> &Json {
        &self.document
    }

    /// The document, to be changed.
    pub fn document_mut(&mut self) -> &mut Json {
        &mut self.document
    }

    /// What it says, with references checked.
    ///
    /// # Errors
    /// If something is missing, is of the wrong type, or refers to what is not there.
    pub fn graph(&self) -> Result<Graph, SdfgError> {
        Graph::read(&self.document)
    }
}
