//! `oxeye.toml`: what tuning a project needs to be told, kept beside it.

mod value;

use super::options::{BuildSource, TuneOptions};
use crate::request::{Checks, Error, FpPolicy, LEAST_SPEEDUP, NamedPlace, RunCommand, files};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::de::DeTable;
use value::Value;

/// The name of the file, in the folder that `oxeye` is called in.
pub const CONFIG_FILE: &str = "oxeye.toml";

/// What a project's file says, or a command line: everything that is not said is `None` or empty.
#[derive(Clone, Debug, Default)]
pub struct ProjectConfig {
    /// How the project is built: `build`, or `compile-commands`.
    pub build: Option<BuildSource>,
    /// How its program is run, as in a shell.
    pub run: Option<String>,
    /// The folder that the program runs in.
    pub cwd: Option<PathBuf>,
    /// The exit code that tells that all went well.
    pub exit_code: Option<i32>,
    /// How long a run of the program may take.
    pub timeout: Option<Duration>,
    /// Time for trying candidates.
    pub budget: Option<Duration>,
    /// Processes that a run of the program starts on this machine.
    pub copies: Option<u32>,
    /// As [`RunCommand::rank`].
    pub rank: Option<u32>,
    /// Most threads to use.
    pub threads: Option<u32>,
    /// Whether pointer parameters of a function never overlap.
    pub no_alias: Option<bool>,
    /// The places in which nests are tuned; everywhere if there is none.
    pub only: Vec<NamedPlace>,
    /// The places in which nests are not tuned.
    pub exclude: Vec<NamedPlace>,
    /// The least share of the program's time, in percent, of nests that are tuned.
    pub min_share: Option<f64>,
    /// How many times as fast the program has to be for a result to be kept.
    pub min_speedup: Option<f64>,
    /// Whether floating-point sums may be reordered.
    pub fp: Option<FpPolicy>,
    /// The recipe database: a file, or the address of a PostgreSQL server.
    pub database: Option<String>,
    /// How what the program leaves is compared: `tolerance`, `ignore` and `compare`.
    pub checks: Checks,
}

/// The keys, in the order in which they are written.
const KEYS: [&str; 20] = [
    "build",
    "compile-commands",
    "run",
    "cwd",
    "exit-code",
    "timeout",
    "copies",
    "rank",
    "threads",
    "no-alias",
    "budget",
    "only",
    "exclude",
    "min-share",
    "min-speedup",
    "fp",
    "database",
    "tolerance",
    "ignore",
    "compare",
];

