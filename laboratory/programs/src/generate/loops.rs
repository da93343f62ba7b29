//! Loops in all their spellings, and the directives above them.

use super::construct::Construct;
use super::maker::{Maker, indented};

/// What a loop's body asks of its loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// A `for` with one counter that goes up by one, as OpenMP demands.
    pub(crate) canonical: bool,
    /// Iterations are in ascending order.
    pub(crate) forward: bool,
    /// Every iteration between the bounds is made.
    pub(crate) every: bool,
    /// The body has `continue`.
    pub(crate) continues: bool,
}

impl Manner {
    pub(crate) const ANY: Manner =
        Manner { canonical: false, forward: false, every: false, continues: false };
    pub(crate) const EVERY: Manner = Manner { every: true, ..Manner::ANY };
    pub(crate) const FORWARD: Manner = Manner { forward: true, every: true, ..Manner::ANY };
    pub(crate) const CANONICAL: Manner = Manner { canonical: true, ..Manner::FORWARD };
    pub(crate) const CONTINUES: Manner = Manner { continues: true, ..Manner::FORWARD };
}

impl Maker {
    /// A loop from `low` (a number that is not negative) to below the size in `dim` plus `more`.
    pub(crate) fn over(
        &mut self,
        low: i64,
        dim: usize,
        more: i64,
        manner: Manner,
        body: impl FnOnce(&mut Self, &str) -> String,
    ) -> String {
        let size = self.sizes[dim].clone();
        let high = if more == 0 { size.text } else { format!("{} + {more}", size.text) };
        self.counting(&low.to_string(), &high, size.unsigned, manner, body)
    }

    /// A loop from `low` to below `high`, which is not negative. The body is made for the text of the iterator.
    pub(crate) fn counting(
        &mut self,
        low: &str,
        high: &str,
        unsigned: bool,
        manner: Manner,
        body: impl FnOnce(&mut Self, &str) -> String,
    ) -> String {
        let i = self.counter();
        let text = self.spelt(&i, low, high, unsigned, manner, body);
        self.leave();
        text
    }

