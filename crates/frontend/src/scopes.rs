//! Where the names of a function's variables are known.

use crate::ast::{File, Function, Range, StmtKind, VarId, VarKind, Variable};
use crate::context::Context;
use std::collections::HashMap;

/// The scopes of the variables that a function declares.
pub(crate) struct Scopes<'a> {
    file: &'a File,
    /// Index of the function in the file.
    position: usize,
    declared: HashMap<VarId, Range>,
}

impl<'a> Scopes<'a> {
    pub(crate) fn of(cx: &Context<'a>) -> Self {
        let declared = declared_in(cx.file, cx.function);
        Scopes { file: cx.file, position: cx.position, declared }
    }

    /// Whether a name stands for this variable, or that which it is a member of, everywhere at a place.
    pub(crate) fn includes(&self, var: VarId, place: Range) -> bool {
        let root = self.file.root(var);
        let variable = self.file.var(root);
        let is_declared_here =
            variable.function == Some(self.position) && matches!(variable.kind, VarKind::Local { .. });
        !is_declared_here || self.declared.get(&root).is_some_and(|scope| scope.contains(place))
    }

    /// What a name stands for at a place, if that is a variable.
    pub(crate) fn visible(&self, name: &str, place: Range) -> Option<VarId> {
        let vars = (0..).map(VarId).zip(&self.file.vars);
        let fits = |(id, v): &(VarId, &Variable)| {
            v.name == name
                && v.member.is_none()
                && v.function.is_none_or(|f| f == self.position)
                && self.includes(*id, place)
                && v.range.start < place.start
        };
        // Those of inner scopes are declared later, and all of them after those of the file.
        let found = vars.filter(fits).max_by_key(|(_, v)| (v.function.is_some(), v.range.start));
        found.map(|(id, _)| id)
    }
}

fn declared_in(file: &File, function: &Function) -> HashMap<VarId, Range> {
    let mut found = HashMap::new();
    function.body.walk(&mut |s| {
        let header = match &s.kind {
            StmtKind::For(f) => f.init.as_ref(),
            _ => None,
        };
        for inside in s.children().into_iter().chain(header) {
            if let StmtKind::Declare(declared) = &inside.kind {
                found.extend(
                    declared
                        .iter()
                        .map(|d| (d.var, Range { start: file.var(d.var).range.start, end: s.range.end })),
                );
            }
        }
    });
    found
}
