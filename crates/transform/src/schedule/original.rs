//! The dependences of a nest in its original order, from [`oxeye_analysis`], between the statements of a schedule.

use super::statement::{MemoryAccess, Statement};
use super::verdicts::Verdicts;
use crate::refusal::{Reason, RefusalKind};
use oxeye_analysis::{DependenceRelation, Level, MOST_DEPENDENCES, NestModel, Role, StmtAccess, StmtModel};
use oxeye_ir::{Nest, Node, Program};

/// A dependence of the original nest: access `a` of statement `s` comes before access `b` of `t`, with their common
/// loops equal above `depth` and ordered at `depth` (`None`: all equal, textual order).
#[derive(Clone, Debug)]
pub(crate) struct OriginalPair {
    pub(crate) source: (usize, usize),
    pub(crate) sink: (usize, usize),
    pub(crate) depth: Option<usize>,
    /// The pairs of instances.
    pub(crate) relation: DependenceRelation,
}

/// The nest as imported, and its dependences.
#[derive(Debug, Default)]
pub(crate) struct Original {
    pub(crate) model: NestModel,
    pub(crate) pairs: Vec<OriginalPair>,
    /// What the judge has found so far.
    pub(crate) verdicts: Verdicts,
    /// The nest is too large: its dependences are not known.
    pub(crate) is_too_large: bool,
    /// Dependences inside one run of an atomic statement, which matter only where it is split up.
    inside: Vec<DependenceRelation>,
}

impl Original {
    /// For a nest and its statements as imported: in textual order, each one or several of the nest's.
    pub(crate) fn new(program: &Program, nest: &Nest, statements: &[Statement]) -> Self {
        let model = NestModel::new(program, nest);
        let holders: Vec<usize> = statements
            .iter()
            .enumerate()
            .flat_map(|(s, statement)| std::iter::repeat_n(s, n_stmts(&statement.node)))
            .collect();
        let accesses: Vec<Vec<Option<usize>>> =
            model.stmts.iter().zip(&holders).map(|(stmt, s)| places(stmt, &statements[*s])).collect();
        let mut inside = Vec::new();
        let mut pair = |relation: DependenceRelation| {
            let place = |(stmt, access): (usize, usize)| Some((holders[stmt], accesses[stmt][access]?));
            let (Some(source), Some(sink)) = (place(relation.src), place(relation.dst)) else {
                inside.push(relation);
                return None;
            };
            let n_outer = |s: usize| statements[s].time.loops.len();
            let depth = match relation.level {
                Level::Carried(depth) => Some(depth),
                Level::Independent => None,
            };
            // Dependences inside one run of an atomic statement cannot be broken.
            let is_inside = source.0 == sink.0 && depth.is_none_or(|d| d >= n_outer(source.0));
            if is_inside {
                inside.push(relation);
                return None;
            }
            Some(OriginalPair { source, sink, depth, relation })
        };
        let relations = model.relations(MOST_DEPENDENCES);
        let is_too_large = relations.is_none();
        let mut pairs: Vec<OriginalPair> =
            relations.unwrap_or_default().into_iter().filter_map(&mut pair).collect();
        pairs.sort_by_key(|p| (p.source.0, p.sink.0, p.source.1, p.sink.1, p.depth.unwrap_or(usize::MAX)));
        Self { model, pairs, is_too_large, inside, verdicts: Verdicts::default() }
    }

    /// Why nothing can be judged, if the nest is too large.
    pub(crate) fn known(&self) -> Result<(), Reason> {
        if self.is_too_large {
            let n_stmts = self.model.stmts.len();
            let text = format!("its {n_stmts} statements have more dependences than Oxeye can look at");
            return Err(Reason::new(RefusalKind::WorkLimit, text));
        }
        Ok(())
    }

    /// All dependences.
    pub(crate) fn relations(&self) -> impl Iterator<Item = &DependenceRelation> {
        self.pairs.iter().map(|pair| &pair.relation).chain(&self.inside)
    }
}

fn n_stmts(node: &Node) -> usize {
    match node {
        Node::Stmt(_) => 1,
        _ => node.bodies().into_iter().flatten().map(n_stmts).sum(),
    }
}

/// For each access of one of the statement's assignments, the access of the statement; `None` for arrays that live
/// inside.
fn places(stmt: &StmtModel, statement: &Statement) -> Vec<Option<usize>> {
    let mut taken = vec![false; statement.accesses.len()];
    let n_target = statement.assignment().map_or(0, |s| if s.update.reads_target() { 2 } else { 1 });
    let mut updates = None;
    statement.node.for_each_stmt(&mut |s| {
        if s.id == stmt.id && s.update.reads_target() {
            updates = Some(s.update);
        }
    });
    let mut place = |access: &StmtAccess| {
        let update = updates.filter(|_| access.role.is_target());
        let fits = |k: usize, own: &MemoryAccess| match (statement.assignment(), access.role) {
            (None, role) => {
                own.source == access.source && own.write == role.is_write() && own.update == update
            }
            (Some(_), Role::Update) => k == 0,
            (Some(_), Role::Target) => k + 1 == n_target,
            (Some(_), _) => k >= n_target && own.source == access.source && !taken[k],
        };
        let found = statement.accesses.iter().enumerate().position(|(k, own)| fits(k, own))?;
        taken[found] = true;
        Some(found)
    };
    stmt.accesses.iter().map(&mut place).collect()
}
