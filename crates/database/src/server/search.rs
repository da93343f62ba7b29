//! Nearest neighbours on a server.

use super::rows;
use super::schema::Extension;
use crate::store::{distance, rank};
use crate::{Embedding, Entry, Filter};
use oxeye_libpq::{Connection, Failure};

/// How many candidates an index keeps while it searches (`hnsw.ef_search`): at 100,000 entries, more than 99 of 100 neighbours
/// are found.
const N_KEPT: usize = 600;

/// More than any store has.
const MOST_WANTED: usize = 1 << 40;

/// The nearest entries of a space, as [`crate::RecipeStore::nearest`] promises. With an index, neighbours may be missing; their
/// distances and their order are exact. Within a transaction.
pub(crate) fn nearest(
    connection: &mut Connection,
    extension: Option<&Extension>,
    space: i64,
    to: &Embedding,
    k: usize,
    filter: &Filter,
) -> Result<Vec<(Entry, f32)>, Failure> {
    if k == 0 {
        return Ok(Vec::new());
    }
    if extension.is_some_and(|extension| extension.is_iterative) {
        connection.run(&format!(
            "set local hnsw.ef_search = {N_KEPT}; set local hnsw.iterative_scan = strict_order"
        ))?;
    }
    let away = away(extension, to.nest.len());
    let mut n_wanted = k.saturating_mul(2).clamp(16, MOST_WANTED);
    loop {
        let found = candidates(connection, &away, space, to, filter, n_wanted)?;
        let is_all = found.len() < n_wanted;
        // Of those that are as far as the last, others may be missing.
        let last = found.last().map_or(0.0, |(_, distance)| *distance);
        let is_sure = |distance: f32| is_all || distance < last * (1.0 - 1e-5);
        let sure: Vec<(Entry, f32)> = found.into_iter().filter(|(_, distance)| is_sure(*distance)).collect();
        let within = |(entry, distance): &(Entry, f32)| filter.admits(&entry.content, *distance);
        let ranked = rank(sure.into_iter().filter(within).collect(), k, filter.one_per_nest);
        let is_beyond = filter.max_distance.is_some_and(|most| last > most * (1.0 + 1e-5));
        if is_all || is_beyond || ranked.len() >= k || n_wanted == MOST_WANTED {
            return Ok(ranked);
        }
        n_wanted = n_wanted.saturating_mul(4).min(MOST_WANTED);
    }
}

/// The distance of the vector of `e` from `$1` in SQL.
fn away(extension: Option<&Extension>, dimension: usize) -> String {
    match extension {
        Some(Extension { schema, .. }) => format!(
            "(e.vector::{schema}.vector({dimension})) operator({schema}.<->)
             ($1::real[]::{schema}.vector({dimension}))"
        ),
        None => "(select sqrt(sum((a::float8 - b) * (a::float8 - b)))
                  from unnest(e.vector, $1::real[]) as pair(a, b))"
            .to_owned(),
    }
}

/// The first entries that may be neighbours, nearest first, with their exact distances.
fn candidates(
    connection: &mut Connection,
    away: &str,
    space: i64,
    to: &Embedding,
    filter: &Filter,
    n_wanted: usize,
) -> Result<Vec<(Entry, f32)>, Failure> {
    let target = rows::array(&to.nest);
    let excluded: Vec<&str> = filter.exclude_hashes.iter().map(String::as_str).collect();
    let excluded = format!("{{{}}}", excluded.join(","));
    let threads = filter.threads.map(|threads| threads.to_string());
    // The space stands in the statement: an index for a part of the table is used for what is known when it is planned.
    let mut condition = format!("where e.space = {space}");
    let mut parameters = vec![Some(target.as_str())];
    let filters = [
        ("e.verdict =", filter.verdict.map(|verdict| verdict.name())),
        ("e.policy =", filter.policy.map(|policy| policy.name())),
        ("e.threads =", threads.as_deref()),
        ("e.host_key =", filter.host_key.as_deref()),
    ];
    for (test, value) in filters {
        if value.is_some() {
            parameters.push(value);
            condition += &format!(" and {test} ${}", parameters.len());
        }
    }
    if !filter.exclude_hashes.is_empty() {
        parameters.push(Some(&excluded));
        condition += &format!(" and not e.nest = any(${}::text[])", parameters.len());
    }
    condition += &format!(" order by {away} limit {n_wanted}");
    let entries = rows::select(connection, &condition, &parameters)?;
    let with_distance = |entry: Entry| {
        let vector = entry.content.embedding.as_ref().map(|embedding| embedding.nest.as_slice());
        let distance = distance(&to.nest, vector.unwrap_or_default());
        (entry, distance)
    };
    let mut found: Vec<(Entry, f32)> = entries.into_iter().map(with_distance).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(found)
}
