//! The results as files: every sample as CSV, and a Markdown table.

use std::fmt::Write;

use super::build::{Compiler, Peer, Toolchain, Tuning};
use super::outcome::{Outcome, TOLERANCE};
use super::stats::{Contender, Entry, KernelResult, Ratio, geometric_mean};
use crate::corpus::Group;
use crate::machine::Machine;

/// The conditions of a run, for the head of the Markdown file.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    /// Where and when.
    pub(crate) machine: Machine,
    /// Compilers found.
    pub(crate) toolchains: Vec<Toolchain>,
    /// Flags of every build.
    pub(crate) flags: String,
    /// Size options, empty for the sizes in the files.
    pub(crate) sizes: String,
    /// Threads allowed.
    pub(crate) threads: usize,
    /// What is missing, and why.
    pub(crate) notes: Vec<String>,
}

/// Every timed run, one per line.
pub(crate) fn samples_csv(results: &[KernelResult]) -> String {
    let mut text =
        String::from("kernel,contender,round,status,kernel_seconds,wall_seconds,checksum_error,detail\n");
    for result in results {
        for entry in &result.entries {
            for sample in &entry.samples {
                let (seconds, error, detail) = match &sample.outcome {
                    Outcome::Good { kernel_seconds, error } => {
                        (format!("{kernel_seconds:.9}"), format!("{error:.2e}"), "")
                    }
                    Outcome::Wrong(error) => (String::new(), format!("{error:.2e}"), ""),
                    Outcome::Timeout => (String::new(), String::new(), ""),
                    Outcome::Crash(why) => (String::new(), String::new(), why.as_str()),
                };
                let (label, word) = (entry.contender.label(), sample.outcome.word());
                let (round, wall) = (sample.round, sample.wall.as_secs_f64());
                line(
                    &mut text,
                    format_args!(
                        "{},{label},{round},{word},{seconds},{wall:.6},{error},{detail}",
                        result.name
                    ),
                );
            }
        }
    }
    text
}

/// Every tuning, one per line.
pub(crate) fn tuning_csv(results: &[KernelResult]) -> String {
    let mut text =
        String::from("kernel,compiler,seconds,program_seconds,verified,nests,tuned_nests,failure\n");
    for result in results {
        for entry in &result.entries {
            let Contender::Oxeye(compiler) = entry.contender else { continue };
            let failure = entry.failure.as_deref().unwrap_or("").replace(['"', '\n'], " ");
            let facts = entry.tuning.as_ref().map_or(",,,,".to_owned(), |t| {
                let (seconds, of_program) = (t.seconds, t.program_seconds);
                format!("{seconds:.3},{of_program:.3},{},{},{}", t.verified, t.nests, t.tuned_nests)
            });
            line(&mut text, format_args!("{},{},{facts},\"{failure}\"", result.name, compiler.word()));
        }
    }
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{arguments}");
}

/// The whole Markdown file.
pub(crate) fn markdown(
    conditions: &Conditions,
    contenders: &[Contender],
    results: &[KernelResult],
) -> String {
    let mut text = head(conditions);
    text.push_str(&table(contenders, results));
    text.push('\n');
    text.push_str(&summary(contenders, results));
    text
}

fn head(conditions: &Conditions) -> String {
    let Conditions { machine, toolchains, flags, sizes, threads, notes } = conditions;
    let mut text = String::from("# Oxeye and its peers\n\n");
    line(&mut text, format_args!("- Date: {}; commit {}", machine.date, machine.commit));
    line(&mut text, format_args!("- Machine: {}, {} cores, {}", machine.cpu, machine.cores, machine.system));
    if let Some(load) = machine.load {
        line(&mut text, format_args!("- Load average at the start: {load:.2}"));
    }
    for toolchain in toolchains {
        line(&mut text, format_args!("- {}: {}", toolchain.compiler.word(), toolchain.version));
    }
    line(&mut text, format_args!("- Flags of every build: `{flags}`; threads: {threads}"));
    if !sizes.is_empty() {
        line(&mut text, format_args!("- Sizes other than the files': `{sizes}`"));
    }
    for note in notes {
        line(&mut text, format_args!("- Note: {note}"));
    }
    text.push_str(
        "\nTimes are medians of the kernel's own seconds over interleaved rounds. A ratio is the other's median over \
         Oxeye's, above 1 where Oxeye is faster; its spread is the smallest and largest ratio within one round. \
         `wrong`: other checksums than a plain -O2 build's; `timeout`: stopped at the limit.\n\n",
    );
    text
}

