// run: read -O3
// Of unsigned and wide numbers in memory nothing is assumed: they stay of their types.
void hashes(int n, const unsigned long *h, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[h[i] % 10] + x[h[i] >> 60];
}
void narrowed(int n, const unsigned *col, const long *at, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        int c = (int)col[i];
        y[i] = x[c < 0 ? 0 : c] + x[(int)at[i] % 10];
    }
}
void sums(int n, const unsigned *col, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[col[i] + 4u] + x[(col[i] + 4u) % 10u];
}
void size(int n, unsigned long s, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[s % 10] + x[i];
}
int names(int n, const int *col, const double *x, double *y, double *z, int *rp)
{
    for (int i = 0; i < n; i++) {
        rp[i + 1] = rp[i] + 1;
        z[i] = x[col[rp[i]]];
    }
    return 0;
}
// ----
