//! Tuned nests go into documents, and nothing else changes.

use oxeye_ir::NestId;
use oxeye_sdfg::{CProgram, Changed, Grouping, Json, Replaced, Sdfg, Unit, read_sdfg, replace_nests, to_c};
use std::collections::BTreeSet;
use std::path::Path;

struct Program {
    text: String,
    sdfg: Sdfg,
    unit: Unit,
    c: CProgram,
}

impl Program {
    fn of(text: String, grouping: Grouping) -> Self {
        let sdfg = Sdfg::parse(&text).expect("an SDFG");
        let unit = read_sdfg(&sdfg).expect("a program");
        let c = to_c(&sdfg, &unit, grouping).expect("C");
        Self { text, sdfg, unit, c }
    }

    fn named(name: &str, grouping: Grouping) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.sdfg"));
        Self::of(std::fs::read_to_string(file).expect("a file"), grouping)
    }

    /// Every nest that is wanted as a tasklet of its own text.
    fn replaced(&self, wanted: impl Fn(NestId) -> bool) -> Replaced {
        let changed =
            Changed { global: "#define TUNED 1\n".into(), nests: self.c.nests.clone(), ..Changed::default() };
        let wanted: BTreeSet<NestId> = self.c.nests.keys().copied().filter(|id| wanted(*id)).collect();
        replace_nests(&self.sdfg, &self.unit, &self.c, &changed, &wanted).expect("a document")
    }
}

fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files =
        std::fs::read_dir(folder).expect("the data").filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut found: Vec<String> = files.filter_map(|n| n.strip_suffix(".sdfg").map(str::to_owned)).collect();
    found.sort();
    found
}

fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_array).unwrap_or_else(|| panic!("no {key}"))
}

/// The tasklets of C++, also those of programs inside: label and text.
fn tasklets(sdfg: &Sdfg) -> Vec<(String, String)> {
    fn inside(program: &Json, found: &mut Vec<(String, String)>) {
        let states = list(program, "nodes").iter().filter(|b| b.get("nodes").is_some());
        for node in states.flat_map(|state| list(state, "nodes")) {
            let attributes = node.get("attributes");
            if let Some(inner) = attributes.and_then(|a| a.get("sdfg")) {
                inside(inner, found);
            }
            let Some(code) = attributes.and_then(|a| a.get("code")) else { continue };
            let text = |key: &str| code.get(key).and_then(Json::as_str).unwrap_or_default();
            if text("language") == "CPP" {
                let label = node.get("label").and_then(Json::as_str).unwrap_or_default();
                found.push((label.to_owned(), text("string_data").to_owned()));
            }
        }
    }
    let mut found = Vec::new();
    inside(sdfg.document(), &mut found);
    found
}

#[test]
fn every_nest_that_is_replaced_is_one_tasklet_of_the_same_text() {
    let (mut n_replaced, mut n_all) = (0, 0);
    let both = |name: String| [Grouping::Apart, Grouping::Together].map(|grouping| (name.clone(), grouping));
    for (name, grouping) in names().into_iter().flat_map(both) {
        let program = Program::named(&name, grouping);
        let replaced = program.replaced(|_| true);
        let found = tasklets(&replaced.sdfg);
        assert_eq!(found.len(), replaced.nests.len(), "{name}");
        for id in &replaced.nests {
            let label = format!("tuned_{}", id.0);
            let (_, code) =
                found.iter().find(|(l, _)| *l == label).unwrap_or_else(|| panic!("{name}: {label}"));
            let lines = |text: &str| text.lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>().join("\n");
            assert!(lines(code).contains(lines(&program.c.nests[id]).trim()), "{name}:\n{code}");
        }
        // What callers see is the same, and so are the positions that the document names.
        let attributes =
            |sdfg: &Sdfg, key: &str| sdfg.document().get("attributes").and_then(|a| a.get(key)).cloned();
        for key in ["name", "arg_names", "_arrays"] {
            assert_eq!(attributes(&replaced.sdfg, key), attributes(&program.sdfg, key), "{name}");
        }
        let again = Sdfg::parse(&replaced.sdfg.write()).expect("a document");
        assert_eq!(again.document(), replaced.sdfg.document(), "{name}");
        n_replaced += replaced.nests.len();
        n_all += program.c.nests.len();
    }
    assert!(10 * n_replaced >= 9 * n_all, "{n_replaced} of {n_all}");
}

