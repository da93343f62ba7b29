//! The run-time test that pointers do not overlap.

use crate::CodegenError;
use crate::context::Context;
use crate::print::prec;
use oxeye_binding::{Binding, Constant};
use oxeye_ir::{Access, Affine, Array, ArrayId, Expr, IndexRange, LoopId, Nest, Program, held_scalars};
use std::collections::BTreeSet;

/// Declarations and the condition that no two arrays of the nest overlap.
pub(crate) struct AliasTest {
    pub(crate) declarations: Vec<String>,
    pub(crate) condition: String,
}

/// What is asked of the range of an array that a nest uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// How far the nest reaches, provided that its loops run.
    Exactly,
    /// How far it reaches at most.
    AtMost,
}

/// The range of the first index over all accesses of the nest to the array, and of loads before it; `None` if it is
/// unbounded, or an access may not happen although that is asked.
fn reach(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    array: ArrayId,
    asked: Asked,
) -> Option<IndexRange> {
    let accesses = match asked {
        Asked::Exactly => nest.access_ranges(&|other| other == array),
        Asked::AtMost => nest.widest_ranges(&held_scalars(nest, program), &|other| other == array),
    };
    let is_certain = |is_selected: bool| asked == Asked::AtMost || !is_selected;
    let first = accesses
        .into_iter()
        .map(|found| found.indices.into_iter().next()?.filter(|_| is_certain(found.is_selected)));
    let symbols = binding.symbols_of(program, &[nest]);
    let loads = symbols.iter().filter_map(|id| binding.load(*id)).filter(|load| load.array == array);
    let before = loads.map(|load| {
        let index = load.indices.first()?.clone();
        Some(IndexRange { first: index.clone(), last: index })
    });
    IndexRange::hull(first.chain(before).collect::<Option<Vec<_>>>()?)
}

/// Whether two arrays may as well be one, if both begin at the same address: whatever stores into one of them uses the other only at
/// the same indices, in the same statement, which has those indices to itself. Then each element is used in one instance of one
/// statement, in whatever order these run.
fn is_same_element(nest: &Nest, a: ArrayId, b: ArrayId) -> bool {
    /// The accesses to one of the arrays in a node, and whether they store.
    type Uses<'n> = Vec<(&'n Access, bool)>;
    let mut users: Vec<(Uses<'_>, Uses<'_>, bool)> = Vec::new();
    nest.visit(&mut |path, node| {
        let of = |id: ArrayId| -> Uses<'_> {
            node.own_accesses().into_iter().filter(|(access, _)| access.array == id).collect()
        };
        let (first, second) = (of(a), of(b));
        let indices = first.iter().chain(&second).map(|(access, _)| &access.indices).collect::<Vec<_>>();
        let is_one_place = indices.windows(2).all(|pair| pair[0] == pair[1]);
        let has_it_to_itself =
            indices.first().is_some_and(|of_one| path.iter().all(|l| is_moved_alone(l.id, of_one)));
        users.push((first, second, is_one_place && has_it_to_itself));
    });
    let stores = |uses: &Uses<'_>| uses.iter().any(|(_, is_stored)| *is_stored);
    let meet = |one: &Uses<'_>, other: &Uses<'_>| {
        !one.is_empty() && !other.is_empty() && (stores(one) || stores(other))
    };
    users.iter().enumerate().all(|(k, (first, second, is_fine))| {
        let apart = users.iter().enumerate().filter(|(other, _)| *other != k);
        (*is_fine || !meet(first, second)) && apart.into_iter().all(|(_, (_, other, _))| !meet(first, other))
    })
}

/// Whether one of the indices changes with this loop and no other.
fn is_moved_alone(id: LoopId, indices: &[Expr]) -> bool {
    let alone = |index: &Expr| index.as_affine().is_some_and(|a| a.uses(id) && a.loops().count() == 1);
    indices.iter().any(alone)
}

