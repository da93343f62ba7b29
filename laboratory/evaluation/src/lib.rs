//! The evaluation of Oxeye on the programs in `benchmarks/kernels`.
//!
//! [`mod@bench`] times tuned programs against those that gcc, clang and Polly make of the same files. [`eval`] searches
//! every program once and compares what a long search finds with what the first few transferred recipes find. Both run
//! the `oxeye` command as a user would, and write tables and plots; `cargo xtask bench` and `cargo xtask eval` run
//! them. What they share is public for other tasks: the [`corpus`], the [normal forms](forms) of its nests, the
//! [`repository`], programs under a [time limit](process), and
//! [`errand`]s, which run on several nodes if there are any.
//!
//! ```no_run
//! use oxeye_evaluation::{corpus, repository};
//!
//! let folder = repository::root().join("benchmarks/kernels");
//! let gemm = &corpus::select(&folder, &["gemm".to_owned()])?[0];
//! println!("{:?}", gemm.sizes());
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! The crate does not call the pipeline: it judges the command that users run.

pub mod applications;
pub mod bench;
pub mod corpus;
pub mod errand;
pub mod eval;
pub mod forms;
mod machine;
pub mod process;
pub mod repository;
mod verdict;

pub use verdict::Verdict;
