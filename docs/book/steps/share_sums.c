// recipe: share_sums S0 over v
double a[1040][1040], b[1024][1024];
void box_filter(void)
{
    for (int y = 0; y < 1024; y++)
        for (int x = 0; x < 1024; x++)
            for (int u = 0; u < 17; u++)
                for (int v = 0; v < 17; v++)
                    b[y][x] += a[y + u][x + v];
}
