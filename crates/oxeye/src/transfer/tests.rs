//! Donors and advice on made-up databases.

use super::advice::{Advice, AdvisedOption, Adviser};
use super::donors::{Donor, DonorFinder, MOST_DONORS};
use super::predict::Predict;
use crate::knowledge::{NestDescription, recipe_text, shipped_embedder, static_vector};
use crate::request::DonorSearch;
use crate::schedule::{Rendering, prove};
use oxeye_database::{
    Context, FpPolicy, Json, Measured, MemoryStore, NewEntry, Origin, Provenance, RecipeStore, RecipeText,
    Speedup, Timestamp, Verdict,
};
use oxeye_embed::HostVector;
use oxeye_ir::{Program, SymId};
use oxeye_transform::templates::Template;
use oxeye_transform::{Applied, Machine, Policy, PreparedNest, Recipe, StoredRecipe, suggest_for};

const POLICY: Policy = Policy { reassociate: true, finite: false };
const MACHINE: Machine = Machine { l1: 48 << 10, l2: 2 << 20, l3: 32 << 20, threads: 2, vector_bytes: 32 };

const PRODUCT: &str = "program f {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n][n] param
  array A2 c: f64[n][n] param
  dataflow { N0 }
  nest N0 in f {
    for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { for L2 k: i32 in 0 .. n {
      S0: c[i][j] += a[i][k] * b[k][j]
    } } }
  }
}";

/// The same in another order, under other names, in file-scope arrays.
const PRODUCT_AGAIN: &str = "program g {
  symbol P3 size: i32
  array A1 y: f64[size][size] global
  array A4 x: f64[size][size] global
  array A5 z: f64[size][size] global
  dataflow { N2 }
  nest N2 in g {
    for L7 q: i32 in 0 .. size { for L3 p: i32 in 0 .. size { for L5 r: i32 in 0 .. size {
      S4: z[p][r] += x[p][q] * y[q][r]
    } } }
  }
}";

const COPY: &str = "program f {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n][n] param
  dataflow { N0 }
  nest N0 in f {
    for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: b[i][j] = a[j][i] } }
  }
}";

const CONTRACT: &str = "contract registers:auto rows:l2/4..16 depth:l2/8..256 columns:l3/8..64 threads simd";
const INTERCHANGED: &str = "order:0 memory fused one-thread simd";
const TIME_TILES: &str = "time-tiles:8x32 threads simd";

fn program(text: &str) -> Program {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn described(text: &str) -> NestDescription {
    let program = program(text);
    let embedder = shipped_embedder().expect("an encoder");
    let nest = &program.nests[0];
    let value_of = |_: SymId| Some(500);
    embedder
        .describe(&PreparedNest::new(&program, nest), &value_of, &HostVector::default(), POLICY, Some(0.1))
        .expect("described")
}

fn context() -> Context {
    Context {
        host_key: "here".into(),
        compiler: "gcc".into(),
        flags: vec!["-O3".into()],
        threads: 2,
        policy: FpPolicy::Reassociate,
    }
}

/// A trial of a template on a nest; `None` is a failure.
fn trial(nest: &NestDescription, template: &str, speedup: Option<f64>) -> NewEntry {
    let template: Template = template.parse().expect("a template");
    let recipe = StoredRecipe { template: Some(template), steps: Default::default() };
    entry(nest, recipe, speedup)
}

fn entry(nest: &NestDescription, recipe: StoredRecipe, speedup: Option<f64>) -> NewEntry {
    let measured = speedup.map(|median| Measured {
        baseline_seconds: 0.1,
        best_seconds: 0.1 / median,
        speedup: Speedup { median, low: median, high: median, confidence: 0.0 },
    });
    let verdict = match speedup {
        None => Verdict::Failed("it crashed".into()),
        Some(speedup) if speedup > 1.05 => Verdict::Gained,
        Some(speedup) if speedup < 0.95 => Verdict::Slowed,
        Some(_) => Verdict::Even,
    };
    NewEntry {
        nest: nest.form.clone(),
        embedding: Some(nest.stored()),
        recipe: recipe_text(&recipe),
        verdict,
        measured,
        n_samples: 3,
        context: context(),
        compiler_version: "12".into(),
        host_summary: Json::parse("{}").expect("JSON"),
        sizes: nest.sizes.clone(),
        provenance: Provenance { origin: Origin::Search, imported_from: None },
        created_at: Timestamp::from_unix_seconds(1_700_000_000).expect("in range"),
        oxeye_version: "0.1.0".into(),
    }
}

fn store(entries: impl IntoIterator<Item = NewEntry>) -> MemoryStore {
    let mut store = MemoryStore::new();
    for entry in entries {
        store.add(entry).expect("added");
    }
    store
}

fn donors(store: &dyn RecipeStore, nest: &NestDescription, how: DonorSearch) -> Vec<Donor> {
    let (context, host) = (context(), HostVector::default());
    DonorFinder { store, context: &context, host: &host, seed: 1 }.find(nest, how).expect("found")
}

fn rendering() -> Rendering<'static> {
    Rendering {
        source: "",
        binding: oxeye_binding::Binding::none(),
        threads: 2,
        policy: POLICY,
        plain_sums: false,
        roots_set_errno: false,
        declarations_first: false,
        checks: false,
        known: &[],
        isa: None,
        own: None,
        guard: Default::default(),
    }
}

