//! Facts about a function, collected before any of it is lowered.

use crate::ast::{self, Scalar, Type, VarId, VarKind};
use crate::directives::Directives;
use crate::pointers::Pointers;
use crate::preprocess::Preprocessed;
use crate::scan::Scan;
use crate::unseen::Unseen;
use std::collections::HashSet;

/// Facts collected before any nest of a function is lowered.
pub(crate) struct Context<'a> {
    pub(crate) file: &'a ast::File,
    pub(crate) function: &'a ast::Function,
    /// Index of the function in the file.
    pub(crate) position: usize,
    pub(crate) pointers: &'a Pointers<'a>,
    /// File-scope variables that some function writes, directly or through them.
    pub(crate) changed_globals: &'a HashSet<VarId>,
    /// Names of the functions that have loops.
    pub(crate) with_loops: &'a HashSet<String>,
    pub(crate) preprocessed: &'a Preprocessed,
    pub(crate) directives: &'a Directives,
    /// Whether the user's flags enable OpenMP threads.
    pub(crate) is_threaded: bool,
    pub(crate) no_alias: bool,
    /// Whether clauses give no leave to reorder sums.
    pub(crate) keeps_order: bool,
    /// First bytes of the loops that are control around nests.
    pub(crate) opened: &'a [usize],
    pub(crate) unseen: &'a Unseen<'a>,
    /// Whether the compiler takes it that objects of different types do not overlap.
    pub(crate) has_strict_aliasing: bool,
}

impl Context<'_> {
    /// Whether C allows objects of these types to share memory; structures of numbers of one type are read and written as these.
    pub(crate) fn may_share(&self, a: &Type, b: &Type) -> bool {
        let (Some(a), Some(b)) = (self.scalar_in(a), self.scalar_in(b)) else { return true };
        let is_char = |s: &Scalar| s.ty.bytes() == 1 && !s.is_bool;
        !self.has_strict_aliasing
            || is_char(a)
            || is_char(b)
            || (a.ty.bytes() == b.ty.bytes() && a.ty.is_float() == b.ty.is_float())
    }

    fn scalar_in<'t>(&'t self, ty: &'t Type) -> Option<&'t Scalar> {
        match ty {
            Type::Scalar(scalar) => Some(scalar),
            ty => self.file.numbers(ty).map(|(scalar, _)| scalar),
        }
    }
}

/// The team of threads that runs some code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Team<'a> {
    /// The statement under `omp parallel`; `None` if the function is called by the team.
    pub(crate) region: Option<&'a ast::Stmt>,
}

/// The file-scope variables that some function of the file writes, directly or through them.
pub(crate) fn changed_globals(file: &ast::File) -> HashSet<VarId> {
    let mut changed = HashSet::new();
    for function in &file.functions {
        let Scan { iterators, written, stored, .. } = Scan::of(file, &function.body);
        changed.extend(iterators.into_iter().chain(written).chain(stored));
    }
    changed.retain(|v| matches!(file.var(*v).kind, VarKind::Global { .. }));
    changed
}
