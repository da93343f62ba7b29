//! Entries as rows of a server's tables.

use super::schema::Extension;
use super::vectors;
use crate::store::{PutError, Weight};
use crate::{
    AddOutcome, Addition, Change, Embedding, EmbeddingSpace, Entry, EntryId, NewEntry, NodeEmbedding,
    NormalForm, Timestamp,
};
use oxeye_libpq::{Connection, Failure, Rows};
use serde::de::DeserializeOwned;
use serde_json::json;

impl From<Failure> for PutError<Failure> {
    fn from(failure: Failure) -> Self {
        Self::Rows(failure)
    }
}

const SELECT: &str = "
select e.id, e.n_added, e.content, e.nest, n.text, array_to_json(e.vector), e.nodes, s.feature_schema, s.model, s.model_hash
from oxeye.entry e
join oxeye.nest n on n.hash = e.nest
left join oxeye.space s on s.id = e.space
";

/// The entries that an SQL condition on `e` selects, in its order.
pub(crate) fn select(
    connection: &mut Connection,
    condition: &str,
    parameters: &[Option<&str>],
) -> Result<Vec<Entry>, Failure> {
    let rows = connection.query(&format!("{SELECT} {condition}"), parameters)?;
    (0..rows.len()).map(|row| entry(&rows, row)).collect()
}

fn entry(rows: &Rows, row: usize) -> Result<Entry, Failure> {
    let mut content: NewEntry = parsed(rows, row, 2, "content")?;
    content.nest.hash = text(rows, row, 3, "nest")?.to_owned();
    content.nest.text = rows.text(row, 4).unwrap_or(NormalForm::WITHHELD).to_owned();
    if let Some(model) = rows.text(row, 8) {
        let space = EmbeddingSpace {
            feature_schema: parsed(rows, row, 7, "feature_schema")?,
            model: model.to_owned(),
            model_hash: text(rows, row, 9, "model_hash")?.to_owned(),
        };
        let nodes: Vec<NodeEmbedding> = parsed(rows, row, 6, "nodes")?;
        content.embedding = Some(Embedding { space, nest: parsed(rows, row, 5, "vector")?, nodes });
    }
    let id = EntryId::Own(parsed(rows, row, 0, "id")?);
    Ok(Entry { id, n_added: parsed(rows, row, 1, "n_added")?, content })
}

fn text<'r>(rows: &'r Rows, row: usize, column: usize, name: &str) -> Result<&'r str, Failure> {
    rows.text(row, column).ok_or_else(|| unreadable(name, "nothing"))
}

/// A value in JSON, which numbers are as well.
fn parsed<T: DeserializeOwned>(rows: &Rows, row: usize, column: usize, name: &str) -> Result<T, Failure> {
    let text = text(rows, row, column, name)?;
    serde_json::from_str(text).map_err(|e| unreadable(name, &e.to_string()))
}

/// The failure for contents that tables of ours never have.
fn unreadable(column: &str, what: &str) -> Failure {
    Failure { message: format!("an entry's {column} holds {what}"), state: None }
}

/// The first value of the first row as a number.
pub(crate) fn number(rows: &Rows) -> Option<i64> {
    rows.text(0, 0)?.parse().ok()
}

