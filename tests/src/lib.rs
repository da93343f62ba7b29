//! Shared helpers of the filetests and end-to-end tests.

pub mod book;
pub mod filetest;
pub mod hostile;
pub mod structure;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// A hand-written recipe file for gcc and two threads: the steps for the first nest of each function.
pub fn recipe_file(nests: &[(&str, serde_json::Value)]) -> String {
    let nest = |(function, recipe): &(&str, serde_json::Value)| serde_json::json!({ "function": function, "ordinal": 0, "line": 1, "name": "by hand", "recipe": recipe });
    serde_json::json!({
        "schema": "oxeye.recipe/1",
        "compiler": { "command": "gcc", "args": ["-O2"], "chosen": true },
        "threads": 2,
        "reassociate": false,
        "no_alias": false,
        "nests": nests.iter().map(nest).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The built `oxeye` command, in the profile of the running test; `OXEYE_BIN` names another one.
///
/// # Panics
/// If it cannot be built.
pub fn oxeye_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("OXEYE_BIN") {
            return path.into();
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // As part of the build of all tests, which has its features: another one would build every crate again.
        build.args(["test", "--quiet", "--workspace", "--no-run", "--test", "invocations"]);
        build.arg("--message-format=json");
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let output = build.current_dir(repository()).output().expect("cargo starts");
        assert!(output.status.success(), "the oxeye command does not build: {}", text(&output.stderr));
        text(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["profile"]["test"] == false)
            .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
            .next_back()
            .expect("cargo names the executable")
    })
}

/// The folder in which the tests of one build keep measurements of the machine. It is measured once, before the first
/// command that needs it.
fn cache_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = oxeye_binary().parent().unwrap_or(Path::new(".")).join("test-cache");
        let measured =
            Command::new(oxeye_binary()).args(["host", "--brief"]).env("OXEYE_CACHE", &folder).output();
        assert!(measured.is_ok_and(|ran| ran.status.success()), "the machine cannot be measured");
        believe(&folder.join("hosts"));
        folder
    })
}

/// Turns profiles that were measured on a busy machine into those of a quiet one that is much faster. Otherwise every
/// command would measure again, which is not what the tests are about; and none of their nests comes near such
/// ceilings.
fn believe(profiles: &Path) {
    for path in std::fs::read_dir(profiles).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let read = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
        let Some(mut profile): Option<serde_json::Value> = read else { continue };
        if profile["noise"]["noisy"] != true {
            continue;
        }
        profile["noise"]["noisy"] = false.into();
        let faster = |quantity: &mut serde_json::Value| {
            quantity["value"] = (10.0 * quantity["value"].as_f64().unwrap_or(1.0)).into();
        };
        let array =
            |value: &mut serde_json::Value| value.as_array_mut().map(std::mem::take).unwrap_or_default();
        let mut peaks = array(&mut profile["compute"]);
        peaks.iter_mut().for_each(|peak| faster(&mut peak["gflops"]));
        profile["compute"] = peaks.into();
        let mut levels = array(&mut profile["memory_levels"]);
        for level in &mut levels {
            let mut bandwidths = array(&mut level["bandwidths"]);
            bandwidths.iter_mut().for_each(|bandwidth| faster(&mut bandwidth["gb_per_s"]));
            level["bandwidths"] = bandwidths.into();
        }
        profile["memory_levels"] = levels.into();
        std::fs::write(&path, profile.to_string()).expect("the profile can be written");
    }
}

/// Tests that measure run one at a time, so that they do not disturb each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|e| e.into_inner())
}

/// The root folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Any bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with C files in which `oxeye` runs.
pub struct Playground {
    directory: tempfile::TempDir,
}

impl Playground {
    /// An empty folder.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with one file.
    pub fn with(name: &str, contents: &str) -> Self {
        let playground = Self::new();
        playground.write(name, contents);
        playground
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, contents: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, contents).expect("written");
    }

    /// Reads a file.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> String {
        text(&std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
    }

    /// Names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.directory.path())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The `oxeye` command in this folder; words are separated by spaces.
    pub fn oxeye(&self, line: &str) -> Command {
        let mut command = Command::new(oxeye_binary());
        let mut words = line.split_whitespace();
        command.args(words.next());
        // Small programs on busy machines gain what they gain: that is not what tests are about.
        if matches!(line.split_whitespace().next(), Some("optimize" | "tune")) {
            command.arg("--min-speedup=1");
        }
        command.args(words).current_dir(self.directory.path());
        command
            .env("OXEYE_CACHE", cache_folder())
            .env("OXEYE_DATABASE", self.directory.path().join("recipes.sqlite"));
        command
    }

    /// Runs `oxeye` and returns exit code, standard output and standard error.
    ///
    /// # Panics
    /// If it does not start.
    pub fn run(&self, line: &str) -> Ran {
        Ran::from(self.oxeye(line).output().expect("oxeye starts"))
    }

    /// Runs any command in this folder.
    ///
    /// # Panics
    /// If it does not start.
    pub fn shell(&self, script: &str) -> Ran {
        let mut command = Command::new("sh");
        Ran::from(
            command.args(["-c", script]).current_dir(self.directory.path()).output().expect("sh starts"),
        )
    }
}

impl Default for Playground {
    fn default() -> Self {
        Self::new()
    }
}

/// The result of a command.
#[derive(Debug)]
pub struct Ran {
    /// Exit code, if it was not killed.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}
