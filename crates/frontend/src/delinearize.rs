//! Hand-linearised subscripts such as `A[i * n + j]` as subscripts of an array with several dimensions.
//!
//! An array gets extents only if, for every access in the function, all subscripts but the first stay within theirs,
//! provably or by a test before the nest (`C[i * ldc + j]` where `ldc >= n`). Then elements are equal exactly if their
//! subscripts are. Rows may be counted from elsewhere than zero, as where Fortran was translated: `a[i + j * lda]` with `i`
//! from 1 to `lda` is `a[j][i - 1]`, and the origin of that dimension is 1.

use crate::arithmetic::widen;
use crate::halos::{Halos, halos};
use crate::lower::Holdings;
use crate::polynomial::Polynomial;
use crate::prove::Facts;
use crate::stand_ins::StandIns;
use oxeye_binding::Binding;
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Expr, Form, Loop, LoopId, Nest, NestId, Node, Program,
    SymId, Var,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is known of symbols besides their values.
pub(crate) struct Symbols<'a> {
    /// Whether a nest may name one.
    pub(crate) is_visible: &'a dyn Fn(SymId, NestId) -> bool,
    /// Those that count loops of the function, which are hardly lengths of rows.
    pub(crate) counters: BTreeSet<SymId>,
}

/// Most tests before nests for one array.
const MOST_TESTS: usize = 12;

/// Rows are counted from one of these numbers and those between them.
const LOWEST_ORIGIN: i64 = -8;
const HIGHEST_ORIGIN: i64 = 1;

/// Constant strides below this count as part of a one-dimensional subscript (`A[2 * i]`).
const LEAST_STRIDE: i64 = 8;

/// `factor · symbols`: the distance between neighbours of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stride {
    /// Sorted.
    symbols: Vec<SymId>,
    factor: i64,
}

/// `mono / symbols`, if it divides exactly.
fn quotient(mono: &[Var], symbols: &[SymId]) -> Option<Vec<Var>> {
    let mut rest = mono.to_vec();
    for s in symbols {
        let at = rest.iter().position(|v| *v == Var::Sym(*s))?;
        rest.remove(at);
    }
    Some(rest)
}

impl Stride {
    /// `self / finer` as an extent.
    fn extent_over(&self, finer: &Stride) -> Option<Affine> {
        let mono: Vec<Var> = self.symbols.iter().map(|s| Var::Sym(*s)).collect();
        let rest = quotient(&mono, &finer.symbols)?;
        if self.factor.checked_rem(finer.factor)? != 0 {
            return None;
        }
        let factor = self.factor / finer.factor;
        match rest.as_slice() {
            [] => Some(Affine::constant(factor)),
            [var] => Some(Affine::term(*var, factor)),
            _ => None,
        }
    }
}

/// Strides from the outermost to the second innermost dimension, and the extents of all dimensions but the outermost.
#[derive(Clone, Debug)]
struct Shape {
    strides: Vec<Stride>,
    extents: Vec<Affine>,
    /// What the indices of these dimensions are counted from.
    origins: Vec<i64>,
    /// What the symbols in `strides` stand for.
    halos: Halos,
}

impl Shape {
    fn new(strides: Vec<Stride>) -> Option<Shape> {
        let unit = Stride { symbols: Vec::new(), factor: 1 };
        let finer = strides.iter().skip(1).chain(std::iter::once(&unit));
        let extents = strides.iter().zip(finer).map(|(s, f)| s.extent_over(f)).collect::<Option<Vec<_>>>()?;
        let origins = vec![0; extents.len()];
        (!strides.is_empty() && strides.len() <= 4).then_some(Shape {
            strides,
            extents,
            origins,
            halos: Halos::default(),
        })
    }

    /// The same where the symbols stand for sums.
    fn with_halos(self, halos: &Halos) -> Shape {
        let extents = self.extents.iter().map(|e| halos.leave(e)).collect();
        Shape { extents, halos: halos.clone(), ..self }
    }

    /// The subscripts of an access, inside of the extents or not.
    fn distributed(&self, p: &Polynomial) -> Option<Vec<Affine>> {
        let mut indices = vec![Affine::default(); self.strides.len() + 1];
        for (mono, c) in self.halos.enter(p)? {
            self.distribute(&mono, c, &mut indices)?;
        }
        let from = std::iter::once(&0).chain(&self.origins);
        Some(indices.iter().zip(from).map(|(index, from)| self.halos.leave(index).offset(-from)).collect())
    }

