// recipe: skew i by 1*t; interchange t i
double u[1000];
void smooth(void)
{
    for (int t = 0; t < 100; t++)
        for (int i = 1; i < 999; i++)
            u[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
