//! Compiles and runs rendered nests against a reference.

use oxeye_binding::{Binding, Bound};
use oxeye_codegen::{RenderOptions, prelude, render_nest};
use oxeye_ir::testing::is_required;
use oxeye_ir::{Expr, Form, Nest, Program, Storage, Var};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Compilers to try, with the flags that every test uses.
pub(crate) const COMPILERS: &[&str] = &["gcc", "clang-19"];

/// The last is for clang 19, which warns about its own -march=native on some processors.
pub(crate) const WARNINGS: &[&str] = &[
    "-std=gnu99",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
    "-Wno-invalid-feature-combination",
];

/// Whether the compiler is available. A missing one is a failure if it is gcc, or if `OXEYE_REQUIRE` names `clang`.
pub(crate) fn has(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output().is_ok_and(|o| o.status.success());
    if !is_there {
        assert!(compiler != "gcc" && !is_required("clang"), "{compiler} is required but cannot be run");
        eprintln!("skipped: {compiler} cannot be run");
    }
    is_there
}

/// Whether the compiler has what flags link with, such as a sanitizer's library. As with [`has`], it may have to.
pub(crate) fn links(compiler: &str, flags: &[&str]) -> bool {
    let links = run(compiler, flags, "int main(void) { return 0; }\n");
    if let Err(why) = &links {
        assert!(compiler != "gcc" && !is_required("clang"), "{why}");
        eprintln!("skipped: {compiler} does not link with {flags:?}");
    }
    links.is_ok()
}

/// Builds and runs; returns standard output, or what went wrong.
pub(crate) fn run(compiler: &str, flags: &[&str], source: &str) -> Result<String, String> {
    run_with(compiler, flags, source, &[vec![]]).map(|outputs| outputs.concat())
}

/// Builds, and runs with each list of arguments. What a debug build finds is an error, which begins with it.
pub(crate) fn run_with(
    compiler: &str,
    flags: &[&str],
    source: &str,
    arguments: &[Vec<String>],
) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (c, exe) = (dir.path().join("test.c"), dir.path().join("test"));
    std::fs::write(&c, source).map_err(|e| e.to_string())?;
    compile(compiler, flags, &c, &exe)?;
    let mut outputs = Vec::new();
    let findings = dir.path().join("findings");
    for list in arguments {
        let mut command = Command::new(&exe);
        let output = command.args(list).env("OXEYE_CHECKS", &findings).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!(
                "{:?} {list:?}: {}\n{source}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        outputs.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    match std::fs::read_to_string(&findings) {
        Ok(found) => Err(format!("{found}{source}")),
        Err(_) => Ok(outputs),
    }
}

pub(crate) fn compile(compiler: &str, flags: &[&str], source: &Path, exe: &Path) -> Result<(), String> {
    let output = Command::new(compiler)
        .args(WARNINGS)
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(exe)
        .arg("-lm")
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let text = std::fs::read_to_string(source).unwrap_or_default();
    Err(format!("{compiler} {flags:?}\n{}\n{text}", String::from_utf8_lossy(&output.stderr)))
}

fn extent(program: &Program, e: &Expr) -> String {
    match e {
        Expr::Affine(a) => {
            let mut text = format!("{}L", a.constant_part());
            for (v, c) in a.terms() {
                let Var::Sym(s) = v else { panic!("an iterator in a shape") };
                let _ = write!(text, " + {c} * {}", program.symbols[&s].name);
            }
            format!("({text})")
        }
        other => panic!("no test needs the extent {other:?}"),
    }
}

/// What stands between the functions with the nests and the rest of a program.
const DRIVER: &str = "/* driver */\n";

/// A program that runs nest N0, rendered plainly, and N1, rendered by `options`, on the same data, and prints the
/// largest relative difference.
/// The sizes are the driver's arguments, in the order of the symbols.
pub(crate) fn driver(program: &Program, options: &RenderOptions) -> String {
    driver_of(&Bound { program: program.clone(), binding: Binding::default() }, options)
}

