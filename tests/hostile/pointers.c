#include <stdio.h>
#include <stdlib.h>
static double flat[50 * 50], *rows[50], **table;
static void increments(double *p, double *q, int n)
{
    double *end = p + n;
    for (int i = 0; i < n; i++)
        *p++ = *q++ * 2;
    for (p = end - n; p < end; p++)
        *p += 1;
    for (double *r = end; r-- != end - n;)
        *r *= 0.5;
    for (int i = 0; i < n; i++, p--)
        p[-1] += i;
}
static void table_of_rows(double **m, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[j][i] += i - j;
    for (int i = 0; i < n - 1; i++) {
        double *row = m[i];
        m[i] = m[i + 1];
        m[i + 1] = row;
        for (int j = 0; j < n; j++)
            m[i][j] += row[j];
    }
}
static void swapped(double *a, double *b, int n)
{
    for (int t = 0; t < 7; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = (a[i - 1] + a[i + 1]) * 0.5;
        double *s = a;
        a = b;
        b = s;
    }
    for (int i = 0; i < n; i++)
        (&a[i])[0] += 1;
}
struct node { struct node *next; double value[8]; };
static double list(struct node *head)
{
    double s = 0;
    for (struct node *p = head; p; p = p->next)
        for (int i = 0; i < 8; i++)
            s += p->value[i] += i;
    return s;
}
int main(void)
{
    double s = 0;
    table = malloc(50 * sizeof *table);
    for (int i = 0; i < 50; i++)
        rows[i] = table[i] = &flat[i * 50];
    table[7] = table[3];
    struct node nodes[10] = {{0}};
    for (int i = 0; i < 9; i++)
        nodes[i].next = &nodes[(i * 7) % 9 + 1 > i ? i + 1 : 9];
    for (int i = 0; i < 2500; i++)
        flat[i] = i % 23;
    for (int t = 0; t < 8; t++) {
        increments(flat, flat + 700, 600);
        increments(flat + 900, flat + 890, 300);
        table_of_rows(table, 50);
        table_of_rows(rows, 50);
        swapped(flat, flat + 1000, 900);
        s += list(nodes);
        int k = 0;
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < 50; j++)
                flat[k++] += i * j % 3;
        for (double *p = flat; p != flat + 2500; p += 50)
            for (int j = 0; j < 50; j++)
                p[j] = p[j] * 0.125 + 2[&p[j] - 2 + (j < 2) * 2];
    }
    for (int i = 0; i < 2500; i++)
        s = s * 0.99 + flat[i];
    printf("%.9e\n", s);
    return 0;
}
