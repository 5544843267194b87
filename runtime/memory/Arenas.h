// The arenas of one rank's program, each allocated once at exactly the planned size.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cleave::memory {

// Zeroed memory that lives as long as someone holds it. A user error if there is not enough.
using Allocator = std::function<Result<std::shared_ptr<void>>(uint64_t bytes)>;

// Pages of this process, in huge ones where the system has them.
Result<std::shared_ptr<void>> allocatePages(uint64_t bytes);
// Pages of this process between two pages that end it when they are touched. The memory is 64-aligned
// and ends less than 64 bytes before the guard page behind it; up to a page lies between it and the
// one in front. The bytes in between read as NaN.
Result<std::shared_ptr<void>> allocateGuardedPages(uint64_t bytes);

class Arenas {
public:
  // Allocates every arena of the program and makes it resident (all pages are touched here, so that
  // the first step is as fast as the others and missing memory shows now). `deviceAllocator` serves
  // arenas in space DEVICE, `hostAllocator` those in space HOST. A user error names the arena that
  // does not fit; space FILE is not there yet.
  static Result<Arenas> allocate(const plan::Program &program,
                                 const Allocator &deviceAllocator = allocatePages,
                                 const Allocator &hostAllocator = allocatePages);

  // Where the buffer lies.
  void *address(const plan::Buffer &buffer) const;
  // Bytes allocated in all arenas.
  uint64_t bytes() const { return bytes_; }
  // First byte and size of each arena.
  struct Range {
    void *begin;
    uint64_t bytes;
  };
  std::vector<Range> ranges() const;

private:
  struct Arena {
    std::shared_ptr<void> memory;
    uint64_t bytes;
  };
  std::vector<Arena> arenas_;
  uint64_t bytes_ = 0;
};

} // namespace cleave::memory
