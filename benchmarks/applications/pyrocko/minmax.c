/* The largest and the smallest number of every column, and the rows in which they stand first. The largest starts at
 * DBL_MIN, as in the package: columns without a larger number have row 0.
 *
 *     minmax [FOLDER [ROWS COLUMNS SEED]] */
#include <float.h>
#include "../application.h"

#ifndef ROWS
#define ROWS 1000
#endif
#ifndef COLUMNS
#define COLUMNS 6000
#endif

static void minmax(int ny, int nx, const double *a, double *largest, double *smallest, int *row_of_largest,
                   int *row_of_smallest)
{
    for (int x = 0; x < nx; x++) {
        double high = DBL_MIN, low = DBL_MAX;
        int high_row = 0, low_row = 0;
        for (int y = 0; y < ny; y++) {
            double value = a[y * nx + x];
            if (value > high) {
                high = value;
                high_row = y;
            }
            if (value < low) {
                low = value;
                low_row = y;
            }
        }
        largest[x] = high;
        smallest[x] = low;
        row_of_largest[x] = high_row;
        row_of_smallest[x] = low_row;
    }
}

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    int ny = argc > 4 ? atoi(argv[2]) : ROWS;
    int nx = argc > 4 ? atoi(argv[3]) : COLUMNS;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    double *a = zeros_double((size_t)ny * nx);
    double *largest = zeros_double(nx), *smallest = zeros_double(nx);
    int *row_of_largest = zeros(nx, sizeof(int)), *row_of_smallest = zeros(nx, sizeof(int));
    /* Of few different numbers, so that there are ties, and none above zero in every 16th column. */
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            a[y * nx + x] = (int)(1000 * random_number(&seed)) - (x % 16 == 0 ? 1000 : 500);
    INPUT_DOUBLE(a, ny, nx);

    bench_start();
    minmax(ny, nx, a, largest, smallest, row_of_largest, row_of_smallest);
    bench_stop();
    kernel_work((double)ny * nx);
    OUTPUT_DOUBLE(largest, nx);
    OUTPUT_DOUBLE(smallest, nx);
    OUTPUT_INT(row_of_largest, nx);
    OUTPUT_INT(row_of_smallest, nx);
    free(a);
    free(largest);
    free(smallest);
    free(row_of_largest);
    free(row_of_smallest);
    return 0;
}
