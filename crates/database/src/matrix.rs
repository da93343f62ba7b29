//! The nest embeddings of a file in memory, for looking through all of them.

use crate::store::{by_speedup, distance};
use crate::{EmbeddingSpace, Filter, FpPolicy, VerdictKind, rows};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// All vectors of one embedding space and length, with what a [`Filter`] needs to know of their entries. It keeps up
/// with the file by reading what changed since the last time.
pub(crate) struct Matrix {
    space: EmbeddingSpace,
    dimension: usize,
    /// The last revision that was read.
    revision: i64,
    /// `dimension` numbers per row.
    vectors: Vec<f32>,
    row_of_embedding: HashMap<i64, usize>,
    /// In no particular order.
    records: Vec<Record>,
    record_of_entry: HashMap<u64, usize>,
}

struct Record {
    entry: u64,
    nest: i64,
    host: i64,
    /// Which row of the matrix; `None` since the entry left this space.
    row: Option<usize>,
    verdict: VerdictKind,
    policy: FpPolicy,
    threads: u32,
    speedup: Option<f64>,
}

/// A neighbour: id, nest, distance, speedup.
#[derive(Clone, Copy)]
struct Hit {
    entry: u64,
    nest: i64,
    distance: f32,
    speedup: Option<f64>,
}

impl Matrix {
    pub(crate) fn new(space: EmbeddingSpace, dimension: usize) -> Self {
        Self {
            space,
            dimension,
            revision: 0,
            vectors: Vec::new(),
            row_of_embedding: HashMap::new(),
            records: Vec::new(),
            record_of_entry: HashMap::new(),
        }
    }

    pub(crate) fn is_for(&self, space: &EmbeddingSpace, dimension: usize) -> bool {
        self.dimension == dimension && self.space == *space
    }

    /// Reads what has changed since the last time.
    pub(crate) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let revision = connection.query_row("select revision from state", [], |row| row.get(0))?;
        if revision == self.revision {
            return Ok(());
        }
        let mut changed = connection.prepare_cached(
            "select e.id, e.nest, h.id, e.verdict, e.policy, e.threads, e.speedup, b.id, b.vector
             from entry e
             join host h on h.id = (select min(id) from host where key = e.host_key)
             left join (embedding b join space s on s.id = b.space and s.feature_schema = ?2 and s.model = ?3
                 and s.model_hash = ?4) on b.id = e.embedding and length(b.vector) = ?5
             where e.revision > ?1",
        )?;
        let space = &self.space;
        let parameters = params![
            self.revision,
            space.feature_schema,
            space.model,
            space.model_hash,
            4 * self.dimension as i64
        ];
        let mut rows = changed.query(parameters)?;
        while let Some(row) = rows.next()? {
            let row_idx = match row.get(7)? {
                Some(embedding) => Some(self.row(embedding, row)?),
                None => None,
            };
            let entry = row.get(0)?;
            let known = self.record_of_entry.get(&entry).copied();
            if row_idx.is_none() && known.is_none() {
                continue;
            }
            let (verdict, policy): (String, String) = (row.get(3)?, row.get(4)?);
            let record = Record {
                entry,
                nest: row.get(1)?,
                host: row.get(2)?,
                row: row_idx,
                verdict: VerdictKind::from_name(&verdict).ok_or(rusqlite::Error::InvalidQuery)?,
                policy: FpPolicy::from_name(&policy).ok_or(rusqlite::Error::InvalidQuery)?,
                threads: row.get(5)?,
                speedup: row.get(6)?,
            };
            match known {
                Some(idx) => self.records[idx] = record,
                None => {
                    self.record_of_entry.insert(entry, self.records.len());
                    self.records.push(record);
                }
            }
        }
        self.revision = revision;
        Ok(())
    }

    /// The row of an embedding, which is read if it is new.
    fn row(&mut self, embedding: i64, row: &Row<'_>) -> rusqlite::Result<usize> {
        if let Some(known) = self.row_of_embedding.get(&embedding) {
            return Ok(*known);
        }
        let idx = self.row_of_embedding.len();
        self.vectors.extend(rows::floats(row.get_ref(8)?.as_blob()?)?);
        self.row_of_embedding.insert(embedding, idx);
        Ok(idx)
    }

    /// Ids and distances of the nearest entries, as [`RecipeStore::nearest`](crate::RecipeStore::nearest) has it.
    pub(crate) fn nearest(
        &self,
        connection: &Connection,
        to: &[f32],
        k: usize,
        filter: &Filter,
    ) -> rusqlite::Result<Vec<(u64, f32)>> {
        let Some(host) = known_host(connection, filter)? else { return Ok(Vec::new()) };
        let excluded = excluded_nests(connection, filter)?;
        let distances: Vec<f32> =
            self.vectors.chunks_exact(self.dimension).map(|row| distance(to, row)).collect();
        let hits = self.records.iter().filter_map(|record| {
            let distance = distances[record.row?];
            let admitted = filter.verdict.is_none_or(|verdict| verdict == record.verdict)
                && filter.policy.is_none_or(|policy| policy == record.policy)
                && filter.threads.is_none_or(|threads| threads == record.threads)
                && host.is_none_or(|host| host == record.host)
                && !excluded.contains(&record.nest)
                && filter.max_distance.is_none_or(|most| distance <= most);
            let Record { entry, nest, speedup, .. } = *record;
            admitted.then_some(Hit { entry, nest, distance, speedup })
        });
        let mut hits: Vec<Hit> = if filter.one_per_nest { best_of_nests(hits) } else { hits.collect() };
        if k > 0 && k < hits.len() {
            hits.select_nth_unstable_by(k - 1, Hit::nearer);
        }
        hits.truncate(k);
        hits.sort_by(Hit::nearer);
        Ok(hits.into_iter().map(|hit| (hit.entry, hit.distance)).collect())
    }
}

impl Hit {
    fn nearer(a: &Hit, b: &Hit) -> Ordering {
        a.distance.total_cmp(&b.distance).then(a.entry.cmp(&b.entry))
    }
}

fn best_of_nests(hits: impl Iterator<Item = Hit>) -> Vec<Hit> {
    let mut best: HashMap<i64, Hit> = HashMap::new();
    for hit in hits {
        let kept = best.entry(hit.nest).or_insert(hit);
        let by_speedup = by_speedup(hit.speedup, kept.speedup);
        if hit.distance.total_cmp(&kept.distance).then(by_speedup).then(hit.entry.cmp(&kept.entry)).is_lt() {
            *kept = hit;
        }
    }
    best.into_values().collect()
}

/// The key by which rows refer to the host of a filter: `Some(None)` if any will do, `None` if no entry is
/// of that host.
fn known_host(connection: &Connection, filter: &Filter) -> rusqlite::Result<Option<Option<i64>>> {
    let Some(key) = &filter.host_key else { return Ok(Some(None)) };
    let id: Option<i64> =
        connection.query_row("select min(id) from host where key = ?1", [key], |row| row.get(0))?;
    Ok(id.map(Some))
}

fn excluded_nests(connection: &Connection, filter: &Filter) -> rusqlite::Result<HashSet<i64>> {
    let mut find = connection.prepare_cached("select id from nest where hash = ?1")?;
    let ids = filter
        .exclude_hashes
        .iter()
        .filter_map(|hash| find.query_row([hash], |row| row.get(0)).optional().transpose());
    ids.collect()
}
