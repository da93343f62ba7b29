//! The memory that a nest must touch at least once.

use indexmap::IndexMap;

use crate::access::StmtAccess;
use crate::counts::{Count, evaluate, evaluate_symbols, executions};
use crate::domain::{NestModel, StmtModel};
use crate::omega::{Feasibility, Limit, Row, System, feasible, project};
use oxeye_ir::{ArrayId, Bound, BoundTerm, Loop, LoopId, Nest, Node, Program, SymId, Var};

/// The elements of one array that a nest touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint {
    /// The array.
    pub array: ArrayId,
    /// Bytes per element.
    pub element_bytes: u64,
    /// Distinct elements read.
    pub read: Count,
    /// Distinct elements written.
    pub written: Count,
    /// Distinct elements read or written.
    pub touched: Count,
    /// Lower bound of `touched`; equal to it where it is exact.
    pub at_least: f64,
}

impl Footprint {
    /// Lower bound of the bytes moved between memory and processor: each element is read and written once.
    pub fn compulsory_bytes(&self) -> f64 {
        (self.read.value + self.written.value) * self.element_bytes as f64
    }

    /// Bytes of the elements touched.
    pub fn bytes(&self) -> f64 {
        self.touched.value * self.element_bytes as f64
    }
}

/// The footprint of `nest` on each array, by array, under values of the symbols. `None` if a symbol has no value or
/// the extent of some access is not bounded.
pub fn footprints(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Option<Vec<Footprint>> {
    let model = NestModel::new(program, nest);
    Counted { program, nest, value_of }.footprints(&model, &[])
}

/// The working set of one iteration of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelFootprint {
    /// The loop.
    pub loop_id: LoopId,
    /// The number of loops around it.
    pub depth: usize,
    /// The footprint of one iteration on each array. The iteration is in the middle of the loop's range, with the
    /// iterators around it in the middle of theirs.
    pub arrays: Vec<Footprint>,
}

impl LevelFootprint {
    /// Bytes of the elements touched.
    pub fn bytes(&self) -> f64 {
        self.arrays.iter().map(Footprint::bytes).sum()
    }
}

/// The working sets of all loops of `nest` that run, in textual order, under values of the symbols. `None` as for
/// [`footprints`], and if a loop has data-dependent bounds.
pub fn level_footprints(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Option<Vec<LevelFootprint>> {
    let model = NestModel::new(program, nest);
    let counted = Counted { program, nest, value_of };
    let mut found = Vec::new();
    counted.levels(&nest.roots, &model, &mut Vec::new(), &mut found)?;
    Some(found)
}

/// The nest, the program and the values that footprints are counted for.
#[derive(Clone, Copy)]
struct Counted<'a> {
    program: &'a Program,
    nest: &'a Nest,
    value_of: &'a dyn Fn(SymId) -> Option<i64>,
}

impl Counted<'_> {
    /// The footprints with these iterators fixed, outermost first, of the statements inside all of their loops.
    fn footprints(&self, model: &NestModel, fixed: &[(LoopId, i64)]) -> Option<Vec<Footprint>> {
        let mut images: IndexMap<ArrayId, Vec<(bool, Image)>> = IndexMap::new();
        let is_inside = |stmt: &&StmtModel| {
            stmt.loops.len() >= fixed.len() && stmt.loops.iter().zip(fixed).all(|(l, (id, _))| l.id == *id)
        };
        for stmt in model.stmts.iter().filter(is_inside) {
            // Surrounding bounds and guards belong to the iteration if they are evaluated in it.
            for access in stmt.accesses.iter().filter(|access| access.anchor.n_loops >= fixed.len()) {
                let image = Image::new(*self, stmt, access, fixed)?;
                images.entry(access.array).or_default().push((access.role.is_write(), image));
            }
        }
        images.sort_unstable_keys();
        let footprint = |(array, images): (ArrayId, Vec<(bool, Image)>)| {
            let touched = union(images.iter().map(|(_, image)| image));
            let certain = images.iter().map(|(_, image)| image.count).filter(|count| count.exact);
            let most = certain.map(|count| count.value).fold(0.0, f64::max);
            Footprint {
                array,
                element_bytes: self.program.array(array).element.bytes(),
                read: union(images.iter().filter(|(is_write, _)| !is_write).map(|(_, image)| image)),
                written: union(images.iter().filter(|(is_write, _)| *is_write).map(|(_, image)| image)),
                touched,
                at_least: if touched.exact { touched.value } else { most },
            }
        };
        Some(images.into_iter().map(footprint).collect())
    }

    fn levels(
        &self,
        nodes: &[Node],
        model: &NestModel,
        fixed: &mut Vec<(LoopId, i64)>,
        found: &mut Vec<LevelFootprint>,
    ) -> Option<()> {
        for node in nodes {
            match node {
                Node::Stmt(_) => {}
                Node::If { then, otherwise, .. } => {
                    self.levels(then, model, fixed, found)?;
                    self.levels(otherwise, model, fixed, found)?;
                }
                Node::Loop(l) => {
                    let Some(middle) = self.middle(l, fixed)? else { continue };
                    fixed.push((l.id, middle));
                    let arrays = self.footprints(model, fixed)?;
                    found.push(LevelFootprint { loop_id: l.id, depth: fixed.len() - 1, arrays });
                    self.levels(&l.body, model, fixed, found)?;
                    fixed.pop();
                }
            }
        }
        Some(())
    }

    /// The iterator in the middle of the loop's range; `Some(None)` if it does not run there.
    fn middle(&self, l: &Loop, fixed: &[(LoopId, i64)]) -> Option<Option<i64>> {
        let value_of = |var: Var| match var {
            Var::Loop(id) => fixed.iter().find(|(other, _)| *other == id).map(|(_, value)| *value),
            Var::Sym(id) => (self.value_of)(id),
        };
        let term = |term: &BoundTerm| match term {
            BoundTerm::Affine { expr, divisor } => {
                let value = expr.evaluate(&value_of)?;
                value.checked_neg()?.checked_div_euclid(*divisor)?.checked_neg()
            }
            BoundTerm::Data(expr) => evaluate(expr, &value_of),
            BoundTerm::Open => None,
        };
        let bound = |bound: &Bound| bound.0.iter().map(term).collect::<Option<Vec<i64>>>();
        let lower = bound(&l.lower)?.into_iter().max()?;
        let upper = bound(&l.upper)?.into_iter().min()?;
        if lower >= upper {
            return Some(None);
        }
        let n = upper.checked_sub(lower)?.unsigned_abs().div_ceil(l.step.unsigned_abs().max(1));
        let first = if l.step > 0 { lower } else { upper - 1 };
        Some(Some(first.checked_add(i64::try_from(n / 2).ok()?.checked_mul(l.step)?)?))
    }
}

