use super::tests::{command, nest, of_sizes, project_of, report, rewritten};
use crate::terminal::View;
use console::measure_text_width;
use oxeye::{
    Coverage, DiagnosticReport, FileReport, FileShare, GuardReport, LineReport, LoopShare, NestReport,
    NotKept, OutsideShare, ProgramReport, Report, SourceReport, TimeReport, TrialReport, TuneReport,
    Unchanged, Verdict,
};

fn render(
    report: &Report,
    further: &str,
    view: View,
    go_on: &dyn Fn(Option<&str>) -> Option<String>,
) -> String {
    let mut report = report.clone();
    report.count_time();
    super::render(&report, further, view, go_on)
}

fn render_project(report: &TuneReport, command: &str, kept: bool, view: View) -> String {
    let mut report = report.clone();
    report.files.iter_mut().filter_map(|file| file.report.as_mut()).for_each(Report::count_time);
    report.count_time();
    super::render_project(&report, command, kept, view)
}

/// The same nest within others.
fn within(nest: NestReport, others: &[usize]) -> NestReport {
    NestReport { time: TimeReport { within: others.to_vec(), ..nest.time.clone() }, ..nest }
}

/// The same nest with no time that is known.
fn without_share(nest: NestReport) -> NestReport {
    NestReport { time: TimeReport::default(), ..nest }
}

fn view(width: usize) -> View {
    View { width, colour: false, verbose: false }
}

fn file(path: &str, share: f64, changed: bool, report: Report) -> FileReport {
    let report = Report { changed, input: format!("/home/me/{path}").into(), ..report };
    let added = report.build.added.clone();
    FileReport { path: path.into(), share, changed, added, report: Some(report), note: None, help: None }
}

fn program(before: f64, speedup: f64, interval: (f64, f64)) -> ProgramReport {
    ProgramReport {
        baseline_ms: Some(before),
        optimized_ms: Some(before / speedup),
        speedup: Some(speedup),
        speedup_interval: Some(interval),
        verified: true,
        samples: 3,
        compared: vec!["standard output".into()],
        ..ProgramReport::default()
    }
}

fn trouble(line: u32, message: &str, help: Option<&str>) -> DiagnosticReport {
    DiagnosticReport {
        function: Some("f".into()),
        line: Some(line + 1),
        column: None,
        loop_line: Some(line),
        file: None,
        message: message.into(),
        help: help.map(str::to_owned),
    }
}

fn coverage(loops: &[(u32, f64)], elsewhere: f64) -> Coverage {
    let share = |(line, share): &(u32, f64)| LoopShare { line: (*line).into(), share: *share, whole: *share };
    Coverage {
        samples: 500,
        tunable: 0.5,
        loops: loops.iter().map(share).collect(),
        files: vec![],
        elsewhere,
        outside: vec![],
    }
}

/// A nest rewritten by this recipe, with so many lines.
fn tuned(nest: NestReport, speedup: f64, recipe: &str, n_lines: usize) -> NestReport {
    let source = SourceReport { code: Some("x\n".repeat(n_lines)), ..SourceReport::default() };
    NestReport { source, ..rewritten(nest, speedup, recipe, ("stencil", 6, 0.68)) }
}

