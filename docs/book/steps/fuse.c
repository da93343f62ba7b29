// recipe: fuse L1 L2 shift 1
double u[800][900], v[800][900], w[800][900];
void both(void)
{
    for (int r = 0; r < 800; r++) {
        for (int i = 1; i < 900; i++)
            v[r][i] = 0.5 * u[r][i];
        for (int i = 1; i < 899; i++)
            w[r][i] = v[r][i] + v[r][i + 1];
    }
}
