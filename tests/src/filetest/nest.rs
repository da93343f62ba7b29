//! Commands on the first nest of a program, as text of the IR.

use super::case::Case;
use super::check::check;
use oxeye_binding::Bound;
use oxeye_codegen::{RenderOptions, render_nest};
use oxeye_ir::{Nest, Program};
use oxeye_transform::{
    Applied, Machine, Policy, Recipe, Suggestion, WrittenRecipe, apply, normalize, normalize_nest, suggest,
};
use std::fmt::Write as _;

/// The printed text, which must stand for the same program.
pub(super) fn round_trip(case: &Case) -> Result<String, String> {
    let bound = Bound::parse(&case.body).map_err(|e| format!("{e}"))?;
    let text = bound.to_string();
    let again = Bound::parse(&text).map_err(|e| format!("printed text does not parse: {e}\n{text}"))?;
    if again != bound {
        return Err(format!("printed text is another program:\n{again}"));
    }
    Ok(text)
}

/// Why it is no program, or what the verifiers say.
pub(super) fn verify(case: &Case) -> Result<String, String> {
    let Bound { program, binding } = match Bound::parse(&case.body) {
        Ok(bound) => bound,
        Err(error) => return Ok(format!("{error}")),
    };
    let found = [oxeye_ir::verify(&program), oxeye_binding::verify(&program, &binding)];
    let violations: String =
        found.into_iter().filter_map(Result::err).flatten().map(|v| format!("{v}\n")).collect();
    Ok(if violations.is_empty() { "well formed".into() } else { violations })
}

/// The C of every nest.
pub(super) fn render(case: &Case) -> Result<String, String> {
    let Bound { program, binding } = Bound::parse(&case.body).map_err(|e| format!("{e}"))?;
    let mut options = RenderOptions::default();
    for word in &case.words {
        match *word {
            "threads" => options.threads = 2,
            "reassociate" => options.reassociate = true,
            "original" => options.original = Some("original();".into()),
            "declarations-first" => options.declarations_first = true,
            _ => return Err(format!("`{word}` is no option of `render`")),
        }
    }
    let text = |nest| match render_nest(&program, &binding, nest, &options) {
        Ok(text) => text + "\n",
        Err(error) => format!("refused: {error}\n"),
    };
    Ok(program.nests.values().map(text).collect())
}

/// The policy that the command's second word stands for, and the program, which has a nest.
fn read(case: &Case) -> Result<(Program, Policy), String> {
    let program: Program = case.body.parse().map_err(|e| format!("{e}"))?;
    oxeye_ir::verify(&program).map_err(|v| format!("not well formed: {v:?}"))?;
    let policy = match case.words.as_slice() {
        ["strict"] => Policy { reassociate: false, finite: false },
        ["reassociate"] => Policy { reassociate: true, finite: false },
        ["finite"] => Policy { reassociate: true, finite: true },
        words => return Err(format!("`{}` is no policy", words.join(" "))),
    };
    if program.nests.is_empty() {
        return Err("there is no nest".into());
    }
    Ok((program, policy))
}

/// The temporaries and the nest after the steps, or why they are refused.
pub(super) fn apply_steps(case: &Case) -> Result<String, String> {
    let (program, policy) = read(case)?;
    let nest = &program.nests[0];
    let written: WrittenRecipe = serde_json::from_str(&format!("[{}]", case.steps.join(",")))
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

/// The recipes that are suggested.
pub(super) fn suggestions(case: &Case) -> Result<String, String> {
    let (program, policy) = read(case)?;
    let nest = &program.nests[0];
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

/// The normal form without names.
pub(super) fn normal_form(case: &Case) -> Result<String, String> {
    let (program, policy) = read(case)?;
    let nest: &Nest = &program.nests[0];
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
