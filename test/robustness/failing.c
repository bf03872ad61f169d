/*===-- failing.c - a machine on which a single call fails -------------------------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a tool. Of the calls of the kind FAIL_KIND, which is memory, map, thread, open,
 * read or write, the one with the number FAIL_AT (from 1) fails, with FAIL_ALL those behind it,
 * too; 0 only counts. Of the kind shrink is the mapping of a file in the folder at hand: the file
 * has no bytes any more when it is mapped. Memory counts from the first thread on, which a tool
 * creates first in main: before, where static objects are made, nobody can report anything. At the
 * end it writes the number of calls to the file FAIL_COUNT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static volatile long calls;
static const char *kind;
static long at;
static int all;
static volatile int hasThread;

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("FAIL_AT");
  at = number ? atol(number) : 0;
  all = getenv("FAIL_ALL") != NULL;
  calls = 0;
  kind = getenv("FAIL_KIND");
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAIL_COUNT");
  kind = NULL;
  FILE *file = path ? REAL(fopen)(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld\n", calls);
    fclose(file);
  }
}

/* Counts a call; true when it must fail, which `error` says. */
static int fails(const char *called, int error) {
  if (!kind || strcmp(kind, called) != 0 || (!hasThread && strcmp(called, "memory") == 0))
    return 0;
  long call = __sync_add_and_fetch(&calls, 1);
  if (!at || (all ? call < at : call != at))
    return 0;
  errno = error;
  return 1;
}

void *malloc(size_t bytes) { return fails("memory", ENOMEM) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
  return fails("memory", ENOMEM) ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  return bytes && fails("memory", ENOMEM) ? NULL : __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails("memory", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (fails("memory", ENOMEM))
    return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

static void mapped(int file) {
  char name[64], path[PATH_MAX] = "", folder[PATH_MAX];
  if (!kind || strcmp(kind, "shrink") != 0 || file < 0 || !getcwd(folder, sizeof(folder)))
    return;
  snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
  if (readlink(name, path, sizeof(path) - 1) > 0 && !strncmp(path, folder, strlen(folder)) &&
      fails("shrink", 0) && truncate(name, 0) != 0)
    abort();
}

void *mmap(void *position, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails("map", ENOMEM))
    return MAP_FAILED;
  void *at = REAL(mmap)(position, bytes, protection, flags, file, offset);
  mapped(file);
  return at;
}
void *mmap64(void *position, size_t bytes, int protection, int flags, int file, off64_t offset) {
  if (fails("map", ENOMEM))
    return MAP_FAILED;
  void *at = REAL(mmap64)(position, bytes, protection, flags, file, offset);
  mapped(file);
  return at;
}
int mprotect(void *position, size_t bytes, int protection) {
  return fails("map", ENOMEM) ? -1 : REAL(mprotect)(position, bytes, protection);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
  hasThread = 1;
  return fails("thread", EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}

/* PARAMETERS differ between open and openat, ARGUMENTS are those of the call. */
#define OPENER(name, PARAMETERS, ARGUMENTS)                                                        \
  int name PARAMETERS {                                                                            \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode_t mode =                                                                                  \
        (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;          \
    va_end(list);                                                                                  \
    return fails("open", EMFILE) ? -1 : REAL(name) ARGUMENTS;                                      \
  }
OPENER(open, (const char *path, int flags, ...), (path, flags, mode))
OPENER(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENER(openat, (int position, const char *path, int flags, ...), (position, path, flags, mode))
OPENER(openat64, (int position, const char *path, int flags, ...), (position, path, flags, mode))

FILE *fopen(const char *path, const char *mode) {
  return fails("open", EMFILE) ? NULL : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  return fails("open", EMFILE) ? NULL : REAL(fopen64)(path, mode);
}

ssize_t read(int file, void *data, size_t bytes) {
  return fails("read", EIO) ? -1 : REAL(read)(file, data, bytes);
}
ssize_t pread(int file, void *data, size_t bytes, off_t offset) {
  return fails("read", EIO) ? -1 : REAL(pread)(file, data, bytes, offset);
}
ssize_t pread64(int file, void *data, size_t bytes, off64_t offset) {
  return fails("read", EIO) ? -1 : REAL(pread64)(file, data, bytes, offset);
}
/* What a tool says of the failure it can say. */
ssize_t write(int file, const void *data, size_t bytes) {
  return file > 2 && fails("write", EIO) ? -1 : REAL(write)(file, data, bytes);
}
