//! Which pointers may lead to the same memory.

use crate::ast::*;
use crate::flow::{lent, only_follows};
use crate::members::member_of;
use crate::rotations::rotations_in;
use oxeye_binding::Step;
use std::collections::{HashMap, HashSet};

/// The memory that a pointer or array expression leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// A declared object, or the result of one allocation: by the variable that holds it.
    Object(VarId),
    /// The memory that the caller of this function passed as this parameter.
    Param(usize, usize),
    /// Nothing.
    Null,
    Unknown,
}

/// Where the value of a pointer comes from.
#[derive(Default)]
struct Sources {
    bases: Vec<Base>,
    /// The local pointers it was copied from.
    followed: Vec<VarId>,
}

impl Sources {
    fn add(&mut self, base: Base) {
        if !self.bases.contains(&base) {
            self.bases.push(base);
        }
    }
}

/// Facts about pointers from the whole file.
pub(crate) struct Pointers<'a> {
    file: &'a File,
    /// Values assigned to each pointer variable, other than by taking turns.
    assigned: HashMap<VarId, Vec<&'a Expr>>,
    /// Variables changed in ways that are not followed (`p++`, `&p`).
    wild: HashSet<VarId>,
    /// Pointers that take turns with each other.
    swapped: HashMap<VarId, Vec<VarId>>,
    calls: HashMap<&'a str, Vec<&'a [Expr]>>,
    /// Functions whose name occurs outside of a direct call.
    escaping_functions: HashSet<&'a str>,
    /// Arrays whose address is used outside of subscripts.
    escaping: HashSet<VarId>,
}

const MAX_CALL_DEPTH: usize = 12;

impl<'a> Pointers<'a> {
    pub(crate) fn new(file: &'a File) -> Self {
        let mut found = Pointers {
            file,
            assigned: HashMap::new(),
            wild: HashSet::new(),
            swapped: HashMap::new(),
            calls: HashMap::new(),
            escaping_functions: HashSet::new(),
            escaping: HashSet::new(),
        };
        for (var, init) in &file.global_inits {
            found.assigned.entry(*var).or_default().push(init);
            found.expr(init, false);
        }
        if !file.problems.is_empty() {
            found.distrust_globals();
        }
        for function in &file.functions {
            if function.problem.is_some() {
                found.distrust_globals();
                continue;
            }
            let rotations = rotations_in(file, &function.body);
            let is_turn = |r: Range| rotations.iter().any(|rotation| rotation.range.contains(r));
            for rotation in &rotations {
                for (k, one) in rotation.pointers.iter().enumerate() {
                    for other in &rotation.pointers[k + 1..] {
                        found.swapped.entry(*one).or_default().push(*other);
                        found.swapped.entry(*other).or_default().push(*one);
                    }
                }
            }
            function.body.walk(&mut |s| {
                if is_turn(s.range) {
                    return;
                }
                for rotation in &rotations {
                    if s.exprs().into_iter().any(|e| e.mentions(rotation.saved)) {
                        // A further name for what one of them leads to.
                        found.escaping.extend(rotation.pointers.iter().copied());
                        found.wild.extend(rotation.pointers.iter().copied());
                    }
                }
                if let StmtKind::Declare(declared) = &s.kind {
                    for d in declared {
                        if let (Some(init), true) = (&d.init, file.var(d.var).ty.is_pointer()) {
                            found.assigned.entry(d.var).or_default().push(init);
                        }
                    }
                }
                for e in s.exprs() {
                    found.expr(e, false);
                }
            });
        }
        found
    }

    /// Code that was not read may do anything with names visible to it.
    fn distrust_globals(&mut self) {
        let globals =
            self.file.vars.iter().zip(0..).filter(|(v, _)| matches!(v.kind, VarKind::Global { .. }));
        for (_, position) in globals {
            self.wild.insert(VarId(position));
            self.escaping.insert(VarId(position));
        }
        self.escaping_functions.extend(self.file.functions.iter().map(|f| f.name.as_str()));
    }