fn advice(text: &str, donors: Vec<Donor>, predict: Option<&dyn Predict>, k: usize) -> Advice {
    let (program, description) = (program(text), described(text));
    let nest = &program.nests[0];
    let prepared = PreparedNest::new(&program, nest);
    let suggested = suggest_for(&prepared, &MACHINE, POLICY);
    let adviser = Adviser {
        nest: &prepared,
        machine: &MACHINE,
        how: rendering(),
        description: &description,
        predict,
        far: None,
        k,
    };
    adviser.advise(donors, &suggested)
}

fn chosen(advice: &Advice) -> Vec<String> {
    advice.chosen.iter().map(|position| advice.options[*position].schedule.templates[0].to_string()).collect()
}

#[test]
fn a_description_does_not_depend_on_the_spelling() {
    let (one, other) = (described(PRODUCT), described(PRODUCT_AGAIN));
    assert_eq!(one.form, other.form);
    assert_eq!(one.vector(), other.vector());
    assert_eq!(one.sizes, [("n0".to_owned(), 500)].into());
    assert_eq!(one.stored(), other.stored());
    let nodes = one.stored().nodes.into_iter().filter(|node| node.kind != "nest");
    let mut nodes: Vec<(String, String)> = nodes.map(|node| (node.kind, node.id)).collect();
    nodes.sort();
    let expected = [("loop", "L0"), ("loop", "L1"), ("loop", "L2"), ("stmt", "S0")];
    assert_eq!(nodes, expected.map(|(kind, id)| (kind.to_owned(), id.to_owned())));
    assert_eq!(static_vector(&one.stored()), Some(one.embedding.nest.clone()));
    // The text that is stored tells the same as the nest.
    let parsed = program(&one.form.text);
    assert_eq!(parsed.nests[0].loops().len(), 3);
}

#[test]
fn the_same_nest_comes_first_then_the_nearest() {
    let (product, copy) = (described(PRODUCT), described(COPY));
    let store = store([
        trial(&copy, INTERCHANGED, Some(3.0)),
        trial(&product, CONTRACT, Some(9.0)),
        trial(&product, INTERCHANGED, Some(2.0)),
        trial(&product, TIME_TILES, None),
    ]);
    for how in [DonorSearch::Embedding, DonorSearch::Static, DonorSearch::HandMade] {
        let found = donors(&store, &described(PRODUCT_AGAIN), how);
        assert_eq!(found.len(), 2, "{how:?}");
        assert!(found[0].exact && found[0].distance == Some(0.0), "{how:?}");
        let gains: Vec<f64> = found[0].trials.iter().map(|t| t.log_gain.exp2()).collect();
        assert!((gains[0] - 9.0).abs() < 1e-9 && (gains[1] - 2.0).abs() < 1e-9);
        assert_eq!(found[0].trials[2].failure.as_deref(), Some("it crashed"));
        assert_eq!(found[0].label(), "2, the same nest");
        assert!(!found[1].exact && found[1].distance > Some(0.0), "{how:?}");
        assert_eq!(found[1].label(), "1, 2 loops, 1 statement");
    }
    let random = donors(&store, &described(PRODUCT_AGAIN), DonorSearch::Random);
    assert_eq!(random.len(), 1);
    assert!(!random[0].exact && random[0].distance.is_none());
    assert!(donors(&store, &product, DonorSearch::None).is_empty());
}

