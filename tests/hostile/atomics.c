#include <stdatomic.h>
#include <stdio.h>
static _Atomic int counts[64];
static atomic_long total;
static _Thread_local double mine[64][64];
int main(void)
{
    for (int t = 0; t < 50; t++)
        for (int i = 0; i < 64; i++) {
            counts[i]++;
            total += i;
            atomic_fetch_add(&counts[63 - i], 2);
        }
    for (int t = 0; t < 20; t++)
        for (int j = 0; j < 64; j++)
            for (int i = 0; i < 64; i++)
                mine[i][j] += i - j + t;
    printf("%d %ld %g\n", counts[5], total, mine[7][9]);
    return 0;
}
