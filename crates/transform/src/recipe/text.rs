//! Recipes as text: one step after the other, `; ` between them, each its name and its parameters.
//!
//! ```
//! use oxeye_transform::Recipe;
//!
//! let text = "reorder S0[0 L1 0 reverse L0 0]; tile L0:8 L1:512; parallelize L2 dynamic";
//! let recipe: Recipe = text.parse()?;
//! assert_eq!(recipe.to_string(), text);
//! # Ok::<(), oxeye_transform::RecipeError>(())
//! ```

use super::{Dimension, Recipe, StatementSchedule, Transformation};
use crate::steps::packed_contraction::Blocks;
use oxeye_ir::{Affine, LoopId, OmpSchedule, StmtId, SymId, Var};
use std::fmt;
use std::str::FromStr;

/// Text that is no recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{step}` is no step of a recipe: {reason}")]
pub struct RecipeError {
    /// The step that was not understood.
    pub step: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if k > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let steps = text.split(';').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { steps })
    }
}

impl fmt::Display for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self {
            Transformation::Normalize => Ok(()),
            Transformation::Reorder { schedules } => schedules.iter().try_for_each(|s| write!(f, " {s}")),
            Transformation::Distribute { at, before: Some(k) } => write!(f, " {at} before {k}"),
            Transformation::Distribute { at, before: None }
            | Transformation::Reverse { at }
            | Transformation::Vectorize { at } => write!(f, " {at}"),
            Transformation::Interchange { outer, inner } => write!(f, " {outer} {inner}"),
            Transformation::Fuse { first, second, shift } => write!(f, " {first} {second} shift {shift}"),
            Transformation::Skew { inner, outer, factor } => write!(f, " {inner} by {factor}*{outer}"),
            Transformation::Tile { loops, sizes } => {
                loops.iter().zip(sizes).try_for_each(|(l, n)| write!(f, " {l}:{n}"))
            }
            Transformation::Split { at, point } => write!(f, " {at} at {}", affine_text(point)),
            Transformation::Parallelize { at, omp_schedule } => write!(f, " {at}{}", suffix(*omp_schedule)),
            Transformation::Unroll { at, factor } | Transformation::UnrollAndJam { at, factor } => {
                write!(f, " {at} by {factor}")
            }
            Transformation::Contract { stmt, row, column, depth, blocks, parallel } => {
                let Blocks { mr, nr, lanes, mc, nc, kc } = blocks;
                write!(f, " {stmt} rows {row} columns {column} depth {depth}")?;
                write!(f, " register {mr}x{nr} lanes {lanes} block {mc}x{nc}x{kc}")?;
                match parallel {
                    Some(omp_schedule) => write!(f, " parallel{}", suffix(*omp_schedule)),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for StatementSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.stmt)?;
        for (k, dimension) in self.dimensions.iter().enumerate() {
            let gap = if k > 0 { " " } else { "" };
            match dimension {
                Dimension::At(position) => write!(f, "{gap}{position}")?,
                Dimension::By { expr, reverse } => {
                    // A constant has its sign, so that it is no position.
                    let text = expr.as_constant().map_or_else(|| affine_text(expr), |c| format!("{c:+}"));
                    write!(f, "{gap}{}{text}", if *reverse { "reverse " } else { "" })?;
                }
            }
        }
        write!(f, "]")
    }
}

fn suffix(omp_schedule: OmpSchedule) -> &'static str {
    if omp_schedule == OmpSchedule::Dynamic { " dynamic" } else { "" }
}

fn affine_text(a: &Affine) -> String {
    let mut text = String::new();
    for (var, c) in a.terms() {
        let sign = if c < 0 { "-" } else { "+" };
        if !(text.is_empty() && c > 0) {
            text.push_str(sign);
        }
        if c.unsigned_abs() != 1 {
            text.push_str(&format!("{}*", c.unsigned_abs()));
        }
        text.push_str(&var.to_string());
    }
    let constant = a.constant_part();
    if constant != 0 || text.is_empty() {
        text.push_str(&if text.is_empty() { constant.to_string() } else { format!("{constant:+}") });
    }
    text
}

impl FromStr for Transformation {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = Words(text.trim());
        transformation(&mut words)
            .and_then(|step| words.end().map(|()| step))
            .map_err(|reason| RecipeError { step: text.trim().to_owned(), reason })
    }
}

