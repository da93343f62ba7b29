//! Packed contraction, called `contract` in recipes: `T[i, j] += f(A-part[i, k], B-part[j, k])` in cache blocks around a
//! register tile.
//!
//! *Rewrite* (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008), for one statement inside
//! loops `i`, `j`, `k` in any order:
//!
//! ```text
//! for j, k, i: T[i][j] += A[i][k] * B[k][j]
//! →
//! for jc by NC, kc by KC:
//!   pack the parts of the value that depend on j and k into panels of NR columns
//!   for ic by MC:
//!     pack the parts that depend on i and k into panels of MR rows
//!     for each panel of columns, each panel of rows:
//!       load the register tile; for k: tile[i][j] += packedA[k][i] * packedB[k][j]; store it
//! ```
//!
//! *Legal when* the judge accepts the order with packed operands read when their block is packed and the target read
//! and written around the register tile. *Refused when* the value is not such a function, when a bound joins `i`, `j`
//! and `k`, or when masking a triangular operand with zeros would not be exact under the floating-point policy.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::scan::bounds_from;
use crate::schedule::packed_contraction::{Blocks, Contraction, Part, Role, Shape, has_type};
use crate::schedule::space::{gist, implies, project};
use crate::schedule::{Schedule, Statement, Tree};
use oxeye_ir::{
    Access, Affine, BoundTerm, Constraint, Expr, LoopId, Relation, ScalarType, Stmt, StmtId, Update, Var,
    WorkSharing,
};

step! {
    /// Computes a product in cache blocks: packs operands around a tile of accumulators in vector registers.
    PackedContraction: "contract",
    "pack operands into cache blocks around a tile of accumulators in vector registers",
    "{stmt} rows {row} columns {column} depth {depth} {blocks} [parallel {parallel}]",
    .alias("packed_contraction");
    /// The statement.
    stmt: StmtId = Kind::Statement,
    /// Loop over rows of the target.
    row: LoopId = Kind::Loop,
    /// Loop over contiguous columns of the target.
    column: LoopId = Kind::Loop,
    /// Loop that is summed over.
    depth: LoopId = Kind::Loop,
    /// Block sizes.
    blocks: Blocks = Kind::Blocks,
    /// Whether and how row blocks are assigned to threads.
    parallel: Option<WorkSharing> = Kind::Team,
}

impl Step for PackedContraction {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason> {
        let loops = [self.row, self.column, self.depth];
        let s = lookup::statement(schedule, self.stmt)?;
        let (place, stmts) = innermost_three(schedule, s, loops)?;
        let contraction = plan(schedule, stmts, loops, self.blocks, self.parallel, policy)?;
        let (siblings, k) = lookup::siblings_mut(schedule, place)?;
        siblings[k] = Tree::PackedContraction(Box::new(contraction));
        Ok(())
    }
}

/// The outermost of three loops that contain only each other and statements, including `s`; and those statements.
fn innermost_three(
    schedule: &Schedule,
    s: usize,
    mut loops: [LoopId; 3],
) -> Result<(LoopId, Vec<usize>), Reason> {
    let path = &schedule.paths()[s];
    loops.sort_unstable();
    let mut inner: Vec<LoopId> = path.iter().rev().take(3).copied().collect();
    inner.sort_unstable();
    let statement = schedule.statements[s].id;
    if inner != loops {
        return Err(Reason::new(
            RefusalKind::NotNested,
            format!("{statement} is not directly inside the three loops"),
        ));
    }
    let top = path[path.len() - 3];
    let chain = lookup::perfect_chain(schedule, top);
    let body =
        chain.last().and_then(|l| schedule.loop_node(*l)).map(|b| b.body.as_slice()).unwrap_or_default();
    if chain.len() != 3 || body.iter().any(|t| !matches!(t, Tree::Leaf(_))) {
        return Err(Reason::new(
            RefusalKind::NotPerfectlyNested,
            format!("other loops share a loop with {statement}"),
        ));
    }
    Ok((top, crate::schedule::all_leaves(body)))
}

