//! Programs compute what NumPy says.

use oxeye_ir::interpret::{Memory, Options, Value, run_program};
use oxeye_ir::{Expr, Program, Region, ScalarType, Storage, SymId, verify};
use oxeye_sdfg::{Json, Sdfg, Unit, read_sdfg};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Every SDFG with its text.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the data")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "sdfg"))
        .map(|p| {
            let name = p.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(p).expect("a file"))
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no programs in {}", folder.display());
    found
}

fn read(text: &str) -> Unit {
    read_sdfg(&Sdfg::parse(text).expect("an SDFG")).expect("a program")
}

#[test]
fn there_are_enough_programs() {
    assert!(files(&data()).len() >= 20);
}

#[test]
fn files_are_written_as_they_were_read() {
    for (name, text) in files(&data()) {
        assert_eq!(Sdfg::parse(&text).expect("an SDFG").write(), text, "{name}");
    }
}

#[test]
fn programs_are_valid_and_have_a_textual_form() {
    for (name, text) in files(&data()) {
        let unit = read(&text);
        assert_eq!(verify(&unit.program), Ok(()), "{name}:\n{}", unit.program);
        let printed = unit.program.to_string();
        let again = Program::parse(&printed).unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
        assert_eq!(again.to_string(), printed, "{name}");
        assert!(unit.program.nests.keys().eq(unit.places.keys()), "{name}");
    }
}

fn numbers(value: &Json) -> Vec<f64> {
    let number = |v: &Json| match v {
        Json::Number(text) => text.parse().expect("a number"),
        other => panic!("{other:?} is no number"),
    };
    value.as_array().map_or_else(|| vec![number(value)], |items| items.iter().map(number).collect())
}

/// An integer expression of symbols.
fn evaluate(expr: &Expr, symbols: &BTreeMap<SymId, i64>) -> i64 {
    use oxeye_ir::BinaryOp::{Add, Div, Mul, Rem, Sub};
    match expr {
        Expr::Affine(a) => a
            .evaluate(&|v| match v {
                oxeye_ir::Var::Sym(s) => symbols.get(&s).copied(),
                oxeye_ir::Var::Loop(_) => None,
            })
            .expect("known symbols"),
        Expr::Binary(op, l, r) => {
            let (l, r) = (evaluate(l, symbols), evaluate(r, symbols));
            match op {
                Add => l + r,
                Sub => l - r,
                Mul => l * r,
                Div => l / r,
                Rem => l % r,
                other => panic!("{other:?} in a size"),
            }
        }
        other => panic!("{other:?} in a size"),
    }
}

fn value(number: f64, ty: ScalarType) -> Value {
    match ty {
        ScalarType::F64 => Value::F64(number),
        ScalarType::F32 => Value::F32(number as f32),
        _ => Value::Int(number as i64),
    }
}

/// Programs with a loop that ends when data say so, which the interpreter does not run.
const NOT_RUN: [&str; 1] = ["conjugate_gradient"];

