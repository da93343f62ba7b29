//! Samples the program: how much of its time is in loops that can be tuned, and where the rest is.

use crate::coverage::{Coverage, Lines, Stacks};
use crate::nest::{Place, Standing, TunedNest};
use crate::request::Error;
use crate::session::Session;
use oxeye_frontend::Unit;
use oxeye_measure::{Limits, sample_stacks};
use std::path::Path;

/// What a sampled run told.
#[derive(Default)]
pub(crate) struct Sampled {
    /// Its wall-clock time, if the program ran to its end.
    pub(crate) seconds: Option<f64>,
    /// What it printed.
    pub(crate) output: Option<Vec<u8>>,
    pub(crate) stacks: Option<Stacks>,
}

/// Runs the program and samples it. There are no stacks where it cannot be sampled (a static program, a compiler without debug
/// information) or is too short.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn sample(session: &Session<'_>, executable: &Path) -> Result<Sampled, Error> {
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let run = session.in_program(|| {
        let invocation = session.options.run.of(executable);
        sample_stacks(&invocation, &limits, &session.workshop.compiler.bare(), &session.workshop.folder)
    });
    session.check_cancelled()?;
    let Ok(run) = run else { return Ok(Sampled::default()) };
    let ended = Some(run.outcome).filter(|outcome| session.options.run.is_success(outcome.exit));
    Ok(Sampled {
        seconds: ended.as_ref().map(|outcome| 1e-9 * outcome.elapsed_ns as f64),
        output: ended.map(|outcome| outcome.stdout),
        stacks: Stacks::of(&session.options.file, &run.stacks),
    })
}

/// The lines of a nest.
pub(crate) fn lines(unit: &Unit, place: &Place) -> Lines {
    let span = place.span;
    let text = unit.source.get(span.start..span.end).unwrap_or_default();
    // A span takes in the pragmas above the loop; its line is the loop's.
    let above = text.lines().take_while(|line| !line.trim_start().starts_with("for")).count();
    let n_lines = text.lines().count().saturating_sub(above).max(1);
    (span.line, span.line + n_lines as u32 - 1)
}

/// Where the time goes, between nests that are tuned and loops that are not.
pub(crate) fn coverage(stacks: &Stacks, unit: &Unit, nests: &[TunedNest]) -> Coverage {
    let (mut tunable, mut loops) = (Vec::new(), Vec::new());
    for nest in nests {
        match nest.standing {
            Standing::Tuned | Standing::Short(_) => tunable.push(lines(unit, &nest.place)),
            Standing::Skipped(_) => loops.push(lines(unit, &nest.place)),
        }
    }
    loops.extend(unit.diagnostics.iter().filter_map(|d| d.nest_line.zip(d.nest_end)));
    stacks.coverage(&tunable, &loops)
}
