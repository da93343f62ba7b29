//! `do` loops, which run once before they test their condition: the `for` loop with that condition, if it holds at first. That is
//! proved, or tested before the nest.

use super::limits::Limits;
use super::lowerer::Lowerer;
use crate::ast::Range;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Affine, Bound, BoundTerm};

impl Lowerer<'_> {
    /// Makes sure that a loop is entered which has these first values, the greatest of which counts if it counts upwards, or one
    /// more than the least, and these limits.
    pub(super) fn is_entered(&mut self, first: &Bound, limits: &Limits, at: Range) -> Lowered<()> {
        let mut are_inside = limits.guards.is_empty();
        for first in &first.0 {
            for end in &limits.terms {
                are_inside = are_inside
                    && match inside(first, end, limits.is_increasing) {
                        Some(distance) => self.is_not_negative(&distance),
                        None => false,
                    };
            }
        }
        if are_inside {
            return Ok(());
        }
        Err(self.runs_anyway(at))
    }

    pub(super) fn runs_anyway(&self, at: Range) -> Box<Refusal> {
        Refusal::new(at, "the `do` loop runs once even if its condition does not hold at first")
            .help("write it as a `for` loop, or let it end at a number that is known before the nest")
    }

    /// Makes sure that a number is not negative, by a test before the nest if it must be.
    pub(super) fn is_not_negative(&mut self, a: &Affine) -> bool {
        let shift = a.constant_part();
        self.is_at_least(&a.clone().offset(-shift), -shift)
    }
}

/// What is not negative if a first value is within a limit.
fn inside(first: &BoundTerm, end: &BoundTerm, is_increasing: bool) -> Option<Affine> {
    let BoundTerm::Affine { expr: first, divisor: 1 } = first else { return None };
    let BoundTerm::Affine { expr: end, divisor } = end else { return None };
    Some(match is_increasing {
        true => (end.clone() - first.scaled(*divisor)).offset(-1),
        false => first.clone().offset(-1).scaled(*divisor) - end.clone(),
    })
}