    /// Records what `e` does with pointers; `is_element` if only an element of it is used.
    fn expr(&mut self, e: &'a Expr, is_element: bool) {
        match &e.kind {
            ExprKind::Var(v) if !is_element && self.file.var(*v).ty.is_pointer() => {
                self.escaping.insert(*v);
                // Arrays inside structures lead into them.
                self.escaping.insert(self.file.root(*v));
            }
            ExprKind::Name(name) => {
                self.escaping_functions.insert(name);
            }
            ExprKind::Assign(op, target, value) => {
                if let Some(v) = target.as_var() {
                    if op.is_none() {
                        self.assigned.entry(v).or_default().push(value);
                    } else {
                        self.wild.insert(v);
                    }
                }
                self.expr(target, true);
                self.expr(value, false);
            }
            ExprKind::Step { target, .. } => {
                self.wild.extend(target.as_var());
                self.expr(target, true);
            }
            ExprKind::AddressOf(inner) => {
                self.wild.extend(inner.as_var());
                if let Some(v) = inner.as_var() {
                    self.escaping.insert(v);
                }
                self.expr(inner, false);
                let mut at = &**inner;
                while let ExprKind::Index(base, _) = &at.kind {
                    at = base;
                }
                self.escaping.extend(at.as_var());
                self.escaping.extend(at.as_var().map(|v| self.file.root(v)));
            }
            ExprKind::Unknown(_, inside) => {
                for v in inside.iter().filter_map(Expr::as_var) {
                    self.wild.insert(v);
                    self.escaping.extend([v, self.file.root(v)]);
                }
                // What is passed to functions there is not known.
                for e in inside {
                    e.walk(&mut |e| {
                        if let ExprKind::Name(name) = &e.kind {
                            self.escaping_functions.insert(name);
                        }
                    });
                }
            }
            ExprKind::Index(base, index) => {
                // A row of an array is a pointer into it.
                let is_row = self.leads_to_array(e);
                self.expr(base, is_element || !is_row);
                self.expr(index, false);
            }
            ExprKind::Deref(base) => {
                let is_row = self.leads_to_array(e);
                self.expr(base, is_element || !is_row);
            }
            ExprKind::Binary(_, l, r) => {
                self.expr(l, is_element);
                self.expr(r, is_element);
            }
            ExprKind::Unary(oxeye_ir::UnaryOp::Not, inner) | ExprKind::SizeofExpr(inner) => {
                self.expr(inner, true);
            }
            ExprKind::Call(callee, args) => {
                let is_harmless = match &callee.kind {
                    ExprKind::Name(name) => {
                        self.calls.entry(name).or_default().push(args);
                        name == "free"
                    }
                    _ => {
                        self.expr(callee, false);
                        false
                    }
                };
                if let Some(var) = allocated_by(e) {
                    self.assigned.entry(var).or_default().push(e);
                    args.iter().skip(1).for_each(|arg| self.expr(arg, false));
                    return;
                }
                for (position, arg) in args.iter().enumerate() {
                    if lent(self.file, arg).is_none() || !only_follows(self.file, callee, position, 0) {
                        self.expr(arg, is_harmless);
                    }
                }
            }
            _ => {
                for child in e.children() {
                    self.expr(child, false);
                }
            }
        }
    }

    /// Whether the variable's own address is never taken and it is never changed step by step.
    pub(crate) fn is_tame(&self, var: VarId) -> bool {
        !self.wild.contains(&var)
    }

    /// Whether the parameter is ever assigned a value other than its initial one.
    pub(crate) fn is_assigned(&self, var: VarId) -> bool {
        self.wild.contains(&var) || self.assigned.contains_key(&var) || self.swapped.contains_key(&var)
    }

    /// Whether a declared array can be reached other than by its own name inside one function.
    pub(crate) fn escapes(&self, var: VarId) -> bool {
        self.escaping.contains(&var)
    }

    /// Whether a function may be called by other means than by its name.
    pub(crate) fn escapes_function(&self, name: &str) -> bool {
        self.escaping_functions.contains(name)
    }