    /// The same with rows counted from elsewhere, if loops over them begin there, and no access lies before.
    fn with_origins(&self, seen: &[Seen]) -> Option<Shape> {
        let mut least: Vec<Option<i64>> = vec![None; self.extents.len()];
        for Seen { subscript, here, .. } in seen {
            let indices = self.distributed(subscript.as_ref()?)?;
            for (index, least) in indices[1..].iter().zip(&mut least) {
                let is_behind = || here.facts.prove_non_negative(&index.clone().offset(-HIGHEST_ORIGIN));
                match here.extreme(index, true).and_then(|first| first.as_constant()) {
                    Some(first) if index.as_constant().is_none() || first < HIGHEST_ORIGIN => {
                        *least = Some(least.map_or(first, |least| least.min(first)));
                    }
                    Some(_) => {}
                    None if is_behind() => {}
                    None => *least = Some(least.map_or(0, |least| least.min(0))),
                }
            }
        }
        let is_near = |least: &i64| (LOWEST_ORIGIN..=HIGHEST_ORIGIN).contains(least);
        let origins: Vec<i64> = least.into_iter().map(|least| least.filter(is_near).unwrap_or(0)).collect();
        origins.iter().any(|origin| *origin != 0).then(|| Shape { origins, ..self.clone() })
    }

    /// The subscripts of an access, if they provably stay within the extents.
    fn subscripts(&self, p: &Polynomial, facts: &Facts) -> Option<Vec<Affine>> {
        let n_dims = self.strides.len() + 1;
        let indices = self.distributed(p)?;
        // A row may also be counted from its other end: `A[i * n + n - 1 - j]`.
        let mut shifts = vec![0i64; n_dims - 1];
        loop {
            let shifted = self.shifted(&indices, &shifts);
            if self.is_inside(&shifted, facts) {
                return Some(shifted);
            }
            let next = shifts.iter().position(|s| *s != 1)?;
            shifts[..next].fill(0);
            shifts[next] = if shifts[next] == 0 { -1 } else { 1 };
        }
    }

    /// The subscripts of an access, with the conditions under which they stay within the extents.
    fn tested(&self, p: &Polynomial, here: &Here<'_>) -> Option<(Vec<Affine>, Vec<Expr>)> {
        let indices = self.distributed(p)?;
        let mut tests = Vec::new();
        let mut need = |op, small: Affine, great: Affine, slack: Affine| {
            let never = (-slack.clone()).offset(-1);
            if here.facts.prove_non_negative(&never) {
                return None;
            }
            if !here.facts.prove_non_negative(&slack) {
                tests.push(Expr::Binary(op, Box::new(small.into()), Box::new(great.into())));
            }
            Some(())
        };
        for (index, extent) in indices[1..].iter().zip(&self.extents) {
            if !here.facts.prove_non_negative(index) {
                let least = here.extreme(index, true)?;
                need(BinaryOp::Ge, least.clone(), 0.into(), least)?;
            }
            let room = (extent.clone() - index.clone()).offset(-1);
            if !here.facts.prove_non_negative(&room) {
                let most = here.extreme(index, false)?;
                let slack = (extent.clone() - most.clone()).offset(-1);
                need(BinaryOp::Lt, most, extent.clone(), slack)?;
            }
        }
        Some((indices, tests))
    }

    fn distribute(&self, mono: &[Var], c: i64, indices: &mut [Affine]) -> Option<()> {
        let mut c = c;
        for (level, stride) in self.strides.iter().enumerate() {
            let Some(rest) = quotient(mono, &stride.symbols) else { continue };
            let term = match rest.as_slice() {
                [] if stride.symbols.is_empty() => {
                    // Nearest multiple: offsets of neighbours are small.
                    let q = (c + stride.factor / 2).div_euclid(stride.factor);
                    c -= q * stride.factor;
                    indices[level] = std::mem::take(&mut indices[level]).offset(q);
                    continue;
                }
                _ if c % stride.factor != 0 => continue,
                [] => Affine::constant(c / stride.factor),
                [var] => Affine::term(*var, c / stride.factor),
                _ => continue,
            };
            indices[level] = std::mem::take(&mut indices[level]) + term;
            return Some(());
        }
        let term = match mono {
            [] => Affine::constant(c),
            [var] => Affine::term(*var, c),
            _ => return None,
        };
        let last = indices.last_mut()?;
        *last = std::mem::take(last) + term;
        Some(())
    }

