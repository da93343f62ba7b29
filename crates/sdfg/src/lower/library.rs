//! Operations of libraries become loops.

use super::complex::{self, Number};
use super::names::{Env, View, number};
use super::nest::{Cx, Iterations};
use super::ranges::Span;
use super::state::{Lowering, Site};
use super::tasklet::Combination;
use crate::json::Json;
use crate::model::Edge;
use crate::polynomial::are_equal;
use oxeye_ir::{Access, Expr, Node, Update};

type Result<T> = std::result::Result<T, String>;

/// A subset of a container as an array of the dimensions it runs over.
struct Operand {
    view: View,
    spans: Vec<Span>,
    /// Dimensions with more than one index.
    dims: Vec<usize>,
}

impl Operand {
    fn rank(&self) -> usize {
        self.dims.len()
    }

    fn extent(&self, k: usize) -> Expr {
        self.spans[self.dims[k]].count()
    }

    /// An element, by indices into the dimensions it runs over.
    fn at(&self, indices: &[Expr]) -> Result<Access> {
        let at = |(dim, span): (usize, &Span)| match self.dims.iter().position(|d| *d == dim) {
            Some(k) => span.at(indices[k].clone()),
            None => span.start.clone(),
        };
        let whole: Vec<Expr> = self.spans.iter().enumerate().map(at).collect();
        self.view.at(&whole)
    }

    /// With its last two dimensions exchanged.
    fn transposed(mut self) -> Self {
        let n = self.dims.len();
        if n >= 2 {
            self.dims.swap(n - 1, n - 2);
        }
        self
    }
}

/// `c = alpha · a · b + beta · c`
struct Product {
    a: Operand,
    b: Operand,
    c: Operand,
    alpha: Option<String>,
    beta: Option<String>,
}

