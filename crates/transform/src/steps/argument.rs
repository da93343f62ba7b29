//! Arguments of steps as values, and the kinds of parameters.

use crate::refusal::Reason;
use crate::schedule::packed_contraction::Blocks;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::values::Literal;
use oxeye_ir::{Affine, ArrayId, LoopId, StmtId, Var, WorkSharing};

/// An argument of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument {
    Loop(LoopId),
    Loops(Vec<LoopId>),
    Statement(StmtId),
    Number(i64),
    Numbers(Vec<i64>),
    Position(Option<usize>),
    Expression(Affine),
    Schedules(Vec<StatementSchedule>),
    WorkSharing(WorkSharing),
    Team(Option<WorkSharing>),
    Blocks(Blocks),
    Array(ArrayId),
    Literal(Literal),
}

/// What a parameter accepts. Reading, printing, renaming and checking an argument follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A loop.
    Loop,
    /// A loop inside the loop of another parameter; `perfectly`: with only loops between them.
    Inside {
        /// Name of the other parameter.
        outer: &'static str,
        /// Only loops are between them.
        perfectly: bool,
    },
    /// Loops, each of which contains only the next.
    PerfectChain,
    /// One loop or several, as one word.
    Loops,
    /// One number per loop of another parameter.
    Sizes {
        /// Name of the other parameter.
        of: &'static str,
        /// The least.
        least: i64,
        /// The greatest.
        most: i64,
    },
    /// A number of copies or iterations.
    Count {
        /// The least.
        least: i64,
        /// The greatest.
        most: i64,
    },
    /// Any integer.
    Integer,
    /// A place between two children of the loop of another parameter; may be left out.
    Position {
        /// Name of the other parameter.
        of: &'static str,
    },
    /// An affine expression of loops and symbols.
    Expression,
    /// A statement.
    Statement,
    /// Schedules of statements in 2d+1 form.
    Schedules,
    /// How iterations are assigned to threads.
    WorkSharing,
    /// The same, or no threads at all; may be left out.
    Team,
    /// Sizes of the blocks of a packed contraction.
    Blocks,
    /// An array or scalar.
    Array,
    /// A number of an array's type.
    Value,
}

impl Kind {
    /// A noun with its article, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Loop | Kind::Inside { .. } | Kind::PerfectChain => "a loop",
            Kind::Loops => "loops such as `L1,L2`",
            Kind::Sizes { .. } => "a number of iterations",
            Kind::Count { .. } | Kind::Integer => "a number",
            Kind::Position { .. } => "a position",
            Kind::Expression => "an affine expression such as `2*L1-P0+3`",
            Kind::Statement => "a statement",
            Kind::Schedules => "a schedule such as `S0[0 L1 0]`",
            Kind::WorkSharing => "`static` or `dynamic`",
            Kind::Team => "nothing, `static` or `dynamic`",
            Kind::Array => "an array such as `A0`",
            Kind::Value => "a value such as `0.5`",
            Kind::Blocks => "block sizes such as `register 6x16 lanes 8 block 96x512x256`",
        }
    }

    /// What to pass, for messages.
    pub fn asks_for(self) -> String {
        match self {
            Kind::Inside { outer, perfectly: true } => format!("a loop perfectly nested in `{outer}`"),
            Kind::Inside { outer, perfectly: false } => format!("a loop inside `{outer}`"),
            Kind::PerfectChain => "perfectly nested loops, outermost first".into(),
            Kind::Loops => "a loop, or loops such as `L1,L2`, outermost first".into(),
            Kind::Sizes { of, least, most } => {
                format!("one number from {least} to {most} per loop of `{of}`")
            }
            Kind::Count { least, most } => format!("a number from {least} to {most}"),
            Kind::Position { of } => format!("a position between children of `{of}`, or nothing"),
            Kind::Schedules => "one schedule per statement, such as `S0[0 L1 0]`".into(),
            _ => self.noun().into(),
        }
    }
}

/// A Rust type of parameters.
pub(crate) trait Value: Sized {
    fn to_argument(&self) -> Argument;
    fn from_argument(argument: &Argument) -> Option<Self>;
}

