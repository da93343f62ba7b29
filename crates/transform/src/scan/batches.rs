//! Batches as loops: what the iterations of a loop read is gathered where its conditions hold, computed in lanes, and stored in order
//! ([`crate::steps::batch`]).

use crate::refusal::Reason;
use crate::schedule::{Schedule, fresh_array};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    ScalarType, Stmt, StmtId, Storage, Types, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// Most statements of an iteration, short loops written out.
const MOST_STATEMENTS: usize = 256;
/// Most bytes that the lanes of a batch take.
const MOST_BYTES: u64 = 1 << 16;

/// Writes the loops out that the schedule runs in batches.
pub(super) fn lower(program: &mut Program, nest: &mut Nest, schedule: &Schedule) -> Result<(), Reason> {
    let mut next_loop = nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0).max(schedule.next_loop);
    in_nodes(program, &mut nest.roots, schedule, &mut next_loop)
}

fn in_nodes(
    program: &mut Program,
    nodes: &mut [Node],
    schedule: &Schedule,
    next_loop: &mut u32,
) -> Result<(), Reason> {
    for node in nodes {
        if let Node::Loop(l) = node
            && matches!(l.execution, Execution::Vector { .. })
            && let Some(size) = schedule.loop_node(l.id).and_then(|loop_node| loop_node.batch)
        {
            *node = lowered(program, l, size, next_loop)?;
            continue;
        }
        for body in node.bodies_mut() {
            in_nodes(program, body, schedule, next_loop)?;
        }
    }
    Ok(())
}

fn lowered(program: &mut Program, l: &Loop, size: i64, next_loop: &mut u32) -> Result<Node, Reason> {
    let mut fresh = || {
        *next_loop += 1;
        LoopId(*next_loop - 1)
    };
    let [outer, compute, store] = [fresh(), fresh(), fresh()];
    let mut body = l.body.clone();
    let work = unrolled(take_work(&mut body, program, l)?)?;
    let (own, written) = (own_arrays(program, l), targets(&work));
    let mut is_apart = true;
    let mut see = |s: &Stmt| is_apart &= !written.contains(&s.target.array);
    body.iter().for_each(|node| node.for_each_stmt(&mut see));
    if !is_apart {
        return Err(refused(l, "sets a variable before a condition and behind it"));
    }
    let here = Storage::Temp(Some(outer));
    let count = fresh_array(program, "count", ScalarType::I32, Vec::new(), here);
    let at = fresh_array(program, &format!("{}_at", l.name), ScalarType::I64, vec![size.into()], here);
    let mut batch = Batch {
        own,
        stored: Vec::new(),
        written,
        renamed: BTreeMap::new(),
        loads: Vec::new(),
        values: Vec::new(),
        program,
        l,
        outer,
        compute,
        size,
        at,
    };
    let computed = work.iter().map(|s| batch.statement(s)).collect::<Result<Vec<_>, _>>()?;
    let computed: Vec<Node> = computed.into_iter().flatten().collect();
    let stores = work.iter().filter(|s| !batch.own.contains(&s.target.array));
    let stored = stores.zip(&batch.values).map(|(s, lane)| batch.store(s, *lane, store));
    let stored = stored.collect::<Result<Vec<_>, _>>()?;
    let n_lanes = batch.loads.len() + batch.values.len() + 1;
    if n_lanes as u64 * size.unsigned_abs() * ScalarType::F64.bytes() > MOST_BYTES {
        return Err(refused(l, "reads and stores too much in one iteration"));
    }
    let here = || vec![Expr::Read(Access::scalar(count))];
    let copy = |(from, lane): &(Access, ArrayId)| {
        assign(Access { array: *lane, indices: here() }, Update::Assign, Expr::Read(from.clone()))
    };
    let mut gather: Vec<Node> = batch.loads.iter().map(copy).collect();
    let mut needs_iterator = false;
    for node in computed.iter().chain(&stored) {
        node.for_each_stmt(&mut |s| {
            let reads = s.target.indices.iter().flat_map(Expr::reads).chain(s.value.reads());
            needs_iterator |= reads.into_iter().any(|access| access.array == at);
        });
    }
    if needs_iterator {
        gather.push(assign(Access { array: at, indices: here() }, Update::Assign, l.id.into()));
    }
    gather.push(assign(Access::scalar(count), Update::Add, 1.into()));
    put_work(&mut body, gather);
    let begin = Affine::var(outer);
    let mut end = l.upper.clone();
    end.0.push(BoundTerm::from(begin.clone().offset(size)));
    let gathered =
        Loop { lower: Bound::from(begin), upper: end, execution: Execution::Sequential, body, ..l.clone() };
    let over_lanes = |id, name: &str, execution, body| Loop {
        id,
        name: name.to_owned(),
        ty: ScalarType::I32,
        lower: Bound::from(Affine::constant(0)),
        upper: Bound(vec![BoundTerm::Data(Expr::Read(Access::scalar(count)))]),
        step: 1,
        execution,
        body,
    };
    let in_lanes = Execution::Vector { lanes: None, reductions: Vec::new() };
    let parts = vec![
        assign(Access::scalar(count), Update::Assign, 0.into()),
        Node::Loop(gathered),
        Node::Loop(over_lanes(compute, "k", in_lanes, computed)),
        Node::Loop(over_lanes(store, "k", Execution::Sequential, stored)),
    ];
    Ok(Node::Loop(Loop {
        id: outer,
        name: format!("{}b", l.name),
        step: size,
        execution: Execution::Sequential,
        body: parts,
        ..l.clone()
    }))
}