#[test]
fn vectors_of_another_space_are_not_compared() {
    let mut strange = trial(&described(COPY), INTERCHANGED, Some(3.0));
    strange.embedding.as_mut().expect("vectors").space.model_hash = "another".into();
    let store = store([strange]);
    for how in [DonorSearch::Embedding, DonorSearch::Static] {
        assert!(donors(&store, &described(PRODUCT), how).is_empty(), "{how:?}");
    }
    assert_eq!(donors(&store, &described(PRODUCT), DonorSearch::HandMade).len(), 1);
    // What was tried on the nest itself needs no vectors.
    assert_eq!(donors(&store, &described(COPY), DonorSearch::Embedding).len(), 1);
}

#[test]
fn other_circumstances_count_less() {
    let product = described(PRODUCT);
    let mut elsewhere = trial(&product, CONTRACT, Some(4.0));
    elsewhere.context.host_key = "there".into();
    elsewhere.context.threads = 64;
    let store = store([trial(&product, CONTRACT, Some(2.0)), elsewhere]);
    let found = donors(&store, &product, DonorSearch::Embedding);
    let likeness: Vec<f64> = found[0].trials.iter().map(|trial| trial.likeness).collect();
    assert_eq!(likeness, [0.35, 1.0]);
}

#[test]
fn random_donors_are_a_function_of_seed_and_nest() {
    let copy = described(COPY);
    let mut entries = Vec::new();
    for k in 0..3 * MOST_DONORS {
        let mut entry = trial(&copy, INTERCHANGED, Some(2.0));
        entry.nest.hash = format!("{k:016x}");
        entries.push(entry);
    }
    let store = store(entries);
    let hashes = |seed: u64| -> Vec<String> {
        let (context, host) = (context(), HostVector::default());
        let finder = DonorFinder { store: &store, context: &context, host: &host, seed };
        let found = finder.find(&described(PRODUCT), DonorSearch::Random).expect("found");
        found.into_iter().map(|donor| donor.hash).collect()
    };
    assert_eq!(hashes(1).len(), MOST_DONORS);
    assert_eq!(hashes(1), hashes(1));
    assert_ne!(hashes(1), hashes(2));
}

#[test]
fn what_helped_most_is_tried_first_and_says_where_it_is_from() {
    let product = described(PRODUCT);
    let store = store([
        trial(&product, INTERCHANGED, Some(2.0)),
        trial(&product, CONTRACT, Some(9.0)),
        trial(&described(COPY), TIME_TILES, Some(5.0)),
    ]);
    let advice =
        advice(PRODUCT_AGAIN, donors(&store, &described(PRODUCT_AGAIN), DonorSearch::Embedding), None, 3);
    assert_eq!(chosen(&advice)[0], CONTRACT);
    let first = &advice.options[advice.chosen[0]];
    assert_eq!(first.choice.donor.as_deref(), Some("2, the same nest"));
    assert_eq!(first.choice.distance, Some(0.0));
    assert!(first.choice.expected.is_some_and(|gain| (gain.exp2() - 9.0).abs() < 1e-6));
    assert!(first.proved.as_ref().is_some_and(|proved| proved.openmp));
    assert_eq!(advice.aligned[0].len(), 4);
    // No two have the same text.
    let texts: Vec<_> = advice.options.iter().filter_map(|option| option.text()).collect();
    assert!((1..texts.len()).all(|k| !texts[..k].contains(&texts[k])));
}

#[test]
fn a_failure_on_a_donor_counts_against_a_schedule() {
    let product = described(PRODUCT);
    let with = |outcome: Option<f64>| {
        let store = store([trial(&product, CONTRACT, outcome), trial(&product, INTERCHANGED, Some(1.2))]);
        chosen(&advice(PRODUCT, donors(&store, &product, DonorSearch::Embedding), None, 1))
    };
    assert_eq!(with(Some(9.0)), [CONTRACT]);
    assert_eq!(with(None), [INTERCHANGED]);
    assert_eq!(with(Some(0.5)), [INTERCHANGED]);
}

