//! The variables that a nest counts with, declares and writes, found before it is lowered.

use crate::ast::*;
use crate::flow::of_library;
use std::collections::HashSet;

/// Variables of a nest by role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Variables that loops count with.
    pub(crate) iterators: HashSet<VarId>,
    /// Variables declared inside, other than iterators.
    pub(crate) declared: HashSet<VarId>,
    /// Variables assigned other than in the headers of loops that count with them.
    pub(crate) written: HashSet<VarId>,
    /// Arrays and pointers through which elements are written.
    pub(crate) stored: HashSet<VarId>,
    /// Whether there were more calls than are followed, so that writes of some functions are missing.
    pub(crate) is_cut_short: bool,
}

/// Most calls into functions of the file that one scan follows.
const MOST_CALLS: u32 = 256;

impl Scan {
    /// Scans a statement, including the bodies of the file's functions that it calls.
    pub(crate) fn of(file: &File, s: &Stmt) -> Self {
        let mut scanner =
            Scanner { file, scan: Scan::default(), led: Vec::new(), within: Vec::new(), n_calls: 0 };
        scanner.stmt(s);
        let Scanner { mut scan, led, .. } = scanner;
        // A write through a pointer is a write to everything it may lead to.
        loop {
            let n = scan.stored.len();
            let more: Vec<VarId> =
                led.iter().filter(|(p, _)| scan.stored.contains(p)).map(|(_, to)| *to).collect();
            scan.stored.extend(more);
            if scan.stored.len() == n {
                break;
            }
        }
        let (stored, single): (HashSet<VarId>, HashSet<VarId>) =
            scan.stored.into_iter().partition(|v| file.var(*v).ty.is_pointer());
        // `*p = ...` where `p` is `&x`.
        scan.stored = stored;
        scan.written.extend(single);
        scan
    }
}

struct Scanner<'a> {
    file: &'a File,
    scan: Scan,
    /// Pointers, and what they are set to lead to.
    led: Vec<(VarId, VarId)>,
    /// Indices of the functions that are being scanned.
    within: Vec<usize>,
    n_calls: u32,
}

