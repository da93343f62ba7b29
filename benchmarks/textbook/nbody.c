/* nbody: accelerations of all bodies by all others, coordinates apart in double and together in float. */
#include "textbook.h"

#ifndef N
#define N 3000
#endif

static double x[N], y[N], z[N], mass[N], ax[N], ay[N], az[N];
static float position[N][3], weight[N], force[N][3];

static void apart(int n, const double *restrict x, const double *restrict y, const double *restrict z,
                  const double *restrict mass, double *restrict ax, double *restrict ay, double *restrict az)
{
    for (int i = 0; i < n; i++) {
        double sx = 0.0, sy = 0.0, sz = 0.0;
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            double r2 = dx * dx + dy * dy + dz * dz + 0.01;
            double s = mass[j] / (r2 * sqrt(r2));
            sx += s * dx;
            sy += s * dy;
            sz += s * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}

static void together(int n, float position[n][3], float weight[n], float force[n][3])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float r2 = 0.01f;
            for (int d = 0; d < 3; d++)
                r2 += (position[j][d] - position[i][d]) * (position[j][d] - position[i][d]);
            float s = weight[j] / (r2 * sqrtf(r2));
            for (int d = 0; d < 3; d++)
                force[i][d] += s * (position[j][d] - position[i][d]);
        }
}

int main(void)
{
    fill(x, N, 1);
    fill(y, N, 2);
    fill(z, N, 3);
    fill(mass, N, 4);
    fill_float(&position[0][0], (size_t)N * 3, 5);
    fill_float(weight, N, 6);
    bench_start();
    apart(N, x, y, z, mass, ax, ay, az);
    together(N, position, weight, force);
    bench_stop();
    checksum("ax", ax, N);
    checksum("ay", ay, N);
    checksum("az", az, N);
    checksum_float("force", &force[0][0], (size_t)N * 3);
    return 0;
}
