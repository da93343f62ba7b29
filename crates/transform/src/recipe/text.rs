//! Recipes as text: steps joined by `; `, each its name followed by its arguments according to its syntax.
//!
//! ```
//! use oxeye_transform::Recipe;
//!
//! let text = "reorder S0[0 L1 0 reverse L0 0]; tile L0:8 L1:512; parallelize L2 dynamic";
//! let recipe: Recipe = text.parse()?;
//! assert_eq!(recipe.to_string(), text);
//! # Ok::<(), oxeye_transform::RecipeError>(())
//! ```

use super::names::Names;
use super::words::{Unreadable, Words, number};
use super::{Recipe, affine};
use crate::schedule::packed_contraction::Blocks;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::steps::argument::{Argument, Kind};
use crate::steps::registry::TransformationInfo;
use crate::steps::{TRANSFORMATIONS, Transformation};
use oxeye_ir::{StmtId, WorkSharing};
use std::fmt;
use std::str::FromStr;

/// Text that is not a recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{step}` is not a step of a recipe: {reason}")]
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
        Ok(Self { steps: read_steps(text, &mut Names::ids_only())? })
    }
}

impl fmt::Display for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self, &Names::ids_only()))
    }
}

impl FromStr for Transformation {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read_step(text, &mut Names::ids_only())
    }
}

/// The steps of a recipe.
pub(super) fn read_steps(text: &str, names: &mut Names) -> Result<Vec<Transformation>, RecipeError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(';').map(|step| read_step(step, names)).collect()
}

/// One step.
pub(super) fn read_step(text: &str, names: &mut Names) -> Result<Transformation, RecipeError> {
    let mut words = Words::of(text);
    step(&mut words, names)
        .and_then(|step| words.end().map(|()| step))
        .map_err(|why| RecipeError { step: text.trim().to_owned(), reason: why.to_string() })
}

/// The table row of the transformation with this name.
pub(super) fn info(name: &str) -> Result<&'static TransformationInfo, Unreadable> {
    let known = TRANSFORMATIONS.iter().find(|info| info.name == name || info.alias == Some(name));
    known.ok_or_else(|| Unreadable::from(format!("there is no transformation `{name}`")))
}

fn step(words: &mut Words<'_>, names: &mut Names) -> Result<Transformation, Unreadable> {
    let info = info(words.next("the name of a transformation")?)?;
    let mut arguments: Vec<Option<Argument>> = vec![None; info.parameters.len()];
    let mut put = |name: &str, found: Result<Argument, Unreadable>| match info.position(name) {
        Some(k) => {
            arguments[k] = Some(found.map_err(|why| why.in_argument(k, name))?);
            Ok(())
        }
        None => Err(Unreadable::from(format!("its syntax names no parameter `{name}`"))),
    };
    let kind = |name: &str| info.position(name).map_or(Kind::Integer, |k| info.parameters[k].kind);
    for part in parts(info.syntax) {
        match part {
            Part::Word(word) => words.expect(word)?,
            Part::One(name) => put(name, read(kind(name), words, names))?,
            Part::Optional(word, name) => {
                let found = match words.accept(word) {
                    true => read(kind(name), words, names),
                    false => {
                        absent(kind(name)).ok_or_else(|| Unreadable::from(format!("`{word}` is missing")))
                    }
                };
                put(name, found)?;
            }
            Part::Pair(first, between, second) => {
                let is_list = matches!(kind(first), Kind::PerfectChain);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                while left.is_empty() || (is_list && !words.is_empty()) {
                    let wanted = format!("{} and {}", kind(first).noun(), kind(second).noun());
                    let word = words.next(&wanted)?;
                    let (a, b) = word
                        .split_once(between)
                        .ok_or_else(|| Unreadable::from(format!("`{word}` is not {wanted}")))?;
                    left.push(read_word(kind(first), a, names));
                    right.push(read_word(kind(second), b, names));
                }
                put(first, joined(left))?;
                put(second, joined(right))?;
            }
        }
    }
    let arguments = arguments.into_iter().collect::<Option<Vec<_>>>();
    let step = arguments.and_then(|arguments| Transformation::new(info.name, &arguments));
    step.ok_or_else(|| Unreadable::from("its syntax leaves out a parameter"))
}

/// Joins the arguments of several words into one list; a single word gives its argument.
fn joined(parts: Vec<Result<Argument, Unreadable>>) -> Result<Argument, Unreadable> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_else(|| Err("nothing is given".into()))?;
    for part in parts {
        match (&mut all, part?) {
            (Argument::Loops(all), Argument::Loops(more)) => all.extend(more),
            (Argument::Numbers(all), Argument::Numbers(more)) => all.extend(more),
            _ => return Err("it is not a list".into()),
        }
    }
    Ok(all)
}

/// The value of a parameter that is left out.
pub(super) fn absent(kind: Kind) -> Option<Argument> {
    match kind {
        Kind::Position { .. } => Some(Argument::Position(None)),
        Kind::Team => Some(Argument::Team(None)),
        _ => None,
    }
}