/// The union of the domains of statements that compute the same, if it is a polyhedron: all share `core`, and the
/// second has the negation of one more constraint of the first.
fn joined_domain(schedule: &Schedule, stmts: &[usize]) -> Result<Vec<Constraint>, Reason> {
    let [s, t] = match stmts {
        [only] => return Ok(schedule.statements[*only].domain.clone()),
        [s, t] => [&schedule.statements[*s], &schedule.statements[*t]],
        _ => return Err(Reason::unsupported("more than two statements share the innermost loop")),
    };
    if mapped_assignment(s) != mapped_assignment(t) || s.assignment().is_none() {
        return Err(Reason::unsupported(format!(
            "{} and {} share the innermost loop and differ",
            s.id, t.id
        )));
    }
    let core: Vec<Constraint> = s
        .domain
        .iter()
        .filter(|c| implies(&t.domain, c))
        .chain(t.domain.iter().filter(|c| implies(&s.domain, c)))
        .cloned()
        .collect();
    let (only_s, only_t) = (gist(&s.domain, &core), gist(&t.domain, &core));
    match (only_s.as_slice(), only_t.as_slice()) {
        ([a], [b])
            if a.relation == Relation::NonNegative
                && b.relation == Relation::NonNegative
                && a.expr.scaled(-1).offset(-1) == b.expr =>
        {
            Ok(gist(&core, &[]))
        }
        _ => Err(Reason::unsupported(format!("{} and {} do not meet at one boundary", s.id, t.id))),
    }
}

/// The assignment in terms of the schedule's loops.
fn mapped_assignment(statement: &Statement) -> Option<(Access, Update, Expr)> {
    let stmt = statement.assignment()?;
    let mut target = stmt.target.clone();
    let mut value = stmt.value.clone();
    let with = |v: Var| match v {
        Var::Loop(l) => statement.map.get(&l).cloned(),
        Var::Sym(_) => None,
    };
    target.indices.iter_mut().for_each(|e| e.substitute(&with));
    value.substitute(&with);
    Some((target, stmt.update, value))
}

