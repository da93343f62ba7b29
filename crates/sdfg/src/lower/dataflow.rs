//! The nodes of a state: maps, copies, and programs inside.

use super::arrays::{is_small, iterators};
use super::complex::Number;
use super::names::{Env, View, hole, type_of};
use super::nest::{Cx, Iterations};
use super::ranges::Span;
use super::state::{Frame, Lowering, Site};
use super::tasklet::Combination;
use crate::model::{Edge, Graph, Memlet, NodeKind};
use crate::polynomial::are_equal;
use crate::structure::structure;
use crate::syntax::parse_expression;
use oxeye_ir::{Affine, BinaryOp, Expr, Node};

type Result<T> = std::result::Result<T, String>;

impl Lowering {
    /// The nodes of one scope of a state, in an order that respects the edges.
    pub(super) fn scope(
        &mut self,
        site: &Site<'_>,
        scope: Option<usize>,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        self.views(site, scope, env);
        if scope.is_some() {
            self.renew(site, scope, env, cx);
        }
        for node in &site.order {
            if site.state.nodes[*node].scope == scope {
                self.node(site, *node, env, cx, out)?;
            }
        }
        Ok(())
    }

    /// Binds the views of a scope.
    pub(super) fn views(&mut self, site: &Site<'_>, scope: Option<usize>, env: &mut Env) {
        let arrays = &site.frame.graph.arrays;
        let mut found = Vec::new();
        for node in site.order.iter().filter(|n| site.state.nodes[**n].scope == scope) {
            if let NodeKind::Access { data } = &site.state.nodes[*node].kind
                && arrays.get(data).is_some_and(|d| d.kind.contains("View"))
            {
                env.data.remove(data);
                found.push((*node, data));
            }
        }
        // Views may be of views, before or behind them.
        for _ in 0..found.len().min(4) {
            let order: Vec<_> = found.iter().chain(found.iter().rev()).copied().collect();
            for (node, data) in order {
                match self.view(site, node, data, env) {
                    Ok(view) => {
                        let other = env
                            .data
                            .get(data)
                            .is_some_and(|v| v.array != view.array || v.index != view.index);
                        if other {
                            let reason = "it is a view of several places".to_owned();
                            env.missing.insert(data.clone(), reason);
                        }
                        env.data.insert(data.clone(), view);
                    }
                    Err(reason) => {
                        env.missing.insert(data.clone(), reason);
                    }
                }
            }
        }
        for (_, data) in found {
            if env.missing.get(data).is_some_and(|r| r.contains("several places")) {
                env.data.remove(data);
            }
        }
    }

    /// One node, with all that is in its scope.
    pub(super) fn node(
        &mut self,
        site: &Site<'_>,
        node: usize,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let label = &site.state.nodes[node].label;
        let named = |kind: &'static str| move |reason: String| format!("{kind} `{label}`: {reason}");
        self.spend()?;
        match &site.state.nodes[node].kind {
            NodeKind::Access { data } => self.access(site, node, data, env, cx, out),
            NodeKind::Tasklet { code, language } => {
                self.tasklet(site, node, (code, language), env, cx, out).map_err(named("tasklet"))
            }
            NodeKind::MapEntry { .. } => self.map(site, node, env, cx, out),
            NodeKind::MapExit => {
                let edges = site.state.into(node).filter(|e| e.memlet.is_some());
                for edge in edges {
                    if let NodeKind::Access { data } = &site.state.nodes[edge.src].kind {
                        let target = site.target(edge).ok_or("a value leaves a map for nowhere")?;
                        self.copy(edge, data, &target, env, cx, out)?;
                    }
                }
                Ok(())
            }
            NodeKind::Nested { graph, symbols } => {
                let frame =
                    self.enter(site, node, graph, symbols, env, Some(cx)).map_err(named("program"))?;
                let (frame, mut inner) = frame;
                let controls = structure(&graph.control, &[], 0);
                self.controls(&frame, &controls, &mut inner, cx, out)
            }
            NodeKind::Library { class, attributes } => {
                self.library(site, node, class, attributes, env, cx, out).map_err(named("library node"))
            }
            NodeKind::Other { kind } => Err(format!("`{label}` is a {kind}")),
        }
    }

    fn map(
        &mut self,
        site: &Site<'_>,
        node: usize,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let NodeKind::MapEntry { params, ranges } = &site.state.nodes[node].kind else { return Ok(()) };
        let mut inner = env.clone();
        // Ranges may come from containers.
        for edge in site.state.into(node) {
            let (Some(name), Some(memlet)) = (&edge.dst_connector, &edge.memlet) else { continue };
            if name.starts_with("IN_") {
                continue;
            }
            let view = env.view(&memlet.data)?;
            let spans = match &memlet.subset {
                Some(ranges) => self.spans(env, ranges)?,
                None => Self::all_of(view),
            };
            let indices: Vec<Expr> = spans.into_iter().map(|s| s.start).collect();
            inner.symbols.insert(name.clone(), Number::read(view.at(&indices)?).real()?);
        }
        let pairs: Vec<_> = params.iter().zip(ranges).collect();
        out.extend(self.map_dims(site, node, &pairs, &mut inner, cx)?);
        Ok(())
    }

