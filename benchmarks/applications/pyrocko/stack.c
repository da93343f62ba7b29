/* Shift and stack: every row of the result is a weighted sum of recordings, each delayed by its own number of samples.
 * With -DLARGEST, only the largest sample of each row is kept. Recordings have SAMPLES to SAMPLES + 4 samples: in rows
 * that are as long as the longest, or with -DRAGGED each in memory of its own.
 *
 *     stack [FOLDER [ARRAYS SHIFTS SAMPLES SEED]] */
#include "../application.h"

#ifndef ARRAYS
#define ARRAYS 30
#endif
#ifndef SHIFTS
#define SHIFTS 1000
#endif
#ifndef SAMPLES
#define SAMPLES 6000
#endif

#ifdef DOUBLE
#define REAL double
#define INPUT_REAL INPUT_DOUBLE
#define OUTPUT_REAL OUTPUT_DOUBLE
#else
#define REAL float
#define INPUT_REAL INPUT_FLOAT
#define OUTPUT_REAL OUTPUT_FLOAT
#endif

#ifdef RAGGED
#define RECORDINGS REAL **arrays
#else
#define RECORDINGS REAL arrays[narrays][longest]
#endif

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

/* First sample of the earliest trace, and number of samples to the end of the latest. */
static void extent(int narrays, const int *lengths, const int *offsets, int nshifts, const int *shifts, int *first,
                   int *nsamples)
{
    int begin = offsets[0] + shifts[0];
    int end = begin + lengths[0];
    for (int s = 0; s < nshifts; s++) {
        for (int a = 0; a < narrays; a++) {
            int start = offsets[a] + shifts[s * narrays + a];
            begin = min(begin, start);
            end = max(end, start + lengths[a]);
        }
    }
    *first = begin;
    *nsamples = end - begin;
}

#ifdef LARGEST
static void stack(int narrays, int longest, RECORDINGS, const int *lengths, const int *offsets, int nshifts,
                  const int *shifts, const REAL *weights, int first, int nsamples, REAL *restrict result)
{
    for (int s = 0; s < nshifts; s++) {
        REAL trace[nsamples];
        for (int i = 0; i < nsamples; i++)
            trace[i] = 0;
        for (int a = 0; a < narrays; a++) {
            REAL weight = weights[s * narrays + a];
            if (weight == 0)
                continue;
            int start = offsets[a] + shifts[s * narrays + a];
            int begin = max(0, first - start);
            int end = max(0, min(nsamples - start + first, lengths[a]));
            for (int i = begin; i < end; i++)
                trace[start - first + i] += arrays[a][i] * weight;
        }
        REAL largest = 0;
        for (int i = 0; i < nsamples; i++)
            if (trace[i] > largest)
                largest = trace[i];
        result[s] = largest;
    }
}
#else
static void stack(int narrays, int longest, RECORDINGS, const int *lengths, const int *offsets, int nshifts,
                  const int *shifts, const REAL *weights, int first, int nsamples, REAL *restrict result)
{
    for (int s = 0; s < nshifts; s++) {
        for (int a = 0; a < narrays; a++) {
            REAL weight = weights[s * narrays + a];
            if (weight == 0)
                continue;
            int start = offsets[a] + shifts[s * narrays + a];
            int begin = max(0, first - start);
            int end = max(0, min(nsamples - start + first, lengths[a]));
            for (int i = begin; i < end; i++)
                result[s * nsamples + start - first + i] += arrays[a][i] * weight;
        }
    }
}
#endif

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    int narrays = argc > 5 ? atoi(argv[2]) : ARRAYS;
    int nshifts = argc > 5 ? atoi(argv[3]) : SHIFTS;
    int length = argc > 5 ? atoi(argv[4]) : SAMPLES;
    unsigned seed = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
    int longest = length + 4;
    int spread = max(5, length / 20);

    int *lengths = zeros(narrays, sizeof(int)), *offsets = zeros(narrays, sizeof(int));
    int *shifts = zeros((size_t)nshifts * narrays, sizeof(int));
    REAL *weights = zeros((size_t)nshifts * narrays, sizeof(REAL));
    REAL(*block)[longest] = zeros((size_t)narrays * longest, sizeof(REAL));
    for (int a = 0; a < narrays; a++) {
        lengths[a] = length + (int)(5 * random_number(&seed));
        offsets[a] = (int)(11 * random_number(&seed)) - 5;
        for (int i = 0; i < lengths[a]; i++)
            block[a][i] = (REAL)(2 * random_number(&seed) - 1);
    }
    for (int k = 0; k < nshifts * narrays; k++) {
        shifts[k] = (int)((2 * spread + 1) * random_number(&seed)) - spread;
        REAL weight = (REAL)(2 * random_number(&seed));
        weights[k] = random_number(&seed) < 1.0 / 16 ? 0 : weight;
    }
#ifdef RAGGED
    REAL **arrays = zeros(narrays, sizeof(REAL *));
    for (int a = 0; a < narrays; a++) {
        arrays[a] = zeros(lengths[a], sizeof(REAL));
        memcpy(arrays[a], block[a], sizeof(REAL) * lengths[a]);
    }
#else
    REAL(*arrays)[longest] = block;
#endif
    INPUT_INT(lengths, narrays);
    INPUT_INT(offsets, narrays);
    INPUT_INT(shifts, nshifts, narrays);
    INPUT_REAL(weights, nshifts, narrays);
    INPUT_REAL(block, narrays, longest);

    int first, nsamples;
    extent(narrays, lengths, offsets, nshifts, shifts, &first, &nsamples);
    double work = 0;
    for (int k = 0; k < nshifts * narrays; k++)
        work += weights[k] == 0 ? 0 : lengths[k % narrays];
#ifdef LARGEST
    int columns = 1;
#else
    int columns = nsamples;
#endif
    REAL *result = malloc(sizeof(REAL) * nshifts * columns);
    if (!result)
        return 1;
    for (int k = 0; k < nshifts * columns; k++)
        result[k] = 0;
    bench_start();
    stack(narrays, longest, arrays, lengths, offsets, nshifts, shifts, weights, first, nsamples, result);
    bench_stop();
    kernel_work(work);
    OUTPUT_REAL(result, nshifts, columns);
    int begin[1] = {first};
    OUTPUT_INT(begin, 1);
#ifdef RAGGED
    for (int a = 0; a < narrays; a++)
        free(arrays[a]);
    free(arrays);
#endif
    free(block);
    free(lengths);
    free(offsets);
    free(shifts);
    free(weights);
    free(result);
    return 0;
}
