//! Loops before a nest that find out which rows behind pointers it uses.

use crate::context::Context;
use crate::print::prec;
use oxeye_binding::{Entry, RowScan, ScanStep};
use oxeye_ir::{ArrayId, SymId};
use std::collections::BTreeSet;

/// The symbols that scans find, in pairs of the least and the greatest of some values.
pub(crate) fn scanned(entry: &Entry) -> Vec<(SymId, SymId)> {
    let of = |is_least| {
        let mut found: Vec<SymId> = Vec::new();
        for end in entry.scans.iter().flat_map(|scan| &scan.ends).filter(|end| end.is_least == is_least) {
            if !found.contains(&end.symbol) {
                found.push(end.symbol);
            }
        }
        found
    };
    of(true).into_iter().zip(of(false)).collect()
}

impl Context<'_> {
    /// Declarations of the symbols that scans find, and the statements that do, under a condition if there is one. Where
    /// nothing is used, they are an empty range.
    pub(crate) fn scan_lines(&mut self, entry: &Entry, condition: Option<&str>) -> Vec<String> {
        let symbols = scanned(entry);
        let mut lines = Vec::new();
        let pairs: Vec<(String, String)> =
            symbols.iter().map(|(first, last)| (self.symbol_name(*first), self.symbol_name(*last))).collect();
        for (first, last) in &pairs {
            lines.push(format!("long {first} = __LONG_MAX__, {last} = -__LONG_MAX__ - 1;"));
        }
        if symbols.is_empty() {
            return lines;
        }
        // Everything is read where the user's text reads it.
        let all: BTreeSet<ArrayId> = entry.rows.iter().map(|test| test.array).collect();
        let apart = std::mem::replace(&mut self.apart, all);
        let (watch, checks) = (self.watch.take(), self.checks.take());
        let is_indented = condition.is_some();
        lines.extend(condition.map(|condition| format!("if ({condition}) {{")));
        for scan in &entry.scans {
            let mut found = self.scan(scan);
            if self.declares_first {
                let inside = found.into_iter().map(|line| format!("    {line}"));
                found = ["{".to_owned()].into_iter().chain(inside).chain(["}".to_owned()]).collect();
            }
            lines
                .extend(found.into_iter().map(|line| if is_indented { format!("    {line}") } else { line }));
        }
        lines.extend(condition.map(|_| "}".to_owned()));
        (self.apart, self.watch, self.checks) = (apart, watch, checks);
        for (first, last) in &pairs {
            lines.push(format!("if ({first} > {last})"));
            lines.push(format!("    {first} = 0, {last} = -1;"));
        }
        lines
    }

    fn symbol_name(&self, symbol: SymId) -> String {
        match self.symbol_names.get(&symbol) {
            Some(name) => name.clone(),
            None => self.program.symbols.get(&symbol).map_or_else(String::new, |s| s.name.clone()),
        }
    }

    fn scan(&mut self, scan: &RowScan) -> Vec<String> {
        let mut text = Lines::default();
        let (deciding, rest) = scan.steps.split_at(scan.n_deciding.min(scan.steps.len()));
        self.steps(deciding, &mut text);
        let is_loop = |step: &ScanStep| matches!(step, ScanStep::Loop(_));
        if let Some(innermost) = rest.iter().rposition(is_loop) {
            // The first use is enough.
            let found = self.fresh("found");
            text.line(format!("int {found} = 0;"));
            let depth = text.ends.len();
            for (k, step) in rest.iter().enumerate() {
                self.steps(std::slice::from_ref(step), &mut text);
                if is_loop(step) && k < innermost {
                    text.end_with(format!("if ({found}) break;"));
                }
            }
            text.line(format!("{found} = 1;"));
            text.line("break;");
            text.close(depth);
            text.block(format!("if ({found}) {{"));
        } else {
            self.steps(rest, &mut text);
        }
        let mut conditions = Vec::new();
        for end in &scan.ends {
            // An iterator by itself has the value that it has, of whatever type; numbers from memory are computed with as in
            // the nest.
            let is_iterator = end.value.as_affine().is_some_and(|a| a.as_var().is_some());
            let is_wide = !is_iterator && end.value.reads().is_empty();
            let was_wide = std::mem::replace(&mut self.wide, is_wide);
            let value = self.expr(&end.value);
            self.wide = was_wide;
            let (name, compare) = (self.symbol_name(end.symbol), if end.is_least { "<" } else { ">" });
            let value = match end.value.as_affine() {
                Some(_) => value.at(prec::ADD),
                None => {
                    let new = self.fresh(if end.is_least { "least" } else { "greatest" });
                    text.line(format!("const long {new} = {};", value.text));
                    new
                }
            };
            let condition = [format!("if ({value} {compare} {name})"), format!("    {name} = {value};")];
            match self.declares_first {
                true => conditions.extend(condition),
                false => condition.iter().for_each(|line| text.line(line)),
            }
        }
        conditions.iter().for_each(|line| text.line(line));
        text.close(0);
        for step in &scan.steps {
            if let ScanStep::Loop(l) = step {
                self.leave_loop(l.id);
            }
        }
        text.lines
    }

    fn steps(&mut self, steps: &[ScanStep], text: &mut Lines) {
        for step in steps {
            match step {
                ScanStep::Loop(l) => {
                    let mut hoisted = Vec::new();
                    let header = self.header(l, &mut hoisted);
                    hoisted.into_iter().for_each(|line| text.line(line));
                    text.block(format!("{header} {{"));
                }
                ScanStep::If(condition) => {
                    let condition = self.expr(condition).text;
                    text.block(format!("if ({condition}) {{"));
                }
            }
        }
    }
}

/// Lines in blocks that are open.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    /// The last statement of each open block, if there is one.
    ends: Vec<Option<String>>,
}

impl Lines {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.ends.len()), text.as_ref()));
    }

    fn block(&mut self, start: String) {
        self.line(start);
        self.ends.push(None);
    }

    /// What the innermost block ends with.
    fn end_with(&mut self, last: String) {
        if let Some(end) = self.ends.last_mut() {
            *end = Some(last);
        }
    }

    fn close(&mut self, depth: usize) {
        while self.ends.len() > depth {
            if let Some(last) = self.ends.last_mut().and_then(Option::take) {
                self.line(last);
            }
            self.ends.pop();
            self.line("}");
        }
    }
}
