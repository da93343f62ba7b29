//! The source has the structure that `ARCHITECTURE.md` describes.

use oxeye_tests::{repository, structure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use structure::Sizes;

/// Folders of all crates of the workspace.
fn crates() -> Vec<PathBuf> {
    let mut folders = [crates_of("crates"), crates_of("laboratory")].concat();
    folders.push(repository().join("tests"));
    folders
}

/// The crates in a folder of the repository: of the product (`crates`), or what is made with it (`laboratory`).
fn crates_of(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(folder)).expect("the crates");
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

fn name(folder: &Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn no_modules_import_each_other_in_circles() {
    let mut wrong = Vec::new();
    let mut n_roots = 0;
    for folder in crates() {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        let mut circles = Vec::new();
        for root in roots.iter().filter(|root| root.exists()) {
            n_roots += 1;
            circles.extend(structure::circles(root).unwrap_or_else(|e| panic!("{e}")));
        }
        if !circles.is_empty() {
            wrong.push(format!("{}: {}", name(&folder), circles.join("\n")));
        }
    }
    assert!(n_roots >= crates().len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_folders_import_each_other_in_circles() {
    let mut found = BTreeMap::new();
    for folder in crates() {
        let root = folder.join("src/lib.rs");
        if !root.exists() {
            continue;
        }
        for circle in structure::circles_of_folders(&root).unwrap_or_else(|e| panic!("{e}")) {
            let n_modules = circle.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
            found.insert(name(&folder), n_modules);
            eprintln!("{}: {circle}", name(&folder));
        }
    }
    assert_exceptions("folders import each other in circles", found, CIRCLES);
}

#[test]
fn crates_depend_on_what_architecture_lists() {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("the document");
    let listed = structure::listed_dependencies(&text).unwrap_or_else(|e| panic!("ARCHITECTURE.md: {e}"));
    let found = structure::dependencies(&crates()).unwrap_or_else(|e| panic!("{e}"));
    let wrong = structure::disagreements(&found, &listed);
    assert!(wrong.is_empty(), "ARCHITECTURE.md and Cargo.toml disagree:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_of_the_product_depends_on_the_laboratory() {
    let found = structure::dependencies(&crates()).unwrap_or_else(|e| panic!("{e}"));
    let names = |folder| -> Vec<String> { crates_of(folder).iter().map(|f| name(f)).collect() };
    let (product, laboratory) = (names("crates"), names("laboratory"));
    let is_wrong = |of: &String, on: &String| product.contains(of) && laboratory.contains(on);
    let edges = found.iter().flat_map(|(of, all)| all.iter().map(move |on| (of, on)));
    let wrong: Vec<_> = edges.filter(|(of, on)| is_wrong(of, on)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// What stands in the sources of the product, by file: `codegen/src/capture.rs`.
fn product() -> BTreeMap<String, Sizes> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = crates_of("crates").iter().map(|f| f.join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let file = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if file.ends_with(".rs") && !file.ends_with("tests.rs") && !file.contains("/tests/") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let sizes = Sizes::of(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
                let file = path.strip_prefix(repository().join("crates")).unwrap_or(&path);
                found.insert(file.to_string_lossy().into_owned(), sizes);
            }
        }
    }
    assert!(found.len() > 300);
    found
}

/// Compares what is too large with the exceptions, each with its size, which may only shrink.
fn assert_exceptions(what: &str, found: BTreeMap<String, usize>, exceptions: &[(&str, usize)]) {
    let listed: BTreeMap<&str, usize> = exceptions.iter().copied().collect();
    let grown = found.iter().filter(|(name, size)| listed.get(name.as_str()).is_none_or(|most| *size > most));
    let grown: Vec<String> = grown.map(|(name, size)| format!("{name} has {size}")).collect();
    assert!(grown.is_empty(), "{what}\n{}", grown.join("\n"));
    let gone = listed.keys().filter(|name| !found.contains_key(**name));
    let gone: Vec<&str> = gone.copied().collect();
    assert!(
        gone.is_empty(),
        "no longer an exception, to be taken out of the list: {what}\n{}",
        gone.join("\n")
    );
}

#[test]
fn structures_have_at_most_twenty_fields() {
    let mut found = BTreeMap::new();
    for (file, sizes) in product() {
        let large = sizes.structures.into_iter().filter(|(_, n)| *n > 20);
        found.extend(large.map(|(name, n)| (format!("{file}: {name}"), n)));
    }
    assert_exceptions("too many fields: divide by concept", found, LARGE_STRUCTURES);
}

#[test]
fn functions_have_at_most_a_hundred_lines() {
    let mut found = BTreeMap::new();
    for (file, sizes) in product() {
        let long = sizes.functions.into_iter().filter(|(_, n)| *n > 100);
        found.extend(long.map(|(name, n)| (format!("{file}: {name}"), n)));
    }
    assert_exceptions("too many lines: divide by concept", found, LONG_FUNCTIONS);
}

/// What a text means is known before it is written, or read by a parser.
#[test]
fn nobody_looks_for_directives_or_our_own_macros_in_text() {
    let mut found = BTreeMap::new();
    for (file, sizes) in product() {
        let is_ours = |text: &str| {
            ["omp", "simd", "pragma", "OXEYE_", "oxeye_"].iter().any(|word| has_word(text, word))
        };
        let n = sizes.searched.iter().filter(|(text, _)| is_ours(text)).count();
        if n > 0 {
            found.insert(file, n);
        }
    }
    assert_exceptions("text is searched: ask whoever wrote or read it", found, SEARCHES);
}

/// Whether a text has this word, or a word that begins so if it ends with an underscore.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && (word.ends_with('_') || !behind.starts_with(is_part))
    })
}

#[test]
fn processes_are_started_in_these_files() {
    let found: Vec<String> =
        product().into_iter().filter(|(_, s)| s.starts_processes).map(|(file, _)| file).collect();
    assert_eq!(found, STARTERS);
}

/// What crates must not know, as `ARCHITECTURE.md` says, by the words that whoever knows it uses.
#[test]
fn crates_do_not_know_what_they_must_not() {
    let product = product();
    let mut wrong = Vec::new();
    for (folder, unknown) in UNKNOWN {
        let files = product.iter().filter(|(file, _)| file.starts_with(&format!("{folder}/")));
        let mut n_files = 0;
        for (file, sizes) in files {
            n_files += 1;
            let known = unknown.iter().filter(|word| sizes.words.contains(**word));
            wrong.extend(known.map(|word| format!("{file}: `{word}`")));
        }
        assert!(n_files > 0, "{folder} has no files");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words that do not stand in the sources of a crate. What a crate must not know of other crates follows from what it
/// depends on.
const UNKNOWN: &[(&str, &[&str])] = &[
    ("ir", &["fs", "process", "Command", "Instant", "SystemTime", "tree_sitter"]),
    ("binding", &["fs", "process", "Command", "Instant", "SystemTime", "tree_sitter"]),
    ("analysis", &["fs", "Instant", "SystemTime", "tree_sitter"]),
    ("transform", &["fs", "process", "Command", "Instant", "SystemTime", "tree_sitter"]),
    ("codegen", &["fs", "process", "Command", "Instant", "SystemTime", "tree_sitter"]),
    ("frontend", &["Instant", "SystemTime"]),
    ("embed", &["Command", "Instant", "tch", "rusqlite"]),
    ("database", &["process", "Command", "safetensors"]),
    ("oxeye", &["clap", "println", "print", "tree_sitter"]),
    ("cli", &["tree_sitter", "rusqlite"]),
];

/// The files in which processes are started.
const STARTERS: [&str; 3] =
    ["analysis/src/testing.rs", "frontend/src/preprocess.rs", "measure/src/process.rs"];

/// Crates with a circle of folders, and how many are in it.
const CIRCLES: &[(&str, usize)] = &[];

/// Structures with more fields, and how many.
const LARGE_STRUCTURES: &[(&str, usize)] = &[
    ("codegen/src/context.rs: Context", 23),
    ("measure/src/watch.rs: WatchedSite", 25),
    ("oxeye/src/request/options.rs: Options", 26),
    ("oxeye/src/stages/report.rs: NestReport", 34),
    ("profile/src/nest.rs: NestProfile", 21),
];

/// Functions with more lines, and how many.
const LONG_FUNCTIONS: &[(&str, usize)] = &[
    ("codegen/src/arguments.rs: arguments", 101),
    ("codegen/src/capture.rs: replay_unit", 211),
    ("codegen/src/render/mod.rs: render_with", 150),
    ("codegen/src/rows.rs: rows", 111),
    ("codegen/src/views.rs: enter_views", 128),
    ("frontend/src/convert/expressions.rs: expr_kind", 216),
    ("frontend/src/lower/access.rs: pointer", 123),
    ("frontend/src/lower/loops.rs: for_loop", 225),
    ("frontend/src/lower/values.rs: value", 125),
    ("frontend/src/regions/nests.rs: nest_with", 211),
    ("oxeye/src/search/further.rs: further", 111),
    ("sdfg/src/lower/library.rs: library", 111),
    ("sdfg/src/lower/names.rs: real_call", 126),
    ("sdfg/src/lower/tasklet.rs: tasklet", 103),
    ("sdfg/src/replace/state.rs: plan", 128),
    ("transform/src/steps/compact_zeros.rs: rewrite", 104),
];

/// Files that look for such words, and how often.
const SEARCHES: &[(&str, usize)] = &[
    ("codegen/src/prelude.rs", 13),
    ("frontend/src/directives.rs", 1),
    ("frontend/src/layout.rs", 4),
    ("frontend/src/preprocess.rs", 2),
    ("frontend/src/threads.rs", 1),
    ("oxeye/src/commands/check_build/mod.rs", 2),
    ("oxeye/src/commands/rerun/mod.rs", 3),
    ("oxeye/src/coverage.rs", 2),
    ("oxeye/src/session.rs", 3),
    ("sdfg/src/replace/cpp.rs", 1),
];
