/* Tilted transverse isotropy with rotated, centred differences (Zhang 2011), as in Devito's public examples: three time
 * levels that are used in turns. */
#include "tti.h"

/* First differences of fourth order, second ones of eighth. */
#define F1 (2.0f / 3.0f)
#define F2 (-1.0f / 12.0f)
#define D0 (-205.0f / 72.0f)
#define D1 (8.0f / 5.0f)
#define D2 (-1.0f / 5.0f)
#define D3 (8.0f / 315.0f)
#define D4 (-1.0f / 560.0f)
#define CENTRED_X(u) ((F1 * (u[x + 1][y][z] - u[x - 1][y][z]) + F2 * (u[x + 2][y][z] - u[x - 2][y][z])) / SPACING)
#define CENTRED_Y(u) ((F1 * (u[x][y + 1][z] - u[x][y - 1][z]) + F2 * (u[x][y + 2][z] - u[x][y - 2][z])) / SPACING)
#define CENTRED_Z(u) ((F1 * (u[x][y][z + 1] - u[x][y][z - 1]) + F2 * (u[x][y][z + 2] - u[x][y][z - 2])) / SPACING)
#define SECOND_X(u)                                                                                                    \
    ((D0 * u[x][y][z] + D1 * (u[x + 1][y][z] + u[x - 1][y][z]) + D2 * (u[x + 2][y][z] + u[x - 2][y][z]) +              \
      D3 * (u[x + 3][y][z] + u[x - 3][y][z]) + D4 * (u[x + 4][y][z] + u[x - 4][y][z])) / (SPACING * SPACING))
#define SECOND_Y(u)                                                                                                    \
    ((D0 * u[x][y][z] + D1 * (u[x][y + 1][z] + u[x][y - 1][z]) + D2 * (u[x][y + 2][z] + u[x][y - 2][z]) +              \
      D3 * (u[x][y + 3][z] + u[x][y - 3][z]) + D4 * (u[x][y + 4][z] + u[x][y - 4][z])) / (SPACING * SPACING))
#define SECOND_Z(u)                                                                                                    \
    ((D0 * u[x][y][z] + D1 * (u[x][y][z + 1] + u[x][y][z - 1]) + D2 * (u[x][y][z + 2] + u[x][y][z - 2]) +              \
      D3 * (u[x][y][z + 3] + u[x][y][z - 3]) + D4 * (u[x][y][z + 4] + u[x][y][z - 4])) / (SPACING * SPACING))

/* The derivatives of both fields along the axis of symmetry, in three directions. They are needed two cells beyond the
 * domain. */
static void along_axis(field u, field w, field theta, field phi, field ux, field uy, field uz, field wx, field wy,
                       field wz)
{
    for (int x = HALO - 2; x < NX + HALO + 2; x++)
        for (int y = HALO - 2; y < NY + HALO + 2; y++)
            for (int z = HALO - 2; z < NZ + HALO + 2; z++) {
                float nx = sinf(theta[x][y][z]) * cosf(phi[x][y][z]);
                float ny = sinf(theta[x][y][z]) * sinf(phi[x][y][z]);
                float nz = cosf(theta[x][y][z]);
                float du = nx * CENTRED_X(u) + ny * CENTRED_Y(u) + nz * CENTRED_Z(u);
                float dw = nx * CENTRED_X(w) + ny * CENTRED_Y(w) + nz * CENTRED_Z(w);
                ux[x][y][z] = nx * du;
                uy[x][y][z] = ny * du;
                uz[x][y][z] = nz * du;
                wx[x][y][z] = nx * dw;
                wy[x][y][z] = ny * dw;
                wz[x][y][z] = nz * dw;
            }
}

static void update(field u_next, field u, field u_prev, field w_next, field w, field w_prev, field slowness, field eps,
                   field delta, field damp, field ux, field uy, field uz, field wx, field wy, field wz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                float across = SECOND_X(u) + SECOND_Y(u) + SECOND_Z(u) - (CENTRED_X(ux) + CENTRED_Y(uy) + CENTRED_Z(uz));
                float along = CENTRED_X(wx) + CENTRED_Y(wy) + CENTRED_Z(wz);
                float stretch = 1.0f + 2.0f * eps[x][y][z], couple = sqrtf(1.0f + 2.0f * delta[x][y][z]);
                float factor = DT * DT / slowness[x][y][z], loss = DT * damp[x][y][z] / (2.0f * slowness[x][y][z]);
                u_next[x][y][z] = u[x][y][z] + ((1.0f - loss) * (u[x][y][z] - u_prev[x][y][z]) +
                                                  factor * (stretch * across + couple * along)) / (1.0f + loss);
                w_next[x][y][z] = w[x][y][z] + ((1.0f - loss) * (w[x][y][z] - w_prev[x][y][z]) +
                                                  factor * (couple * across + along)) / (1.0f + loss);
            }
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    field *u = zeros(3 * CELLS, sizeof(float)), *w = zeros(3 * CELLS, sizeof(float));
    plane *slowness = zero_field(), *eps = zero_field(), *delta = zero_field();
    plane *theta = zero_field(), *phi = zero_field(), *damp = zero_field();
    plane *ux = zero_field(), *uy = zero_field(), *uz = zero_field();
    plane *wx = zero_field(), *wy = zero_field(), *wz = zero_field();
    make_pulse(u[0], 0.9f);
    make_pulse(u[1], 1.0f);
    make_pulse(w[0], 0.4f);
    make_pulse(w[1], 0.5f);
    /* 1 over the square of velocities from 1500 to 2800 metres per second. */
    make_parameter(slowness, 1.3e-7f, 4.4e-7f, 2.0f, 1.0f, 3.0f);
    make_parameter(eps, 0.1f, 0.25f, 1.0f, 1.0f, 2.0f);
    make_parameter(delta, 0.02f, 0.1f, 2.0f, 3.0f, 1.0f);
    make_parameter(theta, 0.0f, 0.8f, 1.0f, 3.0f, 3.0f);
    make_parameter(phi, 0.0f, 0.6f, 3.0f, 2.0f, 1.0f);
    make_attenuation(damp);
    for (int x = 0; x < LX; x++)
        for (int y = 0; y < LY; y++)
            for (int z = 0; z < LZ; z++)
                damp[x][y][z] *= slowness[x][y][z];
    INPUT_FLOAT(u, 3, LX, LY, LZ);
    INPUT_FLOAT(w, 3, LX, LY, LZ);
    INPUT_FLOAT(slowness, LX, LY, LZ);
    INPUT_FLOAT(eps, LX, LY, LZ);
    INPUT_FLOAT(delta, LX, LY, LZ);
    INPUT_FLOAT(theta, LX, LY, LZ);
    INPUT_FLOAT(phi, LX, LY, LZ);
    INPUT_FLOAT(damp, LX, LY, LZ);
    INPUT_NUMBER(SPACING);
    INPUT_NUMBER(DT);
    INPUT_NUMBER(STEPS);

    bench_start();
    for (int t = 1; t <= STEPS; t++) {
        int next = (t + 1) % 3, now = t % 3, prev = (t - 1) % 3;
        along_axis(u[now], w[now], theta, phi, ux, uy, uz, wx, wy, wz);
        update(u[next], u[now], u[prev], w[next], w[now], w[prev], slowness, eps, delta, damp, ux, uy, uz, wx, wy, wz);
    }
    bench_stop();
    kernel_work((double)STEPS * NX * NY * NZ);

    OUTPUT_FLOAT(u, 3, LX, LY, LZ);
    OUTPUT_FLOAT(w, 3, LX, LY, LZ);
    return 0;
}
