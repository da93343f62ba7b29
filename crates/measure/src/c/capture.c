/*
 * Oxeye capture runtime. It is put in front of an instrumented copy of a C program and needs no headers, so that the
 * program's own feature-test macros and includes keep their meaning. Every name begins with oxeye_capture_.
 *
 *   oxeye_capture_enter(site);                      whether this invocation is looked at: if not, args are left out
 *   oxeye_capture_work(site, (double)n * n);         how much there is to do: calls are told apart by it; may be left out
 *   oxeye_capture_arg(site, 0, A, bytes_of_A);      once per argument; -1 bytes: size unknown, look what it points into;
 *                                                  -2: not to be kept
 *   oxeye_capture_scalar(site, 1, &n, sizeof n);    a copy is kept
 *   oxeye_capture_part(site, 2, A, 8, bytes_of_A);  the same if so many bytes from A on are not used, and need not be memory;
 *                                                   if negative, so many bytes before A are used as well
 *   oxeye_capture_look(site, &rows, u, 1, 0, sizeof **u, ranges); rows behind pointers: how they lie
 *   oxeye_capture_rows_arg(site, 2, &rows);                      they as one argument
 *   ... the loop nest ...
 *   oxeye_capture_result(site, 1, &n, sizeof n);    for what was handed over as a copy and may have another value now
 *   oxeye_capture_leave(site);
 *
 * The clock of an invocation starts when the last of enter and arg returns. Linux, 64 bit, little endian.
 */
#ifndef OXEYE_CAPTURE_SITES
#define OXEYE_CAPTURE_SITES 1024
#endif
/* Where in the folder for samples those of this source are, if several sources of a program have this runtime: "/name". */
#ifndef OXEYE_CAPTURE_PART
#define OXEYE_CAPTURE_PART ""
#endif
#define OXEYE_CAPTURE_ARGS 256
/* The first, the largest, two at powers of two in turn, and some for the classes that take most time. */
#define OXEYE_CAPTURE_SLOTS 8
#define OXEYE_CAPTURE_OF_CLASSES 4
/* Invocations of a class have between 2^k and 2^(k+1) to do. */
#define OXEYE_CAPTURE_CLASSES 64
#define OXEYE_CAPTURE_HEADER 16384
/* From so many invocations on, or fewer that take less than OXEYE_CAPTURE_SHORT nanoseconds each, one in OXEYE_CAPTURE_STRIDE is
 * looked at, and those at powers of two, each in place of those since the last; a prime, as programs do things in turns. */
#define OXEYE_CAPTURE_OFTEN (1L << 20)
#define OXEYE_CAPTURE_SOME (1L << 12)
#define OXEYE_CAPTURE_SHORT 2000L
#define OXEYE_CAPTURE_STRIDE 61
/* Of an invocation that takes so many nanoseconds, the results are kept too: it is not to be run again for them. */
#define OXEYE_CAPTURE_LONG 400000000L
/* Samples from so many bytes on are large. */
#define OXEYE_CAPTURE_LARGE (32L << 20)
/* So much of the stack is kept at most behind a pointer into it. */
#define OXEYE_CAPTURE_STACK_BYTES (16UL << 20)
/* Levels of pointers in front of rows, and how many such arguments may lie unevenly. */
#define OXEYE_CAPTURE_LEVELS 3
#define OXEYE_CAPTURE_PARTS 8
#define OXEYE_CAPTURE_GATHERED 2048
/* Compiled as it stands: at -O3 this text takes the compiler longer than most programs' own, in each of their files. */
#ifdef __clang__
#pragma clang optimize off
#else
#pragma GCC push_options
#pragma GCC optimize("O0")
#endif

/* Not inlined: the functions of a program may be copied many times, each with all calls of these. */
#define OXEYE_CAPTURE_UNUSED __attribute__((unused, noinline))

typedef struct {
    long sec;
    long nsec;
} oxeye_capture_timespec;

/* The C library's functions under names of our own: no conflict with the program's declarations is possible. */
extern int oxeye_capture_libc_clock(int, oxeye_capture_timespec *) __asm__("clock_gettime");
extern int oxeye_capture_libc_open(const char *, int, ...) __asm__("open");
extern int oxeye_capture_libc_close(int) __asm__("close");
extern long oxeye_capture_libc_read(int, void *, unsigned long) __asm__("read");
extern long oxeye_capture_libc_write(int, const void *, unsigned long) __asm__("write");
extern long oxeye_capture_libc_pwrite(int, const void *, unsigned long, long) __asm__("pwrite");
extern long oxeye_capture_libc_pread(int, void *, unsigned long, long) __asm__("pread");
extern int oxeye_capture_libc_rename(const char *, const char *) __asm__("rename");
extern int oxeye_capture_libc_unlink(const char *) __asm__("unlink");
extern int oxeye_capture_libc_mkdir(const char *, unsigned) __asm__("mkdir");
extern int oxeye_capture_libc_strcmp(const char *, const char *) __asm__("strcmp");
extern int oxeye_capture_libc_getpid(void) __asm__("getpid");
extern char *oxeye_capture_libc_getenv(const char *) __asm__("getenv");
extern int oxeye_capture_libc_snprintf(char *, unsigned long, const char *, ...) __asm__("snprintf");
extern int *oxeye_capture_libc_errno(void) __asm__("__errno_location");
/* Absent in a program without OpenMP. */
extern int oxeye_capture_in_team(void) __asm__("omp_in_parallel") __attribute__((weak));

typedef struct {
    int used;
    long invocation;
    long nanoseconds;
    long bytes;
    long result_bytes; /* kept beside them, if any */
    unsigned long signature;
    int size_class;
    double work;
    long least; /* of nanoseconds, of this and later invocations with as much to do */
} oxeye_capture_sample;

typedef struct {
    long invocations;
    long nanoseconds;
} oxeye_capture_class;

/* Outside of the structure that has one, for files that are compiled as C++. */
enum oxeye_capture_spacing {
    OXEYE_CAPTURE_NO_ROWS,
    OXEYE_CAPTURE_EVEN,
    OXEYE_CAPTURE_UNEVEN,
    OXEYE_CAPTURE_OVERLAPPING
};

/* Rows of elements behind so many levels of pointers, in dimensions from 0 to levels. Stored they are one array, which begins
 * with the first element in the ranges. */
