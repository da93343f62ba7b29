use super::*;
use oxeye::{
    BuildReport, DiagnosticReport, FileReport, HostReport, ProgramReport, RecipeFile, TimeReport,
    TriedReport, TuneReport,
};

#[test]
fn times_have_three_digits() {
    let shown: Vec<_> = [12_345.0, 123.4, 1.234, 0.0123].into_iter().map(time).collect();
    assert_eq!(shown, ["12.3 s", "123 ms", "1.23 ms", "12.3 us"]);
}

#[test]
fn shares_never_round_to_nothing() {
    assert_eq!([0.0, 0.001, 0.034, 0.999].map(percent), ["0 %", "<1 %", "3 %", "100 %"]);
}

pub(super) fn report(nests: Vec<NestReport>) -> Report {
    Report {
        schema: oxeye::REPORT_SCHEMA,
        input: "solver.c".into(),
        output: "solver.oxeye.c".into(),
        changed: true,
        host: HostReport {
            cpu: None,
            cores: 2,
            l1_bytes: 48 << 10,
            l2_bytes: 2 << 20,
            l3_bytes: 32 << 20,
            vector_bytes: 64,
            dram_gb_per_s: None,
            peak_f64_gflops: None,
            thorough: true,
            provisional: false,
        },
        host_profile: None,
        build: BuildReport {
            compiler: "gcc".into(),
            version: None,
            args: vec!["-O3".into()],
            added: vec!["-fopenmp".into()],
            assumed: false,
        },
        fp: FpReport { reassociate: true, source: "flags", used: true, max_rel_error: Some(1.1e-14) },
        threads: 2,
        seconds: 31.0,
        budget_seconds: 60.0,
        program_seconds: 3.0,
        tried: TriedReport { trials: 5, nodes: Vec::new() },
        program: ProgramReport {
            baseline_ms: Some(389.0),
            optimized_ms: Some(36.7),
            speedup: Some(10.62),
            verified: true,
            ..ProgramReport::default()
        },
        coverage: None,
        nests,
        diagnostics: Vec::new(),
        recipes: RecipeFile {
            schema: oxeye::RECIPE_SCHEMA.into(),
            compiler: oxeye::Compiler::default(),
            threads: 2,
            reassociate: true,
            no_alias: false,
            keeps_order: false,
            directives: false,
            quiet: Vec::new(),
            vector_bytes: None,
            machine: None,
            nests: Vec::new(),
        },
        search: None,
        notes: Vec::new(),
    }
}

/// A project of these files.
pub(super) fn project_of(files: Vec<FileReport>) -> TuneReport {
    let changed = files.iter().any(|file| file.changed);
    TuneReport {
        schema: oxeye::TUNE_SCHEMA,
        build: "make -B".into(),
        run: "./solver".into(),
        n_sources: files.len(),
        patch: changed.then(|| "oxeye.patch".into()),
        folder: None,
        program: ProgramReport::default(),
        tunable: Some(0.9),
        files,
        elsewhere: Some(0.0),
        recipes: oxeye::ProjectRecipes::new(Vec::new()),
        added: if changed { vec!["-fopenmp".into()] } else { Vec::new() },
        seconds: 58.2,
        budget_seconds: 60.0,
        phases: Vec::new(),
        nodes: Vec::new(),
        notes: Vec::new(),
    }
}

/// A nest that stays for a reason.
pub(super) fn nest(id: usize, line: u32, function: &str, share: f64, unchanged: Unchanged) -> NestReport {
    NestReport {
        id,
        function: function.into(),
        line: line.into(),
        time: TimeReport { share: Some(share), own_share: Some(share), ..TimeReport::default() },
        invocations: Some(1),
        baseline_ms: Some(400.0 * share),
        optimized_ms: Some(400.0 * share),
        speedup: Some(1.0),
        bound: Some("DRAM bandwidth".into()),
        roof_fraction: Some(0.83),
        profile_before: None,
        profile_after: None,
        refused: vec!["contract: S0 does not sum up products".into()],
        unchanged: Some(unchanged),
        ..NestReport::default()
    }
}