impl Lowering {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn library(
        &mut self,
        site: &Site<'_>,
        node: usize,
        class: &str,
        attributes: &Json,
        env: &Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let short = class.rsplit('.').next().unwrap_or(class);
        let input = |name: &str| {
            let edge = site.state.into(node).find(|e| e.dst_connector.as_deref() == Some(name));
            edge.ok_or_else(|| format!("nothing is connected to `{name}`"))
        };
        let output = |name: &str| {
            let edge = site.state.out_of(node).find(|e| e.src_connector.as_deref() == Some(name));
            edge.ok_or_else(|| format!("nothing is connected to `{name}`"))
        };
        let scale = |key: &str, neutral: &str| -> Result<Option<String>> {
            match attributes.get(key) {
                None | Some(Json::Null) => Ok(None),
                Some(Json::Number(text) | Json::String(text)) => {
                    let value: f64 = text.parse().map_err(|_| format!("`{key}` is no number"))?;
                    let is_neutral = neutral.parse() == Ok(value);
                    Ok((!is_neutral).then(|| text.clone()))
                }
                Some(_) => Err(format!("`{key}` is no number")),
            }
        };
        let is_set = |key: &str| attributes.get(key) == Some(&Json::Bool(true));
        let nodes = match short {
            "MatMul" | "Gemm" | "BatchedMatMul" => {
                let mut a = self.operand(env, input("_a")?)?;
                let mut b = self.operand(env, input("_b")?)?;
                if is_set("transA") {
                    a = a.transposed();
                }
                if is_set("transB") {
                    b = b.transposed();
                }
                let c = self.operand(env, output("_c")?)?;
                let (alpha, beta) = (scale("alpha", "1")?, scale("beta", "0")?);
                if beta.is_some() {
                    is_same(input("_cin").or_else(|_| input("_c"))?, output("_c")?)?;
                }
                self.product(Product { a, b, c, alpha, beta }, cx)?
            }
            "Gemv" => {
                let mut a = self.operand(env, input("_A")?)?;
                if is_set("transA") {
                    a = a.transposed();
                }
                let (b, c) = (self.operand(env, input("_x")?)?, self.operand(env, output("_y")?)?);
                let (alpha, beta) = (scale("alpha", "1")?, scale("beta", "0")?);
                if beta.is_some() {
                    is_same(input("_y")?, output("_y")?)?;
                }
                self.product(Product { a, b, c, alpha, beta }, cx)?
            }
            "Dot" => {
                let (a, b) = (self.operand(env, input("_x")?)?, self.operand(env, input("_y")?)?);
                let c = self.operand(env, output("_result")?)?;
                self.product(Product { a, b, c, alpha: None, beta: None }, cx)?
            }
            "Transpose" => {
                let from = self.operand(env, input("_inp")?)?;
                let to = self.operand(env, output("_out")?)?;
                self.transpose(&from, &to, cx)?
            }
            "Ger" | "Axpy" => {
                let names: &[&str] = if short == "Ger" { &["_x", "_y"] } else { &["_x"] };
                let factors: Result<Vec<Operand>> =
                    names.iter().map(|name| self.operand(env, input(name)?)).collect();
                let added = self.operand(env, input(if short == "Ger" { "_A" } else { "_y" })?)?;
                let to = self.operand(env, output("_res")?)?;
                let factor = scale(if short == "Ger" { "alpha" } else { "a" }, "1")?;
                self.update(&factors?, &added, &to, factor.as_deref(), cx)?
            }
            "TensorDot" => {
                let left = self.operand(env, input("_left_tensor")?)?;
                let right = self.operand(env, input("_right_tensor")?)?;
                let to = self.operand(env, output("_out_tensor")?)?;
                let in_left = positions(attributes.get("left_axes"), left.spans.len())?;
                let in_right = positions(attributes.get("right_axes"), right.spans.len())?;
                let order = match attributes.get("permutation") {
                    None | Some(Json::Null) => None,
                    order => Some(positions(order, to.spans.len())?).filter(|order| !order.is_empty()),
                };
                self.tensor_dot((left, in_left), (right, in_right), (to, order), cx)?
            }
            "TensorTranspose" => {
                let from = self.operand(env, input("_inp_tensor")?)?;
                let to = self.operand(env, output("_out_tensor")?)?;
                let (alpha, beta) = (scale("alpha", "1")?, scale("beta", "0")?);
                if alpha.is_some() || beta.is_some() {
                    return Err("a transposition with factors".into());
                }
                let axes = positions(attributes.get("axes"), from.spans.len())?;
                self.permuted(from, to, &axes, cx)?
            }
            "Reduce" => {
                let from = site.state.into(node).find(|e| e.memlet.is_some()).ok_or("it has no input")?;
                let to = site.state.out_of(node).find(|e| e.memlet.is_some()).ok_or("it has no output")?;
                self.reduce(env, from, to, attributes, cx)?
            }
            _ => return Err(format!("the operation {short} is not known")),
        };
        out.extend(nodes);
        Ok(())
    }

    fn operand(&self, env: &Env, edge: &Edge) -> Result<Operand> {
        let memlet = edge.memlet.as_ref().ok_or("an edge moves nothing")?;
        if memlet.wcr.is_some() {
            return Err(format!("its result is combined with what `{}` has", memlet.data));
        }
        let view = env.view(&memlet.data)?.clone();
        let spans = match &memlet.subset {
            Some(ranges) => self.spans(env, ranges)?,
            None => Self::all_of(&view),
        };
        if spans.len() != view.shape.len() {
            return Err(format!("a subset of `{}` has the wrong number of dimensions", memlet.data));
        }
        let dims = (0..spans.len()).filter(|dim| !spans[*dim].is_single()).collect();
        Ok(Operand { view, spans, dims })
    }

