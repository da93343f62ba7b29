/*
 * Oxeye watch runtime. It is put in front of a copy of a C program whose loop nests tell it of every access to memory. It
 * needs no headers, so that the program's own feature-test macros and includes keep their meaning. Every name begins with
 * oxeye_watch_. Before this text stand
 *
 *   #define OXEYE_WATCH_NESTS 2
 *   #define OXEYE_WATCH_SITES 7
 *   #define OXEYE_WATCH_TYPES 1, 1, 6, ...      per site: the type of its elements, 16 more for scalars
 *   #define OXEYE_WATCH_NEST_OF 0, 0, 1, ...    per site: its nest
 *
 * and the program calls, around a nest and in it,
 *
 *   if (oxeye_watch_enter(nest)) {
 *       ... x = OXEYE_WATCH_READ(site, a[i]); ...
 *       oxeye_watch_stored(site, &b[i], &what_was_there, sizeof b[i]);
 *       oxeye_watch_buffer(nest, argument, a, bytes_of_a, is_written);
 *       oxeye_watch_leave(nest);
 *   } else ... the nest as it is ...
 *
 * What is kept of memory are blocks of OXEYE_WATCH_BLOCK bytes: who wrote each element last, and who has read it since.
 * When they become too many, or too many accesses have been looked at, every other block is forgotten and left alone from
 * then on; of those that stay, everything is known. Linux, 64 bit, little endian.
 */
#define OXEYE_WATCH_BLOCK 512UL
#define OXEYE_WATCH_LOG2_BLOCK 9
/* Most blocks that are kept: a table twice as large. */
#define OXEYE_WATCH_MOST_BLOCKS (1UL << 19)
/* With fewer blocks, none is left alone for the sake of time: they would stand for too much. */
#define OXEYE_WATCH_LEAST_BLOCKS 512
/* Distinct values of a site that are counted one by one, and places for them. */
#define OXEYE_WATCH_VALUES 32
#define OXEYE_WATCH_PLACES 64
/* Contents of arguments that are remembered, and pairs of them that were the same. */
#define OXEYE_WATCH_BUFFERS 256
#define OXEYE_WATCH_PAIRS 256
/* Larger contents are not compared. */
#define OXEYE_WATCH_MOST_CONTENTS (64L << 20)
#define OXEYE_WATCH_CONTENTS_LEAST 128L
#define OXEYE_WATCH_UNUSED __attribute__((unused))
#define OXEYE_WATCH_SLOW __attribute__((noinline, cold, unused))

__extension__ typedef __int128 oxeye_watch_wide;

typedef struct {
    long sec;
    long nsec;
} oxeye_watch_timespec;

extern int oxeye_watch_libc_clock(int, oxeye_watch_timespec *) __asm__("clock_gettime");
extern int oxeye_watch_libc_open(const char *, int, ...) __asm__("open");
extern int oxeye_watch_libc_close(int) __asm__("close");
extern long oxeye_watch_libc_write(int, const void *, unsigned long) __asm__("write");
extern int oxeye_watch_libc_rename(const char *, const char *) __asm__("rename");
extern int oxeye_watch_libc_getpid(void) __asm__("getpid");
extern char *oxeye_watch_libc_getenv(const char *) __asm__("getenv");
extern int oxeye_watch_libc_snprintf(char *, unsigned long, const char *, ...) __asm__("snprintf");
extern int oxeye_watch_libc_mincore(void *, unsigned long, unsigned char *) __asm__("mincore");
extern void *oxeye_watch_libc_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");

/* The newest version of an element. */
typedef struct {
    unsigned long readers; /* nests that have read it, by their number modulo 64 */
    unsigned run;          /* the invocation that wrote it */
    unsigned short writer; /* the site that wrote it, from 1; 0 if it was written elsewhere */
    unsigned char known;
    unsigned char free_for_use;
} oxeye_watch_unit;

typedef struct oxeye_watch_block {
    unsigned long number;
    struct oxeye_watch_block *next; /* while it is not in use */
    unsigned log2;                  /* bytes of an element */
    unsigned char bytes[OXEYE_WATCH_BLOCK]; /* the values, as far as known */
    oxeye_watch_unit units[1];
} oxeye_watch_block;

typedef struct {
    unsigned long bits;
    unsigned long count;
} oxeye_watch_value;

/* Distinct values: the first so many of them, with how often each was seen. */
typedef struct {
    oxeye_watch_value places[OXEYE_WATCH_PLACES];
    unsigned n;
    unsigned overflown;
} oxeye_watch_values;

