//! Local integers with a constant value from their declaration: `const int BLOCK = 8;`.

use crate::ast::*;
use crate::scan::Scan;
use std::collections::HashSet;

/// Records them.
pub(crate) fn find(file: &mut File) {
    let mut found = Vec::new();
    for function in &file.functions {
        let mut declared = Vec::new();
        let mut taken: HashSet<VarId> = HashSet::new();
        let mut is_clear = true;
        function.body.walk(&mut |s| {
            is_clear &= !matches!(s.kind, StmtKind::Goto | StmtKind::Label(_) | StmtKind::Unknown(..));
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
