//! The loops that take part in overlapped tiles, and what orders their iterations.

use crate::refusal::Reason;
use oxeye_analysis::omega::{Feasibility, feasible};
use oxeye_analysis::{MOST_DEPENDENCES, NestModel, is_covered, loops_around};
use oxeye_ir::{Access, Affine, ArrayId, Bound, Execution, Loop, LoopId, Nest, Node, Program, Storage, Var};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes between the first and the last loop: the loops, and the others, which move.
pub(super) struct Order {
    pub(super) loops: Vec<Loop>,
    pub(super) before: Vec<Node>,
    pub(super) behind: Vec<Node>,
}

/// What nodes read and write.
#[derive(Default)]
struct Uses {
    read: BTreeSet<ArrayId>,
    written: BTreeSet<ArrayId>,
}

impl Uses {
    fn of(node: &Node) -> Self {
        let mut uses = Self::default();
        uses.add(node);
        uses
    }

    fn add(&mut self, node: &Node) {
        self.add_own(node);
        node.bodies().into_iter().flatten().for_each(|inner| self.add(inner));
    }

    fn add_own(&mut self, node: &Node) {
        for (access, is_written) in node.own_accesses() {
            if is_written {
                self.written.insert(access.array)
            } else {
                self.read.insert(access.array)
            };
        }
    }

    fn commutes_with(&self, other: &Self) -> bool {
        self.written.is_disjoint(&other.written)
            && self.written.is_disjoint(&other.read)
            && self.read.is_disjoint(&other.written)
    }
}

/// Takes the loops apart from what stands between them, which moves before all of them where it uses nothing that they
/// write, and behind them otherwise.
///
/// # Errors
/// If it has to stay where it is.
pub(super) fn order_of(nodes: &[Node]) -> Result<Order, Reason> {
    let mut order = Order { loops: Vec::new(), before: Vec::new(), behind: Vec::new() };
    let (mut passed, mut behind) = (Uses::default(), Uses::default());
    for node in nodes {
        let own = Uses::of(node);
        match node {
            Node::Loop(l) => {
                if !own.commutes_with(&behind) {
                    return Err(Reason::unsupported(format!(
                        "what stands before loop {} can move neither before nor behind the loops",
                        l.name
                    )));
                }
                passed.add(node);
                order.loops.push(l.clone());
            }
            _ if own.commutes_with(&passed) && own.commutes_with(&behind) => order.before.push(node.clone()),
            _ => {
                behind.add(node);
                order.behind.push(node.clone());
            }
        }
    }
    Ok(order)
}

/// A loop that takes part.
pub(super) struct Chain {
    /// With everything inside.
    pub(super) root: Loop,
    /// It and those inside it that are tiled, without bodies.
    pub(super) loops: Vec<Loop>,
    /// Least iterator and upper bound of each of these.
    pub(super) bounds: Vec<(Affine, Affine)>,
    /// It alone.
    pub(super) nest: Nest,
    pub(super) accesses: Vec<(Access, bool)>,
    /// Least and greatest iterator of each loop inside the tiled ones that has constant ends.
    ranges: BTreeMap<LoopId, (i64, i64)>,
}

