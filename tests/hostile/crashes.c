// exit: 2
// says: segmentation fault
// says: crashes.c
#include <stdlib.h>
static double a[64];
int main(int argc, char **argv)
{
    double *p = argc > 100 ? a : NULL;
    for (int i = 0; i < 64; i++)
        a[i] = i;
    for (int i = 0; i < 64; i++)
        p[i] = a[i];
    return 0;
}