typedef struct {
    enum oxeye_capture_spacing spacing;
    int levels;
    int parts;    /* of the rows, if not all of them are used */
    long element; /* its bytes */
    const void *table;
    long first[OXEYE_CAPTURE_LEVELS + 1];
    long last[OXEYE_CAPTURE_LEVELS + 1];
    long strides[OXEYE_CAPTURE_LEVELS + 1]; /* of the stored array, in bytes */
    long extents[OXEYE_CAPTURE_LEVELS + 1]; /* of the stored array; not that of the first dimension */
    const char *begin; /* the first element, in memory */
    long bytes;        /* of the stored array */
    long part[OXEYE_CAPTURE_PARTS][2 * OXEYE_CAPTURE_LEVELS]; /* the first and last index of each dimension of pointers */
} oxeye_capture_rows;

/* The program's pointers are of other types. */
typedef void *oxeye_capture_pointer __attribute__((may_alias));

typedef struct {
    const char *pointer;
    long declared;
    long stored;
    long offset;
    long unused; /* bytes at the beginning that are not looked at */
    long before; /* bytes in front of what the program's pointer leads to */
    char value[16]; /* of a scalar: what is passed does not outlive the call */
    long source; /* 0 declared, 1 from the allocator or the symbols, 2 unknown, 3 not readable, 4 gathered row by row */
    oxeye_capture_rows *rows; /* to be gathered, or null */
    int place;                /* where a copy of that is, from 1; 0 if there is none */
} oxeye_capture_slot_arg;

typedef struct {
    void *owner; /* the thread inside the site, or null */
    long invocations;
    long nanoseconds;
    long concurrent; /* invocations while another thread was inside: counted, neither timed nor captured */
    long abandoned;  /* invocations left without end */
    long skipped;    /* samples not kept for lack of room or because writing failed */
    int known_args;       /* how many arguments the first invocation had */
    int n_args;           /* of the present invocation: highest index + 1 */
    int seen_args;
    int slot; /* where the present invocation is kept, or -1 */
    int fd;   /* open while the first invocation's arguments arrive, else -1 */
    long current;
    long start;
    long overhead; /* what was spent on samples when the clock started: what comes to it later is for sites inside */
    long end_of_data;
    oxeye_capture_sample samples[OXEYE_CAPTURE_SLOTS];
    int next_slot;
    int size_class; /* of the present invocation */
    double work;    /* of the present invocation */
    double all_work;
    long passes; /* so many invocations are not looked at from now on */
    long passed; /* so many were not, and are not counted yet: by any thread, while only the owner changes the rest */
    long last;   /* the last one that was looked at, from 1 */
    long weight; /* for how many invocations the present one stands */
    oxeye_capture_class classes[OXEYE_CAPTURE_CLASSES];
    oxeye_capture_slot_arg args[OXEYE_CAPTURE_ARGS];
} oxeye_capture_site;

static oxeye_capture_site oxeye_capture_sites[OXEYE_CAPTURE_SITES];
static __thread char oxeye_capture_thread;
static char oxeye_capture_dir[3840];
static int oxeye_capture_state; /* 0 not looked, 1 on, 2 off */
static int oxeye_capture_pid;
static long oxeye_capture_limit = 4L << 30;
static long oxeye_capture_kept;
/* Nanoseconds spent writing samples, and of those by this thread; the sources of a program have them in common. */
#define OXEYE_CAPTURE_COMMON __attribute__((weak, visibility("default")))
OXEYE_CAPTURE_COMMON long oxeye_capture_overhead;
OXEYE_CAPTURE_COMMON __thread long oxeye_capture_own_overhead;
static int oxeye_capture_lock;

static long oxeye_capture_now(void)
{
    oxeye_capture_timespec now = {0, 0};
    oxeye_capture_libc_clock(1, &now);
    return (long)now.sec * 1000000000L + now.nsec;
}