    /// Moves `shifts[k]` rows between dimensions `k` and `k + 1`.
    fn shifted(&self, indices: &[Affine], shifts: &[i64]) -> Vec<Affine> {
        let mut result = indices.to_vec();
        for (k, shift) in shifts.iter().enumerate() {
            result[k] = result[k].clone().offset(*shift);
            result[k + 1] = result[k + 1].clone().add_scaled(&self.extents[k], -shift);
        }
        result
    }

    fn is_inside(&self, indices: &[Affine], facts: &Facts) -> bool {
        indices[1..].iter().zip(&self.extents).all(|(index, extent)| {
            facts.prove_non_negative(index)
                && facts.prove_non_negative(&(extent.clone() - index.clone()).offset(-1))
        })
    }
}

/// Shapes worth trying, most detailed first.
fn candidates(polynomials: &[Polynomial], of: &Symbols<'_>) -> Vec<Shape> {
    let mut factors: BTreeMap<Vec<SymId>, BTreeSet<i64>> = BTreeMap::new();
    let mut loose: BTreeSet<SymId> = BTreeSet::new();
    for p in polynomials {
        for (mono, c) in p {
            let symbols: Vec<SymId> =
                mono.iter().filter_map(|v| if let Var::Sym(s) = v { Some(*s) } else { None }).collect();
            match mono.len() - symbols.len() {
                1 => _ = factors.entry(symbols).or_default().insert(c.saturating_abs()),
                // Iterators of loops around the nest are symbols too.
                0 if symbols.len() >= 2 => loose.extend(symbols),
                0 => {}
                _ => return Vec::new(),
            }
        }
    }
    let numeric: Vec<i64> =
        factors.get(&Vec::new()).into_iter().flatten().copied().filter(|c| *c > 1).rev().collect();
    let symbolic: Vec<Vec<SymId>> = factors.keys().filter(|s| !s.is_empty()).cloned().collect();
    for s in symbolic.iter().filter(|s| s.len() >= 2) {
        loose.extend(s);
    }
    let chain = |extra: Option<SymId>, with_factors: bool, numbers: &[i64]| {
        let mut strides: Vec<Stride> = symbolic
            .iter()
            .cloned()
            .chain(extra.map(|s| vec![s]))
            .map(|symbols| {
                let common = factors.get(&symbols).map_or(1, |f| f.iter().fold(0, |a, b| gcd(a, *b)));
                Stride { factor: if with_factors { common } else { 1 }, symbols }
            })
            .collect();
        strides.extend(numbers.iter().map(|factor| Stride { symbols: Vec::new(), factor: *factor }));
        strides.sort_by_key(|s| std::cmp::Reverse((s.symbols.len(), s.factor)));
        strides.dedup();
        Shape::new(strides)
    };
    let mut found = Vec::new();
    let extras: Vec<Option<SymId>> = if symbolic.iter().any(|s| s.len() == 1) {
        vec![None]
    } else {
        // `a[i * n + j]` with `i` from a loop around the nest has rows of `n`, as has `a[i * n + n + j]`.
        let is_distance = |s: &SymId| polynomials.iter().flatten().any(|(mono, _)| mono == &[Var::Sym(*s)]);
        let mut ordered: Vec<SymId> = loose.iter().copied().collect();
        ordered.sort_by_key(|s| (of.counters.contains(s), !is_distance(s), *s));
        ordered.into_iter().map(Some).collect()
    };
    for extra in extras {
        let is_empty = symbolic.is_empty() && extra.is_none();
        if is_empty {
            continue;
        }
        found.extend(chain(extra, true, &numeric));
        found.extend(chain(extra, true, &[]));
        found.extend(chain(extra, false, &[]));
    }
    if symbolic.is_empty() {
        let large: Vec<i64> = numeric.iter().copied().filter(|c| *c >= LEAST_STRIDE).collect();
        found.extend(chain(None, true, &large));
        found.extend(large.last().and_then(|c| chain(None, true, &[*c])));
        found.extend(large.first().and_then(|c| chain(None, true, &[*c])));
    }
    found
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A place in a nest: the facts there, the surrounding loops with their first and last values, and what scalars hold.
#[derive(Clone, Default)]
struct Here<'a> {
    facts: Facts,
    loops: Vec<(LoopId, Option<(Affine, Affine)>)>,
    /// Of these, those that take longer steps than one, with the steps.
    strides: Vec<(LoopId, i64)>,
    held: Option<Holdings<'a>>,
}

