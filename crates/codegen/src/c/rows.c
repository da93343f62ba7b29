#ifndef OXEYE_ROWS
#define OXEYE_ROWS
/* Elements of so many bytes behind so many levels of pointers, by the first and last index of each dimension; behind these the
 * same for each part of the rows, if not all of them are used; and the arrays, as bits, that they must be apart from: with its
 * own bit, its rows must be apart from each other. */
typedef struct {
    const void *memory;
    const long *ranges;
    int levels, parts;
    long element;
    unsigned long others;
} oxeye_rows;
typedef struct {
    __UINTPTR_TYPE__ begin, end;
    int array;
} oxeye_row;
typedef void *oxeye_pointer __attribute__((may_alias));

/* Whether the row at these indices is used. */
static __attribute__((unused)) int oxeye_row_is_used(const oxeye_rows *rows, const long *at)
{
    int d, p, n = rows->levels;
    const long *part = rows->ranges + 2 * (n + 1);
    for (p = 0; p < rows->parts; p++, part += 2 * n) {
        for (d = 0; d < n && at[d] >= part[2 * d] && at[d] <= part[2 * d + 1]; d++)
            ;
        if (d == n)
            return 1;
    }
    return !rows->parts;
}

/* The next row of an array that is used, from these indices on, which are moved behind it; 0 behind the last one. */
static __attribute__((unused)) int oxeye_next_row(const oxeye_rows *rows, long *at, oxeye_row *row)
{
    const void *memory = rows->memory;
    const long *ranges = rows->ranges;
    int d, is_used, n = rows->levels;
    do {
        if (at[n] > 0)
            return 0;
        is_used = oxeye_row_is_used(rows, at);
        if (is_used)
            for (d = 0; d < n; d++)
                memory = ((const oxeye_pointer *)memory)[at[d]];
        for (d = n - 1; d >= 0 && at[d] == ranges[2 * d + 1]; d--)
            at[d] = ranges[2 * d];
        if (d >= 0)
            at[d]++;
        else
            at[n] = 1;
    } while (!is_used);
    row->begin = (__UINTPTR_TYPE__)memory + (__UINTPTR_TYPE__)(ranges[2 * n] * rows->element);
    row->end = (__UINTPTR_TYPE__)memory + (__UINTPTR_TYPE__)((ranges[2 * n + 1] + 1) * rows->element);
    return 1;
}

/* Before the first row. */
static __attribute__((unused)) void oxeye_first_row(const oxeye_rows *rows, long *at)
{
    int d;
    at[rows->levels] = 0;
    for (d = 0; d <= rows->levels; d++) {
        if (rows->ranges[2 * d + 1] < rows->ranges[2 * d])
            at[rows->levels] = 1;
        if (d < rows->levels)
            at[d] = rows->ranges[2 * d];
    }
}

/* Sorts rows by where they begin. */
static __attribute__((unused)) void oxeye_sort_rows(oxeye_row *rows, long n)
{
    long top = n / 2, parent, child;
    oxeye_row row;
    for (;;) {
        if (top > 0) {
            row = rows[--top];
        } else {
            if (--n <= 0)
                return;
            row = rows[n];
            rows[n] = rows[0];
        }
        for (parent = top; (child = 2 * parent + 1) < n; parent = child) {
            if (child + 1 < n && rows[child].begin < rows[child + 1].begin)
                child++;
            if (row.begin >= rows[child].begin)
                break;
            rows[parent] = rows[child];
        }
        rows[parent] = row;
    }
}

/* Whether these arrays, at most 64, are apart as they must be. */
static __attribute__((unused)) int oxeye_rows_apart(int n, const oxeye_rows *arrays)
{
    __UINTPTR_TYPE__ low[64], high[64];
    oxeye_row row, last = {0, 0, 0}, *all;
    long at[8], n_rows = 0, k = 0;
    int i, j, is_apart = 1, rises, falls;
    /* Rows in the order of their addresses, and arrays that are not mixed, are common. */
    for (i = 0; i < n; i++) {
        low[i] = ~(__UINTPTR_TYPE__)0;
        high[i] = 0;
        rises = falls = 1;
        for (oxeye_first_row(&arrays[i], at); oxeye_next_row(&arrays[i], at, &row); last = row, n_rows++) {
            if (row.end < row.begin)
                return 0;
            if (high[i] > 0) {
                rises &= row.begin >= last.end;
                falls &= row.end <= last.begin;
            }
            low[i] = row.begin < low[i] ? row.begin : low[i];
            high[i] = row.end > high[i] ? row.end : high[i];
        }
        if (arrays[i].others >> i & 1)
            is_apart &= rises | falls;
        for (j = 0; j < i; j++)
            if (arrays[i].others >> j & 1)
                is_apart &= high[i] <= low[j] || high[j] <= low[i];
    }
    if (is_apart)
        return 1;
    all = (oxeye_row *)__builtin_malloc((__SIZE_TYPE__)n_rows * sizeof *all);
    if (!all)
        return 0;
    for (i = 0; i < n; i++)
        for (oxeye_first_row(&arrays[i], at); k < n_rows && oxeye_next_row(&arrays[i], at, &row); k++) {
            row.array = i;
            all[k] = row;
        }
    oxeye_sort_rows(all, n_rows);
    for (i = 0; i < n; i++)
        high[i] = 0;
    is_apart = 1;
    for (k = 0; k < n_rows && is_apart; k++) {
        i = all[k].array;
        for (j = 0; j < n; j++)
            if (arrays[i].others >> j & 1)
                is_apart &= all[k].begin >= high[j];
        high[i] = all[k].end > high[i] ? all[k].end : high[i];
    }
    __builtin_free(all);
    return is_apart;
}
#endif
