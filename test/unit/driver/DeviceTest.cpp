// The device of a plan: that of the option or the cluster, and the mistakes of users about devices.
#include "passes/driver/Device.h"

#include "passes/driver/Compile.h"
#include "runtime/artifact/Modules.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

namespace {

driver::CompileOptions optionsFor(const std::string &device) {
  const ModelCase &model = bundledCases()[0];
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {1});
  options.device = device;
  return options;
}

// The target of the modules of the plan.
std::string targetFor(const std::string &device) {
  driver::Compilation c(optionsFor(device));
  REQUIRE(driver::compileTo(c, "artifact").isOk());
  return artifact::targetsText(c.plan);
}

Status failureOf(driver::CompileOptions options) {
  driver::Compilation c(std::move(options));
  return driver::compileTo(c, "artifact");
}

} // namespace

TEST_CASE("a device is a kind, of GPUs with a target or without") {
  auto parsed = [](const std::string &text) {
    Result<driver::DeviceOption> option = driver::parseDevice(text);
    return option ? option->kind + " " + option->target : option.status().message();
  };
  CHECK(parsed("cpu") == "cpu ");
  CHECK(parsed("cuda") == "cuda ");
  CHECK(parsed("cuda:sm_90") == "cuda sm_90");
  CHECK_THAT(parsed("tpu"), Contains("unknown device 'tpu'; did you mean cpu?"));
}

TEST_CASE("the option overrides the cluster's device") {
  CHECK(targetFor("cpu") == "cpu");
  CHECK(targetFor("cuda:sm_86") == "sm_80");
}

TEST_CASE("mistakes about devices have a message with a way out") {
  driver::CompileOptions old = optionsFor("");
  old.cluster = "v100-node";
  CHECK_THAT(failureOf(old).message(), Contains("found the GPU 'sm_70', expected sm_80 or a later "
                                                "one; --device cpu makes a plan"));
  CHECK_THAT(failureOf(optionsFor("tpu")).message(),
             Contains("--device: unknown device 'tpu'; did you mean cpu?"));
  CHECK_THAT(failureOf(optionsFor("cuda:sm_75")).message(),
             Contains("found the GPU 'sm_75', expected sm_80 or a later one"));
  driver::CompileOptions checked = optionsFor("cuda");
  checked.checkKernels = true;
  CHECK_THAT(failureOf(checked).message(), Contains("exist for CPUs only"));
}
