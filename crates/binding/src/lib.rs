//! How the nests of a program meet the program around them.
//!
//! A [`Program`] says what nests compute, of symbols and arrays. A [`Binding`] says what these are where the nests stand:
//! a member of a structure, an element that is read beforehand, rows behind pointers; and what has to hold there, be it
//! tested before the nest or not. Both together are [`Bound`], and have one textual form.
//!
//! ```
//! use oxeye_binding::{Bound, Source};
//!
//! let text = "\
//! program scale {
//!   symbol P0 \"g->n\": i32
//!   array A0 \"g->u\": f64[P0] global
//!   view P0 \"g*.n\" \"struct grid *g\"
//!   view A0 \"g*.u\" \"struct grid *g\" loaded
//!   may_change P0 A0
//!   dataflow { N0 }
//!   nest N0 in scale {
//!     for L0 i: i32 in 0 .. P0 {
//!       S0: A0[i] *= 2.0
//!     }
//!   }
//! }
//! ";
//! let bound = Bound::parse(text)?;
//! assert_eq!(bound.to_string(), text);
//! let n = bound.program.symbols[0].id;
//! let Some(Source::Member(view)) = bound.binding.source(n) else { panic!("it is a member") };
//! assert_eq!(view.base(), "g->n");
//! # Ok::<(), oxeye_ir::ParseError>(())
//! ```
//!
//! # The textual form
//!
//! That of `oxeye_ir`, with more declarations:
//!
//! - `view A0 "g*.u" "struct grid *g" loaded` is the path from a variable to an array (or symbol), with
//!   `record 24 (0 1)(16 1)` for the layout of interleaved ones. `load P0 idx[n + 1]`: the symbol is an element that is read
//!   before the nest. `distance P0 A0 "end" "double *end"`: `end` leads `P0` elements behind the beginning of `A0`.
//! - `origin A1 (0, 1)`: what is added to the indices of `A1` where its elements are written in C.
//! - `may_change P0 A1`: writing to an array might change what a symbol or a view reads.
//! - `entry N0 reached(e) test(e)` lists what is tested before the nest, with `rows A0 (0 .. n - 1)(0 .. m - 1)` for rows
//!   behind pointers that must be equally spaced, and `rows A0 apart (…)` for those that must not overlap.
//! - `advance N0 A1 (2*n)`: behind the nest, the pointer leads so many elements further.
//! - `private N0 own(A2) names("t")`: the thread-private variables of the team that runs the nest.
//!
//! It knows no schedules: neither analyses nor transformations see it, and what they make of a nest has the arrays and
//! symbols of that nest, and temporaries of its own.

mod entry;
mod facts;
mod own_text;
mod text;
mod uses;
mod verify;
mod view;

pub use entry::{Entry, Reach, RowForm, RowScan, RowTest, ScanEnd, ScanStep};
pub use facts::{Advance, Constant, Distance, Team, UnusedBody};
pub use own_text::{Clauses, OwnText};
pub use uses::Roots;
pub use verify::verify;
pub use view::{Record, Step, View};

use indexmap::IndexMap;
use oxeye_ir::{Access, ArrayId, NestId, Program, SymId};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Where the value of a symbol comes from that is no variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A member of a structure.
    Member(View),
    /// An element of an array, read once before the nest. Its indices are affine expressions of other symbols.
    Element(Access),
    /// The number of elements between two pointers, which no variable holds.
    Distance(Distance),
}

/// How the nests of a program meet what is around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Paths to arrays and scalars that are not variables.
    pub views: IndexMap<ArrayId, View>,
    /// What symbols are that are not variables. A symbol that is neither has its C expression as its name.
    pub sources: IndexMap<SymId, Source>,
    /// Linear arrays whose pointer does not lead to the element with all indices zero: what is added to the index of each
    /// dimension where an element is written in C. `a[j * lda + i]` with `i` from 1 to `lda` is `a[j][i - 1]`, and 0 and 1
    /// are added.
    pub origins: IndexMap<ArrayId, Vec<i64>>,
    /// What writing to an array may change, though the nests take it to stay as it is.
    pub may_change: Vec<(Constant, ArrayId)>,
    /// Conditions for running something other than a nest's original code.
    pub entries: IndexMap<NestId, Entry>,
    /// The pointers that nests move.
    pub advances: IndexMap<NestId, Vec<Advance>>,
    /// What the threads of a team have of their own, for the nests that a team runs which is there already.
    pub teams: IndexMap<NestId, Team>,
}

