// recipe: batch i of 64
double x[1000], y[1000], total;
void add(void)
{
    for (int i = 0; i < 1000; i++)
        if (x[i] > 0.5) {
            y[i] = (1.0 - x[i]) / (1.0 + x[i]);
            total += 1.0 / x[i];
        }
}
