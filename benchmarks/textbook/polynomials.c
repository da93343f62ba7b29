/* polynomials: one polynomial at many points by Horner's rule, Chebyshev sums by Clenshaw's recurrence, and the product of
 * two polynomials. */
#include "textbook.h"

#ifndef N
#define N 1000000
#endif
#ifndef DEGREE
#define DEGREE 20
#endif
#ifndef LENGTH
#define LENGTH 5000
#endif

static double x[N], y[N], coefficient[DEGREE + 1];
static float u[N], v[N], weight[DEGREE + 1];
static double p[LENGTH], q[LENGTH], product[2 * LENGTH];

static void horner(int n, int degree, const double *restrict c, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        y[i] = c[degree];
        for (int k = degree - 1; k >= 0; k--)
            y[i] = y[i] * x[i] + c[k];
    }
}

static void clenshaw(int n, int degree, const float *restrict w, const float *restrict u, float *restrict v)
{
    for (int i = 0; i < n; i++) {
        float before = 0.0f, last = 0.0f;
        for (int k = 0; k < degree; k++) {
            float next = w[k] + 2.0f * u[i] * last - before;
            before = last;
            last = next;
        }
        v[i] = last - u[i] * before;
    }
}

static void multiply(int n, const double *restrict p, const double *restrict q, double *restrict product)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            product[i + j] += p[i] * q[j];
}

int main(void)
{
    fill(x, N, 1);
    fill(coefficient, DEGREE + 1, 2);
    fill_float(u, N, 3);
    for (int i = 0; i < N; i++)
        u[i] = u[i] - 0.6f;
    fill_float(weight, DEGREE + 1, 4);
    fill(p, LENGTH, 5);
    fill(q, LENGTH, 6);
    bench_start();
    horner(N, DEGREE, coefficient, x, y);
    clenshaw(N, DEGREE, weight, u, v);
    multiply(LENGTH, p, q, product);
    bench_stop();
    checksum("y", y, N);
    checksum_float("v", v, N);
    checksum("product", product, 2 * LENGTH);
    return 0;
}
