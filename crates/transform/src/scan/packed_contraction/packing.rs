//! Copies operands into panels, in the order in which the register tile reads them.

use super::layout::{Counter, Extent, Layout, Packed, Side, assign, either, extreme, start, zero};
use crate::scan::condition;
use oxeye_ir::{Access, Affine, Bound, Constraint, Execution, Expr, Node, Update, Var};

impl Layout<'_> {
    /// The loop that fills the panels of one side of a block.
    pub(super) fn pack(&self, side: &Side<'_>, execution: Execution) -> Vec<Node> {
        let at = |v: Var| side.at(v).or_else(|| self.depth_at(v));
        let rows: Vec<&Constraint> = side.ends.iter().copied().chain(side.with_depth).collect();
        let mut over = vec![Extent { var: side.point, first: side.first.clone(), size: side.width }];
        over.extend(self.c.depth.iter().map(|axis| Extent {
            var: axis.point,
            first: start(axis),
            size: axis.size,
        }));
        let full: Vec<Constraint> = rows.iter().map(|r| extreme(r, &over, true)).collect();
        let valid: Vec<Constraint> = rows.iter().map(|r| r.substitute(&at)).collect();
        let vector = || Execution::Vector { lanes: None, reductions: Vec::new() };
        let mut nodes = Vec::new();
        for operand in self.packed.iter().filter(|o| o.side == side.part) {
            let mut value = self.mapped(&operand.value);
            value.substitute(&at);
            let target = self.packed_element(operand, side, self.depth_number());
            let copy = assign(target.clone(), Update::Assign, value);
            let blank = assign(target, Update::Assign, zero(self.ty));
            let width = || Bound::from(side.width);
            let whole = self.panel(operand, side, (0.into(), width()), vector(), copy.clone());
            let partial = match (&side.end, condition(&valid)) {
                // Up to the end, and nothing behind it: a panel that is not full ends inside.
                (Some(end), Some(_)) => {
                    let n_valid = Bound(vec![(end.clone() - side.first.clone()).into()]);
                    let mut both = self.panel(operand, side, (0.into(), n_valid.clone()), vector(), copy);
                    both.extend(self.panel(operand, side, (n_valid, width()), vector(), blank));
                    both
                }
                (None, Some(condition)) => {
                    let masked = Node::If { condition, then: vec![copy], otherwise: vec![blank] };
                    self.panel(operand, side, (0.into(), width()), Execution::Sequential, masked)
                }
                (_, None) => Vec::new(),
            };
            nodes.extend(either(&full, whole, partial));
        }
        side.panels(execution, nodes)
    }

    /// Loops over these lanes of a panel and its depth; the one that follows the operand's rows in memory is innermost, with
    /// execution `inner`.
    fn panel(
        &self,
        operand: &Packed,
        side: &Side<'_>,
        (from, to): (Bound, Bound),
        inner: Execution,
        body: Node,
    ) -> Vec<Node> {
        let along_depth = operand.value.reads().iter().any(|a| {
            let last = a.indices.last().and_then(Expr::as_affine).map(|i| self.statement.mapped(i));
            let depth = self.c.depth.last().map(|axis| axis.point);
            last.is_some_and(|i| depth.is_some_and(|id| i.uses(id)) && !i.uses(side.point))
        });
        if along_depth {
            side.lane.between(from, to, Execution::Sequential, self.over_depth(inner, vec![body]))
        } else {
            self.over_depth(Execution::Sequential, side.lane.between(from, to, inner, vec![body]))
        }
    }

    /// The packed element for a lane of the panel, at this depth in the block.
    pub(super) fn packed_element(&self, operand: &Packed, side: &Side<'_>, depth: Affine) -> Access {
        Access::new(operand.array, [side.panel_number(), depth, side.lane.value()])
    }

    /// Replaces each packed operand by a read of its packed block, in the sweep over depth.
    pub(super) fn replace_operands(&self, e: &mut Expr) {
        if let Some(operand) = self.packed.iter().find(|k| k.value == *e) {
            let depth = self.counters.sweep.as_ref().map_or_else(|| self.depth_number(), Counter::value);
            *e = Expr::Read(self.packed_element(operand, &self.side(operand.side), depth));
            return;
        }
        for child in e.children_mut() {
            self.replace_operands(child);
        }
    }
}