fn driver_of(bound: &Bound, options: &RenderOptions) -> String {
    let (program, binding) = (&bound.program, &bound.binding);
    let original = options.original.clone();
    let plain = RenderOptions {
        reassociate: true,
        threads: 1,
        indent: 4,
        original,
        declarations_first: options.declarations_first,
        ..RenderOptions::default()
    };
    let mut unaliased = program.clone();
    unaliased.may_alias.clear();
    unaliased.threads.clear();
    let reference = render_nest(&unaliased, Binding::none(), &program.nests[0], &plain).expect("reference");
    let mut tuned = render_nest(program, binding, &tuned_nest(program), options).expect("tuned");
    if let Some(team) = binding.teams.values().next() {
        let own = team.names.join(", ");
        tuned = format!("{{\n#pragma omp parallel firstprivate({own}) num_threads(3)\n{{\n{tuned}\n}}\n}}");
    }
    let arrays: Vec<_> = program
        .arrays
        .values()
        .filter(|a| matches!(a.storage, Storage::Param | Storage::Local | Storage::Global))
        .collect();
    let mut parameters: Vec<String> =
        program.symbols.values().map(|s| format!("{} {}", s.ty.c_name(), s.name)).collect();
    let names: Vec<String> = program.symbols.values().map(|s| s.name.clone()).collect();
    let (mut locals, mut stores) = (String::new(), String::new());
    for a in &arrays {
        let ty = a.element.c_name();
        let name = &a.name;
        let rows: String =
            a.shape.iter().skip(1).flatten().map(|e| format!("[{}]", extent(program, e))).collect();
        if a.shape.is_empty() {
            parameters.push(format!("{ty} *{name}_p"));
            let _ = writeln!(locals, "    {ty} {name} = *{name}_p;");
            let _ = writeln!(stores, "    *{name}_p = {name};");
        } else if a.form == Form::Linear || a.shape.len() == 1 {
            parameters.push(format!("{ty} *{name}"));
        } else {
            parameters.push(format!("{ty} (*{name}){rows}"));
        }
    }
    let mut text = prelude(&[&reference, &tuned]);
    text += "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n";
    for (function, body) in [("reference", &reference), ("tuned", &tuned)] {
        let _ = writeln!(
            text,
            "__attribute__((noinline)) void {function}({})\n{{\n{locals}    {body}\n{stores}}}\n",
            parameters.join(", ")
        );
    }
    text += DRIVER;
    text += "static unsigned state = 12345;\nstatic double draw(void) { state = state * 1664525u + 1013904223u; \
             return (state >> 8) / 16777216.0; }\nint main(int argc, char **argv)\n{\n    double worst = 0;\n    (void)argc;\n";
    for (k, s) in program.symbols.values().enumerate() {
        let _ = writeln!(text, "    {} {} = atol(argv[{}]);", s.ty.c_name(), s.name, k + 1);
    }
    let mut calls = [names.clone(), names];
    for a in &arrays {
        let ty = a.element.c_name();
        let name = &a.name;
        let n: String = a
            .shape
            .iter()
            .map(|e| format!(" * {}", extent(program, e.as_ref().expect("a known extent"))))
            .collect();
        let value = if a.element.is_float() { "draw() - 0.5" } else { "draw() * 10" };
        let _ = writeln!(
            text,
            "    long {name}_n = 1{n}; {ty} *{name}_1 = malloc({name}_n * sizeof({ty}) + 1), \
             *{name}_2 = malloc({name}_n * sizeof({ty}) + 1);\n    \
             for (long x = 0; x < {name}_n; x++) {name}_1[x] = {name}_2[x] = ({ty})({value});"
        );
        calls[0].push(format!("(void *){name}_1"));
        calls[1].push(format!("(void *){name}_2"));
    }
    let _ = writeln!(text, "    reference({});\n    tuned({});", calls[0].join(", "), calls[1].join(", "));
    // Thread-private variables are lost after the team.
    let is_lost = |a: &oxeye_ir::Array| binding.teams.values().any(|t| t.own.contains(&a.id));
    for a in arrays.iter().filter(|a| !is_lost(a)) {
        let name = &a.name;
        let _ = writeln!(
            text,
            "    for (long x = 0; x < {name}_n; x++) {{ double d = fabs((double){name}_1[x] - (double){name}_2[x]) / \
             (1 + fabs((double){name}_1[x])); if (!(d <= worst)) worst = d; }}"
        );
    }
    text += "    printf(\"%.3e\\n\", worst);\n    return 0;\n}\n";
    text
}

