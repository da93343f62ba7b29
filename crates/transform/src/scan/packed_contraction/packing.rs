//! Copies operands into panels, in the order in which the register tile reads them.

use super::layout::{Extent, Layout, Packed, Side, assign, counted, extreme, zero};
use crate::scan::{condition, guarded};
use oxeye_ir::{Access, Affine, Constraint, Execution, Expr, Node, Update, Var};

impl Layout<'_> {
    /// The loop that fills the panels of one side of a block.
    pub(super) fn pack(&self, side: &Side<'_>, execution: Execution) -> Node {
        let at = |v: Var| match v {
            Var::Loop(l) if l == side.point => Some(side.first.clone() + Affine::var(side.lane.0)),
            Var::Loop(l) if l == self.c.depth => Some(self.depth_point()),
            _ => None,
        };
        let ends = side.single.iter().filter(|r| r.expr.coefficient(side.point) < 0);
        let rows: Vec<&Constraint> = ends.chain(side.with_depth).collect();
        let over = [
            Extent { var: side.point, first: side.first.clone(), size: side.width },
            Extent { var: self.c.depth, first: Affine::var(self.c.counters[1]), size: self.c.blocks.kc },
        ];
        let full: Vec<Constraint> = rows.iter().map(|r| extreme(r, &over, true)).collect();
        let valid: Vec<Constraint> = rows.iter().map(|r| r.substitute(&at)).collect();
        let mut nodes = Vec::new();
        for operand in self.packed.iter().filter(|o| o.side == side.part) {
            let mut value = self.mapped(&operand.value);
            value.substitute(&at);
            let target = self.packed_element(operand, side);
            let copy = assign(target.clone(), Update::Assign, value);
            let masked = match condition(&valid) {
                Some(condition) => Node::If {
                    condition,
                    then: vec![copy.clone()],
                    otherwise: vec![assign(target, Update::Assign, zero(self.ty))],
                },
                None => copy.clone(),
            };
            let vector = Execution::Vector { lanes: None, reductions: Vec::new() };
            nodes.extend(guarded(
                &full,
                vec![self.panel(operand, side, vector, copy)],
                vec![self.panel(operand, side, Execution::Sequential, masked)],
            ));
        }
        side.panels(self, execution, nodes)
    }

    /// Loops over a panel; the one that follows the operand's rows in memory is innermost, with execution `inner`.
    fn panel(&self, operand: &Packed, side: &Side<'_>, inner: Execution, body: Node) -> Node {
        let [kk, ..] = self.points;
        let depth_last = operand.value.reads().iter().any(|a| {
            let last = a.indices.last().and_then(Expr::as_affine);
            last.is_some_and(|i| self.statement.mapped(i).uses(self.c.depth))
        });
        let lanes = |execution, body| counted(side.lane, 0, side.width, 1, execution, vec![body]);
        let depth = |execution, body| counted((kk, "kk"), 0, self.depth_upper(), 1, execution, vec![body]);
        if depth_last {
            lanes(Execution::Sequential, depth(inner, body))
        } else {
            depth(Execution::Sequential, lanes(inner, body))
        }
    }

    /// The packed element for the current depth and lane.
    pub(super) fn packed_element(&self, operand: &Packed, side: &Side<'_>) -> Access {
        let [kk, ..] = self.points;
        Access::new(operand.array, [side.panel.0, kk, side.lane.0].map(Affine::var))
    }

    /// Replaces each packed operand by a read of its packed block.
    pub(super) fn replace_operands(&self, e: &mut Expr) {
        if let Some(operand) = self.packed.iter().find(|k| k.value == *e) {
            *e = Expr::Read(self.packed_element(operand, &self.side(operand.side)));
            return;
        }
        for child in e.children_mut() {
            self.replace_operands(child);
        }
    }
}