static void oxeye_capture_acquire(void)
{
    while (__atomic_exchange_n(&oxeye_capture_lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void oxeye_capture_release(void)
{
    __atomic_store_n(&oxeye_capture_lock, 0, __ATOMIC_RELEASE);
}

/* Which of the processes of a parallel program this is, by the launchers of Open MPI, MPICH, MVAPICH and Slurm. */
static const char *oxeye_capture_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK",
                                        "SLURM_PROCID"};
    unsigned k;
    for (k = 0; k < sizeof names / sizeof *names; ++k) {
        const char *rank = oxeye_capture_libc_getenv(names[k]);
        if (rank && *rank)
            return rank;
    }
    return 0;
}

static int oxeye_capture_on(void)
{
    if (__atomic_load_n(&oxeye_capture_state, __ATOMIC_ACQUIRE) == 0) {
        oxeye_capture_acquire();
        if (oxeye_capture_state == 0) {
            const char *dir = oxeye_capture_libc_getenv("OXEYE_CAPTURE_DIR");
            const char *limit = oxeye_capture_libc_getenv("OXEYE_CAPTURE_LIMIT");
            int n = 0;
            int on = 0;
            if (limit && *limit >= '0' && *limit <= '9') {
                oxeye_capture_limit = 0;
                for (; *limit >= '0' && *limit <= '9' && oxeye_capture_limit < (1L << 56); ++limit)
                    oxeye_capture_limit = oxeye_capture_limit * 10 + (*limit - '0');
            }
            if (dir && *dir) {
                /* Processes that do the same at the same time keep what they see apart. */
                const char *rank = oxeye_capture_rank();
                const char *wanted = oxeye_capture_libc_getenv("OXEYE_CAPTURE_RANK");
                n = oxeye_capture_libc_snprintf(oxeye_capture_dir, sizeof oxeye_capture_dir, "%s%s%s%s", dir,
                                                OXEYE_CAPTURE_PART, rank ? "/rank" : "", rank ? rank : "");
                on = n < (int)sizeof oxeye_capture_dir;
                /* The folder tells of each process that there is one. */
                if (on && rank)
                    oxeye_capture_libc_mkdir(oxeye_capture_dir, 0700);
                if (rank && wanted && *wanted && oxeye_capture_libc_strcmp(rank, wanted))
                    on = 0;
            }
            __atomic_store_n(&oxeye_capture_state, on ? 1 : 2, __ATOMIC_RELEASE);
        }
        oxeye_capture_release();
    }
    return oxeye_capture_state == 1;
}

/* A process that enters no nest is counted as well. */
__attribute__((constructor)) static void oxeye_capture_arrive(void)
{
    oxeye_capture_on();
}

static int oxeye_capture_open(const char *path, int exclusive)
{
    /* O_WRONLY | O_CREAT | O_CLOEXEC, and O_EXCL or O_TRUNC */
    return oxeye_capture_libc_open(path, 01 | 0100 | 02000000 | (exclusive ? 0200 : 01000), 0600);
}

/* 0 done, 1 the memory cannot be read, 2 the file cannot be written. */
static int oxeye_capture_put(int fd, const char *data, long bytes, long offset)
{
    while (bytes > 0) {
        long step = bytes < (1L << 30) ? bytes : (1L << 30);
        long done = oxeye_capture_libc_pwrite(fd, data, (unsigned long)step, offset);
        if (done > 0) {
            data += done;
            offset += done;
            bytes -= done;
        } else {
            int error = *oxeye_capture_libc_errno();
            if (done < 0 && error == 4)
                continue;
            return done < 0 && error == 14 ? 1 : 2;
        }
    }
    return 0;
}

static void oxeye_capture_path(char *out, unsigned long size, int site, long invocation, const char *what)
{
    oxeye_capture_libc_snprintf(out, size, "%s/site%d.%ld.%s", oxeye_capture_dir, site, invocation, what);
}

/* Takes the files of a sample away. */
static void oxeye_capture_forget(int k, int slot)
{
    oxeye_capture_sample *sample = &oxeye_capture_sites[k].samples[slot];
    char path[4096];
    oxeye_capture_path(path, sizeof path, k, sample->invocation, "bin");
    oxeye_capture_libc_unlink(path);
    if (sample->result_bytes) {
        oxeye_capture_path(path, sizeof path, k, sample->invocation, "out");
        oxeye_capture_libc_unlink(path);
    }
    oxeye_capture_kept -= sample->bytes + sample->result_bytes;
    sample->used = 0;
    sample->bytes = 0;
    sample->result_bytes = 0;
}

static void oxeye_capture_summary(int finished)
{
    char path[4096], temporary[4096], line[512];
    int fd, k, s, n;
    if (oxeye_capture_pid && oxeye_capture_pid != oxeye_capture_libc_getpid())
        return;
    oxeye_capture_libc_snprintf(path, sizeof path, "%s/summary.txt", oxeye_capture_dir);
    oxeye_capture_libc_snprintf(temporary, sizeof temporary, "%s/summary.new", oxeye_capture_dir);
    /* A process that entered no site must not hide what a child of it captured. */
    fd = oxeye_capture_pid ? oxeye_capture_open(temporary, 0) : oxeye_capture_open(path, 1);
    if (fd < 0)
        return;
    n = oxeye_capture_libc_snprintf(line, sizeof line, "oxeye-capture 1\nstatus %s\noverhead %ld\n",
                                    finished ? "finished" : "running", oxeye_capture_overhead);
    if (oxeye_capture_libc_write(fd, line, (unsigned long)n) != n)
        finished = 0;
    for (k = 0; k < OXEYE_CAPTURE_SITES; ++k) {
        oxeye_capture_site *site = &oxeye_capture_sites[k];
        if (site->invocations == 0 && site->concurrent == 0)
            continue;
        n = oxeye_capture_libc_snprintf(
            line, sizeof line,
            "site %d invocations %ld nanoseconds %ld args %d concurrent %ld abandoned %ld skipped %ld\n", k,
            site->invocations + site->passed, site->nanoseconds, site->known_args, site->concurrent, site->abandoned, site->skipped);
        if (oxeye_capture_libc_write(fd, line, (unsigned long)n) != n)
            break;
        for (s = 0; s < OXEYE_CAPTURE_CLASSES; ++s) {
            if (site->classes[s].invocations == 0)
                continue;
            n = oxeye_capture_libc_snprintf(line, sizeof line, "class %d invocations %ld nanoseconds %ld\n", s,
                                            site->classes[s].invocations, site->classes[s].nanoseconds);
            if (oxeye_capture_libc_write(fd, line, (unsigned long)n) != n)
                break;
        }
        for (s = 0; s < OXEYE_CAPTURE_SLOTS; ++s) {
            oxeye_capture_sample *sample = &site->samples[s];
            if (!sample->used || sample->nanoseconds < 0)
                continue;
            n = oxeye_capture_libc_snprintf(line, sizeof line,
                                            "sample %d invocation %ld nanoseconds %ld least %ld class %d file site%d.%ld.bin\n",
                                            k, sample->invocation, sample->nanoseconds, sample->least,
                                            sample->size_class, k, sample->invocation);
            if (oxeye_capture_libc_write(fd, line, (unsigned long)n) != n)
                break;
        }
    }
    oxeye_capture_libc_close(fd);
    if (oxeye_capture_pid)
        oxeye_capture_libc_rename(temporary, path);
}

/* What a mapping of the process is. */
enum {
    OXEYE_CAPTURE_UNKNOWN,
    OXEYE_CAPTURE_UNMAPPED, /* or mapped without leave to read */
    OXEYE_CAPTURE_ANONYMOUS, /* the heap, or memory of no file */
    OXEYE_CAPTURE_STACK,
    OXEYE_CAPTURE_FILE
};

/* What the mapping around an address is, and where it begins and ends. */
static int oxeye_capture_mapping(unsigned long address, unsigned long *begin, unsigned long *end)
{
    static char buffer[4096];
    unsigned long low = 0, high = 0, value = 0;
    int fd, field = 0, found = 0, path = 0, readable = 0, kind = OXEYE_CAPTURE_ANONYMOUS;
    long got;
    fd = oxeye_capture_libc_open("/proc/self/maps", 02000000);
    if (fd < 0)
        return OXEYE_CAPTURE_UNKNOWN;
    while (!found && (got = oxeye_capture_libc_read(fd, buffer, sizeof buffer)) > 0) {
        long i;
        for (i = 0; i < got && !found; ++i) {
            char c = buffer[i];
            if (c == '\n') {
                found = low <= address && address < high && readable;
                if (!found)
                    low = high = value = 0, field = 0, path = 0, readable = 0, kind = OXEYE_CAPTURE_ANONYMOUS;
            } else if (field == 0 && c == '-') {
                low = value, value = 0, field = 1;
            } else if (field == 1 && c == ' ') {
                high = value, field = 2;
            } else if (field < 2) {
                value = value * 16 + (unsigned long)(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (c == ' ') {
                field += field < 6;
            } else if (field == 2) {
                readable |= c == 'r';
            } else if (field == 6) {
                /* `[heap]`, `[stack]`, or the name of a file */
                if (path == 0)
                    kind = OXEYE_CAPTURE_FILE;
                if (path == 1)
                    kind = c == 'h' ? OXEYE_CAPTURE_ANONYMOUS : c == 's' ? OXEYE_CAPTURE_STACK : OXEYE_CAPTURE_FILE;
                ++path;
                if (path == 2 && c != 'h' && c != 's')
                    kind = OXEYE_CAPTURE_FILE;
            }
        }
    }
    oxeye_capture_libc_close(fd);
    *begin = low;
    *end = high;
    return found ? kind : OXEYE_CAPTURE_UNMAPPED;
}

/* The size of the glibc heap block whose header is here, with its header, or 0 when it does not look like one. */
static unsigned long oxeye_capture_block(unsigned long chunk, unsigned long high)
{
    unsigned long size = ((const unsigned long *)chunk)[1], flags = size & 7;
    size &= ~7UL;
    if (size % 16 || size < 32 || size > high - chunk)
        return 0;
    if (flags & 2)
        return (chunk - ((const unsigned long *)chunk)[0]) % 4096 == 0 ? size : 0;
    return high - chunk - size < 16 || !(((const unsigned long *)(chunk + size))[1] & 1) ? 0 : size;
}

/* The bytes from p to the end of the glibc heap block it points into, or -1. */
static long oxeye_capture_heap_bytes(unsigned long p, unsigned long low, unsigned long high)
{
    unsigned long chunk = p - 16, size, at = low;
    /* Most pointers are what the allocator returned. */
    if (p % 16 == 0 && p - low >= 16 && (size = oxeye_capture_block(chunk, high)) != 0)
        return (long)(size - (((const unsigned long *)chunk)[1] & 2 ? 16 : 8));
    /* Others point inside: from the beginning of the mapping block follows upon block. */
    while (at < high - 32) {
        unsigned long flags = ((const unsigned long *)at)[1] & 7;
        size = ((const unsigned long *)at)[1] & ~7UL;
        if (size < 32 || size % 16 || size > high - at)
            return -1;
        if (p < at + size) {
            unsigned long end = at + size + (flags & 2 ? 0 : 8);
            return p < at + 16 || end > high ? -1 : (long)(end - p);
        }
        at += size;
    }
    return -1;
}

typedef struct {
    unsigned char ident[16];
    unsigned short type, machine;
    unsigned version;
    unsigned long entry, phoff, shoff;
    unsigned flags;
    unsigned short ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
} oxeye_capture_elf;

typedef struct {
    unsigned name, type;
    unsigned long flags, addr, offset, size;
    unsigned link, info;
    unsigned long align, entsize;
} oxeye_capture_section;

typedef struct {
    unsigned name;
    unsigned char info, other;
    unsigned short section;
    unsigned long value, size;
} oxeye_capture_symbol;

extern const char oxeye_capture_image[] __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));

/* The bytes from p to the end of the program's variable that it points into, or -1 when there is none, or the program has
 * no symbols. */
static long oxeye_capture_static_bytes(unsigned long p)
{
    static oxeye_capture_symbol symbols[256];
    oxeye_capture_elf elf;
    oxeye_capture_section section;
    unsigned long bias = 0, at, end;
    long bytes = -1, got, i;
    int fd = oxeye_capture_libc_open("/proc/self/exe", 02000000), k;
    if (fd < 0)
        return -1;
    if (oxeye_capture_libc_pread(fd, &elf, sizeof elf, 0) != (long)sizeof elf || elf.ident[4] != 2 || elf.ident[5] != 1)
        elf.shnum = 0;
    else if (elf.type == 3)
        bias = (unsigned long)oxeye_capture_image;
    for (k = 0; k < elf.shnum && bytes < 0; ++k) {
        at = elf.shoff + (unsigned long)k * elf.shentsize;
        if (oxeye_capture_libc_pread(fd, &section, sizeof section, (long)at) != (long)sizeof section)
            break;
        if (section.type != 2)
            continue;
        end = section.offset + section.size;
        for (at = section.offset; at < end && bytes < 0; at += (unsigned long)got) {
            unsigned long want = end - at < sizeof symbols ? end - at : sizeof symbols;
            got = oxeye_capture_libc_pread(fd, symbols, want, (long)at);
            got -= got % (long)sizeof *symbols;
            if (got <= 0)
                break;
            for (i = 0; i < got / (long)sizeof *symbols && bytes < 0; ++i) {
                unsigned long first = symbols[i].value + bias;
                if ((symbols[i].info & 15) == 1 && first <= p && p < first + symbols[i].size)
                    bytes = (long)(first + symbols[i].size - p);
            }
        }
    }
    oxeye_capture_libc_close(fd);
    return bytes;
}

/* The bytes from p to the end of the object that it points into: a block of the heap, a variable of the program, or what of
 * the stack lies above. 0 when nothing can be read there, so that the nest does not use the pointer; -1 when that cannot be
 * told. */
static long oxeye_capture_object_bytes(const char *pointer)
{
    unsigned long p = (unsigned long)pointer, low, high;
    long bytes;
    int kind;
    if (!pointer)
        return 0;
    bytes = oxeye_capture_static_bytes(p);
    if (bytes >= 0)
        return bytes;
    kind = oxeye_capture_mapping(p, &low, &high);
    if (kind == OXEYE_CAPTURE_UNMAPPED)
        return 0;
    if (kind == OXEYE_CAPTURE_ANONYMOUS)
        return oxeye_capture_heap_bytes(p, low, high);
    return kind == OXEYE_CAPTURE_STACK && high - p <= OXEYE_CAPTURE_STACK_BYTES ? (long)(high - p) : -1;
}

static void oxeye_capture_resolve(oxeye_capture_slot_arg *arg)
{
    arg->stored = arg->declared;
    arg->source = 0;
    if (arg->declared == -2) {
        arg->stored = 0;
        arg->source = 2;
    } else if (arg->declared < 0) {
        arg->stored = oxeye_capture_object_bytes(arg->pointer);
        arg->source = arg->stored < 0 ? 2 : 1;
        if (arg->stored < 0)
            arg->stored = 0;
    }
    if (!arg->pointer)
        arg->stored = 0;
    if (arg->rows)
        arg->source = 4;
}

/* The row at these indices. */
static const char *oxeye_capture_row(const oxeye_capture_rows *rows, const long *at)
{
    const void *row = rows->table;
    int d;
    for (d = 0; d < rows->levels; ++d)
        row = ((const oxeye_capture_pointer *)row)[at[d]];
    return (const char *)row;
}

/* Whether the row at these indices is used. */
static int oxeye_capture_is_used(const oxeye_capture_rows *rows, const long *at)
{
    int d, p, n = rows->levels;
    for (p = 0; p < rows->parts; ++p) {
        for (d = 0; d < n && at[d] >= rows->part[p][2 * d] && at[d] <= rows->part[p][2 * d + 1]; ++d)
            ;
        if (d == n)
            return 1;
    }
    return !rows->parts;
}

/* The indices of the first row. */
static void oxeye_capture_first_row(const oxeye_capture_rows *rows, long *at)
{
    int d;
    for (d = 0; d < rows->levels; ++d)
        at[d] = rows->parts ? rows->part[0][2 * d] : rows->first[d];
}

/* The indices of the next row that is used; 0 behind the last one. */
static int oxeye_capture_next_row(const oxeye_capture_rows *rows, long *at)
{
    int d;
    do {
        for (d = rows->levels - 1; d >= 0; --d) {
            if (at[d]++ < rows->last[d])
                break;
            at[d] = rows->first[d];
        }
    } while (d >= 0 && !oxeye_capture_is_used(rows, at));
    return d >= 0;
}

/* Bytes from the first row of the stored array to the one at these indices. */
static long oxeye_capture_row_offset(const oxeye_capture_rows *rows, const long *at)
{
    long offset = 0;
    int d;
    for (d = 0; d < rows->levels; ++d)
        offset += (at[d] - rows->first[d]) * rows->strides[d];
    return offset;
}

/* The distance in bytes between two neighbours in a dimension, or 0 if no two of them are used. */
static long oxeye_capture_stride(const oxeye_capture_rows *rows, int d)
{
    long at[OXEYE_CAPTURE_LEVELS + 1];
    const char *row;
    int k, p = 0;
    oxeye_capture_first_row(rows, at);
    if (rows->parts) {
        while (p < rows->parts && rows->part[p][2 * d] >= rows->part[p][2 * d + 1])
            ++p;
        if (p == rows->parts)
            return 0;
        for (k = 0; k < rows->levels; ++k)
            at[k] = rows->part[p][2 * k];
    } else if (rows->first[d] == rows->last[d]) {
        return 0;
    }
    row = oxeye_capture_row(rows, at);
    ++at[d];
    return (long)((unsigned long)oxeye_capture_row(rows, at) - (unsigned long)row);
}

/* Sets the strides to the distances of the rows in memory: 1 if all rows lie so. Each dimension then holds the indices of the
 * next one. */
static int oxeye_capture_is_even(oxeye_capture_rows *rows)
{
    long at[OXEYE_CAPTURE_LEVELS + 1], stride;
    unsigned long origin;
    int d, n = rows->levels;
    rows->strides[n] = rows->element;
    for (d = n - 1; d >= 0; --d) {
        stride = oxeye_capture_stride(rows, d);
        rows->strides[d] = stride ? stride : (rows->last[d + 1] + 1) * rows->strides[d + 1];
        if (rows->strides[d] <= 0)
            return 0;
    }
    for (d = 1; d <= n; ++d) {
        if (rows->strides[d - 1] % rows->strides[d])
            return 0;
        rows->extents[d] = rows->strides[d - 1] / rows->strides[d];
        if (rows->first[d] < 0 || rows->last[d] >= rows->extents[d])
            return 0;
    }
    oxeye_capture_first_row(rows, at);
    origin = (unsigned long)oxeye_capture_row(rows, at) - (unsigned long)oxeye_capture_row_offset(rows, at);
    for (d = 0; d < n; ++d)
        at[d] = rows->first[d];
    if (!oxeye_capture_is_used(rows, at) && !oxeye_capture_next_row(rows, at))
        return 0;
    do
        if ((unsigned long)oxeye_capture_row(rows, at) - origin != (unsigned long)oxeye_capture_row_offset(rows, at))
            return 0;
    while (oxeye_capture_next_row(rows, at));
    rows->begin = (const char *)origin + rows->first[n] * rows->element;
    return 1;
}

/* Stores the rows at an offset of the file. The result is that of put. */
static int oxeye_capture_gather(int fd, const oxeye_capture_rows *rows, long offset)
{
    long at[OXEYE_CAPTURE_LEVELS + 1], n = rows->levels;
    long bytes = (rows->last[n] - rows->first[n] + 1) * rows->element;
    int d, failed;
    for (d = 0; d <= n; ++d)
        at[d] = rows->first[d];
    /* The last row may be one that is not used. */
    failed = oxeye_capture_put(fd, "", 1, offset + rows->bytes - 1);
    if (failed)
        return failed;
    if (!oxeye_capture_is_used(rows, at) && !oxeye_capture_next_row(rows, at))
        return 0;
    do
        failed = oxeye_capture_put(fd, oxeye_capture_row(rows, at) + rows->first[n] * rows->element, bytes,
                                   offset + oxeye_capture_row_offset(rows, at));
    while (!failed && oxeye_capture_next_row(rows, at));
    return failed;
}

/* Stores the argument where it is to be. */
static int oxeye_capture_store(int fd, const oxeye_capture_slot_arg *arg)
{
    if (arg->rows)
        return oxeye_capture_gather(fd, arg->rows, arg->offset);
    if (arg->unused < arg->stored)
        return oxeye_capture_put(fd, arg->pointer + arg->unused, arg->stored - arg->unused, arg->offset + arg->unused);
    return arg->stored > 0 ? oxeye_capture_put(fd, "", 1, arg->offset + arg->stored - 1) : 0;
}

/* Gives up the sample being written. */
static void oxeye_capture_drop(int k)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    if (site->fd >= 0)
        oxeye_capture_libc_close(site->fd);
    site->fd = -1;
    if (site->slot >= 0)
        oxeye_capture_forget(k, site->slot);
    site->slot = -1;
    ++site->skipped;
}

