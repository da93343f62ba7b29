//! The forms that values over loops have, and their arithmetic.

use super::sum::{Level, Sum, Symbol};
use crate::ast::Range;
use oxeye_ir::BinaryOp;

/// Why a value is not known, and the place that stopped it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stop {
    pub(crate) why: String,
    pub(crate) at: Range,
}

/// A value at a place in an iteration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evolution {
    /// The same in all iterations.
    Sum(Sum),
    /// `base` in the first iteration, `step` more in each that follows.
    Add {
        base: Box<Evolution>,
        step: Box<Evolution>,
        of: Level,
    },
    /// `base` in the first iteration, `factor` times as much in each that follows.
    Mul {
        base: Box<Evolution>,
        factor: Sum,
        of: Level,
    },
    /// Another operation of C.
    Of(BinaryOp, Box<Evolution>, Box<Evolution>),
    /// One of two values.
    Select {
        condition: Box<Evolution>,
        then: Box<Evolution>,
        otherwise: Box<Evolution>,
    },
    /// These values in turns, one after the other.
    Turns {
        values: Vec<Evolution>,
        of: Level,
    },
    Unknown(Box<Stop>),
}

impl From<i64> for Evolution {
    fn from(n: i64) -> Self {
        Evolution::Sum(n.into())
    }
}

impl From<Symbol> for Evolution {
    fn from(symbol: Symbol) -> Self {
        Evolution::Sum(symbol.into())
    }
}

impl Evolution {
    pub(crate) fn unknown(why: impl Into<String>, at: Range) -> Self {
        Evolution::Unknown(Box::new(Stop { why: why.into(), at }))
    }

    pub(crate) fn as_sum(&self) -> Option<&Sum> {
        match self {
            Evolution::Sum(sum) => Some(sum),
            _ => None,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.as_sum()?.as_constant()
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Evolution::Unknown(_))
    }

    fn children(&self) -> Vec<&Evolution> {
        match self {
            Evolution::Sum(_) | Evolution::Unknown(_) => Vec::new(),
            Evolution::Add { base, step, .. } => vec![base, step],
            Evolution::Mul { base, .. } => vec![base],
            Evolution::Of(_, l, r) => vec![l, r],
            Evolution::Select { condition, then, otherwise } => vec![condition, then, otherwise],
            Evolution::Turns { values, .. } => values.iter().collect(),
        }
    }

    /// Whether a symbol for which `is_it` holds occurs.
    pub(crate) fn mentions(&self, is_it: &dyn Fn(Symbol) -> bool) -> bool {
        let in_sum = match self {
            Evolution::Sum(sum) | Evolution::Mul { factor: sum, .. } => sum.mentions(is_it),
            _ => false,
        };
        in_sum || self.children().into_iter().any(|e| e.mentions(is_it))
    }

    /// Whether it changes from one iteration of a loop to the next.
    pub(crate) fn varies(&self, level: Level) -> bool {
        let own = match self {
            Evolution::Add { of, .. } | Evolution::Mul { of, .. } | Evolution::Turns { of, .. } => {
                *of == level
            }
            _ => false,
        };
        own || self.children().into_iter().any(|e| e.varies(level))
    }

    /// The value in the first iteration of a loop.
    pub(crate) fn at_start(&self, level: Level) -> Evolution {
        match self {
            Evolution::Add { base, of, .. } | Evolution::Mul { base, of, .. } if *of == level => {
                base.at_start(level)
            }
            Evolution::Turns { values, of } if *of == level => values[0].clone(),
            Evolution::Of(op, l, r) => operation(*op, l.at_start(level), r.at_start(level)),
            Evolution::Select { condition, then, otherwise } => {
                select(condition.at_start(level), then.at_start(level), otherwise.at_start(level))
            }
            other => other.clone(),
        }
    }

    /// What it is one iteration earlier, where that is of the same form.
    pub(crate) fn one_before(&self, level: Level) -> Option<Evolution> {
        if !self.varies(level) {
            return Some(self.clone());
        }
        Some(match self {
            Evolution::Add { base, step, of } if *of == level && !step.varies(level) => {
                let base = Box::new(minus((**base).clone(), (**step).clone(), Range::default()));
                Evolution::Add { base, step: step.clone(), of: *of }
            }
            Evolution::Of(op, l, r) => operation(*op, l.one_before(level)?, r.one_before(level)?),
            Evolution::Select { condition, then, otherwise } => {
                select(condition.one_before(level)?, then.one_before(level)?, otherwise.one_before(level)?)
            }
            _ => return None,
        })
    }
}

/// `{base,+,step}`, which is the base if nothing is added.
pub(crate) fn recurrence(base: Evolution, step: Evolution, of: Level) -> Evolution {
    match (base, step) {
        (Evolution::Unknown(stop), _) | (_, Evolution::Unknown(stop)) => Evolution::Unknown(stop),
        (base, step) if step.as_constant() == Some(0) => base,
        (base, step) => Evolution::Add { base: Box::new(base), step: Box::new(step), of },
    }
}

pub(crate) fn plus(l: Evolution, r: Evolution, at: Range) -> Evolution {
    use Evolution::{Add, Sum, Unknown};
    match (l, r) {
        (Unknown(stop), _) | (_, Unknown(stop)) => Unknown(stop),
        (Sum(l), Sum(r)) => match l.plus(&r) {
            Some(sum) => Sum(sum),
            None => too_large(at),
        },
        (Add { base, step, of }, Add { base: base_r, step: step_r, of: of_r }) if of == of_r => {
            recurrence(plus(*base, *base_r, at), plus(*step, *step_r, at), of)
        }
        // The loop inside adds to what the ones around it hold.
        (Add { base, step, of }, other) if !other.varies_from(of) => {
            recurrence(plus(*base, other, at), *step, of)
        }
        (other, Add { base, step, of }) if !other.varies_from(of) => {
            recurrence(plus(other, *base, at), *step, of)
        }
        (l, r) if l.as_constant() == Some(0) => r,
        (l, r) if r.as_constant() == Some(0) => l,
        (l, r) => Evolution::Of(BinaryOp::Add, Box::new(l), Box::new(r)),
    }
}

