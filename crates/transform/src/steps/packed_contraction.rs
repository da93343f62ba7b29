//! Packed contraction, called `contract` in recipes: `T[i, j] += f(A-part[i, k], B-part[j, k])` in cache blocks around a
//! register tile.
//!
//! *Rewrite* (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008), for one statement inside
//! loops `i`, `j`, `k` in any order, each of which may be several loops, as in convolutions and products of tensors:
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
//! With `rows first` the two packed sides change places: rows are packed outside, columns in each of the blocks inside.
//!
//! *Legal when* the judge accepts the order with packed operands read when their block is packed and the target read
//! and written around the register tile. *Refused when* the value is not such a function, when a bound joins `i`, `j`
//! and `k` (or any two of them, where one is several loops), or when masking a triangular operand with zeros would not be exact under the floating-point policy.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::scan::bounds_from;
use crate::schedule::packed_contraction::{
    Axis, Blocks, Contraction, Part, Role, Shape, fits_integer, has_type,
};
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
    /// Loops over rows of the target; the register tile has iterations of the last one.
    rows as "row": Vec<LoopId> = Kind::Loops,
    /// Loops over columns of the target, which is contiguous in the last one.
    columns as "column": Vec<LoopId> = Kind::Loops,
    /// Loops that are summed over; blocks cut the first one.
    depth: Vec<LoopId> = Kind::Loops,
    /// Block sizes.
    blocks: Blocks = Kind::Blocks,
    /// Whether and how the blocks inside are assigned to threads.
    parallel: Option<WorkSharing> = Kind::Team,
}

impl Step for PackedContraction {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason> {
        let s = lookup::statement(schedule, self.stmt)?;
        let loops = Loops { rows: &self.rows, columns: &self.columns, depth: &self.depth };
        let (place, stmts) = innermost(schedule, s, &loops.all())?;
        let contraction = plan(schedule, stmts, loops, self.blocks, self.parallel, policy)?;
        let (siblings, k) = lookup::siblings_mut(schedule, place)?;
        siblings[k] = Tree::PackedContraction(Box::new(contraction));
        Ok(())
    }
}

/// The loops of a contraction, outermost first.
#[derive(Clone, Copy)]
pub(crate) struct Loops<'a> {
    pub(crate) rows: &'a [LoopId],
    pub(crate) columns: &'a [LoopId],
    pub(crate) depth: &'a [LoopId],
}

impl Loops<'_> {
    fn all(&self) -> Vec<LoopId> {
        [self.rows, self.columns, self.depth].concat()
    }

    fn are_three(&self) -> bool {
        self.all().len() == 3
    }
}