impl Here<'_> {
    /// What is kept of the place.
    fn kept(&self) -> Here<'static> {
        let (facts, loops, strides) = (self.facts.clone(), self.loops.clone(), self.strides.clone());
        Here { facts, loops, strides, held: None }
    }

    /// The same, with what is known of the parts of a subscript there.
    fn with_parts(&self, parts: &StandIns, subscript: Option<&Polynomial>) -> Here<'static> {
        let mut here = self.kept();
        if let Some(subscript) = subscript {
            let known = |part: &Expr| self.held.as_ref().and_then(|held| held.known(part));
            let extreme = |a: &Affine, is_low: bool| self.extreme(a, is_low);
            let bounds = parts.bounds(subscript, &mut here.facts, &known, &extreme);
            here.loops.extend(bounds.into_iter().map(|(id, bounds)| (id, Some(bounds))));
        }
        here
    }

    /// The same place where loops that take longer steps do so a whole number of times, and when they do: what a step reaches
    /// lies within their bounds then. `None` if there is none.
    fn with_whole_steps(&self) -> Option<(Here<'static>, Vec<(LoopId, Expr)>)> {
        let mut here = self.kept();
        let mut tests = Vec::new();
        for (id, step) in &self.strides {
            let ends = here.loops.iter_mut().find(|(l, _)| l == id).and_then(|(_, ends)| ends.as_mut());
            let Some((first, last)) = ends else { continue };
            let length = (last.clone() - first.clone()).offset(1);
            if length.loops().next().is_some() {
                continue;
            }
            *last = last.clone().offset(1 - step);
            // Where the last step begins is computed before the loop, whatever its bounds are.
            tests.push((*id, Expr::binary(BinaryOp::Ge, length.clone().into(), Expr::from(0))));
            let rest = Expr::binary(BinaryOp::Rem, length.into(), Expr::from(*step));
            tests.push((*id, Expr::binary(BinaryOp::Eq, rest, Expr::from(0))));
        }
        (!tests.is_empty()).then_some((here, tests))
    }

    /// The least or greatest value over the loops, as an expression of symbols.
    fn extreme(&self, a: &Affine, is_low: bool) -> Option<Affine> {
        let mut a = a.clone();
        for (id, bounds) in self.loops.iter().rev() {
            let c = a.coefficient(*id);
            if c != 0 {
                let (first, last) = bounds.as_ref()?;
                let value = if (c > 0) == is_low { first } else { last };
                a = a.substitute(&|v| (v == Var::Loop(*id)).then(|| value.clone()));
            }
        }
        let is_constant = a.loops().next().is_none();
        is_constant.then_some(a)
    }
}

/// Calls `f` on every access of some nodes, with the facts at its place.
fn for_each_access(nodes: &mut [Node], here: &mut Here<'_>, f: &mut dyn FnMut(&mut Access, &Here<'_>)) {
    fn expr(e: &mut Expr, here: &Here<'_>, f: &mut dyn FnMut(&mut Access, &Here<'_>)) {
        if let Expr::Read(access) = e {
            f(access, here);
        }
        for child in e.children_mut() {
            expr(child, here, f);
        }
    }
    for node in nodes {
        let mark = here.facts.len();
        match node {
            Node::Stmt(s) => {
                f(&mut s.target, here);
                for index in &mut s.target.indices {
                    expr(index, here, f);
                }
                expr(&mut s.value, here, f);
                here.held.iter_mut().for_each(|held| held.store(s));
            }
            Node::Loop(l) => {
                for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                    if let BoundTerm::Data(e) = term {
                        expr(e, here, f);
                    }
                }
                here.facts.push_loop(l);
                let bounds =
                    (l.lower.as_affine().cloned(), l.upper.as_affine().map(|a| a.clone().offset(-1)));
                here.loops.push((l.id, bounds.0.zip(bounds.1)));
                here.strides.extend((l.step > 1).then_some((l.id, l.step)));
                here.held.iter_mut().for_each(|held| held.forget(&l.body));
                for_each_access(&mut l.body, here, f);
                here.held.iter_mut().for_each(|held| held.forget(&l.body));
                here.loops.pop();
                here.strides.retain(|(id, _)| *id != l.id);
            }
            Node::If { condition, then, otherwise } => {
                expr(condition, here, f);
                let known = here.held.as_ref().and_then(|held| held.known(condition));
                let before = here.held.clone();
                here.facts.push_condition(condition, true);
                for_each_access(then, here, f);
                here.facts.truncate(mark);
                let held = std::mem::replace(&mut here.held, before);
                here.facts.push_condition(condition, false);
                for_each_access(otherwise, here, f);
                let both = held.zip(here.held.take());
                here.held = both.map(|(then, otherwise)| Holdings::one_of(known.as_ref(), then, otherwise));
            }
        }
        here.facts.truncate(mark);
    }
}