#[test]
fn without_nests_the_document_is_the_same_bytes() {
    for name in names() {
        let program = Program::named(&name, Grouping::Together);
        assert_eq!(program.replaced(|_| false).sdfg.write(), program.text, "{name}");
    }
}

#[test]
fn one_nest_of_a_state_leaves_the_others() {
    let program = Program::named("softmax", Grouping::Apart);
    let second = *program.c.nests.keys().nth(1).expect("nests");
    let replaced = program.replaced(|id| id == second);
    assert_eq!(tasklets(&replaced.sdfg).len(), 1);
    let unit = read_sdfg(&replaced.sdfg).expect("a program");
    // The tasklet is opaque now.
    assert_eq!(unit.program.nests.len(), program.unit.program.nests.len() - 1);
    let others = |unit: &Unit, skip: Option<NestId>| -> Vec<String> {
        let nests = unit.program.nests.values().filter(|n| Some(n.id) != skip);
        nests
            .map(|n| n.display(&unit.program).to_string().lines().skip(1).collect::<Vec<_>>().join("\n"))
            .collect()
    };
    assert_eq!(others(&unit, None), others(&program.unit, Some(second)));
}

#[test]
fn a_loop_over_states_becomes_one_state() {
    let program = Program::named("jacobi_2d", Grouping::Apart);
    let replaced = program.replaced(|_| true);
    let (before, after) = (program.sdfg.graph().expect("a graph"), replaced.sdfg.graph().expect("a graph"));
    assert!(after.control.blocks.len() < before.control.blocks.len());
    assert!(after.control.edges.iter().all(|e| e.condition.is_none()), "{:?}", after.control.edges);
    // The first value of the iterator is still given.
    assert!(after.control.edges.iter().any(|e| e.assignments.iter().any(|(name, _)| name == "t")));
}

