//! The state while a nest is lowered.

use super::digits::{Digits, RowLength};
use super::exits::{Check, Leaving, Returning};
use super::pointer::{Pointer, n_levels};
use super::value::Value;
use crate::ast::{self, Range, Type, VarId, VarKind};
use crate::context::Context;
use crate::members::member_of;
use crate::prove::Facts;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, read_elsewhere};
use oxeye_binding::{Advance, Binding, Source};
use oxeye_ir::{
    Affine, ArrayId, Constraint, Expr, LoopId, Nest, Node, Program, Rotation, ScalarType, StmtId, SymId, Var,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// State shared by the nests of a function: its program as built so far.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) program: Program,
    pub(crate) binding: Binding,
    pub(crate) symbols: HashMap<VarId, SymId>,
    /// Arrays and scalars declared outside of nests.
    pub(crate) arrays: HashMap<VarId, ArrayId>,
    /// The variable behind each array.
    pub(crate) vars: HashMap<ArrayId, VarId>,
    /// Flat arrays whose indices are computed in 64 bits.
    pub(crate) wide: HashSet<ArrayId>,
    /// Whether pointers are null, as numbers.
    pub(crate) null_tests: HashMap<VarId, SymId>,
    /// Row lengths known only from the type of the variable, by its dimension.
    pub(crate) extents: HashMap<(VarId, usize), SymId>,
    /// Arrays whose rows are behind pointers, and the number of pointers to their elements.
    pub(crate) rows: Vec<(ArrayId, usize)>,
    /// Members of structures that live inside a nest.
    pub(crate) members: HashSet<ArrayId>,
    /// Checks that end the program, by the variables whose stores mark their places.
    pub(crate) checks: BTreeMap<ArrayId, Check>,
}

impl State {
    pub(crate) fn new(name: &str) -> Self {
        State {
            program: Program::new(name),
            binding: Binding::default(),
            symbols: HashMap::new(),
            arrays: HashMap::new(),
            vars: HashMap::new(),
            wide: HashSet::new(),
            null_tests: HashMap::new(),
            extents: HashMap::new(),
            rows: Vec::new(),
            members: HashSet::new(),
            checks: BTreeMap::new(),
        }
    }

    /// The iterators and symbols of a nest, with those in the extents of its arrays, and those that tell which elements are
    /// read before it.
    pub(crate) fn vars_of(&self, nest: &Nest) -> BTreeSet<Var> {
        let mut found: BTreeSet<Var> = nest.vars().into_iter().collect();
        found.extend(nest.mentions.iter().map(|id| Var::Sym(*id)));
        let mut note = |e: &Expr| {
            e.visit(&mut |e| {
                if let Expr::Affine(a) = e {
                    found.extend(a.terms().map(|(v, _)| v));
                }
            });
        };
        let arrays = nest.arrays();
        arrays.iter().flat_map(|id| self.program.array(*id).shape.iter().flatten()).for_each(&mut note);
        // The symbols in their indices are no such elements themselves.
        let loads = self.binding.loads().filter(|(id, _)| found.contains(&Var::Sym(*id)));
        for (_, access) in loads.collect::<Vec<_>>() {
            for a in access.indices.iter().filter_map(Expr::as_affine) {
                found.extend(a.terms().map(|(v, _)| v));
            }
        }
        found
    }
}

/// What a variable stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Value(Value),
    Pointer(Pointer),
}

impl Bound {
    /// Whether a variable stands for the same number on another path.
    pub(super) fn is_same(&self, other: Option<&Bound>) -> bool {
        matches!((self, other), (Bound::Value(one), Some(Bound::Value(other))) if one == other)
    }
}

/// Calls in whose place the bodies of functions are lowered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inlining {
    /// Depth of calls in expressions that are being inlined.
    pub(crate) inline_depth: u32,
    /// Indices of the functions that are being inlined.
    pub(crate) within: Vec<usize>,
    pub(crate) inline_budget: u32,
    /// Depth of call statements that are being inlined.
    pub(crate) inlined_depth: u32,
    /// Number of inlined statements.
    pub(crate) n_inlined: usize,
}

/// What a nest needs besides its nodes, and what was found about its variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Indices of the functions of the file whose bodies are in it.
    pub(crate) inlined: BTreeSet<usize>,
    /// Pointers that take turns while the nest runs.
    pub(crate) rotations: Vec<Rotation>,
    /// Pointers that lead further behind the nest.
    pub(crate) advances: Vec<Advance>,
    /// What must hold before the nest, over symbols.
    pub(crate) tests: Vec<Expr>,
    /// Symbols that those, and the numbers of iterations that are symbols, are computed from.
    pub(crate) counted: BTreeSet<SymId>,
    /// Pointers that loops end at and that are not followed: another one, and how many elements behind it they lead, in C.
    pub(crate) ends: HashMap<VarId, (VarId, String)>,
    /// Pointers that loops end at and that are subtracted from others before the nest: those.
    pub(crate) subtracted: HashMap<VarId, VarId>,
    /// File-scope variables that functions in place of calls name themselves, and that the program changes.
    pub(crate) by_calls: BTreeSet<VarId>,
    /// What fills the constant tables of functions.
    pub(crate) tables: Vec<Node>,
    /// Variables some of whose reads are replaced by their value.
    pub(crate) substituted: BTreeSet<VarId>,
    /// Variables that the source does not have, whose stores mark where values are read that other places use.
    pub(crate) read_marks: BTreeSet<ArrayId>,
    /// Symbols in ends of loops that stand behind `&&`.
    pub(crate) conditional: BTreeSet<SymId>,
}

