/* T0 to T2 one after the other: tilted transverse isotropy, self-adjoint, with variable density. */
#include "tti.h"

/* T0: the axis of symmetry, and how the two fields are coupled. */
static void axis(field theta, field phi, field eta, field nx, field ny, field nz, field q)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                nx[x][y][z] = sinf(theta[x][y][z]) * cosf(phi[x][y][z]);
                ny[x][y][z] = sinf(theta[x][y][z]) * sinf(phi[x][y][z]);
                nz[x][y][z] = cosf(theta[x][y][z]);
                q[x][y][z] = sqrtf(1.0f - eta[x][y][z] * eta[x][y][z]);
            }
}

/* The first half of T1: the gradient. */
static void gradient(field u, field gx, field gy, field gz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                gx[x][y][z] = PLUS_X(u);
                gy[x][y][z] = PLUS_Y(u);
                gz[x][y][z] = PLUS_Z(u);
            }
}

/* The second half of T1: gradients of both fields become what flows through each cell, in their place. */
static void fluxes(field gx, field gy, field gz, field hx, field hy, field hz, field b, field f, field eps, field eta,
                   field nx, field ny, field nz, field q)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                float along_p = nx[x][y][z] * gx[x][y][z] + ny[x][y][z] * gy[x][y][z] + nz[x][y][z] * gz[x][y][z];
                float along_m = nx[x][y][z] * hx[x][y][z] + ny[x][y][z] * hy[x][y][z] + nz[x][y][z] * hz[x][y][z];
                float bfe = b[x][y][z] * f[x][y][z] * eta[x][y][z];
                float tp = -b[x][y][z] * (2.0f * eps[x][y][z] + f[x][y][z] * eta[x][y][z] * eta[x][y][z]) * along_p +
                           bfe * q[x][y][z] * along_m;
                float tm = bfe * q[x][y][z] * along_p + bfe * eta[x][y][z] * along_m;
                float bp = b[x][y][z] * (1.0f + 2.0f * eps[x][y][z]), bm = b[x][y][z] * (1.0f - f[x][y][z]);
                gx[x][y][z] = bp * gx[x][y][z] + nx[x][y][z] * tp;
                gy[x][y][z] = bp * gy[x][y][z] + ny[x][y][z] * tp;
                gz[x][y][z] = bp * gz[x][y][z] + nz[x][y][z] * tp;
                hx[x][y][z] = bm * hx[x][y][z] + nx[x][y][z] * tm;
                hy[x][y][z] = bm * hy[x][y][z] + ny[x][y][z] * tm;
                hz[x][y][z] = bm * hz[x][y][z] + nz[x][y][z] * tm;
            }
}

/* The first half of T2: what flows into each cell. */
static void divergence(field sum, field fx, field fy, field fz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++)
                sum[x][y][z] = MINUS_X(fx) + MINUS_Y(fy) + MINUS_Z(fz);
}

/* The second half of T2. */
static void update(field next, field u, field prev, field v, field b, field wq, field sum)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                float loss = DT * wq[x][y][z];
                next[x][y][z] = (2.0f - loss) * u[x][y][z] + (loss - 1.0f) * prev[x][y][z] +
                                DT * DT * v[x][y][z] * v[x][y][z] / b[x][y][z] * sum[x][y][z];
            }
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    plane *p = zero_field(), *p_prev = zero_field(), *p_next = zero_field();
    plane *m = zero_field(), *m_prev = zero_field(), *m_next = zero_field();
    plane *v = zero_field(), *b = zero_field(), *f = zero_field();
    plane *eps = zero_field(), *eta = zero_field(), *theta = zero_field();
    plane *phi = zero_field(), *wq = zero_field();
    plane *nx = zero_field(), *ny = zero_field(), *nz = zero_field();
    plane *q = zero_field();
    plane *gx = zero_field(), *gy = zero_field(), *gz = zero_field();
    plane *hx = zero_field(), *hy = zero_field(), *hz = zero_field();
    plane *sum = zero_field();
    make_pulse(p, 1.0f);
    make_pulse(p_prev, 0.9f);
    make_pulse(m, 0.5f);
    make_pulse(m_prev, 0.4f);
    make_parameter(v, 1500.0f, 3000.0f, 2.0f, 1.0f, 3.0f);
    make_parameter(b, 0.8f, 1.2f, 1.0f, 2.0f, 2.0f);
    make_parameter(f, 0.7f, 0.9f, 3.0f, 1.0f, 1.0f);
    make_parameter(eps, 0.05f, 0.25f, 1.0f, 1.0f, 2.0f);
    make_parameter(eta, 0.1f, 0.4f, 2.0f, 3.0f, 1.0f);
    make_parameter(theta, 0.0f, 0.8f, 1.0f, 3.0f, 3.0f);
    make_parameter(phi, 0.0f, 0.6f, 3.0f, 2.0f, 1.0f);
    make_attenuation(wq);
    INPUT_FLOAT(p, LX, LY, LZ);
    INPUT_FLOAT(p_prev, LX, LY, LZ);
    INPUT_FLOAT(m, LX, LY, LZ);
    INPUT_FLOAT(m_prev, LX, LY, LZ);
    INPUT_FLOAT(v, LX, LY, LZ);
    INPUT_FLOAT(b, LX, LY, LZ);
    INPUT_FLOAT(f, LX, LY, LZ);
    INPUT_FLOAT(eps, LX, LY, LZ);
    INPUT_FLOAT(eta, LX, LY, LZ);
    INPUT_FLOAT(theta, LX, LY, LZ);
    INPUT_FLOAT(phi, LX, LY, LZ);
    INPUT_FLOAT(wq, LX, LY, LZ);
    INPUT_NUMBER(SPACING);
    INPUT_NUMBER(DT);
    INPUT_NUMBER(STEPS);

    bench_start();
    axis(theta, phi, eta, nx, ny, nz, q);
    for (int t = 0; t < STEPS; t++) {
        gradient(p, gx, gy, gz);
        gradient(m, hx, hy, hz);
        fluxes(gx, gy, gz, hx, hy, hz, b, f,
               eps, eta, nx, ny, nz, q);
        divergence(sum, gx, gy, gz);
        update(p_next, p, p_prev, v, b, wq, sum);
        divergence(sum, hx, hy, hz);
        update(m_next, m, m_prev, v, b, wq, sum);
        plane *oldest = p_prev;
        p_prev = p;
        p = p_next;
        p_next = oldest;
        oldest = m_prev;
        m_prev = m;
        m = m_next;
        m_next = oldest;
    }
    bench_stop();
    kernel_work((double)STEPS * NX * NY * NZ);

    OUTPUT_FLOAT(p, LX, LY, LZ);
    OUTPUT_FLOAT(p_prev, LX, LY, LZ);
    OUTPUT_FLOAT(m, LX, LY, LZ);
    OUTPUT_FLOAT(m_prev, LX, LY, LZ);
    return 0;
}
