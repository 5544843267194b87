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
  CHECK(kernelSeconds(device(), {.flops = 1e9, .isProduct = true}) == Approx(2e-3 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9, .bytes = 1e9, .isProduct = true}) ==
        Approx(1 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 4e12, .elementType = "bf16", .isProduct = true}) ==
        Approx(1 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9, .elementType = "f16", .isProduct = true}) ==
        Approx(2e-3 + 1e-6)); // as f32
  CHECK(kernelSeconds(device(), {}) == Approx(1e-6));
}

TEST_CASE("many small kernels are less efficient than one large one") {
  CHECK(kernelSeconds(device(), {.flops = 1e9, .launches = 1000, .isProduct = true}) ==
        Approx(1e-2 + 1e-3));
}

TEST_CASE("kernels other than products compute at the vector rate, if it is known") {
  cluster::Cluster known = device();
  known.vectorFlops = 1e10;
  CHECK(kernelSeconds(known, {.flops = 1e9}) == Approx(0.1 + 1e-6));
  CHECK(kernelSeconds(known, {.flops = 1e9, .isProduct = true}) == Approx(2e-3 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e9}) == Approx(2e-3 + 1e-6));
}

TEST_CASE(
    "a direct convolution computes at a sixteenth of the rate, less where few threads have work") {
  cluster::Cluster known = device();
  known.processors = 10;
  auto seconds = [&](double results) {
    return kernelSeconds(known, {.flops = 1e9, .directResults = results});
  };
  const double full = 16 * 2e-3;
  CHECK(seconds(1e6) == Approx(full + 1e-6));
  CHECK(seconds(10 * 1024) == Approx(full + 1e-6)); // all of 10 processors
  CHECK(seconds(1024) == Approx(10 * full + 1e-6));
}

TEST_CASE("attention on GPUs has a kernel of ours, at a quarter of the rate in 16 bits only") {
  cluster::Cluster gpu = device();
  gpu.vectorFlops = 1e10;
  auto seconds = [&](const char *type) {
    return kernelSeconds(
        gpu, {.flops = 1e9, .elementType = type, .isProduct = true, .isAttention = true});
  };
  CHECK(seconds("bf16") == Approx(4 * 1e9 / 4e12 + 1e-6));
  CHECK(seconds("f32") == Approx(0.1 + 1e-6));
  gpu.isCpu = true;
  CHECK(seconds("bf16") == Approx(1e9 / 4e12 + 1e-6));
  CHECK(seconds("f32") == Approx(2e-3 + 1e-6));
}

TEST_CASE("a grouped product on GPUs takes the tiles of its routed rows") {
  cluster::Cluster gpu = device();
  const double rate = 0.3 * 4e12;
  auto seconds = [&](const GroupedSizes &sizes) {
    return kernelSeconds(gpu,
                         {.flops = 1, .elementType = "bf16", .isProduct = true, .grouped = sizes});
  };
  GroupedSizes sizes{.rows = 4096, .inputs = 512, .outputs = 256, .groups = 8, .wholeGroups = 8};
  // The last tile of each of 8 groups is half full.
  CHECK(seconds(sizes) == Approx(2.0 * (4096 + 8 * 64) * 512 * 256 / rate + 1e-6));
  sizes.groups = 2; // a quarter of the rows
  CHECK(seconds(sizes) == Approx(2.0 * (1024 + 2 * 64) * 512 * 256 / rate + 1e-6));
  sizes.isWeightGradient = true;
  CHECK(seconds(sizes) == Approx(2.0 * 1024 * 512 * 256 / rate + 1e-6));
  gpu.processors = 3; // 2 x 4 x 2 tiles take six rounds
  CHECK(seconds(sizes) == Approx(6 * 3 * 2.0 * 512 * 128 * 128 / rate + 1e-6));
  gpu.isCpu = true;
  CHECK(seconds(sizes) == Approx(1 / 4e12 + 1e-6));
}

static AttentionSizes headOf(int64_t queries, int64_t keys, int64_t columns) {
  return {.batch = 1,
          .heads = 1,
          .groups = 1,
          .queries = queries,
          .keys = keys,
          .width = columns,
          .depth = columns};
}

TEST_CASE("attention on CPUs takes as long as the blocks of scores that it computes") {
  cluster::Cluster cpu = device();
  cpu.isCpu = true;
  cpu.attentionFlops = 1e10, cpu.launchSeconds = 0;
  auto seconds = [&](int64_t tokens, bool isCausal) {
    return kernelSeconds(cpu, {.flops = 1e9,
                               .isProduct = true,
                               .isAttention = true,
                               .countedShare = countedShare(tokens, tokens, isCausal)});
  };
  // 10 of 16 blocks for half of the scores: as measured.
  CHECK(seconds(256, true) == Approx(0.1));
  // One block, half of which counts; a block half of whose queries exist.
  CHECK(seconds(64, true) == Approx(0.1 * 0.8 / 0.5));
  CHECK(seconds(32, true) == Approx(0.1 * 0.8 / 0.25));
  CHECK(seconds(32, false) == Approx(0.1 * 0.8 / 0.5));
  CHECK(seconds(1024, false) == Approx(0.1 * 0.8));
}

