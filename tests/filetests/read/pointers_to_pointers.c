// run: read -O3
// What a function returns through a pointer to a pointer: `(*mod)->data`. The ends of the loops, `p - 1`, are tested not to be below zero.
#include <math.h>
struct image { double *data; unsigned xsize, ysize; };
void angles(struct image *in, struct image **mod, struct image *g)
{
    unsigned n = in->ysize, p = in->xsize;
    for (unsigned x = 0; x < p - 1; x++)
        for (unsigned y = 0; y < n - 1; y++) {
            unsigned adr = y * p + x;
            double gx = in->data[adr + 1] - in->data[adr];
            mod[0]->data[adr] = fabs(gx);
            if (gx <= 1) g->data[adr] = -1024;
            else g->data[adr] = gx;
        }
}
// ----
// program angles {
//   symbol P0 p: u32
//   symbol P1 n: u32
//   assume p >= 0
//   assume n >= 0
//   array A0 "in->data": f64[?][p] global linear
//   array A1 gx: f64 body(L1)
//   array A2 "(*mod)->data": f64[?][p] global linear
//   array A3 "g->data": f64[?][p] global linear
//   may_alias A0 A2
//   may_alias A0 A3
//   may_alias A2 A3
//   view A0 "in*.data" "struct image *in" loaded
//   view A2 "mod**.data" "struct image **mod" loaded
//   view A3 "g*.data" "struct image *g" loaded
//   entry N0 reached(0 < p - 1 && 0 < n - 1) test(p - 1 >= 0) test(n - 1 >= 0) test(p <= 2147483647) test(n <= 2147483647)
//   dataflow { N0 }
//   nest N0 in angles span 346 .. 661 line 8 mentions(p, n) {
//     for L0 x: u32 in 0 .. p - 1 {
//       for L1 y: u32 in 0 .. n - 1 {
//         S0@11: gx = A0[y][x + 1] - A0[y][x]
//         S1@12: A2[y][x] = fabs(gx)
//         if gx <= 1 {
//           S2@13: A3[y][x] = -1024
//         } else {
//           S3@14: A3[y][x] = gx
//         }
//       }
//     }
//   }
// }
