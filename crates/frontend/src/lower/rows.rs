//! Rows behind pointers, `double **u`: which of them a nest is sure to use, so that a test before it may read their
//! addresses.

use super::entered::entered;
use super::hull::{Ends, hull, only, sole_extreme};
use super::lowerer::Lowerer;
use super::row_scans::scanned;
use super::uses::{Use, uses};
use crate::ast::{Range, VarId};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Affine, ArrayId, Expr, Loop, Nest, Program, RowForm, RowScan, RowTest, ScalarType, SymId};

impl Lowerer<'_> {
    /// Symbols for the distances of rows: how many rows or elements of a dimension lie in one of the dimension before.
    pub(super) fn row_extents(&mut self, var: VarId, n_levels: usize) -> Vec<SymId> {
        let name = self.name(var).to_owned();
        let first = |k: usize, at: usize| -> String {
            let subscripts: String =
                (0..n_levels).map(|d| if d == k { format!("[{at}]") } else { "[0]".into() }).collect();
            format!("&{name}{subscripts}")
        };
        let distance = |k: usize| format!("({} - {})", first(k, 1), first(k, 0));
        (1..n_levels)
            .map(|k| {
                let text = match k + 1 == n_levels {
                    true => distance(k - 1),
                    false => format!("{} / {}", distance(k - 1), distance(k)),
                };
                self.state.program.add_symbol(text, ScalarType::I64)
            })
            .collect()
    }
}

/// Tests of rows before a nest.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) tests: Vec<RowTest>,
    /// What finds out the ends of their ranges.
    pub(crate) scans: Vec<RowScan>,
    /// Conditions under which the nest uses the first and the last rows of those that need no scan.
    pub(crate) conditions: Vec<Expr>,
}

/// The tests for the rows that a nest uses.
pub(crate) fn row_tests(
    program: &mut Program,
    nest: &Nest,
    rows: &[(ArrayId, usize)],
    at: Range,
) -> Lowered<Rows> {
    let mut found = Rows::default();
    for (array, n_levels) in rows.iter().filter(|(id, _)| nest.arrays().contains(id)) {
        let uses = uses(program, nest, *array, n_levels - 1);
        let all: Vec<&Use> = uses.iter().collect();
        let ends: Option<Vec<Ends>> = (0..*n_levels).map(|d| hull(&all, d)).collect();
        let sure = ends.and_then(|ends| {
            let conditions = witness(&uses, &ends, *n_levels)?;
            let ranges = ends.into_iter().map(Ends::ranges).collect::<Option<_>>()?;
            Some((RowTest { array: *array, form: RowForm::Even, ranges, used: None }, conditions))
        });
        if let Some((test, conditions)) = sure {
            found.tests.push(test);
            found.conditions.extend(conditions);
            continue;
        }
        let test = match n_levels {
            2 => scanned(program, *array, &uses, &mut found.scans),
            _ => None,
        };
        let Some(test) = test else {
            let name = &program.array(*array).name;
            let head = Range { start: at.start, end: at.start + 3 };
            let message = match n_levels {
                2 => format!("which rows of `{name}` are used depends on what the loop computes"),
                _ => format!("not all rows of `{name}` between the first and the last are sure to be there"),
            };
            let help = match n_levels {
                _ if name.contains(['.', '>']) => "keep the elements in one block".to_owned(),
                2 => format!("make `{name}` one block, `double *{name}` with `{name}[i * m + j]`"),
                _ => format!("make `{name}` one block, `double (*{name})[m][n]`"),
            };
            return Err(Refusal::new(head, message).help(help));
        };
        found.tests.push(test);
    }
    Ok(found)
}

/// Says again how rows are found, where nests have come to reach the arrays in their conditions by other indices.
pub(crate) fn renew_scans(program: &mut Program) {
    let with_scans = program.entries.iter().filter(|(_, entry)| !entry.scans.is_empty());
    for id in with_scans.map(|(id, _)| *id).collect::<Vec<_>>() {
        let (Some(nest), Some(mut entry)) =
            (program.nests.get(&id).cloned(), program.entries.get(&id).cloned())
        else {
            continue;
        };
        entry.scans.clear();
        let mut is_known = true;
        for test in entry.rows.iter_mut().filter(|test| test.used.is_some()) {
            let uses = uses(program, &nest, test.array, test.ranges.len() - 1);
            match scanned(program, test.array, &uses, &mut entry.scans) {
                Some(new) => *test = RowTest { form: test.form, ..new },
                None => is_known = false,
            }
        }
        if !is_known {
            // The text of the user runs.
            entry.tests.push(Expr::from(0));
        }
        program.entries.insert(id, entry);
    }
}

