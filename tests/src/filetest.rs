//! Filetests: a command, textual IR, and the expected output.
//!
//! ```text
//! // run: apply strict
//! // What the file shows.
//! // {"step":"interchange","outer":0,"inner":1}
//! program p { … }
//! // ----
//! the temporaries and the nest after the steps, or `refused: …`
//! ```
//!
//! Commands are `apply strict`, `apply reassociate`, `apply finite` (every line `// {…}` is a step of the recipe, in which loops may be
//! given by name), `suggest strict`, `suggest reassociate`, `normalize strict`, `normalize reassociate` (the normal
//! form without names), `verify` and `roundtrip`. `OXEYE_BLESS=1` rewrites the expectations with the output; read the
//! difference before keeping it.

use std::fmt::Write as _;
use std::path::Path;

use oxeye_binding::Bound;
use oxeye_ir::interpret::{InterpretError, Memory, Options, Order, Value, run_nest};
use oxeye_ir::{ArrayId, Nest, Program, ScalarType, Storage};
use oxeye_transform::{
    Applied, Machine, Policy, Recipe, Suggestion, Transformation, WrittenRecipe, apply, normalize,
    normalize_nest, suggest,
};

const SEPARATOR: &str = "// ----";

/// Runs every `.oxir` file in a folder; returns the differences from the expectations, as text. A folder without such
/// files is a failure.
///
/// # Panics
/// If the folder cannot be read, or an expectation cannot be rewritten.
pub fn run_folder(folder: &Path) -> Vec<String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "oxir"))
        .collect();
    files.sort();
    if files.is_empty() {
        return vec![format!("{}: no `.oxir` files", folder.display())];
    }
    let bless = std::env::var_os("OXEYE_BLESS").is_some();
    let mut failures = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
        let name = path.display();
        match run(input) {
            Ok(actual) if actual.trim() == expected.trim() => {}
            Ok(actual) if bless => {
                let blessed = format!("{}\n{SEPARATOR}\n{}\n", input.trim_end(), actual.trim_end());
                std::fs::write(&path, blessed).unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            Ok(actual) => {
                failures.push(format!("{name}: expected\n{}\nbut got\n{}", expected.trim(), actual.trim()));
            }
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    failures
}

/// The output of a file's command.
///
/// # Errors
/// If the file is malformed, or an accepted recipe gives a nest that computes something else.
pub fn run(input: &str) -> Result<String, String> {
    let is_comment = |line: &&str| line.starts_with("//");
    let header: Vec<&str> = input.lines().take_while(is_comment).collect();
    let body: String = input.lines().skip(header.len()).map(|line| format!("{line}\n")).collect();
    let command = header
        .iter()
        .find_map(|line| line.strip_prefix("// run: "))
        .ok_or("the first line must be `// run: COMMAND`")?;
    let steps: Vec<&str> =
        header.iter().filter_map(|line| line.strip_prefix("// ")).filter(|l| l.starts_with('{')).collect();
    if command == "roundtrip" {
        let bound = Bound::parse(&body).map_err(|e| format!("{e}"))?;
        let text = bound.to_string();
        let again = Bound::parse(&text).map_err(|e| format!("printed text does not parse: {e}\n{text}"))?;
        if again != bound {
            return Err(format!("printed text is another program:\n{again}"));
        }
        return Ok(text);
    }
    if command == "verify" {
        let Bound { program, binding } = match Bound::parse(&body) {
            Ok(bound) => bound,
            Err(error) => return Ok(format!("{error}")),
        };
        let found = [oxeye_ir::verify(&program), oxeye_binding::verify(&program, &binding)];
        let violations: String =
            found.into_iter().filter_map(Result::err).flatten().map(|v| format!("{v}\n")).collect();
        return Ok(if violations.is_empty() { "well formed".into() } else { violations });
    }
    let program: Program = body.parse().map_err(|e| format!("{e}"))?;
    oxeye_ir::verify(&program).map_err(|v| format!("not well formed: {v:?}"))?;
    let nest = program.nests.values().next().ok_or("there is no nest")?;
    let policy = match command.split_whitespace().nth(1) {
        Some("strict") => Policy { reassociate: false, finite: false },
        Some("reassociate") => Policy { reassociate: true, finite: false },
        Some("finite") => Policy { reassociate: true, finite: true },
        _ => return Err(format!("`{command}` is no command")),
    };
    match command.split_whitespace().next() {
        Some("apply") => {
            let written: WrittenRecipe = serde_json::from_str(&format!("[{}]", steps.join(",")))
                .map_err(|e| format!("the recipe: {e}"))?;
            let recipe = written.resolve(&program, nest, policy);
            match recipe.and_then(|recipe| Ok((apply(&program, nest, &recipe, policy)?, recipe))) {
                Ok((applied, recipe)) => {
                    check(&program, nest, &applied, &recipe)?;
                    Ok(shown(&applied))
                }
                Err(refusal) => Ok(format!("refused: {refusal}")),
            }
        }
        Some("suggest") => {
            let machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 64 };
            let found = suggest(&program, nest, &machine, policy);
            let mut text = String::new();
            for Suggestion { name, recipe, .. } in &found.recipes {
                let applied =
                    apply(&program, nest, recipe, policy).map_err(|r| format!("`{name}` is refused: {r}"))?;
                check(&program, nest, &applied, recipe)?;
                let _ = writeln!(text, "{name}: {recipe}");
            }
            for reason in &found.refused {
                let _ = writeln!(text, "no: {reason}");
            }
            Ok(text)
        }
        Some("normalize") => {
            let normal = normalize_nest(&program, nest, policy);
            let (after, own) = (normal.program, normal.nest);
            let applied = Applied { program: after, nest: own, reassociated: normal.reassociated };
            check(&program, nest, &applied, &Recipe::default())?;
            let form = normalize(&program, policy);
            let again = normalize(&form.program, policy);
            if again.text != form.text {
                return Err(format!("the normal form has another:\n{}", again.text));
            }
            let mut text = form.text;
            for entry in &form.log {
                let _ = writeln!(text, "// {entry}");
            }
            Ok(text)
        }
        _ => Err(format!("`{command}` is no command")),
    }
}

