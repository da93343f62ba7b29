//! The results as Markdown and CSV.

use std::fmt::Write;

use super::families::Families;
use super::markdown::cell;
use super::report::Place;
use super::speedup::{Method, ProgramRun, Scope};
use super::statistics::{Comparison, TIE};
use super::summary::{GOOD_SHARE, Goal, Summary, against};
use crate::bench::stats::geometric_mean;
use crate::machine::Machine;

/// The conditions of an evaluation, for the head of the Markdown file.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    /// Where and when the tables were made.
    pub(crate) machine: Machine,
    /// Where the searches ran: one place, if all is well.
    pub(crate) places: Vec<Place>,
    /// Flags of every build.
    pub(crate) compiler: String,
    /// The divisor of all sizes.
    pub(crate) shrink: u64,
    /// Candidates that a search measured for a nest, at most.
    pub(crate) max_trials: u32,
    /// Seconds of a search, at most.
    pub(crate) budget: u64,
}

/// Everything in the results.
pub(crate) struct Evaluation<'a> {
    /// How it was made.
    pub(crate) conditions: &'a Conditions,
    /// The programs that were searched.
    pub(crate) programs: &'a [ProgramRun],
    /// Programs without a result, and why.
    pub(crate) failures: &'a [(String, String)],
    /// The goals.
    pub(crate) goals: &'a [Goal],
    /// Results of training with families left out, if known.
    pub(crate) families: Option<&'a Families>,
    /// Names of the plots beside the file, with what they show.
    pub(crate) plots: &'a [(&'a str, String)],
}

