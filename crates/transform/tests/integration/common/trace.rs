//! The reads and writes of each element by a nest, in order: the brute-force meaning of a dependence.

use oxeye_ir::interpret::Order;
use oxeye_ir::testing::Random;
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, SymId,
    Var,
};
use std::collections::BTreeMap;

type Element = (ArrayId, Vec<i64>);

/// Per element the writes in order, each with the reads since the previous write, in any order.
pub(crate) type Trace = BTreeMap<Element, Vec<(Vec<String>, String)>>;

/// The trace of an affine nest without scalars of its own; concurrent loops are visited in `order`.
pub(crate) fn trace(nest: &Nest, symbols: &[(SymId, i64)], order: Order) -> Option<Trace> {
    let seed = match order {
        Order::Shuffled(seed) => seed,
        _ => 0,
    };
    let mut tracer = Tracer {
        symbols: symbols.iter().copied().collect(),
        iterators: BTreeMap::new(),
        order,
        random: Random::new(seed),
        trace: Trace::new(),
        pending: BTreeMap::new(),
    };
    tracer.nodes(&nest.roots)?;
    for (element, mut reads) in std::mem::take(&mut tracer.pending) {
        reads.sort();
        tracer.trace.entry(element).or_default().push((reads, String::new()));
    }
    Some(tracer.trace)
}

struct Tracer {
    symbols: BTreeMap<SymId, i64>,
    iterators: BTreeMap<LoopId, i64>,
    order: Order,
    random: Random,
    trace: Trace,
    pending: BTreeMap<Element, Vec<String>>,
}

impl Tracer {
    fn value(&self, a: &Affine) -> Option<i64> {
        a.evaluate(&|v| match v {
            Var::Loop(l) => self.iterators.get(&l).copied(),
            Var::Sym(s) => self.symbols.get(&s).copied(),
        })
    }

    fn holds(&self, e: &Expr) -> Option<bool> {
        let Expr::Binary(op, l, r) = e else { return None };
        if *op == BinaryOp::And {
            return Some(self.holds(l)? && self.holds(r)?);
        }
        let (l, r) = (self.value(l.as_affine()?)?, self.value(r.as_affine()?)?);
        Some(match op {
            BinaryOp::Lt => l < r,
            BinaryOp::Le => l <= r,
            BinaryOp::Gt => l > r,
            BinaryOp::Ge => l >= r,
            BinaryOp::Eq => l == r,
            BinaryOp::Ne => l != r,
            _ => return None,
        })
    }

    fn bound(&self, bound: &Bound) -> Option<Vec<i64>> {
        bound
            .0
            .iter()
            .map(|t| match t {
                BoundTerm::Affine { expr, divisor } => {
                    let v = self.value(expr)?;
                    Some(v.div_euclid(*divisor) + i64::from(v.rem_euclid(*divisor) != 0))
                }
                BoundTerm::Data(_) | BoundTerm::Open => None,
            })
            .collect()
    }

    fn visits(&mut self, l: &Loop) -> Option<Vec<i64>> {
        let lower = self.bound(&l.lower)?.into_iter().max()?;
        let upper = self.bound(&l.upper)?.into_iter().min()?;
        let step = l.step.unsigned_abs() as usize;
        let mut visits: Vec<i64> = if l.step > 0 {
            (lower..upper).step_by(step).collect()
        } else {
            (lower..upper).rev().step_by(step).collect()
        };
        if matches!(l.execution, Execution::Parallel { .. } | Execution::Vector { .. }) {
            match self.order {
                Order::Forward => {}
                Order::Reversed => visits.reverse(),
                Order::Shuffled(_) => {
                    for k in (1..visits.len()).rev() {
                        visits.swap(k, self.random.below(k + 1));
                    }
                }
            }
        }
        Some(visits)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    for value in self.visits(l)? {
                        self.iterators.insert(l.id, value);
                        self.nodes(&l.body)?;
                    }
                    self.iterators.remove(&l.id);
                }
                Node::If { condition, then, otherwise } => {
                    self.nodes(if self.holds(condition)? { then } else { otherwise })?;
                }
                Node::Stmt(s) => {
                    let constant = |e: &Expr| {
                        let mut e = e.clone();
                        e.substitute(&|v| self.value(&Affine::var(v)).map(Affine::constant));
                        e
                    };
                    let element = |a: &Access| {
                        let indices: Option<Vec<i64>> =
                            a.indices.iter().map(|i| constant(i).as_affine()?.as_constant()).collect();
                        Some((a.array, indices?))
                    };
                    let (target, value) = (element(&s.target)?, constant(&s.value));
                    let reads: Option<Vec<Element>> = value.reads().into_iter().map(element).collect();
                    let key = format!("{target:?} {:?} {value:?}", s.update);
                    for read in reads? {
                        self.pending.entry(read).or_default().push(key.clone());
                    }
                    let mut before = self.pending.remove(&target).unwrap_or_default();
                    before.sort();
                    self.trace.entry(target).or_default().push((before, key));
                }
            }
        }
        Some(())
    }
}