fn table(contenders: &[Contender], results: &[KernelResult]) -> String {
    let ours = oxeyes(contenders);
    let mut columns = vec!["kernel".to_owned(), "rounds".to_owned()];
    columns.extend(contenders.iter().map(|c| format!("{} (s)", c.label())));
    for compiler in &ours {
        let label = Contender::Oxeye(*compiler).label();
        columns.extend([
            format!("{label} vs {}", compiler.word()),
            format!("{label} vs better"),
            "spread".to_owned(),
            "tuning (s)".to_owned(),
            "verified".to_owned(),
        ]);
    }
    columns.push("notes".to_owned());

    let mut text = String::new();
    line(&mut text, format_args!("| {} |", columns.join(" | ")));
    let alignments: Vec<&str> =
        columns.iter().map(|c| if c == "kernel" || c == "notes" { "---" } else { "---:" }).collect();
    line(&mut text, format_args!("| {} |", alignments.join(" | ")));
    for result in results {
        line(&mut text, format_args!("| {} |", row(contenders, &ours, result).join(" | ")));
    }
    text
}

fn oxeyes(contenders: &[Contender]) -> Vec<Compiler> {
    contenders
        .iter()
        .filter_map(|contender| match contender {
            Contender::Oxeye(compiler) => Some(*compiler),
            Contender::Peer(_) => None,
        })
        .collect()
}

fn row(contenders: &[Contender], ours: &[Compiler], result: &KernelResult) -> Vec<String> {
    let mut cells = vec![result.name.clone(), result.rounds.to_string()];
    cells.extend(contenders.iter().map(|c| result.entry(*c).map_or("–".to_owned(), time_cell)));
    for compiler in ours {
        let contender = Contender::Oxeye(*compiler);
        let own = result.ratio(contender, own_peer(*compiler));
        let better = result.better_compiler().and_then(|peer| result.ratio(contender, peer));
        cells.push(own.map_or("–".to_owned(), ratio_cell));
        cells.push(better.map_or("–".to_owned(), ratio_cell));
        cells.push(better.map_or("–".to_owned(), |r| format!("{:.2}–{:.2}", r.low, r.high)));
        let tuning = result.entry(contender).and_then(|entry| entry.tuning.as_ref());
        cells.push(tuning.map_or("–".to_owned(), |t| format!("{:.1}", t.seconds)));
        cells.push(tuning.map_or("–".to_owned(), |t| if t.verified { "yes" } else { "**no**" }.to_owned()));
    }
    cells.push(notes(result).join("; ").replace('|', "\\|").replace('\n', " "));
    cells
}

fn own_peer(compiler: Compiler) -> Contender {
    Contender::Peer(match compiler {
        Compiler::Gcc => Peer::Gcc,
        Compiler::Clang => Peer::Clang,
    })
}

fn time_cell(entry: &Entry) -> String {
    match (entry.median(), entry.fault()) {
        (Some(seconds), _) => significant(seconds),
        (None, Some(fault)) => format!("**{}**", fault.word()),
        (None, None) if entry.failure.is_some() => "**failed**".to_owned(),
        (None, None) => "–".to_owned(),
    }
}

/// Four significant digits, without an exponent.
fn significant(value: f64) -> String {
    let magnitude = value.abs().log10().floor();
    let decimals = if magnitude.is_finite() { (3.0 - magnitude).clamp(0.0, 9.0) as usize } else { 3 };
    format!("{value:.decimals$}")
}

fn ratio_cell(ratio: Ratio) -> String {
    if ratio.is_slower() { format!("**{:.2}**", ratio.ratio) } else { format!("{:.2}", ratio.ratio) }
}

fn notes(result: &KernelResult) -> Vec<String> {
    let mut notes: Vec<String> = result.failure.iter().cloned().collect();
    for entry in &result.entries {
        let label = entry.contender.label();
        if let Some(failure) = &entry.failure {
            notes.push(format!("{label}: {failure}"));
        }
        match entry.fault() {
            Some(Outcome::Wrong(error)) if error.is_finite() => {
                notes.push(format!("{label}: wrong result, off by {error:.1e}"));
            }
            Some(Outcome::Wrong(_)) => notes.push(format!("{label}: wrong result")),
            Some(Outcome::Timeout) => notes.push(format!("{label}: too slow or hung")),
            Some(Outcome::Crash(why)) => notes.push(format!("{label}: {why}")),
            Some(Outcome::Good { .. }) | None => {}
        }
        if let Some(tuning) = &entry.tuning
            && tuning.tuned_nests == 0
        {
            notes.push(format!("{label}: no nest rewritten"));
        }
    }
    notes
}