/// Runs a program on the sample's arguments. Returns how many numbers were compared, or what is wrong.
fn check(unit: &Unit, sample: &Json) -> Result<usize, String> {
    let program = &unit.program;
    let Some(Json::Object(sizes)) = sample.get("sizes") else { return Err("no sizes".into()) };
    let mut symbols: BTreeMap<SymId, i64> = BTreeMap::new();
    for symbol in program.symbols.values() {
        if let Some(size) = sizes.get(&symbol.name) {
            symbols.insert(symbol.id, numbers(size)[0] as i64);
        }
    }
    for (id, expr) in &unit.definitions {
        let size = evaluate(expr, &symbols);
        symbols.insert(*id, size);
    }
    let mut memory = Memory::random(program, symbols, 0, 1).map_err(|e| e.to_string())?;
    let (before, after) = (sample.get("before").ok_or("no before")?, sample.get("after").ok_or("no after")?);
    for array in program.arrays.values() {
        let Some(buffer) = memory.buffers.get_mut(&array.id) else { continue };
        // What a program makes itself has no values before.
        if array.storage == Storage::Local || array.name.starts_with("__return") {
            buffer.values.iter_mut().for_each(|v| *v = None);
        }
        if let Some(values) = before.get(&array.name) {
            let values = numbers(values);
            if values.len() != buffer.values.len() {
                return Err(format!(
                    "{} has {} elements, not {}",
                    array.name,
                    buffer.values.len(),
                    values.len()
                ));
            }
            buffer.values = values.iter().map(|v| Some(value(*v, array.element))).collect();
        }
    }
    run_program(program, &mut memory, Options::default()).map_err(|e| e.to_string())?;
    let mut n_compared = 0;
    for array in program.arrays.values().filter(|a| a.storage == Storage::Param) {
        let Some(expected) = after.get(&array.name) else {
            return Err(format!("nothing is known of {}", array.name));
        };
        let tolerance = if array.element == ScalarType::F32 { 2e-6 } else { 1e-11 };
        let values = &memory.buffers[&array.id].values;
        for (at, (expected, found)) in numbers(expected).iter().zip(values).enumerate() {
            let found = found.map_or(f64::NAN, Value::to_f64);
            let is_close = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
            let is_same = is_close || (found.is_nan() && expected.is_nan());
            if !is_same {
                return Err(format!("{}[{at}] is {found} instead of {expected}", array.name));
            }
            n_compared += 1;
        }
    }
    Ok(n_compared)
}

#[test]
fn programs_compute_what_numpy_does() {
    for (name, text) in files(&data()) {
        let base = name.split('.').next().expect("a name");
        if NOT_RUN.contains(&base) {
            continue;
        }
        let sample = std::fs::read_to_string(data().join(format!("{base}.json"))).expect("a sample");
        let unit = read(&text);
        assert!(unit.diagnostics.iter().all(|d| !d.is_opaque), "{name}: {:?}", unit.diagnostics);
        match check(&unit, &Json::parse(&sample).expect("JSON")) {
            Ok(n_compared) => assert!(n_compared > 0, "{name}"),
            Err(message) => panic!("{name}: {message}\n{}", unit.program),
        }
    }
}

/// Says of the programs in the folder `OXEYE_SDFG_DATA` what is read of them and whether it is right.
#[test]
#[ignore = "for folders of other programs"]
fn programs_of_another_folder() {
    let folder = PathBuf::from(std::env::var("OXEYE_SDFG_DATA").expect("a folder"));
    let mut n_wrong = 0;
    for (name, text) in files(&folder) {
        let base = name.split('.').next().expect("a name");
        let unit = match Sdfg::parse(&text).and_then(|s| read_sdfg(&s)) {
            Ok(unit) => unit,
            Err(error) => {
                println!("{name}: ERROR {error}");
                n_wrong += 1;
                continue;
            }
        };
        let is_written = Sdfg::parse(&text).is_ok_and(|s| s.write() == text);
        let violations = verify(&unit.program).err().unwrap_or_default();
        let sample = std::fs::read_to_string(folder.join(format!("{base}.json")));
        let sample =
            sample.map_err(|e| e.to_string()).and_then(|t| Json::parse(&t).map_err(|e| e.to_string()));
        let outcome = sample.and_then(|sample| check(&unit, &sample));
        let is_opaque = unit.diagnostics.iter().any(|d| d.is_opaque);
        let n_nests = unit.program.nests.values().filter(|n| !n.loops().is_empty()).count();
        println!("{name}: {n_nests} nests, opaque {is_opaque}, {outcome:?}");
        unit.diagnostics.iter().for_each(|d| println!("    {d}"));
        violations.iter().for_each(|v| println!("    INVALID {v}"));
        n_wrong += usize::from(!violations.is_empty() || !is_written);
    }
    assert_eq!(n_wrong, 0);
}

#[test]
fn what_is_not_counted_is_control() {
    let text = std::fs::read_to_string(data().join("conjugate_gradient.sdfg")).expect("a file");
    let unit = read(&text);
    let mut n_loops = 0;
    unit.program.body.visit(&mut |region| n_loops += usize::from(matches!(region, Region::Loop(_))));
    assert_eq!(n_loops, 1);
    assert!(unit.program.nests.values().filter(|n| !n.loops().is_empty()).count() > 10);
}
