// recipe: factorize S0 over j
double t[20][30], g[800][900], y[900][20], x[800][30];
void moments(void)
{
    for (int i = 0; i < 800; i++)
        for (int j = 0; j < 900; j++)
            for (int v = 0; v < 20; v++)
                for (int u = 0; u < 30; u++)
                    t[v][u] += g[i][j] * y[j][v] * x[i][u];
}
