// recipe: privatize j; parallelize j
double u[800][900], w[800][900];
void differences(void)
{
    double q[900];
    for (int j = 0; j < 800; j++) {
        for (int i = 0; i < 900; i++)
            q[i] = u[j][i] * u[j][i];
        for (int i = 1; i < 900; i++)
            w[j][i] = q[i] - q[i - 1];
    }
}
