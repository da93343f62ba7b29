//! Malformed and hostile inputs: a clear error or a report each time, no panic, no half-written file, no changed input,
//! no wrong result.

use oxeye_tests::Playground;
use oxeye_tests::hostile::{Checked, Hostile};

/// One test for each file in `tests/hostile`.
macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            Hostile::load(stringify!($name)).check();
        })*

        #[test]
        fn every_file_has_a_test() {
            let folder = oxeye_tests::repository().join("tests/hostile");
            let names = [$(stringify!($name)),*];
            for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
                let path = entry.path();
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                assert!(stem.ends_with(".oxeye") || names.contains(&stem.as_str()), "{stem}");
            }
        }
    };
}

files! {
    aborts
    atomics
    c89_pedantic
    calls
    changing_bounds
    control_flow
    crashes
    denormals
    early_exits
    empty
    exits_in_a_nest
    exits_with_1
    extensions
    forks
    gotos
    in_main
    included_body
    indirect
    integer_reductions
    k_and_r
    main_elsewhere_missing
    malloc_fails
    macros_of_a_function
    many_sizes
    missing_header
    nan_and_inf
    nasty_names
    negative_sizes
    never_ends
    never_overlapping_pointers
    no_loops
    not_c
    odd_counters
    odd_layout
    old_style
    overlapping_pointers
    periodic_borders
    pointers
    pragmas
    pragmas_without_openmp
    prints_a_lot
    prints_random
    prints_time
    reads_stdin
    recursion
    speculation
    strict_warnings
    structs
    threads
    tiles_in_registers
    truncated
    type_punning
    types
    unbalanced
    uninitialised
    unused_pointers
    volatiles
    wrap_around
    writes_files
    wrong_restrict
    zero_sizes
    zero_trips
}

/// Whatever a measurement would choose compiles as the file does, and does the same.
#[test]
fn tuned_text_is_in_the_dialect_of_the_file() {
    const DIALECTS: [&str; 7] = [
        "-std=c89 -pedantic-errors -Wall -Wextra -Werror -Wno-error=unknown-pragmas",
        "-ansi",
        "-std=gnu90 -Werror=declaration-after-statement -fgnu89-inline",
        "-std=gnu89 -funsigned-char -fno-common",
        "-std=iso9899:199409 -pedantic-errors -fsigned-char",
        "-std=c99 -Wvla -Wdeclaration-after-statement -Werror -Wno-error=unknown-pragmas",
        "-std=gnu17 -Wall -Wextra -Werror -Wno-error=unknown-pragmas",
    ];
    for flags in DIALECTS {
        for name in ["old_style", "c89_pedantic"] {
            Hostile::load(name).compiled_by(&format!("gcc -O1 {flags}")).check_versions();
        }
    }
    Hostile::load("k_and_r").check_versions();
}

/// A program with a nest worth tuning.
const PROGRAM: &str = "#include <stdio.h>
static double a[90][90], b[90][90];
int main(void)
{
    for (int t = 0; t < 30; t++)
        for (int j = 0; j < 90; j++)
            for (int i = 0; i < 90; i++)
                a[i][j] = a[i][j] * 0.5 + b[i][j] + t;
    printf(\"%.9e\\n\", a[3][4]);
    return 0;
}
";

/// A function without a program.
const KERNEL: &str = "void scale(int n, int m, double (*restrict a)[m], double (*restrict b)[m], int k)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            a[i][j] = b[i][j] * k;
}
";

/// A run that must fail, and change nothing.
fn refused(playground: &mut Playground, line: &str, words: &[&str]) {
    let before = snapshot(playground);
    let Checked { ran, .. } = playground.hostile(line, Some(2));
    for word in words {
        assert!(ran.stderr.contains(word), "not said: {word}\n{}", ran.stderr);
    }
    assert_eq!(snapshot(playground), before, "{line}");
}