impl Context<'_> {
    /// Whether equal indices mean equal distances from where two arrays begin.
    fn are_alike(&self, a: &Array, b: &Array) -> bool {
        let is_plain = |array: &Array| {
            let is_view = self.binding.views.get(&array.id).is_some_and(|view| view.is_interleaved());
            !is_view && !self.binding.origins.contains_key(&array.id)
        };
        let rows = |array: &Array| array.shape.iter().skip(1).cloned().collect::<Vec<_>>();
        a.element == b.element && a.form == b.form && rows(a) == rows(b) && is_plain(a) && is_plain(b)
    }

    /// The product of the extents after the first, as a factor to append.
    fn row_factor(&self, shape: &[Option<Expr>]) -> Option<String> {
        let mut text = String::new();
        for extent in shape.iter().skip(1) {
            text += &format!(" * {}", self.expr(extent.as_ref()?).at(prec::UNARY));
        }
        Some(text)
    }

    /// How many elements lie between what the pointer of an array points to and the element with all indices zero, as a
    /// term; `Some(None)` for none.
    fn elements_before(&self, array: &Array) -> Option<Option<String>> {
        let Some(origin) = self.binding.origins.get(&array.id) else { return Some(None) };
        let mut terms = Vec::new();
        for (k, by) in origin.iter().enumerate().filter(|(_, by)| **by != 0) {
            terms.push(format!("{by}L{}", self.row_factor(array.shape.get(k..)?)?));
        }
        Some((!terms.is_empty()).then(|| terms.join(" + ")))
    }

    /// Bytes from the array's start to one past its last element (`end`), or to the first element reached, as an
    /// expression of type `long`.
    pub(crate) fn byte_offset(
        &mut self,
        nest: &Nest,
        array: &Array,
        end: bool,
        asked: Asked,
    ) -> Option<String> {
        let size = array.element.bytes();
        let was_wide = std::mem::replace(&mut self.wide, true);
        let text = (|| {
            if array.shape.is_empty() {
                return Some(if end { format!("{size}L") } else { "0".to_owned() });
            }
            let rows = match array.shape.first() {
                Some(Some(_)) if !end => return Some("0".to_owned()),
                Some(Some(extent)) => self.expr(extent),
                _ if let Some(test) =
                    self.binding.row_test(nest.id, array.id).filter(|t| t.used.is_some()) =>
                {
                    let (first, last) = test.ranges.first()?;
                    let e = match end {
                        true => Expr::binary(oxeye_ir::BinaryOp::Add, last.clone(), Expr::from(1)),
                        false => first.clone(),
                    };
                    self.expr(&e)
                }
                _ if let Some(found) = self.binding.reach(nest.id, array.id) => {
                    let e = match end {
                        true => Affine::var(found.last).offset(1),
                        false => found.first.into(),
                    };
                    self.expr(&e.into())
                }
                _ => {
                    let reach = reach(self.program, self.binding, nest, array.id, asked)?;
                    let e = if end {
                        Expr::binary(oxeye_ir::BinaryOp::Add, reach.last, Expr::from(1))
                    } else {
                        reach.first
                    };
                    self.expr(&e)
                }
            };
            let before = self.elements_before(array)?;
            if rows.text == "0" && before.is_none() {
                return Some(rows.text);
            }
            if let Some(view) = self.binding.views.get(&array.id).filter(|v| v.is_interleaved()) {
                let base = view.base();
                let n_leading = array.form.n_leading(array.shape.len());
                let factor = self.row_factor(&array.shape[..n_leading])?;
                return Some(format!("(long)sizeof(({base})[0]) * {}{factor}", rows.at(prec::UNARY)));
            }
            let factor = self.row_factor(&array.shape)?;
            let whole = format!("{}{factor}", rows.at(prec::UNARY));
            Some(match before {
                Some(before) => format!("{size}L * ({whole} + {before})"),
                None => format!("{size}L * {whole}"),
            })
        })();
        self.wide = was_wide;
        text
    }

    /// The test for the pairs of arrays that the nest uses, at least one of them written; `None` if there are none.
    pub(crate) fn alias_test(
        &mut self,
        original: &Nest,
        nest: &Nest,
    ) -> Result<Option<AliasTest>, CodegenError> {
        let accesses: Vec<_> = original.accesses().into_iter().chain(nest.accesses()).collect();
        let used: BTreeSet<ArrayId> = accesses.iter().map(|(a, _)| a.array).collect();
        let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        let mut pairs: BTreeSet<(ArrayId, ArrayId)> = BTreeSet::new();
        for (a, b) in &self.program.may_alias {
            let (a, b) = (*a.min(b), *a.max(b));
            if a != b
                && used.contains(&a)
                && used.contains(&b)
                && (written.contains(&a) || written.contains(&b))
            {
                pairs.insert((a, b));
            }
        }
        let mut kept: BTreeSet<(String, ArrayId)> = BTreeSet::new();
        for (constant, array) in self.binding.may_change.iter().filter(|(_, array)| written.contains(array)) {
            let is_used = match constant {
                Constant::Symbol(id) => self.binding.symbols_of(self.program, &[original, nest]).contains(id),
                Constant::Base(id) => used.contains(id),
            };
            if is_used {
                kept.extend(self.constants(*constant).into_iter().map(|object| (object, *array)));
            }
        }
        // Rows that lie anywhere are no range of addresses.
        let is_apart = |id: &ArrayId| self.apart.contains(id);
        let row_pairs: Vec<_> = pairs.iter().filter(|(a, b)| is_apart(a) || is_apart(b)).copied().collect();
        let row_kept: Vec<_> = kept.iter().filter(|(_, array)| is_apart(array)).cloned().collect();
        pairs.retain(|pair| !row_pairs.contains(pair));
        kept.retain(|pair| !row_kept.contains(pair));
        let rows = self.apart_test(original, &written, &row_pairs, &row_kept)?;
        if pairs.is_empty() && kept.is_empty() {
            return Ok(rows);
        }
        let program = self.program;
        let mut declarations = Vec::new();
        let mut ranges = std::collections::BTreeMap::new();
        let both = pairs
            .iter()
            .flat_map(|(a, b)| [(a, program.array(*b).name.as_str()), (b, program.array(*a).name.as_str())]);
        let with_kept = kept.iter().map(|(object, array)| (array, object.as_str()));
        for (id, other) in both.chain(with_kept) {
            {
                if ranges.contains_key(id) {
                    continue;
                }
                let array = program.array(*id);
                let begin = self.byte_offset(original, array, false, Asked::AtMost);
                let end = self.byte_offset(original, array, true, Asked::AtMost);
                let (Some(begin), Some(end)) = (begin, end) else {
                    return Err(CodegenError::UnknownExtent {
                        first: array.name.clone(),
                        second: other.to_owned(),
                    });
                };
                let name = self.plain_name(array);
                let address = self.address(array);
                let (first, last) =
                    (self.fresh(&format!("{name}_begin")), self.fresh(&format!("{name}_end")));
                let from = if begin == "0" { address.clone() } else { format!("{address} + {begin}") };
                declarations.push(format!("const __UINTPTR_TYPE__ {first} = {from};"));
                declarations.push(format!("const __UINTPTR_TYPE__ {last} = {address} + {end};"));
                ranges.insert(*id, (first, last));
            }
        }
        let tests: Vec<String> = pairs
            .iter()
            .map(|(a, b)| {
                let apart =
                    format!("{} <= {} || {} <= {}", ranges[a].1, ranges[b].0, ranges[b].1, ranges[a].0);
                let (first, second) = (program.array(*a), program.array(*b));
                match self.are_alike(first, second) && is_same_element(original, *a, *b) {
                    true => format!("({apart} || {} == {})", self.address(first), self.address(second)),
                    false => format!("({apart})"),
                }
            })
            .chain(kept.iter().map(|(object, array)| {
                let (first, last) = &ranges[array];
                let address = format!("(__UINTPTR_TYPE__)&({object})");
                format!("({last} <= {address} || {address} + sizeof({object}) <= {first})")
            }))
            .collect();
        let rows_condition = rows.map(|rows| {
            declarations.extend(rows.declarations);
            rows.condition
        });
        let tests: Vec<String> = tests.into_iter().chain(rows_condition).collect();
        let condition = match tests.as_slice() {
            [only] => only.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(only).to_owned(),
            _ => tests.join(" && "),
        };
        Ok(Some(AliasTest { declarations, condition }))
    }
}
