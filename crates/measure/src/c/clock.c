/* Clocks that run too fast from the moment on that the program is loaded, for LD_PRELOAD. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* So many times as fast. */
#define RATE 1.625

enum { SECOND = 1000000000, N_CLOCKS = 16 };

static long long begun[N_CLOCKS];

static int read_clock(clockid_t id, long long *ns) {
    struct timespec t;
    if (syscall(SYS_clock_gettime, id, &t)) return -1;
    *ns = (long long)t.tv_sec * SECOND + t.tv_nsec;
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    for (clockid_t id = 0; id < N_CLOCKS; id++) {
        if (!begun[id] && read_clock(id, &begun[id])) begun[id] = 0;
    }
}

static int fast_clock(clockid_t id, long long *ns) {
    if (read_clock(id, ns)) return -1;
    if (id < 0 || id >= N_CLOCKS) return 0;
    if (!begun[id]) begun[id] = *ns;
    *ns = begun[id] + (long long)(RATE * (double)(*ns - begun[id]));
    return 0;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    long long ns;
    if (fast_clock(id, &ns)) return -1;
    t->tv_sec = ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}

int timespec_get(struct timespec *t, int base) { return clock_gettime(CLOCK_REALTIME, t) ? 0 : base; }

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    long long ns;
    (void)zone;
    if (fast_clock(CLOCK_REALTIME, &ns)) return -1;
    t->tv_sec = ns / SECOND;
    t->tv_usec = ns % SECOND / 1000;
    return 0;
}

time_t time(time_t *t) {
    long long ns;
    if (fast_clock(CLOCK_REALTIME, &ns)) return -1;
    if (t) *t = ns / SECOND;
    return ns / SECOND;
}

clock_t clock(void) {
    long long ns;
    if (fast_clock(CLOCK_PROCESS_CPUTIME_ID, &ns)) return -1;
    return ns / (SECOND / CLOCKS_PER_SEC);
}

clock_t times(struct tms *t) {
    long long ns;
    if (syscall(SYS_times, t) == -1 || fast_clock(CLOCK_MONOTONIC, &ns)) return -1;
    clock_t *all[] = {&t->tms_utime, &t->tms_stime, &t->tms_cutime, &t->tms_cstime};
    for (int k = 0; k < 4; k++) *all[k] = (clock_t)(RATE * (double)*all[k]);
    return ns / (SECOND / sysconf(_SC_CLK_TCK));
}

int getrusage(__rusage_who_t who, struct rusage *usage) {
    if (syscall(SYS_getrusage, who, usage)) return -1;
    struct timeval *all[] = {&usage->ru_utime, &usage->ru_stime};
    for (int k = 0; k < 2; k++) {
        double seconds = RATE * ((double)all[k]->tv_sec + 1e-6 * (double)all[k]->tv_usec);
        all[k]->tv_sec = (time_t)seconds;
        all[k]->tv_usec = (suseconds_t)(1e6 * (seconds - (double)all[k]->tv_sec));
    }
    return 0;
}
