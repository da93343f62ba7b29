// recipe: hoist
#include <math.h>
double f[800][900], u[800];
void damp(double r, double h)
{
    for (int i = 0; i < 800; i++)
        for (int j = 0; j < 900; j++)
            f[i][j] = exp(-r * h) * f[i][j] + pow(u[i], 3);
}