    /// Products of matrices and vectors, with leading dimensions that they are repeated over.
    fn product(&mut self, product: Product, cx: &mut Cx) -> Result<Vec<Node>> {
        let Product { a, b, c, alpha, beta } = product;
        if a.rank() == 0 || b.rank() == 0 {
            return Err("an operand has no dimension to sum over".into());
        }
        let n_batch = |operand: &Operand| operand.rank().saturating_sub(2);
        let n_leading = n_batch(&a).max(n_batch(&b));
        let has_row = a.rank() >= 2;
        let has_column = b.rank() >= 2;
        if c.rank() != n_leading + usize::from(has_row) + usize::from(has_column) {
            return Err("its result has another shape than the product".into());
        }
        let row_of_b = b.rank() - 1 - usize::from(has_column);
        let (k_of_a, k_of_b) = (a.extent(a.rank() - 1), b.extent(row_of_b));
        if !are_equal(&k_of_a, &k_of_b) {
            return Err("its operands do not fit each other".into());
        }
        let element = self.program.array(c.view.array).element;
        let outer: Vec<Iterations> =
            (0..c.rank()).map(|k| Iterations::count(format!("__i{k}"), c.extent(k))).collect();
        self.for_loops(cx, outer, &mut |this, cx, at| {
            let target = c.at(at)?;
            let (update, first) = match &beta {
                None => (Update::Assign, number("0.0", element).or_else(|_| number("0", element))?),
                Some(beta) => (Update::Mul, number(beta, element)?),
            };
            let mut nodes =
                this.store(cx, target.clone(), &Combination::Update(update), false, Number::Real(first))?;
            let sum = this.for_loop(cx, Iterations::count("__k", k_of_a.clone()), |this, cx, k| {
                let leading = |operand: &Operand| at[n_leading - n_batch(operand)..n_leading].to_vec();
                let mut in_a = leading(&a);
                if has_row {
                    in_a.push(at[n_leading].clone());
                }
                in_a.push(k.clone());
                let mut in_b = leading(&b);
                in_b.push(k);
                if has_column {
                    in_b.push(at[c.rank() - 1].clone());
                }
                let mut left = Number::read(a.at(&in_a)?);
                if let Some(alpha) = &alpha {
                    left = complex::product(Number::Real(number(alpha, element)?), left);
                }
                let value = complex::product(left, Number::read(b.at(&in_b)?));
                this.store(cx, target, &Combination::Update(Update::Add), false, value)
            })?;
            nodes.push(sum);
            Ok(nodes)
        })
    }

    fn transpose(&mut self, from: &Operand, to: &Operand, cx: &mut Cx) -> Result<Vec<Node>> {
        if from.rank() != to.rank() || from.rank() > 2 {
            return Err("its result has another shape than its input".into());
        }
        let n = to.rank();
        let iterations = (0..n).map(|k| Iterations::count(format!("__i{k}"), to.extent(k))).collect();
        self.for_loops(cx, iterations, &mut |this, cx, at| {
            let mut turned = at.to_vec();
            turned.reverse();
            let value = Number::read(from.at(&turned)?);
            this.store(cx, to.at(at)?, &Combination::Update(Update::Assign), false, value)
        })
    }

    /// `to = factor · the product of the factors' elements + added`, each factor along one more dimension.
    fn update(
        &mut self,
        factors: &[Operand],
        added: &Operand,
        to: &Operand,
        factor: Option<&str>,
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        let n = to.rank();
        if n != factors.len() || added.rank() != n || factors.iter().any(|f| f.rank() != 1) {
            return Err("its operands do not fit each other".into());
        }
        let element = self.program.array(to.view.array).element;
        let iterations = (0..n).map(|k| Iterations::count(format!("__i{k}"), to.extent(k))).collect();
        self.for_loops(cx, iterations, &mut |this, cx, at| {
            let mut value = factor.map(|f| number(f, element)).transpose()?.map(Number::Real);
            for (factor, index) in factors.iter().zip(at) {
                let next = Number::read(factor.at(std::slice::from_ref(index))?);
                value = Some(match value {
                    None => next,
                    Some(value) => complex::product(value, next),
                });
            }
            let value = value.ok_or("it has no operands")?;
            let sum = complex::sum(value, Number::read(added.at(at)?))?;
            this.store(cx, to.at(at)?, &Combination::Update(Update::Assign), false, sum)
        })
    }

