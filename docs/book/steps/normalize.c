// recipe: normalize
double a[800][900], x[900], y[800];
void product(void)
{
    for (int i = 0; i < 800; i++) {
        double s = 0;
        for (int j = 0; j < 900; j++)
            s += a[i][j] * x[j];
        y[i] = s;
    }
}
