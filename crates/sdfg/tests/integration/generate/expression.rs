//! Expressions of tasklets: as Python, and their values.

use super::{between, pick};
use oxeye_random::SplitMix64;
use std::collections::BTreeMap;

/// An expression of the inputs of a tasklet.
pub(crate) enum Formula {
    /// An input.
    Input(usize),
    /// A number.
    Number(f64),
    /// A symbol or an iterator.
    Symbol(String),
    /// An operator or a function of two arguments.
    Two(&'static str, Box<Formula>, Box<Formula>),
    /// A function of one argument.
    One(&'static str, Box<Formula>),
    /// `then if left < right else otherwise`
    Choice(Box<[Formula; 4]>),
}

/// Values of inputs and symbols.
pub(crate) struct Point<'a> {
    pub(crate) inputs: &'a [f64],
    pub(crate) symbols: &'a BTreeMap<String, i64>,
}

impl Formula {
    /// A random one with values from -4 to 4.
    pub(crate) fn random(random: &mut SplitMix64, n_inputs: usize, symbols: &[String]) -> Self {
        let inner = Self::inner(random, n_inputs, symbols, 3);
        let number = |value| Box::new(Formula::Number(value));
        Formula::Two("max", Box::new(Formula::Two("min", Box::new(inner), number(4.0))), number(-4.0))
    }

    fn inner(random: &mut SplitMix64, n_inputs: usize, symbols: &[String], depth: usize) -> Self {
        let next = |random: &mut SplitMix64| Box::new(Self::inner(random, n_inputs, symbols, depth - 1));
        match if depth == 0 { random.remainder(4) } else { random.remainder(12) } {
            0 | 1 if n_inputs > 0 => Formula::Input(random.remainder(n_inputs as u64) as usize),
            2 if !symbols.is_empty() => Formula::Symbol(pick(random, symbols)),
            0..=3 => Formula::Number(between(random, -8, 8) as f64 / 4.0),
            4 => Formula::Choice(Box::new([*next(random), *next(random), *next(random), *next(random)])),
            5 => Formula::One(pick(random, &["abs", "-", "math.cos"]), next(random)),
            6 => Formula::One("math.sqrt", Box::new(Formula::One("abs", next(random)))),
            _ => {
                let operator = pick(random, &["+", "-", "*", "+", "*", "min", "max"]);
                Formula::Two(operator, next(random), next(random))
            }
        }
    }

    pub(crate) fn python(&self) -> String {
        match self {
            Formula::Input(k) => format!("in_{k}"),
            Formula::Number(value) => format!("({value:?})"),
            Formula::Symbol(name) => name.clone(),
            Formula::Two(name @ ("min" | "max"), l, r) => format!("{name}({}, {})", l.python(), r.python()),
            Formula::Two(operator, l, r) => format!("({} {operator} {})", l.python(), r.python()),
            Formula::One("-", e) => format!("(- {})", e.python()),
            Formula::One(function, e) => format!("{function}({})", e.python()),
            Formula::Choice(parts) => {
                let [l, r, then, otherwise] = &**parts;
                format!(
                    "({} if ({} < {}) else {})",
                    then.python(),
                    l.python(),
                    r.python(),
                    otherwise.python()
                )
            }
        }
    }

    pub(crate) fn value(&self, point: &Point<'_>) -> f64 {
        match self {
            Formula::Input(k) => point.inputs[*k],
            Formula::Number(value) => *value,
            Formula::Symbol(name) => point.symbols[name] as f64,
            Formula::Two(operator, l, r) => {
                let (l, r) = (l.value(point), r.value(point));
                match *operator {
                    "+" => l + r,
                    "-" => l - r,
                    "*" => l * r,
                    "min" => l.min(r),
                    "max" => l.max(r),
                    other => panic!("the operator {other}"),
                }
            }
            Formula::One(function, e) => {
                let e = e.value(point);
                match *function {
                    "-" => -e,
                    "abs" => e.abs(),
                    "math.cos" => e.cos(),
                    "math.sqrt" => e.sqrt(),
                    other => panic!("the function {other}"),
                }
            }
            Formula::Choice(parts) => {
                let [l, r, then, otherwise] = &**parts;
                if l.value(point) < r.value(point) { then.value(point) } else { otherwise.value(point) }
            }
        }
    }
}
