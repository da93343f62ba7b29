//! Prints the recipes suggested for the nests of a program in textual form, and the nests they give.
//!
//! `cargo run -p oxeye-transform --example suggest -- gemm.oxir [NAME-PART]`

use oxeye_ir::Program;
use oxeye_transform::templates::suggest_overlaps;
use oxeye_transform::{Machine, Policy, PreparedNest, Suggestion, apply, suggest, suggest_for};

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else { return eprintln!("usage: suggest FILE [NAME-PART]") };
    let wanted = args.next();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let program: Program = match text.parse() {
        Ok(program) => program,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 64 };
    let policy = Policy { reassociate: true, finite: false };
    for nest in program.nests.values() {
        let started = std::time::Instant::now();
        let found = suggest(&program, nest, &machine, policy);
        println!("{}: {} recipes in {:?}", nest.id, found.recipes.len(), started.elapsed());
        for Suggestion { name, template, recipe } in &found.recipes {
            println!("- {name}: {recipe}\n  {template}");
            if wanted.as_ref().is_some_and(|w| name.contains(w.as_str())) {
                match apply(&program, nest, recipe, policy) {
                    Ok(applied) => {
                        let mut shown = applied.program;
                        shown.nests.insert(nest.id, applied.nest);
                        println!("{shown}");
                    }
                    Err(refusal) => println!("  refused: {refusal}"),
                }
            }
        }
        for reason in &found.refused {
            println!("  no: {reason}");
        }
        let prepared = PreparedNest::new(&program, nest);
        for (name, base) in suggest_overlaps(&prepared, &machine, policy) {
            println!("{name}: {base} ({:?})", started.elapsed());
            let Ok(rewritten) = prepared.rewritten(&base, policy) else { continue };
            for Suggestion { name, recipe, .. } in
                suggest_for(&rewritten.prepared(), &machine, policy).recipes
            {
                println!("- {name}: {recipe}");
            }
        }
    }
}