/// Reads an argument that is one word.
pub(super) fn read_word(kind: Kind, word: &str, names: &mut Names) -> Result<Argument, Unreadable> {
    let mut words = Words::of(word);
    let argument = read(kind, &mut words, names)?;
    words.end().map(|()| argument)
}

/// Reads an argument.
fn read(kind: Kind, words: &mut Words<'_>, names: &mut Names) -> Result<Argument, Unreadable> {
    let noun = kind.noun();
    let mut loop_id = |words: &mut Words<'_>| {
        let word = words.next(noun)?;
        names.loop_id(word).ok_or_else(|| Unreadable::from(format!("`{word}` is not {noun}")))
    };
    Ok(match kind {
        Kind::Loop | Kind::Inside { .. } => Argument::Loop(loop_id(words)?),
        Kind::PerfectChain => Argument::Loops(vec![loop_id(words)?]),
        Kind::Loops => {
            let one = |word| read_word(Kind::PerfectChain, word, names);
            joined(words.next(noun)?.split(',').map(one).collect())?
        }
        Kind::Sizes { .. } => Argument::Numbers(vec![number(words.next(noun)?)?]),
        Kind::Count { .. } | Kind::Integer => Argument::Number(number(words.next(noun)?)?),
        Kind::Position { .. } => Argument::Position(Some(number(words.next(noun)?)?)),
        Kind::Expression => Argument::Expression(affine::read(words.next(noun)?, names)?),
        Kind::Statement => Argument::Statement(statement(words.next(noun)?)?),
        Kind::Schedules => {
            let mut schedules = Vec::new();
            while !words.is_empty() {
                schedules.push(schedule(words, names)?);
            }
            Argument::Schedules(schedules)
        }
        Kind::WorkSharing => Argument::WorkSharing(sharing(words)),
        Kind::Team => Argument::Team(Some(sharing(words))),
        Kind::Blocks => Argument::Blocks(blocks(words)?),
        Kind::Array => Argument::Array(parsed(kind, words.next(noun)?)?),
        Kind::Value => Argument::Literal(parsed(kind, words.next(noun)?)?),
    })
}

fn parsed<T: FromStr>(kind: Kind, word: &str) -> Result<T, Unreadable> {
    word.parse().map_err(|_| format!("`{word}` is not {}", kind.noun()).into())
}

fn statement(word: &str) -> Result<StmtId, Unreadable> {
    word.parse().map_err(|_| Unreadable::from(format!("`{word}` is not a statement")))
}

fn sharing(words: &mut Words<'_>) -> WorkSharing {
    if words.accept("dynamic") {
        return WorkSharing::Dynamic;
    }
    words.accept("static");
    WorkSharing::Static
}

fn schedule(words: &mut Words<'_>, names: &mut Names) -> Result<StatementSchedule, Unreadable> {
    let (stmt, rest) =
        words.0.split_once('[').ok_or_else(|| Unreadable::from("`[` is missing after a statement"))?;
    let (inside, rest) =
        rest.split_once(']').ok_or_else(|| Unreadable::from("`]` is missing after a schedule"))?;
    *words = Words(rest.trim_start());
    let stmt = statement(stmt.trim())?;
    let mut inside = Words::of(inside);
    let mut dimensions = Vec::new();
    while !inside.is_empty() {
        let reverse = inside.accept("reverse");
        let word = inside.next("an expression")?;
        let is_position = !reverse && word.bytes().all(|b| b.is_ascii_digit());
        dimensions.push(if is_position {
            Dimension::At(number(word)?)
        } else {
            Dimension::By { expr: affine::read(word, names)?, reverse }
        });
    }
    Ok(StatementSchedule { stmt, dimensions })
}

fn blocks(words: &mut Words<'_>) -> Result<Blocks, Unreadable> {
    words.expect("register")?;
    let tile = words.next("rows and columns of a register tile")?;
    let (mr, nr) = tile
        .split_once('x')
        .ok_or_else(|| Unreadable::from(format!("`{tile}` is not rows and columns of a register tile")))?;
    words.expect("lanes")?;
    let lanes = number(words.next("a number of vector lanes")?)?;
    words.expect("block")?;
    let sizes = words.next("sizes of blocks")?;
    let [mc, nc, kc] = sizes.split('x').collect::<Vec<_>>()[..] else {
        return Err(format!("`{sizes}` is not rows, columns and depth of a block").into());
    };
    let rows_first = words.accept("rows");
    if rows_first {
        words.expect("first")?;
    }
    let [mr, nr, mc, nc, kc] = [number(mr)?, number(nr)?, number(mc)?, number(nc)?, number(kc)?];
    Ok(Blocks { mr, nr, lanes, mc, nc, kc, rows_first })
}

/// The step with its arguments according to its syntax.
pub(super) fn print(step: &Transformation, names: &Names) -> String {
    let text = filled(step, step.info().syntax, names);
    if text.is_empty() { step.name().to_owned() } else { format!("{} {text}", step.name()) }
}

