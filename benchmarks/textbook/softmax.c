/* softmax: rows made into probabilities, rows brought to mean zero and variance one, and both scaled column by column. */
#include "textbook.h"

#ifndef ROWS
#define ROWS 5000
#endif
#ifndef N
#define N 1024
#endif

static float logits[ROWS][N], probabilities[ROWS][N], in[ROWS][N], normal[ROWS][N], gain[N], bias[N];

static void softmax(int rows, int n, float in[rows][n], float out[rows][n])
{
    for (int r = 0; r < rows; r++) {
        float most = in[r][0];
        for (int i = 1; i < n; i++)
            most = fmaxf(most, in[r][i]);
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            out[r][i] = expf(in[r][i] - most);
            sum += out[r][i];
        }
        for (int i = 0; i < n; i++)
            out[r][i] /= sum;
    }
}

static void layer_norm(int rows, int n, float in[rows][n], float gain[n], float bias[n], float out[rows][n])
{
    for (int r = 0; r < rows; r++) {
        float mean = 0.0f, square = 0.0f;
        for (int i = 0; i < n; i++)
            mean += in[r][i];
        mean /= (float)n;
        for (int i = 0; i < n; i++)
            square += (in[r][i] - mean) * (in[r][i] - mean);
        float scale = 1.0f / sqrtf(square / (float)n + 1e-5f);
        for (int i = 0; i < n; i++)
            out[r][i] = (in[r][i] - mean) * scale * gain[i] + bias[i];
    }
}

int main(void)
{
    fill_float(&logits[0][0], (size_t)ROWS * N, 1);
    fill_float(&in[0][0], (size_t)ROWS * N, 2);
    fill_float(gain, N, 3);
    fill_float(bias, N, 4);
    bench_start();
    softmax(ROWS, N, logits, probabilities);
    layer_norm(ROWS, N, in, gain, bias, normal);
    bench_stop();
    checksum_float("probabilities", &probabilities[0][0], (size_t)ROWS * N);
    checksum_float("normal", &normal[0][0], (size_t)ROWS * N);
    return 0;
}
