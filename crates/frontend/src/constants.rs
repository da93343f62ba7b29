//! Variables with a constant value from their declaration: local integers, `const int BLOCK = 8;`, static variables of
//! functions, and members of constant structures.

use crate::ast::*;
use crate::scan::Scan;
use oxeye_binding::Step;
use std::collections::{HashMap, HashSet};

/// Records them.
pub(crate) fn find(file: &mut File) {
    find_values(file);
    let mut found = Vec::new();
    for function in &file.functions {
        let mut declared = Vec::new();
        let mut taken: HashSet<VarId> = HashSet::new();
        let mut is_clear = true;
        function.body.walk(&mut |s| {
            is_clear &= !matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
            if let StmtKind::Declare(of) = &s.kind {
                declared.extend(of.iter().filter_map(|d| Some((d.var, constant(d.init.as_ref()?)?))));
            }
        });
        function.body.walk_exprs(&mut |e| match &e.kind {
            ExprKind::AddressOf(inner) => taken.extend(inner.as_var()),
            ExprKind::Unknown(_, inside) => taken.extend(inside.iter().filter_map(Expr::as_var)),
            _ => {}
        });
        if declared.is_empty() || !is_clear {
            continue;
        }
        let scan = Scan::of(file, &function.body);
        found.extend(declared.into_iter().filter(|(v, value)| {
            let variable = file.var(*v);
            let fits = match variable.ty.as_scalar() {
                Some(s) if !s.is_volatile && !s.is_bool => match s.ty {
                    oxeye_ir::ScalarType::I32 => i32::try_from(*value).is_ok(),
                    oxeye_ir::ScalarType::I64 => true,
                    _ => false,
                },
                _ => false,
            };
            let is_changed = scan.written.contains(v) || scan.iterators.contains(v) || taken.contains(v);
            let is_own = matches!(variable.kind, VarKind::Local { is_static: false });
            fits && is_own && !is_changed && !scan.is_cut_short
        }));
    }
    file.constants.extend(found);
}

/// Records the values of static variables and members that are declared `const`.
fn find_values(file: &mut File) {
    let mut inits: HashMap<VarId, &Expr> = HashMap::new();
    inits.extend(file.global_inits.iter().filter(|(var, _)| file.fixed.contains(var)).map(|(v, e)| (*v, e)));
    for function in &file.functions {
        function.body.walk(&mut |s| {
            let StmtKind::Declare(declared) = &s.kind else { return };
            for d in declared {
                let is_static = file.var(d.var).kind == VarKind::Local { is_static: true };
                if let (Some(init), true) = (&d.init, is_static && file.fixed.contains(&d.var)) {
                    inits.insert(d.var, init);
                }
            }
        });
    }
    let mut found = HashMap::new();
    for (var, init) in &inits {
        // Those of the file have names that every function may use.
        if file.var(*var).function.is_some() {
            found.extend(converted(&file.var(*var).ty, init).map(|value| (*var, value)));
        }
    }
    for ((root, steps), member) in &file.members {
        let value = inits.get(root).and_then(|init| value_of(file, &file.var(*root).ty, init, steps));
        found.extend(value.map(|value| (*member, value)));
    }
    file.values.extend(found);
}

/// The value of the member at a path, in a list of initial values in which every structure has a list of its own.
fn value_of(file: &File, ty: &Type, init: &Expr, steps: &[Step]) -> Option<Expr> {
    let Some((step, rest)) = steps.split_first() else { return converted(ty, init) };
    let (Step::Field(name), Type::Struct(id), ExprKind::List(values)) = (step, ty, &init.kind) else {
        return None;
    };
    let fields = file.structures[*id].fields.as_ref()?;
    let position = fields.iter().position(|f| f.name == *name)?;
    let is_own = |(field, value): (&Field, &Expr)| {
        field.ty.as_scalar().is_some() || matches!(value.kind, ExprKind::List(_))
    };
    let value = values.get(position)?;
    let is_fitting = fields.iter().zip(values).take(position + 1).all(is_own);
    if is_fitting { value_of(file, &fields[position].ty, value, rest) } else { None }
}

/// A constant, as a number of this type.
fn converted(ty: &Type, init: &Expr) -> Option<Expr> {
    let is_plain = matches!(ty, Type::Scalar(s) if !s.is_volatile && !s.is_bool);
    let kind = ExprKind::Cast(ty.clone(), Box::new(init.clone()));
    (is_plain && is_number(init)).then_some(Expr { kind, range: init.range })
}

/// Whether an expression is made of numbers only.
pub(crate) fn is_number(e: &Expr) -> bool {
    let mut is_number = true;
    e.walk(&mut |e| {
        is_number &= match &e.kind {
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Unary(..) | ExprKind::Promote(_) => true,
            ExprKind::Cast(ty, _) => ty.as_scalar().is_some(),
            ExprKind::Binary(..) => true,
            _ => false,
        };
    });
    is_number
}
