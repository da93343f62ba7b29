//! Calls in expressions: functions of `<math.h>`, and the file's own small functions that compute a value.

use super::lowerer::{Bound, Lowerer};
use super::value::{Value, constant};
use crate::ast::{self, ExprKind, Range, Stmt, StmtKind, Type, VarId, VarKind};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{BinaryOp, Expr, ScalarType};

pub(super) const MAX_INLINE_DEPTH: u32 = 8;
/// Most statements of inlined functions for one call.
const INLINE_BUDGET: u32 = 256;

impl Lowerer<'_> {
    pub(crate) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], at: Range) -> Lowered<Value> {
        let Some(name) = self.cx.file.callee(callee) else {
            return Err(Refusal::new(at, "a call through a pointer").help("call the function by its name"));
        };
        let is_pointer = !matches!(callee.kind, ExprKind::Name(_));
        if let Some((_, function)) = self.cx.file.function(name) {
            // What it writes would be seen by nobody who looks for calls.
            if is_pointer && !self.cx.file.only_computes(function) {
                let message = format!("`{name}` is called through a pointer, and writes to memory");
                return Err(Refusal::new(at, message).help("call it by its name"));
            }
            return self.inlined(name, args, at);
        }
        match self.library_call(name, args)? {
            Some(value) => Ok(value),
            None => Err(self.unknown(name, at)),
        }
    }

    /// A call of a function whose definition is not at hand.
    pub(super) fn unknown(&self, name: &str, at: Range) -> Box<Refusal> {
        match self.cx.preprocessed.left_elsewhere.get(name) {
            Some(why) => Refusal::new(at, format!("`{name}` is called, {why}"))
                .help("move the call out of the loop, or the function into this file"),
            None if self.is_declared_by_user(name) => {
                Refusal::new(at, format!("`{name}` is called, and what it does is not known"))
                    .help("move the call out of the loop, or give the function's definition in this file")
            }
            // Of a loop that does nothing else there is no rest.
            None if self.scan.stored.is_empty() && self.scan.written.is_empty() => {
                Refusal::new(at, format!("`{name}` is called, and what it does is not known"))
            }
            None => Refusal::new(at, format!("`{name}` is called, and what it does is not known"))
                .help("give the call a loop of its own, if it can stand before or behind the rest"),
        }
    }

    /// Whether the user's own sources or headers declare a function; others are a library's.
    fn is_declared_by_user(&self, name: &str) -> bool {
        let bodies = || self.cx.file.functions.iter().map(|function| function.range);
        self.cx.preprocessed.is_named(name, |at| bodies().any(|body| (body.start..body.end).contains(&at)))
    }

    fn inlined(&mut self, name: &str, args: &[ast::Expr], at: Range) -> Lowered<Value> {
        let file = self.cx.file;
        let Some((position, function)) = file.function(name) else {
            return Err(self.unknown(name, at));
        };
        let refuse = |why: &str| {
            Refusal::new(at, format!("`{name}` is called, {why}"))
                .help("write what it computes in place of the call")
        };
        if function.problem.is_some() {
            return Err(refuse("which could not be read"));
        }
        if position == self.cx.position
            || self.inlining.within.contains(&position)
            || self.depth() >= MAX_INLINE_DEPTH
        {
            return Err(refuse("which calls itself or too many others"));
        }
        let Type::Scalar(returns) = &function.returns else {
            return Err(refuse("which does not return a number"));
        };
        if function.params.len() != args.len() {
            return Err(refuse("with the wrong number of arguments"));
        }
        let mut frame = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            let bound = match &file.var(*param).ty {
                Type::Scalar(scalar) if !scalar.is_volatile => {
                    let value = self.value(arg)?;
                    Bound::Value(self.converted(value, scalar))
                }
                ty @ (Type::Pointer { .. } | Type::Array { .. }) => {
                    Bound::Pointer(self.argument_pointer(arg, ty)?.handed_over())
                }
                Type::Struct(_) => Bound::Pointer(self.structure_by_value(arg, function, args)?),
                _ => return Err(refuse("which takes arguments other than numbers and arrays")),
            };
            frame.push((*param, bound));
        }
        if self.inlining.inline_depth == 0 {
            self.inlining.inline_budget = INLINE_BUDGET;
        }
        let outer = std::mem::replace(&mut self.bound, frame.into_iter().collect());
        self.inlining.inline_depth += 1;
        self.inlining.within.push(position);
        let result = self.run(&[&function.body], name, at);
        self.inlining.within.pop();
        self.inlining.inline_depth -= 1;
        self.bound = outer;
        let value = result.map_err(|mut refusal| {
            if !at.contains(refusal.range) {
                refusal.range = at;
                if !refusal.message.contains(&format!("`{name}`")) {
                    refusal.message = format!("in `{name}`: {}", refusal.message);
                }
            }
            refusal
        })?;
        self.outcome.inlined.insert(position);
        Ok(self.converted(value, returns))
    }

    /// The inlining depth of the current statement.
    pub(super) fn depth(&self) -> u32 {
        self.inlining.inline_depth + self.inlining.inlined_depth
    }

    /// The return value of these statements.
    fn run(&mut self, statements: &[&Stmt], name: &str, at: Range) -> Lowered<Value> {
        let refuse = |why: &str| {
            Refusal::new(at, format!("`{name}` is called, which {why}"))
                .help("write what it computes in place of the call")
        };
        self.inlining.inline_budget = match self.inlining.inline_budget.checked_sub(1) {
            Some(left) => left,
            None => return Err(refuse("is too long to inline")),
        };
        let Some((first, rest)) = statements.split_first() else {
            return Err(refuse("does not always return a value"));
        };
        match &first.kind {
            StmtKind::Empty => self.run(rest, name, at),
            StmtKind::Block(body) => {
                let all: Vec<&Stmt> = body.iter().chain(rest.iter().copied()).collect();
                self.run(&all, name, at)
            }
            StmtKind::Declare(declared) => {
                for d in declared {
                    if let VarKind::Local { is_static: true } = self.cx.file.var(d.var).kind {
                        if self.declare_static(d, at).is_err() {
                            return Err(refuse("keeps a value from one call to the next"));
                        }
                        continue;
                    }
                    if let Some(init) = &d.init {
                        self.set(d.var, init, &refuse)?;
                    }
                }
                self.run(rest, name, at)
            }
            StmtKind::Expr(e) => {
                match &e.kind {
                    ExprKind::Assign(None, target, value) => {
                        match target.as_var().filter(|v| self.is_own(*v)) {
                            Some(v) => self.set(v, value, &refuse)?,
                            None => return Err(refuse("writes to memory")),
                        }
                    }
                    ExprKind::Assign(Some(op), target, value) => {
                        match target.as_var().filter(|v| self.is_own(*v)) {
                            Some(v) => {
                                let (old, value) = (self.value(target)?, self.value(value)?);
                                let new = self.binary(*op, old, value, at)?;
                                self.set_value(v, new, &refuse)?;
                            }
                            None => return Err(refuse("writes to memory")),
                        }
                    }
                    ExprKind::Step { target, by, .. } => match target.as_var().filter(|v| self.is_own(*v)) {
                        Some(v) => {
                            let old = self.value(target)?;
                            let by = Value { e: Expr::from(*by), ty: ScalarType::I32 };
                            let new = self.binary(BinaryOp::Add, old, by, at)?;
                            self.set_value(v, new, &refuse)?;
                        }
                        None => return Err(refuse("writes to memory")),
                    },
                    ExprKind::Both(one, other) => self.set_both(one, other, &refuse)?,
                    ExprKind::Cast(Type::Void, inner) if inner.as_var().is_some() => {}
                    _ => return Err(refuse("does more than compute a value")),
                }
                self.run(rest, name, at)
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                let then: Vec<&Stmt> = std::iter::once(&**then).chain(rest.iter().copied()).collect();
                let otherwise: Vec<&Stmt> =
                    otherwise.as_deref().into_iter().chain(rest.iter().copied()).collect();
                if let Some(value) = constant(&condition) {
                    return self.run(if value != 0 { &then } else { &otherwise }, name, at);
                }
                let before = self.bound.clone();
                let then = self.unsurely(|s| s.run(&then, name, at))?;
                self.bound = before;
                let otherwise = self.unsurely(|s| s.run(&otherwise, name, at))?;
                Ok(self.select(condition.e, then, otherwise))
            }
            StmtKind::Return(Some(e)) => self.value(e),
            StmtKind::Return(None) => Err(refuse("does not always return a value")),
            StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                Err(refuse("contains a loop"))
            }
            _ => Err(refuse("does more than compute a value")),
        }
    }

    /// Whether setting a variable changes nothing but a value: it is no place that a pointer or another name leads to.
    fn is_own(&self, var: VarId) -> bool {
        !self.is_global(var) && (!self.cx.file.is_member(var) || self.is_own_part(var))
    }

    pub(super) fn is_global(&self, var: VarId) -> bool {
        matches!(self.cx.file.var(var).kind, VarKind::Global { .. })
    }

    fn set(&mut self, var: VarId, e: &ast::Expr, refuse: &dyn Fn(&str) -> Box<Refusal>) -> Lowered<()> {
        if self.cx.file.var(var).ty.is_pointer() {
            let pointer = self.pointer(e)?;
            self.bound.insert(var, Bound::Pointer(pointer));
            return Ok(());
        }
        let value = self.value(e)?;
        self.set_value(var, value, refuse)
    }

    pub(super) fn set_value(
        &mut self,
        var: VarId,
        value: Value,
        refuse: &dyn Fn(&str) -> Box<Refusal>,
    ) -> Lowered<()> {
        let variable = self.cx.file.var(var);
        match (&variable.ty, variable.kind) {
            (_, VarKind::Global { .. }) => Err(refuse("writes to memory")),
            (Type::Scalar(scalar), _) if !scalar.is_volatile => {
                let value = self.converted(value, scalar);
                self.bound.insert(var, Bound::Value(value));
                Ok(())
            }
            _ => Err(refuse("does more than compute a value")),
        }
    }
}
