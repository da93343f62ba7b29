//! Loops that go on until something is reached, in loops that threads share.

use crate::pencils::{agree, parallel, replayed};
use oxeye_tests::Playground;
use serde_json::json;

const PROGRAM: &str = r#"#include <stdio.h>
#ifndef N
#define N 40
#endif
static double a[N + 1], r[N + 1], grid[4 * N];
static int at[N + 1], steps[N + 1];
static int below(double q)
{
    int lo = 0, hi = 4 * N - 1;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (grid[mid] > q)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}
static int first_above(double q)
{
    int k = 0;
    while (grid[k] <= q) {
        k += k % 2 + 2;
        if (k >= 4 * N)
            return -1;
    }
    return k;
}
static int class_of(double q)
{
    for (int k = 0; k < 4 * N; k++) {
        if (grid[k] > 1.2 * q)
            break;
        if (grid[k] + k > 9.5)
            return 2;
    }
    return q > 4 ? 3 : 5;
}
static void look_up(void)
{
    for (int i = 0; i < N; i++)
        at[i] = below(a[i]) + 1000 * first_above(a[i]) + 100000 * class_of(a[i]);
}
static void roots(int n)
{
    int times;
    double x, next;
    for (int i = 0; i < n; i++) {
        x = a[i];
        times = 0;
        do {
            next = 0.5 * (x + a[i] / x);
            if (next == x)
                break;
            x = next;
        } while (++times < 30);
        r[i] = x;
    }
}
static void collatz(int n)
{
    for (int i = 0; i < n; i++) {
        int k = i + 1;
        while (k != 1) {
            k = k % 2 ? 3 * k + 1 : k / 2;
            steps[i]++;
        }
    }
}
static void skipped(int n)
{
    for (int i = 0; i < n; i++) {
        int k = 0, turns = 0;
        do {
            k = 1;
            turns++;
            if ((i + turns) % 3)
                continue;
            k = 2;
            steps[i] += 100;
        } while (k < 2 && turns < 9);
        for (int j = 0; j < 5; j++, at[i] += k) {
            k = 3;
            if ((i + j) % 2)
                continue;
            k = 4;
        }
    }
}
static void wrap(int n, double box)
{
    for (int i = 0; i < n; i++) {
        while (a[i] > 0.5 * box)
            a[i] -= box;
        for (; a[i] < -0.5 * box; a[i] += box)
            ;
    }
}
int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = 1.5 + i * 0.25;
    for (int k = 0; k < 4 * N; k++)
        grid[k] = 0.07 * k;
    look_up();
    roots(N);
    collatz(N);
    skipped(N);
    wrap(N, 3.0);
    for (int i = 0; i < N; i++)
        printf("%.17g %.17g %d %d\n", a[i], r[i], at[i], steps[i]);
    return 0;
}
"#;

#[test]
fn loops_around_loops_that_nobody_can_count_are_shared() {
    let playground = Playground::with("prog.c", PROGRAM);
    let functions = ["look_up", "roots", "collatz", "skipped", "wrap"];
    let nests = functions.map(|name| (name, json!([parallel(0)])));
    let tuned = replayed(&playground, &nests, &["-O2"]).expect("replays");
    assert_eq!(tuned.matches("#pragma omp parallel for").count(), functions.len(), "{tuned}");
    for line in ["while (hi - lo > 1)", "while (k != 1)", "for (;;) {"] {
        assert!(tuned.contains(line), "{line} is not in\n{tuned}");
    }
    agree(&playground, "");
}

/// What the loop carries from one outer iteration to the next, nobody may share.
#[test]
fn loops_that_hand_on_where_they_stopped_are_not_shared() {
    let program =
        PROGRAM.replace("int lo = 0, hi", "static int lo; int hi").replace("        times = 0;\n", "");
    let playground = Playground::with("prog.c", &program);
    for name in ["look_up", "roots"] {
        let refused = replayed(&playground, &[(name, json!([parallel(0)]))], &["-O2"]);
        assert!(refused.is_err(), "{name}: {}", refused.unwrap_or_default());
    }
}
