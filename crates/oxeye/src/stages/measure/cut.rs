//! Long nests are timed on fewer steps: where the outermost loop repeats what is inside on the same elements (a loop over
//! time), each of its iterations costs the same, and some dozens of them tell as much as all.

use super::shrink::Shrinker;
use crate::nest::{CutCall, TunedNest};
use crate::request::Error;
use crate::session::Session;
use oxeye_binding::Binding;
use oxeye_codegen::Argument;
use oxeye_frontend::Unit;
use oxeye_ir::{Nest, Program};
use oxeye_measure::{MeasureError, Sample};
use std::path::Path;

/// Invocations that take longer, in seconds, are cut.
const LONG: f64 = 0.3;
/// About so many seconds are left of them.
const SHORT: f64 = 0.15;
/// Fewer steps would not do for tiles over time.
const LEAST_STEPS: i64 = 24;
/// Nests that do the work of others are loops around calls, such as those of frames: each step is a pass of its own.
const LEAST_PASSES: i64 = 12;
/// Numbers of steps are reduced by multiples of this, so that buffers that take turns end where they did.
const TURNS: i64 = 12;

/// How many of `steps` steps that take `seconds` together are timed, `least` at least; `None` for all of them.
fn timed_steps(steps: i64, seconds: f64, least: i64) -> Option<i64> {
    if seconds <= LONG {
        return None;
    }
    let wanted = ((steps as f64 * SHORT / seconds).ceil() as i64).max(least);
    let timed = steps - (steps - wanted) / TURNS * TURNS;
    (wanted <= steps / 2).then_some(timed)
}

/// Puts a shorter call before the captured one of a nest, if that is long and can be cut. The captured one stays: winners are
/// verified on it.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn cut_long(
    session: &Session<'_>,
    unit: &Unit,
    idx: usize,
    nest: &mut TunedNest,
) -> Result<(), Error> {
    let is_whole = nest.calls.cut.is_none() && nest.calls.timed().count() == 1;
    let least = if nest.place.inside.is_empty() { LEAST_STEPS } else { LEAST_PASSES };
    let Some(sample) = nest.calls.samples.first().filter(|_| is_whole) else { return Ok(()) };
    let (_, program, ir) = nest.place.of(unit);
    let path = session.workshop.folder.join(format!("nest{idx}.cut.bin"));
    if let Some((cut, sample)) =
        cut_sample((program, nest.place.binding(unit)), ir, (&nest.calls.arguments, sample), least, &path)?
    {
        nest.calls.samples.insert(0, sample);
        nest.calls.cut = Some(cut);
    }
    Ok(())
}

fn cut_sample(
    bound: (&Program, &Binding),
    nest: &Nest,
    (arguments, sample): (&[Argument], &Sample),
    least: i64,
    path: &Path,
) -> Result<Option<(CutCall, Sample)>, MeasureError> {
    let Some(nanoseconds) = sample.nanoseconds else { return Ok(None) };
    let Some(extent) = nest.steps() else { return Ok(None) };
    let Some((shrinker, steps)) = Shrinker::of_steps(bound, nest, arguments, sample, &extent) else {
        return Ok(None);
    };
    let Some(timed) = timed_steps(steps, 1e-9 * nanoseconds as f64, least) else { return Ok(None) };
    let Some((cut, _)) = shrinker.with_extent(&extent, timed, path)? else { return Ok(None) };
    let part = timed as f64 / steps as f64;
    let cut = Sample {
        site: sample.site,
        invocation: sample.invocation,
        nanoseconds: Some((nanoseconds as f64 * part) as u64),
        least_nanoseconds: sample.least_nanoseconds.map(|ns| (ns as f64 * part) as u64),
        size_class: sample.size_class,
        ..cut
    };
    Ok(Some((CutCall { timed, steps }, cut)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::element_type;
    use oxeye_codegen::arguments;
    use oxeye_measure::{ElementType, Init, SyntheticArg};

    #[test]
    fn some_dozens_of_steps_are_timed_of_long_calls() {
        assert_eq!(timed_steps(1000, 0.2, LEAST_STEPS), None);
        // 8 would take 0.15 s.
        assert_eq!(timed_steps(1000, 20.0, LEAST_STEPS), Some(28));
        assert_eq!(timed_steps(1000, 20.0, LEAST_PASSES), Some(16));
        assert_eq!(timed_steps(100_000, 20.0, LEAST_STEPS), Some(760));
        assert_eq!(timed_steps(40, 20.0, LEAST_STEPS), None);
        let timed = |n| Some((n, timed_steps(n, 30.0, LEAST_STEPS)?));
        assert!((97..2000).filter_map(timed).all(|(n, k)| (n - k) % TURNS == 0));
    }

    /// The steps that are timed of a call with `n` of 9 and 1000 steps that took 20 s.
    fn cut(body: &str) -> Option<(CutCall, Vec<i64>, Option<u64>)> {
        let text = format!(
            "program p {{\n symbol P0 n: i32\n symbol P1 steps: i32\n array A0 x: f64[n] param\n dataflow {{ N0 }}\n \
             nest N0 in p {{\n{body}\n }}\n}}\n"
        );
        let program = Program::parse(&text).expect("parses");
        let nest = &program.nests[0];
        let list = arguments(&program, Binding::none(), nest);
        let folder = tempfile::tempdir().expect("a folder");
        let args = list.iter().map(|argument| {
            let bytes = match argument.name.as_str() {
                "n" => 9_i32.to_le_bytes().to_vec(),
                "steps" => 1000_i32.to_le_bytes().to_vec(),
                _ => vec![0; 72],
            };
            SyntheticArg { element: ElementType::U8, elements: bytes.len() as u64, init: Init::Bytes(bytes) }
        });
        let made = Sample::synthetic(&folder.path().join("whole.bin"), &args.collect::<Vec<_>>());
        let whole = Sample { nanoseconds: Some(20_000_000_000), ..made.expect("written") };
        let cut = cut_sample(
            (&program, Binding::none()),
            nest,
            (&list, &whole),
            LEAST_STEPS,
            &folder.path().join("cut.bin"),
        )
        .expect("written");
        cut.map(|(cut, sample)| {
            let value = |k: usize| sample.read_integer(k, element_type(list[k].element)).expect("an integer");
            let values = (0..list.len()).filter(|k| !list[*k].is_buffer).map(value).collect();
            (cut, values, sample.nanoseconds)
        })
    }

    #[test]
    fn loops_over_time_are_cut() {
        let (cut, mut values, nanoseconds) =
            cut("for L0 t: i32 in 0 .. steps { for L1 i: i32 in 0 .. n { S0: x[i] = 0.5 * x[i] } }")
                .expect("cut");
        values.sort_unstable();
        assert_eq!((cut.timed, cut.steps, values, nanoseconds), (28, 1000, vec![9, 28], Some(560_000_000)));
    }

    #[test]
    fn iterations_that_may_differ_are_not_cut() {
        for body in [
            "for L0 t: i32 in 0 .. steps { for L1 i: i32 in 0 .. n { S0: x[i] = 0.5 * x[i] + (f64)t } }",
            "for L0 t: i32 in 0 .. steps { for L1 i: i32 in t .. n { S0: x[i] = 0.5 * x[i] } }",
            "for L0 t: i32 in 0 .. steps { if (t < n) { for L1 i: i32 in 0 .. n { S0: x[i] = 0.5 * x[i] } } }",
            "for L0 i: i32 in 0 .. n { for L1 t: i32 in 0 .. steps { S0: x[i] = 0.5 * x[i] } }",
        ] {
            assert!(cut(body).is_none(), "{body}");
        }
    }
}
