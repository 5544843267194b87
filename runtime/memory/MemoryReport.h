// The parts of a process's resident memory, from /proc/self/smaps and /proc/self/status.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::memory {

// A memory range whose purpose the caller knows.
struct KnownRange {
  std::string name;
  const void *begin;
  uint64_t bytes;
};

// One line of the report.
struct MemoryPart {
  std::string name; // a known range's, a library's file name, `heap`, `stack`, …
  uint64_t residentBytes;
};

// Sizes are in bytes.
struct MemoryReport {
  std::vector<MemoryPart> known;     // one per name, in the caller's order
  std::vector<MemoryPart> libraries; // programs and shared objects, largest first
  std::vector<MemoryPart> other;     // heap, stack, anonymous memory, other files; largest first
  uint64_t residentBytes = 0;        // current size: the sum of all parts
  uint64_t peakBytes = 0;            // largest size so far (VmHWM)

  // The fraction of the peak that the parts account for (1: all).
  double explained() const;
  // A table for people.
  std::string str() const;
};

// The memory of this process; `known` ranges become parts of their own. A defect if the kernel's
// files cannot be read.
Result<MemoryReport> memoryReport(const std::vector<KnownRange> &known);

// VmHWM in bytes; 0 if unknown.
uint64_t peakResidentBytes();

} // namespace cleave::memory
