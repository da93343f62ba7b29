/*
 * Oxeye trace runtime. It is put in front of a copy of a C program and needs no headers; every name begins with oxeye_trace_.
 *
 *   oxeye_trace_begin(site);
 *   ... the loop nest, by whichever thread ...
 *   oxeye_trace_end(site);
 *
 * OXEYE_TRACE names the file for what was seen; unset, nothing is recorded. OXEYE_TRACE_EVENTS bounds the intervals that are
 * kept (default 100000); calls, least, sum and most of all times are kept in any case. OXEYE_TRACE_COUNTERS lists counters as
 * type:config:include_kernel. Programs are linked with --wrap for the functions at the end, which begin and end the parts of
 * parallel regions in all their threads. Linux, 64 bit.
 */
#ifndef OXEYE_TRACE_SITES
#define OXEYE_TRACE_SITES 1024
#endif
#define OXEYE_TRACE_COUNTERS_MOST 8
#define OXEYE_TRACE_DEPTH 64
#define OXEYE_TRACE_CHUNK 512

typedef struct {
    long sec;
    long nsec;
} oxeye_trace_timespec;

extern int oxeye_trace_libc_clock(int, oxeye_trace_timespec *) __asm__("clock_gettime");
extern int oxeye_trace_libc_open(const char *, int, ...) __asm__("open");
extern int oxeye_trace_libc_close(int) __asm__("close");
extern long oxeye_trace_libc_read(int, void *, unsigned long) __asm__("read");
extern long oxeye_trace_libc_write(int, const void *, unsigned long) __asm__("write");
extern int oxeye_trace_libc_getpid(void) __asm__("getpid");
extern char *oxeye_trace_libc_getenv(const char *) __asm__("getenv");
extern int oxeye_trace_libc_snprintf(char *, unsigned long, const char *, ...) __asm__("snprintf");
extern void *oxeye_trace_libc_calloc(unsigned long, unsigned long) __asm__("calloc");
extern long oxeye_trace_libc_strtol(const char *, char **, int) __asm__("strtol");
extern long oxeye_trace_libc_syscall(long, ...) __asm__("syscall");

typedef struct {
    int site;
    int kind; /* 0 a nest, 1 a thread's part of a parallel region */
    long begin;
    long end;
    unsigned long counts[OXEYE_TRACE_COUNTERS_MOST];
} oxeye_trace_event;

typedef struct oxeye_trace_chunk {
    struct oxeye_trace_chunk *next;
    int n;
    oxeye_trace_event events[OXEYE_TRACE_CHUNK];
} oxeye_trace_chunk;

typedef struct {
    long calls;
    long sum;
    long least;
    long most;
} oxeye_trace_times;

/* What one thread has seen. */
typedef struct oxeye_trace_thread {
    struct oxeye_trace_thread *next;
    int number;
    int depth; /* how many are open; those beyond OXEYE_TRACE_DEPTH are counted only */
    oxeye_trace_event open[OXEYE_TRACE_DEPTH];
    int counter; /* descriptor of the group of counters, or -1 */
    int n_counters;
    int which[OXEYE_TRACE_COUNTERS_MOST]; /* the counters that were granted */
    long abandoned;
    oxeye_trace_chunk *first, *last;
    oxeye_trace_times times[OXEYE_TRACE_SITES];
} oxeye_trace_thread;

static __thread oxeye_trace_thread *oxeye_trace_own;
static oxeye_trace_thread *oxeye_trace_threads;
static int oxeye_trace_n_threads, oxeye_trace_lock, oxeye_trace_state, oxeye_trace_pid;
static long oxeye_trace_room, oxeye_trace_dropped, oxeye_trace_start;
static char oxeye_trace_path[4096];
static struct {
    unsigned type;
    unsigned long config;
    int include_kernel;
} oxeye_trace_counters[OXEYE_TRACE_COUNTERS_MOST];
static int oxeye_trace_n_counters;

static long oxeye_trace_now(void)
{
    oxeye_trace_timespec now = {0, 0};
    oxeye_trace_libc_clock(1, &now);
    return (long)now.sec * 1000000000L + now.nsec;
}

