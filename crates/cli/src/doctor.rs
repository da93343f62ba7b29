//! `oxeye doctor`: what of this machine helps or hinders tuning.

use crate::columns::wrapped;
use crate::exit::Exit;
use crate::host;
use crate::manner::Manner;
use crate::terminal::{View, print_or_quit};
use console::Style;
use oxeye::{Diagnosis, Finding, Health};
use oxeye_measure::Compiler;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  What is missing here, what that costs, and what would help
    oxeye doctor

  With the compiler of the project
    oxeye doctor --cc clang

  What this machine can do: bandwidths of caches and memory, peak rates
    oxeye doctor --measure
    oxeye doctor --measure --json - | jq .stream_triad

  For scripts
    oxeye doctor --json - | jq '.findings[] | select(.health != \"good\")'

Without --measure, nothing is measured. With it, the profile that is shown is
measured the first time (a minute), then kept, in $OXEYE_CACHE/hosts if that is
set, else in $XDG_CACHE_HOME/oxeye/hosts.

Exit codes:
  0    programs can be tuned here
  1    they cannot: there is no compiler
  2    could not look";

/// Look for what hinders tuning here, and measure the machine
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Measure what the machine can do: bandwidths of caches and memory, peak rates, counters
    #[arg(long)]
    pub(crate) measure: bool,
    #[command(flatten)]
    measuring: MeasureArgs,
    /// The compiler to look at
    #[arg(long, value_name = "CC", default_value = "cc")]
    cc: String,
    /// Write the findings as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How the machine is measured.
#[derive(clap::Args)]
struct MeasureArgs {
    /// Measure again even if this machine's profile is known
    #[arg(long, requires = "measure")]
    refresh: bool,
    /// Measure roughly, within three seconds; this never replaces a thorough measurement
    #[arg(long, requires = "measure")]
    brief: bool,
}

impl Args {
    /// What was found.
    pub(crate) fn answer(&self) -> anyhow::Result<Diagnosis> {
        Ok(oxeye::doctor(&Compiler::new(&self.cc, [""; 0]))?)
    }

    /// The measurement that is asked for.
    pub(crate) fn measuring(&self) -> host::Args {
        let MeasureArgs { refresh, brief } = self.measuring;
        host::Args { refresh, brief, json: self.json.clone(), cc: self.cc.clone() }
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    if args.measure {
        return host::run(args.measuring(), manner);
    }
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[])?;
    }
    let diagnosis = args.answer()?;
    let shown = || manner.say(&|view| render(&diagnosis, view));
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => print_or_quit(&diagnosis.to_json())?,
        Some(path) => {
            oxeye::write_atomically(path, diagnosis.to_json().as_bytes())?;
            shown()?;
        }
        None => shown()?,
    }
    Ok(if diagnosis.can_tune { Exit::Done } else { Exit::Negative })
}

/// The findings for people, and how many want attention.
fn render(diagnosis: &Diagnosis, view: View) -> String {
    let mut out: String = diagnosis.findings.iter().map(|finding| shown(finding, view)).collect();
    let n = diagnosis.findings.iter().filter(|finding| finding.health != Health::Good).count();
    out += "\n";
    out += match (diagnosis.can_tune, n) {
        (false, _) => "programs cannot be tuned here\n",
        (true, 0) => "nothing hinders tuning here\n",
        (true, _) => "programs can be tuned here; what is marked with ! could be better\n",
    };
    out
}

/// A finding: what it is on one line, what it costs and what helps on others.
fn shown(finding: &Finding, view: View) -> String {
    let (mark, style) = match finding.health {
        Health::Good => (" ", Style::new()),
        Health::Limited => ("!", Style::new().yellow()),
        Health::Missing => ("!", Style::new().red()),
    };
    let more = [("costs", &finding.cost), ("helps", &finding.remedy)];
    let mut out = line(&format!("{mark} {:12}", finding.topic), &finding.found, view, &style);
    for (word, text) in more.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?))) {
        out += &line(&" ".repeat(14), &format!("{word}: {text}"), view, &Style::new());
    }
    out
}

/// A head, and a text that stays to the right of it.
fn line(head: &str, text: &str, view: View, style: &Style) -> String {
    let width = view.width.saturating_sub(15);
    let mut out = String::new();
    for (k, text) in wrapped(text, width).lines().enumerate() {
        let blank = " ".repeat(14);
        let head = if k == 0 { view.styled(style.clone(), head) } else { blank };
        out += &format!("{head} {text}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_fit_into_a_line_and_say_what_helps() {
        let finding = |topic, health, found: &str, cost: Option<&str>, remedy: Option<&str>| Finding {
            topic,
            health,
            found: found.into(),
            cost: cost.map(Into::into),
            remedy: remedy.map(Into::into),
        };
        let long =
            "0 of 11 hardware counters: this processor has none, or the hypervisor keeps them to itself";
        let diagnosis = Diagnosis {
            schema: oxeye::DOCTOR_SCHEMA,
            findings: vec![
                finding("compiler", Health::Good, "cc: gcc 12", None, None),
                finding("counters", Health::Missing, long, Some("models"), Some("another machine")),
            ],
            can_tune: true,
        };
        let view = View { width: 60, colour: false, verbose: false };
        let expected = "  compiler     cc: gcc 12
! counters     0 of 11 hardware counters: this processor has
                 none, or the hypervisor keeps them to
                 itself
               costs: models
               helps: another machine

programs can be tuned here; what is marked with ! could be better
";
        assert_eq!(render(&diagnosis, view), expected);
    }
}
