//! What runs where the new form of a nest cannot.

use super::lines::Line;
use super::{Renderer, render_nest};
use crate::CodegenError;
use crate::options::RenderOptions;
use crate::text::moved;
use oxeye_ir::{Execution, Nest, Node};

impl Renderer<'_> {
    /// The original statement, verbatim if its text is known.
    pub(super) fn fallback(&mut self, nest: &Nest) -> Result<(), CodegenError> {
        if let Some(text) = &self.options.original {
            let depth = self.depth;
            for (k, line) in moved(text, 4 * (depth + 1)).lines().enumerate() {
                self.out.push(Line::new(if k == 0 { depth + 1 } else { 0 }, line));
            }
            return Ok(());
        }
        let original = self.cx.program.nests.get(&nest.id).filter(|o| *o != nest);
        let Some(original) = original.filter(|_| !self.cx.in_team) else {
            return Err(CodegenError::NoOriginal {
                why: "pointers may overlap, or memory may be short".into(),
            });
        };
        let mut program = self.cx.program.clone();
        program.may_alias.clear();
        let mut binding = self.cx.binding.clone();
        binding.may_change.clear();
        binding.entries.clear();
        let declarations_first = self.options.declarations_first;
        let options = RenderOptions { threads: 1, declarations_first, ..RenderOptions::default() };
        let text = render_nest(&program, &binding, &sequential(original), &options)?;
        self.depth += 1;
        for line in text.lines() {
            let blanks = line.len() - line.trim_start().len();
            self.out.push(Line::new(self.depth + blanks / 4, line.trim_start()));
        }
        self.depth -= 1;
        Ok(())
    }
}

/// The nest with every loop one iteration after the other.
fn sequential(nest: &Nest) -> Nest {
    fn go(nodes: &mut [Node]) {
        for node in nodes {
            if let Node::Loop(l) = node {
                l.execution = Execution::Sequential;
            }
            node.bodies_mut().into_iter().for_each(|b| go(b));
        }
    }
    let mut copy = nest.clone();
    go(&mut copy.roots);
    copy
}
