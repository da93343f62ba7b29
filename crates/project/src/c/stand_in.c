/* Makes programs and libraries stand in for others, by the table in OXEYE_STAND_INS: lines of names, each followed by what
 * stands in for it. Given as LD_AUDIT it sees which libraries are loaded, as LD_PRELOAD which programs are started. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of what stands in for a file, or the name itself. */
static char *stand_in(const char *name) {
    const char *at = getenv("OXEYE_STAND_INS");
    char path[PATH_MAX];
    if (!at || !name || !strchr(name, '/') || !realpath(name, path)) return (char *)name;
    size_t size = strlen(path);
    while (*at) {
        const char *end = strchr(at, '\n');
        const char *next = end ? strchr(end + 1, '\n') : 0;
        if (!next) break;
        if ((size_t)(end - at) == size && !memcmp(at, path, size)) return strndup(end + 1, (size_t)(next - end - 1));
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
