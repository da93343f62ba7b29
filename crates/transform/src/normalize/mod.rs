//! A priori loop nest normalization.
//!
//! Two spellings of one computation get the same normal form, so that what is known of one applies to the other ("A
//! Priori Loop Nest Normalization: Automatic Loop Scheduling in Complex Applications", CGO 2025). [`normalize`] takes a
//! whole function, whose nests may be fissioned and fused in any way; [`normalize_nest`] takes one nest.
//!
//! In normal form
//!
//! 1. loops start at zero, count upwards by one where that is legal, and have the bounds that projection gives;
//! 2. scalars that only pass on a value or an accumulation are removed ([`scalars`]), and so are scratch arrays
//!    ([`scratch`]); others are expanded ([`expand`]), and rotating buffers are named ([`rotate`]);
//! 3. statements are distributed as far as dependences allow, and 4. have the legal loop order with the smallest
//!    strides, ties broken by structure ([`arrange`]);
//! 5. dead stores are removed, updates of the same element in place are one statement, and peeled iterations are back
//!    in their loops ([`merge`]);
//! 6. expressions ([`expressions`]) and independent statements are in structural order.
//!
//! Every change of order is checked by the judge (`legality`), every change of storage by the exact integer test.
//! Changes of values, memory or iteration spaces are [`Rewrite`]s, documented there with their proofs. A pass whose
//! result fails the checks is undone. Every pass also updates the map from the nest's statement instances to those of
//! the source (`instances`), under which the judge checks the whole against the source. The passes repeat until the
//! text no longer changes.

mod arrange;
mod expand;
mod expressions;
mod factors;
mod form;
mod gather;
mod merge;
mod rewrites;
mod rotate;
mod scalars;
mod scratch;
mod shapes;
mod tidy;

use crate::instances::{Instances, loops_under, stmts_under};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::scan;
use crate::schedule::{Schedule, Statement};

use crate::rewrite::Rewrite;
use form::Nameless;
use oxeye_ir::{
    Affine, Array, DataflowGraph, Execution, Nest, Node, Program, Region, StmtId, Storage, SymId, Var,
};
use rewrites::Done;
use shapes::Shapes;
use std::collections::BTreeMap;

/// A function in normal form.
#[derive(Clone, Debug)]
pub struct NormalForm {
    /// The function; consecutive nests are one nest with several roots.
    pub program: Program,
    /// Its text without names: equal texts are the same computation in the same order.
    pub text: String,
    /// A hash of `text`, the same on every machine.
    pub hash: u64,
    /// What was done and what was not.
    pub log: Vec<LogEntry>,
    /// Whether floating-point sums are reordered relative to the source.
    pub reassociated: bool,
}

/// A nest in normal form.
#[derive(Clone, Debug)]
pub struct NormalNest {
    /// The program with the arrays that the nest uses.
    pub program: Program,
    /// The nest, under its old id. Loops and statements are numbered in textual order, so that a recipe for one
    /// spelling of a computation fits the others.
    pub nest: Nest,
    /// Its text without names.
    pub text: String,
    /// A hash of `text`, the same on every machine.
    pub hash: u64,
    /// The symbols that `text` names `n0`, `n1`, …; its loops and statements are numbered in the order of the nest's.
    pub symbols: Vec<SymId>,
    /// How much it differs from the source.
    pub change: Change,
    /// What was done and what was not.
    pub log: Vec<LogEntry>,
    /// Whether floating-point sums are reordered relative to the source.
    pub reassociated: bool,
    /// The map from its statements to those of the source.
    pub(crate) instances: Instances,
}

/// How much of a nest its normal form changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Only names, the start of loops, and the form of expressions.
    Spelling,
    /// The same statements run in another order or in other loops.
    Order,
    /// Statements are different, or values are stored elsewhere.
    Statements,
}

/// One step of normalization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEntry {
    /// What was done.
    Done(String),
    /// What could not be done, and why.
    Refused(String),
}

impl LogEntry {
    fn is_done(&self) -> bool {
        matches!(self, LogEntry::Done(_))
    }
}

impl std::fmt::Display for LogEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LogEntry::Done(what) => f.write_str(what),
            LogEntry::Refused(why) => write!(f, "not done: {why}"),
        }
    }
}

/// Most rounds of passes. Usually there are two: one that changes things, and one that finds nothing more.
const MAX_ROUNDS: usize = 8;

