// What is priced is what is emitted: the planner's seconds of a step and the sum of its
// instructions' predicted seconds, for whole models.
#include "passes/driver/Predict.h"
#include "compiler/artifact/ExportPlan.h"
#include "compiler/cluster/Cluster.h"
#include "compiler/cost/Roofline.h"
#include "compiler/planner/report/PlanReport.h"
#include "dialects/program/Program.h"
#include "passes/driver/Compile.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

using namespace cleave;

namespace {

// The largest relative difference.
constexpr double kWithin = 0.01;

// The predicted seconds of all instructions of a step.
double secondsOfProgram(driver::Compilation &c) {
  auto plan = artifact::exportOutline(c.module());
  INFO((plan ? "" : plan.status().message()));
  REQUIRE(plan.isOk());
  driver::predictInstructions(*plan, c.module(), *cluster::forRanks(*c.cluster, c.options.ranks));
  return driver::secondsOfStep(*plan)->step;
}

void print(const ModelCase &model, const Split &split, const planner::PlanReport &plan,
           double program) {
  std::printf("%-22s %2d ranks %-10s x%d %-8s planned %10.4f ms, program %10.4f ms, %+6.2f %%\n",
              model.name.c_str(), static_cast<int>(split.ranks), plan.mesh.str().c_str(),
              static_cast<int>(split.accumulate), split.pin.c_str(), plan.seconds * 1e3,
              program * 1e3, 100 * (program / plan.seconds - 1));
  std::fflush(stdout);
}

void checkSeconds(const std::string &path, const ModelCase &model, const Split &split) {
  driver::CompileOptions options = optionsOf(path, model, split);
  if (const char *dump = std::getenv("CLEAVE_DUMP"))
    options.dumpPhases = dump;
  driver::Compilation c(std::move(options));
  INFO(model.name << " on " << split.ranks << " ranks, mesh " << split.mesh << ", "
                  << split.accumulate << " micro-batches, pin " << split.pin);
  Status status = driver::compileTo(c, "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  const double program = secondsOfProgram(c);
  if (std::getenv("CLEAVE_SHOW"))
    print(model, split, c.report, program);
  CHECK(program == Approx(c.report.seconds).epsilon(kWithin));
}

void checkModel(const ModelCase &model, const std::vector<Split> &splits) {
  ModelFile file(model);
  for (const Split &split : splits)
    checkSeconds(file.path(), model, split);
}

} // namespace

TEST_CASE("bundled models: the program takes what the planner predicts") {
  for (const ModelCase &model : bundledCases())
    checkModel(model, {{1, "", 1},
                       {1, "", 4},
                       {2, "", 1},
                       {2, "", 1, "dp"},
                       {4, "dp=2,tp=2", 1},
                       {4, "", 4, "zero3"},
                       {4, "", 1, "dp"},
                       {8, "", 1},
                       {8, "dp=4,tp=2", 1, "megatron"}});
}

TEST_CASE("models of the zoo: the program takes what the planner predicts") {
  for (const ModelCase &model : zooCases())
    if (model.name != "densenet121") // takes a minute; see the sweep
      checkModel(
          model,
          {{1, "", 1}, {8, "dp=8", 4}, {4, "", 4, "zero3"}, {8, "dp=4,tp=2", 1, "megatron"}});
}

TEST_CASE("one head per rank: the program takes what the planner predicts") {
  ModelCase model = zooCases()[1];
  model.sizes["heads"] = model.sizes["kv-heads"] = 2;
  checkModel(model, {{2, "tp=2", 1, "megatron"}, {8, "dp=4,tp=2", 1, "megatron"}});
}

TEST_CASE("blocks of queries: the program takes what the planner predicts for the last of them") {
  checkModel(zooCases()[1], {{4, "dp=2,cp=2", 1, "zero1+cp"}});
}

TEST_CASE("grouped products of GPUs have the price and the FLOPs of the routed rows") {
  const ModelCase model{"../golden/experts-top2.pt2", "softmax-cross-entropy", {{"batch", 4}}, {}};
  driver::CompileOptions options = optionsOf(ModelFile(model).path(), model, {1});
  options.device = "cuda:sm_90";
  driver::Compilation c(std::move(options));
  Status status = driver::compileTo(c, "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  auto plan = artifact::exportOutline(c.module());
  REQUIRE(plan.isOk());
  const cluster::Cluster cluster = *cluster::forRanks(*c.cluster, 1);
  const driver::KernelWorks works = driver::kernelWorks(c.module());
  driver::predictInstructions(*plan, c.module(), cluster);
  int grouped = 0;
  for (const plan::Instruction &each : plan->programs(0).segments(0).instructions()) {
    if (!each.has_launch())
      continue;
    const plan::Kernel &kernel = plan->programs(0).kernels(int(each.launch().kernel()));
    const KernelWork &work = works.at(kernel.symbol());
    const GroupedSizes &sizes = work.grouped;
    if (sizes.groups == 0)
      continue;
    CHECK(sizes.rows == 4 * 12 * 2); // each token of 4 samples chooses 2 experts
    CHECK(kernel.flops() == 2 * double(sizes.rows) * double(sizes.inputs) * double(sizes.outputs));
    CHECK(kernel.bytes() == work.bytes);
    CHECK(each.seconds() == Approx(cost::kernelSeconds(cluster, work)));
    ++grouped;
  }
  CHECK(grouped == 6); // two products of an expert, and their gradients
}

// Takes an hour; run by hand or by the label slow: unit-driver "[sweep]".
TEST_CASE("every model on every mesh: the program takes what the planner predicts", "[.sweep]") {
  for (const std::vector<ModelCase> &models : {bundledCases(), zooCases()})
    for (const ModelCase &model : models)
      checkModel(model, allSplits());
}
