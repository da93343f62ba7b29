//! Containers become arrays; parts of containers become views of them.

use super::complex::{Number, part};
use super::names::{Env, Names, View, complex_type, hole, identifier, number, scalar_type, type_of};
use super::nest::Cx;
use super::ranges::Span;
use super::state::Lowering;
use crate::model::{Descriptor, Graph};
use crate::polynomial::{Polynomial, are_equal};
use crate::structure::{Control, CountedLoop};
use crate::syntax::{Operator, parse_expression};
use oxeye_ir::{Affine, Array, ArrayId, BinaryOp, Expr, Form, ScalarType, Storage, SymId, Var};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, String>;

/// First and last values of the iterators of a graph's own loops, as text.
pub(super) type Iterators = BTreeMap<String, Vec<(String, crate::syntax::Ex)>>;

/// The counted loops of a graph, by iterator: the assignment of the first value, and the last one.
pub(super) fn iterators(controls: &[Control<'_>]) -> Iterators {
    fn visit(controls: &[Control<'_>], firsts: &mut BTreeMap<String, String>, found: &mut Iterators) {
        for control in controls {
            match control {
                Control::Assign(assignments) => firsts.extend(assignments.iter().cloned()),
                Control::Loop(CountedLoop { variable, comparison, limit, body, .. }) => {
                    if let Some(first) = firsts.get(variable) {
                        let one = Box::new(crate::syntax::Ex::Int(1));
                        let last = match comparison {
                            Operator::Lt => {
                                crate::syntax::Ex::Binary(Operator::Sub, Box::new(limit.clone()), one)
                            }
                            Operator::Gt => {
                                crate::syntax::Ex::Binary(Operator::Add, Box::new(limit.clone()), one)
                            }
                            _ => limit.clone(),
                        };
                        found.entry(variable.clone()).or_default().push((first.clone(), last));
                    }
                    visit(body, firsts, found);
                }
                Control::While { body, .. } => visit(body, firsts, found),
                Control::Branch { arms, otherwise } => {
                    arms.iter().for_each(|(_, body)| visit(body, firsts, found));
                    visit(otherwise, firsts, found);
                }
                Control::State(_) | Control::Opaque { .. } => {}
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(controls, &mut BTreeMap::new(), &mut found);
    found
}

/// Names of an environment, with the iterators of loops as unknowns that have bounds.
struct WithIterators<'a> {
    env: &'a Env,
    unknowns: &'a BTreeMap<String, SymId>,
}

impl Names for WithIterators<'_> {
    fn value(&self, name: &str) -> Result<Number> {
        match self.unknowns.get(name) {
            Some(id) => Ok(Number::Real(Expr::from(*id))),
            None => self.env.value(name),
        }
    }

    fn element(&self, name: &str, indices: Vec<Expr>) -> Result<Number> {
        self.env.element(name, indices)
    }
}

/// Holes for iterators begin behind those for indices.
const FIRST_UNKNOWN: usize = 500;

impl Lowering {
    /// Declares the containers of a graph that are not bound yet. Without a nest they live as long as the program.
    pub(super) fn declare(&mut self, graph: &Graph, env: &mut Env, iterators: &Iterators, cx: Option<&Cx>) {
        let mut unknowns = BTreeMap::new();
        for (position, name) in iterators.keys().enumerate() {
            if position < FIRST_UNKNOWN - 10 {
                unknowns.insert(name.clone(), hole(FIRST_UNKNOWN + position));
            }
        }
        let kept = self.ranges.clone();
        self.bound_unknowns(env, iterators, &unknowns);
        for (name, descriptor) in &graph.arrays {
            if env.data.contains_key(name) || descriptor.kind.contains("View") {
                continue;
            }
            match self.declared(name, descriptor, env, &unknowns, cx) {
                Ok(view) => {
                    env.data.insert(name.clone(), view);
                }
                Err(reason) => {
                    env.missing.insert(name.clone(), reason);
                }
            }
        }
        self.ranges = kept;
        for (name, text) in &graph.constants {
            let ty = if text.contains(['.', 'e', 'E']) { ScalarType::F64 } else { ScalarType::I64 };
            if let Ok(value) = number(text, ty) {
                env.symbols.entry(name.clone()).or_insert(value);
            }
        }
    }

    /// What is known of iterators, from the outermost loop to the innermost.
    fn bound_unknowns(&mut self, env: &Env, iterators: &Iterators, unknowns: &BTreeMap<String, SymId>) {
        for (name, loops) in iterators {
            let (Some(id), [(first, last)]) = (unknowns.get(name), loops.as_slice()) else { continue };
            let names = WithIterators { env, unknowns };
            let first = parse_expression(first).ok().and_then(|e| self.convert_with(&e, &names).ok());
            let last = self.convert_with(last, &names).ok();
            if let (Some(Expr::Affine(first)), Some(Expr::Affine(last))) = (first, last) {
                // A loop that runs down has its greatest value first.
                let is_down = (last.clone() - first.clone()).as_constant().is_some_and(|d| d < 0)
                    || (last.terms().next().is_none() && first.terms().next().is_some());
                let range = if is_down { (last, first) } else { (first, last) };
                self.ranges.insert((*id).into(), range);
            }
        }
    }

    fn declared(
        &mut self,
        name: &str,
        descriptor: &Descriptor,
        env: &Env,
        unknowns: &BTreeMap<String, SymId>,
        cx: Option<&Cx>,
    ) -> Result<View> {
        if !matches!(descriptor.kind.as_str(), "Array" | "Scalar") {
            return Err(format!("a container of type {} is not supported", descriptor.kind));
        }
        let complex = complex_type(&descriptor.dtype);
        let (element, is_bool) = complex
            .map(|element| (element, false))
            .or_else(|| scalar_type(&descriptor.dtype))
            .ok_or_else(|| format!("elements of type {} are not supported", descriptor.dtype))?;
        let is_scalar = descriptor.kind == "Scalar";
        if is_scalar && complex.is_some() && !descriptor.is_transient {
            return Err("a complex number as an argument is not supported".into());
        }
        let names = WithIterators { env, unknowns };
        let exact = self.extents(descriptor, &names)?;
        let strides = self.strides(descriptor, &exact, &names)?;
        if exact.iter().chain(&strides).any(|e| !e.reads().is_empty()) {
            return Err("its size is read from memory".into());
        }
        let layout = layout(&exact, &strides);
        let storage = match cx {
            _ if !descriptor.is_transient => Storage::Param,
            Some(cx) if is_small(&exact, element) => cx.storage(),
            _ => Storage::Local,
        };
        let mut is_relaid = false;
        let mut shape = Vec::new();
        for (dim, extent) in exact.iter().enumerate() {
            let bounded = self.largest(extent, 0);
            let bounded = bounded.ok_or_else(|| "its size is not known beforehand".to_owned())?;
            is_relaid |= dim > 0 && bounded != *extent;
            shape.push(bounded);
        }
        // Which dimension of the container each dimension of the array is.
        let mut order: Vec<usize> = (0..shape.len()).collect();
        match layout {
            Some(found) => order = found,
            None if descriptor.is_transient => is_relaid = true,
            None => return Err("its strides are not those of a dense array".into()),
        }
        let form = if is_scalar || matches!(storage, Storage::Body(_)) { Form::Nested } else { Form::Linear };
        let mut permuted: Vec<Expr> = order.iter().map(|dim| shape[*dim].clone()).collect();
        if is_scalar {
            permuted.clear();
        }
        // The parts of a complex number lie next to each other.
        permuted.extend(complex.map(|_| Expr::from(2)));
        let id = self.program.add_array(Array {
            id: ArrayId(0),
            name: identifier(name),
            element,
            c_type: None,
            shape: permuted.into_iter().map(Some).collect(),
            form,
            storage,
            align: 0,
        });
        if is_relaid {
            self.relaid.insert(id);
        }
        let mut view = View::whole(id, exact, strides, is_bool);
        view.index =
            if is_scalar { Vec::new() } else { order.iter().map(|d| Expr::from(hole(*d))).collect() };
        view.index.extend(complex.map(|_| Expr::from(part())));
        Ok(view)
    }

    /// The extents of a container.
    pub(super) fn extents(&self, descriptor: &Descriptor, names: &dyn Names) -> Result<Vec<Expr>> {
        if descriptor.kind == "Scalar" {
            return Ok(vec![Expr::from(1)]);
        }
        if descriptor.shape.len() > 16 {
            return Err("it has too many dimensions".into());
        }
        descriptor.shape.iter().map(|text| self.size(text, names)).collect()
    }

    /// The strides of a container with these extents.
    pub(super) fn strides(
        &self,
        descriptor: &Descriptor,
        extents: &[Expr],
        names: &dyn Names,
    ) -> Result<Vec<Expr>> {
        if let Some(strides) = &descriptor.strides
            && strides.len() == extents.len()
        {
            return strides.iter().map(|text| self.size(text, names)).collect();
        }
        let mut strides = vec![Expr::from(1)];
        for extent in extents.iter().skip(1).rev() {
            let last = strides[strides.len() - 1].clone();
            strides.push(Expr::binary(BinaryOp::Mul, last, extent.clone()));
        }
        strides.reverse();
        Ok(strides)
    }

    /// A size: an integer.
    fn size(&self, text: &str, names: &dyn Names) -> Result<Expr> {
        let ex = parse_expression(text).map_err(|e| format!("`{text}`: {e}"))?;
        let size = self.convert_with(&ex, names)?;
        if type_of(&self.program, &size).is_float() {
            return Err(format!("its size `{text}` is no integer"));
        }
        Ok(size)
    }

    /// The largest value of an expression of iterators, as one of symbols.
    pub(super) fn largest(&self, expr: &Expr, depth: usize) -> Option<Expr> {
        if depth > 20 {
            return None;
        }
        match expr {
            Expr::Affine(a) => {
                let Some((var, range)) = a.terms().find_map(|(v, _)| Some((v, self.ranges.get(&v)?))) else {
                    let is_known = |v: Var| match v {
                        Var::Loop(_) => false,
                        Var::Sym(id) => self.program.symbols.contains_key(&id),
                    };
                    return a.terms().all(|(v, _)| is_known(v)).then(|| expr.clone());
                };
                let end = if a.coefficient(var) > 0 { &range.1 } else { &range.0 };
                let with = a.substitute(&|v| (v == var).then(|| end.clone()));
                self.largest(&Expr::Affine(with), depth + 1)
            }
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max | BinaryOp::Add), l, r) => {
                Some(Expr::binary(*op, self.largest(l, depth + 1)?, self.largest(r, depth + 1)?))
            }
            Expr::Binary(op, l, r) => {
                let mut is_fixed = true;
                expr.visit(&mut |e| {
                    if let Expr::Affine(a) = e {
                        is_fixed &= self.largest(&Expr::Affine(a.clone()), depth + 1).as_ref() == Some(e);
                    }
                });
                if is_fixed {
                    return Some(expr.clone());
                }
                let divisor = r.as_affine().and_then(Affine::as_constant);
                match (op, divisor) {
                    (BinaryOp::Div | BinaryOp::Mul, Some(1..)) => {
                        Some(Expr::binary(*op, self.largest(l, depth + 1)?, (**r).clone()))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A container that is a part of another one: `span` says which.
    pub(super) fn window(
        &self,
        outer: &View,
        span: &[Span],
        shape: Vec<Expr>,
        strides: Vec<Expr>,
        is_bool: bool,
    ) -> Result<View> {
        if span.len() != outer.shape.len() {
            return Err("a subset has not as many dimensions as its container".into());
        }
        let is_one = |e: &Expr| *e == Expr::from(1);
        let mut start: Vec<Expr> = span.iter().map(|s| s.start.clone()).collect();
        let mut is_taken: Vec<bool> = vec![false; start.len()];
        let same_rank = shape.len() == start.len();
        let mut is_matched = true;
        for (dim, extent) in shape.iter().enumerate() {
            if is_one(extent) && (!same_rank || span[dim].is_single()) {
                continue;
            }
            let fits = |at: &usize| {
                let step = Expr::binary(BinaryOp::Mul, outer.strides[*at].clone(), span[*at].step.clone());
                !is_taken[*at]
                    && (are_equal(&outer.strides[*at], &strides[dim]) || are_equal(&step, &strides[dim]))
            };
            // Of equal strides, those of dimensions that the subset runs over.
            let mut candidates: Vec<usize> = (0..start.len()).filter(fits).collect();
            candidates.sort_by_key(|at| (span[*at].is_single(), same_rank && *at != dim));
            let Some(at) = candidates.first().copied() else {
                is_matched = false;
                break;
            };
            is_taken[at] = true;
            let by_step = !are_equal(&outer.strides[at], &strides[dim]);
            let mut index = Expr::from(hole(dim));
            if by_step {
                index = Expr::binary(BinaryOp::Mul, index, span[at].step.clone());
            }
            start[at] = Expr::binary(BinaryOp::Add, start[at].clone(), index);
        }
        let whole = if is_matched { start } else { self.reshaped(outer, span, &strides)? };
        let access = outer.at(&whole)?;
        Ok(View { array: outer.array, index: access.indices, shape, strides, is_bool })
    }

    /// Indices into a dense container that is seen with other dimensions.
    fn reshaped(&self, outer: &View, span: &[Span], strides: &[Expr]) -> Result<Vec<Expr>> {
        let order = layout(&outer.shape, &outer.strides);
        if order != Some((0..outer.shape.len()).collect()) {
            return Err("a part of an array is seen with other dimensions".into());
        }
        let product = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::Mul, a.clone(), b.clone());
        let mut linear = Expr::from(0);
        for (dim, stride) in strides.iter().enumerate() {
            linear = Expr::binary(BinaryOp::Add, linear, product(&Expr::from(hole(dim)), stride));
        }
        for (range, stride) in span.iter().zip(&outer.strides) {
            linear = Expr::binary(BinaryOp::Add, linear, product(&range.start, stride));
        }
        let last = outer.shape.len() - 1;
        Ok((0..=last)
            .map(|dim| {
                let mut index = linear.clone();
                if dim < last {
                    index = Expr::binary(BinaryOp::Div, index, outer.strides[dim].clone());
                }
                if dim > 0 {
                    index = Expr::binary(BinaryOp::Rem, index, outer.shape[dim].clone());
                }
                index
            })
            .collect())
    }
}

/// Whether an array fits on the stack: what is made anew inside a nest has to.
pub(super) fn is_small(extents: &[Expr], element: ScalarType) -> bool {
    const MOST_BYTES: i64 = 64 * 1024;
    let constant = |e: &Expr| e.as_affine().and_then(Affine::as_constant);
    let bytes = i64::try_from(2 * element.bytes()).ok();
    let bytes =
        extents.iter().try_fold(bytes, |n, e| Some(n.and_then(|n| n.checked_mul(constant(e)?.max(0)))));
    bytes.flatten().is_some_and(|bytes| bytes <= MOST_BYTES)
}

/// The dimensions from the largest stride to the smallest, if elements lie densely so.
fn layout(extents: &[Expr], strides: &[Expr]) -> Option<Vec<usize>> {
    let mut rest: Vec<usize> = (0..extents.len()).collect();
    let mut order = Vec::new();
    let mut expected = Polynomial::constant(1);
    while !rest.is_empty() {
        let is_one = |dim: usize| extents[dim] == Expr::from(1);
        let fits = |dim: &usize| Polynomial::of(&strides[*dim]) == expected;
        // Row-major where several would do.
        let position = rest.iter().rposition(fits).or_else(|| rest.iter().rposition(|dim| is_one(*dim)))?;
        let dim = rest.remove(position);
        order.push(dim);
        expected = expected.times(&Polynomial::of(&extents[dim]))?;
    }
    order.reverse();
    Some(order)
}
