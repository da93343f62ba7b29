//! Nests in an existing team of threads: what the team runs together, and what its threads must share.
//!
//! Every thread runs the block. Parallel loops are divided among the threads (`omp for`), the loops and guards around
//! them are run by all threads, and everything else by one (`omp single`). Variables declared in the block are private;
//! where several threads need the same one, all get the address of one thread's.

use crate::CodegenError;
use crate::context::Context;
use crate::expand::{Item, Places, all_accesses, collect_loops, header_accesses};
use oxeye_binding::Team;
use oxeye_ir::{ArrayId, Execution, Expr, LoopId, Nest};
use std::collections::{BTreeMap, BTreeSet};

/// A nest that cannot be written for a team.
pub(crate) fn refused<T>(why: impl Into<String>) -> Result<T, CodegenError> {
    Err(CodegenError::Team { why: why.into() })
}

/// Whether an item, or something in it, is divided among the threads.
pub(crate) fn is_divided(item: &Item) -> bool {
    match item {
        Item::Stmt(_) | Item::Vector(_) => false,
        Item::Loop { header, body } => {
            matches!(header.execution, Execution::Parallel { .. }) || body.iter().any(is_divided)
        }
        Item::Scope { body, .. } => body.iter().any(is_divided),
        Item::If { then, otherwise, .. } => then.iter().chain(otherwise).any(is_divided),
    }
}

/// How the threads of a team run a nest.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// Private arrays and scalars of which all threads use one thread's copy.
    pub(crate) shared: BTreeSet<ArrayId>,
    /// Loops that all threads run.
    together: BTreeSet<LoopId>,
}

/// Where an array is used.
#[derive(Debug, Default)]
struct Uses {
    /// Pieces that are run by one thread, or divided.
    pieces: BTreeSet<usize>,
    /// Whether different threads may use it in one of them.
    is_crossing: bool,
}

struct Search<'a> {
    uses: BTreeMap<ArrayId, Uses>,
    /// Arrays read in bounds and conditions that all threads evaluate.
    read_by_all: BTreeSet<ArrayId>,
    together: Vec<LoopId>,
    n_pieces: usize,
    found: Sharing,
    places: &'a Places,
}

impl Sharing {
    /// Determines what is shared; moves arrays of the nest out of loops that all threads run.
    pub(crate) fn plan(
        cx: &Context,
        items: &[Item],
        places: &mut Places,
        team: &Team,
        nest: &Nest,
    ) -> Result<Self, CodegenError> {
        if !items.iter().any(is_divided) {
            return refused("all the work would be left to one thread of the team");
        }
        let mut search = Search {
            uses: BTreeMap::new(),
            read_by_all: BTreeSet::new(),
            together: Vec::new(),
            n_pieces: 0,
            found: Sharing::default(),
            places,
        };
        search.items(items);
        let Search { uses, read_by_all, mut found, .. } = search;
        let written: BTreeSet<ArrayId> =
            nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        if let Some(array) = read_by_all.intersection(&written).next() {
            let name = &cx.program.array(*array).name;
            return refused(format!("all threads would test `{name}` while some of them write it"));
        }
        for (id, uses) in &uses {
            let place = places.get(id).copied();
            let is_declared_by_all = match place {
                Some(None) => true,
                Some(Some(l)) => found.together.contains(&l),
                None => team.own.contains(id),
            };
            if !is_declared_by_all {
                continue;
            }
            if place.is_some() {
                let array = cx.program.array(*id);
                let uses_loops = |e: &Expr| {
                    let mut found = false;
                    e.visit(&mut |e| found |= matches!(e, Expr::Affine(a) if a.loops().next().is_some()));
                    found
                };
                if array.shape.iter().flatten().any(uses_loops) {
                    return Err(CodegenError::Temporary { array: array.name.clone() });
                }
                places.insert(*id, None);
            }
            if uses.is_crossing || uses.pieces.len() > 1 {
                found.shared.insert(*id);
            }
        }
        Ok(found)
    }
}

impl Search<'_> {
    fn items(&mut self, items: &[Item]) {
        let mut rest = items;
        while let Some(first) = rest.first() {
            if !is_divided(first) {
                let n = rest.iter().take_while(|i| !is_divided(i)).count();
                let (alone, after) = rest.split_at(n);
                let is_crossing = !self.together.is_empty();
                self.piece(alone, &[], is_crossing);
                rest = after;
                continue;
            }
            rest = &rest[1..];
            match first {
                Item::Loop { header, body } if matches!(header.execution, Execution::Parallel { .. }) => {
                    self.read_by_all.extend(header_accesses(header).iter().map(|a| a.array));
                    self.piece(body, &[header.id], true);
                }
                Item::Loop { header, body } => {
                    self.read_by_all.extend(header_accesses(header).iter().map(|a| a.array));
                    self.found.together.insert(header.id);
                    self.together.push(header.id);
                    self.items(body);
                    self.together.pop();
                }
                Item::Scope { of, body } => {
                    self.found.together.insert(*of);
                    self.together.push(*of);
                    self.items(body);
                    self.together.pop();
                }
                Item::If { condition, then, otherwise } => {
                    self.read_by_all.extend(condition.reads().iter().map(|a| a.array));
                    self.items(then);
                    self.items(otherwise);
                }
                Item::Stmt(_) | Item::Vector(_) => {}
            }
        }
    }

    /// Items run by one thread, or the body of a divided loop.
    fn piece(&mut self, items: &[Item], of: &[LoopId], is_crossing: bool) {
        self.n_pieces += 1;
        let mut inside: BTreeSet<LoopId> = of.iter().copied().collect();
        collect_loops(items, &mut inside);
        for access in all_accesses(items) {
            // Variables declared inside belong to the thread that runs it.
            if self.places.get(&access.array).is_some_and(|p| p.is_some_and(|l| inside.contains(&l))) {
                continue;
            }
            let uses = self.uses.entry(access.array).or_default();
            uses.pieces.insert(self.n_pieces);
            uses.is_crossing |= is_crossing;
        }
    }
}
