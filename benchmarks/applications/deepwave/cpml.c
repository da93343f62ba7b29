/* D1': scalar waves in two dimensions, with today's convolutional absorbing layers; injection and recording. */
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
#define SOURCES 2
#endif
#ifndef RECEIVERS
#define RECEIVERS 100
#endif
#define PML 10
/* The layers reach so far from the edge: the frame, and what their differences reach. */
#define LAYER (PML + 4)
#define DT 0.001f

/* One time step of all shots: u is the present field, prev the one before, which becomes the next. */
static void step(int n_shots, int nz, int ny, float prev[n_shots][nz][ny], float u[n_shots][nz][ny],
                 float psi_z[n_shots][nz][ny], float psi_z_next[n_shots][nz][ny], float psi_y[n_shots][nz][ny],
                 float psi_y_next[n_shots][nz][ny], float zeta_z[n_shots][nz][ny], float zeta_y[n_shots][nz][ny],
                 float v[nz][ny], float a_z[nz], float b_z[nz], float db_z[nz], float a_y[ny], float b_y[ny],
                 float db_y[ny], float rdx, float rdx2, float dt2)
{
    for (int s = 0; s < n_shots; s++)
        for (int z = 2; z < nz - 2; z++)
            for (int y = 2; y < ny - 2; y++) {
                float sum = 0.0f;
                float d2z = (C0 * u[s][z][y] + C1 * (u[s][z + 1][y] + u[s][z - 1][y]) +
                             C2 * (u[s][z + 2][y] + u[s][z - 2][y])) * rdx2;
                if (z < LAYER || z >= nz - LAYER) {
                    float dz = (A1 * (u[s][z + 1][y] - u[s][z - 1][y]) + A2 * (u[s][z + 2][y] - u[s][z - 2][y])) * rdx;
                    float dpsi = (A1 * (a_z[z + 1] * psi_z[s][z + 1][y] - a_z[z - 1] * psi_z[s][z - 1][y]) +
                                  A2 * (a_z[z + 2] * psi_z[s][z + 2][y] - a_z[z - 2] * psi_z[s][z - 2][y])) * rdx;
                    float tmp = (1.0f + b_z[z]) * d2z + db_z[z] * dz + dpsi;
                    sum += (1.0f + b_z[z]) * tmp + a_z[z] * zeta_z[s][z][y];
                    psi_z_next[s][z][y] = b_z[z] * dz + a_z[z] * psi_z[s][z][y];
                    zeta_z[s][z][y] = b_z[z] * tmp + a_z[z] * zeta_z[s][z][y];
                } else {
                    sum += d2z;
                }
                float d2y = (C0 * u[s][z][y] + C1 * (u[s][z][y + 1] + u[s][z][y - 1]) +
                             C2 * (u[s][z][y + 2] + u[s][z][y - 2])) * rdx2;
                if (y < LAYER || y >= ny - LAYER) {
                    float dy = (A1 * (u[s][z][y + 1] - u[s][z][y - 1]) + A2 * (u[s][z][y + 2] - u[s][z][y - 2])) * rdx;
                    float dpsi = (A1 * (a_y[y + 1] * psi_y[s][z][y + 1] - a_y[y - 1] * psi_y[s][z][y - 1]) +
                                  A2 * (a_y[y + 2] * psi_y[s][z][y + 2] - a_y[y - 2] * psi_y[s][z][y - 2])) * rdx;
                    float tmp = (1.0f + b_y[y]) * d2y + db_y[y] * dy + dpsi;
                    sum += (1.0f + b_y[y]) * tmp + a_y[y] * zeta_y[s][z][y];
                    psi_y_next[s][z][y] = b_y[y] * dy + a_y[y] * psi_y[s][z][y];
                    zeta_y[s][z][y] = b_y[y] * tmp + a_y[y] * zeta_y[s][z][y];
                } else {
                    sum += d2y;
                }
                prev[s][z][y] = v[z][y] * v[z][y] * dt2 * sum + 2.0f * u[s][z][y] - prev[s][z][y];
            }
}

/* Adds amplitudes at locations; those below zero are skipped. */
static void inject(int n_shots, int nz, int ny, int n, float field[n_shots][nz * ny], int64_t location[n_shots][n],
                   float amplitude[n_shots][n])
{
    for (int s = 0; s < n_shots; s++)
        for (int k = 0; k < n; k++)
            if (location[s][k] >= 0)
                field[s][location[s][k]] += amplitude[s][k];
}

static void record(int n_shots, int nz, int ny, int n, float field[n_shots][nz * ny], int64_t location[n_shots][n],
                   float amplitude[n_shots][n])
{
    for (int s = 0; s < n_shots; s++)
        for (int k = 0; k < n; k++)
            if (location[s][k] >= 0)
                amplitude[s][k] = field[s][location[s][k]];
}

