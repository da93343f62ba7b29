//! Loops before a nest that find out which rows behind pointers it uses.

use crate::context::Context;
use crate::print::prec;
use oxeye_binding::{Entry, RowScan, ScanStep};
use oxeye_ir::{ArrayId, Expr, SymId};
use std::collections::BTreeSet;

/// The symbols that scans find, in pairs of the least and the greatest of some values.
pub(crate) fn scanned<'a>(scans: impl IntoIterator<Item = &'a RowScan> + Clone) -> Vec<(SymId, SymId)> {
    let of = |is_least| {
        let mut found: Vec<SymId> = Vec::new();
        let ends = scans.clone().into_iter().flat_map(|scan| &scan.ends);
        for end in ends.filter(|end| end.is_least == is_least) {
            if !found.contains(&end.symbol) {
                found.push(end.symbol);
            }
        }
        found
    };
    of(true).into_iter().zip(of(false)).collect()
}

/// The scans that tests of rows need, and the others, each with those that find the same symbols.
fn apart(entry: &Entry) -> (Vec<&RowScan>, Vec<Vec<&RowScan>>) {
    let is_of_reach = |symbol: SymId| entry.reaches.iter().any(|r| [r.first, r.last].contains(&symbol));
    let share = |a: &RowScan, b: &RowScan| a.ends.iter().any(|x| b.ends.iter().any(|y| x.symbol == y.symbol));
    let mut groups: Vec<Vec<&RowScan>> = Vec::new();
    for scan in &entry.scans {
        let (same, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|other| share(scan, other)));
        groups = others;
        groups.push(same.into_iter().flatten().chain([scan]).collect());
    }
    let (for_rows, others): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|group| group.iter().flat_map(|scan| &scan.ends).any(|end| !is_of_reach(end.symbol)));
    (for_rows.into_iter().flatten().collect(), others)
}

/// Lines that are needed if one of the names is used that they declare.
pub(crate) struct IfUsed {
    pub(crate) names: Vec<String>,
    pub(crate) lines: Vec<String>,
    /// Those that are directives of OpenMP for several threads.
    pub(crate) directives: Vec<usize>,
}

impl IfUsed {
    pub(crate) fn declaration(name: &str, line: String) -> Self {
        Self { names: vec![name.to_owned()], lines: vec![line], directives: Vec::new() }
    }
}

impl Context<'_> {
    /// What finds the symbols of an entry: those that its tests need, and others, which are looked for only if they are used and
    /// those tests hold.
    pub(crate) fn entry_scans(
        &mut self,
        entry: &Entry,
        reached: Option<&str>,
        has_threads: bool,
    ) -> (Vec<String>, Vec<IfUsed>) {
        let (needed, others) = apart(entry);
        let lines = self.scan_lines(entry, &needed, (reached, false)).lines;
        let ends: BTreeSet<SymId> = needed.iter().flat_map(|scan| &scan.ends).map(|end| end.symbol).collect();
        let depends = |test: &Expr| {
            let mut found = false;
            test.visit(&mut |e| {
                found |= matches!(e, Expr::Affine(a) if ends.iter().any(|symbol| a.uses(*symbol)));
            });
            found
        };
        let tests: Vec<&Expr> = entry.tests.iter().filter(|test| depends(test)).collect();
        let tests: Vec<String> = tests.into_iter().map(|test| self.entry_test(test)).collect();
        let conditions: Vec<&str> = reached.into_iter().chain(tests.iter().map(String::as_str)).collect();
        let condition = (!conditions.is_empty()).then(|| conditions.join(" && "));
        let others =
            others.iter().map(|scans| self.scan_lines(entry, scans, (condition.as_deref(), has_threads)));
        (lines, others.collect())
    }

    /// Declarations of the symbols that scans of an entry find, and the statements that do, under a condition if there is one.
    /// Where nothing is used, they are an empty range.
    fn scan_lines(
        &mut self,
        entry: &Entry,
        scans: &[&RowScan],
        (condition, has_threads): (Option<&str>, bool),
    ) -> IfUsed {
        let symbols = scanned(scans.iter().copied());
        let (mut lines, mut directives) = (Vec::new(), Vec::new());
        let pairs: Vec<(String, String)> =
            symbols.iter().map(|(first, last)| (self.symbol_name(*first), self.symbol_name(*last))).collect();
        for (first, last) in &pairs {
            lines.push(format!("long {first} = __LONG_MAX__, {last} = -__LONG_MAX__ - 1;"));
        }
        if symbols.is_empty() {
            return IfUsed { names: Vec::new(), lines, directives };
        }
        // Everything is read where the user's text reads it.
        let all: BTreeSet<ArrayId> = entry.rows.iter().map(|test| test.array).collect();
        let apart = std::mem::replace(&mut self.apart, all);
        let (watch, checks) = (self.watch.take(), self.checks.take());
        let is_indented = condition.is_some();
        lines.extend(condition.map(|condition| format!("if ({condition}) {{")));
        for scan in scans {
            let mut found = self.scan(scan);
            // Behind what the loop's end is computed by.
            let outermost = found.iter().position(|line| line.starts_with("for ("));
            if let Some(at) = outermost.filter(|_| has_threads)
                && let Some(directive) = self.shared_scan(scan)
            {
                directives.push(lines.len() + at);
                found.insert(at, directive);
            }
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
        let names = pairs.into_iter().flat_map(|(first, last)| [first, last]).collect();
        IfUsed { names, lines, directives }
    }

    /// The directive that shares the iterations of a scan's outermost loop among threads, if they all count.
    fn shared_scan(&self, scan: &RowScan) -> Option<String> {
        let is_shared = scan.n_deciding > 0 && matches!(scan.steps.first(), Some(ScanStep::Loop(_)));
        if !is_shared || self.declares_first {
            return None;
        }
        let clause = |is_least: bool, operator: &str| {
            let mut names: Vec<String> = Vec::new();
            for end in scan.ends.iter().filter(|end| end.is_least == is_least) {
                let name = self.symbol_name(end.symbol);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.is_empty() {
                String::new()
            } else {
                format!(" reduction({operator}:{})", names.join(", "))
            }
        };
        Some(format!(
            "#pragma omp parallel for schedule(static){}{}",
            clause(true, "min"),
            clause(false, "max")
        ))
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
        let mut named: Vec<(&Expr, String)> = Vec::new();
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
                None => match named.iter().find(|(value, _)| **value == end.value) {
                    Some((_, name)) => name.clone(),
                    None => {
                        let new = self.fresh("index");
                        text.line(format!("const long {new} = {};", value.text));
                        named.push((&end.value, new.clone()));
                        new
                    }
                },
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
