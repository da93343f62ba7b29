//! Random programs are read as what they say, and written back as they were.

use crate::generate::{Generated, SIZES, is_transient};
use oxeye_ir::interpret::{Memory, Options, Value, run_program};
use oxeye_ir::{SymId, verify};
use oxeye_sdfg::{Changed, Grouping, Sdfg, read_sdfg, replace_nests, to_c};
use std::collections::{BTreeMap, BTreeSet};

const N_PROGRAMS: u64 = 200;

#[test]
fn programs_are_written_as_they_were_read() {
    let mut n_nests = 0;
    for seed in 0..N_PROGRAMS {
        let text = Generated::new(seed).document();
        let sdfg = Sdfg::parse(&text).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"));
        assert_eq!(sdfg.write(), text, "{seed}");
        // Nor do those change whose nests were tuned in vain.
        let unit = read_sdfg(&sdfg).expect("a program");
        let c = to_c(&sdfg, &unit, Grouping::Together).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let same = c.changed(&c.source).expect("itself");
        let replaced = replace_nests(&sdfg, &unit, &c, &same, &BTreeSet::new()).expect("a document");
        assert_eq!(replaced.sdfg.write(), text, "{seed}");
        n_nests += c.nests.len();
    }
    assert!(n_nests > 400, "{n_nests}");
}

#[test]
fn what_is_not_replaced_keeps_everything() {
    let mut n_kept = 0;
    for seed in 0..N_PROGRAMS {
        let sdfg = Sdfg::parse(&Generated::new(seed).document()).expect("an SDFG");
        let unit = read_sdfg(&sdfg).expect("a program");
        let c = to_c(&sdfg, &unit, Grouping::Apart).expect("C");
        let Some(last) = c.nests.keys().last().copied() else { continue };
        let changed = Changed { global: String::new(), nests: c.nests.clone(), ..Changed::default() };
        let replaced =
            replace_nests(&sdfg, &unit, &c, &changed, &BTreeSet::from([last])).expect("a document");
        let place = &unit.places[&last];
        let states = |sdfg: &Sdfg| sdfg.document().get("nodes").and_then(|n| n.as_array()).map(<[_]>::to_vec);
        let (before, after) = (states(&sdfg).expect("states"), states(&replaced.sdfg).expect("states"));
        if replaced.nests.is_empty() || place.nodes.is_empty() {
            continue;
        }
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            let is_its = place.blocks[0] == [at];
            assert_eq!(before == after, !is_its, "{seed}, state {at}");
        }
        let member = |sdfg: &Sdfg, name: &str| sdfg.document().get(name).cloned();
        for name in ["edges", "start_block", "remarks", "collapsed"] {
            assert_eq!(member(&sdfg, name), member(&replaced.sdfg, name), "{seed}");
        }
        n_kept += 1;
    }
    assert!(n_kept > 50, "{n_kept}");
}

#[test]
fn programs_are_read_as_what_they_say() {
    for seed in 0..N_PROGRAMS {
        let generated = Generated::new(seed);
        let text = generated.document();
        let unit = read_sdfg(&Sdfg::parse(&text).expect("an SDFG")).expect("a program");
        let program = &unit.program;
        assert!(unit.diagnostics.iter().all(|d| !d.is_opaque), "{seed}: {:?}\n{text}", unit.diagnostics);
        assert!(verify(program).is_ok(), "{seed}: {program}");
        let sizes = BTreeMap::from(SIZES);
        let symbols: BTreeMap<SymId, i64> =
            program.symbols.values().filter_map(|s| Some((s.id, *sizes.get(s.name.as_str())?))).collect();
        let mut memory = Memory::random(program, symbols, 0, 1).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let mut arrays = generated.arguments();
        for array in program.arrays.values() {
            let Some(buffer) = memory.buffers.get_mut(&array.id) else { continue };
            match arrays.get(array.name.as_str()) {
                Some(values) if !is_transient(&array.name) => {
                    let of = |x: &f64| {
                        if array.element.is_float() { Value::F64(*x) } else { Value::Int(*x as i64) }
                    };
                    buffer.values = values.iter().map(|x| Some(of(x))).collect();
                }
                _ => buffer.values.iter_mut().for_each(|v| *v = None),
            }
        }
        run_program(program, &mut memory, Options::default())
            .unwrap_or_else(|e| panic!("{seed}: {e}\n{program}"));
        generated.run(&mut arrays);
        for array in program.arrays.values().filter(|a| arrays.contains_key(a.name.as_str())) {
            if is_transient(&array.name) {
                continue;
            }
            let (expected, found) = (&arrays[array.name.as_str()], &memory.buffers[&array.id].values);
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                let found = found.map_or(f64::NAN, Value::to_f64);
                let is_close = (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                assert!(is_close, "{seed}: {}[{at}] is {found}, not {expected}\n{program}", array.name);
            }
        }
    }
}

/// Writes the programs into the folder `OXEYE_SDFG_OUT`, with their arguments and what they make of them, for DaCe.
#[test]
#[ignore = "for a look with DaCe"]
fn programs_as_files() {
    let folder = std::env::var("OXEYE_SDFG_OUT").expect("a folder");
    for seed in 0..N_PROGRAMS {
        let generated = Generated::new(seed);
        let before = generated.arguments();
        let mut after = before.clone();
        generated.run(&mut after);
        let sizes = BTreeMap::from(SIZES);
        let sample = format!("{{\"sizes\": {sizes:?}, \"before\": {before:?}, \"after\": {after:?}}}");
        std::fs::write(format!("{folder}/random_{seed}.sdfg"), generated.document()).expect("a file");
        std::fs::write(format!("{folder}/random_{seed}.json"), sample).expect("a file");
    }
}