static int oxeye_capture_create(int k, int slot)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    oxeye_capture_sample *sample = &site->samples[slot];
    char path[4096];
    if (oxeye_capture_pid != oxeye_capture_libc_getpid()) {
        oxeye_capture_state = 2; /* a forked child leaves its parent's samples alone */
        return 0;
    }
    if (sample->used)
        oxeye_capture_forget(k, slot);
    site->slot = slot;
    site->end_of_data = OXEYE_CAPTURE_HEADER;
    sample->used = 1;
    sample->invocation = site->current;
    sample->nanoseconds = -1;
    sample->bytes = 0;
    sample->signature = 0;
    sample->size_class = site->size_class;
    sample->work = site->work;
    oxeye_capture_path(path, sizeof path, k, site->current, "bin");
    site->fd = oxeye_capture_open(path, 0);
    if (site->fd < 0)
        oxeye_capture_drop(k);
    return site->fd >= 0;
}

static void oxeye_capture_dump(int k, oxeye_capture_slot_arg *arg)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    int failed;
    if (oxeye_capture_kept + arg->stored > oxeye_capture_limit) {
        oxeye_capture_drop(k);
        return;
    }
    arg->offset = site->end_of_data;
    failed = oxeye_capture_store(site->fd, arg);
    if (failed == 1 && arg->before) {
        /* An empty loop, or one that never goes so far, has no elements there. */
        arg->pointer += arg->before;
        arg->stored -= arg->before;
        arg->before = 0;
        failed = oxeye_capture_store(site->fd, arg);
    }
    if (failed == 2) {
        oxeye_capture_drop(k);
        return;
    }
    if (failed == 1) {
        arg->source = 3;
        arg->stored = 0;
    }
    site->end_of_data += (arg->stored + 4095) / 4096 * 4096;
    site->samples[site->slot].bytes += arg->stored;
    oxeye_capture_kept += arg->stored;
}

