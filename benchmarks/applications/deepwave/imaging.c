/* D4 and D5: what a gradient needs. The field and its derivatives in time are saved while waves are modelled; the field
 * that a change of the model scatters (Born); and the gradient: the adjoint field, driven by what the receivers saw of
 * it, times what was saved. */
#include "waves.h"

#ifndef NZ
#define NZ 150
#endif
#ifndef NY
#define NY 200
#endif
#ifndef SHOTS
#define SHOTS 2
#endif
#ifndef STEPS
#define STEPS 200
#endif
#ifndef RECEIVERS
#define RECEIVERS 50
#endif
#define PML 10
#define DT 0.001f

/* Two time levels and two auxiliary fields, each with its next. */
struct waves {
    float *next, *w, *prev, *phi_z, *phi_z_next, *phi_y, *phi_y_next;
};

static struct waves make_waves(size_t n)
{
    struct waves made = {zeros_float(n), zeros_float(n), zeros_float(n), zeros_float(n),
                         zeros_float(n), zeros_float(n), zeros_float(n)};
    return made;
}

static void rotate(struct waves *f)
{
    float *oldest = f->prev;
    f->prev = f->w;
    f->w = f->next;
    f->next = oldest;
    oldest = f->phi_z;
    f->phi_z = f->phi_z_next;
    f->phi_z_next = oldest;
    oldest = f->phi_y;
    f->phi_y = f->phi_y_next;
    f->phi_y_next = oldest;
}

/* One time step of the waves f. */
static void step(const struct waves *f, const float *model, const float *sigma_z, const float *sigma_y, int nz, int ny,
                 float dx, float dt)
{
    float *next = f->next, *w = f->w, *prev = f->prev, *phi_z = f->phi_z, *phi_y = f->phi_y;
    float *phi_z_next = f->phi_z_next, *phi_y_next = f->phi_y_next;
    for (int s = 0; s < SHOTS; s++)
        for (int z = 2; z < nz - 2; z++)
            for (int y = 2; y < ny - 2; y++) {
                int i = (s * nz + z) * ny + y;
                float lap = (2.0f * C0 * w[i] + C1 * (w[i + ny] + w[i - ny]) + C2 * (w[i + 2 * ny] + w[i - 2 * ny]) +
                             C1 * (w[i + 1] + w[i - 1]) + C2 * (w[i + 2] + w[i - 2])) / (dx * dx);
                float wz = (A1 * (w[i + ny] - w[i - ny]) + A2 * (w[i + 2 * ny] - w[i - 2 * ny])) / dx;
                float wy = (A1 * (w[i + 1] - w[i - 1]) + A2 * (w[i + 2] - w[i - 2])) / dx;
                float phi_zz = (A1 * (phi_z[i + ny] - phi_z[i - ny]) + A2 * (phi_z[i + 2 * ny] - phi_z[i - 2 * ny])) / dx;
                float phi_yy = (A1 * (phi_y[i + 1] - phi_y[i - 1]) + A2 * (phi_y[i + 2] - phi_y[i - 2])) / dx;
                float sz = sigma_z[z], sy = sigma_y[y];
                next[i] = (model[z * ny + y] * (lap + phi_zz + phi_yy) + dt * (sz + sy) * prev[i] / 2.0f + 2.0f * w[i] -
                           prev[i] - dt * dt * sz * sy * w[i]) / (1.0f + dt * (sz + sy) / 2.0f);
                phi_z_next[i] = phi_z[i] - dt * (sz * phi_z[i] + (sz - sy) * wz);
                phi_y_next[i] = phi_y[i] - dt * (sy * phi_y[i] + (sy - sz) * wy);
            }
}

/* The field in the middle of three, and its first and second derivative in time. */
static void save(const struct waves *f, float *copy, float *first, float *second, int n, float dt)
{
    for (int i = 0; i < n; i++) {
        copy[i] = f->w[i];
        first[i] = (f->next[i] - f->prev[i]) / (2.0f * dt);
        second[i] = (f->next[i] - 2.0f * f->w[i] + f->prev[i]) / (dt * dt);
    }
}

/* What a change of the model makes of the saved field, into the scattered one. */
static void scatter(float *next, const float *change, const float *copy, const float *first, const float *second,
                    const float *sigma_z, const float *sigma_y, int nz, int ny, float dt)
{
    for (int s = 0; s < SHOTS; s++)
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < ny; y++) {
                int i = (s * nz + z) * ny + y;
                next[i] += dt * dt * change[z * ny + y] *
                           (second[i] + (sigma_z[z] + sigma_y[y]) * first[i] + sigma_z[z] * sigma_y[y] * copy[i]);
            }
}

