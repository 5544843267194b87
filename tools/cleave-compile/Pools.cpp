// operator new and delete with lists of free blocks per size. Planning makes and frees very many
// small tables, maps and strings: with malloc alone a quarter of the time goes there. What is freed
// stays with the process.
//
// A block has 8 bytes before it that hold its size in units of 16 bytes; 0: it is from malloc. A
// thread takes from lists of its own. At its end the next thread goes on with them, so that what
// a thread has freed is used again. Aligned forms of new stay those of the library.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

constexpr std::size_t kUnit = 16, kHeader = 8, kMostUnits = 64, kChunk = std::size_t(1) << 20;

struct FreeBlock {
  FreeBlock *next;
};

// The lists of one thread at a time.
struct Pools {
  std::array<FreeBlock *, kMostUnits + 1> free{}; // per size in units
  char *next = nullptr, *end = nullptr;           // what is left of the last chunk
  Pools *other = nullptr;                         // of the idle ones
};

constinit std::mutex idleMutex;
constinit Pools *idle = nullptr;
constinit thread_local Pools *mine = nullptr;

// At the end of a thread its lists become idle.
struct Return {
  bool isNeeded = false;
  ~Return() {
    if (!mine)
      return;
    const std::lock_guard<std::mutex> lock(idleMutex);
    mine->other = idle;
    idle = std::exchange(mine, nullptr);
  }
};
thread_local Return atEnd;

void *fromMalloc(std::size_t bytes) {
  void *memory = std::malloc(bytes); // calls the handler of new (Malloc.cpp)
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

Pools *takeIdle() {
  atEnd.isNeeded = true; // registers the destructor
  const std::lock_guard<std::mutex> lock(idleMutex);
  Pools *taken = idle;
  if (taken)
    idle = taken->other;
  return taken;
}

Pools &poolsOfThread() {
  if (!mine)
    mine = takeIdle();
  if (!mine)
    mine = new (fromMalloc(sizeof(Pools))) Pools;
  return *mine;
}

std::size_t &unitsOf(void *block) {
  return *reinterpret_cast<std::size_t *>(static_cast<char *>(block) - kHeader);
}

// A block of this many units; its header is not yet written.
void *cut(Pools &pools, std::size_t units) {
  const std::size_t bytes = units * kUnit;
  if (static_cast<std::size_t>(pools.end - pools.next) < bytes) {
    char *chunk = static_cast<char *>(fromMalloc(kChunk));
    pools.next = chunk + kUnit;
    pools.end = chunk + kChunk;
  }
  void *block = pools.next;
  pools.next += bytes;
  return block;
}

void *allocate(std::size_t bytes) {
  const std::size_t units = (bytes + kHeader + kUnit - 1) / kUnit;
  if (bytes > kMostUnits * kUnit - kHeader) {
    void *block = static_cast<char *>(fromMalloc(bytes + kUnit)) + kUnit;
    unitsOf(block) = 0;
    return block;
  }
  Pools &pools = mine ? *mine : poolsOfThread();
  if (FreeBlock *block = pools.free[units]) {
    pools.free[units] = block->next;
    return block;
  }
  void *block = cut(pools, units);
  unitsOf(block) = units;
  return block;
}

void release(void *block) {
  if (!block)
    return;
  const std::size_t units = unitsOf(block);
  if (units == 0)
    return std::free(static_cast<char *>(block) - kUnit);
  Pools &pools = mine ? *mine : poolsOfThread();
  FreeBlock *freed = static_cast<FreeBlock *>(block);
  freed->next = pools.free[units];
  pools.free[units] = freed;
}

void *allocateOrNull(std::size_t bytes) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

} // namespace

void *operator new(std::size_t bytes) { return allocate(bytes); }
void *operator new[](std::size_t bytes) { return allocate(bytes); }
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  return allocateOrNull(bytes);
}
void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept {
  return allocateOrNull(bytes);
}
void operator delete(void *block) noexcept { release(block); }
void operator delete[](void *block) noexcept { release(block); }
void operator delete(void *block, std::size_t) noexcept { release(block); }
void operator delete[](void *block, std::size_t) noexcept { release(block); }
void operator delete(void *block, const std::nothrow_t &) noexcept { release(block); }
void operator delete[](void *block, const std::nothrow_t &) noexcept { release(block); }

#endif