impl ProjectConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, has an unknown key, or a key has a value that means nothing: the message names key and line.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = files::read_text(path)?;
        Self::parse(&text)
            .map_err(|(line, why)| Error::Input(format!("{}, line {line}: {why}", path.display())))
    }

    /// The same where something else is missing: what `over` says, and where it says nothing, what this one says.
    #[must_use]
    pub fn under(self, over: Self) -> Self {
        let Checks { tolerance, ignore, files } = over.checks;
        Self {
            build: over.build.or(self.build),
            run: over.run.or(self.run),
            cwd: over.cwd.or(self.cwd),
            exit_code: over.exit_code.or(self.exit_code),
            timeout: over.timeout.or(self.timeout),
            budget: over.budget.or(self.budget),
            copies: over.copies.or(self.copies),
            rank: over.rank.or(self.rank),
            threads: over.threads.or(self.threads),
            no_alias: over.no_alias.or(self.no_alias),
            only: first_with_any(over.only, self.only),
            exclude: first_with_any(over.exclude, self.exclude),
            min_share: over.min_share.or(self.min_share),
            min_speedup: over.min_speedup.or(self.min_speedup),
            fp: over.fp.or(self.fp),
            database: over.database.or(self.database),
            checks: Checks {
                tolerance: tolerance.or(self.checks.tolerance),
                ignore: first_with_any(ignore, self.checks.ignore),
                files: first_with_any(files, self.checks.files),
            },
        }
    }

    /// The options of a run that is asked for so.
    ///
    /// # Errors
    /// If it is not said how the project is built, or how it is run.
    pub fn options(&self) -> Result<TuneOptions, Error> {
        let missing = |what: &str| {
            Error::Input(format!(
                "there is no {what}; give it, or write it into an {CONFIG_FILE} in the present folder"
            ))
        };
        let build = self.build.clone().ok_or_else(|| missing("--build command (or --compile-commands)"))?;
        let run = self.run.as_deref().ok_or_else(|| missing("--run command"))?;
        let mut run = RunCommand::in_project(run).map_err(|why| Error::Input(format!("--run: {why}")))?;
        run.folder = self.cwd.clone();
        run.exit_code = self.exit_code.unwrap_or(0);
        run.timeout = self.timeout;
        run.copies = self.copies.or(run.copies);
        run.rank = self.rank;
        let (written, threads) = (run.written.clone(), self.threads.unwrap_or(run.usual_threads()));
        let mut options = TuneOptions::new(build, run);
        options.budget = self.budget.unwrap_or(options.budget);
        options.threads = threads;
        options.fp = self.fp.unwrap_or(options.fp);
        options.no_alias = self.no_alias.unwrap_or(options.no_alias);
        options.focus.only.clone_from(&self.only);
        options.focus.exclude.clone_from(&self.exclude);
        options.focus.least_share = 0.01 * self.min_share.unwrap_or(0.0);
        options.focus.least_speedup = self.min_speedup.unwrap_or(LEAST_SPEEDUP);
        options.checks = self.checks.clone();
        options.checks.compare_also(&written);
        Ok(options)
    }

    /// The text of a file that says this.
    pub fn to_toml(&self) -> String {
        let mut text =
            "# How this project is built, run and compared, for `oxeye tune` and `oxeye check`.\n".to_owned();
        let path = |path: &Path| quoted(&path.to_string_lossy());
        let Checks { tolerance, ignore, files } = &self.checks;
        let (command, commands) = match &self.build {
            Some(BuildSource::Command(command)) => (Some(quoted(command)), None),
            Some(BuildSource::CompileCommands(file)) => (None, Some(path(file))),
            None => (None, None),
        };
        let values: [Option<String>; KEYS.len()] = [
            command,
            commands,
            self.run.as_deref().map(quoted),
            self.cwd.as_deref().map(path),
            self.exit_code.map(|code| code.to_string()),
            self.timeout.map(seconds),
            self.copies.map(|copies| copies.to_string()),
            self.rank.map(|rank| rank.to_string()),
            self.threads.map(|threads| threads.to_string()),
            self.no_alias.map(|no_alias| no_alias.to_string()),
            self.budget.map(seconds),
            list(&self.only),
            list(&self.exclude),
            self.min_share.map(|share| share.to_string()),
            self.min_speedup.map(|speedup| speedup.to_string()),
            self.fp.map(|fp| quoted(fp_name(fp))),
            self.database.as_deref().map(quoted),
            tolerance.map(|tolerance| format!("{tolerance:e}")),
            list(ignore),
            list(files),
        ];
        for (key, value) in KEYS.iter().zip(values) {
            let _ = value.map(|value| writeln!(text, "{key} = {value}"));
        }
        text
    }

    /// What a text says, or a line with what is wrong there.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            (line(at), error.message().replace('\n', ", "))
        })?;
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut config = Self::default();
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            let taken = config.take(&Value { key: name, value: value.get_ref() });
            taken.map_err(|why| (line(key.span().start), format!("`{name}` {why}")))?;
        }
        Ok(config)
    }

    /// Takes what a key has.
    fn take(&mut self, value: &Value<'_>) -> Result<(), String> {
        match value.key {
            "build" | "compile-commands" if self.build.is_some() => {
                return Err(
                    "stands beside the other of build and compile-commands; one of them is enough".into()
                );
            }
            "build" => self.build = Some(BuildSource::Command(value.string()?)),
            "compile-commands" => self.build = Some(BuildSource::CompileCommands(value.string()?.into())),
            "run" => self.run = Some(value.string()?),
            "cwd" => self.cwd = Some(value.string()?.into()),
            "exit-code" => self.exit_code = Some(value.whole(0, 255)? as i32),
            "timeout" => self.timeout = Some(value.time()?),
            "copies" => self.copies = Some(value.whole(1, 4096)? as u32),
            "rank" => self.rank = Some(value.whole(0, u32::MAX.into())? as u32),
            "threads" => self.threads = Some(value.whole(1, 4096)? as u32),
            "no-alias" => self.no_alias = Some(value.truth()?),
            "budget" => self.budget = Some(value.time()?),
            "only" => self.only = value.list()?,
            "exclude" => self.exclude = value.list()?,
            "min-share" => self.min_share = Some(value.number(0.0..100.0)?),
            "min-speedup" => self.min_speedup = Some(value.number(0.0..1000.0)?),
            "fp" => {
                let name = value.string()?;
                let all = [FpPolicy::Strict, FpPolicy::Reassociate, FpPolicy::FromFlags];
                let found = all.into_iter().find(|fp| fp_name(*fp) == name);
                self.fp = Some(found.ok_or("is one of \"strict\", \"reassociate\" and \"flags\"")?);
            }
            "database" => self.database = Some(value.string()?),
            "tolerance" => self.checks.tolerance = Some(value.number(0.0..1.0)?),
            "ignore" => self.checks.ignore = value.list()?,
            "compare" => self.checks.files = value.list()?,
            _ => return Err(format!("is no key of this file; they are {}", KEYS.join(", "))),
        }
        Ok(())
    }
}

/// The first list that says something.
fn first_with_any<T>(over: Vec<T>, under: Vec<T>) -> Vec<T> {
    if over.is_empty() { under } else { over }
}

/// A list as TOML has it; `None` if nothing is in it.
fn list<T: std::fmt::Display>(items: &[T]) -> Option<String> {
    let items: Vec<String> = items.iter().map(|item| quoted(&item.to_string())).collect();
    (!items.is_empty()).then(|| format!("[{}]", items.join(", ")))
}

fn seconds(time: Duration) -> String {
    quoted(&format!("{}s", time.as_secs_f64()))
}

