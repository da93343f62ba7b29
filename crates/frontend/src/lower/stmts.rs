//! Statements of a nest.

use super::checks::ends_program;
use super::lowerer::{Bound, Lowerer};
use super::searches::leaving;
use super::structures::number;
use super::value::{Value, constant, is_comparison, reads_memory};
use super::views::follows;
use crate::ast::{self, ExprKind, Range, Stmt, StmtKind, Type, VarId, VarKind};
use crate::chased::chase;
use crate::evolution::{Evaluator, Trips};
use crate::flow::of_library;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, commas};
use oxeye_ir::{Access, BinaryOp, Expr, Node, ScalarType, Storage, UnaryOp, Update};

impl Lowerer<'_> {
    pub(crate) fn stmts(&mut self, body: &[Stmt], out: &mut Vec<Node>) -> Lowered<()> {
        body.iter().try_for_each(|s| self.stmt(s, out))
    }

    /// The body of a loop: `if (c) continue; rest` is `if (!c) rest`, and so is `if (c) break; rest` beside the flag it sets.
    pub(crate) fn loop_body(&mut self, body: &[Stmt], out: &mut Vec<Node>) -> Lowered<()> {
        let is_left = self.is_left(body);
        let leaves = |s: &Stmt| is_left && leaving(s).is_some();
        let Some(at) = body.iter().position(|s| skipping(s).is_some() || leaves(s)) else {
            return self.stmts(body, out);
        };
        let (before, after) = body.split_at(at);
        self.stmts(before, out)?;
        let Some((first, rest)) = after.split_first() else { return Ok(()) };
        if let Some(way) = leaving(first).filter(|_| is_left) {
            return self.left_body(way, rest, first.range, out);
        }
        let Some((condition, done_before)) = skipping(first) else { return Ok(()) };
        let condition = self.condition(condition, out)?;
        if let Some(value) = constant(&condition) {
            return if value != 0 { self.stmts(done_before, out) } else { self.loop_body(rest, out) };
        }
        let mark = self.facts.len();
        let (mut skipped, mut kept) = (Vec::new(), Vec::new());
        let bound = self.bound.clone();
        self.facts.push_condition(&condition.e, true);
        self.stmts(done_before, &mut skipped)?;
        self.facts.truncate(mark);
        self.bound = bound;
        self.facts.push_condition(&condition.e, false);
        self.loop_body(rest, &mut kept)?;
        self.facts.truncate(mark);
        // Steps and conditions behind the body come after either way.
        after.iter().for_each(|s| self.forget(&Scan::of(self.cx.file, s)));
        match (skipped.is_empty(), kept.is_empty()) {
            (true, true) => {}
            (true, false) => {
                let condition = self.negated(condition);
                out.push(Node::If { condition, then: kept, otherwise: Vec::new() });
            }
            (false, _) => out.push(Node::If { condition: condition.e, then: skipped, otherwise: kept }),
        }
        Ok(())
    }

    /// `!condition`, with comparisons of integers inverted.
    pub(super) fn negated(&mut self, condition: Value) -> Expr {
        if let Expr::Binary(op, l, r) = &condition.e {
            let op = match op {
                BinaryOp::Lt => Some(BinaryOp::Ge),
                BinaryOp::Le => Some(BinaryOp::Gt),
                BinaryOp::Gt => Some(BinaryOp::Le),
                BinaryOp::Ge => Some(BinaryOp::Lt),
                BinaryOp::Eq => Some(BinaryOp::Ne),
                BinaryOp::Ne => Some(BinaryOp::Eq),
                _ => None,
            };
            // Comparisons with NaN are false both ways.
            let is_ordered = !self.natural(l).is_float() && !self.natural(r).is_float();
            if let (Some(op), true) = (op, is_ordered) {
                return Expr::Binary(op, l.clone(), r.clone());
            }
        }
        self.unary(UnaryOp::Not, condition).e
    }

    pub(crate) fn stmt(&mut self, s: &Stmt, out: &mut Vec<Node>) -> Lowered<()> {
        let at = s.range;
        let leaves = |what: &str| {
            Refusal::new(
                at,
                format!("{what} leaves the loop early, so how often it runs is not known beforehand"),
            )
            .help("if it does more than look, look in a loop of its own, and do the rest in another one up to there")
        };
        if let Some(step) = self.as_wrapped(s) {
            return self.effect(&step, out);
        }
        if let Some(open) = self.open(s) {
            return self.open_loop(s, &open, out);
        }
        match &s.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Expr(e) => self.effect(e, out),
            StmtKind::Declare(declared) => declared.iter().try_for_each(|d| {
                let whole = d.init.as_ref().map(|e| self.lone_call(e).unwrap_or(e));
                self.hoisting(whole, out, |l, out| l.declare(d, at, out))
            }),
            StmtKind::Block(body) => self.stmts(body, out),
            StmtKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise.as_deref(), out)
            }
            StmtKind::For(f) => self.for_loop(s, f, out),
            StmtKind::Break => Err(leaves("`break`")),
            StmtKind::Return(_) => Err(leaves("`return`")),
            StmtKind::Goto(_) => Err(leaves("`goto`")),
            StmtKind::Continue => Err(Refusal::new(at, "`continue` skips part of the loop")
                .help("put the rest of the loop into an `if` instead")),
            StmtKind::Label(..) => Err(Refusal::new(at, "a label: the loop may be entered by a jump")),
            StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                let word = if matches!(s.kind, StmtKind::While { .. }) { "while" } else { "do" };
                let head = Range { start: at.start, end: at.start + word.len() };
                let since = self.since(s).unwrap_or_default();
                let message = format!("a `{word}` loop: how often it runs is not known beforehand{since}");
                Err(chase(self.cx.file, s).unwrap_or_else(|| {
                    Refusal::new(head, message).help("write it as a `for` loop if it counts")
                }))
            }
            StmtKind::Unknown(what, _) => Err(Refusal::new(at, format!("{what} cannot be analysed"))),
        }
    }

    /// What stops the evaluation of how often a loop runs, if it is a variable.
    fn since(&self, s: &Stmt) -> Option<String> {
        let (_, found) = Evaluator::of(self.cx.file, &s.as_for()?)?;
        let Trips::Unknown(stop) = found.trips else { return None };
        let line = self.line(stop.at).map(|line| format!(" (line {line})")).unwrap_or_default();
        stop.why.contains('`').then(|| format!(", since {}{line}", stop.why))
    }

    fn line(&self, at: Range) -> Option<u32> {
        let (is_own, line) = self.cx.preprocessed.origin(at.start);
        is_own.then_some(line)
    }

    pub(super) fn push(
        &mut self,
        target: Access,
        update: Update,
        value: Expr,
        at: Range,
        out: &mut Vec<Node>,
    ) {
        let (id, line) = (self.fresh_stmt(), self.line(at));
        out.push(Node::Stmt(oxeye_ir::Stmt { id, target, update, value, line }));
    }

    /// An expression evaluated for its effects.
    pub(crate) fn effect(&mut self, e: &ast::Expr, out: &mut Vec<Node>) -> Lowered<()> {
        let at = e.range;
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                if let ExprKind::Assign(_, inner, _) = &value.kind {
                    self.effect(value, out)?;
                    return self.assign(*op, target, inner, at, out);
                }
                let whole = target.as_var().filter(|v| op.is_none() || !self.is_global(*v)).map(|_| &**value);
                let whole = whole.filter(|e| matches!(e.uncast().kind, ExprKind::Call(..)));
                let whole = whole.or_else(|| self.lone_call(e));
                self.hoisting(whole, out, |l, out| l.assign(*op, target, value, at, out))
            }
            ExprKind::Step { target, by, .. } => {
                let by_one = ast::Expr { kind: ExprKind::Int(*by, ScalarType::I32), range: at };
                if let Some(v) = target.as_var().filter(|v| self.cx.file.var(*v).ty.is_pointer()) {
                    return self.hoisting(None, out, |l, out| {
                        l.assign_pointer(Some(BinaryOp::Add), v, &by_one, at, out)
                    });
                }
                let (access, scalar) = self.target(target)?;
                if scalar.is_bool {
                    return Err(Refusal::new(at, "a `_Bool` is counted up or down").help("use `int`"));
                }
                if let Some(v) = target.as_var() {
                    let new = match self.bound.get(&v).cloned() {
                        Some(Bound::Value(old)) => {
                            let by = self.value(&by_one)?;
                            let new = self.binary(BinaryOp::Add, old, by, at)?;
                            Some(self.converted(new, &scalar))
                        }
                        _ => None,
                    };
                    self.note_value(v, new);
                }
                let update = if *by > 0 { Update::Add } else { Update::Sub };
                self.push(access, update, Expr::from(1), at, out);
                Ok(())
            }
            ExprKind::Both(one, other) => self.both(one, other, at, out),
            ExprKind::Comma(..) => commas(e).into_iter().try_for_each(|e| self.effect(e, out)),
            ExprKind::Cast(Type::Void, inner) => self.effect(inner, out),
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(name)
                    if let Some(function) =
                        of_library(name).filter(|_| self.cx.file.function(name).is_none()) =>
                {
                    self.hoisting(None, out, |l, out| l.memory(function, args, at, out))
                }
                ExprKind::Name(name) => match self.call(callee, args, at) {
                    Ok(_) => Ok(()),
                    Err(refusal) if self.cx.file.function(name).is_none() => Err(refusal),
                    Err(_) => self.in_place(name, args, None, at, out),
                },
                _ => Err(Refusal::new(at, "a call through a pointer").help("call the function by its name")),
            },
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Var(_) | ExprKind::SizeofType(_) => Ok(()),
            ExprKind::SizeofExpr(inner) if self.cx.file.is_unevaluated(inner) => Ok(()),
            ExprKind::Unknown(what, inside) => Err(Refusal::of_unknown(at, what, inside)),
            // An unused value; lowering it shows that it has no effects.
            _ => self.value(e).map(|_| ()),
        }
    }

    /// The target of an assignment.
    fn target(&mut self, e: &ast::Expr) -> Lowered<(Access, ast::Scalar)> {
        if let ExprKind::Var(v) = e.kind {
            let name = self.name(v);
            if self.loops.iter().any(|(counter, _)| *counter == Some(v)) {
                let message = format!("`{name}` counts a loop and is also assigned inside it");
                return Err(Refusal::new(e.range, message).help("use another variable for one of the two"));
            }
            if self.cx.file.var(v).ty.is_pointer() {
                return Err(Refusal::new(
                    e.range,
                    format!("the pointer `{name}` is changed inside the loop"),
                )
                .help(format!("leave `{name}` as it is and subscript it")));
            }
        }
        self.access(e)
    }

    fn assign(
        &mut self,
        op: Option<BinaryOp>,
        target: &ast::Expr,
        value: &ast::Expr,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        if let Some(v) = target.as_var().filter(|v| self.cx.file.var(*v).ty.is_pointer()) {
            return self.assign_pointer(op, v, value, at, out);
        }
        if let ExprKind::Select(condition, then, otherwise) = &value.kind
            && self.tests_pointer(condition)
            && self.unsurely(|s| Ok::<_, Box<Refusal>>(s.value(then)?.ty == s.value(otherwise)?.ty))?
        {
            // What one branch reads may not exist otherwise.
            let set = |value: &ast::Expr| {
                let kind = ExprKind::Assign(op, Box::new(target.clone()), Box::new(value.clone()));
                Stmt { kind: StmtKind::Expr(ast::Expr { kind, range: at }), range: at }
            };
            return self.branch(condition, &set(then), Some(&set(otherwise)), out);
        }
        let (access, scalar) = self.target(target)?;
        let value = self.value(value)?;
        let value = if scalar.ty.is_float() { self.relaxed(value) } else { value };
        if let Some(v) = target.as_var() {
            let new = match (op, self.bound.get(&v).cloned()) {
                (None, _) => Some(value.clone()),
                (Some(op), Some(Bound::Value(old))) => self.binary(op, old, value.clone(), at).ok(),
                (Some(_), _) => None,
            };
            let new = match new.map(|new| self.converted(new, &scalar)) {
                Some(new) if self.is_tame(v) => Some(self.ahead(new, at)?),
                new => new,
            };
            self.note_value(v, new);
        }
        let update = match op {
            // What is stored is whether the result is not zero.
            _ if scalar.is_bool => {
                let old = Value { e: Expr::Read(access.clone()), ty: scalar.ty };
                let value = match op {
                    Some(op) => self.binary(op, old, value, at)?,
                    None => value,
                };
                let value = self.converted(value, &scalar);
                self.push(access, Update::Assign, value.e, at, out);
                return Ok(());
            }
            None => None,
            Some(BinaryOp::Add) => Some(Update::Add),
            Some(BinaryOp::Sub) => Some(Update::Sub),
            Some(BinaryOp::Mul) => Some(Update::Mul),
            Some(BinaryOp::Div) => Some(Update::Div),
            Some(op) => {
                let old = Value { e: Expr::Read(access.clone()), ty: scalar.ty };
                let value = self.binary(op, old, value, at)?;
                self.push(access, Update::Assign, value.e, at, out);
                return Ok(());
            }
        };
        let (update, value) = match update {
            Some(update) => (update, value.e),
            None => as_update(&access, value.e, scalar.ty),
        };
        self.push(access, update, value, at, out);
        Ok(())
    }

    pub(super) fn declare(&mut self, d: &ast::Declared, at: Range, out: &mut Vec<Node>) -> Lowered<()> {
        let variable = self.cx.file.var(d.var);
        let name = &variable.name;
        if let VarKind::Local { is_static: true } = variable.kind {
            return self.declare_static(d, at);
        }
        if let Some(length) = d.lengths.iter().find(|length| ast::has_effects(length)) {
            return Err(Refusal::new(
                length.range,
                format!("the length of `{name}` is computed by an assignment"),
            )
            .help("give the assignment a statement of its own"));
        }
        if matches!(variable.ty, Type::Pointer { .. }) {
            // A pointer is another name for the place it points to.
            self.bound.remove(&d.var);
            return match &d.init {
                Some(init) => self.assign_pointer(None, d.var, init, at, out),
                None => Ok(()),
            };
        }
        let is_of_vectors = variable.ty.innermost().vector_name().is_some();
        if d.init.is_none() && (is_of_vectors || variable.ty.is_of_structures()) {
            return self.declare_structures(d.var, at);
        }
        let storage = self.storage_here();
        let init = match &d.init {
            Some(ast::Expr { kind: ExprKind::Unknown(what, _), range }) => {
                return Err(Refusal::new(*range, format!("`{name}` is initialised by {what}"))
                    .help("assign its elements one by one"));
            }
            Some(ast::Expr { kind: ExprKind::List(values), .. }) => {
                let array = self.new_array(d.var, storage, at)?;
                self.state.arrays.insert(d.var, array);
                return self.initial_values((array, &variable.ty), values, at, out);
            }
            Some(ast::Expr { kind: ExprKind::Select(condition, ..), .. })
                if self.tests_pointer(condition) && matches!(variable.ty, Type::Scalar(_)) =>
            {
                None
            }
            Some(init) => Some(self.value(init)?),
            None => None,
        };
        let later = d.init.as_ref().filter(|_| init.is_none());
        if let (Some(value), Type::Scalar(scalar)) = (&init, &variable.ty) {
            // Between loops, a variable would keep them apart.
            let is_literal = matches!(value.e, Expr::Float { .. }) && self.loops.is_empty();
            let is_known = (!scalar.ty.is_float() || is_literal) && !scalar.is_volatile;
            let is_set_once = !self.scan.written.contains(&d.var) && !self.scan.iterators.contains(&d.var);
            if is_known && is_set_once && self.is_stable(&value.e) {
                self.mark_read(value, at, out);
                let value = self.converted(value.clone(), scalar);
                self.bound.insert(d.var, Bound::Value(value));
                return Ok(());
            }
        }
        let array = self.new_array(d.var, storage, at)?;
        self.state.arrays.insert(d.var, array);
        if let Some(later) = later {
            let name = ast::Expr { kind: ExprKind::Var(d.var), range: later.range };
            return self.assign(None, &name, later, at, out);
        }
        if let Some(value) = init {
            if !matches!(variable.ty, Type::Scalar(_)) {
                return Err(Refusal::new(at, format!("the array `{name}` has an initial value")));
            }
            let value =
                if self.state.program.array(array).element.is_float() { self.relaxed(value) } else { value };
            let (value, known) = match &variable.ty {
                Type::Scalar(scalar) if scalar.ty.is_float() => (value, None),
                Type::Scalar(scalar) => {
                    let known = self.converted(value.clone(), scalar);
                    (if scalar.is_bool { known.clone() } else { value }, Some(known))
                }
                _ => (value, None),
            };
            self.push(Access::scalar(array), Update::Assign, value.e, at, out);
            self.note_value(d.var, known);
        }
        Ok(())
    }

    /// Marks where a value is read that stands in other places, not all of which may be reached.
    fn mark_read(&mut self, value: &Value, at: Range, out: &mut Vec<Node>) {
        if follows(&self.state.program, &self.state.binding, &value.e) {
            let mark = self.own_scalar("read", &number(value.ty), self.storage_here());
            self.outcome.read_marks.insert(mark.array);
            self.push(mark, Update::Assign, value.e.clone(), at, out);
        }
    }

    /// Whether a condition tests if a pointer is null.
    fn tests_pointer(&self, condition: &ast::Expr) -> bool {
        let is_pointer = |e: &ast::Expr| self.type_of(e).is_some_and(|ty| ty.is_pointer());
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => is_pointer(inner),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, l, r) => is_pointer(l) || is_pointer(r),
            _ => is_pointer(condition),
        }
    }

    /// Whether the nest does not change what the expression reads.
    pub(super) fn is_stable(&self, e: &Expr) -> bool {
        if !reads_memory(e) {
            return true;
        }
        let element = |var: VarId| self.cx.file.var(var).ty.innermost().as_scalar().map(|s| s.ty);
        e.reads().iter().all(|access| {
            let ty = self.state.program.array(access.array).element;
            let is_written = match self.state.vars.get(&access.array) {
                Some(var) => {
                    self.scan.written.contains(var)
                        || self.scan.iterators.contains(var)
                        || self.scan.declared.contains(var)
                        || self.stores(&self.scan, *var)
                }
                None => true,
            };
            // Another pointer of the same type may point to the same elements.
            let may_be_hit = self.scan.stored.iter().any(|v| {
                element(*v).is_none_or(|t| t.bytes() == ty.bytes() && t.is_float() == ty.is_float())
            });
            let has_chars = self.scan.stored.iter().any(|v| element(*v).is_some_and(|t| t.bytes() == 1));
            !is_written && !may_be_hit && !has_chars
        })
    }

    /// Whether the scanned code writes to elements that a variable leads to, by that name or by one that stands for it
    /// here.
    fn stores(&self, scan: &Scan, var: VarId) -> bool {
        let leads_there = |v: &VarId| matches!(self.bound.get(v), Some(Bound::Pointer(p)) if p.base == var);
        scan.stored.contains(&var) || scan.stored.iter().any(leads_there)
    }

    /// Whether the loop with this scan does not change what the expression reads.
    pub(crate) fn is_untouched(&self, e: &Expr, inside: &Scan) -> Option<String> {
        e.reads().iter().find_map(|access| {
            let var = self.state.vars.get(&access.array)?;
            let is_touched = inside.written.contains(var)
                || inside.iterators.contains(var)
                || inside.declared.contains(var)
                || self.stores(inside, *var);
            is_touched.then(|| self.name(*var).to_owned())
        })
    }

    fn branch(
        &mut self,
        condition: &ast::Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let at = condition.range;
        let condition = self.condition(condition, out)?;
        let condition = self.ahead(condition, at)?;
        if let Some(value) = constant(&condition) {
            return match (value != 0, otherwise) {
                (true, _) => self.stmt(then, out),
                (false, Some(otherwise)) => self.stmt(otherwise, out),
                (false, None) => Ok(()),
            };
        }
        let file = self.cx.file;
        let fails = [Some(then), otherwise].map(|s| s.is_some_and(|s| ends_program(file, s)));
        match (fails, otherwise) {
            ([true, _], _)
                if !self.is_always(&condition.e, false) && !self.marked(&condition.e, true, at, out) =>
            {
                return Err(self.may_end_program(at));
            }
            ([true, _], Some(otherwise)) => return self.stmt(otherwise, out),
            ([true, _], None) => return Ok(()),
            ([_, true], _)
                if !self.is_always(&condition.e, true) && !self.marked(&condition.e, false, at, out) =>
            {
                return Err(self.may_end_program(at));
            }
            ([_, true], _) => return self.stmt(then, out),
            _ => {}
        }
        let mark = self.facts.len();
        let before = self.bound.clone();
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        self.facts.push_condition(&condition.e, true);
        self.stmt(then, &mut yes)?;
        self.facts.truncate(mark);
        let behind_then = std::mem::replace(&mut self.bound, before.clone());
        if let Some(otherwise) = otherwise {
            self.facts.push_condition(&condition.e, false);
            self.stmt(otherwise, &mut no)?;
            self.facts.truncate(mark);
        }
        let behind_else = std::mem::replace(&mut self.bound, before);
        for branch in std::iter::once(then).chain(otherwise) {
            self.forget(&Scan::of(self.cx.file, branch));
        }
        self.bound.extend(behind_then.into_iter().filter(|(var, bound)| bound.is_same(behind_else.get(var))));
        if yes.is_empty() && no.is_empty() {
            return Ok(());
        }
        if let ([Node::Stmt(only)], true) = (yes.as_slice(), no.is_empty())
            && let Some(node) = self.extremum(&condition.e, only)
        {
            out.push(node);
            return Ok(());
        }
        let (condition, yes, no) = match yes.is_empty() {
            true => (self.negated(condition), no, yes),
            false => (condition.e, yes, no),
        };
        out.push(Node::If { condition, then: yes, otherwise: no });
        Ok(())
    }

    /// `if (value > x) x = value;` as an update of `x`, where that is equivalent.
    fn extremum(&self, condition: &Expr, only: &oxeye_ir::Stmt) -> Option<Node> {
        if only.update != Update::Assign {
            return None;
        }
        let element = self.state.program.array(only.target.array).element;
        let Expr::Binary(op, l, r) = condition else { return None };
        if !is_comparison(*op) || self.natural(&only.value) != element {
            return None;
        }
        let old = Expr::Read(only.target.clone());
        let is_old_first = **l == old && **r == only.value;
        let is_old_second = **r == old && **l == only.value;
        if !is_old_first && !is_old_second {
            return None;
        }
        // Whether the value replaces greater ones.
        let (is_less, is_strict) = match op {
            BinaryOp::Lt => (!is_old_first, true),
            BinaryOp::Le => (!is_old_first, false),
            BinaryOp::Gt => (is_old_first, true),
            BinaryOp::Ge => (is_old_first, false),
            _ => return None,
        };
        let mut stmt = only.clone();
        if !element.is_float() {
            stmt.update = if is_less { Update::Min } else { Update::Max };
            return Some(Node::Stmt(stmt));
        }
        let is_scalar = only.target.indices.is_empty();
        let storage = self.state.program.array(only.target.array).storage;
        let is_own = matches!(storage, Storage::Local | Storage::Body(_) | Storage::Temp(_));
        if !(element.is_float() && is_strict && is_scalar && is_own) {
            return None;
        }
        let op = if is_less { BinaryOp::Min } else { BinaryOp::Max };
        stmt.value = Expr::Binary(op, Box::new(only.value.clone()), Box::new(old));
        Some(Node::Stmt(stmt))
    }
}

