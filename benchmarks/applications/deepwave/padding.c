/* D6: replication padding of a batch of volumes, and its derivative, which adds up what was read several times. */
#include "../application.h"

#ifndef CHANNELS
#define CHANNELS 16
#endif
#ifndef N
#define N 100
#endif
#ifndef TIMES
#define TIMES 3
#endif
#define PAD 3
#define M (N + 2 * PAD)

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void pad(int channels, int n, int m, float padded[channels][m][m][m], float volume[channels][n][n][n])
{
    for (int c = 0; c < channels; c++)
        for (int z = 0; z < m; z++)
            for (int y = 0; y < m; y++)
                for (int x = 0; x < m; x++)
                    padded[c][z][y][x] = volume[c][clamp(z - PAD, n)][clamp(y - PAD, n)][clamp(x - PAD, n)];
}

static void pad_back(int channels, int n, int m, float gradient[channels][n][n][n], float padded[channels][m][m][m])
{
    for (int c = 0; c < channels; c++)
        for (int z = 0; z < m; z++)
            for (int y = 0; y < m; y++)
                for (int x = 0; x < m; x++)
                    gradient[c][clamp(z - PAD, n)][clamp(y - PAD, n)][clamp(x - PAD, n)] += padded[c][z][y][x];
}

static void zero(int channels, int n, float volume[channels][n][n][n])
{
    for (int c = 0; c < channels; c++)
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++)
                    volume[c][z][y][x] = 0.0f;
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    size_t n = (size_t)CHANNELS * N * N * N, m = (size_t)CHANNELS * M * M * M;
    float (*volume)[N][N][N] = zeros(n, sizeof(float)), (*gradient)[N][N][N] = zeros(n, sizeof(float));
    float (*padded)[M][M][M] = zeros(m, sizeof(float));
    unsigned seed = 31;
    for (size_t i = 0; i < n; i++)
        ((float *)volume)[i] = (float)random_number(&seed);
    INPUT_FLOAT(volume, CHANNELS, N, N, N);

    bench_start();
    for (int t = 0; t < TIMES; t++) {
        pad(CHANNELS, N, M, padded, volume);
        zero(CHANNELS, N, gradient);
        zero(CHANNELS, N, gradient);
        pad_back(CHANNELS, N, M, gradient, padded);
    }
    bench_stop();
    kernel_work(2.0 * TIMES * (double)m);

    OUTPUT_FLOAT(padded, CHANNELS, M, M, M);
    OUTPUT_FLOAT(gradient, CHANNELS, N, N, N);
    return 0;
}
