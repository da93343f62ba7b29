//! Scratch variables of the file: static ones with which a nest starts anew whenever it runs.
//!
//! What such a variable holds behind the nest nobody reads. So for those nests it is what a local variable is that is dead behind
//! them: each iteration of a loop may have its own. The same holds of static arrays of a function, and of blocks that it allocates.

use crate::ast::{Expr, ExprKind, File, Function, Range, Stmt, StmtKind, Type, VarId, VarKind, constant};
use crate::directives::Directives;
use crate::flow::{is_address_kept, is_array_kept};
use crate::pointers::Pointers;
use oxeye_analysis::covering_loops;
use oxeye_ir::{ArrayId, BinaryOp, NestId, Program, Storage, UnaryOp};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A function that was read.
pub(crate) struct Reading<'a> {
    /// Among those of the file.
    pub(crate) position: usize,
    /// Where its nests stand in the preprocessed text.
    pub(crate) ranges: &'a BTreeMap<NestId, Range>,
    pub(crate) program: &'a mut Program,
    /// The functions that are parts of its nests.
    pub(crate) inlined: &'a BTreeMap<NestId, Vec<String>>,
}

/// Makes static variables local to the functions in whose nests they are scratch. `changed` are the variables that some function
/// writes, and `left_out` words that other builds may have.
pub(crate) fn find_scratch(
    (file, pointers, directives): (&File, &Pointers<'_>, &Directives),
    changed: &HashSet<VarId>,
    left_out: &HashSet<&str>,
    readings: &mut [Reading<'_>],
) {
    if !file.problems.is_empty() || file.functions.iter().any(|f| f.problem.is_some() || has_unread(f)) {
        return;
    }
    let mut vars: Vec<VarId> = changed.iter().copied().collect();
    vars.sort_unstable();
    for var in vars {
        let variable = file.var(var);
        let is_plain = match &variable.ty {
            Type::Array { .. } => {
                matches!(variable.ty.innermost(), Type::Scalar(_)) && !has_pointers(&variable.ty)
            }
            Type::Scalar(scalar) => !scalar.is_volatile,
            _ => false,
        };
        let is_static = variable.kind == VarKind::Global { is_static: true };
        let is_seen =
            !directives.is_threadprivate(&variable.name) && !left_out.contains(variable.name.as_str());
        if is_plain && is_static && variable.member.is_none() && is_seen {
            let found = Touches { file, pointers, readings, var }.scratch();
            for reading in readings.iter_mut() {
                if let Some(array) = found.get(&reading.position) {
                    reading.program.arrays[array].storage = Storage::Local;
                }
            }
        }
    }
}

/// Takes static arrays of functions, and blocks that these or their callers allocate, for dead behind nests that start anew with
/// them, if nothing else looks at them. All calls are known of functions of the file's own, and of others if it `is_whole`: a program
/// by itself.
pub(crate) fn find_own_scratch(
    (file, pointers, left_out): (&File, &Pointers<'_>, &HashSet<&str>),
    is_whole: bool,
    readings: &mut [Reading<'_>],
) {
    // Functions of these names that are the file's own do as they like.
    if ALLOCATING.iter().chain(&[FREEING]).any(|name| file.function(name).is_some()) {
        return;
    }
    for reading in readings.iter_mut() {
        let function = &file.functions[reading.position];
        if function.problem.is_some() || has_unread(function) {
            continue;
        }
        let dead: Vec<(NestId, ArrayId)> = {
            let is_known = (function.is_static || is_whole) && !pointers.escapes_function(&function.name);
            let own = OwnScratch { file, function, reading, is_known, left_out };
            let nests = reading.program.nests.values();
            let kept = nests.flat_map(|nest| nest.arrays().into_iter().map(|id| (nest.id, id)));
            kept.filter(|(nest, id)| own.is_dead_behind(*nest, *id)).collect()
        };
        for (nest, id) in dead {
            reading.program.nests[&nest].live_out.retain(|live| *live != id);
            reading.program.arrays[&id].storage = Storage::Local;
        }
    }
}

/// What a function does with memory of its own.
struct OwnScratch<'a> {
    file: &'a File,
    function: &'a Function,
    reading: &'a Reading<'a>,
    /// Whether all its calls are.
    is_known: bool,
    /// Words of the parts of the file that other builds have.
    left_out: &'a HashSet<&'a str>,
}

impl OwnScratch<'_> {
    fn is_dead_behind(&self, nest: NestId, id: ArrayId) -> bool {
        let Self { file, function, reading, is_known, .. } = self;
        let program = &*reading.program;
        let (array, nest) = (program.array(id), &program.nests[&nest]);
        let is_it = |var: &VarId| {
            let variable = file.var(*var);
            variable.function == Some(reading.position) && variable.name == array.name
        };
        let mut vars = (0..file.vars.len() as u32).map(VarId).filter(is_it);
        let (Some(var), None) = (vars.next(), vars.next()) else { return false };
        let variable = file.var(var);
        let is_other_name = |(a, b): (&ArrayId, &ArrayId)| *a == id || *b == id;
        let is_apart = || !program.may_alias.iter().any(|(a, b)| is_other_name((a, b)));
        let is_own = match (&variable.ty, variable.kind) {
            _ if !self.is_block(var) => false,
            (Type::Array { .. }, VarKind::Local { .. }) => {
                array.storage == Storage::Local && is_apart() && !is_array_kept(file, function, var)
            }
            (Type::Pointer { .. }, VarKind::Local { is_static: false }) => {
                array.storage == Storage::Local && is_apart()
            }
            // A block of its own overlaps with nothing.
            (Type::Pointer { .. }, VarKind::Param(position)) => *is_known && self.is_lent(position),
            _ => false,
        };
        let Some(range) = reading.ranges.get(&nest.id) else { return false };
        let is_other_shape = || program.reshapes.iter().any(|(a, b)| is_other_name((a, b)));
        is_own
            && !program.has_team(nest.id)
            && !is_other_shape()
            && !runs_once(file, (reading.position, *range), reading.inlined.get(&nest.id))
            && covering_loops(program, nest, id).is_some()
            && !is_used_elsewhere(&function.body, *range, (var, None))
    }

    /// Whether a variable is or leads to one block of numbers, and no other build does more with it.
    fn is_block(&self, var: VarId) -> bool {
        let variable = self.file.var(var);
        let block = match &variable.ty {
            Type::Array { .. } => &variable.ty,
            ty => match ty.pointee() {
                Some(pointee) => pointee,
                None => return false,
            },
        };
        matches!(block.innermost(), Type::Scalar(_))
            && !has_pointers(block)
            && !self.left_out.contains(variable.name.as_str())
    }

    /// Whether all callers pass a block of their own there, with which they do nothing else.
    fn is_lent(&self, position: usize) -> bool {
        let name = self.function.name.as_str();
        let (mut n_calls, mut is_own) = (0, true);
        for (caller, function) in self.file.functions.iter().enumerate() {
            function.body.walk_exprs(&mut |e| {
                let Some(args) = called(e, &[name]) else { return };
                n_calls += 1;
                let var = args.get(position).and_then(|arg| arg.uncast().as_var());
                is_own &= var.is_some_and(|var| {
                    let variable = self.file.var(var);
                    let is_block = matches!(
                        (&variable.ty, variable.kind),
                        (Type::Pointer { .. } | Type::Array { .. }, VarKind::Local { is_static: false })
                    );
                    let nowhere = Range { start: usize::MAX, end: usize::MAX };
                    is_block
                        && self.is_block(var)
                        && variable.function == Some(caller)
                        && function.problem.is_none()
                        && !has_unread(function)
                        && !is_used_elsewhere(&function.body, nowhere, (var, Some((name, position))))
                });
            });
        }
        is_own && n_calls > 0
    }
}

/// Functions that give memory in which nothing is yet.
const ALLOCATING: [&str; 3] = ["malloc", "calloc", "aligned_alloc"];
/// The one that takes it back.
const FREEING: &str = "free";

/// The arguments of a call of one of these functions.
fn called<'e>(e: &'e Expr, names: &[&str]) -> Option<&'e [Expr]> {
    let ExprKind::Call(callee, args) = &e.uncast().kind else { return None };
    matches!(&callee.kind, ExprKind::Name(name) if names.contains(&name.as_str())).then_some(args)
}

