//! Samples of a nest with smaller sizes, made from a captured one: its size symbols are reduced, and its arrays cut to what
//! the nest then reaches. Where it cannot be proved that every access stays inside what was captured, there are none.

use crate::machine::{Sizes, element_type};
use oxeye_analysis::evaluate_symbols;
use oxeye_binding::Binding;
use oxeye_codegen::{Argument, ArgumentOf};
use oxeye_ir::{
    AccessRanges, Affine, Array, ArrayId, BoundTerm, Expr, Extents, Nest, Node, Program, Relation, SymId, Var,
};
use oxeye_measure::{ElementType, Init, MeasureError, Sample, SyntheticArg};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Larger samples are not copied.
const MOST_BYTES: u64 = 512 << 20;
/// Symbols that are no larger stay as they are: they are numbers of channels or neighbours.
const SMALL: i64 = 6;
/// No smaller sizes are made, and no more than so many, each larger than the next by this factor or more.
const LEAST_SIZE: f64 = 32.0;
const MOST_RUNGS: usize = 10;
const RUNG: f64 = 4.5;

/// Makes samples of smaller sizes.
pub(crate) struct Shrinker<'a> {
    program: &'a Program,
    binding: &'a Binding,
    nest: &'a Nest,
    arguments: &'a [Argument],
    sample: &'a Sample,
    sizes: Sizes,
    extents: Extents,
    /// The symbols that are reduced.
    scaled: BTreeSet<SymId>,
    /// Whether all of what was captured is needed however small they are: they say how often the same is done, and no more.
    keeps_arrays: bool,
}

impl<'a> Shrinker<'a> {
    /// For a captured sample of a nest; `None` where sizes are not plain variables, or what is reached depends on data.
    pub(crate) fn new(
        bound: (&'a Program, &'a Binding),
        nest: &'a Nest,
        arguments: &'a [Argument],
        sample: &'a Sample,
    ) -> Option<Self> {
        let scaled = nest.size().0.iter().flat_map(symbols).collect();
        Self::of(bound, nest, arguments, sample, scaled, false)
    }

    /// The same for the steps of a nest ([`Nest::steps`]), and how many they are.
    pub(crate) fn of_steps(
        bound: (&'a Program, &'a Binding),
        nest: &'a Nest,
        arguments: &'a [Argument],
        sample: &'a Sample,
        steps: &Affine,
    ) -> Option<(Self, i64)> {
        let scaled: BTreeSet<SymId> = symbols(steps).into_iter().collect();
        // Where it says more than how often the same is done, fewer steps are something else.
        if scaled.iter().any(|symbol| is_used_inside(nest, *symbol)) {
            return None;
        }
        let is_scaled = |extent: &Expr| scaled.iter().any(|symbol| extent.uses(*symbol));
        let mut extents = bound.0.arrays.values().flat_map(|array| array.shape.iter().flatten());
        let keeps_arrays = !extents.any(is_scaled);
        let shrinker = Self::of(bound, nest, arguments, sample, scaled, keeps_arrays)?;
        let n = steps.evaluate(&|v| shrinker.sizes.get(symbol(v)?))?;
        Some((shrinker, n))
    }

    fn of(
        (program, binding): (&'a Program, &'a Binding),
        nest: &'a Nest,
        arguments: &'a [Argument],
        sample: &'a Sample,
        scaled: BTreeSet<SymId>,
        keeps_arrays: bool,
    ) -> Option<Self> {
        let extents = nest.size();
        // How long the rows behind pointers are stays as it is.
        let is_plain = |argument: &Argument| match argument.what {
            ArgumentOf::Symbol(id) => {
                (argument.expression.is_none() || !scaled.contains(&id)) && binding.load(id).is_none()
            }
            ArgumentOf::Array(_) => argument.fields.is_none(),
        };
        let is_buffer = |at: &usize| arguments.get(*at).is_some_and(|argument| argument.is_buffer);
        let is_shared = sample.overlaps.iter().any(|(a, b)| is_buffer(a) && is_buffer(b));
        let by_data = nest.loops().iter().any(|l| {
            l.lower
                .0
                .iter()
                .chain(&l.upper.0)
                .any(|term| matches!(term, BoundTerm::Data(_) | BoundTerm::Open))
        }) || nest
            .accesses()
            .iter()
            .any(|(access, _)| access.indices.iter().any(|e| !e.reads().is_empty()));
        let is_known = arguments.len() == sample.args.len()
            && arguments.iter().all(is_plain)
            && sample.args.iter().all(|arg| arg.before == 0);
        if scaled.is_empty()
            || !is_known
            || is_shared
            || by_data && !keeps_arrays
            || !sample.missing().is_empty()
            || sample.total_bytes() > MOST_BYTES
        {
            return None;
        }
        let sizes = Sizes::of(arguments, sample);
        Some(Self { program, binding, nest, arguments, sample, sizes, extents, scaled, keeps_arrays })
    }

