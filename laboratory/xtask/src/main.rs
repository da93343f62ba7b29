//! Repository tasks, run as `cargo xtask TASK`.
//!
//! Each task is a module with an `Args` struct and a `run` function; adding one means adding both and a variant of
//! [`Task`].

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use oxeye_evaluation::{applications, bench, errand, eval};

mod book;
mod dace;
mod database;
mod emitted;
mod excluded;
mod filetest;
mod host_check;
mod libtorch;
mod nodes;
mod normal_forms;
mod programs;
mod rooflines;
mod soak;
mod textbook;
mod threads;
mod traffic;

/// Repository tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check, tune and time the programs in benchmarks/applications against the packages they come from.
    Applications(applications::Args),
    /// Time Oxeye against gcc, clang and Polly on the programs in benchmarks/kernels.
    Bench(bench::Args),
    /// Write the generated parts of the book in docs/book: commands, steps, refusals.
    Book(book::Args),
    /// Tune the DaCe programs in benchmarks/dace and compare them with DaCe's own.
    Dace(dace::Args),
    /// Build the default recipe database from the dataset and from searches; nests of benchmarks/kernels are left out.
    Database(database::Args),
    /// Write every text that is made of the corpus into a folder, to compare two versions of Oxeye.
    Emitted(emitted::Args),
    /// Compare transferred recipes with a long search on the programs in benchmarks/kernels.
    Eval(eval::Args),
    /// Run filetests, the files in tests/filetests that hold a program and what is expected of it.
    Filetest(filetest::Args),
    /// Check the host measurements against STREAM in C and against clock rate and ports.
    HostCheck(host_check::Args),
    /// Fetch a libtorch for oxeye-train and print the environment to build with.
    Libtorch(libtorch::Args),
    /// Count the candidates that several nodes measure, in a Slurm cluster on this machine and in a simulation.
    Nodes(nodes::Args),
    /// Compare the normal forms of the two spellings of each kernel in benchmarks/kernels.
    NormalForms(normal_forms::Args),
    /// Rewrite random C programs and compare them with themselves.
    Programs(programs::Args),
    /// Profile every nest of the programs in benchmarks/kernels and look for impossible figures.
    Rooflines(rooflines::Args),
    /// Compile and run random nests with random recipes and compare with the interpreter.
    Soak(soak::Args),
    /// Search schedules for the programs in benchmarks/textbook, and export what was learnt.
    Textbook(textbook::Args),
    /// Compare the modelled memory traffic of the programs in benchmarks/kernels with callgrind's.
    Traffic(traffic::Args),
    /// Do what eval or textbook post on another node; ends when they do.
    Worker(errand::WorkerArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Applications(args) => applications::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Book(args) => book::run(&args),
        Task::Dace(args) => dace::run(&args),
        Task::Database(args) => database::run(&args),
        Task::Emitted(args) => emitted::run(&args),
        Task::Eval(args) => eval::run(&args),
        Task::Filetest(args) => filetest::run(&args),
        Task::HostCheck(args) => host_check::run(&args),
        Task::Libtorch(args) => libtorch::run(&args),
        Task::Nodes(args) => nodes::run(&args),
        Task::NormalForms(args) => normal_forms::run(&args),
        Task::Programs(args) => programs::run(&args),
        Task::Rooflines(args) => rooflines::run(&args),
        Task::Soak(args) => soak::run(&args),
        Task::Textbook(args) => textbook::run(&args),
        Task::Traffic(args) => traffic::run(&args),
        Task::Worker(args) => errand::run(&args),
    };
    match outcome {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
