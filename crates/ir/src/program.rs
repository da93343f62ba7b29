//! Programs: symbols, arrays, control regions and the dataflow between nests.

use crate::{
    Access, ArrayId, Constraint, DataflowGraph, Expr, Loop, LoopId, Nest, NestId, ScalarType, SymId, View,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// An integer that is constant in every nest of the program: a size, a parameter, the iterator of a control loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Symbol {
    /// The symbol's id.
    pub id: SymId,
    /// The C expression for its value where nests stand: usually an identifier (`n`).
    pub name: String,
    /// Its C type.
    pub ty: ScalarType,
}

/// Where an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Storage {
    /// A parameter of the function.
    Param,
    /// A file-scope variable.
    Global,
    /// A local variable of the function, declared outside the nest.
    Local,
    /// Declared in the source inside the body of this loop: every iteration has its own copy.
    Body(LoopId),
    /// Made by a transformation, for the whole nest (`None`) or for one iteration of this loop.
    Temp(Option<LoopId>),
}

/// How elements are written in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// `A[i][j]`; scalars by their bare name.
    Nested,
    /// `A[i * n + j]`, row-major with the extents of `shape`; the first extent may be unknown.
    Linear,
    /// `A[i * n + j].x[k]`, `A[i * n + j][k]`: so many of the first dimensions in one subscript, the others nested.
    Leading(u32),
}

impl Form {
    /// How many of `n_dims` dimensions the first subscript has.
    pub fn n_leading(self, n_dims: usize) -> usize {
        match self {
            Form::Nested => n_dims.min(1),
            Form::Linear => n_dims,
            Form::Leading(n) => n_dims.min(n as usize),
        }
    }
}

/// An array; a scalar is an array without dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Array {
    /// The array's id.
    pub id: ArrayId,
    /// Name in the source, or for the emitted code.
    pub name: String,
    /// Element type.
    pub element: ScalarType,
    /// The element type as spelt in the source (`real`), if it is not the plain C name.
    pub c_type: Option<String>,
    /// Elements per dimension, outermost first, as expressions of symbols; `None` where unknown (only the first).
    pub shape: Vec<Option<Expr>>,
    /// How elements are written.
    pub form: Form,
    /// Where it lives.
    pub storage: Storage,
    /// Alignment of a temporary in bytes; 0 for that of its type.
    pub align: u32,
}

/// Part of the program's control structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Region {
    /// One after the other.
    Sequence(Vec<Region>),
    /// Nests and the data that flows between them.
    Dataflow(DataflowGraph),
    /// A loop that is not part of a nest, such as a time loop with a pointer swap.
    Loop(ControlLoop),
    /// A branch around nests.
    Branch {
        /// Condition, if it could be read.
        condition: Option<Expr>,
        /// Executed if the condition holds.
        then: Box<Region>,
        /// Executed otherwise.
        otherwise: Box<Region>,
    },
    /// Swaps two pointers: from here on each name means the other's elements.
    Swap(ArrayId, ArrayId),
    /// Code that is kept as it is, in its place, and may access the listed arrays.
    Opaque(Opaque),
}

impl Region {
    /// Regions directly inside, in execution order.
    pub fn children(&self) -> Vec<&Region> {
        match self {
            Region::Sequence(regions) => regions.iter().collect(),
            Region::Loop(l) => vec![&l.body],
            Region::Branch { then, otherwise, .. } => vec![then, otherwise],
            Region::Dataflow(_) | Region::Swap(..) | Region::Opaque(_) => Vec::new(),
        }
    }

    /// Calls `f` on this and every region inside, parents first, in execution order.
    pub fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a Region)) {
        f(self);
        for child in self.children() {
            child.visit(f);
        }
    }

    pub(crate) fn for_each_graph_mut(&mut self, f: &mut dyn FnMut(&mut DataflowGraph)) {
        match self {
            Region::Dataflow(graph) => f(graph),
            Region::Sequence(regions) => regions.iter_mut().for_each(|r| r.for_each_graph_mut(f)),
            Region::Loop(l) => l.body.for_each_graph_mut(f),
            Region::Branch { then, otherwise, .. } => {
                then.for_each_graph_mut(f);
                otherwise.for_each_graph_mut(f);
            }
            Region::Swap(..) | Region::Opaque(_) => {}
        }
    }
}

