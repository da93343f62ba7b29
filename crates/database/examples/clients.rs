//! Many clients that add to one database and search it for a while, and then whether anything is lost or there twice. Given the number
//! of clients, seconds, and the address of an empty PostgreSQL database:
//!
//! ```text
//! cargo run --release -p oxeye-database --example clients -- 32 600 postgresql:///recipes
//! ```

mod common;

use common::{entry, space, vector};
use oxeye_database::*;
use oxeye_random::SplitMix64;
use std::collections::BTreeMap;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

const DIMENSION: usize = 64;
/// Nests that all clients add, and where the numbers of those begin that only one adds.
const N_SHARED: usize = 500;
const OWN: usize = 1_000_000;
/// Trials that are added together, and times that this is done before a search.
const BATCH: usize = 5;
const ROUNDS: usize = 4;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a client has done.
struct Done {
    /// How often it has added a nest.
    added: BTreeMap<usize, u64>,
    n_searches: usize,
    slowest: Duration,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |word| word.parse::<usize>());
    let (n_clients, seconds) = (number(32)?, number(600)?);
    let address = arguments.next().ok_or("the address of an empty database is missing")?;
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let done: Vec<Done> = std::thread::scope(|scope| {
        let address = &address;
        let start = |client| scope.spawn(move || work(client, address, end));
        let clients: Vec<ScopedJoinHandle<'_, Result<Done, Failure>>> = (0..n_clients).map(start).collect();
        let ended = clients.into_iter().map(|client| client.join().map_err(|_| "a client panicked")?);
        ended.collect::<Result<_, Failure>>()
    })?;
    let mut added: BTreeMap<String, u64> = BTreeMap::new();
    for (nest, n) in done.iter().flat_map(|done| &done.added) {
        *added.entry(format!("{nest:016x}")).or_default() += n;
    }
    let n_trials: u64 = added.values().sum();
    let n_searches: usize = done.iter().map(|done| done.n_searches).sum();
    let slowest = done.iter().map(|done| done.slowest).max().unwrap_or_default();
    println!(
        "{n_clients} clients, {seconds} s: {n_trials} trials of {} nests added, {n_searches} searches, the slowest {:.0} ms",
        added.len(),
        1e3 * slowest.as_secs_f64()
    );
    let store = PostgresStore::open(&address, "benchmark")?;
    let mut n_wrong = 0;
    for entry in store.entries(Order::OldestFirst) {
        let entry = entry?;
        // What is left of the count is missing; what is there twice has none.
        if added.remove(&entry.content.nest.hash) != Some(entry.n_added) {
            n_wrong += 1;
        }
    }
    println!("{} lost, {n_wrong} twice or miscounted", added.len());
    if !added.is_empty() || n_wrong > 0 {
        return Err("the database is not what was added".into());
    }
    Ok(())
}

fn work(client: usize, address: &str, end: Instant) -> Result<Done, Failure> {
    let mut store = PostgresStore::open(address, &format!("client{client}"))?;
    let mut random = SplitMix64::new(client as u64 + 1);
    let mut done = Done { added: BTreeMap::new(), n_searches: 0, slowest: Duration::ZERO };
    let mut own = OWN * (client + 1);
    while Instant::now() < end {
        for _ in 0..ROUNDS {
            let mut batch = Vec::new();
            for k in 0..BATCH {
                let nest = match k % 2 {
                    0 => (random.unit() * N_SHARED as f64) as usize,
                    _ => {
                        own += 1;
                        own
                    }
                };
                let content = entry(nest, vector(&mut random, DIMENSION));
                batch.push(Addition { content, count: Count::Trial });
                *done.added.entry(nest).or_default() += 1;
            }
            store.put(&batch)?;
        }
        let to = Embedding { space: space(), nest: vector(&mut random, DIMENSION), nodes: vec![] };
        let start = Instant::now();
        store.nearest(&to, 10, &Filter::default())?;
        done.slowest = done.slowest.max(start.elapsed());
        done.n_searches += 1;
    }
    Ok(done)
}