impl Chain {
    fn of(nest: &Nest, root: &Loop, n_tiled: usize) -> Result<Self, Reason> {
        let (mut loops, mut bounds) = (Vec::new(), Vec::new());
        let mut inner = root;
        for depth in 0..n_tiled {
            if depth > 0 {
                let [Node::Loop(next)] = inner.body.as_slice() else {
                    return Err(Reason::unsupported(format!("loop {} holds more than one loop", inner.name)));
                };
                inner = next;
            }
            let is_plain = |e: &&Affine| e.loops().next().is_none();
            let ends = (inner.lower.as_affine().filter(is_plain), inner.upper.as_affine().filter(is_plain));
            let (Some(lower), Some(upper), 1) = (ends.0, ends.1, inner.step) else {
                return Err(Reason::unsupported(format!(
                    "loop {} does not step by one between ends that are known before it",
                    inner.name
                )));
            };
            if inner.execution != Execution::Sequential {
                return Err(Reason::unsupported(format!("loop {} is already scheduled", inner.name)));
            }
            bounds.push((lower.clone(), upper.clone()));
            loops.push(Loop { body: Vec::new(), ..inner.clone() });
        }
        let nest = Nest { roots: vec![Node::Loop(root.clone())], ..nest.clone() };
        let accesses = nest.accesses().into_iter().map(|(access, w)| (access.clone(), w)).collect();
        let inner = nest.loops().into_iter().filter(|l| loops.iter().all(|tiled| tiled.id != l.id));
        let ranges = inner.filter_map(|l| Some((l.id, range_of(l)?))).collect();
        Ok(Self { root: root.clone(), loops, bounds, nest, accesses, ranges })
    }

    /// Least and greatest value of an expression of constants and of loops inside the tiled ones that have constant ends.
    pub(super) fn range(&self, expr: &Affine) -> Option<(i64, i64)> {
        let start = (expr.constant_part(), expr.constant_part());
        expr.terms().try_fold(start, |(least, greatest), (var, factor)| {
            let Var::Loop(id) = var else { return None };
            let (first, last) = self.ranges.get(&id)?;
            let ends = (first.checked_mul(factor)?, last.checked_mul(factor)?);
            Some((least.checked_add(ends.0.min(ends.1))?, greatest.checked_add(ends.0.max(ends.1))?))
        })
    }

    pub(super) fn uses(&self, id: ArrayId) -> bool {
        self.accesses.iter().any(|(access, _)| access.array == id)
    }

    pub(super) fn writes(&self, id: ArrayId) -> bool {
        self.accesses.iter().any(|(access, is_written)| *is_written && access.array == id)
    }

    /// Arrays that it writes.
    pub(super) fn written(&self) -> BTreeSet<ArrayId> {
        self.accesses.iter().filter(|(_, is_written)| *is_written).map(|(access, _)| access.array).collect()
    }
}

/// Least and greatest iterator of a loop with constant ends.
fn range_of(l: &Loop) -> Option<(i64, i64)> {
    let end = |bound: &Bound| bound.as_affine()?.as_constant();
    let (lower, upper) = (end(&l.lower)?, end(&l.upper)?);
    Some((lower, lower.max(upper.checked_sub(1)?)))
}

/// Instances of two loops that use an array, at least one of which writes it.
pub(super) struct Conflict {
    pub(super) array: ArrayId,
    /// Positions of the loops.
    pub(super) first: usize,
    pub(super) second: usize,
    /// Whether the first instance of each pair is in no later iteration of any tiled loop.
    pub(super) is_ordered: bool,
}

/// The loops that take part.
pub(super) struct Group<'n> {
    pub(super) program: &'n Program,
    /// They alone.
    pub(super) nest: Nest,
    pub(super) chains: Vec<Chain>,
    /// How many loops of each are tiled.
    pub(super) n_tiled: usize,
    pub(super) conflicts: Vec<Conflict>,
    /// Arrays of which every instance has its own.
    private: BTreeSet<ArrayId>,
    /// Arrays that nothing but these loops touches, and that nothing reads behind them.
    dead: BTreeSet<ArrayId>,
}

