/* T0 to T2 in two loop nests a step, in a medium that is the same everywhere. */
#include "tti.h"

/* The medium is the same everywhere. */
#define V 2200.0f
#define B 1.1f
#define F 0.8f
#define EPS 0.2f
#define ETA 0.3f
#define THETA 0.6f
#define PHI 0.4f
#define WQ 0.9f

/* T0 and T1: what flows through each cell, in three directions, of both fields; also where it flows into the domain. */
static void fluxes(field p, field m, field px, field py, field pz, field mx, field my, field mz)
{
    for (int x = HALO - 4; x < NX + HALO + 4; x++)
        for (int y = HALO - 4; y < NY + HALO + 4; y++)
            for (int z = HALO - 4; z < NZ + HALO + 4; z++) {
                float nx = sinf(THETA) * cosf(PHI), ny = sinf(THETA) * sinf(PHI), nz = cosf(THETA);
                float q = sqrtf(1.0f - ETA * ETA);
                float gx = PLUS_X(p), gy = PLUS_Y(p), gz = PLUS_Z(p);
                float hx = PLUS_X(m), hy = PLUS_Y(m), hz = PLUS_Z(m);
                float along_p = nx * gx + ny * gy + nz * gz;
                float along_m = nx * hx + ny * hy + nz * hz;
                float tp = -B * (2.0f * EPS + F * ETA * ETA) * along_p + B * F * ETA * q * along_m;
                float tm = B * F * ETA * q * along_p + B * F * ETA * ETA * along_m;
                px[x][y][z] = B * (1.0f + 2.0f * EPS) * gx + nx * tp;
                py[x][y][z] = B * (1.0f + 2.0f * EPS) * gy + ny * tp;
                pz[x][y][z] = B * (1.0f + 2.0f * EPS) * gz + nz * tp;
                mx[x][y][z] = B * (1.0f - F) * hx + nx * tm;
                my[x][y][z] = B * (1.0f - F) * hy + ny * tm;
                mz[x][y][z] = B * (1.0f - F) * hz + nz * tm;
            }
}

/* T2: the next fields from what flows into each cell. */
static void update(field p_next, field p, field p_prev, field m_next, field m, field m_prev, field px, field py,
                   field pz, field mx, field my, field mz)
{
    for (int x = HALO; x < NX + HALO; x++)
        for (int y = HALO; y < NY + HALO; y++)
            for (int z = HALO; z < NZ + HALO; z++) {
                p_next[x][y][z] = (2.0f - DT * WQ) * p[x][y][z] + (DT * WQ - 1.0f) * p_prev[x][y][z] +
                                  DT * DT * V * V / B * (MINUS_X(px) + MINUS_Y(py) + MINUS_Z(pz));
                m_next[x][y][z] = (2.0f - DT * WQ) * m[x][y][z] + (DT * WQ - 1.0f) * m_prev[x][y][z] +
                                  DT * DT * V * V / B * (MINUS_X(mx) + MINUS_Y(my) + MINUS_Z(mz));
            }
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    plane *p = zero_field(), *p_prev = zero_field(), *p_next = zero_field();
    plane *m = zero_field(), *m_prev = zero_field(), *m_next = zero_field();
    plane *px = zero_field(), *py = zero_field(), *pz = zero_field();
    plane *mx = zero_field(), *my = zero_field(), *mz = zero_field();
    make_pulse(p, 1.0f);
    make_pulse(p_prev, 0.9f);
    make_pulse(m, 0.5f);
    make_pulse(m_prev, 0.4f);
    INPUT_FLOAT(p, LX, LY, LZ);
    INPUT_FLOAT(p_prev, LX, LY, LZ);
    INPUT_FLOAT(m, LX, LY, LZ);
    INPUT_FLOAT(m_prev, LX, LY, LZ);
    INPUT_NUMBER(V);
    INPUT_NUMBER(B);
    INPUT_NUMBER(F);
    INPUT_NUMBER(EPS);
    INPUT_NUMBER(ETA);
    INPUT_NUMBER(THETA);
    INPUT_NUMBER(PHI);
    INPUT_NUMBER(WQ);
    INPUT_NUMBER(SPACING);
    INPUT_NUMBER(DT);
    INPUT_NUMBER(STEPS);

    bench_start();
    for (int t = 0; t < STEPS; t++) {
        fluxes(p, m, px, py, pz, mx, my, mz);
        update(p_next, p, p_prev, m_next, m, m_prev, px,
               py, pz, mx, my, mz);
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