typedef struct {
    unsigned long all;    /* accesses */
    unsigned long looked; /* of them looked at */
    unsigned long bytes;  /* of those, each counted for the blocks that it stands for */
    /* values; what is counted from here on counts for these blocks, too */
    unsigned long stands;
    unsigned long zeros, whole, single, linear, bent, flips;
    unsigned long low, high; /* addresses */
    double least, most;
    long least_integer, most_integer;
    unsigned long most_unsigned;
    oxeye_watch_values exact, coarse;
    int was_zero, has_value;
    /* The line through the first element of an invocation and the farthest one that lies on it. */
    unsigned line_run;
    int line_points;
    unsigned long line_address, far_address;
    double line_value, far_value;
    long line_integer, far_integer;
    /* stores */
    unsigned long unchanged; /* of elements that a nest has accessed before */
    unsigned long dead, surely_dead, left;
    int killer; /* the nest that has overwritten what was not read */
    unsigned long inner; /* bytes read that the same invocation has written */
    oxeye_watch_block *near; /* where it was last */
} oxeye_watch_site;

typedef struct {
    unsigned long entered, watched, missed, concurrent;
    unsigned long order; /* which nest it was to run first, from 1 */
} oxeye_watch_nest;

typedef struct {
    int nest, argument;
    const char *begin;
    long bytes;
    unsigned long hash;
    unsigned run;
    int is_uniform, is_valid;
} oxeye_watch_contents;

typedef struct {
    int nests[2], arguments[2];
    long bytes;
    unsigned long times;
} oxeye_watch_pair;

static const unsigned char oxeye_watch_types[] = {OXEYE_WATCH_TYPES};
static const unsigned short oxeye_watch_nest_of[] = {OXEYE_WATCH_NEST_OF};
static oxeye_watch_site oxeye_watch_sites[OXEYE_WATCH_SITES];
static oxeye_watch_nest oxeye_watch_nests[OXEYE_WATCH_NESTS];
/* Bytes of versions by who wrote them, from 1, 0 for elsewhere, and the site that read them. */
static unsigned long oxeye_watch_flows[OXEYE_WATCH_NESTS + 1][OXEYE_WATCH_SITES];
static oxeye_watch_contents oxeye_watch_kept[OXEYE_WATCH_BUFFERS];
static int oxeye_watch_n_kept;
static oxeye_watch_pair oxeye_watch_pairs[OXEYE_WATCH_PAIRS];
static int oxeye_watch_n_pairs;
static oxeye_watch_block **oxeye_watch_table;
static oxeye_watch_block *oxeye_watch_free[4];
static char *oxeye_watch_arena;
static unsigned long oxeye_watch_arena_left, oxeye_watch_arena_bytes, oxeye_watch_n_blocks;
static unsigned long oxeye_watch_mask; /* blocks are kept if these bits of their hash are zero */
static unsigned long oxeye_watch_weight = 1;
static unsigned long oxeye_watch_looks, oxeye_watch_looks_of_mask, oxeye_watch_n_orders;
static unsigned long oxeye_watch_most_bytes = 256UL << 20, oxeye_watch_most_looks = 4UL << 20;
static double oxeye_watch_most_seconds = 20;
static long oxeye_watch_began;
static int oxeye_watch_on;
static int oxeye_watch_state; /* 0 not looked, 1 asked for, 2 not or no more */
static int oxeye_watch_stopped, oxeye_watch_pid;
static unsigned oxeye_watch_run;
static void *oxeye_watch_owner;
static __thread char oxeye_watch_thread;
static char oxeye_watch_path[3840];

static long oxeye_watch_now(void)
{
    oxeye_watch_timespec now = {0, 0};
    oxeye_watch_libc_clock(1, &now);
    return now.sec * 1000000000L + now.nsec;
}

static void oxeye_watch_copy(void *to, const void *from, unsigned long bytes)
{
    __builtin_memcpy(to, from, bytes);
}

static void *oxeye_watch_memory(unsigned long bytes)
{
    /* readable and writable, private and anonymous */
    void *memory = oxeye_watch_libc_mmap(0, bytes, 3, 0x22, -1, 0);
    return memory == (void *)-1L ? 0 : memory;
}

static unsigned long oxeye_watch_number_from(const char *text, unsigned long otherwise)
{
    unsigned long value = 0;
    if (!text || *text < '0' || *text > '9')
        return otherwise;
    for (; *text >= '0' && *text <= '9' && value < (1UL << 56); ++text)
        value = value * 10 + (unsigned long)(*text - '0');
    return value;
}

/* ---- what is written at the end ------------------------------------------------------------------------------------ */

static char oxeye_watch_line[1 << 16];
static unsigned long oxeye_watch_line_bytes;
static int oxeye_watch_fd = -1;

static void oxeye_watch_flush(void)
{
    unsigned long at = 0;
    while (at < oxeye_watch_line_bytes) {
        long done = oxeye_watch_libc_write(oxeye_watch_fd, oxeye_watch_line + at, oxeye_watch_line_bytes - at);
        if (done <= 0)
            break;
        at += (unsigned long)done;
    }
    oxeye_watch_line_bytes = 0;
}

#define OXEYE_WATCH_PUT(...) \
    (oxeye_watch_line_bytes > sizeof oxeye_watch_line - 1024 ? oxeye_watch_flush() : (void)0, \
     oxeye_watch_line_bytes += (unsigned long)oxeye_watch_libc_snprintf( \
         oxeye_watch_line + oxeye_watch_line_bytes, 1024, __VA_ARGS__))

