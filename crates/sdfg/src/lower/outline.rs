//! What runs in which order, with all that is needed to write it down as a program.

use oxeye_ir::{ArrayId, Expr, NestId, SymId};

/// A piece of the program as it runs.
///
/// The regions of a [`Program`](oxeye_ir::Program) say what is repeated; this says also how often, and which values
/// symbols have there.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A nest.
    Nest(NestId),
    /// A symbol gets a new value; none if it is not understood.
    Assign {
        /// The symbol.
        symbol: SymId,
        /// Its value, of values before.
        value: Option<Expr>,
    },
    /// A counted loop that is no nest.
    Loop {
        /// Its iterator.
        iterator: SymId,
        /// First value and end: exclusive, below the first value if the step is negative. None if they are not understood.
        ends: Option<(Expr, Expr)>,
        /// Not zero.
        step: i64,
        /// What is repeated.
        body: Vec<Outline>,
    },
    /// Another loop: the header, the test, the body.
    While {
        /// What runs before every test.
        header: Vec<Outline>,
        /// Whether the body runs; none if it is not understood.
        condition: Option<Expr>,
        /// What runs behind every test.
        body: Vec<Outline>,
    },
    /// A branch.
    Branch {
        /// The condition; none if it is not understood.
        condition: Option<Expr>,
        /// If it holds.
        then: Vec<Outline>,
        /// If it does not.
        otherwise: Vec<Outline>,
    },
    /// What could not be read.
    Opaque {
        /// The position of its diagnostic.
        diagnostic: usize,
        /// Arrays that it may write.
        writes: Vec<ArrayId>,
    },
}

/// Calls `f` on every expression.
pub(crate) fn visit(outline: &[Outline], f: &mut dyn FnMut(&Expr)) {
    for piece in outline {
        match piece {
            Outline::Nest(_) | Outline::Opaque { .. } => {}
            Outline::Assign { value, .. } => value.iter().for_each(&mut *f),
            Outline::Loop { ends, body, .. } => {
                ends.iter().for_each(|(first, end)| {
                    f(first);
                    f(end);
                });
                visit(body, f);
            }
            Outline::While { header, condition, body } => {
                visit(header, f);
                condition.iter().for_each(&mut *f);
                visit(body, f);
            }
            Outline::Branch { condition, then, otherwise } => {
                condition.iter().for_each(&mut *f);
                visit(then, f);
                visit(otherwise, f);
            }
        }
    }
}
