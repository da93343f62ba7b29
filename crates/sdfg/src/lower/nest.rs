//! Parts of a nest: loops with bounds, statements, and scalars that live in their bodies.

use super::names::{identifier, type_of};
use super::state::Lowering;
use crate::polynomial::are_equal;
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Form, Loop, LoopId, Node,
    ScalarType, Stmt, StmtId, Storage, Update, Var,
};

/// The nest that is being made.
#[derive(Clone, Debug, Default)]
pub(super) struct Cx {
    /// Loops around this place.
    pub(super) loops: Vec<LoopId>,
    n_loops: u32,
    n_stmts: u32,
}

type Result<T> = std::result::Result<T, String>;

/// Makes what is inside loops, from their iterators.
type Inside<'a> = dyn FnMut(&mut Lowering, &mut Cx, &[Expr]) -> Result<Vec<Node>> + 'a;

impl Cx {
    /// Where something lives that is made anew here.
    pub(super) fn storage(&self) -> Storage {
        self.loops.last().map_or(Storage::Local, |l| Storage::Body(*l))
    }

    pub(super) fn stmt(&mut self, target: Access, update: Update, value: Expr) -> Node {
        let id = StmtId(self.n_stmts);
        self.n_stmts += 1;
        Node::Stmt(Stmt { id, target, update, value, line: None })
    }
}

/// The iterations of a loop: `first..end` by `step`, or with a negative step from `first` down to `end + 1`.
pub(super) struct Iterations {
    pub(super) name: String,
    pub(super) first: Expr,
    pub(super) end: Expr,
    pub(super) step: i64,
}

impl Iterations {
    pub(super) fn count(name: impl Into<String>, n: Expr) -> Self {
        Self { name: name.into(), first: Expr::from(0), end: n, step: 1 }
    }
}

impl Lowering {
    /// A loop; `body` gets its iterator.
    pub(super) fn for_loop(
        &mut self,
        cx: &mut Cx,
        iterations: Iterations,
        body: impl FnOnce(&mut Self, &mut Cx, Expr) -> Result<Vec<Node>>,
    ) -> Result<Node> {
        let Iterations { name, first, end, step } = iterations;
        let is_integer = |e: &Expr| !type_of(&self.program, e).is_float();
        if !is_integer(&first) || !is_integer(&end) {
            return Err(format!("the range of `{name}` is not one of integers"));
        }
        let one = Expr::from(1);
        let (lower, upper) = match step {
            0 => return Err(format!("`{name}` has step zero")),
            1.. => (first, end),
            _ => (Expr::binary(BinaryOp::Add, end, one.clone()), Expr::binary(BinaryOp::Add, first, one)),
        };
        let (lower, upper) = (self.bound(lower, BinaryOp::Max), self.bound(upper, BinaryOp::Min));
        let id = LoopId(cx.n_loops);
        cx.n_loops += 1;
        let last = |bound: &Bound| bound.0.iter().find_map(BoundTerm::as_affine).cloned();
        if let (Some(from), Some(to)) = (last(&lower), last(&upper)) {
            self.ranges.insert(Var::Loop(id), (from, to.offset(-1)));
        }
        cx.loops.push(id);
        let body = body(self, cx, Expr::from(id));
        cx.loops.pop();
        let name = identifier(&name);
        let (ty, execution) = (ScalarType::I64, Execution::Sequential);
        Ok(Node::Loop(Loop { id, name, ty, lower, upper, step, execution, body: body? }))
    }

    /// Loops around each other.
    pub(super) fn for_loops(
        &mut self,
        cx: &mut Cx,
        mut iterations: Vec<Iterations>,
        body: &mut Inside<'_>,
    ) -> Result<Vec<Node>> {
        iterations.reverse();
        self.for_loops_inside(cx, iterations, &mut Vec::new(), body)
    }

    fn for_loops_inside(
        &mut self,
        cx: &mut Cx,
        mut rest: Vec<Iterations>,
        iterators: &mut Vec<Expr>,
        body: &mut Inside<'_>,
    ) -> Result<Vec<Node>> {
        let Some(next) = rest.pop() else { return body(self, cx, iterators) };
        let node = self.for_loop(cx, next, |this, cx, iterator| {
            iterators.push(iterator);
            let inside = this.for_loops_inside(cx, rest, iterators, body);
            iterators.pop();
            inside
        })?;
        Ok(vec![node])
    }

    /// A bound; `combine` makes several terms of one.
    fn bound(&mut self, expr: Expr, combine: BinaryOp) -> Bound {
        let constant = |e: &Expr| e.as_affine().and_then(Affine::as_constant);
        match expr {
            Expr::Affine(a) => a.into(),
            Expr::Binary(op, l, r) if op == combine => {
                let (mut left, right) = (self.bound(*l, combine), self.bound(*r, combine));
                left.0.extend(right.0);
                left
            }
            // Adding to the least is adding to each.
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ref l, ref r)
                if matches!(&**l, Expr::Binary(op, ..) if *op == combine) && r.as_affine().is_some() =>
            {
                let (Expr::Binary(op, ..), Expr::Binary(_, a, b)) = (&expr, &**l) else {
                    return Bound(vec![BoundTerm::Data(expr)]);
                };
                let with = |e: &Expr| Expr::binary(*op, e.clone(), (**r).clone());
                let both = Expr::Binary(combine, Box::new(with(a)), Box::new(with(b)));
                self.bound(both, combine)
            }
            expr => {
                let (quotient, offset) = match &expr {
                    Expr::Binary(BinaryOp::Add, q, k) => (&**q, constant(k)),
                    Expr::Binary(BinaryOp::Sub, q, k) => (&**q, constant(k).map(|k| -k)),
                    other => (other, Some(0)),
                };
                if let (Expr::Binary(BinaryOp::Div, l, r), Some(offset)) = (quotient, offset)
                    && let (Some(numerator), Some(divisor @ 1..)) = (l.as_affine(), constant(r))
                {
                    let more = divisor.saturating_mul(offset).saturating_sub(divisor - 1);
                    let expr = numerator.clone().offset(more);
                    return Bound(vec![BoundTerm::Affine { expr, divisor }]);
                }
                if let Some(symbol) = self.symbol_of(&expr) {
                    return symbol.into();
                }
                Bound(vec![BoundTerm::Data(expr)])
            }
        }
    }

    /// A symbol whose value an expression of other symbols is.
    fn symbol_of(&mut self, expr: &Expr) -> Option<Affine> {
        let mut is_symbolic = expr.reads().is_empty();
        expr.visit(&mut |e| match e {
            Expr::Affine(a) => is_symbolic &= a.loops().next().is_none(),
            Expr::Binary(..) => {}
            _ => is_symbolic = false,
        });
        if !is_symbolic {
            return None;
        }
        let found = self.definitions.iter().find(|(_, e)| are_equal(e, expr)).map(|(id, _)| *id);
        let id = found.unwrap_or_else(|| {
            let name = oxeye_ir::Names::new(&self.program).expr(expr);
            let id = self.program.add_symbol(format!("({name})"), ScalarType::I64);
            self.definitions.insert(id, expr.clone());
            id
        });
        Some(id.into())
    }

    /// A scalar that lives in the innermost loop's body.
    pub(super) fn local_scalar(&mut self, cx: &Cx, name: &str, element: ScalarType) -> ArrayId {
        self.program.add_array(Array {
            id: ArrayId(0),
            name: identifier(name),
            element,
            c_type: None,
            shape: Vec::new(),
            form: Form::Nested,
            storage: cx.storage(),
            align: 0,
        })
    }
}