fn refused(l: &Loop, why: &str) -> Reason {
    Reason::not_writable(format!("loop {} ({}) {why}, so it is not run in batches", l.name, l.id))
}

fn assign(target: Access, update: Update, value: Expr) -> Node {
    // Ids that are taken are replaced in the end.
    Node::Stmt(Stmt { id: StmtId(0), target, update, value, line: None })
}

/// Takes what is computed and stored in an iteration out of the conditions around it.
fn take_work(body: &mut Vec<Node>, program: &Program, l: &Loop) -> Result<Vec<Node>, Reason> {
    let own = own_arrays(program, l);
    let Some(Node::If { then, otherwise, .. }) = body.last_mut() else {
        return Ok(std::mem::take(body));
    };
    if !otherwise.is_empty() {
        return Err(refused(l, "has two sides of a condition"));
    }
    let work = take_work(then, program, l)?;
    let before = &body[..body.len() - 1];
    let mut is_own = true;
    before.iter().for_each(|node| node.for_each_stmt(&mut |s| is_own &= own.contains(&s.target.array)));
    if !is_own {
        return Err(refused(l, "stores something before a condition"));
    }
    Ok(work)
}

/// Puts something else in its place.
fn put_work(body: &mut Vec<Node>, work: Vec<Node>) {
    match body.last_mut() {
        Some(Node::If { then, .. }) => put_work(then, work),
        _ => *body = work,
    }
}

