// recipe: tile i:64 j:64
double a[1000][1000], b[1000][1000];
void transpose(void)
{
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 1000; j++)
            a[i][j] = b[j][i];
}
