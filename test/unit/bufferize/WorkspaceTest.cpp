// The memory that libraries of GPUs get.
#include "passes/bufferize/Workspace.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::bufferize;

static constexpr int64_t kMiB = int64_t(1) << 20;

TEST_CASE("a product gets room for its sums in 16 parts, and at most 32 MiB") {
  CHECK(productWorkspace(1000) == 16 * 1000 * 4);
  CHECK(productWorkspace(kMiB / 2) == 32 * kMiB);
  CHECK(productWorkspace(kMiB) == 32 * kMiB);
}

TEST_CASE("a convolution gets 8 MiB, and copies of tensors in another layout in whole KiB") {
  const std::vector<int64_t> aligned = {2, 16, 50}, other = {2, 3, 50}; // 3 channels become 8
  auto bytes = [](const std::vector<int64_t> &shape, bool isChannelsLast, int64_t groups = 1) {
    return convolutionWorkspace({shape}, /*elementBytes=*/2, isChannelsLast, groups) - 8 * kMiB;
  };
  CHECK(bytes(aligned, true) == 0);
  CHECK(bytes(aligned, true, /*groups=*/2) == 4096); // 3200 bytes
  CHECK(bytes(aligned, false) == 4096);
  CHECK(bytes(other, true) == 2048); // 1600 bytes
}

TEST_CASE("a gradient of attention gets 2 bytes for each score of whole tiles of 128") {
  AttentionSizes sizes{
      .batch = 3, .heads = 4, .groups = 4, .queries = 129, .keys = 100, .width = 64, .depth = 32};
  const int64_t rest = 64 << 10, scores = 256 * 128;
  CHECK(attentionWorkspace(sizes, /*isGradient=*/false) == rest);
  CHECK(attentionWorkspace(sizes, /*isGradient=*/true) - attentionSumBytes(sizes) ==
        2 * 12 * scores + rest);
  sizes.groups = 2; // the gradients of key and value, per head
  CHECK(attentionWorkspace(sizes, /*isGradient=*/true) - attentionSumBytes(sizes) ==
        2 * 12 * (scores + 100 * (64 + 32)) + rest);
}
