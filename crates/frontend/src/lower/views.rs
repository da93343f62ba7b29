//! Members of structures: the path to them, and the conditions for reading them before a nest.

use super::ahead::is_always_there;
use super::entered::first_or_last;
use super::lowerer::Lowerer;
use super::pointer::n_levels;
use crate::ast::{Range, Type, VarId};
use crate::members::member_of;
use crate::refusal::{Lowered, Refusal};
use oxeye_binding::{Binding, Record, Step, View};
use oxeye_ir::{BinaryOp, BoundTerm, Expr, Loop, Nest, Node, Program, SymId, Var};
use std::collections::BTreeSet;

impl Lowerer<'_> {
    /// The path to a member, or to rows of structures, from the place of the nest; `None` for other variables.
    pub(super) fn view(&self, var: VarId, at: Range) -> Lowered<Option<View>> {
        let file = self.cx.file;
        let variable = file.var(var);
        let innermost = variable.ty.innermost();
        let numbers = file.numbers(innermost).filter(|_| matches!(innermost, Type::Struct(_)));
        let rows = n_levels(file, var).and(numbers).map(|(scalar, n)| {
            let n = n.unsigned_abs();
            Record { bytes: n * scalar.ty.bytes(), runs: vec![(0, n)] }
        });
        let Some(member) = &variable.member else {
            let Some(rows) = rows else { return Ok(None) };
            let (root, record) = (variable.name.clone(), Some(rows));
            let Some(declaration) = file.declaration(variable) else {
                return Err(Refusal::new(
                    at,
                    format!("the type of `{root}` has no name outside of the function"),
                )
                .help("declare the structure at file scope"));
            };
            return Ok(Some(View { root, declaration, steps: Vec::new(), is_loaded: false, record }));
        };
        let root = file.var(member.root);
        let (name, root_name) = (&variable.name, &root.name);
        let is_inside = |set: &std::collections::HashSet<VarId>| set.contains(&member.root);
        if is_inside(&self.scan.written) && !self.moving.walking.contains(&member.root)
            || is_inside(&self.scan.declared)
            || is_inside(&self.scan.iterators)
        {
            return Err(Refusal::new(at, format!("`{root_name}` changes in the loop, and `{name}` with it"))
                .help("copy the values you need from it into local variables before the loop"));
        }
        let Some(declaration) = file.declaration(root) else {
            let message = format!("`{name}` is used, and the type of `{root_name}` has no name");
            if root.function.is_none() {
                return Err(Refusal::new(at, message).help("give the structure a name"));
            }
            let message = format!("{message} outside of the function");
            return Err(Refusal::new(at, message).help("declare the structure at file scope"));
        };
        let mut is_loaded = false;
        let mut ty = &root.ty;
        for (k, step) in member.steps.iter().enumerate() {
            ty = match (step, ty) {
                (Step::Follow | Step::Subscript, ty) => {
                    if *step == Step::Subscript && matches!(ty, Type::Pointer { .. }) {
                        is_loaded = k > 0;
                    }
                    match ty.pointee() {
                        Some(ty) => ty,
                        None => return Err(Refusal::new(at, format!("`{name}` cannot be followed"))),
                    }
                }
                (Step::Element(_), ty) => ty.pointee().unwrap_or(ty),
                (Step::Lanes(_), _) => &variable.ty,
                (step, Type::Struct(id)) => match member_of(step).and_then(|f| file.structures[*id].field(f))
                {
                    Some(field) => &field.ty,
                    None => return Err(Refusal::new(at, format!("`{name}` cannot be followed"))),
                },
                _ => return Err(Refusal::new(at, format!("`{name}` cannot be followed"))),
            };
        }
        let is_interleaved = member.steps.contains(&Step::Subscript);
        is_loaded |= !is_interleaved && matches!(ty, Type::Pointer { .. });
        let record = if is_interleaved { file.record(member) } else { rows };
        let steps = member.steps.clone();
        Ok(Some(View { root: root_name.clone(), declaration, steps, is_loaded, record }))
    }
}

