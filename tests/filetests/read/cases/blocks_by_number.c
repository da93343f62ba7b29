// run: read -O3
// Arrays of single structures: by the number of a loop around, by an order, and by a pointer that is set in that loop.
#include <stdio.h>
#include <stdlib.h>
typedef struct { int nx; double **array, *flat; double scale; } block;
static block *blocks;
static int n_blocks, *order;
static void own(int n)
{
    for (int b = 0; b < n_blocks; b++)
        for (int i = 1; i < n; i++)
            for (int j = 1; j < n; j++)
                blocks[b].array[i][j] *= 0.5 * blocks[b].scale;
}
static void ordered(void)
{
    for (int b = 1; b < n_blocks; b++)
        for (int i = 0; i < blocks[order[b]].nx; i++)
            blocks[order[b]].flat[i] += blocks[order[b - 1]].array[i][1];
}
static void pointed(int n)
{
    for (int b = 0; b < n_blocks; b++) {
        block *bp = &blocks[b];
        for (int i = 1; i < n; i++)
            for (int j = 1; j < n; j++)
                bp->array[i][j] += bp->flat[j] * i;
    }
}
int main(void)
{
    int n = 200;
    n_blocks = 5;
    blocks = calloc(n_blocks, sizeof *blocks);
    order = calloc(n_blocks, sizeof *order);
    for (int b = 0; b < n_blocks; b++) {
        blocks[b].nx = n - b, blocks[b].scale = 1.5, order[b] = n_blocks - 1 - b;
        blocks[b].flat = calloc(n, sizeof(double)), blocks[b].array = calloc(n, sizeof(double *));
        for (int i = 0; i < n; i++) {
            blocks[b].array[i] = calloc(n, sizeof(double));
            for (int j = 0; j < n; j++)
                blocks[b].array[i][j] = i % 7 + j % 5;
        }
    }
    for (int t = 0; t < 50; t++)
        own(n), ordered(), pointed(n);
    double sum = 0;
    for (int b = 0; b < n_blocks; b++)
        for (int i = 0; i < n; i++)
            sum += blocks[b].flat[i] + blocks[b].array[i][n / 2];
    printf("%.17g\n", sum);
    return 0;
}
