/* options: prices of European options by the formula of Black and Scholes, and one American option by backward induction
 * on a binomial tree. */
#include "textbook.h"

#ifndef N
#define N 600000
#endif
#ifndef STEPS
#define STEPS 4000
#endif

static double spot[N], strike[N], years[N], call[N], put[N];
static double value[STEPS + 1], payoff[2 * STEPS + 1];

static void black_scholes(int n, double rate, double sigma, const double *restrict spot, const double *restrict strike,
                          const double *restrict years, double *restrict call, double *restrict put)
{
    for (int i = 0; i < n; i++) {
        double root = sigma * sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) / root;
        double d2 = d1 - root;
        double discounted = strike[i] * exp(-rate * years[i]);
        double n1 = 0.5 + 0.5 * erf(0.70710678118654752 * d1);
        double n2 = 0.5 + 0.5 * erf(0.70710678118654752 * d2);
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = call[i] - spot[i] + discounted;
    }
}

/* payoff[STEPS + u - d] belongs to u steps up and d steps down. */
static void induction(int steps, double up, double down, double *restrict value, const double *restrict payoff)
{
    for (int t = steps - 1; t >= 0; t--)
        for (int i = 0; i <= t; i++) {
            double held = up * value[i + 1] + down * value[i];
            value[i] = fmax(held, payoff[steps + 2 * i - t]);
        }
}

int main(void)
{
    fill(spot, N, 1);
    fill(strike, N, 2);
    fill(years, N, 3);
    for (int i = 0; i <= 2 * STEPS; i++)
        payoff[i] = fmax(0.0, 100.0 - 100.0 * exp(0.003 * (i - STEPS)));
    for (int i = 0; i <= STEPS; i++)
        value[i] = payoff[2 * i];
    bench_start();
    black_scholes(N, 0.03, 0.2, spot, strike, years, call, put);
    induction(STEPS, 0.5, 0.4999, value, payoff);
    bench_stop();
    checksum("call", call, N);
    checksum("put", put, N);
    checksum("value", value, 1);
    return 0;
}