fn transformation(words: &mut Words<'_>) -> Result<Transformation, String> {
    Ok(match words.next("the name of a transformation")? {
        "normalize" => Transformation::Normalize,
        "reorder" => {
            let mut schedules = Vec::new();
            while !words.is_empty() {
                schedules.push(words.schedule()?);
            }
            Transformation::Reorder { schedules }
        }
        "distribute" => {
            let at = words.parse("a loop")?;
            let before = words.accept("before").then(|| words.parse("a position")).transpose()?;
            Transformation::Distribute { at, before }
        }
        "interchange" => {
            Transformation::Interchange { outer: words.parse("a loop")?, inner: words.parse("a loop")? }
        }
        "fuse" => Transformation::Fuse {
            first: words.parse("a loop")?,
            second: words.parse("a loop")?,
            shift: words.after("shift")?,
        },
        "skew" => {
            let inner = words.parse("a loop")?;
            words.expect("by")?;
            let (factor, outer) = words.pair('*', "a factor and a loop")?;
            Transformation::Skew { inner, outer, factor }
        }
        "reverse" => Transformation::Reverse { at: words.parse("a loop")? },
        "tile" => {
            let (mut loops, mut sizes) = (Vec::new(), Vec::new());
            while !words.is_empty() {
                let (id, size) = words.pair(':', "a loop and its tile size")?;
                loops.push(id);
                sizes.push(size);
            }
            Transformation::Tile { loops, sizes }
        }
        "split" => {
            let at = words.parse("a loop")?;
            words.expect("at")?;
            Transformation::Split { at, point: affine(words.next("a point")?)? }
        }
        "parallelize" => {
            Transformation::Parallelize { at: words.parse("a loop")?, omp_schedule: words.omp_schedule() }
        }
        "vectorize" => Transformation::Vectorize { at: words.parse("a loop")? },
        "unroll" => Transformation::Unroll { at: words.parse("a loop")?, factor: words.after("by")? },
        "unroll_and_jam" => {
            Transformation::UnrollAndJam { at: words.parse("a loop")?, factor: words.after("by")? }
        }
        "contract" => {
            let stmt = words.parse("a statement")?;
            let (row, column, depth) = (words.after("rows")?, words.after("columns")?, words.after("depth")?);
            words.expect("register")?;
            let (mr, nr) = words.pair('x', "rows and columns of a register tile")?;
            let lanes = words.after("lanes")?;
            words.expect("block")?;
            let sizes = words.next("sizes of blocks")?;
            let [mc, nc, kc] = sizes.split('x').collect::<Vec<_>>()[..] else {
                return Err(format!("`{sizes}` is not rows, columns and depth of a block"));
            };
            let blocks = Blocks { mr, nr, lanes, mc: number(mc)?, nc: number(nc)?, kc: number(kc)? };
            let parallel = words.accept("parallel").then(|| words.omp_schedule());
            Transformation::Contract { stmt, row, column, depth, blocks, parallel }
        }
        other => return Err(format!("there is no transformation `{other}`")),
    })
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}

/// What is left of a step.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self, wanted: &str) -> Result<&'a str, String> {
        if self.is_empty() {
            return Err(format!("{wanted} is missing"));
        }
        let (word, rest) = self.0.split_once(char::is_whitespace).unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        Ok(word)
    }

    fn accept(&mut self, word: &str) -> bool {
        let mut ahead = Words(self.0);
        let found = ahead.next(word) == Ok(word);
        if found {
            *self = ahead;
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.accept(word) { Ok(()) } else { Err(format!("`{word}` is missing before `{}`", self.0)) }
    }

    fn parse<T: FromStr>(&mut self, wanted: &str) -> Result<T, String> {
        let word = self.next(wanted)?;
        word.parse().map_err(|_| format!("`{word}` is not {wanted}"))
    }

    fn after<T: FromStr>(&mut self, word: &str) -> Result<T, String> {
        self.expect(word)?;
        self.parse(&format!("what belongs to `{word}`"))
    }

    fn pair<A: FromStr, B: FromStr>(&mut self, between: char, wanted: &str) -> Result<(A, B), String> {
        let word = self.next(wanted)?;
        let parsed = word.split_once(between).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        parsed.ok_or_else(|| format!("`{word}` is not {wanted}"))
    }

    fn omp_schedule(&mut self) -> OmpSchedule {
        if self.accept("dynamic") { OmpSchedule::Dynamic } else { OmpSchedule::Static }
    }

    fn schedule(&mut self) -> Result<StatementSchedule, String> {
        let (stmt, rest) = self.0.split_once('[').ok_or("`[` is missing after a statement")?;
        let (inside, rest) = rest.split_once(']').ok_or("`]` is missing after a schedule")?;
        self.0 = rest.trim_start();
        let stmt: StmtId = stmt.trim().parse().map_err(|_| format!("`{stmt}` is not a statement"))?;
        let mut inside = Words(inside.trim());
        let mut dimensions = Vec::new();
        while !inside.is_empty() {
            let reverse = inside.accept("reverse");
            let word = inside.next("an expression")?;
            let is_position = !reverse && word.bytes().all(|b| b.is_ascii_digit());
            dimensions.push(if is_position {
                Dimension::At(number(word)?)
            } else {
                Dimension::By { expr: affine(word)?, reverse }
            });
        }
        Ok(StatementSchedule { stmt, dimensions })
    }

    fn end(&self) -> Result<(), String> {
        if self.is_empty() { Ok(()) } else { Err(format!("`{}` is left over", self.0)) }
    }
}