/// A solver with two nests that got faster, and much that did not.
fn with_gains() -> TuneReport {
    let guard = GuardReport {
        size: "nx * ny".into(),
        least: Some(1e4),
        threads: Some(9e5),
        lengths: vec![],
        known: vec![],
    };
    let step =
        tuned(nest(0, 66, "step", 0.18, Unchanged::NothingFaster), 1.17, "original order, 4 jammed", 40);
    let around = NestReport { id: 3, ..nest(3, 60, "step", 0.2, Unchanged::NothingTried) };
    let mut solver = report(vec![
        NestReport { guard: Some(guard), ..within(step, &[3]) },
        tuned(
            nest(1, 90, "sum", 0.06, Unchanged::NothingFaster),
            3.4,
            "parallel outer loops, tiles in l2/4",
            19,
        ),
        nest(2, 119, "step", 0.24, Unchanged::NothingFaster),
        around,
        within(nest(4, 121, "step", 0.2, Unchanged::NothingTried), &[2]),
        nest(5, 140, "init", 0.001, Unchanged::TooShort),
        NestReport {
            note: Some("the program never gets here".into()),
            ..nest(6, 150, "debug", 0.0, Unchanged::LeftOut)
        },
    ]);
    let at_line_7 = OutsideShare { line: 7.into(), share: 0.03, library: None };
    let times = coverage(&[(12, 0.07), (30, 0.02), (40, 0.001)], 0.03);
    solver.coverage = Some(Coverage { outside: vec![at_line_7], ..times });
    let help = "move the call out of the loop, or give the function's definition in this file";
    solver.diagnostics = vec![
        trouble(40, "a loop with `goto` is not analysed", None),
        trouble(30, "`show` is called, and what it does is not known", Some(help)),
        trouble(12, "`advance` is called, and what it does is not known", Some(help)),
        trouble(12, "the member `n` of a structure is used", None),
    ];
    let mut flux = report(vec![
        nest(0, 52, "flux", 0.05, Unchanged::AtRoof),
        nest(1, 64, "flux", 0.03, Unchanged::AtRoof),
        NestReport { note: Some("1.30x alone".into()), ..nest(2, 80, "flux", 0.04, Unchanged::Dropped) },
    ]);
    flux.notes = vec!["line 80: dropped, since the whole program does not gain from it (0.98x)".into()];
    flux.fp.used = false;
    let late = FileReport {
        path: "src/late.c".into(),
        share: 0.02,
        changed: false,
        added: Vec::new(),
        report: None,
        note: Some("it does not compile".into()),
        help: None,
    };
    TuneReport {
        program: ProgramReport { unstable_numbers: 2, ..program(6140.0, 1.06, (1.03, 1.09)) },
        elsewhere: Some(0.05),
        // The command for a patch depends on where the test is run.
        patch: None,
        folder: Some("tuned".into()),
        ..project_of(vec![
            file("src/solver.c", 0.7, true, solver),
            file("src/flux.c", 0.2, false, flux),
            late,
        ])
    }
}

/// Nothing is faster, in many files that have the same note.
fn many_files() -> TuneReport {
    let files = (0..12).map(|k| {
        let share = 0.09 - 0.005 * f64::from(k);
        let unchanged = [Unchanged::NothingFaster, Unchanged::NothingTried, Unchanged::NoLegalSchedule][k as usize % 3];
        let nests = (0..3).map(|n| nest(n, 40 + 20 * n as u32, "kernel", share / 3.0, unchanged));
        let path = format!("kernels/part_{k}_kernel.c");
        let mut report = report(nests.collect());
        report.fp.used = false;
        report.notes = vec![format!(
            "/home/me/{path} has OpenMP directives that its build leaves off; with -fopenmp it would take too much of the \
             budget to see that it does the same, so one thread is used"
        )];
        file(&path, share, false, report)
    });
    let unchanged = ProgramReport {
        baseline_ms: Some(2780.0),
        optimized_ms: Some(2780.0),
        speedup: Some(1.0),
        samples: 1,
        ..ProgramReport::default()
    };
    TuneReport { program: unchanged, elsewhere: Some(0.25), ..project_of(files.collect()) }
}

/// Nothing of it could be read.
fn nothing_read() -> TuneReport {
    let mut main = report(Vec::new());
    main.fp.used = false;
    main.diagnostics = vec![trouble(144, "the loop's variable `i` is also assigned inside the loop", None)];
    let mut list = report(Vec::new());
    list.fp.used = false;
    let files = vec![file("src/main.c", 0.61, false, main), file("src/list.c", 0.33, false, list)];
    let program = ProgramReport { baseline_ms: Some(5000.0), samples: 1, ..ProgramReport::default() };
    TuneReport { program, elsewhere: Some(0.06), ..project_of(files) }
}

const RUN: &str =
    "./solver --grid 1024 --steps 200 --init deck/long_name_of_a_case.in --output out/fields.h5";

#[test]
fn short_reports_of_projects() {
    for (name, report) in
        [("gains", with_gains()), ("many_files", many_files()), ("nothing_read", nothing_read())]
    {
        for width in [80, 120] {
            let text = render_project(&report, RUN, false, view(width));
            insta::assert_snapshot!(format!("{name}_{width}_columns"), text);
        }
    }
}

