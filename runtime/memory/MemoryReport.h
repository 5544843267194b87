// What a process's resident memory consists of, from /proc/self/smaps and /proc/self/status.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::memory {

// Memory whose purpose the caller knows.
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

struct MemoryReport {
  std::vector<MemoryPart> known;     // one per name, in the caller's order
  std::vector<MemoryPart> libraries; // programs and shared objects, largest first
  std::vector<MemoryPart> other;     // heap, stack, anonymous memory, other files; largest first
  uint64_t residentBytes = 0;        // now: the sum of all parts
  uint64_t peakBytes = 0;            // VmHWM: the most there ever was

  // Of what was there at the peak, the fraction that the parts account for (1: all).
  double explained() const;
  // Lines for a person.
  std::string str() const;
};

// A defect if the kernel's files cannot be read.
Result<MemoryReport> memoryReport(const std::vector<KnownRange> &known);

// VmHWM in bytes; 0 if unknown.
uint64_t peakResidentBytes();

} // namespace cleave::memory
