//! Vectors of SSE and AVX, read as the numbers in their lanes.

use crate::common::{same_output, same_output_by, shown};
use insta::assert_snapshot;

const MAIN: &str = "
int main(int argc, char **argv)
{
    int n = 16 * atoi(argv[1]);
    float *x = malloc((n + 32) * sizeof *x), *y = malloc((n + 32) * sizeof *y), *r = malloc((n + 32) * sizeof *r);
    double *d = malloc((n + 32) * sizeof *d), *e = malloc((n + 32) * sizeof *e);
    for (int i = 0; i < n + 32; i++) {
        x[i] = (i * 7 % 13 - 6) * 0.25f;
        y[i] = (i * 5 % 11 - 4) * 0.5f;
        r[i] = i % 9;
        d[i] = i % 17 - 8;
        e[i] = i % 5 + 0.5;
    }
    run(n, x, y, r, d, e);
    for (int i = 0; i < n + 32; i++)
        printf(\"%g %g %g %g %g\\n\", x[i], y[i], r[i], d[i], e[i]);
    free(x);
    free(y);
    free(r);
    free(d);
    free(e);
    return 0;
}
";

#[test]
fn a_dot_product_is_a_loop_over_lanes() {
    assert_snapshot!(shown(
        "#define __OPTIMIZE__ 1
#include <xmmintrin.h>
void dots(int n, int m, const float *restrict x, const float *restrict y, float *restrict r)
{
    for (int i = 0; i < m; i++) {
        __m128 s = _mm_setzero_ps();
        for (int k = 0; k < n; k += 4)
            s = _mm_add_ps(s, _mm_mul_ps(_mm_loadu_ps(x + k), _mm_loadu_ps(&y[i * n + k])));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        s = _mm_add_ss(s, _mm_shuffle_ps(s, s, 1));
        r[i] = _mm_cvtss_f32(s);
    }
}
"
    ));
}

/// Whatever is not known leaves its variables as they are.
#[test]
fn what_is_not_known_is_not_read() {
    assert_snapshot!(shown(
        "#include <emmintrin.h>
static __m128 twice(__m128 v) { return _mm_add_ps(v, v); }
void unknown(int n, float *x)
{
    for (int i = 0; i < n; i += 4) {
        __m128 v = _mm_loadu_ps(x + i);
        v = _mm_rsqrt_ps(v);
        _mm_storeu_ps(x + i, v);
    }
    for (int i = 0; i < n; i += 4)
        _mm_storeu_ps(x + i, twice(_mm_loadu_ps(x + i)));
    volatile __m128 seen = _mm_setzero_ps();
    for (int i = 0; i < n; i += 4)
        seen = _mm_loadu_ps(x + i);
    for (int i = 0; i < n; i += 4) {
        __m128 v = _mm_loadu_ps(x + i);
        float *inside = (float *)&v;
        inside[1] = inside[2];
        _mm_storeu_ps(x + i, v);
    }
}
"
    ));
}

/// Vectors that are set before a loop, or used behind it, are variables of the program like others.
#[test]
fn vectors_are_live_across_loops() {
    assert_snapshot!(shown(
        "#define __OPTIMIZE__ 1
#include <emmintrin.h>
float across(int n, float *x, __m128 outside)
{
    const __m128 first = _mm_loadu_ps(x);
    __m128 sums[2] = {first, first}, sum = _mm_setzero_ps();
    for (int i = 0; i < n; i += 4) {
        sum = _mm_add_ps(sum, _mm_loadu_ps(x + i));
        _mm_storeu_ps(x + i, _mm_mul_ps(first, outside));
    }
    sum = _mm_add_ss(sum, outside);
    __m128d pairs[2];
    pairs[0] = pairs[1] = _mm_setzero_pd();
    for (int i = 0; i < n; i++)
        pairs[i % 2] = _mm_sub_pd(pairs[i % 2], _mm_set1_pd(x[i]));
    return _mm_cvtss_f32(sum) + _mm_cvtsd_f64(pairs[1]);
}
"
    ));
}

#[test]
fn programs_compute_the_same() {
    let program = format!(
        "#define __OPTIMIZE__ 1
#include <emmintrin.h>
static float dot(int n, const float *x, const float *y)
{{
    __m128 s = _mm_setzero_ps();
    for (int i = 0; i + 4 <= n; i += 4) s = _mm_add_ps(s, _mm_mul_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
    float t[4]; _mm_storeu_ps(t, s);
    return t[0] + t[1] + t[2] + t[3];
}}
static void run(int n, float *x, float *y, float *r, double *d, double *e)
{{
    for (int i = 0; i < n; i++)
        r[i] += dot(n, x, y + i % 4);
    for (int i = 0; i < n; i += 4) {{
        __m128 a = _mm_loadu_ps(x + i), b = _mm_loadu_ps(&y[i]), c = _mm_set1_ps(1.5);
        __m128 low = _mm_min_ps(a, b), high = _mm_max_ps(a, b);
        a = _mm_sub_ps(_mm_div_ps(high, _mm_add_ps(c, _mm_mul_ps(b, b))), low);
        b = -a * c;
        _mm_storeu_ps(y + i, _mm_sqrt_ps(_mm_mul_ps(b, b)));
        _mm_storeu_ps(r + i, a);
    }}
    // Each store comes after all loads of its value, wherever they are.
    for (int i = 0; i < n; i += 4)
        _mm_storeu_ps(x + i + 1, _mm_loadu_ps(x + i));
    for (int i = 0; i < n; i += 4)
        _mm_storeu_ps(x + i, _mm_add_ps(_mm_loadu_ps(x + i + 3), _mm_set1_ps(x[i + 1])));
    for (int i = 0; i < n; i += 4)
        _mm_storeu_ps(x + i, _mm_shuffle_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(x + i), 0x1b));
    for (int i = 0; i < n; i += 4) {{
        __m128 v = _mm_loadu_ps(r + i);
        v = _mm_shuffle_ps(v, v, 0x4e);
        v = _mm_unpacklo_ps(v, _mm_unpackhi_ps(v, v));
        v = _mm_movelh_ps(v, _mm_set_ps(i, 3, r[i], 1));
        _mm_storeu_ps(r + i, _mm_add_ps(v, _mm_setr_ps(1, 2, 3, 4)));
        _mm_store_ss(y + i, _mm_add_ss(v, _mm_set_ss(2)));
    }}
    for (int i = 0; i < n; i += 4)
        _mm_storeu_ps(y + i, _mm_add_ps(_mm_load1_ps(y + i), _mm_loadu_ps(y + i)));
    for (int i = 0; i < n; i += 4) {{
        __m128 v = _mm_mul_ps(_mm_set1_ps(n * 0.5f), _mm_loadu_ps(x + i));
        _mm_store_ps1(x + i, v);
    }}
    const __m128 half = _mm_set1_ps(0.5f);
    __m128 most = _mm_loadu_ps(x), last[2];
    last[0] = last[1] = half;
    for (int i = 0; i < n; i += 4) {{
        most = _mm_max_ps(most, _mm_mul_ps(half, _mm_loadu_ps(x + i)));
        last[0] = _mm_add_ps(last[1], last[0]);
        last[1] = _mm_shuffle_ps(most, last[0], 0x1b);
    }}
    _mm_storeu_ps(y, _mm_add_ps(most, last[0]));
    _mm_storeu_ps(y + 4, last[1]);
    for (int i = 0; i < n; i += 2) {{
        __m128d sums[2];
        sums[0] = _mm_load1_pd(e + i);
        sums[1] = _mm_unpackhi_pd(_mm_loadu_pd(d + i), sums[0]);
        for (int k = 0; k < 3; k++) {{
            sums[0] = _mm_add_pd(sums[0], _mm_loadu_pd(d + i + k));
            sums[1] = _mm_sub_pd(sums[1], _mm_mul_pd(sums[0], _mm_set1_pd(0.5)));
        }}
        _mm_storeu_pd(e + i, _mm_add_pd(sums[0], _mm_shuffle_pd(sums[1], sums[1], 1)));
        d[i] += _mm_cvtsd_f64(sums[1]);
    }}
}}
{MAIN}"
    );
    same_output(&program, 10, &["0", "1", "3"]);
}

/// With fused products, and vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[test]
fn longer_vectors_compute_the_same() {
    if !(std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("fma")) {
        return;
    }
    let program = format!(
        "#define __OPTIMIZE__ 1
#include <immintrin.h>
static void run(int n, float *x, float *y, float *r, double *d, double *e)
{{
    for (int i = 0; i < n; i++) {{
        __m256 s = _mm256_setzero_ps();
        for (int k = 0; k < n; k += 8)
            s = _mm256_fmadd_ps(_mm256_loadu_ps(x + k), _mm256_broadcast_ss(y + i), s);
        __m128 half = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
        half = _mm_hadd_ps(half, half);
        half = _mm_hadd_ps(half, half);
        r[i] = _mm_cvtss_f32(half);
    }}
    for (int i = 0; i < n; i += 4) {{
        __m256d v = _mm256_fnmadd_pd(_mm256_loadu_pd(d + i), _mm256_set1_pd(0.25), _mm256_loadu_pd(e + i));
        _mm256_storeu_pd(e + i, _mm256_max_pd(v, _mm256_set_pd(4, 3, 2, 1)));
        d[i] = _mm256_cvtsd_f64(v);
    }}
}}
{MAIN}"
    );
    same_output_by(&program, 2, &["0", "1", "3"], ("gcc", &["-O2", "-mavx", "-mfma", "-w"]));
}