    /// The factors by which symbols are reduced, the smallest sizes first.
    pub(crate) fn factors(&self) -> Vec<f64> {
        let sizes = &self.sizes;
        let size = self.extents.evaluate(&|v| sizes.get(symbol(v)?)).unwrap_or(0.0);
        factors(size, self.extents.0.len())
    }

    /// The sample with its size symbols reduced by a factor, and how large the nest is with it; `None` if accesses might
    /// leave what was captured, what is known of the symbols does not hold, or nothing is reduced.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn shrunk(&self, factor: f64, path: &Path) -> Result<Option<(Sample, f64)>, MeasureError> {
        self.with(&self.reduced(factor), path)
    }

    /// The extents that can be shortened alone, by their positions, and how long they are.
    pub(crate) fn lengths(&self) -> Vec<(usize, i64)> {
        let sizes = &self.sizes;
        let length = |(at, extent): (usize, &Affine)| {
            let id = only_symbol(extent)?;
            let is_everywhere = self.extents.0.iter().all(|other| other.uses(id));
            let length = extent.evaluate(&|v| sizes.get(symbol(v)?))?;
            (!is_everywhere).then_some((at, length))
        };
        self.extents.0.iter().enumerate().filter_map(length).collect()
    }

    /// The same as [`shrunk`](Self::shrunk) with one extent so long, and others only where they hang on the same symbol.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn shortened(
        &self,
        at: usize,
        length: i64,
        path: &Path,
    ) -> Result<Option<(Sample, f64)>, MeasureError> {
        match self.extents.0.get(at) {
            Some(extent) => self.with_extent(extent, length, path),
            None => Ok(None),
        }
    }

    /// The same for any extent of the nest.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn with_extent(
        &self,
        extent: &Affine,
        length: i64,
        path: &Path,
    ) -> Result<Option<(Sample, f64)>, MeasureError> {
        let reduced = || {
            let id = only_symbol(extent)?;
            let sizes = &self.sizes;
            let excess = extent.evaluate(&|v| sizes.get(symbol(v)?))?.checked_sub(length)?;
            let value = sizes.get(id)?.checked_sub(excess).filter(|value| *value >= 0 && excess > 0)?;
            Some(BTreeMap::from([(id, value)]))
        };
        self.with(&reduced().unwrap_or_default(), path)
    }

    /// The sample with these values of symbols, and how large the nest is then.
    fn with(
        &self,
        values: &BTreeMap<SymId, i64>,
        path: &Path,
    ) -> Result<Option<(Sample, f64)>, MeasureError> {
        let value_of = |id: SymId| values.get(&id).copied().or_else(|| self.sizes.get(id));
        if values.is_empty() || !self.holds(&value_of) {
            return Ok(None);
        }
        let Some(size) = self.extents.evaluate(&|v| value_of(symbol(v)?)) else { return Ok(None) };
        let reached = if self.keeps_arrays { Some(BTreeMap::new()) } else { self.reached(&value_of) };
        let Some(reached) = reached else { return Ok(None) };
        let mut contents = Vec::new();
        for (position, argument) in self.arguments.iter().enumerate() {
            let bytes = self.sample.read_arg(position)?;
            contents.push(match argument.what {
                ArgumentOf::Symbol(id) => match values.get(&id) {
                    Some(value) => value.to_le_bytes()[..element_type(argument.element).size()].to_vec(),
                    None => bytes,
                },
                ArgumentOf::Array(id) if argument.is_buffer && !self.keeps_arrays => {
                    let Some(cut) = self.cut(id, &bytes, reached.get(&id).copied(), &value_of) else {
                        return Ok(None);
                    };
                    cut
                }
                ArgumentOf::Array(_) => bytes,
            });
        }
        let args: Vec<SyntheticArg> = contents
            .into_iter()
            .map(|bytes| SyntheticArg {
                element: ElementType::U8,
                elements: bytes.len() as u64,
                init: Init::Bytes(bytes),
            })
            .collect();
        Sample::synthetic(path, &args).map(|sample| Some((sample, size)))
    }

    /// The new values of the symbols; none if they all stay as they are. They are odd: a size that is a power of two is
    /// slow for reasons of its own.
    fn reduced(&self, factor: f64) -> BTreeMap<SymId, i64> {
        let reduce = |id: &SymId| {
            let value = self.sizes.get(*id)?;
            let smaller = ((value as f64 * factor) as i64 | 1).max(SMALL);
            (smaller < value).then_some((*id, smaller))
        };
        self.scaled.iter().filter_map(reduce).collect()
    }

    /// Whether what is assumed of the symbols holds.
    fn holds(&self, value_of: &dyn Fn(SymId) -> Option<i64>) -> bool {
        self.program.assumptions.iter().all(|assumed| {
            let uses = |id: &SymId| assumed.expr.uses(*id);
            let value = assumed.expr.evaluate(&|v| value_of(symbol(v)?));
            match (value, assumed.relation) {
                (Some(value), Relation::NonNegative) => value >= 0,
                (Some(value), Relation::Zero) => value == 0,
                // About symbols of other nests.
                (None, _) => !self.scaled.iter().any(uses),
            }
        })
    }

    /// One past the last element of each array that may be reached, from its beginning; `None` if that is not known, or
    /// an access may lie before the beginning.
    fn reached(&self, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<BTreeMap<ArrayId, i64>> {
        let buffers: BTreeSet<ArrayId> = self
            .arguments
            .iter()
            .filter(|argument| argument.is_buffer)
            .filter_map(|argument| match argument.what {
                ArgumentOf::Array(id) => Some(id),
                ArgumentOf::Symbol(_) => None,
            })
            .collect();
        let mut found: BTreeMap<ArrayId, i64> = BTreeMap::new();
        for AccessRanges { access, indices, .. } in self.nest.access_ranges(&|id| buffers.contains(&id)) {
            let array = self.program.array(access.array);
            let (mut first, mut last, mut stride) = (0i64, 0i64, 1i64);
            for (dim, range) in indices.iter().enumerate().rev() {
                let range = range.as_ref()?;
                let origin = self.binding.origin(access.array, dim);
                let low = evaluate_symbols(&range.first, value_of)?.checked_add(origin)?;
                let high = evaluate_symbols(&range.last, value_of)?.checked_add(origin)?;
                first = first.checked_add(low.checked_mul(stride)?)?;
                last = last.checked_add(high.checked_mul(stride)?)?;
                if dim > 0 {
                    let extent = evaluate_symbols(array.shape.get(dim)?.as_ref()?, value_of)?;
                    stride = stride.checked_mul(extent).filter(|stride| *stride > 0)?;
                }
            }
            if first < 0 {
                return None;
            }
            let end = found.entry(array.id).or_insert(0);
            *end = (*end).max(last.checked_add(1)?);
        }
        Some(found)
    }

    /// The bytes of an array, each element where the new extents have it; `None` if the nest may reach more than there is.
    fn cut(
        &self,
        id: ArrayId,
        bytes: &[u8],
        reached: Option<i64>,
        value_of: &dyn Fn(SymId) -> Option<i64>,
    ) -> Option<Vec<u8>> {
        let array = self.program.array(id);
        let element = array.element.bytes() as usize;
        let reached = usize::try_from(reached.unwrap_or(0)).ok()?.checked_mul(element)?;
        if reached > bytes.len() {
            return None;
        }
        let (old, new) = (inner_extents(array, &|id| self.sizes.get(id))?, inner_extents(array, value_of)?);
        let declared = array.shape.first().and_then(Option::as_ref);
        let rows = declared.and_then(|rows| usize::try_from(evaluate_symbols(rows, value_of)?).ok());
        let row: usize = new.iter().product();
        // What was declared with its extents has them; of other memory there is as much as is reached.
        let n_bytes = match rows.and_then(|rows| rows.checked_mul(row)?.checked_mul(element)) {
            _ if self.binding.views.contains_key(&id) => bytes.len(),
            Some(declared) if declared >= reached => declared.min(bytes.len()),
            _ => reached,
        };
        let before = |extents: &[usize]| {
            let mut elements = 0i64;
            for k in 1..=extents.len() {
                let stride = i64::try_from(extents[k..].iter().product::<usize>()).ok()?;
                elements = elements.checked_add(self.binding.origin(id, k).checked_mul(stride)?)?;
            }
            usize::try_from(elements).ok()?.checked_mul(element)
        };
        // What lies before the element with all indices zero is not used.
        let (old_start, new_start) = match self.binding.origins.contains_key(&id) {
            true if old != new => (before(&old)?, before(&new)?),
            _ => (0, 0),
        };
        let n_rest = n_bytes.checked_sub(new_start)?;
        let rest = bytes.get(old_start..).filter(|rest| rest.len() >= n_rest)?;
        let mut result = vec![0; new_start];
        result.extend(rearranged(rest, element, &old, &new, n_rest));
        Some(result)
    }
}

