//! The report on flow as a picture, as a graph for Graphviz, and as a page.

use super::{Flow, FlowNest, FlowReport};
use oxeye_profile::{FlowBox, FlowLine, Page, Plot, PlotSize, flows, format_bytes, format_percent};
use std::fmt::Write;

/// Names of arrays that are written at a flow.
const MOST_NAMES: usize = 3;

impl Flow {
    /// `u, v: 3.2 MB`.
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.arrays.iter().take(MOST_NAMES).map(|(name, _)| name.as_str()).collect();
        let more = if self.arrays.len() > MOST_NAMES { ", …" } else { "" };
        format!("{}{more}: {}", names.join(", "), format_bytes(self.bytes as f64))
    }
}

impl FlowNest {
    /// What became of what it stored.
    pub fn in_words(&self) -> String {
        if self.stored_bytes == 0 {
            return "stores nothing".to_owned();
        }
        let mut words = format!("stores {}", format_bytes(self.stored_bytes as f64));
        let mut add = |bytes: u64, what: &str| {
            let share = bytes as f64 / self.stored_bytes as f64;
            if share >= 0.005 {
                words += &format!(", {} {what}", format_percent(share));
            }
        };
        add(self.overwritten_unread_bytes, "overwritten unread");
        add(self.unchanged_bytes, "unchanged");
        words
    }
}

impl FlowReport {
    /// The picture for a file of its own, for light and dark.
    pub fn to_svg(&self) -> String {
        self.plot(PlotSize::Wide).standalone()
    }

    /// The boxes: elsewhere, the nests in the order in which they first ran, and what no nest reads.
    fn plot(&self, size: PlotSize) -> Plot {
        let outside =
            |title: &str, text: &str| FlowBox { title: title.into(), text: text.into(), is_outside: true };
        let mut boxes = vec![outside("elsewhere", "code that is not a watched nest")];
        boxes.extend(self.nests.iter().map(|nest| FlowBox {
            title: format!("{}:{}", nest.function, nest.line),
            text: nest.in_words(),
            is_outside: false,
        }));
        let position = |id: usize| self.nests.iter().position(|nest| nest.id == id).map(|k| k + 1);
        let line = |flow: &Flow| {
            let from = flow.from.map_or(Some(0), position)?;
            let (to, label) = (position(flow.to)?, flow.in_words());
            Some(FlowLine { from, to, label, amount: flow.bytes as f64, is_unread: false })
        };
        let mut lines: Vec<FlowLine> = self.flows.iter().filter_map(line).collect();
        let last = boxes.len();
        for (k, nest) in self.nests.iter().enumerate().filter(|(_, nest)| nest.left_bytes > 0) {
            let amount = nest.left_bytes as f64;
            lines.push(FlowLine {
                from: k + 1,
                to: last,
                label: format_bytes(amount),
                amount,
                is_unread: true,
            });
        }
        if lines.iter().any(|line| line.to == last) {
            boxes.push(outside("read by no nest", "left when the program ends"));
        }
        flows(&boxes, &lines, size)
    }

