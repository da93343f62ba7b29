//! A project built anew in a folder of ours: every C unit once, with debug information, and its products with some objects
//! replaced.

use crate::error::ProjectError;
use crate::project::{Member, Product, Project, UnitIdx, Word};
use crate::symbols::Symbols;
use oxeye_measure::{CompileJob, Compiler, Invocation, Limits, MeasureError, run_program};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// Most seconds for compiling a unit as the user does.
const UNIT_SECONDS: f64 = 600.0;

/// The objects of a project, and what is linked of them.
#[derive(Debug)]
pub struct Build {
    project: Project,
    folder: PathBuf,
    /// For the units of the products, the object that counts.
    objects: BTreeMap<UnitIdx, PathBuf>,
    /// Seconds that a unit took to compile.
    seconds: BTreeMap<UnitIdx, f64>,
    /// What units were compiled of last.
    latest: Mutex<BTreeMap<UnitIdx, Compiled>>,
    /// Objects as parts of a shared library.
    movable: Mutex<BTreeMap<UnitIdx, PathBuf>>,
    n_links: Mutex<usize>,
    /// What was linked, by all that went into it.
    linked: Mutex<BTreeMap<Digest, PathBuf>>,
}

/// The SHA-256 of something.
type Digest = [u8; 32];

/// An object, and what it was made of.
#[derive(Debug)]
struct Compiled {
    text: Vec<u8>,
    more: Vec<String>,
    object: PathBuf,
}

