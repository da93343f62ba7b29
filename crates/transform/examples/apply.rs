//! Applies a recipe (JSON) to the first nest of a program in textual form and prints the result.
//!
//! `cargo run -p oxeye-transform --example apply -- gemm.oxir '[{"step":"reverse","at":0}]' [reassociate]`

use oxeye_ir::Program;
use oxeye_transform::{Policy, Recipe, apply};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, recipe, rest @ ..] = args.as_slice() else {
        return Err("usage: apply FILE RECIPE [reassociate]".into());
    };
    let mut program: Program = std::fs::read_to_string(path)?.parse()?;
    let recipe: Recipe = serde_json::from_str(recipe)?;
    let policy = Policy { reassociate: !rest.is_empty(), finite: false };
    let id = *program.nests.keys().next().ok_or("no nest")?;
    let applied = apply(&program, &program.nests[&id], &recipe, policy)?;
    program = applied.program;
    program.nests.insert(id, applied.nest);
    println!("{program}");
    Ok(())
}
