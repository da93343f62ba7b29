// run: read -O3 -ffast-math
// Members of a file-scope structure read in a called function.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
struct view { double eye, zoom; } view;
double lamp = 1;
/* the function of a pixel reads file-scope variables that main set from its arguments */
static double shade(int i, int j) {
    double x = (i - 500) * view.zoom, y = (j - 500) * view.zoom, d = x * x + y * y + view.eye;
    return lamp / sqrt(d * d * d);
}
static double img[1000][1000];
int main(int argc, char **argv) {
    view.eye = argc > 1 ? atof(argv[1]) : 2; view.zoom = 0.01;
    if (argc > 2) lamp = atof(argv[2]);
    for (int r = 0; r < 200; r++) {
        for (int i = 0; i < 1000; i++)
            for (int j = 0; j < 1000; j++) img[i][j] += shade(i, j);
        view.eye *= 0.99;
    }
    double s = 0;
    for (int i = 0; i < 1000; i++) s += img[i][i * 3 % 1000];
    printf("%.10g\n", s);
}
// ----
// program main {
//   array A0 img: f64[1000][1000] global
//   array A1 "view.zoom": f64 global
//   array A2 "view.eye": f64 global
//   array A3 lamp: f64 global
//   array A4 s: f64 local
//   view A1 "view.zoom" "struct view view"
//   view A2 "view.eye" "struct view view"
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N0 }
//     opaque "not a loop" reads() writes(s)
//     dataflow { N1 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 637 .. 808 line 17 {
//     for L0 r: i32 in 0 .. 200 {
//       for L1 i: i32 in 0 .. 1000 {
//         for L2 j: i32 in 0 .. 1000 {
//           S0@19: img[i][j] += lamp / sqrt(((i - 500) * A1 * ((i - 500) * A1) + (j - 500) * A1 * ((j - 500) * A1) + A2) * ((i - 500) * A1 * ((i - 500) * A1) + (j - 500) * A1 * ((j - 500) * A1) + A2) * ((i - 500) * A1 * ((i - 500) * A1) + (j - 500) * A1 * ((j - 500) * A1) + A2))
//         }
//       }
//       S1@20: A2 *= 0.99
//     }
//   }
//   nest N1 in main span 831 .. 888 line 23 live_out(s) {
//     for L0 i: i32 in 0 .. 1000 {
//       S0@23: s += img[i][3*i % 1000]
//     }
//   }
// }