/// The normal form of a whole function.
pub fn normalize(program: &Program, policy: Policy) -> NormalForm {
    let (mut program, done) = gather::gather(program);
    let mut log: Vec<LogEntry> = done.into_iter().map(LogEntry::Done).collect();
    let mut reassociated = false;
    for id in program.nests.keys().copied().collect::<Vec<_>>() {
        let Some(nest) = program.nests.get(&id).cloned() else { continue };
        let mut work = Work::new(&program, &nest, policy);
        work.run();
        log.append(&mut work.log);
        reassociated |= work.reassociated;
        program.arrays = work.program.arrays;
        program.nests.insert(id, work.nest);
    }
    drop_unused(&mut program);
    program.rebuild_dataflow();
    let Nameless { text, hash, .. } = form::text(&program);
    NormalForm { program, text, hash, log, reassociated }
}

/// The normal form of one nest of a program.
pub fn normalize_nest(program: &Program, nest: &Nest, policy: Policy) -> NormalNest {
    let mut work = Work::new(program, nest, policy);
    let source = work.tidied();
    work.run();
    let Nameless { text, hash, symbols } = work.text();
    let is_rewritten = work.log.iter().any(LogEntry::is_done) || counts(&work.nest) != counts(nest);
    let change = if is_rewritten || work.statements() != source.statements() {
        Change::Statements
    } else if text != source.text().text {
        Change::Order
    } else {
        Change::Spelling
    };
    let Work { mut program, mut nest, log, reassociated, mut instances, .. } = work;
    number(&mut program, &mut nest, &mut instances);
    let used = nest.arrays();
    let known: Vec<_> = program.nests.values().flat_map(Nest::arrays).collect();
    program
        .arrays
        .retain(|id, a| used.contains(id) || known.contains(id) || !matches!(a.storage, Storage::Temp(_)));
    NormalNest { program, nest, text, hash, symbols, change, log, reassociated, instances }
}

/// The nest after each pass of its normalization, starting with the nest itself.
#[cfg(feature = "testing")]
pub(crate) fn stages(program: &Program, nest: &Nest, policy: Policy) -> Vec<Stage> {
    let mut work = Work::new(program, nest, policy);
    sequential(&mut work.nest.roots);
    work.stages = Some(Vec::new());
    work.stage(Vec::new());
    work.run();
    work.stages.unwrap_or_default()
}

/// Numbers loops and statements in textual order.
fn number(program: &mut Program, nest: &mut Nest, instances: &mut Instances) {
    let old = stmts_under(&nest.roots);
    let renamed = rotate::Fresh { next_loop: 0, next_stmt: 0 }.rename(&mut nest.roots);
    let new = stmts_under(&nest.roots);
    let stmts: Vec<_> = old.into_iter().zip(new.iter().copied()).collect();
    instances.rename(&stmts);
    instances.substitute(&new, &|v| match v {
        Var::Loop(l) => renamed.get(&l).map(|l| Affine::var(*l)),
        Var::Sym(_) => None,
    });
    for id in nest.arrays() {
        let array = program.array(id);
        let storage = match array.storage {
            Storage::Body(l) => renamed.get(&l).map(|l| Storage::Body(*l)),
            Storage::Temp(Some(l)) => renamed.get(&l).map(|l| Storage::Temp(Some(*l))),
            _ => None,
        };
        let Some(storage) = storage.filter(|s| *s != array.storage) else { continue };
        // The nests of the program may use the array under the loop's old number.
        let own = program.add_array(Array { storage, ..array.clone() });
        nest.roots.iter_mut().for_each(|n| scan::rename_array(n, id, own));
        instances.move_array(id, Rewrite::PrivateScalars);
    }
}

fn drop_unused(program: &mut Program) {
    let used: Vec<_> = program.nests.values().flat_map(Nest::arrays).collect();
    program
        .arrays
        .retain(|id, a| used.contains(id) || !matches!(a.storage, Storage::Temp(_) | Storage::Body(_)));
}

/// The numbers of statements and of guards.
fn counts(nest: &Nest) -> (usize, usize) {
    let mut n_guards = 0;
    nest.visit(&mut |_, node| n_guards += usize::from(matches!(node, Node::If { .. })));
    (nest.stmts().len(), n_guards)
}

#[derive(Clone, Debug)]
struct Work {
    program: Program,
    nest: Nest,
    policy: Policy,
    log: Vec<LogEntry>,
    reassociated: bool,
    /// The map from the nest's statements to those of the source.
    instances: Instances,
    /// If requested, the nest after each pass, with the rewrites applied.
    stages: Option<Vec<Stage>>,
}

/// A nest after a pass of normalization.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The rewrites of the pass, other than changes of order.
    pub rewrites: Vec<Rewrite>,
    /// The program with the arrays of the nest.
    pub program: Program,
    /// The nest.
    pub nest: Nest,
    /// The map from its statements to those of the source.
    #[cfg_attr(not(feature = "testing"), expect(dead_code))]
    pub(crate) instances: Instances,
}

