/*===-- shim.c - a machine on which something goes wrong ---------------------------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded into a tool. It counts the calls that change files in the folder SHIM_FOLDER
 * (also those files that have no name), and at the call number SHIM_AT (from 1) does what
 * SHIM_DO says, before the call is made:
 *   kill      ends the process by SIGKILL
 *   term      sends SIGTERM and waits a while to be ended by it
 *   full      from now on every call that needs space fails with ENOSPC
 * At the end it writes the number of calls to the file SHIM_COUNT, which is not counted.
 * SHIM_NAMED=1: the file system knows no files without names. SHIM_CPUS=n: the machine has n
 * processors. SHIM_DAYS=n: it is n days later.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static volatile int calls, isFull;

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static int isOurs(const char *path) {
  const char *folder = getenv("SHIM_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int isOurPath(int at, const char *path) {
  char base[4096], full[8192];
  if (path[0] == '/')
    return isOurs(path);
  if (at == AT_FDCWD) {
    if (!getcwd(base, sizeof base))
      return 0;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0)
      return 0;
    base[length] = 0;
  }
  snprintf(full, sizeof full, "%s/%s", base, path);
  return isOurs(full);
}

static int isOurFile(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0)
    return 0;
  path[length] = 0;
  return isOurs(path);
}

/* Counts a call; true when it must fail for want of space. */
static int counted(int ours, int needsSpace) {
  if (!ours)
    return 0;
  int call = __sync_add_and_fetch(&calls, 1);
  const char *what = getenv("SHIM_DO");
  if (what && call == number("SHIM_AT")) {
    if (strcmp(what, "kill") == 0)
      kill(getpid(), SIGKILL);
    if (strcmp(what, "full") == 0)
      isFull = 1;
    if (strcmp(what, "term") == 0) {
      kill(getpid(), SIGTERM);
      usleep(300000);
    }
  }
  if (!isFull || !needsSpace)
    return 0;
  errno = ENOSPC;
  return 1;
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("SHIM_COUNT");
  if (!path)
    return;
  unsetenv("SHIM_FOLDER");
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file, "%d\n", calls);
    fclose(file);
  }
}

static int refused(int flags) {
  if ((flags & O_TMPFILE) != O_TMPFILE || !number("SHIM_NAMED"))
    return 0;
  errno = EOPNOTSUPP;
  return 1;
}

static mode_t modeOf(int flags, va_list list) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

/* `folder` and PARAMETERS differ between open and openat, ARGUMENTS are those of the call. */
#define OPENER(name, folder, PARAMETERS, ARGUMENTS)                                                \
  int name PARAMETERS {                                                                            \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode_t mode = modeOf(flags, list);                                                             \
    va_end(list);                                                                                  \
    if (refused(flags))                                                                            \
      return -1;                                                                                   \
    if ((flags & O_ACCMODE) != O_RDONLY &&                                                         \
        counted(isOurPath(folder, path), (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE))   \
      return -1;                                                                                   \
    return REAL(name) ARGUMENTS;                                                                   \
  }
OPENER(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPENER(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPENER(openat, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPENER(openat64, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))

#define FOPEN(name)                                                                                \
  FILE *name(const char *path, const char *mode) {                                                 \
    if (mode[0] != 'r' && counted(isOurPath(AT_FDCWD, path), 1))                                   \
      return NULL;                                                                                 \
    return REAL(name)(path, mode);                                                                 \
  }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int fd, const void *data, size_t bytes) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(write)(fd, data, bytes);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(writev)(fd, parts, count);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(pwrite)(fd, data, bytes, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(pwrite64)(fd, data, bytes, offset);
}
int ftruncate(int fd, off_t bytes) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(ftruncate)(fd, bytes);
}
int ftruncate64(int fd, off64_t bytes) {
  return counted(isOurFile(fd), 1) ? -1 : REAL(ftruncate64)(fd, bytes);
}
int fsync(int fd) { return counted(isOurFile(fd), 1) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return counted(isOurFile(fd), 1) ? -1 : REAL(fdatasync)(fd); }
int fchmod(int fd, mode_t mode) { return counted(isOurFile(fd), 0) ? -1 : REAL(fchmod)(fd, mode); }
int link(const char *from, const char *to) {
  return counted(isOurPath(AT_FDCWD, to), 1) ? -1 : REAL(link)(from, to);
}
int linkat(int fromAt, const char *from, int toAt, const char *to, int flags) {
  return counted(isOurPath(toAt, to), 1) ? -1 : REAL(linkat)(fromAt, from, toAt, to, flags);
}
int rename(const char *from, const char *to) {
  return counted(isOurPath(AT_FDCWD, to), 0) ? -1 : REAL(rename)(from, to);
}
int renameat2(int fromAt, const char *from, int toAt, const char *to, unsigned flags) {
  return counted(isOurPath(toAt, to), 0) ? -1 : REAL(renameat2)(fromAt, from, toAt, to, flags);
}
int mkdir(const char *path, mode_t mode) {
  return counted(isOurPath(AT_FDCWD, path), 1) ? -1 : REAL(mkdir)(path, mode);
}
int unlink(const char *path) {
  return counted(isOurPath(AT_FDCWD, path), 0) ? -1 : REAL(unlink)(path);
}

/* Another machine, on another day. */

int get_nprocs(void) { return number("SHIM_CPUS") ? number("SHIM_CPUS") : REAL(get_nprocs)(); }

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set) {
  long cpus = number("SHIM_CPUS");
  if (!cpus)
    return REAL(sched_getaffinity)(process, bytes, set);
  memset(set, 0, bytes);
  for (long i = 0; i < cpus; ++i)
    CPU_SET_S(i, bytes, set);
  return 0;
}

long sysconf(int name) {
  long cpus = number("SHIM_CPUS");
  return cpus && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
             ? cpus
             : REAL(sysconf)(name);
}

static long later(void) { return number("SHIM_DAYS") * 86400; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = REAL(clock_gettime)(clock, now);
  if (clock == CLOCK_REALTIME)
    now->tv_sec += later();
  return status;
}
int gettimeofday(struct timeval *now, void *zone) {
  int status = REAL(gettimeofday)(now, zone);
  now->tv_sec += later();
  return status;
}
time_t time(time_t *now) {
  time_t value = REAL(time)(NULL) + later();
  if (now)
    *now = value;
  return value;
}