/// `2*L1-P0+3`.
fn affine(text: &str) -> Result<Affine, String> {
    let bad = || format!("`{text}` is not an affine expression such as `2*L1-P0+3`");
    let mut sum = Affine::default();
    let mut rest = text;
    while !rest.is_empty() {
        let is_first = rest.len() == text.len();
        let (sign, tail) = match (rest.strip_prefix('-'), rest.strip_prefix('+')) {
            (Some(tail), _) => (-1, tail),
            (_, Some(tail)) => (1, tail),
            _ if is_first => (1, rest),
            _ => return Err(bad()),
        };
        let (term, next) = tail.split_at(tail.find(['+', '-']).unwrap_or(tail.len()));
        let signed = |digits: &str| {
            let magnitude: i128 = digits.parse().ok()?;
            i64::try_from(sign * magnitude).ok()
        };
        let (factor, var) = match term.split_once('*') {
            Some((factor, var)) => (signed(factor), Some(var)),
            None if term.starts_with(|c: char| c.is_ascii_digit()) => (signed(term), None),
            None => (signed("1"), Some(term)),
        };
        let factor = factor.ok_or_else(bad)?;
        sum = match var {
            None => sum.offset(factor),
            Some(var) => sum.add_scaled(&Affine::var(variable(var).ok_or_else(bad)?), factor),
        };
        rest = next;
    }
    if text.is_empty() { Err(bad()) } else { Ok(sum) }
}

fn variable(text: &str) -> Option<Var> {
    let id = text.parse::<LoopId>().map(Var::Loop);
    id.or_else(|_| text.parse::<SymId>().map(Var::Sym)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_parses_back() {
        let text = "normalize; reorder S0[0 2*L0-L1+P0-3 1] S1[] S2[0 reverse +0 0 -7 0]; distribute L0; distribute L0 before 2; \
                    interchange L0 L1; fuse L1 L4 shift -2; skew L1 by -2*L0; reverse L3; tile L0:8 L1:512; \
                    split L2 at -L0+1; split L2 at 5; parallelize L0; parallelize L0 dynamic; vectorize L1; \
                    unroll L1 by 4; unroll_and_jam L0 by 2; \
                    contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8x3; \
                    contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 8 block 4x8x3 parallel; \
                    contract S1 rows L0 columns L1 depth L2 register 2x8 lanes 2 block 4x8x3 parallel dynamic";
        let recipe: Recipe = text.parse().unwrap();
        assert_eq!(recipe.to_string(), text);
        assert_eq!(recipe.steps.len(), 19);
        for info in super::super::TRANSFORMATIONS {
            assert!(recipe.steps.iter().any(|s| s.name() == info.name), "{}", info.name);
        }
        assert_eq!("".parse(), Ok(Recipe::default()));
    }

    #[test]
    fn extreme_coefficients_parse_back() {
        for c in [i64::MIN, i64::MIN + 1, -1, 1, i64::MAX] {
            let point = Affine::term(LoopId(0), c).offset(c);
            assert_eq!(affine(&affine_text(&point)), Ok(point));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let reason = |text: &str| text.parse::<Recipe>().unwrap_err().to_string();
        for (text, wanted) in [
            ("tilt L0:4", "`tilt L0:4` is no step of a recipe: there is no transformation `tilt`"),
            ("reverse", "a loop is missing"),
            ("reverse L0; ", "the name of a transformation is missing"),
            ("interchange L0 S1", "`S1` is not a loop"),
            ("fuse L0 L1 2", "`shift` is missing before `2`"),
            ("tile L0:four", "`L0:four` is not a loop and its tile size"),
            ("split L0 at L1+", "`L1+` is not an affine expression"),
            ("vectorize L0 now", "`now` is left over"),
            ("normalize L0", "`L0` is left over"),
            ("reorder S0[0", "`]` is missing after a schedule"),
            ("reorder S0[99999999999999999999 L0 0]", "is not a number that fits here"),
            ("contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8", "of a block"),
        ] {
            assert!(reason(text).contains(wanted), "{text}: {}", reason(text));
        }
    }
}
