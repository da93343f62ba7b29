//! A tuning script: load, choose nests, apply an own recipe beside the suggested ones, measure, emit.
//!
//! `cargo run --release -p oxeye --example tune -- benchmarks/kernels/gemm.c`

use oxeye::{Compiler, Options, Recipe, Session, Silent, Standing};
use oxeye::{capture, emit, measure, propose, read, report};
use oxeye_transform::steps::Parallelize;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: tune FILE.c")?;
    let mut options = Options::new(&file);
    let command = ["gcc", "-O3", "-march=native", "-ffast-math", "-lm"].map(String::from);
    options.compiler = Compiler::from_words(&command, file.as_ref());
    let session = Session::new(&options, &Silent)?;

    let unit = read(&session)?;
    let mut captured = capture(&session, unit)?;
    captured.choose(|nest, _| nest.calls.share.unwrap_or(1.0) > 0.1);
    let mut proposed = propose(&session, captured)?;
    for nest_idx in 0..proposed.workpiece.nests.len() {
        let nest = &proposed.workpiece.nests[nest_idx];
        let Some(at) = nest.outermost_loop(&proposed.workpiece.unit) else { continue };
        if nest.standing == Standing::Tuned {
            let mine = Recipe { steps: vec![Parallelize { at, sharing: Default::default() }.into()] };
            proposed.add(&session, nest_idx, "my own", mine);
        }
    }
    let measured = measure(&session, proposed)?;
    let emitted = emit(&session, measured)?;
    emitted.write(&session)?;
    println!("{}", report(&session, &emitted).to_json());
    Ok(())
}
