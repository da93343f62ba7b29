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