/// The condition of an `if` that ends in `continue`, and the statements before that.
fn skipping(s: &Stmt) -> Option<(&ast::Expr, &[Stmt])> {
    let StmtKind::If { condition, then, otherwise: None } = &s.kind else { return None };
    match &then.kind {
        StmtKind::Continue => Some((condition, &[])),
        StmtKind::Block(body) => match body.split_last() {
            Some((Stmt { kind: StmtKind::Continue, .. }, before)) => Some((condition, before)),
            _ => None,
        },
        _ => None,
    }
}

/// `x = x + e` and the like as updates.
pub(crate) fn as_update(access: &Access, value: Expr, element: ScalarType) -> (Update, Expr) {
    let Expr::Binary(op, l, r) = &value else { return (Update::Assign, value) };
    let is_old = |e: &Expr| matches!(e, Expr::Read(a) if a == access);
    let update = match op {
        BinaryOp::Add => Update::Add,
        BinaryOp::Sub => Update::Sub,
        BinaryOp::Mul => Update::Mul,
        BinaryOp::Div => Update::Div,
        BinaryOp::Min => Update::Min,
        BinaryOp::Max => Update::Max,
        _ => return (Update::Assign, value),
    };
    if is_old(l) {
        return (update, (**r).clone());
    }
    let commutes = match update {
        Update::Add | Update::Mul => true,
        Update::Min | Update::Max => !element.is_float(),
        _ => false,
    };
    if commutes && is_old(r) { (update, (**l).clone()) } else { (Update::Assign, value) }
}