    /// Whether all values ever assigned come from allocations.
    fn is_fresh(&self, var: VarId) -> bool {
        let is_own = match self.file.var(var).kind {
            VarKind::Global { is_static } => is_static,
            VarKind::Local { .. } => true,
            VarKind::Param(_) | VarKind::Member => false,
        };
        let fresh = |e: &&Expr| self.is_allocation(e, 0) || is_null(e);
        is_own
            && !self.wild.contains(&var)
            && self.assigned.get(&var).is_some_and(|values| values.iter().all(fresh))
    }

    fn is_allocation(&self, e: &Expr, depth: usize) -> bool {
        let ExprKind::Call(callee, _) = &e.uncast().kind else { return false };
        let ExprKind::Name(name) = &callee.kind else { return false };
        if allocated_by(e).is_some() {
            return true;
        }
        if let Some((_, function)) = self.file.function(name) {
            return depth < 3 && self.returns_allocation(function, depth + 1);
        }
        ["malloc", "calloc", "aligned_alloc", "memalign", "valloc", "_mm_malloc"].contains(&name.as_str())
    }

    /// Whether every call returns memory that no other pointer leads to.
    fn returns_allocation(&self, function: &Function, depth: usize) -> bool {
        let (mut is_fresh, mut n_returns) = (true, 0);
        function.body.walk(&mut |s| {
            is_fresh &= !matches!(s.kind, StmtKind::Unknown(..));
            if let StmtKind::Return(value) = &s.kind {
                n_returns += 1;
                is_fresh &= value.as_ref().is_some_and(|value| match value.uncast().as_var() {
                    Some(v) => {
                        matches!(self.file.var(v).kind, VarKind::Local { is_static: false })
                            && !self.wild.contains(&v)
                            && self.assigned.get(&v).is_some_and(|values| {
                                values.iter().all(|e| self.is_allocation(e, depth) || is_null(e))
                            })
                            && !is_copied(self.file, function, v)
                    }
                    None => self.is_allocation(value, depth) || is_null(value),
                });
            }
        });
        is_fresh && n_returns > 0 && function.problem.is_none()
    }

    /// The memory that the variable led to when it was set.
    fn base_of_var(&self, var: VarId) -> Base {
        let variable = self.file.var(var);
        if let Some(member) = &variable.member {
            // The structure itself, if it contains the elements.
            let is_behind = matches!(member.steps.first(), Some(Step::Follow | Step::Subscript));
            let is_inside = self.is_inside(var, usize::from(is_behind));
            return if is_inside { self.base_of_var(member.root) } else { Base::Unknown };
        }
        if variable.ty.pointee().is_some_and(|ty| matches!(ty, Type::Pointer { .. })) {
            // The elements are behind pointers that may lead anywhere.
            return Base::Unknown;
        }
        match (&variable.ty, variable.kind) {
            (Type::Array { .. } | Type::Pointer { .. }, VarKind::Param(position)) => {
                match variable.function {
                    Some(f) if !self.wild.contains(&var) && !self.assigned.contains_key(&var) => {
                        Base::Param(f, position)
                    }
                    _ => Base::Unknown,
                }
            }
            (Type::Array { .. } | Type::Scalar(_) | Type::Struct(_) | Type::Other(_), _) => Base::Object(var),
            (Type::Pointer { .. }, _) if self.is_fresh(var) => Base::Object(var),
            _ => Base::Unknown,
        }
    }

    /// All memory that the variable may lead to: that of the values it is given, if it is local and these are known.
    fn bases_of_var(&self, var: VarId) -> Vec<Base> {
        let mut sources = Sources::default();
        self.follow_var(var, &mut sources);
        sources.bases
    }

    fn bases_of(&self, e: &Expr) -> Vec<Base> {
        let mut sources = Sources::default();
        self.follow(e, &mut sources);
        sources.bases
    }

    fn follow_var(&self, var: VarId, found: &mut Sources) {
        let base = self.base_of_var(var);
        match self.assigned.get(&var) {
            Some(values) if base == Base::Unknown && self.is_followed(var) => {
                if !found.followed.contains(&var) {
                    found.followed.push(var);
                    values.iter().for_each(|value| self.follow(value, found));
                }
            }
            _ => found.add(base),
        }
    }