#[test]
fn a_patch_is_applied_by_a_command_in_one_line() {
    let report = TuneReport { patch: Some("oxeye.patch".into()), ..with_gains() };
    let text = render_project(&report, RUN, true, view(60));
    let command = format!("\napply: {}", oxeye::apply_command("oxeye.patch".as_ref()));
    assert!(text.contains(&command) && text.contains("solver.c and link with -fopenmp"), "{text}");
    // What is for vector loops alone is no matter of linking.
    let simd = vec!["-fopenmp-simd".to_owned()];
    let mut report = TuneReport { added: simd.clone(), ..report };
    report.files[0].added = simd;
    let text = render_project(&report, RUN, true, view(80));
    assert!(text.contains("build solver.c with -fopenmp-simd"), "{text}");
}

#[test]
fn short_reports_of_files() {
    let [one, ten, _] = of_sizes();
    let nests = vec![nest(0, 31, "f", 0.6, Unchanged::NothingFaster)];
    let mut unchanged = Report { changed: false, nests, ..one.clone() };
    (unchanged.fp.used, unchanged.build.added) = (false, Vec::new());
    unchanged.coverage = Some(Coverage {
        files: vec![FileShare { file: "src/util.c".into(), share: 0.3 }],
        ..coverage(&[], 0.08)
    });
    // Without a program, no time is known.
    let mut kernel = report(vec![
        without_share(of_sizes()[0].nests[0].clone()),
        without_share(nest(1, 60, "g", 0.0, Unchanged::NoLegalSchedule)),
    ]);
    let note = Some("there is no main, so no whole program was run".to_owned());
    kernel.program = ProgramReport { note, ..ProgramReport::default() };
    kernel.diagnostics = vec![trouble(80, "a loop with `goto` is not analysed", None)];
    for (name, report) in [("one", one), ("ten", ten), ("unchanged", unchanged), ("kernel", kernel)] {
        for width in [80, 120] {
            let text = render(&report, "learnt: 5 trials added to my.sqlite\n", view(width), &command);
            insta::assert_snapshot!(format!("file_{name}_{width}_columns"), text);
        }
    }
}

/// A file of which nothing is kept, measured on a busy machine.
fn not_kept(why: &NotKept) -> Report {
    let trial = TrialReport {
        name: "original order".into(),
        recipe: Vec::new(),
        donor: None,
        predicted_speedup: None,
        verdict: Verdict::Dropped,
        screened_ms: None,
        time_ms: None,
        speedup: None,
        why: Some(why.to_string()),
    };
    let dropped = NestReport {
        trials: vec![trial],
        help: Some(why.remedy().into()),
        ..nest(0, 31, "f", 0.9, Unchanged::Dropped)
    };
    let busy = "the machine was busy while it was measured: its ceilings are lower bounds, so no candidate was left out for \
                them, and it is measured again at the next run";
    let mut found = Report { changed: false, notes: vec![busy.into()], ..report(vec![dropped]) };
    (found.program.note, found.program.not_kept) = (Some(why.to_string()), Some(why.clone()));
    (found.fp.used, found.build.added) = (false, Vec::new());
    found
}

#[test]
fn why_nothing_is_kept_comes_first_with_what_would_help() {
    let why = NotKept::MayBeNone(1.32, (0.98, 1.84));
    let text = render(&not_kept(&why), "", view(80), &command);
    for words in [
        "faster alone, not surely in the program: solver.c:31",
        "-> a quiet machine, more --budget for more runs",
        "\nnot kept: the gain of the program, 1.32x (0.98-1.84), may be none",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("\n  1 more note: -v\n") || text.contains("; 1 more note: -v\n"), "{text}");
    // A note that is too long by itself does not hide the others.
    let mut long = not_kept(&why);
    (long.program.note, long.program.not_kept) = (None, None);
    long.notes.push("another".into());
    let last = |text: &str| text.lines().find(|line| line.contains("1 more note: -v")).map(str::len);
    let text = render(&long, "", view(80), &command);
    assert!(last(&text).is_some_and(|n| n <= 80), "{text}");
    // A nest that was dropped before for another reason keeps that.
    let other = Report { program: ProgramReport::default(), ..not_kept(&why) };
    assert!(render(&other, "", view(80), &command).contains("faster alone, not in the program: solver.c:31"));
}

