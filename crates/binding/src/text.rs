//! The textual form, which the crate's front page describes.

use crate::{
    Advance, Binding, Bound, Constant, Distance, Entry, Reach, Record, RowForm, RowScan, RowTest, ScanEnd,
    ScanStep, Source, Team, View,
};
use oxeye_ir::{ArrayId, Expr, Names, NestId, ParseError, Parser, Program, SymId, Threads, quoted};
use std::fmt::{self, Write};

type Parsed<T> = Result<T, ParseError>;

const ARRAY: &str = "an array's id (A0)";
const SYMBOL: &str = "a symbol's id (P0)";
const NEST: &str = "a nest's id (N0)";

/// The textual form of both; [`Bound::parse`] reads it back.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.binding.display(&self.program))
    }
}

impl Bound {
    /// Reads the textual form that `Display` writes, and that of programs alone.
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn parse(text: &str) -> Result<Bound, ParseError> {
        let mut binding = Binding::default();
        let program =
            Program::parse_with(text, &mut |parser, program| declaration(parser, program, &mut binding))?;
        Ok(Bound { program, binding })
    }
}

impl Binding {
    /// The textual form of a program with this binding.
    pub fn display<'a>(&'a self, program: &'a Program) -> String {
        program.display_with(&|names| self.lines(names))
    }

    /// The declarations, a line each.
    fn lines<'a>(&'a self, names: &mut Names<'a>) -> Vec<String> {
        let mut lines = Vec::new();
        for (array, origin) in &self.origins {
            let origin: Vec<String> = origin.iter().map(i64::to_string).collect();
            lines.push(format!("origin {array} ({})", origin.join(", ")));
        }
        let sources = || self.sources.iter();
        lines.extend(sources().filter_map(|(id, source)| match source {
            Source::Distance(distance) => Some(distance_line(*id, distance)),
            _ => None,
        }));
        lines.extend(sources().filter_map(|(id, source)| match source {
            Source::Member(view) => Some(view_line(id, view)),
            _ => None,
        }));
        lines.extend(self.views.iter().map(|(id, view)| view_line(id, view)));
        lines.extend(
            self.loads().map(|(id, access)| format!("load {id} {}", names.expr(&Expr::Read(access.clone())))),
        );
        lines.extend(self.may_change.iter().map(|(constant, array)| match constant {
            Constant::Symbol(id) => format!("may_change {id} {array}"),
            Constant::Base(id) => format!("may_change {id} {array}"),
        }));
        lines.extend(
            self.entries.iter().map(|(nest, entry)| format!("entry {nest}{}", entry_text(entry, names))),
        );
        for (nest, advances) in &self.advances {
            let by = |advance: &Advance| format!(" {} ({})", advance.array, names.expr(&advance.by));
            lines.push(format!("advance {nest}{}", advances.iter().map(by).collect::<String>()));
        }
        for (nest, team) in &self.teams {
            let own: Vec<_> = team.own.iter().map(ToString::to_string).collect();
            let names: Vec<_> = team.names.iter().map(|n| quoted(n)).collect();
            lines.push(format!("private {nest} own({}) names({})", own.join(" "), names.join(" ")));
        }
        lines
    }
}

fn distance_line(id: SymId, distance: &Distance) -> String {
    let declaration = distance.declaration.iter().map(|declaration| format!(" {}", quoted(declaration)));
    format!("distance {id} {} {}{}", distance.from, quoted(&distance.end), declaration.collect::<String>())
}

fn view_line(id: impl fmt::Display, view: &View) -> String {
    let mut text = format!("view {id} {} {}", quoted(&view.to_string()), quoted(&view.declaration));
    if view.is_loaded {
        text.push_str(" loaded");
    }
    if let Some(record) = &view.record {
        _ = write!(text, " record {} ", record.bytes);
        for (offset, n) in &record.runs {
            _ = write!(text, "({offset} {n})");
        }
    }
    text
}

fn entry_text<'a>(entry: &'a Entry, names: &mut Names<'a>) -> String {
    let mut text = String::new();
    if let Some(reached) = &entry.reached {
        _ = write!(text, " reached({})", names.expr(reached));
    }
    for test in &entry.tests {
        _ = write!(text, " test({})", names.expr(test));
    }
    for rows in &entry.rows {
        let form = if rows.form == RowForm::Apart { "apart " } else { "" };
        _ = write!(text, " rows {} {form}", rows.array);
        if let Some(used) = &rows.used {
            _ = write!(text, "used({})", names.expr(used));
        }
        let ranges = |ranges: &[(Expr, Expr)]| -> String {
            ranges
                .iter()
                .map(|(low, high)| format!("({} .. {})", names.expr(low), names.expr(high)))
                .collect()
        };
        text += &ranges(&rows.ranges);
        for part in &rows.parts {
            _ = write!(text, " part{}", ranges(part));
        }
    }
    for Reach { array, first, last } in &entry.reaches {
        _ = write!(text, " reach {array} ({first} .. {last})");
    }
    for scan in &entry.scans {
        text += &scan_text(scan, names);
    }
    text
}

