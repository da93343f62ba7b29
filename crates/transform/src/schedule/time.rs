//! Points in the execution of a schedule.

use oxeye_ir::LoopId;

/// When an access happens: tree positions and loops in turn, `Position` first and last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TimeStep {
    Position(usize),
    Loop(LoopId),
}