/// What a pass may do to the order of statement instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The order is kept: checked by [`rewrites::runs_in_place`].
    Kept,
    /// Iterations are counted differently, or statements are replaced in place.
    Respelt,
    /// The pass has consulted the judge.
    Judged,
}

impl Work {
    fn new(program: &Program, nest: &Nest, policy: Policy) -> Self {
        let (program, nest) = (program.clone(), nest.clone());
        let instances = Instances::identity(&nest);
        Self { program, nest, policy, log: Vec::new(), reassociated: false, instances, stages: None }
    }

    fn run(&mut self) {
        let known: Vec<_> = self.program.arrays.keys().copied().collect();
        self.form();
        // New scalars are temporaries, whatever they were called during the pass.
        for array in self.program.arrays.values_mut() {
            if let Storage::Body(l) = array.storage
                && !known.contains(&array.id)
            {
                array.storage = Storage::Temp(Some(l));
            }
        }
    }

    fn form(&mut self) {
        sequential(&mut self.nest.roots);
        self.pass(Order::Respelt, |work| {
            Ok(rotate::unroll(&work.program, &mut work.nest.roots, &mut work.instances))
        });
        self.iteration_spaces();
        self.pass(Order::Judged, Self::separate_scalars);
        let mut before = self.text().text;
        for _ in 0..MAX_ROUNDS {
            self.round();
            let after = self.text().text;
            if after == before {
                return;
            }
            before = after;
        }
        self.refused("no fixed point was reached".into());
    }

    fn round(&mut self) {
        self.tidy();
        self.pass(Order::Kept, |work| {
            let mut done = scalars::dissolve(&work.program, &mut work.nest, &mut work.instances);
            done.extend(scratch::dissolve(&work.program, &mut work.nest, work.policy, &mut work.instances));
            work.reassociated |= done.iter().any(|(rewrite, _)| rewrite.reassociates());
            Ok(done)
        });
        self.pass(Order::Kept, |work| {
            Ok(expand::expand(&mut work.program, &mut work.nest, &mut work.instances))
        });
        self.tidy();
        if self.policy.reassociate {
            self.pass(Order::Kept, |work| {
                let moved = factors::move_to_uses(&work.program, &mut work.nest);
                work.reassociated |= !moved.is_empty();
                Ok(moved)
            });
            self.tidy();
        }
        self.pass(Order::Judged, |work| {
            let why = |reason| format!("distribution and loop order: {reason}");
            let (schedule, reassociated) =
                arrange::arrange(&work.program, &work.nest, work.policy).map_err(why)?;
            work.generate(schedule, Rewrite::IterationSpace).map_err(why)?;
            work.reassociated |= reassociated;
            Ok(Done::new())
        });
        self.tidy();
        self.pass(Order::Judged, |work| {
            Ok(merge::merge(&work.program, &mut work.nest, work.policy, &mut work.instances))
        });
        self.tidy();
    }

    /// Runs a pass and keeps its result if it passes the checks; otherwise the nest stays as it was.
    fn pass(&mut self, order: Order, pass: impl FnOnce(&mut Self) -> Result<Done, String>) {
        let before = self.clone();
        let done = pass(self).and_then(|done| self.checked(&before.nest, order).map(|()| done));
        match done {
            Ok(done) => {
                let rewrites = done.iter().map(|(rewrite, _)| *rewrite).collect();
                self.stage(rewrites);
                self.done(done);
            }
            Err(why) => {
                *self = before;
                self.refused(why);
            }
        }
    }

    fn checked(&self, before: &Nest, order: Order) -> Result<(), String> {
        if order == Order::Kept {
            rewrites::runs_in_place(before, &self.nest)?;
        }
        match self.nest.accesses().iter().find(|(a, _)| !self.program.arrays.contains_key(&a.array)) {
            Some((a, _)) => Err(format!("{} is not declared", a.array)),
            None => Ok(()),
        }
    }

    fn stage(&mut self, rewrites: Vec<Rewrite>) {
        if let Some(stages) = &mut self.stages
            && stages.last().is_none_or(|last| last.nest != self.nest)
        {
            stages.push(Stage {
                rewrites,
                program: self.program.clone(),
                nest: self.nest.clone(),
                instances: self.instances.clone(),
            });
        }
    }

    fn tidy(&mut self) {
        self.iteration_spaces();
        self.pass(Order::Respelt, |work| {
            let was = work.nest.clone();
            let reassociated =
                tidy::statements(&work.program, &mut work.nest, work.policy, &mut work.instances);
            work.reassociated |= reassociated;
            if let Some(stages) = &work.stages
                && stages.last().is_some_and(|_| was != work.nest)
            {
                let rewrite = if reassociated { Rewrite::Polynomials } else { Rewrite::Spelling };
                work.stage(vec![rewrite]);
            }
            Ok(Done::new())
        });
    }