/// Names and contents of the regular files.
fn snapshot(playground: &Playground) -> Vec<(String, Option<Vec<u8>>)> {
    let contents = |name: &String| {
        let path = playground.path(name);
        path.is_file().then(|| std::fs::read(path).expect("readable"))
    };
    playground.files().into_iter().map(|name| (name.clone(), contents(&name))).collect()
}

#[test]
fn files_that_are_none() {
    let mut p = Playground::with("prog.c", PROGRAM);
    std::fs::create_dir(p.path("folder.c")).expect("made");
    assert_eq!(p.shell("mkfifo pipe.c && ln -s nowhere.c dangling.c && ln -s loop.c loop.c").code, Some(0));
    for (file, words) in [
        ("folder.c", "folder.c"),
        ("missing.c", "missing.c"),
        ("missing/prog.c", "missing/prog.c"),
        ("pipe.c", "pipe.c"),
        ("dangling.c", "dangling.c"),
        ("loop.c", "loop.c"),
        ("/dev/null", "/dev/null"),
        ("/dev/zero", "/dev/zero"),
    ] {
        refused(&mut p, &format!("optimize {file} -o out.c -- gcc -O1"), &[words]);
        refused(&mut p, &format!("replay prog.c {file} -o out.c"), &[]);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let mut p = Playground::with("prog.c", PROGRAM);
    p.write("locked.c", "/* mine */\n");
    std::fs::create_dir(p.path("folder")).expect("made");
    assert_eq!(p.shell("chmod 444 locked.c").code, Some(0));
    for (options, word) in [
        ("-o missing/out.c", "missing"),
        ("-o folder", "folder"),
        ("-o locked.c", "locked.c"),
        ("-o /proc/out.c", "/proc"),
        ("-o prog.c/out.c", "prog.c"),
        ("-o out.c --save-recipe missing/r.json", "missing"),
        ("-o out.c --json missing/report.json", "missing"),
        ("-o out.c --json folder", "folder"),
        ("-o out.c --json out.c", "out.c"),
        ("-o out.c --save-recipe out.c", "out.c"),
        ("-o out.c --json prog.c", "prog.c"),
        ("-o out.c --save-recipe ./prog.c", "prog.c"),
        ("-o out.c --save-recipe r.json --json r.json", "r.json"),
    ] {
        refused(&mut p, &format!("optimize prog.c {options} --budget 1s -- gcc -O1"), &[word]);
    }
    refused(&mut p, "optimize prog.c -o /dev/full --budget 1s -- gcc -O1", &["/dev/full"]);
}

#[test]
fn the_input_is_overwritten_only_by_name() {
    let mut p = Playground::with("prog.c", PROGRAM);
    assert_eq!(p.shell("ln -s prog.c link.c && ln prog.c hard.c").code, Some(0));
    for output in ["prog.c", "./prog.c", "link.c"] {
        refused(&mut p, &format!("optimize prog.c -o {output} --budget 1s -- gcc -O1"), &["--in-place"]);
    }
    // Requested in so many words: all or nothing.
    p.hostile("optimize prog.c --in-place --budget 1s -- gcc -O1", Some(0));
    assert!(p.read("prog.c").contains("int main(void)"));
    assert_eq!(p.read("hard.c"), PROGRAM);
    assert_eq!(p.files(), ["hard.c", "link.c", "prog.c"]);
    let ran = p.shell("gcc -fopenmp prog.c -o x && ./x && gcc hard.c -o x && ./x");
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn compilers_that_are_none() {
    let mut p = Playground::with("prog.c", PROGRAM);
    p.write("plain.sh", "#!/bin/sh\necho hello\n");
    p.write("silent.sh", "#!/bin/sh\nexit 0\n");
    p.write(
        "broken.sh",
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo cc 1.0; exit 0; fi\necho broken >&2; exit 7\n",
    );
    p.write(
        "killed.sh",
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo cc 1.0; exit 0; fi\nkill -SEGV $$\n",
    );
    std::fs::create_dir(p.path("folder")).expect("made");
    assert_eq!(p.shell("chmod +x silent.sh broken.sh killed.sh").code, Some(0));
    for (compiler, word) in [
        ("no-such-compiler -O2", "no-such-compiler"),
        ("./folder", "folder"),
        ("./plain.sh", "plain.sh"),
        ("./silent.sh", "silent.sh"),
        ("./broken.sh", "broken"),
        ("./killed.sh", "killed.sh"),
        ("false", "false"),
        ("cat", "cat"),
    ] {
        refused(&mut p, &format!("optimize prog.c --budget 1s -- {compiler}"), &[word]);
    }
}

#[test]
fn wrong_flags() {
    let mut p = Playground::with("prog.c", PROGRAM);
    for (flags, word) in [
        ("-fno-such-flag-here", "no-such-flag"),
        ("-O2 -lnosuchlibrary", "nosuchlibrary"),
        ("-O2 missing.c", "missing.c"),
        ("-O2 missing.o", "missing.o"),
        ("-std=c999", "c999"),
        ("-march=abacus", "abacus"),
        ("-include nosuch.h", "nosuch.h"),
        ("-E", "-E"),
        ("-S", "-S"),
        ("-fsyntax-only", "prog.c"),
        ("-Dint=", "prog.c"),
        ("-", "-"),
        ("@nosuchfile", "nosuchfile"),
    ] {
        refused(&mut p, &format!("optimize prog.c --budget 1s -- gcc {flags}"), &[word]);
    }
    for (options, word) in [
        ("--budget 0s", "budget"),
        ("--budget soon", "soon"),
        ("--threads 0", "threads"),
        ("--threads many", "many"),
        ("--top-k 0", "top-k"),
        ("--set n", "NAME=VALUE"),
        ("--set n=1e99", "1e99"),
        ("--set n=99999999999999999999", "99999999999999999999"),
        ("--input a", "NAME=VALUE"),
        ("--fp sometimes", "sometimes"),
        ("-f nosuchfunction", "nosuchfunction"),
        ("--no-such-option", "no-such-option"),
    ] {
        refused(&mut p, &format!("optimize prog.c {options} -- gcc"), &[word]);
    }
    refused(&mut p, "optimize", &["FILE"]);
    refused(&mut p, "optimise prog.c", &["optimise"]);
}

#[test]
fn sizes_and_inputs_that_do_not_fit() {
    let mut p = Playground::with("kernel.c", KERNEL);
    for (sizes, words) in [
        ("", &["--set"][..]),
        ("--set n=100", &["--set m=", "kernel.c"]),
        ("--set n=100 --set m=100 --set x=3", &["x"]),
        ("--set n=100 --set m=-1 --set k=1", &["`m`", "-1"]),
        ("--set n=2000000000 --set m=2000000000 --set k=1", &["memory"]),
        ("--set n=300000 --set m=300000 --set k=1", &["memory"]),
        ("--set n=9223372036854775807 --set m=9223372036854775807 --set k=1", &["9223372036854775807"]),
        ("--set n=2147483648 --set m=1 --set k=1", &["2147483648", "type"]),
        ("--set n=10 --set m=10 --set k=1 --input z=z.npy", &["z"]),
        ("--set n=10 --set m=10 --set k=1 --input b=missing.npy", &["missing.npy"]),
    ] {
        refused(&mut p, &format!("optimize kernel.c {sizes} --budget 1s -- gcc -O1"), words);
    }
    for sizes in [
        "--set n=0 --set m=0 --set k=1",
        "--set n=0 --set m=7 --set k=0",
        "--set n=1 --set m=1 --set k=-3",
        "--set n=-9 --set m=5 --set k=0",
    ] {
        let checked =
            p.hostile(&format!("optimize kernel.c {sizes} --budget 1s --json - -- gcc -O1"), Some(0));
        assert_eq!(checked.report.expect("a report")["program"]["speedup"], serde_json::Value::Null);
    }
}

#[test]
fn npy_files_that_are_none() {
    let mut p = Playground::with("kernel.c", KERNEL);
    let npy = |header: &str, n_bytes: usize| {
        let header = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(vec![0u8; n_bytes]);
        bytes
    };
    let good = "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }";
    std::fs::create_dir(p.path("folder.npy")).expect("made");
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("empty.npy", Vec::new()),
        ("text.npy", b"1 2 3\n".to_vec()),
        ("magic.npy", b"\x93NUMPY".to_vec()),
        ("header.npy", npy(good, 0)[..40].to_vec()),
        ("short.npy", npy(good, 4799)),
        ("version.npy", b"\x93NUMPY\x09\x00\x76\x00".to_vec()),
        ("type.npy", npy(&good.replace("<f8", "<f4"), 2400)),
        ("endian.npy", npy(&good.replace("<f8", ">f8"), 4800)),
        ("object.npy", npy(&good.replace("<f8", "|O"), 4800)),
        ("shape.npy", npy(&good.replace("(20, 30)", "(30, 20)"), 4800)),
        ("rank.npy", npy(&good.replace("(20, 30)", "(600,)"), 4799)),
        ("huge.npy", npy(&good.replace("(20, 30)", "(18446744073709551615, 18446744073709551615)"), 0)),
        ("negative.npy", npy(&good.replace("(20, 30)", "(-20, -30)"), 4800)),
        ("fortran.npy", npy(&good.replace("False", "True"), 4800)),
        ("garbage.npy", npy("{'descr': [('a', (((((", 4800)),
    ];
    files.push(("folder.npy", Vec::new()));
    let sizes = "--set n=20 --set m=30 --set k=2 --budget 1s";
    for (name, bytes) in files {
        if !p.path(name).is_dir() {
            std::fs::write(p.path(name), bytes).expect("written");
        }
        refused(&mut p, &format!("optimize kernel.c {sizes} --input b={name} -- gcc -O1"), &[name]);
    }
    std::fs::write(p.path("good.npy"), npy(good, 4800)).expect("written");
    p.hostile(&format!("optimize kernel.c --quick {sizes} --input b=good.npy -- gcc -O1"), Some(0));
    // The file's shape gives `m`; `n` is in no declaration.
    p.hostile("optimize kernel.c --set k=1 --set n=20 --budget 1s --input b=good.npy -- gcc -O1", Some(0));
}

#[test]
fn recipes_that_do_not_fit() {
    let mut p = Playground::with("prog.c", PROGRAM);
    p.hostile("optimize prog.c --budget 1s --save-recipe good.json -- gcc -O1", Some(0));
    std::fs::remove_file(p.path("prog.oxeye.c")).expect("there");
    p.hostile("replay good.json prog.c -o again.c", Some(0));
    let good = p.read("good.json");
    for (name, text) in [
        ("empty.json", String::new()),
        ("text.json", "hello".into()),
        ("null.json", "null".into()),
        ("list.json", "[1, 2]".into()),
        ("deep.json", "[".repeat(100_000)),
        ("schema.json", good.replace("oxeye.recipe/1", "oxeye.recipe/99")),
        ("cut.json", good[..good.len() / 2].to_owned()),
        ("threads.json", good.replace("\"threads\": ", "\"threads\": -")),
    ] {
        p.write(name, &text);
        refused(&mut p, &format!("replay {name} prog.c -o out.c"), &[name]);
    }
    p.write("other.c", "int main(void) { return 0; }\n");
    let nest = r#"{"function": "main", "ordinal": ORDINAL, "line": 1, "name": "x", "recipe": []}"#;
    let with = |ordinal: &str| {
        let mut value: serde_json::Value = serde_json::from_str(&good).expect("JSON");
        value["nests"] =
            serde_json::json!([
                serde_json::from_str::<serde_json::Value>(&nest.replace("ORDINAL", ordinal)).expect("JSON")
            ]);
        value.to_string()
    };
    for ordinal in ["7", "18446744073709551615"] {
        p.write("ordinal.json", &with(ordinal));
        refused(&mut p, "replay ordinal.json prog.c -o out.c", &["main"]);
        refused(&mut p, "replay ordinal.json other.c -o out.c", &["main"]);
    }
    refused(&mut p, "replay good.json prog.c -o missing/out.c", &["missing"]);
    refused(&mut p, "replay missing.json prog.c", &["missing.json"]);
}

/// Bytes that are not UTF-8, byte order marks, and foreign line ends are kept.
#[test]
fn odd_bytes() {
    let latin = PROGRAM.replace("int main", "/* Gr@@e */ int main").replace("\\n\"", "@@\\n\"");
    let latin: Vec<u8> = latin.bytes().map(|b| if b == b'@' { 0xfc } else { b }).collect();
    let odd: Vec<(&str, Vec<u8>)> = vec![
        ("latin1", latin),
        ("crlf", PROGRAM.replace('\n', "\r\n").into_bytes()),
        ("bom", format!("\u{feff}{PROGRAM}").into_bytes()),
        ("crlf_bom", format!("\u{feff}{}", PROGRAM.replace('\n', "\r\n")).into_bytes()),
        ("tabs", PROGRAM.replace("    ", "\t").replace("for (", "for\t(\x0c\x0b").into_bytes()),
        ("no_final_newline", PROGRAM.trim_end().as_bytes().to_vec()),
        ("one_line", PROGRAM.replacen('\n', "@", 1).replace('\n', " ").replacen('@', "\n", 1).into_bytes()),
        ("umlauts", PROGRAM.replace("a[", "größe[").into_bytes()),
    ];
    for (name, bytes) in odd {
        let mut p = Playground::new();
        let file = format!("{name}.c");
        std::fs::write(p.path(&file), &bytes).expect("written");
        let checked = p.hostile(&format!("optimize {file} --budget 1s --json - -- gcc -O1"), None);
        assert_eq!(std::fs::read(p.path(&file)).expect("there"), bytes, "{name}");
        if checked.ran.code != Some(0) {
            assert_eq!(p.files(), [file], "{name}");
            continue;
        }
        let tuned = std::fs::read(p.path(&format!("{name}.oxeye.c"))).expect("written");
        // Everything before and after the nest is the user's.
        let find =
            |text: &[u8], word: &[u8]| text.windows(word.len()).position(|w| w == word).expect("there");
        let (head, tail) = (find(&bytes, b"for"), find(&bytes, b"printf(\""));
        if tuned != bytes {
            let own = find(&tuned, b"printf(\"");
            assert_eq!(tuned[own..], bytes[tail..], "{name}");
            let start = find(&bytes, b"static double");
            assert!(tuned.windows(head - start).any(|w| *w == bytes[start..head]), "{name}");
        }
        let ran = p.shell(&format!("gcc {file} -o x && ./x && gcc -fopenmp {name}.oxeye.c -o y && ./y"));
        let lines: Vec<_> = ran.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{name}: {}", ran.stderr);
        assert_eq!(lines[0], lines[1], "{name}");
    }
    for (name, bytes) in [
        ("nul.c", b"int main(void)\0{ return 0; }\n".to_vec()),
        ("binary.c", (0..=255).collect()),
        ("utf16.c", PROGRAM.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ] {
        let mut p = Playground::new();
        std::fs::write(p.path(name), &bytes).expect("written");
        p.hostile(&format!("optimize {name} --budget 1s -- gcc -O1"), None);
        assert_eq!(std::fs::read(p.path(name)).expect("there"), bytes);
    }
}

fn generated(name: &str, source: String) {
    Hostile::parse(name, &source).check();
}

#[test]
fn a_very_long_file() {
    let mut source = String::from("#include <stdio.h>\nstatic double a[64], b[64];\n");
    for k in 0..400 {
        source += &format!(
            "static void f{k}(void)\n{{\n    for (int i = 0; i < 64; i++)\n        a[i] += b[i] * {k};\n}}\n"
        );
    }
    for k in 0..20_000 {
        source += &format!(
            "/* line {k} of a very long story */\nstatic const int unused{k} __attribute__((unused)) = {k};\n"
        );
    }
    source += "int main(void)\n{\n    b[3] = 1;\n";
    for k in 0..400 {
        source += &format!("    f{k}();\n");
    }
    source += "    printf(\"%g\\n\", a[3]);\n    return 0;\n}\n";
    generated("long.c", format!("// compiler: gcc -O0\n{source}"));
}

#[test]
fn very_deep_nests() {
    for depth in [10, 20] {
        let mut source = String::from("#include <stdio.h>\nstatic long a[4][4], n = 1;\nint main(void)\n{\n");
        for k in 0..depth {
            source += &format!("for (int i{k} = 0; i{k} < {}; i{k}++)\n", if k % 5 == 0 { 2 } else { 1 });
        }
        source += &format!("a[i0][i{}] += n;\nprintf(\"%ld\\n\", a[1][0]);\nreturn 0;\n}}\n", depth - 1);
        generated("deep.c", source);
    }
}

#[test]
fn very_deep_expressions() {
    let wrap = |expression: String| {
        format!(
            "#include <stdio.h>\nstatic int a[40][40], x = 1;\nint main(void)\n{{\n    for (int i = 0; i < 40; i++)\n        \
             for (int j = 0; j < 40; j++)\n            a[j][i] += {expression};\n    printf(\"%d\\n\", a[3][4]);\n    return 0;\n}}\n"
        )
    };
    let n = 3000;
    generated("parentheses.c", wrap(format!("{}x{}", "(".repeat(n), ")".repeat(n))));
    generated("sum.c", wrap("i".to_owned() + &" + j * x".repeat(n)));
    generated("minus.c", wrap("- ".repeat(n) + "x"));
    generated("ternary.c", wrap("i == j ? x : ".repeat(300) + "j"));
    let blocks = format!(
        "#include <stdio.h>\nstatic int a[40];\nint main(void)\n{{\n{}for (int i = 0; i < 40; i++) a[i] += i;{}\nprintf(\"%d\\n\", a[3]);\nreturn 0;\n}}\n",
        "{ ".repeat(200),
        " }".repeat(200)
    );
    generated("blocks.c", blocks);
    let chain = format!(
        "#include <stdio.h>\nstatic int a[900];\nint main(void)\n{{\nfor (int i = 0; i < 900; i++)\n{}a[i] = 5;\nprintf(\"%d\\n\", a[3]);\nreturn 0;\n}}\n",
        (0..300).map(|k| format!("if (i == {k}) a[i] += {k}; else ")).collect::<String>()
    );
    generated("chain.c", chain);
    let statements = format!(
        "#include <stdio.h>\nstatic int a[40][40];\nint main(void)\n{{\nfor (int i = 0; i < 40; i++)\nfor (int j = 0; j < 40; j++) {{\n{}}}\nprintf(\"%d\\n\", a[3][7]);\nreturn 0;\n}}\n",
        (0..150).map(|k| format!("a[j][i] += a[(i + {k}) % 40][{}] + {k};\n", k % 40)).collect::<String>()
    );
    generated("statements.c", statements);
}

#[test]
fn standard_output_that_is_closed() {
    let p = Playground::with("prog.c", PROGRAM);
    let binary = oxeye_tests::oxeye_binary().display().to_string();
    let ran = p.shell(&format!(
        "{binary} optimize prog.c --budget 1s --json - -- gcc -O1 2>err.txt | true; cat err.txt"
    ));
    assert!(!ran.stdout.contains("panicked"), "{}", ran.stdout);
    let ran = p.shell(&format!("{binary} optimize prog.c --budget 1s -- gcc -O1 >/dev/full"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: ") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    let ran = p.shell(&format!("{binary} replay prog.c prog.c -o - >/dev/full; {binary} optimize prog.c --budget 1s -- gcc -O1 >&- 2>&-"));
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn no_room_for_temporary_files() {
    let p = Playground::with("prog.c", PROGRAM);
    let before = p.files();
    let mut command = p.oxeye("optimize prog.c --budget 1s -- gcc -O1");
    command.env("TMPDIR", "/no/such/folder");
    let ran = oxeye_tests::Ran::from(command.output().expect("starts"));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("/no/such/folder"), "{}", ran.stderr);
    assert_eq!(p.files(), before);
}
