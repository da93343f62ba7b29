/* T0 to T2 in two loop nests a step: tilted transverse isotropy, self-adjoint, with variable density. */
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

/* T1: what flows through each cell, in three directions, of both fields. */
static void fluxes(field p, field m, field b, field f, field eps, field eta, field nx, field ny, field nz, field q,
                   field px, field py, field pz, field mx, field my, field mz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                float gx = PLUS_X(p), gy = PLUS_Y(p), gz = PLUS_Z(p);
                float hx = PLUS_X(m), hy = PLUS_Y(m), hz = PLUS_Z(m);
                float along_p = nx[x][y][z] * gx + ny[x][y][z] * gy + nz[x][y][z] * gz;
                float along_m = nx[x][y][z] * hx + ny[x][y][z] * hy + nz[x][y][z] * hz;
                float bfe = b[x][y][z] * f[x][y][z] * eta[x][y][z];
                float tp = -b[x][y][z] * (2.0f * eps[x][y][z] + f[x][y][z] * eta[x][y][z] * eta[x][y][z]) * along_p +
                           bfe * q[x][y][z] * along_m;
                float tm = bfe * q[x][y][z] * along_p + bfe * eta[x][y][z] * along_m;
                float bp = b[x][y][z] * (1.0f + 2.0f * eps[x][y][z]), bm = b[x][y][z] * (1.0f - f[x][y][z]);
                px[x][y][z] = bp * gx + nx[x][y][z] * tp;
                py[x][y][z] = bp * gy + ny[x][y][z] * tp;
                pz[x][y][z] = bp * gz + nz[x][y][z] * tp;
                mx[x][y][z] = bm * hx + nx[x][y][z] * tm;
                my[x][y][z] = bm * hy + ny[x][y][z] * tm;
                mz[x][y][z] = bm * hz + nz[x][y][z] * tm;
            }
}

/* T2: the next fields from what flows into each cell. */
static void update(field p_next, field p, field p_prev, field m_next, field m, field m_prev, field v, field b, field wq,
                   field px, field py, field pz, field mx, field my, field mz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                float factor = DT * DT * v[x][y][z] * v[x][y][z] / b[x][y][z], loss = DT * wq[x][y][z];
                p_next[x][y][z] = (2.0f - loss) * p[x][y][z] + (loss - 1.0f) * p_prev[x][y][z] +
                                  factor * (MINUS_X(px) + MINUS_Y(py) + MINUS_Z(pz));
                m_next[x][y][z] = (2.0f - loss) * m[x][y][z] + (loss - 1.0f) * m_prev[x][y][z] +
                                  factor * (MINUS_X(mx) + MINUS_Y(my) + MINUS_Z(mz));
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
    plane *nx = zero_field(), *ny = zero_field(), *nz = zero_field(), *q = zero_field();
    plane *px = zero_field(), *py = zero_field(), *pz = zero_field();
    plane *mx = zero_field(), *my = zero_field(), *mz = zero_field();
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
        fluxes(p, m, b, f, eps, eta, nx, ny, nz, q, px, py, pz, mx, my, mz);
        update(p_next, p, p_prev, m_next, m, m_prev, v,
               b, wq, px, py, pz, mx, my, mz);
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
