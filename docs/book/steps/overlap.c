// recipe: overlap until L2 tiles L1:64
double u[800][1000], w[800][1000];
void twice(void)
{
    double v[1000];
    for (int r = 0; r < 800; r++) {
        for (int i = 1; i < 999; i++)
            v[i] = u[r][i - 1] + u[r][i + 1];
        for (int i = 2; i < 998; i++)
            w[r][i] = v[i - 1] * v[i + 1];
    }
}
