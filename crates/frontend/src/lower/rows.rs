//! Rows behind pointers, `double **u`: which of them a nest is sure to use, so that a test before it may read their
//! addresses.

use super::blocks::used_rows;
use super::entered::entered;
use super::hull::{Ends, hull, only};
use super::lowerer::{Lowerer, State};
use super::row_scans::scanned;
use super::uses::{Use, uses};
use crate::ast::{Range, VarId};
use crate::refusal::{Lowered, Refusal};
use oxeye_binding::{Binding, RowForm, RowScan, RowTest};
use oxeye_ir::{Expr, Nest, Program, ScalarType, SymId};

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
pub(crate) fn row_tests(state: &mut State, nest: &Nest, at: Range) -> Lowered<Rows> {
    let State { program, rows, .. } = state;
    let mut found = Rows::default();
    for (array, n_levels) in rows.iter().filter(|(id, _)| nest.arrays().contains(id)) {
        let uses = uses(program, nest, *array, n_levels - 1);
        let all: Vec<&Use> = uses.iter().collect();
        let ends: Option<Vec<Ends>> = (0..*n_levels).map(|d| hull(&all, d)).collect();
        let sure = ends.and_then(|ends| {
            let (parts, conditions) = match n_levels {
                2 => (Vec::new(), witness(&uses, &ends)?),
                _ => used_rows(&uses, &ends).map(|used| (used.parts, used.conditions))?,
            };
            let ranges = ends.into_iter().map(Ends::ranges).collect::<Option<_>>()?;
            Some((RowTest { array: *array, form: RowForm::Even, ranges, parts, used: None }, conditions))
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
pub(crate) fn renew_scans(program: &mut Program, binding: &mut Binding) {
    let with_scans = binding.entries.iter().filter(|(_, entry)| !entry.scans.is_empty());
    for id in with_scans.map(|(id, _)| *id).collect::<Vec<_>>() {
        let (Some(nest), Some(mut entry)) = (program.nests.get(&id).cloned(), binding.entry(id).cloned())
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
        binding.entries.insert(id, entry);
    }
}

/// Conditions under which the first and the last rows are surely used.
fn witness(uses: &[Use], ranges: &[Ends]) -> Option<Vec<Expr>> {
    let mut conditions = Vec::new();
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
