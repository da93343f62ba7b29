//! Which functions of the file a replay of a nest leaves out.

use crate::common::{read, replays_agree, site_of};
use oxeye_codegen::replay_unit;

/// The names of the functions whose bodies are left out of a replay of the only nest of `work`.
fn left_out(source: &str) -> Vec<String> {
    let unit = read(source);
    let work = unit.functions.iter().find(|f| f.name == "work").expect("a function with a nest");
    let [nest] = work.program.nests.values().collect::<Vec<_>>()[..] else { panic!("one nest") };
    let name_before = |at: usize| {
        let header =
            unit.source[..at].rsplit(['}', ';', '\n']).find(|part| part.contains('(')).expect("a header");
        header.split('(').next().and_then(|h| h.split([' ', '*']).next_back()).expect("a name").to_owned()
    };
    work.never_called[&nest.id].iter().map(|body| name_before(body.whole.start)).collect()
}

/// `work`, whose nest calls `used`.
const WORK: &str = "
void work(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = used(x[i]);
}
";

#[test]
fn what_the_nest_calls_stays() {
    let source = format!(
        "static double deeper(double v) {{ return 2.0 * v; }}
static double used(double v) {{ return deeper(v) + 1.0; }}
static double other(double v) {{ return used(v); }}
{WORK}
int main(void) {{ double x[3] = {{1, 2, 3}}; work(3, x); return (int)other(x[0]); }}
"
    );
    assert_eq!(left_out(&source), ["other", "work", "main"]);
}

#[test]
fn what_others_may_call_stays() {
    let source = format!(
        "static double used(double v) {{ return v; }}
static double in_table(double v) {{ return v; }}
static double other(double v) {{ return v; }}
static double (*table[2])(double) = {{ in_table, 0 }};
static double by_macro(double v) {{ return v; }}
#define ONE by_macro
static double (*one)(double) = ONE;
double declared(double v);
double declared(double v) {{ return v; }}
{WORK}"
    );
    assert_eq!(left_out(&source), ["other", "declared", "work"]);
    for attribute in ["constructor", "__destructor__"] {
        let source = format!(
            "__attribute__(({attribute})) static void by_itself(void) {{ }}
static double used(double v) {{ return v; }}
{WORK}"
        );
        assert_eq!(left_out(&source), [""; 0]);
    }
}

#[test]
fn members_of_the_same_name_are_no_calls() {
    let source = format!(
        "static double used(double v) {{ return v; }}
static double smooth(double v) {{ return v; }}
static double apply(double v) {{ return v; }}
static double inside(double v) {{ return v; }}
struct timers {{ double smooth, apply; double (*inside)(double); }};
static struct {{ union {{ double smooth; long residual; }} of; }} all;
static struct timers table = {{ .inside = inside }};
static struct times {{ double smooth, apply; }} times;
{}",
        WORK.replace("used(x[i])", "used(x[i] + times.smooth + (&times)->apply)")
    );
    assert_eq!(left_out(&source), ["smooth", "apply", "work"]);
}

#[test]
fn calls_are_seen_behind_macros() {
    let source = format!(
        "static double really(double v) {{ return v; }}
static double other(double v) {{ return v; }}
#define used(v) really(v)
{WORK}"
    );
    assert_eq!(left_out(&source), ["other", "work"]);
}

#[test]
fn bodies_with_directives_and_old_headers() {
    let source = format!(
        "static double used(double v) {{ return v; }}
static double conditional(double v) {{
#define LATER 2
    return v;
}}
static double old(a, b) double a; int b; {{
    return a * b;
}}
static double with_pragma(int n, double *v) {{
#pragma GCC ivdep
    for (int i = 0; i < n; i++) v[i] = 0;
    return 0;
}}
static double either(double v) {{
#if LATER > 1
    if (v > 1) {{
#else
    {{
#endif
        return v;
    }}
    return LATER;
}}
static double included(double v) {{
#include <float.h>
    return v;
}}
static double made(double v)
#if 1
{{
#else
{{ return 1;
#endif
    return v + LATER;
}}
{WORK}"
    );
    assert_eq!(left_out(&source), ["conditional", "old", "with_pragma", "either", "work"]);
    replays_agree(&source, &["work"]);
}

#[test]
fn lines_stay_where_they_are() {
    let source = format!(
        "static double used(double v) {{\n\n    return v;\n}}\nint last(void)\n{{\n\n    return __LINE__;\n}}\n{WORK}"
    );
    let unit = read(&source);
    let work = &unit.functions[0];
    let nest = &work.program.nests.values().next().expect("a nest");
    let text = replay_unit(&unit.source, &site_of(work, nest), "for (;;) break;");
    let last = text.lines().position(|line| line == "int last(void)").expect("the header");
    let rest: Vec<&str> = text.lines().skip(last + 1).take(4).collect();
    assert_eq!(rest, ["{ __builtin_trap(); ", "", "", "}"]);
}

#[test]
fn replays_agree_without_the_rest() {
    let source = format!(
        "static double deeper(double v) {{ return 2.0 * v; }}
static double used(double v) {{ return deeper(v) + 1.0; }}
static double other(double v) {{ return used(v); }}
{WORK}"
    );
    replays_agree(&source, &["work"]);
}
