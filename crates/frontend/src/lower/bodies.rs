//! Inlines functions of the file in place of calls, statement by statement.

use super::exits::Returning;
use super::inline::MAX_INLINE_DEPTH;
use super::lowerer::{Bound, Lowerer};
use super::value::{Value, constant};
use crate::ast::{self, Range, Scalar, Stmt, StmtKind, Type, VarId};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Expr, Node, Update};
use std::collections::HashMap;

/// Most inlined statements in one nest.
const INLINED_BUDGET: usize = 1024;

/// The target of a function's return value, and its type.
#[derive(Clone, Copy)]
pub(super) struct Returned<'r> {
    access: &'r Access,
    scalar: &'r Scalar,
}

fn no_value(name: &str, at: Range) -> Box<Refusal> {
    Refusal::new(at, format!("`{name}` is called, which does not always return a value"))
        .help("let it return a value in every case")
}

impl Lowerer<'_> {
    /// A call for its effects: inlines the function's body. Its return value goes to `result`.
    pub(super) fn in_place(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        result: Option<Returned<'_>>,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let refuse = |why: &str| {
            Refusal::new(at, format!("`{name}` is called, {why}"))
                .help("write its body in place of the call; the loops inside it are tuned by themselves")
        };
        let Some((position, function)) = self.cx.file.function(name) else {
            return Err(self.unknown(name, at));
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
        if function.params.len() != args.len() {
            return Err(refuse("with the wrong number of arguments"));
        }
        if let Err(refusal) = self.cx.check_pragmas(function, &function.body, false) {
            return Err(refuse(&format!("in which {}", refusal.message)));
        }
        if self.cx.is_threaded && self.cx.shares_outer_team(&function.body) {
            return Err(refuse("whose loops a team of threads shares"));
        }
        let mut n_stmts = 0;
        function.body.walk(&mut |_| n_stmts += 1);
        self.spend(n_stmts, name, at)?;
        if self.scan.is_cut_short {
            return Err(refuse("among too many calls to tell what all of them write"));
        }
        let frame = self.frame(function, args, at, out)?;
        let outer = std::mem::replace(&mut self.bound, frame);
        self.inlining.inlined_depth += 1;
        self.inlining.within.push(position);
        let result = self.body(&[&function.body], name, result, at, out);
        self.inlining.within.pop();
        self.inlining.inlined_depth -= 1;
        self.bound = outer;
        result.map_err(|mut refusal| {
            if !at.contains(refusal.range) {
                refusal.range = at;
                refusal.message = format!("`{name}` is called, in which {}", refusal.message);
            }
            refusal
        })?;
        self.outcome.inlined.insert(position);
        Ok(())
    }

    fn spend(&mut self, n_stmts: usize, name: &str, at: Range) -> Lowered<()> {
        self.inlining.n_inlined += n_stmts;
        if self.inlining.n_inlined <= INLINED_BUDGET {
            return Ok(());
        }
        Err(Refusal::new(at, format!("`{name}` is called, which is too long to inline"))
            .help("the loops inside it are tuned by themselves"))
    }

    /// Statements of a function, some of which may return early: what follows an `if` that returns becomes its other
    /// branch.
    fn body(
        &mut self,
        statements: &[&Stmt],
        name: &str,
        result: Option<Returned<'_>>,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let Some(k) = statements.iter().position(|s| may_return(s)) else {
            statements.iter().try_for_each(|s| self.stmt(s, out))?;
            return match result {
                None => Ok(()),
                Some(_) => Err(no_value(name, at)),
            };
        };
        let (before, rest) = (&statements[..k], &statements[k + 1..]);
        before.iter().try_for_each(|s| self.stmt(s, out))?;
        let returning = statements[k];
        match &returning.kind {
            StmtKind::Block(inside) => {
                let all: Vec<&Stmt> = inside.iter().chain(rest.iter().copied()).collect();
                self.body(&all, name, result, at, out)
            }
            StmtKind::Return(value) => match (value, result) {
                (None, None) => Ok(()),
                (Some(value), None) => self.effect(value, out),
                (Some(value), Some(Returned { access, scalar })) => {
                    self.hoisting(self.lone_call(value).or(Some(value)), out, |l, out| {
                        let value = l.value(value)?;
                        let value = l.converted(value, scalar);
                        let value = if scalar.ty.is_float() { l.relaxed(value) } else { value };
                        l.push(access.clone(), Update::Assign, value.e, returning.range, out);
                        Ok(())
                    })
                }
                (None, Some(_)) => Err(no_value(name, at)),
            },
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.condition(condition, out)?;
                let then: Vec<&Stmt> = match always_returns(then) {
                    true => vec![then],
                    false => std::iter::once(&**then).chain(rest.iter().copied()).collect(),
                };
                let otherwise: Vec<&Stmt> =
                    otherwise.as_deref().into_iter().chain(rest.iter().copied()).collect();
                if let Some(value) = constant(&condition) {
                    return self.body(if value != 0 { &then } else { &otherwise }, name, result, at, out);
                }
                if then.len() > 1 {
                    let mut n_twice = 0;
                    rest.iter().for_each(|s| s.walk(&mut |_| n_twice += 1));
                    self.spend(n_twice, name, at)?;
                }
                let mark = self.facts.len();
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.facts.push_condition(&condition.e, true);
                let before = self.bound.clone();
                self.body(&then, name, result, at, &mut yes)?;
                self.facts.truncate(mark);
                self.bound = before;
                self.facts.push_condition(&condition.e, false);
                self.body(&otherwise, name, result, at, &mut no)?;
                self.facts.truncate(mark);
                match (yes.is_empty(), no.is_empty()) {
                    (true, true) => {}
                    (true, false) => {
                        let condition = self.negated(condition);
                        out.push(Node::If { condition, then: no, otherwise: Vec::new() });
                    }
                    _ => out.push(Node::If { condition: condition.e, then: yes, otherwise: no }),
                }
                Ok(())
            }
            StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                let n_loops = self.loops.len();
                let to = result.map(|r| (r.access.clone(), r.scalar.clone()));
                self.exits.returning.push(Some(Returning { n_loops, result: to, has_not: None }));
                self.stmt(returning, out)?;
                let left = self.exits.returning.pop().flatten().and_then(|r| r.has_not);
                let Some(condition) = left else {
                    let message = format!("`{name}` is called, which returns from inside loops");
                    return Err(Refusal::new(at, message).help("the loops inside it are tuned by themselves"));
                };
                let mut then = Vec::new();
                self.body(rest, name, result, at, &mut then)?;
                if !then.is_empty() {
                    out.push(Node::If { condition, then, otherwise: Vec::new() });
                }
                Ok(())
            }
            _ => {
                let message = format!("`{name}` is called, which returns from inside a loop");
                Err(Refusal::new(at, message).help("the loops inside it are tuned by themselves"))
            }
        }
    }

    /// Reads a statement whose calls are done before it, in order. `whole` is the expression whose value the statement
    /// needs, if that is all it does: then a call there may write to memory.
    pub(super) fn hoisting<T>(
        &mut self,
        whole: Option<&ast::Expr>,
        out: &mut Vec<Node>,
        read: impl FnOnce(&mut Self, &mut Vec<Node>) -> Lowered<T>,
    ) -> Lowered<T> {
        let outer = self.statement.hoisted.replace(Vec::new());
        let outer_whole = std::mem::replace(&mut self.statement.whole_value, whole.map(|e| e.uncast().range));
        let mut own = Vec::new();
        let result = read(self, &mut own);
        self.statement.whole_value = outer_whole;
        out.extend(std::mem::replace(&mut self.statement.hoisted, outer).unwrap_or_default());
        out.append(&mut own);
        result
    }

    /// Reads something that may not be evaluated at all: nothing can be done before it.
    pub(super) fn unsurely<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.statement.hoisted.take();
        let result = read(self);
        self.statement.hoisted = outer;
        result
    }

    /// The value of a call, whose function body is inlined before the current statement.
    pub(super) fn hoisted_call(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        at: Range,
        why_not: Box<Refusal>,
    ) -> Lowered<Value> {
        let Some((_, function)) = self.cx.file.function(name) else { return Err(why_not) };
        let (Type::Scalar(scalar), true) = (&function.returns, self.statement.hoisted.is_some()) else {
            return Err(why_not);
        };
        if self.statement.whole_value != Some(at) && !self.cx.file.only_computes(function) {
            let message = format!("`{name}` is called within an expression, and writes to memory");
            return Err(Refusal::new(at, message).help("give the call a statement of its own"));
        }
        if scalar.is_volatile {
            return Err(why_not);
        }
        let access = self.own_scalar(name, scalar, self.storage_here());
        let mut nodes = self.statement.hoisted.take().unwrap_or_default();
        let result = Returned { access: &access, scalar };
        let done = self.in_place(name, args, Some(result), at, &mut nodes);
        self.statement.hoisted = Some(nodes);
        done?;
        Ok(Value { e: Expr::Read(access), ty: scalar.ty })
    }

    /// The meaning of a function's parameters in a call. Parameters that are only names for their arguments are bound
    /// to them; others become variables, set in `out`.
    fn frame(
        &mut self,
        function: &ast::Function,
        args: &[ast::Expr],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<HashMap<VarId, Bound>> {
        let file = self.cx.file;
        let (mut frame, mut pointers) = (HashMap::new(), Vec::new());
        for (param, arg) in function.params.iter().zip(args) {
            match &file.var(*param).ty {
                Type::Scalar(scalar) if !scalar.is_volatile => {
                    let value = self.hoisting(None, out, |l, _| l.value(arg))?;
                    let value = self.converted(value, scalar);
                    if self.is_just_a_name(*param, &value, scalar) {
                        frame.insert(*param, Bound::Value(value));
                    } else {
                        self.set_variable(*param, value, at, out)?;
                    }
                }
                ty @ (Type::Pointer { .. } | Type::Array { .. }) => pointers.push((*param, arg, ty)),
                Type::Struct(_) => {
                    let pointer = self.structure_by_value(arg, function, args)?;
                    let pointer = self.settled(pointer, at, out)?;
                    frame.insert(*param, Bound::Pointer(pointer));
                }
                _ => {
                    let message =
                        format!("`{}` takes arguments other than numbers and arrays", function.name);
                    return Err(Refusal::new(at, message));
                }
            }
        }
        for (param, arg, ty) in pointers {
            let pointer = self.pointer_as(arg, ty, &frame)?;
            let pointer = self.settled(pointer, at, out)?;
            frame.insert(param, Bound::Pointer(pointer.handed_over()));
        }
        Ok(frame)
    }

    /// Whether a parameter always has the value of its argument, and repeating that costs nothing.
    fn is_just_a_name(&self, param: VarId, value: &Value, scalar: &Scalar) -> bool {
        let mut is_plain = !scalar.is_bool;
        value.e.visit(&mut |e| is_plain &= !matches!(e, Expr::Call { .. } | Expr::Select { .. }));
        is_plain && !self.scan.written.contains(&param) && self.is_stable(&value.e)
    }

    /// A separate variable for a parameter.
    fn set_variable(&mut self, param: VarId, value: Value, at: Range, out: &mut Vec<Node>) -> Lowered<()> {
        let array = self.new_array(param, self.storage_here(), at)?;
        self.state.arrays.insert(param, array);
        let value =
            if self.state.program.array(array).element.is_float() { self.relaxed(value) } else { value };
        self.push(Access::scalar(array), Update::Assign, value.e, at, out);
        Ok(())
    }
}

/// Whether there is a `return` in a statement.
fn may_return(s: &Stmt) -> bool {
    let mut found = false;
    s.walk(&mut |s| found |= matches!(s.kind, StmtKind::Return(_)));
    found
}

/// Whether the code after a statement is never reached.
fn always_returns(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(body) => body.iter().any(always_returns),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            always_returns(then) && always_returns(otherwise)
        }
        _ => false,
    }
}
