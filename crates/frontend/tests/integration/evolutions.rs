//! Loops that are read because it is known what their variables hold in every iteration.

use crate::common::{read, replays_agree, same_output, shown};
use insta::assert_snapshot;

/// Each function has one nest, whose loop nobody would count by its header.
const FUNCTIONS: &str = "
static void two_steps(int n, double *x)
{
    int i = 0;
    while (i < n) {
        x[i] += 1;
        i++;
        x[i] *= 2;
        i++;
    }
}
static void in_both_branches(int n, double *x, const double *y)
{
    int i = 0;
    while (i < n) {
        if (y[i] > 2) {
            x[i] += y[i];
            i++;
        } else {
            x[i] -= 1;
            i++;
        }
    }
}
static void inside(int n, double *x)
{
    int k = 0;
    while (k < n)
        for (int j = 0; j < 4; j++) {
            x[k] += j;
            k++;
        }
}
static void pairs(int n, double *x)
{
    int i = 0, j = n - 1;
    while (i < j) {
        double t = x[i];
        x[i] = x[j];
        x[j] = t;
        i++;
        j--;
    }
}
static void before_loops(int n, int m, double *x, const double *y)
{
    int i = 0;
    while (i < n) {
        i++;
        for (int j = 0; j < m; j++)
            x[i] += y[j];
    }
}
static void by_a_variable(int n, int s, double *x)
{
    int i = 0;
    while (i < n) {
        x[i] += 1;
        i += s;
        x[i] -= 2;
    }
}
static void walks_twice(int n, double *p)
{
    double *end = p + 2 * n;
    while (p < end) {
        *p += 1;
        p++;
        *p -= 1;
        p++;
    }
}
static void goes_on(int n, double *x, const double *y)
{
    int i = 0;
    do {
        if (y[i] > 1) {
            i++;
            continue;
        }
        x[i] += y[i];
        i++;
    } while (i < n);
}
static void down(int n, double *x)
{
    int i = n;
    while (i > 1) {
        i--;
        x[i] += 3;
        i--;
        x[i] -= 1;
    }
}
static void in_header_and_body(int n, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] += 1;
        i++;
        x[i] += 2;
    }
}
static void both_rows(int n, int m, double *x, const double *y)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[k++] += y[i * m + j];
}
static void with_gaps(int n, int m, double *x, const double *y)
{
    int k = 3;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++) {
            x[k] += y[j];
            k += 2;
        }
        k += 1;
    }
}
static void by_a_product(int n, int s, int t, double *x)
{
    for (int i = 0; i < n; i += s * t)
        x[i] += 4;
}
static void down_by_a_variable(int n, int s, double *x)
{
    for (int i = n - 1; i >= 0; i -= s)
        x[i] += 5;
}
static void pointer_by_a_variable(int n, int s, double *x)
{
    for (double *p = x; p < x + n; p += s)
        *p += 6;
}
static void sizes(unsigned long n, double *x)
{
    unsigned long i = 0;
    while (i < n) {
        x[i] += 1;
        i++;
        x[i] *= 3;
        i++;
    }
}
static void two_pointers(int n, double *x)
{
    double *p, *q;
    for (p = x, q = x + n - 1; p < q; p++, q--) {
        double t = *p;
        *p = *q;
        *q = t;
    }
}
static void unrolled_by_hand(int n, double *x, const double *y)
{
    int i = 0;
    for (; i + 3 < n;) {
        x[i] += y[i];
        ++i;
        x[i] += y[i];
        ++i;
        x[i] -= y[i];
        ++i;
        x[i] += 2;
        ++i;
    }
}
static void from_both_ends(int n, double *x)
{
    int low = 0, high = n;
    while (low + 1 < high) {
        x[low] += x[high - 1];
        low += 2;
        high--;
    }
}
static void cases(int n, double *x)
{
    int i = 0;
    while (i < n) {
        switch (i & 1) {
        case 0:
            x[i] += 7;
            i++;
            break;
        default:
            x[i] -= 7;
            i++;
            break;
        }
    }
}
";