#[test]
fn what_cannot_be_done_here_is_told() {
    let (product, copy) = (described(PRODUCT), described(COPY));
    let own =
        StoredRecipe { template: None, steps: "interchange L0 L1; vectorize L0".parse().expect("steps") };
    let nonsense = RecipeText { format: "another/9".into(), steps: Json::parse("[]").expect("JSON") };
    let store = store([
        trial(&product, CONTRACT, Some(9.0)),
        entry(&product, own, Some(3.0)),
        NewEntry { recipe: nonsense, ..trial(&product, INTERCHANGED, Some(2.0)) },
    ]);
    let advice = advice(COPY, donors(&store, &copy, DonorSearch::Embedding), None, 3);
    let told: Vec<String> = advice
        .refused
        .iter()
        .filter(|r| r.helped.is_some())
        .map(|r| format!("{}: {}", r.what(), r.reason))
        .collect();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].starts_with("contract (gained 9.00x on a matrix product of 3 loops, "), "{told:#?}");
    assert!(told[1].contains("its steps speak of the loops of another nest's source"), "{told:#?}");
    assert!(told[2].contains("recipes of the form `another/9` are not known here"), "{told:#?}");
}

#[test]
fn steps_of_the_same_nest_are_tried_as_they_are() {
    let product = described(PRODUCT);
    let steps: Recipe = "interchange L1 L2; parallelize L0; unroll L1 by 2".parse().expect("steps");
    let store = store([entry(&product, StoredRecipe { template: None, steps: steps.clone() }, Some(3.0))]);
    let advice = advice(PRODUCT, donors(&store, &product, DonorSearch::Embedding), None, 1);
    let first = &advice.options[advice.chosen[0]];
    assert_eq!((first.schedule.name.as_str(), &first.schedule.recipe), ("steps of the same nest", &steps));
    assert_eq!(first.choice.donor.as_deref(), Some("1, the same nest"));
}

/// Has a bug that strikes at one template.
struct Buggy;

impl Predict for Buggy {
    fn log_speedup(&self, templates: &[Template], _: &Applied) -> Option<f64> {
        assert!(templates.iter().all(|t| t.to_string() != CONTRACT), "planted");
        Some(0.5)
    }
}

#[test]
fn a_bug_in_a_prediction_costs_no_more_than_that_prediction() {
    let advised = advice(PRODUCT, Vec::new(), Some(&Buggy), 3);
    let is_struck = |option: &AdvisedOption| {
        option.schedule.templates.iter().any(|template| template.to_string() == CONTRACT)
    };
    assert!(advised.options.iter().any(is_struck));
    for option in &advised.options {
        let expected = if is_struck(option) { None } else { Some(0.5) };
        assert_eq!(option.choice.predicted, expected, "{}", option.schedule.name);
        // Every schedule stands beside its own text.
        let proved = option.proved.as_ref().expect("proved");
        let (program, how) = (program(PRODUCT), rendering());
        let nest = PreparedNest::new(&program, &program.nests[0]);
        let again = prove(how, &nest, &option.schedule.recipe).expect("legal");
        assert_eq!(proved.text, again.text, "{}", option.schedule.name);
    }
}

/// Knows of one template only.
struct Knows(&'static str, f64);

impl Predict for Knows {
    fn log_speedup(&self, templates: &[Template], _: &Applied) -> Option<f64> {
        templates.iter().any(|t| t.to_string() == self.0).then_some(self.1)
    }
}

#[test]
fn predictions_stand_beside_donors() {
    let (product, copy) = (described(PRODUCT), described(COPY));
    let far = store([trial(&copy, INTERCHANGED, Some(1.5))]);
    let predict = Knows(CONTRACT, 3.0);
    let advised = advice(PRODUCT, donors(&far, &product, DonorSearch::Embedding), Some(&predict), 2);
    assert_eq!(chosen(&advised), [CONTRACT, INTERCHANGED]);
    assert_eq!(advised.options[advised.chosen[0]].choice.donor, None);
    assert_eq!(advised.options[advised.chosen[0]].choice.predicted, Some(3.0));
}

#[test]
fn far_donors_are_of_no_use() {
    let store = store([trial(&described(COPY), INTERCHANGED, Some(2.0))]);
    let product = described(PRODUCT);
    let mut advised = advice(PRODUCT, donors(&store, &product, DonorSearch::Embedding), None, 3);
    assert_eq!(advised.useless(), None);
    advised.far = Some(0.0);
    assert!(advised.useless().is_some_and(|why| why.contains("at a distance of")));
    let none = advice(PRODUCT, Vec::new(), None, 3);
    assert_eq!(none.useless().as_deref(), Some("the recipe database knows no other nest"));
}
