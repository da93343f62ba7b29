//! Entries as rows of tables.

use crate::store::{PutError, Weight};
use crate::{
    AddOutcome, Addition, Change, Context, Embedding, EmbeddingSpace, Entry, EntryId, FpPolicy, Json,
    Measured, NewEntry, NodeEmbedding, NormalForm, Origin, Provenance, RecipeText, Speedup, Timestamp,
    Verdict, VerdictKind,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params, params};
use serde::{Deserialize, Serialize};

impl From<rusqlite::Error> for PutError<rusqlite::Error> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Rows(error)
    }
}

const SELECT: &str = "
select e.id, e.n_added, n.hash, n.text, r.format, r.steps, e.verdict, e.failure, e.baseline_seconds, e.best_seconds,
    e.speedup, e.speedup_low, e.speedup_high, e.speedup_confidence, e.n_samples, e.host_key, h.summary, e.threads,
    e.compiler, e.compiler_version, e.flags, e.policy, e.sizes, e.origin, e.imported_from, e.created_at,
    e.oxeye_version, s.feature_schema, s.model, s.model_hash, b.vector, b.nodes, b.node_vectors
from entry e
join nest n on n.id = e.nest
join recipe r on r.id = e.recipe
join host h on h.id = e.host
left join embedding b on b.id = e.embedding
left join space s on s.id = b.space
";

/// The entries that an SQL condition on `e` and `n` selects, in its order.
pub(crate) fn select(
    connection: &Connection,
    condition: &str,
    parameters: &[&dyn ToSql],
) -> rusqlite::Result<Vec<Entry>> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} {condition}"))?;
    let rows = statement.query_map(parameters, entry)?;
    rows.collect()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let verdict: String = row.get("verdict")?;
    let verdict = match VerdictKind::from_name(&verdict) {
        Some(VerdictKind::Gained) => Verdict::Gained,
        Some(VerdictKind::Slowed) => Verdict::Slowed,
        Some(VerdictKind::Even) => Verdict::Even,
        Some(VerdictKind::Failed) => {
            Verdict::Failed(row.get::<_, Option<String>>("failure")?.unwrap_or_default())
        }
        None => return Err(unreadable(format!("the verdict `{verdict}`"))),
    };
    let baseline_seconds: Option<f64> = row.get("baseline_seconds")?;
    let measured = match baseline_seconds {
        None => None,
        Some(baseline_seconds) => Some(Measured {
            baseline_seconds,
            best_seconds: row.get("best_seconds")?,
            speedup: Speedup {
                median: row.get("speedup")?,
                low: row.get("speedup_low")?,
                high: row.get("speedup_high")?,
                confidence: row.get("speedup_confidence")?,
            },
        }),
    };
    let policy: String = row.get("policy")?;
    let origin: String = row.get("origin")?;
    let content = NewEntry {
        nest: NormalForm { hash: row.get("hash")?, text: row.get("text")? },
        embedding: embedding(row)?,
        recipe: RecipeText { format: row.get("format")?, steps: json(row, "steps")? },
        verdict,
        measured,
        n_samples: row.get("n_samples")?,
        context: Context {
            host_key: row.get("host_key")?,
            compiler: row.get("compiler")?,
            flags: parsed(row, "flags")?,
            threads: row.get("threads")?,
            policy: FpPolicy::from_name(&policy)
                .ok_or_else(|| unreadable(format!("the policy `{policy}`")))?,
        },
        compiler_version: row.get("compiler_version")?,
        host_summary: json(row, "summary")?,
        sizes: parsed(row, "sizes")?,
        provenance: Provenance {
            origin: Origin::from_name(&origin).ok_or_else(|| unreadable(format!("the origin `{origin}`")))?,
            imported_from: row.get("imported_from")?,
        },
        created_at: Timestamp::from_unix_seconds(row.get("created_at")?)
            .ok_or_else(|| unreadable("a time out of range".into()))?,
        oxeye_version: row.get("oxeye_version")?,
    };
    Ok(Entry { id: EntryId::Own(row.get("id")?), n_added: row.get("n_added")?, content })
}

