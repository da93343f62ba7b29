//! Constants in place of what is read, and what falls away then.

use super::literal::float;
use oxeye_ir::{
    Affine, ArrayId, BinaryOp, BoundTerm, Expr, Loop, Nest, Node, Program, ScalarType, Stmt, Storage, Types,
    UnaryOp, Update,
};
use std::collections::BTreeSet;

/// Puts a value in place of every read of an array under some nodes.
pub(crate) fn replaced_by(nodes: &mut [Node], array: ArrayId, value: &Expr) {
    for node in nodes {
        for_each_expr(node, &mut |e, _| {
            e.rewrite(&mut |e| match e {
                Expr::Read(access) if access.array == array => *e = value.clone(),
                // What has become affine is one expression.
                Expr::Binary(op, l, r) => *e = Expr::binary(*op, (**l).clone(), (**r).clone()),
                Expr::Unary(op, inner) => *e = Expr::unary(*op, (**inner).clone()),
                _ => {}
            });
        });
    }
}

/// Calls `f` on every expression under a node, with the loops around it.
fn for_each_expr(node: &mut Node, f: &mut dyn FnMut(&mut Expr, &[Loop])) {
    fn go(node: &mut Node, path: &mut Vec<Loop>, f: &mut dyn FnMut(&mut Expr, &[Loop])) {
        match node {
            Node::Stmt(s) => {
                s.target.indices.iter_mut().for_each(|e| f(e, path));
                f(&mut s.value, path);
            }
            Node::If { condition, .. } => f(condition, path),
            Node::Loop(l) => {
                for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                    if let BoundTerm::Data(e) = term {
                        f(e, path);
                    }
                }
            }
        }
        let header = match node {
            Node::Loop(l) => Some(Loop { body: Vec::new(), ..l.clone() }),
            _ => None,
        };
        let n_around = path.len();
        path.extend(header);
        for body in node.bodies_mut() {
            body.iter_mut().for_each(|node| go(node, path, f));
        }
        path.truncate(n_around);
    }
    go(node, &mut Vec::new(), f);
}

/// Simplifies the nodes of a nest: constants are put in place of the variables that hold them, and what changes no value is
/// left out; with `finite`, numbers are finite and zeros have no sign. Every value stays the same to the last bit, but for the
/// sign of zeros then.
pub(crate) fn simplified(program: &Program, nest: &mut Nest, finite: bool) {
    loop {
        let before = nest.roots.clone();
        for node in &mut nest.roots {
            for_each_expr(node, &mut |e, path| {
                let path: Vec<&Loop> = path.iter().collect();
                let types = Types::inside(program, &path);
                e.rewrite(&mut |e| {
                    if let Some(simpler) = simpler(e, &types, finite) {
                        *e = simpler;
                    }
                });
            });
        }
        nest.roots =
            std::mem::take(&mut nest.roots).into_iter().flat_map(|n| pruned(program, n, finite)).collect();
        constants(program, nest);
        if nest.roots == before {
            return;
        }
    }
}

fn is_zero(e: &Expr) -> bool {
    float(e) == Some(0.0) || e.as_affine().and_then(Affine::as_constant) == Some(0)
}

/// Zero without a sign.
fn is_plain_zero(e: &Expr) -> bool {
    is_zero(e) && !float(e).is_some_and(f64::is_sign_negative)
}

fn is_one(e: &Expr) -> bool {
    float(e) == Some(1.0) || e.as_affine().and_then(Affine::as_constant) == Some(1)
}

fn zero(ty: ScalarType) -> Expr {
    Expr::Float { text: if ty == ScalarType::F32 { "0.0f" } else { "0.0" }.into(), ty }
}