static unsigned long oxeye_capture_signature(const oxeye_capture_site *site)
{
    unsigned long hash = 14695981039346656037UL;
    int i;
    long b;
    for (i = 0; i < site->n_args; ++i) {
        const oxeye_capture_slot_arg *arg = &site->args[i];
        hash = (hash ^ (unsigned long)arg->declared) * 1099511628211UL;
        if (arg->pointer && !arg->rows && arg->declared > 0 && arg->declared <= 16)
            for (b = arg->unused; b < arg->declared; ++b)
                hash = (hash ^ (unsigned char)arg->pointer[b]) * 1099511628211UL;
    }
    return hash;
}

static void oxeye_capture_header(int k)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    long header[8 + 6 * OXEYE_CAPTURE_ARGS];
    int i, n = 0;
    header[n++] = 0x504143455945584fL; /* "OXEYECAP" */
    header[n++] = 2;
    header[n++] = k;
    header[n++] = site->current;
    header[n++] = site->n_args;
    header[n++] = site->end_of_data;
    header[n++] = 0;
    header[n++] = 0;
    for (i = 0; i < site->n_args; ++i) {
        const oxeye_capture_slot_arg *arg = &site->args[i];
        header[n++] = arg->rows ? 0 : (long)arg->pointer;
        header[n++] = arg->declared;
        header[n++] = arg->stored;
        header[n++] = arg->offset;
        header[n++] = arg->source;
        header[n++] = arg->before;
    }
    if (oxeye_capture_put(site->fd, (const char *)header, n * (long)sizeof header[0], 0)) {
        oxeye_capture_drop(k);
        return;
    }
    oxeye_capture_libc_close(site->fd);
    site->fd = -1;
}