/// A pointer that is followed: the variable and the steps to it.
pub(crate) type Followed = (String, Vec<Step>);

/// An element is followed with what it is an element of.
fn followed(view: &View) -> impl Iterator<Item = Followed> + '_ {
    let elements = (1..=view.n_base_steps()).filter(|n| matches!(view.steps[n - 1], Step::Element(_)));
    let all = view.followed().into_iter().chain(elements);
    all.map(|n| (view.root.clone(), view.steps[..n].to_vec()))
}

/// Whether what an expression reads is behind a pointer of a view.
pub(super) fn follows(program: &Program, binding: &Binding, e: &Expr) -> bool {
    !Search::new((program, binding), &BTreeSet::new()).ways_of(e).is_empty()
}

/// The condition under which a nest is sure to read what its views lead through; `Ok(None)` if it always does. `marked` are
/// its nodes with what it reads in other places than where it uses it ([`super::lowerer::Outcome::read_marks`]),
/// `conditional` the symbols of ends that stand behind `&&`, and `before` the pointers that are known to lead somewhere.
///
/// # Errors
/// A pointer for which that is not known.
pub(crate) fn reached(
    of: (&Program, &Binding),
    nest: &Nest,
    marked: &[Node],
    conditional: &BTreeSet<SymId>,
    before: &BTreeSet<Followed>,
) -> Result<Option<Expr>, String> {
    let [mut search, mut reading] = [Search::new(of, conditional), Search::new(of, conditional)];
    search.nodes(&nest.roots, &mut Vec::new(), true);
    reading.nodes(marked, &mut Vec::new(), true);
    search.always.append(&mut reading.always);
    search.always.extend(before.iter().cloned());
    search.sure.append(&mut reading.sure);
    let mut conditions: Vec<Expr> = Vec::new();
    // What may be read once the conditions so far hold.
    let mut known = search.always.clone();
    let mut missing: Vec<(&Followed, Option<Vec<Expr>>)> = search
        .all
        .difference(&search.always)
        .map(|way| {
            let sure = search.sure.iter().filter(|(w, _)| w == way).min_by_key(|(_, loops)| loops.len());
            (way, sure.and_then(|(_, loops)| first_or_last(loops)))
        })
        .collect();
    while !missing.is_empty() {
        let is_readable = |(_, found): &(&Followed, Option<Vec<Expr>>)| {
            let all = |conditions: &Vec<Expr>| conditions.iter().all(|c| search.ways_of(c).is_subset(&known));
            found.as_ref().is_some_and(all)
        };
        let Some(next) = missing.iter().position(is_readable) else { break };
        let (way, found) = missing.remove(next);
        for condition in found.into_iter().flatten() {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        known.insert(way.clone());
    }
    if let Some(((root, steps), _)) = missing.first() {
        let view = View {
            root: root.clone(),
            declaration: String::new(),
            steps: steps.clone(),
            is_loaded: false,
            record: None,
        };
        return Err(view.base());
    }
    let both = |l, r| Expr::Binary(BinaryOp::And, Box::new(l), Box::new(r));
    Ok(conditions.into_iter().reduce(both))
}

struct Search<'a> {
    program: &'a Program,
    binding: &'a Binding,
    conditional: &'a BTreeSet<SymId>,
    /// Followed whenever the nest is entered.
    always: BTreeSet<Followed>,
    /// Followed in every iteration of these loops.
    sure: Vec<(Followed, Vec<&'a Loop>)>,
    all: BTreeSet<Followed>,
}

impl<'a> Search<'a> {
    fn new((program, binding): (&'a Program, &'a Binding), conditional: &'a BTreeSet<SymId>) -> Self {
        let (always, sure, all) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        Search { program, binding, conditional, always, sure, all }
    }

    fn ways_of(&self, e: &Expr) -> BTreeSet<Followed> {
        let mut found = BTreeSet::new();
        e.visit(&mut |e| match e {
            Expr::Affine(a) => {
                for (var, _) in a.terms() {
                    if let Var::Sym(id) = var {
                        if let Some(load) = self.binding.load(id) {
                            let name = self.program.symbols.get(&id).map(|s| (s.name.clone(), Vec::new()));
                            found.extend(name.filter(|_| !is_always_there(self.program, load)));
                            found.extend(self.binding.views.get(&load.array).into_iter().flat_map(followed));
                        }
                        found.extend(self.binding.symbol_view(id).into_iter().flat_map(followed));
                    }
                }
            }
            Expr::Read(access) => {
                found.extend(self.binding.views.get(&access.array).into_iter().flat_map(followed));
            }
            _ => {}
        });
        found
    }

    /// Records an expression; parts that may not be evaluated are not sure.
    fn expr(&mut self, e: &Expr, path: &[&'a Loop], is_sure: bool) {
        match e {
            Expr::Select { condition, then, otherwise } => {
                self.expr(condition, path, is_sure);
                self.expr(then, path, false);
                self.expr(otherwise, path, false);
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, l, r) => {
                self.expr(l, path, is_sure);
                self.expr(r, path, false);
            }
            Expr::Affine(_) => self.note(self.ways_of(e), path, is_sure),
            Expr::Read(access) => {
                let own = self.binding.views.get(&access.array).into_iter().flat_map(followed).collect();
                self.note(own, path, is_sure);
                access.indices.iter().for_each(|i| self.expr(i, path, is_sure));
            }
            _ => e.children().into_iter().for_each(|c| self.expr(c, path, is_sure)),
        }
    }

    /// What nodes follow whenever they run, inside these loops.
    fn surely_in(&self, nodes: &'a [Node], path: &[&'a Loop]) -> BTreeSet<Followed> {
        let mut inside = Search::new((self.program, self.binding), self.conditional);
        inside.nodes(nodes, &mut path.to_vec(), true);
        let sure = inside.sure.into_iter().filter(|(_, loops)| loops.len() == path.len());
        inside.always.into_iter().chain(sure.map(|(way, _)| way)).collect()
    }

    fn note(&mut self, ways: BTreeSet<Followed>, path: &[&'a Loop], is_sure: bool) {
        for way in ways {
            if is_sure && path.is_empty() {
                self.always.insert(way.clone());
            } else if is_sure {
                self.sure.push((way.clone(), path.to_vec()));
            }
            self.all.insert(way);
        }
    }

    fn nodes(&mut self, nodes: &'a [Node], path: &mut Vec<&'a Loop>, is_sure: bool) {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    let target = Expr::Read(s.target.clone());
                    self.expr(&target, path, is_sure);
                    self.expr(&s.value, path, is_sure);
                }
                Node::If { condition, then, otherwise } => {
                    self.expr(condition, path, is_sure);
                    // What both branches follow is followed.
                    let [a, b] = [&**then, otherwise].map(|nodes| self.surely_in(nodes, path));
                    self.note(a.intersection(&b).cloned().collect(), path, is_sure);
                    self.nodes(then, path, false);
                    self.nodes(otherwise, path, false);
                }
                Node::Loop(l) => {
                    let is_plain = l.lower.0.len() == 1 && l.upper.0.len() == 1;
                    for term in l.lower.0.iter().chain(&l.upper.0) {
                        match term {
                            BoundTerm::Affine { expr, .. } => {
                                let is_conditional = expr.terms().any(
                                    |(v, _)| matches!(v, Var::Sym(id) if self.conditional.contains(&id)),
                                );
                                self.expr(&Expr::Affine(expr.clone()), path, is_sure && !is_conditional);
                            }
                            // A second term may follow `&&`.
                            BoundTerm::Data(e) => self.expr(e, path, is_sure && is_plain),
                            BoundTerm::Open => {}
                        }
                    }
                    path.push(l);
                    self.nodes(&l.body, path, is_sure);
                    path.pop();
                }
            }
        }
    }
}
