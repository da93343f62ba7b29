//! Loops that go on until they are left, as text: `while (condition)`, or `for (;;)` and `break`.

use super::Renderer;
use crate::CodegenError;
use crate::expand::Item;
use crate::leaving::{left_early, while_it_holds};
use oxeye_ir::{Access, BoundTerm, Expr, Loop, LoopId};

impl Renderer<'_> {
    pub(super) fn open_loop(&mut self, header: &Loop, body: &[Item]) -> Result<(), CodegenError> {
        let Some((flag, inside)) = left_early(header, body) else {
            return Err(CodegenError::Malformed { what: "nothing ends the loop".into() });
        };
        let declarations = self.memory.declarations(&self.cx, self.places, Some(header.id));
        let is_counted = inside.iter().any(|item| uses(item, header.id));
        let is_jump = self.jumps.contains(&flag.array);
        if is_jump
            && !is_counted
            && declarations.is_empty()
            && let Some((condition, inside)) = while_it_holds(inside, flag.array)
        {
            let condition = self.cx.expr(condition).text;
            return self.braced(format!("while ({condition})"), |r| r.items(inside));
        }
        let write = |r: &mut Self, head: String| {
            r.braced(head, |r| {
                r.declare(declarations);
                if !is_jump {
                    r.leave_if(flag);
                }
                r.items(inside)
            })
        };
        if is_counted { self.counting(header, write) } else { write(self, "for (;;)".to_owned()) }
    }

    /// `if (flag) break;`
    pub(super) fn leave_if(&mut self, flag: &Access) {
        let flag = self.cx.access(flag);
        self.line(format!("if ({flag})"));
        self.depth += 1;
        self.line("break;");
        self.depth -= 1;
    }
}

/// Whether anything under an item depends on a loop.
fn uses(item: &Item, id: LoopId) -> bool {
    let in_bounds = |l: &Loop| l.lower.0.iter().chain(&l.upper.0).any(|term: &BoundTerm| term.uses(id));
    let inside = |items: &[Item]| items.iter().any(|item| uses(item, id));
    match item {
        Item::Stmt(s) => s.value.uses(id) || s.target.indices.iter().any(|e: &Expr| e.uses(id)),
        Item::Loop { header, body } => in_bounds(header) || inside(body),
        Item::Scope { body, .. } => inside(body),
        Item::Vector(v) => in_bounds(&v.header) || inside(&v.body),
        Item::If { condition, then, otherwise } => condition.uses(id) || inside(then) || inside(otherwise),
    }
}
