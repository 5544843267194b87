// What is priced is what is emitted: the planner's seconds of a step and the sum of its
// instructions' predicted seconds, for whole models.
#include "compiler/artifact/ExportPlan.h"
#include "compiler/cluster/Cluster.h"
#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/planner/Plan.h"
#include "compiler/zoo/Zoo.h"
#include "dialects/program/Program.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Predict.h"
#include "runtime/base/FileWriter.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace cleave;

namespace {

// A file of test/models, or an entry of the zoo with its sizes.
struct ModelCase {
  std::string name;
  std::map<std::string, int64_t> symbols;
  std::map<std::string, int64_t> sizes = {};
  double within = 0.01; // the largest relative difference
};

// How a step is compiled.
struct Way {
  int64_t ranks = 1;
  std::string mesh; // empty: the planner chooses
  int64_t accumulate = 1;
  std::string pin;
};

driver::CompileOptions optionsOf(const std::string &path, const ModelCase &model, const Way &way) {
  driver::CompileOptions options;
  options.model = path;
  options.train = true;
  options.losses = {"softmax-cross-entropy:logits"};
  options.symbols = model.symbols;
  options.cluster = "h100-node";
  options.ranks = way.ranks;
  options.mesh = way.mesh;
  options.accumulate = way.accumulate;
  options.pin = way.pin;
  if (const char *dump = std::getenv("CLEAVE_DUMP"))
    options.dumpPhases = dump;
  return options;
}

// The predicted seconds of all instructions of a step. Kernels are not compiled for this.
double secondsOfProgram(driver::Compilation &c) {
  c.module->walk([&](program::KernelOp kernel) {
    kernel.setExtentAttr(mlir::IntegerAttr::get(mlir::IntegerType::get(c.context.get(), 64), 1));
  });
  auto plan = artifact::exportPlan(*c.module, "", "");
  INFO((plan ? "" : plan.status().message()));
  REQUIRE(plan.isOk());
  driver::predictInstructions(*plan, *cluster::forRanks(*c.cluster, c.options.ranks),
                              c.decided.mesh);
  return driver::secondsOfStep(plan->programs(0));
}

void checkWay(const std::string &path, const ModelCase &model, const Way &way) {
  driver::Compilation c(optionsOf(path, model, way));
  INFO(model.name << " on " << way.ranks << " ranks, mesh " << way.mesh << ", " << way.accumulate
                  << " micro-batches, pin " << way.pin);
  Status status = driver::compileTo(c, "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  const double program = secondsOfProgram(c), planned = c.decided.seconds;
  if (std::getenv("CLEAVE_SHOW"))
    std::printf(
        "%-24s %2lld ranks %-10s x%lld %-8s planned %10.4f ms, program %10.4f ms, %+6.2f %%\n",
        model.name.c_str(), static_cast<long long>(way.ranks), planner::str(c.decided.mesh).c_str(),
        static_cast<long long>(way.accumulate), way.pin.c_str(), planned * 1e3, program * 1e3,
        100 * (program / planned - 1)),
        std::fflush(stdout);
  CHECK(program == Approx(planned).epsilon(model.within));
}

const std::vector<Way> &ways() {
  static const std::vector<Way> all = {
      {1, "", 1, ""},   {1, "", 4, ""},          {2, "", 1, ""},
      {2, "", 1, "dp"}, {4, "dp=2,tp=2", 1, ""}, {4, "", 4, "zero3"},
      {4, "", 1, "dp"}, {8, "", 1, ""},          {8, "dp=4,tp=2", 1, "megatron"}};
  return all;
}

void checkFile(const ModelCase &model) {
  for (const Way &way : ways())
    checkWay(std::string(CLEAVE_MODELS) + "/" + model.name, model, way);
}

void checkZoo(const ModelCase &model) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("cleave-prediction-" + std::to_string(getpid()) + ".onnx");
  auto built = zoo::build(model.name, model.sizes);
  INFO((built ? "" : built.status().message()));
  REQUIRE(built.isOk());
  REQUIRE(writeFile(path, onnx::writeModel(*built)).isOk());
  for (const Way &way : ways())
    checkWay(path, model, way);
  std::filesystem::remove(path);
}

} // namespace

TEST_CASE("bundled models: the program takes what the planner predicts") {
  for (const char *file : {"mlp.dynamo.onnx", "gpt.dynamo.onnx", "gpt2.dynamo.onnx",
                           "vit.dynamo-noopt.onnx", "resnet.ts-train.onnx"})
    checkFile({file, {{"batch", 16}}});
}

// The planner does not price copies of views that no strides describe (a reshape behind a
// transpose, as in grouped attention and mixtures of experts): hence 2 %, and no such models.
TEST_CASE("models of the zoo: the program takes what the planner predicts") {
  checkZoo({"gpt2",
            {{"batch", 16}, {"seq", 128}},
            {{"layers", 2},
             {"hidden", 256},
             {"heads", 4},
             {"ffn", 1024},
             {"vocab", 1024},
             {"context", 128}},
            0.02});
  checkZoo({"resnet18", {{"batch", 16}}, {{"image", 64}, {"classes", 16}}});
}
