// See Workspace.h.
#include "passes/bufferize/Workspace.h"

#include "runtime/base/Alignment.h"

#include <algorithm>

namespace cleave::bufferize {

static constexpr int64_t kMiB = int64_t(1) << 20, kF32 = 4; // bytes

int64_t productWorkspace(int64_t results) {
  constexpr int64_t kParts = 16;
  return std::min(kParts * kF32 * results, 32 * kMiB);
}

// Besides the copies, cuDNN stores partial sums of weight gradients: up to 5.9 MiB in ResNet-50.
int64_t convolutionWorkspace(std::initializer_list<llvm::ArrayRef<int64_t>> shapes,
                             int64_t elementBytes, bool isChannelsLast, int64_t groups) {
  constexpr int64_t kChannels = 8, kPage = 1024, kSums = 8 * kMiB;
  int64_t bytes = kSums;
  for (llvm::ArrayRef<int64_t> shape : shapes) {
    if (isChannelsLast && groups == 1 && shape[1] % kChannels == 0)
      continue;
    int64_t copy = elementBytes;
    for (size_t d = 0; d < shape.size(); ++d)
      copy *= d == 1 ? alignedTo(kChannels, shape[d]) : shape[d];
    bytes += alignedTo(kPage, copy);
  }
  return bytes;
}

int64_t attentionWorkspace(const AttentionSizes &s, bool isGradient) {
  constexpr int64_t kTile = 128, kRest = int64_t(64) << 10, kElement = 2;
  if (!isGradient)
    return kRest;
  const int64_t heads = s.batch * s.heads;
  const int64_t scores = alignedTo(kTile, s.queries) * alignedTo(kTile, s.keys);
  const int64_t perHead = s.heads == s.groups ? 0 : s.keys * (s.width + s.depth);
  return attentionSumBytes(s) + kElement * heads * (scores + perHead) + kRest;
}

} // namespace cleave::bufferize