/// Whether the array is not read after the nest.
fn is_dead(program: &Program, nest: &Nest, id: ArrayId) -> bool {
    program.array(id).storage == Storage::Local && !nest.live_out.contains(&id)
}

/// Temporaries and nest.
fn shown(applied: &Applied) -> String {
    let mut program = applied.program.clone();
    program.nests.clear();
    program.nests.insert(applied.nest.id, applied.nest.clone());
    let text = program.to_string();
    let mut lines: Vec<&str> =
        text.lines().filter(|l| l.starts_with("  array ") && l.contains(" temp")).collect();
    let end = text.trim_end().trim_end_matches('}').trim_end();
    lines.extend(end.lines().skip_while(|l| !l.starts_with("  nest ")));
    if applied.reassociated {
        lines.insert(0, "  reassociated");
    }
    lines.into_iter().map(|l| format!("{}\n", l.strip_prefix("  ").unwrap_or(l))).collect()
}

/// A memory in which values are what a recipe takes them to be, if it does.
fn planted(memory: &Memory, recipe: &Recipe) -> Result<Option<Memory>, String> {
    let mut planted = None;
    for step in &recipe.steps {
        let (array, value) = match step {
            Transformation::Specialise(step) => (step.array, step.value.to_string()),
            Transformation::SplitZeros(step) => (step.array, "0".to_owned()),
            Transformation::GuardZeros(step) => (step.array, "0".to_owned()),
            Transformation::CompactZeros(step) => (step.array, "0".to_owned()),
            _ => continue,
        };
        let of_memory: &mut Memory = planted.get_or_insert_with(|| memory.clone());
        let Some(buffer) = of_memory.buffers.get_mut(&array) else { continue };
        let value = match buffer.element {
            ScalarType::F64 => Value::F64(value.parse().map_err(|e| format!("{value}: {e}"))?),
            ScalarType::F32 => Value::F32(value.parse().map_err(|e| format!("{value}: {e}"))?),
            _ => Value::Int(value.parse().map_err(|e| format!("{value}: {e}"))?),
        };
        let n = buffer.values.len();
        // Zeros lie in a region.
        let region = if matches!(step, Transformation::Specialise(_)) { 0..n } else { n / 4..n - n / 4 };
        buffer.values[region].fill(Some(value));
    }
    Ok(planted)
}

