// The checked mode of the executor. Memory without a value holds poison: NaN for floats, a large
// number for integers. An instruction that reads a buffer without a valid value computes with
// poison; an instruction that overwrites poison has written outside its buffers, which is a defect.
// Guard pages around the arenas (memory/Arenas.h) catch the remaining accesses. Requires a device
// whose memory this process addresses and whose actions are complete when run() returns.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/executor/ValueLifetimes.h"
#include "runtime/memory/Arenas.h"

#include <cstdint>
#include <vector>

namespace cleave::executor {

class MemoryCheck {
public:
  // Poisons all bytes except those of persistent buffers, which become zero. Program and arenas
  // outlive the check.
  MemoryCheck(const plan::Program &program, const memory::Arenas &arenas);

  // To be called before instruction `index` of schedule step `scheduled`: poisons the buffers whose
  // values begin with it. A defect if their memory was written while it held no value.
  Status before(size_t scheduled, size_t index);
  // To be called after that instruction: poisons the buffers whose values end with it.
  void after(size_t scheduled, size_t index);
  // To be called at the end of a step: a defect if any poison was overwritten.
  Status endStep() const;

private:
  // A part of an arena.
  struct Range {
    uint32_t arena;
    uint64_t begin, end; // bytes
  };
  Range rangeOf(uint32_t buffer) const;
  unsigned char *memoryOf(const Range &range) const;
  // Fills the buffer with the poison of its dtype.
  void poison(uint32_t buffer) const;
  Status checkPoison(const Range &range) const;

  const plan::Program &program_;
  std::vector<memory::Arenas::Range> arenas_;
  std::vector<std::vector<Lifetimes>> lifetimes_;
  std::vector<std::vector<unsigned char>> expected_; // by arena: its bytes where there is no value
  std::vector<Range> transient_;                     // the parts without persistent buffers
};

} // namespace cleave::executor
