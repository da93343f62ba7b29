//! Tables, plots and reports: all text is escaped, and nothing needs the network.

use crate::support::{counted, host, measured};
use oxeye_host::{FloatType, HostProfile};
use oxeye_profile::{
    About, Bar, DataFlow, FileEntry, Flops, LevelBytes, Listing, NestEntry, NestInput, NestProfile, PlotSize,
    ProgramTimes, ProjectData, ReportData, RooflinePoint, SUMMARY, Section, SectionTimes, SectionWork, Table,
    UnreadEntry, bars, html_project_report, html_report, memory_sweep, profile_nest, roofline,
};

const NASTY: &str = "</title><script>alert('x')</script>&\"";

fn profile(id: usize, name: &str, ns: f64) -> NestProfile {
    let input = NestInput {
        warm_ns: Some(measured(ns, 0.01)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(2e6) }],
        levels: vec![LevelBytes { level: "DRAM".into(), bytes: counted(8e6) }],
        footprint_bytes: Some(counted(1e9)),
        share: Some(measured(0.4, 0.01)),
        ..NestInput::new(id, name)
    };
    profile_nest(&input, &host())
}

fn report(host: HostProfile) -> ReportData {
    let nest = NestEntry {
        after: Some(profile(0, NASTY, 1e6)),
        recipe: Some(NASTY.into()),
        steps: vec![NASTY.into()],
        speedup: Some(measured(2.0, 0.01)),
        verified: true,
        refused: vec![NASTY.into()],
        listings: vec![Listing { heading: NASTY.into(), text: NASTY.into() }],
        note: Some(NASTY.into()),
        help: Some(NASTY.into()),
        guard: Some(NASTY.into()),
        original: Some(NASTY.into()),
        times_ns: Some((3e6, 1.5e6)),
        own_share: Some(0.3),
        ..NestEntry::new(profile(0, NASTY, 2e6))
    };
    ReportData {
        title: NASTY.into(),
        build: Some(NASTY.into()),
        about: About {
            made_at: Some(NASTY.into()),
            version: Some(NASTY.into()),
            compared: vec![NASTY.into()],
            commands: vec![(NASTY.into(), NASTY.into())],
            counted: Some((2, 5)),
            flows: vec![DataFlow { from: 0, to: 1, arrays: vec![NASTY.into()], bytes: 8e6 }],
        },
        program: ProgramTimes {
            before_ns: Some(measured(2e9, 0.01)),
            after_ns: Some(measured(1e9, 0.01)),
            verified: true,
            speedup: None,
            speedup_interval: Some((1.9, 2.1)),
            max_rel_error: Some(0.0),
            note: Some(NASTY.into()),
        },
        host,
        threads: 2,
        nests: vec![nest, NestEntry::new(profile(1, "g:7", 3e6))],
        shared: vec![NASTY.into()],
        unread: None,
        sections: vec![Section::new(
            NASTY,
            SectionTimes { calls: 3, min_ns: 1.0, max_ns: 2.0, total_ns: 5.0 },
            SectionWork::default(),
            10.0,
            None,
        )],
        notes: vec![NASTY.into()],
    }
}

fn project(host: HostProfile) -> ProjectData {
    let file = FileEntry {
        path: NASTY.into(),
        share: 0.6,
        tunable: Some(0.5),
        nests: 2,
        tuned: 1,
        note: Some(NASTY.into()),
    };
    let unread = UnreadEntry {
        place: NASTY.into(),
        share: Some(0.25),
        reason: NASTY.into(),
        help: Some(NASTY.into()),
    };
    ProjectData {
        report: ReportData {
            unread: Some(vec![unread.clone(), UnreadEntry { share: None, ..unread }]),
            ..report(host)
        },
        files: vec![file.clone(), FileEntry { tunable: None, ..file }],
        elsewhere: Some(0.1),
        phases: vec![(NASTY.into(), 1.5)],
    }
}

