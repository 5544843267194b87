// Launches, copies, fills and the loading of kernels.
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/artifact/Modules.h"
#include "runtime/device/cpu/KernelLibrary.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

using namespace cleave;
using namespace cleave::device;
using Catch::Matchers::Contains;

static plan::Plan planWith(const std::string &code) {
  plan::Plan plan;
  plan.set_device(artifact::kCpu);
  plan.add_modules()->set_target(artifact::kCpu);
  plan.mutable_modules(0)->set_code(code);
  return plan;
}

static plan::Plan planWithKernels() {
  std::ifstream file(CLEAVE_TEST_KERNELS, std::ios::binary);
  return planWith(std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_CASE("a kernel covers its extent once, in one thread and in several") {
  for (int threads : {1, 2, 3}) {
    auto device = makeCpuDevice(threads);
    REQUIRE(device->loadKernels(planWithKernels()));
    std::vector<float> from(100000), to(100001);
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = float(i);
    plan::Kernel kernel;
    kernel.set_symbol("add_one"), kernel.set_extent(100000), kernel.set_bytes(800000);
    PreparedAction action = device->launch(kernel, {from.data(), to.data()});
    REQUIRE(action);
    REQUIRE((*action)->run());
    for (size_t i = 0; i < from.size(); ++i)
      REQUIRE(to[i] == float(i + 1));
    CHECK(to[100000] == 0);
  }
}

TEST_CASE("a kernel that the library does not have is bad input, and the message names it") {
  auto device = makeCpuDevice(1);
  REQUIRE(device->loadKernels(planWithKernels()));
  plan::Kernel kernel;
  kernel.set_symbol("nowhere");
  Status status = device->launch(kernel, {}).status();
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("no kernel 'nowhere'"));
}

TEST_CASE("a library that is not a shared object is bad input") {
  CHECK(makeCpuDevice(1)->loadKernels(planWith("not an object")).exitCode() == 1);
}

TEST_CASE("kernels for another CPU are rejected with the missing features") {
  plan::Plan plan = planWithKernels();
  plan.mutable_modules(0)->set_machine("supercpu +avx9000,-sse4a,+cx16");
  Status status = makeCpuDevice(1)->loadKernels(plan);
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("'supercpu'") && Contains("lacks avx9000;"));
}

TEST_CASE("a plan for GPUs is rejected with its targets and two ways out") {
  plan::Plan plan;
  plan.set_device(artifact::kCuda);
  for (const char *target : {"sm_80", "sm_90"})
    plan.add_modules()->set_target(target);
  Status status = makeCpuDevice(1)->loadKernels(plan);
  CHECK(status.exitCode() == 1);
  CHECK(status.message() ==
        "the plan is for cuda (sm_80, sm_90), this device is a CPU; run it where "
        "there is a GPU, or compile the model with --device cpu");
}

TEST_CASE("copies and fills reach every element") {
  auto device = makeCpuDevice(2);
  std::vector<float> from(70001, 3), to(70001);
  REQUIRE((*device->copy(from.data(), to.data(), from.size() * 4))->run());
  CHECK(to == from);
  REQUIRE((*device->fill(to.data(), DType::F32, int64_t(to.size()), 0.5))->run());
  CHECK(to == std::vector<float>(70001, 0.5));
  std::vector<uint16_t> half(3);
  REQUIRE((*device->fill(half.data(), DType::BF16, 3, 1.0))->run());
  CHECK(half == std::vector<uint16_t>(3, 0x3f80));
  std::vector<int64_t> whole(3);
  REQUIRE((*device->fill(whole.data(), DType::I64, 3, -100))->run());
  CHECK(whole == std::vector<int64_t>(3, -100));
}
