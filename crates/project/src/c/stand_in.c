/* Makes programs and libraries stand in for others, by the table in OXEYE_STAND_INS: lines of names, each followed by what
 * stands in for it. Given as LD_AUDIT it sees which libraries are loaded, as LD_PRELOAD which programs are started, and that
 * a program was started by something that it is not loaded into, such as a daemon of Slurm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a file is a copy of another: builds and installations copy what they have linked. */
static int is_copy(const char *name, const char *of) {
    const char *base = strrchr(name, '/'), *other = strrchr(of, '/');
    if (!base || !other || strcmp(base, other)) return 0;
    FILE *a = fopen(name, "r"), *b = fopen(of, "r");
    int is_same = a && b;
    while (is_same) {
        char x[4096], y[4096];
        size_t n = fread(x, 1, sizeof x, a);
        is_same = n == fread(y, 1, sizeof y, b) && !memcmp(x, y, n);
        if (n < sizeof x) break;
    }
    if (a) fclose(a);
    if (b) fclose(b);
    return is_same;
}

/* The name of what stands in for a file, or the name itself. */
static char *stand_in(const char *name) {
    const char *at = getenv("OXEYE_STAND_INS");
    char path[PATH_MAX];
    if (!at || !name || !strchr(name, '/') || !realpath(name, path)) return (char *)name;
    while (*at) {
        const char *end = strchr(at, '\n');
        const char *next = end ? strchr(end + 1, '\n') : 0;
        if (!next || end - at >= PATH_MAX) break;
        char of[PATH_MAX] = {0};
        memcpy(of, at, (size_t)(end - at));
        if (!strcmp(of, path) || is_copy(path, of)) return strndup(end + 1, (size_t)(next - end - 1));
        at = next + 1;
    }
    return (char *)name;
}

unsigned la_version(unsigned version) { return version; }

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
    (void)cookie, (void)flag;
    return stand_in(name);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int execve(const char *path, char *const words[], char *const environment[]) {
    return NEXT(execve)(stand_in(path), words, environment);
}
int execv(const char *path, char *const words[]) { return NEXT(execv)(stand_in(path), words); }
int execvp(const char *file, char *const words[]) { return NEXT(execvp)(stand_in(file), words); }
int execvpe(const char *file, char *const words[], char *const environment[]) {
    return NEXT(execvpe)(stand_in(file), words, environment);
}
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    return NEXT(posix_spawn)(pid, stand_in(path), actions, attributes, words, environment);
}
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    return NEXT(posix_spawnp)(pid, stand_in(file), actions, attributes, words, environment);
}

/* A program that another one stands in for becomes that. */
__attribute__((constructor)) static void become(int n_words, char *words[], char *environment[]) {
    char own[PATH_MAX], other[PATH_MAX];
    (void)n_words;
    if (!realpath("/proc/self/exe", own)) return;
    char *file = stand_in(own);
    if (file == own || !realpath(file, other) || !strcmp(own, other)) return;
    NEXT(execve)(file, words, environment);
}
