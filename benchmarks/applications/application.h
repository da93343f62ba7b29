/* What the applications share: inputs that are the same on every machine, and fields as NumPy files.
 *
 * A program that is given a folder writes its inputs there as in_NAME.npy and its results as out_NAME.npy, from which
 * oracle.py and peer.py work. Without one it writes no files. It always prints a checksum of each result, and with
 * -DOXEYE_TIME it writes to standard error the seconds between bench_start() and bench_stop() ("kernel_seconds: ...")
 * and how much work that was ("kernel_work: ..."). */
#ifndef APPLICATION_H
#define APPLICATION_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/bench.h"

static const char *fields_folder;

/* To be called first, with the arguments of main. */
static inline void fields_open(int argc, char **argv)
{
    fields_folder = argc > 1 ? argv[1] : NULL;
}

static inline void fields_write(const char *name, const char *type, size_t width, const void *data, int n_dims,
                                const long *dims)
{
    if (!fields_folder)
        return;
    char path[4096], header[256], shape[160] = "";
    size_t n = 1;
    for (int d = 0; d < n_dims; d++) {
        n *= (size_t)dims[d];
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%ld,", dims[d]);
    }
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    snprintf(path, sizeof path, "%s/%s.npy", fields_folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    start[8] = (unsigned char)(padded & 255);
    start[9] = (unsigned char)(padded >> 8);
    fwrite(start, 1, sizeof start, file);
    fprintf(file, "%-*s\n", padded - 1, header);
    if (fwrite(data, width, n, file) != n || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static inline size_t fields_count(int n_dims, const long *dims)
{
    size_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= (size_t)dims[d];
    return n;
}

/* Inputs: NAME is the name of the array in C, the rest its extents. */
#define INPUT(letter, type, name, ...)                                                                                 \
    fields_write("in_" #name, letter, sizeof(type), name, (int)(sizeof((long[]){__VA_ARGS__}) / sizeof(long)),         \
                 (long[]){__VA_ARGS__})
#define INPUT_FLOAT(name, ...) INPUT("<f4", float, name, __VA_ARGS__)
#define INPUT_DOUBLE(name, ...) INPUT("<f8", double, name, __VA_ARGS__)
#define INPUT_INT(name, ...) INPUT("<i4", int32_t, name, __VA_ARGS__)
#define INPUT_LONG(name, ...) INPUT("<i8", int64_t, name, __VA_ARGS__)
/* A number; integers are read as integers. */
#define INPUT_NUMBER(name) fields_write("in_" #name, "<f8", sizeof(double), (double[]){(double)(name)}, 1, (long[]){1})

/* Results: written as inputs are, and summed up. */
#define OUTPUT(letter, type, sum, name, ...)                                                                           \
    do {                                                                                                               \
        long dims_[] = {__VA_ARGS__};                                                                                  \
        int n_dims_ = (int)(sizeof dims_ / sizeof dims_[0]);                                                           \
        fields_write("out_" #name, letter, sizeof(type), name, n_dims_, dims_);                                        \
        sum(#name, (const type *)name, fields_count(n_dims_, dims_));                                                                \
    } while (0)
#define OUTPUT_FLOAT(name, ...) OUTPUT("<f4", float, checksum_float, name, __VA_ARGS__)
#define OUTPUT_DOUBLE(name, ...) OUTPUT("<f8", double, checksum, name, __VA_ARGS__)
#define OUTPUT_INT(name, ...) OUTPUT("<i4", int32_t, checksum_int, name, __VA_ARGS__)

/* How much was computed between bench_start() and bench_stop(), in the unit that application.toml names. */
static inline void kernel_work(double amount)
{
#ifdef OXEYE_TIME
    fprintf(stderr, "kernel_work: %.17g\n", amount);
#else
    (void)amount;
#endif
}

/* Memory for n elements, all zero. */
static inline void *zeros(size_t n, size_t width)
{
    void *memory = calloc(n, width);
    if (!memory) {
        fprintf(stderr, "no memory for %zu elements\n", n);
        exit(1);
    }
    return memory;
}

static inline float *zeros_float(size_t n)
{
    return zeros(n, sizeof(float));
}

static inline double *zeros_double(size_t n)
{
    return zeros(n, sizeof(double));
}

/* A number from 0 to 1, not including 1; the state goes on. */
static inline double random_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

#endif