/// Gives flat arrays of the program dimensions where that can be proved. Subscripts of arrays in `wide` that remain
/// products are computed in 64 bits, as in the source.
pub(crate) fn delinearize(
    program: &mut Program,
    binding: &mut Binding,
    known: &HashMap<NestId, Facts>,
    wide: &HashSet<ArrayId>,
    symbols: &Symbols<'_>,
) {
    // Elements that are read before nests keep their one subscript.
    let mut loaded: HashSet<ArrayId> = binding.loads().map(|(_, access)| access.array).collect();
    // So do rows behind pointers, one for each pointer.
    loaded.extend(binding.entries.values().flat_map(|entry| &entry.rows).map(|test| test.array));
    let is_flat = |a: &&oxeye_ir::Array| a.shape.len() == 1 && !loaded.contains(&a.id);
    let flat: Vec<ArrayId> = program.arrays.values().filter(is_flat).map(|a| a.id).collect();
    let mut nests = std::mem::take(&mut program.nests);
    // Of others, such as `cells[i * n + j].speed[k]`, those whose first subscript is a product.
    let mut products: BTreeSet<ArrayId> = BTreeSet::new();
    for nest in nests.values() {
        let mut parts = StandIns::default();
        let element = |id: ArrayId| program.array(id).element;
        let mut is_product = |a: &&Access| {
            let is_sum = |e: &Expr| e.as_affine().is_some();
            let subscript = a.indices.first().filter(|e| !is_sum(e));
            subscript.and_then(|e| parts.enter(e, a.array, &element)).is_some()
        };
        let found = nest.accesses().into_iter().map(|(access, _)| access);
        let found = found.filter(|a| a.indices.len() > 1 && !loaded.contains(&a.array));
        let found = found.filter(|a| is_product(a));
        products.extend(found.map(|access| access.array));
    }
    let mut whole: BTreeSet<(NestId, LoopId)> = BTreeSet::new();
    for array in flat.into_iter().chain(products) {
        let (mut seen, parts) = accesses_to(array, program, binding, nests.iter_mut(), known);
        // Loops that take a whole number of steps for another array say so already.
        for Seen { here, nest, .. } in &mut seen {
            here.strides.retain(|(id, _)| !whole.contains(&(*nest, *id)));
        }
        let is_pointer = program.array(array).shape == [None] && !binding.is_interleaved(array);
        let proved_shape = |seen: &[Seen]| proved_shape(seen, symbols, is_pointer);
        let tested_shape = |seen: &[Seen]| {
            let whole = || whole_shape(seen, symbols, is_pointer);
            tested_shape(seen, symbols, is_pointer).or_else(whole)
        };
        let shaped = proved_shape(&seen);
        // What is a matrix to one nest may be a row of numbers to another.
        let products: BTreeSet<NestId> =
            seen.iter().filter(|seen| !seen.is_flat()).map(|seen| seen.nest).collect();
        let is_for_all = shaped.is_some() || products.is_empty();
        let users = if is_for_all { seen.iter().map(|seen| seen.nest).collect() } else { products };
        let of = |users: &BTreeSet<NestId>| -> Vec<Seen> {
            seen.iter().filter(|seen| users.contains(&seen.nest)).cloned().collect()
        };
        let together = of(&users);
        let shaped = shaped.or_else(|| proved_shape(&together)).or_else(|| tested_shape(&together));
        let is_shaped = shaped.is_some() && together.len() == seen.len();
        let groups = match shaped {
            Some(shaped) => vec![(users, shaped)],
            None => {
                let alone = users.into_iter().map(|id| BTreeSet::from([id]));
                let shaped = alone.filter_map(|nest| {
                    let own = of(&nest);
                    let shaped = proved_shape(&own).or_else(|| tested_shape(&own));
                    Some((nest, shaped?))
                });
                shaped.collect()
            }
        };
        let mut reshapes: Vec<(Shape, ArrayId)> = Vec::new();
        for (users, shaped) in groups {
            let is_known = |known: &Shape| {
                known.extents == shaped.shape.extents && known.origins == shaped.shape.origins
            };
            let known = reshapes.iter().find(|(known, _)| is_known(known)).map(|(_, known)| *known);
            let shape_for = known.unwrap_or_else(|| {
                let new = match is_shaped {
                    true => array,
                    false => {
                        let new = program.add_reshape(array);
                        binding.reshape(new, array);
                        new
                    }
                };
                set_shape(program, binding, new, &shaped.shape);
                reshapes.push((shaped.shape.clone(), new));
                new
            });
            let mut users: Vec<&mut Nest> =
                nests.values_mut().filter(|nest| users.contains(&nest.id)).collect();
            users.iter_mut().for_each(|nest| exchange(binding, nest, array, shape_for));
            whole.extend(shaped.whole.iter().copied());
            set_subscripts(binding, users, shape_for, shaped, &parts);
        }
        if !is_shaped && wide.contains(&array) && program.array(array).shape.len() == 1 {
            nests.values_mut().for_each(|nest| widen_subscripts(nest, array));
        }
    }
    program.nests = nests;
}

