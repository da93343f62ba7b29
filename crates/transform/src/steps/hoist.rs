//! Hoist: calls each mathematical function once for the iterations that do not change its arguments.
//!
//! *Rewrite*: `for i for j f[j] = exp(-r * h) * f[j] + pow(u, i)` → `v = exp(-r * h); for i { w = pow(u, i); for j f[j] = v * f[j] + w }`
//! (loop-invariant code motion; compilers leave such calls where they are, since they may set `errno`). What changes with an
//! inner loop but not with one around it becomes a table: `for y for x for u s[y] += c[x][u] * cos((2 * x + 1) * u * k)` →
//! `for x for u t[x][u] = cos(...); for y for x for u s[y] += c[x][u] * t[x][u]`. So does what changes with two of them by their sum or
//! difference alone, `pow(d, i - j)`.
//!
//! *Legal when* the arguments are made of symbols, iterators, scalars that the nest does not write, and local ones that one statement
//! before sets to such (`x = h * (i + 0.5); y[i] = pow(x, 6)`), and integers are divided by nothing but constants: the functions
//! have no side effects, so calling them once more than the nest does changes nothing.
//! *Refused when* there is no such call.

use super::factorize::at_least_one;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::values::{NestRewrite, Valued, entered, only_if, range_over};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, Expr, Form, Loop, LoopId, Nest, Node, Program, ScalarType,
    Stmt, StmtId, Storage, Types, UnaryOp, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

step! {
    /// Calls each mathematical function once for the iterations that do not change its arguments.
    Hoist: "hoist",
    "call mathematical functions once for all iterations that do not change their arguments",
    "";
}

impl NestRewrite for Hoist {
    fn rewrite(&self, nest: &mut Valued, _: Policy) -> Result<(), Reason> {
        let accesses = nest.nest.accesses();
        let written = accesses.iter().filter(|(_, is_written)| *is_written).map(|(access, _)| access.array);
        let mut hoister = Hoister {
            set_once: set_once(&nest.nest, &nest.program),
            meanings: BTreeMap::new(),
            written: written.collect(),
            program: nest.program.clone(),
            path: Vec::new(),
            conditions: Vec::new(),
            n_conditions: 0,
            before: vec![Vec::new()],
            known: Vec::new(),
            n_made: 0,
            next_loop: nest.nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0),
            next_stmt: nest.nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0),
        };
        let roots = hoister.nodes(nest.nest.roots.clone());
        if hoister.n_made == 0 {
            return Err(Reason::unsupported(
                "no call of a mathematical function is repeated with the same arguments",
            ));
        }
        nest.program = hoister.program;
        nest.nest.roots = roots;
        Ok(())
    }
}

/// Longer arguments are left where they are.
const MOST_TERMS: usize = 64;

/// The local floating-point scalars that one statement sets.
fn set_once(nest: &Nest, program: &Program) -> BTreeSet<ArrayId> {
    let mut counts: BTreeMap<ArrayId, usize> = BTreeMap::new();
    for stmt in nest.stmts() {
        *counts.entry(stmt.target.array).or_default() += 1;
    }
    let is_private = |id: ArrayId| {
        let array = program.array(id);
        let is_local = matches!(array.storage, Storage::Local | Storage::Body(_) | Storage::Temp(_));
        let is_shared = program.may_alias.iter().any(|(a, b)| *a == id || *b == id);
        is_local && !is_shared && array.shape.is_empty() && array.element.is_float()
    };
    counts.into_iter().filter(|(id, n)| *n == 1 && is_private(*id)).map(|(id, _)| id).collect()
}

struct Hoister {
    program: Program,
    set_once: BTreeSet<ArrayId>,
    /// What those of them hold that are set before the present statement, over what does not change.
    meanings: BTreeMap<ArrayId, Expr>,
    written: BTreeSet<ArrayId>,
    /// The loops around, without their bodies.
    path: Vec<Loop>,
    /// The conditions around that have one value during the whole nest, and how many others there are.
    conditions: Vec<Expr>,
    n_conditions: usize,
    /// What comes before the loop at each depth that is being rewritten.
    before: Vec<Vec<Node>>,
    /// What stands for expressions, at the depth of which it is computed, and under how many of the conditions.
    known: Vec<(Expr, (usize, usize), Access)>,
    /// How many scalars and tables there are.
    n_made: usize,
    next_loop: u32,
    next_stmt: u32,
}

