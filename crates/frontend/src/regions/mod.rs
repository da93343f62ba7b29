//! A function as nests within control structure.
//!
//! Input: a function. Output: its program and, for every loop that is left unchanged, the reason. `control` walks the
//! statements, `nests` makes the nests, `aliases` finds what may share memory, `pieces` assembles the result.

mod aliases;
mod control;
pub(crate) mod nests;
mod pieces;
mod rolled;

use crate::Severity;
use crate::ast::{Range, StmtKind, VarId};
use crate::context::{Context, Team};
use crate::copies::remove_copies;
use crate::delinearize::{Symbols, delinearize};
use crate::forward::forward;
use crate::groups::Member;
use crate::lower::{State, find_reaches, renew_scans, without_checks};
use crate::places::Places;
use crate::prove::Facts;
use crate::ragged;
use crate::refusal::Refusal;
use crate::scan::counter;
use crate::scopes::Scopes;
use crate::uniform::Uniformity;
use oxeye_binding::{Bound, OwnText};
use oxeye_ir::{Expr, NestId, Storage, SymId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Control structure before arrays have their final ids.
enum Piece {
    Nest(NestId),
    Loop {
        var: Option<VarId>,
        range: Option<(Expr, Expr)>,
        body: Vec<Piece>,
    },
    Branch {
        condition: Option<Expr>,
        then: Vec<Piece>,
        otherwise: Vec<Piece>,
    },
    /// Each of these pointers gets what the next one led to, the last what the first did.
    Turn(Vec<VarId>),
    Opaque {
        reason: String,
        touched: Option<Touched>,
    },
}

/// Variables that some code may read or write.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
}

/// A loop that is left unchanged: its place, and the reason.
pub(crate) type Refused = (Range, Severity, Box<Refusal>);

/// Builds the program of one function.
pub(crate) struct Regions<'a> {
    cx: &'a Context<'a>,
    places: &'a Places<'a>,
    state: State,
    refused: Vec<Refused>,
    /// Facts about the symbols at each nest.
    known: HashMap<NestId, Facts>,
    /// `#pragma scop` regions of the function.
    scops: Vec<Range>,
    inlined: Inlined,
    own_texts: BTreeMap<NestId, OwnText>,
    /// The team that runs the current statement.
    team: Option<Team<'a>>,
    /// Whether a loop around the current statement runs its iterations in vector lanes.
    in_lanes: bool,
    uniform: Uniformity<'a>,
    ranges: BTreeMap<NestId, Range>,
    /// Nests and calls that may be one nest together with what stands between them.
    groups: Vec<Vec<Member>>,
    /// Loops that a directive collapses with one around them that is not a nest.
    collapsed: Vec<Range>,
    /// Whether the nest that was tried last has symbols for integers in memory.
    has_read_ahead: bool,
    /// Whether loops of it were lowered case by case.
    has_split: bool,
}

/// Facts about the nests of a function besides its program.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) inlined: Inlined,
    pub(crate) own_texts: BTreeMap<NestId, OwnText>,
    /// The place of each nest in the preprocessed text.
    pub(crate) ranges: BTreeMap<NestId, Range>,
    /// Nests and calls that may be one nest together with what stands between them.
    pub(crate) groups: Vec<Vec<Member>>,
    pub(crate) refused: Vec<Refused>,
}

/// Names of the functions that are inlined in a nest, for nests that have any.
pub(crate) type Inlined = BTreeMap<NestId, Vec<String>>;