fn embedding(row: &Row<'_>) -> rusqlite::Result<Option<Embedding>> {
    let Some(model) = row.get::<_, Option<String>>("model")? else { return Ok(None) };
    let space = EmbeddingSpace {
        feature_schema: row.get("feature_schema")?,
        model,
        model_hash: row.get("model_hash")?,
    };
    let labels: Vec<NodeLabel> = parsed(row, "nodes")?;
    let vectors = floats(row.get_ref("node_vectors")?.as_blob()?)?;
    let dimension = vectors.len() / labels.len().max(1);
    if dimension * labels.len() != vectors.len() || (dimension == 0 && !labels.is_empty()) {
        return Err(unreadable(format!("{} numbers for {} nodes", vectors.len(), labels.len())));
    }
    let nodes = labels.into_iter().enumerate().map(|(k, label)| {
        let vector = vectors[k * dimension..(k + 1) * dimension].to_vec();
        NodeEmbedding { id: label.id, kind: label.kind, vector }
    });
    Ok(Some(Embedding { space, nest: floats(row.get_ref("vector")?.as_blob()?)?, nodes: nodes.collect() }))
}

/// A node in the column `nodes`.
#[derive(Serialize, Deserialize)]
struct NodeLabel {
    id: String,
    kind: String,
}

/// Numbers of a blob.
pub(crate) fn floats(blob: &[u8]) -> rusqlite::Result<Vec<f32>> {
    let (numbers, rest) = blob.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(unreadable(format!("a vector of {} bytes", blob.len())));
    }
    Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn blob<'v>(numbers: impl IntoIterator<Item = &'v f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn parsed<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|e| unreadable(format!("{column}: {e}")))
}

fn json(row: &Row<'_>, column: &str) -> rusqlite::Result<Json> {
    let text: String = row.get(column)?;
    Json::parse(&text).map_err(|e| unreadable(format!("{column}: {e}")))
}

/// The error for contents that an intact file of ours never has.
fn unreadable(what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what.into())
}

fn json_text<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}

/// Begins a change and returns its revision, which the changed entries get.
pub(crate) fn next_revision(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("update state set revision = revision + 1 returning revision", [], |row| row.get(0))
}

/// Adds one entry, or updates the one of its identity.
pub(crate) fn put(
    connection: &Connection,
    revision: i64,
    addition: &Addition,
) -> Result<AddOutcome, PutError<rusqlite::Error>> {
    let new = &addition.content;
    let nest = nest_id(connection, &new.nest)?;
    let recipe = recipe_id(connection, &new.recipe)?;
    let flags = json_text(&new.context.flags)?;
    let mut find = connection.prepare_cached(
        "select id, n_added, n_samples, created_at, embedding from entry where nest = ?1 and recipe = ?2
         and host_key = ?3 and compiler = ?4 and flags = ?5 and threads = ?6 and policy = ?7",
    )?;
    let context = &new.context;
    let identity = params![
        nest,
        recipe,
        context.host_key,
        context.compiler,
        flags,
        context.threads,
        context.policy.name()
    ];
    let old = find
        .query_row(identity, |row| {
            let created_at = Timestamp::from_unix_seconds(row.get(3)?).unwrap_or_default();
            Ok(Old {
                id: row.get(0)?,
                n_added: row.get(1)?,
                weight: Weight { n_samples: row.get(2)?, created_at },
                embedding: row.get(4)?,
            })
        })
        .optional()?;
    let n_added = addition.count.after(old.as_ref().map_or(0, |old| old.n_added));
    let Some(old) = old else {
        let row = ContentRow { revision, nest, recipe, flags: &flags, n_added, old_embedding: None };
        let id = row.write(connection, new, None)?;
        return Ok(AddOutcome { id: EntryId::Own(id), change: Change::Inserted });
    };
    let change = if Weight::of(new) > old.weight {
        let row = ContentRow { revision, nest, recipe, flags: &flags, n_added, old_embedding: old.embedding };
        row.write(connection, new, Some(old.id))?;
        Change::Replaced
    } else {
        connection
            .prepare_cached("update entry set revision = ?2, n_added = ?3 where id = ?1")?
            .execute(params![old.id, revision, n_added])?;
        if let (None, Some(embedding)) = (old.embedding, &new.embedding) {
            let embedding = embedding_id(connection, nest, embedding)?;
            connection
                .prepare_cached("update entry set embedding = ?2 where id = ?1")?
                .execute(params![old.id, embedding])?;
        }
        Change::Kept
    };
    Ok(AddOutcome { id: EntryId::Own(old.id), change })
}