impl Evaluation<'_> {
    /// As Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = self.head();
        text += "## What must hold\n\n| what | found | |\n|---|---|---|\n";
        for goal in self.goals {
            let Goal { wanted, found, answer } = goal;
            let word = answer.word();
            line(&mut text, format_args!("| {wanted} | {} | **{word}** |", cell(found)));
        }
        for (name, description) in self.plots {
            line(&mut text, format_args!("\n![{description}]({name})"));
        }
        text += &self.methods();
        text += &self.comparisons();
        text += &self.rows();
        if let Some(families) = self.families {
            text += &families.markdown();
        }
        text
    }

    fn head(&self) -> String {
        let Conditions { machine, places, compiler, shrink, max_trials, budget } = self.conditions;
        let mut text = String::from("# Transfer tuning, evaluated\n\n");
        line(&mut text, format_args!("- Written {} at commit {}", machine.date, machine.commit));
        for Place { cpu, threads, compiler } in places {
            line(&mut text, format_args!("- Measured on: {cpu}, {threads} threads, {compiler}"));
        }
        line(&mut text, format_args!("- Build: `{compiler}`, all sizes divided by {shrink}"));
        line(
            &mut text,
            format_args!("- Search: {max_trials} candidates a nest and {budget} s a program, at most"),
        );
        text += "\nOne run of `oxeye search --compare-donors` a program. Its first generation also measures what each method \
                 would have measured: the three candidates it holds most promising. All candidates of a nest, the \
                 search's own included, meet the same data, the same verification and the same timer; the best of the \
                 search is the best of all of them. The speedup of a program is computed from the times of its nests: \
                 a nest takes the time of the fastest candidate, or its own where none is faster, as often as the program \
                 runs it, and what is outside the searched nests stays as it is. Times are those of screening, so the \
                 best of many candidates is somewhat flattered.\n\n";
        text
    }

    /// The programs that figures are about, with all but the name.
    fn methods(&self) -> String {
        let mut text = String::from(
            "\n## Methods\n\nGeometric means over programs. Measurements are candidates compiled and run.\n\n\
             | method | speedup | share of the search's | of searched nests alone |",
        );
        line(
            &mut text,
            format_args!(
                " programs with {:.0} % of it | worst | measurements a nest | fewer than the search |",
                100.0 * GOOD_SHARE
            ),
        );
        text += "|---|--:|--:|--:|--:|---|--:|--:|\n";
        let speedups: Vec<f64> = self.programs.iter().map(|p| p.search_speedup(Scope::Program)).collect();
        let n_nests: usize = self.programs.iter().map(|p| p.nests.len()).sum();
        let n_trials: usize = self.programs.iter().map(ProgramRun::n_trials).sum();
        if let Some(speedup) = geometric_mean(&speedups) {
            let n = self.programs.len();
            let per_nest = n_trials as f64 / n_nests as f64;
            line(
                &mut text,
                format_args!(
                    "| search | {speedup:.3} | 100 % | 100 % | {n} of {n} | – | {per_nest:.1} | – |"
                ),
            );
        }
        for s in self.summaries() {
            let saving = s.saving().map_or("–".into(), |saving| format!("{saving:.1} times"));
            line(
                &mut text,
                format_args!(
                    "| {} | {:.3} | {:.1} % | {:.1} % | {} of {} | {} {:.0} % | {:.1} | {saving} |",
                    s.method.label(),
                    s.speedup,
                    100.0 * s.share,
                    100.0 * s.share_of_nests,
                    s.n_good,
                    s.n_programs,
                    s.worst.1,
                    100.0 * s.worst.0,
                    s.n_picks as f64 / s.n_nests as f64,
                ),
            );
        }
        text
    }

    fn summaries(&self) -> Vec<Summary> {
        Method::ALL.into_iter().filter_map(|method| Summary::of(method, self.programs)).collect()
    }

    fn comparisons(&self) -> String {
        let mut text = format!(
            "\n## The embedding against the others\n\nRatios of speedups on the same programs; bold where chance does not \
             explain them. The interval is a bootstrap over computations, both spellings of one drawn together. Even is \
             within {:.0} %.\n\n\
             | against | of programs | 95 % interval | of searched nests alone | 95 % interval | better | even | worse |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|\n",
            100.0 * TIE
        );
        for other in &Method::ALL[1..] {
            let of = |scope| against((Method::Embedding, *other), scope, self.programs);
            let (Some(whole), Some(nests)) = (of(Scope::Program), of(Scope::Nests)) else { continue };
            let [better, even, worse] = whole.wins;
            line(
                &mut text,
                format_args!(
                    "| {} | {} | {} | {better} | {even} | {worse} |",
                    other.label(),
                    comparison_cells(whole),
                    comparison_cells(nests)
                ),
            );
        }
        text
    }

    fn rows(&self) -> String {
        let mut text = String::from(
            "\n## Programs\n\nSpeedups, and in brackets the share of the search's; bold where it is too little. Searched is \
             the share of the program's time in the searched nests. The measured speedup is of the whole program with what \
             the search chose, start-up and output included.\n\n\
             | program | nests | searched | trials | search | measured |",
        );
        for method in Method::ALL {
            let _ = write!(text, " {} |", method.label());
        }
        text += "\n|---|--:|--:|--:|--:|--:|";
        text += &"--:|".repeat(Method::ALL.len());
        text.push('\n');
        for program in self.programs {
            let measured = program.measured_speedup.map_or("–".into(), |s| format!("{s:.2}"));
            let searched = program.searched_share().map_or("–".into(), |s| format!("{:.0} %", 100.0 * s));
            let _ = write!(
                text,
                "| {} | {} | {searched} | {} | {:.2} | {measured} |",
                program.name,
                program.nests.len(),
                program.n_trials(),
                program.search_speedup(Scope::Program)
            );
            for method in Method::ALL {
                let _ = write!(text, " {} |", method_cell(program, method));
            }
            text.push('\n');
        }
        for (name, why) in self.failures {
            line(
                &mut text,
                format_args!("| {name} | **failed** | {} |{}", cell(why), " |".repeat(3 + Method::ALL.len())),
            );
        }
        text
    }

    /// A line for each program and method, the search among them.
    pub(crate) fn csv(&self) -> String {
        let mut text =
            String::from("program,method,nests,measurements,speedup,share_of_search,speedup_of_nests\n");
        for program in self.programs {
            let (name, n_nests) = (&program.name, program.nests.len());
            let search = [Scope::Program, Scope::Nests].map(|scope| program.search_speedup(scope));
            let n_trials = program.n_trials();
            line(
                &mut text,
                format_args!("{name},search,{n_nests},{n_trials},{:.6},1,{:.6}", search[0], search[1]),
            );
            for method in Method::ALL {
                let of = |scope| program.method_speedup(scope, method);
                let (Some(whole), Some(nests)) = (of(Scope::Program), of(Scope::Nests)) else { continue };
                let (word, n_picks, share) = (method.word(), program.n_picks(method), whole / search[0]);
                line(
                    &mut text,
                    format_args!("{name},{word},{n_nests},{n_picks},{whole:.6},{share:.6},{nests:.6}"),
                );
            }
        }
        text
    }

    /// A line for each nest and method, the search among them: the data from which the rest is computed.
    pub(crate) fn nests_csv(&self) -> String {
        let mut text = String::from(
            "program,function,line,share,invocations,baseline_seconds,method,measurements,best_seconds\n",
        );
        let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.9}"));
        for program in self.programs {
            for nest in &program.nests {
                let picks = nest.picks.iter().map(|(method, tries)| (method.word(), *tries));
                for (word, tries) in std::iter::once(("search", nest.search)).chain(picks) {
                    line(
                        &mut text,
                        format_args!(
                            "{},{},{},{},{},{:.9},{word},{},{}",
                            program.name,
                            nest.function,
                            nest.line,
                            number(nest.share),
                            nest.invocations.map_or(String::new(), |n| n.to_string()),
                            nest.baseline_seconds,
                            tries.n_measured,
                            number(tries.best_seconds)
                        ),
                    );
                }
            }
        }
        text
    }
}