/// Conditions under which the first and last rows of every dimension are surely used: with more than two levels in all
/// combinations.
fn witness(uses: &[Use], ranges: &[Ends], n_levels: usize) -> Option<Vec<Expr>> {
    let mut conditions = Vec::new();
    if n_levels == 3
        && let Some(conditions) = swept(uses, ranges)
    {
        return Some(conditions);
    }
    if n_levels > 2 {
        let ranges: Vec<_> = ranges.iter().take(n_levels - 1).map(Ends::single).collect::<Option<_>>()?;
        // One access that runs over all rows, whatever the other subscripts.
        return uses.iter().filter(|u| u.is_sure()).find_map(|u| {
            let (indices, loops) = (&u.indices, &u.loops());
            let is_box =
                loops.iter().all(|l| is_rectangular(l)) && are_independent(indices, loops, n_levels - 1);
            let reaches = (0..n_levels - 1).all(|d| {
                let index = indices.get(d).and_then(Expr::as_affine);
                index.is_some_and(|a| {
                    sole_extreme(a, loops, true).as_ref() == Some(ranges[d].0)
                        && sole_extreme(a, loops, false).as_ref() == Some(ranges[d].1)
                })
            });
            if !is_box || !reaches { None } else { entered(loops, &vec![true; loops.len()]).map(|e| e.0) }
        });
    }
    let ends =
        ranges[0].low.iter().map(|low| (true, low)).chain(ranges[0].high.iter().map(|high| (false, high)));
    for (is_low, wanted) in ends {
        let wanted = only(wanted)?;
        let found = uses.iter().filter(|u| u.is_sure()).find_map(|u| {
            let (index, loops) = (u.indices.first()?.as_affine()?, &u.loops());
            if loops.len() > 6 {
                return None;
            }
            (0..1u32 << loops.len()).find_map(|choice| {
                let firsts: Vec<bool> = (0..loops.len()).map(|k| (choice >> k & 1 == 0) == is_low).collect();
                let (conditions, values) = entered(loops, &firsts)?;
                let value = index
                    .substitute(&|v| values.iter().find(|(w, _)| *w == v).map(|(_, value)| value.clone()));
                (value == *wanted).then_some(conditions)
            })
        })?;
        conditions.extend(found);
    }
    Some(conditions)
}

/// A use whose loops form a box: the range of its first index, the distance between its values, the range of its second
/// index.
struct Swept<'a> {
    loops: Vec<&'a Loop>,
    first: (Affine, Affine),
    stride: i64,
    second: (Affine, Affine),
}

/// As [`witness`], for rows of rows that no single access sweeps: for both ends of the second index, accesses that together
/// have every value of the first one.
fn swept(uses: &[Use], ranges: &[Ends]) -> Option<Vec<Expr>> {
    let first = ranges[0].single()?;
    let boxes: Vec<Swept<'_>> = uses
        .iter()
        .filter(|u| {
            let is_box = u.loops.iter().all(is_rectangular) && are_independent(&u.indices, &u.loops(), 2);
            u.is_sure() && !u.is_of_row && is_box
        })
        .filter_map(|u| {
            let (indices, loops) = (&u.indices, u.loops());
            let range = |d: usize| {
                let a = indices.get(d)?.as_affine()?;
                Some((sole_extreme(a, &loops, true)?, sole_extreme(a, &loops, false)?))
            };
            let a = indices.first()?.as_affine()?;
            let mut coefficients = loops.iter().map(|l| a.coefficient(l.id)).filter(|c| *c != 0);
            let stride = coefficients.next().unwrap_or(1).abs();
            let is_single = coefficients.next().is_none();
            let (first, second) = (range(0)?, range(1)?);
            is_single.then_some(Swept { loops, first, stride, second })
        })
        .collect();
    let mut conditions: Vec<Expr> = Vec::new();
    let ends =
        ranges[1].low.iter().map(|low| (true, low)).chain(ranges[1].high.iter().map(|high| (false, high)));
    for (is_low, wanted) in ends {
        let wanted = only(wanted)?;
        let end = |s: &&Swept<'_>| if is_low { s.second.0 == *wanted } else { s.second.1 == *wanted };
        let found = chain(&boxes.iter().filter(end).collect::<Vec<_>>(), first)?;
        for condition in found {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
    }
    Some(conditions)
}

/// What must hold for these accesses to have all values of a range of the first index.
fn chain(boxes: &[&Swept<'_>], (low, high): (&Affine, &Affine)) -> Option<Vec<Expr>> {
    // By where they begin, as far as that is a constant distance.
    let mut at: Vec<(i64, &Swept<'_>)> =
        boxes.iter().filter_map(|s| Some(((s.first.0.clone() - low.clone()).as_constant()?, *s))).collect();
    at.sort_by_key(|(distance, _)| *distance);
    let (_, first) = at.iter().find(|(distance, _)| *distance == 0)?;
    let length = first.first.1.clone() - first.first.0.clone();
    let is_alike =
        |s: &Swept<'_>| s.stride == first.stride && s.first.1.clone() - s.first.0.clone() == length;
    let mut conditions = Vec::new();
    let mut next = 0;
    for (distance, s) in at.iter().filter(|(_, s)| is_alike(s)) {
        if *distance > next {
            return None;
        }
        if *distance == next {
            conditions.extend(entered(&s.loops, &vec![true; s.loops.len()])?.0);
            next = distance + 1;
        }
        // All remainders by the stride, and up to the end.
        if next >= first.stride && s.first.1 == *high {
            return Some(conditions);
        }
    }
    None
}

fn is_rectangular(l: &Loop) -> bool {
    let bounds = [l.lower.as_affine(), l.upper.as_affine()];
    l.step.abs() == 1 && bounds.iter().all(|b| b.is_some_and(|b| b.loops().next().is_none()))
}

/// Whether no loop moves two of the first indices at once.
fn are_independent(indices: &[Expr], loops: &[&Loop], n: usize) -> bool {
    let affine: Option<Vec<&Affine>> = indices.iter().take(n).map(Expr::as_affine).collect();
    affine
        .is_some_and(|all| loops.iter().all(|l| all.iter().filter(|a| a.coefficient(l.id) != 0).count() <= 1))
}
