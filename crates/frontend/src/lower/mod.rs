//! From `for` statements to nests.

mod access;
mod companions;
mod index;
mod inline;
mod loops;
mod rows;
mod scan;
mod stmts;
mod values;
mod views;

use crate::ast::{self, Range, VarId, VarKind};
use crate::directives::Directives;
use crate::pointers::Pointers;
use crate::preprocess::Preprocessed;
use crate::prove::Facts;
pub(crate) use loops::{changing_places, header};
pub(crate) use rows::row_tests;
pub(crate) use scan::{Scan, pointer_var};
pub(crate) use views::reached;

use access::Pointer;
use oxeye_ir::{Affine, ArrayId, Constraint, LoopId, PointerSwap, Program, ScalarType, StmtId, SymId};
use std::collections::{BTreeSet, HashMap, HashSet};
use values::Value;

/// Why a loop is not a nest, in words for its author.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Where, in the preprocessed text.
    pub(crate) range: Range,
}

impl Refusal {
    pub(crate) fn new(range: Range, message: impl Into<String>) -> Box<Self> {
        Box::new(Refusal { message: message.into(), help: None, range })
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

pub(crate) type Lowered<T> = Result<T, Box<Refusal>>;

/// What is known before any nest of a function is lowered.
pub(crate) struct Context<'a> {
    pub(crate) file: &'a ast::File,
    pub(crate) function: &'a ast::Function,
    /// Position of the function in the file.
    pub(crate) position: usize,
    pub(crate) pointers: &'a Pointers<'a>,
    /// File-scope variables that some function writes, or what they lead to.
    pub(crate) changed_globals: &'a HashSet<VarId>,
    pub(crate) preprocessed: &'a Preprocessed,
    pub(crate) directives: &'a Directives,
    /// Whether the user's flags switch OpenMP's threads on.
    pub(crate) is_threaded: bool,
    pub(crate) no_alias: bool,
    /// Whether the compiler takes it that objects of different types do not overlap.
    pub(crate) has_strict_aliasing: bool,
}

/// The file-scope variables that some function of the file writes, or what they lead to.
pub(crate) fn changed_globals(file: &ast::File) -> HashSet<VarId> {
    let mut changed = HashSet::new();
    for function in &file.functions {
        let Scan { iterators, written, stored, .. } = Scan::of(file, &function.body);
        changed.extend(iterators.into_iter().chain(written).chain(stored));
    }
    changed.retain(|v| matches!(file.var(*v).kind, VarKind::Global { .. }));
    changed
}

/// What the nests of a function share: its program as far as it is built.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) program: Program,
    pub(crate) symbols: HashMap<VarId, SymId>,
    /// Arrays and scalars declared outside of nests.
    pub(crate) arrays: HashMap<VarId, ArrayId>,
    /// The variable behind each array.
    pub(crate) vars: HashMap<ArrayId, VarId>,
    /// Flat arrays whose indices are computed in 64 bits.
    pub(crate) wide: HashSet<ArrayId>,
    /// Row lengths that only the type of the variable tells, by its dimension.
    pub(crate) extents: HashMap<(VarId, usize), SymId>,
    /// Arrays whose rows are behind pointers, and through how many pointers their elements are reached.
    pub(crate) rows: Vec<(ArrayId, usize)>,
}

impl State {
    pub(crate) fn new(name: &str) -> Self {
        State {
            program: Program::new(name),
            symbols: HashMap::new(),
            arrays: HashMap::new(),
            vars: HashMap::new(),
            wide: HashSet::new(),
            extents: HashMap::new(),
            rows: Vec::new(),
        }
    }
}

/// What stands for a variable.
#[derive(Clone, Debug)]
enum Bound {
    Value(Value),
    Pointer(Pointer),
}