/// Numbers as PostgreSQL writes an array of them.
pub(crate) fn array(numbers: &[f32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f32::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// The space of an embedding, if any entry has it.
pub(crate) fn space(connection: &mut Connection, embedding: &Embedding) -> Result<Option<i64>, Failure> {
    let EmbeddingSpace { feature_schema, model, model_hash } = &embedding.space;
    let rows = connection.query(
        "select id from oxeye.space where feature_schema = $1::integer and model = $2 and model_hash = $3
         and dimension = $4::integer",
        &[
            Some(&feature_schema.to_string()),
            Some(model),
            Some(model_hash),
            Some(&embedding.nest.len().to_string()),
        ],
    )?;
    Ok(number(&rows))
}

/// A writer within its transaction, which holds the lock of writers.
pub(crate) struct Writer<'c> {
    pub(crate) connection: &'c mut Connection,
    pub(crate) extension: Option<&'c Extension>,
    /// Who lets these entries leave their machine.
    pub(crate) person: &'c str,
}

impl Writer<'_> {
    /// Adds one entry, or updates the one of its identity.
    pub(crate) fn put(&mut self, addition: &Addition) -> Result<AddOutcome, PutError<Failure>> {
        let new = &addition.content;
        self.nest(&new.nest)?;
        let identity = json!({ "recipe": new.recipe, "context": new.context }).to_string();
        let rows = self.connection.query(
            "select id, n_added, n_samples, extract(epoch from created_at)::bigint, space is not null
             from oxeye.entry where nest = $1 and md5(identity) = md5($2) and identity = $2",
            &[Some(&new.nest.hash), Some(&identity)],
        )?;
        if rows.is_empty() {
            let n_added = addition.count.after(0);
            let id = self.write(new, &identity, n_added, None)?;
            return Ok(AddOutcome { id: EntryId::Own(id), change: Change::Inserted });
        }
        let id: u64 = parsed(&rows, 0, 0, "id")?;
        let n_added = addition.count.after(parsed(&rows, 0, 1, "n_added")?);
        let created_at = Timestamp::from_unix_seconds(parsed(&rows, 0, 3, "created_at")?).unwrap_or_default();
        let old = Weight { n_samples: parsed(&rows, 0, 2, "n_samples")?, created_at };
        let has_embedding = rows.text(0, 4) == Some("t");
        let change = if Weight::of(new) > old {
            self.write(new, &identity, n_added, Some(id))?;
            Change::Replaced
        } else {
            self.connection.query(
                "update oxeye.entry set n_added = $2::bigint where id = $1::bigint",
                &[Some(&id.to_string()), Some(&n_added.to_string())],
            )?;
            Change::Kept
        };
        let is_open = change == Change::Replaced || !has_embedding;
        if let (true, Some(embedding)) = (is_open, &new.embedding) {
            self.set_embedding(id, embedding)?;
        }
        Ok(AddOutcome { id: EntryId::Own(id), change })
    }

    fn nest(&mut self, nest: &NormalForm) -> Result<(), PutError<Failure>> {
        let shared = (nest.text != NormalForm::WITHHELD).then_some(nest.text.as_str());
        let known =
            self.connection.query("select text from oxeye.nest where hash = $1", &[Some(&nest.hash)])?;
        match (known.is_empty(), known.text(0, 0), shared) {
            (true, ..) => {
                let insert = "insert into oxeye.nest (hash, text) values ($1, $2)";
                self.connection.query(insert, &[Some(&nest.hash), shared])?;
            }
            (false, None, Some(_)) => {
                let update = "update oxeye.nest set text = $2 where hash = $1";
                self.connection.query(update, &[Some(&nest.hash), shared])?;
            }
            (false, Some(known), Some(shared)) if known != shared => return Err(PutError::Conflict),
            _ => {}
        }
        Ok(())
    }

    /// Inserts or replaces a row, all but its embedding if it is there already, and returns its id.
    fn write(
        &mut self,
        new: &NewEntry,
        identity: &str,
        n_added: u64,
        id: Option<u64>,
    ) -> Result<u64, Failure> {
        let bare = NewEntry {
            embedding: None,
            nest: NormalForm { hash: new.nest.hash.clone(), text: String::new() },
            ..new.clone()
        };
        let content = serde_json::to_string(&bare).map_err(|e| unreadable("content", &e.to_string()))?;
        let statement = match id {
            None => INSERT,
            Some(_) => UPDATE,
        };
        let rows = self.connection.query(
            statement,
            &[
                id.map(|id| id.to_string()).as_deref(),
                Some(&new.nest.hash),
                Some(identity),
                Some(new.verdict.kind().name()),
                new.speedup().map(|speedup| speedup.to_string()).as_deref(),
                Some(&new.n_samples.to_string()),
                Some(&new.context.host_key),
                Some(&new.context.threads.to_string()),
                Some(&new.context.compiler),
                Some(&new.compiler_version),
                Some(new.context.policy.name()),
                Some(&new.created_at.unix_seconds().to_string()),
                Some(&n_added.to_string()),
                Some(&content),
                Some(self.person),
            ],
        )?;
        let id = parsed(&rows, 0, 0, "id")?;
        if let (INSERT, Some(embedding)) = (statement, &new.embedding) {
            self.set_embedding(id, embedding)?;
        }
        Ok(id)
    }

    /// Gives an entry another embedding; `false` if there is no such entry.
    pub(crate) fn set_embedding(&mut self, id: u64, embedding: &Embedding) -> Result<bool, Failure> {
        let space = self.space(embedding)?;
        let nodes =
            serde_json::to_string(&embedding.nodes).map_err(|e| unreadable("nodes", &e.to_string()))?;
        let rows = self.connection.query(
            "update oxeye.entry
             set space = $2::integer, vector = $3::real[], nodes = $4::json
             where id = $1::bigint returning id",
            &[Some(&id.to_string()), Some(&space.to_string()), Some(&array(&embedding.nest)), Some(&nodes)],
        )?;
        Ok(!rows.is_empty())
    }

    /// The space of an embedding, made if it is new.
    fn space(&mut self, embedding: &Embedding) -> Result<i64, Failure> {
        if let Some(known) = space(self.connection, embedding)? {
            return Ok(known);
        }
        let EmbeddingSpace { feature_schema, model, model_hash } = &embedding.space;
        let dimension = embedding.nest.len();
        let rows = self.connection.query(
            "insert into oxeye.space (id, feature_schema, model, model_hash, dimension)
             select coalesce(max(id), 0) + 1, $1::integer, $2, $3, $4::integer from oxeye.space returning id",
            &[Some(&feature_schema.to_string()), Some(model), Some(model_hash), Some(&dimension.to_string())],
        )?;
        let id = number(&rows).unwrap_or_default();
        if let Some(extension) = self.extension {
            vectors::add_index(self.connection, extension, id, dimension)?;
        }
        Ok(id)
    }
}

const INSERT: &str = "
insert into oxeye.entry (id, nest, identity, verdict, speedup, n_samples, host_key, threads, compiler, compiler_version,
    policy, created_at, n_added, content, allowed_by)
select coalesce($1::bigint, max(id) + 1, 1), $2, $3, $4, $5::float8, $6::bigint, $7, $8::bigint, $9, $10, $11,
    to_timestamp($12::float8), $13::bigint, $14::json, $15
from oxeye.entry returning id";

const UPDATE: &str = "
update oxeye.entry set nest = $2, identity = $3, verdict = $4, speedup = $5::float8, n_samples = $6::bigint, host_key = $7,
    threads = $8::bigint, compiler = $9, compiler_version = $10, policy = $11, created_at = to_timestamp($12::float8),
    n_added = $13::bigint, content = $14::json, allowed_by = $15, stored_at = now()
where id = $1::bigint returning id";
