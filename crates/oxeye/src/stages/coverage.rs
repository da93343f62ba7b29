//! Samples the program: how much of its time is in loops that can be tuned, and where the rest is.

use crate::coverage::{Coverage, LineRanges};
use crate::nest::{Standing, TunedNest, Workpiece};
use crate::request::Error;
use crate::session::Session;
use oxeye_ir::Span;
use oxeye_measure::{Limits, sample_stacks};

/// Where nests that can be tuned take this share of the time, by the clock of the captured run, the rest is not looked for.
const NEARLY_ALL: f64 = 0.95;

/// Runs the program once more and samples it. `None` where there is no program, it cannot be sampled (a static program, a
/// compiler without debug information), it is too short, or nearly all is in nests anyway.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn coverage(session: &Session<'_>, workpiece: &Workpiece) -> Result<Option<Coverage>, Error> {
    let Some(program) = &workpiece.program else { return Ok(None) };
    let is_open = |nest: &&TunedNest| !matches!(nest.standing, Standing::Skipped(_));
    let captured: f64 = workpiece.nests.iter().filter(is_open).filter_map(|nest| nest.calls.share).sum();
    if captured >= NEARLY_ALL {
        return Ok(None);
    }
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let run = session.in_program(|| {
        let invocation = session.options.run.of(&program.executable);
        sample_stacks(&invocation, &limits, &session.workshop.compiler.bare(), &session.workshop.folder)
    });
    session.check_cancelled()?;
    Ok(run.ok().and_then(|run| Coverage::of(&run.stacks, &line_ranges(session, workpiece))))
}

/// Which lines of the file are in which loops.
fn line_ranges(session: &Session<'_>, workpiece: &Workpiece) -> LineRanges {
    let unit = &workpiece.unit;
    let lines = |span: Span| {
        let text = unit.source.get(span.start..span.end).unwrap_or_default();
        // A span takes in the pragmas above the loop; its line is the loop's.
        let above = text.lines().take_while(|line| !line.trim_start().starts_with("for")).count();
        let n_lines = text.lines().count().saturating_sub(above).max(1);
        (span.line, span.line + n_lines as u32 - 1)
    };
    let (mut tunable, mut loops) = (Vec::new(), Vec::new());
    for nest in &workpiece.nests {
        match nest.standing {
            Standing::Tuned | Standing::Short(_) => tunable.push(lines(nest.place.span)),
            Standing::Skipped(_) => loops.push(lines(nest.place.span)),
        }
    }
    loops.extend(unit.diagnostics.iter().filter_map(|d| d.nest_line.zip(d.nest_end)));
    LineRanges::new(&session.options.file, tunable, loops)
}
