// See Workspace.h.
#include "passes/bufferize/Workspace.h"

#include <algorithm>

namespace cleave::bufferize {

static constexpr int64_t kMiB = int64_t(1) << 20, kF32 = 4; // bytes

int64_t productWorkspace(int64_t results) {
  constexpr int64_t kParts = 16;
  return std::min(kParts * kF32 * results, 32 * kMiB);
}

int64_t convolutionWorkspace(int64_t tensorBytes) { return std::min(tensorBytes, 256 * kMiB); }

} // namespace cleave::bufferize
