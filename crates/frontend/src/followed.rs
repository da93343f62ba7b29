//! Pointers that are followed on every way to a statement and keep their value until there, so that what they lead to is
//! there as well, whether or not the statement follows them.

use crate::ast::*;
use crate::flow::{is_address_taken, of_library};
use crate::scan::Scan;
use oxeye_binding::Step;
use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};
use std::collections::{BTreeSet, HashSet};

/// A pointer: a variable of the function, and the steps from it.
pub(crate) type Way = (VarId, Vec<Step>);

/// Functions of the C library that free nothing and change no pointers.
const HARMLESS: [&str; 9] =
    ["malloc", "calloc", "aligned_alloc", "printf", "fprintf", "puts", "putchar", "rand", "drand48"];

/// Most calls, one inside the other, that are followed.
const MOST_CALLS: usize = 8;

/// The pointers to structures, of the function's own variables and behind them, that are followed on every way to the statement
/// at `at`. What is behind pointers keeps its value only if stores of numbers change no pointers (`has_strict_aliasing`).
pub(crate) fn followed_before(
    file: &File,
    function: &Function,
    at: Range,
    has_strict_aliasing: bool,
) -> BTreeSet<Way> {
    let mut is_wild = false;
    function.body.walk(&mut |s| {
        is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
    });
    let mut search = Search { file, function, at, has_strict_aliasing, followed: BTreeSet::new() };
    match is_wild {
        false if search.descend(&function.body).is_some() => search.followed,
        _ => BTreeSet::new(),
    }
}

struct Search<'f> {
    file: &'f File,
    function: &'f Function,
    at: Range,
    has_strict_aliasing: bool,
    followed: BTreeSet<Way>,
}

/// What may happen to pointers.
#[derive(Default)]
struct Effects {
    changed: HashSet<VarId>,
    /// Memory may be freed.
    frees: bool,
    /// Pointers in memory may change.
    moves: bool,
}

impl Effects {
    fn keeps(&self, (root, steps): &Way) -> bool {
        !self.frees && !self.changed.contains(root) && (steps.is_empty() || !self.moves)
    }
}

impl<'f> Search<'f> {
    /// Follows the way to the statement into this one; `None` if it is not there.
    fn descend(&mut self, s: &'f Stmt) -> Option<()> {
        if s.range == self.at && !matches!(s.kind, StmtKind::Block(_)) {
            return Some(());
        }
        match &s.kind {
            StmtKind::Block(body) => {
                for s in body {
                    if s.range.contains(self.at) {
                        return self.descend(s);
                    }
                    // Several statements may be meant.
                    if s.range.start >= self.at.start {
                        return Some(());
                    }
                    self.pass(s);
                }
                None
            }
            StmtKind::If { condition, then, otherwise } => {
                let is_true = then.range.contains(self.at);
                self.evaluate(condition, is_true);
                let branch = if is_true { Some(&**then) } else { otherwise.as_deref() };
                self.descend(branch.filter(|s| s.range.contains(self.at))?)
            }
            StmtKind::For(f) => {
                let condition = f.condition.as_ref().filter(|_| !f.runs_first);
                self.repeated(s, condition, &f.body)
            }
            StmtKind::While { condition, body } => self.repeated(s, Some(condition), body),
            StmtKind::DoWhile { body, .. } => self.repeated(s, None, body),
            _ => None,
        }
    }

    /// What is changed anywhere in a loop may have been changed before. A condition is evaluated before each iteration.
    fn repeated(&mut self, s: &Stmt, condition: Option<&'f Expr>, body: &'f Stmt) -> Option<()> {
        self.note(Vec::new(), &self.effects(s));
        condition.into_iter().for_each(|condition| self.evaluate(condition, true));
        self.descend(body)
    }

    /// Goes on behind a statement.
    fn pass(&mut self, s: &'f Stmt) {
        let effects = self.effects(s);
        let mut found = Vec::new();
        match &s.kind {
            StmtKind::Block(body) => return body.iter().for_each(|s| self.pass(s)),
            StmtKind::Expr(e) => self.sure(e, &mut found),
            StmtKind::Declare(declared) => {
                declared.iter().filter_map(|d| d.init.as_ref()).for_each(|e| self.sure(e, &mut found));
            }
            StmtKind::If { condition, then, otherwise: None } if always_leaves(then) => {
                self.sure_if(condition, false, &mut found);
            }
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => {
                self.sure(condition, &mut found);
            }
            StmtKind::For(f) => {
                f.condition.iter().filter(|_| !f.runs_first).for_each(|e| self.sure(e, &mut found));
            }
            _ => {}
        }
        self.note(found, &effects);
    }

