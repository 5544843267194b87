// See Arenas.h.
#include "runtime/memory/Arenas.h"

#include "runtime/base/Units.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::memory {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2 << 20;

// Makes all pages resident; huge pages where the system allows them and they fit entirely.
void touch(void *memory, uint64_t bytes) {
  uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
  if (first < last)
    ::madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
  for (uint64_t at = 0; at < bytes; at += kPage)
    static_cast<volatile char *>(memory)[at] = 0;
}

} // namespace

Result<std::shared_ptr<void>> allocatePages(uint64_t bytes) {
  // Huge pages need 2 MiB alignment, which mmap does not guarantee: maps more and unmaps the ends.
  bool huge = bytes >= 2 * kHugePage;
  uint64_t mapped = (bytes + kPage - 1) / kPage * kPage, slack = huge ? kHugePage : 0;
  void *memory =
      ::mmap(nullptr, mapped + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::userError(std::strerror(errno));
  char *begin = static_cast<char *>(memory);
  if (huge) {
    uint64_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
    if (before)
      ::munmap(begin, before);
    if (slack - before)
      ::munmap(begin + before + mapped, slack - before);
    begin += before;
  }
  touch(begin, bytes);
  return std::shared_ptr<void>(begin, [mapped](void *p) { ::munmap(p, mapped); });
}

Result<std::shared_ptr<void>> allocateGuardedPages(uint64_t bytes) {
  const uint64_t page = uint64_t(::sysconf(_SC_PAGESIZE));
  const uint64_t inner = (bytes + page - 1) / page * page, mapped = inner + 2 * page;
  void *memory = ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::userError(std::strerror(errno));
  std::shared_ptr<void> whole(memory, [mapped](void *p) { ::munmap(p, mapped); });
  char *first = static_cast<char *>(memory) + page;
  if (::mprotect(first, inner, PROT_READ | PROT_WRITE) != 0)
    return Status::userError(std::strerror(errno));
  char *begin = first + inner - (bytes + 63) / 64 * 64;
  std::memset(first, 0xff, size_t(begin - first));
  std::memset(begin + bytes, 0xff, size_t(first + inner - begin - bytes));
  touch(begin, bytes);
  return std::shared_ptr<void>(std::move(whole), begin);
}

// `an arena of 3.1 GiB`, of other spaces than device memory `… in host memory`.
static std::string placeOf(const plan::Arena &arena) {
  return concat("an arena of ", bytesText(arena.bytes()),
                arena.space() == plan::HOST   ? " in host memory"
                : arena.space() == plan::FILE ? " in a file"
                                              : "");
}

Result<Arenas> Arenas::allocate(std::span<const plan::Arena> planned,
                                const std::function<Allocator(plan::Space)> &allocatorOf) {
  Arenas arenas;
  for (const plan::Arena &arena : planned) {
    if (arena.bytes() == 0) {
      arenas.arenas_.push_back({arena.space(), nullptr, 0});
      continue;
    }
    Result<std::shared_ptr<void>> memory = allocatorOf(arena.space())(arena.bytes());
    if (!memory)
      return memory.status().withContext("cannot allocate " + placeOf(arena));
    arenas.arenas_.push_back({arena.space(), std::move(*memory), arena.bytes()});
    arenas.bytes_ += arena.bytes();
  }
  return arenas;
}

void *Arenas::address(const plan::Buffer &buffer) const {
  return static_cast<char *>(arenas_[buffer.arena()].memory.get()) + buffer.offset();
}

std::vector<Arenas::Range> Arenas::ranges() const {
  std::vector<Range> ranges;
  for (const Arena &arena : arenas_)
    ranges.push_back({arena.space, arena.memory.get(), arena.bytes});
  return ranges;
}

} // namespace cleave::memory
