//! Types that only their objects name, and types that attributes change.

use crate::common::{same_output, shown};
use insta::assert_snapshot;

/// Structures that only their objects name.
#[test]
fn programs_with_structures_without_a_name_do_the_same() {
    same_output(
        "static struct { double x, y; int kind[2]; } points[12];
struct { int n; double *data, sum; } state;
static struct { double w; } *weights, grid[4][6];
static const struct { double w; } table[3] = {{1}, {2}, {3}};
static void moved(double dt)
{
    for (int i = 1; i < state.n; i++) {
        points[i].x += dt * points[i - 1].y;
        points[i].kind[1] += points[i].x > 1;
    }
}
static void summed(void)
{
    for (int i = 0; i < state.n; i++)
        state.sum += state.data[i] * weights[i].w;
}
static void spread(void)
{
    for (int i = 0; i < 4; i++)
        for (int j = 1; j < 6; j++)
            grid[i][j].w = 0.5 * grid[i][j - 1].w + i;
}
static void looked_up(void)
{
    for (int i = 0; i < state.n; i++)
        state.data[i] += table[i % 3].w;
}
int main(int argc, char **argv)
{
    state.n = atoi(argv[1]) % 12;
    state.data = malloc(12 * sizeof(double));
    weights = malloc(12 * sizeof *weights);
    for (int i = 0; i < 12; i++) {
        points[i].x = i % 3; points[i].y = i; points[i].kind[1] = 0; state.data[i] = i; weights[i].w = 1.0 / (i + 1);
        grid[i % 4][0].w = i;
    }
    moved(0.5);
    summed();
    spread();
    looked_up();
    for (int i = 0; i < 12; i++)
        printf(\"%.17g %d %.17g %.17g\\n\", points[i].x, points[i].kind[1], grid[i % 4][i % 6].w, state.data[i]);
    printf(\"%.17g\\n\", state.sum);
    return 0;
}
",
        3,
        &["0", "1", "7", "11"],
    );
}

/// Attributes that decide on the layout of structures, or make a type another one than its words say.
#[test]
fn attributes_of_types() {
    assert_snapshot!(shown(
        "#define PACKED __attribute__((packed))
typedef float v4 __attribute__((vector_size(16)));
typedef int byte_int __attribute__((mode(QI)));
typedef struct { double x; } __attribute__((aligned(32))) wide;
struct PACKED tight { char c; double x; };
typedef struct { char c; double x; } PACKED tight_too;
struct member { char c; double x __attribute__((aligned(16))); };
typedef double far __attribute__((aligned(64)));
struct of_far { char c; far x; };
struct of_wide { char c; wide w, *p; };
void vectors(int n, v4 *a) { for (int i = 0; i < n; i++) a[i] = a[i] * a[i]; }
void vector(int n, float *a) { float t __attribute__((vector_size(8))) = {0}; for (int i = 0; i < n; i++) a[i] = t[i & 1]; }
void narrow(int n, byte_int *a) { for (int i = 0; i < n; i++) a[i] = i; }
void wides(int n, wide *a, long *b) { for (int i = 0; i < n; i++) { a[i].x = 0; b[i] = sizeof(wide); } }
void tights(int n, struct tight *a, tight_too *b) { for (int i = 0; i < n; i++) a[i].x = b[i].x; }
void members(int n, struct member *a) { for (int i = 0; i < n; i++) a[i].x = 0; }
void fars(int n, struct of_far *a) { for (int i = 0; i < n; i++) a[i].x = 0; }
void of_wides(int n, struct of_wide *a, long *b) { for (int i = 0; i < n; i++) { a[i].w.x = 0; b[i] = sizeof(struct of_wide); } }
"
    ));
}