/// Lowers one nest.
pub(crate) struct Lowerer<'a> {
    cx: &'a Context<'a>,
    pub(crate) state: State,
    facts: Facts,
    scan: Scan,
    /// Active loops, outermost first.
    loops: Vec<(VarId, LoopId)>,
    loop_types: HashMap<LoopId, ScalarType>,
    /// Variables that are replaced by what they stand for.
    bound: HashMap<VarId, Bound>,
    next_loop: u32,
    next_stmt: u32,
    /// Calls within an expression that are being put in place.
    inline_depth: u32,
    inline_budget: u32,
    /// Calls as statements that are being put in place.
    inlined_depth: u32,
    /// Statements of the functions that are put in place of calls.
    n_inlined: usize,
    /// Positions of those functions in the file.
    pub(crate) inlined: BTreeSet<usize>,
    /// Pointers that change places while the nest runs.
    pub(crate) swaps: Vec<PointerSwap>,
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
            bound: HashMap::new(),
            next_loop: 0,
            next_stmt: 0,
            inline_depth: 0,
            inline_budget: 0,
            inlined_depth: 0,
            n_inlined: 0,
            inlined: BTreeSet::new(),
            swaps: Vec::new(),
        }
    }

    fn name(&self, var: VarId) -> &'a str {
        &self.cx.file.var(var).name
    }

    fn fresh_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }

    fn fresh_stmt(&mut self) -> StmtId {
        self.next_stmt += 1;
        StmtId(self.next_stmt - 1)
    }

    fn assume(&mut self, constraint: Constraint) {
        if !self.state.program.assumptions.contains(&constraint) {
            self.state.program.assumptions.push(constraint.clone());
        }
        self.facts.push(constraint);
    }

    /// The symbol for an integer variable that the nest does not change.
    fn symbol(&mut self, var: VarId, ty: ScalarType, at: Range) -> Lowered<SymId> {
        self.check_replayable(var, at)?;
        if let Some(id) = self.state.symbols.get(&var) {
            return Ok(*id);
        }
        self.check_visible(var, at)?;
        let view = self.view(var, at)?;
        let id = self.state.program.add_symbol(self.name(var), ty);
        self.state.symbols.insert(var, id);
        if let Some(view) = view {
            self.state.program.symbol_views.insert(id, view);
        }
        if matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64) {
            self.assume(Constraint::ge(Affine::var(id), 0.into()));
        }
        Ok(id)
    }

    /// The symbol for an integer that only a directive mentions, if the nest does not change it.
    pub(crate) fn mentioned(&mut self, var: VarId, at: Range) -> Option<SymId> {
        let scalar = self.cx.file.var(var).ty.as_scalar().filter(|s| !s.ty.is_float() && !s.is_volatile)?;
        let is_inner = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
        if is_inner.iter().any(|set| set.contains(&var)) {
            return None;
        }
        self.symbol(var, scalar.ty, at).ok()
    }

    /// Refuses variables that an inlined function reads by itself and that the program changes: a nest is replayed on copies
    /// of what it reads, which the functions it calls do not see.
    fn check_replayable(&self, var: VarId, at: Range) -> Lowered<()> {
        // What a member of a file-scope variable leads to may be changed in many ways.
        let is_global_member = self.cx.file.is_member(var) && self.is_global(self.cx.file.root(var));
        if self.depth() == 0 || !(self.cx.changed_globals.contains(&var) || is_global_member) {
            return Ok(());
        }
        let message =
            format!("the file-scope variable `{}` is used, which the program changes", self.name(var));
        Err(Refusal::new(at, message).help("pass what the function needs of it as an argument"))
    }

    /// Refuses variables that cannot be named where the nest stands.
    fn check_visible(&self, var: VarId, at: Range) -> Lowered<()> {
        let variable = self.cx.file.var(self.cx.file.root(var));
        let name = &variable.name;
        if name.is_empty() {
            return Err(Refusal::new(at, "an unnamed parameter is used"));
        }
        if matches!(variable.kind, VarKind::Global { .. }) {
            let mut locals = self.cx.file.vars.iter().filter(|v| v.function == Some(self.cx.position));
            if locals.any(|v| v.name == *name) {
                let message = format!("the file-scope variable `{name}` is hidden by another of that name");
                return Err(Refusal::new(at, message).help("rename one of them"));
            }
        } else if variable.function != Some(self.cx.position) {
            return Err(Refusal::new(at, format!("`{name}` is a variable of another function")));
        }
        Ok(())
    }
}
