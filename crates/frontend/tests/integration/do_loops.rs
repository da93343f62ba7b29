//! Loops that run once before they test their condition, and loops that only `break` ends: what they become, and that programs
//! do the same with their nests written anew.

use crate::common::{replays_agree, same_output, shown};
use insta::assert_snapshot;

#[test]
fn loops_that_run_once_at_least() {
    assert_snapshot!(shown(
        "void down(int k, double *x)
{
    do {
        x[k - 1] += 1.0;
    } while (--k);
}
void up(int n, int m, double *x)
{
    int i = m;
    do {
        x[i] += 1.0;
        i += 2;
    } while (i < n);
}
void walk(int n, float *to, const float *from, float a)
{
    do
        *to++ += a * *from++;
    while (--n > 0);
}
void rows(int n, int m, double *x)
{
    for (int i = 1; i < n; i++) {
        int k = i;
        do {
            x[i * m + k] += 1.0;
        } while (--k > 0);
    }
}
void past(int n, double *x)
{
    do {
        x[n] = n;
    } while (n--);
}
"
    ));
}

#[test]
fn loops_that_only_break_ends() {
    assert_snapshot!(shown(
        "void before(int n, double *x)
{
    int i = 0;
    for (;;) {
        if (i >= n)
            break;
        x[i] *= 2;
        i++;
    }
}
void behind(int n, double *x)
{
    int i = 0;
    while (1) {
        x[i] *= 2;
        if (++i == n)
            break;
    }
}
void header(int n, double *x)
{
    for (int i = 0;; i++) {
        if (i == n || i > 100)
            break;
        x[i] *= 2;
    }
}
void step(int n, double *x)
{
    for (int i = 0; i < n;) {
        if (x[i] < 0) {
            i++;
            continue;
        }
        x[i++] *= 2;
    }
}
"
    ));
}

#[test]
fn loops_that_may_run_once_although_they_should_not_stay() {
    assert_snapshot!(shown(
        "void unknown(int n, const int *m, double *x)
{
    for (int i = 0; i < n; i++) {
        int k = m[i];
        do {
            x[k] += 1.0;
        } while (--k > 0);
    }
}
void never(double *x)
{
    int i = 5;
    do {
        x[i] = 1;
    } while (++i < 3);
}
void flag(int n, int on, double *x)
{
    int i = 0;
    do {
        x[i] = 1;
        i++;
    } while (i < n && on);
}
void skips(int n, double *x)
{
    int i = 0;
    do {
        if (x[i] > 0)
            continue;
        x[i] = 1;
        i++;
    } while (i < n);
}
void changes(int n, double *x)
{
    int i = 0;
    for (;;) {
        if (x[i] < 0)
            continue;
        x[i] = 1;
        if (++i == n)
            break;
    }
}
void steps(int n, int by, double *x)
{
    int i = 0;
    do {
        x[i] = 1;
        i += by;
    } while (i < n);
}
"
    ));
}

const PROGRAM: &str = "
static double x[500], y[500];
static int down(int k)
{
    do {
        x[k + 1] += 2 * y[k];
    } while (--k);
    return k;
}
static unsigned of_unsigned(unsigned k)
{
    do {
        y[k] += 0.5 * x[k - 1];
    } while (--k);
    return 7;
}
static int up(int n, int m)
{
    int i = m;
    do {
        x[i] += 1.5;
        i++;
    } while (i < n);
    return i;
}
static int by_three(int n)
{
    int i = 0;
    do {
        y[i] -= x[i];
    } while ((i += 3) < n);
    return i;
}
static int past(int n)
{
    do {
        x[n] += n;
    } while (n-- > 0);
    return n;
}
static void walk(int n, double *to, const double *from)
{
    do
        *to++ += 0.25 * *from++;
    while (--n > 0);
}
static void rows(int n, int m)
{
    for (int i = 1; i < n; i++) {
        int k = i;
        do {
            x[i * m + k] += y[k];
        } while (--k > 0);
    }
}
static int before(int n)
{
    int i = 0;
    for (;;) {
        if (i >= n)
            break;
        x[i] *= 0.5;
        i++;
    }
    return i;
}
static int behind(int n)
{
    int i = 0;
    while (1) {
        y[i] += 1;
        if (++i >= n)
            break;
    }
    return i;
}
static void in_header(int n)
{
    for (int i = 0;; i++) {
        if (i == n || i > 100)
            break;
        x[i] += i;
    }
}
static int steps_inside(int n)
{
    int i = 0;
    while (i < n) {
        if (x[i] < 3) {
            i++;
            continue;
        }
        x[i++] -= 3;
        y[i] += x[i - 1];
    }
    return i;
}
static int until_zero(unsigned n, double *to)
{
    while (n) {
        *to++ *= 0.5;
        n--;
    }
    return 3;
}
static int found(int n, double *at)
{
    for (int k = 0; k < n; k++) {
        int i = 0;
        while (i < n) {
            if (x[i] > k)
                break;
            i++;
        }
        at[k] = i;
    }
    return n;
}
static int jumps(int n)
{
    int i;
    for (i = 0; i < n; i++) {
        if (x[i] > 2)
            goto next;
        if (y[i] > 4) {
            x[i] += 1;
            goto next;
        }
        x[i] -= y[i];
    next:;
    }
    return i;
}
static int jumps_over(int n)
{
    int i = 0;
    while (i < n) {
        if (x[i] > 2)
            goto next;
        x[i] += 0.125;
    next:
        i++;
    }
    return i;
}
static void different(size_t n, size_t m)
{
    for (size_t i = 0; i != n; i++)
        x[i] += 2;
    for (size_t i = m; i != n; i--)
        y[i] += 2;
}
int main(int argc, char **argv)
{
    int size = atoi(argv[1]);
    double s = 0;
    for (int i = 0; i < 500; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
    }
    for (int n = 0; n <= size; n++) {
        if (n > 0)
            printf(\"%d %u \", down(n), of_unsigned(n));
        printf(\"%d %d %d %d \", up(n, n / 2), up(n / 2, n), by_three(n), past(n));
        walk(n, x + 100, y);
        rows(n, 11);
        printf(\"%d %d \", before(n), behind(n));
        in_header(n);
        printf(\"%d %d %d %d %d\\n\", until_zero(n, x), steps_inside(n), found(n, y + 200), jumps(n), jumps_over(n));
        different(n, 2 * n);
    }
    for (int i = 0; i < 500; i++)
        s += x[i] * i + y[i] * (500 - i);
    printf(\"%.17g\\n\", s);
    return 0;
}
";

#[test]
fn programs_with_loops_that_run_once_do_the_same() {
    same_output(PROGRAM, 17, &["0", "1", "2", "7", "30"]);
}

#[test]
fn their_replays_agree() {
    replays_agree(
        "void down(long n, double *x)
{
    long i = n + 1;
    do {
        x[i] = x[i] * 0.5 + i;
    } while (--i > 0);
}
void up(int n, double *x)
{
    int k;
    k = 2 * n;
    do {
        x[k] += k;
        k++;
    } while (k < 9 * n);
}
void endless(int n, double *x)
{
    int i = 3;
    for (;;) {
        if (i > n * 20)
            break;
        x[i++] += 1.5;
    }
}
int main(void)
{
    return 0;
}
",
        &["down", "up", "endless"],
    );
}