fn scan_text<'a>(scan: &'a RowScan, names: &mut Names<'a>) -> String {
    let mut text = String::from(" scan(");
    for (k, step) in scan.steps.iter().enumerate() {
        if k == scan.n_deciding {
            text += "any ";
        }
        match step {
            ScanStep::Loop(l) => {
                _ = write!(text, "{} ", names.header(l));
                names.enter(l);
            }
            ScanStep::If(condition) => _ = write!(text, "if {} ", names.expr(condition)),
        }
    }
    for (k, end) in scan.ends.iter().enumerate() {
        let (update, value) = (if end.is_least { "min=" } else { "max=" }, names.expr(&end.value));
        _ = write!(text, "{}{} {update} {value}", if k == 0 { ": " } else { ", " }, end.symbol);
    }
    let loops = scan.steps.iter().filter(|step| matches!(step, ScanStep::Loop(_)));
    loops.for_each(|_| names.leave());
    text + ")"
}

/// Reads a declaration, if one stands here.
fn declaration(p: &mut Parser, program: &mut Program, binding: &mut Binding) -> Parsed<bool> {
    if p.take_word("distance") {
        let symbol: SymId = p.id(SYMBOL)?;
        let (from, end) = (p.id(ARRAY)?, p.text()?);
        let declaration = if p.is_text() { Some(p.text()?) } else { None };
        p.declare(&mut binding.sources, symbol, Source::Distance(Distance { from, end, declaration }))?;
    } else if p.take_word("origin") {
        let array: ArrayId = p.id(ARRAY)?;
        p.symbol("(")?;
        let mut origin = vec![p.integer()?];
        while p.take_symbol(",") {
            origin.push(p.integer()?);
        }
        p.symbol(")")?;
        p.declare(&mut binding.origins, array, origin)?;
    } else if p.take_word("view") {
        view(p, binding)?;
    } else if p.take_word("load") {
        let symbol: SymId = p.id(SYMBOL)?;
        let Expr::Read(access) = p.expr()? else { return p.expected("an element of an array") };
        p.declare(&mut binding.sources, symbol, Source::Element(access))?;
    } else if p.take_word("may_change") {
        let constant = match p.peek_id('P') {
            true => Constant::Symbol(p.id(SYMBOL)?),
            false => Constant::Base(p.id(ARRAY)?),
        };
        binding.may_change.push((constant, p.id(ARRAY)?));
    } else if p.take_word("entry") {
        let nest: NestId = p.id(NEST)?;
        let entry = entry(p)?;
        p.declare(&mut binding.entries, nest, entry)?;
    } else if p.take_word("advance") {
        let nest: NestId = p.id(NEST)?;
        let mut advances = Vec::new();
        while p.peek_id('A') {
            let array = p.id(ARRAY)?;
            p.symbol("(")?;
            advances.push(Advance { array, by: p.expr()? });
            p.symbol(")")?;
        }
        p.declare(&mut binding.advances, nest, advances)?;
    } else if p.is_word("team") && p.has_ahead(2, "own") {
        // As it was written when programs had teams themselves.
        p.word("team")?;
        let nest = team(p, binding)?;
        p.declare(&mut program.threads, nest, Threads::Team)?;
    } else if p.take_word("private") {
        team(p, binding)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn view(p: &mut Parser, binding: &mut Binding) -> Parsed<()> {
    let symbol = if p.peek_id('P') { Some(p.id::<SymId>(SYMBOL)?) } else { None };
    let array = if symbol.is_none() { Some(p.id::<ArrayId>(ARRAY)?) } else { None };
    let path = p.text()?;
    let Some((root, steps)) = View::parse_path(&path) else {
        return p.expected("a path such as \"g*.u\"");
    };
    let mut view = View { root, steps, declaration: p.text()?, is_loaded: false, record: None };
    view.is_loaded = p.take_word("loaded");
    if p.take_word("record") {
        let mut record = Record { bytes: p.unsigned()?, runs: Vec::new() };
        while p.take_symbol("(") {
            record.runs.push((p.unsigned()?, p.unsigned()?));
            p.symbol(")")?;
        }
        view.record = Some(record);
    }
    match (symbol, array) {
        (Some(symbol), _) => p.declare(&mut binding.sources, symbol, Source::Member(view)),
        (_, Some(array)) => p.declare(&mut binding.views, array, view),
        _ => Ok(()),
    }
}

fn entry(p: &mut Parser) -> Parsed<Entry> {
    let mut entry = Entry::default();
    loop {
        if p.take_word("rows") {
            let array = p.id(ARRAY)?;
            let form = if p.take_word("apart") { RowForm::Apart } else { RowForm::Even };
            let mut rows = RowTest { array, form, ranges: Vec::new(), parts: Vec::new(), used: None };
            if p.take_word("used") {
                rows.used = Some(in_parentheses(p)?);
            }
            rows.ranges = index_ranges(p)?;
            while p.take_word("part") {
                rows.parts.push(index_ranges(p)?);
            }
            entry.rows.push(rows);
        } else if p.take_word("reach") {
            let array = p.id(ARRAY)?;
            p.symbol("(")?;
            let first = p.id(SYMBOL)?;
            p.symbol("..")?;
            entry.reaches.push(Reach { array, first, last: p.id(SYMBOL)? });
            p.symbol(")")?;
        } else if p.take_word("scan") {
            entry.scans.push(p.scope(scan)?);
        } else if p.take_word("reached") {
            entry.reached = Some(in_parentheses(p)?);
        } else if p.take_word("test") {
            entry.tests.push(in_parentheses(p)?);
        } else {
            return Ok(entry);
        }
    }
}

fn in_parentheses(p: &mut Parser) -> Parsed<Expr> {
    p.symbol("(")?;
    let e = p.expr()?;
    p.symbol(")")?;
    Ok(e)
}

/// The first and last index of each dimension.
fn index_ranges(p: &mut Parser) -> Parsed<Vec<(Expr, Expr)>> {
    let mut ranges = Vec::new();
    while p.take_symbol("(") {
        let low = p.expr()?;
        p.symbol("..")?;
        ranges.push((low, p.expr()?));
        p.symbol(")")?;
    }
    Ok(ranges)
}

fn scan(p: &mut Parser) -> Parsed<RowScan> {
    let mut scan = RowScan { steps: Vec::new(), n_deciding: usize::MAX, ends: Vec::new() };
    p.symbol("(")?;
    while !p.take_symbol(":") {
        if p.take_word("any") {
            scan.n_deciding = scan.steps.len();
        }
        scan.steps.push(match p.take_word("if") {
            true => ScanStep::If(p.expr()?),
            false => ScanStep::Loop(p.enter_loop()?),
        });
    }
    scan.n_deciding = scan.n_deciding.min(scan.steps.len());
    loop {
        let symbol = p.id(SYMBOL)?;
        let is_least = p.take_word("min");
        if !is_least {
            p.word("max")?;
        }
        p.symbol("=")?;
        scan.ends.push(ScanEnd { symbol, is_least, value: p.expr()? });
        if !p.take_symbol(",") {
            break;
        }
    }
    p.symbol(")")?;
    Ok(scan)
}

fn team(p: &mut Parser, binding: &mut Binding) -> Parsed<NestId> {
    let nest: NestId = p.id(NEST)?;
    let mut team = Team::default();
    p.word("own")?;
    p.symbol("(")?;
    while !p.take_symbol(")") {
        team.own.push(p.id(ARRAY)?);
    }
    p.word("names")?;
    p.symbol("(")?;
    while !p.take_symbol(")") {
        team.names.push(p.text()?);
    }
    p.declare(&mut binding.teams, nest, team)?;
    Ok(nest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"program everything {
  symbol P0 n: i32
  symbol P1 m: i64
  symbol P2 "s->k": i32
  symbol P3 N1: i32
  symbol P4 k: i64
  array A1 x: f32[?] param linear
  array A2 tmp: f64 local
  array A3 own: f64 local
  array A6 idx: i32[n * m] temp
  array A7 "g->u": f64[?][m] global
  array A8 "x[][].re": f64[n][4] local
  array A9 y: f64[?] param linear
  origin A9 (-1)
  distance P4 A9 "end" "float *end"
  view P2 "s*.k" "struct s *s"
  view A7 "g*.u" "struct grid *g" loaded
  view A8 "x[][].re" "struct complex (*x)[4]" record 24 (0 1)(16 1)
  load P3 idx[n + 1]
  may_change P2 A7
  may_change A7 A8
  entry N0 reached(0 < n) test(n <= m) test(P2 >= 2) rows A1 (0 .. n - 1) rows A7 apart (0 .. n - 1)(-1 .. m) reach A9 (P1 .. P4) scan(for L0 i: i32 in 0 .. n : P1 min= idx[i], P4 max= i + 1)
  advance N0 A1 (2*n) A9 (1)
  private N0 own(A2 A3) names("i" "t")
  team N0
  dataflow { N0 }
  nest N0 in f {
  }
}
"#;

    #[test]
    fn prints_and_parses_everything() {
        let bound = Bound::parse(EVERYTHING).unwrap();
        assert_eq!(bound.to_string(), EVERYTHING);
        assert_eq!(Bound::parse(&bound.to_string()).unwrap(), bound);
        assert_eq!(crate::verify(&bound.program, &bound.binding), Ok(()));
    }

    #[test]
    fn texts_of_before_are_read() {
        let before = EVERYTHING.replace("  private N0", "  team N0").replace("  team N0\n", "");
        assert_eq!(Bound::parse(&before).unwrap(), Bound::parse(EVERYTHING).unwrap());
    }

    #[test]
    fn nothing_is_declared_twice() {
        let twice = EVERYTHING.replace("  load P3", "  load P2");
        let error = Bound::parse(&twice).unwrap_err().to_string();
        assert!(error.ends_with("P2 is declared twice"), "{error}");
    }
}
