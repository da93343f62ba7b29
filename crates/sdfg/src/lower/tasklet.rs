//! Tasklets become statements.

use super::complex::{Number, both, parts, product};
use super::names::{Converter, Env, Names, View, number, truth, type_of};
use super::nest::Cx;
use super::state::{Lowering, Site};
use crate::model::Edge;
use crate::syntax::{Ex, Operator, Statement, parse_combination, parse_statements};
use oxeye_ir::{Access, ArrayId, BinaryOp, Expr, Node, ScalarType, Update};
use std::collections::{BTreeMap, BTreeSet};

type Result<T> = std::result::Result<T, String>;

/// What a connector stands for.
#[derive(Clone, Debug)]
enum Connected {
    /// One element.
    Element(Access),
    /// A part of a container.
    Window(View),
    /// What another tasklet has computed.
    Local(Vec<ArrayId>),
}

/// How a value gets into a container.
#[derive(Clone, Debug)]
pub(super) enum Combination {
    /// By an update that nests know.
    Update(Update),
    /// By an expression of the old and the new value.
    Other(String, String, Ex),
}

impl Combination {
    pub(super) fn parse(wcr: Option<&str>) -> Result<Self> {
        let Some(text) = wcr else { return Ok(Combination::Update(Update::Assign)) };
        let (old, new, body) = parse_combination(text).map_err(|e| e.to_string())?;
        let is = |e: &Ex, name: &str| matches!(e, Ex::Name(n) if n == name);
        let is_pair = |l: &Ex, r: &Ex| (is(l, &old) && is(r, &new)) || (is(l, &new) && is(r, &old));
        let update = match &body {
            Ex::Binary(Operator::Add, l, r) if is_pair(l, r) => Some(Update::Add),
            Ex::Binary(Operator::Mul, l, r) if is_pair(l, r) => Some(Update::Mul),
            Ex::Binary(Operator::Sub, l, r) if is(l, &old) && is(r, &new) => Some(Update::Sub),
            Ex::Call(name, args) if args.len() == 2 && is_pair(&args[0], &args[1]) => {
                match name.rsplit('.').next() {
                    Some("min" | "minimum" | "Min") => Some(Update::Min),
                    Some("max" | "maximum" | "Max") => Some(Update::Max),
                    _ => None,
                }
            }
            body if is(body, &new) => Some(Update::Assign),
            _ => None,
        };
        Ok(update.map_or(Combination::Other(old, new, body), Combination::Update))
    }
}

/// The two values that are combined.
struct Pair<'a>(&'a str, Number, &'a str, Number);

impl Names for Pair<'_> {
    fn value(&self, name: &str) -> Result<Number> {
        if name == self.0 {
            Ok(self.1.clone())
        } else if name == self.2 {
            Ok(self.3.clone())
        } else {
            Err(format!("`{name}` has no value here"))
        }
    }

    fn element(&self, name: &str, _: Vec<Expr>) -> Result<Number> {
        Err(format!("`{name}` is no array"))
    }
}

/// Names inside a tasklet.
struct Scope<'a> {
    env: &'a Env,
    inputs: BTreeMap<String, Connected>,
    /// Variables: one scalar each, or the two parts of a complex number.
    locals: BTreeMap<String, Vec<ArrayId>>,
}

/// The value of a variable.
fn local(scalars: &[ArrayId]) -> Result<Number> {
    let read = |id: &ArrayId| Expr::Read(Access::scalar(*id));
    match scalars {
        [one] => Ok(Number::Real(read(one))),
        [re, im] => Ok(Number::Complex(read(re), read(im))),
        _ => Err("a variable has no value".into()),
    }
}

impl Names for Scope<'_> {
    fn value(&self, name: &str) -> Result<Number> {
        if let Some(scalars) = self.locals.get(name) {
            return local(scalars);
        }
        match self.inputs.get(name) {
            Some(Connected::Element(access)) => Ok(Number::read(access.clone())),
            Some(Connected::Window(view)) => Ok(Number::read(view.only()?)),
            Some(Connected::Local(scalars)) => local(scalars),
            None => self.env.value(name),
        }
    }

    fn element(&self, name: &str, indices: Vec<Expr>) -> Result<Number> {
        match self.inputs.get(name) {
            Some(Connected::Element(access)) if indices == [Expr::from(0)] => {
                Ok(Number::read(access.clone()))
            }
            Some(Connected::Local(scalars)) if indices == [Expr::from(0)] => local(scalars),
            Some(Connected::Element(_) | Connected::Local(_)) => {
                Err(format!("`{name}` is a number, not an array"))
            }
            Some(Connected::Window(view)) => Ok(Number::read(view.at(&indices)?)),
            None => self.env.element(name, indices),
        }
    }
}