/// A pointer that leads so many elements behind the beginning of an array: `end` of `for (p = x; p < end; p++)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Distance {
    /// The array.
    pub from: ArrayId,
    /// The pointer's name.
    pub end: String,
    /// Its C declaration, for a variable of the function; a file-scope variable has none here.
    pub declaration: Option<String>,
}

/// A loop around regions that is kept as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlLoop {
    /// The iterator, a symbol for the nests inside; `None` for `while` loops and the like.
    pub iterator: Option<SymId>,
    /// First value and exclusive end, if known.
    pub range: Option<(Expr, Expr)>,
    /// What is repeated.
    pub body: Box<Region>,
}

/// Code that could not be read; its accesses are over-approximated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Why, as a message for the user.
    pub reason: String,
    /// Arrays that may be read; `None` for any.
    pub reads: Option<Vec<ArrayId>>,
    /// Arrays that may be written; `None` for any.
    pub writes: Option<Vec<ArrayId>>,
}

/// Something that a nest assumes to be constant while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Constant {
    /// The value of a symbol.
    Symbol(SymId),
    /// The pointers that lead to an array with a [`View`].
    Base(ArrayId),
}

/// Conditions tested before a nest; if one does not hold, the original code of the nest runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// If this holds, the nest is sure to read what views lead through, so that it may be read beforehand. Evaluated
    /// from left to right; it reads nothing that the nest would not read.
    pub reached: Option<Expr>,
    /// Further conditions, over symbols, evaluated if `reached` holds.
    pub tests: Vec<Expr>,
    /// Arrays whose elements are reached through rows of pointers, which must lie as one array with the strides of its
    /// shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RowTest>,
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

impl RowTest {
    /// All its expressions over symbols.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let ends = self.ranges.iter().chain(self.parts.iter().flatten());
        ends.flat_map(|(low, high)| [low, high]).chain(&self.used)
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

/// Facts about a nest run by a team of threads that an OpenMP directive elsewhere has created (`omp for` without
/// `parallel`). All threads of the team reach the nest, and the private variables that it reads have the same values in
/// all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Thread-private arrays and scalars that the nest writes. Every iteration of the shared loop writes them before it
    /// reads them, and they are not read after the nest.
    pub own: Vec<ArrayId>,
    /// Names of the variables that are declared outside of the nest and changed by each thread separately: the above,
    /// and iterators.
    pub names: Vec<String>,
}

/// A pointer that leads further behind a nest than before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// The array it leads to: in the nest, indices count from where the pointer leads before it.
    pub array: ArrayId,
    /// By how many elements, over symbols.
    pub by: Expr,
}

/// A function (or marked region) as nests within control structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Name of the function.
    pub name: String,
    /// Symbols by id.
    pub symbols: IndexMap<SymId, Symbol>,
    /// Arrays by id.
    pub arrays: IndexMap<ArrayId, Array>,
    /// What is known of the symbols.
    pub assumptions: Vec<Constraint>,
    /// Pairs of arrays that may share memory (pointer parameters without `restrict`).
    pub may_alias: Vec<(ArrayId, ArrayId)>,
    /// Paths to arrays and scalars that are not variables.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub views: IndexMap<ArrayId, View>,
    /// Paths to the values of symbols that are not variables.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub symbol_views: IndexMap<SymId, View>,
    /// Arrays that are others as some nests see them, with other dimensions: which array's memory they have.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub reshapes: IndexMap<ArrayId, ArrayId>,
    /// Linear arrays whose pointer does not lead to the element with all indices zero: what is added to the index of each
    /// dimension where an element is written in C. `a[j * lda + i]` with `i` from 1 to `lda` is `a[j][i - 1]`, and 0 and 1
    /// are added.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub origins: IndexMap<ArrayId, Vec<i64>>,
    /// Elements of arrays that are read once before a nest: which one a symbol is the value of. Their indices are affine
    /// expressions of other symbols.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loads: IndexMap<SymId, Access>,
    /// Numbers of elements between two pointers, which no variable holds: where such a symbol leads from the beginning of an
    /// array.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub distances: IndexMap<SymId, Distance>,
    /// What writing to an array may change, though the nests take it to stay as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<(Constant, ArrayId)>,
    /// Conditions for running something other than a nest's original code.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub entries: IndexMap<NestId, Entry>,
    /// The pointers that nests move.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub advances: IndexMap<NestId, Vec<Advance>>,
    /// The nests that a team of threads runs which is there already.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub teams: IndexMap<NestId, Team>,
    /// The nests that one thread has to run as a whole, with the reason.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub one_thread: IndexMap<NestId, String>,
    /// Nests by id.
    pub nests: IndexMap<NestId, Nest>,
    /// Control structure; every nest is in exactly one dataflow graph.
    pub body: Region,
}

