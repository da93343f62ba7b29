//! Loops that `break` or `return` leaves: `if (a[i] == x) break;` is a flag that is set, and iterations that do nothing from
//! then on.

use super::exits::{Leaving, Returning};
use super::lowerer::Lowerer;
use super::value::constant;
use crate::ast::{Expr as Source, Range, Scalar, Stmt, StmtKind, VarId};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Expr, LoopId, Node, ScalarType, Storage, Update};

/// How a loop is left.
#[derive(Clone, Copy)]
pub(super) enum Exit<'s> {
    Break,
    Return(Option<&'s Source>),
}

fn exit(s: &Stmt) -> Option<Exit<'_>> {
    match &s.kind {
        StmtKind::Break => Some(Exit::Break),
        StmtKind::Return(value) => Some(Exit::Return(value.as_ref())),
        _ => None,
    }
}

/// The condition of a statement that leaves the loop around it at its end, if it has one, and what it does before that.
pub(super) fn leaving(s: &Stmt) -> Option<(Option<&Source>, &[Stmt], Exit<'_>)> {
    if let Some(exit) = exit(s) {
        return Some((None, &[], exit));
    }
    let StmtKind::If { condition, then, otherwise: None } = &s.kind else { return None };
    match &then.kind {
        StmtKind::Block(body) => {
            let (last, before) = body.split_last()?;
            Some((Some(condition), before, exit(last)?))
        }
        _ => Some((Some(condition), &[], exit(then)?)),
    }
}

/// Whether `break` in one of these statements leaves the loop around them, or a `return` that may.
pub(super) fn leave_loop(body: &[Stmt], may_return: bool) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Break => true,
        StmtKind::Return(_) => may_return,
        StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::Unknown(..) => false,
        StmtKind::Block(body) => leave_loop(body, may_return),
        _ => s.children().into_iter().any(|s| leave_loop(std::slice::from_ref(s), may_return)),
    })
}

fn leaves(at: Range) -> Box<Refusal> {
    Refusal::new(at, "`break` leaves the loop early, so how often it runs is not known beforehand").help(
        "if it does more than look, look in a loop of its own, and do the rest in another one up to there",
    )
}

impl Lowerer<'_> {
    /// A flag, not yet set, for the innermost loop, which `break` leaves. It belongs to the loop around that one. `is_plain` if
    /// nothing but the loop's body and its variable would have to know of it, `is_set_at_the_end` if it is set where the loop's
    /// condition fails, too.
    pub(super) fn unset_flag(
        &mut self,
        (is_plain, is_set_at_the_end): (bool, bool),
        body: &[Stmt],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<Leaving> {
        let around = self.loops.iter().rev().nth(1).filter(|_| is_plain).copied();
        let Some((_, owner)) = around else {
            let mut place = None;
            body.iter().for_each(|s| {
                s.walk(&mut |s| place = place.or(exit(s).map(|_| s.range)));
            });
            return Err(leaves(place.unwrap_or(at)));
        };
        let may_return = self.returning_here().is_some();
        let scalar = Scalar { ty: ScalarType::I32, spelling: None, is_volatile: false, is_bool: false };
        let mut unset = |name| {
            let flag = self.own_scalar(name, &scalar, Storage::Body(owner));
            self.push(flag.clone(), Update::Assign, Expr::from(0), at, out);
            flag
        };
        let flag = unset("left");
        let has_other_ends = is_set_at_the_end || leave_loop(body, false);
        let returned = (may_return && has_other_ends).then(|| unset("returned"));
        Ok(Leaving { flag, returned, kept: None })
    }

    /// The variable that counts the loop is read behind it.
    pub(super) fn keep_counter(
        &mut self,
        leaving: &mut Leaving,
        var: VarId,
        id: LoopId,
        at: Range,
    ) -> Lowered<()> {
        let target = self.array(var, at)?;
        leaving.kept = Some((Access::scalar(target), id));
        Ok(())
    }

    /// Whether the body of the innermost loop may leave it.
    pub(super) fn is_left(&self, body: &[Stmt]) -> bool {
        leave_loop(body, self.returning_here().is_some())
    }

    /// Notes, behind the body of the innermost loop, that the loop was left by `return`.
    pub(super) fn note_return(&mut self, leaving: Option<&Leaving>) {
        if let (Some(leaving), Some(Some(returning))) = (leaving, self.exits.returning.last_mut())
            && returning.n_loops + 1 == self.loops.len()
        {
            returning.has_not = Some(leaving.has_not_returned());
        }
    }

    /// Where a `return` in the innermost loop puts its value.
    fn returning_here(&self) -> Option<&Returning> {
        self.exits.returning.last()?.as_ref().filter(|r| r.n_loops + 1 == self.loops.len())
    }

    /// `break;` or `return value;`
    fn leave(&mut self, by: Exit<'_>, at: Range, out: &mut Vec<Node>) -> Lowered<()> {
        let Some(leaving) = self.exits.leaving.last().cloned().flatten() else { return Err(leaves(at)) };
        if let Exit::Return(value) = by {
            let Some(returning) = self.returning_here().cloned() else {
                return Err(Refusal::new(at, "a loop is left by `return`").help(
                    "if it does more than look, look in a loop of its own, and do the rest in another one up to there",
                ));
            };
            match (value, returning.result) {
                (None, None) => {}
                (Some(value), None) => self.effect(value, out)?,
                (Some(value), Some((access, scalar))) => self.hoisting(Some(value), out, |l, out| {
                    let value = l.value(value)?;
                    let value = l.converted(value, &scalar);
                    let value = if scalar.ty.is_float() { l.relaxed(value) } else { value };
                    l.push(access, Update::Assign, value.e, at, out);
                    Ok(())
                })?,
                (None, Some(_)) => return Err(Refusal::new(at, "a `return` without the value that is used")),
            }
            if let Some(returned) = &leaving.returned {
                self.push(returned.clone(), Update::Assign, Expr::from(1), at, out);
            }
        }
        if let Some((target, id)) = leaving.kept {
            self.push(target, Update::Assign, Expr::from(id), at, out);
        }
        self.push(leaving.flag, Update::Assign, Expr::from(1), at, out);
        Ok(())
    }

    /// `if (condition) { before; break; } rest`, or what it is without the condition.
    pub(super) fn left_body(
        &mut self,
        (condition, before, by): (Option<&Source>, &[Stmt], Exit<'_>),
        rest: &[Stmt],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let Some(condition) = condition else { return self.leave(by, at, out) };
        let condition = self.hoisting(None, out, |l, _| l.value(condition))?;
        let condition = self.ahead(condition, at)?;
        if let Some(value) = constant(&condition) {
            if value == 0 {
                return self.loop_body(rest, out);
            }
            self.stmts(before, out)?;
            return self.leave(by, at, out);
        }
        let mark = self.facts.len();
        let (mut left, mut kept) = (Vec::new(), Vec::new());
        let bound = self.bound.clone();
        self.facts.push_condition(&condition.e, true);
        self.stmts(before, &mut left)?;
        self.leave(by, at, &mut left)?;
        self.facts.truncate(mark);
        self.bound = bound;
        self.facts.push_condition(&condition.e, false);
        self.loop_body(rest, &mut kept)?;
        self.facts.truncate(mark);
        out.push(Node::If { condition: condition.e, then: left, otherwise: kept });
        Ok(())
    }
}
