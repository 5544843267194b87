// Counts the calls of malloc, calloc and realloc of a process and its children: to be loaded with
// LD_PRELOAD. The count is a 64-bit number in the file named by CLEAVE_ALLOCATIONS, which exists
// and has eight bytes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile uint64_t *count;

__attribute__((constructor)) static void open_count(void) {
  const char *path = getenv("CLEAVE_ALLOCATIONS");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0)
    return;
  void *memory = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED)
    count = memory;
}

static void add(void) {
  if (count)
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

// The C library's own functions under other names.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t bytes) {
  add();
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  add();
  return __libc_calloc(number, bytes);
}

void *realloc(void *memory, size_t bytes) {
  add();
  return __libc_realloc(memory, bytes);
}
