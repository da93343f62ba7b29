// recipe: specialise A1 to 1
double w[900], u[900], v[900];
void weigh(void)
{
    for (int i = 0; i < 900; i++)
        v[i] += w[i] * u[i];
}
