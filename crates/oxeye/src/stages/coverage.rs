//! Samples the program: how much of its time is in loops that can be tuned, and where the rest is.

use crate::coverage::{Coverage, Lines, Stacks};
use crate::nest::{Place, Standing, TunedNest};
use crate::request::Error;
use crate::session::Session;
use oxeye_frontend::{Included, Unit};
use oxeye_measure::{Limits, sample_stacks};
use std::path::Path;

/// What a sampled run told.
#[derive(Default)]
pub(crate) struct Sampled {
    /// Its wall-clock time, if the program ran to its end.
    pub(crate) seconds: Option<f64>,
    /// What each run printed.
    pub(crate) outputs: Vec<Vec<u8>>,
    pub(crate) stacks: Option<Stacks>,
}

/// Runs the program and samples it, unless it is one of a project and that was done. There are no stacks where it cannot be sampled (a static program, a compiler without debug
/// information) or is too short.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn sample(
    session: &Session<'_>,
    included: &Included,
    executable: &Path,
) -> Result<Sampled, Error> {
    if let Some(project) = &session.options.project {
        let run = &project.run;
        return Ok(Sampled {
            seconds: Some(run.seconds),
            outputs: run.outputs.clone(),
            stacks: Stacks::of(&session.options.file, included, &run.stacks),
        });
    }
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
        outputs: ended.map(|outcome| outcome.stdout).into_iter().collect(),
        stacks: Stacks::of(&session.options.file, included, &run.stacks),
    })
}

/// Where a nest begins and ends, without the pragmas above it that its span takes in.
pub(crate) fn lines(unit: &Unit, place: &Place) -> Lines {
    let (source, span) = (unit.source.as_bytes(), place.span);
    let is_line_end = |byte: &&u8| **byte == b'\n';
    let end = span.end.min(source.len());
    let mut start = span.start.min(end);
    let mut line = 1 + source[..start].iter().filter(is_line_end).count() as u32;
    while line < span.line
        && let Some(length) = source[start..end].iter().position(|byte| *byte == b'\n')
    {
        start += length + 1;
        line += 1;
    }
    let column = |at: usize| {
        let before = source[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        (at - before) as u32 + 1
    };
    let last = end.saturating_sub(1).max(start);
    let n_more = source[start..end].iter().filter(is_line_end).count() as u32;
    Lines { first: (line, column(start)), last: (line + n_more, column(last)) }
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
    loops.extend(unit.diagnostics.iter().filter_map(|d| Some(Lines::whole(d.nest_line?, d.nest_end?))));
    stacks.coverage(&tunable, &loops)
}