static void oxeye_watch_put_values(const char *word, const oxeye_watch_values *values)
{
    int k;
    OXEYE_WATCH_PUT("%s %u %u", word, values->n, values->overflown);
    for (k = 0; k < OXEYE_WATCH_PLACES; ++k)
        if (values->places[k].count)
            OXEYE_WATCH_PUT(" %lx:%lu", values->places[k].bits, values->places[k].count);
    OXEYE_WATCH_PUT("\n");
}

/* What nobody has read when all is over. */
static void oxeye_watch_sweep(void)
{
    unsigned long k, i;
    for (k = 0; oxeye_watch_table && k < 2 * OXEYE_WATCH_MOST_BLOCKS; ++k) {
        const oxeye_watch_block *block = oxeye_watch_table[k];
        for (i = 0; block && i < OXEYE_WATCH_BLOCK >> block->log2; ++i) {
            const oxeye_watch_unit *unit = &block->units[i];
            if (unit->known && unit->writer && !unit->readers)
                oxeye_watch_sites[unit->writer - 1].left += (1UL << block->log2) * oxeye_watch_weight;
        }
    }
}

OXEYE_WATCH_SLOW static void oxeye_watch_write_down(void)
{
    char temporary[4096];
    int k, j;
    if (!oxeye_watch_path[0] || oxeye_watch_pid != oxeye_watch_libc_getpid())
        return;
    if (!oxeye_watch_stopped)
        oxeye_watch_sweep();
    oxeye_watch_libc_snprintf(temporary, sizeof temporary, "%s.new", oxeye_watch_path);
    /* write, create, truncate, close on exec */
    oxeye_watch_fd = oxeye_watch_libc_open(temporary, 01 | 0100 | 01000 | 02000000, 0600);
    if (oxeye_watch_fd < 0)
        return;
    OXEYE_WATCH_PUT("oxeye-watch 1\nstopped %d\nweight %lu\nbytes %lu\n", oxeye_watch_stopped, oxeye_watch_weight,
                    oxeye_watch_arena_bytes);
    for (k = 0; k < OXEYE_WATCH_NESTS; ++k) {
        const oxeye_watch_nest *nest = &oxeye_watch_nests[k];
        OXEYE_WATCH_PUT("nest %d entered %lu watched %lu missed %lu concurrent %lu order %lu\n", k, nest->entered,
                        nest->watched, nest->missed, nest->concurrent, nest->order);
    }
    for (k = 0; k < OXEYE_WATCH_SITES; ++k) {
        const oxeye_watch_site *site = &oxeye_watch_sites[k];
        if (!site->all)
            continue;
        OXEYE_WATCH_PUT("site %d all %lu looked %lu bytes %lu stands %lu zeros %lu whole %lu single %lu linear %lu bent %lu flips %lu "
                        "reach %lu unchanged %lu dead %lu surely %lu killer %d left %lu inner %lu ",
                        k, site->all, site->looked, site->bytes, site->stands, site->zeros, site->whole, site->single, site->linear,
                        site->bent, site->flips, site->high - site->low, site->unchanged, site->dead, site->surely_dead,
                        site->killer, site->left, site->inner);
        OXEYE_WATCH_PUT("least %.17g most %.17g integers %ld %ld %lu\n", site->least, site->most, site->least_integer,
                        site->most_integer, site->most_unsigned);
        oxeye_watch_put_values("values", &site->exact);
        oxeye_watch_put_values("coarse", &site->coarse);
        for (j = 0; j <= OXEYE_WATCH_NESTS; ++j)
            if (oxeye_watch_flows[j][k])
                OXEYE_WATCH_PUT("flow %d %lu\n", j - 1, oxeye_watch_flows[j][k]);
    }
    for (k = 0; k < oxeye_watch_n_pairs; ++k) {
        const oxeye_watch_pair *pair = &oxeye_watch_pairs[k];
        OXEYE_WATCH_PUT("same %d %d %d %d bytes %ld times %lu\n", pair->nests[0], pair->arguments[0], pair->nests[1],
                        pair->arguments[1], pair->bytes, pair->times);
    }
    OXEYE_WATCH_PUT("end\n");
    oxeye_watch_flush();
    oxeye_watch_libc_close(oxeye_watch_fd);
    oxeye_watch_libc_rename(temporary, oxeye_watch_path);
}

static void oxeye_watch_start(void);

__attribute__((destructor)) static void oxeye_watch_finish(void)
{
    if (oxeye_watch_state == 0)
        oxeye_watch_start();
    if (oxeye_watch_state == 1) {
        oxeye_watch_on = 0;
        oxeye_watch_state = 2;
        oxeye_watch_write_down();
    }
}

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

static unsigned long oxeye_watch_hash(unsigned long number)
{
    return (number * 0x9E3779B97F4A7C15UL) >> 24;
}

