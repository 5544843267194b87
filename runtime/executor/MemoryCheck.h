// The checked mode of the executor: memory that holds no value of the step holds poison, which is NaN
// for floats and an absurd number for integers. An instruction that reads what nothing has written,
// or what is no longer valid, computes with poison; one that changes poison has written outside of
// its buffers, which is a defect. Guard pages around the arenas (memory/Arenas.h) catch the rest.
// For devices whose memory this process addresses and whose actions are done when run() returns.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/executor/ValueLifetimes.h"
#include "runtime/memory/Arenas.h"

#include <cstdint>
#include <vector>

namespace cleave::executor {

class MemoryCheck {
public:
  // Poisons all bytes but those of persistent buffers, which become zero. Program and arenas outlive
  // the check.
  MemoryCheck(const plan::Program &program, const memory::Arenas &arenas);

  // Before instruction `index` of schedule step `scheduled`: poisons the buffers that it is the first
  // to touch. A defect if something was written there while no value lay there.
  Status before(size_t scheduled, size_t index);
  // After that instruction: poisons the buffers that it is the last to touch.
  void after(size_t scheduled, size_t index);
  // At the end of a step: a defect if any poison was written over.
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
  std::vector<std::vector<unsigned char>> expected_; // by arena: its bytes where no value lies
  std::vector<Range> transient_;                     // outside of persistent buffers
};

} // namespace cleave::executor
