//! Two nests are measured for real, but briefly; needs gcc.

use oxeye_dataset::generate::generate;
use oxeye_dataset::journal::{Journal, read_journal};
use oxeye_dataset::measure::{MeasureOptions, MeasuredHost, measure};
use oxeye_dataset::nest::{Family, GeneratedNest};
use oxeye_dataset::record::Status;
use oxeye_dataset::table;

/// An element-wise nest and a recurrence, of small sizes.
fn nests() -> Vec<GeneratedNest> {
    let all = generate(7, 60);
    let first = |family| all.iter().find(|n| n.family == family && n.id == n.group).cloned();
    let mut nests: Vec<GeneratedNest> =
        [Family::Elementwise, Family::Recurrence].into_iter().filter_map(first).collect();
    for value in nests.iter_mut().flat_map(|n| n.sizes.values_mut()) {
        *value = (*value).min(40);
    }
    nests
}

#[test]
fn every_version_is_right_and_nothing_is_measured_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.jsonl");
    let nests = nests();
    assert_eq!(nests.len(), 2);
    let options = MeasureOptions {
        threads: 2,
        timing_seconds: 0.01,
        longest_seconds: 20.0,
        ..MeasureOptions::default()
    };
    let host = MeasuredHost::this_machine(2);
    let run = |journal: &mut Journal| measure(&nests, &host, &options, journal, &mut |_, _| {}).unwrap();
    assert_eq!(run(&mut Journal::open(&path).unwrap()), 2);
    assert_eq!(run(&mut Journal::open(&path).unwrap()), 0);
    let records = read_journal(&path).unwrap();
    for record in &records {
        assert_eq!(record.failure, None, "{}", record.nest.program);
        assert_eq!(record.panel[0].status, Status::Timed);
        assert!(record.source_seconds.is_some() && record.log_speedups()[0] == Some(0.0));
        let is_sound = |s: Status| matches!(s, Status::Timed | Status::Inapplicable | Status::TimedOut);
        for response in &record.panel {
            assert!(is_sound(response.status), "{response:?}\n{}", record.nest.program);
        }
        assert!(record.panel.iter().filter(|r| r.status == Status::Timed).count() > 1);
    }
    let file = folder.path().join("shard.parquet");
    table::write(&file, &records).unwrap();
    assert_eq!(table::read(&file).unwrap().len(), 2);
}
