//! Sums over windows: convolutions packed into blocks, filters whose sums are shared.

use crate::pencils::{agree, replayed};
use oxeye_tests::Playground;
use serde_json::json;

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif
typedef unsigned char u8;
void layer(const float *in, const float *wt, const float *bias, float *out, int C, int H, int W, int K, int R, int stride)
{
    int P = (H - R) / stride + 1, Q = (W - R) / stride + 1;
    for (int k = 0; k < K; k++)
        for (int y = 0; y < P; y++)
            for (int x = 0; x < Q; x++) {
                float sum = bias[k];
                for (int c = 0; c < C; c++)
                    for (int r = 0; r < R; r++)
                        for (int s = 0; s < R; s++)
                            sum += in[(c * H + y * stride + r) * W + x * stride + s] * wt[((k * C + c) * R + r) * R + s];
                out[(k * P + y) * Q + x] = sum > 0 ? sum : 0;
            }
}
void correlate(u8 a[N + 2][N + 2], signed char w[5][3][3], int c[5][N][N])
{
    for (int k = 0; k < 5; k++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                for (int r = 0; r < 3; r++)
                    for (int s = 0; s < 3; s++)
                        c[k][y][x] += a[y + r][x + s] * w[k][r][s];
}
void mean(const u8 *src, u8 *dst, int w, int h, int r)
{
    for (int y = r; y < h - r; y++)
        for (int x = r; x < w - r; x++) {
            int sum = 0;
            for (int j = -r; j <= r; j++)
                for (int i = -r; i <= r; i++)
                    sum += src[(y + j) * w + x + i];
            dst[y * w + x] = sum / ((2 * r + 1) * (2 * r + 1));
        }
}
void dilate(const u8 *src, u8 *dst, int w, int h, int r)
{
    for (int y = r; y < h - r; y++)
        for (int x = r; x < w - r; x++) {
            u8 m = 0;
            for (int j = -r; j <= r; j++)
                for (int i = -r; i <= r; i++)
                    if (src[(y + j) * w + x + i] > m)
                        m = src[(y + j) * w + x + i];
            dst[y * w + x] = m;
        }
}
void cube(int n, double (*a)[n + 2][n + 2], double (*b)[n][n])
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                for (int u = 0; u < 3; u++)
                    for (int v = 0; v < 3; v++)
                        for (int t = 0; t < 3; t++)
                            b[z][y][x] += a[z + u][y + v][x + t];
}
static u8 a[N + 2][N + 2];
static signed char w[5][3][3];
static int c[5][N][N];
int main(void)
{
    float *in = malloc(sizeof(float) * 3 * N * N), *wt = malloc(sizeof(float) * 7 * 3 * 25);
    float *out = calloc(7 * N * N, sizeof(float)), bias[7];
    for (int i = 0; i < 3 * N * N; i++)
        in[i] = i * 37 % 11 - 5;
    for (int i = 0; i < 7 * 3 * 25; i++)
        wt[i] = i * 53 % 7 - 3;
    for (int i = 0; i < 7; i++)
        bias[i] = i - 2;
    layer(in, wt, bias, out, 3, N, N, 7, N < 3 ? 1 : 3, 1);
    layer(in, wt, bias, out, 2, N, N, 7, 1, 2);
    if (N >= 5)
        layer(in, wt, bias, out, 3, N, N, 6, 5, 2);
    double sum = 0;
    for (int i = 0; i < 7 * N * N; i++)
        sum += out[i] * (i % 13 + 1);
    /* What is written is what is read. */
    layer(in, wt, bias, in + N, 1, N, N, 1, 1, 1);
    for (int i = 0; i < 3 * N * N; i++)
        sum += in[i] * (i % 17 + 1);
    for (int i = 0; i < (N + 2) * (N + 2); i++)
        ((u8 *)a)[i] = i * 2654435761u >> 24;
    for (int i = 0; i < 45; i++)
        ((signed char *)w)[i] = i * 29 % 19 - 9;
    correlate(a, w, c);
    for (int i = 0; i < 5 * N * N; i++)
        sum += ((int *)c)[i] * (i % 11 + 1.0);
    u8 *first = malloc(N * N), *second = calloc(N, N);
    for (int i = 0; i < N * N; i++)
        first[i] = i * 2654435761u >> 24;
    for (int r = 0; r < 4; r++) {
        mean(first, second, N, N, r);
        dilate(second, first, N, N, r);
        mean(first, first, N, N, 1);
        for (int i = 0; i < N * N; i++)
            sum += first[i] * (i % 5 + 1) + second[i];
    }
    double (*from)[N + 2][N + 2] = malloc(sizeof(double) * (N + 2) * (N + 2) * (N + 2));
    double (*to)[N][N] = calloc(N * N, sizeof(double) * N);
    for (int i = 0; i < (N + 2) * (N + 2) * (N + 2); i++)
        ((double *)from)[i] = i * 31 % 101;
    cube(N, from, to);
    for (int i = 0; i < N * N * N; i++)
        sum += ((double *)to)[i] * (i % 3 + 1);
    printf("%.0f\n", sum);
    free(in), free(wt), free(out), free(first), free(second), free(from), free(to);
    return 0;
}
"#;

#[test]
fn sums_over_windows_are_packed_or_shared() {
    let playground = Playground::with("prog.c", PROGRAM);
    let layer = [
        "reorder S0[0 L0 0 L1 0 L2 0] S1[1 L0 0 L3 0 L4 0 L5 0 L1 0 L2 0] S2[2 L0 0 L1 0 L2 0]",
        "contract S1 rows L9 columns L13,L14 depth L10,L11,L12 register 2x8 lanes 8 block 4x64x36 rows first parallel dynamic",
        "parallelize L6",
        "parallelize L15",
    ];
    let correlate =
        "contract S0 rows L0 columns L1,L2 depth L3,L4 register 2x8 lanes 8 block 4x32x9 rows first parallel";
    let nests = [
        ("layer", json!(layer)),
        ("correlate", json!([correlate])),
        ("mean", json!(["share_sums S1 over L3", "parallelize L0"])),
        ("dilate", json!(["share_sums S1 over L3", "parallelize L0"])),
        ("cube", json!(["share_sums S0 over L5", "share_sums S0 over L4"])),
    ];
    let tuned = replayed(&playground, &nests, &["-O2", "-ffast-math"]).expect("replays");
    assert!(tuned.matches("_packed[").count() > 8 && tuned.matches("part").count() > 8, "{tuned}");
    agree(&playground, "");
}
