//! Small loops, and the printed evolutions of their variables.

use super::recur::with_heads;
use super::*;
use crate::ast::{File, For, Range, Stmt, StmtKind};
use crate::convert;
use crate::preprocess::preprocess_plain;
use insta::assert_snapshot;
use std::fmt::Write;

fn parsed(source: &str) -> File {
    let path = std::path::Path::new("t.c");
    let preprocessed = preprocess_plain(path, source, "cc", &[]).expect("a preprocessor");
    convert::parse(&preprocessed).expect("C")
}

/// The outermost loops of a file.
fn outermost<'f>(s: &'f Stmt, found: &mut Vec<&'f For>) {
    match &s.kind {
        StmtKind::For(f) => found.push(f),
        _ => s.children().into_iter().for_each(|s| outermost(s, found)),
    }
}

/// What the variables of all loops hold, from outer loops to inner ones.
fn shown(source: &str) -> String {
    let file = parsed(source);
    let mut out = String::new();
    for function in &file.functions {
        let mut loops = Vec::new();
        outermost(&function.body, &mut loops);
        for f in loops {
            let Some((evaluator, _)) = Evaluator::of(&file, f) else {
                out += "not followed\n";
                continue;
            };
            let mut all: Vec<&Evolutions> = evaluator.inner.iter().collect();
            all.sort_by_key(|found| found.level);
            for found in &all {
                one(&evaluator, &all, found, &mut out);
            }
        }
    }
    out
}

fn one(evaluator: &Evaluator<'_>, all: &[&Evolutions], found: &Evolutions, out: &mut String) {
    let print = |value: &Evolution| {
        let around = all.iter().filter(|l| l.level < found.level).rev();
        let value =
            around.fold(value.clone(), |value, l| with_heads(&value, l.level, &l.heads, Range::default()));
        evaluator.printed(&value).to_string()
    };
    let times = match (&found.trips, found.trips.times()) {
        (_, Some(times)) => print(&times),
        (Trips::Covers { distance, by }, None) => format!("ceil(({}) / {by})", print(distance)),
        (Trips::By { distance, by }, None) => {
            format!("ceil(({}) / ({}))", print(distance), print(&Evolution::Sum(by.clone())))
        }
        (Trips::Unknown(stop), None) => format!("? ({})", stop.why),
    };
    let indent = "  ".repeat(usize::try_from(found.level.min(8)).unwrap_or(0));
    _ = writeln!(out, "{indent}<{}> runs {times}", found.level);
    for (var, head) in &found.heads {
        let name = &evaluator.file.var(*var).name;
        _ = write!(out, "{indent}  {name} = {}", print(head));
        let exit = &found.exits[var];
        _ = match exit.is_unknown() {
            true => writeln!(out),
            false => writeln!(out, ", then {}", print(exit)),
        };
    }
}

#[test]
fn counters() {
    assert_snapshot!(shown(
        "void f(int n, int m, unsigned u, double *x)
{
    for (int i = 0; i < n; i++) x[i] = 0;
    for (int i = n; i >= m; i -= 3) x[i] = 0;
    for (unsigned i = u; i > 0; i--) x[i] = 0;
    for (unsigned i = u; i > 0; i -= 2) x[i] = 0;
    for (int i = 0; i < n; i += 2 * m) x[i] = 0;
    for (int i = 0; i != n; i++) x[i] = 0;
    for (int i = 0; i != n; i += 2) x[i] = 0;
    for (int i = 0; i < 10; i += 4) x[i] = 0;
    for (int i = 1; i < n; i *= 2) x[i] = 0;
    for (int i = 0; 3 * i + m < n; i++) x[i] = 0;
}
"
    ));
}

#[test]
fn what_steps_beside_the_counter() {
    assert_snapshot!(shown(
        "void f(int n, int m, double *x, double *p)
{
    int k = 0, t0, s = 1;
    for (int i = 0; i < n; i++) { x[k] = 0; k += 3; p += m; }
    for (int i = 0; i < n; i++) { if (x[i] > 0) { x[k] = 1; k++; } else { k += 1; } }
    for (int i = 0; i < n; i++) { if (x[i] > 0) k++; }
    for (int i = 0; i < n; i++) { if (i < m) k++; else k += 2; }
    for (int i = 0; i < n; i++) { if (x[i] > 0) { k++; continue; } x[i] = 1; k++; }
    for (int t = 0, t1 = 0; t < n; t++, t1 = t % 2) x[t1] = t;
    for (int t = 0, t1 = 1; t < n; t++, t1 = t % 2) x[t1] = t;
    for (int t = 0; t < n; t++) { s *= m; x[s] = 0; }
    for (int t = 0; t < n; t++) { k += t; x[k] = 0; }
    for (int t = 0; t < n; t++) { t0 = k; k = s; s = t0; x[k] = 0; }
}
"
    ));
}

#[test]
fn loops_in_loops() {
    assert_snapshot!(shown(
        "void f(int n, int m, int gap, double *x, double *p)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) x[k++] = *p++;
        p += gap;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) k++;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < n; l += 1) *p++ = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) { if (x[j] > 1) break; k++; }
}
"
    ));
}

#[test]
fn conditions_on_several_variables() {
    assert_snapshot!(shown(
        "void f(int n, int m, double *x, double *p, double *q)
{
    int i, j;
    for (i = 0, j = n - 1; i < j; i++, j--) x[i] = x[j];
    for (i = 0, j = m; i + j < n; i++, j += 2) x[i] = x[j];
    for (i = 0; p < q; i++) { *p++ = *--q; }
    for (i = 0; i < x[0]; i++) x[i + 1] = 0;
    for (i = 0; n; n--) x[n] = i;
}
"
    ));
}