    /// A condition that holds, or does not.
    fn evaluate(&mut self, e: &'f Expr, is_true: bool) {
        let effects = self.effects(&Stmt { kind: StmtKind::Expr(e.clone()), range: e.range });
        let mut found = Vec::new();
        self.sure_if(e, is_true, &mut found);
        self.note(found, &effects);
    }

    /// Forgets what may have changed, and notes what has been followed, if it is what it was before.
    fn note(&mut self, found: Vec<Way>, effects: &Effects) {
        self.followed.retain(|way| effects.keeps(way));
        self.followed.extend(found.into_iter().filter(|way| effects.keeps(way)));
    }

    /// What is surely followed where a condition is evaluated and comes out like this.
    fn sure_if(&self, e: &Expr, is_true: bool, found: &mut Vec<Way>) {
        match (&e.kind, is_true) {
            (ExprKind::Binary(BinaryOp::And, l, r), true) | (ExprKind::Binary(BinaryOp::Or, l, r), false) => {
                self.sure_if(l, is_true, found);
                self.sure_if(r, is_true, found);
            }
            (ExprKind::Unary(UnaryOp::Not, inner), _) => self.sure_if(inner, !is_true, found),
            _ => self.sure(e, found),
        }
    }

    /// What is surely followed where an expression is evaluated.
    fn sure(&self, e: &Expr, found: &mut Vec<Way>) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, l, _) => self.sure(l, found),
            ExprKind::Select(condition, ..) => self.sure(condition, found),
            ExprKind::SizeofExpr(_)
            | ExprKind::SizeofType(_)
            | ExprKind::AddressOf(_)
            | ExprKind::Unknown(..) => {}
            ExprKind::Var(var) => found.extend(self.ways_to(*var)),
            _ => e.children().into_iter().for_each(|e| self.sure(e, found)),
        }
    }

    /// What is followed where the value of a member is read or stored.
    fn ways_to(&self, var: VarId) -> Vec<Way> {
        let variable = self.file.var(var);
        let Some(member) = &variable.member else { return Vec::new() };
        // An array is only named.
        if !matches!(variable.ty, Type::Scalar(_) | Type::Pointer { .. }) || !self.is_own(member.root) {
            return Vec::new();
        }
        let plain = member.steps.iter().take_while(|s| !matches!(s, Step::Subscript | Step::Element(_)));
        let ways = plain.enumerate().filter(|(_, step)| **step == Step::Follow);
        ways.map(|(k, _)| (member.root, member.steps[..k].to_vec())).collect()
    }

    /// Whether only assignments to its name change a variable.
    fn is_own(&self, var: VarId) -> bool {
        let is_local =
            matches!(self.file.var(var).kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        is_local && !is_address_taken(self.function, var)
    }

    fn effects(&self, s: &Stmt) -> Effects {
        let scan = Scan::of(self.file, s);
        let changed = scan.written.into_iter().chain(scan.iterators).chain(scan.declared).collect();
        let mut effects = Effects { changed, frees: scan.is_cut_short, moves: false };
        self.add_effects(s, &mut effects, 0);
        effects
    }

    /// What a statement does to memory, and the functions that it calls.
    fn add_effects(&self, s: &Stmt, effects: &mut Effects, depth: usize) {
        s.walk(&mut |s| {
            effects.frees |= matches!(s.kind, StmtKind::Unknown(..));
            for e in s.exprs() {
                e.walk(&mut |e| match &e.kind {
                    ExprKind::Unknown(what, _) => effects.frees |= what != "a string",
                    ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => {
                        effects.moves |= self.may_move(target);
                    }
                    ExprKind::Call(callee, _) => self.add_call(callee, effects, depth),
                    _ => {}
                });
            }
        });
    }

    fn add_call(&self, callee: &Expr, effects: &mut Effects, depth: usize) {
        let name = match &callee.kind {
            ExprKind::Name(name) => name,
            _ => return effects.frees = true,
        };
        match self.file.function(name) {
            Some((_, function)) if function.problem.is_none() && depth < MOST_CALLS => {
                self.add_effects(&function.body, effects, depth + 1);
            }
            None if HARMLESS.contains(&name.as_str()) || MathFn::from_c_name(name).is_some() => {}
            None if of_library(name).is_some() => effects.moves = true,
            _ => effects.frees = true,
        }
    }

    /// Whether a store to this place may change a pointer other than a variable by itself.
    fn may_move(&self, target: &Expr) -> bool {
        if target.as_var().is_some_and(|var| !self.file.is_member(var)) {
            return false;
        }
        let is_number = match self.file.type_of(target) {
            Some(Type::Scalar(scalar)) => !matches!(scalar.ty, ScalarType::I8 | ScalarType::U8),
            _ => false,
        };
        !is_number || !self.has_strict_aliasing
    }
}

/// Whether a statement never goes on behind itself.
fn always_leaves(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(body) => body.last().is_some_and(always_leaves),
        _ => false,
    }
}
