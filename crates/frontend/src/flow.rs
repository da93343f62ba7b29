//! Liveness: whether the value of a variable after a statement may still be read.

use crate::ast::*;

/// Whether the value of `var` after the statement at `after` may be read later in `function`. Errs towards yes.
pub(crate) fn is_live_after(file: &File, function: &Function, after: Range, var: VarId) -> bool {
    let whole = file.root(var);
    match file.var(var).kind {
        VarKind::Member if file.is_part_of_own(var) && !is_whole_taken(file, whole) => {}
        VarKind::Global { .. } | VarKind::Local { is_static: true } | VarKind::Member => return true,
        VarKind::Param(_) | VarKind::Local { .. } => {}
    }
    let (mut is_wild, mut is_mentioned) = (false, false);
    function.body.walk(&mut |s| {
        is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
        for e in s.exprs() {
            e.walk(&mut |e| match &e.kind {
                ExprKind::Var(v) if *v == var || *v == whole => is_mentioned |= !after.contains(e.range),
                _ => {}
            });
        }
    });
    let is_kept = is_address_kept(file, function, var);
    if is_wild || is_kept {
        return is_mentioned || is_kept;
    }
    let mut query = Query { var, whole, at: after, is_found: false, at_break: false, at_continue: false };
    query.before(&function.body, false);
    query.is_found
}

/// Whether a statement may read the value that `var` has before it. Errs towards yes.
pub(crate) fn is_live_before(s: &Stmt, var: VarId) -> bool {
    let mut is_wild = false;
    s.walk(&mut |s| {
        is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
    });
    let nowhere = Range { start: usize::MAX, end: usize::MAX };
    let mut query =
        Query { var, whole: var, at: nowhere, is_found: false, at_break: false, at_continue: false };
    is_wild || query.before(s, false)
}

/// Whether `var` leads to memory that the function allocates for the statement at `inside` only: it is mentioned nowhere else
/// but where it is declared, with an allocation, and where it is freed, and the statement runs once a call.
pub(crate) fn is_scratch_of(file: &File, function: &Function, inside: Range, var: VarId) -> bool {
    if !matches!(file.var(var).kind, VarKind::Local { is_static: false }) {
        return false;
    }
    let is_call_of = |e: &Expr, names: &[&str]| match &e.kind {
        ExprKind::Call(callee, _) => {
            matches!(&callee.kind, ExprKind::Name(name) if names.contains(&name.as_str()))
        }
        _ => false,
    };
    let (mut is_wild, mut is_allocated, mut n_freed, mut n_mentioned) = (false, false, 0, 0);
    function.body.walk(&mut |s| {
        let repeats = matches!(s.kind, StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. });
        is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
        is_wild |= repeats && s.range != inside && s.range.contains(inside);
        if let StmtKind::Declare(declared) = &s.kind {
            is_allocated |= declared.iter().filter(|d| d.var == var).any(|d| {
                let init = d.init.as_ref().map(|init| match &init.kind {
                    ExprKind::Cast(_, inner) => &**inner,
                    _ => init,
                });
                init.is_some_and(|init| is_call_of(init, &["malloc", "calloc", "aligned_alloc"]))
            });
        }
        for e in s.exprs() {
            e.walk(&mut |e| {
                if let (true, ExprKind::Call(_, args)) = (is_call_of(e, &["free"]), &e.kind) {
                    n_freed += args.iter().filter(|arg| arg.as_var() == Some(var)).count();
                }
                n_mentioned += usize::from(e.as_var() == Some(var) && !inside.contains(e.range));
            });
        }
    });
    is_allocated && !is_wild && n_mentioned == n_freed
}

/// Whether `&var` occurs.
pub(crate) fn is_address_taken(function: &Function, var: VarId) -> bool {
    let mut is_taken = false;
    function.body.walk_exprs(&mut |e| {
        if let ExprKind::AddressOf(inner) = &e.kind {
            is_taken |= inner.as_var() == Some(var);
        }
    });
    is_taken
}

/// Whether somebody may know the address of a variable once a statement has ended: functions that only follow what they are
/// passed do not keep it.
pub(crate) fn is_address_kept(file: &File, function: &Function, var: VarId) -> bool {
    fn is_kept(file: &File, e: &Expr, var: VarId) -> bool {
        match &e.kind {
            ExprKind::AddressOf(inner) if inner.as_var() == Some(var) => true,
            ExprKind::Call(callee, args) => {
                let is_kept = |(position, arg): (usize, &Expr)| match lent(file, arg) {
                    Some(lent) if lent == var => !only_follows(file, callee, position, 0),
                    _ => is_kept(file, arg, var),
                };
                args.iter().enumerate().any(is_kept)
            }
            _ => e.children().into_iter().any(|e| is_kept(file, e, var)),
        }
    }
    let mut found = false;
    function.body.walk(&mut |s| found |= s.exprs().into_iter().any(|e| is_kept(file, e, var)));
    found
}

