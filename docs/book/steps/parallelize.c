// recipe: parallelize i
double a[800][900], x[900], y[800];
void product(void)
{
    for (int i = 0; i < 800; i++)
        for (int j = 0; j < 900; j++)
            y[i] += a[i][j] * x[j];
}