const MAIN: &str = "
int main(int argc, char **argv)
{
    int size = atoi(argv[1]);
    static double x[800], y[800];
    double s = 0;
    for (int i = 0; i < 800; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
    }
    two_steps(size, x);
    in_both_branches(size, x, y);
    inside(size, x);
    pairs(size, x);
    before_loops(size, 3, x, y);
    by_a_variable(size, 3, x);
    walks_twice(size, x);
    goes_on(size, x, y);
    down(size, x);
    in_header_and_body(size, x);
    both_rows(size, 3, x, y);
    with_gaps(size, 3, x, y);
    by_a_product(size, 2, 3, x);
    down_by_a_variable(size, 3, x);
    pointer_by_a_variable(size, 3, x);
    sizes(size, x);
    two_pointers(size, x);
    unrolled_by_hand(size, x, y);
    from_both_ends(size, x);
    cases(size, x);
    for (int i = 0; i < 800; i++)
        s += x[i] * i;
    printf(\"%.17g\\n\", s);
    return 0;
}
";

#[test]
fn loops_that_no_header_counts() {
    assert_snapshot!(shown(FUNCTIONS));
}

#[test]
fn they_do_the_same() {
    same_output(&format!("{FUNCTIONS}{MAIN}"), 20, &["0", "1", "2", "7", "40"]);
}

#[test]
fn their_replays_agree() {
    let names = [
        "two_steps",
        "in_both_branches",
        "inside",
        "pairs",
        "before_loops",
        "by_a_variable",
        "walks_twice",
        "goes_on",
        "down",
        "in_header_and_body",
        "both_rows",
        "with_gaps",
        "by_a_product",
        "down_by_a_variable",
        "pointer_by_a_variable",
        "sizes",
        "two_pointers",
        "unrolled_by_hand",
        "from_both_ends",
        "cases",
    ];
    replays_agree(&format!("{FUNCTIONS}\nint main(void)\n{{\n    return 0;\n}}\n"), &names);
}

/// Counters whose steps depend on data, or that start elsewhere in each iteration, are left alone.
#[test]
fn what_does_not_step_evenly_stays() {
    let unit = read(
        "void by_data(int n, double *x)
{
    int i = 0;
    while (i < n) {
        if (x[i] > 0)
            i++;
        i++;
    }
}
void faster(int n, double *x)
{
    int i = 0, j = 1;
    while (i < n) {
        x[i] = 0;
        i += j;
        j += 1;
    }
}
void elsewhere(int n, double *x, int *k)
{
    while (*k < n) {
        *k += 1;
        x[*k] = 1;
        *k += 1;
    }
}
void known_by_address(int n, double *x, int **k)
{
    int i = 0;
    while (i < n) {
        i++;
        *k = &i;
        i++;
    }
}
void may_miss(int n, double *x)
{
    int i = 0;
    while (i != n) {
        x[i] = 2;
        i++;
        i++;
    }
}
",
    );
    assert_eq!(unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>(), 0);
    assert_eq!(unit.diagnostics.len(), 5, "{:?}", unit.diagnostics);
}

/// Iterations that are lowered one by one have each the values of their own; ends and steps that iterations change are no
/// longer what they were before the loop.
#[test]
fn copies_of_bodies_and_changing_ends_do_the_same() {
    let program = "
static void by_parity(int n, double *x, double *y, double *out)
{
    for (int t = 0; t < n; t++) {
        double *from = t % 2 ? x : y;
        *out++ = from[t];
    }
}
static int swapped(int n, int steps, double *restrict a, double *restrict b, double *restrict log)
{
    int k = 2;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n; i++)
            b[i] = a[i - 1] * 0.5 + 1;
        log[k] = b[n - 1] + k;
        k += 3;
        double *c = a;
        a = b;
        b = c;
    }
    return k;
}
static void shrinking(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        int m;
        m = 8;
        for (double *p = a; p < a + m; p++) {
            *p += i;
            m--;
        }
    }
}
static void growing(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        int s;
        s = 1;
        for (int j = 0; j < 40; j += s) {
            a[j] += i;
            s++;
        }
    }
}
static void behind(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        for (int j = 0; j < 3; j++)
            a[k++] += 1;
        for (int j = 0; j < 2; j++)
            a[k++] -= 2;
        a[k] += 5;
    }
}
int main(int argc, char **argv)
{
    int size = atoi(argv[1]);
    static double x[400], y[400], z[400];
    double s = 0;
    for (int i = 0; i < 400; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
    }
    by_parity(size, x, y, z);
    s += swapped(12, size, x, y, z);
    shrinking(size, x);
    growing(size, y);
    behind(size, z);
    for (int i = 0; i < 400; i++)
        s += x[i] * i + y[i] * (400 - i) + z[i] * 3;
    printf(\"%.17g\\n\", s);
    return 0;
}
";
    same_output(program, 3, &["0", "1", "2", "7", "40"]);
}