impl Binding {
    /// That of a program all of whose arrays and symbols are variables.
    pub fn none() -> &'static Binding {
        static NONE: LazyLock<Binding> = LazyLock::new(Binding::default);
        &NONE
    }

    /// What a symbol is, if it is no variable.
    pub fn source(&self, symbol: SymId) -> Option<&Source> {
        self.sources.get(&symbol)
    }

    /// The path to the value of a symbol, if it is a member.
    pub fn symbol_view(&self, symbol: SymId) -> Option<&View> {
        match self.source(symbol)? {
            Source::Member(view) => Some(view),
            _ => None,
        }
    }

    /// The element whose value a symbol is, if it is one.
    pub fn load(&self, symbol: SymId) -> Option<&Access> {
        match self.source(symbol)? {
            Source::Element(access) => Some(access),
            _ => None,
        }
    }

    /// The pointers between which a symbol counts the elements, if it does.
    pub fn distance(&self, symbol: SymId) -> Option<&Distance> {
        match self.source(symbol)? {
            Source::Distance(distance) => Some(distance),
            _ => None,
        }
    }

    /// The symbols that are elements.
    pub fn loads(&self) -> impl Iterator<Item = (SymId, &Access)> {
        self.sources.iter().filter_map(|(id, source)| match source {
            Source::Element(access) => Some((*id, access)),
            _ => None,
        })
    }

    /// What is tested before a nest.
    pub fn entry(&self, nest: NestId) -> Option<&Entry> {
        self.entries.get(&nest)
    }

    /// The test of the rows behind pointers that are a nest's array, if it is that.
    pub fn row_test(&self, nest: NestId, array: ArrayId) -> Option<&RowTest> {
        self.entry(nest)?.rows.iter().find(|test| test.array == array)
    }

    /// How far a nest reaches in an array, if that is found out before it.
    pub fn reach(&self, nest: NestId, array: ArrayId) -> Option<&Reach> {
        self.entry(nest)?.reaches.iter().find(|reach| reach.array == array)
    }

    /// The pointers that a nest moves.
    pub fn advances(&self, nest: NestId) -> &[Advance] {
        self.advances.get(&nest).map_or(&[], Vec::as_slice)
    }

    /// What the threads of the team that runs a nest have of their own.
    pub fn team(&self, nest: NestId) -> Option<&Team> {
        self.teams.get(&nest)
    }

    /// What is added to the index of a dimension where an element of a linear array is written in C.
    pub fn origin(&self, array: ArrayId, dimension: usize) -> i64 {
        self.origins.get(&array).and_then(|origin| origin.get(dimension)).copied().unwrap_or(0)
    }

    /// Lets an array of the program that has the memory of another be reached as that is.
    pub fn reshape(&mut self, reshape: ArrayId, array: ArrayId) {
        if let Some(view) = self.views.get(&array).cloned() {
            self.views.insert(reshape, view);
        }
        let swapped = |other: ArrayId| if other == array { reshape } else { other };
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
    }

    /// The arrays whose rows, not evenly spaced, a nest reaches through their pointers.
    pub fn rows_apart(&self, nest: NestId) -> impl Iterator<Item = ArrayId> {
        let tests = self.entry(nest).into_iter().flat_map(|entry| &entry.rows);
        tests.filter(|test| test.form == RowForm::Apart).map(|test| test.array)
    }

    /// Their names.
    pub fn uneven_rows<'p>(&self, program: &'p Program, nest: NestId) -> Vec<&'p str> {
        self.rows_apart(nest).filter_map(|id| Some(program.arrays.get(&id)?.name.as_str())).collect()
    }

    /// Lets a nest reach the rows of the array with this name through their pointers. Returns whether it has rows behind
    /// pointers.
    pub fn set_uneven_rows(&mut self, program: &Program, nest: NestId, name: &str) -> bool {
        let mut is_there = false;
        for test in self.entries.get_mut(&nest).into_iter().flat_map(|entry| &mut entry.rows) {
            if program.arrays.get(&test.array).is_some_and(|array| array.name == name) {
                test.form = RowForm::Apart;
                is_there = true;
            }
        }
        is_there
    }
}

/// A program with its binding.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What is computed.
    pub program: Program,
    /// What that meets.
    pub binding: Binding,
}
