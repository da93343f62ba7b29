// run: read -O3
// A product of 32 unsigned bits that wraps around ends the loop early: where it would, the user's own loop runs.
void shifted(float *x, unsigned u, float s) {
    for (unsigned i = 0; i < (u << 3); i++) x[i] = x[i] * s;
}
void product(float *x, unsigned u, unsigned v, float s) {
    for (unsigned long i = 0; i < u * v; i++) x[i] = x[i] * s;
}
void first(float *x, unsigned u, unsigned n, float s) {
    for (unsigned i = 3 * u; i < n; i++) x[i] = x[i] * s;
}
// The rest of such a sum is tested anyway.
void plain(float *x, unsigned u, float s) {
    for (unsigned i = 0; i < u; i++) x[i] = x[i] * s;
}
// ----
// program shifted {
//   symbol P0 u: u32
//   assume u >= 0
//   array A0 x: f32[?] param
//   array A1 s: f32 param
//   entry N0 test(4294967295 - 8*u >= 0) test(u <= 2147483647)
//   dataflow { N0 }
//   nest N0 in shifted span 181 .. 237 line 4 mentions(u) {
//     for L0 i: u32 in 0 .. 8*u {
//       S0@4: x[i] *= s
//     }
//   }
// }
// program product {
//   symbol P0 u: u32
//   symbol P1 v: u32
//   symbol P2 "((long)u * (long)v)": i64
//   assume u >= 0
//   assume v >= 0
//   array A0 x: f32[?] param
//   array A1 s: f32 param
//   entry N0 test(u * v <= 4294967295) test(u <= 2147483647) test(v <= 2147483647)
//   dataflow { N0 }
//   nest N0 in product span 302 .. 360 line 7 mentions(u, v) {
//     for L0 i: u64 in 0 .. P2 {
//       S0@7: x[i] *= s
//     }
//   }
// }
// program first {
//   symbol P0 u: u32
//   symbol P1 n: u32
//   assume u >= 0
//   assume n >= 0
//   array A0 x: f32[?] param
//   array A1 s: f32 param
//   entry N0 test(4294967295 - 3*u >= 0) test(u <= 2147483647)
//   dataflow { N0 }
//   nest N0 in first span 423 .. 476 line 10 mentions(u) {
//     for L0 i: u32 in 3*u .. n {
//       S0@10: x[i] *= s
//     }
//   }
// }
// program plain {
//   symbol P0 u: u32
//   assume u >= 0
//   array A0 x: f32[?] param
//   array A1 s: f32 param
//   dataflow { N0 }
//   nest N0 in plain span 571 .. 620 line 14 {
//     for L0 i: u32 in 0 .. u {
//       S0@14: x[i] *= s
//     }
//   }
// }