/// How a nest is read, and what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Whether integers in memory that the nest leaves alone become symbols.
    pub(crate) reads_ahead: bool,
    /// Whether there were any.
    pub(crate) has_read_ahead: bool,
    /// Whether loops over regions and loops whose ends depend on a condition are lowered case by case.
    pub(crate) splits: bool,
    /// Whether there were any.
    pub(crate) has_split: bool,
    /// How many of the second kind.
    pub(crate) n_cases: u32,
    /// The variables of arrays of structures from single elements of which the nest reads what leads further.
    pub(crate) by_element: HashSet<VarId>,
    /// Whether variables that count loops get the value that they have after the loop.
    pub(crate) keeps_counters: bool,
    /// How long the rows are that loops over all elements are read by.
    pub(crate) row_lengths: Vec<RowLength>,
}

/// Pointers that the nest moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Moving {
    /// Pointers that a loop of the nest has left elsewhere than before the nest.
    pub(super) moved_on: HashSet<VarId>,
    /// Pointers that walk in the nest and are set behind it.
    pub(super) walking: HashSet<VarId>,
    /// Pointers that change places at the end of a time loop.
    pub(super) in_turns: HashSet<VarId>,
}

/// What the current statement allows.
#[derive(Clone, Debug, Default)]
pub(super) struct Current {
    /// Nodes to run before the current statement; `None` where that is impossible.
    pub(super) hoisted: Option<Vec<Node>>,
    /// The call whose value is all that the current statement needs, so that it may write to memory.
    pub(super) whole_value: Option<Range>,
}

/// What leaves the active loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Exits {
    /// For each active loop, what happens when `break` leaves it.
    pub(super) leaving: Vec<Option<Leaving>>,
    /// For each loop of a function put in place of its call, from which it returns, where the value goes.
    pub(super) returning: Vec<Option<Returning>>,
}

