// exit: 2
// says: abort
// says: Assertion
#include <assert.h>
static double a[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = i;
    assert(a[3] > 5);
    return 0;
}
