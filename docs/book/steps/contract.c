// recipe: contract S0 rows i columns j depth k register 2x4 lanes 4 block 64x256x256
double a[800][700], b[700][900], c[800][900];
void product(void)
{
    for (int i = 0; i < 800; i++)
        for (int j = 0; j < 900; j++)
            for (int k = 0; k < 700; k++)
                c[i][j] += a[i][k] * b[k][j];
}
