/*
 * Oxeye replay process: runner LIBRARY SAMPLE OUTPUTS guard|natural, with a socket as standard input.
 *
 * The parent first sends the layout, one line each:
 *   g SIZE PAGE_OFFSET ALIGNMENT               a piece of memory
 *   a GROUP OFFSET FILE_OFFSET BYTES BEFORE    an argument: where in which piece, its bytes in the sample, and how many of
 *                                              these lie before what it leads to; group -1 is a null pointer
 *   go                                         answer: ready | error load TEXT | error memory | error io TEXT
 * and then requests:
 *   call N        N times: restore the inputs, call, answer `t NANOSECONDS HELD`. After the first call of the process only the
 *                 pieces which that call has changed are restored, as equal inputs have equal effects; the others stay in
 *                 the caches as they would in the program.
 *   batch K N     N times: restore K copies of the inputs, call once on each, answer `t NANOSECONDS` for all K
 *   cold N BYTES  N times: restore the inputs, throw them out of the caches, sweep over BYTES of other memory, call, answer
 *                 `t NANOSECONDS`
 *   warm N R      restore the inputs once, then N times: call R times in succession on what the calls before have left,
 *                 answer `t NANOSECONDS` for all R
 *   events N      answer `send`, receive N file descriptors of perf events, answer `received`
 *   counted I J   restore the inputs, call while the events I up to and without J are enabled, answer `t NANOSECONDS`
 *   check         answer `canary ok`, or `canary G` when something was written beside piece G
 *   dump          write the changed arguments to OUTPUTS; answer `changed` and a 0 or 1 per argument
 * A time is followed by how much of the call on the clock is not in it: threads that could run and did not, while other
 * programs had the cores.
 * A memory fault is announced as `fault SIGNAL GROUP OOM` before the process dies; GROUP is -1 when no guard page was
 * hit, OOM is 1 when memory is used up.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MAX_ARGS 256
#define MAX_EVENTS 512
#define MAX_DESCRIPTORS 64
#define LINE 64L
#define MAX_COPIES 256
#define MAX_THREADS 256
#define PAGE 4096L
#define CANARY 0xa5

struct piece {
    long size, page_offset, alignment;
};
struct place {
    char *map, *start;
    long map_bytes;
};
struct argument {
    long group, offset, file_offset, bytes, before;
};

static struct piece pieces[MAX_ARGS];
static struct argument arguments[MAX_ARGS];
static struct place places[MAX_COPIES][MAX_ARGS];
static int events[MAX_EVENTS];
static int n_pieces, n_args, n_events, n_copies, n_filled, guard_mode, channel;
/* Whether a call changes the piece; everything counts as changed before the first call. */
static char changes[MAX_ARGS];
static int changes_known;
static const char *inputs;
static void (*replay)(void **);

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Nanoseconds of the last call in which the library only moved what is passed to where the nest has it. */
static long long apart, apart_from;

static void on_clock(int runs)
{
    if (runs)
        apart += now() - apart_from;
    else
        apart_from = now();
}

struct thread {
    int id;
    long long waited, used;
};

static struct thread threads_before[MAX_THREADS];
static int n_before;

/* How long each thread could have run and did not, and has run. Their number; 0 if the system does not tell, or there are more
 * than cores, so that they wait for each other. */
static int look_at_threads(struct thread *threads)
{
    static DIR *tasks;
    static int cores;
    struct dirent *entry;
    int n = 0;
    if (!tasks) {
        cpu_set_t allowed;
        tasks = opendir("/proc/self/task");
        if (tasks && !sched_getaffinity(0, sizeof allowed, &allowed))
            cores = CPU_COUNT(&allowed);
    }
    if (!tasks)
        return 0;
    rewinddir(tasks);
    while ((entry = readdir(tasks))) {
        char name[300], text[96];
        struct timespec used;
        long got;
        int file, id = atoi(entry->d_name);
        if (id <= 0)
            continue;
        if (n == MAX_THREADS || n >= cores)
            return 0;
        snprintf(name, sizeof name, "%d/schedstat", id);
        file = openat(dirfd(tasks), name, O_RDONLY | O_CLOEXEC);
        got = file < 0 ? -1 : read(file, text, sizeof text - 1);
        if (file >= 0)
            close(file);
        text[got < 0 ? 0 : got] = 0;
        /* The processor time in that file is as of the last tick; the clock of the thread is exact. */
        if (got < 0 || sscanf(text, "%*s %lld", &threads[n].waited) != 1 ||
            clock_gettime((clockid_t)(~(unsigned)id << 3 | 6), &used))
            continue;
        threads[n].used = used.tv_sec * 1000000000LL + used.tv_nsec;
        threads[n++].id = id;
    }
    return n;
}

