//! Directives that are wrong for certain: threads share a variable which each iteration writes and reads.
//!
//! Nobody sees such a race in runs that happen to be right, and compilers say nothing.

use crate::ast::{ExprKind, Stmt, StmtKind, VarId};
use crate::context::Context;
use crate::directives::{Construct, Directive};
use crate::scan::{Scan, assigned_var, counter};
use std::collections::BTreeSet;

impl Context<'_> {
    /// Lines of directives `omp parallel for` in the function, each with a variable that the threads race for.
    pub(crate) fn races(&self) -> Vec<(u32, String)> {
        let mut found = Vec::new();
        self.function.body.walk(&mut |s| {
            for pragma in self.above(s) {
                let Directive::Construct(construct) = &pragma.directive else { continue };
                let (is_own, line) = self.preprocessed.origin(pragma.at);
                if let Some(var) = self.raced_for(s, construct).filter(|_| is_own) {
                    found.push((line, self.file.var(var).name.clone()));
                }
            }
        });
        found
    }

    /// The first variable by number that the threads of a loop race for.
    fn raced_for(&self, s: &Stmt, construct: &Construct) -> Option<VarId> {
        let StmtKind::For(f) = &s.kind else { return None };
        // What `critical`, `atomic` and their like protect is not looked at.
        let is_kept = self.directives.inside(s.range).iter().any(|p| p.directive == Directive::Kept);
        let makes_team = construct.is_parallel && construct.is_shared;
        if !makes_team || is_kept || construct.unknown_clause.is_some() {
            return None;
        }
        let of_threads = construct.variables();
        let counters = match construct.n_collapsed {
            0 | 1 => counter(f).into_iter().collect(),
            _ => Scan::of(self.file, s).iterators,
        };
        let mut written = BTreeSet::new();
        let mut read = Vec::new();
        s.walk_exprs(&mut |e| {
            written.extend(assigned_var(e));
            match &e.kind {
                ExprKind::Assign(None, target, _) => read.extend(target.as_var().map(|v| (v, -1))),
                _ => read.extend(e.as_var().map(|v| (v, 1))),
            }
        });
        let is_read = |var: VarId| read.iter().filter(|(v, _)| *v == var).map(|(_, n)| n).sum::<i32>() > 0;
        let is_shared = |var: &VarId| {
            let variable = self.file.var(*var);
            variable.member.is_none()
                && !s.range.contains(variable.range)
                && !counters.contains(var)
                && !of_threads.contains(&variable.name)
                && !self.directives.is_threadprivate(&variable.name)
        };
        written.into_iter().find(|var| is_shared(var) && is_read(*var))
    }
}
