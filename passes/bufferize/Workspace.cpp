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

} // namespace cleave::bufferize
