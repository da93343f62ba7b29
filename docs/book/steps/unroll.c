// recipe: unroll i by 4
double u[1000], v[1000];
void add(void)
{
    for (int i = 0; i < 1000; i++)
        u[i] += v[i];
}