/// A variable, and the function to which, and the position at which, it is passed.
type Lent<'a> = (VarId, Option<(&'a str, usize)>);

/// Whether a function does anything with a variable outside of a nest but allocate and free the block to which it leads, ask whether
/// there is one, and pass it on there.
fn is_used_elsewhere(body: &Stmt, nest: Range, var: Lent<'_>) -> bool {
    /// Whether an expression, of which at most its truth counts if so, uses the variable.
    fn uses(e: &Expr, var: Lent<'_>, is_truth: bool) -> bool {
        let is_it = |e: &Expr| e.uncast().as_var() == Some(var.0);
        let passed = var.1.and_then(|(name, position)| Some((called(e, &[name])?, position)));
        if let Some((args, position)) = passed {
            return args
                .iter()
                .enumerate()
                .any(|(k, arg)| !(k == position && is_it(arg)) && uses(arg, var, false));
        }
        match &e.kind {
            ExprKind::Var(_) => is_it(e) && !is_truth,
            ExprKind::SizeofExpr(_) => false,
            ExprKind::Unary(UnaryOp::Not, inner) => uses(inner, var, true),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, l, r) => uses(l, var, true) || uses(r, var, true),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, l, r) => {
                [(l, r), (r, l)].into_iter().any(|(one, other)| {
                    let is_null_test = constant(other.uncast()) == Some(0);
                    uses(one, var, is_null_test)
                })
            }
            ExprKind::Comma(l, r) => uses(l, var, true) || uses(r, var, is_truth),
            // Elsewhere the value goes on to somebody.
            ExprKind::Assign(None, target, value) if is_it(target) => match called(value, &ALLOCATING) {
                Some(args) => !is_truth || args.iter().any(|arg| uses(arg, var, false)),
                None => true,
            },
            _ => match called(e, &[FREEING]) {
                Some([freed]) if is_it(freed) => false,
                _ => e.children().into_iter().any(|e| uses(e, var, false)),
            },
        }
    }
    let mut found = false;
    body.walk(&mut |s| {
        if nest.contains(s.range) {
            return;
        }
        found |= match &s.kind {
            StmtKind::Declare(declared) => declared.iter().any(|d| {
                d.lengths.iter().any(|length| uses(length, var, false))
                    || match &d.init {
                        Some(init) if d.var == var.0 && called(init, &ALLOCATING).is_none() => {
                            !matches!(init.kind, ExprKind::List(_)) && constant(init.uncast()) != Some(0)
                        }
                        Some(init) => uses(init, var, false),
                        None => false,
                    }
            }),
            StmtKind::Return(value) => value.iter().any(|e| uses(e, var, false)),
            _ => s.exprs().into_iter().any(|e| uses(e, var, true)),
        };
    });
    found
}

