// run: read -O3 -ffast-math
// All pairs, array of structures.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
typedef struct { float x, y, z, vx, vy, vz; } body;
/* forces of all bodies on each, positions and velocities of a body in one structure */
static void pull(body *p, float dt, int n) {
    for (int i = 0; i < n; i++) {
        float fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < n; j++) {
            float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
            float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), q = r * r * r;
            fx += dx * q; fy += dy * q; fz += dz * q;
        }
        p[i].vx += dt * fx; p[i].vy += dt * fy; p[i].vz += dt * fz;
    }
}
int main(void) {
    int n = 6000; body *p = malloc(n * sizeof *p);
    for (int i = 0; i < n; i++) p[i] = (body){i % 97 * .1f, i % 89 * .1f, i % 83 * .1f, 0, 0, 0};
    for (int t = 0; t < 4; t++) {
        pull(p, 1e-4f, n);
        for (int i = 0; i < n; i++) p[i].x += p[i].vx * 1e-2f, p[i].y += p[i].vy * 1e-2f, p[i].z += p[i].vz * 1e-2f;
    }
    printf("%.4g %.4g\n", p[7].x, p[n / 2].vy);
}
// ----
// program pull {
//   symbol P0 n: i32
//   array A0 fx: f32 body(L0)
//   array A1 fy: f32 body(L0)
//   array A2 fz: f32 body(L0)
//   array A3 "p[].x": f32[?] global
//   array A4 dx: f32 body(L1)
//   array A5 "p[].y": f32[?] global
//   array A6 dy: f32 body(L1)
//   array A7 "p[].z": f32[?] global
//   array A8 dz: f32 body(L1)
//   array A9 r: f32 body(L1)
//   array A10 q: f32 body(L1)
//   array A11 "p[].vx": f32[?] global
//   array A12 dt: f32 param
//   array A13 "p[].vy": f32[?] global
//   array A14 "p[].vz": f32[?] global
//   view A3 "p[].x" "body *p" record 24 (0 1)
//   view A5 "p[].y" "body *p" record 24 (4 1)
//   view A7 "p[].z" "body *p" record 24 (8 1)
//   view A11 "p[].vx" "body *p" record 24 (12 1)
//   view A13 "p[].vy" "body *p" record 24 (16 1)
//   view A14 "p[].vz" "body *p" record 24 (20 1)
//   dataflow { N0 }
//   nest N0 in pull span 310 .. 722 line 9 {
//     for L0 i: i32 in 0 .. n {
//       S0@10: fx = 0
//       S1@10: fy = 0
//       S2@10: fz = 0
//       for L1 j: i32 in 0 .. n {
//         S3@12: dx = A3[j] - A3[i]
//         S4@12: dy = A5[j] - A5[i]
//         S5@12: dz = A7[j] - A7[i]
//         S6@13: r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-6f)
//         S7@13: q = r * r * r
//         S8@14: fx += dx * q
//         S9@14: fy += dy * q
//         S10@14: fz += dz * q
//       }
//       S11@16: A11[i] += dt * fx
//       S12@16: A13[i] += dt * fy
//       S13@16: A14[i] += dt * fz
//     }
//   }
// }
// program main {
//   array A6 "p[].x": f32[?] global
//   array A7 "p[].y": f32[?] global
//   array A8 "p[].z": f32[?] global
//   array A9 "p[].vx": f32[?] global
//   array A10 "p[].vy": f32[?] global
//   array A11 "p[].vz": f32[?] global
//   array A12 fx: f32 body(L1)
//   array A13 fy: f32 body(L1)
//   array A14 fz: f32 body(L1)
//   array A15 dx: f32 body(L2)
//   array A16 dy: f32 body(L2)
//   array A17 dz: f32 body(L2)
//   array A18 r: f32 body(L2)
//   array A19 q: f32 body(L2)
//   view A6 "p[].x" "body *p" record 24 (0 1)
//   view A7 "p[].y" "body *p" record 24 (4 1)
//   view A8 "p[].z" "body *p" record 24 (8 1)
//   view A9 "p[].vx" "body *p" record 24 (12 1)
//   view A10 "p[].vy" "body *p" record 24 (16 1)
//   view A11 "p[].vz" "body *p" record 24 (20 1)
//   sequence {
//     dataflow { N0 N1 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 797 .. 890 line 21 {
//     for L0 i: i32 in 0 .. 6000 {
//       S6@21: A6[i] = (f32) (i % 97 * .1f)
//       S7@21: A7[i] = (f32) (i % 89 * .1f)
//       S8@21: A8[i] = (f32) (i % 83 * .1f)
//       S9@21: A9[i] = (f32) 0
//       S10@21: A10[i] = (f32) 0
//       S11@21: A11[i] = (f32) 0
//     }
//   }
//   nest N1 in main span 895 .. 1074 line 22 {
//     for L0 t: i32 in 0 .. 4 {
//       for L1 i: i32 in 0 .. 6000 {
//         S0@10: fx = 0
//         S1@10: fy = 0
//         S2@10: fz = 0
//         for L2 j: i32 in 0 .. 6000 {
//           S3@12: dx = A6[j] - A6[i]
//           S4@12: dy = A7[j] - A7[i]
//           S5@12: dz = A8[j] - A8[i]
//           S6@13: r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-6f)
//           S7@13: q = r * r * r
//           S8@14: fx += dx * q
//           S9@14: fy += dy * q
//           S10@14: fz += dz * q
//         }
//         S11@16: A9[i] += 1e-4f * fx
//         S12@16: A10[i] += 1e-4f * fy
//         S13@16: A11[i] += 1e-4f * fz
//       }
//       for L3 i: i32 in 0 .. 6000 {
//         S14@24: A6[i] += A9[i] * 1e-2f
//         S15@24: A7[i] += A10[i] * 1e-2f
//         S16@24: A8[i] += A11[i] * 1e-2f
//       }
//     }
//   }
// }
