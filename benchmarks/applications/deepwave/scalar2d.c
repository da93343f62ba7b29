/* D1 to D3: scalar waves in two dimensions with damped layers, three fields in rotation; injection and recording. */
#include "waves.h"

#ifndef NZ
#define NZ 275
#endif
#ifndef NY
#define NY 524
#endif
#ifndef SHOTS
#define SHOTS 2
#endif
#ifndef STEPS
#define STEPS 500
#endif
#ifndef SOURCES
#define SOURCES 3
#endif
#ifndef RECEIVERS
#define RECEIVERS 100
#endif
#define PML 10
#define DT 0.001f

/* One time step of all shots. */
static void step(int n_shots, int nz, int ny, float next[n_shots][nz][ny], float w[n_shots][nz][ny],
                 float prev[n_shots][nz][ny], float phi_z[n_shots][nz][ny], float phi_z_next[n_shots][nz][ny],
                 float phi_y[n_shots][nz][ny], float phi_y_next[n_shots][nz][ny], float model[nz][ny],
                 float sigma_z[nz], float sigma_y[ny], float dx, float dt)
{
    for (int s = 0; s < n_shots; s++)
        for (int z = 2; z < nz - 2; z++)
            for (int y = 2; y < ny - 2; y++) {
                float lap = (2.0f * C0 * w[s][z][y] + C1 * (w[s][z + 1][y] + w[s][z - 1][y]) +
                             C2 * (w[s][z + 2][y] + w[s][z - 2][y]) + C1 * (w[s][z][y + 1] + w[s][z][y - 1]) +
                             C2 * (w[s][z][y + 2] + w[s][z][y - 2])) / (dx * dx);
                float wz = (A1 * (w[s][z + 1][y] - w[s][z - 1][y]) + A2 * (w[s][z + 2][y] - w[s][z - 2][y])) / dx;
                float wy = (A1 * (w[s][z][y + 1] - w[s][z][y - 1]) + A2 * (w[s][z][y + 2] - w[s][z][y - 2])) / dx;
                float phi_zz = (A1 * (phi_z[s][z + 1][y] - phi_z[s][z - 1][y]) +
                                A2 * (phi_z[s][z + 2][y] - phi_z[s][z - 2][y])) / dx;
                float phi_yy = (A1 * (phi_y[s][z][y + 1] - phi_y[s][z][y - 1]) +
                                A2 * (phi_y[s][z][y + 2] - phi_y[s][z][y - 2])) / dx;
                float sz = sigma_z[z], sy = sigma_y[y];
                next[s][z][y] = (model[z][y] * (lap + phi_zz + phi_yy) + dt * (sz + sy) * prev[s][z][y] / 2.0f +
                                 2.0f * w[s][z][y] - prev[s][z][y] - dt * dt * sz * sy * w[s][z][y]) /
                                (1.0f + dt * (sz + sy) / 2.0f);
                phi_z_next[s][z][y] = phi_z[s][z][y] - dt * (sz * phi_z[s][z][y] + (sz - sy) * wz);
                phi_y_next[s][z][y] = phi_y[s][z][y] - dt * (sy * phi_y[s][z][y] + (sy - sz) * wy);
            }
}

/* Adds amplitudes at locations, of which some may be the same. */
static void inject(int n_shots, int nz, int ny, int n, float field[n_shots][nz * ny], int64_t location[n_shots][n],
                   float amplitude[n_shots][n], float model[nz * ny])
{
    for (int s = 0; s < n_shots; s++)
        for (int k = 0; k < n; k++)
            field[s][location[s][k]] += amplitude[s][k] * model[location[s][k]];
}

