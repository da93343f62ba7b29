/* Preloaded into a program: writes down, every few milliseconds of processor time, which calls are being made. Each
 * process has a file of its own in the folder that OXEYE_SAMPLES names, mapped, so that it survives a crash. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 24
#define MOST 65536
#define MOST_OBJECTS 255
#define PATH_SIZE 1008
/* One that programs do not use: profilers have SIGPROF. */
#define SIGNAL (SIGRTMAX - 3)

struct record {
    uint64_t n;
    uint64_t address[DEPTH];
};

/* The program, or a library that it has loaded. */
struct object {
    /* How far above its link-time addresses it is loaded, and where it ends. */
    uint64_t bias, end;
    char path[PATH_SIZE];
};

static struct samples {
    uint64_t taken, n_objects;
    struct object objects[MOST_OBJECTS];
    struct record records[MOST];
} *samples;

/* The file, and the process that it is about. */
static char name[PATH_MAX];
static pid_t owner;
static timer_t timer;
static int is_timed;

/* Whether a handler of the program begins here. */
static int begins_handler(void *address) {
    for (int k = 1; k < NSIG; k++) {
        struct sigaction action;
        if (!sigaction(k, 0, &action) && (void *)(uintptr_t)action.sa_handler == address) return 1;
    }
    return 0;
}

static void take(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    void *frames[DEPTH + 2];
    if (!samples) return;
    uint64_t at = __atomic_fetch_add(&samples->taken, 1, __ATOMIC_RELAXED);
    if (at >= MOST) return;
    /* The first two are this function and the return from it. */
    int n = backtrace(frames, DEPTH + 2), first = 2;
    /* A timer of the program that ended at the same tick: its handler has not done anything yet. */
    while (first + 2 < n && frames[first + 1] == frames[1] && begins_handler(frames[first])) first += 2;
    struct record *record = &samples->records[at];
    uint64_t kept = 0;
    for (int k = first; k < n; k++) record->address[kept++] = (uint64_t)(uintptr_t)frames[k];
    record->n = kept;
}

/* The file that is mapped at an address, or the name: what stands in for a library has its name. */
static void name_object(char *path, uint64_t address, const char *name) {
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "r");
    snprintf(path, PATH_SIZE, "%s", name);
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long first, last;
        char *file = strchr(line, '/');
        if (!file || sscanf(line, "%lx-%lx", &first, &last) != 2 || address < first || address >= last) continue;
        file[strcspn(file, "\n")] = 0;
        snprintf(path, PATH_SIZE, "%s", file);
        break;
    }
    if (maps) fclose(maps);
}

static int note_object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    uint64_t n = samples->n_objects, begin = UINT64_MAX, end = 0;
    if (n >= MOST_OBJECTS) return 1;
    struct object *object = &samples->objects[n];
    object->bias = info->dlpi_addr;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[k];
        if (part->p_type != PT_LOAD) continue;
        if (part->p_vaddr < begin) begin = part->p_vaddr;
        if (part->p_vaddr + part->p_memsz > end) end = part->p_vaddr + part->p_memsz;
    }
    object->end = info->dlpi_addr + end;
    /* The program itself comes first, without a name. */
    if (n == 0) {
        ssize_t length = readlink("/proc/self/exe", object->path, PATH_SIZE - 1);
        object->path[length < 0 ? 0 : length] = 0;
    } else {
        name_object(object->path, info->dlpi_addr + begin, info->dlpi_name);
    }
    samples->n_objects = n + 1;
    return 0;
}

/* Libraries stay in the list when they are closed, unless others take their place. */
static void note_objects(void) {
    samples->n_objects = 0;
    dl_iterate_phdr(note_object, 0);
}

/* Stands before the system's, to see what is loaded later. */
void *dlopen(const char *library_name, int flags) {
    static void *(*system_dlopen)(const char *, int);
    if (!system_dlopen) system_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *library = system_dlopen(library_name, flags);
    if (library && samples) note_objects();
    return library;
}

/* A file for this process. */
static int open_samples(const char *folder) {
    owner = getpid();
    snprintf(name, sizeof name, "%s/%ld", folder, (long)owner);
    /* After `exec`, the samples are those of the new program. */
    int file = open(name, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return 0;
    void *memory = MAP_FAILED;
    if (!ftruncate(file, sizeof *samples))
        memory = mmap(0, sizeof *samples, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return 0;
    samples = memory;
    return 1;
}

/* Not `setitimer`: that one goes on through `exec`, and ends the new program, which does not handle the signal yet. */
static void set_timer(void) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGNAL;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer)) return;
    const struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    is_timed = !timer_settime(timer, 0, &every, 0);
}

/* A child has neither the timer nor a file of its own. */
static void in_child(void) {
    const char *folder = getenv("OXEYE_SAMPLES");
    if (!folder || !samples) return;
    struct samples *parents = samples;
    is_timed = 0;
    if (!open_samples(folder)) {
        samples = 0;
        return;
    }
    memcpy(samples->objects, parents->objects, parents->n_objects * sizeof parents->objects[0]);
    samples->n_objects = parents->n_objects;
    munmap(parents, sizeof *samples);
    set_timer();
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("OXEYE_SAMPLES");
    if (!folder || !open_samples(folder)) return;
    note_objects();
    void *first[2];
    backtrace(first, 2); /* loads what it needs now, not in a signal handler */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = take;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGNAL, &action, 0)) return;
    pthread_atfork(0, 0, in_child);
    set_timer();
}

__attribute__((destructor)) static void stop(void) {
    if (!samples) return;
    if (is_timed && getpid() == owner) timer_delete(timer);
    /* A process that has done nothing leaves nothing. */
    if (!samples->taken && getpid() == owner) unlink(name);
}
