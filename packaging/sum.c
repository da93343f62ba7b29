#include <stdio.h>

static double a[700][700], s[700];

int main(void) {
    for (int t = 0; t < 40; t++)
        for (int j = 0; j < 700; j++)
            for (int i = 0; i < 700; i++)
                s[j] += a[i][j] + t;
    printf("%g\n", s[7]);
}
