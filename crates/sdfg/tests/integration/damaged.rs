//! Damaged files give errors or diagnostics, never a panic.

use oxeye_ir::verify;
use oxeye_random::SplitMix64;
use oxeye_sdfg::{Json, Layout, Sdfg, read_sdfg};
use std::path::Path;

fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the data").filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "sdfg"));
    paths.sort();
    paths.iter().map(|p| std::fs::read_to_string(p).expect("a file")).collect()
}

/// Reads a text as far as it can be read. Returns whether it is an SDFG.
fn survives(text: &str) -> bool {
    let Ok(sdfg) = Sdfg::parse(text) else { return false };
    let unit = read_sdfg(&sdfg).expect("it was parsed");
    if let Err(violations) = verify(&unit.program) {
        panic!("{}\n{}", violations[0], unit.program);
    }
    true
}

fn size(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(members) => members.values().map(size).sum(),
        _ => 0usize,
    }
}

/// Changes the value at a position of the document, counted from the outermost value.
fn change(value: &mut Json, at: &mut usize, random: &mut SplitMix64, others: &[Json]) -> bool {
    if *at == 0 {
        damage(value, random, others);
        return true;
    }
    *at -= 1;
    match value {
        Json::Array(items) => items.iter_mut().any(|item| change(item, at, random, others)),
        Json::Object(members) => members.values_mut().any(|item| change(item, at, random, others)),
        _ => false,
    }
}

fn damage(value: &mut Json, random: &mut SplitMix64, others: &[Json]) {
    let pick = |random: &mut SplitMix64, n: usize| random.remainder(n.max(1) as u64) as usize;
    match (random.remainder(4), &mut *value) {
        (0, Json::Array(items)) if !items.is_empty() => {
            items.remove(pick(random, items.len()));
        }
        (0, Json::Object(members)) if !members.is_empty() => {
            members.shift_remove_index(pick(random, members.len()));
        }
        (1, Json::Array(items)) if !items.is_empty() => {
            let item = items[pick(random, items.len())].clone();
            items.push(item);
        }
        (1, Json::String(text)) => {
            let at = text.char_indices().map(|(at, _)| at).nth(pick(random, text.chars().count()));
            text.truncate(at.unwrap_or(0));
        }
        _ => *value = others[pick(random, others.len())].clone(),
    }
}

/// Values of some kinds, to stand where others do.
fn others() -> Vec<Json> {
    let strings = [
        "0",
        "-1",
        "3",
        "999999",
        "N",
        "i",
        "__i0",
        "A",
        "",
        "N**100",
        "1/0",
        "i + 1",
        "(lambda x, y: x - y)",
        "x[0]",
        "9223372036854775807",
        "complex128",
        "float32",
        "bool",
        "AccessNode",
        "MapEntry",
        "MapExit",
        "Tasklet",
        "SDFG",
        "NestedSDFG",
        "LibraryNode",
        "SDFGState",
        "LoopRegion",
        "ConditionalBlock",
        "a = b",
        "if a:\n  b = 1",
        "C++ {",
    ];
    let mut found: Vec<Json> = strings.iter().map(|s| Json::String((*s).to_owned())).collect();
    let numbers = ["0", "1", "-7", "1e300", "NaN", "Infinity", "123456789012345678901234567890"];
    found.extend(numbers.iter().map(|n| Json::Number((*n).to_owned())));
    found.extend([Json::Null, Json::Bool(true), Json::Bool(false), Json::Array(Vec::new())]);
    found.push(Json::Object(Default::default()));
    found.push(Json::Array(vec![Json::Null, Json::String("0".into())]));
    found
}

