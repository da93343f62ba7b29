//! Rows of structures behind pointers, `u[k][j][i].d`: how they are lowered, and that programs give the same results with their
//! nests rendered.

use crate::common::{SIZES, replays_agree, replays_agree_apart, same_output, same_output_apart, shown};
use insta::assert_snapshot;

const GRID: &str = "
typedef double Real;
typedef struct Cons_s { Real d, M1, M2; struct { Real x, y; } B; Real s[2]; } ConsS;
typedef struct Grid_s { ConsS ***U; Real ***flux; Real dt; int is, ie, js, je, ks, ke; } GridS;
static ConsS ***Uhalf;
static void copy(GridS *pG)
{
    int i, is = pG->is, ie = pG->ie, j, js = pG->js, je = pG->je, k, ks = pG->ks, ke = pG->ke;
    for (k = ks; k <= ke; k++)
        for (j = js; j <= je; j++)
            for (i = is; i <= ie; i++)
                Uhalf[k][j][i] = pG->U[k][j][i];
}
static void update(GridS *pG)
{
    Real dt = pG->dt;
    for (int k = pG->ks; k <= pG->ke; k++)
        for (int j = pG->js; j <= pG->je; j++)
            for (int i = pG->is; i <= pG->ie; i++) {
                pG->U[k][j][i].d -= dt * (pG->flux[k][j][i + 1] - pG->flux[k][j][i]);
                pG->U[k][j][i].M1 += Uhalf[k][j][i].d * Uhalf[k][j][i - 1].B.y;
                for (int n = 0; n < 2; n++)
                    pG->U[k][j][i].s[n] = 0.5 * (Uhalf[k][j - 1][i].s[n] + Uhalf[k][j + 1][i].s[1 - n]);
            }
}
static void boundary(GridS *pG)
{
    int is = pG->is, js = pG->js, je = pG->je, ks = pG->ks, ke = pG->ke;
    for (int k = ks; k <= ke; k++)
        for (int j = js; j <= je; j++)
            for (int i = 1; i <= 2; i++) {
                pG->U[k][j][is - i] = pG->U[k][j][is + (i - 1)];
                pG->U[k][j][is - i].M1 = -pG->U[k][j][is - i].M1;
            }
}
static Real total(int n, ConsS ***u)
{
    Real sum = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                sum += u[k][j][i].d + u[k][j][i].B.x * u[k][j][i].s[1];
    return sum;
}
static void scale(int n, int m, ConsS **plane)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            plane[j][i].M2 = 2 * plane[j][i].M2 + j - i;
}
static void folded(int n, ConsS **plane, ConsS *at, Real *flat)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            at->M1 += plane[j][i].M1 - plane[i][j].d;
            plane[j][i].d += at->s[1] + flat[i];
        }
}
";

#[test]
fn rows_of_structures_behind_pointers() {
    assert_snapshot!(shown(GRID));
}

#[test]
fn structures_that_are_not_numbers_of_one_type_stay() {
    assert_snapshot!(shown(
        "struct mixed { double d; int flag; };
struct held { volatile double d; double e; };
struct led { double d, *p; };
struct wide { double d, e; } __attribute__((aligned(32)));
union one { double d; long l; };
struct bytes { unsigned char r, g; };
void mixed(int n, struct mixed **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].d *= 2; }
void held(int n, struct held **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].e *= 2; }
void led(int n, struct led **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].d *= 2; }
void wide(int n, struct wide **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].d *= 2; }
void one(int n, union one **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].d *= 2; }
void bytes(int n, struct bytes **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j].r *= 2; }
struct plain { double d, e; };
void changed(int n, struct plain **u, struct plain *row)
{
    for (int i = 0; i < n; i++) {
        u[i] = row + i;
        for (int j = 0; j < n; j++)
            u[i][j].d *= 2;
    }
}
static void twice(struct plain *p) { p->d *= 2; }
void passed(int n, struct plain **u) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) twice(&u[i][j]); }
"
    ));
}

/// One block with tables of pointers, or every row by itself; rows that are the same twice.
const MAIN: &str = "
static void *rows(int n, size_t size, int is_apart)
{
    char ***table = malloc(n * sizeof *table), *block = calloc((size_t)n * n * n + 1, size);
    for (int k = 0; k < n; k++) {
        table[k] = malloc(n * sizeof **table);
        for (int j = 0; j < n; j++)
            table[k][j] = block + size * n * (is_apart ? (size_t)n * (n - 1 - j) + k : (size_t)n * k + j);
    }
    return table;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 24 + 6, is_apart = argc > 9 || n % 2;
    static GridS g;
    g = (GridS){rows(n, sizeof(ConsS), is_apart), rows(n, sizeof(Real), 0), 0.25, 2, n - 3, 1, n - 2, 1, n - 2};
    Uhalf = rows(n, sizeof(ConsS), 0);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                ConsS *at = &g.U[k][j][i];
                at->d = i + j - k, at->M1 = i % 3, at->M2 = j % 5, at->B.x = k - i, at->B.y = i * j % 7;
                at->s[0] = i % 2, at->s[1] = 3 - j % 3;
                g.flux[k][j][i] = (i * 7 + j * 3 + k) % 11;
            }
    for (int t = 0; t < 3; t++) {
        copy(&g);
        update(&g);
        boundary(&g);
        scale(n, n - 1, g.U[n - 1 - t]);
        folded(n, Uhalf[t], t ? &Uhalf[t][2][1] : g.U[0][0], t == 2 ? &Uhalf[t][1][0].d : g.flux[1][0]);
        if (t == 1)
            g.U[2][1] = g.U[2][2], Uhalf[1] = Uhalf[2];
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                ConsS *at = &g.U[k][j][i];
                printf(\"%g %g %g %g %g %g %g\\n\", at->d, at->M1, at->M2, at->B.x, at->B.y, at->s[0], at->s[1]);
            }
    printf(\"%.17g %.17g\\n\", total(n, g.U), total(n, Uhalf));
    fflush(stdout);
    _Exit(0);
}
";

#[test]
fn rows_of_structures_give_the_same() {
    same_output(&format!("{GRID}{MAIN}"), 6, SIZES);
    same_output_apart(&format!("{GRID}{MAIN}"), 6, SIZES);
}

#[test]
fn rows_of_structures_are_replayed() {
    let program = GRID.split("static void boundary").nth(1).expect("is there");
    let types: String = GRID.lines().take(4).map(|line| format!("{line}\n")).collect();
    let rest = program.split_once("static Real total").expect("is there").1;
    let source = format!(
        "{types}static Real total{rest}ConsS ***all; void *keep[] = {{(void *)total, (void *)scale}};
void halves(int n) {{ for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) all[k][j][i].s[1] = all[k][j][i - 1].d; }}
int main(void) {{ all = 0; return 0; }}"
    );
    replays_agree(&source, &["scale", "halves"]);
    replays_agree_apart(&source, &["scale", "halves"]);
}