/// Lets subscripts of an array be computed in 64 bits.
fn widen_subscripts(nest: &mut Nest, array: ArrayId) {
    for_each_access(&mut nest.roots, &mut Here::default(), &mut |access, _| {
        if access.array == array {
            access.indices.iter_mut().for_each(widen);
        }
    });
}

/// The accesses of the nests to an array, and what is no sum in their subscripts.
fn accesses_to<'a>(
    array: ArrayId,
    program: &Program,
    binding: &Binding,
    nests: impl Iterator<Item = (&'a NestId, &'a mut Nest)>,
    known: &HashMap<NestId, Facts>,
) -> (Vec<Seen>, StandIns) {
    let (mut seen, mut parts) = (Vec::new(), StandIns::default());
    let element = |id: ArrayId| program.array(id).element;
    for (id, nest) in nests {
        let facts = known.get(id).cloned().unwrap_or_default();
        let held = Some(Holdings::of(program, nest));
        let mut here = Here { facts, held, ..Here::default() };
        // What is tested before the nest holds in it.
        for test in binding.entry(*id).into_iter().flat_map(|entry| &entry.tests) {
            here.facts.push_condition(test, true);
        }
        for_each_access(&mut nest.roots, &mut here, &mut |access, here| {
            if access.array == array {
                let subscript = access.indices.first().and_then(|e| parts.enter(e, array, &element));
                let here = here.with_parts(&parts, subscript.as_ref());
                seen.push(Seen { subscript, here, nest: *id });
            }
        });
    }
    (seen, parts)
}

/// An access to an array.
#[derive(Clone)]
struct Seen {
    /// Its first subscript.
    subscript: Option<Polynomial>,
    here: Here<'static>,
    nest: NestId,
}

impl Seen {
    /// Whether the subscript is a sum.
    fn is_flat(&self) -> bool {
        self.subscript.as_ref().is_some_and(|p| p.iter().all(|(factors, _)| factors.len() <= 1))
    }
}

/// A shape for an array, with what all accesses make of it.
struct Shaped {
    shape: Shape,
    /// The subscripts of each access in place of its first.
    subscripts: Vec<Vec<Affine>>,
    /// What is tested before nests.
    tests: Vec<(NestId, Expr)>,
    /// Loops of which that shows that they take a whole number of steps.
    whole: BTreeSet<(NestId, LoopId)>,
}

/// Shapes that might be those of an array, the plain ones first, then those with halos.
fn shapes(seen: &[Seen], symbols: &Symbols<'_>) -> Option<(Vec<Shape>, Vec<Shape>)> {
    let polynomials: Vec<Polynomial> =
        seen.iter().map(|seen| seen.subscript.clone()).collect::<Option<_>>()?;
    if polynomials.is_empty() {
        return None;
    }
    let users: BTreeSet<NestId> = seen.iter().map(|seen| seen.nest).collect();
    let can_be_named = |shape: &Shape| {
        let used = shape.extents.iter().flat_map(|e| e.terms().collect::<Vec<_>>());
        let mut used = used.filter_map(|(v, _)| match v {
            Var::Sym(id) => Some(id),
            Var::Loop(_) => None,
        });
        used.all(|s| users.iter().all(|nest| (symbols.is_visible)(s, *nest)))
    };
    let mut plain = candidates(&polynomials, symbols);
    let with_halos: Vec<Shape> = halos(&polynomials)
        .iter()
        .filter_map(|halos| {
            let entered: Option<Vec<_>> = polynomials.iter().map(|p| halos.enter(p)).collect();
            Some(
                candidates(&entered?, symbols)
                    .into_iter()
                    .map(|shape| shape.with_halos(halos))
                    .collect::<Vec<_>>(),
            )
        })
        .flatten()
        .filter(|shape| can_be_named(shape))
        .collect();
    plain.retain(|shape| can_be_named(shape));
    Some((plain, with_halos))
}