/// Where the value of an output goes.
struct Output {
    target: Connected,
    combination: Combination,
    is_bool: bool,
    is_dynamic: bool,
}

/// What the code does, statement by statement.
struct Body<'a, 's> {
    lowering: &'s mut Lowering,
    scope: Scope<'a>,
    /// Outputs that are written where they are assigned.
    direct: BTreeMap<String, Output>,
    label: &'a str,
}

impl Lowering {
    pub(super) fn tasklet(
        &mut self,
        site: &Site<'_>,
        node: usize,
        (code, language): (&str, &str),
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        if language != "Python" {
            return Err(format!("its code is {language}, not Python"));
        }
        let statements = parse_statements(code).map_err(|e| e.to_string())?;
        let mut inputs = BTreeMap::new();
        for edge in site.state.into(node) {
            let Some(name) = &edge.dst_connector else { continue };
            let connected = match &edge.memlet {
                Some(_) => self.connected(env, edge)?.0,
                None => {
                    let from = edge.src_connector.clone().unwrap_or_default();
                    let link = env.links.get(&(edge.src, from));
                    let link = link.ok_or_else(|| format!("`{name}` gets nothing"))?;
                    Connected::Local(link.clone())
                }
            };
            inputs.insert(name.clone(), connected);
        }
        let mut outputs: BTreeMap<String, Vec<Output>> = BTreeMap::new();
        let mut links: BTreeSet<String> = BTreeSet::new();
        for edge in site.state.out_of(node) {
            let Some(name) = &edge.src_connector else { continue };
            let Some(memlet) = &edge.memlet else {
                links.insert(name.clone());
                continue;
            };
            let (target, is_bool) = self.connected(env, edge)?;
            let combination = Combination::parse(memlet.wcr.as_deref())?;
            let is_dynamic = memlet.is_dynamic;
            outputs.entry(name.clone()).or_default().push(Output {
                target,
                combination,
                is_bool,
                is_dynamic,
            });
        }
        let mut read = BTreeSet::new();
        let mut assigned = BTreeSet::new();
        collect(&statements, &mut read, &mut assigned);
        // An output is written at once if nothing can see that it is not written at the end.
        let arrays_read: BTreeSet<ArrayId> = inputs.values().filter_map(array_of).collect();
        let is_single = matches!(statements.as_slice(), [Statement::Assign { .. }]);
        let mut direct = BTreeMap::new();
        let mut later: BTreeMap<String, Vec<Output>> = BTreeMap::new();
        for (name, mut targets) in outputs {
            let is_window = |o: &Output| matches!(o.target, Connected::Window(_));
            let is_apart =
                targets.iter().all(|o| array_of(&o.target).is_none_or(|id| !arrays_read.contains(&id)));
            let is_unseen = !read.contains(&name) && !inputs.contains_key(&name) && !links.contains(&name);
            if targets.iter().any(is_window) && !(is_single || is_apart) {
                return Err(format!("`{name}` is read and written as an array"));
            }
            if targets.len() == 1 && is_unseen && (is_single || is_apart) {
                direct.extend(targets.pop().map(|output| (name, output)));
            } else if targets.iter().any(|o| o.is_dynamic || is_window(o)) {
                return Err(format!("whether `{name}` is written is not known"));
            } else {
                later.insert(name, targets);
            }
        }
        for name in direct.keys().chain(later.keys()).chain(&links) {
            if !assigned.contains(name) {
                return Err(format!("the output `{name}` is never assigned"));
            }
        }
        let mut body = Body {
            lowering: self,
            scope: Scope { env, inputs, locals: BTreeMap::new() },
            direct,
            label: &site.state.nodes[node].label,
        };
        // Inputs that are assigned become variables.
        let shadowed: Vec<String> =
            body.scope.inputs.keys().filter(|name| assigned.contains(*name)).cloned().collect();
        for name in shadowed {
            let value = body.scope.value(&name)?;
            body.assign_local(&name, value, cx, out)?;
        }
        body.statements(&statements, cx, out)?;
        let locals = body.scope.locals;
        for name in links {
            let local = locals.get(&name).ok_or_else(|| format!("`{name}` may have no value"))?;
            env.links.insert((node, name), local.clone());
        }
        for (name, targets) in later {
            let scalars = locals.get(&name).ok_or_else(|| format!("`{name}` may have no value"))?;
            for output in targets {
                let Connected::Element(target) = output.target else { continue };
                let value = local(scalars)?;
                out.extend(self.store(cx, target, &output.combination, output.is_bool, value)?);
            }
        }
        Ok(())
    }

