//! A DaCe program, the C that stands for it, and its arguments.

use super::python::Python;
use crate::request::{Compiler, Error, Options};
use oxeye_ir::NestId;
use oxeye_measure::WorkDir;
use oxeye_sdfg::{CProgram, Grouping, Sdfg, Unit, read_sdfg, to_c};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A DaCe program with everything that a run on it needs.
pub(super) struct SdfgProgram {
    /// The text of the file.
    pub(super) text: String,
    pub(super) sdfg: Sdfg,
    pub(super) unit: Unit,
    pub(super) c: CProgram,
    /// Where everything temporary is.
    pub(super) folder: WorkDir,
    /// The folder with arrays as files.
    pub(super) arguments: PathBuf,
    /// What else is passed.
    pub(super) scalars: BTreeMap<String, String>,
    /// The C file.
    file: PathBuf,
    harness: PathBuf,
    flags: Vec<String>,
}

impl SdfgProgram {
    /// Reads the file of a run, writes it as C, and makes arguments.
    ///
    /// # Errors
    /// If it cannot be read, no Python has DaCe, or sizes are missing.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        let wrong = |e: &dyn std::fmt::Display| Error::Input(format!("{}: {e}", options.file.display()));
        let text = std::fs::read_to_string(&options.file).map_err(|source| Error::Io {
            action: "read",
            path: options.file.clone(),
            source,
        })?;
        let sdfg = Sdfg::parse(&text).map_err(|e| wrong(&e))?;
        let unit = read_sdfg(&sdfg).map_err(|e| wrong(&e))?;
        let c = to_c(&sdfg, &unit, Grouping::Together).map_err(|e| wrong(&e))?;
        let folder = WorkDir::within(options.shared_folder())?;
        let arguments = folder.subdir("arguments")?;
        let file = options.file.canonicalize().unwrap_or_else(|_| options.file.clone());
        let prepared = Python::find(options.python.as_deref(), &folder, options.threads)?
            .prepare(&file, &arguments, options)?;
        let path = folder.write(format!("{}.c", c.function), &c.source)?;
        let main = c.harness(&arguments.to_string_lossy(), &prepared.scalars);
        let harness = folder.write("oxeye_main.c", main)?;
        let (scalars, flags) = (prepared.scalars, prepared.flags);
        Ok(Self { text, sdfg, unit, c, folder, arguments, scalars, file: path, harness, flags })
    }

    /// The Python of the run.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn python(&self, options: &Options) -> Result<Python<'_>, Error> {
        Python::find(options.python.as_deref(), &self.folder, options.threads)
    }

    /// The options of the same run on the C: with the flags that DaCe compiles with, unless others were given.
    pub(super) fn options(&self, options: &Options) -> Options {
        let mut compiler = options.compiler.clone();
        if !compiler.chosen {
            let is_for_c =
                |flag: &&String| !flag.starts_with("-std=") && !flag.starts_with("-W") && *flag != "-fPIC";
            let mut args: Vec<String> = self.flags.iter().filter(is_for_c).cloned().collect();
            args.extend(["-fopenmp", "-lm"].map(str::to_owned));
            compiler = Compiler { command: "gcc".into(), args, chosen: true };
        }
        compiler.args.insert(0, self.harness.to_string_lossy().into_owned());
        Options {
            file: self.file.clone(),
            output: None,
            sizes: Default::default(),
            inputs: Default::default(),
            compiler,
            save_recipe: None,
            keep_candidates: None,
            // Tasklets are for the build that DaCe makes of them.
            is_stand_in: true,
            ..options.clone()
        }
    }

    /// How far results may be apart, relative to the larger: in `double` and in `float`. DaCe's flags let compilers reorder.
    pub(super) fn tolerance(&self) -> (f64, f64) {
        let is_reordered = self.flags.iter().any(|flag| flag == "-ffast-math" || flag == "-Ofast");
        if is_reordered { (1e-9, 1e-4) } else { (1e-12, 1e-6) }
    }

    /// A nest for people.
    pub(super) fn name(&self, nest: NestId) -> String {
        let place = self.unit.places.get(&nest).map_or_else(String::new, ToString::to_string);
        format!("nest {} ({place})", nest.0)
    }
}
