//! What leaves the machine, and what does not.

use crate::{
    Difference, MemoryStore, NewEntry, NormalForm, RecipeStore, SharedField, Sharing, Verdict, difference,
    merge, push, testing,
};

/// A trial with something private in each of its fields.
fn private() -> NewEntry {
    let mut entry = testing::entry(1, 1);
    entry.context.compiler = "/home/me/secret/gcc-12".into();
    entry.context.flags =
        ["-O3", "-march=native", "-Isecret", "-DSECRET=1", "-std=c99", "-fprofile-use=/secret/x", "secret.o"]
            .map(String::from)
            .into();
    entry.verdict = Verdict::Failed("secret[3] is 1 instead of 2".into());
    entry.provenance.imported_from = Some("secret.jsonl".into());
    entry
}

#[test]
fn by_default_nothing_of_the_program_is_shared() {
    let shared = Sharing::default().shared(&private());
    assert_eq!(shared.context.compiler, "gcc-12");
    assert_eq!(shared.context.flags, ["-O3", "-march=native", "-std=c99"]);
    assert_eq!(shared.nest.text, NormalForm::WITHHELD);
    assert!(shared.sizes.is_empty() && shared.embedding.is_some());
    let text = serde_json::to_string(&shared).expect("JSON");
    assert!(!text.contains("secret") && !text.contains("SECRET"), "{text}");
    assert!(text.contains("l2_bytes"));
    shared.validate().expect("sound");
}

#[test]
fn fields_are_shared_one_by_one() {
    let all: Sharing = SharedField::ALL.into_iter().collect();
    let entry = testing::entry(1, 1);
    assert_eq!(all.shared(&entry), entry);
    let none: Sharing = [].into_iter().collect();
    let bare = none.shared(&entry);
    bare.validate().expect("sound");
    assert_eq!((bare.embedding, bare.host_summary.as_str()), (None, "null"));
    assert_eq!(bare.context.host_key, NormalForm::WITHHELD);
    for field in SharedField::ALL {
        assert_eq!(field.name().parse(), Ok(field));
    }
    assert!("source".parse::<SharedField>().is_err());
}

#[test]
fn what_was_pulled_is_not_pushed_back() {
    let (mut own, mut server) = (MemoryStore::new(), MemoryStore::new());
    server.add(testing::entry(1, 1)).expect("adds");
    merge(&mut own, "postgresql://db", &server).expect("merges");
    own.add(private()).expect("adds");
    own.add(testing::entry(2, 1)).expect("adds");
    let sharing = Sharing::default();
    let before = difference(&own, &server, &sharing).expect("reads");
    assert_eq!(before, Difference { only_here: 2, only_there: 0, both: 1 });
    let tally = push(&mut server, "postgresql://db", &own, &sharing).expect("pushes");
    assert_eq!((tally.inserted, tally.n_good()), (2, 2));
    let after = difference(&own, &server, &sharing).expect("reads");
    assert_eq!(after, Difference { only_here: 0, only_there: 0, both: 3 });
    // Its own text is what a nest has as soon as anyone shares it.
    server.add(testing::entry(2, 2)).expect("adds");
    let texts: Vec<String> =
        server.nests().expect("reads").into_iter().map(|e| e.content.nest.text).collect();
    assert_eq!(texts[1], testing::nest(2).text);
}
