//! Times nearest-neighbour searches among many embeddings, given the number of entries and the length of the vectors, in a file; given
//! the address of an empty PostgreSQL database as well, there, too, with the part of the neighbours that are found:
//!
//! ```text
//! cargo run --release -p oxeye-database --example nearest -- 100000 64
//! cargo run --release -p oxeye-database --example nearest -- 100000 64 postgresql:///recipes
//! ```

mod common;

use common::{entry, space, vector};
use oxeye_database::*;
use oxeye_random::SplitMix64;
use std::time::Instant;

const N_SEARCHES: usize = 101;
const N_NEAREST: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |word| word.parse::<usize>());
    let (n_entries, dimension) = (number(100_000)?, number(64)?);
    let address = arguments.next();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("recipes.sqlite");

    println!("in a file");
    let mut file = SqliteStore::open(&path, OnDamage::Refuse)?;
    fill(&mut file, n_entries, dimension)?;
    println!("  {} MB", std::fs::metadata(&path)?.len() / 1_000_000);
    let start = Instant::now();
    let file = SqliteStore::open(&path, OnDamage::Refuse)?;
    println!("  opened and checked in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let exact = search(&file, dimension)?;
    if let Some(address) = address {
        let mut server = PostgresStore::open(&address, "benchmark")?;
        fill(&mut server, n_entries, dimension)?;
        println!("on {address}, {} pgvector", if server.has_vectors()? { "with" } else { "without" });
        let found = search(&server, dimension)?;
        let n_found = exact
            .iter()
            .zip(&found)
            .map(|(exact, found)| exact.iter().filter(|hash| found.contains(hash)).count());
        let n_all: usize = exact.iter().map(Vec::len).sum();
        println!("  recall {:.4}", n_found.sum::<usize>() as f64 / n_all as f64);
    }
    Ok(())
}

/// Adds random entries, the same for each store.
fn fill(store: &mut dyn RecipeStore, n_entries: usize, dimension: usize) -> Result<(), DatabaseError> {
    let mut random = SplitMix64::new(0x0b5e_55ed);
    let start = Instant::now();
    let mut n_left = n_entries;
    while n_left > 0 {
        let n_now = n_left.min(1000);
        let one =
            |k| Addition { content: entry(n_left - k, vector(&mut random, dimension)), count: Count::Trial };
        let batch: Vec<Addition> = (0..n_now).map(one).collect();
        store.put(&batch)?;
        n_left -= n_now;
    }
    println!("  {n_entries} entries added in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Times searches, and returns the nests that they find.
fn search(store: &dyn RecipeStore, dimension: usize) -> Result<Vec<Vec<String>>, DatabaseError> {
    let mut random = SplitMix64::new(0x5eed);
    let filter = Filter { verdict: Some(VerdictKind::Gained), one_per_nest: true, ..Filter::default() };
    let mut all = Vec::new();
    for (name, filter) in [("no filter", Filter::default()), ("gains, one a nest", filter)] {
        let mut times = Vec::new();
        for _ in 0..N_SEARCHES {
            let to = Embedding { space: space(), nest: vector(&mut random, dimension), nodes: vec![] };
            let start = Instant::now();
            let found = store.nearest(&to, N_NEAREST, &filter)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            all.push(found.into_iter().map(|(entry, _)| entry.content.nest.hash).collect());
        }
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("  {name}: first {first:.1} ms, then median {median:.2} ms, worst {worst:.2} ms");
    }
    Ok(all)
}