/// The stored entry of an identity.
struct Old {
    id: u64,
    n_added: u64,
    weight: Weight,
    embedding: Option<i64>,
}

/// The columns of an entry that do not follow from its content.
struct ContentRow<'f> {
    revision: i64,
    nest: i64,
    recipe: i64,
    flags: &'f str,
    n_added: u64,
    old_embedding: Option<i64>,
}

impl ContentRow<'_> {
    /// Inserts or replaces a row, and returns its id.
    fn write(self, connection: &Connection, new: &NewEntry, id: Option<u64>) -> rusqlite::Result<u64> {
        let embedding = match &new.embedding {
            Some(embedding) => Some(embedding_id(connection, self.nest, embedding)?),
            None => self.old_embedding,
        };
        let failure = match &new.verdict {
            Verdict::Failed(why) => Some(why.as_str()),
            _ => None,
        };
        let speedup = new.measured.map(|m| m.speedup);
        let sql = match id {
            None => INSERT,
            Some(_) => UPDATE,
        };
        connection.prepare_cached(sql)?.execute(named_params! {
            ":id": id,
            ":revision": self.revision,
            ":nest": self.nest,
            ":recipe": self.recipe,
            ":embedding": embedding,
            ":verdict": new.verdict.kind().name(),
            ":failure": failure,
            ":baseline_seconds": new.measured.map(|m| m.baseline_seconds),
            ":best_seconds": new.measured.map(|m| m.best_seconds),
            ":speedup": speedup.map(|s| s.median),
            ":speedup_low": speedup.map(|s| s.low),
            ":speedup_high": speedup.map(|s| s.high),
            ":speedup_confidence": speedup.map(|s| s.confidence),
            ":n_samples": new.n_samples,
            ":host_key": new.context.host_key,
            ":host": host_id(connection, &new.context.host_key, &new.host_summary)?,
            ":threads": new.context.threads,
            ":compiler": new.context.compiler,
            ":compiler_version": new.compiler_version,
            ":flags": self.flags,
            ":policy": new.context.policy.name(),
            ":sizes": json_text(&new.sizes)?,
            ":origin": new.provenance.origin.name(),
            ":imported_from": new.provenance.imported_from,
            ":created_at": new.created_at.unix_seconds(),
            ":oxeye_version": new.oxeye_version,
            ":n_added": self.n_added,
        })?;
        if self.old_embedding != embedding {
            drop_unused_embedding(connection, self.old_embedding)?;
        }
        Ok(id.unwrap_or(connection.last_insert_rowid() as u64))
    }
}

const INSERT: &str = "
insert into entry (id, revision, nest, recipe, embedding, verdict, failure, baseline_seconds, best_seconds, speedup,
    speedup_low, speedup_high, speedup_confidence, n_samples, host_key, host, threads, compiler, compiler_version,
    flags, policy, sizes, origin, imported_from, created_at, oxeye_version, n_added)
values (:id, :revision, :nest, :recipe, :embedding, :verdict, :failure, :baseline_seconds, :best_seconds, :speedup,
    :speedup_low, :speedup_high, :speedup_confidence, :n_samples, :host_key, :host, :threads, :compiler,
    :compiler_version, :flags, :policy, :sizes, :origin, :imported_from, :created_at, :oxeye_version, :n_added)";

const UPDATE: &str = "
update entry set revision = :revision, nest = :nest, recipe = :recipe, embedding = :embedding, verdict = :verdict,
    failure = :failure, baseline_seconds = :baseline_seconds, best_seconds = :best_seconds, speedup = :speedup,
    speedup_low = :speedup_low, speedup_high = :speedup_high, speedup_confidence = :speedup_confidence,
    n_samples = :n_samples, host_key = :host_key, host = :host, threads = :threads, compiler = :compiler,
    compiler_version = :compiler_version, flags = :flags, policy = :policy, sizes = :sizes, origin = :origin,
    imported_from = :imported_from, created_at = :created_at, oxeye_version = :oxeye_version, n_added = :n_added