/// The shape that all these accesses provably fit. Only that of a pointer may be counted from elsewhere than zero.
fn proved_shape(seen: &[Seen], symbols: &Symbols<'_>, is_pointer: bool) -> Option<Shaped> {
    let (plain, with_halos) = shapes(seen, symbols)?;
    let all: Vec<Shape> = plain.into_iter().chain(with_halos).collect();
    let fitting = |shape: Shape| {
        let subscripts: Option<Vec<_>> =
            seen.iter().map(|seen| shape.subscripts(seen.subscript.as_ref()?, &seen.here.facts)).collect();
        Some(Shaped { subscripts: subscripts?, shape, tests: Vec::new(), whole: BTreeSet::new() })
    };
    let with_origins = |shape: &Shape| shape.with_origins(seen).filter(|_| is_pointer);
    let found = all.iter().cloned().find_map(fitting);
    found.or_else(|| all.iter().filter_map(with_origins).find_map(fitting))
}

/// The shape that all these accesses fit where some tests hold before the nests.
fn tested_shape(seen: &[Seen], symbols: &Symbols<'_>, is_pointer: bool) -> Option<Shaped> {
    let (plain, with_halos) = shapes(seen, symbols)?;
    // A row of `m` elements would hardly have two more for each row before it.
    let all = with_halos.into_iter().chain(plain);
    // What is counted from one may use all of a row.
    let all = all.flat_map(|shape| [shape.with_origins(seen).filter(|_| is_pointer), Some(shape)]);
    all.flatten().find_map(|shape| {
        let (mut subscripts, mut tests) = (Vec::new(), Vec::new());
        for Seen { subscript, here, nest } in seen {
            let (own, needed) = shape.tested(subscript.as_ref()?, here)?;
            subscripts.push(own);
            for test in needed {
                if !tests.contains(&(*nest, test.clone())) {
                    tests.push((*nest, test));
                }
            }
        }
        (tests.len() <= MOST_TESTS).then_some(Shaped { shape, subscripts, tests, whole: BTreeSet::new() })
    })
}

/// The shape that all these accesses fit where loops take a whole number of steps, and perhaps other tests hold: tiles of a fixed
/// size, `for (j = 0; j < n; j += 8)` around `a[i * n + j + k]`.
fn whole_shape(seen: &[Seen], symbols: &Symbols<'_>, is_pointer: bool) -> Option<Shaped> {
    let (mut whole, mut tests) = (BTreeSet::new(), Vec::new());
    let mut with_whole_steps = |seen: &Seen| {
        let Some((here, found)) = seen.here.with_whole_steps() else { return seen.clone() };
        for (id, test) in found {
            whole.insert((seen.nest, id));
            if !tests.contains(&(seen.nest, test.clone())) {
                tests.push((seen.nest, test));
            }
        }
        Seen { here, ..seen.clone() }
    };
    let seen: Vec<Seen> = seen.iter().map(&mut with_whole_steps).collect();
    if whole.is_empty() {
        return None;
    }
    let shaped = tested_shape(&seen, symbols, is_pointer)?;
    tests.extend(shaped.tests);
    (tests.len() <= MOST_TESTS).then_some(Shaped { tests, whole, ..shaped })
}

/// Gives the accesses to an array in these nests, which are all that there are, their subscripts.
fn set_subscripts<'a>(
    binding: &mut Binding,
    users: impl IntoIterator<Item = &'a mut Nest>,
    array: ArrayId,
    shaped: Shaped,
    parts: &StandIns,
) {
    for (id, test) in shaped.tests {
        let entry = binding.entries.entry(id).or_default();
        if !entry.tests.contains(&test) {
            entry.tests.push(test);
        }
    }
    let mut subscripts = shaped.subscripts.into_iter();
    for nest in users {
        let id = nest.id;
        end_with_steps(&mut nest.roots, &|l| shaped.whole.contains(&(id, l)));
        for_each_access(&mut nest.roots, &mut Here::default(), &mut |access, _| {
            if access.array == array
                && let Some(indices) = subscripts.next()
            {
                access.indices.splice(..1, indices.into_iter().map(|index| parts.leave(index)));
            }
        });
    }
}

