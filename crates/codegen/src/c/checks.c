/* Checks of Oxeye's debug builds. What fails is written, once a place, to the file that OXEYE_CHECKS names, and the program
 * goes on: elements outside of an array are those of a spare one. Needs no headers. */
#ifndef OXEYE_ELEMENT
extern int oxeye_check_open(const char *, int, ...) __asm__("open");
extern int oxeye_check_close(int) __asm__("close");
extern long oxeye_check_write(int, const void *, unsigned long) __asm__("write");
extern char *oxeye_check_getenv(const char *) __asm__("getenv");
extern int oxeye_check_snprintf(char *, unsigned long, const char *, ...) __asm__("snprintf");
extern void *oxeye_check_memcpy(void *, const void *, unsigned long) __asm__("memcpy");

/* The places that were written: kind and text of each. */
#define OXEYE_CHECK_PLACES 256
static struct {
    int kind;
    const char *what;
} oxeye_check_known[OXEYE_CHECK_PLACES];
static int oxeye_check_n, oxeye_check_lock;
static const char *const oxeye_check_kinds[] = {"index", "address", "alignment", "nan"};
static __attribute__((aligned(64))) char oxeye_check_spare[1024];

static __attribute__((unused, noinline)) void oxeye_check_found(int kind, const char *what, long at, long from, long to)
{
    char line[512];
    const char *path;
    int k, n, fd;
    while (__atomic_test_and_set(&oxeye_check_lock, __ATOMIC_ACQUIRE))
        ;
    for (k = 0; k < oxeye_check_n; ++k)
        if (oxeye_check_known[k].kind == kind && oxeye_check_known[k].what == what)
            break;
    path = k == oxeye_check_n && k < OXEYE_CHECK_PLACES ? oxeye_check_getenv("OXEYE_CHECKS") : 0;
    if (path) {
        oxeye_check_known[k].kind = kind;
        oxeye_check_known[k].what = what;
        ++oxeye_check_n;
        n = oxeye_check_snprintf(line, sizeof line, "%s|%s|%ld|%ld|%ld\n", oxeye_check_kinds[kind], what, at, from, to);
        fd = oxeye_check_open(path, 02002101, 0600); /* O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC */
        if (fd >= 0) {
            if (n > 0 && oxeye_check_write(fd, line, n < (int)sizeof line ? n : (int)sizeof line - 1) < 0)
                n = 0;
            oxeye_check_close(fd);
        }
    }
    __atomic_clear(&oxeye_check_lock, __ATOMIC_RELEASE);
}

/* The index; `lanes` elements from it on are used. */
static __attribute__((unused)) inline long oxeye_check_index(long index, long extent, long lanes, const char *what)
{
    if (__builtin_expect(index < 0 || index + lanes > extent, 0))
        oxeye_check_found(0, what, index < 0 ? index : index + lanes - 1, 0, extent);
    return index;
}

/* The address, or one of a spare element if it is not between `first` and `last`. */
static __attribute__((unused)) inline void *oxeye_check_element(const volatile void *element, long bytes, long lanes,
    unsigned long align, __UINTPTR_TYPE__ base, __UINTPTR_TYPE__ first, __UINTPTR_TYPE__ last, const char *what)
{
    const __UINTPTR_TYPE__ at = (__UINTPTR_TYPE__)element;
    if (__builtin_expect(at % align != 0, 0))
        oxeye_check_found(2, what, (long)(at % align), 0, (long)align);
    if (__builtin_expect(at < first || at > last || last - at < (__UINTPTR_TYPE__)(bytes * lanes), 0)) {
        const long offset = (long)(at - base);
        const long index = (offset - (offset < 0 ? bytes - 1 : 0)) / bytes;
        oxeye_check_found(1, what, at < first ? index : index + lanes - 1, (long)(first - base) / bytes,
            (long)(last - base) / bytes);
        return oxeye_check_spare;
    }
    return (void *)at;
}

/* Compilers may take it for granted that a number is one; the bits tell. */
static __attribute__((unused)) inline void oxeye_check_number(double value, const char *what)
{
    unsigned long bits;
    oxeye_check_memcpy(&bits, &value, sizeof bits);
    if (__builtin_expect((bits << 1) > 0xffe0000000000000UL, 0))
        oxeye_check_found(3, what, 0, 0, 0);
}

#define OXEYE_INDEX(index, extent, lanes, what) oxeye_check_index((index), (extent), (lanes), (what))
#define OXEYE_ELEMENT(element, lanes, base, first, last, what) \
    (*(__typeof__(element) *)oxeye_check_element(&(element), sizeof(element), (lanes), __alignof__(element), (base), \
        (first), (last), (what)))
#define OXEYE_NUMBER(value, what) oxeye_check_number((double)(value), (what))
#define OXEYE_NUMBERS(values, lanes, what) \
    do { \
        const __typeof__(values) oxeye_values = (values); \
        for (int oxeye_k = 0; oxeye_k < (lanes); ++oxeye_k) \
            oxeye_check_number((double)oxeye_values[oxeye_k], (what)); \
    } while (0)
#endif
