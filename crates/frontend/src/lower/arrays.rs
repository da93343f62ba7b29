//! The arrays and scalars of variables: where they are stored, and their shapes.

use super::contents::{no_length, no_number};
use super::index::Mode;
use super::lowerer::Lowerer;
use super::pointer::n_levels;
use crate::ast::{self, ExprKind, Range, StmtKind, Type, VarId, VarKind};
use crate::members::name_of_part;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Affine, Array, ArrayId, Constraint, Expr, Form, ScalarType, Storage, SymId, Var};

impl Lowerer<'_> {
    /// The array (or scalar) of a variable.
    pub(crate) fn array(&mut self, var: VarId, at: Range) -> Lowered<ArrayId> {
        if let Some(id) = self.state.arrays.get(&var) {
            return Ok(*id);
        }
        let variable = self.cx.file.var(var);
        let name = &variable.name;
        self.check_visible(var, at)?;
        if self.scan.declared.contains(&var) {
            return Err(Refusal::new(at, format!("`{name}` is used before its declaration is reached")));
        }
        let storage = match variable.kind {
            VarKind::Global { .. } => Storage::Global,
            VarKind::Param(_) => Storage::Param,
            VarKind::Local { .. } => Storage::Local,
            VarKind::Member if self.cx.file.is_part_of_own(var) => Storage::Local,
            VarKind::Member => Storage::Global,
        };
        if let Some(refusal) = no_length(self.cx.file, var, at) {
            return Err(refusal);
        }
        let view = self.view(var, at)?;
        let id = self.new_array(var, storage, at)?;
        self.state.arrays.insert(var, id);
        if let Some(view) = view {
            self.check_lengths(var, id, at)?;
            self.state.binding.views.insert(id, view);
        }
        Ok(id)
    }

    /// Whether the lengths of the rows that a declaration of a member's variable names are those of the member's array.
    fn check_lengths(&self, var: VarId, array: ArrayId, at: Range) -> Lowered<()> {
        let file = self.cx.file;
        let root = file.root(var);
        let shape = &self.state.program.array(array).shape;
        let mut ty = &file.var(root).ty;
        let mut dimension = 0;
        while let Some(inner) = ty.pointee() {
            if let Type::Array { len: Some(len), .. } = ty
                && dimension > 0
                && ast::constant(len).is_none()
            {
                let extent = shape.get(dimension).cloned().flatten();
                let symbol = extent.as_ref().and_then(Expr::as_affine).and_then(Affine::as_var);
                let named = len.as_var().and_then(|v| self.state.symbols.get(&v));
                if named.is_none() || symbol != named.map(|id| Var::Sym(*id)) {
                    let message = format!("the rows of `{}` have a length that may change", self.name(root));
                    return Err(Refusal::new(at, message).help("keep sizes in variables that are set once"));
                }
            }
            (ty, dimension) = (inner, dimension + 1);
        }
        Ok(())
    }

    /// A new array for a variable, with the shape of its type.
    pub(crate) fn new_array(&mut self, var: VarId, storage: Storage, at: Range) -> Lowered<ArrayId> {
        let variable = self.cx.file.var(var);
        let name = &variable.name;
        let mut shape = Vec::new();
        let mut ty = &variable.ty;
        let is_param = matches!(variable.kind, VarKind::Param(_));
        let is_inside = matches!(storage, Storage::Body(_) | Storage::Temp(_));
        let n_rows = n_levels(self.cx.file, var).filter(|_| !is_inside);
        if let Some(n_levels) = n_rows {
            shape.push(None);
            let extents = self.row_extents(var, n_levels);
            shape.extend(extents.into_iter().map(|id| Some(Expr::from(id))));
            ty = ty.innermost();
            if let (Type::Struct(_), Some((_, n))) = (ty, self.cx.file.numbers(ty)) {
                shape.push(Some(Expr::from(n)));
            }
        }
        while n_rows.is_none() {
            let is_outermost = shape.is_empty();
            match ty {
                Type::Pointer { to, .. } if is_outermost => {
                    shape.push(None);
                    ty = to;
                }
                ty @ Type::Pointer { .. } => return Err(self.pointers_inside(name, ty, at)),
                Type::Array { of, len, .. } => {
                    let is_moved = is_param && is_outermost && self.cx.pointers.is_assigned(var);
                    let len = len.as_deref().filter(|_| !is_moved);
                    let extent = match len.map(|len| self.extent(len, var, at)) {
                        Some(Ok(extent)) => Some(extent),
                        Some(Err(_)) if !is_inside && !is_outermost => {
                            Some(Expr::from(self.extent_of_type(var, shape.len())))
                        }
                        Some(Err(refusal)) if !is_outermost => return Err(refusal),
                        _ => None,
                    };
                    if extent
                        .as_ref()
                        .and_then(Expr::as_affine)
                        .and_then(Affine::as_constant)
                        .is_some_and(|n| n <= 0)
                    {
                        return Err(Refusal::new(at, format!("`{name}` has no elements")));
                    }
                    if let (Some(Expr::Affine(a)), false, true) = (&extent, is_outermost, is_param) {
                        // Rows of variable length have at least one element (C11 6.7.6.2).
                        if a.as_constant().is_none() {
                            self.assume(Constraint::ge(a.clone(), 1.into()));
                        }
                    }
                    if extent.is_none() && !is_outermost {
                        return Err(Refusal::new(at, format!("a row of `{name}` has no length")));
                    }
                    shape.push(extent);
                    ty = of;
                }
                _ => break,
            }
        }
        let of_structures = || self.cx.file.numbers(ty).filter(|_| n_rows.is_some());
        let scalar = match ty {
            Type::Scalar(scalar) => scalar,
            Type::Struct(_) if let Some((scalar, _)) = of_structures() => scalar,
            ty => return Err(no_number(self.cx.file, name, ty, at)),
        };
        if scalar.is_volatile {
            return Err(Refusal::new(
                at,
                format!("`{name}` is volatile or atomic: every access must stay as it is"),
            ).help("copy it into a plain variable before the loop, if nobody else changes or looks at it meanwhile"));
        }
        let id = self.state.program.add_array(Array {
            id: ArrayId(0),
            name: if is_inside {
                let part = variable.member.as_ref().and_then(|m| name_of_part(m, name));
                part.as_ref()
                    .unwrap_or(name)
                    .replace("[]", "")
                    .replace(|c: char| !c.is_alphanumeric() && c != '_', "_")
            } else {
                name.clone()
            },
            element: scalar.ty,
            c_type: scalar.spelling.clone(),
            shape,
            form: if n_rows.is_some() { Form::Linear } else { Form::Nested },
            storage,
            align: 0,
        });
        self.state.rows.extend(n_rows.map(|n| (id, n)));
        self.state.vars.insert(id, var);
        Ok(id)
    }

    /// The length of a dimension of `var` from its type, independent of the current value of the expression in its
    /// declaration.
    fn extent_of_type(&mut self, var: VarId, dimension: usize) -> SymId {
        if let Some(id) = self.state.extents.get(&(var, dimension)) {
            return *id;
        }
        let row = format!("{}{}", self.name(var), "[0]".repeat(dimension));
        // A row may have no elements.
        let name = format!("(long)(sizeof({row}) / (sizeof({row}[0]) ? sizeof({row}[0]) : 1))");
        let id = self.state.program.add_symbol(name, ScalarType::I64);
        self.state.extents.insert((var, dimension), id);
        id
    }

    /// The length of a dimension of `var`.
    fn extent(&mut self, e: &ast::Expr, var: VarId, at: Range) -> Lowered<Expr> {
        let name = self.name(var);
        let mut problem = None;
        e.walk(&mut |e| match &e.kind {
            ExprKind::Var(v) => {
                let is_integer = self.cx.file.var(*v).ty.as_scalar().is_some_and(|s| !s.ty.is_float());
                let inside = |set: &std::collections::HashSet<VarId>| set.contains(v);
                let is_inner =
                    inside(&self.scan.written) || inside(&self.scan.declared) || inside(&self.scan.iterators);
                let is_settled =
                    !self.cx.file.is_member(*v) && self.is_settled(*v, self.cx.file.var(var).range);
                if !is_integer || is_inner || !is_settled {
                    problem =
                        Some(format!("the size of `{name}` depends on `{}`, which changes", self.name(*v)));
                }
            }
            ExprKind::Call(..)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Member(..)
            | ExprKind::Unknown(..) => {
                problem = Some(format!("the size of `{name}` is not a simple expression"));
            }
            _ => {}
        });
        if let Some(problem) = problem {
            return Err(Refusal::new(at, problem).help("keep sizes in variables that are set once"));
        }
        let value = self.value(e)?;
        Ok(self.stripped(&value.e, Mode::Limit).unwrap_or(value.e))
    }

    /// Whether the variable keeps its value after the declaration at `declared`.
    fn is_settled(&self, var: VarId, declared: Range) -> bool {
        let is_param = matches!(self.cx.file.var(var).kind, VarKind::Param(_));
        let is_array_param = self.cx.function.params.iter().any(|p| self.cx.file.var(*p).range == declared);
        let mut is_settled = true;
        self.cx.function.body.walk(&mut |s| {
            for e in s.exprs() {
                e.walk(&mut |e| {
                    let changed = match &e.kind {
                        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => target.as_var(),
                        ExprKind::AddressOf(inner) => inner.as_var(),
                        ExprKind::Unknown(what, _) if what == "a statement expression" && e.mentions(var) => {
                            Some(var)
                        }
                        _ => None,
                    };
                    if changed == Some(var) && (is_param || is_array_param || e.range.start > declared.start)
                    {
                        is_settled = false;
                    }
                });
            }
            is_settled &=
                !matches!(&s.kind, StmtKind::Unknown(what, _) if !what.starts_with("a `switch`") && what != "`case`");
        });
        is_settled
    }
}
