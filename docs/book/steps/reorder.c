// recipe: reorder S0[0 L1 0 L0 0] S1[1 L0 0 L2 0]
double a[800][900], b[800][900], x[900], y[800];
void both(void)
{
    for (int i = 0; i < 800; i++) {
        for (int j = 0; j < 900; j++)
            a[i][j] = b[i][j] + 1;
        for (int k = 0; k < 900; k++)
            y[i] += b[i][k] * x[k];
    }
}
