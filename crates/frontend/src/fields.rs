//! Members of structures that lead to allocated blocks only, each to its own: `g->val = calloc(n, sizeof(float))`, and nothing
//! else is ever stored there.

use crate::ast::*;
use oxeye_binding::Step;
use oxeye_ir::MathFn;
use std::collections::BTreeSet;

/// The names of pointer members that hold, in whatever structure of the program, nothing but the results of allocations, which are
/// stored nowhere else. There are none if structures with pointers can be changed in ways that the file does not show.
pub(crate) fn allocated(file: &File, is_allocation: &dyn Fn(&Expr) -> bool) -> BTreeSet<String> {
    let mut fields =
        Fields { file, is_allocation, stored: BTreeSet::new(), spoilt: BTreeSet::new(), is_lost: false };
    fields.is_lost = !file.problems.is_empty()
        || file.vars.iter().any(|variable| fields.is_open(variable))
        || file.structures.iter().flat_map(|s| s.fields.iter().flatten()).any(|f| is_blurred(file, &f.ty));
    for (var, init) in &file.global_inits {
        fields.set(*var, init);
        fields.expr(init);
    }
    for function in &file.functions {
        fields.function(function);
    }
    match fields.is_lost {
        true => BTreeSet::new(),
        false => fields.stored.difference(&fields.spoilt).cloned().collect(),
    }
}

struct Fields<'a> {
    file: &'a File,
    is_allocation: &'a dyn Fn(&Expr) -> bool,
    /// Members that an allocation is stored in.
    stored: BTreeSet<String>,
    /// Members that something else may be stored in.
    spoilt: BTreeSet<String>,
    /// Whether any of them may be changed unseen.
    is_lost: bool,
}

