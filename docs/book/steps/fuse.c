// recipe: distribute i; fuse L0 L1 shift 0
double u[900], v[900], w[900];
void both(void)
{
    for (int i = 1; i < 900; i++) {
        v[i] = 0.5 * u[i];
        w[i] = w[i - 1] + v[i];
    }
}