    fn map_dims(
        &mut self,
        site: &Site<'_>,
        node: usize,
        rest: &[(&String, &crate::model::Range)],
        env: &mut Env,
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        let Some(((name, range), rest)) = rest.split_first() else {
            let mut body = Vec::new();
            self.scope(site, Some(node), env, cx, &mut body)?;
            return Ok(body);
        };
        let span = self.span(env, range)?;
        let step = span.step.as_affine().and_then(Affine::as_constant);
        let step = step.ok_or_else(|| format!("the step of `{name}` is no number"))?;
        let one = Expr::from(1);
        let op = if step < 0 { BinaryOp::Sub } else { BinaryOp::Add };
        let end = Expr::binary(op, span.end, one);
        let iterations = Iterations { name: (*name).clone(), first: span.start, end, step };
        let node = self.for_loop(cx, iterations, |this, cx, iterator| {
            env.symbols.insert((*name).clone(), iterator);
            this.map_dims(site, node, rest, env, cx)
        })?;
        Ok(vec![node])
    }

    /// A container at one point: what is copied to it, or what it is a view of.
    fn access(
        &mut self,
        site: &Site<'_>,
        node: usize,
        data: &str,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let descriptor = site.frame.graph.arrays.get(data);
        let is_view = descriptor.is_some_and(|d| d.kind.contains("View"));
        for edge in site.state.into(node) {
            let is_binding = edge.src_connector.as_deref() == Some("views")
                || (is_view && edge.dst_connector.as_deref() == Some("views"));
            if edge.memlet.is_none() || is_binding {
                continue;
            }
            match &site.state.nodes[edge.src].kind {
                NodeKind::Access { data: from } => self.copy(edge, from, data, env, cx, out)?,
                NodeKind::MapEntry { .. } => {
                    let from = site.source(edge).ok_or("a value enters a map from nowhere")?;
                    self.copy(edge, &from, data, env, cx, out)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Transients that only one map uses are made anew in each of its iterations.
    fn renew(&mut self, site: &Site<'_>, scope: Option<usize>, env: &mut Env, cx: &Cx) {
        for (name, descriptor) in site.frame.graph.arrays.iter().filter(|(_, d)| d.is_transient) {
            let uses = site.frame.uses.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            let [(state, used_in)] = uses else { continue };
            if !std::ptr::eq(*state, site.state) || *used_in != scope || descriptor.kind.contains("View") {
                continue;
            }
            let Some(view) = env.data.get(name).cloned() else { continue };
            let mut array = self.program.array(view.array).clone();
            if !is_small(&view.shape, array.element) {
                continue;
            }
            array.storage = cx.storage();
            array.form = oxeye_ir::Form::Nested;
            let is_relaid = self.relaid.contains(&view.array);
            let id = self.program.add_array(array);
            if is_relaid {
                self.relaid.insert(id);
            }
            env.data.insert(name.clone(), View { array: id, ..view });
        }
    }

    /// What a view is of.
    fn view(&self, site: &Site<'_>, node: usize, data: &str, env: &Env) -> Result<View> {
        let reads = site.state.into(node).find(|e| e.dst_connector.as_deref() == Some("views"));
        let writes = site.state.out_of(node).find(|e| e.src_connector.as_deref() == Some("views"));
        let (edge, outer) = match (reads, writes) {
            (Some(edge), _) => match &site.state.nodes[edge.src].kind {
                NodeKind::Access { data } => (edge, data.clone()),
                _ => (edge, site.source(edge).ok_or("a view is of nothing")?),
            },
            (None, Some(edge)) => match &site.state.nodes[edge.dst].kind {
                NodeKind::Access { data } => (edge, data.clone()),
                _ => (edge, site.target(edge).ok_or("a view is of nothing")?),
            },
            (None, None) => return Err(format!("what `{data}` is a view of is not known")),
        };
        let memlet = edge.memlet.as_ref().ok_or("a view is of nothing")?;
        let ranges = if memlet.data == outer { &memlet.subset } else { &memlet.other };
        let outer = env.view(&outer)?.clone();
        let spans = match ranges {
            Some(ranges) => self.spans(env, ranges)?,
            None => Self::all_of(&outer),
        };
        let descriptor = site.frame.graph.arrays.get(data).ok_or("there is no such container")?;
        let shape = self.extents(descriptor, env)?;
        let strides = self.strides(descriptor, &shape, env)?;
        self.window(&outer, &spans, shape, strides, outer.is_bool)
    }

    /// A copy between two containers.
    fn copy(
        &mut self,
        edge: &Edge,
        from: &str,
        to: &str,
        env: &Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let Some(memlet) = &edge.memlet else { return Ok(()) };
        let reason = |message: &str| format!("the copy from `{from}` to `{to}`: {message}");
        let is_src = match (memlet.data == from, memlet.data == to) {
            (true, true) => memlet.is_data_src != Some(false),
            (true, false) => true,
            (false, true) => false,
            (false, false) => return Err(reason("its subset is of another container")),
        };
        let (src, dst) =
            if is_src { (&memlet.subset, &memlet.other) } else { (&memlet.other, &memlet.subset) };
        let (source, target) = (env.view(from)?, env.view(to)?);
        let of = |ranges: &Option<Vec<_>>| ranges.as_ref().map(|r| self.spans(env, r)).transpose();
        let (src, dst) = match (of(src)?, of(dst)?) {
            (Some(src), Some(dst)) => (src, dst),
            (Some(src), None) => {
                let dst = opposite(&src, target).map_err(|m| reason(&m))?;
                (src, dst)
            }
            (None, Some(dst)) => (opposite(&dst, source).map_err(|m| reason(&m))?, dst),
            (None, None) => (Self::all_of(source), Self::all_of(target)),
        };
        let combination = Combination::parse(memlet.wcr.as_deref())?;
        let nodes = self.copied((source, &src), (target, &dst), &combination, cx);
        out.extend(nodes.map_err(|m| reason(&m))?);
        Ok(())
    }

    /// The loops that copy one subset to another.
    pub(super) fn copied(
        &mut self,
        (source, src): (&View, &[Span]),
        (target, dst): (&View, &[Span]),
        combination: &Combination,
        cx: &mut Cx,
    ) -> Result<Vec<Node>> {
        if src.len() != source.shape.len() || dst.len() != target.shape.len() {
            return Err("a subset has the wrong number of dimensions".into());
        }
        let moving = |spans: &[Span]| -> Vec<usize> {
            (0..spans.len()).filter(|dim| !spans[*dim].is_single()).collect()
        };
        let (mut in_src, mut in_dst) = (moving(src), moving(dst));
        if in_src.len() != in_dst.len() {
            // Dimensions whose one index is not known to be one.
            let same = src.len() == dst.len();
            if !same {
                return Err("the subsets have different shapes".into());
            }
            in_src = (0..src.len()).collect();
            in_dst = in_src.clone();
        }
        for (s, d) in in_src.iter().zip(&in_dst) {
            if !are_equal(&src[*s].count(), &dst[*d].count()) {
                return Err("the subsets have different shapes".into());
            }
        }
        let iterations =
            in_dst.iter().enumerate().map(|(k, dim)| Iterations::count(format!("__c{k}"), dst[*dim].count()));
        self.for_loops(cx, iterations.collect(), &mut |this, cx, iterators| {
            let indices = |spans: &[Span], dims: &[usize]| -> Vec<Expr> {
                let at = |(dim, span): (usize, &Span)| match dims.iter().position(|d| *d == dim) {
                    Some(k) => span.at(iterators[k].clone()),
                    None => span.start.clone(),
                };
                spans.iter().enumerate().map(at).collect()
            };
            let value = Number::read(source.at(&indices(src, &in_src))?);
            let element = target.at(&indices(dst, &in_dst))?;
            this.store(cx, element, combination, target.is_bool && !source.is_bool, value)
        })
    }

    /// The environment of a program inside the program.
    pub(super) fn enter<'a>(
        &mut self,
        site: &Site<'a>,
        node: usize,
        graph: &'a Graph,
        symbols: &[(String, String)],
        env: &Env,
        cx: Option<&Cx>,
    ) -> Result<(Frame<'a>, Env)> {
        let mut inner = Env::default();
        for (name, text) in symbols {
            let value =
                parse_expression(text).map_err(|e| e.to_string()).and_then(|e| self.convert_with(&e, env));
            match value {
                Ok(value) if type_of(&self.program, &value).is_float() => {
                    inner.missing.insert(name.clone(), "it is a symbol with a floating value".into());
                }
                Ok(value) => {
                    inner.symbols.insert(name.clone(), value);
                }
                Err(reason) => {
                    inner.missing.insert(name.clone(), reason);
                }
            }
        }
        for name in graph.symbols.keys() {
            if !inner.symbols.contains_key(name)
                && let Some(value) = env.symbols.get(name)
            {
                inner.symbols.insert(name.clone(), value.clone());
            }
        }
        for (name, descriptor) in graph.arrays.iter().filter(|(_, d)| !d.is_transient) {
            let inward = site.state.into(node).find(|e| e.dst_connector.as_deref() == Some(name));
            let outward = site.state.out_of(node).find(|e| e.src_connector.as_deref() == Some(name));
            let memlet = |e: Option<&'a Edge>| e.and_then(|e| e.memlet.as_ref());
            let (first, second): (Option<&Memlet>, Option<&Memlet>) = (memlet(inward), memlet(outward));
            let Some(memlet) = first.or(second) else {
                inner.missing.insert(name.clone(), "nothing is connected to it".into());
                continue;
            };
            if second.is_some_and(|m| m.data != memlet.data) {
                return Err(format!("`{name}` is read from one container and written to another"));
            }
            // Such a program has to combine by itself.
            if second.is_some_and(|m| m.wcr.is_some()) && !combines(graph, name) {
                return Err(format!("`{name}` is combined with what is there"));
            }
            let outer = env.view(&memlet.data)?;
            let spans = match &memlet.subset {
                Some(ranges) => self.spans(env, ranges)?,
                None => Self::all_of(outer),
            };
            if let (Some(a), Some(b)) =
                (first.and_then(|m| m.subset.as_ref()), second.and_then(|m| m.subset.as_ref()))
            {
                let others = self.spans(env, b)?;
                let is_same = a.len() == b.len()
                    && spans.iter().zip(&others).all(|(x, y)| are_equal(&x.start, &y.start));
                if !is_same {
                    return Err(format!("`{name}` is read and written at different places"));
                }
            }
            let shape = self.extents(descriptor, &inner)?;
            let strides = self.strides(descriptor, &shape, &inner)?;
            let view = self
                .window(outer, &spans, shape, strides, outer.is_bool)
                .map_err(|reason| format!("`{name}`: {reason}"))?;
            inner.data.insert(name.clone(), view);
        }
        let controls = structure(&graph.control, &[], 0);
        self.declare(graph, &mut inner, &iterators(&controls), cx);
        let mut path = site.frame.path.clone();
        path.push((site.id.clone(), node));
        let own = graph.arrays.iter().filter(|(_, descriptor)| !descriptor.kind.contains("View"));
        let whole = own.filter_map(|(name, _)| {
            let view = inner.data.get(name).filter(|view| self.is_whole(view))?;
            Some((view.array, name.clone()))
        });
        self.inner.insert(path.clone(), whole.collect());
        let frame = Frame::new(graph, path, &inner);
        Ok((frame, inner))
    }

    /// Whether each element of a container is the one with the same indices of its array, and lies where that does.
    fn is_whole(&self, view: &View) -> bool {
        let array = self.program.array(view.array);
        let n = view.shape.len();
        if array.shape.is_empty() {
            return view.index.is_empty();
        }
        if view.index.len() != n || array.shape.len() != n {
            return false;
        }
        let mut stride = Expr::from(1);
        (0..n).rev().all(|dim| {
            let Some(Some(extent)) = array.shape.get(dim) else { return false };
            let is_same = view.index[dim] == Expr::from(hole(dim))
                && are_equal(&view.strides[dim], &stride)
                && (dim == 0 || are_equal(&view.shape[dim], extent));
            stride = Expr::binary(BinaryOp::Mul, stride.clone(), extent.clone());
            is_same
        })
    }
}

/// Whether all writes of a container in a graph combine values.
fn combines(graph: &Graph, name: &str) -> bool {
    graph.control.states().into_iter().all(|state| {
        state.edges.iter().all(|edge| {
            let is_it = matches!(&state.nodes[edge.dst].kind, NodeKind::Access { data } if data == name);
            !is_it || edge.memlet.as_ref().is_some_and(|m| m.wcr.is_some())
        })
    })
}

/// The subset of a container that a subset of another one corresponds to, if nothing else is said.
fn opposite(given: &[Span], view: &View) -> Result<Vec<Span>> {
    let moving: Vec<&Span> = given.iter().filter(|s| !s.is_single()).collect();
    let first = |span: &Span| {
        let end = Expr::binary(BinaryOp::Sub, span.count(), Expr::from(1));
        Span { start: Expr::from(0), end, step: Expr::from(1) }
    };
    if view.shape.len() == given.len() {
        return Ok(given.iter().map(first).collect());
    }
    let wide: Vec<usize> = (0..view.shape.len()).filter(|dim| view.shape[*dim] != Expr::from(1)).collect();
    if wide.len() != moving.len() {
        return Err("where it begins is not known".into());
    }
    let zero = || Span { start: Expr::from(0), end: Expr::from(0), step: Expr::from(1) };
    let mut spans: Vec<Span> = view.shape.iter().map(|_| zero()).collect();
    for (dim, span) in wide.into_iter().zip(moving) {
        spans[dim] = first(span);
    }
    Ok(spans)
}
