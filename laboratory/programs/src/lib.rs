//! Random C programs, rewritten as Oxeye rewrites them and compared with themselves.
//!
//! [`Program::new`] makes a whole program from a seed: loops as people write them, and hazards for whoever rewrites them.
//! [`examine`] reads it as the pipeline does, applies recipes to its nests without asking whether they are fast, puts the
//! result into the file by the pipeline's own [`oxeye::rewrite`], and compares what both versions print, at several sizes,
//! under sanitizers and optimised. [`Tally`] adds up what was read and rewritten, construct by construct.
//!
//! ```
//! let program = oxeye_programs::Program::new(1);
//! assert!(program.text().contains("int main("));
//! assert_eq!(program.text(), oxeye_programs::Program::new(1).text());
//! ```
//!
//! It measures no times.

mod builds;
mod case;
mod compare;
mod examine;
mod generate;
mod motifs;
mod program;
mod reduce;
mod rewritten;
mod tally;

pub use builds::Builds;
pub use case::{Failure, Unusable};
pub use examine::{Examined, Reading, examine};
pub use generate::{Construct, Piece};
pub use program::Program;
pub use tally::Tally;
