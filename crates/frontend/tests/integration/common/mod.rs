//! Reads C from text.

use oxeye_binding::{OwnText, RowForm};
use oxeye_codegen::{RenderOptions, Site, render_nest, replay_unit, tuned_file};
use oxeye_frontend::{Function, ReadOptions, Unit, read_c};
use oxeye_ir::{Nest, Node};
use std::path::Path;
use std::process::Command;

/// Reads `source` with these options.
pub(crate) fn read_with(source: &str, options: &ReadOptions) -> Unit {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    std::fs::write(&path, source).expect("a file");
    read_c(&path, options).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// Reads `source`.
pub(crate) fn read(source: &str) -> Unit {
    read_with(source, &ReadOptions::default())
}

/// The programs and diagnostics of `source` as text.
pub(crate) fn shown(source: &str) -> String {
    show(&read(source))
}

/// Programs and diagnostics as text.
pub(crate) fn show(unit: &Unit) -> String {
    let mut out = String::new();
    for function in &unit.functions {
        assert_eq!(oxeye_ir::verify(&function.program), Ok(()), "{}", function.program);
        assert_eq!(
            oxeye_binding::verify(&function.program, &function.binding),
            Ok(()),
            "{}",
            function.program
        );
        out += &function.binding.display(&function.program);
    }
    for diagnostic in &unit.diagnostics {
        out += &diagnostic.render(Path::new("t.c"), &unit.source);
        out += "\n";
    }
    out
}

/// Compiles C; reports what went wrong.
fn compile(source: &Path, output: &Path, args: &[&str]) {
    compile_by("gcc", source, output, args);
}

fn compile_by(compiler: &str, source: &Path, output: &Path, args: &[&str]) {
    let done = Command::new(compiler)
        .args(args)
        .arg("-o")
        .arg(output)
        .arg(source)
        .arg("-lm")
        .output()
        .expect("the compiler runs");
    let text = std::fs::read_to_string(source).unwrap_or_default();
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
}

const SANITIZERS: &[&str] = &[
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-Wall",
    "-Werror",
    "-Wno-unused",
];

/// Renders all `n_nests` nests of a program, and compares the output with that of the original for these sizes under
/// the sanitizers.
pub(crate) fn same_output(program: &str, n_nests: usize, sizes: &[&str]) {
    same_output_by(program, n_nests, sizes, ("gcc", SANITIZERS));
}

/// The same with a compiler and its flags.
pub(crate) fn same_output_by(
    program: &str,
    n_nests: usize,
    sizes: &[&str],
    (compiler, flags): (&str, &[&str]),
) {
    let source = format!("#include <stdio.h>\n#include <stdlib.h>\n{program}");
    let unit = read_with(&source, &ReadOptions::default());
    same_output_of(&unit, n_nests, sizes, (compiler, flags));
}

/// As [`same_output`], with the groups of all functions but `main` as nests; `n_groups` is how many there are.
pub(crate) fn same_output_of_groups(program: &str, n_groups: usize, sizes: &[&str]) {
    same_output_of_groups_by(program, n_groups, sizes, ("gcc", SANITIZERS));
}

/// The same, by a compiler with flags.
pub(crate) fn same_output_of_groups_by(program: &str, n_groups: usize, sizes: &[&str], by: (&str, &[&str])) {
    same_output_of(&grouped(program), n_groups, sizes, by);
}

/// As [`replays_agree`], with the groups of the functions.
pub(crate) fn replays_of_groups_agree(program: &str, functions: &[&str]) {
    replays_of_unit_agree(&grouped(program), functions, &[]);
}

/// A program in which the first group of each function but `main` is its only nest.
fn grouped(program: &str) -> Unit {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    std::fs::write(&path, format!("#include <stdio.h>\n#include <stdlib.h>\n{program}")).expect("a file");
    let options = ReadOptions::default();
    let mut unit = read_c(&path, &options).expect("can be read");
    let functions = std::mem::take(&mut unit.functions);
    for function in functions {
        let group = function.group_spans().next().filter(|_| function.name != "main");
        let Some(group) = group else {
            unit.functions.push(function);
            continue;
        };
        let read = unit.group(&options, &function.name, &[], group).expect("can be read").expect("a group");
        let mut function = read.function;
        function.program.nests.retain(|id, _| read.nests.contains(id));
        unit.functions.push(function);
    }
    unit
}

/// Counts, in the rendered program, how often original text ran: `expect(n)` ends the program if that is not `n` times.
const COUNT: &str = "#include <stdio.h>
#include <stdlib.h>
static int n_fell_back;
static void expect(int n)
{
#ifdef TUNED
    if (n_fell_back != n) {
        fprintf(stderr, \"%d instead of %d\\n\", n_fell_back, n);
        exit(1);
    }
#endif
}
";

/// As [`same_output`], with all rows behind pointers reached through their pointers. The program may say with `expect` how
/// often the nests outside of `main` must have run as they were. In the function `turned`, two loops are interchanged.
pub(crate) fn same_output_apart(program: &str, n_nests: usize, sizes: &[&str]) {
    let mut unit = read_with(&format!("{COUNT}{program}"), &ReadOptions::default());
    reach_rows(&mut unit);
    for function in unit.functions.iter_mut().filter(|f| f.name == "turned") {
        function.program.nests.values_mut().for_each(interchange);
    }
    same_output_of(&unit, n_nests, sizes, ("gcc", SANITIZERS));
}

/// Lets all nests reach rows behind pointers through the pointers.
pub(crate) fn reach_rows(unit: &mut Unit) {
    for function in &mut unit.functions {
        let tests = function.binding.entries.values_mut().flat_map(|entry| &mut entry.rows);
        tests.for_each(|test| test.form = RowForm::Apart);
    }
}

fn interchange(nest: &mut Nest) {
    let [Node::Loop(outer)] = nest.roots.as_mut_slice() else { panic!("one loop") };
    let body = std::mem::take(&mut outer.body);
    let [Node::Loop(inner)] = body.as_slice() else { panic!("two loops") };
    let mut inner = inner.clone();
    let body = std::mem::take(&mut inner.body);
    inner.body = vec![Node::Loop(oxeye_ir::Loop { body, ..outer.clone() })];
    nest.roots = vec![Node::Loop(inner)];
}

fn same_output_of(unit: &Unit, n_nests: usize, sizes: &[&str], (compiler, flags): (&str, &[&str])) {
    let source = unit.source.clone();
    let folder = tempfile::tempdir().expect("a folder");
    let mut replacements = Vec::new();
    let (mut n_found, mut replays) = (0, Vec::new());
    for function in &unit.functions {
        for nest in function.program.nests.values() {
            let span = nest.span.expect("from a file");
            let original = unit.source[span.start..span.end].to_owned();
            let options = RenderOptions { original: Some(original.clone()), ..RenderOptions::default() };
            let mut text =
                render_nest(&function.program, &function.binding, nest, &options).expect("can be written");
            if source.starts_with(COUNT) && function.name != "main" {
                text = text.replacen("} else {", "} else { n_fell_back++;", 1);
            }
            if function.name != "main" {
                n_found += 1;
                if flags != SANITIZERS {
                    replacements.push((span, text));
                    continue;
                }
                let site = site_of(function, nest);
                replays.push(replay_unit(&unit.source, &site, &original));
                replays.push(replay_unit(&unit.source, &site, &text));
            }
            replacements.push((span, text));
        }
    }
    let words: Vec<_> = unit.diagnostics.iter().map(|d| d.render(Path::new("t.c"), &unit.source)).collect();
    assert_eq!(n_found, n_nests, "{}", words.join("\n"));
    let path = |name: &str| folder.path().join(name);
    for replay in &replays {
        std::fs::write(path("replay.c"), replay).expect("a file");
        compile(&path("replay.c"), &path("replay.so"), &["-O1", "-shared", "-fPIC", "-w"]);
    }
    for (name, text) in [("original", unit.own.clone()), ("tuned", tuned_file(&source, &replacements, &[]))] {
        let file = path(&format!("{name}.c"));
        std::fs::write(&file, text).expect("a file");
        let define = if name == "tuned" { "-DTUNED" } else { "-UTUNED" };
        compile_by(compiler, &file, &path(name), &[flags, &[define]].concat());
    }
    for size in sizes {
        let output = |name: &str| {
            let done = Command::new(path(name)).arg(size).output().expect("the program runs");
            let words = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(
                done.status.success(),
                "{name} {size}: {words}\n{}",
                tuned_file(&source, &replacements, &[])
            );
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        let (expected, found) = (output("original"), output("tuned"));
        assert_eq!(expected, found, "size {size}\n{}", tuned_file(&source, &replacements, &[]));
        assert!(!expected.is_empty(), "the program prints something");
    }
}

/// Sizes to run programs with.
pub(crate) const SIZES: &[&str] = &["0", "1", "2", "13", "64"];

/// Replays the first nests of these functions, original and rendered, on buffers of 14,700 elements and scalars with
/// the value 5, and compares the final arrays of `double`.
pub(crate) fn replays_agree(program: &str, functions: &[&str]) {
    replays_agree_with(program, functions, &[]);
}

/// The same for programs that are compiled with these flags.
pub(crate) fn replays_agree_with(program: &str, functions: &[&str], flags: &[&str]) {
    let args = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let options = ReadOptions { args, ..ReadOptions::default() };
    let unit = read_with(&format!("#include <stdio.h>\n#include <stdlib.h>\n{program}"), &options);
    replays_of_unit_agree(&unit, functions, flags);
}

/// The same with all rows behind pointers reached through their pointers.
pub(crate) fn replays_agree_apart(program: &str, functions: &[&str]) {
    let mut unit = read(&format!("#include <stdio.h>\n#include <stdlib.h>\n{program}"));
    reach_rows(&mut unit);
    replays_of_unit_agree(&unit, functions, &[]);
}

fn replays_of_unit_agree(unit: &Unit, functions: &[&str], flags: &[&str]) {
    for name in functions {
        let function = unit.functions.iter().find(|f| f.name == *name).expect("is there");
        let nest = function.program.nests.values().next().expect("a nest");
        let (mut places, mut sums) = (String::new(), String::new());
        for (k, argument) in
            oxeye_codegen::arguments(&function.program, &function.binding, nest).iter().enumerate()
        {
            let ty = argument.element.c_name();
            if argument.is_buffer {
                places += &format!(
                    "static {ty} x{k}[14700]; for (int i = 0; i < 14700; i++) x{k}[i] = i % 17; args[{k}] = x{k};\n"
                );
                if argument.element == oxeye_ir::ScalarType::F64 {
                    sums += &format!("for (int i = 0; i < 14700; i++) sum += x{k}[i] * (i % 7);\n");
                    sums += "printf(\"%.17g\\n\", sum);\n";
                }
            } else {
                places += &format!("static {ty} x{k} = 5; args[{k}] = &x{k};\n");
            }
        }
        let driver = format!(
            "#include <stdio.h>\nvoid oxeye_replay(void **args);\nint main(void)\n{{\nvoid *args[32];\ndouble sum = 0;\n\
             {places}oxeye_replay(args);\n{sums}return 0;\n}}\n"
        );
        let [original, tuned] = replayed(unit, function, nest, &driver, flags);
        assert_eq!(original, tuned, "{name}");
        assert!(!original.is_empty(), "{name}");
    }
}

/// The output of a driver that runs the replay of a nest, original and rendered.
fn replayed(unit: &Unit, function: &Function, nest: &Nest, driver: &str, flags: &[&str]) -> [String; 2] {
    let span = nest.span.expect("from a file");
    let original = unit.source[span.start..span.end].to_owned();
    let options = RenderOptions { original: Some(original.clone()), ..RenderOptions::default() };
    let tuned = render_nest(&function.program, &function.binding, nest, &options).expect("can be written");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("driver.c"), driver).expect("a file");
    compile(&path("driver.c"), &path("driver.o"), &["-O1", "-c", "-w"]);
    [original, tuned].map(|body| {
        let text = replay_unit(&unit.source, &site_of(function, nest), &body);
        std::fs::write(path("replay.c"), text).expect("a file");
        compile(
            &path("replay.c"),
            &path("replay.o"),
            &[&["-O1", "-c", "-w", "-Dmain=program"], flags].concat(),
        );
        let mut link = Command::new("gcc");
        link.args(["driver.o", "replay.o", "-lm", "-o", "replay"]).args(flags).current_dir(folder.path());
        let linked = link.output().expect("gcc runs");
        assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
        let run = Command::new(path("replay")).output().expect("runs");
        assert!(run.status.success(), "{body}");
        String::from_utf8_lossy(&run.stdout).into_owned()
    })
}

/// The nest as what makes replays takes it.
pub(crate) fn site_of<'u>(function: &'u Function, nest: &'u Nest) -> Site<'u> {
    let own_text = function.own_texts.get(&nest.id).unwrap_or(OwnText::none());
    let never_called = &function.never_called[&nest.id];
    Site {
        id: 0,
        program: &function.program,
        binding: &function.binding,
        nest,
        function: function.span,
        own_text,
        never_called,
        constants: &[],
        are_apart: false,
        before: "",
    }
}