fn symbols(extent: &Affine) -> Vec<SymId> {
    extent.terms().filter_map(|(v, _)| symbol(v)).collect()
}

/// Whether anything inside of the outermost loops depends on a symbol.
fn is_used_inside(nest: &Nest, symbol: SymId) -> bool {
    let in_term = |term: &BoundTerm| match term {
        BoundTerm::Affine { expr, .. } => expr.uses(symbol),
        BoundTerm::Data(e) => e.uses(symbol),
        BoundTerm::Open => false,
    };
    let mut is_used = false;
    nest.visit(&mut |around, node| {
        is_used |= !around.is_empty()
            && match node {
                Node::Stmt(s) => s.value.uses(symbol) || s.target.indices.iter().any(|e| e.uses(symbol)),
                Node::If { condition, .. } => condition.uses(symbol),
                Node::Loop(l) => l.lower.0.iter().chain(&l.upper.0).any(in_term),
            };
    });
    is_used
}

/// The symbol of an extent that grows with one, as it is: `n - 2`, `end - begin`.
fn only_symbol(extent: &Affine) -> Option<SymId> {
    let mut growing = extent.terms().filter(|(_, coefficient)| *coefficient > 0);
    let ((v, 1), None) = (growing.next()?, growing.next()) else { return None };
    symbol(v)
}

