/* moments: means, variances and products of float variables that are rows of a matrix, and the same statistics of columns
 * in one pass. */
#include "textbook.h"

#ifndef VARIABLES
#define VARIABLES 320
#endif
#ifndef SAMPLES
#define SAMPLES 3000
#endif

static float data[VARIABLES][SAMPLES], mean[VARIABLES], product[VARIABLES][VARIABLES];
static float table[4 * SAMPLES][VARIABLES], sum[VARIABLES], square[VARIABLES], most[VARIABLES];

static void centre(int m, int n, float data[m][n], float mean[m])
{
    for (int i = 0; i < m; i++) {
        mean[i] = 0.0f;
        for (int k = 0; k < n; k++)
            mean[i] += data[i][k] / (float)n;
        for (int k = 0; k < n; k++)
            data[i][k] -= mean[i];
    }
}

static void products(int m, int n, float data[m][n], float product[m][m])
{
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += data[i][k] * data[j][k];
            product[i][j] = sum / (float)(n - 1);
            product[j][i] = product[i][j];
        }
}

static void of_columns(int n, int m, float table[n][m], float sum[m], float square[m], float most[m])
{
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++) {
            sum[i] += table[k][i];
            square[i] += table[k][i] * table[k][i];
            most[i] = table[k][i] > most[i] ? table[k][i] : most[i];
        }
}

int main(void)
{
    fill_float(&data[0][0], (size_t)VARIABLES * SAMPLES, 1);
    fill_float(&table[0][0], (size_t)4 * SAMPLES * VARIABLES, 2);
    bench_start();
    centre(VARIABLES, SAMPLES, data, mean);
    products(VARIABLES, SAMPLES, data, product);
    of_columns(4 * SAMPLES, VARIABLES, table, sum, square, most);
    bench_stop();
    checksum_float("product", &product[0][0], (size_t)VARIABLES * VARIABLES);
    checksum_float("sum", sum, VARIABLES);
    checksum_float("square", square, VARIABLES);
    checksum_float("most", most, VARIABLES);
    return 0;
}
