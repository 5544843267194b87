// A launch of several instances computes the same as a launch per instance.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

using namespace cleave;
using namespace cleave::test;

namespace {

constexpr int64_t kInstances = 5;

// The sums of the columns of a matrix, with its rows shared by warps and added in shared memory.
const char *const kColumnSums = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<Mxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<Mxf32>) {
    %s = graph.reduce sum %a over [0] : tensor<NxMxf32> -> tensor<Mxf32>
    graph.yield %s : tensor<Mxf32>
  }
  return %r : tensor<Mxf32>
})";

// Buffers of floats, and their addresses.
struct Buffers {
  Buffers(int64_t count, int64_t elements) : memory(count, std::vector<float>(elements)) {
    std::mt19937 random(1);
    for (std::vector<float> &buffer : memory) {
      for (float &x : buffer)
        x = static_cast<float>(random() % 1000) / 250 - 2;
      addresses.push_back(buffer.data());
    }
  }
  std::vector<std::vector<float>> memory;
  std::vector<void *> addresses;
};

void compare(const std::string &text, int64_t elements) {
  const KernelCase testCase{text};
  std::unique_ptr<CompiledKernel> one = CompiledKernel::compile(testCase),
                                  shared = CompiledKernel::build(testCase);
  REQUIRE(one);
  REQUIRE(shared);
  program::KernelOp kernel = shared->op();
  const int64_t own = kernel.instanceBuffers();
  kernel.setInstances(kInstances);
  kernel.setBuffers(kInstances * own);
  CHECK(kernel.instanceBuffers() == own);
  std::unique_ptr<KernelCode> code = compileCode(kernel);
  REQUIRE(code);
  CHECK(kernel.getGrid()->front() == kInstances * one->op().getGrid()->front());

  Buffers expected(kInstances * own, elements), found(kInstances * own, elements);
  for (int64_t instance = 0; instance < kInstances; ++instance)
    REQUIRE(one->run(&expected.addresses[instance * own], 0, 1));
  CHECK(code->run(found.addresses.data(), 0, 1) == "");
  CHECK(found.memory == expected.memory);
}

} // namespace

TEST_CASE("instances compute on buffers of their own") {
  SECTION("rows") { compare(sized(kSoftmax, 9, 100), 900); }
  SECTION("columns") { compare(sized(kColumnSums, 33, 300), 9900); }
}

TEST_CASE("a kernel's buffers are shared out evenly among its instances") {
  std::unique_ptr<CompiledKernel> kernel = CompiledKernel::build({sized(kSoftmax, 2, 3)});
  REQUIRE(kernel);
  kernel->op().setInstances(3); // of two buffers
  mlir::ScopedDiagnosticHandler quiet(kernel->op().getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  CHECK(mlir::failed(kernel->op().verify()));
}