fn symbol(v: Var) -> Option<SymId> {
    match v {
        Var::Sym(id) => Some(id),
        Var::Loop(_) => None,
    }
}

/// The extents of all dimensions but the first.
fn inner_extents(array: &Array, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<Vec<usize>> {
    let extent = |extent: &Option<Expr>| usize::try_from(evaluate_symbols(extent.as_ref()?, value_of)?).ok();
    array.shape.iter().skip(1).map(extent).collect()
}

/// The first `n_bytes` of an array with new inner extents: elements with the same indices are the same, and what has none
/// in the old one keeps the bytes that are there.
fn rearranged(bytes: &[u8], element: usize, old: &[usize], new: &[usize], n_bytes: usize) -> Vec<u8> {
    let mut result = bytes[..n_bytes].to_vec();
    if old == new || new.contains(&0) {
        return result;
    }
    let (old_row, new_row) =
        (old.iter().product::<usize>() * element, new.iter().product::<usize>() * element);
    for (row, to) in result.chunks_mut(new_row).enumerate() {
        let Some(from) = bytes.get(row * old_row..) else { break };
        let from = &from[..from.len().min(old_row)];
        copy_row(from, to, element, old, new);
    }
    result
}

/// Copies what two rows have in common; the extents are those of the dimensions inside.
fn copy_row(from: &[u8], to: &mut [u8], element: usize, old: &[usize], new: &[usize]) {
    let ([_, old @ ..], [_, new @ ..]) = (old, new) else {
        let n = from.len().min(to.len()).min(element);
        to[..n].copy_from_slice(&from[..n]);
        return;
    };
    if old == new {
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        return;
    }
    let (old_row, new_row) =
        (old.iter().product::<usize>() * element, new.iter().product::<usize>() * element);
    if old_row == 0 || new_row == 0 {
        return;
    }
    for (from, to) in from.chunks(old_row).zip(to.chunks_mut(new_row)) {
        copy_row(from, to, element, old, new);
    }
}

/// Factors for the extents of a nest, in so many dimensions, that lead from its size down to the least.
fn factors(size: f64, n_extents: usize) -> Vec<f64> {
    if size <= LEAST_SIZE * RUNG || !size.is_finite() || n_extents == 0 {
        return Vec::new();
    }
    let down = size / LEAST_SIZE;
    let n_rungs = ((down.ln() / RUNG.ln()) as usize).clamp(1, MOST_RUNGS);
    let ratio = down.powf(-1.0 / (n_rungs * n_extents) as f64);
    (1..=n_rungs).rev().map(|k| ratio.powi(k as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_codegen::arguments;

    /// A nest over `x[n][m]` and `y`, with these loops.
    fn program(symbols: &str, loops: &str) -> Program {
        let text = format!(
            "program p {{\n symbol P0 n: i32\n symbol P1 m: i64\n{symbols} array A0 x: f64[?][m] param linear\n \
             array A1 y: f64[?] param\n dataflow {{ N0 }}\n nest N0 in p {{\n{loops}\n }}\n}}\n"
        );
        Program::parse(&text).expect("parses")
    }

    fn integers(program: &Program, sample: &Sample) -> Vec<i64> {
        let list = arguments(program, Binding::none(), &program.nests[0]);
        list.iter()
            .enumerate()
            .filter(|(_, a)| !a.is_buffer)
            .map(|(k, a)| sample.read_integer(k, element_type(a.element)).expect("an integer"))
            .collect()
    }

    /// `x` is n × m with `x[i][j] = 100 i + j`; `y` has as many elements as are asked for.
    fn sample(program: &Program, folder: &Path, n: i64, m: i64, y: usize) -> Sample {
        let bytes_of = |values: Vec<f64>| values.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        let args = arguments(program, Binding::none(), &program.nests[0]).into_iter().map(|argument| {
            let bytes = match argument.name.as_str() {
                "n" => (n as i32).to_le_bytes().to_vec(),
                "m" => m.to_le_bytes().to_vec(),
                "x" => bytes_of((0..n * m).map(|k| (100 * (k / m) + k % m) as f64).collect()),
                _ => bytes_of(vec![1.0; y]),
            };
            SyntheticArg { element: ElementType::U8, elements: bytes.len() as u64, init: Init::Bytes(bytes) }
        });
        Sample::synthetic(&folder.join("sample.bin"), &args.collect::<Vec<_>>()).expect("written")
    }

    type Shrunk = Option<(Vec<i64>, f64, Vec<f64>, usize)>;

    /// Integers, size, the elements of `x`, and how many `y` has, with the sizes reduced to a half.
    fn halved(symbols: &str, loops: &str, (n, m, y): (i64, i64, usize)) -> Shrunk {
        let folder = tempfile::tempdir().expect("a folder");
        let program = program(symbols, loops);
        let nest = &program.nests[0];
        let list = arguments(&program, Binding::none(), nest);
        let sample = sample(&program, folder.path(), n, m, y);
        let shrinker = Shrinker::new((&program, Binding::none()), nest, &list, &sample)?;
        let (shrunk, size) = shrinker.shrunk(0.5, &folder.path().join("small.bin")).expect("written")?;
        let at = |name| list.iter().position(|a| a.name == name).expect("there");
        let bytes = shrunk.read_arg(at("x")).expect("read");
        let x = bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect();
        Some((integers(&program, &shrunk), size, x, shrunk.args[at("y")].bytes as usize / 8))
    }

    #[test]
    fn one_extent_is_shortened_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = program("", PLAIN);
        let nest = &program.nests[0];
        let list = arguments(&program, Binding::none(), nest);
        let sample = sample(&program, folder.path(), 14, 18, 15);
        let shrinker =
            Shrinker::new((&program, Binding::none()), nest, &list, &sample).expect("sizes are plain");
        assert_eq!(shrinker.lengths(), [(0, 14), (1, 18)]);
        let path = folder.path().join("short.bin");
        let short = |at, length| {
            let shortened = shrinker.shortened(at, length, &path).expect("written");
            shortened.map(|(sample, size)| (integers(&program, &sample), size))
        };
        assert_eq!(short(1, 5), Some((vec![14, 5], 70.0)));
        assert_eq!(short(0, 5), Some((vec![5, 18], 90.0)));
        assert_eq!((short(0, 14), short(2, 5)), (None, None));
    }

    const PLAIN: &str = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. m { S0: x[i][j] += y[i + 1] } }";

    #[test]
    fn the_corner_of_an_array_stays_what_it_was() {
        let (integers, size, x, y) = halved("", PLAIN, (14, 18, 15)).expect("shrunk");
        assert_eq!((integers, size, y), (vec![7, 9], 63.0, 8));
        let expected: Vec<f64> = (0..7).flat_map(|i| (0..9).map(move |j| f64::from(100 * i + j))).collect();
        assert_eq!(x, expected);
    }

    #[test]
    fn small_symbols_stay_and_nothing_grows() {
        let (integers, ..) = halved("", PLAIN, (14, 3, 15)).expect("shrunk");
        assert_eq!(integers, [7, 3]);
        assert_eq!(halved("", PLAIN, (5, 6, 15)), None);
    }

    #[test]
    fn what_may_leave_the_captured_memory_is_refused() {
        // `y` is reached further the smaller the nest is.
        let loops =
            "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. m { S0: x[i][j] += y[60 - 2 * n + i] } }";
        assert_eq!(halved("", loops, (30, 18, 40)), None);
        assert!(halved("", loops, (30, 18, 60)).is_some());
        let before = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. m { S0: x[i][j] += y[i + n - 10] } }";
        assert_eq!(halved("", before, (18, 18, 40)), None);
    }

    #[test]
    fn what_depends_on_data_is_refused() {
        let loops = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. m { S0: x[i][j] += y[(i32)y[i]] } }";
        assert_eq!(halved("", loops, (14, 18, 15)), None);
        let loops =
            "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. data((i32)y[i]) { S0: x[i][j] += y[j] } }";
        assert_eq!(halved("", loops, (14, 18, 15)), None);
    }

    #[test]
    fn what_is_assumed_of_symbols_holds() {
        assert!(halved(" assume n >= 6\n", PLAIN, (14, 18, 15)).is_some());
        assert_eq!(halved(" assume n >= 8\n", PLAIN, (14, 18, 15)), None);
    }

    #[test]
    fn the_ladder_ends_at_small_sizes() {
        assert!(factors(100.0, 2).is_empty());
        let sizes = |size: f64, n: usize| -> Vec<i64> {
            factors(size, n).into_iter().map(|f| (size * f.powi(n as i32)).round() as i64).collect()
        };
        assert_eq!(sizes(32.0 * 625.0, 2), [32, 160, 800, 4000]);
        let long = sizes(1e12, 3);
        assert_eq!((long.len(), long[0]), (10, 32));
        assert_eq!(sizes(1e7, 1).len(), 8);
    }

    #[test]
    fn elements_keep_their_indices() {
        // [2][3] of the rows become [3][2]: one more, each shorter.
        let old: Vec<u8> = (0..12).collect();
        assert_eq!(rearranged(&old, 1, &[2, 3], &[3, 2], 12), [0, 1, 3, 4, 4, 5, 6, 7, 9, 10, 10, 11]);
        assert_eq!(rearranged(&old, 1, &[4], &[3], 9), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        assert_eq!(rearranged(&old, 2, &[3], &[2], 8), [0, 1, 2, 3, 6, 7, 8, 9]);
        assert_eq!(rearranged(&old, 1, &[], &[], 5), [0, 1, 2, 3, 4]);
    }
}