/// Says of loops that take a whole number of steps where they end: if only loops over one step use the counter, as `for (l = j; l <
/// j + 8; l++)`, these end where the whole does, as if the last step could be shorter; else the last step begins in time.
fn end_with_steps(nodes: &mut [Node], is_whole: &dyn Fn(LoopId) -> bool) {
    for node in nodes {
        if let Node::Loop(l) = node
            && is_whole(l.id)
            && let Some(upper) = l.upper.as_affine().cloned()
        {
            let mut steps = Vec::new();
            match loops_over_steps(&mut l.body, (l.id, l.step), &mut steps) {
                true => steps.into_iter().for_each(|inner| inner.upper.0.push(upper.clone().into())),
                false => l.upper = upper.offset(1 - l.step).into(),
            }
        }
        node.bodies_mut().into_iter().for_each(|body| end_with_steps(body, is_whole));
    }
}

/// The loops over one step of a loop; whether nothing else uses its counter.
fn loops_over_steps<'n>(nodes: &'n mut [Node], of: (LoopId, i64), found: &mut Vec<&'n mut Loop>) -> bool {
    let (id, step) = of;
    nodes.iter_mut().all(|node| match node {
        Node::Stmt(s) => !s.target.indices.iter().chain([&s.value]).any(|e| e.uses(id)),
        Node::If { condition, then, otherwise } => {
            !condition.uses(id) && loops_over_steps(then, of, found) && loops_over_steps(otherwise, of, found)
        }
        Node::Loop(l) => {
            let (lower, upper) = (l.lower.as_affine(), l.upper.as_affine());
            let begin = Affine::var(id);
            if lower == Some(&begin) && upper == Some(&begin.offset(step)) {
                let is_free = loops_over_steps(&mut l.body, of, &mut Vec::new());
                found.push(l);
                return is_free;
            }
            let mut bounds = l.lower.0.iter().chain(&l.upper.0);
            !bounds.any(|term| term.uses(id)) && loops_over_steps(&mut l.body, of, found)
        }
    })
}

/// Gives a flat array its shape.
fn set_shape(program: &mut Program, binding: &mut Binding, array: ArrayId, shape: &Shape) {
    if shape.origins.iter().any(|origin| *origin != 0) {
        let origins = std::iter::once(0).chain(shape.origins.iter().copied());
        binding.origins.insert(array, origins.collect());
    }
    let is_interleaved = binding.is_interleaved(array);
    let Some(array) = program.arrays.get_mut(&array) else { return };
    let rows = array.shape.first().cloned().flatten().and_then(|total| {
        let total = total.as_affine()?.as_constant()?;
        let outermost = shape.strides.first().filter(|s| s.symbols.is_empty())?.factor;
        (total % outermost == 0).then(|| Expr::from(total / outermost))
    });
    let is_plain = array.shape.len() == 1 && !is_interleaved;
    let extents = shape.extents.iter().map(|e| Some(Expr::from(e.clone())));
    let leading: Vec<Option<Expr>> = std::iter::once(rows).chain(extents).collect();
    array.form = if is_plain { Form::Linear } else { Form::Leading(leading.len() as u32) };
    array.shape.splice(..1, leading);
}

/// Lets a nest use `reshape` wherever it has used `array`, if that is another.
fn exchange(binding: &mut Binding, nest: &mut Nest, array: ArrayId, reshape: ArrayId) {
    if array == reshape {
        return;
    }
    let exchanged = |id: &mut ArrayId| {
        if *id == array {
            *id = reshape;
        }
    };
    for_each_access(&mut nest.roots, &mut Here::default(), &mut |access, _| exchanged(&mut access.array));
    nest.live_out.iter_mut().chain(&mut nest.unordered).for_each(exchanged);
    nest.rotations.iter_mut().flat_map(|rotation| &mut rotation.pointers).for_each(exchanged);
    let rows = binding.entries.get_mut(&nest.id).into_iter().flat_map(|entry| &mut entry.rows);
    rows.for_each(|rows| exchanged(&mut rows.array));
    let advances = binding.advances.get_mut(&nest.id).into_iter().flatten();
    advances.for_each(|advance| exchanged(&mut advance.array));
    let own = binding.teams.get_mut(&nest.id).into_iter().flat_map(|team| &mut team.own);
    own.for_each(exchanged);
}
