/* Preloaded into a program: writes down, every few milliseconds of processor time, which calls are being made. The
 * records go into the file that OXEYE_SAMPLES names, mapped, so that they survive a crash. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define DEPTH 24
#define MOST 65536

struct record {
    uint64_t n;
    uint64_t address[DEPTH];
};

static struct {
    uint64_t taken;
    /* How far above its link-time addresses the program is loaded. */
    uint64_t bias;
    struct record records[MOST];
} *samples;

static void take(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    void *frames[DEPTH + 2];
    uint64_t at = __atomic_fetch_add(&samples->taken, 1, __ATOMIC_RELAXED);
    if (at >= MOST) return;
    /* The first two are this function and the return from it. */
    int n = backtrace(frames, DEPTH + 2);
    struct record *record = &samples->records[at];
    uint64_t kept = 0;
    for (int k = 2; k < n; k++) record->address[kept++] = (uint64_t)(uintptr_t)frames[k];
    record->n = kept;
}

static int note_bias(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    samples->bias = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("OXEYE_SAMPLES");
    if (!name) return;
    int file = open(name, O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof *samples)) return;
    samples = mmap(0, sizeof *samples, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    /* What the program starts in its turn is not looked at. */
    unsetenv("OXEYE_SAMPLES");
    if (samples == MAP_FAILED) {
        samples = 0;
        return;
    }
    dl_iterate_phdr(note_bias, 0);
    void *first[2];
    backtrace(first, 2); /* loads what it needs now, not in a signal handler */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = take;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, 0)) return;
    struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &every, 0);
}

__attribute__((destructor)) static void stop(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    if (samples) setitimer(ITIMER_PROF, &never, 0);
}
