//! The book says what the code does: its snippets are read, its generated parts are those of today, its links lead somewhere.
//! `cargo xtask book` writes the generated parts.

use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_tests::book::{self, Block};
use oxeye_tests::repository;
use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn chapter(name: &str) -> String {
    read(&book::folder().join(name))
}

fn unit(block: &Block) -> Unit {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("snippet.c");
    std::fs::write(&path, &block.text).expect("a file");
    read_c(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}\n{}", block.text))
}

/// What is said of a snippet, in lines.
fn said(unit: &Unit) -> Vec<String> {
    let lines = |d: &oxeye_frontend::Diagnostic| {
        let help = d.help.as_ref().map(|help| format!("help: {help}"));
        [Some(d.message.clone()), help].into_iter().flatten().collect::<Vec<_>>()
    };
    unit.diagnostics.iter().flat_map(lines).collect()
}

#[test]
fn supported_snippets_are_read_and_others_get_their_message() {
    let chapter = chapter("supported-c.md");
    let (mut n_accepted, mut n_refused) = (0, 0);
    let mut wrong = Vec::new();
    for block in book::blocks(&chapter) {
        let has = |word: &str| block.words.iter().any(|known| known == word);
        if !has("accepted") && !has("refused") {
            continue;
        }
        let unit = unit(&block);
        let said = said(&unit);
        let n_nests: usize = unit.functions.iter().map(|f| f.program.nests.len()).sum();
        let is_right = match has("accepted") {
            true => said.is_empty() && n_nests > 0,
            false => said == block.quoted && !said.is_empty(),
        };
        n_accepted += usize::from(has("accepted"));
        n_refused += usize::from(has("refused"));
        if !is_right {
            let said: String = said.iter().map(|line| format!("> {line}\n")).collect();
            wrong.push(format!("line {}, {n_nests} nests\n{}\n{said}", block.line, block.text));
        }
    }
    assert!(wrong.is_empty(), "supported-c.md\n{}", wrong.join("\n"));
    assert!(n_accepted > 10 && n_refused > 10, "{n_accepted} and {n_refused}");
}

#[test]
fn every_kind_of_refusal_is_explained() {
    let text = chapter("refusals.md");
    for (file, name) in
        [("transform/src/refusal.rs", "RefusalKind"), ("oxeye/src/stages/unchanged.rs", "Unchanged")]
    {
        let kinds =
            book::variants(&repository().join("crates").join(file), name).unwrap_or_else(|e| panic!("{e}"));
        assert!(kinds.len() > 5, "{kinds:?}");
        let missing: Vec<_> = kinds.iter().filter(|kind| !text.contains(&format!("`{kind}`"))).collect();
        assert!(missing.is_empty(), "refusals.md does not explain {missing:?}");
    }
}

