//! The stages of a tuning run, in their order.
//!
//! In: the user's file. Out, stage by stage: its nests (`read`), what they are called with (`capture`), the schedules to
//! try (`propose`; `open` for the loops inside nests that have none), how they fared (`measure`, and `second_round` for what
//! did not matter at first), the tuned file (`emit`), and what there is to tell (`report`, `html`, `record`).

mod agree;
mod capture;
mod coverage;
mod directives;
mod emit;
mod good_part;
mod group;
mod html;
mod kept;
mod kept_order;
pub(crate) mod measure;
mod nest_time;
mod nodes_report;
mod open;
mod propose;
mod read;
mod record;
mod report;
mod rewrite_trials;
mod search_report;
mod second_round;
mod shared_time;
mod shares;
mod sizes_report;
mod source_report;
mod synthetic_inputs;
mod time_report;
mod unchanged;
mod unread;

pub(crate) use agree::agree;
pub use capture::{Captured, capture};
pub(crate) use capture::{build_error, expect_own_data, has_main_elsewhere, observed_object};
pub use directives::wake_directives;
pub(crate) use directives::{LEAST_RUNS, odd};
pub use emit::{Emitted, emit};
pub(crate) use emit::{known_witnesses, recipe_of, run_both};
pub(crate) use html::{about, flows, measured, nest_entry, program_times};
pub(crate) use kept::kept_recipes;
pub use measure::{Measured, measure};
pub use nest_time::{InlinedReport, TimeReport};
pub(crate) use nodes_report::nodes_notes;
pub use open::open;
pub(crate) use open::{InsideNest, open_inside};
pub(crate) use propose::proposal;
pub use propose::{Proposed, propose};
pub use read::read;
pub(crate) use read::{expect_nests, read_as, read_options, reading};
pub(crate) use record::entries;
pub(crate) use report::placed;
pub use report::{
    BuildReport, DiagnosticReport, FpReport, NestReport, ProgramReport, Report, TrialReport, TriedReport,
    report,
};
pub use search_report::{ComparedMethod, NestSearchReport, SearchReport};
pub use second_round::second_round;
pub(crate) use shared_time::names;
pub use shared_time::shared_time;
pub use sizes_report::{GuardReport, SizeReport};
pub use source_report::{ArrayReport, SourceReport};
pub(crate) use time_report::{NestsOfFile, share_out, unlike_nests};
pub use unchanged::Unchanged;
pub(crate) use unread::unread;
