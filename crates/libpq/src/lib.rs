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
mod failure;
mod library;

pub use address::{Setting, settings};
pub use connection::{Connection, Rows};
pub use failure::Failure;
pub use library::load;
