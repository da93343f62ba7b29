//! Clocks that run too fast, by which times among what a program prints are told from its results.

use crate::compiler::{CompileJob, Compiler};
use crate::error::MeasureError;
use crate::left::Left;
use crate::process::{Exit, Invocation};
use crate::whole::WholeOptions;
use crate::workdir::WorkDir;

const CLOCK_C: &str = include_str!("c/clock.c");

/// What a program leaves when its clocks run faster: numbers that then differ depend on how long it takes, such as seconds and
/// rates that were rounded to the same digits in all its other runs. `None` if that cannot be found out: it does not end in this
/// way, or there is no compiler `cc`. Processor counters that are read without a call are as they were.
///
/// # Errors
/// When the program cannot be started, or does not write a file that is compared.
pub fn left_with_fast_clocks(
    program: &Invocation,
    exit: Exit,
    options: &WholeOptions,
) -> Result<Option<Left>, MeasureError> {
    let work = WorkDir::new()?;
    let source = work.write("clock.c", CLOCK_C)?;
    let job = CompileJob::shared_library(source, work.join("clock.so")).args(["-O1"]);
    let Ok(library) = Compiler::new("cc", [""; 0]).compile(&job) else { return Ok(None) };
    let (outcome, left) = options.run(&program.clone().preload(&library))?;
    Ok((outcome.exit == exit).then_some(left))
}