#[test]
fn thousands_of_mutations() {
    let (texts, others) = (texts(), others());
    let documents: Vec<Json> = texts.iter().map(|t| Json::parse(t).expect("JSON")).collect();
    let sizes: Vec<usize> = documents.iter().map(size).collect();
    let n_mutations = std::env::var("OXEYE_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let layout = Layout { indent: None, is_spaced: false, is_ascii: true, has_newline: false };
    let (mut n_read, mut n_refused) = (0, 0);
    for seed in 0..n_mutations {
        let mut random = SplitMix64::new(seed);
        let at = random.remainder(documents.len() as u64) as usize;
        let mut document = documents[at].clone();
        for _ in 0..=random.remainder(3) {
            let mut position = random.remainder(sizes[at] as u64) as usize;
            change(&mut document, &mut position, &mut random, &others);
        }
        let text = document.write(layout);
        if survives(&text) { n_read += 1 } else { n_refused += 1 }
    }
    assert!(n_read > n_mutations / 10 && n_refused > n_mutations / 50, "{n_read} {n_refused}");
}

#[test]
fn truncated_files() {
    for text in texts() {
        for k in 0..15 {
            let mut end = text.trim_end().len() * k / 15;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            assert!(!survives(&text[..end]));
        }
    }
}

fn error(text: &str) -> String {
    Sdfg::parse(text).and_then(|s| read_sdfg(&s)).map(|_| ()).expect_err("it is damaged").to_string()
}

/// An SDFG with one state.
fn with_state(nodes: &str, edges: &str) -> String {
    let state =
        format!("{{\"type\": \"SDFGState\", \"label\": \"s\", \"nodes\": [{nodes}], \"edges\": [{edges}]}}");
    format!(
        "{{\"type\": \"SDFG\", \"attributes\": {{\"name\": \"p\"}}, \"nodes\": [{state}], \"edges\": []}}"
    )
}

#[test]
fn errors_say_where() {
    let access = |scope: &str| {
        format!(
            "{{\"type\": \"AccessNode\", \"label\": \"A\", \"scope_entry\": {scope}, \"attributes\": {{\"data\": \"A\"}}}}"
        )
    };
    let edge = "{\"src\": \"0\", \"dst\": \"7\", \"attributes\": {\"data\": {}}}";
    assert_eq!(
        error(&with_state(&access("null"), edge)),
        "the program `p`, block 0 (`s`), edge 0: there is no number 7 among 1"
    );
    assert_eq!(
        error(&with_state(&format!("{}, {}", access("\"1\""), access("\"0\"")), "")),
        "the program `p`, block 0 (`s`), node 0: its scopes are a circle"
    );
    assert_eq!(
        error(&with_state("3", "")),
        "the program `p`, block 0 (`s`), node 0: an object is needed here, not a number"
    );
    assert_eq!(error("[]"), "the program: an object is needed here, not a list");
    let deep = format!("{{\"type\": {}", "{\"a\": ".repeat(2_000_000));
    assert_eq!(error(&deep), "line 1, column 3004: values are nested too deeply");
}

#[test]
fn deep_control_is_no_danger() {
    // A chain of branches in branches.
    let state =
        |k: usize| format!("{{\"type\": \"SDFGState\", \"label\": \"s{k}\", \"nodes\": [], \"edges\": []}}");
    let n = 3000;
    let edge = |src: usize, dst: usize, condition: &str| {
        format!(
            "{{\"src\": \"{src}\", \"dst\": \"{dst}\", \"attributes\": {{\"data\": {{\"attributes\": {{\"condition\": \"{condition}\"}}}}}}}}"
        )
    };
    let states: Vec<String> = (0..n).map(state).collect();
    let mut edges: Vec<String> = Vec::new();
    for k in 0..n - 2 {
        edges.push(edge(k, k + 1, "a > 0"));
        edges.push(edge(k, n - 1, "not (a > 0)"));
    }
    let text = format!(
        "{{\"type\": \"SDFG\", \"attributes\": {{\"name\": \"p\"}}, \"nodes\": [{}], \"edges\": [{}]}}",
        states.join(", "),
        edges.join(", ")
    );
    assert!(survives(&text));
    let long = vec!["N"; 3000].join(" + ");
    let nested = format!("{}N{}", "(".repeat(5000), ")".repeat(5000));
    for size in [long, nested, "-".repeat(3000)] {
        let array = format!("\"A\": {{\"type\": \"Array\", \"attributes\": {{\"shape\": [\"{size}\"]}}}}");
        survives(&format!(
            "{{\"type\": \"SDFG\", \"attributes\": {{\"name\": \"p\", \"symbols\": {{\"N\": \"int64\"}}, \"_arrays\": {{{array}}}}}, \"nodes\": [], \"edges\": []}}"
        ));
    }
}