impl<'n> Group<'n> {
    /// In a program in which the iterators of the loops around are symbols.
    pub(super) fn of(
        program: &'n Program,
        whole: &Nest,
        order: &Order,
        n_tiled: usize,
    ) -> Result<Self, Reason> {
        let chains: Vec<Chain> =
            order.loops.iter().map(|root| Chain::of(whole, root, n_tiled)).collect::<Result<_, _>>()?;
        let roots = order.loops.iter().cloned().map(Node::Loop).collect();
        let nest = Nest { roots, ..whole.clone() };
        let is_outermost =
            whole.roots.iter().any(|root| matches!(root, Node::Loop(l) if l.id == chains[0].root.id));
        let mut outside = Uses::default();
        let is_own = |l: &Loop| chains.iter().any(|chain| chain.root.id == l.id);
        whole.visit(&mut |path, node| {
            if !path.iter().any(|l| is_own(l)) {
                outside.add_own(node);
            }
        });
        let is_unseen = |id: &ArrayId| {
            program.array(*id).storage == Storage::Local
                && !whole.live_out.contains(id)
                && !whole.rotations.iter().any(|rotation| rotation.pointers.contains(id))
                && !outside.read.contains(id)
                && !outside.written.contains(id)
        };
        let unseen: BTreeSet<ArrayId> = nest.arrays().into_iter().filter(is_unseen).collect();
        let is_private = |id: &ArrayId| {
            let mut users = chains.iter().filter(|chain| chain.uses(*id));
            users.all(|chain| is_scratch(program, chain, *id, unseen.contains(id), n_tiled))
        };
        let private = nest.arrays().into_iter().filter(is_private).collect();
        // Later iterations of the loops around do not read it either.
        let is_set_first = |id: &ArrayId| is_outermost || is_covered(program, &nest, *id, &[]);
        let dead = unseen.into_iter().filter(is_set_first).collect();
        let conflicts = conflicts(program, &nest, n_tiled, &private)?;
        Ok(Self { program, nest, chains, n_tiled, conflicts, private, dead })
    }

    pub(super) fn name(&self, id: ArrayId) -> &str {
        &self.program.array(id).name
    }

    pub(super) fn is_private(&self, id: ArrayId) -> bool {
        self.private.contains(&id)
    }

    pub(super) fn is_dead(&self, id: ArrayId) -> bool {
        self.dead.contains(&id)
    }
}

/// Whether every instance of a loop has the array for itself: it is declared inside, or nothing else sees it and it is set before
/// it is read.
fn is_scratch(program: &Program, chain: &Chain, id: ArrayId, is_unseen: bool, n_tiled: usize) -> bool {
    if let Storage::Body(l) | Storage::Temp(Some(l)) = program.array(id).storage {
        return chain.loops[..n_tiled - 1].iter().all(|around| around.id != l);
    }
    let around = loops_around(&chain.nest, id).unwrap_or_default();
    is_unseen && (n_tiled..=around.len()).any(|n| is_covered(program, &chain.nest, id, &around[..n]))
}

/// All pairs of loops with dependent instances, and whether tiles keep their order.
fn conflicts(
    program: &Program,
    nest: &Nest,
    n_tiled: usize,
    private: &BTreeSet<ArrayId>,
) -> Result<Vec<Conflict>, Reason> {
    let model = NestModel::new(program, nest);
    let Some(relations) = model.relations(MOST_DEPENDENCES) else {
        return Err(Reason::unsupported("the loops have too many dependences to be looked at"));
    };
    let root_of = |stmt: usize| {
        let outermost = model.stmts[stmt].loops[0].id;
        nest.roots.iter().position(|root| matches!(root, Node::Loop(l) if l.id == outermost))
    };
    let mut found: BTreeMap<(ArrayId, usize, usize), bool> = BTreeMap::new();
    for relation in relations {
        let access = &model.stmts[relation.src.0].accesses[relation.src.1];
        let (Some(first), Some(second)) = (root_of(relation.src.0), root_of(relation.dst.0)) else {
            continue;
        };
        let key = (access.array, first, second);
        if private.contains(&access.array) || found.get(&key) == Some(&false) {
            continue;
        }
        let is_never_later = |depth: usize| {
            let mut system = relation.pairs.system.clone();
            system.add_ge(&[(relation.pairs.src(depth), 1), (relation.pairs.dst(depth), -1)], -1);
            feasible(&system, Default::default()) == Feasibility::Infeasible
        };
        found.insert(key, (0..n_tiled).all(is_never_later));
    }
    let conflict = |((array, first, second), is_ordered)| Conflict { array, first, second, is_ordered };
    Ok(found.into_iter().map(conflict).collect())
}