/* Nanoseconds that a class has taken; of one that is new, what this invocation will take if it is as fast as the others. */
static double oxeye_capture_time_of(const oxeye_capture_site *site, int size_class)
{
    if (site->classes[size_class].invocations || size_class != site->size_class || site->all_work <= 0)
        return (double)site->classes[size_class].nanoseconds;
    return (double)site->nanoseconds / site->all_work * site->work;
}

/* Where the present invocation is kept as the sample of its class: -1 where there is one, or where others take more time. */
static int oxeye_capture_class_slot(const oxeye_capture_site *site)
{
    const int first = OXEYE_CAPTURE_SLOTS - OXEYE_CAPTURE_OF_CLASSES;
    int i, least = first;
    if (site->samples[0].used && site->samples[0].size_class == site->size_class)
        return -1;
    for (i = first; i < OXEYE_CAPTURE_SLOTS; ++i)
        if (site->samples[i].used && site->samples[i].size_class == site->size_class)
            return -1;
    for (i = first; i < OXEYE_CAPTURE_SLOTS; ++i) {
        if (!site->samples[i].used)
            return i;
        if (site->classes[site->samples[i].size_class].nanoseconds <
            site->classes[site->samples[least].size_class].nanoseconds)
            least = i;
    }
    /* Half as much again, so that classes do not take each other's place all the time. */
    return oxeye_capture_time_of(site, site->size_class) >
                   1.5 * (double)site->classes[site->samples[least].size_class].nanoseconds
               ? least
               : -1;
}

/* Whether an invocation is at a power of two, or of eight if it is large: of those that follow each other only two are kept, and
 * writing takes its time from the program's. */
static int oxeye_capture_has_turn(long invocation, long bytes)
{
    if (invocation & (invocation - 1))
        return 0;
    return bytes < OXEYE_CAPTURE_LARGE || __builtin_ctzl((unsigned long)invocation) % 3 == 0;
}

/* All arguments of a later invocation are known: keep it if it shows something new. */
static void oxeye_capture_decide(int k)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    unsigned long signature = oxeye_capture_signature(site);
    long total = 0, largest = 0, freed = 0;
    int i, slot = -1, known = 0;
    for (i = 0; i < site->n_args; ++i) {
        if (site->args[i].declared < 0 && !(site->current & (site->current - 1)))
            oxeye_capture_resolve(&site->args[i]);
        else
            site->args[i].stored = site->args[i].declared < 0 ? 0 : site->args[i].declared;
        total += site->args[i].stored;
    }
    for (i = 0; i < OXEYE_CAPTURE_SLOTS; ++i)
        if (site->samples[i].used) {
            if (site->samples[i].bytes > largest)
                largest = site->samples[i].bytes;
            known |= site->samples[i].signature == signature;
        }
    slot = oxeye_capture_class_slot(site);
    if (slot < 0 && total > largest + largest / 4)
        slot = 1;
    else if (slot < 0 && !known && oxeye_capture_has_turn(site->current, total)) {
        slot = 2 + site->next_slot;
        site->next_slot = !site->next_slot;
    }
    if (slot < 0)
        return;
    if (site->samples[slot].used)
        freed = site->samples[slot].bytes + site->samples[slot].result_bytes;
    if (oxeye_capture_kept - freed + total > oxeye_capture_limit) {
        ++site->skipped;
        return;
    }
    if (!oxeye_capture_create(k, slot))
        return;
    for (i = 0; i < site->n_args && site->slot >= 0; ++i) {
        oxeye_capture_resolve(&site->args[i]);
        oxeye_capture_dump(k, &site->args[i]);
    }
    if (site->slot >= 0)
        site->samples[slot].signature = signature;
    if (site->slot >= 0)
        oxeye_capture_header(k);
}

static void oxeye_capture_add_overhead(long nanoseconds)
{
    oxeye_capture_own_overhead += nanoseconds;
    __atomic_fetch_add(&oxeye_capture_overhead, nanoseconds, __ATOMIC_RELAXED);
}

/* Where a thread begins a team, it waits for what the others write; in a team, they write at the same time. */
static long oxeye_capture_overhead_so_far(void)
{
    if (oxeye_capture_in_team && oxeye_capture_in_team())
        return oxeye_capture_own_overhead;
    return __atomic_load_n(&oxeye_capture_overhead, __ATOMIC_RELAXED);
}

