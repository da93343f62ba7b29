//! What the subcommands that tune have in common: how candidates are judged, and where results go.

use crate::checks::CheckArgs;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::mistakes::Mistake;
use crate::notes;
use crate::table;
use crate::terminal::{View, print_or_quit};
use anyhow::bail;
use clap::ValueEnum;
pub(crate) use oxeye::parse_duration as duration;
use oxeye::{FpPolicy, Options, Report};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that a tuning run of one file or a project writes.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultArgs {
    /// Result [default: FILE.oxeye.c or oxeye.patch]
    ///
    /// The patch is of a project, of which a folder (`tuned/`) gets copies of the changed files.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Change the files themselves instead
    #[arg(long, conflicts_with = "output")]
    pub(crate) in_place: bool,
    /// Write the recipes of what was changed to a file for `oxeye apply`
    #[arg(long, value_name = "RECIPES", hide_short_help = true)]
    pub(crate) save_recipe: Option<PathBuf>,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    pub(crate) json: Option<PathBuf>,
    /// Write the report as an HTML page
    #[arg(long, value_name = "REPORT", hide_short_help = true)]
    pub(crate) html: Option<PathBuf>,
    /// How the report is printed
    ///
    /// For people, or for editors as compilers print notes: a line for each loop that stays as it is, FILE:LINE:COLUMN: note: WHY.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text, hide_short_help = true)]
    pub(crate) format: ReportFormat,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Gcc,
}

/// How results are judged.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Correctness")]
pub(crate) struct JudgingArgs {
    #[command(flatten)]
    pub(crate) fp: FpArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
}

impl JudgingArgs {
    /// Puts what these arguments say into the options.
    pub(crate) fn apply(&self, options: &mut Options) {
        options.fp = self.fp.policy();
        options.checks = self.checks.checks();
        options.checks.compare_also(&options.run.written);
    }

    /// These arguments as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let fp = self.fp.fp.and_then(|fp| fp.to_possible_value());
        let fp = fp.into_iter().flat_map(|fp| ["--fp".to_owned(), fp.get_name().to_owned()]);
        fp.chain(self.checks.words()).collect()
    }
}

/// What may be done to floating point.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FpArgs {
    /// Whether sums may be reordered [default: by flags]
    #[arg(long, value_enum, value_name = "POLICY")]
    fp: Option<Fp>,
}

impl FpArgs {
    /// The policy of the run.
    pub(crate) fn policy(&self) -> FpPolicy {
        self.given().unwrap_or(FpPolicy::FromFlags)
    }

    /// The policy, if one is given.
    pub(crate) fn given(&self) -> Option<FpPolicy> {
        self.fp.map(|fp| match fp {
            Fp::Strict => FpPolicy::Strict,
            Fp::Reassociate => FpPolicy::Reassociate,
        })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fp {
    /// Never: results stay bit for bit
    Strict,
    /// Always
    Reassociate,
}

impl ResultArgs {
    /// Puts what these arguments say into the options, and checks that every file can be written and is none of `others`.
    pub(crate) fn apply(&self, options: &mut Options, others: &[&Path]) -> anyhow::Result<()> {
        self.check()?;
        options.output = output(self.output.clone(), self.in_place, &options.file)?;
        options.save_recipe = self.save_recipe.clone();
        let written = options.output_path();
        let mut taken: Vec<&Path> = vec![&options.file, &written];
        taken.extend(options.save_recipe.as_deref());
        self.check_reports(taken, others)
    }

    /// That results go to a file.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        match [(&self.output, "-o"), (&self.save_recipe, "--save-recipe"), (&self.html, "--html")]
            .into_iter()
            .find(|(path, _)| to_stdout(path))
        {
            Some((_, name)) => Err(Mistake::new(format!(
                "{name} -: standard output has the report; name a file (or ./- for one of that name)"
            ))),
            None => Ok(()),
        }
    }

    /// Checks that reports and `others` can be written, and are none of the files that are taken.
    pub(crate) fn check_reports<'a>(
        &'a self,
        mut taken: Vec<&'a Path>,
        others: &[&'a Path],
    ) -> anyhow::Result<()> {
        let reports = self.json.iter().chain(&self.html).map(PathBuf::as_path);
        for path in reports.chain(others.iter().copied()).filter(|path| *path != Path::new("-")) {
            oxeye::check_writable(path, &taken)?;
            taken.push(path);
        }
        Ok(())
    }

    /// The options of these that another run for the same result needs too, as words of a command line. `None` if a path is
    /// no text.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        if let Some(output) = &self.output {
            words.extend(["-o".to_owned(), output.to_str()?.to_owned()]);
        }
        if self.in_place {
            words.push("--in-place".to_owned());
        }
        Some(words)
    }

    /// Writes and prints the report; `more` is printed below the table. `go_on` is the command that would search further
    /// for the nests of one function, or of all.
    pub(crate) fn deliver(
        &self,
        report: &Report,
        more: &str,
        manner: &Manner,
        go_on: &dyn Fn(Option<&str>) -> Option<String>,
    ) -> anyhow::Result<Exit> {
        if let Some(path) = &self.html {
            match report.to_html() {
                Some(page) => oxeye::write_atomically(path, page.as_bytes())?,
                None => {
                    bail!("{}: no page was written, as the machine could not be measured", path.display())
                }
            }
        }
        let shown = |view: View| match self.format {
            ReportFormat::Text => table::render(report, more, view, go_on),
            ReportFormat::Gcc => notes::of_file(report),
        };
        print_report(self.json.as_deref(), &|| report.to_json(), manner, &shown)?;
        Ok(match &report.program.mismatch {
            Some(_) if !report.changed && report.build.added.is_empty() => Exit::Negative,
            _ => Exit::Done,
        })
    }
}

/// Where a tuned file goes. The input is replaced by those who say so.
pub(crate) fn output(named: Option<PathBuf>, in_place: bool, file: &Path) -> anyhow::Result<Option<PathBuf>> {
    match named {
        None if in_place => Ok(Some(file.to_owned())),
        Some(output) if oxeye::is_same_file(&output, file) => {
            bail!("{} is the input; --in-place instead of -o changes it", output.display())
        }
        named => Ok(named),
    }
}

/// Prints a report, and writes its JSON form to a file if one is named. JSON on standard output sends people's form to
/// standard error.
pub(crate) fn print_report(
    json: Option<&Path>,
    text: &dyn Fn() -> String,
    manner: &Manner,
    shown: &dyn Fn(View) -> String,
) -> anyhow::Result<()> {
    if json == Some(Path::new("-")) {
        print_or_quit(&text())?;
        if !manner.quiet {
            let _ = std::io::stderr().write_all(shown(manner.view_of_stderr()).as_bytes());
        }
        return Ok(());
    }
    if let Some(path) = json {
        oxeye::write_atomically(path, text().as_bytes())?;
    }
    manner.say(shown)
}
