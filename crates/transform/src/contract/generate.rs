//! The explicit loops of a contraction: blocks, packing, register tiles.

use super::operands::Shape;
use super::{Blocks, Contraction, Part};
use crate::generate::{Generator, bounds_from, condition, guarded};
use crate::space::{gist, project};
use oxeye_ir::{
    Access, Affine, ArrayId, Bound, BoundTerm, Constraint, Distribution, Execution, Expr, Loop, LoopId, Node,
    ScalarType, Stmt, StmtId, Storage, Update, Var,
};

/// A rectangle of points that a condition is asked for.
struct Extent {
    var: LoopId,
    first: Affine,
    size: i64,
}

/// The least (`full`) or greatest value of a row over a rectangle.
fn extreme(row: &Constraint, extents: &[Extent], full: bool) -> Constraint {
    let mut expr = row.expr.clone();
    for e in extents {
        let c = row.expr.coefficient(e.var);
        let at = if (c > 0) == full { e.first.clone() } else { e.first.clone().offset(e.size - 1) };
        expr = expr.substitute(&|v| (v == Var::Loop(e.var)).then(|| at.clone()));
    }
    Constraint { expr, relation: row.relation }
}

struct Names {
    id: LoopId,
    name: &'static str,
}

fn counted(
    n: Names,
    lower: impl Into<Bound>,
    upper: impl Into<Bound>,
    step: i64,
    execution: Execution,
    body: Vec<Node>,
) -> Node {
    Node::Loop(Loop {
        id: n.id,
        name: n.name.to_owned(),
        ty: ScalarType::I32,
        lower: lower.into(),
        upper: upper.into(),
        step,
        execution,
        body,
    })
}

fn assign(target: Access, update: Update, value: Expr) -> Node {
    Node::Stmt(Stmt { id: StmtId(0), target, update, value, line: None })
}

fn zero(ty: ScalarType) -> Expr {
    let text = if ty == ScalarType::F32 { "0.0f" } else { "0.0" };
    Expr::Float { text: text.into(), ty }
}

/// One packed operand.
struct Packed {
    side: Part,
    value: Expr,
    array: ArrayId,
}