#[test]
fn a_gain_whose_interval_reaches_one_is_noise() {
    let first = |interval| {
        let report = TuneReport { program: program(2000.0, 1.3, interval), ..with_gains() };
        render_project(&report, "./s", false, view(80)).lines().next().expect("a line").to_owned()
    };
    assert_eq!(first((1.1, 1.5)), "./s: 2.00 s -> 1.54 s, 1.30x (1.10-1.50), same output (3 runs each)");
    assert_eq!(first((0.9, 1.7)), "./s: 2.00 s -> 1.54 s, 1.30x (0.90-1.70), within noise, same output");
}

#[test]
fn recipes_are_told_in_plain_words() {
    let told = |recipe: &str, steps: &[&str]| {
        let nest = tuned(nest(0, 31, "f", 0.9, Unchanged::NothingFaster), 2.0, recipe, 9);
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        let one =
            Report { program: program(400.0, 2.0, (1.9, 2.1)), ..report(vec![NestReport { steps, ..nest }]) };
        let text = render(&one, "", view(80), &command);
        let row = text.lines().nth(3).expect("a row").to_owned();
        row.rsplit_once("  ").expect("columns").1.to_owned()
    };
    let shared = ["parallelize L0 dynamic", "vectorize L2"];
    for (recipe, steps, words) in [
        ("original order, dynamic shares", &shared[..], "threads"),
        ("original order, one thread", &shared[1..], "vector loops"),
        (
            "order of the normal form, 4 jammed, one thread",
            &shared[1..],
            "split and reordered, unrolled by 4",
        ),
        ("normal form, memory order", &shared, "split, threads, reordered"),
        (
            "contract, registers:12x1 rows:l2/4..16, AVX2",
            &["contract S1 rows L8 parallel"],
            "packed into blocks, threads, AVX2",
        ),
        ("loop order 1, tiles in l2/4, strips", &shared, "reordered, threads, tiled for L2, strips"),
        (
            "steps of a stencil of 2 loops",
            &["normalize", "interchange L0 L1", "tile L0:8"],
            "interchanged, tiled",
        ),
        ("guard_zeros of source, one thread", &[], "zeros of source skipped"),
        (
            "time tiles of a sweep in rows on a wavefront, with more words than there is room for here",
            &[],
            "time tiles of a sweep in rows on a wavefront",
        ),
    ] {
        assert_eq!(told(recipe, steps), words);
    }
}