/// Statements in a row: loops with a fixed number of iterations are written out.
fn unrolled(nodes: Vec<Node>) -> Result<Vec<Stmt>, Reason> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Stmt(s) => found.push(s),
            Node::If { .. } => {
                return Err(Reason::not_writable("a condition inside of other work is not run in batches"));
            }
            Node::Loop(inner) => {
                let Some((trips, first)) = inner.constant_trip_count().zip(inner.lower.as_affine()) else {
                    return Err(Reason::not_writable("a loop without a fixed length is not run in batches"));
                };
                let first = if inner.step < 0 {
                    inner.upper.as_affine().map(|a| a.clone().offset(-1))
                } else {
                    Some(first.clone())
                };
                let Some(first) = first.filter(|_| trips <= MOST_STATEMENTS as u64) else {
                    return Err(Reason::not_writable("a long loop is not run in batches"));
                };
                for k in 0..trips as i64 {
                    let value = first.clone().offset(k.saturating_mul(inner.step));
                    let mut copy = inner.body.clone();
                    let with = |v: Var| (v == Var::Loop(inner.id)).then(|| value.clone());
                    copy.iter_mut().for_each(|node| node.substitute(&with));
                    found.extend(unrolled(copy)?);
                    if found.len() > MOST_STATEMENTS {
                        return Err(Reason::not_writable("so long a loop body is not run in batches"));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// The arrays of which every iteration of the loop has its own.
fn own_arrays(program: &Program, l: &Loop) -> BTreeSet<ArrayId> {
    fn inside(nodes: &[Node], found: &mut BTreeSet<LoopId>) {
        for node in nodes {
            if let Node::Loop(l) = node {
                found.insert(l.id);
            }
            node.bodies().into_iter().for_each(|body| inside(body, found));
        }
    }
    let mut loops = BTreeSet::from([l.id]);
    inside(&l.body, &mut loops);
    let is_own = |storage: Storage| match storage {
        Storage::Body(of) | Storage::Temp(Some(of)) => loops.contains(&of),
        _ => false,
    };
    program.arrays.values().filter(|array| is_own(array.storage)).map(|array| array.id).collect()
}

fn targets(work: &[Stmt]) -> BTreeSet<ArrayId> {
    work.iter().map(|s| s.target.array).collect()
}

/// What becomes of the statements of an iteration.
struct Batch<'a> {
    program: &'a mut Program,
    l: &'a Loop,
    outer: LoopId,
    compute: LoopId,
    size: i64,
    /// The iterations that were gathered.
    at: ArrayId,
    /// Arrays of which every iteration has its own.
    own: BTreeSet<ArrayId>,
    /// All arrays that its work writes, and what it has stored to so far.
    written: BTreeSet<ArrayId>,
    stored: Vec<Access>,
    /// Its own ones, as the loop over lanes has them.
    renamed: BTreeMap<ArrayId, ArrayId>,
    /// What is gathered, and into which lanes.
    loads: Vec<(Access, ArrayId)>,
    /// The lanes of what is stored, in this order; none where it is the same in all of them.
    values: Vec<Option<ArrayId>>,
}

impl Batch<'_> {
    fn refused<T>(&self, why: &str) -> Result<T, Reason> {
        Err(refused(self.l, why))
    }

    fn lanes(&mut self, name: &str, element: ScalarType) -> ArrayId {
        let storage = Storage::Temp(Some(self.outer));
        fresh_array(self.program, name, element, vec![self.size.into()], storage)
    }

    /// A statement of the loop over lanes, if it has anything to do there.
    fn statement(&mut self, s: &Stmt) -> Result<Option<Node>, Reason> {
        let value = self.value(&s.value, true)?;
        let array = s.target.array;
        if self.own.contains(&array) {
            let array = self.own_in_lanes(array);
            let indices = s.target.indices.iter().map(|e| self.value(e, true)).collect::<Result<_, _>>()?;
            return Ok(Some(assign(Access { array, indices }, s.update, value)));
        }
        self.stored.push(s.target.clone());
        if value == s.value {
            self.values.push(None);
            return Ok(None);
        }
        let lane_type = self.lane_type(s)?;
        let name = format!("{}_out", last_word(&self.program.array(array).name));
        let lane = self.lanes(&name, lane_type);
        self.values.push(Some(lane));
        Ok(Some(assign(Access::new(lane, [Affine::var(self.compute)]), Update::Assign, value)))
    }

    /// The type of what is combined with an element: that of the element where it replaces it, else one in which the value is kept
    /// and the operation gives the same.
    fn lane_type(&self, s: &Stmt) -> Result<ScalarType, Reason> {
        let element = self.program.array(s.target.array).element;
        let value = Types::inside(self.program, &[self.l]).expr(&s.value);
        match s.update {
            Update::Assign => Ok(element),
            _ if element.is_float() && value == element => Ok(element),
            _ if element == ScalarType::F64 || element == ScalarType::F32 && value == ScalarType::F64 => {
                Ok(ScalarType::F64)
            }
            // The last bits of integers are the same in more of them.
            Update::Add | Update::Sub | Update::Mul
                if !element.is_float() && !value.is_float() && value != ScalarType::U64 =>
            {
                Ok(ScalarType::I64)
            }
            _ => self.refused("combines what it stores with another type"),
        }
    }

    /// The statement that stores what is in a lane.
    fn store(&self, s: &Stmt, lane: Option<ArrayId>, store: LoopId) -> Result<Node, Reason> {
        let place = Affine::var(store);
        let indices = s.target.indices.iter().map(|e| self.index(e, store)).collect::<Result<Vec<_>, _>>()?;
        let value = lane.map_or(s.value.clone(), |lane| Expr::Read(Access::new(lane, [place])));
        Ok(assign(Access { array: s.target.array, indices }, s.update, value))
    }

    /// Where it is stored, from the iteration that it belongs to.
    fn index(&self, e: &Expr, store: LoopId) -> Result<Expr, Reason> {
        let mut index = e.clone();
        let iteration = Expr::Read(Access::new(self.at, [Affine::var(store)]));
        if let Expr::Affine(affine) = &index {
            return Ok(with_iteration(affine, self.l.id, &iteration));
        }
        for access in index.reads() {
            if self.written.contains(&access.array) || self.own.contains(&access.array) {
                return self.refused("computes where it stores");
            }
        }
        let iteration = Expr::Cast(self.l.ty, Box::new(iteration));
        index.rewrite(&mut |e| {
            if let Expr::Affine(affine) = e {
                *e = with_iteration(affine, self.l.id, &iteration);
            }
        });
        Ok(index)
    }

    fn own_in_lanes(&mut self, array: ArrayId) -> ArrayId {
        if let Some(known) = self.renamed.get(&array) {
            return *known;
        }
        let copy = oxeye_ir::Array {
            storage: Storage::Temp(Some(self.compute)),
            ..self.program.array(array).clone()
        };
        let copy = self.program.add_array(copy);
        self.renamed.insert(array, copy);
        copy
    }

    /// An expression in the loop over lanes; `certain` if every iteration evaluates it.
    fn value(&mut self, e: &Expr, certain: bool) -> Result<Expr, Reason> {
        Ok(match e {
            Expr::Affine(affine) => {
                let iteration = Expr::Read(Access::new(self.at, [Affine::var(self.compute)]));
                let iteration = Expr::Cast(self.l.ty, Box::new(iteration));
                with_iteration(affine, self.l.id, &iteration)
            }
            Expr::Float { .. } => e.clone(),
            Expr::Read(access) => self.read(access, certain)?,
            Expr::Unary(op, inner) => Expr::unary(*op, self.value(inner, certain)?),
            Expr::Cast(ty, inner) => Expr::Cast(*ty, Box::new(self.value(inner, certain)?)),
            Expr::Binary(op, left, right) => {
                let is_lazy = matches!(op, BinaryOp::And | BinaryOp::Or);
                let left = self.value(left, certain)?;
                let right = self.value(right, certain && !is_lazy)?;
                Expr::Binary(*op, Box::new(left), Box::new(right))
            }
            Expr::Call { function, single, args } => Expr::Call {
                function: *function,
                single: *single,
                args: args.iter().map(|e| self.value(e, certain)).collect::<Result<_, _>>()?,
            },
            Expr::Select { condition, then, otherwise } => Expr::Select {
                condition: Box::new(self.value(condition, certain)?),
                then: Box::new(self.value(then, false)?),
                otherwise: Box::new(self.value(otherwise, false)?),
            },
        })
    }

    fn read(&mut self, access: &Access, certain: bool) -> Result<Expr, Reason> {
        let array = access.array;
        let is_own = self.own.contains(&array);
        if is_own && self.written.contains(&array) {
            let array = self.own_in_lanes(array);
            let indices = access.indices.iter().map(|e| self.value(e, certain)).collect::<Result<_, _>>()?;
            return Ok(Expr::Read(Access { array, indices }));
        }
        let varies = |e: &Expr| {
            e.uses(self.l.id)
                || e.reads().iter().any(|a| self.own.contains(&a.array) || self.written.contains(&a.array))
        };
        if !is_own && !self.written.contains(&array) && !access.indices.iter().any(varies) {
            return Ok(Expr::Read(access.clone()));
        }
        if self.stored.iter().any(|stored| stored.array == array && !are_apart(stored, access)) {
            return self.refused("reads what it may have stored");
        }
        let known = self.loads.iter().find(|(known, _)| known == access).map(|(_, lane)| *lane);
        let lane = match known {
            Some(lane) => lane,
            None if !certain => return self.refused("reads something under a condition of its own"),
            None => {
                let of_index = access.indices.iter().flat_map(Expr::reads);
                if of_index.into_iter().any(|a| self.written.contains(&a.array)) {
                    return self.refused("computes where it reads");
                }
                let (name, element) = {
                    let array = self.program.array(array);
                    (format!("{}_in", last_word(&array.name)), array.element)
                };
                let lane = self.lanes(&name, element);
                self.loads.push((access.clone(), lane));
                lane
            }
        };
        Ok(Expr::Read(Access::new(lane, [Affine::var(self.compute)])))
    }
}

/// What an array is called for lanes: the member's name, where it is one of a structure.
fn last_word(name: &str) -> &str {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    name.rsplit(is_other).find(|word| !word.is_empty()).unwrap_or(name)
}

/// Whether two elements of an array are different in one dimension for sure.
fn are_apart(a: &Access, b: &Access) -> bool {
    let distance = |(a, b): (&Expr, &Expr)| (a.as_affine()?.clone() - b.as_affine()?.clone()).as_constant();
    a.indices.iter().zip(&b.indices).any(|pair| distance(pair).is_some_and(|distance| distance != 0))
}

/// An affine expression, with the iteration read from its lane.
fn with_iteration(affine: &Affine, id: LoopId, iteration: &Expr) -> Expr {
    let factor = affine.coefficient(id);
    if factor == 0 {
        return Expr::Affine(affine.clone());
    }
    let rest = affine.clone().add_scaled(&Affine::var(id), -factor);
    let scaled = match factor {
        1 => iteration.clone(),
        _ => Expr::Binary(BinaryOp::Mul, Box::new(factor.into()), Box::new(iteration.clone())),
    };
    match rest.as_constant() {
        Some(0) => scaled,
        _ => Expr::Binary(BinaryOp::Add, Box::new(scaled), Box::new(Expr::Affine(rest))),
    }
}