static unsigned long oxeye_watch_place(unsigned long number)
{
    /* Other bits than those that select blocks. */
    unsigned long at = (number * 0xD6E8FEB86659FD93UL) >> 32;
    at &= 2 * OXEYE_WATCH_MOST_BLOCKS - 1;
    while (oxeye_watch_table[at] && oxeye_watch_table[at]->number != number)
        at = (at + 1) & (2 * OXEYE_WATCH_MOST_BLOCKS - 1);
    return at;
}

/* Leaves every other block alone from now on. */
OXEYE_WATCH_SLOW static void oxeye_watch_halve(void)
{
    static oxeye_watch_block *stay[OXEYE_WATCH_MOST_BLOCKS];
    unsigned long k, n = 0;
    if (oxeye_watch_weight >= 1UL << 20) {
        oxeye_watch_looks_of_mask = 0;
        return;
    }
    oxeye_watch_weight *= 2;
    oxeye_watch_mask = oxeye_watch_weight - 1;
    oxeye_watch_looks_of_mask = 0;
    for (k = 0; k < 2 * OXEYE_WATCH_MOST_BLOCKS; ++k) {
        oxeye_watch_block *block = oxeye_watch_table[k];
        oxeye_watch_table[k] = 0;
        if (block && !(oxeye_watch_hash(block->number) & oxeye_watch_mask)) {
            stay[n++] = block;
        } else if (block) {
            block->next = oxeye_watch_free[block->log2];
            oxeye_watch_free[block->log2] = block;
        }
    }
    for (k = 0; k < n; ++k)
        oxeye_watch_table[oxeye_watch_place(stay[k]->number)] = stay[k];
    oxeye_watch_n_blocks = n;
    for (k = 0; k < OXEYE_WATCH_SITES; ++k)
        oxeye_watch_sites[k].near = 0;
}

static oxeye_watch_block *oxeye_watch_new(unsigned log2)
{
    unsigned long bytes = sizeof(oxeye_watch_block) + (OXEYE_WATCH_BLOCK >> log2) * sizeof(oxeye_watch_unit), k;
    oxeye_watch_block *block = oxeye_watch_free[log2];
    if (block) {
        oxeye_watch_free[log2] = block->next;
    } else {
        bytes = (bytes + 63) & ~63UL;
        if (oxeye_watch_arena_left < bytes) {
            unsigned long more = 4UL << 20;
            if (oxeye_watch_arena_bytes + more > oxeye_watch_most_bytes || !(oxeye_watch_arena = oxeye_watch_memory(more)))
                return 0;
            oxeye_watch_arena_left = more;
            oxeye_watch_arena_bytes += more;
        }
        block = (oxeye_watch_block *)oxeye_watch_arena;
        oxeye_watch_arena += bytes;
        oxeye_watch_arena_left -= bytes;
    }
    block->log2 = log2;
    for (k = 0; k < OXEYE_WATCH_BLOCK >> log2; ++k)
        block->units[k].known = 0;
    return block;
}

/* The block with smaller elements; null if there is no room. */
OXEYE_WATCH_SLOW static oxeye_watch_block *oxeye_watch_refine(oxeye_watch_block *block, unsigned log2)
{
    oxeye_watch_block *finer = oxeye_watch_new(log2);
    unsigned long k;
    if (!finer)
        return 0;
    finer->number = block->number;
    oxeye_watch_copy(finer->bytes, block->bytes, OXEYE_WATCH_BLOCK);
    for (k = 0; k < OXEYE_WATCH_BLOCK >> log2; ++k)
        finer->units[k] = block->units[k >> (block->log2 - log2)];
    oxeye_watch_table[oxeye_watch_place(block->number)] = finer;
    block->next = oxeye_watch_free[block->log2];
    oxeye_watch_free[block->log2] = block;
    for (k = 0; k < OXEYE_WATCH_SITES; ++k)
        oxeye_watch_sites[k].near = 0;
    return finer;
}

/* The block with an element of so many bytes; null if it is none of those that are kept. */
static oxeye_watch_block *oxeye_watch_find(oxeye_watch_site *site, unsigned long address, unsigned log2)
{
    unsigned long number = address >> OXEYE_WATCH_LOG2_BLOCK, at;
    oxeye_watch_block *block = site->near;
    if (!block || block->number != number) {
        at = oxeye_watch_place(number);
        block = oxeye_watch_table[at];
        if (!block) {
            while (oxeye_watch_n_blocks >= OXEYE_WATCH_MOST_BLOCKS || !(block = oxeye_watch_new(log2))) {
                unsigned long before = oxeye_watch_weight;
                oxeye_watch_halve();
                if (oxeye_watch_weight == before || (oxeye_watch_hash(number) & oxeye_watch_mask))
                    return 0;
            }
            at = oxeye_watch_place(number);
            block->number = number;
            oxeye_watch_table[at] = block;
            ++oxeye_watch_n_blocks;
        }
    }
    if (block->log2 > log2 && !(block = oxeye_watch_refine(block, log2)))
        return 0;
    return site->near = block;
}