    /// What the memlet of an edge between a container and code stands for, and whether that are truth values.
    fn connected(&self, env: &Env, edge: &Edge) -> Result<(Connected, bool)> {
        let Some(memlet) = &edge.memlet else { return Err("an edge moves nothing".into()) };
        let view = env.view(&memlet.data)?;
        let spans = match &memlet.subset {
            Some(ranges) => self.spans(env, ranges)?,
            None => Self::all_of(view),
        };
        if spans.len() != view.shape.len() {
            return Err(format!("a subset of `{}` has the wrong number of dimensions", memlet.data));
        }
        if spans.iter().all(|s| s.is_single()) {
            let indices: Vec<Expr> = spans.into_iter().map(|s| s.start).collect();
            return Ok((Connected::Element(view.at(&indices)?), view.is_bool));
        }
        let kept: Vec<usize> = (0..spans.len()).filter(|dim| !spans[*dim].is_single()).collect();
        let shape = kept.iter().map(|dim| spans[*dim].count()).collect();
        let strides: Vec<Expr> = kept
            .iter()
            .map(|dim| Expr::binary(BinaryOp::Mul, view.strides[*dim].clone(), spans[*dim].step.clone()))
            .collect();
        Ok((Connected::Window(self.window(view, &spans, shape, strides, view.is_bool)?), view.is_bool))
    }

    /// The statements that put a value into an element.
    pub(super) fn store(
        &mut self,
        cx: &mut Cx,
        target: Access,
        combination: &Combination,
        is_bool: bool,
        value: Number,
    ) -> Result<Vec<Node>> {
        if let Some(parts) = parts(&target) {
            return self.store_complex(cx, (target, parts), combination, value);
        }
        let value = match value {
            Number::Real(value) if is_bool => Number::Real(truth(value)),
            value => value,
        };
        let (update, value) = match combination {
            Combination::Update(update) => (*update, value.real()?),
            Combination::Other(old, new, body) => {
                let names = Pair(old, Number::read(target.clone()), new, value);
                (Update::Assign, Converter { program: &self.program, names: &names }.convert(body)?)
            }
        };
        Ok(vec![cx.stmt(target, update, value)])
    }

    /// The same for both parts of a complex number.
    fn store_complex(
        &mut self,
        cx: &mut Cx,
        (target, [re, im]): (Access, [Access; 2]),
        combination: &Combination,
        value: Number,
    ) -> Result<Vec<Node>> {
        let (update, value) = match combination {
            Combination::Update(update @ (Update::Assign | Update::Add | Update::Sub)) => (*update, value),
            Combination::Update(Update::Mul) => {
                (Update::Assign, product(Number::read(target.clone()), value))
            }
            Combination::Update(_) => return Err("complex numbers have no order".into()),
            Combination::Other(old, new, body) => {
                let names = Pair(old, Number::read(target.clone()), new, value);
                let converter = Converter { program: &self.program, names: &names };
                (Update::Assign, converter.convert_number(body)?)
            }
        };
        let is_real = matches!(value, Number::Real(_));
        let (first, second) = both(value)?;
        if is_real && update != Update::Assign {
            return Ok(vec![cx.stmt(re, update, first)]);
        }
        let second = if is_real { number("0.0", self.program.array(target.array).element)? } else { second };
        if !second.reads().iter().any(|read| read.array == target.array) {
            return Ok(vec![cx.stmt(re, update, first), cx.stmt(im, update, second)]);
        }
        // The second part may read what the first one changes.
        let kept = self.local_scalar(cx, "re", type_of(&self.program, &first));
        let value = Expr::Read(Access::scalar(kept));
        Ok(vec![
            cx.stmt(Access::scalar(kept), Update::Assign, first),
            cx.stmt(im, update, second),
            cx.stmt(re, update, value),
        ])
    }
}

fn array_of(connected: &Connected) -> Option<ArrayId> {
    match connected {
        Connected::Element(access) => Some(access.array),
        Connected::Window(view) => Some(view.array),
        Connected::Local(_) => None,
    }
}

