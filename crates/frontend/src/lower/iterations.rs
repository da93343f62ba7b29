//! The iterations of a loop whose header is read: its body, and what the loop leaves behind.

use super::evolving::{Carried, Here, times};
use super::exits::Leaving;
use super::header::{Header, changing_places};
use super::lowerer::Lowerer;
use crate::ast::{self, For, Stmt};
use crate::refusal::Lowered;
use crate::rotations::split_rotations;
use crate::scan::Scan;
use oxeye_ir::{Expr, Loop, Node};

/// A loop whose bounds are known; it is among the active ones.
pub(super) struct Counted {
    pub(super) l: Loop,
    /// Conditions under which it runs at all.
    pub(super) guards: Vec<Expr>,
    /// The variables that it writes.
    pub(super) inside: Scan,
    pub(super) carried: Carried,
    pub(super) here: Here,
    /// The number of facts that hold outside of it.
    pub(super) mark: usize,
    /// Whether its variable is read behind it.
    pub(super) is_kept: bool,
    /// Whether its variable is the iterator, and not computed from it.
    pub(super) is_iterator: bool,
}

impl Lowerer<'_> {
    /// Lowers the body of a loop, and puts the loop into `out`. What happens where it is left early, if it is.
    pub(super) fn iterations(
        &mut self,
        (s, f, header): (&Stmt, &For, &Header<'_>),
        counted: Counted,
        out: &mut Vec<Node>,
    ) -> Lowered<Option<Leaving>> {
        let Counted { mut l, guards, inside, carried, here, mark, is_kept, is_iterator } = counted;
        let (file, step) = (self.cx.file, l.step);
        let (body, rotations) = split_rotations(file, &f.body);
        let is_carried = |e: &&ast::Expr| carried.is_in_header(e);
        let is_alone = header.before.iter().chain(&header.after).all(&is_carried);
        if let Some(first) = rotations.first()
            && (f.is_behind || !is_alone || !guards.is_empty())
        {
            return Err(changing_places(file, first));
        }
        self.moving.in_turns.extend(rotations.iter().flat_map(|rotation| &rotation.pointers));
        let is_plain =
            rotations.is_empty() && !f.is_behind && header.after.iter().all(|e| carried.is_known(e));
        let mut leaving = if self.is_left(body) {
            Some(self.unset_flag((is_plain, false), body, s.range, out)?)
        } else {
            None
        };
        if let (Some(leaving), true) = (&mut leaving, is_kept) {
            self.keep_counter(leaving, header.var, l.id, s.range)?;
        }
        if let (Some(first), true) = (l.lower.as_affine(), l.step > 1) {
            self.residues.insert(l.id, (first.clone(), l.step));
        }
        let is_plainly_counted = is_alone && is_iterator && rotations.is_empty();
        let turns = if is_plainly_counted { self.turns(body, header.var, &l) } else { None };
        self.exits.leaving.push(leaving.clone());
        match (&leaving, turns) {
            (Some(leaving), _) => {
                let mut then = Vec::new();
                self.loop_body(body, &mut then)?;
                l.body.push(Node::If { condition: leaving.has_not(), then, otherwise: Vec::new() });
            }
            (None, Some(turns)) => self.in_pieces(body, (header.var, turns), (&carried, &here), &mut l)?,
            (None, None) => self.loop_body(body, &mut l.body)?,
        }
        self.exits.leaving.pop();
        self.note_return(leaving.as_ref());
        if !rotations.is_empty() {
            self.in_rounds(s, body, (header.var, &rotations), (&carried, &here), &mut l)?;
        }
        for e in header.after.iter().filter(|e| !carried.is_known(e)) {
            self.effect(e, &mut l.body)?;
        }
        carried.in_header.iter().for_each(|var| _ = self.bound.remove(var));
        self.bound.remove(&header.var);
        self.loops.pop();
        self.facts.truncate(mark);
        self.forget(&inside);
        let is_whole = guards.is_empty() && leaving.is_none();
        let mut behind = Vec::new();
        if let Some(n) = self.n_steps(&l, step).filter(|_| is_whole) {
            self.sink(&carried, (&mut l, &n), s.range, &mut behind);
        }
        self.leave_carried(carried, times(&l).filter(|_| is_whole), s.range)?;
        if behind.is_empty() || !l.body.is_empty() {
            out.push(guarded(l, guards));
        }
        out.append(&mut behind);
        Ok(leaving)
    }
}

/// A loop under conditions.
fn guarded(l: Loop, guards: Vec<Expr>) -> Node {
    guards.into_iter().rev().fold(Node::Loop(l), |node, condition| Node::If {
        condition,
        then: vec![node],
        otherwise: Vec::new(),
    })
}
