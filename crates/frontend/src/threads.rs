//! Whether a loop under OpenMP's directives may be read as the loop it is without them.

use crate::ast::{Function, Range, Stmt, StmtKind, VarId, VarKind};
use crate::context::Context;
use crate::directives::{Construct, Directive, Pragma};
use crate::flow::is_live_after;
use crate::refusal::{Lowered, Refusal};
use crate::scan::Scan;
use std::collections::BTreeSet;

/// The team of threads that runs a piece of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Team<'a> {
    /// The statement under `omp parallel`; `None` if the function is called by the team.
    pub(crate) region: Option<&'a Stmt>,
}

impl<'a> Context<'a> {
    /// The pragmas that belong to a statement.
    pub(crate) fn above(&self, s: &Stmt) -> impl Iterator<Item = &'a Pragma> + use<'a> {
        self.directives.above(&self.preprocessed.text, s.range.start)
    }

    /// The OpenMP constructs that a statement is under.
    pub(crate) fn constructs(&self, s: &Stmt) -> impl Iterator<Item = &'a Construct> + use<'a> {
        self.above(s).filter_map(|p| match &p.directive {
            Directive::Construct(c) => Some(c),
            _ => None,
        })
    }

    /// A directive above the statement that cannot be replaced together with it.
    pub(crate) fn kept_above(&self, s: &Stmt) -> Option<Box<Refusal>> {
        let pragma = self.above(s).find(|p| p.directive == Directive::Kept)?;
        let (what, length) = if matches!(s.kind, StmtKind::For(_)) { ("loop", 3) } else { ("code", 1) };
        let place = Range { start: s.range.start, end: s.range.start + length };
        Some(kept(pragma, &format!("stands before the {what}"), place))
    }

    /// Refuses a statement of `function` that means something else to several threads than to one.
    pub(crate) fn check_pragmas(&self, function: &Function, s: &Stmt) -> Lowered<()> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        if let Some(refusal) = self.kept_above(s) {
            return Err(refusal);
        }
        for pragma in self.directives.inside(s.range) {
            if matches!(pragma.directive, Directive::Kept | Directive::Alone) {
                return Err(kept(pragma, "is inside the loop", head));
            }
        }
        let mut result = Ok(());
        s.walk(&mut |inner| {
            if result.is_ok() {
                result = self.constructs(inner).try_for_each(|c| self.check_construct(function, inner, c));
            }
        });
        result
    }

    fn check_construct(&self, function: &Function, s: &Stmt, construct: &Construct) -> Lowered<()> {
        let head = Range { start: s.range.start, end: s.range.start + 1 };
        if let Some(clause) = &construct.unknown_clause {
            return Err(Refusal::new(
                head,
                format!("the clause `{clause}` of a directive is not understood"),
            ));
        }
        let scan = Scan::of(self.file, s);
        let written = |name: &String| {
            let mut found: Vec<VarId> = scan.written.iter().chain(&scan.stored).copied().collect();
            found.retain(|v| self.file.var(*v).name == *name && !scan.declared.contains(v));
            found.into_iter().min()
        };
        for name in &construct.firstprivate {
            if written(name).is_some() {
                let message = format!("`{name}` is `firstprivate` and changed, so every thread has another");
                return Err(Refusal::new(head, message));
            }
        }
        for name in &construct.private {
            if let Some(var) = written(name)
                && is_live_after(self.file, function, s.range, var)
            {
                let message = format!(
                    "`{name}` is `private`, and its value after the loop, which depends on OpenMP, may be used later"
                );
                return Err(Refusal::new(head, message).help("use another variable afterwards"));
            }
        }
        Ok(())
    }

    /// Whether loops inside a statement are shared by a team of threads that is made outside of it.
    pub(crate) fn shares_outer_team(&self, s: &Stmt) -> bool {
        s.children().into_iter().any(|inner| {
            let is_parallel = self.constructs(inner).any(|c| c.is_parallel);
            let is_shared = self.constructs(inner).any(|c| c.is_shared);
            !is_parallel && (is_shared || self.shares_outer_team(inner))
        })
    }

    /// Refuses a loop whose iterations a team shares if it leaves something in variables of which each thread has its own.
    pub(crate) fn check_team(&self, s: &Stmt, team: Team<'_>) -> Lowered<()> {
        let scan = Scan::of(self.file, s);
        let mut own: BTreeSet<&str> = BTreeSet::new();
        if let Some(region) = team.region {
            let clauses = self.constructs(region);
            own.extend(clauses.flat_map(|c| c.private.iter().chain(&c.firstprivate)).map(String::as_str));
        }
        let shared: BTreeSet<&str> = self
            .constructs(s)
            .flat_map(|c| c.private.iter().chain(&c.firstprivate))
            .map(String::as_str)
            .collect();
        let mut written: Vec<VarId> = scan.written.iter().copied().collect();
        written.sort_unstable();
        for var in written {
            let variable = self.file.var(var);
            let is_of_thread = match (team.region, variable.kind) {
                (_, VarKind::Global { .. } | VarKind::Local { is_static: true }) => {
                    own.contains(variable.name.as_str())
                }
                (Some(region), _) => {
                    region.range.contains(variable.range) || own.contains(variable.name.as_str())
                }
                (None, _) => true,
            };
            if is_of_thread
                && !scan.declared.contains(&var)
                && !shared.contains(variable.name.as_str())
                && is_live_after(self.file, self.function, s.range, var)
            {
                let head = Range { start: s.range.start, end: s.range.start + 3 };
                let name = &variable.name;
                let message = format!("each thread has a `{name}` of its own, which is used after the loop");
                return Err(
                    Refusal::new(head, message).help("a `reduction` clause, where it fits, is understood")
                );
            }
        }
        Ok(())
    }
}

fn kept(pragma: &Pragma, what: &str, place: Range) -> Box<Refusal> {
    let refusal = Refusal::new(place, format!("`#pragma {}` {what}", pragma.text));
    if ["omp atomic", "omp critical"].iter().any(|start| pragma.text.starts_with(start)) {
        return refusal.help("a `reduction` clause, where it fits, is understood");
    }
    refusal
}