impl Scanner<'_> {
    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::For(f) => {
                let counter = counter(f);
                self.scan.iterators.extend(counter);
                let skip = |e: &Expr| counter.is_some() && assigned_var(e) == counter;
                match f.init.as_ref().map(|s| &s.kind) {
                    Some(StmtKind::Declare(declared)) => {
                        for d in declared {
                            if Some(d.var) != counter {
                                self.scan.declared.insert(d.var);
                            }
                            d.init.iter().for_each(|e| self.expr(e));
                        }
                    }
                    Some(StmtKind::Expr(e)) => commas(e).into_iter().for_each(|e| self.header(e, skip(e))),
                    _ => {}
                }
                f.condition.iter().for_each(|e| self.expr(e));
                let steps = f.step.iter().flat_map(commas);
                steps.for_each(|e| self.header(e, skip(e)));
                self.stmt(&f.body);
            }
            _ => {
                if let StmtKind::Declare(declared) = &s.kind {
                    self.scan.declared.extend(declared.iter().map(|d| d.var));
                    declared.iter().for_each(|d| d.init.iter().for_each(|e| self.leads(d.var, e)));
                }
                s.exprs().into_iter().for_each(|e| self.expr(e));
                s.children().into_iter().for_each(|c| self.stmt(c));
            }
        }
    }

    /// Part of a loop header; `is_counter` if it sets the loop's own variable.
    fn header(&mut self, e: &Expr, is_counter: bool) {
        if is_counter {
            if let ExprKind::Assign(_, _, value) = &e.kind {
                self.expr(value);
            }
        } else {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) {
        e.walk(&mut |e| {
            let target = match &e.kind {
                ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => target,
                ExprKind::Unknown(_, inside) => {
                    inside.iter().filter_map(Expr::as_var).for_each(|v| self.wrote(v));
                    return;
                }
                ExprKind::Call(callee, args) => {
                    if let ExprKind::Name(name) = &callee.kind {
                        self.call(name, args);
                    }
                    return;
                }
                _ => return,
            };
            // `p += n` leads where `p` did.
            if let (ExprKind::Assign(None, _, value), Some(v)) = (&e.kind, target.as_var()) {
                self.leads(v, value);
            }
            match (target.as_var(), self.file.pointer_var(target)) {
                (Some(v), _) => self.wrote(v),
                (None, Some(v)) => self.store(v),
                (None, None) => {}
            }
        });
    }

    fn leads(&mut self, v: VarId, value: &Expr) {
        if !self.file.var(v).ty.is_pointer() {
            return;
        }
        match &value.uncast().kind {
            ExprKind::Select(_, one, other) => {
                self.leads(v, one);
                self.leads(v, other);
            }
            _ => self.led.extend(self.file.pointer_var(value).map(|to| (v, to))),
        }
    }

    /// A write to a variable, and to what else it is if it is a member that has several names.
    fn wrote(&mut self, v: VarId) {
        self.scan.written.insert(v);
        let others = self.file.all_it_stands_for(v);
        // Of an array, only elements are written.
        let is_array = |v: &&VarId| matches!(self.file.var(**v).ty, Type::Array { .. });
        self.scan.written.extend(others.iter().filter(|v| !is_array(v)));
        self.scan.stored.extend(others);
    }

    /// A write through a variable, which stays what it is, under any of its names.
    fn store(&mut self, v: VarId) {
        self.scan.stored.insert(v);
        self.scan.stored.extend(self.file.all_it_stands_for(v));
    }

    /// The member of an argument `&x` that a member of a parameter is in this call.
    fn member_of_argument(&self, v: VarId, function: &Function, args: &[Expr]) -> Option<VarId> {
        let member = self.file.var(v).member.as_ref()?;
        let k = function.params.iter().position(|param| *param == member.root)?;
        let ExprKind::AddressOf(inner) = &args.get(k)?.kind else { return None };
        let (oxeye_binding::Step::Follow, steps) = member.steps.split_first()? else { return None };
        self.file.members.get(&(inner.as_var()?, steps.to_vec())).copied()
    }

    /// A function's writes through a parameter are writes to what the argument points to.
    fn call(&mut self, name: &str, args: &[Expr]) {
        let Some((position, function)) = self.file.function(name) else {
            if of_library(name).is_some()
                && let Some(v) = args.first().and_then(|e| self.file.pointer_var(e))
            {
                self.store(v);
            }
            return;
        };
        if self.within.contains(&position) {
            return;
        }
        if self.n_calls == MOST_CALLS {
            self.scan.is_cut_short = true;
            return;
        }
        self.n_calls += 1;
        self.within.push(position);
        let outer = std::mem::take(&mut self.scan.stored);
        let written_outside = std::mem::take(&mut self.scan.written);
        self.stmt(&function.body);
        self.within.pop();
        let inner = std::mem::replace(&mut self.scan.stored, outer);
        let written = std::mem::replace(&mut self.scan.written, written_outside);
        for v in &written {
            if let Some(of) = self.member_of_argument(*v, function, args) {
                self.wrote(of);
            }
        }
        self.scan.written.extend(written);
        for v in inner {
            match function.params.iter().position(|p| *p == v) {
                // A number is a copy, whoever has its address.
                Some(_) if matches!(self.file.var(v).ty, Type::Scalar(_)) => {}
                Some(k) => self.scan.stored.extend(args.get(k).and_then(|e| self.file.pointer_var(e))),
                None => _ = self.scan.stored.insert(v),
            }
        }
        self.scan.declared.extend(&function.params);
    }
}

impl File {
    /// Whether a function changes only its own variables.
    pub(crate) fn only_computes(&self, function: &Function) -> bool {
        let scan = Scan::of(self, &function.body);
        // The results of the functions that it calls are variables of its own.
        let is_result = |v: &VarId| {
            let root = self.root(*v);
            self.var(root).is_own() && !function.params.contains(&root)
        };
        let is_own = |v: &VarId| {
            matches!(self.var(*v).kind, VarKind::Param(_) | VarKind::Local { is_static: false })
                || self.lies_in_own(*v)
                || is_result(v)
        };
        let is_own_array = |v: &VarId| {
            let is_array = matches!(self.var(*v).ty, Type::Array { .. } | Type::Struct(_));
            is_own(v) && !function.params.contains(v) && is_array
        };
        !scan.is_cut_short
            && scan.written.iter().chain(&scan.iterators).all(is_own)
            && scan.stored.iter().all(is_own_array)
    }