    fn iteration_spaces(&mut self) {
        self.pass(Order::Respelt, |work| {
            let was = work.nest.clone();
            let roots = std::mem::take(&mut work.nest.roots);
            work.nest.roots = tidy::loops(&work.program, roots, &mut work.instances);
            if was != work.nest {
                work.stage(vec![Rewrite::IterationSpace]);
            }
            Ok(Done::new())
        });
    }

    /// Gives scalars that are private to different loops separate names.
    fn separate_scalars(&mut self) -> Result<Done, String> {
        let mut schedule = Schedule::import(&self.program, &self.nest);
        schedule.scalar_replacement = false;
        let has_privates = !schedule.privates.is_empty();
        self.generate(schedule, Rewrite::PrivateScalars)
            .map_err(|reason| format!("private scalars: {reason}"))?;
        if has_privates {
            self.stage(vec![Rewrite::PrivateScalars]);
        }
        Ok(Done::new())
    }

    /// Replaces the nest by the one that a schedule describes.
    fn generate(&mut self, schedule: Schedule, rewrite: Rewrite) -> Result<(), Reason> {
        let stmts = |s: &Statement| (stmts_under([&*s.node]), s.map.clone());
        let groups: Vec<_> = schedule.statements.iter().map(stmts).collect();
        let before = self.nest.clone();
        let (program, nest) = scan::generate(schedule, &self.nest)?;
        self.take(program, nest);
        let copies = self.copied(&before);
        self.instances.generated(&groups, &copies, &self.nest, rewrite);
        let used = self.nest.arrays();
        for array in before.arrays().into_iter().filter(|array| !used.contains(array)) {
            self.instances.move_array(array, Rewrite::PrivateScalars);
        }
        Ok(())
    }

    /// The statements of the original nest's copy, to which the generated nest branches if some loops do not run at
    /// all.
    fn copied(&mut self, before: &Nest) -> Vec<StmtId> {
        let [Node::If { otherwise, .. }] = self.nest.roots.as_slice() else { return Vec::new() };
        let (old, new) = (stmts_under(&before.roots), stmts_under(otherwise));
        let loops = [loops_under(&before.roots), loops_under(otherwise)];
        if old.len() != new.len() || loops[0].len() != loops[1].len() || new.iter().any(|s| old.contains(s)) {
            return Vec::new();
        }
        let loops: BTreeMap<_, _> = loops[0].iter().copied().zip(loops[1].iter().copied()).collect();
        old.iter().zip(&new).for_each(|(from, to)| self.instances.copy(*from, *to));
        self.instances.substitute(&new, &|v| match v {
            Var::Loop(l) => loops.get(&l).map(|l| Affine::var(*l)),
            Var::Sym(_) => None,
        });
        new
    }

    /// Takes a generated nest. Its scalars belong to the bodies of their loops, so they are private from now on.
    fn take(&mut self, program: Program, nest: Nest) {
        self.program.arrays = program.arrays;
        self.nest = nest;
        let loops: Vec<_> = self.nest.loops().iter().map(|l| l.id).collect();
        for array in self.program.arrays.values_mut() {
            if let Storage::Temp(Some(l)) = array.storage
                && loops.contains(&l)
            {
                array.storage = Storage::Body(l);
            }
        }
    }

    /// The nest in canonical spelling, with everything in its place.
    fn tidied(&self) -> Work {
        let mut copy = Work::new(&self.program, &self.nest, self.policy);
        sequential(&mut copy.nest.roots);
        copy.tidy();
        copy
    }

    /// Keys of all statements, in ascending order.
    fn statements(&self) -> Vec<u64> {
        let shapes = Shapes::of(&self.program, &self.nest);
        let mut keys: Vec<u64> = self.nest.stmts().iter().map(|s| shapes.stmt(s.id)).collect();
        keys.sort_unstable();
        keys
    }

    fn done(&mut self, what: Done) {
        self.log.extend(what.into_iter().map(|(_, what)| LogEntry::Done(what)));
    }

    fn refused(&mut self, why: String) {
        let entry = LogEntry::Refused(why);
        if !self.log.contains(&entry) {
            self.log.push(entry);
        }
    }

    fn text(&self) -> Nameless {
        let mut alone = self.program.clone();
        alone.nests.clear();
        alone.nests.insert(self.nest.id, self.nest.clone());
        alone.body = Region::Dataflow(DataflowGraph::build(&alone, &[self.nest.id]));
        form::text(&alone)
    }
}

/// Removes threads and vector lanes, which a normal form does not have.
fn sequential(nodes: &mut [Node]) {
    for node in nodes {
        if let Node::Loop(l) = node {
            l.execution = Execution::Sequential;
        }
        node.bodies_mut().into_iter().for_each(|b| sequential(b));
    }
}
