//! Files and servers behave as the list in memory.

use crate::{
    Addition, Context, Count, DatabaseError, Embedding, Entry, EntryId, Filter, FpPolicy, MemoryStore,
    NewEntry, NormalForm, OnDamage, Order, PostgresStore, RecipeStore, Speedup, SqliteStore, Timestamp,
    Verdict, VerdictKind, testing,
};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<Addition>),
    SetEmbedding(u64, Embedding),
    Exact(u32, Context),
    Nearest(Embedding, usize, Filter),
    Reopen,
}

fn embedding() -> impl Strategy<Value = Embedding> {
    // Few points, so that there are many ties.
    (0..2u32, 1..3usize, -2..3i32, -2..3i32).prop_map(|(model, n_nodes, x, y)| {
        let mut embedding = testing::entry(1, 1).embedding.expect("vectors");
        embedding.space = testing::space(model);
        embedding.nest = if model == 1 && x == 2 { vec![1.0; 19] } else { vec![x as f32, y as f32] };
        embedding.nodes.truncate(n_nodes);
        embedding
    })
}

fn policy() -> impl Strategy<Value = FpPolicy> {
    prop_oneof![Just(FpPolicy::Strict), Just(FpPolicy::Reassociate)]
}

fn new_entry() -> impl Strategy<Value = NewEntry> {
    let content = (0..4u32, 0..3u32, 0..4u32, proptest::option::of(embedding()));
    let context = (0..2u32, 1..3u32, policy(), 0..3u32);
    let measured = (1..4u32, 0..4i64, 0.25..4.0f64);
    (content, context, measured).prop_map(|(content, context, measured)| {
        let (nest, recipe, verdict, embedding) = content;
        let (host, threads, policy, other) = context;
        let (n_samples, seconds, speedup) = measured;
        let mut entry = testing::entry(nest, recipe);
        entry.embedding = embedding;
        entry.context.host_key = format!("host-{host}");
        entry.context.threads = threads;
        entry.context.policy = policy;
        if other == 1 {
            entry.context.flags.pop();
            entry.compiler_version = "14".into();
        }
        if other == 2 {
            entry.host_summary = crate::Json::parse("[]").expect("JSON");
        }
        entry.n_samples = n_samples;
        entry.created_at = Timestamp::from_unix_seconds(seconds).expect("in range");
        let measured = entry.measured.as_mut().expect("times");
        measured.speedup = Speedup { median: speedup, low: speedup, high: speedup, confidence: 0.5 };
        entry.verdict = match verdict {
            0 => Verdict::Even,
            1 => Verdict::Failed(format!("reason {seconds}")),
            _ if speedup > 1.0 => Verdict::Gained,
            _ if speedup < 1.0 => Verdict::Slowed,
            _ => Verdict::Even,
        };
        if verdict == 1 && n_samples == 1 {
            entry.measured = None;
        }
        entry
    })
}

fn batch() -> impl Strategy<Value = Vec<Addition>> {
    let count = prop_oneof![Just(Count::Trial), (0..5u64).prop_map(Count::Copy)];
    let one = (new_entry(), count, 0..60u32).prop_map(|(mut content, count, spoilt)| {
        match spoilt {
            0 => content.nest.text.push_str("another"),
            2..6 => content.nest.text = NormalForm::WITHHELD.into(),
            1 => content.n_samples = 0,
            _ => {}
        }
        Addition { content, count }
    });
    proptest::collection::vec(one, 0..6)
}