/// The elements one access touches; none by default.
#[derive(Default)]
struct Image {
    /// Constraints on the indices, in a canonical form.
    rows: (Vec<Row>, Vec<Row>),
    /// First and last index of each dimension.
    ranges: Vec<(i64, i64)>,
    count: Count,
}

impl Image {
    fn new(
        counted: Counted<'_>,
        stmt: &StmtModel,
        access: &StmtAccess,
        fixed: &[(LoopId, i64)],
    ) -> Option<Self> {
        let Counted { program, nest, value_of } = counted;
        let n_loops = stmt.loops.len();
        let mut all = stmt.points_of(access).clone();
        for (idx, &symbol) in stmt.domain.space.symbols.iter().enumerate() {
            // A relevant symbol without a value leaves the image unbounded.
            if let Some(value) = value_of(symbol) {
                all.add_eq(&[(n_loops + idx, 1)], value.checked_neg()?);
            }
        }
        for (idx, (_, value)) in fixed.iter().enumerate() {
            all.add_eq(&[(idx, 1)], value.checked_neg()?);
        }
        all.extend(&access.system);
        let n_others = all.n_vars();
        let rank = access.indices.len();
        all.add_vars(rank);
        for (dim, index) in access.indices.iter().enumerate() {
            if let Some(row) = index {
                let mut terms: Vec<_> =
                    row.terms().map(|(v, c)| Some((v, c.checked_neg()?))).collect::<Option<_>>()?;
                terms.push((n_others + dim, 1));
                all.add_eq(&terms, row.constant.checked_neg()?);
            }
            let extent = program.array(access.array).shape.get(dim)?.as_ref();
            if let Some(extent) = extent.and_then(|extent| evaluate_symbols(extent, value_of)) {
                all.add_ge(&[(n_others + dim, 1)], 0);
                all.add_ge(&[(n_others + dim, -1)], extent.checked_sub(1)?);
            }
        }
        if feasible(&all, Limit::default()) == Feasibility::Infeasible {
            return Some(Self::default());
        }
        let others: Vec<usize> = (0..n_others).collect();
        let projection = project(&all, &others);
        let mut indices = System::new(rank);
        let to_indices = |row: &Row| (row.coeffs.iter().skip(n_others).copied().collect(), row.constant);
        for row in projection.system.eqs() {
            let (coeffs, constant) = to_indices(row);
            indices.add_eq_row(Row { coeffs, constant });
        }
        for row in projection.system.geqs() {
            let (coeffs, constant) = to_indices(row);
            indices.add_ge_row(Row { coeffs, constant });
        }
        let points = Points::new(&indices);
        let (value, counted) = points.count()?;
        let exact = counted && projection.exact && stmt.domain.exact && access.exact;
        let mut count = Count { value, exact, at_most: false };
        if access.indices.iter().any(Option::is_none)
            && let Some(runs) = executions(nest, stmt.id, value_of)
        {
            count.value = count.value.min(runs.value);
        }
        let mut rows = (indices.eqs().to_vec(), indices.geqs().to_vec());
        for list in [&mut rows.0, &mut rows.1] {
            list.sort_unstable_by(|a, b| (&a.coeffs, a.constant).cmp(&(&b.coeffs, b.constant)));
        }
        Some(Self { rows, ranges: points.ranges(&indices)?, count })
    }
}