    /// Whether a variable is a local pointer to elements whose values are all known.
    fn is_followed(&self, var: VarId) -> bool {
        let variable = self.file.var(var);
        let leads_to_pointers = || variable.ty.pointee().is_some_and(|ty| matches!(ty, Type::Pointer { .. }));
        matches!(variable.kind, VarKind::Local { is_static: false })
            && matches!(variable.ty, Type::Pointer { .. })
            && variable.member.is_none()
            && !leads_to_pointers()
            && self.is_tame(var)
            && !self.swapped.contains_key(&var)
    }

    fn follow(&self, e: &Expr, found: &mut Sources) {
        match &e.kind {
            ExprKind::Var(v) if !self.swapped.contains_key(v) => self.follow_var(*v, found),
            ExprKind::Cast(_, inner) => self.follow(inner, found),
            ExprKind::Select(_, yes, no) => {
                self.follow(yes, found);
                self.follow(no, found);
            }
            ExprKind::AddressOf(inner) => match &inner.kind {
                // A member is a part of what its structure is.
                ExprKind::Var(v) if self.file.var(*v).member.is_some() => found.add(self.base_of_var(*v)),
                ExprKind::Var(v) => found.add(Base::Object(*v)),
                ExprKind::Index(base, _) => self.follow(base, found),
                _ => found.add(Base::Unknown),
            },
            ExprKind::Index(base, _) | ExprKind::Deref(base) if self.leads_to_array(e) => {
                self.follow(base, found);
            }
            ExprKind::Binary(oxeye_ir::BinaryOp::Add | oxeye_ir::BinaryOp::Sub, l, r) => {
                match (self.is_pointer(l), self.is_pointer(r)) {
                    (true, false) => self.follow(l, found),
                    (false, true) => self.follow(r, found),
                    _ => found.add(Base::Unknown),
                }
            }
            _ if is_null(e) => found.add(Base::Null),
            _ => found.add(Base::Unknown),
        }
    }

    fn is_pointer(&self, e: &Expr) -> bool {
        self.file.type_of(e).is_some_and(|t| t.is_pointer())
    }

    fn leads_to_array(&self, e: &Expr) -> bool {
        matches!(self.file.type_of(e), Some(Type::Array { .. }))
    }

    /// Whether the memory of the two variables, at any one time, never overlaps. Types are not considered.
    pub(crate) fn are_distinct(&self, a: VarId, b: VarId) -> bool {
        if self.are_different_members(a, b) || self.is_promised(a, b) || self.is_promised(b, a) {
            return true;
        }
        let (group_a, group_b) = (self.group(a), self.group(b));
        if group_a.contains(&b) && !(self.is_tame(a) && self.is_tame(b)) {
            return false;
        }
        group_a.iter().all(|x| {
            group_b
                .iter()
                .filter(|y| *y != x)
                .all(|y| self.all_distinct(&self.bases_of_var(*x), &self.bases_of_var(*y), 0))
        })
    }

    /// Whether `a` is a local pointer that is declared `restrict`, and `b` is not derived from it. Nests that use `a` are inside
    /// the block of its declaration, where what one of them writes the other does not access (C11 6.7.3.1).
    fn is_promised(&self, a: VarId, b: VarId) -> bool {
        let variable = self.file.var(a);
        let is_local = matches!(variable.kind, VarKind::Local { is_static: false });
        let is_restrict = matches!(variable.ty, Type::Pointer { is_restrict: true, .. });
        a != b
            && is_local
            && is_restrict
            && self.is_tame(a)
            && !self.swapped.contains_key(&a)
            // Its value is used only in subscripts, or not for this one.
            && (!self.escapes(a) || self.is_without(b, a))
    }

    /// Whether all values of a pointer are known, and none is derived from that of `from`.
    fn is_without(&self, var: VarId, from: VarId) -> bool {
        let mut sources = Sources::default();
        self.follow_var(var, &mut sources);
        let mut values = sources.followed.iter().filter_map(|v| self.assigned.get(v)).flatten();
        !sources.bases.contains(&Base::Unknown) && values.all(|value| !value.mentions(from))
    }