fn summary(contenders: &[Contender], results: &[KernelResult]) -> String {
    let mut text = String::new();
    for contender in contenders {
        let measured = match contender {
            Contender::Peer(Peer::Gcc | Peer::Clang) => continue,
            Contender::Peer(Peer::Polly) | Contender::Oxeye(_) => [Group::Base, Group::Variant],
        };
        for group in measured {
            mean_line(&mut text, *contender, group, results);
        }
    }
    if oxeyes(contenders).len() > 1 {
        best_of_both_line(&mut text, results);
    }
    for compiler in oxeyes(contenders) {
        oxeye_lines(&mut text, compiler, results);
    }
    text
}

fn mean_line(text: &mut String, contender: Contender, group: Group, results: &[KernelResult]) {
    let of_group: Vec<&KernelResult> = results.iter().filter(|r| r.group == group).collect();
    let ratio = |r: &&KernelResult| r.better_compiler().and_then(|peer| r.ratio(contender, peer));
    let ratios: Vec<f64> = of_group.iter().filter_map(&ratio).map(|r| r.ratio).collect();
    let Some(mean) = geometric_mean(&ratios) else { return };
    let without: Vec<&str> =
        of_group.iter().filter(|r| ratio(r).is_none()).map(|r| r.name.as_str()).collect();
    let left_out =
        if without.is_empty() { String::new() } else { format!("; without {}", without.join(", ")) };
    let (label, word, n) = (contender.label(), group_word(group), ratios.len());
    line(
        text,
        format_args!(
            "- **{label}** against the better of gcc and clang: geometric mean {mean:.2} over {n} {word}{left_out}"
        ),
    );
}

fn group_word(group: Group) -> &'static str {
    match group {
        Group::Base => "base kernels",
        Group::Variant => "b variants",
        Group::Extra => "others",
    }
}

/// Each kernel with the better compiler for the tuned file, as the peers are also taken at their best.
fn best_of_both_line(text: &mut String, results: &[KernelResult]) {
    let best = |r: &KernelResult| {
        let peer = r.better_compiler()?;
        let ratios =
            [Compiler::Gcc, Compiler::Clang].map(|c| r.ratio(Contender::Oxeye(c), peer).map(|x| x.ratio));
        ratios.into_iter().flatten().max_by(f64::total_cmp)
    };
    let ratios: Vec<f64> = results.iter().filter(|r| r.group == Group::Base).filter_map(best).collect();
    if let Some(mean) = geometric_mean(&ratios) {
        let n = ratios.len();
        line(
            text,
            format_args!(
                "- Better of the two Oxeye builds against the better of gcc and clang: geometric mean {mean:.2} over {n} base kernels"
            ),
        );
    }
}