#[test]
fn a_project_has_its_files_and_what_could_not_be_read() {
    let mut data = project(host());
    let page = html_project_report(&data);
    for words in [
        "oxeye project",
        "<h2>Files</h2>",
        "other code",
        "Loops with 25 % of the time stay",
        "<h2>This run</h2>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    data.report.unread = Some(Vec::new());
    data.elsewhere = None;
    let page = html_project_report(&data);
    assert!(page.contains("No loop that takes time was refused") && !page.contains("other code"));
}

#[test]
fn shares_of_provisional_roofs_are_upper_bounds() {
    let page = |noisy| {
        let mut machine = host();
        machine.noise.noisy = noisy;
        html_report(&report(machine))
    };
    let (sure, unsure) = (page(false), page(true));
    assert!(!sure.contains('≤'));
    for place in ["<div class=\"value\">≤", "</span></span>≤", ", ≤", "<td class=\"n\">≤"] {
        assert!(unsure.contains(place), "{place}");
    }
}

#[test]
fn the_page_of_a_file_has_what_could_not_be_read_where_that_is_known() {
    let entry = |share| UnreadEntry { place: "a.c:7".into(), share, reason: "`goto`".into(), help: None };
    let page = |unread| html_report(&ReportData { unread, ..report(host()) });
    assert!(!page(None).contains("Not readable"));
    let known = page(Some(vec![entry(Some(0.25))]));
    assert!(known.contains("Loops with 25 % of the time stay") && known.contains("<td>a.c:7</td>"));
    assert!(known.contains("<b>Refusals</b> of the book"));
    assert!(page(Some(vec![entry(None)])).contains("These loops stay"));
}

#[test]
fn names_cannot_leave_their_place_in_the_page() {
    let mut machine = host();
    machine.key.cpu_model = NASTY.into();
    machine.memory_levels[0].name = NASTY.into();
    machine.noise.sentence = NASTY.into();
    machine.notes.push(NASTY.into());
    for page in [html_report(&report(machine.clone())), html_project_report(&project(machine))] {
        assert!(page.matches("<script").count() == 1 && !page.contains("alert('x')"));
        assert!(page.contains("&lt;script&gt;"));
    }
}

#[test]
fn a_tuned_nest_stands_beside_its_original_with_the_same_figures_everywhere() {
    let mut data = report(host());
    data.program.speedup = Some(1.97);
    let page = html_report(&data);
    for words in [
        "1.97× (1.90–2.10)",
        "2 of 5",
        "<h2>What to do with it</h2>",
        "<pre class=\"command\">",
        "<h2>What was compared</h2>",
        "<h2>What nests hand on</h2>",
        "<h3>original</h3>",
        "<h3>new</h3>",
        "Guard: ",
        // As in the terminal, not the quotient of the profiles.
        "<td class=\"n\" data-v=\"3000000\">3 ms</td>",
        "<td class=\"n\" data-v=\"1500000\">1.5 ms</td>",
        "3 ms",
        "1.5 ms · 2×",
    ] {
        assert!(page.contains(words), "{words}");
    }
    data.about = About::default();
    let page = html_report(&data);
    assert!(
        !page.contains("What to do with it") && !page.contains("hand on") && !page.contains("compared</h2>")
    );
}

#[test]
fn the_page_needs_nothing_else() {
    for page in [html_report(&report(host())), html_project_report(&project(host()))] {
        needs_nothing_else(&page);
    }
}

fn needs_nothing_else(page: &str) {
    for outside in ["http:", "https:", "url(", "@import", "<link", "<script ", " src="] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("name=\"viewport\"") && page.contains("prefers-color-scheme:dark"));
    for element in ["section", "table", "details", "svg", "div", "tr", "ul", "ol", "dl", "text", "span"] {
        let opened =
            page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
    }
    for number in ["NaN", "inf ", "\"inf"] {
        assert!(!page.contains(number), "{number}");
    }
}

#[test]
fn a_profile_alone_has_no_before_and_after() {
    let mut data = report(host());
    data.program.after_ns = None;
    data.nests.remove(0);
    let page = html_report(&data);
    assert!(page.contains("oxeye profile") && !page.contains("Speedup"));
}

#[test]
fn shares_that_other_nests_have_too_are_told_of_below_the_table() {
    let told = "main:4:123 includes the work of dot:3, and its time";
    let page = html_report(&ReportData { shared: vec![told.into()], ..report(host()) });
    assert!(page.contains(&format!("</tbody></table></div>\n<p class=\"note\">{told}.</p>")), "{page}");
}

#[test]
fn a_machine_and_a_program_of_which_nothing_is_known_have_a_report() {
    let mut machine = host();
    machine.memory_levels.clear();
    machine.curve.clear();
    machine.compute.clear();
    machine.fork_join_us = None;
    let mut data = report(machine);
    data.program = ProgramTimes::default();
    for entry in &mut data.nests {
        *entry = NestEntry::new(profile_nest(&NestInput::new(0, ""), &data.host));
    }
    assert!(html_report(&data).contains("not run as a whole"));
    data.nests.clear();
    assert!(html_report(&data).contains("No loop nest was found"));
}

#[test]
fn reports_survive_json() {
    let data = report(host());
    let text = serde_json::to_string(&data).expect("turns into JSON");
    let back: ReportData = serde_json::from_str(&text).expect("reads back");
    assert_eq!(
        (&back.title, back.nests.len(), &back.nests[0].refused),
        (&data.title, 2, &data.nests[0].refused)
    );
}

