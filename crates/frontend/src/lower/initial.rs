//! Arrays that are declared with lists of values: `double c[2][2] = { { x, y }, { z } };`.

use super::lowerer::Lowerer;
use crate::ast::{self, ExprKind, Range, Type};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Affine, ArrayId, Bound, Execution, Expr, Loop, LoopId, Node, ScalarType, Update};

/// Longest list of initial values that is read.
const MOST_VALUES: usize = 64;

impl Lowerer<'_> {
    /// As many elements as have values get those, and the others zeros.
    pub(super) fn initial_values(
        &mut self,
        (array, of): (ArrayId, &Type),
        values: &[ast::Expr],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let declared = self.state.program.array(array);
        let extents: Option<Vec<i64>> =
            declared.shape.iter().map(|e| e.as_ref()?.as_affine()?.as_constant()).collect();
        let mut given = Vec::new();
        let are_placed = |extents: &Vec<i64>| places(values, extents, &mut Vec::new(), &mut given);
        let Some(extents) = extents.filter(are_placed).filter(|_| given.len() <= MOST_VALUES) else {
            let name = &declared.name;
            return Err(Refusal::new(at, format!("`{name}` is initialised by a list of initial values"))
                .help("assign its elements one by one"));
        };
        if given.iter().all(|(_, value)| is_zero(value)) {
            given.clear();
        }
        let n_given = given.len() as i64;
        if given.is_empty() || n_given < extents.iter().product() {
            // The first ones of a row are set below.
            let first = if extents.len() == 1 { n_given } else { 0 };
            self.zeros(array, first, &extents, at, out);
        }
        for (place, value) in given {
            let value = self.hoisting(None, out, |l, _| l.value(value))?;
            let value = self.as_flag(value, of);
            let indices = place.into_iter().map(Expr::from).collect();
            self.push(Access { array, indices }, Update::Assign, value.e, at, out);
        }
        Ok(())
    }

    /// Loops that set the elements of an array to zero, from a first one on.
    fn zeros(&mut self, array: ArrayId, first: i64, extents: &[i64], at: Range, out: &mut Vec<Node>) {
        let zero = match self.state.program.array(array).element {
            ScalarType::F32 => Expr::Float { text: "0.0f".into(), ty: ScalarType::F32 },
            ty if ty.is_float() => Expr::Float { text: "0.0".into(), ty },
            _ => Expr::from(0),
        };
        let ids: Vec<LoopId> = extents.iter().map(|_| self.fresh_loop()).collect();
        let indices = ids.iter().map(|id| Expr::from(*id)).collect();
        let mut nodes = Vec::new();
        self.push(Access { array, indices }, Update::Assign, zero, at, &mut nodes);
        for (k, (id, extent)) in ids.iter().zip(extents).enumerate().rev() {
            self.loop_types.insert(*id, ScalarType::I32);
            let lower = if k == 0 { first } else { 0 };
            nodes = vec![Node::Loop(Loop {
                id: *id,
                name: "k".to_owned(),
                ty: ScalarType::I32,
                lower: Bound(vec![Affine::constant(lower).into()]),
                upper: Bound(vec![Affine::constant(*extent).into()]),
                step: 1,
                execution: Execution::Sequential,
                body: nodes,
            })];
        }
        out.append(&mut nodes);
    }
}

/// Finds the element that each value of a list is for; rows have lists of their own, or none has one. Whether there are no more
/// values than elements.
fn places<'e>(
    values: &'e [ast::Expr],
    extents: &[i64],
    outer: &mut Vec<i64>,
    given: &mut Vec<(Vec<i64>, &'e ast::Expr)>,
) -> bool {
    let lists = values.iter().filter(|value| matches!(value.kind, ExprKind::List(_))).count();
    let (extent, inner) = match extents.split_first() {
        Some((extent, inner)) => (*extent, inner),
        None => (1, extents),
    };
    if lists == 0 {
        for (k, value) in (0i64..).zip(values) {
            let mut place = outer.clone();
            let mut rest = k;
            for n in (0..extents.len()).map(|d| extents[d + 1..].iter().product::<i64>()) {
                place.push(rest / n.max(1));
                rest %= n.max(1);
            }
            given.push((place, value));
        }
        return values.len() as i64 <= extents.iter().product();
    }
    let is_row = |(k, value): (i64, &'e ast::Expr)| {
        let ExprKind::List(row) = &value.kind else { return false };
        outer.push(k);
        let is_placed = places(row, inner, outer, given);
        outer.pop();
        is_placed
    };
    lists == values.len() && !inner.is_empty() && lists as i64 <= extent && (0i64..).zip(values).all(is_row)
}

fn is_zero(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Int(0, _) => true,
        ExprKind::Float(text, _) => text.trim_end_matches(['f', 'F']).parse::<f64>() == Ok(0.0),
        _ => false,
    }
}