fn oxeye_lines(text: &mut String, compiler: Compiler, results: &[KernelResult]) {
    let contender = Contender::Oxeye(compiler);
    let label = contender.label();
    let named = |keep: &dyn Fn(&Entry) -> bool| -> Vec<String> {
        results.iter().filter(|r| r.entry(contender).is_some_and(keep)).map(|r| r.name.clone()).collect()
    };
    let ran = results.iter().filter(|r| r.entry(contender).is_some_and(|e| !e.samples.is_empty())).count();
    let wrong = named(&|e| matches!(e.fault(), Some(Outcome::Wrong(_))));
    let broken =
        named(&|e| e.failure.is_some() || matches!(e.fault(), Some(Outcome::Timeout | Outcome::Crash(_))));
    let unverified = named(&|e| e.tuning.as_ref().is_some_and(|t| !t.verified));
    let slower: Vec<String> = results
        .iter()
        .filter(|r| r.ratio(contender, own_peer(compiler)).is_some_and(|ratio| ratio.is_slower()))
        .map(|r| r.name.clone())
        .collect();
    let longest = |of: &dyn Fn(&Tuning) -> f64| {
        let tunings =
            results.iter().filter_map(|r| Some((of(r.entry(contender)?.tuning.as_ref()?), &r.name)));
        tunings.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let says = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    line(
        text,
        format_args!(
            "- {label}: wrong results: {} (of {ran} kernels run, tolerance {TOLERANCE:.0e} of a checksum)",
            says(&wrong)
        ),
    );
    line(text, format_args!("- {label}: failed, crashed or hung: {}", says(&broken)));
    line(text, format_args!("- {label}: not verified: {}", says(&unverified)));
    line(
        text,
        format_args!("- {label}: slower than plain {} beyond noise: {}", compiler.word(), says(&slower)),
    );
    if let Some((seconds, name)) = longest(&|t| t.seconds) {
        line(text, format_args!("- {label}: longest tuning: {seconds:.1} s ({name})"));
    }
    if let Some((seconds, name)) = longest(&|t| t.seconds - t.program_seconds) {
        let words = "longest tuning without the runs of the program itself";
        line(text, format_args!("- {label}: {words}: {seconds:.1} s ({name})"));
    }
    spellings_line(text, contender, results);
}

/// A second spelling that takes this many times longer is reported.
const SLOWER_SPELLING: f64 = 1.1;

/// Times of the tuned second spellings of computations, compared with the first.
fn spellings_line(text: &mut String, contender: Contender, results: &[KernelResult]) {
    let median = |name: &str| results.iter().find(|r| r.name == name)?.entry(contender)?.median();
    let of_variant = |r: &KernelResult| {
        let first = r.name.strip_suffix("-b").filter(|_| r.group == Group::Variant)?;
        Some((first.to_owned(), median(&r.name)? / median(first)?))
    };
    let ratios: Vec<(String, f64)> = results.iter().filter_map(of_variant).collect();
    if ratios.is_empty() {
        return;
    }
    let (n, n_good) = (ratios.len(), ratios.iter().filter(|(_, ratio)| *ratio <= SLOWER_SPELLING).count());
    let all: Vec<String> = ratios.iter().map(|(name, ratio)| format!("{name} {ratio:.2}")).collect();
    line(
        text,
        format_args!(
            "- {}: the b variant takes at most {SLOWER_SPELLING} times as long as its base kernel for {n_good} of {n} ({})",
            contender.label(),
            all.join(", ")
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::super::stats::tests::entry;
    use super::*;

    const CONTENDERS: [Contender; 4] = [
        Contender::Peer(Peer::Gcc),
        Contender::Peer(Peer::Clang),
        Contender::Peer(Peer::Polly),
        Contender::Oxeye(Compiler::Gcc),
    ];

    fn example() -> Vec<KernelResult> {
        let mut polly = entry(CONTENDERS[2], &[0.5, 0.5]);
        polly.samples[1].outcome = Outcome::Wrong(0.25);
        let mut ours = entry(CONTENDERS[3], &[0.25, 0.5]);
        ours.tuning = Some(Tuning {
            source: "gemm.gcc.c".into(),
            seconds: 12.5,
            program_seconds: 4.0,
            verified: true,
            nests: 2,
            tuned_nests: 1,
            added: Vec::new(),
        });
        let entries = vec![entry(CONTENDERS[0], &[2.0, 2.0]), entry(CONTENDERS[1], &[1.5, 1.5]), polly, ours];
        vec![KernelResult { name: "gemm".into(), group: Group::Base, rounds: 2, entries, failure: None }]
    }

    #[test]
    fn a_row_names_times_ratios_and_faults() {
        let text = table(&CONTENDERS, &example());
        let row = text.lines().nth(2).expect("one row");
        assert_eq!(
            row,
            "| gemm | 2 | 2.000 | 1.500 | **wrong** | 0.3750 | 5.33 | 4.00 | 3.00–6.00 | 12.5 | yes \
             | polly: wrong result, off by 2.5e-1 |"
        );
    }

    #[test]
    fn the_summary_leaves_wrong_results_out() {
        let text = summary(&CONTENDERS, &example());
        assert!(
            text.contains(
                "**oxeye-gcc** against the better of gcc and clang: geometric mean 4.00 over 1 base"
            )
        );
        assert!(!text.contains("**polly**"));
        assert!(text.contains("oxeye-gcc: wrong results: none (of 1 kernels run"));
    }

    #[test]
    fn second_spellings_are_compared_with_the_first() {
        let mut results = example();
        results.push(KernelResult { name: "gemm-b".into(), group: Group::Variant, ..results[0].clone() });
        let ours = results[1].entries.last_mut().expect("our own");
        ours.samples.iter_mut().for_each(|sample| {
            if let Outcome::Good { kernel_seconds, .. } = &mut sample.outcome {
                *kernel_seconds *= 2.0;
            }
        });
        let text = summary(&CONTENDERS, &results);
        assert!(text.contains("as its base kernel for 0 of 1 (gemm 2.00)"), "{text}");
        assert!(!summary(&CONTENDERS, &example()).contains("b variant takes"));
    }

    #[test]
    fn samples_are_written_one_per_line() {
        let text = samples_csv(&example());
        assert_eq!(text.lines().count(), 1 + 8);
        assert!(text.contains("gemm,polly,2,wrong,,0.000000,2.50e-1,"));
    }

    #[test]
    fn times_have_four_digits() {
        assert_eq!(significant(0.000_123_456), "0.0001235");
        assert_eq!(significant(13.2412), "13.24");
        assert_eq!(significant(0.0), "0.000");
    }
}
