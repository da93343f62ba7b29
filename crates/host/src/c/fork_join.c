/* Times empty OpenMP parallel regions and prints the microseconds one takes, a line for each sample. */
#include <omp.h>
#include <stdio.h>

enum { SAMPLES = 41, REGIONS = 200 };

int main(void)
{
    volatile int sink = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        double start = omp_get_wtime();
        for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
            {
                if (omp_get_num_threads() < 0)
                    sink = 1;
            }
        }
        /* The first sample also starts the threads. */
        if (sample > 0)
            printf("%.9g\n", (omp_get_wtime() - start) * 1e6 / REGIONS);
    }
    return sink;
}
