// recipe: guard_zeros A1
double c[800][900], a[800][700], b[700][900];
void product(void)
{
    for (int i = 0; i < 800; i++)
        for (int k = 0; k < 700; k++)
            for (int j = 0; j < 900; j++)
                c[i][j] += a[i][k] * b[k][j];
}
