/* D1-3D: scalar waves in three dimensions with damped layers and the auxiliary field psi. */
#include "waves.h"

#ifndef NZ
#define NZ 100
#endif
#ifndef NY
#define NY 110
#endif
#ifndef NX
#define NX 120
#endif
#ifndef STEPS
#define STEPS 60
#endif
#ifndef SOURCES
#define SOURCES 2
#endif
#ifndef RECEIVERS
#define RECEIVERS 50
#endif
#define PML 10
#define DT_USER 0.004f

/* First differences in the three directions. */
#define D_Z(f) ((A1 * (f[z + 1][y][x] - f[z - 1][y][x]) + A2 * (f[z + 2][y][x] - f[z - 2][y][x])) / dx)
#define D_Y(f) ((A1 * (f[z][y + 1][x] - f[z][y - 1][x]) + A2 * (f[z][y + 2][x] - f[z][y - 2][x])) / dx)
#define D_X(f) ((A1 * (f[z][y][x + 1] - f[z][y][x - 1]) + A2 * (f[z][y][x + 2] - f[z][y][x - 2])) / dx)

static void step(int nz, int ny, int nx, float next[nz][ny][nx], float w[nz][ny][nx], float prev[nz][ny][nx],
                 float phi_z[nz][ny][nx], float phi_z_next[nz][ny][nx], float phi_y[nz][ny][nx],
                 float phi_y_next[nz][ny][nx], float phi_x[nz][ny][nx], float phi_x_next[nz][ny][nx],
                 float psi[nz][ny][nx], float psi_next[nz][ny][nx], float model[nz][ny][nx], float sigma_z[nz],
                 float sigma_y[ny], float sigma_x[nx], float dx, float dt)
{
    for (int z = 2; z < nz - 2; z++)
        for (int y = 2; y < ny - 2; y++)
            for (int x = 2; x < nx - 2; x++) {
                float sz = sigma_z[z], sy = sigma_y[y], sx = sigma_x[x];
                float sum = sz + sy + sx, pairs = sz * sy + sy * sx + sx * sz, product = sz * sy * sx;
                float lap = (3.0f * C0 * w[z][y][x] + C1 * (w[z + 1][y][x] + w[z - 1][y][x]) +
                             C2 * (w[z + 2][y][x] + w[z - 2][y][x]) + C1 * (w[z][y + 1][x] + w[z][y - 1][x]) +
                             C2 * (w[z][y + 2][x] + w[z][y - 2][x]) + C1 * (w[z][y][x + 1] + w[z][y][x - 1]) +
                             C2 * (w[z][y][x + 2] + w[z][y][x - 2])) / (dx * dx);
                next[z][y][x] = (model[z][y][x] * lap +
                                 dt * dt * (D_Z(phi_z) + D_Y(phi_y) + D_X(phi_x) - product * psi[z][y][x]) +
                                 dt * sum * prev[z][y][x] / 2.0f + 2.0f * w[z][y][x] - prev[z][y][x] -
                                 dt * dt * pairs * w[z][y][x]) / (1.0f + dt * sum / 2.0f);
                phi_z_next[z][y][x] = phi_z[z][y][x] - dt * sz * phi_z[z][y][x] +
                                      model[z][y][x] / dt * (sy + sx) * D_Z(w) + dt * sy * sx * D_Z(psi);
                phi_y_next[z][y][x] = phi_y[z][y][x] - dt * sy * phi_y[z][y][x] +
                                      model[z][y][x] / dt * (sx + sz) * D_Y(w) + dt * sx * sz * D_Y(psi);
                phi_x_next[z][y][x] = phi_x[z][y][x] - dt * sx * phi_x[z][y][x] +
                                      model[z][y][x] / dt * (sz + sy) * D_X(w) + dt * sz * sy * D_X(psi);
                psi_next[z][y][x] = psi[z][y][x] + dt * w[z][y][x];
            }
}

