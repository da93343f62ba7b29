//! C files that Oxeye must survive: the first lines of each state what is expected.
//!
//! ```c
//! // compiler: gcc -O2 -pthread     the words after `--`; default `gcc -O2`
//! // args: --set n=10               further arguments; default none
//! // exit: 2                        the exit code; default 0, or `any`
//! // says: segmentation fault       found in Oxeye's output, in any letter case; may be repeated
//! // tuned: f g                     functions in which some nest has a legal schedule other than its own
//! // kept: f g                      functions in which no nest has one
//! // output: varies                 the program's output differs between runs; changes may be reported that are not
//! there
//! // output: none                   it is not a whole program
//! // threads: 1                     for the further schedules; default 2
//! // quiet: pedantic vla            warnings that are switched off in their text; default none
//! ```
//!
//! These lines are removed before the file is used.

use crate::{Playground, Ran, text};
use oxeye::{Compiler, NestRecipe, RECIPE_SCHEMA, RecipeFile};
use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_transform::{Machine, Policy, Suggestion, apply, suggest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which a run of `oxeye` on these small inputs counts as hung. Suites run on loaded machines, so this is
/// far above the time of any of them on a quiet one.
const LONGEST: Duration = Duration::from_secs(600);
/// Number of tuned versions of a file that are built and run, each with another schedule of every nest.
const MOST_VERSIONS: usize = 4;

/// A C file and its expectations.
#[derive(Debug)]
pub struct Hostile {
    /// File name.
    pub name: String,
    /// Its text, without the expectations.
    pub source: String,
    expectations: Vec<(String, String)>,
}

impl Hostile {
    /// Reads a file of `tests/hostile`.
    ///
    /// # Panics
    /// If it does not exist.
    pub fn load(stem: &str) -> Self {
        let path = crate::repository().join("tests/hostile").join(format!("{stem}.c"));
        let all = text(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        Self::parse(&format!("{stem}.c"), &all)
    }

    /// A file from its text with the expectations.
    pub fn parse(name: &str, all: &str) -> Self {
        let mut expectations = Vec::new();
        let mut rest = all;
        while let Some((line, after)) = rest.split_once('\n') {
            let Some((key, value)) = line.strip_prefix("// ").and_then(|l| l.split_once(": ")) else { break };
            expectations.push((key.to_owned(), value.trim().to_owned()));
            rest = after;
        }
        Self { name: name.to_owned(), source: rest.to_owned(), expectations }
    }

    fn all(&self, key: &str) -> Vec<&str> {
        let of_key = self.expectations.iter().filter(|(k, _)| k == key);
        of_key.map(|(_, value)| value.as_str()).collect()
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.all(key).first().copied()
    }

    fn words(&self, key: &str) -> Vec<&str> {
        self.all(key).into_iter().flat_map(str::split_whitespace).collect()
    }

    /// The compile command.
    pub fn compiler(&self) -> &str {
        self.get("compiler").unwrap_or("gcc -O2")
    }

    /// Tunes it with the real command, and tries further schedules that are found legal.
    ///
    /// # Panics
    /// If an expectation is not met.
    pub fn check(&self) {
        let mut playground = Playground::new();
        playground.write(&self.name, &self.source);
        let line = format!(
            "optimize {} --budget 1s --json - {} -- {}",
            self.name,
            self.get("args").unwrap_or(""),
            self.compiler()
        );
        let code = match self.get("exit") {
            Some("any") => None,
            None if self.get("output") == Some("varies") => None,
            code => Some(code.map_or(0, |c| c.parse().expect("a number"))),
        };
        let checked = playground.hostile(&line, code);
        let said = format!("{}{}", checked.ran.stdout, checked.ran.stderr).to_lowercase();
        for words in self.all("says") {
            assert!(said.contains(&words.to_lowercase()), "not said: {words}\n{said}");
        }
        assert_eq!(playground.read(&self.name), self.source);
        let tuned = format!("{}.oxeye.c", self.name.trim_end_matches(".c"));
        if checked.ran.code == Some(2) {
            assert_eq!(playground.files(), [self.name.as_str()], "a file was left behind");
            return;
        }
        let report = checked.report.as_ref().expect("a report");
        if report["changed"] == false {
            assert_eq!(playground.read(&tuned), self.source);
        }
        if self.get("output") == Some("none") {
            return;
        }
        let expected = self.get("output").is_none().then(|| self.print(&mut playground, &self.name, None));
        if report["changed"] == true {
            let added = report["build"]["added"].as_array().cloned().unwrap_or_default();
            let added: Vec<&str> = added.iter().filter_map(Value::as_str).collect();
            let printed = self.print(&mut playground, &tuned, Some(&added.join(" ")));
            if let Some(expected) = &expected {
                assert_eq!(&printed, expected, "{}", playground.read(&tuned));
            }
        }
        self.check_schedules(&mut playground, expected.as_deref());
    }

    /// The same file for another compile command.
    #[must_use]
    pub fn compiled_by(mut self, command: &str) -> Self {
        self.expectations.retain(|(key, _)| key != "compiler");
        self.expectations.push(("compiler".to_owned(), command.to_owned()));
        self
    }

    /// Tries schedules that are found legal, and measures nothing.
    ///
    /// # Panics
    /// If an expectation is not met.
    pub fn check_versions(&self) {
        let mut playground = Playground::new();
        playground.write(&self.name, &self.source);
        let expected = self.print(&mut playground, &self.name, None);
        self.check_schedules(&mut playground, Some(&expected));
    }

    /// Compiles and runs a version of the file; returns its output and exit code.
    fn print(&self, playground: &mut Playground, file: &str, flags: Option<&str>) -> String {
        let command = self.compiler().replacen(' ', &format!(" {} {file} ", flags.unwrap_or("")), 1);
        // Libraries come after the source.
        let ran =
            playground.shell(&format!(
            "{command} -lm -o version.exe && OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive timeout 60 ./version.exe </dev/null"
        ));
        let complaint = || format!("{command}\n{}\n{}", ran.stderr, playground.read(file));
        assert!(playground.path("version.exe").exists(), "does not build: {}", complaint());
        assert!(ran.code.is_some_and(|c| c < 124), "{:?}: {}", ran.code, complaint());
        std::fs::remove_file(playground.path("version.exe")).expect("removed");
        format!("exit code {:?}\n{}", ran.code, ran.stdout)
    }

    /// Whatever a measurement would choose: all versions of the file with legal schedules have the same output.
    fn check_schedules(&self, playground: &mut Playground, expected: Option<&str>) {
        let path = playground.path(&self.name);
        let mut words: Vec<String> = self.compiler().split_whitespace().map(str::to_owned).collect();
        let compiler = Compiler::from_words(&words, &path);
        let command = words.remove(0);
        let unit = read_c(&path, &ReadOptions { compiler: command, args: words, ..ReadOptions::default() })
            .expect("the command could read it");
        assert_eq!(unit.source.as_bytes(), self.source.as_bytes());
        let schedules = schedules(&unit);
        let has = |function: &str| schedules.keys().any(|(name, _)| name == function);
        for function in self.words("tuned") {
            assert!(has(function), "no schedule for {function}: {:#?}", unit.diagnostics);
        }
        for function in self.words("kept") {
            assert!(!has(function), "{function} must stay as it is: {:#?}", schedules.keys());
        }
        let n_versions = schedules.values().map(Vec::len).max().unwrap_or(0).min(MOST_VERSIONS);
        let threads = self.get("threads").map_or(MACHINE.threads, |t| t.parse().expect("a number"));
        let openmp = if threads > 1 { "-fopenmp" } else { "" };
        for version in 0..n_versions {
            let nests = schedules.values().map(|recipes| {
                // Spread over all of them.
                let step = recipes.len().div_ceil(n_versions).max(1);
                recipes[(version * step) % recipes.len()].clone()
            });
            let recipes = RecipeFile {
                schema: RECIPE_SCHEMA.to_owned(),
                compiler: compiler.clone(),
                threads,
                reassociate: false,
                no_alias: false,
                keeps_order: false,
                directives: false,
                quiet: self.words("quiet").into_iter().map(str::to_owned).collect(),
                vector_bytes: None,
                machine: None,
                nests: nests.collect(),
            };
            let tuned = oxeye::replay(&recipes, &path).unwrap_or_else(|e| panic!("{e}\n{recipes:#?}")).text;
            playground.write("version.c", &tuned);
            let printed = self.print(playground, "version.c", Some(openmp));
            if let Some(expected) = expected {
                assert_eq!(printed, expected, "{tuned}");
            }
        }
    }
}

/// Small caches, so that small nests are tiled.
const MACHINE: Machine = Machine { l1: 2 << 10, l2: 16 << 10, l3: 64 << 10, threads: 2, vector_bytes: 32 };

/// The schedules found legal, by function and number of the nest.
fn schedules(unit: &Unit) -> BTreeMap<(String, usize), Vec<NestRecipe>> {
    let policy = Policy { reassociate: false, finite: false };
    let mut found = BTreeMap::new();
    for function in &unit.functions {
        for (ordinal, nest) in function.program.nests.values().enumerate() {
            let Some(span) = nest.span else { continue };
            let mut recipes = Vec::new();
            for Suggestion { name, recipe, .. } in suggest(&function.program, nest, &MACHINE, policy).recipes
            {
                if apply(&function.program, nest, &recipe, policy).is_ok() {
                    let function = function.name.clone();
                    let recipe = recipe.into();
                    recipes.push(NestRecipe {
                        function,
                        ordinal,
                        within: Vec::new(),
                        joined: 0,
                        line: span.line,
                        name,
                        threads: None,
                        guard: None,
                        known: BTreeMap::new(),
                        isa: None,
                        own_text: false,
                        uneven: Vec::new(),
                        recipe,
                    });
                }
            }
            if !recipes.is_empty() {
                found.insert((function.name.clone(), ordinal), recipes);
            }
        }
    }
    found
}

/// A run of `oxeye` that followed the rules.
#[derive(Debug)]
pub struct Checked {
    /// Its exit status.
    pub ran: Ran,
    /// The output of `--json -`.
    pub report: Option<Value>,
}

impl Playground {
    /// Runs `oxeye` and checks what holds for any input: it ends in time, with a known exit code (`code`, if given),
    /// without a panic, with a clear error or a report, and without leaving processes or temporary files.
    ///
    /// # Panics
    /// If one of these rules is broken.
    pub fn hostile(&mut self, line: &str, code: Option<i32>) -> Checked {
        let command = self.oxeye(line);
        self.hostile_command(command, code)
    }

    /// Like [`Playground::hostile`], for a given command.
    ///
    /// # Panics
    /// If one of the rules is broken.
    pub fn hostile_command(&mut self, mut command: Command, code: Option<i32>) -> Checked {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        command.env("TMPDIR", temporary.path()).env("RUST_BACKTRACE", "1");
        let shown = format!("{command:?}");
        let ran = run_in_time(command);
        let complaint = |what: &str| format!("{what}\n{shown}\n{ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        for word in ["panicked", "stack backtrace", "internal error", "RUST_BACKTRACE", "unwrap()"] {
            assert!(!said.contains(word), "{}", complaint(word));
        }
        let leaked = text(temporary.path().as_os_str().as_encoded_bytes());
        assert!(!said.contains(&leaked), "{}", complaint("names a temporary file"));
        match code {
            Some(code) => assert_eq!(ran.code, Some(code), "{}", complaint("exit code")),
            None => assert!(matches!(ran.code, Some(0..=2)), "{}", complaint("exit code")),
        }
        if ran.code == Some(2) {
            assert!(ran.stderr.contains("error: "), "{}", complaint("no error"));
            assert!(ran.stdout.is_empty(), "{}", complaint("an error, and a result"));
            assert!(ran.stderr.lines().count() < 60, "{}", complaint("an endless message"));
        }
        let left: Vec<_> = std::fs::read_dir(temporary.path()).into_iter().flatten().flatten().collect();
        assert!(left.is_empty(), "{}", complaint(&format!("left behind: {left:?}")));
        assert!(!any_process_names(temporary.path()), "{}", complaint("a process is still running"));
        let report: Option<Value> = match shown.contains("--json\" \"-\"") && ran.code != Some(2) {
            true => Some(
                serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{}", complaint(&e.to_string()))),
            ),
            false => None,
        };
        if let Some(report) = &report {
            // No exit code is expected of programs whose output varies.
            check_report(report, code.is_none());
        }
        Checked { ran, report }
    }
}

/// Checks what holds for any report. Where the program's own output varies, so may a candidate's.
fn check_report(report: &Value, varies: bool) {
    assert_eq!(report["schema"], "oxeye.report/1");
    assert!(report["changed"].is_boolean());
    for nest in report["nests"].as_array().expect("nests") {
        let why = nest["note"].is_string() || nest["refused"].as_array().is_some_and(|r| !r.is_empty());
        assert!(nest["recipe"].is_string() || why, "neither tuned nor a reason: {nest:#}");
        assert!(nest["recipe"].is_null() || nest["verified"] == true, "{nest:#}");
        for trial in nest["trials"].as_array().into_iter().flatten() {
            assert!(trial["verdict"] != "wrong_result" || varies, "{nest:#}");
            assert_ne!(trial["verdict"], "does_not_compile", "{nest:#}");
            assert_ne!(trial["verdict"], "crashed", "{nest:#}");
        }
    }
}

fn run_in_time(mut command: Command) -> Ran {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("oxeye starts");
    let id = child.id();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let start = Instant::now();
    let (sender, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = ended.recv_timeout(LONGEST) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            let _ = Command::new("kill").args(["-TERM", &id.to_string()]).status();
        }
        late
    });
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            text(&bytes)
        })
    };
    let stdout = read(stdout.map(|p| Box::new(p) as Box<dyn std::io::Read + Send>));
    let stderr = read(stderr.map(|p| Box::new(p) as Box<dyn std::io::Read + Send>));
    let status = child.wait().expect("waits");
    let _ = sender.send(());
    let late = watch.join().expect("the watch ends");
    let ran = Ran {
        code: status.code(),
        stdout: stdout.join().expect("read"),
        stderr: stderr.join().expect("read"),
    };
    assert!(!late, "not done after {:?}: {ran:?}", start.elapsed());
    ran
}

/// Whether the command line of a live process names a path.
fn any_process_names(path: &Path) -> bool {
    let named = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        text(&line).contains(&*path.to_string_lossy())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(named)
}
