//! Static variables that are scratch: each run of a nest sets them before it reads them, and nobody reads them behind it.

use crate::common::read;
use oxeye_ir::Storage;

/// Whether `q` is scratch in a program with a nest that sweeps it, where this stands before `main`, before its nest, and behind it.
fn is_scratch(before: &str, first: &str, last: &str) -> bool {
    let source = format!(
        "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double q[100];
static double u[30][100], w[30][100];
{before}
int main(int argc, char **argv)
{{
    {first}
    for (int j = 0; j < 30; j++) {{
        for (int i = 0; i < 100; i++)
            q[i] = u[j][i];
        for (int i = 1; i < 100; i++)
            w[j][i] = q[i] - q[i - 1];
    }}
    {last}
    return 0;
}}
"
    );
    let unit = read(&source);
    let function = unit.functions.iter().find(|f| f.name == "main").expect("has a nest");
    let nest = function.program.nests.values().next().expect("a nest");
    let array = function.program.arrays.values().find(|a| a.name == "q").expect("is used");
    assert!(nest.arrays().contains(&array.id));
    array.storage == Storage::Local && !nest.live_out.contains(&array.id)
}

#[test]
fn what_nobody_reads_behind_a_nest_is_scratch() {
    assert!(is_scratch("", "", ""));
    assert!(is_scratch("static void other(void) { printf(\"%g\\n\", w[3][3]); }", "", "other();"));
}

#[test]
fn what_others_may_read_is_not() {
    const REPORT: &str = "static void report(void) { printf(\"%g\\n\", q[3]); }\n";
    let with = |more: &str| format!("{REPORT}{more}");
    for (before, first, last) in [
        (String::new(), "", "printf(\"%g\\n\", q[5]);"),
        (with(""), "", "report();"),
        (with(""), "atexit(report);", ""),
        // In structures of functions.
        (
            with("static const struct ops { void (*report)(void); } o = { .report = report };"),
            "",
            "o.report();",
        ),
        (
            with("struct ops { void (*report)(void); };"),
            "struct ops o = { .report = report };",
            "o.report();",
        ),
        (with("static void (*const all[])(void) = { [2] = report };"), "", "all[2]();"),
        // By nobody that is seen.
        (
            "__attribute__((destructor)) static void fini(void) { printf(\"%g\\n\", q[3]); }".to_owned(),
            "",
            "",
        ),
        // Under the name that a block gives it again.
        ("void shows(void) { extern double q[100]; printf(\"%g\\n\", q[3]); }".to_owned(), "", "shows();"),
        // Through what a function of the library returns.
        (String::new(), "double *p = memset(q, 0, sizeof q);", "printf(\"%g\\n\", p[5]);"),
    ] {
        assert!(!is_scratch(&before, first, last), "{before}\n{first}\n{last}");
    }
}

/// A local array whose address a function of the library gives back.
#[test]
fn what_the_library_returns_leads_to_its_argument() {
    let unit = read(
        "#include <stdio.h>
#include <string.h>
void f(int m, double u[][100], double w[][100])
{
    double q[100], *p = memset(q, 0, sizeof q);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < 100; i++)
            q[i] = u[j][i];
        for (int i = 1; i < 100; i++)
            w[j][i] = q[i] - q[i - 1];
    }
    printf(\"%g\\n\", p[5]);
}
void g(int m, double u[][100], double w[][100])
{
    double q[100];
    memset(q, 0, sizeof q);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < 100; i++)
            q[i] = u[j][i];
        for (int i = 1; i < 100; i++)
            w[j][i] = q[i] - q[i - 1];
    }
}
",
    );
    let is_live: Vec<bool> = unit
        .functions
        .iter()
        .map(|f| {
            let array = f.program.arrays.values().find(|a| a.name == "q").expect("is used");
            f.program.nests.values().any(|nest| nest.live_out.contains(&array.id))
        })
        .collect();
    assert_eq!(is_live, [true, false]);
}

/// The source runs a `do` loop once in any case, the nest as it was read only where its condition holds.
#[test]
fn loops_that_run_once_in_any_case_read_more() {
    let unit = read(
        "static double q[100], u[30][100], w[30][100];
void f(int n)
{
    for (int j = 0; j < 30; j++) {
        for (int i = 0; i < n; i++)
            q[i] = u[j][i];
        int i = 0;
        do
            w[j][i] = 2 * q[i];
        while (++i < n);
    }
}
",
    );
    let arrays = unit.functions.iter().flat_map(|f| f.program.arrays.values());
    assert!(arrays.filter(|a| a.name == "q").all(|a| a.storage == Storage::Global));
}

/// A function that is called through a structure is called with what nobody knows.
#[test]
fn functions_in_structures_are_called_by_others() {
    let shown = crate::common::shown(
        "struct ops { void (*run)(double *, double *, int); };
static void k(double *a, double *b, int n) { for (int i = 0; i < n; i++) a[i] = 2 * b[i]; }
static const struct ops o = { .run = k };
static double x[10], y[10], z[11];
int main(void)
{
    k(x, y, 10);
    o.run(z + 1, z, 10);
    return 0;
}
",
    );
    assert!(shown.contains("may_alias"), "{shown}");
}