    /// Sums over some dimensions of two arrays; the others are those of the result, in an order.
    fn tensor_dot(
        &mut self,
        (mut left, in_left): (Operand, Vec<usize>),
        (mut right, in_right): (Operand, Vec<usize>),
        (mut to, order): (Operand, Option<Vec<usize>>),
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        for operand in [&mut left, &mut right, &mut to] {
            operand.dims = (0..operand.spans.len()).collect();
        }
        let kept = |operand: &Operand, summed: &[usize]| -> Vec<usize> {
            (0..operand.rank()).filter(|dim| !summed.contains(dim)).collect()
        };
        let (of_left, of_right) = (kept(&left, &in_left), kept(&right, &in_right));
        let n = of_left.len() + of_right.len();
        let order = order.unwrap_or_else(|| (0..n).collect());
        let fits = in_left.len() == in_right.len()
            && to.rank() == n
            && order.len() == n
            && (0..n).all(|k| order.contains(&k))
            && in_left.iter().zip(&in_right).all(|(l, r)| are_equal(&left.extent(*l), &right.extent(*r)));
        if !fits {
            return Err("its operands do not fit each other".into());
        }
        let element = self.program.array(to.view.array).element;
        let outer = (0..n).map(|k| Iterations::count(format!("__i{k}"), to.extent(k))).collect();
        self.for_loops(cx, outer, &mut |this, cx, at| {
            let target = to.at(at)?;
            let zero = Number::Real(number("0.0", element).or_else(|_| number("0", element))?);
            let mut nodes =
                this.store(cx, target.clone(), &Combination::Update(Update::Assign), false, zero)?;
            let place = |k: usize| at[order.iter().position(|o| *o == k).unwrap_or(k)].clone();
            let inner = in_left.iter().enumerate();
            let inner =
                inner.map(|(k, dim)| Iterations::count(format!("__k{k}"), left.extent(*dim))).collect();
            let sum = this.for_loops(cx, inner, &mut |this, cx, along| {
                let (mut l, mut r) = (vec![Expr::from(0); left.rank()], vec![Expr::from(0); right.rank()]);
                in_left.iter().zip(along).for_each(|(dim, e)| l[*dim] = e.clone());
                in_right.iter().zip(along).for_each(|(dim, e)| r[*dim] = e.clone());
                of_left.iter().enumerate().for_each(|(k, dim)| l[*dim] = place(k));
                of_right.iter().enumerate().for_each(|(k, dim)| r[*dim] = place(of_left.len() + k));
                let value = complex::product(Number::read(left.at(&l)?), Number::read(right.at(&r)?));
                this.store(cx, target.clone(), &Combination::Update(Update::Add), false, value)
            })?;
            nodes.extend(sum);
            Ok(nodes)
        })
    }

    /// Each dimension of the result is the one of the input that `axes` says.
    fn permuted(
        &mut self,
        mut from: Operand,
        mut to: Operand,
        axes: &[usize],
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        let n = from.spans.len();
        if axes.len() != n || to.spans.len() != n || (0..n).any(|dim| !axes.contains(&dim)) {
            return Err("its axes are no order of its dimensions".into());
        }
        (from.dims, to.dims) = ((0..n).collect(), (0..n).collect());
        if axes.iter().enumerate().any(|(k, axis)| !are_equal(&to.extent(k), &from.extent(*axis))) {
            return Err("its result has another shape than its input".into());
        }
        let iterations = (0..n).map(|k| Iterations::count(format!("__i{k}"), to.extent(k))).collect();
        self.for_loops(cx, iterations, &mut |this, cx, at| {
            let mut index = at.to_vec();
            axes.iter().zip(at).for_each(|(axis, e)| index[*axis] = e.clone());
            let value = Number::read(from.at(&index)?);
            this.store(cx, to.at(at)?, &Combination::Update(Update::Assign), false, value)
        })
    }