impl<'a> Regions<'a> {
    pub(crate) fn build(cx: &'a Context<'a>, places: &'a Places<'a>) -> (Bound, Found) {
        let mut regions = Regions {
            cx,
            places,
            state: State::new(&cx.function.name),
            refused: Vec::new(),
            known: HashMap::new(),
            scops: Vec::new(),
            inlined: Inlined::new(),
            own_texts: BTreeMap::new(),
            team: None,
            in_lanes: false,
            uniform: Uniformity::default(),
            ranges: BTreeMap::new(),
            groups: Vec::new(),
            collapsed: Vec::new(),
            has_read_ahead: false,
            has_split: false,
        };
        regions.find_scops();
        let mut pieces = Vec::new();
        regions.stmt(&cx.function.body, &Facts::default(), &mut pieces);
        regions.find_aliases();
        for facts in regions.known.values_mut() {
            regions.state.program.assumptions.iter().for_each(|a| facts.push(a.clone()));
        }
        remove_copies(&mut regions.state.program, &regions.state.members);
        regions.forward_scalars();
        let wide = std::mem::take(&mut regions.state.wide);
        let scopes = Scopes::of(cx);
        let declared: HashMap<SymId, VarId> =
            regions.state.symbols.iter().map(|(var, id)| (*id, *var)).collect();
        let is_visible =
            |symbol: SymId, nest: NestId| match (declared.get(&symbol), regions.ranges.get(&nest)) {
                (Some(var), Some(range)) => scopes.includes(*var, *range),
                _ => true,
            };
        ragged::align(&mut regions.state.program);
        let mut counting = BTreeSet::new();
        cx.function.body.walk(&mut |s| {
            if let StmtKind::For(f) = &s.kind {
                counting.extend(counter(f));
            }
        });
        let counters = declared.iter().filter(|(_, var)| counting.contains(var)).map(|(id, _)| *id).collect();
        let symbols = Symbols { is_visible: &is_visible, counters };
        let State { program, binding, .. } = &mut regions.state;
        delinearize(program, binding, &regions.known, &wide, &symbols);
        renew_scans(program, binding);
        find_reaches(program, binding);
        regions.take_checks_out();
        let body = regions.sequence(pieces);
        regions.state.program.body = body;
        regions.state.program.rebuild_dataflow();
        let Regions { state, inlined, own_texts, ranges, groups, refused, .. } = regions;
        (
            Bound { program: state.program, binding: state.binding },
            Found { inlined, own_texts, ranges, groups, refused },
        )
    }

    /// Scalars in indices and bounds are replaced by what they hold. The text of the user still needs the variables, and their names
    /// are not free.
    fn forward_scalars(&mut self) {
        let unused = forward(&mut self.state.program, &self.known);
        for (nest, array) in &unused {
            let is_outside = self.state.program.array(*array).storage == Storage::Local;
            let variable = self.state.vars.get(array).filter(|_| is_outside);
            if let Some(declaration) = variable.and_then(|v| self.cx.file.declaration(self.cx.file.var(*v))) {
                self.own_texts.entry(*nest).or_default().unused.push(format!("{declaration} = {{0}}"));
            }
        }
    }

    /// Checks that end the program come before the nests, in terms of the arrays as they are now.
    fn take_checks_out(&mut self) {
        let State { program, binding, checks, .. } = &mut self.state;
        for id in program.nests.keys().copied().collect::<Vec<_>>() {
            let Some(mut nest) = program.nests.get(&id).cloned() else { continue };
            if !nest.stmts().iter().any(|s| checks.contains_key(&s.target.array)) {
                continue;
            }
            let none = Facts::default();
            let found = without_checks(program, &mut nest, checks, self.known.get(&id).unwrap_or(&none));
            let entry = binding.entries.entry(id).or_default();
            match found {
                Some(checked) => {
                    entry.scans.extend(checked.scans);
                    entry.tests.extend(checked.tests);
                }
                // The text of the user runs.
                None => entry.tests.push(Expr::from(0)),
            }
            program.nests.insert(id, nest);
        }
        checks.keys().for_each(|marker| _ = program.arrays.shift_remove(marker));
    }

    fn find_scops(&mut self) {
        let inside = |at: usize| self.cx.function.range.start <= at && at < self.cx.function.range.end;
        let mut start = None;
        for (at, text) in self.cx.preprocessed.pragmas.iter().filter(|(at, _)| inside(*at)) {
            match text.split_whitespace().next() {
                Some("scop") => start = Some(*at),
                Some("endscop") => self.scops.extend(start.take().map(|start| Range { start, end: *at })),
                _ => {}
            }
        }
        self.scops.extend(start.map(|start| Range { start, end: self.cx.function.range.end }));
    }

    fn is_wanted(&self, range: Range) -> bool {
        self.scops.is_empty() || self.scops.iter().any(|s| s.contains(range))
    }
}
