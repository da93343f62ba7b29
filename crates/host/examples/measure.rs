//! Measures this machine and prints the profile as JSON, without keeping it: `cargo run --release --example measure`,
//! with `-- thorough` for all of it and a compiler's name after that for the cost of parallel regions.

use oxeye_host::{Effort, measure};
use oxeye_measure::Compiler;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let effort = match words.first().map(String::as_str) {
        Some("thorough") => Effort::Thorough,
        _ => Effort::Brief,
    };
    let compiler = words.get(1).map(|program| Compiler::new(program, [""; 0]));
    let profile = measure(effort, compiler.as_ref(), &mut |step| {
        eprintln!("{:3.0} % {}", 100.0 * step.fraction, step.label);
    })?;
    println!("{}", serde_json::to_string_pretty(&profile)?);
    Ok(())
}