/// Checks that N1 computes what N0 computes with every compiler: with threads and all optimisation, and without.
pub(crate) fn same_results(text: &str, sizes: &[&[(&str, i64)]]) {
    let bound = Bound::parse(text).expect("the test's program");
    let program = &bound.program;
    let arguments: Vec<Vec<String>> = sizes
        .iter()
        .map(|sizes| {
            let size = |s: &oxeye_ir::Symbol| sizes.iter().find(|(n, _)| *n == s.name).expect("a size").1;
            program.symbols.values().map(|s| size(s).to_string()).collect()
        })
        .collect();
    // A team's nest is for several threads even if there is only one.
    let alone = if program.threads.is_empty() { 1 } else { 2 };
    let old = old_style(&bound);
    for compiler in COMPILERS.iter().filter(|c| has(c)) {
        let done =
            run_with(compiler, &["-std=gnu89", "-fopenmp", "-Werror=declaration-after-statement"], &old, &[]);
        done.unwrap_or_else(|e| panic!("{e}"));
    }
    let builds: [(u32, &[&str], bool); 5] = [
        (2, &["-O3", "-march=native", "-ffast-math", "-fopenmp"], false),
        (alone, &["-O1"], false),
        (2, &["-O1", "-fopenmp"], false),
        (2, &["-O1", "-g", "-march=native", "-ffast-math", "-fopenmp"], true),
        (alone, &["-O1", "-g"], true),
    ];
    for (k, (threads, flags, is_checked)) in builds.into_iter().enumerate() {
        let options = RenderOptions {
            declarations_first: k % 2 == 0,
            reassociate: true,
            threads,
            indent: 4,
            comment: vec!["test".into()],
            // For a team, there is no fallback text.
            original: (!program.threads.is_empty()).then(|| "abort();".to_owned()),
            checks: is_checked.then(|| "test".to_owned()),
            ..RenderOptions::default()
        };
        let source = driver_of(&bound, &options);
        for compiler in COMPILERS.iter().filter(|c| has(c)) {
            for output in run_with(compiler, flags, &source, &arguments).unwrap_or_else(|e| panic!("{e}")) {
                let worst: f64 = output.trim().parse().expect("a number");
                assert!(worst < 1e-5, "{compiler} {flags:?}: {worst}\n{source}");
            }
        }
    }
}

/// The functions of the driver in the style of dialects from before 1999, and nothing else of it.
fn old_style(bound: &Bound) -> String {
    let options = RenderOptions {
        declarations_first: true,
        reassociate: true,
        threads: 2,
        original: (!bound.program.threads.is_empty()).then(|| "abort();".to_owned()),
        ..RenderOptions::default()
    };
    let text = driver_of(bound, &options);
    let (functions, _) = text.split_once(DRIVER).expect("is there");
    format!("{functions}int main(void) {{ return 0; }}\n")
}

/// The rendered text of N1.
pub(crate) fn rendered(text: &str, options: &RenderOptions) -> String {
    let Bound { program, binding } = Bound::parse(text).expect("the test's program");
    render_nest(&program, &binding, &tuned_nest(&program), options).expect("renders")
}

/// N1 as a transformed N0.
fn tuned_nest(program: &Program) -> Nest {
    Nest { id: program.nests[0].id, ..program.nests[1].clone() }
}
