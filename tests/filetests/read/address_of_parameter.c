// run: read -O3
// A helper changes its caller's parameters. These are copies: the counters stay as they are, and it is not said that they do not.
static void scale(float *x, float *y)
{
    *x *= 2;
    *y += *x;
}
static float noise(float x, float y)
{
    scale(&x, &y);
    return x * y;
}
void fill(int n, float *map)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            map[y * n + x] = noise((float)x, (float)y);
}
// ----
// warning: `noise` is called, in which `scale` is called, in which `x` is a variable of another function
//   --> t.c:17:30
//    |
// 17 |             map[y * n + x] = noise((float)x, (float)y);
//    |                              ^^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 15 stays as it is
