//! Checks the invariants of a binding.

use crate::{Binding, Constant, Entry, RowScan, RowTest, ScanStep, Source};
use oxeye_ir::{Checker, Expr, Form, Program, Violation};

/// Checks that a binding is one of this program:
///
/// 1. Everything that it speaks of is declared.
/// 2. A view has at most as many subscripts as its array has dimensions.
/// 3. The indices of an element that is read before a nest are affine expressions of symbols.
/// 4. Only linear arrays of unknown length have an origin, one number a dimension.
/// 5. Tests before a nest, and the ways by which pointers move, use only symbols. Rows behind pointers have a range for every
///    dimension but the one inside of structures.
/// 6. A nest has variables of a team's threads if and only if a team runs it.
///
/// # Errors
/// All violations.
pub fn verify(program: &Program, binding: &Binding) -> Result<(), Vec<Violation>> {
    let mut checker = Checker::new(program);
    for (array, origin) in &binding.origins {
        checker.array(*array);
        let is_linear = program.arrays.get(array).is_none_or(|a| {
            a.form == Form::Linear && a.shape.first() == Some(&None) && a.shape.len() == origin.len()
        });
        checker.require(is_linear, || {
            format!("{array} has an origin, but is no linear array of its dimensions")
        });
    }
    for (id, source) in &binding.sources {
        checker.var((*id).into(), &[]);
        match source {
            Source::Member(_) => {}
            Source::Distance(distance) => checker.array(distance.from),
            Source::Element(access) => {
                checker.expr(&Expr::Read(access.clone()), &[]);
                let is_plain = access.indices.iter().all(|e| e.as_affine().is_some());
                checker.require(is_plain, || format!("which element {id} is depends on memory"));
            }
        }
    }
    for (id, view) in &binding.views {
        checker.array(*id);
        let n_dims = program.arrays.get(id).map_or(0, |a| a.shape.len());
        checker.require(view.n_subscripts() <= n_dims, || {
            format!("the view of {id} has more subscripts than the array has dimensions")
        });
    }
    for (constant, array) in &binding.may_change {
        checker.array(*array);
        match constant {
            Constant::Symbol(id) => checker.var((*id).into(), &[]),
            Constant::Base(id) => checker.array(*id),
        }
    }
    for advance in binding.advances.values().flatten() {
        checker.array(advance.array);
        checker.require(advance.by.reads().is_empty(), || "a pointer moves by what memory says".into());
        checker.expr(&advance.by, &[]);
    }
    for (nest, team) in &binding.teams {
        checker
            .require(program.has_team(*nest), || format!("no team runs {nest}, whose variables are listed"));
        team.own.iter().for_each(|id| checker.array(*id));
    }
    for nest in program.nests.keys().filter(|id| program.has_team(**id)) {
        let is_known = binding.teams.contains_key(nest);
        checker
            .require(is_known, || format!("which variables the threads that run {nest} have is not known"));
    }
    for nest in program.nests.values() {
        for id in nest.bounded.iter().filter(|id| binding.reach(nest.id, **id).is_none()) {
            checker.require(false, || format!("nothing finds how far {id} is used in {}", nest.id));
        }
    }
    binding.entries.values().for_each(|entry| check_entry(&mut checker, (program, binding), entry));
    checker.finish()
}

fn check_entry(checker: &mut Checker<'_>, (program, binding): (&Program, &Binding), entry: &Entry) {
    for rows in &entry.rows {
        checker.array(rows.array);
        let n_inside = binding.views.get(&rows.array).map_or(0, |v| usize::from(v.is_rows_of_structures()));
        let n_dims = program.arrays.get(&rows.array).map_or(0, |a| a.shape.len().saturating_sub(n_inside));
        checker.require(n_dims == rows.ranges.len() && n_dims > 0, || {
            format!("the test of the rows of {} has the wrong number of dimensions", rows.array)
        });
        checker.require(rows.parts.iter().all(|part| part.len() + 1 == n_dims), || {
            format!("a part of the rows of {} has the wrong number of dimensions", rows.array)
        });
    }
    for reach in &entry.reaches {
        checker.array(reach.array);
        let is_found = entry.finds(reach.first) && entry.finds(reach.last);
        checker.require(is_found, || format!("nothing finds how far {} is used", reach.array));
    }
    for e in entry.rows.iter().flat_map(RowTest::exprs).chain(&entry.reached).chain(&entry.tests) {
        checker.require(e.reads().is_empty(), || "a test before a nest reads arrays".into());
        checker.expr(e, &[]);
    }
    entry.scans.iter().for_each(|scan| check_scan(checker, scan));
}

fn check_scan(checker: &mut Checker<'_>, scan: &RowScan) {
    checker.require(scan.n_deciding <= scan.steps.len(), || "a scan has too few steps".into());
    let mut path = Vec::new();
    let mut n_decided = 0;
    for (k, step) in scan.steps.iter().enumerate() {
        match step {
            ScanStep::Loop(l) => {
                checker.for_loop(l, &path);
                path.push(l);
            }
            ScanStep::If(condition) => checker.expr(condition, &path),
        }
        if k < scan.n_deciding {
            n_decided = path.len();
        }
    }
    for end in &scan.ends {
        checker.var(end.symbol.into(), &[]);
        checker.expr(&end.value, path.get(..n_decided).unwrap_or(&path));
    }
}