TEST_CASE("attention in a library of GPUs computes at its share of the peak") {
  cluster::Cluster gpu = device();
  auto share = [&](bool isGradient, int64_t queries, int64_t keys, int64_t columns) {
    return peakShare(gpu, {headOf(queries, keys, columns), isGradient});
  };
  KernelWork work{.flops = 1e9, .elementType = "bf16", .isProduct = true, .isAttention = true};
  work.library = {headOf(1024, 1024, 64), /*isGradient=*/true};
  const double peak = gpu.computeOf("bf16").peakFlops, narrow = share(true, 1024, 1024, 64);
  CHECK(kernelSeconds(gpu, work) == Approx(1e9 / (peak * narrow) + 1e-6));
  CHECK(narrow < share(false, 1024, 1024, 64));
  CHECK(narrow < share(true, 1024, 1024, 128));
  // A tile that is half empty takes as long as a full one.
  CHECK(share(true, 192, 1024, 64) == Approx(0.75 * narrow));
  gpu.isCpu = true;
  CHECK(kernelSeconds(gpu, work) == Approx(1e9 / 4e12 + 1e-6));
}

TEST_CASE(
    "the rate of attention in a library of GPUs depends on the keys, if the cluster says so") {
  cluster::Cluster gpu = device();
  gpu.libraryAttention = {.forward = {{{1024, 0.4}, {4096, 0.6}}}, .gradient = {{{1024, 0.3}}}};
  auto share = [&](bool isGradient, int64_t keys) {
    return peakShare(gpu, {headOf(keys, keys, 128), isGradient});
  };
  CHECK(share(false, 1024) == Approx(0.4));
  CHECK(share(false, 2048) == Approx(0.5));
  CHECK(share(false, 8192) == Approx(0.6));
  CHECK(share(true, 8192) == Approx(0.3));
}

TEST_CASE("attention computes at its own rate, if it is known") {
  for (bool isCpu : {false, true}) {
    cluster::Cluster known = device();
    known.isCpu = isCpu;
    known.attentionFlops = 1e10;
    for (const char *type : {"bf16", "f32"})
      CHECK(kernelSeconds(known, {.flops = 1e9,
                                  .elementType = type,
                                  .isProduct = true,
                                  .isAttention = true,
                                  .countedShare = 0.8}) == Approx(0.1 + 1e-6));
    CHECK(kernelSeconds(known, {.flops = 1e9, .isProduct = true}) == Approx(2e-3 + 1e-6));
  }
}

TEST_CASE("a step waits for the slowest rank, unless cores that ranks share are busy for longer") {
  cluster::Cluster machine = device();
  CHECK(waitingShare(machine, 1) == 1);
  CHECK(waitingShare(machine, 1.75) == 1.75);
  machine.ranksPerCore = 1.5;
  CHECK(waitingShare(machine, 1.75) == Approx(1.75 / 1.5));
  machine.ranksPerCore = 2;
  CHECK(waitingShare(machine, 1.75) == 1);
}

TEST_CASE("a lowered convolution takes as long as its columns") {
  cluster::Cluster lowers = device();
  lowers.columnsPerSecond = 1e8;
  CHECK(kernelSeconds(lowers, {.flops = 1e6, .isProduct = true, .columns = 1e6}) ==
        Approx(1e-2 + 1e-6));
  CHECK(kernelSeconds(device(), {.flops = 1e6, .isProduct = true, .columns = 1e6}) ==
        Approx(1e-5 + 1e-6));
}

// Four processors that compute tiles of 2 by 2.
static cluster::Cluster tiled() {
  cluster::Cluster cluster = device();
  cluster.processors = 4;
  cluster.launchSeconds = 0;
  cluster.compute["f32"] = {4000, {{{1, 0.5}}}, {{2, 2, 1}}};
  return cluster;
}

static double product(const cluster::Cluster &cluster, const MatrixSizes &sizes) {
  const double flops = 2 * sizes.batch * sizes.m * sizes.n * sizes.k;
  return kernelSeconds(cluster, {.flops = flops, .isProduct = true, .sizes = sizes});
}

TEST_CASE("a product takes as many waves as its tiles fill, and the last one counts as full") {
  CHECK(product(tiled(), {1, 4, 4, 10}) == Approx(0.08)); // the peak
  CHECK(product(tiled(), {1, 4, 5, 10}) == Approx(0.16)); // six tiles, two waves
  CHECK(product(tiled(), {1, 1, 1, 10}) == Approx(0.08)); // one of four processors
  CHECK(product(tiled(), {4, 4, 4, 10}) == Approx(4 * 0.08));
  cluster::Cluster slow = tiled();
  slow.tileSeconds = 0.01;
  CHECK(product(slow, {1, 4, 5, 10}) == Approx(0.16 + 2 * 0.01));
}

TEST_CASE("long sums of few tiles are divided among the processors") {
  CHECK(product(tiled(), {1, 2, 2, 512}) == Approx(1.024 + 2 * 4 * 4 * 4 / 1e9));
  CHECK(product(tiled(), {1, 2, 2, 200}) == Approx(1.6)); // pieces would be too short
}

TEST_CASE("the best tile is taken, either way round") {
  cluster::Cluster cluster = tiled();
  cluster.compute["f32"].tiles = {{4, 1, 0.5}};
  CHECK(product(cluster, {1, 1, 16, 10}) == Approx(0.16));
  cluster.compute["f32"].tiles.push_back({1, 1, 0.8});
  CHECK(product(cluster, {1, 1, 4, 10}) == Approx(0.02 / 0.8));
}

TEST_CASE("without tiles, or without sizes, the FLOPs decide") {
  CHECK(kernelSeconds(tiled(), {.flops = 4000, .isProduct = true}) == Approx(2));
  CHECK(product(device(), {1, 1000, 1000, 500}) == Approx(2e-3 + 1e-6));
}

TEST_CASE("a copy reads and writes its bytes") {
  CHECK(copySeconds(device(), 1e6) == Approx(2e-3 + 1e-6));
}