impl Build {
    /// Compiles all C units of these products as the user does, but for `-g`. Other languages, and what does not compile here,
    /// stay as the user's build left them. `told` hears how many of them are done.
    ///
    /// # Errors
    /// If a unit has neither an object that can be made nor one that the build left.
    pub fn new(
        project: Project,
        products: &[&Product],
        folder: PathBuf,
        told: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Build, ProjectError> {
        let units: Vec<UnitIdx> = products
            .iter()
            .flat_map(|product| product.units())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let n_units = units.len();
        let n_done = Mutex::new(0);
        let build = Build {
            project,
            folder,
            objects: BTreeMap::new(),
            seconds: BTreeMap::new(),
            latest: Mutex::default(),
            movable: Mutex::default(),
            n_links: Mutex::new(0),
            linked: Mutex::default(),
        };
        let made: Vec<(UnitIdx, Result<PathBuf, MeasureError>, f64)> = units
            .into_par_iter()
            .map(|idx| {
                let start = Instant::now();
                let result = build.first_object(idx);
                let mut n_done = n_done.lock().unwrap_or_else(|e| e.into_inner());
                *n_done += 1;
                told(*n_done, n_units);
                (idx, result, start.elapsed().as_secs_f64())
            })
            .collect();
        let (mut objects, mut seconds) = (BTreeMap::new(), BTreeMap::new());
        for (idx, result, time) in made {
            objects.insert(idx, result?);
            seconds.insert(idx, time);
        }
        Ok(Build { objects, seconds, ..build })
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Seconds that compiling a unit takes, within which a variant of it should be compiled too, give or take.
    pub fn compile_seconds(&self, unit: UnitIdx) -> f64 {
        self.seconds.get(&unit).copied().unwrap_or(0.0)
    }

    fn first_object(&self, idx: UnitIdx) -> Result<PathBuf, MeasureError> {
        let unit = &self.project.units[idx];
        let left = unit.object.clone().filter(|object| object.is_file());
        if !unit.is_c()
            && let Some(left) = &left
        {
            return Ok(left.clone());
        }
        let made = self.compile(idx, &unit.source, &format!("unit{idx}"), &["-g".to_owned()], None);
        match (made, left) {
            (Err(MeasureError::CompileFailed { .. }), Some(left)) => Ok(left),
            (made, _) => made,
        }
    }

    /// Compiles a source in the place of a unit's, with more flags, and with so much memory. What has the same name replaces
    /// what was made before.
    ///
    /// # Errors
    /// If it does not compile.
    pub fn compile(
        &self,
        idx: UnitIdx,
        source: &Path,
        name: &str,
        more: &[String],
        memory_bytes: Option<u64>,
    ) -> Result<PathBuf, MeasureError> {
        let unit = &self.project.units[idx];
        let base = unit.source.file_stem().unwrap_or_default().to_string_lossy();
        let folder = self.folder.join("objects").join(name);
        make_folder(&folder)?;
        let job = CompileJob {
            seconds: UNIT_SECONDS.max(20.0 * self.compile_seconds(idx)),
            cwd: Some(unit.folder.clone()).filter(|folder| folder.is_dir()),
            memory_bytes,
            ..CompileJob::object(source, folder.join(format!("{base}.o")))
        };
        let latest = || self.latest.lock().unwrap_or_else(|e| e.into_inner());
        latest().remove(&idx);
        let object = Compiler::new(&unit.compiler, &unit.flags).compile(&job.args(more))?;
        if let Ok(text) = std::fs::read(source) {
            latest().insert(idx, Compiled { text, more: more.to_vec(), object: object.clone() });
        }
        Ok(object)
    }

    /// What compiling this text with these flags gives, if it is what the unit was compiled of last: a copy of that object, under
    /// this name.
    pub fn compiled_again(&self, idx: UnitIdx, text: &[u8], name: &str, more: &[String]) -> Option<PathBuf> {
        let latest = self.latest.lock().unwrap_or_else(|e| e.into_inner());
        let object = &latest.get(&idx).filter(|last| last.text == text && last.more == more)?.object;
        let folder = self.folder.join("objects").join(name);
        make_folder(&folder).ok()?;
        let copy = folder.join(object.file_name()?);
        std::fs::copy(object, &copy).ok()?;
        Some(copy)
    }

    /// From now on, a unit has this object; returns the one before.
    pub fn replace(&mut self, unit: UnitIdx, object: PathBuf) -> Option<PathBuf> {
        self.objects.insert(unit, object)
    }

    /// From now on, a unit is compiled with this flag as well.
    pub fn add_flag(&mut self, unit: UnitIdx, flag: &str) {
        self.project.units[unit].flags.push(flag.to_owned());
    }

    /// Links a product, with these objects in the places of units, and more flags; if the same was linked before, this is a copy
    /// of that.
    ///
    /// # Errors
    /// If it does not link.
    pub fn link(
        &self,
        product: &Product,
        replaced: &BTreeMap<UnitIdx, PathBuf>,
        more: &[String],
        output: &Path,
    ) -> Result<PathBuf, MeasureError> {
        let folder = self.link_folder()?;
        let object = |unit: &UnitIdx| replaced.get(unit).or_else(|| self.objects.get(unit)).cloned();
        let mut words = Vec::new();
        for (position, word) in product.words.iter().enumerate() {
            match word {
                Word::Flag(flag) => words.push(flag.clone()),
                Word::File(path) => words.push(path.to_string_lossy().into_owned()),
                Word::Unit(unit) => {
                    words.extend(object(unit).map(|path| path.to_string_lossy().into_owned()));
                }
                Word::Archive(members) => {
                    let members: Vec<PathBuf> = members
                        .iter()
                        .filter_map(|member| match member {
                            Member::Unit(unit) => object(unit),
                            Member::File(path) => Some(path.clone()),
                        })
                        .collect();
                    let archive = folder.join(format!("part{position}.a"));
                    archive_of(&members, &archive)?;
                    words.push(archive.to_string_lossy().into_owned());
                }
            }
        }
        words.extend(more.iter().cloned());
        self.run_linker(product, words, output)
    }

    fn run_linker(
        &self,
        product: &Product,
        words: Vec<String>,
        output: &Path,
    ) -> Result<PathBuf, MeasureError> {
        let made_of = made_of(product, &words);
        let linked = || self.linked.lock().unwrap_or_else(|e| e.into_inner());
        let before = linked().get(&made_of).cloned();
        if before.is_some_and(|before| std::fs::copy(before, output).is_ok()) {
            return Ok(output.to_owned());
        }
        // The words of the command keep their order, so that all of them are flags of this one job.
        let job = CompileJob {
            sources: Vec::new(),
            seconds: UNIT_SECONDS,
            cwd: Some(product.folder.clone()).filter(|folder| folder.is_dir()),
            ..CompileJob::executable("", output)
        };
        let path = Compiler::new(&product.linker, [""; 0]).compile(&job.args(words))?;
        // Whoever asked may change or remove what he got.
        let kept = self.link_folder()?.join("linked");
        if std::fs::copy(&path, &kept).is_ok() {
            linked().insert(made_of, kept);
        }
        Ok(path)
    }

    /// A shared library of everything in a product but one unit, for code of the unit that is run by itself; `None` if the unit
    /// uses nothing of that.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn rest(&self, product: &Product, without: UnitIdx) -> Result<Option<PathBuf>, MeasureError> {
        let Some(own) = self.objects.get(&without) else { return Ok(None) };
        let wanted = Symbols::of(own).undefined;
        let units: Vec<UnitIdx> = product.units().into_iter().filter(|unit| *unit != without).collect();
        let is_used = |path: &Path| !Symbols::of(path).defined.is_disjoint(&wanted);
        let files: Vec<&PathBuf> = product
            .words
            .iter()
            .flat_map(|word| match word {
                Word::File(path) => vec![path],
                Word::Archive(members) => members
                    .iter()
                    .filter_map(|member| match member {
                        Member::File(path) => Some(path),
                        Member::Unit(_) => None,
                    })
                    .collect(),
                _ => Vec::new(),
            })
            .collect();
        let uses_units = units.iter().filter_map(|unit| self.objects.get(unit)).any(|path| is_used(path));
        if !uses_units && !files.iter().any(|path| is_used(path)) {
            return Ok(None);
        }
        let movable: Vec<Result<PathBuf, MeasureError>> =
            units.par_iter().map(|unit| self.movable(*unit)).collect();
        let mut words = vec!["-shared".to_owned(), "-fPIC".to_owned()];
        for path in movable {
            words.push(path?.to_string_lossy().into_owned());
        }
        words.extend(files.iter().map(|path| path.to_string_lossy().into_owned()));
        words.extend(product.libraries());
        let output = self.link_folder()?.join("rest.so");
        self.run_linker(product, words, &output).map(Some)
    }

    /// The object of a unit as a part of a shared library.
    fn movable(&self, unit: UnitIdx) -> Result<PathBuf, MeasureError> {
        let lock = || self.movable.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(path) = lock().get(&unit) {
            return Ok(path.clone());
        }
        let source = &self.project.units[unit].source;
        let made = self.compile(unit, source, &format!("movable{unit}"), &["-fPIC".to_owned()], None)?;
        lock().insert(unit, made.clone());
        Ok(made)
    }

    /// A folder of its own for what is linked.
    fn link_folder(&self) -> Result<PathBuf, MeasureError> {
        let mut n_links = self.n_links.lock().unwrap_or_else(|e| e.into_inner());
        *n_links += 1;
        let folder = self.folder.join(format!("link{n_links}"));
        make_folder(&folder)?;
        Ok(folder)
    }
}

/// What linking a product with these words depends on, libraries that the linker finds by itself aside.
fn made_of(product: &Product, words: &[String]) -> Digest {
    let mut hash = Sha256::new();
    for word in words {
        let content = std::fs::read(product.folder.join(word)).unwrap_or_else(|_| word.clone().into_bytes());
        hash.update(content.len().to_le_bytes());
        hash.update(content);
    }
    hash.update(product.linker.as_bytes());
    hash.finalize().into()
}

fn make_folder(folder: &Path) -> Result<(), MeasureError> {
    let error = |source| MeasureError::Io { action: "make", path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(error)
}

fn archive_of(members: &[PathBuf], archive: &Path) -> Result<(), MeasureError> {
    let outcome =
        run_program(&Invocation::new("ar").args(["qcs"]).args([archive]).args(members), &Limits::default())?;
    if outcome.exit.success() {
        return Ok(());
    }
    Err(MeasureError::CompileFailed {
        program: "ar".into(),
        file: archive.to_owned(),
        text: String::from_utf8_lossy(&outcome.stderr).into_owned(),
    })
}
