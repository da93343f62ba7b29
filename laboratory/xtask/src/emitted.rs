//! `cargo xtask emitted FOLDER`: writes every text that Oxeye makes of the corpus into a folder, so that two versions of
//! Oxeye can be compared by `diff -r`.
//!
//! Nothing is measured and no machine is asked, so that the texts are a function of the sources and of Oxeye: the programs
//! as they were read, with their diagnostics; capture and watched programs; and of each nest replays and candidates, for
//! one thread and two, with other instructions and with checks.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxeye_binding::OwnText;
use oxeye_codegen::{
    Isa, RenderOptions, Site, instrument, outline_own_text, render_nest, render_outlined, replay_unit,
    tuned_file, watched_program,
};
use oxeye_evaluation::{Verdict, repository};
use oxeye_frontend::{Function, ReadOptions, Unit, read_c};
use oxeye_ir::Nest;
use oxeye_transform::templates::{Instantiator, suggest_rewrites};
use oxeye_transform::{Applied, Machine, Policy};

/// Options of `cargo xtask emitted`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to write; what is there of an earlier run is overwritten
    folder: PathBuf,
    /// C files, and folders with C files, to read in place of those of the corpus
    #[arg(long)]
    of: Vec<PathBuf>,
    /// So many random programs besides
    #[arg(long, default_value_t = 60)]
    random: u64,
    /// The suggestions of each nest whose texts are written
    #[arg(long, default_value_t = 6)]
    suggestions: usize,
    /// Flags with which the files are read
    #[arg(long, default_value = "-O3 -march=x86-64-v3 -ffast-math -fopenmp", allow_hyphen_values = true)]
    flags: String,
}

/// Folders of the corpus.
const CORPUS: [&str; 5] =
    ["benchmarks/kernels", "benchmarks/textbook", "benchmarks/applications", "tests/hostile", "tests"];

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let mut files = Vec::new();
    match args.of.as_slice() {
        [] => CORPUS.iter().try_for_each(|folder| c_files(&root.join(folder), &mut files))?,
        given => given.iter().try_for_each(|path| c_files(path, &mut files))?,
    }
    files.sort();
    files.dedup();
    let written = |file: &Path| file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('/', "_");
    for (k, file) in files.iter().enumerate() {
        eprintln!("[{}/{}] {}", k + 1, files.len(), file.display());
        write_all(args, file, &args.folder.join(written(file)))?;
    }
    let programs = tempfile::tempdir()?;
    for seed in 0..args.random {
        let file = programs.path().join(format!("random{seed}.c"));
        fs::write(&file, oxeye_programs::Program::new(seed).text())?;
        write_all(args, &file, &args.folder.join(format!("random{seed}")))?;
    }
    println!("{} files and {} random programs: {}", files.len(), args.random, args.folder.display());
    Ok(Verdict::Good)
}

/// The C files in a folder and those inside, or the file itself.
fn c_files(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
            c_files(&entry?.path(), found)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "c") {
        found.push(path.to_owned());
    }
    Ok(())
}

/// Writes what is made of one file into a folder of its own.
fn write_all(args: &Args, file: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut flags: Vec<String> = args.flags.split_whitespace().map(str::to_owned).collect();
    flags.extend(file.parent().map(|folder| format!("-I{}", folder.display())));
    let options = ReadOptions { compiler: "gcc".into(), args: flags, ..ReadOptions::default() };
    let unit = match read_c(file, &options) {
        Ok(unit) => unit,
        Err(error) => {
            // The file's own folder may be another one each time.
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let text = error.to_string().replace(&*file.to_string_lossy(), &name);
            return Ok(fs::write(folder.join("unread"), text)?);
        }
    };
    let mut read = String::new();
    for diagnostic in &unit.diagnostics {
        let line = diagnostic.span.map_or(0, |span| span.line);
        let _ = writeln!(read, "{line}: {:?}: {}", diagnostic.severity, diagnostic.message);
    }
    for function in &unit.functions {
        let _ = writeln!(read, "{}", function.binding.display(&function.program));
    }
    fs::write(folder.join("read.oxir"), read)?;
    let nests: Vec<(&Function, &Nest)> =
        unit.functions.iter().flat_map(|f| f.program.nests.values().map(move |nest| (f, nest))).collect();
    let sites: Vec<Site> =
        nests.iter().enumerate().map(|(k, (function, nest))| site(function, nest, k as u32)).collect();
    fs::write(folder.join("capture.c"), instrument(&unit.source, &sites, ""))?;
    fs::write(folder.join("watched.c"), watched_program(&unit.source, &sites, "").text)?;
    for ((function, nest), site) in nests.iter().zip(&sites) {
        let text = nest_texts(args, &unit, function, nest, site);
        let line = nest.span.map_or(0, |span| span.line);
        fs::write(folder.join(format!("{line:04}_{}_{}.c", function.name, nest.id)), text)?;
    }
    Ok(())
}

