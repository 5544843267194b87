// How threads share a kernel group, from nests that are made by hand.
#include "passes/codegen/gpu/GpuNest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <catch2/catch.hpp>

using namespace cleave::codegen;

namespace {

class Nests {
public:
  Nests() : context_(mlir::MLIRContext::Threading::DISABLED), b_(&context_) {}

  mlir::Type f32() { return b_.getF32Type(); }
  mlir::Type bf16() { return b_.getBF16Type(); }

  // One matrix of rows x columns, read and written.
  GroupNest matrix(GroupNest::Kind kind, int64_t rows, int64_t columns, mlir::Type element) {
    GroupNest nest;
    nest.kind = kind;
    nest.sizes = {rows, columns};
    nest.outer = {0};
    nest.inner = 1;
    if (kind == GroupNest::Kind::Rows)
      nest.reduced = {1};
    if (kind == GroupNest::Kind::Columns)
      nest.outer = {}, nest.reduced = {0};
    nest.operands = {{0, 0, {columns, 1}, element}};
    if (kind == GroupNest::Kind::Pointwise)
      nest.results = {{1, 0, {columns, 1}, element}};
    return nest;
  }

private:
  mlir::MLIRContext context_;
  mlir::Builder b_;
};

} // namespace

TEST_CASE(
    "an access is a vector where it is contiguous, aligned and all its strides are multiples") {
  Nests nests;
  GpuNest nest;
  nest.inner = 1;
  auto isVector = [&](int64_t offset, int64_t rows, int64_t columns) {
    return nest.isVector(cleave::codegen::Access{0, offset, {rows, columns}, nests.f32()}, 4);
  };
  CHECK(isVector(0, 8, 1));
  CHECK(isVector(4, 8, 1));
  CHECK_FALSE(isVector(2, 8, 1));
  CHECK_FALSE(isVector(0, 6, 1));
  CHECK_FALSE(isVector(0, 8, 2));
  CHECK_FALSE(nest.isVector(cleave::codegen::Access{0, 0, {8, 1}, nests.f32()}, 1));
}

TEST_CASE("an access of a pointwise kernel has 16 bytes, and rows may have a tail") {
  Nests nests;
  using Kind = GroupNest::Kind;
  const GpuNest floats = gpuNestOf(nests.matrix(Kind::Pointwise, 3, 64, nests.f32()), 0);
  CHECK(floats.width == 4);
  CHECK(floats.tail == 0);
  CHECK(gpuNestOf(nests.matrix(Kind::Pointwise, 3, 64, nests.bf16()), 0).width == 8);
  CHECK(gpuNestOf(nests.matrix(Kind::Pointwise, 3, 6, nests.f32()), 0).width == 2);
  const GpuNest row = gpuNestOf(nests.matrix(Kind::Pointwise, 1, 63, nests.f32()), 0);
  CHECK(row.width == 1); // rows of 63 do not begin at multiples
  GroupNest pitched = nests.matrix(Kind::Pointwise, 3, 63, nests.f32());
  pitched.operands[0].strides[0] = pitched.results[0].strides[0] = 64;
  const GpuNest tailed = gpuNestOf(pitched, 0);
  CHECK(tailed.width == 4);
  CHECK(tailed.tail == 3);
}

TEST_CASE("short rows share a block, long ones have one, and the longest are read again") {
  Nests nests;
  auto rowsOf = [&](int64_t rows, int64_t columns) {
    GroupNest nest = nests.matrix(GroupNest::Kind::Rows, rows, columns, nests.f32());
    nest.rereadsRows = true;
    return gpuNestOf(nest, 0);
  };
  const GpuNest shorter = rowsOf(1000, 64);
  CHECK(shorter.threadsPerRow * shorter.rowsPerBlock == 128);
  CHECK(shorter.rowsPerBlock > 1);
  CHECK(shorter.inRegisters);
  CHECK(shorter.launch.blocks == (1000 + shorter.rowsPerBlock - 1) / shorter.rowsPerBlock);
  const GpuNest longer = rowsOf(1000, 4096);
  CHECK(longer.rowsPerBlock == 1);
  CHECK(longer.inRegisters);
  CHECK(longer.threadsPerRow * longer.chunksPerThread() * longer.width >= 4096);
  const GpuNest longest = rowsOf(10, 1 << 20);
  CHECK_FALSE(longest.inRegisters);
  CHECK(longest.threadsPerRow == 512);
}