#[test]
fn a_loop_stays_whose_iterator_is_read_later() {
    let text = Program::named("jacobi_2d", Grouping::Apart).text;
    let condition = r#"{"string_data": "(not (t < STEPS))", "language": "Python"}"#;
    assert!(text.contains(condition));
    let read = text.replace(condition, &format!(r#"{condition}, "assignments": {{"last": "t"}}"#));
    let program = Program::of(read, Grouping::Apart);
    let replaced = program.replaced(|_| true);
    assert!(replaced.nests.is_empty());
    let reasons: Vec<&str> = replaced.refused.values().map(String::as_str).collect();
    assert_eq!(reasons, ["the value of `t` is read behind it"]);
    assert_eq!(replaced.sdfg.write(), program.text);
}

#[test]
fn only_nests_that_changed_are_found_in_a_tuned_file() {
    let program = Program::named("gemm", Grouping::Apart);
    let tuned = program.c.source.replace("C[i * NJ + j] * beta", "beta * C[i * NJ + j]");
    let tuned = format!("/* helpers */\n{tuned}");
    let changed = program.c.changed(&tuned).expect("a version of it");
    assert_eq!(changed.nests.keys().map(|id| id.0).collect::<Vec<_>>(), [0]);
    assert!(changed.nests[0].contains("beta * C"), "{:?}", changed.nests);
    assert!(changed.global.starts_with("/* helpers */"), "{}", changed.global);
    assert_eq!(changed.plain.len(), program.c.nests.len() - 1);
    assert_eq!(changed.whole().nests.len(), program.c.nests.len());
    assert_eq!(changed.whole().nests[0], changed.nests[0]);
    let same = program.c.changed(&program.c.source).expect("itself");
    assert!(same.nests.is_empty() && same.global.is_empty() && same.plain.len() == program.c.nests.len());
    let lost = program.c.changed(&tuned.replace("/* end of nest 1 */", "")).unwrap_err();
    assert_eq!(lost.to_string(), "the tuned C has lost the end of a nest");
}

#[test]
fn neighbours_that_hand_on_what_nobody_else_uses_are_one_tasklet() {
    let program = Program::named("softmax", Grouping::Together);
    assert_eq!(program.c.nests.len(), 1, "{}", program.c.source);
    let replaced = program.replaced(|_| true);
    let found = tasklets(&replaced.sdfg);
    assert_eq!(found.len(), 1, "{:?}", replaced.refused);
    // What is handed on is the tasklet's own, and its state has nothing else.
    assert!(found[0].1.contains("malloc"), "{}", found[0].1);
    let graph = replaced.sdfg.graph().expect("a graph");
    let states = graph.control.states();
    let n_nodes: usize = states.iter().map(|state| state.nodes.len()).sum();
    assert_eq!(n_nodes, 3, "the tasklet, what it reads and what it writes");
}

#[test]
fn what_a_loop_over_states_resizes_is_its_own() {
    // DaCe allocates it with `M - i` elements where the iterator has its first value.
    let program = Program::named("covariance", Grouping::Apart);
    assert!(program.text.contains("\"M - i\""));
    let replaced = program.replaced(|_| true);
    let found = tasklets(&replaced.sdfg);
    let last = &found.iter().find(|(label, _)| label == "tuned_3").expect("the loop").1;
    assert!(last.contains("double *__tmp3 = (double *)malloc("), "{last}");
    assert!(!last.contains("__out___tmp3"), "{last}");
}

#[test]
fn arrays_between_operations_are_folded_into_their_readers() {
    let program = Program::named("jacobi_2d", Grouping::Apart);
    let nest = &program.unit.program.nests[0];
    assert_eq!(nest.stmts().len(), 2, "{}", program.unit.program);
    assert!(program.unit.folded.contains(&nest.id));
    // It is a gain by itself.
    let same = program.c.changed(&program.c.source).expect("itself");
    assert_eq!(same.nests.keys().copied().collect::<Vec<_>>(), [nest.id]);
    // What is read at another place, or twice, is not.
    let program = Program::named("conjugate_gradient", Grouping::Apart);
    assert!(program.unit.folded.is_empty(), "{}", program.unit.program);
}

#[test]
fn macros_of_the_untuned_file_are_defined_in_the_document() {
    let program = Program::named("gemm", Grouping::Apart);
    let text = "for (long i = 0; i < OXEYE_CEILDIV(NI, 2); i++)\n    C[i] = 0.0;\n".to_owned();
    let first = *program.c.nests.keys().next().expect("nests");
    let changed =
        Changed { global: String::new(), nests: [(first, text)].into_iter().collect(), ..Changed::default() };
    let wanted = BTreeSet::from([first]);
    let replaced =
        replace_nests(&program.sdfg, &program.unit, &program.c, &changed, &wanted).expect("a document");
    assert!(replaced.nests.contains(&first), "{:?}", replaced.refused);
    assert!(replaced.sdfg.write().contains("#define OXEYE_CEILDIV"));
}

#[test]
fn nests_of_programs_inside_are_replaced_there() {
    let program = Program::named("smooth.plain", Grouping::Apart);
    let is_inside = |id: NestId| !program.unit.places[&id].graph.is_empty();
    let replaced = program.replaced(is_inside);
    assert!(!replaced.nests.is_empty());
    // Two work on a part of an array.
    assert!(
        replaced.refused.values().all(|why| why.contains("lies in memory otherwise")),
        "{:?}",
        replaced.refused
    );
    assert_eq!(tasklets(&replaced.sdfg).len(), replaced.nests.len());
    // The tasklets are opaque, and the nests around them are as they were.
    let unit = read_sdfg(&replaced.sdfg).expect("a program");
    assert_eq!(unit.program.nests.len(), program.c.nests.len() - replaced.nests.len());
}
