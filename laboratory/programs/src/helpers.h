/* Memory, data and check sums of random programs. What is made is kept to the end and let go at once. */
#ifndef HELPERS_H
#define HELPERS_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void **kept;
static long n_kept, n_room;

static inline void *keep(long bytes)
{
    if (n_kept == n_room) {
        n_room = 2 * n_room + 64;
        kept = realloc(kept, n_room * sizeof *kept);
    }
    return kept[n_kept++] = malloc(bytes > 0 ? bytes : 1);
}

static inline void let_go(void)
{
    while (n_kept > 0)
        free(kept[--n_kept]);
    free(kept);
    kept = 0;
    n_room = 0;
}

/* From -16 to 16. */
static inline int number(unsigned seed, long z)
{
    unsigned x = seed * 2654435761u + (unsigned)z * 40503u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (int)(x % 33u) - 16;
}

/* Kinds of rows: 0 evenly in one block, 1 each by itself, 2 evenly and backwards, 3 with uneven gaps, 4 the last one is the first. */
#define HELPERS(S, T, VALUE) \
    static inline T value_##S(unsigned seed, long z) { return VALUE; } \
    static inline void fill_##S(T *p, long n, unsigned seed) \
    { \
        for (long z = 0; z < n; z++) \
            p[z] = value_##S(seed, z); \
    } \
    static inline T *some_##S(long n, unsigned seed) \
    { \
        T *p = keep(n * sizeof(T)); \
        fill_##S(p, n, seed); \
        return p; \
    } \
    static inline T **rows_##S(long n, long m, int kind, unsigned seed) \
    { \
        T **u = keep(n * sizeof *u), *block = keep(n * (m + 4) * sizeof(T)); \
        for (long i = 0, at = 0; i < n; i++) { \
            u[i] = kind == 0 ? block + i * m : kind == 1 ? keep(m * sizeof(T)) : kind == 2 ? block + (n - 1 - i) * m : \
                kind == 3 ? block + at : i == n - 1 ? u[0] : block + i * (m + 1); \
            if (kind == 4 && n == 1) \
                u[i] = block; \
            at += m + i * 5 % 4; \
            fill_##S(u[i], m, seed + i); \
        } \
        return u; \
    } \
    static inline T ***cube_##S(long n, long m, long l, int kind, unsigned seed) \
    { \
        T ***u = keep(n * sizeof *u); \
        if (kind != 0) { \
            for (long i = 0; i < n; i++) \
                u[i] = rows_##S(m, l, kind, seed + 31 * i); \
            return u; \
        } \
        T **rows = keep(n * m * sizeof *rows), *block = some_##S(n * m * l, seed); \
        for (long i = 0; i < n; i++) { \
            u[i] = rows + i * m; \
            for (long j = 0; j < m; j++) \
                u[i][j] = block + (i * m + j) * l; \
        } \
        return u; \
    } \
    static inline void add_##S(struct check *c, const T *p, long n) \
    { \
        for (long z = 0; z < n; z++) \
            check(c, (double)p[z]); \
    } \
    static inline void show_##S(const char *name, const T *p, long n) \
    { \
        struct check c = {0}; \
        add_##S(&c, p, n); \
        show(name, &c); \
    } \
    static inline void show_rows_##S(const char *name, T **p, long n, long m) \
    { \
        struct check c = {0}; \
        for (long i = 0; i < n; i++) \
            add_##S(&c, p[i], m); \
        show(name, &c); \
    } \
    static inline void show_cube_##S(const char *name, T ***p, long n, long m, long l) \
    { \
        struct check c = {0}; \
        for (long i = 0; i < n; i++) \
            for (long j = 0; j < m; j++) \
                add_##S(&c, p[i][j], l); \
        show(name, &c); \
    }

struct check {
    long n;
    double sum, size;
    uint64_t hash;
};

static inline void check(struct check *c, double x)
{
    uint64_t bits;
    if (x != x)
        x = 12345; /* Of these, compilers choose sign and payload. */
    memcpy(&bits, &x, sizeof bits);
    c->n++;
    c->sum += x * (1 + c->n % 7);
    c->size += x < 0 ? -x : x;
    c->hash = (c->hash ^ bits) * 1099511628211u + (c->hash >> 29);
}

static inline void show(const char *name, const struct check *c)
{
    printf("%s %ld %.15g %.15g %016llx\n", name, c->n, c->sum, c->size, (unsigned long long)c->hash);
}

HELPERS(d, double, number(seed, z) * 0.25)
HELPERS(f, float, number(seed, z) * 0.25f)
HELPERS(i, int, number(seed, z))
HELPERS(l, long, number(seed, z) * 3L)
HELPERS(u, unsigned, (unsigned)number(seed, z) * 2246822519u)

/* Numbers from 0 to n - 1 in an order of their own; n may be 0. */
static inline int *places(long count, long n, unsigned seed)
{
    int *p = keep(count * sizeof *p);
    for (long z = 0; z < count; z++)
        p[z] = n > 0 ? (int)((number(seed, z) + 16 + 7 * z) % n) : 0;
    return p;
}
#endif