impl Fields<'_> {
    /// Whether other files, or pointers of no type, may lead to structures by a variable.
    fn is_open(&self, variable: &Variable) -> bool {
        let is_local = matches!(variable.kind, VarKind::Local { .. });
        let is_shared = variable.kind == VarKind::Global { is_static: false };
        is_shared && self.holder(&variable.ty).is_some()
            || is_blurred(self.file, &variable.ty) && !(is_local && is_untyped(&variable.ty))
    }

    fn function(&mut self, function: &Function) {
        let mut types = function.params.iter().map(|v| &self.file.var(*v).ty).chain([&function.returns]);
        let is_known = function.is_static || function.name == "main";
        self.is_lost |= function.problem.is_some();
        self.is_lost |= !is_known && types.any(|ty| self.holder(ty).is_some());
        function.body.walk(&mut |s| {
            if let StmtKind::Declare(declared) = &s.kind {
                for d in declared {
                    d.init.iter().for_each(|init| self.set(d.var, init));
                }
            }
            if let StmtKind::Return(Some(value)) = &s.kind
                && is_untyped(&function.returns)
            {
                let is_local = value.as_var().is_some_and(|v| is_untyped(&self.file.var(v).ty));
                self.is_lost |= !is_local && !self.is_new(value);
            }
            s.exprs().into_iter().for_each(|e| self.expr(e));
        });
    }

    /// The structure with pointers that something is or leads to.
    fn holder(&self, ty: &Type) -> Option<usize> {
        match ty.innermost() {
            Type::Struct(id) if self.holds_pointers(*id) => Some(*id),
            _ => None,
        }
    }

    fn holds_pointers(&self, id: usize) -> bool {
        let has_pointer = |field: &Field| {
            let mut ty = &field.ty;
            while let Type::Array { of, .. } = ty {
                ty = of;
            }
            match ty {
                Type::Scalar(_) => false,
                Type::Struct(inner) => self.holds_pointers(*inner),
                _ => true,
            }
        };
        self.file.structures[id].fields.as_ref().is_none_or(|fields| fields.iter().any(has_pointer))
    }

    /// The structure with pointers that the value of an expression leads to.
    fn leads_to(&self, e: &Expr) -> Option<usize> {
        let ty = match &e.kind {
            ExprKind::Call(callee, _) => match &callee.kind {
                ExprKind::Name(name) => self.file.function(name).map(|(_, f)| f.returns.clone()),
                _ => None,
            },
            _ => self.file.type_of(e),
        };
        self.holder(&ty.filter(Type::is_pointer)?)
    }

    fn is_new(&self, value: &Expr) -> bool {
        (self.is_allocation)(value) || matches!(value.uncast().kind, ExprKind::Int(0, _))
    }

    /// The member that an expression is, or one of the pointers in which.
    fn field<'e>(&'e self, e: &'e Expr) -> Option<&'e str> {
        match &e.kind {
            ExprKind::Var(v) => match self.file.var(*v).member.as_ref()?.steps.last()? {
                Step::Field(name) => Some(name),
                _ => None,
            },
            ExprKind::Member(_, name) => Some(name),
            ExprKind::Index(base, _) | ExprKind::Deref(base) if self.is_pointer(e) => self.field(base),
            _ => None,
        }
    }

    fn is_pointer(&self, e: &Expr) -> bool {
        self.file.type_of(e).is_some_and(|ty| ty.is_pointer())
    }

    /// A variable without a path gets a value.
    fn set(&mut self, var: VarId, value: &Expr) {
        self.is_lost |= is_untyped(&self.file.var(var).ty) && !self.is_new(value);
    }

    fn store(&mut self, is_plain: bool, target: &Expr, value: &Expr) {
        let Some(name) = self.field(target).map(str::to_owned) else {
            target.as_var().into_iter().for_each(|v| self.set(v, value));
            return;
        };
        let is_copy = self.field(value) == Some(&name);
        match is_plain && (is_copy || self.is_new(value)) {
            true => self.stored.insert(name),
            false => self.spoilt.insert(name),
        };
    }

    fn expr(&mut self, e: &Expr) {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(op, target, value) => self.store(op.is_none(), target, value),
            ExprKind::Step { target: inner, .. } | ExprKind::AddressOf(inner) => {
                self.spoilt.extend(self.field(inner).map(str::to_owned));
            }
            ExprKind::Cast(to, inner) if to.is_pointer() => {
                let is_same = self.holder(to) == self.leads_to(inner);
                self.is_lost |= !is_same && !self.is_new(inner);
            }
            ExprKind::Call(callee, args) => self.call(callee, args),
            // Nothing but numbers, and new pointers.
            ExprKind::List(values) => {
                let is_other = |e: &Expr| self.is_pointer(e) || matches!(e.kind, ExprKind::Call(..));
                self.is_lost |= values.iter().any(is_other);
            }
            ExprKind::Unknown(_, inside) => {
                let may_lead = |e: &Expr| {
                    self.is_pointer(e) || self.file.type_of(e).is_some_and(|ty| self.holder(&ty).is_some())
                };
                self.is_lost |= inside.iter().any(may_lead);
            }
            _ => {}
        });
    }

    /// What other files do with a structure is not known.
    fn call(&mut self, callee: &Expr, args: &[Expr]) {
        let ExprKind::Name(name) = &callee.kind else {
            self.is_lost = true;
            return;
        };
        let is_harmless = ["free", "memset", "realloc"].contains(&name.as_str())
            || self.file.function(name).is_some()
            || MathFn::from_c_name(name).is_some();
        let may_lead = |e: &Expr| self.leads_to(e).is_some() || matches!(e.kind, ExprKind::Member(..));
        self.is_lost |= !is_harmless && args.iter().any(may_lead);
    }
}

/// Whether something is, or leads to, memory that may be used as more than one type.
fn is_blurred(file: &File, ty: &Type) -> bool {
    match ty.innermost() {
        Type::Other(what) => what == "a union",
        Type::Struct(id) => file.structures[*id].fields.is_none(),
        _ => is_untyped(ty),
    }
}

/// Whether something leads to memory of no type.
fn is_untyped(ty: &Type) -> bool {
    ty.is_pointer() && *ty.innermost() == Type::Void
}
