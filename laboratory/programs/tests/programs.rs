//! Random programs do what they did after their nests are rewritten; the generator writes all that it says.

use oxeye_ir::testing::is_required;
use oxeye_programs::{Builds, Construct, Program, Tally, examine};
use std::collections::BTreeSet;
use std::sync::Mutex;

#[test]
fn programs_agree_with_themselves() {
    let builds = Builds::found().expect("gcc or clang");
    assert!(builds.compilers().len() > 1 || !is_required("clang"), "only {:?} is there", builds.compilers());
    assert!(!builds.sanitizing().is_empty(), "no compiler's sanitizers work");
    let tally = Mutex::new(Tally::default());
    let some = |seeds: [u64; 5]| {
        for seed in seeds {
            let program = Program::new(seed);
            let examined = examine(&program, &builds, None).unwrap_or_else(|e| panic!("{e}"));
            let failures: Vec<&str> = examined.failures.iter().map(|f| f.what.as_str()).collect();
            assert!(failures.is_empty(), "{}", failures.join("\n"));
            tally.lock().expect("no thread panicked").add(&program, &examined);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| some([1, 3, 5, 7, 9]));
        scope.spawn(|| some([2, 4, 6, 8, 10]));
    });
    let tally = tally.into_inner().expect("no thread panicked");
    // Most programs have nests that are read and rewritten: else nothing was compared.
    assert!(tally.n_with_rewritten >= 8, "{}", tally.table());
    assert!(tally.n_versions >= 20, "{}", tally.table());
}

#[test]
fn every_construct_is_written() {
    let programs: Vec<Program> = (1..=1500).map(Program::new).collect();
    let pieces = programs.iter().flat_map(|program| &program.pieces);
    let written: BTreeSet<Construct> = pieces.flat_map(|piece| piece.constructs.iter().copied()).collect();
    let missing: Vec<_> = Construct::ALL.iter().filter(|c| !written.contains(c)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