/// Where an expression is computed once.
enum Once {
    /// Before the loop at this depth.
    Before(usize),
    /// Before all loops, for all values of these sums of iterators.
    Tabulated(Vec<Side>),
}

/// A dimension of a table: an iterator, or a sum or difference of iterators by which alone an expression changes with them.
struct Side {
    /// The depths of the loops, and whether their iterators are subtracted.
    loops: Vec<(usize, bool)>,
    /// The least value, and that behind the greatest one.
    range: (Affine, Affine),
}

impl Side {
    fn value(&self, path: &[Loop]) -> Affine {
        let signed = |(k, is_subtracted): &(usize, bool)| {
            let iterator = Affine::var(path[*k].id);
            if *is_subtracted { Affine::default() - iterator } else { iterator }
        };
        self.loops.iter().map(signed).fold(Affine::default(), |sum, iterator| sum + iterator)
    }
}

fn n_terms(e: &Expr) -> usize {
    let mut n = 0;
    e.visit(&mut |_| n += 1);
    n
}

/// Whether an expression changes with two iterators by their sum (1) or difference (-1) alone.
fn moved_alike(e: &Expr, one: LoopId, other: LoopId) -> Option<i64> {
    let mut signs = BTreeSet::new();
    e.visit(&mut |e| {
        if let Expr::Affine(a) = e
            && (a.uses(one) || a.uses(other))
        {
            signs.insert(match (a.coefficient(one), a.coefficient(other)) {
                (c, d) if c == d => 1,
                (c, d) if c == -d => -1,
                _ => 0,
            });
        }
    });
    let mut signs = signs.into_iter();
    signs.next().filter(|sign| *sign != 0 && signs.next().is_none())
}

