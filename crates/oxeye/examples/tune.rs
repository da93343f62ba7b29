//! A tuning script: load, choose nests, apply an own recipe beside the suggested ones, measure, emit.
//!
//! `cargo run --release -p oxeye --example tune -- benchmarks/kernels/gemm.c`

use oxeye::{Compiler, Options, Recipe, Silent, Transformation, Tuner};
use oxeye_transform::steps::Parallelize;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: tune FILE.c")?;
    let mut options = Options::new(&file);
    let command = ["gcc", "-O3", "-march=native", "-ffast-math", "-lm"].map(String::from);
    options.compiler = Compiler::from_words(&command, file.as_ref());
    let tuner = Tuner::new(&options, &Silent)?;

    let mut captured = tuner.capture(tuner.read()?)?;
    captured.choose(|nest, _| nest.share.unwrap_or(1.0) > 0.1);
    let mut candidates = tuner.candidates(captured)?;
    for nest_idx in 0..candidates.nests.len() {
        let Some(at) = candidates.outermost_loop(nest_idx) else { continue };
        let mine = Recipe {
            steps: vec![Transformation::Parallelize(Parallelize { at, omp_schedule: Default::default() })],
        };
        candidates.add(&tuner, nest_idx, "my own", mine);
    }
    let emitted = tuner.emit(tuner.measure(candidates)?)?;
    emitted.write()?;
    println!("{}", emitted.report().to_json());
    Ok(())
}
