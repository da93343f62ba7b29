// exit: 2
// says: --set
void f(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1.0;
}