TEST_CASE(
    "a row that is read once has a block for each of few rows, and threads for each of many") {
  Nests nests;
  auto threadsOf = [&](int64_t rows) {
    return gpuNestOf(nests.matrix(GroupNest::Kind::Rows, rows, 1 << 16, nests.f32()), 0)
        .threadsPerRow;
  };
  CHECK(threadsOf(4) == 1024);
  CHECK(threadsOf(1 << 10) == 128);
  CHECK(threadsOf(1 << 20) == 128);
}

TEST_CASE("lanes of column kernels are a warp at most, and slices share the rows") {
  Nests nests;
  auto columnsOf = [&](int64_t rows, int64_t columns, int64_t sumBytes = 4) {
    return gpuNestOf(nests.matrix(GroupNest::Kind::Columns, rows, columns, nests.f32()), sumBytes);
  };
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(4096, 4096), {4096, 8}, {3, 1 << 20}}) {
    const GpuNest nest = columnsOf(rows, columns);
    CHECK(nest.lanes <= kWarp);
    CHECK(nest.lanes * nest.slices == nest.launch.threads);
    CHECK(nest.chunks * nest.width == columns);
    CHECK(nest.launch.blocks * nest.columns() >= columns);
  }
  // Accumulators of one thread and of a block are limited.
  CHECK(columnsOf(4096, 4096, 64).width < columnsOf(4096, 4096).width);
  const GpuNest large = columnsOf(4096, 4096, 64);
  CHECK(large.launch.threads / kWarp * large.columns() * 64 <= 32 << 10);
}

TEST_CASE("operands that column kernels read once do not narrow the accesses of rows") {
  Nests nests;
  GroupNest nest = nests.matrix(GroupNest::Kind::Columns, 4096, 4096, nests.bf16());
  CHECK(gpuNestOf(nest, 4).width == 8);
  const int unroll = gpuNestOf(nest, 4).unroll;
  for (int64_t i = 1; i <= 4; ++i)
    nest.operands.push_back({i, 0, {0, 1}, nests.f32()});
  CHECK(gpuNestOf(nest, 4).width == 8);
  CHECK(gpuNestOf(nest, 4).unroll == unroll);
  for (int64_t i = 5; i <= 8; ++i) // of every row
    nest.operands.push_back({i, 0, {4096, 1}, nests.f32()});
  CHECK(gpuNestOf(nest, 4).width < 8);
}

TEST_CASE("two large blocks of a column kernel fit on a multiprocessor if there are as many") {
  Nests nests;
  auto residentOf = [&](int64_t parts) {
    GroupNest nest = nests.matrix(GroupNest::Kind::Columns, 4096, 256, nests.bf16());
    nest.sizes.push_back(parts);
    nest.outer = {2};
    nest.operands[0].strides.push_back(4096 * 256);
    const GpuNest gpu = gpuNestOf(nest, 4);
    return gpu.launch.threads == 512 ? gpu.launch.resident : -1;
  };
  CHECK(residentOf(200) == 2);
  CHECK(residentOf(10) == 0);
}

TEST_CASE("blocks that sweep over rows leave registers for the next row") {
  Nests nests;
  GroupNest nest = nests.matrix(GroupNest::Kind::Rows, 4096, 1024, nests.bf16());
  nest.swept = {0};
  nest.outer = {};
  mlir::OpBuilder b(nests.f32().getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getUnknownLoc());
  nest.columnSums.insert(
      module->getBodyRegion().front().addArgument(nests.f32(), b.getUnknownLoc()));
  const GpuNest sweep = gpuNestOf(nest, 4);
  CHECK(sweep.launch.threads == 128);
  CHECK(sweep.launch.resident == 4);
}
