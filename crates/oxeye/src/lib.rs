//! Tunes the loop nests of C programs: the pipeline as a library.
//!
//! [`optimize`] is the whole of it. It is the composition of one function a stage, each returning a new value:
//! [`Tuner::read`] → [`Unit`], [`Tuner::capture`] → [`Captured`], [`Tuner::candidates`] → [`Candidates`],
//! [`Tuner::measure`] → [`Measured`], [`Tuner::emit`] → [`Emitted`], [`Emitted::report`] → [`Report`].
//!
//! ```
//! use oxeye::{Compiler, Options, Silent};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("sum.c");
//! std::fs::write(&file, "
//!     #include <stdio.h>
//!     static double a[300][300], s[300];
//!     int main(void) {
//!         for (int t = 0; t < 20; t++)
//!             for (int j = 0; j < 300; j++)
//!                 for (int i = 0; i < 300; i++)
//!                     s[j] += a[i][j] + t;
//!         printf(\"%g\\n\", s[7]);
//!     }")?;
//! let mut options = Options::new(&file);
//! options.compiler = Compiler::from_words(&["gcc".into(), "-O2".into()], &file);
//! options.budget = Duration::from_secs(5);
//! let report = oxeye::optimize(&options, &Silent)?;
//! for nest in &report.nests {
//!     println!("line {}: {:?} times faster by {:?}", nest.line, nest.speedup, nest.recipe);
//! }
//! assert!(folder.path().join("sum.oxeye.c").exists());
//! # Ok(())
//! # }
//! ```
//!
//! Candidates come from nests that are like this one, as far as [`Options::knowledge`] allows: see [`Advice`]. [`explain()`]
//! tells how they were found.
//!
//! [`search()`] goes the same way with a search in place of the candidates and their measurement. Both can tell what they
//! have learnt as entries of a recipe database ([`optimize_and_learn`]).
//!
//! It prints nothing and parses no command line; a [`Progress`] hears what happens. It never overwrites the input
//! unless told to by name, and writes files whole or not at all.

mod commands;
mod knowledge;
mod machine;
mod request;
mod search;
mod session;
mod stages;
mod transfer;

pub use commands::explain::{
    CandidateExplanation, DescribedNest, DonorExplanation, EXPLAIN_SCHEMA, ExplainOptions, ExplainReport,
    NestExplanation, RefusalExplanation, TrialExplanation, explain,
};
pub use commands::profile::{PROFILE_SCHEMA, ProfileOptions, ProfileReport, SkippedNest, profile};
pub use commands::replay::replay;
pub use knowledge::describe::{Embedder, NestDescription};
pub use knowledge::shipped::{shipped_embedder, shipped_recipes};
pub use machine::sizes::Sizes;
pub use oxeye_frontend::Unit;
pub use oxeye_profile::NestProfile;
pub use oxeye_transform::{Recipe, STORED_RECIPE_FORMAT, StoredRecipe, Transformation, WrittenRecipe};
pub use request::compiler::Compiler;
pub use request::error::Error;
pub use request::files::{check_writable, write_atomically};
pub use request::options::{DonorSearch, FpPolicy, Knowledge, Options, default_output};
pub use request::progress::{Event, Phase, Progress, Silent};
pub use request::recipe_file::{NestRecipe, RECIPE_SCHEMA, RecipeFile};
pub use search::{
    ComparedMethod, NestSearchReport, SEARCH_SCHEMA, SearchOptions, SearchReport, search, trial_recipes,
};
pub use session::{Tuner, interrupt, optimize, optimize_and_learn};
pub use stages::capture::{Captured, CapturedNest, ProgramRun};
pub use stages::emit::Emitted;
pub use stages::measure::select::Winner;
pub use stages::measure::{Measured, MeasuredNest, Trial};
pub use stages::propose::{Candidate, CandidateState, Candidates, NestCandidates};
pub use stages::record::{recipe_text, stored_recipe};
pub use stages::report::{
    BuildReport, DiagnosticReport, FpReport, HostReport, NestReport, ProgramReport, REPORT_SCHEMA, Report,
    TrialReport, Verdict,
};
pub use transfer::{Advice, AdvisedOption, AdvisedRefusal, AlignedNode, Choice, Donor, DonorTrial};