static void oxeye_trace_acquire(void)
{
    while (__atomic_exchange_n(&oxeye_trace_lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void oxeye_trace_release(void)
{
    __atomic_store_n(&oxeye_trace_lock, 0, __ATOMIC_RELEASE);
}

static int oxeye_trace_on(void)
{
    if (__atomic_load_n(&oxeye_trace_state, __ATOMIC_ACQUIRE) == 0) {
        oxeye_trace_acquire();
        if (oxeye_trace_state == 0) {
            const char *path = oxeye_trace_libc_getenv("OXEYE_TRACE");
            const char *room = oxeye_trace_libc_getenv("OXEYE_TRACE_EVENTS");
            const char *list = oxeye_trace_libc_getenv("OXEYE_TRACE_COUNTERS");
            int n = 0;
            while (path && path[n] && n < (int)sizeof oxeye_trace_path - 1) {
                oxeye_trace_path[n] = path[n];
                ++n;
            }
            oxeye_trace_path[n] = 0;
            oxeye_trace_room = room ? oxeye_trace_libc_strtol(room, 0, 10) : 100000;
            while (list && *list && oxeye_trace_n_counters < OXEYE_TRACE_COUNTERS_MOST) {
                char *end = 0;
                const int k = oxeye_trace_n_counters++;
                oxeye_trace_counters[k].type = (unsigned)oxeye_trace_libc_strtol(list, &end, 10);
                list = end + (*end == ':');
                oxeye_trace_counters[k].config = (unsigned long)oxeye_trace_libc_strtol(list, &end, 10);
                list = end + (*end == ':');
                oxeye_trace_counters[k].include_kernel = (int)oxeye_trace_libc_strtol(list, &end, 10);
                list = end + (*end == ',');
            }
            oxeye_trace_pid = oxeye_trace_libc_getpid();
            oxeye_trace_start = oxeye_trace_now();
            __atomic_store_n(&oxeye_trace_state, n > 0 ? 1 : 2, __ATOMIC_RELEASE);
        }
        oxeye_trace_release();
    }
    return oxeye_trace_state == 1;
}

/* Opens what counters are granted to this thread as one group. */
static void oxeye_trace_count(oxeye_trace_thread *own)
{
#if defined(__x86_64__)
    const long number = 298;
#else
    const long number = 241;
#endif
    int k;
    own->counter = -1;
    for (k = 0; k < oxeye_trace_n_counters; ++k) {
        /* struct perf_event_attr in its first form: type, size, config, period, sample type, read format, flags, .. */
        unsigned long attr[8] = {0};
        long fd;
        attr[0] = oxeye_trace_counters[k].type | 64UL << 32;
        attr[1] = oxeye_trace_counters[k].config;
        attr[4] = 8;                                                         /* PERF_FORMAT_GROUP */
        attr[5] = oxeye_trace_counters[k].include_kernel ? 0 : (1UL << 5 | 1UL << 6); /* without kernel and hypervisor */
        fd = oxeye_trace_libc_syscall(number, attr, 0L, -1L, (long)own->counter, 8L); /* closed on exec */
        if (fd < 0)
            continue;
        if (own->counter < 0)
            own->counter = (int)fd;
        own->which[own->n_counters++] = k;
    }
}

static void oxeye_trace_counted(const oxeye_trace_thread *own, unsigned long *counts)
{
    unsigned long read[1 + OXEYE_TRACE_COUNTERS_MOST] = {0};
    int k;
    if (own->counter < 0 || oxeye_trace_libc_read(own->counter, read, sizeof read) <= 0)
        return;
    for (k = 0; k < own->n_counters; ++k)
        counts[own->which[k]] = read[1 + k];
}

static oxeye_trace_thread *oxeye_trace_me(void)
{
    oxeye_trace_thread *own = oxeye_trace_own;
    if (own)
        return own;
    own = oxeye_trace_libc_calloc(1, sizeof *own);
    if (!own)
        return 0;
    oxeye_trace_own = own;
    oxeye_trace_count(own);
    oxeye_trace_acquire();
    own->number = oxeye_trace_n_threads++;
    own->next = oxeye_trace_threads;
    oxeye_trace_threads = own;
    oxeye_trace_release();
    return own;
}

static void oxeye_trace_enter(int site, int kind)
{
    oxeye_trace_thread *own = oxeye_trace_on() ? oxeye_trace_me() : 0;
    if (!own)
        return;
    if (own->depth < OXEYE_TRACE_DEPTH) {
        oxeye_trace_event *event = &own->open[own->depth];
        event->site = site;
        event->kind = kind;
        /* The counts of what is not kept are nobody's. */
        if (__atomic_load_n(&oxeye_trace_room, __ATOMIC_RELAXED) > 0)
            oxeye_trace_counted(own, event->counts);
        event->begin = oxeye_trace_now();
    }
    ++own->depth;
}

static void oxeye_trace_keep(oxeye_trace_thread *own, const oxeye_trace_event *event)
{
    if (__atomic_sub_fetch(&oxeye_trace_room, 1, __ATOMIC_RELAXED) < 0) {
        __atomic_add_fetch(&oxeye_trace_dropped, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&oxeye_trace_room, 1, __ATOMIC_RELAXED);
        return;
    }
    if (!own->last || own->last->n == OXEYE_TRACE_CHUNK) {
        oxeye_trace_chunk *chunk = oxeye_trace_libc_calloc(1, sizeof *chunk);
        if (!chunk) {
            __atomic_add_fetch(&oxeye_trace_dropped, 1, __ATOMIC_RELAXED);
            return;
        }
        if (own->last)
            own->last->next = chunk;
        else
            own->first = chunk;
        own->last = chunk;
    }
    own->last->events[own->last->n++] = *event;
}

static void oxeye_trace_leave(int site, int kind)
{
    const long now = oxeye_trace_now();
    oxeye_trace_thread *own = oxeye_trace_own;
    oxeye_trace_event event;
    unsigned long counts[OXEYE_TRACE_COUNTERS_MOST] = {0};
    int k;
    if (!own || own->depth == 0)
        return;
    if (own->depth > OXEYE_TRACE_DEPTH) {
        --own->depth;
        return;
    }
    /* What was left without its end, by a return or a jump, is forgotten. */
    for (k = own->depth - 1; k >= 0 && (own->open[k].site != site || own->open[k].kind != kind); --k)
        ;
    if (k < 0)
        return;
    own->abandoned += own->depth - 1 - k;
    own->depth = k;
    event = own->open[k];
    event.end = now;
    oxeye_trace_counted(own, counts);
    for (k = 0; k < OXEYE_TRACE_COUNTERS_MOST; ++k)
        event.counts[k] = counts[k] - event.counts[k];
    if (kind == 0 && site >= 0 && site < OXEYE_TRACE_SITES) {
        oxeye_trace_times *times = &own->times[site];
        const long took = now - event.begin;
        times->least = times->calls == 0 || took < times->least ? took : times->least;
        times->most = took > times->most ? took : times->most;
        times->sum += took;
        ++times->calls;
    }
    oxeye_trace_keep(own, &event);
}

static __attribute__((unused)) void oxeye_trace_begin(int site)
{
    oxeye_trace_enter(site, 0);
}

static __attribute__((unused)) void oxeye_trace_end(int site)
{
    oxeye_trace_leave(site, 0);
}

static void oxeye_trace_put(int fd, const char *line, int n)
{
    while (n > 0) {
        const long done = oxeye_trace_libc_write(fd, line, (unsigned long)n);
        if (done <= 0)
            return;
        line += done;
        n -= (int)done;
    }
}

static __attribute__((destructor)) void oxeye_trace_write(void)
{
    static char text[1 << 16];
    const oxeye_trace_thread *thread;
    const oxeye_trace_chunk *chunk;
    int fd, k, c, n = 0;
    if (oxeye_trace_state != 1 || oxeye_trace_libc_getpid() != oxeye_trace_pid)
        return;
    fd = oxeye_trace_libc_open(oxeye_trace_path, 01 | 0100 | 01000 | 02000000, 0600);
    if (fd < 0)
        return;
    for (thread = oxeye_trace_threads; thread; thread = thread->next) {
        n += oxeye_trace_libc_snprintf(text + n, 256, "thread %d abandoned %ld\n", thread->number,
            thread->abandoned + thread->depth);
        for (k = 0; k < OXEYE_TRACE_SITES; ++k) {
            const oxeye_trace_times *times = &thread->times[k];
            if (times->calls == 0)
                continue;
            n += oxeye_trace_libc_snprintf(text + n, 256, "site %d calls %ld sum %ld least %ld most %ld\n", k,
                times->calls, times->sum, times->least, times->most);
            if (n > (int)sizeof text - 1024) {
                oxeye_trace_put(fd, text, n);
                n = 0;
            }
        }
        for (chunk = thread->first; chunk; chunk = chunk->next)
            for (k = 0; k < chunk->n; ++k) {
                const oxeye_trace_event *event = &chunk->events[k];
                n += oxeye_trace_libc_snprintf(text + n, 256, "event %d %d %d %ld %ld", thread->number, event->kind,
                    event->site, event->begin - oxeye_trace_start, event->end - oxeye_trace_start);
                for (c = 0; c < oxeye_trace_n_counters; ++c) {
                    int is_granted = 0, w;
                    for (w = 0; w < thread->n_counters; ++w)
                        is_granted |= thread->which[w] == c;
                    n += oxeye_trace_libc_snprintf(text + n, 32, is_granted ? " %lu" : " -", event->counts[c]);
                }
                text[n++] = '\n';
                if (n > (int)sizeof text - 1024) {
                    oxeye_trace_put(fd, text, n);
                    n = 0;
                }
            }
    }
    n += oxeye_trace_libc_snprintf(text + n, 256, "dropped %ld\nfinished\n", oxeye_trace_dropped);
    oxeye_trace_put(fd, text, n);
    oxeye_trace_libc_close(fd);
}

/* Parallel regions of gcc's OpenMP library. Each thread's part belongs to the nest that the starting thread is in. */
typedef struct {
    void (*part)(void *);
    void *data;
    int site;
} oxeye_trace_region;

static void oxeye_trace_part(void *passed)
{
    const oxeye_trace_region *region = passed;
    oxeye_trace_enter(region->site, 1);
    region->part(region->data);
    oxeye_trace_leave(region->site, 1);
}

static int oxeye_trace_here(void)
{
    const oxeye_trace_thread *own = oxeye_trace_own;
    int k = own ? (own->depth < OXEYE_TRACE_DEPTH ? own->depth : OXEYE_TRACE_DEPTH) - 1 : -1;
    for (; k >= 0; --k)
        if (own->open[k].kind == 0)
            return own->open[k].site;
    return -1;
}

#define OXEYE_TRACE_REGION(type, name, parameters, passed, result) \
    extern type oxeye_trace_real_##name parameters __asm__("__real_" #name) __attribute__((weak)); \
    type oxeye_trace_wrap_##name parameters __asm__("__wrap_" #name); \
    type oxeye_trace_wrap_##name parameters \
    { \
        oxeye_trace_region region = {part, data, oxeye_trace_here()}; \
        result oxeye_trace_real_##name passed; \
    }
#define OXEYE_TRACE_CHUNKED(name) \
    OXEYE_TRACE_REGION(void, name, \
        (void (*part)(void *), void *data, unsigned threads, long from, long to, long step, long chunk, unsigned flags), \
        (oxeye_trace_part, &region, threads, from, to, step, chunk, flags), (void)0;)
#define OXEYE_TRACE_RUNTIME(name) \
    OXEYE_TRACE_REGION(void, name, \
        (void (*part)(void *), void *data, unsigned threads, long from, long to, long step, unsigned flags), \
        (oxeye_trace_part, &region, threads, from, to, step, flags), (void)0;)
OXEYE_TRACE_REGION(void, GOMP_parallel, (void (*part)(void *), void *data, unsigned threads, unsigned flags),
    (oxeye_trace_part, &region, threads, flags), (void)0;)
OXEYE_TRACE_REGION(unsigned, GOMP_parallel_reductions,
    (void (*part)(void *), void *data, unsigned threads, unsigned flags),
    (oxeye_trace_part, &region, threads, flags), return)
OXEYE_TRACE_REGION(void, GOMP_parallel_sections,
    (void (*part)(void *), void *data, unsigned threads, unsigned count, unsigned flags),
    (oxeye_trace_part, &region, threads, count, flags), (void)0;)
OXEYE_TRACE_CHUNKED(GOMP_parallel_loop_static)
OXEYE_TRACE_CHUNKED(GOMP_parallel_loop_dynamic)
OXEYE_TRACE_CHUNKED(GOMP_parallel_loop_guided)
OXEYE_TRACE_CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
OXEYE_TRACE_CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)
OXEYE_TRACE_RUNTIME(GOMP_parallel_loop_runtime)
OXEYE_TRACE_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
OXEYE_TRACE_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