fn comparison_cells(c: Comparison) -> String {
    let mark = if c.is_clear() { "**" } else { "" };
    format!("{mark}{:.3}{mark} | {:.3} to {:.3}", c.ratio, c.low, c.high)
}

fn method_cell(program: &ProgramRun, method: Method) -> String {
    let speedup = program.method_speedup(Scope::Program, method);
    let share = program.share_of_search(Scope::Program, method);
    match (speedup, share) {
        (Some(speedup), Some(share)) if share < GOOD_SHARE => {
            format!("{speedup:.2} (**{:.0} %**)", 100.0 * share)
        }
        (Some(speedup), Some(share)) => format!("{speedup:.2} ({:.0} %)", 100.0 * share),
        _ => "–".into(),
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{arguments}");
}

#[cfg(test)]
mod tests {
    use super::super::summary::Answer;
    use super::*;
    use crate::eval::speedup::tests::{nest, program};

    fn programs() -> Vec<ProgramRun> {
        let mut missing = nest(1.0, 0.5, [0.5, 0.5, 1.5, 1.0, 0.5]);
        missing.picks.remove(&Method::Static);
        vec![
            program("gemm", vec![nest(1.0, 0.1, [0.1, 0.125, 0.2, 0.5, 0.25])]),
            program("lu", vec![missing]),
        ]
    }

    fn with(use_it: impl FnOnce(&Evaluation<'_>) -> String) -> String {
        let machine = Machine {
            cpu: "cpu".into(),
            cores: 2,
            system: "system".into(),
            date: "today".into(),
            load: None,
            commit: "abc".into(),
        };
        let place = Place { cpu: "cpu".into(), threads: 2, compiler: "gcc 12".into() };
        let conditions = Conditions {
            machine,
            places: vec![place],
            compiler: "gcc -O3".into(),
            shrink: 2,
            max_trials: 200,
            budget: 600,
        };
        let goals = [Goal { wanted: "good".into(), found: "a | b".into(), answer: Answer::NotMet }];
        let failures = [("adi".to_owned(), "does not | build\nat all".to_owned())];
        let plots = [("eval.svg", "shares".to_owned())];
        use_it(&Evaluation {
            conditions: &conditions,
            programs: &programs(),
            failures: &failures,
            goals: &goals,
            families: None,
            plots: &plots,
        })
    }

    #[test]
    fn every_table_has_as_many_cells_as_its_head() {
        let text = with(|e| e.markdown());
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        let mut n_tables = 0;
        for (k, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("|--")) {
            n_tables += 1;
            let table = lines[k + 1..].iter().take_while(|l| l.starts_with('|'));
            for row in std::iter::once(&lines[k - 1]).chain(table) {
                assert_eq!(cells(row), cells(line), "{row}");
            }
        }
        assert_eq!(n_tables, 4);
    }

    #[test]
    fn rows_say_what_was_found() {
        let text = with(|e| e.markdown());
        for expected in [
            "| gemm | 1 | 100 % | 200 | 10.00 | – | 10.00 (100 %) | 8.00 (80 %) | 5.00 (**50 %**) | 2.00 (**20 %**) | 4.00 (**40 %**) |",
            "| lu | 1 | 100 % | 200 | 2.00 | – | 2.00 (100 %) | – | 1.00 (**50 %**) |",
            "| adi | **failed** | does not \\| build at all |",
            "| good | a \\| b | **not met** |",
            "| embedding, static + profile | 4.472 | 100.0 % | 100.0 % | 2 of 2 | gemm 100 % | 3.0 | 66.7 times |",
            "| embedding, static | 8.000 | 80.0 % | 80.0 % | 1 of 1 |",
            "- Measured on: cpu, 2 threads, gcc 12",
            "![shares](eval.svg)",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn csv_has_a_line_for_each_program_and_method() {
        let text = with(|e| e.csv());
        assert_eq!(text.lines().count(), 1 + 6 + 5, "{text}");
        assert!(text.contains("gemm,search,1,200,10.000000,1,10.000000\n"), "{text}");
        assert!(text.contains("lu,hand-made,1,3,1.000000,0.500000,1.000000\n"), "{text}");
        let nests = with(|e| e.nests_csv());
        assert_eq!(nests.lines().count(), 1 + 6 + 5, "{nests}");
        assert!(nests.contains("gemm,kernel,7,1.000000000,1,1.000000000,static,3,0.125000000\n"), "{nests}");
    }
}
