// The arenas of one rank. Each is allocated once, with exactly the planned size.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cleave::memory {

// Allocates zeroed memory that is resident, so that the first step is as fast as the others and a
// lack of memory is detected here; it is freed with its last owner. A user error if memory does not
// suffice.
using Allocator = std::function<Result<std::shared_ptr<void>>(uint64_t bytes)>;

// Allocates pages of this process; huge pages if the system has them.
Result<std::shared_ptr<void>> allocatePages(uint64_t bytes);
// Allocates pages of this process between two guard pages; an access to a guard page ends the
// process by a signal. The memory is aligned to 64 bytes and ends less than 64 bytes before the
// second guard page; up to a page lies between the first one and the memory. The bytes in between
// are NaN as floats.
Result<std::shared_ptr<void>> allocateGuardedPages(uint64_t bytes);

class Arenas {
public:
  // Allocates every arena by the allocator of its space. A user error names the arena that does not
  // fit.
  static Result<Arenas> allocate(
      std::span<const plan::Arena> planned,
      const std::function<Allocator(plan::Space)> &allocatorOf = [](plan::Space) -> Allocator {
        return allocatePages;
      });

  // The address of the buffer.
  void *address(const plan::Buffer &buffer) const;
  // Bytes allocated in all arenas.
  uint64_t bytes() const { return bytes_; }
  // The address and size of an arena.
  struct Range {
    plan::Space space;
    void *begin;
    uint64_t bytes;
  };
  // The ranges of all arenas, in the order in which they were given.
  std::vector<Range> ranges() const;

private:
  struct Arena {
    plan::Space space;
    std::shared_ptr<void> memory;
    uint64_t bytes;
  };
  std::vector<Arena> arenas_;
  uint64_t bytes_ = 0;
};

} // namespace cleave::memory
