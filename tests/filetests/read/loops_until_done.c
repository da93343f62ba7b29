// run: read -O3
// Loops that nobody can count, inside of others: a binary search, a convergence, a walk with a jump out of it.
int below(const double *grid, int n, double q)
{
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (grid[mid] > q)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}
void look_up(int n, int m, const double *restrict grid, const double *restrict x, int *restrict at)
{
    for (int i = 0; i < n; i++)
        at[i] = below(grid, m, x[i]);
}
void roots(int n, const double *restrict a, double *restrict r)
{
    for (int i = 0; i < n; i++) {
        double x = a[i], next;
        int times = 0;
        do {
            next = 0.5 * (x + a[i] / x);
            if (next == x)
                break;
            x = next;
        } while (++times < 50);
        r[i] = x;
    }
}
void wrapped(int n, double box, double *x)
{
    for (int i = 0; i < n; i++) {
        while (x[i] > 0.5 * box)
            x[i] -= box;
        for (; x[i] < -0.5 * box; x[i] += box)
            ;
    }
}
// ----