impl Program {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            symbols: IndexMap::new(),
            arrays: IndexMap::new(),
            assumptions: Vec::new(),
            may_alias: Vec::new(),
            views: IndexMap::new(),
            symbol_views: IndexMap::new(),
            reshapes: IndexMap::new(),
            origins: IndexMap::new(),
            loads: IndexMap::new(),
            distances: IndexMap::new(),
            may_change: Vec::new(),
            entries: IndexMap::new(),
            advances: IndexMap::new(),
            teams: IndexMap::new(),
            one_thread: IndexMap::new(),
            nests: IndexMap::new(),
            body: Region::Sequence(Vec::new()),
        }
    }

    /// Adds a symbol.
    pub fn add_symbol(&mut self, name: impl Into<String>, ty: ScalarType) -> SymId {
        let id = SymId(self.symbols.keys().map(|s| s.0 + 1).max().unwrap_or(0));
        self.symbols.insert(id, Symbol { id, name: name.into(), ty });
        id
    }

    /// Adds an array, giving it a fresh id (the `id` field of the argument is ignored).
    pub fn add_array(&mut self, mut array: Array) -> ArrayId {
        array.id = ArrayId(self.arrays.keys().map(|a| a.0 + 1).max().unwrap_or(0));
        let id = array.id;
        self.arrays.insert(id, array);
        id
    }

    /// Adds an array that has the memory of this one, and so everything that is known of it. Nests use one or the other.
    pub fn add_reshape(&mut self, array: ArrayId) -> ArrayId {
        let id = self.add_array(self.array(array).clone());
        self.reshapes.insert(id, array);
        if let Some(view) = self.views.get(&array).cloned() {
            self.views.insert(id, view);
        }
        let swapped = |other: ArrayId| if other == array { id } else { other };
        let same = |pair: &&(ArrayId, ArrayId)| pair.0 == array || pair.1 == array;
        let more: Vec<_> =
            self.may_alias.iter().filter(same).map(|(a, b)| (swapped(*a), swapped(*b))).collect();
        self.may_alias.extend(more);
        let more: Vec<_> = self
            .may_change
            .iter()
            .map(|(constant, changed)| match constant {
                Constant::Base(base) => (Constant::Base(swapped(*base)), swapped(*changed)),
                symbol => (*symbol, swapped(*changed)),
            })
            .filter(|change| !self.may_change.contains(change))
            .collect();
        self.may_change.extend(more);
        id
    }

    /// What is added to the index of a dimension where an element of a linear array is written in C.
    pub fn origin(&self, array: ArrayId, dimension: usize) -> i64 {
        self.origins.get(&array).and_then(|origin| origin.get(dimension)).copied().unwrap_or(0)
    }

    /// The names of the arrays whose rows, not evenly spaced, a nest reaches through their pointers.
    pub fn uneven_rows(&self, nest: NestId) -> Vec<&str> {
        let tests = self.entries.get(&nest).into_iter().flat_map(|entry| &entry.rows);
        let apart = tests.filter(|test| test.form == RowForm::Apart);
        apart.filter_map(|test| Some(self.arrays.get(&test.array)?.name.as_str())).collect()
    }

    /// Lets a nest reach the rows of the array with this name through their pointers. Returns whether it has rows behind
    /// pointers.
    pub fn set_uneven_rows(&mut self, nest: NestId, name: &str) -> bool {
        let mut is_there = false;
        for test in self.entries.get_mut(&nest).into_iter().flat_map(|entry| &mut entry.rows) {
            if self.arrays.get(&test.array).is_some_and(|array| array.name == name) {
                test.form = RowForm::Apart;
                is_there = true;
            }
        }
        is_there
    }

    /// The array with this id.
    ///
    /// # Panics
    /// If there is none; the verifier rules that out.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[&id]
    }
}
