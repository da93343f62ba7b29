// run: read -O3 -ffast-math
// A convolution over arrays in structures.
#include <stdio.h>
#include <stdlib.h>
typedef struct { int w, h, c; float *data; } image;
typedef struct { int size, in, out; float *weight, *bias; } layer;
/* a convolution of several channels, structures passed by value and by pointer */
image convolve(layer *l, image im) {
    int w = im.w - l->size + 1, h = im.h - l->size + 1, n = l->size;
    float *out = malloc(sizeof(float) * w * h * l->out);
    for (int o = 0; o < l->out; o++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                float s = 0;
                for (int c = 0; c < l->in; c++)
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < n; i++)
                            s += im.data[c * im.h * im.w + (y + j) * im.w + x + i] * l->weight[o * l->in * n * n + c * n * n + j * n + i];
                out[o * h * w + y * w + x] = s + l->bias[o] > 0 ? s + l->bias[o] : 0;
            }
    return (image){w, h, l->out, out};
}
static float *some(int n, float f) { float *p = malloc(n * 4); for (int i = 0; i < n; i++) p[i] = (i * 37 % 101 - 45) * f; return p; }
int main(void) {
    layer l = {5, 4, 12, some(1200, .001f), some(12, .01f)}; image a = {220, 200, 4, some(220 * 200 * 4, .01f)}; double s = 0;
    for (int r = 0; r < 20; r++) { image b = convolve(&l, a); for (int i = 0; i < 12 * b.w * b.h; i += 5) s += b.data[i]; free(b.data); a.data[r] += 1; }
    printf("%.5g\n", s);
}
// ----
// program convolve {
//   symbol P0 "l->out": i32
//   symbol P1 h: i32
//   symbol P2 w: i32
//   symbol P3 "l->in": i32
//   symbol P4 n: i32
//   symbol P5 "im.h": i32
//   symbol P6 "im.w": i32
//   array A0 s: f32 body(L2)
//   array A1 "im.data": f32[?][P5][P6] global linear
//   array A2 "l->weight": f32[?][P3][n][n] global linear
//   array A3 out: f32[?][h][w] local linear
//   array A4 "l->bias": f32[?] global
//   may_alias A1 out
//   may_alias A2 out
//   may_alias out A4
//   view P0 "l*.out" "layer *l"
//   view P3 "l*.in" "layer *l"
//   view P5 "im.h" "image im"
//   view P6 "im.w" "image im"
//   view A1 "im.data" "image im" loaded
//   view A2 "l*.weight" "layer *l" loaded
//   view A4 "l*.bias" "layer *l" loaded
//   entry N0 test(h + n - 2 < P5) test(w + n - 2 < P6)
//   sequence {
//     opaque "not a loop" reads() writes(out)
//     dataflow { N0 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in convolve span 481 .. 1007 line 11 live_out(out) {
//     for L0 o: i32 in 0 .. P0 {
//       for L1 y: i32 in 0 .. h {
//         for L2 x: i32 in 0 .. w {
//           S0@14: s = 0
//           for L3 c: i32 in 0 .. P3 {
//             for L4 j: i32 in 0 .. n {
//               for L5 i: i32 in 0 .. n {
//                 S1@18: s += A1[c][y + j][x + i] * A2[o][c][j][i]
//               }
//             }
//           }
//           S2@19: out[o][y][x] = max(s + A4[o], 0)
//         }
//       }
//     }
//   }
// }
// program some {
//   symbol P0 n: i32
//   array A0 p: f32[?] local
//   array A1 f: f32 param
//   sequence {
//     opaque "not a loop" reads() writes(p)
//     dataflow { N0 }
//     opaque "not a loop" reads(p) writes()
//   }
//   nest N0 in some span 1112 .. 1171 line 23 live_out(p) {
//     for L0 i: i32 in 0 .. n {
//       S0@23: p[i] = (37*i % 101 - 45) * f
//     }
//   }
// }
// program main {
//   symbol P0 r: i32
//   symbol P1 "b.w": i32
//   symbol P2 "b.h": i32
//   symbol P3 "((12 * (long)b.w) * (long)b.h)": i64
//   array A0 s: f64 local
//   array A1 "b.data": f32[?] global
//   view P1 "b.w" "image b"
//   view P2 "b.h" "image b"
//   view A1 "b.data" "image b" loaded
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     loop r in 0 .. 20 {
//       sequence {
//         opaque "not a loop" reads(*) writes(*)
//         dataflow { N0 }
//         opaque "not a loop" reads(A1) writes()
//       }
//     }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 1390 .. 1449 line 26 live_out(s) mentions(P1, P2) {
//     for L0 i: i32 in 0 .. P3 step 5 {
//       S0@26: s += A1[i]
//     }
//   }
// }
// note: `convolve` is called, which does not return a number
//   --> t.c:26:46
//    |
// 26 |     for (int r = 0; r < 20; r++) { image b = convolve(&l, a); for (int i = 0; i < 12 * b.w * b.h; i += 5) s += b.data[i]; free(b.dat...
//    |                                              ^^^^^^^^^^^^^^^ the loop at line 26 stays as it is
//    |
//    = help: write what it computes in place of the call
