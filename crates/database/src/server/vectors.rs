//! The indexes of pgvector.

use super::schema::Extension;
use oxeye_libpq::{Connection, Failure};

/// The most numbers of a vector that pgvector indexes.
const MOST_INDEXED: usize = 2000;
/// How many candidates are kept while a vector is put into an index (`hnsw.ef_construction`).
const N_KEPT_BUILDING: usize = 128;

/// The index for the vectors of a space, which is made with the space. Who may not make it goes without.
pub(crate) fn add_index(
    connection: &mut Connection,
    extension: &Extension,
    space: i64,
    dimension: usize,
) -> Result<(), Failure> {
    if !extension.is_iterative || dimension > MOST_INDEXED {
        return Ok(());
    }
    let schema = &extension.schema;
    connection.run("savepoint vectors")?;
    let made = connection.run(&format!(
        "create index entry_near_{space} on oxeye.entry
         using hnsw ((vector::{schema}.vector({dimension})) {schema}.vector_l2_ops)
         with (ef_construction = {N_KEPT_BUILDING}) where space = {space}"
    ));
    if made.is_err() {
        connection.run("rollback to savepoint vectors")?;
    }
    connection.run("release savepoint vectors")
}