/* ---- values -------------------------------------------------------------------------------------------------------- */

static void oxeye_watch_count(oxeye_watch_values *values, unsigned long bits)
{
    unsigned at = (unsigned)((bits * 0x9E3779B97F4A7C15UL) >> 58);
    while (values->places[at].count) {
        if (values->places[at].bits == bits) {
            values->places[at].count += oxeye_watch_weight;
            return;
        }
        at = (at + 1) % OXEYE_WATCH_PLACES;
    }
    if (values->n == OXEYE_WATCH_VALUES) {
        values->overflown = 1;
        return;
    }
    ++values->n;
    values->places[at].bits = bits;
    values->places[at].count = oxeye_watch_weight;
}

static double oxeye_watch_absolute(double x)
{
    return x < 0 ? -x : x;
}

/* Whether an element lies on the line through the first one of an invocation and the farthest one that did; those two say
 * nothing. */
static void oxeye_watch_on_line(oxeye_watch_site *site, unsigned long address, int is_float, double value, long integer,
                                double epsilon)
{
    double distance, far;
    int is_on;
    if (site->line_run != oxeye_watch_run || site->line_points == 0) {
        site->line_run = oxeye_watch_run;
        site->line_points = 1;
        site->line_address = address;
        site->line_value = value;
        site->line_integer = integer;
        return;
    }
    if (address == site->line_address) {
        site->bent += (is_float ? value != site->line_value : integer != site->line_integer) ? oxeye_watch_weight : 0;
        return;
    }
    distance = (double)(long)(address - site->line_address);
    if (site->line_points == 1) {
        site->line_points = 2;
        site->far_address = address;
        site->far_value = value;
        site->far_integer = integer;
        return;
    }
    far = (double)(long)(site->far_address - site->line_address);
    if (is_float) {
        double expected = site->line_value + (site->far_value - site->line_value) * (distance / far);
        double scale = oxeye_watch_absolute(value) + oxeye_watch_absolute(site->line_value);
        double ratio = oxeye_watch_absolute(distance / far);
        is_on = oxeye_watch_absolute(value - expected) <= 8 * epsilon * scale * (ratio > 1 ? ratio : 1);
    } else {
        oxeye_watch_wide rise = (oxeye_watch_wide)integer - site->line_integer;
        oxeye_watch_wide whole = (oxeye_watch_wide)site->far_integer - site->line_integer;
        is_on = rise * (long)(site->far_address - site->line_address) == whole * (long)(address - site->line_address);
    }
    if (!is_on) {
        site->bent += oxeye_watch_weight;
        return;
    }
    site->linear += oxeye_watch_weight;
    if (oxeye_watch_absolute(distance) > oxeye_watch_absolute(far)) {
        site->far_address = address;
        site->far_value = value;
        site->far_integer = integer;
    }
}