#[test]
fn plots_draw_every_nest_and_ceiling() {
    let (before, after) = (profile(0, "f:1", 2e6), profile(0, "f:1", 1e6));
    let other = profile(1, "g:7", 3e6);
    let points = [
        RooflinePoint { before: &before, after: Some(&after) },
        RooflinePoint { before: &other, after: None },
    ];
    for size in [PlotSize::Wide, PlotSize::Narrow] {
        let svg = roofline(&points, &host(), size).standalone();
        // Two of the legend; two befores and one after.
        assert_eq!(svg.matches("<circle").count(), 5);
        assert!(svg.contains("<title>g:7 before:") && svg.contains("<desc>"), "{svg}");
        // Four bandwidths and two peaks, each with one core and with both.
        assert_eq!(svg.matches("<polyline class=\"ox-roof").count(), 12);
        let named = svg.matches("GB/s</text>").count() + svg.matches("GFLOP/s</text>").count();
        assert!(named >= if size == PlotSize::Wide { 11 } else { 5 }, "{named} of the ceilings are named");
        let sweep = memory_sweep(&host(), size).standalone();
        assert_eq!(sweep.matches("<circle").count(), host().curve.len());
        for level in ["L1", "L2", "L3", "DRAM"] {
            assert!(sweep.contains(&format!(">{level}")), "{level}");
        }
    }
}

#[test]
fn bars_take_any_time() {
    let bar = |before_ns, after_ns, share| Bar { label: "f:1".into(), before_ns, after_ns, share };
    let rows = [
        bar(Some(2e6), Some(1e6), Some(0.5)),
        bar(Some(0.0), Some(f64::NAN), Some(-1.0)),
        bar(None, Some(f64::INFINITY), None),
    ];
    for size in [PlotSize::Wide, PlotSize::Narrow] {
        let svg = bars(&rows, size).standalone();
        assert!(svg.contains("2× faster") && svg.contains("not timed") && !svg.contains("NaN"), "{svg}");
    }
    assert!(bars(&[], PlotSize::Wide).height > 0.0);
}

#[test]
fn tables_print_in_every_form() {
    let table = Table::of(&[profile(0, "f, \"quoted\":1", 1e6), profile(1, "g:7", 50.0)]);
    let text = table.select(&SUMMARY).to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains("DRAM bandwidth") && lines[1].contains("40 %"), "{text}");
    assert!(lines[2].contains("overhead") && lines[2].contains('–'), "{text}");

    let csv = table.select(&["id", "nest", "gflops", "roof_fraction"]).to_csv();
    assert!(csv.starts_with("id,nest,gflops,roof_fraction\r\n0,\"f, \"\"quoted\"\":1\",2,"), "{csv}");
    assert!(csv.trim_end().ends_with("1,g:7,,"), "{csv}");

    let json = table.to_json();
    assert_eq!(json[0]["dram_gb_s"], 8.0);
    assert_eq!(
        (&json[1]["roof_fraction"], &json[1]["dram_gb_s"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert!(json[1]["missing"].as_str().is_some_and(|why| why.contains("share of the roof: ")));
    let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
}

#[cfg(feature = "polars")]
#[test]
fn frames_have_every_row_and_column() {
    let profile = profile(0, "f:1", 1e6);
    for profiles in [vec![], vec![profile.clone()], vec![profile.clone(), profile]] {
        let table = Table::of(&profiles);
        let frame = table.to_frame().expect("polars takes it");
        assert_eq!(frame.shape(), (profiles.len(), table.columns().len()));
    }
}

#[cfg(feature = "tables")]
#[test]
fn files_have_every_row_and_column() {
    let profile = profile(0, "f:1", 1e6);
    for profiles in [vec![], vec![profile.clone()], vec![profile.clone(), profile]] {
        let table = Table::of(&profiles);
        let folder = tempfile::tempdir().expect("a folder to write to");
        let path = folder.path().join("profile.parquet");
        table.write_parquet(&path).expect("the folder is writable");
        let read = oxeye_columns::read_parquet(&path).expect("it is Parquet");
        assert_eq!(read.n_rows(), profiles.len());
        for column in table.columns() {
            assert_eq!(read.cells(&column.name), Some(&column.cells), "{}", column.name);
        }
        let files = std::fs::read_dir(folder.path()).expect("the folder is readable").count();
        assert_eq!(files, 1, "nothing is left beside the file");
    }
    let error = Table::of(&[]).write_parquet("/nowhere/at/all.parquet".as_ref()).expect_err("no such folder");
    assert_eq!(error.to_string(), "cannot write /nowhere/at/all.parquet");
}
