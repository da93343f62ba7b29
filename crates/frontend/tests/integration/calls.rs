//! Inlined functions of the file: how they are lowered, and that programs give the same results with their nests
//! rendered.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

/// Small blocks at each point of a grid, and a function that reads a file-scope table filled by the program.
const BLOCKS: &str = "
#define M 70
static double a[M][M][3][3], r[M][M][3], table[3][4], scale;
static int side;
static void product(double block[3][3], double from[3], double to[3])
{
    int i;
    for (i = 0; i < 3; i++)
        to[i] = to[i] - block[i][0] * from[0] - block[i][1] * from[1] - block[i][2] * from[2];
}
static void invert(double block[3][3], double to[3])
{
    double pivot, c;
    pivot = 1.0 / block[0][0];
    block[0][1] = block[0][1] * pivot;
    to[0] = to[0] * pivot;
    c = block[1][0];
    block[1][1] = block[1][1] - c * block[0][1];
    to[1] = to[1] - c * to[0];
}
static void exact(double x, double y, double value[3])
{
    int m;
    for (m = 0; m < 3; m++)
        value[m] = table[m][0] + x * (table[m][1] + scale * x) + y * (table[m][2] + y * table[m][3]);
}
static void fill(int n)
{
    double here[3];
    int i, j, m;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            exact(0.5 * i, 0.25 * j, here);
            for (m = 0; m < 3; m++)
                r[i][j][m] = here[m];
        }
}
static void sweep(int n)
{
    int i, j;
    for (i = 1; i < n; i++)
        for (j = 1; j < n; j++) {
            product(a[i][j], r[i - 1][j], r[i][j]);
            invert(a[i][j], r[i][j]);
        }
}
static void smooth(void)
{
    int i, j;
    for (i = 1; i < side; i++)
        for (j = 1; j < side; j++)
            r[i][j][0] += 0.5 * r[i - 1][j][1];
}
static void steps(int n)
{
    int t;
    for (t = 0; t < n; t++)
        smooth();
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, j, k;
    side = n;
    scale = 0.125 * argc;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 4; j++)
            table[i][j] = 1.0 / (1 + i + j);
    for (i = 0; i < M; i++)
        for (j = 0; j < M; j++)
            for (k = 0; k < 9; k++)
                a[i][j][k / 3][k % 3] = 2.0 + (i + 2 * j + 3 * k) % 7;
    fill(n);
    sweep(n);
    steps(3);
    for (i = 0; i < n; i++)
        printf(\"%.17g %.17g\\n\", r[i][n - 1][0], r[i][i / 2][2]);
    printf(\"%d\\n\", n);
    return 0;
}
";

#[test]
fn blocks_and_file_scope_tables() {
    same_output(BLOCKS, 6, SIZES);
}

#[test]
fn what_functions_name_themselves() {
    let unit = crate::common::read(BLOCKS);
    let named = |function: &str| {
        let function = unit.functions.iter().find(|f| f.name == function).expect("is there");
        function.own_texts.values().flat_map(|n| n.by_calls.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named("fill"), ["table", "scale"]);
    assert_eq!(named("sweep"), [] as [&str; 0]);
    assert_eq!(named("steps"), ["r", "side"]);
}

/// Functions that return from several places, with loops of their own, with unused parameters.
const VALUES: &str = "
static double dot(int n, const double *x, const double *y)
{
    double s = 0;
    int i;
    for (i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}
static double least(int n, const double *x, int channels)
{
    double m;
    int i;
    if (n <= 0)
        return -1.0;
    m = x[0];
    for (i = 1; i < n; i++)
        if (x[i] < m)
            m = x[i];
    return m;
}
static void mark(double *x, int k, float weight)
{
    if (k % 3 == 0)
        return;
    if (k % 3 == 1) {
        x[k] += 1;
        return;
    }
    x[k] -= 1;
}
static int draw(int *state)
{
    *state = (*state * 73 + 41) % 1009;
    return *state % 10;
}
static void rows(int n, const double *a, double *x, double *y, int channels, float weight)
{
    int i;
    for (i = 0; i < n; i++) {
        y[i] = 2 * dot(n, a + i * n, x) + dot(i, x, x);
        if (least(i, a + i * n, channels) > 3.0)
            y[i] += i > 2 ? 1.0 : 0.5;
        mark(y, i, weight);
    }
}
static int draws(int n, int *x)
{
    int i, state = 5, sum = 0;
    for (i = 0; i < n; i++) {
        int d = draw(&x[n]);
        x[i] = d;
        sum += d;
    }
    return sum + state;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, channels = 7 * argc;
    double *a = malloc((n * n + 1) * sizeof *a), *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
    int *d = malloc((n + 1) * sizeof *d);
    for (i = 0; i < n * n; i++)
        a[i] = i % 11;
    for (i = 0; i < n; i++)
        x[i] = 1 + i % 5;
    d[n] = 17;
    rows(n, a, x, y, channels, 0.5f);
    printf(\"%d\\n\", draws(n, d));
    for (i = 0; i < n; i++)
        printf(\"%.17g %d\\n\", y[i], d[i]);
    free(a), free(x), free(y), free(d);
    return 0;
}
";

#[test]
fn functions_with_loops_and_early_returns() {
    same_output(VALUES, 4, SIZES);
}

#[test]
fn values_of_functions_with_loops() {
    let start = VALUES.find("static int draw(").expect("is there");
    assert_snapshot!(shown(&format!(
        "{}void rows(int n, const double *a, double *y, int channels, float weight)
{{
    for (int i = 0; i < n; i++) {{
        y[i] = least(n, a + i * n, channels);
        mark(y, i, weight);
    }}
}}
",
        &VALUES[..start]
    )));
}

#[test]
fn what_may_not_be_done_beforehand_stays() {
    assert_snapshot!(shown(
        "static double sum(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}
static double counted(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] += 1;
    return x[0];
}
static int search(int n, const int *x)
{
    for (int i = 0; i < n; i++)
        if (x[i] == 3)
            return i;
    return -1;
}
void conditional(int n, double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = i < 5 ? sum(n, x) : 0.0;
}
void both(int n, double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = counted(n, x) + x[i];
}
void found(int n, int *x, int *y)
{
    for (int i = 0; i < n; i++)
        y[i] = search(n, x);
}
void bound(int n, double *x)
{
    for (int i = 0; i < sum(n, x); i++)
        x[i] = 0;
}
"
    ));
}

/// A pointer keeps its value, whatever becomes of the expression that it was set to.
const KEPT: &str = "
static void shift(int n, const double *a, double *b)
{
    int i, k = 0;
    for (i = 0; i < n; i++) {
        const double *p = a + k;
        k = (k + 3) % n;
        b[i] = p[0] + 2 * a[k];
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
    for (i = 0; i < n; i++)
        a[i] = i * i;
    shift(n, a, b);
    for (i = 0; i < n; i++)
        printf(\"%g\\n\", b[i]);
    printf(\"%d\\n\", argc);
    free(a), free(b);
    return 0;
}
";

#[test]
fn pointers_keep_what_they_were_given() {
    same_output(KEPT, 1, SIZES);
}

/// The replay of a nest that calls functions which use file-scope variables gives the same results with its new text.
#[test]
fn replays_show_functions_their_file_scope_variables() {
    replays_agree(BLOCKS, &["fill", "steps"]);
}

/// `switch` cases, and a loop that counts without `for`.
const CASES: &str = "
enum kind { LINEAR, RELU, LEAKY, OTHER };
static double activate(double x, enum kind k)
{
    switch (k) {
    case LINEAR:
        return x;
    case RELU: {
        return x > 0 ? x : 0;
    }
    case LEAKY:
        return x > 0 ? x : 0.125 * x;
    case OTHER:
    default:
        break;
    }
    return 1;
}
static void layer(int n, double *x, int k)
{
    int i, j;
    for (i = 0; i < n; i++) {
        x[i] = activate(x[i] - 2, (enum kind)k);
        switch (i % 4) {
        case 0:
        case 1:
            x[i] += 1;
            break;
        case 2:
            x[i] *= 2;
            break;
        default:
            x[i] -= 1;
        }
        j = 0;
        while (j < i) {
            x[i] += 0.5 * x[j];
            j++;
        }
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, k;
    double *x = malloc((n + 1) * sizeof *x);
    for (k = 0; k < 4; k++) {
        for (i = 0; i < n; i++)
            x[i] = i % 5;
        layer(n < 20 ? n : 20, x, k);
        for (i = 0; i < n; i++)
            printf(\"%.17g\\n\", x[i]);
    }
    printf(\"%d\\n\", argc);
    free(x);
    return 0;
}
";

#[test]
fn cases_and_loops_that_count_without_for() {
    same_output(CASES, 1, SIZES);
}

/// A local number whose address only helpers know, which do nothing but follow it, is no other pointer's.
#[test]
fn addresses_that_are_only_lent() {
    let source = |helper: &str| {
        format!(
            "double *grid, *kept;
void store(double *where);
static void half(double *to)
{{
    *to = 0.5 * *to;
}}
static void force(double x, double *to)
{{
    {helper}
}}
void f(int n, double *p)
{{
    double fx;
    for (int i = 0; i < n; i++) {{
        fx = 1;
        force(grid[i], &fx);
        p[i] += fx;
    }}
}}
"
        )
    };
    let found = |helper: &str| {
        let unit = crate::common::read(&source(helper));
        let program = unit.functions.iter().find(|f| f.name == "f").map(|f| &f.program);
        let text = program.map_or_else(String::new, ToString::to_string);
        (text.contains("nest"), text.contains("live_out") || text.contains("live"), text)
    };
    for helper in ["*to += x;", "to[0] = x * x; half(to);", "if (x > 0) *to = x;"] {
        let (is_nest, is_live, text) = found(helper);
        assert!(is_nest && !is_live, "{helper}\n{text}");
    }
    for helper in ["*to = x; kept = to;", "*to = x; kept = &to[0];"] {
        let (is_nest, is_live, text) = found(helper);
        assert!(!is_nest || is_live, "{helper}\n{text}");
    }
}

/// Memory that a function of the program allocates is nobody else's, however it gets it, unless it keeps the address.
#[test]
fn memory_from_functions_that_allocate() {
    let source = |body: &str| {
        format!(
            "int posix_memalign(void **p, unsigned long alignment, unsigned long bytes);
typedef struct {{ double x, y; }} point;
static point *kept;
static double *first;
static void fill(long n, point *p)
{{
    for (long i = 0; i < n; i++)
        p[i].x = p[i].y = i;
}}
static void remember(point *p)
{{
    first = &p->y;
}}
static void *memory(unsigned long bytes)
{{
    void *p = 0;
    if (posix_memalign(&p, 64, bytes))
        p = 0;
    return p;
}}
static point *points(long n)
{{
    point *all = (point *)memory(n * sizeof(point));
    if (all == 0)
        return 0;
    {body}
    return all;
}}
void f(long n, const double *index)
{{
    point *all = points(n);
    double *grid = (double *)memory(8 * n);
    first = grid;
    for (long i = 0; i < n; i++)
        all[i].x = 0.5 * all[i].y + grid[(long)index[i]];
}}
"
        )
    };
    let may_alias = |body: &str| {
        let unit = crate::common::read(&source(body));
        let program = &unit.functions.iter().find(|f| f.name == "f").expect("it has a nest").program;
        let name = |id: &oxeye_ir::ArrayId| program.array(*id).name.clone();
        program.may_alias.iter().any(|(a, b)| name(a) == "grid" || name(b) == "grid")
    };
    assert!(!may_alias("fill(n, all);"));
    for body in ["kept = all;", "remember(all);", "first = &all[0].x;", "kept = &all[1];"] {
        assert!(may_alias(body), "{body}");
    }
}

/// A call that writes, in a condition that asks whether it gave zero.
const HALVED: &str = "
static int halved(double x, double *to)
{
    *to = 0.5 * x;
    return x > 4;
}
static void fall(int n, double *a)
{
    int i;
    for (i = 0; i < n; i++)
        if (halved(a[i], &a[i]) == 0)
            a[i] += 1;
    for (i = 0; i < n; i++)
        if (0 != halved(a[i] + 1, &a[i]))
            a[i] -= 1;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *a = malloc((n + 1) * sizeof *a);
    for (i = 0; i < n; i++)
        a[i] = i;
    fall(n, a);
    for (i = 0; i < n; i++)
        printf(\"%g\\n\", a[i]);
    printf(\"%d\\n\", argc);
    free(a);
    return 0;
}
";

#[test]
fn calls_that_are_compared_with_zero_are_made_once() {
    same_output(HALVED, 2, SIZES);
}

/// Functions that are given the address of what the caller uses by its name, which is also the name of a parameter.
const ADDRESSES: &str = "
static double dot(const double *a, const int *n, double scale)
{
    double s = 0;
    int i;
    for (i = 0; i < *n; i++)
        s += a[i] * scale;
    return s;
}
static void shift(int *n, double *a, double *s)
{
    int i;
    for (i = 0; i < *n; i++)
        a[i] += *s;
}
static void grow(int *n, double *a)
{
    a[*n] += 1;
    if (a[*n] > 2)
        *n += 1;
}
static double all(int n, int m, double *a, double *r)
{
    double scale = 2, s = 0;
    int i, k, last = 0;
    for (k = 0; k < n; k++) {
        r[k] = dot(a, &n, scale + k);
        s += r[k];
    }
    for (i = 0; i < n; i++) {
        shift(&m, r, &s);
        r[i] += n;
    }
    for (i = 0; i < 3 * n; i++)
        grow(&last, r);
    return s + last;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *a = calloc(n + 1, sizeof *a), *r = calloc(2 * n + 2, sizeof *r);
    for (i = 0; i < n; i++)
        a[i] = i % 7 * 0.5;
    printf(\"%.17g\\n\", all(n, n / 2, a, r));
    for (i = 0; i < n; i++)
        printf(\"%.17g\\n\", r[i]);
    printf(\"%d\\n\", argc);
    free(a), free(r);
    return 0;
}
";

#[test]
fn what_is_passed_by_address_has_one_name() {
    let end = ADDRESSES.find("int main").expect("is there");
    let found = shown(&ADDRESSES[..end]);
    let nests = &found[found.find("program all").expect("is there")..];
    assert!(!nests.contains("data(n"), "{nests}");
    same_output(ADDRESSES, 5, SIZES);
}