/// The number whose address an argument is.
pub(crate) fn lent(file: &File, arg: &Expr) -> Option<VarId> {
    let ExprKind::AddressOf(inner) = &arg.kind else { return None };
    inner.as_var().filter(|var| file.var(*var).ty.as_scalar().is_some())
}

/// Whether somebody may know where an array lies once a function has ended, other than by its name: functions that only follow
/// what they are passed do not keep it.
pub(crate) fn is_array_kept(file: &File, function: &Function, var: VarId) -> bool {
    let mut found = false;
    function.body.walk(&mut |s| found |= leads_further(file, s, var, 0));
    found
}

/// The same of a statement, not of those inside.
fn leads_further(file: &File, s: &Stmt, array: VarId, depth: usize) -> bool {
    match &s.kind {
        // Nobody sees what it returns.
        StmtKind::Expr(Expr { kind: ExprKind::Call(callee, args), .. }) if matches!(&callee.kind, ExprKind::Name(name) if of_library(name).is_some()) =>
        {
            let mut rest = args.iter().filter(|arg| !is_passed(file, arg, array));
            rest.any(|arg| goes_further(file, arg, array, depth))
        }
        _ => s.exprs().into_iter().any(|e| goes_further(file, e, array, depth)),
    }
}

/// What an expression leads into by subscripts, and all of its subscripts.
fn subscripted(e: &Expr) -> Option<(VarId, Vec<&Expr>)> {
    match &e.kind {
        ExprKind::Var(var) => Some((*var, Vec::new())),
        ExprKind::Index(base, index) => {
            let (var, mut indices) = subscripted(base)?;
            indices.push(index);
            Some((var, indices))
        }
        _ => None,
    }
}

/// So many subscripts lead from an array of arrays, or a pointer to such, to what is none.
fn n_layers(ty: &Type) -> usize {
    match ty {
        Type::Array { of, .. } => 1 + n_layers(of),
        _ => 0,
    }
}

/// Functions of the C library that only read and write what they are passed. They return their first argument.
const LIBRARY: [&str; 3] = ["memcpy", "memmove", "memset"];

/// One of them, whichever way it is named.
pub(crate) fn of_library(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    LIBRARY.into_iter().find(|known| *known == plain)
}

/// So many subscripts lead from an array, or a pointer, to an element.
fn n_subscripts(file: &File, array: VarId) -> usize {
    file.var(array).ty.pointee().map_or(0, |ty| 1 + n_layers(ty))
}

/// Whether an argument is a pointer into an array. A row is passed as a pointer of its own.
fn is_passed(file: &File, arg: &Expr, array: VarId) -> bool {
    match &arg.kind {
        ExprKind::AddressOf(inner) => subscripted(inner).is_some_and(|(var, _)| var == array),
        _ => subscripted(arg)
            .is_some_and(|(var, indices)| var == array && indices.len() < n_subscripts(file, array)),
    }
}

/// Whether an expression does something else with an array, or a pointer into it, than to read or write its elements.
fn goes_further(file: &File, e: &Expr, array: VarId, depth: usize) -> bool {
    let within = |e: &Expr| goes_further(file, e, array, depth);
    let needed = n_subscripts(file, array);
    match &e.kind {
        ExprKind::Deref(inner) if inner.as_var() == Some(array) => needed != 1,
        ExprKind::Index(..) if subscripted(e).is_some_and(|(var, _)| var == array) => {
            let indices = subscripted(e).map_or(Vec::new(), |(_, indices)| indices);
            indices.len() < needed || indices.into_iter().any(within)
        }
        // `&*p` is the pointer itself.
        ExprKind::AddressOf(inner) => {
            let mut is_inside = false;
            inner.walk(&mut |e| is_inside |= e.as_var().is_some_and(|var| file.root(var) == array));
            is_inside
        }
        ExprKind::Call(callee, args) => {
            let is_library = matches!(&callee.kind, ExprKind::Name(name) if of_library(name).is_some());
            args.iter().enumerate().any(|(position, arg)| match is_passed(file, arg, array) {
                // The first argument is what it returns.
                true if is_library => position == 0,
                true => !only_follows(file, callee, position, depth + 1),
                false => within(arg),
            })
        }
        ExprKind::Unknown(..) => e.mentions(array),
        ExprKind::SizeofExpr(_) => false,
        _ => e.as_var() == Some(array) || e.children().into_iter().any(within),
    }
}

