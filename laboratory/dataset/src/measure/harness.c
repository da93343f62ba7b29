/* Runs functions that compute the same on the same arguments: compares what they leave with what the first one leaves,
 * then times them in turns. Told what to do by a plan on the command line, and prints a line about every step, so that
 * whoever reads knows how far it came should a function crash or hang. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { F32, F64, I32, I64 };
enum { CANARY = 64, MAX_ARGS = 64, MAX_FUNCTIONS = 128, MAX_TIMES = 64 };

struct argument {
    int type, written;
    long elements, bytes;
    char *memory, *pristine, *expected;
};
struct function {
    int id, team, checked, alive, n_times;
    void (*call)(void **);
    double best, times[MAX_TIMES];
};

static struct argument args[MAX_ARGS];
static struct function functions[MAX_FUNCTIONS];
static void *pointers[MAX_ARGS], *libraries[MAX_ARGS];
static int n_args, n_libraries, n_functions;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void say(const char *word, int id, const char *rest)
{
    printf("%s %d %s\n", word, id, rest);
    fflush(stdout);
}

static uint64_t bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double unit(uint64_t *state)
{
    return (bits(state) >> 11) * 0x1p-53;
}

static int size_of(int type)
{
    return type == F32 || type == I32 ? 4 : 8;
}

static double element(int type, const char *memory, long at)
{
    switch (type) {
    case F32: return ((const float *)memory)[at];
    case F64: return ((const double *)memory)[at];
    case I32: return ((const int32_t *)memory)[at];
    default: return ((const int64_t *)memory)[at];
    }
}

static void set(int type, char *memory, long at, double value)
{
    switch (type) {
    case F32: ((float *)memory)[at] = value; break;
    case F64: ((double *)memory)[at] = value; break;
    case I32: ((int32_t *)memory)[at] = value; break;
    default: ((int64_t *)memory)[at] = value;
    }
}

static char *allocate(long bytes)
{
    /* Staggered, so that arrays do not all compete for the same cache sets. */
    static long offset;
    long whole = bytes + CANARY + 8192;
    char *memory = mmap(0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        printf("error out of memory\n");
        exit(3);
    }
    offset = (offset + 192) % 4096;
    memset(memory + offset + bytes, 0x5a, CANARY);
    return memory + offset;
}

static int intact(const struct argument *a)
{
    for (int i = 0; i < CANARY; i++)
        if (a->memory[a->bytes + i] != 0x5a)
            return 0;
    return 1;
}

static void fill(struct argument *a, const char *how, double parameter, uint64_t seed)
{
    int is_float = a->type == F32 || a->type == F64;
    long width = parameter;
    for (long i = 0; i < a->elements; i++) {
        double value;
        if (!strcmp(how, "value"))
            value = parameter;
        else if (!strcmp(how, "below"))
            value = bits(&seed) % (uint64_t)(parameter > 1 ? parameter : 1);
        else if (!strcmp(how, "dominant"))
            value = i / width == i % width ? 1 + unit(&seed) : unit(&seed) / width;
        else
            value = is_float ? 0.1 + 0.9 * unit(&seed) : (double)(bits(&seed) % 10);
        set(a->type, a->memory, i, value);
    }
}

static void restore(void)
{
    for (int i = 0; i < n_args; i++)
        if (args[i].written)
            memcpy(args[i].memory, args[i].pristine, args[i].bytes);
}

static void limit(double seconds)
{
    struct itimerval t = { { 0, 0 }, { (long)seconds, (long)(1e6 * (seconds - (long)seconds)) } };
    setitimer(ITIMER_REAL, &t, 0);
}

static double run(struct function *f)
{
    restore();
    double start = now();
    f->call(pointers);
    return now() - start;
}