    /// The graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let node = |id: Option<usize>| id.map_or_else(|| "elsewhere".to_owned(), |id| format!("n{id}"));
        let mut text = "digraph flow {\n  node [shape=box];\n  elsewhere [style=dashed];\n".to_owned();
        for nest in &self.nests {
            let label = format!("{}:{}\n{}", nest.function, nest.line, nest.in_words());
            let _ = writeln!(text, "  n{} [label={}];", nest.id, quoted(&label).replace('\n', "\\n"));
        }
        for flow in &self.flows {
            let (from, to) = (node(flow.from), node(Some(flow.to)));
            let width = 1.0 + (flow.bytes.max(1) as f64).log10() / 3.0;
            let label = quoted(&flow.in_words());
            let _ = writeln!(text, "  {from} -> {to} [label={label}, penwidth={width:.1}];");
        }
        for nest in self.nests.iter().filter(|nest| nest.left_bytes > 0) {
            let label = quoted(&format_bytes(nest.left_bytes as f64));
            let _ = writeln!(text, "  n{} -> unread [label={label}, style=dashed];", nest.id);
        }
        if self.nests.iter().any(|nest| nest.left_bytes > 0) {
            text += "  unread [label=\"read by no nest\", style=dashed];\n";
        }
        text + "}\n"
    }

    /// The report as one HTML file with the picture, that needs nothing else.
    pub fn to_html(&self) -> String {
        let mut page =
            Page::new(&self.input.display().to_string(), "flow", std::slice::from_ref(&self.compiler));
        let looked = &self.looked;
        let sum = |of: &dyn Fn(&FlowNest) -> u64| self.nests.iter().map(of).sum::<u64>() as f64;
        let stored = sum(&|nest| nest.stored_bytes);
        let share = |part: f64| if stored > 0.0 { format_percent(part / stored) } else { "–".into() };
        let between: u64 = self.flows.iter().filter(|flow| flow.from.is_some()).map(|flow| flow.bytes).sum();
        let unread = share(sum(&|nest| nest.overwritten_unread_bytes));
        page.tiles(&[
            ("Stored", format_bytes(stored), format!("by {} nests", self.nests.len())),
            ("Flows", format_bytes(between as f64), "between nests".to_owned()),
            ("Overwritten unread", unread, "of what is stored".to_owned()),
            ("Unchanged", share(sum(&|nest| nest.unchanged_bytes)), "of what is stored".to_owned()),
        ]);
        page.figure("What flows where", |size| self.plot(size));
        page.table("Flows", &["From", "To", "Bytes", "Arrays"], &[2], &self.rows());
        let heads = [
            "Nest",
            "Runs watched",
            "Stored",
            "Unchanged",
            "Overwritten unread",
            "Left unread",
            "Read of its own",
        ];
        page.table("Nests", &heads, &[1, 2, 3, 4, 5, 6], &self.nest_rows());
        page.table(
            "Arrays that held the same",
            &["One", "Other", "Bytes", "Times"],
            &[2, 3],
            &self.same_rows(),
        );
        let skipped = self.skipped.iter().map(|nest| format!("{} was not watched: {}", nest.name, nest.why));
        let notes: Vec<String> =
            std::iter::once(looked.in_words()).chain(self.notes.iter().cloned()).chain(skipped).collect();
        page.sentences("About this run", &notes);
        page.finish()
    }

    /// The flows as rows of a table: from, to, bytes, arrays.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |flow: &Flow| {
            let arrays: Vec<String> = flow
                .arrays
                .iter()
                .map(|(name, bytes)| match flow.arrays.len() {
                    1 => name.clone(),
                    _ => format!("{name} {}", format_bytes(*bytes as f64)),
                })
                .collect();
            vec![
                flow.from.map_or_else(|| "elsewhere".to_owned(), |from| self.name_of(from)),
                self.name_of(flow.to),
                format_bytes(flow.bytes as f64),
                arrays.join(", "),
            ]
        };
        self.flows.iter().map(row).collect()
    }

    /// The nests as rows of a table: nest, runs watched, bytes stored, unchanged, overwritten unread, left unread, and read
    /// of its own.
    pub fn nest_rows(&self) -> Vec<Vec<String>> {
        let row = |nest: &FlowNest| {
            let part = |bytes: u64| match (bytes, nest.stored_bytes) {
                (0, _) | (_, 0) => "–".to_owned(),
                (part, all) => format_percent(part as f64 / all as f64),
            };
            vec![
                format!("{}:{}", nest.function, nest.line),
                match nest.watched_runs == nest.runs {
                    true => nest.runs.to_string(),
                    false => format!("{} of {}", nest.watched_runs, nest.runs),
                },
                format_bytes(nest.stored_bytes as f64),
                part(nest.unchanged_bytes),
                part(nest.overwritten_unread_bytes),
                part(nest.left_bytes),
                if nest.inner_bytes == 0 { "–".to_owned() } else { format_bytes(nest.inner_bytes as f64) },
            ]
        };
        self.nests.iter().map(row).collect()
    }

    /// Arrays that held the same as rows of a table: one, the other, bytes, times.
    pub fn same_rows(&self) -> Vec<Vec<String>> {
        let name = |(array, nest): &(String, usize)| format!("{array} in {}", self.name_of(*nest));
        let row = |same: &super::Duplicate| {
            let bytes = format_bytes(same.bytes as f64);
            vec![name(&same.first), name(&same.second), bytes, same.times.to_string()]
        };
        self.duplicates.iter().map(row).collect()
    }
}