/// Whether a function of the file does nothing with its argument at a position but read and write the numbers that it leads to,
/// or the members of the structures.
pub(crate) fn only_follows(file: &File, callee: &Expr, position: usize, depth: usize) -> bool {
    const MOST_CALLS: usize = 4;
    let ExprKind::Name(name) = &callee.kind else { return false };
    let Some((_, function)) = file.function(name).filter(|_| depth < MOST_CALLS) else { return false };
    let Some(param) = function.params.get(position) else { return false };
    let mut pointee = file.var(*param).ty.pointee();
    while let Some(Type::Array { of, .. }) = pointee {
        pointee = Some(of);
    }
    let is_fitting = pointee.is_some_and(|ty| ty.as_scalar().is_some() || matches!(ty, Type::Struct(_)));
    let mut is_kept = function.problem.is_some() || !is_fitting;
    function.body.walk(&mut |s| {
        is_kept |= leads_further(file, s, *param, depth);
    });
    !is_kept
}

/// Whether the address of a variable or of one of its parts is taken.
fn is_whole_taken(file: &File, whole: VarId) -> bool {
    let Some(owner) = file.var(whole).function.and_then(|id| file.functions.get(id)) else { return true };
    let mut parts = file.members.iter().filter(|((of, _), _)| *of == whole).map(|(_, part)| *part);
    is_address_taken(owner, whole) || parts.any(|part| is_address_taken(owner, part))
}

struct Query {
    var: VarId,
    /// The number that it is part of; otherwise itself.
    whole: VarId,
    at: Range,
    is_found: bool,
    at_break: bool,
    at_continue: bool,
}

impl Query {
    /// Whether the variable is live before `s` if it is `after` it; records the answer to the query on the way.
    fn before(&mut self, s: &Stmt, after: bool) -> bool {
        if s.range == self.at {
            self.is_found |= after;
        }
        match &s.kind {
            StmtKind::Empty | StmtKind::Goto(_) | StmtKind::Unknown(..) => after,
            StmtKind::Expr(e) => self.before_expr(e, after),
            StmtKind::Declare(declared) => declared.iter().rev().fold(after, |after, d| {
                let after = after && d.var != self.var && d.var != self.whole;
                d.lengths.iter().chain(&d.init).rev().fold(after, |after, e| self.before_expr(e, after))
            }),
            StmtKind::Block(body) => body.iter().rev().fold(after, |after, s| self.before(s, after)),
            StmtKind::If { condition, then, otherwise } => {
                let then = self.before(then, after);
                let otherwise = otherwise.as_ref().map_or(after, |s| self.before(s, after));
                self.before_expr(condition, then || otherwise)
            }
            StmtKind::For(f) => {
                let at_condition = self.repeated(after, |q, head| {
                    let at_step = f.step.as_ref().map_or(head, |e| q.before_expr(e, head));
                    let at_body = q.body(&f.body, at_step, after, at_step);
                    let at_condition = after || at_body;
                    f.condition.as_ref().map_or(at_condition, |e| q.before_expr(e, at_condition))
                });
                f.init.as_ref().map_or(at_condition, |s| self.before(s, at_condition))
            }
            StmtKind::While { condition, body } => self.repeated(after, |q, head| {
                let at_body = q.body(body, head, after, head);
                q.before_expr(condition, after || at_body)
            }),
            StmtKind::DoWhile { body, condition } => self.repeated(after, |q, head| {
                let at_condition = q.before_expr(condition, after || head);
                q.body(body, at_condition, after, at_condition)
            }),
            StmtKind::Break => self.at_break,
            StmtKind::Continue => self.at_continue,
            StmtKind::Return(e) => e.as_ref().is_some_and(|e| self.before_expr(e, false)),
            StmtKind::Label(_, s) => self.before(s, after),
        }
    }

    /// The state at the head of a loop, given the effect of one iteration.
    fn repeated(&mut self, after: bool, mut iteration: impl FnMut(&mut Self, bool) -> bool) -> bool {
        let once = iteration(self, after);
        if once == after { once } else { iteration(self, once) }
    }

    fn body(&mut self, body: &Stmt, after: bool, at_break: bool, at_continue: bool) -> bool {
        let outer = (self.at_break, self.at_continue);
        (self.at_break, self.at_continue) = (at_break, at_continue);
        let before = self.before(body, after);
        (self.at_break, self.at_continue) = outer;
        before
    }

    fn before_expr(&self, e: &Expr, after: bool) -> bool {
        self.reads(e) || (after && !self.writes(e))
    }

    /// Whether the old value is read.
    fn reads(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(v) => *v == self.var || *v == self.whole,
            ExprKind::Assign(None, target, value) if target.as_var() == Some(self.var) => self.reads(value),
            ExprKind::Comma(l, r) => self.reads(l) || (!self.writes(l) && self.reads(r)),
            _ => e.children().into_iter().any(|c| self.reads(c)),
        }
    }

    /// Whether a new value is sure to be written.
    fn writes(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                (op.is_none() && target.as_var() == Some(self.var)) || self.writes(value)
            }
            ExprKind::Comma(l, r) | ExprKind::Both(l, r) => self.writes(l) || self.writes(r),
            _ => false,
        }
    }
}