where id = :id";

/// Gives an entry another embedding; `false` if there is no such entry.
pub(crate) fn set_embedding(
    connection: &Connection,
    revision: i64,
    id: u64,
    embedding: &Embedding,
) -> rusqlite::Result<bool> {
    let old: Option<(i64, Option<i64>)> = connection
        .query_row("select nest, embedding from entry where id = ?1", [id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((nest, old)) = old else { return Ok(false) };
    let new = embedding_id(connection, nest, embedding)?;
    connection.execute(
        "update entry set embedding = ?2, revision = ?3 where id = ?1",
        params![id, new, revision],
    )?;
    if old != Some(new) {
        drop_unused_embedding(connection, old)?;
    }
    Ok(true)
}

fn drop_unused_embedding(connection: &Connection, id: Option<i64>) -> rusqlite::Result<()> {
    let sql = "delete from embedding where id = ?1 and not exists (select 1 from entry where embedding = ?1)";
    connection.prepare_cached(sql)?.execute([id]).map(drop)
}

fn nest_id(connection: &Connection, nest: &NormalForm) -> Result<i64, PutError<rusqlite::Error>> {
    let known: Option<(i64, String)> = connection
        .prepare_cached("select id, text from nest where hash = ?1")?
        .query_row([&nest.hash], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        Some((_, text)) if !NormalForm::agree(&text, &nest.text) => Err(PutError::Conflict),
        Some((id, text)) => {
            if text != nest.text && text == NormalForm::WITHHELD {
                let sql = "update nest set text = ?2 where id = ?1";
                connection.prepare_cached(sql)?.execute(params![id, nest.text])?;
            }
            Ok(id)
        }
        None => {
            let sql = "insert into nest (hash, text) values (?1, ?2)";
            Ok(connection.prepare_cached(sql)?.insert(params![nest.hash, nest.text])?)
        }
    }
}

fn recipe_id(connection: &Connection, recipe: &RecipeText) -> rusqlite::Result<i64> {
    let values = params![recipe.format, recipe.steps.as_str()];
    found_or_inserted(
        connection,
        "select id from recipe where format = ?1 and steps = ?2",
        "insert into recipe (format, steps) values (?1, ?2)",
        values,
    )
}

fn host_id(connection: &Connection, key: &str, summary: &Json) -> rusqlite::Result<i64> {
    found_or_inserted(
        connection,
        "select id from host where key = ?1 and summary = ?2",
        "insert into host (key, summary) values (?1, ?2)",
        params![key, summary.as_str()],
    )
}

fn embedding_id(connection: &Connection, nest: i64, embedding: &Embedding) -> rusqlite::Result<i64> {
    let space = &embedding.space;
    let space = found_or_inserted(
        connection,
        "select id from space where feature_schema = ?1 and model = ?2 and model_hash = ?3",
        "insert into space (feature_schema, model, model_hash) values (?1, ?2, ?3)",
        params![space.feature_schema, space.model, space.model_hash],
    )?;
    let labels: Vec<NodeLabel> =
        embedding.nodes.iter().map(|n| NodeLabel { id: n.id.clone(), kind: n.kind.clone() }).collect();
    let vectors = blob(embedding.nodes.iter().flat_map(|node| &node.vector));
    found_or_inserted(
        connection,
        "select id from embedding where nest = ?1 and space = ?2 and vector = ?3 and nodes = ?4 and node_vectors = ?5",
        "insert into embedding (nest, space, vector, nodes, node_vectors) values (?1, ?2, ?3, ?4, ?5)",
        params![nest, space, blob(&embedding.nest), json_text(&labels)?, vectors],
    )
}

fn found_or_inserted(
    connection: &Connection,
    find: &str,
    insert: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<i64> {
    let found = connection.prepare_cached(find)?.query_row(values, |row| row.get(0)).optional()?;
    match found {
        Some(id) => Ok(id),
        None => connection.prepare_cached(insert)?.insert(values),
    }
}
