//! Files that a file includes.

use oxeye_frontend::{MovedFile, ReadOptions, Unit, includes, read_c, redirected};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

fn options(folder: &Path) -> ReadOptions {
    ReadOptions { compiler: "gcc".into(), owned: Some(folder.to_owned()), ..ReadOptions::default() }
}

/// Reads the first of these files, the others being the user's own as well.
fn read(folder: &Path, files: &[(&str, &str)]) -> Unit {
    write(folder, files);
    read_c(&folder.join(files[0].0), &options(folder)).expect("can be read")
}

/// Functions with their nests: where these stand, and their text there.
fn nests(unit: &Unit) -> Vec<String> {
    let mut found = Vec::new();
    for function in &unit.functions {
        for span in function.program.nests.values().filter_map(|nest| nest.span) {
            let (file, place) = unit.included.place(span).expect("of one file");
            let file = &unit.included.files()[file];
            assert_eq!(file.text[place.start..place.end], unit.source[span.start..span.end]);
            assert_eq!(file.text[..place.start].matches('\n').count() as u32 + 1, place.line);
            found.push(format!("{} {}", function.name, unit.included.line(span.line)));
        }
    }
    found
}

const MAIN_C: &str = "#include <stddef.h>
#include \"sizes.h\"
#define FACTOR 2
static void before(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = SIZE;
}
#include \"operators/apply.c\"
#include \"tools.h\"
static void behind(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] += FACTOR;
}
int main(void) { return 0; }
";
const APPLY_C: &str = "/* Includes what stands beside it. */
#include \"shift.h\"
#include \"../tools.h\"
void apply(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= FACTOR + SHIFT;
}
";
const TOOLS_H: &str = "#pragma once
#ifdef __cplusplus
extern \"C\" {
#endif
static inline void tool(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] -= 1;
}
#ifdef __cplusplus
}
#endif
";
const FILES: [(&str, &str); 5] = [
    ("main.c", MAIN_C),
    ("operators/apply.c", APPLY_C),
    ("operators/shift.h", "#define SHIFT 3\n"),
    ("tools.h", TOOLS_H),
    ("sizes.h", "#ifndef SIZE\n#define SIZE 8\n#endif\n"),
];

#[test]
fn loops_stand_where_they_stand() {
    let folder = tempfile::tempdir().expect("a folder");
    let unit = read(folder.path(), &FILES);
    assert_eq!(nests(&unit), ["before 6", "tool tools.h:7", "apply operators/apply.c:6", "behind 13"]);
    assert_eq!(unit.own, MAIN_C);
    assert!(unit.has_main);
    // Whoever includes them may have other macros.
    let apply = unit.functions.iter().find(|f| f.name == "apply").expect("read");
    let conditions: Vec<&String> = apply.conditions.values().flat_map(|c| &c.preprocessor).collect();
    assert_eq!(conditions, ["(FACTOR) == 2", "(SHIFT) == 3"]);
    let tool = unit.functions.iter().find(|f| f.name == "tool").expect("read");
    let conditions: Vec<&String> = tool.conditions.values().flat_map(|c| &c.preprocessor).collect();
    assert_eq!(conditions, ["!defined(__cplusplus)"]);
    // The text is a source like the file.
    let text = folder.path().join("whole.c");
    std::fs::write(&text, &unit.source).expect("a file");
    let mut gcc = Command::new("gcc");
    gcc.args(["-Wall", "-Wno-unused", "-Werror", "-c", "-o"]).arg(folder.path().join("whole.o")).arg(&text);
    assert!(gcc.status().expect("gcc").success(), "{}", unit.source);
}

#[test]
fn what_is_not_changed_goes_back_into_its_include() {
    let folder = tempfile::tempdir().expect("a folder");
    let unit = read(folder.path(), &FILES);
    let all = unit.included.folded(&unit.source, |_| false);
    assert_eq!(all.text, MAIN_C);
    let apply = unit.included.files().iter().position(|file| file.name == "operators/apply.c");
    let one = unit.included.folded(&unit.source, |file| Some(file) == apply);
    assert!(one.text.contains("/* operators/apply.c: */\n/* Includes what"), "{}", one.text);
    assert!(one.text.contains("#include \"operators/shift.h\""), "{}", one.text);
    assert!(one.text.contains("#include \"operators/../tools.h\""), "{}", one.text);
    for function in &unit.functions {
        if function.name == "tool" {
            continue;
        }
        let span = function.program.nests.values().find_map(|nest| nest.span).expect("from a file");
        let moved = one.span(span);
        assert_eq!(one.text[moved.start..moved.end], unit.source[span.start..span.end]);
    }
}