pub(super) fn rewritten(
    nest: NestReport,
    speedup: f64,
    recipe: &str,
    donor: (&'static str, usize, f64),
) -> NestReport {
    NestReport {
        optimized_ms: nest.baseline_ms.map(|ms| ms / speedup),
        speedup: Some(speedup),
        verified: true,
        recipe: Some(recipe.into()),
        steps: vec!["interchange L0 L1".into(), "parallelize L1".into()],
        donor: Some("s4210, 3 loops, 1 statement".into()),
        distance: Some(0.8),
        donor_kind: Some(donor.0),
        donor_loops: Some(donor.1),
        likeness: Some(donor.2),
        unchanged: None,
        ..nest
    }
}

/// Reports of programs with one nest, ten, and sixty.
pub(super) fn of_sizes() -> [Report; 3] {
    let gemm = |roof| NestReport {
        roof_fraction: Some(roof),
        bound: Some("f64 peak".into()),
        ..rewritten(
            nest(0, 31, "kernel_gemm", 0.93, Unchanged::NothingFaster),
            16.6,
            "contract",
            ("matrix product", 3, 0.923),
        )
    };
    let left_out = |nest: NestReport, note: &str| NestReport { note: Some(note.into()), ..nest };
    let mut ten = vec![gemm(0.03)];
    let stencil = nest(1, 44, "relax_with_a_very_long_name_of_its_own", 0.04, Unchanged::NothingFaster);
    ten.push(rewritten(stencil, 3.4, "time tiles of a sweep in rows on a wavefront", ("stencil", 6, 0.68)));
    ten.extend([50, 61, 75].map(|line| nest(2, line, "residual", 0.005, Unchanged::NothingFaster)));
    ten.push(nest(5, 88, "scale", 0.004, Unchanged::AtRoof));
    ten.push(left_out(
        NestReport {
            baseline_ms: None,
            roof_fraction: None,
            ..nest(6, 93, "debug", 0.0, Unchanged::LeftOut)
        },
        "the program never gets here",
    ));
    ten.extend([101, 107, 112].map(|line| nest(7, line, "init", 0.0008, Unchanged::TooShort)));
    let mut sixty = vec![gemm(0.64)];
    sixty.extend((1..10).map(|k| nest(k, 40 + 7 * k as u32, "sweep", 0.006, Unchanged::NoLegalSchedule)));
    sixty.extend((10..60).map(|k| nest(k, 100 + 9 * k as u32, "setup", 0.0002, Unchanged::TooShort)));
    let message = |line| DiagnosticReport {
        function: Some("setup".into()),
        line: Some(line),
        column: None,
        loop_line: None,
        file: None,
        message: "a loop with `goto` is not analysed".into(),
        help: None,
    };
    let mut sixty = report(sixty);
    sixty.diagnostics = [700, 712].map(message).into();
    sixty.notes = vec!["line 47: dropped, since the whole program does not gain from it (0.99x), however fast it was when it was timed alone".into()];
    [report(vec![gemm(0.78)]), report(ten), sixty]
}

pub(super) fn command(function: Option<&str>) -> Option<String> {
    let function = function.map(|name| format!(" -f {name}")).unwrap_or_default();
    Some(format!("oxeye tune solver.c --budget 5m{function} -- gcc -O3 -march=native -ffast-math -lm"))
}

/// Everything about a file, as `-v` shows it behind the first lines of the short report.
fn shown(report: &Report, width: usize) -> String {
    let text = render(report, "", View { width, colour: false, verbose: true }, &command);
    let short = render(report, "", View { width, colour: false, verbose: false }, &command);
    let (beginning, all) = text.split_once("\n\n").expect("a blank line");
    assert_eq!(beginning.lines().next(), short.lines().next());
    all.to_owned()
}

#[test]
fn everything_is_said_once() {
    let [mut one, ..] = of_sizes();
    one.notes = vec!["the machine was busy while it was measured".into()];
    one.program.unstable_numbers = 2;
    let text = render(&one, "", View { width: 80, colour: false, verbose: true }, &command);
    for words in [
        "389 ms -> 36.7 ms",
        "same output",
        "the machine was busy",
        "written to",
        "not compared: 2",
        "1.1e-14",
    ] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
    assert!(text.ends_with("written to solver.oxeye.c; compile it with -fopenmp added\n"), "{text}");
}

#[test]
fn tables_fit_any_width_and_cut_no_word() {
    for report in of_sizes() {
        let n_listed = report.nests.iter().filter(|nest| is_listed(nest)).count();
        for width in [80, 120, 200] {
            let text = shown(&report, width);
            let rules: Vec<usize> =
                text.lines().enumerate().filter(|(_, line)| line.starts_with('─')).map(|(k, _)| k).collect();
            assert!(rules[..2] == [0, 2] && rules[2] >= n_listed + 3, "{text}");
            assert!(!text.lines().take(rules[2]).any(|line| line.contains('…')), "{text}");
            let is_command = |line: &str| line.starts_with("  oxeye tune");
            for line in text.lines().filter(|line| !is_command(line)) {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn tables_of_one_ten_and_sixty_nests() {
    for (report, n) in of_sizes().iter().zip([1, 10, 60]) {
        for width in [80, 120, 200] {
            let mut text = shown(report, width);
            // Another test shows what is said of each nest.
            let view = View { width, colour: false, verbose: true };
            for nest in &report.nests {
                text = text.replacen(&details(nest, false, view), "", 1);
            }
            insta::assert_snapshot!(format!("{n}_nests_{width}_columns"), text);
        }
    }
}

#[test]
fn everything_of_every_nest() {
    insta::assert_snapshot!(shown(&of_sizes()[1], 100));
}

#[test]
fn colours_change_no_letter() {
    let report = &of_sizes()[1];
    let coloured = render(report, "", View { width: 80, colour: true, verbose: true }, &command);
    assert!(coloured.contains("\u{1b}["));
    let plain = render(report, "", View { width: 80, colour: false, verbose: true }, &command);
    assert_eq!(console::strip_ansi_codes(&coloured), plain);
}

#[test]
fn what_is_faster_than_the_original_is_not_said_to_be_slower() {
    let words = |speedup, has_winner| outcome(Verdict::Slower, speedup, has_winner);
    assert_eq!((words(Some(2.13), true), words(Some(0.9), true)), ("not the fastest", "correct, but slower"));
    assert_eq!(
        (words(Some(1.01), false), words(None, false)),
        ("not faster beyond noise", "correct, but slower")
    );
}

#[test]
fn what_was_left_is_told_unless_it_was_searched() {
    let [one, ten, _] = of_sizes();
    assert!(!shown(&one, 80).contains("oxeye tune solver.c"), "78 % of a roof is enough");
    let text = shown(&ten, 80);
    assert!(
        text.contains("line 31 reaches 3 % of its roof; to search further:\n  oxeye tune solver.c"),
        "{text}"
    );
    assert!(!text.contains(" -f "), "another function was rewritten too: {text}");
    let nests = vec![ten.nests[0].clone()];
    assert!(shown(&Report { nests: nests.clone(), ..ten.clone() }, 80).contains(" -f kernel_gemm "));
    let search = Some(oxeye::SearchReport { seed: 1, log: None, nests: Vec::new() });
    assert!(!shown(&Report { nests, search, ..ten }, 80).contains("oxeye tune solver.c"));
}

#[test]
fn shares_of_provisional_roofs_are_upper_bounds() {
    let [mut one, ..] = of_sizes();
    one.host.provisional = true;
    assert!(shown(&one, 80).contains("  ≤78 %  contract"));
}

#[test]
fn where_the_time_goes_comes_first_and_reasons_are_told_by_what_they_cost() {
    use oxeye::{Coverage, FileShare, LoopShare};
    let trouble = |line: u32, message: &str| DiagnosticReport {
        function: Some("f".into()),
        line: Some(line + 1),
        column: None,
        loop_line: Some(line),
        file: None,
        message: message.into(),
        help: Some("do it otherwise".into()),
    };
    let mut report = report(vec![nest(0, 31, "f", 0.7, Unchanged::NothingFaster)]);
    report.diagnostics = vec![
        trouble(10, "cheap"),
        trouble(50, "dear"),
        trouble(70, "dear"),
        trouble(90, "free"),
        trouble(40, "free"),
    ];
    report.coverage = Some(Coverage {
        samples: 1000,
        tunable: 0.7,
        loops: vec![
            LoopShare { line: 50.into(), share: 0.15, whole: 0.15 },
            LoopShare { line: 10.into(), share: 0.04, whole: 0.04 },
            LoopShare { line: 90.into(), share: 0.004, whole: 0.004 },
            LoopShare { line: 40.into(), share: 0.001, whole: 0.15 },
        ],
        files: vec![FileShare { file: "src/util.c".into(), share: 0.06 }],
        elsewhere: 0.046,
        outside: vec![],
    });
    let view = View { width: 80, verbose: false, colour: false };
    let text = full(&report, view);
    let expected = "\
70 % of the time is in loops that can be tuned; 15 % in line 50; 6 % in util.c; \n  4 % in line 10; 5 % elsewhere\n";
    assert_eq!(
        text.lines().take(2).map(str::trim).collect::<Vec<_>>(),
        expected.lines().map(str::trim).collect::<Vec<_>>()
    );
    let told: Vec<&str> = text.lines().filter(|line| line.contains("left as it is")).collect();
    assert!(told[0].starts_with("left as it is: lines 51, 71 (15 % of the time): dear"), "{told:?}");
    assert!(told[1].starts_with("left as it is: line 11 (4 % of the time): cheap"), "{told:?}");
    assert!(told[2].starts_with("left as it is: lines 91, 41: free"), "{told:?}");
    assert_eq!(told.len(), 3);
    assert!(text.lines().all(|line| measure_text_width(line) <= 80), "{text}");
}

#[test]
fn what_was_compared_and_how_exactly_is_told() {
    let mut report = of_sizes()[0].clone();
    report.nests[0].conditioning = Some(IllConditioned {
        argument: "Q".into(),
        digits_lost: 15.2,
        digits: 15.7,
        elements: 1000,
        runs: 12,
    });
    report.program.compared = ["standard output", "u.bin:f32"].map(str::to_owned).into();
    report.program.tolerance = Some(1e-6);
    report.program.ignored_parts = 2;
    report.program.unstable_numbers = 1;
    report.program.widened_numbers = 3;
    let view = View { width: 300, colour: false, verbose: true };
    let shown = render(&report, "", view, &command);
    for line in [
        "10.62x, same output, same u.bin:f32\n",
        "not compared: 2 parts by --ignore, 1 number that varies from run to run\n",
        "3 numbers differ by more than 1e-6, as in builds of the original that round differently\n",
        "line 31: ill-conditioned, roundings change up to 15 of 16 digits of `Q`; candidates were held to what 12 runs of \
         the original differ by\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
}

#[test]
fn time_that_two_rows_have_is_told() {
    let mut report = of_sizes()[0].clone();
    let inner = |line, share| {
        let mut inner = nest(line as usize, line, "kernel_gemm", share, Unchanged::NothingFaster);
        inner.time.within = vec![0];
        inner
    };
    report.nests.extend([inner(33, 0.5), inner(35, 0.4)]);
    let text = shown(&report, 80);
    assert!(text.contains("line 31 includes the work of lines 33 and 35, and their time\n"), "{text}");
    // Called from elsewhere as well.
    report.nests[0].time.share = Some(0.1);
    assert!(!shown(&report, 80).contains("includes the work"));
}

#[test]
fn sizes_and_the_guard_of_new_code_are_told() {
    use oxeye::{GuardReport, SizeReport};
    let [mut one, ..] = of_sizes();
    let size = |iterations: f64, invocations, share, speedup: Option<f64>| SizeReport {
        iterations,
        invocations,
        share,
        baseline_ms: speedup.map(|_| 2.0),
        optimized_ms: speedup.map(|s| 2.0 / s),
        speedup,
    };
    let nest = &mut one.nests[0];
    nest.guard = Some(GuardReport {
        size: "n * n * n".into(),
        least: Some(1e8),
        threads: None,
        lengths: vec![],
        known: vec![],
    });
    nest.sizes = vec![
        size(1048576.0, 300, 0.8, Some(4.0)),
        size(64.0, 20_000, 0.15, Some(0.5)),
        size(8.0, 9, 0.05, None),
    ];
    let text = shown(&one, 80);
    assert!(
        text.contains("line 31: new code runs where n * n * n >= 1e8, the original elsewhere\n"),
        "{text}"
    );
    assert!(text.lines().all(|line| measure_text_width(line) <= 80), "{text}");
    let guard = one.nests[0].guard.as_mut().expect("given above");
    (guard.threads, guard.lengths) = (Some(1e9), vec![("m - 2".into(), 9)]);
    let told =
        "new code runs where n * n * n >= 1e8 and m - 2 >= 9, with several threads where n * n * n >= 1e9";
    assert_eq!(guard.in_words(), told);
    *guard = GuardReport {
        least: None,
        threads: None,
        lengths: vec![("nx".into(), 17)],
        known: vec![("nz".into(), 32)],
        ..guard.clone()
    };
    assert_eq!(guard.in_words(), "new code runs where nz = 32 and nx >= 17, the original elsewhere");
    let text = shown(&one, 100);
    let told: Vec<&str> = text.lines().filter(|line| line.contains("iterations")).collect();
    assert_eq!(
        told,
        [
            "size: 1e6 iterations and more, 300 calls, 80 % of its time, 4.00x",
            "size: 64 iterations and more, 20000 calls, 15 % of its time, 0.50x",
            "size: 8 iterations and more, 9 calls, 5 % of its time",
        ]
    );
}

#[test]
fn every_file_has_a_word_below_its_heading() {
    let quiet = oxeye::FileReport {
        path: "src/list.c".into(),
        share: 0.04,
        changed: false,
        added: Vec::new(),
        report: Some(report(Vec::new())),
        note: None,
        help: None,
    };
    let view = View { width: 80, colour: false, verbose: false };
    assert_eq!(
        project::section(&quiet, view),
        "src/list.c: 4 % of the time\nnone of its loops takes time of its own\n\n"
    );
}