    fn spelt(
        &mut self,
        i: &str,
        low: &str,
        high: &str,
        unsigned: bool,
        manner: Manner,
        body: impl FnOnce(&mut Self, &str) -> String,
    ) -> String {
        let is_number = low.parse::<i64>().is_ok();
        let ty = self.one(&["int", "int", "int", "int", "long", "unsigned", "size_t"]);
        let is_signed = matches!(ty, "int" | "long");
        loop {
            let kind = self.between(0, 38);
            if let (29.., false) = (kind, manner.canonical) {
                if let Some(head) = self.odd_head(kind, i, low, high, unsigned, manner) {
                    let body = body(self, &head.index);
                    return format!("{}{}{}", head.before, block_after(&head.first, &body), head.after);
                }
                continue;
            }
            return match kind {
                0..=8 => {
                    let body = body(self, i);
                    let step = self.rng.pick(&["i++", "i++", "++i", "i += 1"]).replace('i', i);
                    format!("for ({ty} {i} = {low}; {i} < {high}; {step})\n{}", block(&body))
                }
                9..=11 => {
                    // Declared at the top of the function.
                    let line = format!("{ty} {i};");
                    let other = |l: &String| l.ends_with(&format!(" {i};")) && *l != line;
                    if self.own_counters || self.locals.iter().any(other) {
                        continue;
                    }
                    self.outer_counters.insert(i.to_owned());
                    if !self.locals.contains(&line) {
                        self.locals.push(line);
                    }
                    let body = body(self, i);
                    format!("for ({i} = {low}; {i} < {high}; {i}++)\n{}", block(&body))
                }
                12..=14 if is_signed && !unsigned => {
                    let body = body(self, i);
                    format!("for ({ty} {i} = {low}; {i} <= {high} - 1; {i}++)\n{}", block(&body))
                }
                _ if manner.canonical => continue,
                15 => {
                    self.has(Construct::SeveralCounters);
                    self.has(Construct::Companions);
                    let other = format!("{i}2");
                    let body = body(self, &format!("({other} + {low})"));
                    format!(
                        "for (int {i} = {low}, {other} = 0; {i} < {high}; {i}++, {other}++)\n{}",
                        block(&body)
                    )
                }
                16 => {
                    self.has(Construct::Companions);
                    let other = format!("{i}2");
                    let body = body(self, &format!("({other} - 1)"));
                    format!(
                        "{{\n    int {other} = {low};\n    for (int {i} = {low}; {i} < {high}; {i}++) {{\n        \
                         {other}++;\n{}    }}\n}}\n",
                        indented(&indented(&body))
                    )
                }
                17..=18 if !manner.continues => {
                    self.has(Construct::WhileLoops);
                    let body = body(self, i);
                    format!(
                        "{{\n    {ty} {i} = {low};\n    while ({i} < {high}) {{\n{}        {i}++;\n    }}\n}}\n",
                        indented(&indented(&body))
                    )
                }
                19 if !manner.continues => {
                    self.has(Construct::WhileLoops);
                    let body = body(self, i);
                    format!(
                        "if ({low} < {high}) {{\n    {ty} {i} = {low};\n    do {{\n{}        {i}++;\n    }} while ({i} < {high});\n}}\n",
                        indented(&indented(&body))
                    )
                }
                20..=21 if !manner.forward && is_number => {
                    let body = body(self, i);
                    format!("for (int {i} = {high} - 1; {i} >= {low}; {i}--)\n{}", block(&body))
                }
                22..=23 if !manner.forward && is_number => {
                    self.has(Construct::DownToZero);
                    let body = body(self, i);
                    match self.between(0, 1) {
                        0 => format!("for ({ty} {i} = {high}; {i}-- > {low};)\n{}", block(&body)),
                        _ => format!(
                            "{{\n    {ty} {i} = {high};\n    while ({i}-- > {low}) {{\n{}    }}\n}}\n",
                            indented(&indented(&body))
                        ),
                    }
                }
                24 if !manner.every => {
                    self.has(Construct::OddSteps);
                    let step = self.integer("stride", "int", "1 + t");
                    let body = body(self, i);
                    format!("for (int {i} = {low}; {i} < {high}; {i} += {step})\n{}", block(&body))
                }
                25 if !manner.every => {
                    let body = body(self, i);
                    format!(
                        "for ({ty} {i} = {low}; {i} < {high}; {i} += {})\n{}",
                        self.between(2, 3),
                        block(&body)
                    )
                }
                26..=27 => {
                    self.has(Construct::Blocked);
                    let (outer, width) = (format!("{i}b"), self.between(3, 8));
                    let body = body(self, i);
                    let least = match self.between(0, 1) {
                        0 => format!("({outer} + {width} < {high} ? {outer} + {width} : {high})"),
                        _ => {
                            self.macro_min();
                            format!("MIN({outer} + {width}, (int)({high}))")
                        }
                    };
                    format!(
                        "for (int {outer} = {low}; {outer} < {high}; {outer} += {width})\n    \
                         for (int {i} = {outer}; {i} < {least}; {i}++)\n{}",
                        indented(&block(&body))
                    )
                }
                28 => {
                    self.has(Construct::MacroLoops);
                    let define = "#define EACH(i, from, to) for (int i = (from); i < (to); ++i)\n";
                    if !self.before.contains(define) {
                        self.before = format!("#undef EACH\n{define}{}", self.before);
                    }
                    let body = body(self, i);
                    format!("EACH({i}, {low}, {high})\n{}", block(&body))
                }
                _ => continue,
            };
        }
    }