#[test]
fn only_what_is_owned_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &FILES);
    let path = folder.path().join("main.c");
    let options = options(&folder.path().join("operators"));
    let unit = read_c(&path, &options).expect("can be read");
    assert_eq!(nests(&unit), ["before 6", "apply operators/apply.c:6", "behind 13"]);
    let closed = BTreeSet::from([folder.path().join("operators/apply.c").canonicalize().expect("there")]);
    let unit = read_c(&path, &ReadOptions { closed, ..options }).expect("can be read");
    assert_eq!(nests(&unit), ["before 6", "behind 13"]);
    let unit = read_c(&path, &ReadOptions { compiler: "gcc".into(), ..ReadOptions::default() });
    assert_eq!(nests(&unit.expect("can be read")), ["before 6", "behind 13"]);
}

#[test]
fn what_may_mean_several_things_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let template = "void NAME(int n, T *x)\n{\n    for (int i = 0; i < n; i++)\n        x[i] = 1;\n}\n";
    let body = "for (int i = 0; i < n; i++)\n    x[i] += 1;\n";
    let main = "#define NAME one\n#define T float\n#include \"template.h\"\n#undef NAME\n#undef T\n#define NAME two\n#define T double\n\
                #include \"template.h\"\n\
                void f(int n, double *x)\n{\n#include \"body.h\"\n    for (int i = 0; i < n; i++)\n        x[i] *= 2;\n}\n";
    let unit = read(folder.path(), &[("main.c", main), ("template.h", template), ("body.h", body)]);
    assert_eq!(nests(&unit), ["f 12"]);
    let said: Vec<String> = unit.diagnostics.iter().map(|d| unit.rendered(d)).collect();
    let said = said.join("\n");
    assert!(said.contains("template.h is included 2 times") && said.contains("main.c:3"), "{said}");
    assert!(said.contains("body.h is included inside a function"), "{said}");
}

#[test]
fn diagnostics_name_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let odd =
        "void odd(int n, double *x)\n{\n    for (int i = 0; i < n; i++)\n        asm volatile(\"\");\n}\n";
    let unit = read(folder.path(), &[("main.c", "\n#include \"odd.c\"\nint a;\n"), ("odd.c", odd)]);
    let said: Vec<String> = unit.diagnostics.iter().map(|d| unit.rendered(d)).collect();
    assert!(said.iter().any(|text| text.contains("odd.c:4") && text.contains("odd.c:3 stays")), "{said:?}");
}

#[test]
fn changed_files_are_included_from_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &FILES);
    let main = folder.path().join("main.c");
    let known = includes(&main, "gcc", &[]).expect("preprocessed");
    assert_eq!(known.len(), 4);
    let tools = folder.path().join("tools.h").canonicalize().expect("there");
    let apply = folder.path().join("operators/apply.c").canonicalize().expect("there");
    let changed = BTreeMap::from([
        (tools, TOOLS_H.replace("-= 1", "-= 7")),
        (apply, APPLY_C.replace("x[i] *=", "x[i] -=")),
    ]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (text, moved) = redirected(&main, "gcc", &[], &changed, elsewhere.path()).expect("preprocessed");
    for MovedFile { path, text, .. } in &moved {
        std::fs::write(path, text).expect("a file");
    }
    assert_eq!(moved.len(), 2);
    let unit = elsewhere.path().join("unit.c");
    std::fs::write(&unit, text).expect("a file");
    let mut gcc = Command::new("gcc");
    let seen = gcc.arg("-iquote").arg(folder.path()).args(["-E", "-P"]).arg(&unit).output().expect("gcc");
    let seen = String::from_utf8_lossy(&seen.stdout);
    assert!(seen.contains("x[i] -= 7") && seen.contains("x[i] -= 2 + 3"), "{seen}");
    assert_eq!(seen.matches("void tool").count(), 1, "{seen}");
}
