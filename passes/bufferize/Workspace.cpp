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

int64_t attentionWorkspace(const AttentionShape &s) {
  return s.batch * s.heads * s.queries * 4 * kF32;
}

int64_t attentionGradientWorkspace(const AttentionShape &s) {
  int64_t perHead =
      s.heads == s.groups ? 0 : s.batch * s.heads * s.keys * (s.width + s.depth) * s.elementBytes;
  return attentionWorkspace(s) + s.batch * s.heads * s.queries * s.width * kF32 + perHead;
}

} // namespace cleave::bufferize