    fn reduce(
        &mut self,
        env: &Env,
        from: &Edge,
        to: &Edge,
        attributes: &Json,
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        let wcr = match attributes.get("wcr") {
            Some(Json::String(text)) => text.clone(),
            _ => return Err("how it combines is not known".into()),
        };
        let combination = Combination::parse(Some(&wcr))?;
        let mut input = self.operand(env, from)?;
        let output = self.operand(env, to)?;
        let rank = input.spans.len();
        input.dims = (0..rank).collect();
        let axes: Vec<usize> = match attributes.get("axes") {
            None | Some(Json::Null) => (0..rank).collect(),
            axes => positions(axes, rank)?,
        };
        let kept: Vec<usize> = (0..rank).filter(|dim| !axes.contains(dim)).collect();
        // Which dimension of the result each kept dimension is.
        let places: Vec<usize> = if output.spans.len() == kept.len() {
            (0..kept.len()).collect()
        } else if output.spans.len() == rank {
            kept.clone()
        } else if output.rank() == kept.len() {
            output.dims.clone()
        } else if kept.iter().all(|dim| input.spans[*dim].is_single()) {
            Vec::new()
        } else {
            return Err("its result has another shape than is left of its input".into());
        };
        let element = self.program.array(output.view.array).element;
        let identity = match attributes.get("identity") {
            None | Some(Json::Null) => None,
            Some(Json::Number(text) | Json::String(text)) => Some(match text.as_str() {
                "Infinity" | "inf" => number("inf", element)?,
                "-Infinity" | "-inf" => number("-inf", element)?,
                text => number(text, element)?,
            }),
            Some(Json::Bool(value)) => Some(Expr::from(i64::from(*value))),
            Some(_) => return Err("its first value is no number".into()),
        };
        let count = |dims: &[usize], name: &str| -> Vec<Iterations> {
            let of = |(k, dim): (usize, &usize)| {
                Iterations::count(format!("__{name}{k}"), input.spans[*dim].count())
            };
            dims.iter().enumerate().map(of).collect()
        };
        let (outer, inner) = (count(&kept, "i"), &axes);
        self.for_loops(cx, outer, &mut |this, cx, at| {
            let mut index: Vec<Expr> = output.spans.iter().map(|s| s.start.clone()).collect();
            for (place, iterator) in places.iter().zip(at) {
                index[*place] = output.spans[*place].at(iterator.clone());
            }
            let target = output.view.at(&index)?;
            let mut nodes = Vec::new();
            if let Some(identity) = &identity {
                let first = Number::Real(identity.clone());
                nodes = this.store(cx, target.clone(), &Combination::Update(Update::Assign), false, first)?;
            }
            let is_bool = output.view.is_bool;
            let sum = this.for_loops(cx, count(inner, "r"), &mut |this, cx, along| {
                let mut all = vec![Expr::from(0); rank];
                kept.iter().zip(at).for_each(|(dim, e)| all[*dim] = e.clone());
                axes.iter().zip(along).for_each(|(dim, e)| all[*dim] = e.clone());
                let value = Number::read(input.at(&all)?);
                this.store(cx, target.clone(), &combination, is_bool, value)
            })?;
            nodes.extend(sum);
            Ok(nodes)
        })
    }
}

/// A list of dimensions.
fn positions(axes: Option<&Json>, rank: usize) -> Result<Vec<usize>> {
    let Some(Json::Array(items)) = axes else { return Err("its axes are no list".into()) };
    let position = |item: &Json| match item {
        Json::Number(text) | Json::String(text) => {
            let axis: i64 = text.parse().ok()?;
            let axis = if axis < 0 { axis + i64::try_from(rank).ok()? } else { axis };
            usize::try_from(axis).ok().filter(|a| *a < rank)
        }
        _ => None,
    };
    let found: Option<Vec<usize>> = items.iter().map(position).collect();
    found.ok_or_else(|| "its axes are no dimensions of its input".to_owned())
}

/// Whether what comes in is what goes out.
fn is_same(input: &Edge, output: &Edge) -> Result<()> {
    let place = |edge: &Edge| edge.memlet.as_ref().map(|m| (m.data.clone(), m.subset.clone()));
    if place(input) == place(output) {
        Ok(())
    } else {
        Err("it adds to one container and writes another".into())
    }
}