    /// Heads that few people write.
    fn odd_head(
        &mut self,
        kind: usize,
        i: &str,
        low: &str,
        high: &str,
        unsigned: bool,
        manner: Manner,
    ) -> Option<Head> {
        let is_number = low.parse::<i64>().is_ok();
        let head = |before: String| Head { before, index: i.to_owned(), ..Head::default() };
        Some(match kind {
            29 if is_number => {
                self.has(Construct::NarrowCounters);
                let ty = self.one(&["short", "unsigned char", "signed char", "unsigned short"]);
                head(format!("for ({ty} {i} = {low}; {i} < {high}; {i}++)\n"))
            }
            30 => {
                let ty = self.one(&["int", "long", "unsigned"]);
                head(format!("for ({ty} {i} = {low}; {high} > {i}; {i} = {i} + 1)\n"))
            }
            31 if low == "0" => {
                self.has(Construct::Unequal);
                let ty = self.one(&["int", "long", "unsigned", "size_t"]);
                head(format!("for ({ty} {i} = 0; {i} != {high}; ++{i})\n"))
            }
            32 => {
                self.has(Construct::Endless);
                let test = format!("if ({i} >= {high})\n    break;\n");
                Head { first: test, ..head(format!("for (int {i} = {low};; {i}++)\n")) }
            }
            33 if is_number && !manner.continues => {
                self.has(Construct::CountDowns);
                let (left, test) = (format!("{i}_left"), self.one(&["--", "-- > 0"]));
                let whole = format!("({high} > {low} ? (int)({high}) - {low} : 0)");
                Head {
                    before: format!("{{\nint {i} = {low} - 1, {left} = {whole};\nwhile ({left}{test})\n"),
                    first: format!("{i}++;\n"),
                    after: "}\n".into(),
                    index: i.to_owned(),
                }
            }
            34 if low == "0" && !manner.forward => {
                self.has(Construct::DownToZero);
                self.has(Construct::Wrapping);
                head(format!(
                    "for (unsigned {i} = (unsigned)({high}) - 1u; {i} < (unsigned)({high}); {i}--)\n"
                ))
            }
            35 => {
                self.has(Construct::Moved);
                let by = self.between(1, 4);
                let head = head(format!("for (int {i} = {low} + {by}; {i} < {high} + {by}; {i}++)\n"));
                Head { index: format!("({i} - {by})"), ..head }
            }
            36 if is_number && !manner.forward => {
                self.has(Construct::Moved);
                let head = head(format!("for (int {i} = -(int)({high}); {i} < -{low}; {i}++)\n"));
                Head { index: format!("(-1 - {i})"), ..head }
            }
            37 if is_number && !unsigned => {
                self.has(Construct::Moved);
                let half = self.one(&["/ 2", ">> 1"]);
                let head = head(format!("for (int {i} = 2 * {low}; {i} < 2 * ({high}); {i} += 2)\n"));
                Head { index: format!("({i} {half})"), ..head }
            }
            38 => {
                self.has(Construct::BlockSizes);
                let (outer, width) = (format!("{i}b"), self.integer("block", "int", "t + 1"));
                let above = format!("for (int {outer} = {low}; {outer} < {high}; {outer} += {width})\n");
                let test = match self.between(0, 1) {
                    0 => format!("{i} < {outer} + {width} && {i} < {high}"),
                    _ => {
                        self.macro_min();
                        format!("{i} < MIN({outer} + {width}, (int)({high}))")
                    }
                };
                head(format!("{above}    for (int {i} = {outer}; {test}; {i}++)\n"))
            }
            _ => return None,
        })
    }

    fn macro_min(&mut self) {
        let define = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n";
        if !self.before.contains(define) {
            self.before = format!("#undef MIN\n{define}{}", self.before);
        }
    }

    /// A directive above a loop whose iterations are independent; `depth` loops stand perfectly inside each other.
    /// `clauses` are for variables of the body.
    pub(crate) fn directive(&mut self, word: &str, depth: usize, clauses: &str) -> String {
        let mut line = format!("#pragma omp {word}");
        if depth > 1 && self.chance(40) {
            self.has(Construct::Collapse);
            line += &format!(" collapse({depth})");
        }
        if self.chance(40) && !word.ends_with("simd") {
            self.has(Construct::ScheduleClause);
            line += self.one(&[
                " schedule(static)",
                " schedule(static, 3)",
                " schedule(dynamic)",
                " schedule(guided, 2)",
            ]);
        }
        format!("{line}{clauses}\n")
    }

    /// Sometimes a hint above an innermost loop whose iterations are independent.
    pub(crate) fn hint(&mut self) -> String {
        match self.between(0, 9) {
            0 => {
                self.has(Construct::Simd);
                "#pragma omp simd\n".into()
            }
            1 => {
                self.has(Construct::Hints);
                "#pragma GCC ivdep\n".into()
            }
            2 => {
                self.has(Construct::Hints);
                "#pragma GCC unroll 4\n".into()
            }
            _ => String::new(),
        }
    }
}

/// A loop but for its body.
#[derive(Default)]
struct Head {
    before: String,
    /// What the body has first.
    first: String,
    after: String,
    /// What is the iterator in the body.
    index: String,
}

fn block_after(first: &str, body: &str) -> String {
    block(&format!("{first}{body}"))
}

/// A body behind a loop's head: with braces where it has several lines, and sometimes where it need not.
pub(crate) fn block(body: &str) -> String {
    if body.trim_end().lines().count() == 1 && !body.starts_with('#') && !body.starts_with("int ") {
        return indented(body);
    }
    format!("{{\n{}}}\n", indented(body))
}