static void record(int n_shots, int nz, int ny, int n, float field[n_shots][nz * ny], int64_t location[n_shots][n],
                   float amplitude[n_shots][n])
{
    for (int s = 0; s < n_shots; s++)
        for (int k = 0; k < n; k++)
            amplitude[s][k] = field[s][location[s][k]];
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    size_t n = (size_t)NZ * NY;
    float *model = zeros_float(n), *w = zeros_float(SHOTS * n), *prev = zeros_float(SHOTS * n);
    float *next = zeros_float(SHOTS * n);
    float *phi_z = zeros_float(SHOTS * n), *phi_z_next = zeros_float(SHOTS * n);
    float *phi_y = zeros_float(SHOTS * n), *phi_y_next = zeros_float(SHOTS * n);
    float *sigma_z = zeros_float(NZ), *sigma_y = zeros_float(NY);
    float *wavelet = zeros_float((size_t)STEPS * SHOTS * SOURCES);
    float *recorded = zeros_float((size_t)STEPS * SHOTS * RECEIVERS);
    int64_t *sources = zeros(SHOTS * SOURCES, sizeof(int64_t)), *receivers = zeros(SHOTS * RECEIVERS, sizeof(int64_t));
    unsigned seed = 13;

    make_velocity(model, NZ, NY, 7);
    for (size_t i = 0; i < n; i++)
        model[i] = model[i] * model[i] * DT * DT;
    make_sigma(sigma_z, NZ, PML);
    make_sigma(sigma_y, NY, PML);
    for (int s = 0; s < SHOTS; s++) {
        for (int k = 0; k < SOURCES; k++) {
            /* The last two are at one place. */
            long z = k == SOURCES - 1 && k > 0 ? sources[s * SOURCES + k - 1] / NY
                                               : PML + 4 + (long)(random_number(&seed) * (NZ / 4));
            long y = NY / 2 * (s + 1) / SHOTS + (k == SOURCES - 1 && k > 0 ? 4 * (k - 1) : 4 * k);
            sources[s * SOURCES + k] = z * NY + y;
            for (int t = 0; t < STEPS; t++)
                wavelet[(t * SHOTS + s) * SOURCES + k] = ricker(t * (double)DT) * (float)(k + 1);
        }
        for (int k = 0; k < RECEIVERS; k++)
            receivers[s * RECEIVERS + k] = (PML + 4) * (long)NY + PML + 4 + (long)k * (NY - 2 * PML - 8) / RECEIVERS;
    }
    INPUT_FLOAT(model, NZ, NY);
    INPUT_FLOAT(sigma_z, NZ);
    INPUT_FLOAT(sigma_y, NY);
    INPUT_FLOAT(wavelet, STEPS, SHOTS, SOURCES);
    INPUT_LONG(sources, SHOTS, SOURCES);
    INPUT_LONG(receivers, SHOTS, RECEIVERS);
    INPUT_NUMBER(DX);
    INPUT_NUMBER(DT);

    bench_start();
    for (int t = 0; t < STEPS; t++) {
        step(SHOTS, NZ, NY, (void *)next, (void *)w, (void *)prev, (void *)phi_z, (void *)phi_z_next, (void *)phi_y,
             (void *)phi_y_next, (void *)model, sigma_z, sigma_y, DX, DT);
        inject(SHOTS, NZ, NY, SOURCES, (void *)next, (void *)sources, (void *)(wavelet + (size_t)t * SHOTS * SOURCES),
               model);
        record(SHOTS, NZ, NY, RECEIVERS, (void *)w, (void *)receivers,
               (void *)(recorded + (size_t)t * SHOTS * RECEIVERS));
        float *oldest = prev;
        prev = w;
        w = next;
        next = oldest;
        float *swap = phi_z;
        phi_z = phi_z_next;
        phi_z_next = swap;
        swap = phi_y;
        phi_y = phi_y_next;
        phi_y_next = swap;
    }
    bench_stop();
    kernel_work((double)STEPS * SHOTS * NZ * NY);

    OUTPUT_FLOAT(w, SHOTS, NZ, NY);
    OUTPUT_FLOAT(prev, SHOTS, NZ, NY);
    OUTPUT_FLOAT(phi_z, SHOTS, NZ, NY);
    OUTPUT_FLOAT(phi_y, SHOTS, NZ, NY);
    OUTPUT_FLOAT(recorded, STEPS, SHOTS, RECEIVERS);
    return 0;
}
