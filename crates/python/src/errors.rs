//! Failures as the exceptions of `oxeye.errors`.

use oxeye::{Error, Misfit, Unproved};
use oxeye_cli::Failure;
use oxeye_database::DatabaseError;
use pyo3::prelude::*;

/// An exception of the package.
#[derive(Clone, Debug)]
pub(crate) struct Raised {
    /// Name of its class.
    class: &'static str,
    message: String,
}

impl Raised {
    pub(crate) fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// A bug of ours.
    pub(crate) fn internal(what: &(dyn std::any::Any + Send)) -> Self {
        let text = what.downcast_ref::<String>().map(String::as_str).or(what.downcast_ref::<&str>().copied());
        let message = format!("internal error, please report it: {}", text.unwrap_or("unknown"));
        Self::new("InternalError", message)
    }
}

impl From<Failure> for Raised {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Words(message) => Self::new("InputError", message),
            Failure::Other(message) => Self::new("OxeyeError", message),
            Failure::Run(error) => error.into(),
        }
    }
}

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        let class = match &error {
            Error::Frontend(_) | Error::Build { .. } | Error::Project(_) => "CompileError",
            Error::ProgramRun { .. } => "ProgramError",
            Error::MissingSize { .. } | Error::Input(_) | Error::Log { .. } | Error::Io { .. } => {
                "InputError"
            }
            Error::Recipe { .. } => "RefusedError",
            Error::Database(_) => "DatabaseError",
            Error::Cancelled => "Cancelled",
            _ => "OxeyeError",
        };
        Self::new(class, error.to_string())
    }
}

impl From<DatabaseError> for Raised {
    fn from(error: DatabaseError) -> Self {
        Self::new("DatabaseError", error.to_string())
    }
}

impl From<Misfit> for Raised {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            // Where it stands is known to who asked.
            Misfit::Unproved { why: Unproved::Panicked(bug), .. } => {
                Self::new("InternalError", bug.to_string())
            }
            Misfit::Unproved { why, .. } => Self::new("RefusedError", why.to_string()),
            other => Self::new("RefusedError", other.to_string()),
        }
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        Python::attach(|py| {
            let class = py.import("oxeye.errors").and_then(|module| module.getattr(raised.class));
            match class.and_then(|class| class.call1((raised.message,))) {
                Ok(exception) => PyErr::from_value(exception),
                Err(error) => error,
            }
        })
    }
}
