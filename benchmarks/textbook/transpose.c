/* transpose: a matrix transposed into another, added to its own transpose, and a rank-3 array with permuted axes. */
#include "textbook.h"

#ifndef N
#define N 1500
#endif
#ifndef M
#define M 1700
#endif
#ifndef X
#define X 120
#endif
#ifndef Y
#define Y 110
#endif
#ifndef Z
#define Z 130
#endif

static double A[N][M], B[M][N], S[N][N], R[N][N];
static float P[X][Y][Z], Q[Z][X][Y];

static void transpose(int n, int m, double A[restrict n][m], double B[restrict m][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[j][i] = A[i][j];
}

static void symmetrise(int n, double S[restrict n][n], double R[restrict n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            R[i][j] = 0.5 * (S[i][j] + S[j][i]);
}

static void permute(float P[X][Y][Z], float Q[Z][X][Y])
{
    for (int x = 0; x < X; x++)
        for (int y = 0; y < Y; y++)
            for (int z = 0; z < Z; z++)
                Q[z][x][y] = P[x][y][z];
}

int main(void)
{
    fill(&A[0][0], (size_t)N * M, 1);
    fill(&S[0][0], (size_t)N * N, 2);
    fill_float(&P[0][0][0], (size_t)X * Y * Z, 3);
    bench_start();
    transpose(N, M, A, B);
    symmetrise(N, S, R);
    permute(P, Q);
    bench_stop();
    checksum("B", &B[0][0], (size_t)M * N);
    checksum("R", &R[0][0], (size_t)N * N);
    checksum_float("Q", &Q[0][0][0], (size_t)X * Y * Z);
    return 0;
}