impl Transformation {
    /// A title with this step's arguments in place of their names in braces.
    pub(crate) fn titled(&self, title: &str) -> String {
        let named = self.info().parameters.iter().zip(self.arguments());
        named.fold(title.to_owned(), |title, (parameter, argument)| {
            let text = texts(&argument, &Names::ids_only()).join("x");
            title.replace(&format!("{{{}}}", parameter.name), &text)
        })
    }
}

/// A syntax with the arguments of a step filled in.
fn filled(step: &Transformation, syntax: &str, names: &Names) -> String {
    let (info, arguments) = (step.info(), step.arguments());
    let all = |name: &str| match info.position(name) {
        Some(k) if info.parameters[k].kind == Kind::Loops => vec![texts(&arguments[k], names).join(",")],
        Some(k) => texts(&arguments[k], names),
        None => Vec::new(),
    };
    let mut words: Vec<String> = Vec::new();
    for part in parts(syntax) {
        match part {
            Part::Word(word) => words.push(word.to_owned()),
            Part::One(name) => words.extend(all(name).into_iter().filter(|text| !text.is_empty())),
            Part::Optional(word, name) => {
                let found = all(name);
                if !found.is_empty() {
                    words.push(word.to_owned());
                    words.extend(found.into_iter().filter(|text| !text.is_empty()));
                }
            }
            Part::Pair(first, between, second) => {
                let (left, right) = (all(first), all(second));
                for k in 0..left.len().max(right.len()) {
                    let at = |texts: &[String]| texts.get(k).cloned().unwrap_or_default();
                    words.push(format!("{}{between}{}", at(&left), at(&right)));
                }
            }
        }
    }
    words.join(" ")
}

/// The texts of an argument, one per member of a list; none if it is left out.
fn texts(argument: &Argument, names: &Names) -> Vec<String> {
    match argument {
        Argument::Loop(id) => vec![names.print(*id)],
        Argument::Loops(ids) => ids.iter().map(|id| names.print(*id)).collect(),
        Argument::Statement(id) => vec![id.to_string()],
        Argument::Number(n) => vec![n.to_string()],
        Argument::Numbers(all) => all.iter().map(ToString::to_string).collect(),
        Argument::Position(k) => k.iter().map(ToString::to_string).collect(),
        Argument::Expression(e) => vec![affine::print(e, names)],
        Argument::Schedules(all) => all.iter().map(|schedule| print_schedule(schedule, names)).collect(),
        Argument::Array(id) => vec![id.to_string()],
        Argument::Literal(value) => vec![value.to_string()],
        Argument::WorkSharing(schedule) => vec![print_sharing(*schedule)],
        Argument::Team(schedule) => schedule.iter().map(|s| print_sharing(*s)).collect(),
        Argument::Blocks(Blocks { mr, nr, lanes, mc, nc, kc, rows_first }) => {
            let order = if *rows_first { " rows first" } else { "" };
            vec![format!("register {mr}x{nr} lanes {lanes} block {mc}x{nc}x{kc}{order}")]
        }
    }
}

/// Equal shares are the default and not printed.
fn print_sharing(schedule: WorkSharing) -> String {
    if schedule == WorkSharing::Dynamic { "dynamic".into() } else { String::new() }
}

pub(super) fn print_schedule(schedule: &StatementSchedule, names: &Names) -> String {
    let dimension = |dimension: &Dimension| match dimension {
        Dimension::At(position) => position.to_string(),
        Dimension::By { expr, reverse } => {
            // A constant always has a sign, to distinguish it from a position.
            let text = expr.as_constant().map_or_else(|| affine::print(expr, names), |c| format!("{c:+}"));
            format!("{}{text}", if *reverse { "reverse " } else { "" })
        }
    };
    let dimensions: Vec<String> = schedule.dimensions.iter().map(dimension).collect();
    format!("{}[{}]", schedule.stmt, dimensions.join(" "))
}

impl fmt::Display for StatementSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_schedule(self, &Names::ids_only()))
    }
}

/// A part of a syntax.
enum Part<'a> {
    Word(&'a str),
    /// `{name}`
    One(&'a str),
    /// `{name}:{name}`
    Pair(&'a str, char, &'a str),
    /// `[word {name}]`
    Optional(&'a str, &'a str),
}

/// The parts of a [syntax](TransformationInfo::syntax).
fn parts(syntax: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut optional = None;
    for token in syntax.split_whitespace() {
        if let Some(word) = token.strip_prefix('[') {
            optional = Some(word);
        } else if let Some(word) = optional.take() {
            parts.push(Part::Optional(word, token.trim_matches(['{', '}', ']'])));
        } else if let Some(rest) = token.strip_prefix('{')
            && let Some((first, rest)) = rest.split_once('}')
        {
            parts.push(match rest.split_once('{') {
                Some((between, second)) if between.chars().count() == 1 && second.ends_with('}') => {
                    Part::Pair(first, between.chars().next().unwrap_or(':'), second.trim_end_matches('}'))
                }
                _ => Part::One(first),
            });
        } else {
            parts.push(Part::Word(token));
        }
    }
    parts
}