pub(crate) fn minus(l: Evolution, r: Evolution, at: Range) -> Evolution {
    match (&l, &r) {
        (l, r) if !l.is_unknown() && l == r => 0.into(),
        _ => plus(l, times(r, (-1).into(), at), at),
    }
}

pub(crate) fn times(l: Evolution, r: Evolution, at: Range) -> Evolution {
    use Evolution::{Add, Sum, Unknown};
    match (l, r) {
        (Unknown(stop), _) | (_, Unknown(stop)) => Unknown(stop),
        (Sum(l), Sum(r)) => match l.times(&r) {
            Some(product) => Sum(product),
            None => too_large(at),
        },
        (Add { base, step, of }, Add { base: base_r, step: step_r, of: of_r }) if of == of_r => {
            let base_of_both = times((*base).clone(), (*base_r).clone(), at);
            let l = Add { base, step: step.clone(), of };
            let r = Add { base: base_r, step: step_r.clone(), of };
            let beside = plus(times(l, (*step_r).clone(), at), times((*step).clone(), r, at), at);
            recurrence(base_of_both, plus(beside, times(*step, *step_r, at), at), of)
        }
        (Add { base, step, of }, other) | (other, Add { base, step, of }) if !other.varies_from(of) => {
            recurrence(times(*base, other.clone(), at), times(*step, other, at), of)
        }
        (l, r) if r.as_constant() == Some(1) => l,
        (l, r) if l.as_constant() == Some(1) => r,
        (l, r) => Evolution::Of(BinaryOp::Mul, Box::new(l), Box::new(r)),
    }
}

impl Evolution {
    /// Whether it changes in a loop, or in one inside of that.
    fn varies_from(&self, level: Level) -> bool {
        let own = match self {
            Evolution::Add { of, .. } | Evolution::Mul { of, .. } | Evolution::Turns { of, .. } => {
                *of >= level
            }
            _ => false,
        };
        own || self.children().into_iter().any(|e| e.varies_from(level))
    }
}

/// An operation that is not a sum or product.
pub(crate) fn operation(op: BinaryOp, l: Evolution, r: Evolution) -> Evolution {
    use BinaryOp::{Add, Div, Mul, Sub};
    let at = Range::default();
    match (op, l, r) {
        (_, Evolution::Unknown(stop), _) | (_, _, Evolution::Unknown(stop)) => Evolution::Unknown(stop),
        (Add, l, r) => plus(l, r, at),
        (Sub, l, r) => minus(l, r, at),
        (Mul, l, r) => times(l, r, at),
        (op, l, r) => {
            let exact = match (op, &l, r.as_constant()) {
                (Div, Evolution::Sum(sum), Some(by)) if sum.as_constant().is_none() => sum.divided(by),
                (op, l, Some(by)) => l.as_constant().and_then(|n| folded(op, n, by)).map(Sum::from),
                _ => None,
            };
            match exact {
                Some(known) => Evolution::Sum(known),
                None => Evolution::Of(op, Box::new(l), Box::new(r)),
            }
        }
    }
}

pub(crate) fn select(condition: Evolution, then: Evolution, otherwise: Evolution) -> Evolution {
    match (condition, then, otherwise) {
        (_, then, otherwise) if then == otherwise => then,
        (Evolution::Unknown(stop), ..)
        | (_, Evolution::Unknown(stop), _)
        | (_, _, Evolution::Unknown(stop)) => Evolution::Unknown(stop),
        (condition, then, otherwise) => match condition.as_constant() {
            Some(0) => otherwise,
            Some(_) => then,
            None => {
                let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                Evolution::Select { condition: Box::new(condition), then, otherwise }
            }
        },
    }
}

/// An operation on constants.
fn folded(op: BinaryOp, l: i64, r: i64) -> Option<i64> {
    Some(match op {
        BinaryOp::Div => l.checked_div(r)?,
        BinaryOp::Rem => l.checked_rem(r)?,
        BinaryOp::BitAnd => l & r,
        BinaryOp::Lt => i64::from(l < r),
        BinaryOp::Le => i64::from(l <= r),
        BinaryOp::Gt => i64::from(l > r),
        BinaryOp::Ge => i64::from(l >= r),
        BinaryOp::Eq => i64::from(l == r),
        BinaryOp::Ne => i64::from(l != r),
        _ => return None,
    })
}

fn too_large(at: Range) -> Evolution {
    Evolution::unknown("a number becomes too large", at)
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trips {
    /// `⌈distance / by⌉`, or not at all if the distance is negative; `by` is above zero.
    Covers {
        distance: Evolution,
        by: i64,
    },
    /// As often as `by` fits into the distance, a step that is above zero wherever the loop ends.
    By {
        distance: Evolution,
        by: Sum,
    },
    Unknown(Stop),
}

impl Trips {
    /// The number of iterations, if the distance is not negative.
    pub(crate) fn times(&self) -> Option<Evolution> {
        let Trips::Covers { distance, by } = self else { return None };
        if let Some(distance) = distance.as_constant() {
            let sum = distance.max(0).checked_add(by - 1)?;
            return Some(sum.checked_div(*by)?.into());
        }
        match by {
            1 => Some(distance.clone()),
            by => distance.as_sum()?.divided(*by).map(Evolution::Sum),
        }
    }
}