/// Whether there are statements of which nothing is known.
fn has_unread(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |s| {
        found |= matches!(&s.kind, StmtKind::Unknown(_, inside) if inside.is_empty());
    });
    found
}

fn has_pointers(ty: &Type) -> bool {
    match ty {
        Type::Array { of, .. } => has_pointers(of),
        _ => ty.is_pointer(),
    }
}

/// What the functions of a file do with a variable.
struct Touches<'a> {
    file: &'a File,
    pointers: &'a Pointers<'a>,
    readings: &'a [Reading<'a>],
    var: VarId,
}

impl<'a> Touches<'a> {
    /// The functions of the file in whose nests the variable is scratch, with its name there.
    fn scratch(&self) -> BTreeMap<usize, ArrayId> {
        let Self { file, var, .. } = self;
        let is_kept = |f| match file.var(*var).ty {
            Type::Scalar(_) => is_address_kept(file, f, *var),
            _ => is_array_kept(file, f, *var),
        };
        let is_initial = file.global_inits.iter().any(|(_, init)| init.mentions(*var));
        if is_initial || file.functions.iter().any(is_kept) {
            return BTreeMap::new();
        }
        // Functions outside of whose nests it may be touched: their callers touch it as well.
        let mut open: BTreeSet<usize> = BTreeSet::new();
        let closed: BTreeMap<usize, ArrayId> = loop {
            let mut closed = BTreeMap::new();
            let n_open = open.len();
            for (position, function) in file.functions.iter().enumerate() {
                let mut touched: Vec<Range> = Vec::new();
                function
                    .body
                    .walk_exprs(&mut |e| touched.extend(self.is_touched(e, &open).then_some(e.range)));
                if touched.is_empty() || open.contains(&position) {
                    continue;
                }
                match self.closes(position, &touched) {
                    Some(array) => drop(closed.insert(position, array)),
                    None => drop(open.insert(position)),
                }
            }
            if open.len() == n_open {
                break closed;
            }
        };
        let may_start_anywhere = |position: &usize| {
            let function = &file.functions[*position];
            !function.is_static || self.pointers.escapes_function(&function.name)
        };
        if open.iter().any(may_start_anywhere) {
            return BTreeMap::new();
        }
        // What is part of another nest leaves it to the rest of that.
        let inlined: BTreeSet<&str> = self.inlined(&closed);
        let name = |position: &usize| file.functions[*position].name.as_str();
        let is_own = |(position, _): &(&usize, &ArrayId)| !inlined.contains(name(position));
        closed.iter().filter(is_own).map(|(position, array)| (*position, *array)).collect()
    }