impl Hoister {
    fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done = Vec::new();
        let outside = self.meanings.clone();
        for node in nodes {
            match node {
                Node::Stmt(mut s) => {
                    self.note(&s);
                    self.expr(&mut s.value, s.line);
                    done.push(Node::Stmt(s));
                }
                Node::If { mut condition, then, otherwise } => {
                    self.expr(&mut condition, None);
                    let then = self.under(condition.clone(), then);
                    let otherwise = self.under(Expr::unary(UnaryOp::Not, condition.clone()), otherwise);
                    done.push(Node::If { condition, then, otherwise });
                }
                Node::Loop(mut l) => {
                    let depth = self.path.len();
                    let body = std::mem::take(&mut l.body);
                    self.path.push(l.clone());
                    self.before.push(Vec::new());
                    l.body = self.nodes(body);
                    self.path.pop();
                    self.before.pop();
                    done.append(&mut self.before[depth]);
                    done.push(Node::Loop(l));
                    self.known.retain(|(_, (at, _), _)| *at < depth);
                }
            }
        }
        self.meanings = outside;
        done
    }

    /// Nodes that are reached under a condition.
    fn under(&mut self, condition: Expr, nodes: Vec<Node>) -> Vec<Node> {
        let resolved = self.resolved(&condition);
        let is_fixed =
            self.n_conditions == 0 && self.iterators(&resolved).is_some_and(|loops| loops.is_empty());
        if !is_fixed {
            self.n_conditions += 1;
            let nodes = self.nodes(nodes);
            self.n_conditions -= 1;
            return nodes;
        }
        self.conditions.push(resolved);
        let nodes = self.nodes(nodes);
        self.conditions.pop();
        self.known.retain(|(_, (_, under), _)| *under <= self.conditions.len());
        nodes
    }

    /// Keeps what a scalar holds from this statement on.
    fn note(&mut self, s: &Stmt) {
        let id = s.target.array;
        if s.update != Update::Assign || !self.set_once.contains(&id) {
            return;
        }
        let value = self.resolved(&s.value);
        if n_terms(&value) <= MOST_TERMS && self.iterators(&value).is_some() {
            let element = self.program.array(id).element;
            let path: Vec<&Loop> = self.path.iter().collect();
            let is_same = Types::inside(&self.program, &path).expr(&value) == element;
            let value = if is_same { value } else { Expr::Cast(element, Box::new(value)) };
            self.meanings.insert(id, value);
        }
    }

    /// An expression without the scalars of which it is known what they hold.
    fn resolved(&self, e: &Expr) -> Expr {
        if let Expr::Read(access) = e
            && let Some(value) = self.meanings.get(&access.array)
        {
            return value.clone();
        }
        let mut resolved = e.clone();
        resolved.children_mut().into_iter().for_each(|child| *child = self.resolved(child));
        resolved
    }

    /// Replaces the largest calls in an expression that are worth making once.
    fn expr(&mut self, e: &mut Expr, line: Option<u32>) {
        // Products and sums stay where they are: compilers may round them together with others.
        if matches!(e, Expr::Call { .. }) {
            let resolved = self.resolved(e);
            if let Some(once) = self.once(&resolved)
                && let Some(access) = self.computed(&resolved, &once, line)
            {
                *e = Expr::Read(access);
                return;
            }
        }
        match e {
            // What is not evaluated in any case is not looked at: its scalars may not be set.
            Expr::Binary(BinaryOp::And | BinaryOp::Or, first, second) => {
                self.expr(first, line);
                self.n_conditions += 1;
                self.expr(second, line);
                self.n_conditions -= 1;
            }
            Expr::Select { condition, then, otherwise } => {
                self.expr(condition, line);
                self.n_conditions += 1;
                self.expr(then, line);
                self.expr(otherwise, line);
                self.n_conditions -= 1;
            }
            e => e.children_mut().into_iter().for_each(|child| self.expr(child, line)),
        }
    }

    /// The loops that an expression changes with; `None` if it may change otherwise.
    fn iterators(&self, e: &Expr) -> Option<BTreeSet<LoopId>> {
        let mut is_fixed = true;
        let mut iterators: BTreeSet<LoopId> = BTreeSet::new();
        e.visit(&mut |e| match e {
            Expr::Affine(a) => iterators.extend(a.loops()),
            Expr::Read(access) => is_fixed &= self.is_fixed(access),
            // Dividing by zero ends the program, and the nest may not do it.
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => is_fixed &= self.is_harmless_divisor(by),
            _ => {}
        });
        is_fixed.then_some(iterators)
    }

    /// Where the expression can be computed once for several iterations.
    fn once(&self, e: &Expr) -> Option<Once> {
        let iterators = self.iterators(e)?;
        let used: Vec<usize> =
            (0..self.path.len()).filter(|k| iterators.contains(&self.path[*k].id)).collect();
        let depth = used.last().map_or(0, |last| last + 1);
        if let Some(sides) = self.sides(e, &used)
            && sides.len() < depth
        {
            return Some(Once::Tabulated(sides));
        }
        (depth < self.path.len()).then_some(Once::Before(depth))
    }

    /// By what an expression changes with these loops; `None` if that has no range known before all loops.
    fn sides(&self, e: &Expr, used: &[usize]) -> Option<Vec<Side>> {
        let mut groups: Vec<Vec<(usize, bool)>> = Vec::new();
        for &k in used {
            let together = groups.iter_mut().find_map(|group| {
                let sign = moved_alike(e, self.path[group[0].0].id, self.path[k].id)?;
                Some((group, sign))
            });
            match together {
                Some((group, sign)) => group.push((k, sign < 0)),
                None => groups.push(vec![(k, false)]),
            }
        }
        let is_signed = |l: &Loop| matches!(l.ty, ScalarType::I32 | ScalarType::I64);
        let side = |loops: Vec<(usize, bool)>| {
            let is_plain = loops.len() == 1 || loops.iter().all(|(k, _)| is_signed(&self.path[*k]));
            let mut side = Side { loops, range: Default::default() };
            side.range = range_over(&side.value(&self.path), &self.path).filter(|_| is_plain)?;
            Some(side)
        };
        groups.into_iter().map(side).collect()
    }

    fn is_harmless_divisor(&self, by: &Expr) -> bool {
        let path: Vec<&Loop> = self.path.iter().collect();
        let is_constant =
            |by: &Expr| by.as_affine().and_then(Affine::as_constant).is_some_and(|c| c != 0 && c != -1);
        is_constant(by) || Types::inside(&self.program, &path).expr(by).is_float()
    }

    /// A scalar that has one value during the whole nest, and has it in any case.
    fn is_fixed(&self, access: &Access) -> bool {
        let id = access.array;
        let is_set = match self.program.array(id).storage {
            Storage::Param | Storage::Global => true,
            Storage::Local => self.n_conditions == 0 && self.conditions.is_empty(),
            Storage::Body(_) | Storage::Temp(_) => false,
        };
        let pairs = || self.program.may_alias.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
        access.indices.is_empty()
            && is_set
            && !self.written.contains(&id)
            && !pairs().any(|(a, b)| a == id && self.written.contains(&b))
    }

    /// The scalar or the element of a table that stands for an expression.
    fn computed(&mut self, e: &Expr, once: &Once, line: Option<u32>) -> Option<Access> {
        if let Some((.., access)) = self.known.iter().find(|(known, ..)| known == e) {
            return Some(access.clone());
        }
        // Where the nest does not make the call, it might set `errno`, and its arguments might overflow.
        if self.n_conditions > 0 {
            return None;
        }
        self.n_made += 1;
        let path: Vec<&Loop> = self.path.iter().collect();
        let element = Types::inside(&self.program, &path).expr(e);
        let conditions = &self.conditions;
        let under = |conditions: &[Expr], node: Node| {
            conditions.iter().rev().fold(node, |node, condition| only_if(condition.clone(), vec![node]))
        };
        let mut array = |shape, inside| {
            self.program.add_array(Array {
                id: ArrayId(0),
                name: "once".into(),
                element,
                c_type: None,
                shape,
                form: Form::Nested,
                storage: Storage::Temp(inside),
                align: 0,
            })
        };
        let mut set = |target: Access| {
            self.next_stmt += 1;
            let id = StmtId(self.next_stmt - 1);
            Node::Stmt(Stmt { id, target, update: Update::Assign, value: e.clone(), line })
        };
        match once {
            Once::Before(depth) => {
                let inside = depth.checked_sub(1).map(|k| self.path[k].id);
                let access = Access::scalar(array(Vec::new(), inside));
                let node = under(conditions, set(access.clone()));
                self.before.get_mut(*depth)?.push(node);
                self.known.push((e.clone(), (*depth, conditions.len()), access.clone()));
                Some(access)
            }
            Once::Tabulated(sides) => {
                let size = |side: &Side| Some(at_least_one(side.range.1.clone() - side.range.0.clone()));
                let index = |side: &Side| side.value(&self.path) - side.range.0.clone();
                let table = array(sides.iter().map(size).collect(), None);
                let access = Access::new(table, sides.iter().map(index));
                let mut node = set(access.clone());
                for side in sides.iter().rev() {
                    let id = LoopId(self.next_loop);
                    self.next_loop += 1;
                    // The first of its loops runs over the sum, the others stand still.
                    let first = &self.path[side.loops[0].0];
                    let loops = || side.loops.iter().map(|(k, _)| &self.path[*k]);
                    node.substitute(&|v| match loops().find(|l| v == Var::Loop(l.id)) {
                        Some(l) if l.id == first.id => Some(Affine::var(id)),
                        Some(_) => Some(Affine::default()),
                        None => None,
                    });
                    let ty =
                        if loops().any(|l| l.ty == ScalarType::I64) { ScalarType::I64 } else { first.ty };
                    let (lower, upper) = (side.range.0.clone().into(), side.range.1.clone().into());
                    let body = vec![node];
                    node = Node::Loop(Loop { id, ty, lower, upper, step: 1, body, ..first.clone() });
                }
                // Only what the nest does is worth a table.
                let used: Vec<usize> = sides.iter().flat_map(|side| &side.loops).map(|(k, _)| *k).collect();
                let depth = used.iter().max()? + 1;
                let others = (0..depth).filter(|k| !used.contains(k)).map(|k| entered(&self.path[k]));
                let is_outside = |condition: &Expr| !self.path.iter().any(|l| condition.uses(l.id));
                for condition in others.flatten().flatten().filter(is_outside) {
                    node = only_if(condition, vec![node]);
                }
                self.before.first_mut()?.push(under(conditions, node));
                self.known.push((e.clone(), (0, conditions.len()), access.clone()));
                Some(access)
            }
        }
    }
}
