// The checked mode of the executor. Memory without a value holds poison: NaN for floats, a large
// number for integers. An instruction that reads a buffer without a valid value computes with
// poison; an instruction that overwrites poison has written outside its buffers, which is a defect.
// Guard pages around the arenas (memory/Arenas.h) catch the remaining accesses where this process
// addresses the device's memory; elsewhere, memory is compared through copies.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/executor/ValueLifetimes.h"
#include "runtime/memory/Arenas.h"

#include <cstdint>
#include <vector>

namespace cleave::executor {

class MemoryCheck {
public:
  // Program, arenas and device outlive the check.
  MemoryCheck(const plan::Program &program, const memory::Arenas &arenas, device::Device &device);

  // Poisons all bytes except those of persistent buffers, which become zero. To be called once,
  // before persistent buffers are filled.
  Status begin();

  // To be called before instruction `index` of schedule step `scheduled`: poisons the buffers whose
  // values begin with it. A defect if their memory was written while it held no value.
  Status before(size_t scheduled, size_t index);
  // To be called after that instruction: poisons the buffers whose values end with it. Failures of
  // the instruction that the device reports late are returned here.
  Status after(size_t scheduled, size_t index);
  // To be called after other instructions than those of a step have used the memory: poisons what
  // holds no value again.
  Status forget() const;
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
  // The poison of a buffer's dtype.
  std::vector<unsigned char> poisonFor(uint32_t buffer) const;
  Status write(const Range &range, const std::vector<unsigned char> &bytes) const;
  Status checkPoison(const Range &range) const;

  const plan::Program &program_;
  device::Device &device_;
  std::vector<memory::Arenas::Range> arenas_;
  std::vector<std::vector<Lifetimes>> lifetimes_;
  std::vector<std::vector<unsigned char>> expected_; // by arena: its bytes where there is no value
  std::vector<Range> transient_;                     // the parts without persistent buffers
};

} // namespace cleave::executor
