//! Structures known by other names: `cell *c = &grid[i]`, parameters of inlined functions, and structures that live
//! inside the nest.

use super::lowerer::{Bound, Lowerer};
use super::pointer::{Pointer, n_levels};
use super::value::{Value, reads_memory};
use crate::ast::{Expr, ExprKind, Function, Range, Scalar, Type, VarId};
use crate::refusal::{Lowered, Refusal};
use crate::scan::Scan;
use oxeye_binding::Step;
use oxeye_ir::{Access, Array, ArrayId, Form, Node, ScalarType, Storage, Update};

/// The actual place of a member.
pub(super) struct Redirected {
    pub(super) base: VarId,
    pub(super) indices: Vec<oxeye_ir::Expr>,
    /// The element from which the next subscript is counted, if there must be one more subscript.
    pub(super) offset: Option<Option<Value>>,
    in_row: bool,
}

impl Lowerer<'_> {
    /// The actual member reached from a name for another structure; `None` for other variables.
    pub(super) fn redirected(&mut self, var: VarId, at: Range) -> Lowered<Option<Redirected>> {
        let file = self.cx.file;
        let Some(member) = &file.var(var).member else { return Ok(None) };
        let Some(Bound::Pointer(pointer)) = self.bound.get(&member.root).cloned() else { return Ok(None) };
        let Pointer { base, mut indices, offset, in_row, is_object, .. } = pointer;
        let (first, rest) = match member.steps.split_first() {
            Some((first @ (Step::Follow | Step::Subscript), rest)) => (first, rest),
            _ => (&Step::Follow, member.steps.as_slice()),
        };
        let (root, mut steps) = match &file.var(base).member {
            Some(of) => (of.root, of.steps.clone()),
            None => (base, Vec::new()),
        };
        let n_known = steps.iter().filter(|s| **s == Step::Subscript).count();
        let refuse = || {
            let message =
                format!("`{}` cannot be followed to the structure it belongs to", file.var(var).name);
            Refusal::new(at, message).help("use the structure itself instead of a pointer to it")
        };
        let is_pointer = matches!(file.var(base).ty, Type::Pointer { .. });
        let mut open = None;
        if is_object {
            if *first == Step::Subscript {
                return Err(refuse());
            }
        } else if *first == Step::Subscript {
            open = Some(offset);
        } else if indices.is_empty() && offset.is_none() && is_pointer && n_known == 0 {
            steps.push(Step::Follow);
        } else {
            indices.push(offset.map_or(oxeye_ir::Expr::from(0), |offset| self.index(offset)));
        }
        if !is_object && steps.last() != Some(&Step::Follow) {
            let n = indices.len() + usize::from(open.is_some());
            let n_more = n.checked_sub(n_known).ok_or_else(refuse)?;
            steps.extend(std::iter::repeat_n(Step::Subscript, n_more));
        }
        steps.extend(rest.iter().cloned());
        let target = file.members.get(&(root, steps)).copied().ok_or_else(refuse)?;
        Ok(Some(Redirected { base: target, indices, offset: open, in_row }))
    }

    /// A member that is an array or a pointer, as a pointer.
    pub(super) fn member_pointer(&mut self, var: VarId, member: Redirected, at: Range) -> Lowered<Pointer> {
        let Redirected { base, indices, offset, in_row } = member;
        let file = self.cx.file;
        let ty = &file.var(var).ty;
        let pointee = match ty {
            Type::Array { of, .. } => of,
            Type::Pointer { to, .. } if indices.is_empty() => to,
            _ => {
                let message = format!("each structure has its own pointer `{}`", file.var(var).name);
                return Err(Refusal::new(at, message).help("keep their elements in one block"));
            }
        };
        let (offset, in_row) = match offset {
            Some(offset) => (offset, in_row),
            None => (None, false),
        };
        Ok(Pointer {
            base,
            indices,
            offset,
            pointee: (**pointee).clone(),
            in_row,
            is_object: false,
            rows: Vec::new(),
        })
    }

    /// The place of a structure that a function takes by value, which stands for the function's copy of it; refused if the
    /// function changes either while the other is in use.
    pub(super) fn structure_by_value(
        &mut self,
        e: &Expr,
        function: &Function,
        args: &[Expr],
    ) -> Lowered<Pointer> {
        let address = Expr { kind: ExprKind::AddressOf(Box::new(e.clone())), range: e.range };
        let pointer = self.pointer(&address)?;
        let file = self.cx.file;
        let root = file.root(pointer.base);
        // A computed complex number, which nobody else knows.
        if file.var(root).is_own() {
            return Ok(pointer);
        }
        if !self.keeps_structures(root, function, args) {
            let (name, callee) = (&file.var(pointer.base).name, &function.name);
            let message = format!("`{name}` is passed by value to `{callee}`, which changes it or its copy");
            return Err(Refusal::new(e.range, message).help("copy what it changes into local variables"));
        }
        Ok(pointer)
    }

    /// Whether a call writes neither the structures that belong to a variable nor those that it is passed by value.
    fn keeps_structures(&mut self, root: VarId, function: &Function, args: &[Expr]) -> bool {
        let file = self.cx.file;
        let scan = Scan::of(file, &function.body);
        !scan.is_cut_short
            && scan.written.iter().chain(&scan.stored).all(|var| {
                let of = file.root(*var);
                match function.params.iter().position(|param| *param == of) {
                    Some(k) if file.var(of).ty.is_pointer() => {
                        let leads = args.get(k).and_then(|arg| self.pointer(arg).ok());
                        leads.is_some_and(|leads| file.root(leads.base) != root)
                    }
                    // A copy that the call has been given may change.
                    Some(k) if matches!(file.var(of).ty, Type::Struct(_)) => {
                        args.get(k).and_then(Expr::as_var).is_some_and(|arg| file.var(arg).is_own())
                    }
                    Some(_) => true,
                    None => of != root,
                }
            })
    }

    /// The same pointer with constant parts: values that the nest may change later are kept in separate variables.
    pub(super) fn settled(
        &mut self,
        mut pointer: Pointer,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<Pointer> {
        for index in &mut pointer.indices {
            if !self.is_stable(index) {
                let ty = self.natural(index);
                *index = self.kept(Value { e: index.clone(), ty }, at, out)?.e;
            }
        }
        if let Some(offset) = pointer.offset.take() {
            let is_stable = !reads_memory(&offset.e) || self.is_stable(&offset.e);
            pointer.offset = Some(if is_stable { offset } else { self.kept(offset, at, out)? });
        }
        Ok(pointer)
    }

    /// A variable that holds a value.
    fn kept(&mut self, value: Value, at: Range, out: &mut Vec<Node>) -> Lowered<Value> {
        let access = self.own_scalar("at", &number(value.ty), self.storage_here());
        self.push(access.clone(), Update::Assign, value.e, at, out);
        Ok(Value { e: oxeye_ir::Expr::Read(access), ty: value.ty })
    }

    /// Where variables live that are declared, or made, at this place: in one iteration of the innermost loop, or in the nest.
    pub(super) fn storage_here(&self) -> Storage {
        self.loops.last().map_or(Storage::Temp(None), |(_, owner)| Storage::Body(*owner))
    }

    /// A variable that the source does not have.
    pub(super) fn own_scalar(&mut self, name: &str, scalar: &Scalar, storage: Storage) -> Access {
        Access::scalar(self.state.program.add_array(Array {
            id: ArrayId(0),
            name: name.to_owned(),
            element: scalar.ty,
            c_type: scalar.spelling.clone(),
            shape: Vec::new(),
            form: Form::Nested,
            storage,
            align: 0,
        }))
    }

    /// A structure, a vector, or an array of them, that is declared inside the nest: its members are variables, of which an
    /// array has one array for each.
    pub(super) fn declare_structures(&mut self, var: VarId, at: Range) -> Lowered<()> {
        let file = self.cx.file;
        let mut members: Vec<VarId> =
            file.members.iter().filter(|((root, _), _)| *root == var).map(|(_, id)| *id).collect();
        members.sort_unstable();
        for member in members {
            if n_levels(file, member).is_some() || !matches!(file.var(member).ty.innermost(), Type::Scalar(_))
            {
                continue;
            }
            if file.lies_in_own(member) {
                let array = self.new_array(member, self.storage_here(), at)?;
                self.state.arrays.insert(member, array);
                self.state.members.insert(array);
            }
        }
        Ok(())
    }
}

/// The type of a number that the source has no name for.
pub(super) fn number(ty: ScalarType) -> Scalar {
    Scalar { ty, spelling: None, is_volatile: false, is_bool: false }
}
