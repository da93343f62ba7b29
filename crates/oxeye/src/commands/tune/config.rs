//! `oxeye.toml`: what tuning a project needs to be told, kept beside it.

use super::options::{BuildSource, TuneOptions};
use crate::request::{Checks, Error, FpPolicy, RunCommand, files, parse_duration};
use oxeye_measure::{ComparedFile, Pattern};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

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
    /// Time for trying candidates.
    pub budget: Option<Duration>,
    /// Most threads to use.
    pub threads: Option<u32>,
    /// Whether floating-point sums may be reordered.
    pub fp: Option<FpPolicy>,
    /// How what the program leaves is compared: `tolerance`, `ignore` and `compare`.
    pub checks: Checks,
}

/// The keys, in the order in which they are written.
const KEYS: [&str; 11] = [
    "build",
    "compile-commands",
    "run",
    "cwd",
    "exit-code",
    "budget",
    "threads",
    "fp",
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
        let chosen = |over: Vec<_>, under| if over.is_empty() { under } else { over };
        Self {
            build: over.build.or(self.build),
            run: over.run.or(self.run),
            cwd: over.cwd.or(self.cwd),
            exit_code: over.exit_code.or(self.exit_code),
            budget: over.budget.or(self.budget),
            threads: over.threads.or(self.threads),
            fp: over.fp.or(self.fp),
            checks: Checks {
                tolerance: tolerance.or(self.checks.tolerance),
                ignore: if ignore.is_empty() { self.checks.ignore } else { ignore },
                files: chosen(files, self.checks.files),
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
        let mut options = TuneOptions::new(build, run);
        options.budget = self.budget.unwrap_or(options.budget);
        options.threads = self.threads.unwrap_or(options.threads);
        options.fp = self.fp.unwrap_or(options.fp);
        options.checks = self.checks.clone();
        Ok(options)
    }

    /// The text of a file that says this.
    pub fn to_toml(&self) -> String {
        let mut text =
            "# How this project is built, run and compared, for `oxeye tune` and `oxeye check`.\n".to_owned();
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
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
            self.budget.map(|time| quoted(&format!("{}s", time.as_secs_f64()))),
            self.threads.map(|threads| threads.to_string()),
            self.fp.map(|fp| quoted(fp_name(fp))),
            tolerance.map(|tolerance| format!("{tolerance:e}")),
            (!ignore.is_empty()).then(|| list(ignore.iter().map(|p| quoted(&p.to_string())).collect())),
            (!files.is_empty()).then(|| list(files.iter().map(|f| quoted(&f.to_string())).collect())),
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
            let taken = config.take(name, value);
            taken.map_err(|why| (line(key.span().start), format!("`{name}` {why}")))?;
        }
        Ok(config)
    }

    /// Takes what a key has.
    fn take(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), String> {
        let value = value.get_ref();
        let string = || match value {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            _ => Err(format!("is a string, such as {}", example(key))),
        };
        let strings = || match value {
            DeValue::Array(items) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) => Ok(text.clone().into_owned()),
                    _ => Err(format!("is a list of strings, such as {}", example(key))),
                })
                .collect::<Result<Vec<_>, _>>(),
            _ => Err(format!("is a list of strings, such as {}", example(key))),
        };
        let whole = |least: i64, most: i64| match value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| format!("is a number from {least} to {most}")),
            _ => Err(format!("is a number from {least} to {most}")),
        };
        match key {
            "build" | "compile-commands" if self.build.is_some() => {
                return Err(
                    "stands beside the other of build and compile-commands; one of them is enough".into()
                );
            }
            "build" => self.build = Some(BuildSource::Command(string()?)),
            "compile-commands" => self.build = Some(BuildSource::CompileCommands(string()?.into())),
            "run" => self.run = Some(string()?),
            "cwd" => self.cwd = Some(string()?.into()),
            "exit-code" => self.exit_code = Some(whole(0, 255)? as i32),
            "budget" => {
                let time = parse_duration(&string()?).map_err(|why| format!("is no time: {why}"))?;
                self.budget = Some(time);
            }
            "threads" => self.threads = Some(whole(1, 4096)? as u32),
            "fp" => {
                let name = string()?;
                let all = [FpPolicy::Strict, FpPolicy::Reassociate, FpPolicy::FromFlags];
                let found = all.into_iter().find(|fp| fp_name(*fp) == name);
                self.fp = Some(found.ok_or("is one of \"strict\", \"reassociate\" and \"flags\"")?);
            }
            "tolerance" => {
                let number = match value {
                    DeValue::Float(number) => number.as_str().parse().ok(),
                    DeValue::Integer(number) => number.as_str().parse().ok(),
                    _ => None,
                };
                let fits = number.filter(|value: &f64| (0.0..1.0).contains(value));
                self.checks.tolerance = Some(fits.ok_or("is a number from 0 to below 1, such as 1e-4")?);
            }
            "ignore" => {
                for text in strings()? {
                    let pattern: Result<Pattern, _> = text.parse();
                    self.checks.ignore.push(pattern.map_err(|why| format!("has `{text}`: {why}"))?);
                }
            }
            "compare" => {
                for text in strings()? {
                    let file: Result<ComparedFile, _> = text.parse();
                    self.checks.files.push(file.map_err(|why| format!("has `{text}`: {why}"))?);
                }
            }
            _ => return Err(format!("is no key of this file; they are {}", KEYS.join(", "))),
        }
        Ok(())
    }
}

/// What a value may look like.
fn example(key: &str) -> &'static str {
    match key {
        "build" => "\"make clean && make\"",
        "compile-commands" => "\"build/compile_commands.json\"",
        "run" => "\"./solver -n 200 < input.dat\"",
        "budget" => "\"90s\"",
        "fp" => "\"strict\"",
        "ignore" => "[\"took [0-9.]+ s\"]",
        "compare" => "[\"out/u.npy\"]",
        _ => "\"data\"",
    }
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
threads = 2
fp = "strict"
tolerance = 1e-4
ignore = ["took [0-9.]+ s", 'a\sb']
compare = ["u.bin:f32"]
"#;

    #[test]
    fn a_file_comes_back_as_it_was() {
        let config = ProjectConfig::parse(TEXT).expect("it is right");
        assert_eq!(config.build, Some(BuildSource::Command("make -B CC='gcc \"x\"'".into())));
        assert_eq!(config.run.as_deref(), Some(r#"./p "a b" \ < in"#));
        assert_eq!((config.exit_code, config.threads), (Some(3), Some(2)));
        assert_eq!((config.budget, config.fp), (Some(Duration::from_secs(90)), Some(FpPolicy::Strict)));
        assert_eq!((config.checks.tolerance, config.checks.ignore.len()), (Some(1e-4), 2));
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
            ..ProjectConfig::default()
        };
        let both = file.under(line);
        assert_eq!(both.build, Some(BuildSource::CompileCommands("c.json".into())));
        assert_eq!((both.threads, both.exit_code, both.checks.ignore.len()), (Some(1), Some(3), 2));
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
