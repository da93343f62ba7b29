//! What is tested, and found out, before a nest.

use oxeye_ir::{Affine, ArrayId, Expr, Loop, SymId};
use serde::{Deserialize, Serialize};

/// Conditions tested before a nest; if one does not hold, the original code of the nest runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// If this holds, the nest is sure to read what views lead through, or the code before it has, so that it may be read
    /// beforehand. Evaluated from left to right; it reads nothing that neither of them reads.
    pub reached: Option<Expr>,
    /// Further conditions, over symbols, evaluated if `reached` holds.
    pub tests: Vec<Expr>,
    /// Arrays whose elements are reached through rows of pointers, which must lie as one array with the strides of its
    /// shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RowTest>,
    /// How far the nest reaches in arrays where the extents and the loops do not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<Reach>,
    /// How the ends of ranges are found that are not known otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<RowScan>,
}

impl Entry {
    /// Whether a scan finds the symbol's value.
    pub fn finds(&self, symbol: SymId) -> bool {
        self.scans.iter().flat_map(|scan| &scan.ends).any(|end| end.symbol == symbol)
    }
}

/// The first and the last index of an array's first dimension that a nest uses at most, which [`Entry::scans`] find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The array.
    pub array: ArrayId,
    /// The first index.
    pub first: SymId,
    /// The last index, less than the first if there is none.
    pub last: SymId,
}

impl Reach {
    /// How many elements that are.
    pub fn n_elements(&self) -> Affine {
        (Affine::var(self.last) - Affine::var(self.first)).offset(1)
    }
}

/// What is tested of rows behind pointers before a nest, and so how the nest reaches their elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowForm {
    /// All rows are equally spaced: `u[i][j]` is an element of one array.
    #[default]
    Even,
    /// Rows that are written have no memory in common with each other or with anything else that the nest uses: each
    /// is reached through its pointer.
    Apart,
}

/// Rows behind pointers (`double **u`) as a nest uses them. The first and the last rows are sure to be used if
/// [`Entry::reached`] and [`RowTest::used`] hold; with more than one dimension of pointers all that are in the ranges, or
/// in one of the parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTest {
    /// The array; its form is linear, and all its extents except the first are symbols of their own.
    pub array: ArrayId,
    /// What is tested.
    #[serde(default)]
    pub form: RowForm,
    /// Least and greatest index of each dimension, over symbols.
    pub ranges: Vec<(Expr, Expr)>,
    /// If not all rows in the ranges are used, which: the least and greatest index of each dimension of pointers. A stencil
    /// uses a cross.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Vec<(Expr, Expr)>>,
    /// A condition over symbols, some of them of [`Entry::scans`], under which the first and the last rows are used, if
    /// that does not follow from [`Entry::reached`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Expr>,
}

impl RowTest {
    /// All its expressions over symbols.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let ends = self.ranges.iter().chain(self.parts.iter().flatten());
        ends.flat_map(|(low, high)| [low, high]).chain(&self.used)
    }
}

/// Finds out which rows behind pointers a nest uses before it runs: its loops around accesses to them, with the conditions
/// of these accesses. It reads nothing that the nest would not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowScan {
    /// From the outermost inwards.
    pub steps: Vec<ScanStep>,
    /// How many of the steps decide which rows are used; the others only whether they are, and the first time that they
    /// are is enough.
    pub n_deciding: usize,
    /// What is found.
    pub ends: Vec<ScanEnd>,
}

/// A step of a [`RowScan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanStep {
    /// A loop, without its body.
    Loop(Loop),
    /// A condition.
    If(Expr),
}

/// A symbol that is the least or the greatest of some values, the greatest or least 64-bit integer if there are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanEnd {
    /// The symbol.
    pub symbol: SymId,
    /// Whether it is the least value.
    pub is_least: bool,
    /// The values, in each iteration of the deciding steps for which the others find a use.
    pub value: Expr,
}
