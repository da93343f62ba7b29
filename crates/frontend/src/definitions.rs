//! What a variable was last set to before a statement, if that is still its value there.

use crate::ast::*;
use crate::flow::is_address_taken;
use crate::scan::Scan;

/// The expression whose value `var` has where the statement at `at` begins, made of numbers and of variables that only their
/// function changes, all of which have the values that they had when it was evaluated.
pub(crate) fn value_before<'f>(
    file: &'f File,
    function: &'f Function,
    at: Range,
    var: VarId,
) -> Option<&'f Expr> {
    let mut is_wild = false;
    function.body.walk(&mut |s| {
        is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
    });
    if is_wild || !is_own(file, function, var) {
        return None;
    }
    let mut search = Search { file, function, at, var, known: None };
    search.descend(&function.body)?;
    search.known
}

struct Search<'f> {
    file: &'f File,
    function: &'f Function,
    at: Range,
    var: VarId,
    known: Option<&'f Expr>,
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
                    self.pass(s);
                }
                None
            }
            StmtKind::If { condition, then, otherwise } => {
                self.disturb_expr(condition);
                let branch = [Some(&**then), otherwise.as_deref()].into_iter().flatten();
                let branch = branch.into_iter().find(|s| s.range.contains(self.at))?;
                self.descend(branch)
            }
            StmtKind::For(f) => self.repeated(s, &f.body),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => self.repeated(s, body),
            _ => None,
        }
    }

    /// What is changed anywhere in a loop may have been changed before.
    fn repeated(&mut self, s: &Stmt, body: &'f Stmt) -> Option<()> {
        self.disturb(s);
        self.descend(body)
    }

    /// Goes on behind a statement.
    fn pass(&mut self, s: &'f Stmt) {
        let (set, rest) = match &s.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
                if target.as_var() == Some(self.var) =>
            {
                (Some(&**value), &[][..])
            }
            StmtKind::Declare(declared) => match declared.iter().position(|d| d.var == self.var) {
                Some(k) => (declared[k].init.as_ref(), &declared[k + 1..]),
                None => (None, &[][..]),
            },
            _ => (None, &[][..]),
        };
        match set.filter(|value| self.is_plain(value)) {
            Some(value) => {
                self.known = Some(value);
                self.disturb(&Stmt { kind: StmtKind::Declare(rest.to_vec()), range: s.range });
            }
            None => self.disturb(s),
        }
    }

    /// Forgets the value if a statement may change it, or a variable in it.
    fn disturb(&mut self, s: &Stmt) {
        let scan = Scan::of(self.file, s);
        let is_changed =
            |v: VarId| [&scan.written, &scan.iterators, &scan.declared].iter().any(|set| set.contains(&v));
        let Some(known) = self.known else { return };
        let mut is_lost = is_changed(self.var) || scan.is_cut_short;
        known.walk(&mut |e| is_lost |= e.as_var().is_some_and(is_changed));
        if is_lost {
            self.known = None;
        }
    }

    fn disturb_expr(&mut self, e: &Expr) {
        let kind = StmtKind::Expr(e.clone());
        self.disturb(&Stmt { kind, range: e.range });
    }

    /// Whether an expression can be evaluated again as long as its variables keep their values.
    fn is_plain(&self, e: &Expr) -> bool {
        let mut is_plain = !e.mentions(self.var);
        e.walk(&mut |e| {
            is_plain &= match &e.kind {
                ExprKind::Var(v) => is_own(self.file, self.function, *v),
                ExprKind::Int(..) | ExprKind::Binary(..) | ExprKind::SizeofType(_) => true,
                ExprKind::Cast(Type::Scalar(s), _) => !s.ty.is_float(),
                _ => false,
            };
        });
        is_plain
    }
}

/// Whether only assignments to its name change a variable.
fn is_own(file: &File, function: &Function, var: VarId) -> bool {
    let variable = file.var(var);
    let is_local = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
    let is_array = matches!(variable.ty, Type::Array { .. });
    is_local && (is_array || !is_address_taken(function, var))
}
