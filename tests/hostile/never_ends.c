// exit: 2
// says: never_ends.c
// says: had not ended
#include <unistd.h>
static volatile double a[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = i;
    double b[64];
    for (int i = 0; i < 64; i++)
        b[i] = 2 * i;
    while (a[3] + b[2] > 0)
        usleep(1000);
    return 0;
}