static void oxeye_watch_see(oxeye_watch_site *site, int type, const void *p)
{
    unsigned long bits = 0, address = (unsigned long)p;
    double value = 0, epsilon = 0;
    long integer = 0;
    int is_zero, is_float = type < 2;
    switch (type) {
    case 0: {
        float x;
        unsigned half, low;
        oxeye_watch_copy(&x, p, 4);
        oxeye_watch_copy(&half, p, 4);
        bits = half;
        value = x;
        epsilon = 1.2e-7;
        site->single += oxeye_watch_weight;
        low = (half + (1U << 10)) & ~((1U << 11) - 1);
        oxeye_watch_count(&site->coarse, low);
        break;
    }
    case 1: {
        oxeye_watch_copy(&value, p, 8);
        oxeye_watch_copy(&bits, p, 8);
        epsilon = 2.3e-16;
        site->single += value != value || (double)(float)value == value ? oxeye_watch_weight : 0;
        oxeye_watch_count(&site->coarse, (bits + (1UL << 39)) & ~((1UL << 40) - 1));
        break;
    }
    case 2: integer = *(const signed char *)p; break;
    case 3: integer = *(const unsigned char *)p; break;
    case 4: { short x; oxeye_watch_copy(&x, p, 2); integer = x; break; }
    case 5: { unsigned short x; oxeye_watch_copy(&x, p, 2); integer = x; break; }
    case 6: { int x; oxeye_watch_copy(&x, p, 4); integer = x; break; }
    case 7: { unsigned x; oxeye_watch_copy(&x, p, 4); integer = x; break; }
    default: oxeye_watch_copy(&integer, p, 8); break;
    }
    if (is_float) {
        is_zero = value == 0;
        site->whole += value > -9e15 && value < 9e15 && (double)(long)value == value ? oxeye_watch_weight : 0;
    } else {
        bits = (unsigned long)integer;
        value = type == 9 ? (double)(unsigned long)integer : (double)integer;
        is_zero = integer == 0;
    }
    if (!site->has_value) {
        site->has_value = 1;
        site->least = site->most = value;
        site->least_integer = site->most_integer = integer;
        site->low = site->high = address;
    } else {
        site->flips += is_zero != site->was_zero ? oxeye_watch_weight : 0;
    }
    site->was_zero = is_zero;
    site->zeros += is_zero ? oxeye_watch_weight : 0;
    site->stands += oxeye_watch_weight;
    if (value < site->least)
        site->least = value;
    if (value > site->most)
        site->most = value;
    if (integer < site->least_integer)
        site->least_integer = integer;
    if (integer > site->most_integer)
        site->most_integer = integer;
    if ((unsigned long)integer > site->most_unsigned)
        site->most_unsigned = (unsigned long)integer;
    if (address < site->low)
        site->low = address;
    if (address > site->high)
        site->high = address;
    oxeye_watch_count(&site->exact, bits);
    oxeye_watch_on_line(site, address, is_float, value, integer, epsilon);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------ */

/* Stops looking: the nests run as they are from now on. */
OXEYE_WATCH_SLOW static void oxeye_watch_stop(void)
{
    oxeye_watch_stopped = 1;
    oxeye_watch_on = 0;
}

static int oxeye_watch_is_late(void)
{
    return (double)(oxeye_watch_now() - oxeye_watch_began) * 1e-9 > oxeye_watch_most_seconds;
}

static int oxeye_watch_begin_look(unsigned k, unsigned long address, unsigned size)
{
    oxeye_watch_site *site = &oxeye_watch_sites[k];
    if (address & (size - 1))
        return 0;
    ++site->looked;
    site->bytes += size * oxeye_watch_weight;
    if (++oxeye_watch_looks % 4096 == 0 && oxeye_watch_is_late())
        oxeye_watch_stop();
    if (++oxeye_watch_looks_of_mask > oxeye_watch_most_looks && oxeye_watch_n_blocks >= OXEYE_WATCH_LEAST_BLOCKS)
        oxeye_watch_halve();
    return !(oxeye_watch_hash(address >> OXEYE_WATCH_LOG2_BLOCK) & oxeye_watch_mask);
}

__attribute__((noinline, unused)) static void oxeye_watch_look(unsigned k, const void *p, unsigned size)
{
    oxeye_watch_site *site = &oxeye_watch_sites[k];
    unsigned long address = (unsigned long)p, step, nest = oxeye_watch_nest_of[k], bit = 1UL << (nest % 64);
    unsigned log2 = (unsigned)__builtin_ctz(size), unit_log2, at, end;
    oxeye_watch_block *block;
    if (!oxeye_watch_begin_look(k, address, size))
        return;
    if (!(oxeye_watch_types[k] & 16))
        oxeye_watch_see(site, oxeye_watch_types[k], p);
    block = oxeye_watch_find(site, address, log2);
    if (!block)
        return;
    unit_log2 = block->log2;
    step = 1UL << unit_log2;
    at = (unsigned)((address & (OXEYE_WATCH_BLOCK - 1)) >> unit_log2);
    for (end = at + (size >> unit_log2); at < end; ++at, address += step) {
        oxeye_watch_unit *unit = &block->units[at];
        unsigned char *kept = block->bytes + ((unsigned long)at << unit_log2);
        unsigned from;
        if (!unit->known || __builtin_memcmp(kept, (const void *)address, step) != 0) {
            unit->known = 1;
            unit->writer = 0;
            unit->readers = 0;
            unit->run = 0;
            oxeye_watch_copy(kept, (const void *)address, step);
        }
        from = unit->writer ? oxeye_watch_nest_of[unit->writer - 1] + 1U : 0;
        if (from == nest + 1 && unit->run == oxeye_watch_run)
            site->inner += step * oxeye_watch_weight;
        else if (!(unit->readers & bit))
            oxeye_watch_flows[from][k] += step * oxeye_watch_weight;
        unit->readers |= bit;
    }
}

__attribute__((noinline, unused)) static void oxeye_watch_look_stored(unsigned k, const void *p, const void *was,
                                                                      unsigned size)
{
    oxeye_watch_site *site = &oxeye_watch_sites[k];
    unsigned long address = (unsigned long)p, step;
    const unsigned char *before = (const unsigned char *)was;
    unsigned log2 = (unsigned)__builtin_ctz(size), unit_log2, at, end;
    oxeye_watch_block *block;
    if (!oxeye_watch_begin_look(k, address, size))
        return;
    if (!(oxeye_watch_types[k] & 16))
        oxeye_watch_see(site, oxeye_watch_types[k], p);
    block = oxeye_watch_find(site, address, log2);
    if (!block)
        return;
    unit_log2 = block->log2;
    step = 1UL << unit_log2;
    at = (unsigned)((address & (OXEYE_WATCH_BLOCK - 1)) >> unit_log2);
    /* What the program set up elsewhere is stored here for the first time. */
    if (block->units[at].known && __builtin_memcmp(p, was, size) == 0)
        site->unchanged += oxeye_watch_weight;
    for (end = at + (size >> unit_log2); at < end; ++at, address += step, before += step) {
        oxeye_watch_unit *unit = &block->units[at];
        unsigned char *kept = block->bytes + ((unsigned long)at << unit_log2);
        if (unit->known && unit->writer && !unit->readers && __builtin_memcmp(kept, before, step) == 0) {
            oxeye_watch_site *loser = &oxeye_watch_sites[unit->writer - 1];
            loser->dead += step * oxeye_watch_weight;
            if (unit->run == oxeye_watch_run)
                loser->surely_dead += step * oxeye_watch_weight;
            loser->killer = oxeye_watch_nest_of[k];
        }
        unit->known = 1;
        unit->writer = (unsigned short)(k + 1);
        unit->readers = 0;
        unit->run = oxeye_watch_run;
        oxeye_watch_copy(kept, (const void *)address, step);
    }
}

/* Whether the block around an address is one of those that are kept. */
#define OXEYE_WATCH_IS_KEPT(p) \
    (!((((unsigned long)(p) >> OXEYE_WATCH_LOG2_BLOCK) * 0x9E3779B97F4A7C15UL >> 24) & oxeye_watch_mask))

OXEYE_WATCH_UNUSED static __inline__ void oxeye_watch_loaded(unsigned k, const void *p, unsigned size)
{
    if (!oxeye_watch_on)
        return;
    ++oxeye_watch_sites[k].all;
    if (OXEYE_WATCH_IS_KEPT(p))
        oxeye_watch_look(k, p, size);
}

OXEYE_WATCH_UNUSED static __inline__ void oxeye_watch_stored(unsigned k, const void *p, const void *was, unsigned size)
{
    if (!oxeye_watch_on)
        return;
    ++oxeye_watch_sites[k].all;
    if (OXEYE_WATCH_IS_KEPT(p))
        oxeye_watch_look_stored(k, p, was, size);
}

/* The value of an element. */
#define OXEYE_WATCH_READ(site, element) \
    (*__extension__({ \
        __typeof__(&(element)) oxeye_watch_p = &(element); \
        oxeye_watch_loaded(site, (const void *)oxeye_watch_p, sizeof *oxeye_watch_p); \
        oxeye_watch_p; \
    }))

/* ---- nests --------------------------------------------------------------------------------------------------------- */

OXEYE_WATCH_SLOW static void oxeye_watch_start(void)
{
    const char *path = oxeye_watch_libc_getenv("OXEYE_WATCH_FILE");
    unsigned long k = 0;
    oxeye_watch_state = 2;
    if (!path || !*path)
        return;
    oxeye_watch_most_bytes =
        oxeye_watch_number_from(oxeye_watch_libc_getenv("OXEYE_WATCH_BYTES"), oxeye_watch_most_bytes);
    oxeye_watch_most_looks =
        oxeye_watch_number_from(oxeye_watch_libc_getenv("OXEYE_WATCH_LOOKS"), oxeye_watch_most_looks);
    oxeye_watch_most_seconds =
        (double)oxeye_watch_number_from(oxeye_watch_libc_getenv("OXEYE_WATCH_MILLISECONDS"), 20000) * 1e-3;
    while (path[k] && k < sizeof oxeye_watch_path - 1) {
        oxeye_watch_path[k] = path[k];
        ++k;
    }
    if (path[k] || !(oxeye_watch_table = oxeye_watch_memory(2 * OXEYE_WATCH_MOST_BLOCKS * sizeof(oxeye_watch_block *)))) {
        oxeye_watch_path[0] = 0;
        return;
    }
    oxeye_watch_pid = oxeye_watch_libc_getpid();
    oxeye_watch_began = oxeye_watch_now();
    oxeye_watch_state = 1;
}

/* Whether this invocation is looked at. */
OXEYE_WATCH_UNUSED static int oxeye_watch_enter(int k)
{
    oxeye_watch_nest *nest = &oxeye_watch_nests[k];
    void *nobody = 0, *me = &oxeye_watch_thread;
    if (oxeye_watch_state == 2 && !oxeye_watch_stopped)
        return 0;
    if (!__atomic_compare_exchange_n(&oxeye_watch_owner, &nobody, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) &&
        nobody != me) {
        __atomic_fetch_add(&nest->concurrent, 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (oxeye_watch_state == 0)
        oxeye_watch_start();
    ++nest->entered;
    if (oxeye_watch_state == 1 && !oxeye_watch_stopped && oxeye_watch_is_late())
        oxeye_watch_stop();
    if (oxeye_watch_state != 1 || oxeye_watch_stopped || oxeye_watch_pid != oxeye_watch_libc_getpid()) {
        __atomic_store_n(&oxeye_watch_owner, 0, __ATOMIC_RELEASE);
        return 0;
    }
    if (!nest->order)
        nest->order = ++oxeye_watch_n_orders;
    ++nest->watched;
    ++oxeye_watch_run;
    oxeye_watch_on = 1;
    return 1;
}

OXEYE_WATCH_UNUSED static void oxeye_watch_leave(int k)
{
    (void)k;
    if (oxeye_watch_owner != (void *)&oxeye_watch_thread)
        return;
    oxeye_watch_on = 0;
    __atomic_store_n(&oxeye_watch_owner, 0, __ATOMIC_RELEASE);
}

/* The original text runs instead, which says nothing. */
OXEYE_WATCH_UNUSED static void oxeye_watch_missed(int k)
{
    oxeye_watch_nest *nest = &oxeye_watch_nests[k];
    if (oxeye_watch_owner != (void *)&oxeye_watch_thread)
        return;
    ++nest->missed;
    --nest->watched;
    oxeye_watch_leave(k);
}

/* Whether there is memory everywhere: what is declared may be more than what is there. */
static int oxeye_watch_is_mapped(const void *begin, long bytes)
{
    static unsigned char pages[OXEYE_WATCH_MOST_CONTENTS / 4096 + 2];
    unsigned long first = (unsigned long)begin & ~4095UL;
    return oxeye_watch_libc_mincore((void *)first, (unsigned long)begin + (unsigned long)bytes - first, pages) == 0;
}

static void oxeye_watch_contents_of(oxeye_watch_contents *contents)
{
    unsigned long hash = 0x2545F4914F6CDD1DUL, first = 0, word;
    long at;
    contents->is_uniform = 1;
    for (at = 0; at + 8 <= contents->bytes; at += 8) {
        oxeye_watch_copy(&word, contents->begin + at, 8);
        if (at == 0)
            first = word;
        contents->is_uniform &= word == first;
        hash = (hash ^ word) * 0x9E3779B97F4A7C15UL;
        hash ^= hash >> 29;
    }
    for (; at < contents->bytes; ++at)
        hash = (hash ^ (unsigned char)contents->begin[at]) * 0x9E3779B97F4A7C15UL;
    contents->hash = hash;
}

/* Remembers what an argument holds after a nest, and whether another one holds the same. */
OXEYE_WATCH_SLOW static void oxeye_watch_buffer(int nest, int argument, const void *begin, long bytes, int is_written)
{
    oxeye_watch_contents new_contents, *contents = &new_contents;
    unsigned long n = oxeye_watch_nests[nest].watched;
    int k, j, place = -1;
    if (oxeye_watch_owner != (void *)&oxeye_watch_thread || !oxeye_watch_on || bytes < OXEYE_WATCH_CONTENTS_LEAST || !begin)
        return;
    for (k = 0; k < oxeye_watch_n_kept && is_written; ++k) {
        oxeye_watch_contents *other = &oxeye_watch_kept[k];
        if ((other->run != oxeye_watch_run || other->begin != begin) && other->begin < (const char *)begin + bytes &&
            (const char *)begin < other->begin + other->bytes)
            other->is_valid = 0;
    }
    /* Of many invocations only some. */
    if ((n > 4 && (n & (n - 1))) || bytes > OXEYE_WATCH_MOST_CONTENTS || !oxeye_watch_is_mapped(begin, bytes))
        return;
    contents->nest = nest;
    contents->argument = argument;
    contents->begin = (const char *)begin;
    contents->bytes = bytes;
    contents->run = oxeye_watch_run;
    contents->is_valid = 1;
    oxeye_watch_contents_of(contents);
    for (k = 0; k < oxeye_watch_n_kept; ++k) {
        oxeye_watch_contents *other = &oxeye_watch_kept[k];
        if (other->nest == nest && other->argument == argument)
            place = k;
        else if (other->is_valid && other->hash == contents->hash && other->bytes == bytes && !contents->is_uniform &&
                 (other->begin + bytes <= contents->begin || contents->begin + bytes <= other->begin)) {
            for (j = 0; j < oxeye_watch_n_pairs; ++j)
                if (oxeye_watch_pairs[j].nests[0] == other->nest && oxeye_watch_pairs[j].nests[1] == nest &&
                    oxeye_watch_pairs[j].arguments[0] == other->argument && oxeye_watch_pairs[j].arguments[1] == argument)
                    break;
            if (j == oxeye_watch_n_pairs && j < OXEYE_WATCH_PAIRS) {
                oxeye_watch_pair *pair = &oxeye_watch_pairs[oxeye_watch_n_pairs++];
                pair->nests[0] = other->nest;
                pair->nests[1] = nest;
                pair->arguments[0] = other->argument;
                pair->arguments[1] = argument;
                pair->bytes = bytes;
            }
            if (j < oxeye_watch_n_pairs)
                ++oxeye_watch_pairs[j].times;
        }
    }
    if (place < 0 && oxeye_watch_n_kept < OXEYE_WATCH_BUFFERS)
        place = oxeye_watch_n_kept++;
    if (place >= 0)
        oxeye_watch_kept[place] = *contents;
}
