//! Where the names of a function's variables are known.

use crate::ast::{File, Function, Range, StmtKind, VarId, VarKind};
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