static void swap(float **a, float **b)
{
    float *other = *a;
    *a = *b;
    *b = other;
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    size_t n = (size_t)NZ * NY * NX;
    float *model = zeros_float(n), *w = zeros_float(n), *prev = zeros_float(n), *next = zeros_float(n);
    float *phi_z = zeros_float(n), *phi_z_next = zeros_float(n), *phi_y = zeros_float(n), *phi_y_next = zeros_float(n);
    float *phi_x = zeros_float(n), *phi_x_next = zeros_float(n), *psi = zeros_float(n), *psi_next = zeros_float(n);
    float *sigma_z = zeros_float(NZ), *sigma_y = zeros_float(NY), *sigma_x = zeros_float(NX);
    float *wavelet = zeros_float((size_t)STEPS * SOURCES), *recorded = zeros_float((size_t)STEPS * RECEIVERS);
    int64_t *sources = zeros(SOURCES, sizeof(int64_t)), *receivers = zeros(RECEIVERS, sizeof(int64_t));

    /* The user's time step is divided until it is stable. */
    float stable = 0.6f / (sqrtf(3.0f) / DX) / V_MAX;
    float dt = DT_USER / ceilf(DT_USER / stable);
    make_velocity(model, NZ, (long)NY * NX, 3);
    for (size_t i = 0; i < n; i++)
        model[i] = model[i] * model[i] * dt * dt;
    make_sigma(sigma_z, NZ, PML);
    make_sigma(sigma_y, NY, PML);
    make_sigma(sigma_x, NX, PML);
    for (int k = 0; k < SOURCES; k++) {
        sources[k] = ((long)(PML + 3 + k) * NY + NY / 2) * NX + NX / 2 - 3 * k;
        for (int t = 0; t < STEPS; t++)
            wavelet[t * SOURCES + k] = ricker(t * (double)dt + 0.02);
    }
    for (int k = 0; k < RECEIVERS; k++)
        receivers[k] = ((long)(PML + 4) * NY + NY / 2) * NX + PML + 4 + (long)k * (NX - 2 * PML - 8) / RECEIVERS;
    INPUT_FLOAT(model, NZ, NY, NX);
    INPUT_FLOAT(sigma_z, NZ);
    INPUT_FLOAT(sigma_y, NY);
    INPUT_FLOAT(sigma_x, NX);
    INPUT_FLOAT(wavelet, STEPS, SOURCES);
    INPUT_LONG(sources, SOURCES);
    INPUT_LONG(receivers, RECEIVERS);
    INPUT_NUMBER(DX);
    INPUT_NUMBER(dt);

    bench_start();
    for (int t = 0; t < STEPS; t++) {
        step(NZ, NY, NX, (void *)next, (void *)w, (void *)prev, (void *)phi_z, (void *)phi_z_next, (void *)phi_y,
             (void *)phi_y_next, (void *)phi_x, (void *)phi_x_next, (void *)psi, (void *)psi_next, (void *)model,
             sigma_z, sigma_y, sigma_x, DX, dt);
        for (int k = 0; k < SOURCES; k++)
            next[sources[k]] += wavelet[t * SOURCES + k] * model[sources[k]];
        for (int k = 0; k < RECEIVERS; k++)
            recorded[t * RECEIVERS + k] = w[receivers[k]];
        float *oldest = prev;
        prev = w;
        w = next;
        next = oldest;
        swap(&phi_z, &phi_z_next);
        swap(&phi_y, &phi_y_next);
        swap(&phi_x, &phi_x_next);
        swap(&psi, &psi_next);
    }
    bench_stop();
    kernel_work((double)STEPS * NZ * NY * NX);

    OUTPUT_FLOAT(w, NZ, NY, NX);
    OUTPUT_FLOAT(prev, NZ, NY, NX);
    OUTPUT_FLOAT(phi_z, NZ, NY, NX);
    OUTPUT_FLOAT(phi_y, NZ, NY, NX);
    OUTPUT_FLOAT(phi_x, NZ, NY, NX);
    OUTPUT_FLOAT(psi, NZ, NY, NX);
    OUTPUT_FLOAT(recorded, STEPS, RECEIVERS);
    return 0;
}