fn filter() -> impl Strategy<Value = Filter> {
    use proptest::option::of;
    let verdict = prop_oneof![
        Just(VerdictKind::Gained),
        Just(VerdictKind::Slowed),
        Just(VerdictKind::Even),
        Just(VerdictKind::Failed)
    ];
    let excluded = proptest::collection::btree_set((0..5u32).prop_map(|n| testing::nest(n).hash), 0..2);
    (of(verdict), of(policy()), of(1..3u32), of(0..3u32), excluded, of(0.0..4.0f32), any::<bool>()).prop_map(
        |(verdict, policy, threads, host, exclude_hashes, max_distance, one_per_nest)| Filter {
            verdict,
            policy,
            threads,
            host_key: host.map(|host| format!("host-{host}")),
            exclude_hashes,
            max_distance,
            one_per_nest,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => batch().prop_map(Step::Put),
        1 => (0..30u64, embedding()).prop_map(|(id, embedding)| Step::SetEmbedding(id, embedding)),
        1 => (0..5u32, new_entry()).prop_map(|(nest, like)| Step::Exact(nest, like.context)),
        4 => (embedding(), 0..8usize, prop_oneof![Just(Filter::default()), filter()])
            .prop_map(|(to, k, filter)| Step::Nearest(to, k, filter)),
        1 => Just(Step::Reopen),
    ]
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn words<T: std::fmt::Debug>(result: Result<T, DatabaseError>) -> Result<T, String> {
    result.map_err(|e| e.to_string())
}

fn all(store: &dyn RecipeStore, order: Order) -> Vec<Entry> {
    store.entries(order).collect::<Result<_, _>>().expect("reads")
}

/// Runs steps on a store and on a list. One connection writes; another one, open all the time, sees what was written.
fn behaves_as_a_list(steps: Vec<Step>, open: &dyn Fn() -> Box<dyn RecipeStore>) -> Result<(), TestCaseError> {
    let (mut store, reader, mut list) = (open(), open(), MemoryStore::new());
    for step in steps {
        match step {
            Step::Put(batch) => prop_assert_eq!(words(store.put(&batch)), words(list.put(&batch))),
            Step::SetEmbedding(id, embedding) => {
                let id = EntryId::Own(id);
                let expected = words(list.set_embedding(id, embedding.clone()));
                prop_assert_eq!(words(store.set_embedding(id, embedding)), expected);
            }
            Step::Exact(nest, context) => {
                let hash = testing::nest(nest).hash;
                let expected = list.exact(&hash, &context).expect("reads");
                prop_assert_eq!(reader.exact(&hash, &context).expect("reads"), expected);
            }
            Step::Nearest(to, k, filter) => {
                let expected = list.nearest(&to, k, &filter).expect("reads");
                prop_assert_eq!(&store.nearest(&to, k, &filter).expect("reads"), &expected);
                prop_assert_eq!(&reader.nearest(&to, k, &filter).expect("reads"), &expected);
            }
            Step::Reopen => {
                drop(store);
                store = open();
            }
        }
    }
    let expected = all(&list, Order::OldestFirst);
    prop_assert_eq!(store.n_entries().expect("reads"), expected.len() as u64);
    prop_assert_eq!(&all(&*reader, Order::OldestFirst), &expected);
    prop_assert_eq!(words(reader.nests()), words(list.nests()));
    prop_assert_eq!(all(&*store, Order::NewestFirst), all(&list, Order::NewestFirst));
    for entry in &expected {
        prop_assert_eq!(store.get(entry.id).expect("reads"), Some(entry.clone()));
    }
    Ok(())
}

fn a_server_is_a_list(server: &oxeye_postgres::Server, has_vectors: bool) {
    let mut runner = TestRunner::new(config(40));
    let steps = proptest::collection::vec(step(), 1..25);
    let run = runner.run(&steps, |steps| {
        let address = server.database();
        let open = || PostgresStore::open(&address, "me").expect("opens");
        behaves_as_a_list(steps, &|| Box::new(open()))?;
        let is_made = open().n_entries().expect("reads") > 0;
        prop_assert!(!is_made || open().has_vectors().expect("reads") == has_vectors);
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_server_without_vectors_is_a_list() {
    let Some(server) = oxeye_postgres::server() else { return };
    let has_vectors = server.has("vector");
    a_server_is_a_list(&server, has_vectors);
}

#[test]
fn a_server_with_vectors_is_a_list() {
    let Some(server) = oxeye_postgres::server_with_vectors() else { return };
    a_server_is_a_list(&server, true);
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_file_is_a_list(steps in proptest::collection::vec(step(), 1..25)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recipes.sqlite");
        behaves_as_a_list(steps, &|| Box::new(SqliteStore::open(&path, OnDamage::Refuse).expect("opens")))?;
    }

    /// By definition: nothing that passes the filter is nearer than what was found, and nothing is missing.
    #[test]
    fn neighbours_are_the_nearest(batch in proptest::collection::vec(new_entry(), 1..40), to in embedding(), k in 0..6usize) {
        let mut list = MemoryStore::new();
        for content in batch {
            list.add(content).expect("adds");
        }
        let found = list.nearest(&to, k, &Filter::default()).expect("reads");
        let mut expected: Vec<(f64, EntryId)> = all(&list, Order::OldestFirst)
            .into_iter()
            .filter_map(|entry| {
                let theirs = entry.content.embedding?;
                let comparable = theirs.space == to.space && theirs.nest.len() == to.nest.len();
                let squares = theirs.nest.iter().zip(&to.nest).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
                comparable.then(|| (squares.sum::<f64>().sqrt(), entry.id))
            })
            .collect();
        expected.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        expected.truncate(k);
        prop_assert_eq!(found.len(), expected.len());
        for ((entry, distance), (exact, id)) in found.iter().zip(expected) {
            prop_assert_eq!(entry.id, id);
            prop_assert!((f64::from(*distance) - exact).abs() < 1e-5);
        }
    }
}

#[test]
fn the_trial_with_more_samples_stays_then_the_newer() {
    let mut store = MemoryStore::new();
    let trial = |n_samples: u32, seconds: i64| {
        let created_at = Timestamp::from_unix_seconds(seconds).expect("in range");
        NewEntry { n_samples, created_at, ..testing::entry(1, 1) }
    };
    for ((n_samples, seconds), kept) in
        [((5, 10), (5, 10)), ((4, 99), (5, 10)), ((5, 11), (5, 11)), ((5, 11), (5, 11)), ((6, 1), (6, 1))]
    {
        let outcome = store.add(trial(n_samples, seconds)).expect("adds");
        let entry = store.get(outcome.id).expect("reads").expect("is there");
        assert_eq!((entry.content.n_samples, entry.content.created_at.unix_seconds()), kept);
    }
    let entry = store.get(EntryId::Own(1)).expect("reads").expect("is there");
    assert_eq!(entry.n_added, 5);
}

#[test]
fn an_embedding_outlives_trials_without_one() {
    let mut store = MemoryStore::new();
    let with = testing::entry(1, 1);
    let without = |n_samples| NewEntry { n_samples, embedding: None, ..testing::entry(1, 1) };
    for entry in [without(5), with.clone(), without(50)] {
        store.add(entry).expect("adds");
    }
    let kept = store.get(EntryId::Own(1)).expect("reads").expect("is there");
    assert_eq!((kept.content.n_samples, kept.content.embedding), (50, with.embedding));
}

#[test]
fn exact_hits_of_this_host_come_first() {
    let mut store = MemoryStore::new();
    let here = testing::entry(1, 1).context;
    for (recipe, host, threads) in [(1, "host-b", 2), (2, "host-a", 1), (3, "host-b", 1), (4, "host-a", 2)] {
        let mut entry = testing::entry(1, recipe);
        (entry.context.host_key, entry.context.threads) = (host.into(), threads);
        store.add(entry).expect("adds");
    }
    store.add(testing::entry(2, 1)).expect("adds");
    let found = store.exact(&testing::nest(1).hash, &here).expect("reads");
    let ids: Vec<String> = found.iter().map(|e| e.id.to_string()).collect();
    assert_eq!(ids, ["4", "2", "1", "3"]);
}
