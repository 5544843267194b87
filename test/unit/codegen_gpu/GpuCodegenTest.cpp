// Kernels of a module: one entry each, and its launch.
#include "passes/codegen/gpu/GpuCodegen.h"

#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

using namespace cleave;
using test::CompiledKernel;

namespace {

std::unique_ptr<CompiledKernel> softmax(int rows, int columns) {
  return CompiledKernel::build({.text = test::sized(test::kSoftmax, rows, columns)});
}

} // namespace

TEST_CASE("a kernel is an entry of the module, with the launch that its op tells") {
  auto kernel = softmax(300, 64);
  REQUIRE(kernel);
  Result<codegen::GpuModule> module = codegen::compileForGpu({kernel->op()}, "sm_80");
  REQUIRE(module);
  CHECK(module->target == "sm_80");
  REQUIRE(module->functions.size() == 1);
  const codegen::GpuFunction &function = module->functions[0];
  CHECK(module->ptx.find(".entry " + function.symbol + "(") != std::string::npos);
  REQUIRE(kernel->op().getGrid());
  CHECK((*kernel->op().getGrid())[0] == function.launch.blocks);
  CHECK((*kernel->op().getGrid())[1] == function.launch.threads);
  CHECK((*kernel->op().getGrid())[2] == function.launch.sharedBytes);
  CHECK(function.launch.blocks * function.launch.threads >= 300);
}

TEST_CASE("kernels of other sizes have other launches") {
  auto few = softmax(2, 64), many = softmax(3000, 64);
  REQUIRE(few);
  REQUIRE(many);
  auto one = codegen::compileForGpu({few->op()}, "sm_90"),
       other = codegen::compileForGpu({many->op()}, "sm_90");
  REQUIRE(one);
  REQUIRE(other);
  CHECK(one->functions[0].launch.blocks < other->functions[0].launch.blocks);
}

TEST_CASE("a module without kernels has no entry") {
  Result<codegen::GpuModule> module = codegen::compileForGpu({}, "sm_90");
  REQUIRE(module);
  CHECK(module->functions.empty());
  CHECK(module->ptx.find(".entry") == std::string::npos);
}