    /// Whether both are members of one structure, or of structures of one array, at different places in it.
    fn are_different_members(&self, a: VarId, b: VarId) -> bool {
        let (Some(x), Some(y)) = (&self.file.var(a).member, &self.file.var(b).member) else { return false };
        if x.root != y.root {
            return false;
        }
        let is_same = |(s, t): &(&Step, &Step)| {
            let is_element = |s: &Step| matches!(s, Step::Follow | Step::Subscript | Step::Element(_));
            s == t || (is_element(s) && is_element(t))
        };
        let n = x.steps.iter().zip(&y.steps).take_while(is_same).count();
        let are_fields =
            matches!((x.steps.get(n), y.steps.get(n)), (Some(Step::Field(_)), Some(Step::Field(_))));
        let are_parts = matches!(
            (x.steps.get(n), y.steps.get(n)),
            (Some(Step::Real), Some(Step::Imaginary)) | (Some(Step::Imaginary), Some(Step::Real))
        );
        (are_fields || are_parts) && self.is_inside(a, n) && self.is_inside(b, n)
    }

    /// Whether a member, from this step on, is inside the structure it is reached from, and not behind another pointer.
    fn is_inside(&self, var: VarId, from: usize) -> bool {
        let variable = self.file.var(var);
        let Some(member) = &variable.member else { return false };
        let mut ty = self.file.var(member.root).ty.clone();
        for (k, step) in member.steps.iter().enumerate() {
            let is_pointer = matches!(ty, Type::Pointer { .. });
            if k >= from && is_pointer && matches!(step, Step::Follow | Step::Subscript) {
                return false;
            }
            let next = match (step, &ty) {
                (Step::Follow | Step::Subscript, ty) => ty.pointee().cloned(),
                (Step::Element(_), ty) => Some(ty.pointee().unwrap_or(ty).clone()),
                (Step::Lanes(_), _) => Some(variable.ty.clone()),
                (step, Type::Struct(id)) => {
                    member_of(step).and_then(|f| self.file.structures[*id].field(f)).map(|f| f.ty.clone())
                }
                _ => None,
            };
            let Some(next) = next else { return false };
            ty = next;
        }
        !matches!(ty, Type::Pointer { .. })
    }

    /// Variables that may have changed places with this one, including itself.
    fn group(&self, var: VarId) -> Vec<VarId> {
        let mut found = vec![var];
        let mut next = 0;
        while let Some(v) = found.get(next).copied() {
            next += 1;
            for other in self.swapped.get(&v).into_iter().flatten() {
                if !found.contains(other) {
                    found.push(*other);
                }
            }
        }
        found
    }

    fn all_distinct(&self, a: &[Base], b: &[Base], depth: usize) -> bool {
        a.iter().all(|x| b.iter().all(|y| self.distinct(*x, *y, depth)))
    }

    fn distinct(&self, a: Base, b: Base, depth: usize) -> bool {
        if depth > MAX_CALL_DEPTH {
            return false;
        }
        match (a, b) {
            (Base::Null, _) | (_, Base::Null) => true,
            // A declared array used only by subscripts cannot be reached by any pointer.
            (Base::Object(v), Base::Unknown) | (Base::Unknown, Base::Object(v)) => self.is_out_of_reach(v),
            (Base::Unknown, _) | (_, Base::Unknown) => false,
            (Base::Object(v), Base::Object(w)) => v != w,
            (Base::Param(f, position), Base::Object(v)) | (Base::Object(v), Base::Param(f, position)) => {
                let is_younger = self.file.var(v).function == Some(f)
                    && matches!(
                        self.file.var(v).kind,
                        VarKind::Local { is_static: false } | VarKind::Param(_)
                    );
                is_younger
                    || self.is_out_of_reach(v)
                    || self.is_restrict(f, position)
                    || self.all_calls(f, |args| {
                        let arg = args.get(position).map_or(vec![Base::Unknown], |e| self.bases_of(e));
                        self.all_distinct(&arg, &[Base::Object(v)], depth + 1)
                    })
            }
            (Base::Param(f, p), Base::Param(g, q)) => {
                f == g
                    && p != q
                    && (self.is_restrict(f, p)
                        || self.is_restrict(f, q)
                        || self.all_calls(f, |args| {
                            let bases =
                                |k: usize| args.get(k).map_or(vec![Base::Unknown], |e| self.bases_of(e));
                            self.all_distinct(&bases(p), &bases(q), depth + 1)
                        }))
            }
        }
    }

