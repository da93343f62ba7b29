// recipe: drop_store S0
double a[800][900], x[900], s[800];
void sums(void)
{
    for (int i = 0; i < 800; i++) {
        s[i] = 0;
        s[i] = a[i][0] * x[0];
    }
}
