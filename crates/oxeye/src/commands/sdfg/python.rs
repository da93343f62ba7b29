//! The Python that has DaCe, and what it is asked.

use crate::request::Error;
use crate::workshop::complaint;
use oxeye_measure::{Invocation, Limits, WorkDir, run_program};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HELPER: &str = include_str!("helper.py");

/// How long DaCe may take to read, compile or run a program, in seconds.
const SECONDS: f64 = 900.0;

/// A Python with DaCe, in a run.
pub(super) struct Python<'a> {
    program: PathBuf,
    folder: &'a WorkDir,
    helper: PathBuf,
    threads: u32,
    n_requests: std::cell::Cell<u32>,
}

/// What DaCe says of a program and its arguments.
pub(super) struct Prepared {
    /// Values of what is no array, as C writes them.
    pub(super) scalars: BTreeMap<String, String>,
    /// The flags that DaCe compiles with.
    pub(super) flags: Vec<String>,
}

/// Two programs on the same arguments.
pub(super) enum Verdict {
    /// Seconds of the runs of each, and by how much results differ.
    Right { before: Vec<f64>, after: Vec<f64>, worst: f64 },
    /// What is wrong with the second.
    Wrong(String),
}

impl<'a> Python<'a> {
    /// The named Python, or the first that has DaCe among those in use.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn find(named: Option<&Path>, folder: &'a WorkDir, threads: u32) -> Result<Self, Error> {
        let helper = folder.write("oxeye_dace.py", HELPER)?;
        let candidates: Vec<PathBuf> = match named {
            Some(path) => vec![path.to_owned()],
            None => {
                let active = std::env::var_os("VIRTUAL_ENV").map(|v| Path::new(&v).join("bin/python"));
                active.into_iter().chain(["python3", "python"].map(PathBuf::from)).collect()
            }
        };
        for program in candidates {
            let ask = Invocation::new(&program).args(["-c", "import dace, numpy"]);
            let limits = Limits { seconds: 120.0, ..Limits::default() };
            if run_program(&ask, &limits).is_ok_and(|outcome| outcome.exit.success()) {
                return Ok(Self { program, folder, helper, threads, n_requests: std::cell::Cell::new(0) });
            }
        }
        let what = match named {
            Some(path) => format!("{} has no DaCe", path.display()),
            None => "no Python with DaCe was found".to_owned(),
        };
        Err(Error::Input(format!(
            "{what}; pip install dace==1.0.2 networkx==3.4.2 numpy==1.26.4, or name one with --python"
        )))
    }

    /// Asks DaCe. Its answer, or what went wrong in words.
    fn ask(&self, request: &Value) -> Result<Result<Value, String>, Error> {
        let n = self.n_requests.get();
        self.n_requests.set(n + 1);
        let path = self.folder.write(format!("request{n}.json"), request.to_string())?;
        let invocation = Invocation::new(&self.program)
            .args([self.helper.as_os_str(), path.as_os_str()])
            .env("OMP_NUM_THREADS", self.threads.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let mut invocation = invocation;
        // DaCe writes a folder where it runs.
        invocation.cwd = Some(self.folder.path().to_owned());
        let limits = Limits { seconds: SECONDS, ..Limits::default() };
        let outcome = run_program(&invocation, &limits)?;
        let text = String::from_utf8_lossy(&outcome.stdout);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let Ok(answer) = serde_json::from_str::<Value>(last) else {
            let words = String::from_utf8_lossy(&outcome.stderr);
            let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Ok(Err(format!("it ended with {:?} {last}", outcome.exit)));
        };
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Ok(Err(error.to_owned())),
            None => Ok(Ok(answer)),
        }
    }

    /// Makes the arguments of a program: files in `folder`.
    ///
    /// # Errors
    /// If sizes are missing, or inputs do not fit.
    pub(super) fn prepare(
        &self,
        sdfg: &Path,
        folder: &Path,
        options: &crate::request::Options,
    ) -> Result<Prepared, Error> {
        let mut inputs = BTreeMap::new();
        for (name, path) in &options.inputs {
            inputs.insert(name, path.canonicalize().unwrap_or_else(|_| path.clone()));
        }
        let request = json!({
            "do": "prepare", "sdfg": sdfg, "folder": folder, "sizes": options.sizes, "inputs": inputs,
            "seed": options.seed,
        });
        let answer =
            self.ask(&request)?.map_err(|e| Error::Input(format!("{}: {e}", options.file.display())))?;
        let scalars = answer.get("scalars").and_then(Value::as_object).into_iter().flatten();
        let flags = answer.get("flags").and_then(Value::as_array).into_iter().flatten();
        Ok(Prepared {
            scalars: scalars.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect(),
            flags: flags.filter_map(|f| f.as_str().map(str::to_owned)).collect(),
        })
    }

    /// Compiles a program under this name; the folder that it is in then, or why not.
    ///
    /// # Errors
    /// If Python does not run.
    pub(super) fn build(&self, sdfg: &Path, name: &str) -> Result<Result<PathBuf, String>, Error> {
        let folder = self.folder.join(format!("dace-{name}"));
        // The script runs in its own folder.
        let sdfg = std::path::absolute(sdfg).unwrap_or_else(|_| sdfg.to_owned());
        let answer = self.ask(&json!({"do": "build", "sdfg": sdfg, "name": name, "folder": folder}))?;
        Ok(answer.map(|_| folder).map_err(|error| match error.contains("error:") {
            true => format!("DaCe does not compile it: {}", complaint(&error)),
            false => error.lines().next().unwrap_or_default().to_owned(),
        }))
    }

    /// Runs two compiled programs on the same arguments, for about so many seconds.
    ///
    /// # Errors
    /// If Python does not run.
    pub(super) fn judge(
        &self,
        (before, after): (&Path, &Path),
        arguments: &Path,
        scalars: &BTreeMap<String, String>,
        tolerance: (f64, f64),
        seconds: f64,
    ) -> Result<Verdict, Error> {
        let request = json!({
            "do": "judge", "before": before, "after": after, "arguments": arguments, "scalars": scalars,
            "tolerance": {"f64": tolerance.0, "f32": tolerance.1}, "seconds": seconds,
        });
        let answer = match self.ask(&request)? {
            Ok(answer) => answer,
            Err(error) => return Ok(Verdict::Wrong(error)),
        };
        if let Some(wrong) = answer.get("wrong").and_then(Value::as_str) {
            return Ok(Verdict::Wrong(wrong.to_owned()));
        }
        let times = |key: &str| -> Vec<f64> {
            answer
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect()
        };
        let worst = answer.get("worst").and_then(Value::as_f64).unwrap_or(0.0);
        Ok(Verdict::Right { before: times("before"), after: times("after"), worst })
    }
}