/// A simpler expression of the same type and value. Integers are left to compilers.
fn simpler(e: &Expr, types: &Types<'_>, finite: bool) -> Option<Expr> {
    let ty = types.expr(e);
    let same = |e: &Expr| (types.expr(e) == ty).then(|| e.clone());
    match e {
        Expr::Binary(op, l, r) if op.is_logical() => {
            let (l, r) = (float(l)?, float(r)?);
            let holds = match op {
                BinaryOp::Lt => l < r,
                BinaryOp::Le => l <= r,
                BinaryOp::Gt => l > r,
                BinaryOp::Ge => l >= r,
                BinaryOp::Eq => l == r,
                BinaryOp::Ne => l != r,
                _ => return None,
            };
            Some(Expr::from(i64::from(holds)))
        }
        Expr::Select { condition, then, otherwise } => {
            let holds = condition.as_affine()?.as_constant()?;
            same(if holds != 0 { then } else { otherwise })
        }
        Expr::Unary(UnaryOp::Not, inner) => {
            let value = inner.as_affine()?.as_constant()?;
            Some(Expr::from(i64::from(value == 0)))
        }
        Expr::Unary(UnaryOp::Neg, inner) if ty.is_float() && finite && is_zero(inner) => Some(zero(ty)),
        Expr::Binary(op, l, r) if ty.is_float() => match op {
            BinaryOp::Mul if finite && (is_zero(l) || is_zero(r)) => Some(zero(ty)),
            BinaryOp::Mul if is_one(l) => same(r),
            BinaryOp::Mul | BinaryOp::Div if is_one(r) => same(l),
            BinaryOp::Div if finite && is_zero(l) => Some(zero(ty)),
            BinaryOp::Add if finite && is_zero(l) => same(r),
            BinaryOp::Add if finite && is_zero(r) => same(l),
            BinaryOp::Sub if is_plain_zero(r) || finite && is_zero(r) => same(l),
            BinaryOp::Sub if finite && is_zero(l) => Some(Expr::unary(UnaryOp::Neg, same(r)?)),
            _ => None,
        },
        _ => None,
    }
}

/// A node without what does nothing.
fn pruned(program: &Program, node: Node, finite: bool) -> Vec<Node> {
    let all =
        |nodes: Vec<Node>| nodes.into_iter().flat_map(|n| pruned(program, n, finite)).collect::<Vec<_>>();
    match node {
        Node::Stmt(s) if does_nothing(program, &s, finite) => Vec::new(),
        Node::Stmt(s) => vec![Node::Stmt(s)],
        Node::Loop(mut l) => {
            l.body = all(l.body);
            if l.body.is_empty() { Vec::new() } else { vec![Node::Loop(l)] }
        }
        Node::If { condition, then, otherwise } => {
            match condition.as_affine().and_then(Affine::as_constant) {
                Some(0) => return all(otherwise),
                Some(_) => return all(then),
                None => {}
            }
            let (then, otherwise) = (all(then), all(otherwise));
            if then.is_empty() && otherwise.is_empty() {
                return Vec::new();
            }
            vec![Node::If { condition, then, otherwise }]
        }
    }
}

fn does_nothing(program: &Program, s: &Stmt, finite: bool) -> bool {
    let is_float = program.array(s.target.array).element.is_float();
    match s.update {
        Update::Add => is_zero(&s.value) && (finite || !is_float),
        Update::Sub => is_plain_zero(&s.value) || finite && is_zero(&s.value),
        Update::Mul | Update::Div => is_one(&s.value),
        Update::Assign | Update::Min | Update::Max => false,
    }
}

/// Puts the values of variables that hold one constant in the place of their reads. They are declared in the body of a loop and
/// set once: whoever reads them in an iteration reads what was set there.
fn constants(program: &Program, nest: &mut Nest) {
    let mut known: Vec<(ArrayId, Expr)> = Vec::new();
    let mut several: BTreeSet<ArrayId> = BTreeSet::new();
    for s in nest.stmts() {
        let array = program.array(s.target.array);
        if !matches!(array.storage, Storage::Body(_))
            || !array.shape.is_empty()
            || nest.live_out.contains(&array.id)
        {
            continue;
        }
        let is_first = s.update == Update::Assign && known.iter().all(|(id, _)| *id != array.id);
        let is_constant =
            float(&s.value).is_some() && Types::inside(program, &[]).expr(&s.value) == array.element;
        let value = (is_first && is_constant).then(|| s.value.clone());
        match value {
            Some(value) => known.push((array.id, value)),
            None => _ = several.insert(array.id),
        }
    }
    known.retain(|(id, _)| !several.contains(id));
    for (id, value) in &known {
        replaced_by(&mut nest.roots, *id, value);
    }
    let is_known = |s: &Stmt| known.iter().any(|(id, _)| *id == s.target.array);
    fn without(nodes: &mut Vec<Node>, is_known: &dyn Fn(&Stmt) -> bool) {
        nodes.retain(|node| !matches!(node, Node::Stmt(s) if is_known(s)));
        nodes.iter_mut().flat_map(Node::bodies_mut).for_each(|body| without(body, is_known));
    }
    without(&mut nest.roots, &is_known);
}
