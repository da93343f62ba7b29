//! Recipes: sequences of transformations as values.

mod stored;
mod text;

pub use stored::{STORED_RECIPE_FORMAT, StoredRecipe};
pub use text::RecipeError;

use crate::steps::packed_contraction::Blocks;
use oxeye_ir::{Affine, LoopId, OmpSchedule, StmtId};
use serde::{Deserialize, Serialize};

/// One level of a statement's schedule in 2d+1 form (Feautrier 1992; Girbal et al. 2006).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Position among the siblings at this level.
    At(usize),
    /// A loop over the value of this expression of the statement's iterators, backwards if asked.
    By {
        /// Over loops of the schedule before this step.
        expr: Affine,
        /// From the greatest value to the least.
        reverse: bool,
    },
}

/// The new schedule of one statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StatementSchedule {
    /// The statement.
    pub stmt: StmtId,
    /// `At`, `By`, `At`, …, `At`. Statements whose dimensions agree from the start share those loops.
    pub dimensions: Vec<Dimension>,
}

/// A transformation with its parameters. Loops and statements are named as they are when the step is applied; new loops
/// get the next free ids, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Transformation {
    /// See [`crate::steps::normalize`].
    Normalize,
    /// See [`crate::steps::reorder`].
    Reorder {
        /// One for every statement of the nest.
        schedules: Vec<StatementSchedule>,
    },
    /// See [`crate::steps::distribute`].
    Distribute {
        /// The loop whose children are put into loops of their own.
        at: LoopId,
        /// Cut only before this child; `None`: between all of them.
        before: Option<usize>,
    },
    /// See [`crate::steps::interchange`].
    Interchange {
        /// The outer loop.
        outer: LoopId,
        /// A loop perfectly nested in it.
        inner: LoopId,
    },
    /// See [`crate::steps::fuse`].
    Fuse {
        /// The first loop.
        first: LoopId,
        /// Its next sibling.
        second: LoopId,
        /// Added to the second loop's iterator.
        shift: i64,
    },
    /// See [`crate::steps::skew`].
    Skew {
        /// The loop that is skewed.
        inner: LoopId,
        /// A loop around it.
        outer: LoopId,
        /// How many iterations per iteration of the outer loop.
        factor: i64,
    },
    /// See [`crate::steps::reverse`].
    Reverse {
        /// The loop.
        at: LoopId,
    },
    /// See [`crate::steps::tile`].
    Tile {
        /// Perfectly nested loops, outermost first.
        loops: Vec<LoopId>,
        /// Iterations per tile.
        sizes: Vec<i64>,
    },
    /// See [`crate::steps::split`].
    Split {
        /// The loop.
        at: LoopId,
        /// Iterations before this value of the iterator go into a loop of their own.
        point: Affine,
    },
    /// See [`crate::steps::parallelize`].
    Parallelize {
        /// The loop.
        at: LoopId,
        /// How iterations are handed to threads.
        #[serde(rename = "distribution")]
        omp_schedule: OmpSchedule,
    },
    /// See [`crate::steps::vectorize`].
    Vectorize {
        /// The loop.
        at: LoopId,
    },
    /// See [`crate::steps::unroll`].
    Unroll {
        /// The loop.
        at: LoopId,
        /// How often.
        factor: i64,
    },
    /// See [`crate::steps::unroll_and_jam`].
    UnrollAndJam {
        /// The loop.
        at: LoopId,
        /// How often.
        factor: i64,
    },
    /// A product in cache blocks: operands packed around a tile of accumulators in vector registers (Goto and van de
    /// Geijn, "Anatomy of high-performance matrix multiplication", 2008).
    Contract {
        /// The statement.
        stmt: StmtId,
        /// Loop over rows of the target.
        row: LoopId,
        /// Loop over contiguous columns of the target.
        column: LoopId,
        /// Loop that is summed over.
        depth: LoopId,
        /// Block sizes.
        blocks: Blocks,
        /// Whether and how row blocks are handed to threads.
        parallel: Option<OmpSchedule>,
    },
}

/// One row of the table of transformations.
pub struct TransformationInfo {
    /// Name in recipes.
    pub name: &'static str,
    /// One line.
    pub description: &'static str,
    /// Parameters.
    pub parameters: &'static str,
}

/// Every transformation; help texts derive from it.
pub const TRANSFORMATIONS: &[TransformationInfo] = &[
    TransformationInfo {
        name: "normalize",
        description: "replace the nest by its normal form, as the first step; the steps after it speak of that form",
        parameters: "",
    },
    TransformationInfo {
        name: "reorder",
        description: "give every statement a new schedule: loop order, fusion, distribution, shifts and skews at once",
        parameters: "schedules",
    },
    TransformationInfo {
        name: "distribute",
        description: "put the children of a loop into loops of their own",
        parameters: "at, before",
    },
    TransformationInfo {
        name: "interchange",
        description: "swap two perfectly nested loops",
        parameters: "outer, inner",
    },
    TransformationInfo {
        name: "fuse",
        description: "merge two adjacent loops, the second shifted",
        parameters: "first, second, shift",
    },
    TransformationInfo {
        name: "skew",
        description: "add a multiple of an outer iterator to an inner one",
        parameters: "inner, outer, factor",
    },
    TransformationInfo { name: "reverse", description: "run a loop backwards", parameters: "at" },
    TransformationInfo {
        name: "tile",
        description: "cut perfectly nested loops into tiles, full tiles apart from partial ones",
        parameters: "loops, sizes",
    },
    TransformationInfo {
        name: "split",
        description: "cut the range of a loop in two",
        parameters: "at, point",
    },
    TransformationInfo {
        name: "parallelize",
        description: "run the iterations of a loop on several threads",
        parameters: "at, distribution",
    },
    TransformationInfo {
        name: "vectorize",
        description: "run the iterations of a loop in vector lanes",
        parameters: "at",
    },
    TransformationInfo { name: "unroll", description: "repeat the body of a loop", parameters: "at, factor" },
    TransformationInfo {
        name: "unroll_and_jam",
        description: "unroll a loop and fuse the copies of its inner loops",
        parameters: "at, factor",
    },
    TransformationInfo {
        name: "contract",
        description: "pack operands into cache blocks around a tile of accumulators in vector registers",
        parameters: "stmt, row, column, depth, blocks, parallel",
    },
];

impl Transformation {
    /// Name in recipes and in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Transformation::Normalize => "normalize",
            Transformation::Reorder { .. } => "reorder",
            Transformation::Distribute { .. } => "distribute",
            Transformation::Interchange { .. } => "interchange",
            Transformation::Fuse { .. } => "fuse",
            Transformation::Skew { .. } => "skew",
            Transformation::Reverse { .. } => "reverse",
            Transformation::Tile { .. } => "tile",
            Transformation::Split { .. } => "split",
            Transformation::Parallelize { .. } => "parallelize",
            Transformation::Vectorize { .. } => "vectorize",
            Transformation::Unroll { .. } => "unroll",
            Transformation::UnrollAndJam { .. } => "unroll_and_jam",
            Transformation::Contract { .. } => "contract",
        }
    }
}

/// A sequence of transformations, applied in order. Prints as its steps, `; ` between them, and parses back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recipe {
    /// The steps.
    pub steps: Vec<Transformation>,
}