macro_rules! values {
    ($($ty:ty => $variant:ident,)*) => { $(
        impl Value for $ty {
            fn to_argument(&self) -> Argument {
                Argument::$variant(self.clone())
            }

            fn from_argument(argument: &Argument) -> Option<Self> {
                match argument {
                    Argument::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }
    )* };
}

values! {
    LoopId => Loop,
    Vec<LoopId> => Loops,
    StmtId => Statement,
    i64 => Number,
    Vec<i64> => Numbers,
    Option<usize> => Position,
    Affine => Expression,
    Vec<StatementSchedule> => Schedules,
    WorkSharing => WorkSharing,
    Option<WorkSharing> => Team,
    Blocks => Blocks,
    ArrayId => Array,
    Literal => Literal,
}

/// New names for loops, statements and variables of expressions.
pub trait Renaming {
    /// The loop's other id.
    ///
    /// # Errors
    /// Why it has none.
    fn of_loop(&self, id: LoopId) -> Result<LoopId, Reason>;

    /// The statement's other id.
    ///
    /// # Errors
    /// Why it has none.
    fn of_statement(&self, id: StmtId) -> Result<StmtId, Reason>;

    /// The array's other id.
    ///
    /// # Errors
    /// Why it has none.
    fn of_array(&self, id: ArrayId) -> Result<ArrayId, Reason>;

    /// The other variable of an expression.
    ///
    /// # Errors
    /// Why it has none.
    fn of_variable(&self, variable: Var) -> Result<Var, Reason>;
}

impl Argument {
    /// The argument with its names replaced.
    pub(crate) fn renamed(&self, names: &dyn Renaming) -> Result<Self, Reason> {
        Ok(match self {
            Argument::Loop(id) => Argument::Loop(names.of_loop(*id)?),
            Argument::Loops(ids) => {
                Argument::Loops(ids.iter().map(|id| names.of_loop(*id)).collect::<Result<_, _>>()?)
            }
            Argument::Statement(id) => Argument::Statement(names.of_statement(*id)?),
            Argument::Array(id) => Argument::Array(names.of_array(*id)?),
            Argument::Expression(e) => Argument::Expression(renamed(e, names)?),
            Argument::Schedules(schedules) => {
                let one = |schedule: &StatementSchedule| {
                    let dimension = |dimension: &Dimension| {
                        Ok(match dimension {
                            Dimension::At(position) => Dimension::At(*position),
                            Dimension::By { expr, reverse } => {
                                Dimension::By { expr: renamed(expr, names)?, reverse: *reverse }
                            }
                        })
                    };
                    let dimensions =
                        schedule.dimensions.iter().map(dimension).collect::<Result<_, Reason>>()?;
                    Ok(StatementSchedule { stmt: names.of_statement(schedule.stmt)?, dimensions })
                };
                Argument::Schedules(schedules.iter().map(one).collect::<Result<_, Reason>>()?)
            }
            Argument::Number(_)
            | Argument::Numbers(_)
            | Argument::Position(_)
            | Argument::WorkSharing(_)
            | Argument::Team(_)
            | Argument::Blocks(_)
            | Argument::Literal(_) => self.clone(),
        })
    }

    /// The expressions in it.
    pub(crate) fn expressions(&self) -> Vec<&Affine> {
        match self {
            Argument::Expression(e) => vec![e],
            Argument::Schedules(schedules) => {
                let dimensions = schedules.iter().flat_map(|schedule| &schedule.dimensions);
                dimensions
                    .filter_map(|dimension| match dimension {
                        Dimension::By { expr, .. } => Some(expr),
                        Dimension::At(_) => None,
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn renamed(e: &Affine, names: &dyn Renaming) -> Result<Affine, Reason> {
    let mut sum = Affine::constant(e.constant_part());
    for (variable, coefficient) in e.terms() {
        sum = sum.add_scaled(&Affine::var(names.of_variable(variable)?), coefficient);
    }
    Ok(sum)
}
