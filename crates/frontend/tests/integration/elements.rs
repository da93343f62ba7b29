//! Structures of an array by an index that a nest leaves as it is: `blocks[b].data`.

use crate::common::{SIZES, replays_agree, same_output, same_output_apart, shown};
use insta::assert_snapshot;

const BLOCKS: &str = "
typedef struct { int number, nx; double ****array; double *flat; double lo[3]; } block;
typedef struct { block *list; int first, count; } level;
block *blocks;
block fixed[7];
int num_active, *order;
int x_size, y_size, z_size;
static void init(int var, int b)
{
    for (int i = 1; i <= x_size; i++)
        for (int j = 1; j <= y_size; j++)
            for (int k = 1; k <= z_size; k++)
                blocks[b].array[var][i][j][k] = i + 2 * j + 3 * k + b;
}
static void ordered(int var)
{
    int n, i, j, k;
    for (n = 0; n < num_active; n++) {
        if (blocks[n].number < 0)
            continue;
        for (i = 1; i <= x_size; i++)
            for (j = 1; j <= y_size; j++)
                for (k = 1; k <= z_size; k++)
                    blocks[order[n]].array[var][i][j][k] =
                        blocks[order[n]].array[var + 1][i][j][k] + blocks[n].array[0][i][j][k];
    }
}
static double total(block *list, int b)
{
    double s = 0;
    for (int i = 0; i < list[b].nx; i++)
        s += list[b].flat[i] * list[b].lo[1] + list[b + 1].lo[0];
    return s;
}
static double sum(void)
{
    double s = 0;
    for (int b = 0; b < num_active; b++)
        for (int i = 0; i < blocks[b].nx; i++)
            s += blocks[b].flat[i];
    return s;
}
static void declared(int b, double *to)
{
    for (int i = 0; i < fixed[b].nx; i++)
        to[i] += fixed[b].flat[i] + fixed[2].flat[i];
}
static void levels(level *g)
{
    for (int i = 0; i < g->list[g->first].nx; i++)
        g->list[g->first].flat[i] += g->list[g->first + 1].flat[i] * g->count;
}
static void counted(int b)
{
    for (int i = 0; i < x_size; i++) {
        blocks[b].number += i % 3;
        blocks[b].flat[i] -= blocks[b].number;
    }
}
";

const MAIN: &str = "
static double ****cube(int n)
{
    double ****a = malloc(2 * sizeof *a);
    for (int v = 0; v < 2; v++) {
        a[v] = malloc((n + 2) * sizeof **a);
        for (int i = 0; i < n + 2; i++) {
            a[v][i] = malloc((n + 2) * sizeof(double *));
            for (int j = 0; j < n + 2; j++)
                a[v][i][j] = calloc(n + 3, sizeof(double));
        }
    }
    return a;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 24;
    x_size = n, y_size = n / 2, z_size = n + 1;
    num_active = 5;
    blocks = calloc(7, sizeof *blocks);
    order = malloc(5 * sizeof *order);
    for (int b = 0; b < 7; b++) {
        blocks[b].number = b == 3 ? -1 : b;
        blocks[b].nx = n + b;
        blocks[b].array = cube(n);
        blocks[b].flat = malloc((n + 9) * sizeof(double));
        for (int i = 0; i < n + 9; i++)
            blocks[b].flat[i] = i % 5 + b;
        for (int d = 0; d < 3; d++)
            blocks[b].lo[d] = b + 0.5 * d;
        fixed[b] = blocks[b];
        if (b < 5)
            order[b] = b == 1 ? 1 : 4 - b;
    }
    level g = { blocks + 1, 1, 3 };
    double *to = calloc(n + 9, sizeof *to);
    for (int b = 0; b < 6; b++) {
        init(0, b);
        init(1, 6 - b);
        declared(b, b == 4 ? fixed[2].flat : to);
        counted(b);
        g.first = b % 4;
        levels(&g);
        printf(\"%.17g\\n\", total(blocks, b));
    }
    ordered(0);
    blocks[4] = blocks[1];
    ordered(0);
    printf(\"%.17g\\n\", sum());
    for (int b = 0; b < 7; b++)
        for (int i = 1; i <= n; i++)
            printf(\"%.17g %.17g %.17g %d\\n\", blocks[b].array[0][i][n / 2][n], blocks[b].flat[i], to[i], blocks[b].number);
    free(to);
    return 0;
}
";

#[test]
fn members_of_one_element() {
    assert_snapshot!(shown(BLOCKS));
}

#[test]
fn members_of_one_element_give_the_same() {
    same_output(&format!("{BLOCKS}{MAIN}"), 7, SIZES);
    same_output_apart(&format!("{BLOCKS}{MAIN}"), 7, SIZES);
}

#[test]
fn replays_build_the_structures() {
    replays_agree(BLOCKS, &["init", "total", "declared", "levels", "counted"]);
}

#[test]
fn elements_that_change_stay() {
    assert_snapshot!(shown(
        "typedef struct { double *data; int n; double x; } block;
void all(block *b, int n) { for (int k = 0; k < n; k++) b[k].data[0] = k; }
void set(block *b, int k, double *p, int n) { for (int i = 0; i < n; i++) { b[k].data = p + i; b[k].data[i] = 1; } }
void moved(block *b, int k, int n) { for (int i = 0; i < n; i++) { b[k].data[i] = 1; if (i == 3) k++; } }
void both(block *b, int k, int n) { for (int i = 0; i < n; i++) b[k].data[i] = b[i].x; }
void ordered(block *b, int *order, int k, int n) { for (int i = 0; i < n; i++) { order[k] = i; b[order[k]].data[0] = i; } }
void perhaps(block *b, double *y, int k, int n) { for (int i = 0; i < n; i++) if (y[i] > 0) y[i] = b[k].data[i]; }
void aliased(block *b, int *order, int *p, int k, int n) { for (int i = 0; i < n; i++) { p[i] = i; b[order[k]].data[i] = 1; } }
void passed(block b[], int k, int n) { for (int i = 0; i < n; i++) b[k].data[i] = 1; }
"
    ));
}
