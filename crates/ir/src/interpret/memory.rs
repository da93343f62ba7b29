//! The memory that a nest works on.

use super::error::InterpretError;
use super::value::Value;
use crate::{Affine, Array, ArrayId, Expr, Program, ScalarType, Storage, SymId, Var};
use oxeye_random::SplitMix64;
use std::collections::BTreeMap;

/// The elements of one array, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Element type.
    pub element: ScalarType,
    /// Elements per dimension.
    pub extents: Vec<usize>,
    /// `None` where nothing has been written yet.
    pub values: Vec<Option<Value>>,
}

/// Values of symbols and arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Values of symbols.
    pub symbols: BTreeMap<SymId, i64>,
    /// Contents of arrays.
    pub buffers: BTreeMap<ArrayId, Buffer>,
}

impl Buffer {
    /// Elements that must not be read before they are written.
    pub fn uninitialized(element: ScalarType, extents: Vec<usize>) -> Self {
        let n = extents.iter().product();
        Self { element, extents, values: vec![None; n] }
    }

    /// The position of an element; `None` if it is out of bounds.
    pub fn position(&self, indices: &[i64]) -> Option<usize> {
        if indices.len() != self.extents.len() {
            return None;
        }
        indices.iter().zip(&self.extents).try_fold(0usize, |position, (index, extent)| {
            let index = usize::try_from(*index).ok().filter(|i| i < extent)?;
            Some(position * extent + index)
        })
    }
}

/// Largest number of elements the interpreter allocates for one array.
const MAX_ELEMENTS: usize = 1 << 28;

impl Memory {
    /// Memory without arrays.
    pub fn new(symbols: impl IntoIterator<Item = (SymId, i64)>) -> Self {
        Self { symbols: symbols.into_iter().collect(), buffers: BTreeMap::new() }
    }

    /// All arrays of the program that outlive a nest, filled with noise from `seed`: floats in `-1.0..1.0`, integers in
    /// `0..8`. An unknown extent counts as `unknown_extent`.
    ///
    /// # Errors
    /// If an extent is negative, too large, or uses a symbol without a value.
    pub fn random(
        program: &Program,
        symbols: impl IntoIterator<Item = (SymId, i64)>,
        unknown_extent: usize,
        seed: u64,
    ) -> Result<Self, InterpretError> {
        let mut memory = Self::new(symbols);
        for array in program.arrays.values() {
            if matches!(array.storage, Storage::Body(_) | Storage::Temp(_)) {
                continue;
            }
            let mut random =
                SplitMix64::new(seed ^ u64::from(array.id.0).wrapping_mul(0x2545_f491_4f6c_dd1d));
            let mut buffer = memory.allocate(array, unknown_extent, &|_| None)?;
            for value in &mut buffer.values {
                let bits = random.bits();
                *value = Some(match array.element {
                    ScalarType::F32 => Value::F32((bits >> 40) as f32 / (1u32 << 23) as f32 - 1.0),
                    ScalarType::F64 => Value::F64((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0),
                    _ => Value::Int((bits >> 61) as i64),
                });
            }
            memory.buffers.insert(array.id, buffer);
        }
        Ok(memory)
    }

    /// A buffer of the array's shape, uninitialised.
    pub(super) fn allocate(
        &self,
        array: &Array,
        unknown_extent: usize,
        iterator: &dyn Fn(Var) -> Option<i64>,
    ) -> Result<Buffer, InterpretError> {
        let value_of = |var: Var| match var {
            Var::Sym(s) => self.symbols.get(&s).copied(),
            Var::Loop(_) => iterator(var),
        };
        let mut extents = Vec::new();
        let mut n = 1usize;
        for extent in &array.shape {
            let extent = match extent {
                None => Some(unknown_extent),
                Some(e) => extent_value(e, &value_of).and_then(|v| usize::try_from(v).ok()),
            };
            let total = extent.and_then(|e| n.checked_mul(e)).filter(|n| *n <= MAX_ELEMENTS);
            let (Some(extent), Some(total)) = (extent, total) else {
                return Err(InterpretError::Extent { array: array.name.clone() });
            };
            n = total;
            extents.push(extent);
        }
        Ok(Buffer::uninitialized(array.element, extents))
    }

    /// A message about the first difference in the arrays that both memories have: an element whose relative difference
    /// exceeds `tolerance` (zero requires identical bits). Integers must always be equal.
    pub fn difference(&self, other: &Memory, program: &Program, tolerance: f64) -> Option<String> {
        for (id, mine) in &self.buffers {
            let Some(theirs) = other.buffers.get(id) else { continue };
            let name = program.arrays.get(id).map_or("", |a| a.name.as_str());
            if mine.extents != theirs.extents {
                return Some(format!(
                    "{name} ({id}) has extents {:?} and {:?}",
                    mine.extents, theirs.extents
                ));
            }
            let differing = mine.values.iter().zip(&theirs.values).position(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => !is_close(*a, *b, tolerance),
                (a, b) => a.is_some() != b.is_some(),
            });
            if let Some(at) = differing {
                let (a, b) = (mine.values[at], theirs.values[at]);
                return Some(format!("{name} ({id}) differs at element {at}: {a:?} and {b:?}"));
            }
        }
        None
    }
}

fn is_close(a: Value, b: Value, tolerance: f64) -> bool {
    if a.is_identical(b) {
        return true;
    }
    let (x, y) = (a.to_f64(), b.to_f64());
    let is_float = !matches!((a, b), (Value::Int(_), Value::Int(_)));
    is_float && tolerance > 0.0 && (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0)
}

/// An extent: integer arithmetic on symbols.
fn extent_value(expr: &Expr, value_of: &dyn Fn(Var) -> Option<i64>) -> Option<i64> {
    use crate::BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
    match expr {
        Expr::Affine(a) => Affine::evaluate(a, value_of),
        Expr::Cast(_, e) => extent_value(e, value_of),
        Expr::Binary(op, l, r) => {
            let (l, r) = (extent_value(l, value_of)?, extent_value(r, value_of)?);
            match op {
                Add => l.checked_add(r),
                Sub => l.checked_sub(r),
                Mul => l.checked_mul(r),
                Div => l.checked_div(r),
                Rem => l.checked_rem(r),
                Min => Some(l.min(r)),
                Max => Some(l.max(r)),
                _ => None,
            }
        }
        _ => None,
    }
}