#[test]
fn every_refusal_is_in_the_index() {
    let path = book::folder().join("refusals.md");
    let mut listed = BTreeSet::new();
    let text = book::filled(&read(&path), "messages of", |sources| {
        listed.extend(sources.iter().map(|source| format!("crates/{source}")));
        book::refusals(&repository().join("crates"), sources)
    });
    let text = text.unwrap_or_else(|e| panic!("{e}"));
    let of = |folder| book::sources_of_refusals(repository(), folder).unwrap_or_else(|e| panic!("{e}"));
    let found: BTreeSet<String> =
        ["crates/frontend/src", "crates/transform/src"].map(of).into_iter().flatten().collect();
    let missing: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "refusals.md has no messages of {missing:?}");
    book::compare_or_bless(&path, &text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_cause_is_in_the_index() {
    let path = book::folder().join("refusals.md");
    let mut kinds = BTreeSet::new();
    let text = book::filled(&read(&path), "causes", |kind| {
        kinds.insert(kind.join(" "));
        book::causes(kind)
    });
    book::compare_or_bless(&path, &text.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"));
    let all = ["left out", "not in nests", "not kept", "unchanged"].map(str::to_owned);
    assert_eq!(kinds, BTreeSet::from(all));
}

#[test]
fn every_step_is_shown_on_c() {
    let path = book::folder().join("steps.md");
    let (examples, sources) =
        (repository().join("docs/book/steps"), repository().join("crates/transform/src/steps"));
    let text = book::filled(&read(&path), "steps", |_| book::steps(&examples, &sources));
    let text = text.unwrap_or_else(|e| panic!("{e}"));
    book::compare_or_bless(&path, &text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn the_reference_of_commands_is_that_of_the_command() {
    let path = book::folder().join("commands.md");
    let text = book::filled(&read(&path), "help of oxeye", book::commands).unwrap_or_else(|e| panic!("{e}"));
    book::compare_or_bless(&path, &text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn the_keys_of_reports_are_those_of_their_structures() {
    let path = book::folder().join("json.md");
    let text = book::filled(&read(&path), "keys of", |words| book::keys(&repository().join("crates"), words));
    book::compare_or_bless(&path, &text.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"));
}

/// Writes what commands print into the documents. They measure: for a quiet machine, by `cargo xtask book --samples`.
#[test]
#[ignore = "measures for minutes"]
fn samples_are_written_anew() {
    let documents = [book::documents(&book::folder()), vec![repository().join("README.md")]].concat();
    for document in documents {
        let text =
            book::filled(&read(&document), "output of", book::sample).unwrap_or_else(|e| panic!("{e}"));
        book::compare_or_bless(&document, &text).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// The command of a line that begins with `oxeye`, with its part if it has parts, and the options of that. What stands in quotes
/// or behind `--` is for other programs.
fn asked(line: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let line = line.trim().strip_prefix("oxeye ")?;
    let plain = line.split(['"', '\'']).step_by(2).flat_map(str::split_whitespace);
    let words: Vec<&str> = plain.take_while(|word| *word != "--").collect();
    let is_name = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
    let n_names = if ["cache", "db"].contains(words.first()?) { 2 } else { 1 };
    let names: Vec<&str> = words.iter().take(n_names).take_while(is_name).copied().collect();
    let options = words.iter().filter(|word| word.starts_with("--")).copied().collect();
    (!names.is_empty()).then_some((names, options))
}

/// Commands and options that a document has the reader type are those of the command.
#[test]
fn commands_in_the_book_are_known() {
    let documents = [book::documents(&book::folder()), vec![repository().join("README.md")]].concat();
    let mut wrong = Vec::new();
    for document in documents {
        for line in read(&document).lines() {
            let Some((command, options)) = asked(line) else { continue };
            match book::commands(&command) {
                Ok(help) => {
                    let unknown = options.into_iter().filter(|option| !help.contains(option));
                    wrong.extend(
                        unknown.map(|option| format!("{}: {option} in `{line}`", document.display())),
                    );
                }
                Err(why) => wrong.push(format!("{}: {why}", document.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_keys_of_the_configuration_are_explained() {
    let source = read(&repository().join("crates/oxeye/src/commands/tune/config.rs"));
    let (_, rest) = source.split_once("const KEYS: ").expect("the keys");
    let (list, _) = rest.split_once("];").expect("their end");
    let keys: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let text = chapter("config.md");
    let missing: Vec<_> = keys.iter().filter(|key| !text.contains(&format!("| `{key}` |"))).collect();
    assert!(keys.len() > 10 && missing.is_empty(), "config.md does not explain {missing:?}");
}

/// Names of forms that only Oxeye itself writes and reads.
const INNER_FORMS: [&str; 1] = ["oxeye.features/"];

#[test]
fn every_form_of_json_is_explained() {
    let sources = book::sources(&repository().join("crates")).unwrap_or_else(|e| panic!("{e}"));
    let mut forms = BTreeSet::new();
    for line in sources.iter().flat_map(|path| read(path).lines().map(str::to_owned).collect::<Vec<_>>()) {
        let form = line.split_once("SCHEMA: &str = \"").or_else(|| line.split_once("FORMAT: &str = \""));
        forms.extend(form.and_then(|(_, rest)| rest.split('"').next()).map(str::to_owned));
    }
    let text = chapter("json.md");
    let is_inner = |form: &&String| INNER_FORMS.iter().any(|inner| form.starts_with(inner));
    let missing: Vec<_> =
        forms.iter().filter(|form| !is_inner(form) && !text.contains(&format!("`{form}`"))).collect();
    assert!(forms.len() > 12 && missing.is_empty(), "json.md does not explain {missing:?} of {forms:?}");
}

#[test]
fn every_chapter_is_in_the_summary() {
    let summary = chapter("SUMMARY.md");
    for path in book::documents(&book::folder()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in SUMMARY.md"
        );
    }
}

#[test]
fn links_lead_somewhere() {
    let mut documents = book::documents(&book::folder());
    let others = ["", "benchmarks", "benchmarks/applications", "crates/python", "models"];
    documents.extend(others.iter().flat_map(|folder| book::documents(&repository().join(folder))));
    let broken = |document: &std::path::PathBuf| {
        let links = book::broken_links(document);
        links.into_iter().map(|link| format!("{}: {link}", document.display())).collect::<Vec<_>>()
    };
    let broken: Vec<String> = documents.iter().flat_map(broken).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Documents that are to be read at one go stay short.
#[test]
fn the_front_documents_are_short() {
    for (name, most) in [("README.md", 120), ("ARCHITECTURE.md", 250)] {
        let n_lines = read(&repository().join(name)).lines().count();
        assert!(n_lines <= most, "{name} has {n_lines} lines");
    }
}
