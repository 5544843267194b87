// A library for LD_PRELOAD that disturbs one process of a job at a chosen call: the k-th call, over
// all processes, that writes below a folder (or opens a file below it). See faults.py.
//
// Environment:
//   FAULT_UNDER   the folder, an absolute path
//   FAULT_CALLS   `write` (create, write, flush, rename) or `open` (any open)
//   FAULT_AT      number of the call, from 0
//   FAULT_DO      `count` (nothing but reports), `full` (this and all later calls fail with
//                 ENOSPC), `broken` (this call fails with EIO), `pause` (sleeps for a second), or a
//                 signal's number, which the process sends to itself
//   FAULT_STATE   file of 8 bytes with the number of calls so far, shared by all processes; the
//                 struck process (with `count`: each) reports its id and the call in
//                 FAULT_STATE.hit
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The function that this library hides.
#define NEXT(name)                                                                                 \
  static __typeof__(&name) next;                                                                   \
  if (!next)                                                                                       \
  next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static long *calls(void) {
  static long *shared;
  if (shared)
    return shared;
  int file = (int)syscall(SYS_openat, AT_FDCWD, setting("FAULT_STATE"), O_RDWR | O_CLOEXEC);
  void *memory = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  return memory == MAP_FAILED ? NULL : (shared = memory);
}

static void report(const char *call, const char *path) {
  char name[4096], text[5000];
  snprintf(name, sizeof name, "%s.hit", setting("FAULT_STATE"));
  int length = snprintf(text, sizeof text, "%d %s %s\n", getpid(), call, path);
  int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
  syscall(SYS_write, file, text, length);
  syscall(SYS_close, file);
}

// The error with which the call has to fail; 0: it goes on.
static int strike(const char *kind, const char *call, const char *path) {
  const char *under = setting("FAULT_UNDER"), *action = setting("FAULT_DO");
  if (!*under || strncmp(path, under, strlen(under)) != 0 ||
      strcmp(setting("FAULT_CALLS"), kind) != 0 || !calls())
    return 0;
  long at = atol(setting("FAULT_AT")), now = __atomic_fetch_add(calls(), 1, __ATOMIC_SEQ_CST);
  bool counts = strcmp(action, "count") == 0;
  if (counts || now == at)
    report(call, path);
  if (counts || now < at || (now > at && strcmp(action, "full") != 0))
    return 0;
  if (strcmp(action, "full") == 0)
    return ENOSPC;
  if (strcmp(action, "broken") == 0)
    return EIO;
  if (strcmp(action, "pause") == 0)
    usleep(1000000);
  else
    kill(getpid(), atoi(action));
  return 0;
}

static void pathOf(int file, char *path, size_t bytes) {
  char link[64];
  snprintf(link, sizeof link, file == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, bytes - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int strikeName(const char *kind, const char *call, int folder, const char *path) {
  char whole[8192], start[4096];
  if (path[0] == '/')
    return strike(kind, call, path);
  pathOf(folder, start, sizeof start);
  snprintf(whole, sizeof whole, "%s/%s", start, path);
  return strike(kind, call, whole);
}

static int strikeFile(const char *call, int file) {
  char path[4096];
  pathOf(file, path, sizeof path);
  return strike("write", call, path);
}

static int strikeOpen(int folder, const char *path, int creates) {
  int error = strikeName("open", "open", folder, path);
  return error || !creates ? error : strikeName("write", "create", folder, path);
}

#define FAIL_IF(expression, result)                                                                \
  do {                                                                                             \
    int error = (expression);                                                                      \
    if (error)                                                                                     \
      return errno = error, (result);                                                              \
  } while (0)

// The optional mode of open.
#define MODE(flags, mode)                                                                          \
  int mode = 0;                                                                                    \
  if (flags & (O_CREAT | __O_TMPFILE)) {                                                           \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode = va_arg(list, int);                                                                      \
    va_end(list);                                                                                  \
  }

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    NEXT(name);                                                                                    \
    MODE(flags, mode)                                                                              \
    FAIL_IF(strikeOpen(AT_FDCWD, path, flags & O_CREAT), -1);                                      \
    return next(path, flags, mode);                                                                \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                              \
  int name(int folder, const char *path, int flags, ...) {                                         \
    NEXT(name);                                                                                    \
    MODE(flags, mode)                                                                              \
    FAIL_IF(strikeOpen(folder, path, flags & O_CREAT), -1);                                        \
    return next(folder, path, flags, mode);                                                        \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

#define FOPEN(name)                                                                                \
  FILE *name(const char *path, const char *mode) {                                                 \
    NEXT(name);                                                                                    \
    FAIL_IF(strikeOpen(AT_FDCWD, path, mode[0] != 'r'), NULL);                                     \
    return next(path, mode);                                                                       \
  }
FOPEN(fopen)
FOPEN(fopen64)

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  FAIL_IF(strikeName("write", "mkdir", AT_FDCWD, path), -1);
  return next(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  NEXT(mkdirat);
  FAIL_IF(strikeName("write", "mkdirat", folder, path), -1);
  return next(folder, path, mode);
}

ssize_t write(int file, const void *data, size_t bytes) {
  NEXT(write);
  FAIL_IF(strikeFile("write", file), -1);
  return next(file, data, bytes);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(writev);
  FAIL_IF(strikeFile("writev", file), -1);
  return next(file, parts, count);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
  NEXT(pwrite);
  FAIL_IF(strikeFile("pwrite", file), -1);
  return next(file, data, bytes, at);
}

int fflush(FILE *file) {
  NEXT(fflush);
  if (file)
    FAIL_IF(strikeFile("fflush", fileno(file)), EOF);
  return next(file);
}

int fsync(int file) {
  NEXT(fsync);
  FAIL_IF(strikeFile("fsync", file), -1);
  return next(file);
}

int fdatasync(int file) {
  NEXT(fdatasync);
  FAIL_IF(strikeFile("fdatasync", file), -1);
  return next(file);
}

int rename(const char *from, const char *to) {
  NEXT(rename);
  FAIL_IF(strikeName("write", "rename", AT_FDCWD, to), -1);
  return next(from, to);
}

int renameat(int folder, const char *from, int toFolder, const char *to) {
  NEXT(renameat);
  FAIL_IF(strikeName("write", "renameat", toFolder, to), -1);
  return next(folder, from, toFolder, to);
}

int renameat2(int folder, const char *from, int toFolder, const char *to, unsigned flags) {
  NEXT(renameat2);
  FAIL_IF(strikeName("write", "renameat2", toFolder, to), -1);
  return next(folder, from, toFolder, to, flags);
}