/* The profiles of one dimension: a and b of the layers, and the differences of b. */
static void make_profiles(int n, float *a, float *b, float *db)
{
    float *sigma = zeros_float((size_t)n);
    make_sigma(sigma, n, PML);
    float strongest = 3.0f * V_MAX * logf(1000.0f) / (2.0f * DX * PML);
    for (int i = 0; i < n; i++) {
        float alpha = 3.14159265f * (float)FREQUENCY * (1.0f - sqrtf(sigma[i] / strongest));
        a[i] = sigma[i] > 0.0f ? expf(-(sigma[i] + alpha) * DT) : 0.0f;
        b[i] = sigma[i] > 0.0f ? sigma[i] / (sigma[i] + alpha) * (a[i] - 1.0f) : 0.0f;
    }
    for (int i = 2; i < n - 2; i++)
        db[i] = (A1 * (b[i + 1] - b[i - 1]) + A2 * (b[i + 2] - b[i - 2])) / DX;
    free(sigma);
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    size_t n = (size_t)NZ * NY;
    float *v = zeros_float(n), *u = zeros_float(SHOTS * n), *prev = zeros_float(SHOTS * n);
    float *psi_z = zeros_float(SHOTS * n), *psi_z_next = zeros_float(SHOTS * n), *zeta_z = zeros_float(SHOTS * n);
    float *psi_y = zeros_float(SHOTS * n), *psi_y_next = zeros_float(SHOTS * n), *zeta_y = zeros_float(SHOTS * n);
    float *a_z = zeros_float(NZ), *b_z = zeros_float(NZ), *db_z = zeros_float(NZ);
    float *a_y = zeros_float(NY), *b_y = zeros_float(NY), *db_y = zeros_float(NY);
    float *wavelet = zeros_float((size_t)STEPS * SHOTS * SOURCES);
    float *recorded = zeros_float((size_t)STEPS * SHOTS * RECEIVERS);
    int64_t *sources = zeros(SHOTS * SOURCES, sizeof(int64_t)), *receivers = zeros(SHOTS * RECEIVERS, sizeof(int64_t));
    unsigned seed = 11;

    make_velocity(v, NZ, NY, 5);
    make_profiles(NZ, a_z, b_z, db_z);
    make_profiles(NY, a_y, b_y, db_y);
    for (int s = 0; s < SHOTS; s++) {
        for (int k = 0; k < SOURCES; k++) {
            long z = PML + 4 + (long)(random_number(&seed) * (NZ / 4)), y = (NY / 2 * (s + 1)) / SHOTS + 3 * k;
            sources[s * SOURCES + k] = z * NY + y;
            for (int t = 0; t < STEPS; t++)
                wavelet[(t * SHOTS + s) * SOURCES + k] = -v[z * NY + y] * v[z * NY + y] * DT * DT * ricker(t * (double)DT);
        }
        for (int k = 0; k < RECEIVERS; k++)
            receivers[s * RECEIVERS + k] = k == 0 ? -1 : (PML + 4) * (long)NY + PML + 4 + (long)k * (NY - 2 * PML - 8) / RECEIVERS;
    }
    INPUT_FLOAT(v, NZ, NY);
    INPUT_FLOAT(a_z, NZ);
    INPUT_FLOAT(b_z, NZ);
    INPUT_FLOAT(db_z, NZ);
    INPUT_FLOAT(a_y, NY);
    INPUT_FLOAT(b_y, NY);
    INPUT_FLOAT(db_y, NY);
    INPUT_FLOAT(wavelet, STEPS, SHOTS, SOURCES);
    INPUT_LONG(sources, SHOTS, SOURCES);
    INPUT_LONG(receivers, SHOTS, RECEIVERS);
    INPUT_NUMBER(DX);
    INPUT_NUMBER(DT);
    INPUT_NUMBER(LAYER);

    bench_start();
    for (int t = 0; t < STEPS; t++) {
        float *now = t & 1 ? prev : u, *next = t & 1 ? u : prev;
        step(SHOTS, NZ, NY, (void *)next, (void *)now, (void *)(t & 1 ? psi_z_next : psi_z),
             (void *)(t & 1 ? psi_z : psi_z_next), (void *)(t & 1 ? psi_y_next : psi_y),
             (void *)(t & 1 ? psi_y : psi_y_next), (void *)zeta_z, (void *)zeta_y, (void *)v, a_z, b_z, db_z, a_y, b_y,
             db_y, 1.0f / DX, 1.0f / (DX * DX), DT * DT);
        inject(SHOTS, NZ, NY, SOURCES, (void *)next, (void *)sources, (void *)(wavelet + (size_t)t * SHOTS * SOURCES));
        record(SHOTS, NZ, NY, RECEIVERS, (void *)now, (void *)receivers,
               (void *)(recorded + (size_t)t * SHOTS * RECEIVERS));
    }
    bench_stop();
    kernel_work((double)STEPS * SHOTS * NZ * NY);

    OUTPUT_FLOAT(u, SHOTS, NZ, NY);
    OUTPUT_FLOAT(prev, SHOTS, NZ, NY);
    OUTPUT_FLOAT(psi_z, SHOTS, NZ, NY);
    OUTPUT_FLOAT(psi_y, SHOTS, NZ, NY);
    OUTPUT_FLOAT(zeta_z, SHOTS, NZ, NY);
    OUTPUT_FLOAT(zeta_y, SHOTS, NZ, NY);
    OUTPUT_FLOAT(recorded, STEPS, SHOTS, RECEIVERS);
    return 0;
}