/* Nanoseconds of the last call that are not in its time. */
static long long held;

/* The start of a call. */
static long long begin(void)
{
    apart = 0;
    n_before = look_at_threads(threads_before);
    return now();
}

/* The time of a call, as far as it could run: without what this thread has waited for a core, and what it has slept while
 * another one did, but no less than one of them has worked. */
static long long since(long long start)
{
    static struct thread after[MAX_THREADS];
    long long spent = now() - start, mine = 0, theirs = 0, slept = 0, most = 0;
    int i, k, n = look_at_threads(after);
    for (i = 0; n_before > 0 && i < n; ++i) {
        struct thread done = after[i];
        for (k = 0; k < n_before; ++k)
            if (threads_before[k].id == done.id) {
                done.waited -= threads_before[k].waited;
                done.used -= threads_before[k].used;
            }
        if (done.used > most)
            most = done.used;
        if (done.id == (int)getpid()) {
            mine = done.waited;
            slept = spent - done.waited - done.used;
        } else if (done.waited > theirs) {
            theirs = done.waited;
        }
    }
    if (slept < 0)
        slept = 0;
    held = mine + (slept < theirs ? slept : theirs);
    if (held > spent - most)
        held = spent - most;
    if (held < 0)
        held = 0;
    spent -= held + apart;
    return spent < 0 ? 0 : spent;
}

