//! `cargo xtask nodes`: how many more candidates several nodes measure than one, on a Slurm cluster of this machine and in a
//! simulation of larger ones.

mod measure;
mod simulate;

use anyhow::{Result, bail};
use measure::Measured;
use oxeye_evaluation::{Verdict, repository};
use simulate::{Costs, Site, simulate};
use std::path::PathBuf;
use std::time::Duration;

/// Options of `cargo xtask nodes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Numbers of nodes to start, in a Slurm cluster on this machine
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    nodes: Vec<usize>,
    /// Seconds for each number
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Milliseconds that a candidate sleeps in a call; it is called up to seven times
    #[arg(long, default_value_t = 100)]
    sleep: u64,
    /// Start no cluster; simulate candidates that take so many seconds to build and to run
    #[arg(long, value_delimiter = ',', value_name = "BUILD,RUN")]
    costs: Option<Vec<f64>>,
    /// Use this oxeye instead of building it
    #[arg(long)]
    oxeye: Option<PathBuf>,
}

/// Numbers of nodes that are simulated.
const SIMULATED: [usize; 4] = [1, 8, 64, 512];

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let costs = match args.costs.as_deref() {
        Some([build, run]) => Costs { build: *build, run: *run },
        Some(_) => bail!("--costs takes two numbers"),
        None => measured(args)?,
    };
    println!("\na candidate takes {:.3} s to build and {:.3} s to run", costs.build, costs.run);
    for site in Site::ALL {
        println!("\nsimulated, {}", site.name);
        println!(
            "{:>6} {:>12} {:>11} {:>11}  most of the rest",
            "nodes", "per minute", "times one", "efficiency"
        );
        let mut one = 0.0;
        for n in SIMULATED {
            let found = simulate(n, &costs, &site);
            if n == 1 {
                one = found.per_minute;
            }
            let times = found.per_minute / one;
            println!(
                "{n:>6} {:>12.0} {times:>11.2} {:>10.0}%  {}",
                found.per_minute,
                100.0 * times / n as f64,
                found.rest()
            );
        }
    }
    Ok(Verdict::Good)
}

/// Measures with real nodes; what a candidate costs where there is one.
fn measured(args: &Args) -> Result<Costs> {
    let oxeye = match &args.oxeye {
        Some(path) => path.canonicalize()?,
        None => repository::build_binary("oxeye")?,
    };
    println!("{:>6} {:>12} {:>11}", "nodes", "candidates", "times one");
    let mut first: Option<(Measured, usize)> = None;
    for n in &args.nodes {
        let found = measure::measure(*n, &oxeye, args.sleep, Duration::from_secs_f64(args.seconds))?;
        let (one, n_one) = first.get_or_insert_with(|| (found.clone(), *n));
        let times = found.n_candidates as f64 / one.n_candidates as f64 * *n_one as f64;
        println!("{n:>6} {:>12} {times:>11.2}", found.n_candidates);
    }
    let Some((one, n)) = first else { bail!("--nodes is empty") };
    let whole = one.seconds * n as f64 / one.n_candidates as f64;
    println!(
        "\nof {whole:.3} s for a candidate, {:.3} s go into files and waiting",
        whole - one.build - one.run
    );
    Ok(Costs { build: one.build, run: one.run })
}