fn fp_name(fp: FpPolicy) -> &'static str {
    match fp {
        FpPolicy::Strict => "strict",
        FpPolicy::Reassociate => "reassociate",
        FpPolicy::FromFlags => "flags",
    }
}

/// A string as TOML has it; JSON's escapes are among its own.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
build = "make -B CC='gcc \"x\"'"
run = './p "a b" \ < in'
cwd = "data"
exit-code = 3
budget = "90s"
copies = 2
rank = 1
threads = 2
fp = "strict"
database = "postgresql://db/recipes"
tolerance = 1e-4
ignore = ["took [0-9.]+ s", 'a\sb']
compare = ["u.bin:f32"]
timeout = "5m"
no-alias = true
only = ["grid.c", "main.c:12", "step"]
exclude = ["setup"]
min-share = 5
min-speedup = 1.05
"#;

    #[test]
    fn a_file_comes_back_as_it_was() {
        let config = ProjectConfig::parse(TEXT).expect("it is right");
        assert_eq!(config.build, Some(BuildSource::Command("make -B CC='gcc \"x\"'".into())));
        assert_eq!(config.run.as_deref(), Some(r#"./p "a b" \ < in"#));
        assert_eq!((config.exit_code, config.copies, config.threads), (Some(3), Some(2), Some(2)));
        assert_eq!(config.rank, Some(1));
        assert_eq!((config.budget, config.fp), (Some(Duration::from_secs(90)), Some(FpPolicy::Strict)));
        assert_eq!((config.checks.tolerance, config.checks.ignore.len()), (Some(1e-4), 2));
        assert_eq!((config.timeout, config.no_alias), (Some(Duration::from_secs(300)), Some(true)));
        let focus = config.options().expect("it is enough").focus;
        assert_eq!((focus.only.len(), focus.exclude.len()), (3, 1));
        assert_eq!((focus.least_share, focus.least_speedup), (0.05, 1.05));
        let again = ProjectConfig::parse(&config.to_toml()).expect("it is right");
        assert_eq!(format!("{again:?}"), format!("{config:?}"));
        let empty = ProjectConfig::default().to_toml();
        assert_eq!(
            format!("{:?}", ProjectConfig::parse(&empty)),
            format!("{:?}", Ok::<_, ()>(ProjectConfig::default()))
        );
    }

    #[test]
    fn the_command_line_wins() {
        let file = ProjectConfig::parse(TEXT).expect("it is right");
        let line = ProjectConfig {
            build: Some(BuildSource::CompileCommands("c.json".into())),
            threads: Some(1),
            only: vec!["main.c".parse().expect("a place")],
            ..ProjectConfig::default()
        };
        let both = file.under(line);
        assert_eq!(both.build, Some(BuildSource::CompileCommands("c.json".into())));
        assert_eq!((both.threads, both.exit_code, both.checks.ignore.len()), (Some(1), Some(3), 2));
        assert_eq!((both.only.len(), both.exclude.len(), both.min_speedup), (1, 1, Some(1.05)));
    }

    #[test]
    fn what_is_wrong_is_said_with_key_and_line() {
        for (text, line, words) in [
            ("build = 'x'\nbulid = 'make'\n", 2, "`bulid` is no key of this file; they are build,"),
            ("\n\nrun = 3\n", 3, "`run` is a string, such as \"./solver"),
            ("threads = 'two'\n", 1, "`threads` is a number from 1 to 4096"),
            ("threads = 0\n", 1, "`threads` is a number"),
            ("ignore = [\n 'a',\n 3]\n", 1, "`ignore` is a list of strings"),
            ("ignore = ['(']\n", 1, "`ignore` has `(`:"),
            ("tolerance = 2\n", 1, "`tolerance` is a number from 0"),
            ("budget = '3 parsecs'\n", 1, "`budget` is no time"),
            ("fp = 'fast'\n", 1, "`fp` is one of"),
            ("build = 'a'\ncompile-commands = 'b'\n", 2, "one of them is enough"),
            ("min-share = 100\n", 1, "`min-share` is a number from 0 to below 100, such as 5"),
            ("min-speedup = '2x'\n", 1, "`min-speedup` is a number from 0 to below 1000, such as 1.05"),
            ("only = 'grid.c'\n", 1, "`only` is a list of strings, such as [\"grid.c\""),
            ("only = ['grid.c:x']\n", 1, "`x` is no line"),
            ("no-alias = 1\n", 1, "`no-alias` is true or false"),
            ("exit-code = 300\n", 1, "from 0 to 255"),
            ("[build]\ncommand = 'make'\n", 1, "`build` is a string"),
        ] {
            let (at, why) = ProjectConfig::parse(text).expect_err(text);
            assert_eq!(at, line, "{text}: {why}");
            assert!(why.contains(words), "{text}: {why}");
        }
        for (text, line) in [("build = 'a'\nrun ./x\n", 2), ("run = 'a'\nrun = 'b'\n", 2), ("a = 'x\n", 1)] {
            assert_eq!(ProjectConfig::parse(text).expect_err(text).0, line, "{text}");
        }
    }
}