    fn is_touched(&self, e: &Expr, open: &BTreeSet<usize>) -> bool {
        match &e.kind {
            ExprKind::Var(var) => *var == self.var,
            // A declaration in a block may name the variable again.
            ExprKind::Name(name) => {
                *name == self.file.var(self.var).name
                    || self.file.function(name).is_some_and(|(f, _)| open.contains(&f))
            }
            _ => false,
        }
    }

    fn reading(&self, position: usize) -> Option<&Reading<'a>> {
        self.readings.iter().find(|reading| reading.position == position)
    }

    /// The variable in the program of a function, if it touches that only in nests that read of it only what they wrote.
    fn closes(&self, position: usize, touched: &[Range]) -> Option<ArrayId> {
        let reading = self.reading(position)?;
        let program = &*reading.program;
        let variable = self.file.var(self.var);
        let is_it = |id: &ArrayId| {
            let array = program.array(*id);
            array.name == variable.name && array.storage == Storage::Global
        };
        let mut arrays = program.arrays.keys().copied().filter(is_it);
        let (Some(array), None) = (arrays.next(), arrays.next()) else { return None };
        let is_other_shape = program.reshapes.iter().any(|(a, b)| *a == array || *b == array);
        let is_aliased = program.may_alias.iter().any(|(a, b)| *a == array || *b == array);
        if is_other_shape || is_aliased {
            return None;
        }
        let nests = program.nests.values().filter(|nest| nest.arrays().contains(&array));
        let mut closed: Vec<Range> = Vec::new();
        for nest in nests {
            // What is only ever written may be what the program is for.
            let is_read = nest.accesses().iter().any(|(access, is_write)| access.array == array && !is_write);
            if !is_read || program.has_team(nest.id) || covering_loops(program, nest, array).is_none() {
                return None;
            }
            let range = *reading.ranges.get(&nest.id)?;
            if runs_once(self.file, (position, range), reading.inlined.get(&nest.id)) {
                return None;
            }
            closed.push(range);
        }
        let is_inside = |touched: &Range| closed.iter().any(|nest| nest.contains(*touched));
        touched.iter().all(is_inside).then_some(array)
    }

    /// The functions that are parts of nests with the variable.
    fn inlined(&self, closed: &BTreeMap<usize, ArrayId>) -> BTreeSet<&str> {
        let nests = closed.iter().filter_map(|(position, array)| {
            let reading = self.reading(*position)?;
            let has_it = |id: &NestId| reading.program.nests[id].arrays().contains(array);
            Some(reading.inlined.iter().filter(move |(id, _)| has_it(id)).flat_map(|(_, names)| names))
        });
        nests.flatten().map(String::as_str).collect()
    }
}

/// Whether a nest, or a function that is a part of it, has a loop that runs once even if its condition does not hold: then the
/// source reads what the nest as it was read does not.
fn runs_once(file: &File, (position, range): (usize, Range), inlined: Option<&Vec<String>>) -> bool {
    let names = inlined.into_iter().flatten();
    let parts = names.filter_map(|name| Some((&file.function(name)?.1.body, None)));
    let mut found = false;
    for (body, within) in parts.chain([(&file.functions[position].body, Some(range))]) {
        body.walk(&mut |s| {
            let is_within = within.is_none_or(|range| range.contains(s.range));
            found |= is_within
                && match &s.kind {
                    StmtKind::DoWhile { .. } => true,
                    StmtKind::For(f) => f.runs_first,
                    _ => false,
                };
        });
    }
    found
}
