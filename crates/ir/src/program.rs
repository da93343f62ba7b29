//! Programs: symbols, arrays, control regions and the dataflow between nests.

use crate::{ArrayId, Constraint, DataflowGraph, Expr, LoopId, Nest, NestId, ScalarType, SymId};
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

/// Who runs a nest, where the program around it has settled that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Threads {
    /// One thread, as a whole, for this reason.
    One(String),
    /// All threads of a team that is there already. They all reach the nest, with the same values in what it reads.
    Team,
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
    /// Arrays that are others as some nests see them, with other dimensions: which array's memory they have.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub reshapes: IndexMap<ArrayId, ArrayId>,
    /// Who runs a nest, where that is settled: the others are run by one thread that may ask others for help.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub threads: IndexMap<NestId, Threads>,
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
            reshapes: IndexMap::new(),
            threads: IndexMap::new(),
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

    /// Adds an array that has the memory of this one, and so may overlap with what that does. Nests use one or the other.
    pub fn add_reshape(&mut self, array: ArrayId) -> ArrayId {
        let id = self.add_array(self.array(array).clone());
        self.reshapes.insert(id, array);
        let swapped = |other: ArrayId| if other == array { id } else { other };
        let same = |pair: &&(ArrayId, ArrayId)| pair.0 == array || pair.1 == array;
        let more: Vec<_> =
            self.may_alias.iter().filter(same).map(|(a, b)| (swapped(*a), swapped(*b))).collect();
        self.may_alias.extend(more);
        id
    }

    /// Why one thread has to run a nest as a whole, if it has to.
    pub fn one_thread(&self, nest: NestId) -> Option<&str> {
        match self.threads.get(&nest) {
            Some(Threads::One(reason)) => Some(reason),
            Some(Threads::Team) | None => None,
        }
    }

    /// Whether a team of threads runs a nest that is there already.
    pub fn has_team(&self, nest: NestId) -> bool {
        self.threads.get(&nest) == Some(&Threads::Team)
    }

    /// The array with this id.
    ///
    /// # Panics
    /// If there is none; the verifier rules that out.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[&id]
    }
}
