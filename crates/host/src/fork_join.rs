//! The cost of an OpenMP parallel region with the given compiler.

use crate::quantity::Quantity;
use oxeye_measure::{CompileJob, Compiler, Invocation, Limits, MeasureError, WorkDir, run_program};

const SOURCE: &str = include_str!("c/fork_join.c");

/// Microseconds that an empty parallel region of this many threads takes, or why that is unknown. Only the program of
/// the compiler is used: its flags may be for other sources.
pub(crate) fn fork_join_us(compiler: Option<&Compiler>, threads: u32) -> Result<Quantity, String> {
    let Some(compiler) = compiler else { return Err("no compiler was given".into()) };
    let samples = run(compiler, threads).map_err(|e| {
        let text = e.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })?;
    Quantity::median_of(&samples)
        .ok_or_else(|| format!("the program made by {} printed no times", compiler.program))
}

fn run(compiler: &Compiler, threads: u32) -> Result<Vec<f64>, MeasureError> {
    let work = WorkDir::new()?;
    let source = work.write("fork_join.c", SOURCE)?;
    let compiler = Compiler::new(&compiler.program, ["-O2", "-fopenmp"]);
    let program = compiler.compile(&CompileJob::executable(source, work.join("fork_join")))?;
    let invocation =
        Invocation::new(program).env("OMP_NUM_THREADS", threads.to_string()).env("OMP_DYNAMIC", "false");
    let outcome = run_program(&invocation, &Limits { seconds: 20.0, ..Limits::default() })?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        assert!(fork_join_us(None, 2).expect_err("nothing to compile with").contains("no compiler"));
        let missing = Compiler::new("no-such-compiler-here", [""; 0]);
        let why = fork_join_us(Some(&missing), 2).expect_err("it is missing");
        assert!(why.contains("no-such-compiler-here"), "{why}");
    }
}