/// Names that are read, and names that are assigned.
fn collect(statements: &[Statement], read: &mut BTreeSet<String>, assigned: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Assign { target, indices, operator, value } => {
                read.extend(value.names().into_iter().map(str::to_owned));
                read.extend(indices.iter().flat_map(Ex::names).map(str::to_owned));
                if operator.is_some() {
                    read.insert(target.clone());
                }
                assigned.insert(target.clone());
            }
            Statement::If { condition, then, otherwise } => {
                read.extend(condition.names().into_iter().map(str::to_owned));
                collect(then, read, assigned);
                collect(otherwise, read, assigned);
            }
        }
    }
}

impl Body<'_, '_> {
    fn convert(&self, ex: &Ex) -> Result<Expr> {
        self.lowering.convert_with(ex, &self.scope)
    }

    fn convert_number(&self, ex: &Ex) -> Result<Number> {
        Converter { program: &self.lowering.program, names: &self.scope }.convert_number(ex)
    }

    fn statements(&mut self, statements: &[Statement], cx: &mut Cx, out: &mut Vec<Node>) -> Result<()> {
        statements.iter().try_for_each(|statement| self.statement(statement, cx, out))
    }

    fn statement(&mut self, statement: &Statement, cx: &mut Cx, out: &mut Vec<Node>) -> Result<()> {
        match statement {
            Statement::If { condition, then, otherwise } => {
                let condition = self.convert(condition)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                self.statements(then, cx, &mut first)?;
                self.statements(otherwise, cx, &mut second)?;
                out.push(Node::If { condition, then: first, otherwise: second });
                Ok(())
            }
            Statement::Assign { target, indices, operator, value } => {
                let value = match operator {
                    None => value.clone(),
                    Some(operator) => {
                        let old = if indices.is_empty() {
                            Ex::Name(target.clone())
                        } else {
                            Ex::Index(target.clone(), indices.clone())
                        };
                        Ex::Binary(*operator, Box::new(old), Box::new(value.clone()))
                    }
                };
                let value = self.convert_number(&value)?;
                if !self.direct.contains_key(target) {
                    if !indices.is_empty() {
                        return Err(format!("`{target}` is an array of its own"));
                    }
                    return self.assign_local(target, value, cx, out);
                }
                let indices: Vec<Expr> = indices.iter().map(|e| self.convert(e)).collect::<Result<_>>()?;
                let output = &self.direct[target];
                let element = match &output.target {
                    Connected::Element(access) if indices.is_empty() || indices == [Expr::from(0)] => {
                        access.clone()
                    }
                    Connected::Element(_) | Connected::Local(_) => {
                        return Err(format!("`{target}` is a number, not an array"));
                    }
                    Connected::Window(view) => view.at(&indices)?,
                };
                out.extend(self.lowering.store(cx, element, &output.combination, output.is_bool, value)?);
                Ok(())
            }
        }
    }

    fn assign_local(&mut self, name: &str, value: Number, cx: &mut Cx, out: &mut Vec<Node>) -> Result<()> {
        let known = self.scope.locals.get(name).cloned();
        let values = match value {
            Number::Real(value) if known.as_ref().is_none_or(|ids| ids.len() == 1) => vec![value],
            value => {
                let (re, im) = both(value)?;
                vec![re, im]
            }
        };
        let ids = match known {
            Some(ids) if ids.len() == values.len() => ids,
            Some(_) => return Err(format!("`{name}` is real at first and complex later")),
            None => {
                let made = values.iter().map(|value| {
                    let ty = match type_of(&self.lowering.program, value) {
                        ScalarType::I32 if matches!(value, Expr::Affine(_)) => ScalarType::I64,
                        ty => ty,
                    };
                    self.lowering.local_scalar(cx, &format!("{}_{name}", self.label), ty)
                });
                made.collect()
            }
        };
        self.scope.locals.insert(name.to_owned(), ids.clone());
        // What a part reads may be the other part of what is assigned.
        let reads_own = |value: &Expr| value.reads().iter().any(|read| ids.contains(&read.array));
        if let ([re, im], [first, second]) = (ids.as_slice(), values.as_slice())
            && reads_own(second)
        {
            let kept = self.lowering.local_scalar(cx, "re", type_of(&self.lowering.program, first));
            out.push(cx.stmt(Access::scalar(kept), Update::Assign, first.clone()));
            out.push(cx.stmt(Access::scalar(*im), Update::Assign, second.clone()));
            out.push(cx.stmt(Access::scalar(*re), Update::Assign, Expr::Read(Access::scalar(kept))));
            return Ok(());
        }
        for (id, value) in ids.iter().zip(values) {
            out.push(cx.stmt(Access::scalar(*id), Update::Assign, value));
        }
        Ok(())
    }
}
