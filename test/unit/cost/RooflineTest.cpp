// Seconds of kernels.
#include "compiler/cost/Roofline.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::cost;

static cluster::Cluster device() {
  cluster::Cluster cluster;
  cluster.compute["f32"] = {1e12, {{{1e6, 0.1}, {1e9, 0.5}}}};
  cluster.compute["bf16"] = {4e12, {}};
  cluster.memoryBytesPerSecond = 1e9;
  cluster.launchSeconds = 1e-6;
  return cluster;
}

TEST_CASE("a kernel takes the longer of computing and moving, plus its launch") {
  CHECK(kernelSeconds(device(), {.flops = 1e9}) == Approx(2e-3 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9, .bytes = 1e9}) == Approx(1 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 4e12, .elementType = "bf16"}) == Approx(1 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9, .elementType = "f16"}) ==
        Approx(2e-3 + 1e-6)); // as f32
  CHECK(kernelSeconds(device(), {}) == Approx(1e-6));
}

TEST_CASE("many small kernels are less efficient than one large one") {
  CHECK(kernelSeconds(device(), {.flops = 1e9, .launches = 1000}) == Approx(1e-2 + 1e-3));
}

TEST_CASE("kernels other than products compute at the vector rate, if it is known") {
  cluster::Cluster known = device();
  known.vectorFlops = 1e10;
  CHECK(kernelSeconds(known, {.flops = 1e9, .isProduct = false}) == Approx(0.1 + 1e-6));
  CHECK(kernelSeconds(known, {.flops = 1e9}) == Approx(2e-3 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9, .isProduct = false}) == Approx(2e-3 + 1e-6));
}

TEST_CASE("a lowered convolution takes as long as its columns") {
  cluster::Cluster lowers = device();
  lowers.columnsPerSecond = 1e8;
  CHECK(kernelSeconds(lowers, {.flops = 1e6, .columns = 1e6}) == Approx(1e-2 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e6, .columns = 1e6}) == Approx(1e-5 + 1e-6));
}

TEST_CASE("a copy reads and writes its bytes") {
  CHECK(copySeconds(device(), 1e6) == Approx(2e-3 + 1e-6));
}
