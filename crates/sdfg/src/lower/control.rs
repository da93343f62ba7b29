//! Control inside a nest: loops, guards and symbols.

use super::names::{Env, scalar_type, type_of};
use super::nest::{Cx, Iterations};
use super::state::{Frame, Lowering, Site, touched};
use crate::structure::{Control, CountedLoop, assigned, counters, states};
use crate::syntax::{Operator, parse_expression};
use oxeye_ir::{Access, ArrayId, BinaryOp, Expr, Node, Update};
use std::collections::BTreeSet;

type Result<T> = std::result::Result<T, String>;

impl Lowering {
    /// Structured control as nodes of a nest.
    pub(super) fn controls(
        &mut self,
        frame: &Frame<'_>,
        controls: &[Control<'_>],
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        for control in controls {
            match control {
                Control::State(state) => {
                    let site = Site::new(frame, state.state, &state.id)?;
                    env.links.clear();
                    self.scope(&site, None, env, cx, out)?;
                }
                Control::Assign(assignments) => {
                    let values = self.assigned_values(assignments, env);
                    for (name, value) in values {
                        self.assign_in_nest(frame, &name, value, env, cx, out);
                    }
                }
                Control::Loop(l) => {
                    let node = self.counted(frame, l, env, cx, out)?;
                    out.extend(node);
                }
                Control::While { .. } => return Err("a loop that is not counted".into()),
                Control::Branch { arms, otherwise } => {
                    self.guards(frame, arms, otherwise, env, cx, out)?;
                }
                Control::Opaque { reason, .. } => return Err(reason.clone()),
            }
        }
        Ok(())
    }

    /// New values of symbols, computed before any of them is set.
    pub(super) fn assigned_values(
        &self,
        assignments: &[(String, String)],
        env: &Env,
    ) -> Vec<(String, Result<Expr>)> {
        let value = |text: &String| {
            let ex = parse_expression(text).map_err(|e| format!("`{text}`: {e}"))?;
            self.convert_with(&ex, env)
        };
        assignments.iter().map(|(name, text)| (name.clone(), value(text))).collect()
    }

    fn assign_in_nest(
        &mut self,
        frame: &Frame<'_>,
        name: &str,
        value: Result<Expr>,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) {
        match value {
            Ok(value) if env.variables.contains_key(name) => {
                let target = Access::scalar(env.variables[name]);
                out.push(cx.stmt(target.clone(), Update::Assign, value));
                env.symbols.insert(name.to_owned(), Expr::Read(target));
            }
            Ok(value) if self.is_stable(frame, &value) => {
                env.symbols.insert(name.to_owned(), value);
            }
            Ok(value) => {
                // The memory may change while the symbol keeps its value.
                let ty = type_of(&self.program, &value);
                let id = self.local_scalar(cx, name, ty);
                out.push(cx.stmt(Access::scalar(id), Update::Assign, value));
                env.symbols.insert(name.to_owned(), Expr::Read(Access::scalar(id)));
            }
            Err(reason) => {
                env.variables.remove(name);
                env.symbols.remove(name);
                env.missing.insert(name.to_owned(), reason);
            }
        }
    }

    /// Whether a value stays the same as long as the graph runs.
    pub(super) fn is_stable(&self, frame: &Frame<'_>, value: &Expr) -> bool {
        let may_change = |id: ArrayId| frame.written.contains(&id) || self.variables.contains(&id);
        value.reads().iter().all(|access| !may_change(access.array))
    }

    /// Makes variables of symbols that have a value here and may get others in what follows.
    fn make_variables(
        &mut self,
        frame: &Frame<'_>,
        changed: &BTreeSet<String>,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) {
        for name in
            changed.iter().filter(|name| !env.variables.contains_key(*name)).cloned().collect::<Vec<_>>()
        {
            let Some(value) = env.symbols.get(&name).cloned() else { continue };
            let declared = frame.graph.symbols.get(&name).and_then(|ty| scalar_type(ty));
            let ty = declared.map_or_else(|| type_of(&self.program, &value), |(ty, _)| ty);
            let id = self.local_scalar(cx, &name, ty);
            self.variables.insert(id);
            out.push(cx.stmt(Access::scalar(id), Update::Assign, value));
            env.symbols.insert(name.clone(), Expr::Read(Access::scalar(id)));
            env.variables.insert(name, id);
        }
    }

    /// First value and end of a counted loop, and its step.
    pub(super) fn iterations(&self, frame: &Frame<'_>, l: &CountedLoop<'_>, env: &Env) -> Result<Iterations> {
        let name = l.variable.clone();
        let first = env.symbols.get(&name).cloned();
        let first = first.ok_or_else(|| format!("the first value of `{name}` is not known"))?;
        let limit = self.convert_with(&l.limit, env)?;
        let inside = states(&l.body);
        let (_, writes) = touched(inside.iter().map(|s| s.state));
        let written: BTreeSet<ArrayId> =
            writes.iter().filter_map(|name| Some(env.data.get(*name)?.array)).collect();
        let is_constant = limit
            .reads()
            .iter()
            .all(|access| !written.contains(&access.array) || !frame.written.contains(&access.array));
        if !is_constant {
            return Err(format!("the end of the loop over `{name}` changes while it runs"));
        }
        let by = |op, k: i64| Expr::binary(op, limit.clone(), Expr::from(k));
        let end = match l.comparison {
            Operator::Le => by(BinaryOp::Add, 1),
            Operator::Ge => by(BinaryOp::Sub, 1),
            _ => limit,
        };
        Ok(Iterations { name, first, end, step: l.step })
    }

    fn counted(
        &mut self,
        frame: &Frame<'_>,
        l: &CountedLoop<'_>,
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<Option<Node>> {
        let changed = assigned(&l.body);
        let mut kept = &changed - &counters(&l.body);
        kept.remove(&l.variable);
        self.make_variables(frame, &kept, env, cx, out);
        let iterations = self.iterations(frame, l, env)?;
        let mut inner = env.clone();
        inner.forget(&changed);
        let node = self.for_loop(cx, iterations, |this, cx, iterator| {
            inner.symbols.insert(l.variable.clone(), iterator);
            let mut body = Vec::new();
            this.controls(frame, &l.body, &mut inner, cx, &mut body)?;
            Ok(body)
        })?;
        env.forget(&changed);
        env.forget([&l.variable]);
        let is_empty = matches!(&node, Node::Loop(l) if l.body.is_empty());
        Ok((!is_empty).then_some(node))
    }

    fn guards(
        &mut self,
        frame: &Frame<'_>,
        arms: &[(crate::syntax::Ex, Vec<Control<'_>>)],
        otherwise: &[Control<'_>],
        env: &mut Env,
        cx: &mut Cx,
        out: &mut Vec<Node>,
    ) -> Result<()> {
        let Some(((condition, then), rest)) = arms.split_first() else {
            return self.controls(frame, otherwise, env, cx, out);
        };
        let bodies = || std::iter::once(then.as_slice()).chain(rest.iter().map(|(_, b)| b.as_slice()));
        let bodies = || bodies().chain(std::iter::once(otherwise));
        let changed: BTreeSet<String> = bodies().flat_map(assigned).collect();
        let kept = &changed - &bodies().flat_map(counters).collect();
        self.make_variables(frame, &kept, env, cx, out);
        let condition = self.convert_with(condition, env)?;
        let (mut env_then, mut env_else) = (env.clone(), env.clone());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.controls(frame, then, &mut env_then, cx, &mut first)?;
        self.guards(frame, rest, otherwise, &mut env_else, cx, &mut second)?;
        if !first.is_empty() || !second.is_empty() {
            out.push(Node::If { condition, then: first, otherwise: second });
        }
        join(env, &env_then, &env_else);
        Ok(())
    }
}

/// What is known behind a branch: what both sides agree on.
pub(super) fn join(env: &mut Env, then: &Env, otherwise: &Env) {
    env.symbols = then.symbols.clone();
    env.symbols.retain(|name, value| otherwise.symbols.get(name) == Some(value));
}
