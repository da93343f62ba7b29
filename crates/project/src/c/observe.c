/* Preloaded into the processes of a build: writes down how compilers, linkers and archivers are called. Each record is
 * the folder, the number of words, and the words, all ended by zero bytes, appended in one piece to the file that
 * OXEYE_TOOL_CALLS names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a name of so many characters is a tool's, whatever stands before it (`x86_64-linux-gnu-gcc`). */
static int names_tool(const char *name, size_t n) {
    static const char *const tools[] = {"cc",       "gcc",  "g++",  "c++", "clang", "clang++", "gfortran", "flang",
                                        "c99",      "c89",  "icc",  "icx", "icpx",  "nvc",     "tcc",      "ar",
                                        "gcc-ar",   "cp",   "mv",   "ln",  "install"};
    for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
        size_t m = strlen(tools[k]);
        if (n >= m && !memcmp(name + n - m, tools[k], m) && (n == m || name[n - m - 1] == '-')) return 1;
    }
    return 0;
}

/* Also with its version (`clang-19`); `cc1` is a part of one. */
static int is_tool(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (names_tool(name, n)) return 1;
    if (!strcmp(name, "cc1")) return 0;
    while (n > 1 && ((name[n - 1] >= '0' && name[n - 1] <= '9') || name[n - 1] == '.' || name[n - 1] == '-')) n--;
    return names_tool(name, n);
}

static void note(const char *words, size_t size, const char *name) {
    char folder[PATH_MAX], count[24];
    if (!getcwd(folder, sizeof folder)) return;
    int n_words = 0;
    for (size_t k = 0; k < size; k++) n_words += !words[k];
    size_t folder_size = strlen(folder) + 1;
    size_t count_size = (size_t)snprintf(count, sizeof count, "%d", n_words) + 1;
    char *record = malloc(folder_size + count_size + size);
    int file = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (record && file >= 0) {
        memcpy(record, folder, folder_size);
        memcpy(record + folder_size, count, count_size);
        memcpy(record + folder_size + count_size, words, size);
        ssize_t ignored = write(file, record, folder_size + count_size + size);
        (void)ignored;
    }
    free(record);
    if (file >= 0) close(file);
}

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("OXEYE_TOOL_CALLS");
    if (!name) return;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    size_t size = 0, room = 1 << 16;
    char *words = malloc(room);
    for (ssize_t n; words && (n = read(file, words + size, room - size)) > 0;) {
        size += (size_t)n;
        if (size == room) {
            char *more = realloc(words, room *= 2);
            if (!more) break;
            words = more;
        }
    }
    close(file);
    if (words && size && !words[size - 1]) {
        /* A script that calls a compiler has its interpreter's name in front of its own, and `ccache` stands before one. */
        size_t first = strlen(words) + 1, begin = 0;
        if (!is_tool(words) && first < size && strchr(words + first, '/') && is_tool(words + first)) begin = first;
        if (is_tool(words + begin)) {
            note(words + begin, size - begin, name);
            /* What a compiler starts in its turn is part of it. */
            unsetenv("OXEYE_TOOL_CALLS");
        }
    }
    free(words);
}
