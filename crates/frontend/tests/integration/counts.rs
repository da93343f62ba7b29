//! Loops that count in other ways than `for (i = first; i < n; i++)`.

use crate::common::{read, replays_agree, same_output};

const PROGRAM: &str = "
static double x[400], y[400], z[400];
static int down(int n)
{
    while (n--)
        x[n] += 2 * y[n];
    return n;
}
static unsigned unsigned_down(unsigned n)
{
    while ((n--))
        y[n] += 0.5 * x[n];
    return 1;
}
static int by_hand(int n, int k)
{
    while (k < n) {
        z[k] += x[k] - y[k];
        k++;
    }
    return k;
}
static int before(int n)
{
    int m;
    while (--n > 0)
        z[n] += 1;
    for (m = 0; m++ < n + 5;)
        x[m] *= 1.5;
    return m * 1000 + n;
}
static int goes_on(int n, int m)
{
    int i;
    for (i = 0; i < m; i++)
        x[i] += 1;
    for (; i < n; i++)
        x[i] -= 1;
    return i;
}
static void rest(int n, int m)
{
    int j;
    for (int i = 0; i < n; i++) {
        for (j = 0; j < i; j++)
            z[i] += y[j];
        for (; j < m; j++)
            z[i] -= y[j];
    }
}
static double *walk(int h, int w, int gap, double *to, const double *from)
{
    int u, v;
    for (u = h; u--; to += gap)
        for (v = w; v--;)
            *to++ += *from++;
    return to;
}
static void skips(int n, double step, double *to)
{
    int i;
    double d = 0.5;
    for (i = 0; i < n; i++, to++, d += step) {
        if (d * d > 9)
            continue;
        *to += d;
    }
}
static double inside_parentheses(int n, const double *from)
{
    double s = 0;
    int k = 0;
    for (int i = 0; i < n; i++)
        s += from[(k++)] * i;
    return s;
}
int main(int argc, char **argv)
{
    int size = atoi(argv[1]);
    double s = 0;
    for (int i = 0; i < 400; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
        z[i] = i % 3;
    }
    for (int n = 0; n <= size; n++) {
        printf(\"%d %u %d %d \", down(n), unsigned_down(n), by_hand(n, n / 3), by_hand(n / 3, n));
        printf(\"%d %d \", before(n), goes_on(n, n / 2));
        rest(n, n / 2);
        skips(n, 0.25, y);
        double *end = walk(n, 3, 2, x, y);
        printf(\"%d %.17g\\n\", (int)(end - x), inside_parentheses(n, y));
    }
    for (int i = 0; i < 400; i++)
        s += x[i] * i + y[i] * (400 - i) + z[i];
    printf(\"%.17g\\n\", s);
    return 0;
}
";

#[test]
fn they_are_read_and_give_the_same_results() {
    same_output(PROGRAM, 11, &["0", "1", "2", "7", "40"]);
}

#[test]
fn counters_of_replays_begin_where_they_do() {
    let program = "
void down(long n, double *x)
{
    long i = n + 1;
    while (i-- > 0)
        x[i] = x[i] * 0.5 + i;
}
void up(int n, double *x)
{
    int k;
    k = 2 * n;
    while (k < 9 * n) {
        x[k] += k;
        k++;
    }
}
void fixed(double *x)
{
    const long length = 40;
    long i = length;
    while (i-- > 0)
        x[i] = x[i] * 0.5 + i;
}
int main(void)
{
    return 0;
}
";
    replays_agree(program, &["down", "up", "fixed"]);
}

#[test]
fn what_does_not_count_stays() {
    let unit = read(
        "void f(int n, unsigned m, double *x, int *k)
{
    while (n-- > 3)
        x[n] = 0;
    while (--m)
        x[m] = 0;
    while (n--)
        if (x[n] > 0)
            n = 3;
    while ((*k)--)
        x[*k] = 1;
    while (n--) {
        x[n] = 2;
        k = &n;
    }
    while (n < 9) {
        if (x[n] > 0)
            continue;
        n++;
    }
}
",
    );
    assert_eq!(
        unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>(),
        0,
        "{}",
        crate::common::show(&unit)
    );
    let messages: Vec<_> = unit.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
}

/// A second condition that the body decides leaves the loop: the loops around it are read.
#[test]
fn conditions_that_the_body_decides() {
    let unit = crate::common::read(
        "void julia(int *out, int w, int h, int most)
{
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++) {
            double x = px * 3.5 / w - 2.5, y = py * 2.0 / h - 1.0, t;
            int k;
            for (k = 0; k < most && x * x + y * y <= 4.0; k++) {
                t = x * x - y * y - 0.7;
                y = 2 * x * y + 0.27;
                x = t;
            }
            out[py * w + px] = k;
        }
}
void escape(int *out, int w, int most)
{
    for (int px = 0; px < w; px++) {
        double x = px * 1.5 / w, y = 0;
        int k = 0;
        while (x * x + y * y < 4.0 && k < most) {
            double t = x * x - y * y - 0.7;
            y = 2 * x * y + 0.27;
            x = t;
            k++;
        }
        out[px] = k;
    }
}
void guarded(const int *lengths, int *out, int w, int left)
{
    for (int px = 0; px < w; px++) {
        int k;
        for (k = 0; left > 0 && k < lengths[0]; k++)
            left -= out[k];
        out[px] = k;
    }
}
void search(const int *a, int n, int key, int *at)
{
    int i;
    for (i = 0; i < n && a[i] != key; i++)
        ;
    *at = i;
}
",
    );
    let depths = |name: &str| {
        let function = unit.functions.iter().find(|f| f.name == name);
        function.into_iter().flat_map(|f| f.program.nests.values()).map(|n| n.loops().len()).max()
    };
    assert_eq!((depths("julia"), depths("escape")), (Some(3), Some(2)), "{}", crate::common::show(&unit));
    // What the first condition guards is not read before it.
    assert_eq!(depths("guarded"), None, "{}", crate::common::show(&unit));
}