fn site<'u>(function: &'u Function, nest: &'u Nest, id: u32) -> Site<'u> {
    Site {
        id,
        program: &function.program,
        binding: &function.binding,
        nest,
        function: function.span,
        own_text: function.own_texts.get(&nest.id).unwrap_or(OwnText::none()),
        never_called: function.never_called.get(&nest.id).map_or(&[][..], Vec::as_slice),
        constants: &[],
        are_apart: false,
        before: "",
    }
}

/// Every text of one nest.
fn nest_texts(args: &Args, unit: &Unit, function: &Function, nest: &Nest, site: &Site) -> String {
    let mut out = String::new();
    let Some(span) = nest.span else { return out };
    let own = span.text(&unit.source).into_owned();
    let _ = writeln!(
        out,
        "arguments {:#?}",
        oxeye_codegen::arguments(&function.program, &function.binding, nest)
    );
    let _ = writeln!(out, "replay\n{}", replay_unit(&unit.source, site, &own));
    let options =
        RenderOptions { threads: 2, reassociate: true, original: Some(own), ..RenderOptions::default() };
    match outline_own_text(
        &function.program,
        &function.binding,
        nest,
        &options,
        Isa::Avx2,
        "own",
        site.own_text,
    ) {
        Ok(text) => _ = writeln!(out, "own text\n{}{}", text.function, text.block),
        Err(error) => _ = writeln!(out, "own text: {error}"),
    }
    let policy = Policy { reassociate: true, finite: true };
    let machine = Machine { l1: 32 << 10, l2: 1 << 20, l3: 16 << 20, threads: 2, vector_bytes: 32 };
    let mut instantiator = Instantiator::new(&function.program, nest, &machine, policy);
    let suggested = instantiator.templates();
    let mut recipes: Vec<_> =
        suggested.iter().take(args.suggestions).filter_map(|t| instantiator.instantiate(t).ok()).collect();
    recipes.extend(
        suggest_rewrites(instantiator.prepared(), policy).into_iter().map(|(_, recipe)| recipe).take(2),
    );
    for recipe in recipes {
        let _ = writeln!(out, "recipe\n{recipe}");
        match instantiator.prepared().apply(&recipe, policy) {
            Ok(applied) => candidate_texts(&mut out, unit, &applied, &options, site),
            Err(refusal) => _ = writeln!(out, "refused: {refusal}"),
        }
    }
    out
}

/// Every text of one candidate.
fn candidate_texts(out: &mut String, unit: &Unit, applied: &Applied, options: &RenderOptions, site: &Site) {
    let (program, nest) = (&applied.program, &applied.nest);
    let checked = RenderOptions { checks: Some("here".into()), threads: 1, ..options.clone() };
    let alone = RenderOptions { threads: 1, ..options.clone() };
    for (what, options) in [("two threads", options), ("one thread", &alone), ("checked", &checked)] {
        match render_nest(program, site.binding, nest, options) {
            Ok(text) => {
                let _ = writeln!(out, "{what}\n{text}");
                if what == "two threads" {
                    let _ = writeln!(out, "its replay\n{}", replay_unit(&unit.source, site, &text));
                    if let Some(span) = nest.span {
                        let _ = writeln!(out, "tuned\n{}", tuned_file(&unit.source, &[(span, text)], &[]));
                    }
                }
            }
            Err(error) => _ = writeln!(out, "{what}: {error}"),
        }
    }
    match render_outlined(program, site.binding, nest, options, Isa::Avx2, "wide") {
        Ok(text) => _ = writeln!(out, "outlined\n{}{}", text.function, text.block),
        Err(error) => _ = writeln!(out, "outlined: {error}"),
    }
}
