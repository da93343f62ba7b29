//! What is known of a loop that may be left early while its body is lowered, and of checks that end the program.

use crate::ast::{Range, Scalar};
use oxeye_ir::{Access, Expr, LoopId, UnaryOp};

/// What happens when the loop that is being lowered is left.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    pub(super) flag: Access,
    /// Set besides by `return`, where what follows the loop has to tell that from the loop's other ends.
    pub(super) returned: Option<Access>,
    /// The variable that keeps where the loop was left, and the iterator.
    pub(super) kept: Option<(Access, LoopId)>,
}

impl Leaving {
    /// The loop was not left.
    pub(super) fn has_not(&self) -> Expr {
        is_unset(&self.flag)
    }

    /// The function around the loop has not returned.
    pub(super) fn has_not_returned(&self) -> Expr {
        is_unset(self.returned.as_ref().unwrap_or(&self.flag))
    }
}

fn is_unset(flag: &Access) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(Expr::Read(flag.clone())))
}

/// Where a `return` puts its value, in a loop directly inside of a function that is put in place of its call.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// Loops around the function's loop.
    pub(super) n_loops: usize,
    pub(super) result: Option<(Access, Scalar)>,
    /// Whether the loop did not return, once it is lowered.
    pub(super) has_not: Option<Expr>,
}

/// A check that ends the program, of which the condition is stored to a variable that nobody reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    /// Whether it fails if the condition holds.
    pub(super) fails_if: bool,
    /// Where it stands.
    pub(crate) at: Range,
}