/* The gradient gets what all shots say. */
static void image(float *gradient, const float *adjoint, const float *copy, const float *first, const float *second,
                  const float *sigma_z, const float *sigma_y, int nz, int ny)
{
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            float sum = 0.0f;
            for (int s = 0; s < SHOTS; s++) {
                int i = (s * nz + z) * ny + y;
                sum += adjoint[i] *
                       (second[i] + (sigma_z[z] + sigma_y[y]) * first[i] + sigma_z[z] * sigma_y[y] * copy[i]);
            }
            gradient[z * ny + y] += sum;
        }
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    size_t n = (size_t)NZ * NY, all = SHOTS * n;
    float *model = zeros_float(n), *change = zeros_float(n), *gradient = zeros_float(n);
    float *sigma_z = zeros_float(NZ), *sigma_y = zeros_float(NY);
    float *copy = zeros_float(STEPS * all), *first = zeros_float(STEPS * all), *second = zeros_float(STEPS * all);
    float *wavelet = zeros_float(STEPS), *scattered = zeros_float((size_t)STEPS * SHOTS * RECEIVERS);
    int64_t *sources = zeros(SHOTS, sizeof(int64_t)), *receivers = zeros(SHOTS * RECEIVERS, sizeof(int64_t));
    struct waves waves = make_waves(all), born = make_waves(all), back = make_waves(all);
    unsigned seed = 29;

    make_velocity(model, NZ, NY, 7);
    for (size_t i = 0; i < n; i++) {
        model[i] = model[i] * model[i] * DT * DT;
        change[i] = (float)i > 0.5f * (float)n ? 0.1f * (float)random_number(&seed) : 0.0f;
    }
    make_sigma(sigma_z, NZ, PML);
    make_sigma(sigma_y, NY, PML);
    for (int t = 0; t < STEPS; t++)
        wavelet[t] = ricker(t * (double)DT);
    for (int s = 0; s < SHOTS; s++) {
        sources[s] = (long)(PML + 5) * NY + (long)NY * (s + 1) / (SHOTS + 1) + (long)s * NZ * NY;
        for (int k = 0; k < RECEIVERS; k++)
            receivers[s * RECEIVERS + k] =
                (PML + 4) * (long)NY + PML + 4 + (long)k * (NY - 2 * PML - 8) / RECEIVERS + (long)s * NZ * NY;
    }
    INPUT_FLOAT(model, NZ, NY);
    INPUT_FLOAT(change, NZ, NY);
    INPUT_FLOAT(sigma_z, NZ);
    INPUT_FLOAT(sigma_y, NY);
    INPUT_FLOAT(wavelet, STEPS);
    INPUT_LONG(sources, SHOTS);
    INPUT_LONG(receivers, SHOTS * RECEIVERS);
    INPUT_NUMBER(DX);
    INPUT_NUMBER(DT);

    bench_start();
    /* Forwards, and with it the scattered field. */
    for (int t = 0; t < STEPS; t++) {
        float *c = copy + t * all, *f = first + t * all, *g = second + t * all;
        step(&waves, model, sigma_z, sigma_y, NZ, NY, DX, DT);
        for (int s = 0; s < SHOTS; s++)
            waves.next[sources[s]] += wavelet[t] * model[sources[s] % ((long)NZ * NY)];
        save(&waves, c, f, g, (int)all, DT);
        step(&born, model, sigma_z, sigma_y, NZ, NY, DX, DT);
        scatter(born.next, change, c, f, g, sigma_z, sigma_y, NZ, NY, DT);
        for (int k = 0; k < SHOTS * RECEIVERS; k++)
            scattered[t * SHOTS * RECEIVERS + k] = born.w[receivers[k]];
        rotate(&waves);
        rotate(&born);
    }
    /* Backwards. */
    for (int t = STEPS - 1; t >= 0; t--) {
        step(&back, model, sigma_z, sigma_y, NZ, NY, DX, DT);
        for (int k = 0; k < SHOTS * RECEIVERS; k++)
            back.next[receivers[k]] += scattered[t * SHOTS * RECEIVERS + k];
        image(gradient, back.w, copy + t * all, first + t * all, second + t * all, sigma_z, sigma_y, NZ, NY);
        rotate(&back);
    }
    bench_stop();
    kernel_work(3.0 * STEPS * SHOTS * NZ * NY);

    float *field = waves.w, *scattered_field = born.w;
    OUTPUT_FLOAT(field, SHOTS, NZ, NY);
    OUTPUT_FLOAT(scattered_field, SHOTS, NZ, NY);
    OUTPUT_FLOAT(scattered, STEPS, SHOTS * RECEIVERS);
    OUTPUT_FLOAT(gradient, NZ, NY);
    return 0;
}