/// Whether the transformed nest is well formed, survives a round trip through text, and computes what the original
/// computes for a few sizes, with concurrent loops visited in several orders. At least one size must be large enough to
/// execute. Arrays whose values the recipe has something to say of have those values in one run, and any in another.
fn check(program: &Program, nest: &Nest, applied: &Applied, recipe: &Recipe) -> Result<(), String> {
    let mut transformed = applied.program.clone();
    transformed.nests.insert(applied.nest.id, applied.nest.clone());
    transformed.rebuild_dataflow();
    oxeye_ir::verify(&transformed)
        .map_err(|v| format!("the result is not well formed: {v:?}\n{transformed}"))?;
    let again: Program =
        transformed.to_string().parse().map_err(|e| format!("the result does not parse: {e}"))?;
    if again != transformed {
        return Err(format!("the result comes back from text as\n{again}"));
    }
    let is_integer = program.arrays.values().all(|a| !a.element.is_float());
    let tolerance = if applied.reassociated && !is_integer { 1e-9 } else { 0.0 };
    let mut n_executed = 0;
    let mut why_skipped = String::new();
    for size in [1, 2, 5, 9, 16] {
        let sizes =
            program.symbols.keys().enumerate().map(|(k, s)| (*s, size + (size > 4) as i64 * k as i64));
        let memory = match Memory::random(program, sizes, 40, 7) {
            Ok(memory) => memory,
            Err(error) => {
                why_skipped = error.to_string();
                continue;
            }
        };
        let planted = planted(&memory, recipe)?;
        let memories = [&memory].into_iter().chain(&planted);
        for memory in memories {
            let run = |program: &Program, nest: &Nest, order| {
                let mut memory = memory.clone();
                let options = Options { max_steps: 5_000_000, parallel: order, vector: order };
                run_nest(program, nest, &mut memory, options).map(|()| memory)
            };
            let expected = match run(program, nest, Order::Forward) {
                Ok(mut memory) => {
                    memory.buffers.retain(|id, _| !is_dead(program, nest, *id));
                    memory
                }
                // Too small for the program's accesses.
                Err(error @ (InterpretError::OutOfBounds { .. } | InterpretError::Undefined(_))) => {
                    why_skipped = error.to_string();
                    continue;
                }
                Err(error) => return Err(format!("the original fails at size {size}: {error}")),
            };
            for order in [Order::Forward, Order::Reversed, Order::Shuffled(3)] {
                let actual = run(&applied.program, &applied.nest, order)
                    .map_err(|e| format!("the result fails at size {size}: {e}\n{transformed}"))?;
                if let Some(difference) = expected.difference(&actual, program, tolerance) {
                    return Err(format!("wrong at size {size}, {order:?}: {difference}\n{transformed}"));
                }
            }
            n_executed += 1;
        }
    }
    if n_executed == 0 {
        return Err(format!("nothing was executed: {why_skipped} at every size"));
    }
    let temporaries = transformed.arrays.values().filter(|a| matches!(a.storage, Storage::Temp(_)));
    match temporaries.into_iter().find(|a| !applied.nest.arrays().contains(&a.id)) {
        Some(unused) => Err(format!("temporary {} is not used", unused.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("notes.txt"), "no test").expect("a file");
        let failures = run_folder(folder.path());
        assert!(failures.len() == 1 && failures[0].contains("no `.oxir` files"), "{failures:?}");
    }

    #[test]
    fn a_file_of_which_nothing_can_be_executed_fails() {
        let text = |index: &str| {
            format!(
                "// run: apply strict\nprogram p {{\n  symbol P0 n: i32\n  array A0 a: f64[n] param\n  dataflow {{ N0 }}\n  \
                 nest N0 in p {{\n    for L0 i: i32 in 0 .. n {{\n      S0: a[{index}] = 1.0\n    }}\n  }}\n}}\n"
            )
        };
        run(&text("i")).expect("it can be executed");
        let error = run(&text("i + 1")).expect_err("every size leaves the array");
        assert!(error.starts_with("nothing was executed"), "{error}");
    }
}