    /// The array or pointer variable that an lvalue goes through.
    pub(crate) fn pointer_var(&self, e: &Expr) -> Option<VarId> {
        match &e.kind {
            ExprKind::Var(v) => Some(*v),
            ExprKind::Index(base, index) => self.pointer_of(base, index),
            ExprKind::Deref(e) | ExprKind::Cast(_, e) | ExprKind::AddressOf(e) | ExprKind::Member(e, _) => {
                self.pointer_var(e)
            }
            ExprKind::Binary(_, l, r) => self.pointer_of(l, r),
            _ => None,
        }
    }

    /// The variable of the one of two operands that is the pointer; the left one if that is not known. A number beside what
    /// leads somewhere unknown is no pointer.
    fn pointer_of(&self, l: &Expr, r: &Expr) -> Option<VarId> {
        let is_pointer = |e: &Expr| self.type_of(e).is_some_and(|ty| ty.is_pointer());
        let (l, r) = if !is_pointer(l) && is_pointer(r) { (r, l) } else { (l, r) };
        let is_number = |e: &Expr| self.type_of(e).is_some_and(|ty| !ty.is_pointer());
        self.pointer_var(l).or_else(|| if is_number(r) { None } else { self.pointer_var(r) })
    }
}

/// The parts of a comma expression.
pub(crate) fn commas(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Comma(l, r) => [commas(l), commas(r)].concat(),
        _ => vec![e],
    }
}

/// The variable that an assignment or step sets.
pub(crate) fn assigned_var(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => target.as_var(),
        _ => None,
    }
}

/// The variable that a loop counts with: stepped, and tested by the condition.
pub(crate) fn counter(f: &For) -> Option<VarId> {
    let condition = f.condition.as_ref()?;
    let steps = f.step.as_ref().map(commas)?;
    steps.into_iter().filter_map(assigned_var).find(|v| condition.mentions(*v))
}

/// Variables that a statement reads other than in loops that count with them.
pub(crate) fn read_elsewhere(s: &Stmt) -> HashSet<VarId> {
    fn go(s: &Stmt, counting: &mut Vec<VarId>, found: &mut HashSet<VarId>) {
        let expr = |e: &Expr, counting: &[VarId], found: &mut HashSet<VarId>| {
            e.walk(&mut |e| found.extend(e.as_var().filter(|v| !counting.contains(v))));
        };
        if let StmtKind::For(f) = &s.kind
            && let Some(var) = counter(f)
        {
            for e in f.init.iter().flat_map(|s| s.exprs()).flat_map(commas) {
                match &e.kind {
                    ExprKind::Assign(None, target, value) if target.as_var().is_some() => {
                        expr(value, counting, found);
                    }
                    _ => expr(e, counting, found),
                }
            }
            counting.push(var);
            f.condition.iter().chain(&f.step).for_each(|e| expr(e, counting, found));
            go(&f.body, counting, found);
            counting.pop();
            return;
        }
        s.exprs().into_iter().for_each(|e| expr(e, counting, found));
        s.children().into_iter().for_each(|c| go(c, counting, found));
    }
    let mut found = HashSet::new();
    go(s, &mut Vec::new(), &mut found);
    found
}

/// Whether a statement names a variable.
pub(crate) fn mentions(s: &Stmt, var: VarId) -> bool {
    let mut found = false;
    s.walk_exprs(&mut |e| found |= e.as_var() == Some(var));
    s.walk(&mut |s| {
        if let StmtKind::For(f) = &s.kind {
            f.init.iter().flat_map(|s| s.exprs()).for_each(|e| found |= e.mentions(var));
        }
    });
    found
}
