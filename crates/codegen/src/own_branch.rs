//! Nests one branch of which is the nest as it was read: the user's own text can stand there.

use crate::context::{Context, identifiers};
use crate::memory::stack;
use oxeye_ir::{Access, ArrayId, Expr, MathFn, Nest, Node, Storage, UnaryOp};
use std::collections::BTreeSet;

/// A nest that looks at values first, and is as it was read if they are not what it is for.
pub(crate) struct OwnBranch {
    /// How many of the roots look at them.
    pub(crate) n_before: usize,
    /// Not zero if the nest is to be as it was read.
    pub(crate) differs: Access,
}

impl OwnBranch {
    /// Takes the branch out of a nest that ends with one, `if (!differs) … else` the nest as it was read, so that the rest of it
    /// is what runs otherwise.
    pub(crate) fn take(original: &Nest, nest: &mut Nest) -> Option<Self> {
        let (last, before) = nest.roots.split_last_mut()?;
        let Node::If { condition: Expr::Unary(UnaryOp::Not, flag), then, otherwise } = last else {
            return None;
        };
        let Expr::Read(differs) = &**flag else { return None };
        if *otherwise != original.roots {
            return None;
        }
        let own = Self { n_before: before.len(), differs: differs.clone() };
        let then = std::mem::take(then);
        nest.roots.pop();
        nest.roots.extend(then);
        Some(own)
    }
}

impl Context<'_> {
    /// Declarations of the variables that what stands before a nest sets. They are not declared again in the nest, and none has
    /// a name that means something else in the user's text.
    pub(crate) fn declare_before(
        &mut self,
        roots: &[Node],
        nest: &Nest,
        original: Option<&str>,
    ) -> Vec<String> {
        let words: BTreeSet<&str> = original.into_iter().flat_map(identifiers).collect();
        let before = Nest { roots: roots.to_vec(), ..nest.clone() };
        let is_temporary = |id: &ArrayId| self.program.array(*id).storage == Storage::Temp(None);
        let all: Vec<ArrayId> = before.arrays().into_iter().filter(is_temporary).collect();
        for id in &all {
            let mut name = self.name(*id).to_owned();
            while words.contains(name.as_str()) {
                name = self.fresh(&name);
            }
            self.names.insert(*id, name);
        }
        let lines = all.iter().map(|id| stack(self, self.program.array(*id))).collect();
        self.declared = all.into_iter().collect::<BTreeSet<_>>();
        lines
    }
}

/// Whether a nest calls a function.
pub(crate) fn calls(nest: &Nest, wanted: MathFn) -> bool {
    let mut found = false;
    nest.visit(&mut |_, node| {
        let mut look = |e: &Expr| {
            e.visit(&mut |e| found |= matches!(e, Expr::Call { function, .. } if *function == wanted));
        };
        match node {
            Node::Stmt(s) => look(&s.value),
            Node::If { condition, .. } => look(condition),
            Node::Loop(_) => {}
        }
    });
    found
}