/// Plans the contraction of the statements in the schedule's loops `row`, `column` and `depth`, nested in any order.
pub(crate) fn plan(
    schedule: &mut Schedule,
    stmts: Vec<usize>,
    [row, column, depth]: [LoopId; 3],
    blocks: Blocks,
    parallel: Option<WorkSharing>,
    policy: Policy,
) -> Result<Contraction, Reason> {
    let core = joined_domain(schedule, &stmts)?;
    let statement = schedule.statements[stmts[0]].clone();
    let Some(stmt) = statement.assignment().cloned() else {
        return Err(Reason::unsupported("only a plain assignment can be contracted"));
    };
    if !matches!(stmt.update, Update::Add | Update::Sub | Update::Min | Update::Max) {
        return Err(Reason::unsupported(format!("{} does not accumulate into its target", stmt.id)));
    }
    let shape = Shape { statement: &statement, row, column, depth };
    let target: Vec<Affine> = stmt
        .target
        .affine_indices()
        .ok_or_else(|| Reason::unsupported(format!("an index of the target of {} is not affine", stmt.id)))?
        .into_iter()
        .map(|a| statement.mapped(a))
        .collect();
    let Some((last, others)) = target.split_last() else {
        return Err(Reason::unsupported("the target is a scalar"));
    };
    if last.coefficient(column) != 1 || others.iter().any(|a| a.uses(column)) {
        return Err(Reason::unsupported(format!(
            "the target is not contiguous in loop {}",
            schedule.loop_name(column)
        )));
    }
    if target.iter().any(|a| a.uses(depth)) {
        return Err(Reason::unsupported(format!(
            "the target changes with loop {}",
            schedule.loop_name(depth)
        )));
    }
    if !target.iter().any(|a| a.uses(row)) {
        return Err(Reason::unsupported(format!(
            "the target does not change with loop {}",
            schedule.loop_name(row)
        )));
    }
    let ty = schedule.program.array(stmt.target.array).element;
    if !ty.is_float() || !has_type(&schedule.program, &stmt.value, ty) {
        return Err(Reason::unsupported("target and operands are not all of one floating-point type"));
    }
    let mut operands = Vec::new();
    shape
        .operands(&stmt.value, &mut operands)
        .ok_or_else(|| Reason::unsupported("the value is not a function of row and column operands"))?;
    if !operands.iter().any(|(p, _)| *p == Part::Rows) || !operands.iter().any(|(p, _)| *p == Part::Columns) {
        return Err(Reason::unsupported("the value has no operand of its own for rows or for columns"));
    }

    for c in &core {
        let e = &c.expr;
        if e.uses(row) && e.uses(column) && e.uses(depth) {
            return Err(Reason::unsupported("a loop bound joins row, column and depth"));
        }
        if c.relation == Relation::Zero && (e.uses(row) || e.uses(column) || e.uses(depth)) {
            return Err(Reason::unsupported("a loop bound fixes an iterator"));
        }
    }
    for (side, axis) in [(Part::Rows, row), (Part::Columns, column)] {
        let masked = core.iter().any(|c| c.expr.uses(axis) && c.expr.uses(depth));
        let exact = matches!(stmt.update, Update::Add | Update::Sub)
            && policy.reassociate
            && shape.vanishes(&stmt.value, side);
        if masked && !exact {
            return Err(Reason::unsupported(format!(
                "the range of loop {} depends on loop {}, and padding with zeros may change the result",
                schedule.loop_name(depth),
                schedule.loop_name(axis)
            )));
        }
    }

    let first_of = |axis: LoopId| -> Result<Affine, Reason> {
        let away: Vec<LoopId> = [row, column, depth].into_iter().filter(|l| *l != axis).collect();
        let rows = project(&core, &away);
        let (lower, _) = bounds_from(&rows, axis);
        let terms: Vec<Affine> = lower
            .into_iter()
            .filter_map(|t| match t {
                BoundTerm::Affine { expr, divisor: 1 } => Some(expr),
                _ => None,
            })
            .collect();
        let around = project(&core, &[row, column, depth]);
        let greatest =
            |e: &&Affine| terms.iter().all(|o| implies(&around, &Constraint::ge((*e).clone(), o.clone())));
        terms.iter().find(greatest).cloned().ok_or_else(|| {
            Reason::unsupported(format!("loop {} has no single lower bound", schedule.loop_name(axis)))
        })
    };
    let base = [first_of(column)?, first_of(depth)?, first_of(row)?];

    let roles = roles(&shape, &stmt, statement.accesses.len(), &operands);
    let mut counter = |name: &str| schedule.fresh_loop(name, ScalarType::I32);
    let counters = [counter("jc"), counter("kc"), counter("ic"), counter("jr"), counter("ir")];
    let [jc, kc, ic, jr, ir] = counters;
    let Blocks { mr, nr, mc, nc, kc: kb, .. } = blocks;
    let mut blocked = Vec::new();
    let mut block = |point: LoopId, base: &Affine, parts: &[(LoopId, i64)], size: i64| {
        let start = parts.iter().fold(base.clone(), |sum, (l, n)| sum.add_scaled(&Affine::var(*l), *n));
        blocked.push(Constraint::ge(Affine::var(point), start.clone()));
        blocked.push(Constraint::lt(Affine::var(point), start.offset(size)));
    };
    block(column, &base[0], &[(jc, nc), (jr, nr)], nr);
    block(depth, &base[1], &[(kc, kb)], kb);
    block(row, &base[2], &[(ic, mc), (ir, mr)], mr);
    for (panel, count) in [(jr, nc / nr), (ir, mc / mr)] {
        blocked.push(Constraint::ge(Affine::var(panel), 0.into()));
        blocked.push(Constraint::lt(Affine::var(panel), count.into()));
    }
    for s in &stmts {
        schedule.statements[*s].domain.extend(blocked.iter().cloned());
    }
    Ok(Contraction {
        statements: stmts,
        row,
        column,
        depth,
        counters,
        blocks,
        parallel,
        roles,
        core,
        base,
        reassociate: policy.reassociate,
    })
}

/// The role of each access, in the order of [`oxeye_ir::Nest::accesses`].
fn roles(shape: &Shape, stmt: &Stmt, n_accesses: usize, operands: &[(Part, &Expr)]) -> Vec<Role> {
    let mut roles = vec![Role::TargetLoad, Role::TargetStore];
    for read in stmt.value.reads() {
        let holder = operands.iter().find(|(_, e)| e.reads().iter().any(|r| std::ptr::eq(*r, read)));
        roles.push(match holder {
            Some((Part::Rows, _)) => Role::PackRows,
            Some((Part::Columns, _)) => Role::PackColumns,
            _ => Role::Inline,
        });
    }
    debug_assert_eq!(roles.len(), n_accesses);
    let _ = shape;
    roles
}