/* The largest difference relative to the element or the array's root mean square. */
static double difference(const struct argument *a)
{
    double square = 0, worst = 0;
    for (long i = 0; i < a->elements; i++) {
        double x = element(a->type, a->expected, i);
        square += isfinite(x) ? x * x : 0;
    }
    double scale = sqrt(square / (a->elements ? a->elements : 1));
    for (long i = 0; i < a->elements; i++) {
        double want = element(a->type, a->expected, i), got = element(a->type, a->memory, i);
        if (want == got || (isnan(want) && isnan(got)))
            continue;
        double error = fabs(want - got) / fmax(fmax(fabs(want), fabs(got)), scale);
        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

static void check(struct function *f)
{
    char text[64];
    double worst = 0;
    int wrong = 0;
    for (int i = 0; i < n_args; i++) {
        if (!intact(&args[i])) {
            say("bad", f->id, "out of bounds");
            f->alive = 0;
            return;
        }
        if (!args[i].written || !memcmp(args[i].memory, args[i].expected, args[i].bytes))
            continue;
        double d = difference(&args[i]);
        double allowed = args[i].type == F64 ? 1e-8 : args[i].type == F32 ? 2e-3 : 0;
        wrong |= d > allowed;
        worst = fmax(worst, d);
    }
    snprintf(text, sizeof text, "%.3g", worst);
    say(wrong ? "bad" : "good", f->id, text);
    f->alive = !wrong;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void timed(struct function *f, double seconds)
{
    if (f->n_times < MAX_TIMES)
        f->times[f->n_times++] = seconds;
    if (seconds < f->best)
        f->best = seconds;
}

static void turn(struct function *f)
{
    /* The first of several short calls finds the data of another function in the caches. */
    int n = f->best > 4e-3 ? 1 : f->best > 1e-3 ? 2 : 4;
    /* What a cold call took may be due to threads that had to be woken: it is not the last word. */
    if (!f->n_times && f->best < 0.1)
        n = 3;
    for (int i = 0; i < n; i++)
        timed(f, run(f));
}

static void compare(double budget, double hopeless)
{
    double start = now(), reference = functions[0].best;
    for (int round = 0; round < 40; round++) {
        double begin = now();
        int in_team = 0;
        for (int team = 0; team < 2; team++)
            for (int i = 0; i < n_functions; i++) {
                struct function *f = &functions[i];
                if (!f->alive || f->team != team || (round > 0 && i > 0 && f->best > hopeless * reference))
                    continue;
                say("turn", f->id, "");
                turn(f);
                in_team |= team;
            }
        /* Threads that have done their share wait in a loop for some milliseconds. */
        if (in_team)
            usleep(15000);
        reference = functions[0].best;
        double spent = now() - start, last = now() - begin;
        if (round >= 2 && spent + last > budget)
            break;
        if (spent + last > 3 * budget)
            break;
    }
}

static void read_plan(const char *path, double *budget, double *hopeless, double *longest)
{
    static char line[8192], name[4096], how[64];
    FILE *file = fopen(path, "r");
    int type, written, library, team, checked, id;
    long elements;
    double parameter;
    unsigned long seed;
    if (!file)
        exit(4);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "arg %d %ld %d %63s %lf %lu", &type, &elements, &written, how, &parameter, &seed) == 6) {
            struct argument *a = &args[n_args];
            a->type = type, a->elements = elements, a->written = written, a->bytes = elements * size_of(type);
            a->memory = pointers[n_args++] = allocate(a->bytes);
            fill(a, how, parameter, seed);
            if (written) {
                a->pristine = allocate(a->bytes), a->expected = allocate(a->bytes);
                memcpy(a->pristine, a->memory, a->bytes);
            }
        } else if (sscanf(line, "lib %4095s", name) == 1) {
            libraries[n_libraries] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (!libraries[n_libraries++]) {
                printf("error %s\n", dlerror());
                exit(5);
            }
        } else if (sscanf(line, "function %d %d %4095s %d %d", &id, &library, name, &team, &checked) == 5) {
            struct function *f = &functions[n_functions++];
            f->id = id, f->team = team, f->checked = checked, f->alive = 1, f->best = INFINITY;
            f->call = (void (*)(void **))dlsym(libraries[library], name);
            if (!f->call) {
                printf("error no %s\n", name);
                exit(5);
            }
        } else if (sscanf(line, "limits %lf %lf %lf", budget, hopeless, longest) != 3) {
            exit(4);
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    double budget = 2, hopeless = 3, longest = 1;
    if (argc < 2)
        return 4;
    read_plan(argv[1], &budget, &hopeless, &longest);
    say("start", functions[0].id, "");
    limit(longest * 20 + 5);
    functions[0].best = run(&functions[0]);
    for (int i = 0; i < n_args; i++)
        if (args[i].written)
            memcpy(args[i].expected, args[i].memory, args[i].bytes);
    if (functions[0].best > longest) {
        char text[32];
        snprintf(text, sizeof text, "%.9g", functions[0].best);
        say("long", functions[0].id, text);
        return 0;
    }
    for (int i = 1; i < n_functions; i++) {
        if (functions[i].checked)
            continue;
        say("start", functions[i].id, "");
        limit(10 * functions[0].best + 0.5);
        functions[i].best = run(&functions[i]);
        limit(0);
        check(&functions[i]);
    }
    limit(20 * budget + 30);
    double first = run(&functions[0]);
    /* First calls are cold; only where that already is hopeless does it have to do. */
    for (int i = 0; i < n_functions; i++)
        if (functions[i].best < 2 * hopeless * first)
            functions[i].best = INFINITY;
    timed(&functions[0], first);
    compare(budget, hopeless);
    for (int i = 0; i < n_functions; i++) {
        struct function *f = &functions[i];
        if (!f->alive)
            continue;
        char text[96];
        qsort(f->times, f->n_times, sizeof *f->times, by_value);
        double median = f->n_times ? f->times[f->n_times / 2] : f->best;
        snprintf(text, sizeof text, "%.9g %.9g %d", f->best, median, f->n_times);
        say("time", f->id, text);
    }
    say("done", 0, "");
    return 0;
}