OXEYE_CAPTURE_UNUSED static int oxeye_capture_begin(int k)
{
    oxeye_capture_site *site;
    void *nobody = 0, *me = &oxeye_capture_thread;
    int i;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on())
        return 0;
    site = &oxeye_capture_sites[k];
    if (!__atomic_compare_exchange_n(&site->owner, &nobody, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (nobody != me) {
            __atomic_fetch_add(&site->concurrent, 1, __ATOMIC_RELAXED);
            return 0;
        }
        /* The earlier invocation was left without end, or this one is nested in it. */
        ++site->abandoned;
        oxeye_capture_acquire();
        if (site->invocations == 1)
            site->known_args = site->n_args;
        if (site->slot >= 0) {
            site->skipped -= 1;
            oxeye_capture_drop(k);
        }
        oxeye_capture_release();
    }
    if (!oxeye_capture_pid)
        oxeye_capture_pid = oxeye_capture_libc_getpid();
    site->invocations += site->passed;
    site->passed = 0;
    site->current = site->invocations++;
    site->weight = site->invocations - site->last;
    site->last = site->invocations;
    site->n_args = 0;
    site->seen_args = 0;
    site->size_class = 0;
    site->work = 0;
    site->slot = -1;
    site->fd = -1;
    for (i = 0; i < OXEYE_CAPTURE_ARGS && site->current == 0; ++i)
        site->args[i].source = 2;
    if (site->current == 0) {
        oxeye_capture_acquire();
        oxeye_capture_create(k, 0);
        oxeye_capture_release();
    }
    site->overhead = oxeye_capture_overhead_so_far();
    site->start = oxeye_capture_now();
    return 1;
}

OXEYE_CAPTURE_UNUSED static void oxeye_capture_work(int k, double work)
{
    oxeye_capture_site *site;
    union {
        double number;
        unsigned long bits;
    } word;
    long exponent;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on())
        return;
    site = &oxeye_capture_sites[k];
    if (site->owner != (void *)&oxeye_capture_thread || !(work >= 1))
        return;
    word.number = work;
    exponent = (long)(word.bits >> 52) - 1023;
    site->work = work;
    site->size_class = (int)(exponent < OXEYE_CAPTURE_CLASSES ? exponent : OXEYE_CAPTURE_CLASSES - 1);
    if (site->slot >= 0) {
        site->samples[site->slot].size_class = site->size_class;
        site->samples[site->slot].work = work;
    }
}

OXEYE_CAPTURE_UNUSED static void oxeye_capture_part(int k, int index, const void *pointer, long unused, long bytes)
{
    oxeye_capture_site *site;
    oxeye_capture_slot_arg *arg;
    long entered;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on())
        return;
    site = &oxeye_capture_sites[k];
    if (site->owner != (void *)&oxeye_capture_thread || index < 0)
        return;
    if (index >= OXEYE_CAPTURE_ARGS) {
        oxeye_capture_acquire();
        if (site->slot >= 0)
            oxeye_capture_drop(k);
        oxeye_capture_release();
        return;
    }
    arg = &site->args[index];
    arg->before = pointer && unused < 0 && bytes >= 0 ? -unused : 0;
    arg->pointer = (const char *)pointer - arg->before;
    arg->declared = bytes < -2 ? -1 : bytes + arg->before;
    arg->unused = unused > 0 && bytes >= 0 ? unused : 0;
    if (index >= site->n_args)
        site->n_args = index + 1;
    ++site->seen_args;
    if (site->current > 0 && site->seen_args < site->known_args)
        return;
    entered = oxeye_capture_now();
    if (site->current == 0 && site->slot >= 0) {
        oxeye_capture_acquire();
        oxeye_capture_resolve(arg);
        oxeye_capture_dump(k, arg);
        if (site->slot >= 0)
            site->samples[0].signature = oxeye_capture_signature(site);
        oxeye_capture_release();
    } else if (site->current > 0 && site->seen_args == site->known_args && site->n_args == site->known_args) {
        oxeye_capture_acquire();
        oxeye_capture_decide(k);
        oxeye_capture_release();
    }
    site->start = oxeye_capture_now();
    oxeye_capture_add_overhead(site->start - entered);
    site->overhead = oxeye_capture_overhead_so_far();
}

OXEYE_CAPTURE_UNUSED static void oxeye_capture_arg(int k, int index, const void *pointer, long bytes)
{
    oxeye_capture_part(k, index, pointer, 0, bytes);
}

/* A scalar that is handed over as a copy. */
OXEYE_CAPTURE_UNUSED static void oxeye_capture_scalar(int k, int index, const void *pointer, long bytes)
{
    char *value;
    long i;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || index < 0 || index >= OXEYE_CAPTURE_ARGS ||
        oxeye_capture_sites[k].owner != (void *)&oxeye_capture_thread || bytes < 0 ||
        bytes > (long)sizeof oxeye_capture_sites[k].args[index].value) {
        oxeye_capture_arg(k, index, pointer, bytes);
        return;
    }
    value = oxeye_capture_sites[k].args[index].value;
    for (i = 0; i < bytes; ++i)
        value[i] = ((const char *)pointer)[i];
    oxeye_capture_arg(k, index, value, bytes);
}

/* Finds out how the rows behind the pointers in a table lie; the ranges are the first and last index of each dimension, and
 * behind them those of the parts. With no table, they are not looked at. */
OXEYE_CAPTURE_UNUSED static void oxeye_capture_look(int k, oxeye_capture_rows *rows, const void *table, int levels,
                                                    int parts, long element, const long *ranges)
{
    long at[OXEYE_CAPTURE_LEVELS + 1];
    int d, p, is_empty = 0;
    rows->spacing = OXEYE_CAPTURE_NO_ROWS;
    rows->levels = levels;
    rows->element = element;
    rows->table = table;
    rows->begin = 0;
    rows->bytes = 0;
    rows->parts = parts;
    for (p = 0; p < parts; ++p)
        for (d = 0; d < 2 * levels; ++d)
            rows->part[p][d] = ranges[2 * (levels + 1) + 2 * levels * p + d];
    for (d = 0; d <= levels; ++d) {
        rows->first[d] = ranges[2 * d];
        rows->last[d] = ranges[2 * d + 1];
        rows->extents[d] = 1;
        is_empty |= rows->last[d] < rows->first[d];
    }
    if (!table || is_empty || k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on() ||
        oxeye_capture_sites[k].owner != (void *)&oxeye_capture_thread)
        return;
    rows->spacing = OXEYE_CAPTURE_EVEN;
    if (!oxeye_capture_is_even(rows)) {
        /* Stored, they lie as close as the indices let them. */
        rows->spacing = OXEYE_CAPTURE_UNEVEN;
        oxeye_capture_first_row(rows, at);
        rows->begin = oxeye_capture_row(rows, at) + rows->first[levels] * element;
        for (d = levels; d > 0; --d) {
            rows->extents[d] = rows->last[d] + 1 - (rows->first[d] < 0 ? rows->first[d] : 0);
            rows->strides[d - 1] = rows->extents[d] * rows->strides[d];
        }
    }
    rows->bytes = element;
    for (d = 0; d <= levels; ++d)
        rows->bytes += (rows->last[d] - rows->first[d]) * rows->strides[d];
}

