// The kernels that are measured, as IR of the graph dialect, each with its hand-written
// counterpart.
#pragma once

#include "test/unit/codegen/KernelHarness.h"

#include <vector>

namespace cleave::bench {

struct BufferShape {
  int64_t elements = 0;
  bool isIndex = false; // i64; otherwise f32
};

struct KernelText {
  std::string name;
  test::KernelCase kernel;
  std::vector<BufferShape> buffers; // of the kernel
  double bytes = 0;                 // that have to be read and written
  int64_t indexLimit = 1;           // what indices are below
  void (*hand)(void *const *, int64_t, int64_t) = nullptr;
};

// For matrices of this size.
std::vector<KernelText> kernelTexts(int64_t rows, int64_t columns);

} // namespace cleave::bench