/// Ends that move, pointers that step in both branches or two at once, counters that are read behind their loops, steps that
/// only the run knows.
#[test]
fn what_loops_leave_and_where_their_ends_move() {
    let program = "
static int sunk(int n, double *x)
{
    int k = 3;
    for (int i = 0; i < n; i++) {
        x[k] += i;
        k += 2;
    }
    return k;
}
static int set_behind(int n, double *x)
{
    int i = 0;
    while (i < n)
        x[i++] += 0.5;
    return i;
}
static int sunk_twice(int n, int m, double *x)
{
    int k = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[k++] += j;
    return k;
}
static int goes_on(int n, double *x)
{
    int i = 2;
    while (i < n) {
        if (x[i] > 3) {
            i += 3;
            continue;
        }
        x[i] += 1;
        i += 3;
    }
    return i;
}
static int down_by(int n, int s, double *x)
{
    int i;
    for (i = n; i > 0; i -= s)
        x[i - 1] += 2;
    return i;
}
static int once_by(int n, int s, double *x)
{
    int i = 0;
    do {
        x[i] += 4;
        i += s;
    } while (i < n);
    return i;
}
static void moving_end(int n, double *p, double *end)
{
    for (int i = 0; i < n; i++) {
        for (double *q = p; q < end; q++)
            *q += i;
        end--;
    }
}
static double *in_both_branches(double *p, double *end)
{
    while (p < end) {
        if (*p > 2) {
            *p -= 1;
            p++;
        } else {
            *p += 1.5;
            p++;
        }
    }
    return p;
}
static void every_other(int n, double *to, const double *from)
{
    for (const double *p = from; p < from + n; p += 2)
        *to++ += *p;
}
static void by_a_product(int n, int s, int t, double *x)
{
    for (double *p = x; p < x + n; p += s * t)
        *p *= 0.5;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    static double x[400], y[400], z[400];
    double s = 0;
    for (int i = 0; i < 400; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
    }
    printf(\"%d %d %d %d \", sunk(n, x), set_behind(n, y), sunk_twice(n, 3, x), goes_on(n, y));
    for (int by = 1; by < 6; by++)
        printf(\"%d %d \", down_by(n, by, x), once_by(n, by, y));
    moving_end(n / 2, x, x + n);
    printf(\"%d \", (int)(in_both_branches(y, y + n) - y));
    every_other(n, z, x);
    by_a_product(n, 2, 3, y);
    for (int i = 0; i < 400; i++)
        s += x[i] * i + y[i] * (400 - i) + z[i] * 3;
    printf(\"%.17g\\n\", s);
    return 0;
}
";
    same_output(program, 10, &["0", "1", "2", "7", "40"]);
}
