// Which module of a plan is loaded, and the launches of its kernels.
#include "runtime/device/cuda/CudaModule.h"

#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Modules.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace cleave;
using namespace cleave::device;
using Catch::Matchers::Contains;

namespace {

std::string loaded;    // the code that the driver was given last
std::string driverLog; // what the driver says of it
int answer = 0;        // of loading
bool hasEntry;         // whether the module has the entry that is looked for
int launches = 0;

// A driver of a GPU of compute capability 9.0 that takes any code.
driver::DriverTable driverOfAnyCode() {
  driver::DriverTable table = test::recordingDriver();
  table.moduleLoadDataEx = [](driver::Module *module, const void *image, unsigned, int *,
                              void **values) {
    loaded = static_cast<const char *>(image);
    std::memcpy(values[0], driverLog.data(), driverLog.size());
    *module = answer ? nullptr : reinterpret_cast<driver::Module>(&loaded);
    return answer;
  };
  table.moduleUnload = [](driver::Module) { return driver::kSuccess; };
  table.moduleGetFunction = [](driver::Function *, driver::Module, const char *) {
    return hasEntry ? driver::kSuccess : driver::kErrorNotFound;
  };
  table.launchKernel = [](driver::Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, driver::Stream, void **,
                          void **) { return ++launches, driver::kSuccess; };
  return table;
}

plan::Plan planFor(std::initializer_list<const char *> targets) {
  plan::Plan plan;
  plan.set_device(artifact::kCuda);
  for (const char *target : targets) {
    plan.add_modules()->set_target(target);
    plan.mutable_modules()->rbegin()->set_code(std::string("code for ") + target);
  }
  return plan;
}

class Machine {
public:
  Machine() : recorder_(plan_) {
    test::Recorder::current() = &recorder_;
    loaded.clear(), driverLog.clear(), answer = 0, hasEntry = true, launches = 0;
    context_ = std::move(*CudaContext::create(table_, 0));
    module = std::make_unique<CudaModule>(*context_);
  }
  ~Machine() {
    module.reset();
    context_.reset();
    test::Recorder::current() = nullptr;
  }

private:
  plan::Plan plan_;
  test::Recorder recorder_;
  driver::DriverTable table_ = driverOfAnyCode();
  std::unique_ptr<CudaContext> context_;

public:
  std::unique_ptr<CudaModule> module;
};

} // namespace

TEST_CASE("cuda: of the modules that the GPU can run the newest is loaded") {
  auto loadedOf = [](std::initializer_list<const char *> targets) {
    Machine machine;
    REQUIRE(machine.module->load(planFor(targets)));
    return loaded;
  };
  CHECK(loadedOf({"sm_80", "sm_100", "sm_90", "sm_75"}) == "code for sm_90");
  CHECK(loadedOf({"sm_100", "sm_75", "sm_80", "cpu"}) == "code for sm_80");
}

TEST_CASE("cuda: a plan without kernels loads none, one for newer GPUs or CPUs is refused") {
  Machine machine;
  CHECK(machine.module->load(planFor({})));
  CHECK_THAT(machine.module->load(planFor({"sm_100"})).message(),
             Contains("needs sm_90 or lower; compile the model with --device cuda:sm_90"));
  plan::Plan forCpu = planFor({"sm_90"});
  forCpu.set_device(artifact::kCpu);
  CHECK_THAT(machine.module->load(forCpu).message(), Contains("run it with --device cpu"));
  CHECK(loaded.empty());
}

TEST_CASE("cuda: code that the driver refuses is told with the first line of its log") {
  Machine machine;
  driverLog = "line 3: no such register\nptxas fatal";
  answer = driver::kErrorInvalidPtx;
  Status refused = machine.module->load(planFor({"sm_90"}));
  CHECK_THAT(refused.message(),
             Contains("loading the kernels for sm_90: line 3: no such register"));
  CHECK_THAT(refused.message(), !Contains("fatal"));
  answer = driver::kErrorUnsupportedPtxVersion;
  refused = machine.module->load(planFor({"sm_90"}));
  CHECK(refused.kind() == StatusKind::UserError);
  CHECK_THAT(refused.message(), Contains("update the driver"));
}

TEST_CASE("cuda: a kernel is launched with its grid, one without blocks does nothing") {
  Machine machine;
  REQUIRE(machine.module->load(planFor({"sm_90"})));
  plan::Kernel kernel;
  kernel.set_symbol("k");
  CHECK_THAT(machine.module->launch(kernel, {}).status().message(), Contains("has no grid"));
  kernel.mutable_grid()->set_threads(32);
  auto nothing = machine.module->launch(kernel, {});
  REQUIRE(nothing);
  REQUIRE((*nothing)->run());
  CHECK(launches == 0);
  kernel.mutable_grid()->set_blocks(2);
  auto launch = machine.module->launch(kernel, {});
  REQUIRE(launch);
  REQUIRE((*launch)->run());
  CHECK(launches == 1);
}

TEST_CASE("cuda: a kernel that is not in the plan's code is refused") {
  Machine machine;
  plan::Kernel kernel;
  kernel.set_symbol("k");
  CHECK_THAT(machine.module->launch(kernel, {}).status().message(),
             Contains("the plan has no kernel 'k'"));
  REQUIRE(machine.module->load(planFor({"sm_90"})));
  kernel.mutable_grid()->set_blocks(1);
  hasEntry = false;
  CHECK_THAT(machine.module->launch(kernel, {}).status().message(),
             Contains("does not belong to them"));
}