static void put_number(char **out, long value)
{
    char digits[24];
    int n = 0;
    if (value < 0) {
        *(*out)++ = '-';
        value = -value;
    }
    do {
        digits[n++] = (char)('0' + value % 10);
    } while ((value /= 10) != 0);
    while (n > 0)
        *(*out)++ = digits[--n];
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char line[96] = "fault ", *out = line + 6;
    const char *address = info->si_addr;
    long hit = -1;
    int copy, g;
    void *probe;
    (void)context;
    for (copy = 0; copy < n_copies && hit < 0; ++copy)
        for (g = 0; g < n_pieces; ++g)
            if (address >= places[copy][g].map && address < places[copy][g].map + places[copy][g].map_bytes)
                hit = g;
    probe = mmap(0, 64L << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    put_number(&out, signal);
    *out++ = ' ';
    put_number(&out, hit);
    *out++ = ' ';
    *out++ = probe == MAP_FAILED ? '1' : '0';
    *out++ = '\n';
    if (write(channel, line, (size_t)(out - line)) < 0)
        _exit(1);
    raise(signal);
}

/* Memory for every piece: a guard page before, canary bytes around the piece, a guard page after. */
static int allocate(struct place *place)
{
    int g;
    for (g = 0; g < n_pieces; ++g) {
        const struct piece *piece = &pieces[g];
        long room = (piece->page_offset + piece->size + PAGE - 1) / PAGE * PAGE + PAGE;
        char *map = mmap(0, (size_t)(room + 2 * PAGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *end = map + PAGE + room, *byte;
        if (map == MAP_FAILED || mprotect(map + PAGE, (size_t)room, PROT_READ | PROT_WRITE))
            return 0;
        place[g].map = map;
        place[g].map_bytes = room + 2 * PAGE;
        if (guard_mode)
            place[g].start = (char *)((uintptr_t)(end - piece->size) & ~(uintptr_t)(piece->alignment - 1));
        else
            place[g].start = map + 2 * PAGE + piece->page_offset;
        for (byte = map + PAGE; byte < place[g].start; ++byte)
            *byte = (char)CANARY;
        for (byte = place[g].start + piece->size; byte < end; ++byte)
            *byte = (char)CANARY;
    }
    return 1;
}

static int canary_broken(const struct place *place)
{
    int g;
    for (g = 0; g < n_pieces; ++g) {
        const char *byte = place[g].map + PAGE, *end = place[g].map + place[g].map_bytes - PAGE;
        for (; byte < place[g].start; ++byte)
            if (*byte != (char)CANARY)
                return g;
        for (byte = place[g].start + pieces[g].size; byte < end; ++byte)
            if (*byte != (char)CANARY)
                return g;
    }
    return -1;
}

static void restore(const struct place *place, void **args, int whole)
{
    int i;
    for (i = 0; i < n_args; ++i) {
        const struct argument *a = &arguments[i];
        args[i] = 0;
        if (a->group < 0)
            continue;
        args[i] = place[a->group].start + a->offset + a->before;
        if (whole || changes[a->group])
            memcpy((char *)args[i] - a->before, inputs + a->file_offset, (size_t)a->bytes);
    }
}

static void find_changes(void)
{
    int i;
    for (i = 0; i < n_args; ++i) {
        const struct argument *a = &arguments[i];
        if (a->group >= 0 && !changes[a->group])
            changes[a->group] =
                memcmp(places[0][a->group].start + a->offset, inputs + a->file_offset, (size_t)a->bytes) != 0;
    }
    changes_known = 1;
}

static void call(long copies, long repetitions)
{
    static void *args[MAX_COPIES][MAX_ARGS];
    long r, c;
    while (n_copies < copies) {
        if (!allocate(places[n_copies])) {
            dprintf(channel, "error memory\n");
            return;
        }
        ++n_copies;
    }
    for (r = 0; r < repetitions; ++r) {
        long long start, spent;
        for (c = 0; c < copies; ++c)
            restore(places[c], args[c], !changes_known || c >= n_filled);
        if (changes_known && n_filled < copies)
            n_filled = (int)copies;
        start = begin();
        for (c = 0; c < copies; ++c)
            replay(args[c]);
        spent = since(start);
        dprintf(channel, "t %lld %lld\n", spent, held);
        if (!changes_known)
            find_changes();
    }
}

/* Throws the arguments out of the caches of all cores where the processor can, and everything else as far as a sweep over
 * other memory does. */
static int flush_caches(long bytes)
{
    static volatile char *other;
    static long room;
    long i;
#ifdef __SSE2__
    int g;
#endif
    if (bytes > room) {
        void *map = mmap(0, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED)
            return 0;
        if (room > 0)
            munmap((void *)other, (size_t)room);
        other = map;
        room = bytes;
    }
    for (i = 0; i < bytes; i += LINE)
        other[i] = (char)(other[i] + 1);
#ifdef __SSE2__
    for (g = 0; g < n_pieces; ++g) {
        const char *byte = (const char *)((uintptr_t)places[0][g].start & ~(uintptr_t)(LINE - 1));
        for (; byte < places[0][g].start + pieces[g].size; byte += LINE)
            _mm_clflush(byte);
    }
    _mm_mfence();
#endif
    return 1;
}

static void call_cold(long repetitions, long bytes)
{
    static void *args[MAX_ARGS];
    long r;
    for (r = 0; r < repetitions; ++r) {
        long long start, spent;
        restore(places[0], args, !changes_known);
        if (!flush_caches(bytes)) {
            dprintf(channel, "error io no memory to sweep the caches with\n");
            return;
        }
        start = begin();
        replay(args);
        spent = since(start);
        dprintf(channel, "t %lld %lld\n", spent, held);
    }
}

static void call_warm(long batches, long repetitions)
{
    static void *args[MAX_ARGS];
    long b, r;
    restore(places[0], args, !changes_known);
    for (b = 0; b < batches; ++b) {
        long long start = begin(), spent;
        for (r = 0; r < repetitions; ++r)
            replay(args);
        spent = since(start);
        dprintf(channel, "t %lld %lld\n", spent, held);
    }
}

static void receive_events(long n)
{
    dprintf(channel, "send\n");
    while (n_events < n) {
        union {
            char bytes[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
            struct cmsghdr align;
        } control;
        char byte;
        struct iovec part = {&byte, 1};
        struct msghdr message;
        struct cmsghdr *header;
        long got;
        memset(&message, 0, sizeof message);
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR)
            continue;
        header = got > 0 ? CMSG_FIRSTHDR(&message) : 0;
        if (!header || header->cmsg_type != SCM_RIGHTS || (message.msg_flags & MSG_CTRUNC)) {
            dprintf(channel, "error io the events did not arrive\n");
            return;
        }
        got = (long)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (got > MAX_EVENTS - n_events)
            got = MAX_EVENTS - n_events;
        memcpy(events + n_events, CMSG_DATA(header), (size_t)got * sizeof(int));
        n_events += (int)got;
    }
    dprintf(channel, "received\n");
}

/* `_IO('$', 0)` and `_IO('$', 1)` are PERF_EVENT_IOC_ENABLE and DISABLE. The events lead groups. */
static void call_counted(long from, long to)
{
    static void *args[MAX_ARGS];
    long long start, spent;
    long e;
    restore(places[0], args, !changes_known);
    for (e = from; e < to; ++e)
        ioctl(events[e], _IO('$', 0), 0);
    start = begin();
    replay(args);
    spent = since(start);
    for (e = from; e < to; ++e)
        ioctl(events[e], _IO('$', 1), 0);
    dprintf(channel, "t %lld %lld\n", spent, held);
}

static void dump(const char *path)
{
    char changed[MAX_ARGS + 1];
    int i, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        dprintf(channel, "error io %s: %s\n", path, strerror(errno));
        return;
    }
    for (i = 0; i < n_args; ++i) {
        const struct argument *a = &arguments[i];
        const char *data = places[0][a->group < 0 ? 0 : a->group].start + a->offset;
        long done = 0;
        changed[i] = memcmp(data, inputs + a->file_offset, (size_t)a->bytes) ? '1' : '0';
        while (changed[i] == '1' && done < a->bytes) {
            long step = pwrite(fd, data + done, (size_t)(a->bytes - done), a->file_offset + done);
            if (step < 0 && errno == EINTR)
                continue;
            if (step <= 0) {
                dprintf(channel, "error io %s: %s\n", path, strerror(errno));
                close(fd);
                return;
            }
            done += step;
        }
    }
    changed[n_args] = 0;
    close(fd);
    dprintf(channel, "changed %s\n", changed);
}

static void load(const char *library, const char *sample)
{
    int mode;
    struct sigaction action;
    struct stat status;
    void *handle;
    void (**clock_of)(int);
    int fd = open(sample, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status)) {
        dprintf(channel, "error io %s: %s\n", sample, strerror(errno));
        exit(1);
    }
    inputs = mmap(0, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (inputs == MAP_FAILED || !allocate(places[0])) {
        dprintf(channel, "error memory\n");
        exit(1);
    }
    close(fd);
    n_copies = 1;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    /* A program's own functions come before those of the C library with the same name, `step` for one. Sanitizers do not bear
     * that. */
    mode = RTLD_NOW | RTLD_LOCAL | (dlsym(RTLD_DEFAULT, "__asan_init") ? 0 : RTLD_DEEPBIND);
    handle = dlopen(library, mode);
    if (handle)
        *(void **)&replay = dlsym(handle, "oxeye_replay");
    clock_of = handle ? dlsym(handle, "oxeye_replay_clock") : 0;
    if (clock_of)
        *clock_of = on_clock;
    if (!handle || !replay) {
        const char *text = dlerror();
        dprintf(channel, "error load %s\n", text ? text : "no function oxeye_replay");
        exit(1);
    }
    dprintf(channel, "ready\n");
}

int main(int argc, char **argv)
{
    char line[256];
    FILE *requests;
    int null;
    if (argc != 5)
        return 2;
    /* The library must neither read our requests nor write among our answers. */
    channel = fcntl(0, F_DUPFD_CLOEXEC, 10);
    null = open("/dev/null", O_RDWR);
    if (channel < 0 || null < 0 || dup2(null, 0) < 0)
        return 2;
    close(null);
    requests = fdopen(fcntl(channel, F_DUPFD_CLOEXEC, 10), "r");
    if (!requests)
        return 2;
    guard_mode = strcmp(argv[4], "guard") == 0;
    while (fgets(line, sizeof line, requests)) {
        long a, b, c, d, e;
        if (sscanf(line, "g %ld %ld %ld", &a, &b, &c) == 3 && n_pieces < MAX_ARGS) {
            pieces[n_pieces].size = a;
            pieces[n_pieces].page_offset = b;
            pieces[n_pieces++].alignment = c;
        } else if (sscanf(line, "a %ld %ld %ld %ld %ld", &a, &b, &c, &d, &e) == 5 && n_args < MAX_ARGS) {
            arguments[n_args].group = a;
            arguments[n_args].offset = b;
            arguments[n_args].file_offset = c;
            arguments[n_args].bytes = d;
            arguments[n_args++].before = e;
        } else if (strcmp(line, "go\n") == 0) {
            load(argv[1], argv[2]);
        } else if (sscanf(line, "call %ld", &a) == 1) {
            call(1, a);
        } else if (sscanf(line, "batch %ld %ld", &a, &b) == 2 && a <= MAX_COPIES) {
            call(a, b);
        } else if (sscanf(line, "cold %ld %ld", &a, &b) == 2) {
            call_cold(a, b);
        } else if (sscanf(line, "warm %ld %ld", &a, &b) == 2) {
            call_warm(a, b);
        } else if (sscanf(line, "events %ld", &a) == 1 && a <= MAX_EVENTS) {
            receive_events(a);
        } else if (sscanf(line, "counted %ld %ld", &a, &b) == 2 && 0 <= a && b <= n_events) {
            call_counted(a, b);
        } else if (strcmp(line, "check\n") == 0) {
            int g = canary_broken(places[0]);
            if (g < 0)
                dprintf(channel, "canary ok\n");
            else
                dprintf(channel, "canary %d\n", g);
        } else if (strcmp(line, "dump\n") == 0) {
            dump(argv[3]);
        } else {
            dprintf(channel, "error io unknown request\n");
        }
    }
    _exit(0);
}