/// Number of elements in the union of the images: at most their sum, and at most the box around them.
fn union<'a>(images: impl Iterator<Item = &'a Image>) -> Count {
    let mut distinct: Vec<&Image> = Vec::new();
    for image in images.filter(|image| image.count.value > 0.0) {
        match distinct.iter_mut().find(|other| other.rows == image.rows) {
            Some(same) if image.count.exact => *same = image,
            Some(_) => {}
            None => distinct.push(image),
        }
    }
    match distinct.as_slice() {
        [] => Count { value: 0.0, exact: true, at_most: false },
        [image] => image.count,
        images => {
            let sum: f64 = images.iter().map(|image| image.count.value).sum();
            let hull: f64 = (0..images[0].ranges.len())
                .map(|dim| {
                    let first = images.iter().map(|image| image.ranges[dim].0).min().unwrap_or(0);
                    let last = images.iter().map(|image| image.ranges[dim].1).max().unwrap_or(0);
                    last as f64 - first as f64 + 1.0
                })
                .product();
            let exact = images.iter().any(|image| image.count.exact && image.count.value == hull);
            Count { value: sum.min(hull), exact, at_most: false }
        }
    }
}

/// Integer points of a system, enumerated one variable at a time.
struct Points {
    /// For each variable, the constraints on it and those before it.
    levels: Vec<System>,
    exact: bool,
}

/// Most values of one variable that a count enumerates; above, the number of samples.
const WORK: u64 = 20_000;
const SAMPLES: u64 = 64;

impl Points {
    fn new(system: &System) -> Self {
        let n = system.n_vars();
        let mut exact = true;
        let levels = (0..n)
            .map(|level| {
                let later: Vec<usize> = (level + 1..n).collect();
                let projection = project(system, &later);
                exact &= projection.exact;
                projection.system
            })
            .collect();
        Self { levels, exact }
    }

    /// The number of points and whether it is exact; `None` if they are not bounded.
    fn count(&self) -> Option<(f64, bool)> {
        let mut exact = true;
        let value = self.count_from(&mut Vec::new(), WORK, &mut exact)?;
        Some((value, exact && self.exact))
    }

    fn count_from(&self, point: &mut Vec<i64>, work: u64, exact: &mut bool) -> Option<f64> {
        let level = point.len();
        let Some(system) = self.levels.get(level) else { return Some(1.0) };
        let Some((first, last)) = range_of(system, level, point)? else { return Some(0.0) };
        let n = last.abs_diff(first).checked_add(1)?;
        if !self.levels[level + 1..].iter().any(|later| later.mentions(level)) {
            point.push(first);
            let inside = self.count_from(point, work, exact)?;
            point.pop();
            return Some(n as f64 * inside);
        }
        let n_looked_at = if n <= work.max(SAMPLES) { n } else { SAMPLES };
        *exact &= n == n_looked_at;
        let mut sum = 0.0;
        for idx in 0..n_looked_at {
            let step = ((2 * u128::from(idx) + 1) * u128::from(n) / (2 * u128::from(n_looked_at))) as i64;
            point.push(first + step);
            sum += self.count_from(point, work / n_looked_at, exact)?;
            point.pop();
        }
        Some(sum * n as f64 / n_looked_at as f64)
    }

    /// First and last value of each variable; `None` if there is none.
    fn ranges(&self, system: &System) -> Option<Vec<(i64, i64)>> {
        (0..system.n_vars())
            .map(|var| {
                let others: Vec<usize> = (0..system.n_vars()).filter(|&other| other != var).collect();
                range_of(&project(system, &others).system, var, &[])?
            })
            .collect()
    }
}

/// The first and last value that `var` may take after the variables in `point`; `Some(None)` if there is none, `None`
/// if there is no bound.
fn range_of(system: &System, var: usize, point: &[i64]) -> Option<Option<(i64, i64)>> {
    let (mut first, mut last) = (None::<i64>, None::<i64>);
    let equalities = system.eqs().iter().map(|row| (row, true));
    for (row, is_eq) in equalities.chain(system.geqs().iter().map(|row| (row, false))) {
        let rest = i64::try_from(row.value_at(point)).ok()?;
        let coeff = row.coeff(var);
        match coeff {
            0 if rest < 0 || is_eq && rest != 0 => return Some(None),
            0 => continue,
            _ => {}
        }
        // coeff * var + rest >= 0
        let (size, rest_up) = (coeff.checked_abs()?, rest.checked_neg()?);
        let at_least = |rest: i64| -(-rest).div_euclid(size);
        let at_most = |rest: i64| rest.div_euclid(size);
        if coeff > 0 || is_eq {
            let value = at_least(rest_up.checked_mul(coeff.signum())?);
            first = Some(first.map_or(value, |other| other.max(value)));
        }
        if coeff < 0 || is_eq {
            let value = at_most(rest.checked_mul(-coeff.signum())?);
            last = Some(last.map_or(value, |other| other.min(value)));
        }
    }
    let (first, last) = (first?, last?);
    Some((first <= last).then_some((first, last)))
}
