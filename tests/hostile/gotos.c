// says: goto
#include <stdio.h>
static int a[40][40];
static int find(int wanted)
{
    int i, j;
    for (i = 0; i < 40; i++)
        for (j = 0; j < 40; j++)
            if (a[i][j] == wanted)
                goto found;
    return -1;
found:
    return i * 40 + j;
}
static void skip(void)
{
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 40; j++) {
            if (j % 3 == 0)
                goto next;
            a[i][j] += 1;
        next:;
        }
    }
}
static int by_hand(void)
{
    int n = 0;
again:
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            a[i][j] += i;
    if (++n < 5)
        goto again;
    return n;
}
static void into(int k)
{
    int i = 7;
    if (k)
        goto inside;
    for (i = 0; i < 40; i++) {
        a[i][0] += 3;
    inside:
        a[i][1] += 2;
    }
}
static int computed(int k)
{
    static void *const targets[] = {&&one, &&two};
    int sum = 0;
    for (int i = 0; i < 40; i++) {
        goto *targets[(i + k) % 2];
    one:
        sum += a[i][3];
        continue;
    two:
        sum -= a[i][2];
    }
    return sum;
}
int main(void)
{
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            a[i][j] = i * 41 + j;
    int x = find(700);
    skip();
    int n = by_hand();
    into(0);
    into(1);
    int y = find(701), c = computed(1);
    long s = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            s += a[i][j] * (i + 2 * j);
    printf("%d %d %d %d %ld\n", x, n, y, c, s);
    return 0;
}
