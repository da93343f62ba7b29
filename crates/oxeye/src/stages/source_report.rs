//! What nests are in the source, in a report: their text before and after, and the arrays that they hand on.

use crate::nest::TunedNest;
use oxeye_frontend::Unit;
use serde::Serialize;
use std::collections::BTreeSet;

/// A nest's text and arrays.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceReport {
    /// The user's own text of a nest that is rewritten.
    pub original: Option<String>,
    /// The C block that replaces the nest.
    pub code: Option<String>,
    /// Arrays that it reads.
    pub reads: Vec<ArrayReport>,
    /// Arrays that it writes and that are read behind it.
    pub writes: Vec<ArrayReport>,
}

/// An array of a nest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayReport {
    /// As the source names it.
    pub name: String,
    /// Its bytes in the call that is timed, if that is known.
    pub bytes: Option<u64>,
}

/// That of a nest that has this new code.
pub(super) fn source_report(unit: &Unit, nest: &TunedNest, code: Option<String>) -> SourceReport {
    let (_, program, ir) = nest.place.of(unit);
    let accesses = ir.accesses();
    let read: BTreeSet<&str> = accesses
        .iter()
        .filter(|(_, is_write)| !is_write)
        .map(|(access, _)| program.array(access.array).name.as_str())
        .collect();
    let sample = nest.calls.samples.first();
    let of = |(position, argument): (usize, &oxeye_codegen::Argument)| ArrayReport {
        name: argument.name.clone(),
        bytes: sample.and_then(|sample| Some(sample.args.get(position)?.bytes)),
    };
    let arrays = || nest.calls.arguments.iter().enumerate().filter(|(_, argument)| argument.is_buffer);
    SourceReport {
        original: code.as_ref().map(|_| nest.place.text(unit).into_owned()),
        code,
        reads: arrays().filter(|(_, argument)| read.contains(argument.name.as_str())).map(of).collect(),
        writes: arrays().filter(|(_, argument)| argument.written && !argument.is_scratch).map(of).collect(),
    }
}
