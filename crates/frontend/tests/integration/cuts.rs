//! Loops in time that are cut where they now and then do what no nest can.

use crate::common::{read, same_output};

/// A program whose loop in time has this header, beginning, and end.
fn program(header: &str, first: &str, last: &str) -> String {
    format!(
        "static double u[20], v[20];
static int every = 3;
static void halves(double *x) {{ for (int i = 0; i < 20; i++) x[i] *= 0.5; }}
extern void far(double *x);
static void farther(double *x) {{ far(x); }}
static void note(int t, double x) {{ printf(\"%d %g\\n\", t, x); }}
static void steps(int n)
{{
    int k = 2, at = 4;
    int *changes = &at;
    {header} {{
        {first}
        for (int i = 1; i < 19; i++) v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < 19; i++) u[i] = v[i];
        {last}
    }}
    *changes += k;
}}
int main(int argc, char **argv)
{{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    every = 2 + n % 3;
    for (int i = 0; i < 20; i++) u[i] = i % 7;
    steps(n);
    for (int i = 0; i < 20; i++) printf(\"%g \", u[i]);
    return 0;
}}
"
    )
}

/// The loop over time of nests in `steps`: whether there is one.
fn is_cut(text: &str) -> bool {
    let unit = read(&format!("#include <stdio.h>\n#include <stdlib.h>\n{text}"));
    let function = unit.functions.iter().find(|f| f.name == "steps");
    let mut nests = function.into_iter().flat_map(|f| f.program.nests.values());
    let is_cut = nests.any(|nest| nest.loops().len() == 3);
    assert_eq!(is_cut, !unit.cuts.is_empty(), "{}", unit.source);
    assert!(unit.own.lines().count() == unit.source.lines().count());
    is_cut
}

const PLAIN: &str = "for (int t = 0; t < n; t++)";

#[test]
fn the_steps_between_are_nests() {
    for (header, first, last) in [
        (PLAIN, "", "if (t % 5 == 0) printf(\"%d %g\\n\", t, u[3]);"),
        (PLAIN, "", "if (t % every == 0) { note(t, u[2]); }"),
        (PLAIN, "if (!(t % k)) note(t, u[2]);", ""),
        (PLAIN, "if (t == 7) { note(t, u[2]); u[3] = 9; }", ""),
        (PLAIN, "", "if (t > 3 && t % 2 == 1) { note(t, u[5]); k++; }\n        if (t == 11) break;"),
        (
            PLAIN,
            "",
            "if (t + 1 == n)\n            note(t, u[2]);\n        if (t % every == 1) note(-t, u[3]);",
        ),
        ("for (long t = 1; t <= n; t += 3)", "", "if (t % 2 == 0) note(t, u[2]);"),
        (PLAIN, "if (t == 1) u[0] = 2;", "if (t % 3 == 0) note(t, u[2]);"),
        (PLAIN, "", "if (t % 2 == 0 &&\n            t > k) note(t, u[2]);"),
        (PLAIN, "#pragma GCC ivdep", "if (t % 3 == 2) note(t, u[2]);"),
        ("for (int t = 2; t != n + 2; t++)", "if (t & 1) note(t, u[2]);", ""),
    ] {
        let text = program(header, first, last);
        assert!(is_cut(&text), "{text}");
        same_output(&text, 2, &["0", "1", "2", "13", "64"]);
    }
}

#[test]
fn loops_stay_where_the_next_such_step_is_not_known() {
    for (header, first, last) in [
        // It depends on what the steps make.
        (PLAIN, "", "if (u[3] > t) note(t, u[3]);"),
        // The steps change what it depends on.
        (PLAIN, "k += t;", "if (t % k == 0) note(t, u[3]);"),
        // So may a call, or a pointer.
        (PLAIN, "*changes = t;", "if (t == at) note(t, u[3]);"),
        // It is in the middle.
        (PLAIN, "if (t % 3 == 0) note(t, u[3]);", "if (t % 2 == 0) note(t, u[3]);"),
        // It has another branch.
        (PLAIN, "", "if (t % 3 == 0) note(t, u[3]); else u[0] += 1;"),
        // The counter changes elsewhere.
        (PLAIN, "", "if (t % 3 == 0) { note(t, u[3]); t++; }"),
        // The steps have a way out of their own.
        (PLAIN, "if (u[4] < 0) break;", "if (t % 3 == 0) note(t, u[3]);"),
        // Nothing is in the way of a nest.
        (PLAIN, "", "if (t % 3 == 0) u[0] += 1;"),
        (PLAIN, "", "if (t == 30) break;"),
        (PLAIN, "", "if (t % 3 == 0) halves(u);"),
        // It counts down.
        ("for (int t = n; t > 0; t--)", "", "if (t % 3 == 0) note(t, u[3]);"),
        // Threads share its iterations.
        ("#pragma omp parallel for\n    for (int t = 0; t < n; t++)", "", "if (t % 3 == 0) note(t, u[3]);"),
        // So does whoever reads this.
        (
            "_Pragma(\"omp parallel for\")\n    for (int t = 0; t < n; t++)",
            "",
            "if (t % 3 == 0) note(t, u[3]);",
        ),
        // The number behind the last one may not be one of its type.
        ("for (int t = 0; t <= n; t++)", "", "if (t == n) break;"),
        ("for (unsigned t = 2; t != n + 2; t++)", "", "if (t & 1) note(t, u[2]);"),
        // Others may do anything.
        (PLAIN, "far(u);", "if (t % 3 == 0) note(t, u[3]);"),
        (PLAIN, "farther(u);", "if (t % 3 == 0) note(t, u[3]);"),
        // It uses what the steps declare.
        (PLAIN, "double x = u[2];", "if (t % 3 == 0) note(t, x);"),
    ] {
        let text = program(header, first, last);
        let unit = read(&format!("#include <stdio.h>\n#include <stdlib.h>\n{text}"));
        assert!(unit.cuts.is_empty(), "{}", unit.source);
    }
}

/// What the condition depends on is reached by other names: a variable that other files may pass, a structure that changes places.
#[test]
fn what_is_asked_stays_the_same_in_the_steps_between() {
    let of = |function: &str| {
        let source = format!(
            "#include <stdio.h>
int every = 50;
struct grid {{ int every; double *u; }};
{function}"
        );
        read(&source).cuts.len()
    };
    let body = |ty: &str, every: &str| {
        format!(
            "void run({ty} *p, int n)
{{
    for (int t = 0; t < n; t++) {{
        for (int i = 0; i < 9; i++) p[i] += t;
        if (t % {every} == 0) printf(\"%d\\n\", t);
    }}
}}
"
        )
    };
    assert_eq!(of(&body("double", "every")), 1);
    assert_eq!(of(&body("int", "every")), 0);
    assert_eq!(of(&body("int", "50")), 1);
    let swap = |swap: &str| {
        format!(
            "void run(struct grid *g, struct grid *h, int n)
{{
    struct grid *old;
    for (int t = 0; t < n; t++) {{
        for (int i = 1; i < 9; i++) h->u[i] = g->u[i - 1];
        {swap}
        if (t % g->every == 0) printf(\"%d\\n\", t);
    }}
}}
"
        )
    };
    assert_eq!(of(&swap("old = g;")), 1);
    assert_eq!(of(&swap("old = g; g = h; h = old;")), 0);
}