/// A number for a seed, the same everywhere.
fn draw(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

/// A nest in any state.
fn any_nest(seed: &mut u64, id: usize) -> NestReport {
    const STATES: [Unchanged; 10] = [
        Unchanged::TooShort,
        Unchanged::LeftOut,
        Unchanged::NoLegalSchedule,
        Unchanged::NotReplayable,
        Unchanged::AtRoof,
        Unchanged::NothingTried,
        Unchanged::AllFailed,
        Unchanged::NothingFaster,
        Unchanged::Dropped,
        Unchanged::Overlapped,
    ];
    let state = STATES[draw(seed, 10) as usize];
    let share = draw(seed, 100) as f64 / 700.0;
    let function = "function_".repeat(1 + draw(seed, 4) as usize);
    let mut found = nest(id, 10 + 7 * id as u32, &function, share, state);
    found.note = (draw(seed, 2) == 0).then(|| "its arguments are too large to be kept; so it stays".into());
    found.line.file = (draw(seed, 5) == 0).then(|| "deep/folder/with_a_header_of_a_long_name.h".into());
    found.time.within = (draw(seed, 3) == 0).then(|| draw(seed, 60) as usize).into_iter().collect();
    found.time.share = found.time.share.filter(|_| draw(seed, 12) > 0);
    if draw(seed, 3) > 0 {
        return found;
    }
    let recipe =
        ["contract, registers:12x1 rows:l2/4..16", "time tiles 4x32, AVX-512, one thread", "original order"];
    let speedup = 1.05 + draw(seed, 400) as f64 / 100.0;
    tuned(found, speedup, recipe[draw(seed, 3) as usize], draw(seed, 90) as usize)
}

fn any_file(seed: &mut u64, k: usize, n_nests: usize) -> FileReport {
    let mut found = report((0..n_nests).map(|id| any_nest(seed, id)).collect());
    let lines: Vec<(u32, f64)> =
        (0..draw(seed, 8) as u32).map(|n| (5 + n, draw(seed, 9) as f64 / 60.0)).collect();
    let what = [
        "`f` is called, and what it does is not known",
        "a `while` loop: how often it runs is not known beforehand",
    ];
    let help = [
        None,
        Some(
            "write it as a `for` loop if it counts; or copy the values you need into local variables before it",
        ),
    ];
    found.diagnostics = lines
        .iter()
        .map(|(n, _)| trouble(*n, what[draw(seed, 2) as usize], help[draw(seed, 2) as usize]))
        .collect();
    found.coverage = (draw(seed, 5) > 0).then(|| coverage(&lines, draw(seed, 40) as f64 / 100.0));
    found.notes = (0..draw(seed, 3))
        .map(|n| format!("note {n} on what happened here, which is a long sentence"))
        .collect();
    let path = format!("folder_{k}/a_source_file_with_a_rather_long_name_{}.c", draw(seed, 4));
    let changed = draw(seed, 3) > 0;
    let note =
        (draw(seed, 4) == 0).then(|| "the program behaves differently with it (exit code 1)".to_owned());
    FileReport { note, ..file(&path, draw(seed, 100) as f64 / 300.0, changed, found) }
}

/// The shares that a report says, in per cent; `<1 %` is none.
fn shares(text: &str) -> f64 {
    let share =
        |line: &str| line.trim_start().split(" %").next()?.split_whitespace().last()?.parse::<f64>().ok();
    text.lines().filter(|line| line.starts_with("  ") && line.contains(" %  ")).filter_map(share).sum()
}

#[test]
fn no_report_has_more_lines_or_columns_and_no_time_is_told_of_twice() {
    for seed in 0..200 {
        let mut state = seed;
        let width = 60 + draw(&mut state, 80) as usize;
        let n_files = 1 + draw(&mut state, 5) as usize;
        let files: Vec<FileReport> = (0..n_files).map(|k| any_file(&mut state, k, 60 / n_files)).collect();
        let any_report = files[0].report.clone().expect("a report");
        let project = TuneReport {
            program: ProgramReport {
                unstable_words: draw(&mut state, 3) as usize,
                in_any_order: draw(&mut state, 2) == 0,
                ..program(2000.0, 1.3, (0.9 + draw(&mut state, 3) as f64 / 10.0, 1.7))
            },
            elsewhere: Some(0.1),
            ..project_of(files)
        };
        for text in [
            render_project(&project, RUN, seed % 2 == 0, view(width)),
            render(&any_report, "learnt: 5 trials\n", view(width), &command),
        ] {
            let is_command = |line: &str| line.starts_with("apply: ") || line.starts_with("  oxeye tune");
            let lines: Vec<&str> = text.lines().filter(|line| !is_command(line)).collect();
            assert!(text.lines().count() <= 15, "{seed}: {text}");
            assert!(lines.iter().all(|line| measure_text_width(line) <= width), "{seed}, {width}: {text}");
            assert!(shares(&text) <= 103.0, "{seed}, {}: {text}", shares(&text));
            assert!(!text.contains('…') && !text.contains("NaN"), "{seed}: {text}");
        }
    }
}

#[test]
fn a_nest_of_a_header_counts_once() {
    let in_header = || {
        let line = LineReport { file: Some("khmm.h".into()), ..LineReport::from(103) };
        report(vec![NestReport { line, ..nest(0, 103, "sum", 0.2, Unchanged::NothingFaster) }])
    };
    let files = vec![file("a.c", 0.5, false, in_header()), file("b.c", 0.5, false, in_header())];
    let text = render_project(&project_of(files), "./prog", false, view(80));
    assert!(text.contains("20 %  1 nest  no candidate was faster: khmm.h:103\n"), "{text}");
}