/// The outermost of loops that contain only each other and statements, including `s`; and those statements.
fn innermost(schedule: &Schedule, s: usize, loops: &[LoopId]) -> Result<(LoopId, Vec<usize>), Reason> {
    let path = &schedule.paths()[s];
    let inner = &path[path.len().saturating_sub(loops.len())..];
    let mut sorted = [loops, inner].map(<[LoopId]>::to_vec);
    sorted.iter_mut().for_each(|loops| loops.sort_unstable());
    let statement = schedule.statements[s].id;
    let [wanted, found] = sorted;
    let Some(top) = inner.first().copied().filter(|_| wanted == found) else {
        let (which, n) = match loops.len() {
            3 => ("the three", String::new()),
            n => ("all", format!(" {n}")),
        };
        return Err(Reason::new(
            RefusalKind::NotNested,
            format!("{statement} is not directly inside {which}{n} loops"),
        ));
    };
    let chain = lookup::perfect_chain(schedule, top);
    let body =
        chain.last().and_then(|l| schedule.loop_node(*l)).map(|b| b.body.as_slice()).unwrap_or_default();
    if chain.len() != loops.len() || body.iter().any(|t| !matches!(t, Tree::Leaf(_))) {
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

/// Plans the contraction of the statements in these loops of the schedule, nested in any order.
fn plan(
    schedule: &mut Schedule,
    stmts: Vec<usize>,
    loops: Loops<'_>,
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
    check_target(schedule, &statement, &stmt, loops)?;
    let Loops { rows, columns, depth } = loops;
    let shape = Shape { statement: &statement, rows, columns, depth };
    let mut operands = Vec::new();
    shape
        .operands(&stmt.value, &mut operands)
        .ok_or_else(|| Reason::unsupported("the value is not a function of row and column operands"))?;
    if !operands.iter().any(|(p, _)| *p == Part::Rows) || !operands.iter().any(|(p, _)| *p == Part::Columns) {
        return Err(Reason::unsupported("the value has no operand of its own for rows or for columns"));
    }
    check_bounds(schedule, &core, loops)?;
    // The order of integer sums does not matter.
    let may_reorder = policy.reassociate || !schedule.program.array(stmt.target.array).element.is_float();
    for (side, axes) in [(Part::Rows, rows), (Part::Columns, columns)] {
        let uses = |c: &Constraint, loops: &[LoopId]| loops.iter().any(|id| c.expr.uses(*id));
        let masked = core.iter().any(|c| uses(c, axes) && uses(c, depth));
        let exact = matches!(stmt.update, Update::Add | Update::Sub)
            && may_reorder
            && shape.vanishes(&stmt.value, side);
        if masked && !exact {
            return Err(Reason::unsupported(format!(
                "the range of loop {} depends on loop {}, and padding with zeros may change the result",
                schedule.loop_name(depth[0]),
                schedule.loop_name(axes[0])
            )));
        }
    }

    let roles = roles(&stmt, statement.accesses.len(), &operands);
    let mut cut = |axes: &[LoopId], letter: &str, total, unit| -> Result<Vec<Axis>, Reason> {
        let ranges = axes.iter().map(|id| range(schedule, &core, *id, &loops.all()));
        let ranges: Vec<(Affine, Option<i64>)> = ranges.collect::<Result<_, _>>()?;
        let extents: Vec<Option<i64>> = ranges.iter().map(|(_, extent)| *extent).collect();
        let sizes = sizes(&extents, total, unit);
        let all = axes.iter().zip(ranges).zip(sizes);
        Ok(all
            .map(|((point, (first, extent)), size)| {
                let name = schedule.iterators[point].name.clone();
                let block = schedule.fresh_loop(letter, ScalarType::I32);
                Axis { point: *point, name, block, size, first, extent }
            })
            .collect())
    };
    let Blocks { mr, nr, mc, nc, kc, .. } = blocks;
    let columns = cut(columns, "jc", nc, nr)?;
    let depth = cut(depth, "kc", kc, 1)?;
    let rows = cut(rows, "ic", mc, mr)?;
    let panels = ["jr", "ir"].map(|name| schedule.fresh_loop(name, ScalarType::I32));
    let contraction = Contraction {
        statements: stmts,
        rows,
        columns,
        depth,
        panels,
        blocks,
        parallel,
        roles,
        core,
        may_reorder,
    };
    let blocked = blocked(&contraction);
    for s in &contraction.statements {
        schedule.statements[*s].domain.extend(blocked.iter().cloned());
    }
    Ok(contraction)
}

/// Whether the target has rows and contiguous columns, and elements of the type of all operands.
fn check_target(
    schedule: &Schedule,
    statement: &Statement,
    stmt: &Stmt,
    loops: Loops<'_>,
) -> Result<(), Reason> {
    let no_index = || Reason::unsupported(format!("an index of the target of {} is not affine", stmt.id));
    let indices = stmt.target.affine_indices().ok_or_else(no_index)?;
    let target: Vec<Affine> = indices.into_iter().map(|a| statement.mapped(a)).collect();
    let Some((last, others)) = target.split_last() else {
        return Err(Reason::unsupported("the target is a scalar"));
    };
    let Loops { rows, columns, depth } = loops;
    let Some(column) = columns.last() else { return Err(Reason::unsupported("there are no columns")) };
    if last.coefficient(*column) != 1 || others.iter().any(|a| a.uses(*column)) {
        return Err(Reason::unsupported(format!(
            "the target is not contiguous in loop {}",
            schedule.loop_name(*column)
        )));
    }
    let is_used = |id: &LoopId| target.iter().any(|a| a.uses(*id));
    if let Some(id) = depth.iter().find(|id| is_used(id)) {
        return Err(Reason::unsupported(format!("the target changes with loop {}", schedule.loop_name(*id))));
    }
    if let Some(id) = rows.iter().chain(columns).find(|id| !is_used(id)) {
        return Err(Reason::unsupported(format!(
            "the target does not change with loop {}",
            schedule.loop_name(*id)
        )));
    }
    let ty = schedule.program.array(stmt.target.array).element;
    let fits = match ty.is_float() {
        true => has_type(&schedule.program, &stmt.value, ty),
        false => fits_integer(&schedule.program, &stmt.value, ty),
    };
    if !fits {
        return Err(Reason::unsupported("target and operands are not all of one type"));
    }
    Ok(())
}

/// Whether bounds join no more loops than blocks allow.
fn check_bounds(schedule: &Schedule, core: &[Constraint], loops: Loops<'_>) -> Result<(), Reason> {
    for c in core {
        let all = loops.all();
        let joined: Vec<LoopId> = all.iter().copied().filter(|id| c.expr.uses(*id)).collect();
        if loops.are_three() && joined.len() == 3 {
            return Err(Reason::unsupported("a loop bound joins row, column and depth"));
        }
        if let [one, other, ..] = joined[..]
            && !loops.are_three()
        {
            let (one, other) = (schedule.loop_name(one), schedule.loop_name(other));
            return Err(Reason::unsupported(format!(
                "a bound joins loops {one} and {other}, which only three loops may have"
            )));
        }
        if c.relation == Relation::Zero && !joined.is_empty() {
            return Err(Reason::unsupported("a loop bound fixes an iterator"));
        }
    }
    Ok(())
}

/// The first iteration of a loop, and how many there are, if that is known and there are any.
fn range(
    schedule: &Schedule,
    core: &[Constraint],
    axis: LoopId,
    loops: &[LoopId],
) -> Result<(Affine, Option<i64>), Reason> {
    let away: Vec<LoopId> = loops.iter().copied().filter(|l| *l != axis).collect();
    let (lower, upper) = bounds_from(&project(core, &away), axis);
    let terms: Vec<Affine> = lower.into_iter().filter_map(undivided).collect();
    let around = project(core, loops);
    let greatest =
        |e: &&Affine| terms.iter().all(|o| implies(&around, &Constraint::ge((*e).clone(), o.clone())));
    let first = terms.iter().find(greatest).cloned().ok_or_else(|| {
        Reason::unsupported(format!("loop {} has no single lower bound", schedule.loop_name(axis)))
    })?;
    let count = |end: BoundTerm| (undivided(end)? - first.clone()).as_constant();
    let counts: Option<Vec<i64>> = upper.into_iter().map(count).collect();
    Ok((first, counts.and_then(|counts| counts.into_iter().min()).filter(|n| *n > 0)))
}

fn undivided(term: BoundTerm) -> Option<Affine> {
    match term {
        BoundTerm::Affine { expr, divisor: 1 } => Some(expr),
        _ => None,
    }
}

/// How many iterations of each loop are in a block of about `total`: as many as there are of the inner ones, the last of which is
/// filled up to a multiple of `unit`, and equal parts of the first. Where it is not known how many there are, they are taken for few.
fn sizes(extents: &[Option<i64>], total: i64, unit: i64) -> Vec<i64> {
    let parts = |n: i64, size: i64| n / size + i64::from(n % size > 0);
    let up = |n: i64, unit: i64| parts(n, unit) * unit;
    let last = extents.len() - 1;
    let mut room = total;
    let mut sizes = Vec::new();
    for (k, extent) in extents.iter().enumerate().rev() {
        let unit = if k == last { unit } else { 1 };
        let most = (room / unit * unit).max(unit);
        let size = match extent {
            // Equal blocks.
            Some(extent) => up(parts(*extent, parts(*extent, most)), unit),
            None if k == 0 => most,
            None => most.min(if unit > 1 { 2 * unit } else { FEW }),
        };
        room /= size;
        sizes.insert(0, size);
    }
    sizes
}

/// So many iterations a loop has inside of another of its kind, if it is not known.
const FEW: i64 = 4;

/// Which iterations are in which blocks and panels.
fn blocked(c: &Contraction) -> Vec<Constraint> {
    let mut found = Vec::new();
    let mut between = |point: LoopId, start: Affine, size: i64| {
        found.push(Constraint::ge(Affine::var(point), start.clone()));
        found.push(Constraint::lt(Affine::var(point), start.offset(size)));
    };
    for axis in c.axes() {
        let start = axis.first.clone().add_scaled(&Affine::var(axis.block), axis.size);
        between(axis.point, start, axis.size);
    }
    let tiled = [(&c.columns, c.blocks.nr), (&c.rows, c.blocks.mr)];
    for ((axes, width), panel) in tiled.into_iter().zip(c.panels) {
        let Some(axis) = axes.last() else { continue };
        let start = axis.first.clone().add_scaled(&Affine::var(axis.block), axis.size);
        between(axis.point, start.add_scaled(&Affine::var(panel), width), width);
        between(panel, 0.into(), axis.size / width);
    }
    found
}

/// The role of each access, in the order of [`oxeye_ir::Nest::accesses`].
fn roles(stmt: &Stmt, n_accesses: usize, operands: &[(Part, &Expr)]) -> Vec<Role> {
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
    roles
}