impl Generator<'_> {
    /// The explicit loops of a contraction.
    pub(crate) fn contraction(
        &mut self,
        c: &Contraction,
        outer: &[LoopId],
        context: &[Constraint],
    ) -> Result<Vec<Node>, String> {
        let statement = &self.schedule.statements[c.statements[0]];
        let Some(stmt) = statement.assignment() else { return Err("not an assignment".into()) };
        let ty = self.program.array(stmt.target.array).element;
        let Blocks { mr, nr, lanes, mc, nc, kc } = c.blocks;
        let [jb, kb, ib, q, p] = c.counters;
        let fresh = |k: u32| LoopId(self.schedule.next_loop + k);
        let [kk, ii, jj] = [fresh(0), fresh(1), fresh(2)];
        let (row, column, depth) = (c.row, c.column, c.depth);
        let var = |l: LoopId| Affine::var(l);

        // What the domain says of each axis and of each pair, given what the enclosing loops guarantee.
        let axis = |id: LoopId| -> Vec<Constraint> {
            let away: Vec<LoopId> = [row, column, depth].into_iter().filter(|l| *l != id).collect();
            gist(&project(&c.core, &away), context).into_iter().filter(|r| r.expr.uses(id)).collect()
        };
        let axes = [axis(row), axis(column), axis(depth)];
        let (rows_i, rows_j, rows_k) = (&axes[0], &axes[1], &axes[2]);
        let joint = |a: LoopId, b: LoopId, away: LoopId, known: [&[Constraint]; 2]| -> Vec<Constraint> {
            let known = [context, known[0], known[1]].concat();
            gist(&project(&c.core, &[away]), &known)
                .into_iter()
                .filter(|r| r.expr.uses(a) && r.expr.uses(b))
                .collect()
        };
        let rows_ij = joint(row, column, depth, [rows_i, rows_j]);
        let rows_ik = joint(row, depth, column, [rows_i, rows_k]);
        let rows_jk = joint(column, depth, row, [rows_j, rows_k]);
        let upper_terms = |rows: &[Constraint], id: LoopId| bounds_from(rows, id).1;
        let lower_terms = |rows: &[Constraint], id: LoopId| bounds_from(rows, id).0;
        let (upper_i, upper_j, upper_k) =
            (upper_terms(rows_i, row), upper_terms(rows_j, column), upper_terms(rows_k, depth));
        if upper_i.is_empty() || upper_j.is_empty() || upper_k.is_empty() {
            return Err("a loop of the contraction has no upper bound".into());
        }
        for (rows, id, base) in [(rows_i, row, 2), (rows_j, column, 0), (rows_k, depth, 1)] {
            // The blocks start at the base, so it must be all that bounds the loop from below.
            if lower_terms(rows, id).iter().any(|t| *t != BoundTerm::from(c.base[base].clone())) {
                return Err(format!("loop {} has several lower bounds", self.schedule.loop_name(id)));
            }
        }

        // Operands and their packed blocks.
        let shape = Shape { statement, row, column, depth };
        let mut operands = Vec::new();
        shape
            .operands(&stmt.value, &mut operands)
            .ok_or("the value is not a function of row and column operands")?;
        let mapped = |e: &Expr| {
            let mut e = e.clone();
            e.substitute(&|v| match v {
                Var::Loop(l) => statement.map.get(&l).cloned(),
                Var::Sym(_) => None,
            });
            e
        };
        let parallel_outer = outer.iter().rev().copied().find(|l| {
            self.schedule.band(*l).is_some_and(|b| matches!(b.execution, Execution::Parallel { .. }))
        });
        let mut packed: Vec<Packed> = Vec::new();
        for (side, e) in &operands {
            if packed.iter().any(|k| k.value == **e) {
                continue;
            }
            let base_name =
                e.reads().first().map_or("operand".to_owned(), |a| self.program.array(a.array).name.clone());
            let (panels, width, storage) = if *side == Part::Rows {
                (mc / mr, mr, Storage::Temp(Some(ib)))
            } else {
                (nc / nr, nr, Storage::Temp(parallel_outer))
            };
            let array = self.temporary(&format!("{base_name}_packed"), ty, &[panels, kc, width], storage);
            packed.push(Packed { side: *side, value: (*e).clone(), array });
        }

        let j0 = var(jb).add_scaled(&var(q), nr);
        let i0 = var(ib).add_scaled(&var(p), mr);
        let panel_upper = |upper: &[BoundTerm], block: LoopId, width: i64, most: i64| {
            let mut terms = vec![BoundTerm::from(Affine::constant(most))];
            terms.extend(upper.iter().map(|t| match t {
                BoundTerm::Affine { expr, divisor } => BoundTerm::Affine {
                    expr: expr.clone().add_scaled(&var(block), -divisor),
                    divisor: divisor * width,
                },
                data => data.clone(),
            }));
            Bound(terms)
        };
        let depth_upper = panel_upper(&upper_k, kb, 1, kc);
        let is_parallel = c.parallel.is_some() && parallel_outer.is_none();
        let team = |distribution| {
            if is_parallel {
                Execution::Parallel { reductions: Vec::new(), distribution }
            } else {
                Execution::Sequential
            }
        };
        let vector = || Execution::Vector { lanes: Some(lanes), reductions: Vec::new() };

        // Packing of one side: panel counter, its first point, width, rows that bound it.
        let pack = |side: Part| -> Vec<Node> {
            let (panel, point, first, width, single, pair) = if side == Part::Rows {
                (p, row, &i0, mr, rows_i, &rows_ik)
            } else {
                (q, column, &j0, nr, rows_j, &rows_jk)
            };
            let lane = if side == Part::Rows { ii } else { jj };
            let at = |v: Var| match v {
                Var::Loop(l) if l == point => Some(first.clone() + var(lane)),
                Var::Loop(l) if l == depth => Some(var(kb) + var(kk)),
                _ => None,
            };
            let mut nodes = Vec::new();
            let block_first = if side == Part::Rows { ib } else { jb };
            let rows: Vec<Constraint> =
                single.iter().filter(|r| r.expr.coefficient(point) < 0).chain(pair).cloned().collect();
            let over = [
                Extent { var: point, first: first.clone(), size: width },
                Extent { var: depth, first: var(kb), size: kc },
            ];
            let full: Vec<Constraint> = rows.iter().map(|r| extreme(r, &over, true)).collect();
            let valid: Vec<Constraint> = rows.iter().map(|r| r.substitute(&at)).collect();
            for operand in packed.iter().filter(|o| o.side == side) {
                let mut value = mapped(&operand.value);
                value.substitute(&at);
                let target = Access::new(operand.array, [var(panel), var(kk), var(lane)]);
                let depth_last = operand.value.reads().iter().any(|a| {
                    a.indices
                        .last()
                        .and_then(Expr::as_affine)
                        .is_some_and(|i| statement.mapped(i).uses(depth))
                });
                let sweep = |masked: bool| {
                    let copy = assign(target.clone(), Update::Assign, value.clone());
                    let body = match (masked, condition(&valid)) {
                        (true, Some(condition)) => vec![Node::If {
                            condition,
                            then: vec![copy],
                            otherwise: vec![assign(target.clone(), Update::Assign, zero(ty))],
                        }],
                        _ => vec![copy],
                    };
                    let simd = |own: bool| {
                        if masked || !own {
                            Execution::Sequential
                        } else {
                            Execution::Vector { lanes: None, reductions: Vec::new() }
                        }
                    };
                    let lanes_loop = |execution, body| {
                        counted(
                            Names { id: lane, name: if side == Part::Rows { "ii" } else { "jj" } },
                            0,
                            width,
                            1,
                            execution,
                            body,
                        )
                    };
                    let depth_loop = |execution, body| {
                        counted(Names { id: kk, name: "kk" }, 0, depth_upper.clone(), 1, execution, body)
                    };
                    if depth_last {
                        lanes_loop(Execution::Sequential, vec![depth_loop(simd(true), body)])
                    } else {
                        depth_loop(Execution::Sequential, vec![lanes_loop(simd(true), body)])
                    }
                };
                nodes.extend(guarded(&full, vec![sweep(false)], vec![sweep(true)]));
            }
            let upper = if side == Part::Rows {
                panel_upper(&upper_i, block_first, mr, mc / mr)
            } else {
                panel_upper(&upper_j, block_first, nr, nc / nr)
            };
            let execution =
                if side == Part::Rows { Execution::Sequential } else { team(Distribution::Static) };
            vec![counted(
                Names { id: panel, name: if side == Part::Rows { "p" } else { "q" } },
                0,
                upper,
                1,
                execution,
                nodes,
            )]
        };

        // The register tile.
        let tile_ty =
            |name: &str, this: &mut Self| this.temporary(name, ty, &[mr, nr], Storage::Temp(Some(p)));
        let acc = tile_ty("acc", self);
        let edge = tile_ty("edge", self);
        let in_tile = |array: ArrayId| Access::new(array, [var(ii), var(jj)]);
        let at_point = |v: Var| match v {
            Var::Loop(l) if l == row => Some(i0.clone() + var(ii)),
            Var::Loop(l) if l == column => Some(j0.clone() + var(jj)),
            Var::Loop(l) if l == depth => Some(var(kb) + var(kk)),
            _ => None,
        };
        let mut target = stmt.target.clone();
        for index in &mut target.indices {
            *index = mapped(index);
            index.substitute(&at_point);
        }
        let unrolled = |body: Vec<Node>| {
            counted(
                Names { id: ii, name: "ii" },
                0,
                mr,
                1,
                Execution::Unrolled,
                vec![counted(Names { id: jj, name: "jj" }, 0, nr, 1, vector(), body)],
            )
        };
        let plain = |body: Vec<Node>| {
            counted(
                Names { id: ii, name: "ii" },
                0,
                mr,
                1,
                Execution::Sequential,
                vec![counted(Names { id: jj, name: "jj" }, 0, nr, 1, Execution::Sequential, body)],
            )
        };
        let over = [
            Extent { var: row, first: i0.clone(), size: mr },
            Extent { var: column, first: j0.clone(), size: nr },
        ];
        let edges: Vec<Constraint> = rows_i
            .iter()
            .filter(|r| r.expr.coefficient(row) < 0)
            .chain(rows_j.iter().filter(|r| r.expr.coefficient(column) < 0))
            .chain(&rows_ij)
            .cloned()
            .collect();
        let full: Vec<Constraint> = edges.iter().map(|r| extreme(r, &over, true)).collect();
        let live: Vec<Constraint> = rows_ij.iter().map(|r| extreme(r, &over, false)).collect();
        let valid: Vec<Constraint> = edges.iter().map(|r| r.substitute(&at_point)).collect();

        let mut kernel_value = stmt.value.clone();
        replace_operands(&mut kernel_value, &packed, &|side, array| {
            let (panel, lane) = if side == Part::Rows { (p, ii) } else { (q, jj) };
            Access::new(array, [var(panel), var(kk), var(lane)])
        });
        kernel_value = {
            let mut e = kernel_value;
            let temporaries: Vec<ArrayId> = packed.iter().map(|k| k.array).collect();
            substitute_outside(&mut e, &temporaries, &|v| match v {
                Var::Loop(l) => statement.map.get(&l).cloned(),
                Var::Sym(_) => None,
            });
            e
        };
        let (mut lower_k, mut upper_kk) = (vec![BoundTerm::from(Affine::constant(0))], depth_upper.0.clone());
        for row_c in rows_ik.iter().chain(&rows_jk) {
            let best = extreme(row_c, &over, false);
            let local = best.substitute(&|v| (v == Var::Loop(depth)).then(|| var(kb) + var(kk)));
            let (lower, upper) = bounds_from(&[local], kk);
            lower_k.extend(lower);
            upper_kk.extend(upper);
        }
        let sweep = counted(
            Names { id: kk, name: "kk" },
            Bound(lower_k),
            Bound(upper_kk),
            1,
            Execution::Sequential,
            vec![unrolled(vec![assign(in_tile(acc), stmt.update, kernel_value)])],
        );
        let mut kernel = Vec::new();
        let spill = || unrolled(vec![assign(in_tile(edge), Update::Assign, in_tile(acc).into())]);
        if c.accumulates_apart(self.schedule) {
            kernel.push(unrolled(vec![assign(in_tile(acc), Update::Assign, zero(ty))]));
            kernel.push(sweep);
            let whole = vec![unrolled(vec![assign(target.clone(), Update::Add, in_tile(acc).into())])];
            let add = assign(target, Update::Add, in_tile(edge).into());
            let partial = vec![spill(), plain(guarded(&valid, vec![add], Vec::new()))];
            kernel.extend(guarded(&full, whole, partial));
        } else {
            let load = assign(in_tile(edge), Update::Assign, target.clone().into());
            let blank = assign(in_tile(edge), Update::Assign, zero(ty));
            let whole = vec![unrolled(vec![assign(in_tile(acc), Update::Assign, target.clone().into())])];
            let partial = vec![
                plain(guarded(&valid, vec![load], vec![blank])),
                unrolled(vec![assign(in_tile(acc), Update::Assign, in_tile(edge).into())]),
            ];
            kernel.extend(guarded(&full, whole, partial));
            kernel.push(sweep);
            let whole = vec![unrolled(vec![assign(target.clone(), Update::Assign, in_tile(acc).into())])];
            let store = assign(target, Update::Assign, in_tile(edge).into());
            let partial = vec![spill(), plain(guarded(&valid, vec![store], Vec::new()))];
            kernel.extend(guarded(&full, whole, partial));
        }

        // Loops over panels and blocks.
        let panels_i = counted(
            Names { id: p, name: "p" },
            0,
            panel_upper(&upper_i, ib, mr, mc / mr),
            1,
            Execution::Sequential,
            guarded(&live, kernel, Vec::new()),
        );
        let panels_j = counted(
            Names { id: q, name: "q" },
            0,
            panel_upper(&upper_j, jb, nr, nc / nr),
            1,
            Execution::Sequential,
            vec![panels_i],
        );
        let blocks_over = [
            Extent { var: row, first: var(ib), size: mc },
            Extent { var: column, first: var(jb), size: nc },
            Extent { var: depth, first: var(kb), size: kc },
        ];
        let live_block: Vec<Constraint> =
            rows_ij.iter().chain(&rows_ik).map(|r| extreme(r, &blocks_over, false)).collect();
        let mut body = pack(Part::Rows);
        body.push(panels_j);
        let row_blocks = counted(
            Names { id: ib, name: "ib" },
            c.base[2].clone(),
            Bound(upper_i.clone()),
            mc,
            team(c.parallel.unwrap_or_default()),
            guarded(&live_block, body, Vec::new()),
        );
        let mut body = pack(Part::Columns);
        body.push(row_blocks);
        let depth_blocks = counted(
            Names { id: kb, name: "kb" },
            c.base[1].clone(),
            Bound(upper_k.clone()),
            kc,
            Execution::Sequential,
            body,
        );
        Ok(vec![counted(
            Names { id: jb, name: "jb" },
            c.base[0].clone(),
            Bound(upper_j.clone()),
            nc,
            Execution::Sequential,
            vec![depth_blocks],
        )])
    }

    fn temporary(&mut self, name: &str, ty: ScalarType, shape: &[i64], storage: Storage) -> ArrayId {
        crate::schedule::fresh_array(
            self.program,
            name,
            ty,
            shape.iter().map(|n| Expr::from(*n)).collect(),
            storage,
        )
    }
}

/// Replaces each packed operand by a read of its packed block.
fn replace_operands(e: &mut Expr, packed: &[Packed], read: &dyn Fn(Part, ArrayId) -> Access) {
    if let Some(operand) = packed.iter().find(|k| k.value == *e) {
        *e = Expr::Read(read(operand.side, operand.array));
        return;
    }
    for child in e.children_mut() {
        replace_operands(child, packed, read);
    }
}

/// Substitutes variables except inside reads of the given arrays.
fn substitute_outside(e: &mut Expr, arrays: &[ArrayId], with: &dyn Fn(Var) -> Option<Affine>) {
    match e {
        Expr::Read(a) if arrays.contains(&a.array) => {}
        Expr::Affine(a) => *a = a.substitute(with),
        _ => e.children_mut().into_iter().for_each(|c| substitute_outside(c, arrays, with)),
    }
}
