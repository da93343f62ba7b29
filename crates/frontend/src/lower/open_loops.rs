//! Loops of which nobody knows how often they run, inside of others: `while (b - a > tolerance) { ... }`. They go on until a flag
//! is set, and are left at once then: `for (;;) if (!left) { if (condition) { ... } else left = 1; }`.

use super::exits::Leaving;
use super::lowerer::Lowerer;
use super::searches::leave_loop;
use super::value::{Value, constant};
use crate::ast::{Expr as Source, For, Range, Stmt, StmtKind};
use crate::convert::apart;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, counter};
use oxeye_ir::{Affine, Bound, BoundTerm, Execution, Loop, Node, ScalarType, Update};

/// The parts of a loop that goes on until its condition fails.
pub(super) struct Open<'s> {
    init: Option<&'s Stmt>,
    /// None if only jumps leave it.
    condition: Option<&'s Source>,
    step: Option<&'s Source>,
    body: &'s Stmt,
    /// Whether the condition is tested behind the body.
    is_tested_behind: bool,
}

fn parts(s: &Stmt) -> Option<Open<'_>> {
    let (condition, body, is_tested_behind) = match &s.kind {
        StmtKind::While { condition, body } => (condition, body, false),
        StmtKind::DoWhile { condition, body } => (condition, body, true),
        StmtKind::For(f) => return uncounted(f),
        _ => return None,
    };
    let condition = Some(condition).filter(|c| crate::ast::constant(c).is_none_or(|c| c == 0));
    Some(Open { init: None, condition, step: None, body, is_tested_behind })
}

/// A `for` loop that counts with no variable.
fn uncounted(f: &For) -> Option<Open<'_>> {
    let is_plain = counter(f).is_none() && !f.runs_first && !f.is_behind && f.enters_with.is_none();
    is_plain.then_some(Open {
        init: f.init.as_ref(),
        condition: f.condition.as_ref(),
        step: f.step.as_ref(),
        body: &f.body,
        is_tested_behind: false,
    })
}

impl Lowerer<'_> {
    /// A loop inside of others as one that goes on until it is left.
    pub(super) fn open<'s>(&self, s: &'s Stmt) -> Option<Open<'s>> {
        parts(s).filter(|_| !self.loops.is_empty())
    }

    /// Lowers such a loop.
    pub(super) fn open_loop(&mut self, s: &Stmt, open: &Open<'_>, out: &mut Vec<Node>) -> Lowered<()> {
        let at = s.range;
        let body = match &open.body.kind {
            StmtKind::Block(body) => body.as_slice(),
            _ => std::slice::from_ref(open.body),
        };
        if open.condition.is_none() && !leave_loop(body, true) {
            return Err(Refusal::new(at, "nothing ends the loop")
                .help("let its condition compare a counter with an end"));
        }
        open.init.map_or(Ok(()), |init| self.stmt(init, out))?;
        let inside = Scan::of(self.cx.file, s);
        self.forget(&inside);
        let id = self.fresh_loop();
        self.loop_types.insert(id, ScalarType::I64);
        let mark = self.facts.len();
        self.loops.push((None, id));
        let leaving = self.unset_flag((true, open.condition.is_some()), body, at, out)?;
        self.exits.leaving.push(Some(leaving.clone()));
        let mut inner = Vec::new();
        let lowered = match (open.condition, open.is_tested_behind) {
            (Some(condition), false) => {
                self.while_it_holds(condition, (body, open.step), &leaving, &mut inner)
            }
            (condition, _) => self.loop_body(body, &mut inner).and_then(|()| {
                // Behind a jump out of the loop, nothing is done.
                let is_left = leave_loop(body, true);
                let mut last = Vec::new();
                open.step.map_or(Ok(()), |step| self.effect(step, &mut last))?;
                condition.map_or(Ok(()), |condition| self.leave_unless(condition, &leaving, &mut last))?;
                match is_left && !last.is_empty() {
                    true => inner.push(if_not(&leaving, last)),
                    false => inner.append(&mut last),
                }
                Ok(())
            }),
        };
        self.exits.leaving.pop();
        self.note_return(Some(&leaving));
        self.loops.pop();
        self.facts.truncate(mark);
        self.forget(&inside);
        lowered?;
        out.push(Node::Loop(Loop {
            id,
            name: "turn".to_owned(),
            ty: ScalarType::I64,
            lower: Affine::constant(0).into(),
            upper: Bound(vec![BoundTerm::Open]),
            step: 1,
            execution: Execution::Sequential,
            body: vec![if_not(&leaving, inner)],
        }));
        Ok(())
    }

    /// `if (condition) { body; step } else left = 1;`
    fn while_it_holds(
        &mut self,
        condition: &Source,
        (body, step): (&[Stmt], Option<&Source>),
        leaving: &Leaving,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let value = self.open_condition(condition, out)?;
        let mark = self.facts.len();
        let mut then = Vec::new();
        self.facts.push_condition(&value.e, true);
        self.loop_body(body, &mut then)?;
        if let Some(step) = step {
            let mut last = Vec::new();
            self.effect(step, &mut last)?;
            match leave_loop(body, true) {
                true => then.push(if_not(leaving, last)),
                false => then.append(&mut last),
            }
        }
        self.facts.truncate(mark);
        let mut otherwise = Vec::new();
        self.set_left(leaving, condition.range, &mut otherwise);
        out.push(Node::If { condition: value.e, then, otherwise });
        Ok(())
    }

    /// `if (!condition) left = 1;`
    fn leave_unless(&mut self, condition: &Source, leaving: &Leaving, out: &mut Vec<Node>) -> Lowered<()> {
        let value = self.open_condition(condition, out)?;
        let mut then = Vec::new();
        self.set_left(leaving, condition.range, &mut then);
        if constant(&value) == Some(0) {
            out.append(&mut then);
            return Ok(());
        }
        let condition = self.negated(value);
        out.push(Node::If { condition, then, otherwise: Vec::new() });
        Ok(())
    }

    fn open_condition(&mut self, condition: &Source, out: &mut Vec<Node>) -> Lowered<Value> {
        let (before, condition) = apart(self.cx.file, condition);
        self.stmts(&before, out)?;
        self.condition(&condition, out)
    }

    fn set_left(&mut self, leaving: &Leaving, at: Range, out: &mut Vec<Node>) {
        self.push(leaving.flag.clone(), Update::Assign, oxeye_ir::Expr::from(1), at, out);
    }
}

fn if_not(leaving: &Leaving, then: Vec<Node>) -> Node {
    Node::If { condition: leaving.has_not(), then, otherwise: Vec::new() }
}
