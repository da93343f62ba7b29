//! `switch` inside of loops, and `continue` in branches.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const READ: &str = "
enum { EAST, NORTH = 5, WEST };
static void mixed(int n, const signed char *k, double *x)
{
    for (int i = 0; i < n; i++) {
        double r = 1;
        switch ((int)k[i]) {
        case -1: r = 2; break;
        default: r = x[i] + 1;
                 break;
        case NORTH: case WEST: { r = 3; break; }
        case 'a': continue;
        }
        x[i] *= r;
    }
}
static void others_continue(int n, const unsigned char *k, double *x)
{
    for (int i = 0; i < n; i++) {
        switch (k[i] & 3) {
        case EAST:
            x[i] += 1;
            break;
        case 1:
            switch (i % 3) {
            case 0: x[i] = 5; break;
            case 1: x[i] = 6;
            }
            break;
        default:
            x[i] = -x[i];
            continue;
        }
        x[i] *= 2;
    }
}
static void computed(int n, double *x)
{
    for (int i = 0; i < n; i++)
        switch ((unsigned)(x[i] * 4)) {
        case 3: x[i] = 3; break;
        case 2u: x[i] += 0.125; break;
        case 1: x[i] = 7; x[i] -= x[i] > 5 ? 2 : 1;
        }
}
static void chained(int n, const signed char *k, double *x)
{
    for (int i = 0; i < n; i++) {
        if (k[i] == 3) {
            x[i] = 2;
            continue;
        } else if (k[i] == 4)
            x[i] = 7;
        else {
            x[i] += 8;
            if (i % 2)
                x[i] += 1;
            continue;
        }
        x[i] *= 2;
    }
}
static void chained_twice(int n, const signed char *k, double *x)
{
    for (int i = 0; i < n; i++) {
        if (k[i] < 3)
            x[i] += 7;
        else {
            x[i] += 8;
            continue;
        }
        if (x[i] > 9)
            continue;
        x[i] *= 2;
    }
}
static double weight(int kind, double x)
{
    switch (kind) {
    case 0: return x;
    case 1: case 2: return -x;
    default: return 0.5 * x;
    }
}
static void called(int n, const signed char *k, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = weight((int)k[i] / 2, x[i]);
}
";

#[test]
fn cases_as_conditions() {
    assert_snapshot!(shown(READ));
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    signed char *k = malloc(n + 1);
    double *x = malloc((n + 1) * sizeof *x);
    for (int i = 0; i < n; i++) {
        k[i] = i % 9 == 7 ? 'a' : i % 9 - 1;
        x[i] = i % 7 * 0.25;
    }
    mixed(n, k, x);
    others_continue(n, (unsigned char *)k, x);
    chained(n, k, x);
    chained_twice(n, k, x);
    called(n, k, x);
    for (int i = 0; i < n; i++)
        x[i] = x[i] > 0 && x[i] < 90 ? x[i] / 16 : 0.3;
    computed(n, x);
    for (int i = 0; i < n; i++)
        printf(\"%.17g\\n\", x[i]);
    printf(\"%d\\n\", argc);
    free(k);
    free(x);
    return 0;
}
";
    same_output(&format!("{READ}{main}"), 6, SIZES);
}

#[test]
fn cases_that_stay() {
    let bodies = [
        "case 1: x[i] = 1; case 2: x[i] += 1; break;",
        "case 1 ... 3: x[i] = 1; break; case 4: x[i] += 1; break;",
        "case 1:; int t = 3; x[i] = t; break; case 4: t = 5; x[i] += t; break;",
        "case 1: if (x[i] > 2) { case 2: x[i] = 1; } break; case 4: x[i] += 1; break;",
        "case 1: if (x[i] > 2) break; x[i] = 3; break; case 4: x[i] += 1; break;",
        "case 1: if (x[i] > 2) continue; x[i] = 3; break; case 4: x[i] += 1; break;",
        "case 4294967297: x[i] = 3; break; case 4: x[i] += 1; break;",
        "int t; case 4: t = 5; x[i] += t; break;",
        "case 1: do { x[i] += 1; case 3: x[i] += 2; } while (x[i] < 9);",
        "case 1: x[i] += 1; break; there: case 3: x[i] += 2;",
    ];
    let mut text = String::new();
    for body in bodies {
        let function = format!(
            "void f(int n, int *k, double *x) {{ for (int i = 0; i < n; i++) switch (k[i]) {{ {body} }} }}"
        );
        text += &format!("{body}\n{}\n", shown(&function));
    }
    assert_snapshot!(text);
}
