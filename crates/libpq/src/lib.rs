//! PostgreSQL's own client library, libpq, loaded when it is first needed: nothing of it is needed to build or to run
//! without a server, and addresses, TLS, service files and `.pgpass` are what they are for every other client of a site.
//!
//! ```no_run
//! let mut connection = oxeye_libpq::Connection::open("postgresql://db.example.org/recipes", &[])?;
//! let rows = connection.query("select 1 + $1::int", &[Some("2")])?;
//! assert_eq!(rows.text(0, 0), Some("3"));
//! # Ok::<(), oxeye_libpq::Failure>(())
//! ```
//!
//! Functions and constants are those of PostgreSQL's documentation, chapter "libpq".

mod address;
mod connection;
mod library;

pub use address::{Setting, settings};
pub use connection::{Connection, Rows};

/// Whether libpq is there; it is loaded if it was not yet.
///
/// # Errors
/// If it is missing.
pub fn load() -> Result<(), Failure> {
    library::library().map(drop)
}

/// Why the server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// One line.
    pub message: String,
    /// The five characters of SQLSTATE, where the server has sent any.
    pub state: Option<String>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), state: None }
    }
}

/// The lines of a message of libpq as one.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}