/// Lowers one nest.
pub(crate) struct Lowerer<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(crate) state: State,
    pub(super) facts: Facts,
    pub(super) scan: Scan,
    /// Active loops, outermost first, and the variables that they count with, if they do.
    pub(super) loops: Vec<(Option<VarId>, LoopId)>,
    pub(super) loop_types: HashMap<LoopId, ScalarType>,
    /// Values of iterators modulo a number: the value, and the number.
    pub(super) residues: HashMap<LoopId, (Affine, i64)>,
    /// Variables of loops that are lowered as several.
    pub(super) digits: Vec<Digits>,
    /// Variables that are replaced by what they stand for.
    pub(super) bound: HashMap<VarId, Bound>,
    pub(super) next_loop: u32,
    pub(super) next_stmt: u32,
    /// The place of the nest.
    pub(super) at: Range,
    /// Constant tables of functions that are arrays of the nest.
    pub(super) tabulated: HashSet<VarId>,
    /// Variables that are read outside of loops that count with them.
    pub(super) read_elsewhere: HashSet<VarId>,
    /// The calls that are being inlined.
    pub(super) inlining: Inlining,
    /// What the nest needs besides its nodes.
    pub(crate) outcome: Outcome,
    /// How it is read.
    pub(crate) reading: Reading,
    /// The pointers that it moves.
    pub(super) moving: Moving,
    /// The current statement.
    pub(super) statement: Current,
    /// How the active loops are left.
    pub(super) exits: Exits,
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(cx: &'a Context<'a>, state: State, control: &Facts, nest: &ast::Stmt) -> Self {
        let mut facts = control.clone();
        for assumption in &state.program.assumptions {
            facts.push(assumption.clone());
        }
        Lowerer {
            cx,
            state,
            facts,
            scan: Scan::of(cx.file, nest),
            loops: Vec::new(),
            loop_types: HashMap::new(),
            residues: HashMap::new(),
            digits: Vec::new(),
            bound: HashMap::new(),
            next_loop: 0,
            next_stmt: 0,
            at: nest.range,
            tabulated: HashSet::new(),
            read_elsewhere: read_elsewhere(nest),
            inlining: Inlining::default(),
            moving: Moving::default(),
            statement: Current::default(),
            exits: Exits::default(),
            outcome: Outcome::default(),
            reading: Reading {
                keeps_counters: true,
                by_element: cx.file.led_by_elements(nest),
                ..Reading::default()
            },
        }
    }

    pub(super) fn name(&self, var: VarId) -> &'a str {
        &self.cx.file.var(var).name
    }

    pub(super) fn fresh_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }

    pub(super) fn fresh_stmt(&mut self) -> StmtId {
        self.next_stmt += 1;
        StmtId(self.next_stmt - 1)
    }

    pub(super) fn assume(&mut self, constraint: Constraint) {
        if !self.state.program.assumptions.contains(&constraint) {
            self.state.program.assumptions.push(constraint.clone());
        }
        self.facts.push(constraint);
    }

    /// The symbol for an integer variable that the nest does not change.
    pub(super) fn symbol(&mut self, var: VarId, ty: ScalarType, at: Range) -> Lowered<SymId> {
        if let Some(id) = self.state.symbols.get(&var) {
            return Ok(*id);
        }
        self.check_visible(var, at)?;
        let view = self.view(var, at)?;
        let id = self.state.program.add_symbol(self.name(var), ty);
        self.state.symbols.insert(var, id);
        if let Some(view) = view {
            self.state.binding.sources.insert(id, Source::Member(view));
        }
        if matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64) {
            self.assume(Constraint::ge(Affine::var(id), 0.into()));
        }
        Ok(id)
    }

    /// The symbol for an integer that only a directive uses, if the nest does not change it.
    pub(crate) fn mentioned(&mut self, var: VarId, at: Range) -> Option<SymId> {
        let scalar = self.cx.file.var(var).ty.as_scalar().filter(|s| !s.ty.is_float() && !s.is_volatile)?;
        let is_inner = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
        if is_inner.iter().any(|set| set.contains(&var)) {
            return None;
        }
        self.symbol(var, scalar.ty, at).ok()
    }

    /// Records a variable that an inlined function uses by name and that the program changes: where the nest is
    /// replayed on copies, the functions it calls must see the copy of this one. Refuses what cannot be made visible to
    /// them.
    pub(super) fn names(&mut self, var: VarId, at: Range) -> Lowered<()> {
        let file = self.cx.file;
        if self.lies_in_fixed(var) {
            return Ok(());
        }
        let root = file.root(var);
        let is_global_member = file.is_member(var) && self.is_global(root);
        let is_changed = self.cx.changed_globals.contains(&var);
        if self.depth() == 0 || !(is_changed || is_global_member) {
            return Ok(());
        }
        // A replay puts what the nest uses into the structure itself, or makes the pointer lead to one that it makes; of an
        // array of structures it has a copy elsewhere.
        let is_alone =
            |m: &crate::ast::Member| !matches!(m.steps.first(), None | Some(oxeye_binding::Step::Subscript));
        if is_global_member
            && file.var(var).member.as_ref().is_some_and(is_alone)
            && !file.fixed.contains(&root)
        {
            self.outcome.by_calls.insert(root);
            return Ok(());
        }
        if !is_global_member && n_levels(file, var).is_none() {
            self.outcome.by_calls.insert(var);
            return Ok(());
        }
        let message =
            format!("the file-scope variable `{}` is used, which the program changes", self.name(var));
        Err(Refusal::new(at, message).help("pass the values that the function needs as arguments"))
    }

    /// Whether a variable is a constant of the file, or lies in one.
    fn lies_in_fixed(&self, var: VarId) -> bool {
        let file = self.cx.file;
        let Some(member) = &file.var(var).member else { return file.fixed.contains(&var) };
        let mut ty = Some(&file.var(member.root).ty);
        for step in &member.steps {
            ty = match (step, ty) {
                (oxeye_binding::Step::Subscript, Some(Type::Array { of, .. })) => Some(&**of),
                (step, Some(Type::Struct(id))) => {
                    member_of(step).and_then(|name| file.structures[*id].field(name)).map(|field| &field.ty)
                }
                _ => None,
            };
        }
        let leads_nowhere = ty.is_some_and(|ty| !matches!(ty, Type::Pointer { .. }));
        file.fixed.contains(&member.root) && leads_nowhere
    }

    /// Refuses variables that are not visible at the nest.
    pub(super) fn check_visible(&self, var: VarId, at: Range) -> Lowered<()> {
        let variable = self.cx.file.var(self.cx.file.root(var));
        let name = &variable.name;
        if name.is_empty() {
            return Err(Refusal::new(at, "an unnamed parameter is used"));
        }
        if matches!(variable.kind, VarKind::Global { .. }) {
            let mut locals = self.cx.file.vars.iter().filter(|v| v.function == Some(self.cx.position));
            if locals.any(|v| v.name == *name) {
                let message =
                    format!("the file-scope variable `{name}` is hidden by another of the same name");
                return Err(Refusal::new(at, message).help("rename one of them"));
            }
            if variable.range.start > self.cx.function.range.start {
                let message = format!("the file-scope variable `{name}` is declared after the function");
                return Err(Refusal::new(at, message).help("declare it above"));
            }
        } else if variable.function != Some(self.cx.position) {
            return Err(Refusal::new(at, format!("`{name}` is a variable of another function")));
        }
        Ok(())
    }
}
