// recipe: interchange j i
double a[800][900], b[800][900];
void scale(void)
{
    for (int j = 0; j < 900; j++)
        for (int i = 0; i < 800; i++)
            a[i][j] = 2.0 * b[i][j];
}