/* Rows behind pointers as an argument. */
OXEYE_CAPTURE_UNUSED static void oxeye_capture_rows_arg(int k, int index, const oxeye_capture_rows *rows)
{
    static oxeye_capture_rows gathered[OXEYE_CAPTURE_GATHERED];
    static int n_gathered;
    oxeye_capture_rows *kept = 0;
    oxeye_capture_slot_arg *arg;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on() || index < 0 || index >= OXEYE_CAPTURE_ARGS ||
        oxeye_capture_sites[k].owner != (void *)&oxeye_capture_thread)
        return;
    arg = &oxeye_capture_sites[k].args[index];
    if (rows->spacing == OXEYE_CAPTURE_UNEVEN) {
        /* Each argument has its place from its first uneven rows on. */
        if (!arg->place && n_gathered < OXEYE_CAPTURE_GATHERED) {
            int place = __atomic_fetch_add(&n_gathered, 1, __ATOMIC_RELAXED);
            arg->place = place < OXEYE_CAPTURE_GATHERED ? place + 1 : 0;
        }
        kept = arg->place ? &gathered[arg->place - 1] : 0;
    }
    if (kept)
        *kept = *rows;
    arg->rows = kept;
    oxeye_capture_arg(k, index, rows->begin,
                      rows->spacing == OXEYE_CAPTURE_OVERLAPPING || (rows->spacing == OXEYE_CAPTURE_UNEVEN && !kept)
                          ? -2
                          : rows->bytes);
}

/* Keeps what the sampled invocation left in its arguments, at the places where the sample has them. */
static void oxeye_capture_results(int k)
{
    oxeye_capture_site *site = &oxeye_capture_sites[k];
    oxeye_capture_sample *sample = &site->samples[site->slot];
    char path[4096];
    int i, fd, failed = 0;
    if (oxeye_capture_kept + sample->bytes > oxeye_capture_limit)
        return;
    oxeye_capture_path(path, sizeof path, k, site->current, "out");
    fd = oxeye_capture_open(path, 0);
    if (fd < 0)
        return;
    for (i = 0; i < site->n_args && !failed; ++i)
        failed = oxeye_capture_store(fd, &site->args[i]);
    oxeye_capture_libc_close(fd);
    if (failed) {
        oxeye_capture_libc_unlink(path);
        return;
    }
    sample->result_bytes = sample->bytes;
    oxeye_capture_kept += sample->bytes;
}

OXEYE_CAPTURE_UNUSED static void oxeye_capture_result(int k, int index, const void *pointer, long bytes)
{
    oxeye_capture_site *site;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on())
        return;
    site = &oxeye_capture_sites[k];
    if (site->owner != (void *)&oxeye_capture_thread || index < 0 || index >= site->n_args || site->slot < 0)
        return;
    if (site->args[index].stored == bytes)
        site->args[index].pointer = (const char *)pointer;
}

OXEYE_CAPTURE_UNUSED static void oxeye_capture_end(int k)
{
    oxeye_capture_site *site;
    long elapsed, end;
    int i;
    if (k < 0 || k >= OXEYE_CAPTURE_SITES || !oxeye_capture_on())
        return;
    site = &oxeye_capture_sites[k];
    if (site->owner != (void *)&oxeye_capture_thread)
        return;
    end = oxeye_capture_now();
    elapsed = end - site->start - (oxeye_capture_overhead_so_far() - site->overhead);
    if (elapsed < 0)
        elapsed = 0;
    site->nanoseconds += elapsed * site->weight;
    site->all_work += site->work * (double)site->weight;
    site->classes[site->size_class].invocations += site->weight;
    site->classes[site->size_class].nanoseconds += elapsed * site->weight;
    if (site->current == 0)
        site->known_args = site->n_args;
    for (i = 0; i < OXEYE_CAPTURE_SLOTS; ++i)
        if (site->samples[i].used && site->samples[i].work == site->work && elapsed < site->samples[i].least)
            site->samples[i].least = elapsed;
    if (site->slot >= 0) {
        oxeye_capture_acquire();
        if (site->fd >= 0)
            oxeye_capture_header(k);
        if (site->slot >= 0 && elapsed >= OXEYE_CAPTURE_LONG)
            oxeye_capture_results(k);
        if (site->slot >= 0)
            site->samples[site->slot].nanoseconds = site->samples[site->slot].least = elapsed;
        site->slot = -1;
        oxeye_capture_summary(0);
        oxeye_capture_add_overhead(oxeye_capture_now() - end);
        oxeye_capture_release();
    }
    if (site->invocations >= OXEYE_CAPTURE_OFTEN ||
        (site->invocations >= OXEYE_CAPTURE_SOME && site->nanoseconds < OXEYE_CAPTURE_SHORT * site->invocations)) {
        long next = site->invocations, power = 1L << (63 - __builtin_clzl((unsigned long)next));
        long until_power = power == next ? 0 : 2 * power - next;
        site->passes = until_power < OXEYE_CAPTURE_STRIDE ? until_power : OXEYE_CAPTURE_STRIDE - 1;
    }
    __atomic_store_n(&site->owner, (void *)0, __ATOMIC_RELEASE);
}

#ifdef __clang__
#pragma clang optimize on
#else
#pragma GCC pop_options
#endif

/* Of very short nests most of what they take would be the clock's. */
static __inline__ __attribute__((unused, always_inline)) int oxeye_capture_enter(int k)
{
    if (k < 0 || k >= OXEYE_CAPTURE_SITES)
        return 0;
    if (oxeye_capture_sites[k].passes > 0) {
        --oxeye_capture_sites[k].passes;
        ++oxeye_capture_sites[k].passed;
        return 0;
    }
    return oxeye_capture_begin(k);
}

/* The end of any invocation, looked at or not. */
static __inline__ __attribute__((unused, always_inline)) void oxeye_capture_leave(int k)
{
    if (k >= 0 && k < OXEYE_CAPTURE_SITES && __atomic_load_n(&oxeye_capture_sites[k].owner, __ATOMIC_RELAXED))
        oxeye_capture_end(k);
}

__attribute__((destructor)) static void oxeye_capture_finish(void)
{
    if (oxeye_capture_on())
        oxeye_capture_summary(1);
}