    /// Whether no pointer can lead into this object.
    fn is_out_of_reach(&self, var: VarId) -> bool {
        let is_own = !matches!(self.file.var(var).kind, VarKind::Global { is_static: false });
        is_own && !self.escaping.contains(&var)
    }

    fn is_restrict(&self, function: usize, position: usize) -> bool {
        let var = self.file.functions[function].params.get(position).map(|v| &self.file.var(*v).ty);
        matches!(var, Some(Type::Pointer { is_restrict: true, .. } | Type::Array { is_restrict: true, .. }))
    }

    /// Whether every call of the function is known and satisfies `holds`.
    fn all_calls(&self, function: usize, holds: impl Fn(&[Expr]) -> bool) -> bool {
        let f = &self.file.functions[function];
        let Some(calls) = self.calls.get(f.name.as_str()) else { return false };
        f.is_static
            && !self.escaping_functions.contains(f.name.as_str())
            && calls.iter().all(|args| holds(args))
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(e.uncast().kind, ExprKind::Int(0, _))
}

/// The pointer that `posix_memalign(&p, ...)` sets to new memory.
fn allocated_by(e: &Expr) -> Option<VarId> {
    let ExprKind::Call(callee, args) = &e.kind else { return None };
    let is_it = matches!(&callee.kind, ExprKind::Name(name) if name == "posix_memalign");
    let first = args.first().filter(|_| is_it)?.uncast();
    let ExprKind::AddressOf(pointer) = &first.kind else { return None };
    pointer.as_var()
}

/// Whether the pointer's value is used other than in tests, subscripts and `return`.
fn is_copied(file: &File, function: &Function, var: VarId) -> bool {
    fn go(file: &File, e: &Expr, var: VarId) -> bool {
        let go = |e: &Expr, var: VarId| go(file, e, var);
        match &e.kind {
            ExprKind::Var(v) => *v == var,
            ExprKind::Assign(None, target, value) if target.as_var() == Some(var) => go(value, var),
            ExprKind::Index(base, index) if base.as_var() == Some(var) => go(index, var),
            // Of a member of the structures that it leads to.
            ExprKind::AddressOf(inner) => {
                let mut is_inside = false;
                inner.walk(&mut |e| is_inside |= e.as_var().is_some_and(|v| file.root(v) == var));
                is_inside
            }
            ExprKind::Call(_, args) if allocated_by(e) == Some(var) => {
                args.iter().skip(1).any(|arg| go(arg, var))
            }
            ExprKind::Call(callee, args) => args.iter().enumerate().any(|(position, arg)| {
                go(arg, var) && !(arg.as_var() == Some(var) && only_follows(file, callee, position, 0))
            }),
            ExprKind::Deref(base) if base.as_var() == Some(var) => false,
            ExprKind::Unary(oxeye_ir::UnaryOp::Not, e) if e.as_var() == Some(var) => false,
            ExprKind::SizeofExpr(_) => false,
            ExprKind::Binary(oxeye_ir::BinaryOp::Eq | oxeye_ir::BinaryOp::Ne, l, r) => {
                [l, r].into_iter().any(|e| e.as_var() != Some(var) && go(e, var))
            }
            _ => e.children().into_iter().any(|c| go(c, var)),
        }
    }
    let mut is_copied = false;
    function.body.walk(&mut |s| {
        if !matches!(s.kind, StmtKind::Return(_)) {
            is_copied |= s.exprs().into_iter().any(|e| e.as_var() != Some(var) && go(file, e, var));
        }
    });
    is_copied
}
