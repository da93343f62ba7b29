//! What `oxeye values` found, as a tuning run takes it.

use super::{Error, files};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Name and version of the form of reports on values.
pub const VALUES_SCHEMA: &str = "oxeye.values/1";

/// A recipe that profits from what values have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ValueRecipe {
    /// A version of the nest for one value, behind a test.
    #[serde(rename = "specialisation")]
    Specialisation,
    /// Loops split where values change.
    #[serde(rename = "splitting")]
    Splitting,
    /// A test for zero around what is multiplied with it.
    #[serde(rename = "zero guard")]
    ZeroGuard,
    /// Stores left out.
    #[serde(rename = "dead store")]
    DeadStore,
    /// A narrower type.
    #[serde(rename = "narrower storage")]
    NarrowerStorage,
    /// An expression in place of the array.
    #[serde(rename = "computing it")]
    ComputingIt,
}

impl fmt::Display for ValueRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueRecipe::Specialisation => "specialisation",
            ValueRecipe::Splitting => "splitting",
            ValueRecipe::ZeroGuard => "zero guard",
            ValueRecipe::DeadStore => "dead store",
            ValueRecipe::NarrowerStorage => "narrower storage",
            ValueRecipe::ComputingIt => "computing it",
        })
    }
}

/// One finding, as far as a recipe is made from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundValue {
    /// The array, by its name in the source.
    pub array: String,
    /// Function of the nest.
    pub function: String,
    /// First line of the nest.
    pub line: u32,
    /// Lines of the accesses.
    pub lines: Vec<u32>,
    /// What was found, such as `zeros`.
    pub pattern: String,
    /// The value, if all accesses have one, as a C literal without a suffix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The recipe that would profit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<ValueRecipe>,
}

/// The findings of a report on values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundValues {
    schema: String,
    /// All of them.
    pub findings: Vec<FoundValue>,
}

impl FoundValues {
    /// Reads the report that `oxeye inspect --json` wrote.
    ///
    /// # Errors
    /// If the file cannot be read, or is no such report.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = files::read_text(path)?;
        let refuse = |why: String| {
            Error::Input(format!("{} is no report of `oxeye inspect --json`: {why}", path.display()))
        };
        let mut report: serde_json::Value = serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
        // A report of `oxeye inspect` has that on values as a part.
        let values = report.get_mut("values").map(serde_json::Value::take).unwrap_or(report);
        let found: Self = serde_json::from_value(values).map_err(|e| refuse(e.to_string()))?;
        match found.schema == VALUES_SCHEMA {
            true => Ok(found),
            false => Err(refuse(format!("its schema is `{}`, not `{VALUES_SCHEMA}`", found.schema))),
        }
    }
}

impl From<Vec<FoundValue>> for FoundValues {
    fn from(findings: Vec<FoundValue>) -> Self {
        Self { schema: VALUES_SCHEMA.to_owned(), findings }
    }
}
