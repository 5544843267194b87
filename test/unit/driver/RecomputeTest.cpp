// Plans for less and less memory: what is planned is allocated, and less memory is never faster.
#include "compiler/planner/report/AxisUse.h"
#include "passes/driver/Compile.h"
#include "passes/driver/ModuleStep.h"
#include "runtime/base/FileWriter.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <unistd.h>

using namespace cleave;
using driver::Compilation;

namespace {

// A bundled model with a larger batch, so that activations take most of the memory.
ModelCase bundled(size_t number, int64_t batch) {
  ModelCase model = bundledCases()[number];
  model.symbols["batch"] = batch;
  return model;
}
const ModelCase kGpt = bundled(1, 64), kVit = bundled(3, 64), kResnet = bundled(4, 16);

struct Point {
  double seconds = 0;
  uint64_t peak = 0, arena = 0;
  int64_t planned = 0;
  size_t recomputed = 0;
};

Point compile(const driver::CompileOptions &options) {
  Compilation c(options);
  Status status = driver::compileTo(c, "program");
  INFO(options.model << " on " << options.ranks << " ranks in " << memoryText(options) << ": "
                     << (status ? "" : status.message()));
  REQUIRE(status.isOk());
  return {c.report.seconds, c.peakBytes, c.arenaBytes, c.report.peakBytes,
          c.report.recomputed.size()};
}

void print(const ModelCase &model, const driver::CompileOptions &options, const Point &point) {
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << std::left << std::setw(24) << model.name << options.ranks << " ranks, budget "
              << std::setw(10) << memoryText(options) << ": planned " << point.planned
              << ", arena's peak " << point.peak << ", " << point.recomputed << " recomputed, "
              << 1e6 * point.seconds << " us\n"
              << std::flush;
}

// Budgets from what keeps everything to what a recipe gets by with.
void checkBudgets(const ModelCase &model, int64_t ranks) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {ranks});
  const Point free = compile(options);
  options.pin = "full-recompute";
  const Point least = compile(options);
  options.pin = "";
  REQUIRE(least.arena < free.arena);
  double seconds = free.seconds;
  for (uint64_t quarters : {4, 3, 2, 1, 0}) {
    options.memory = least.arena + quarters * (free.arena - least.arena) / 4;
    const Point point = compile(options);
    print(model, options, point);
    INFO(model.name << " on " << ranks << " ranks in " << options.memory->bytes() << " bytes");
    CHECK(options.memory->holds(point.arena));
    CHECK(static_cast<uint64_t>(point.planned) == point.peak);
    if (ranks == 1)
      CHECK((point.recomputed > 0) == (quarters < 4));
    CHECK(point.seconds >= seconds * (1 - 1e-9));
    seconds = point.seconds;
  }
}

} // namespace

TEST_CASE("less memory is never faster, and what is planned is allocated") {
  for (const ModelCase &model : {kGpt, kVit, kResnet})
    checkBudgets(model, 1);
  checkBudgets(kGpt, 4);
}

TEST_CASE("a plan that the user's recipe allows is no faster than the planner's in its memory") {
  for (const ModelCase &model : {kGpt, kResnet})
    for (const char *recipe : {"full-recompute", "selective-recompute"}) {
      ModelFile file(model);
      driver::CompileOptions options = optionsOf(file.path(), model, {1});
      options.pin = recipe;
      const Point pinned = compile(options);
      options.pin = "";
      options.memory = pinned.arena;
      INFO(model.name << ", " << recipe);
      CHECK(compile(options).seconds <= pinned.seconds * (1 + 1e-9));
    }
}

TEST_CASE("sharding first and recomputation after is no faster than both together") {
  int compared = 0;
  for (auto [model, ranks] : {std::pair(kGpt, 4), std::pair(kGpt, 8), std::pair(kResnet, 4)}) {
    ModelFile file(model);
    driver::CompileOptions options = optionsOf(file.path(), model, {ranks});
    const Point free = compile(options);
    for (uint64_t share : {95, 90, 85}) {
      options.memory = free.arena * share / 100;
      options.pin = "";
      Compilation together(options);
      if (!driver::compileTo(together, "program"))
        break;
      options.pin = "sharding-first";
      Compilation first(options);
      const Status status = driver::compileTo(first, "program");
      INFO(model.name << " on " << ranks << " ranks in " << options.memory->bytes() << " bytes");
      if (!status) {
        CHECK(status.kind() == StatusKind::Infeasible);
        continue;
      }
      CHECK(options.memory->holds(first.arenaBytes));
      CHECK(together.report.seconds <= first.report.seconds * (1 + 1e-9));
      ++compared;
    }
  }
  CHECK(compared > 5);
}

TEST_CASE("axes of plans with recomputation are named by what they split") {
  const ModelFile file(kGpt);
  driver::CompileOptions options = optionsOf(file.path(), kGpt, {4});
  options.memory = compile(options).arena * 8 / 10;
  for (const char *pin : {"", "sharding-first"}) {
    options.pin = pin;
    Compilation c(options);
    REQUIRE(driver::compileTo(c, "planned").isOk());
    const planner::PlanReport &plan = c.report;
    CHECK(!plan.recomputed.empty());
    CHECK(plan.isBinding);
    // Decisions that recomputed ops were added to are compared with the choices that they had.
    CHECK(std::any_of(plan.reasons.begin(), plan.reasons.end(), [](const planner::Reason &reason) {
      return reason.op < 0 && !reason.alternative.empty();
    }));
    const Result<planner::StepModel> model = driver::readModel(c.module());
    REQUIRE(model.isOk());
    CHECK(plan.mesh == planner::namedByUse(plan.mesh, planner::axisUses(*model, plan, {})));
    const auto count =
        std::count_if(plan.meshesTried.begin(), plan.meshesTried.end(),
                      [&](const planner::TriedMesh &tried) { return tried.mesh == plan.mesh; });
    CHECK(count == 1);
  }
}

TEST_CASE("pins that leave an op no layout are told, and not a lack of memory") {
  const std::string pins =
      std::filesystem::temp_directory_path() / ("cleave-pins" + std::to_string(getpid()) + ".json");
  REQUIRE(writeFile(pins, R"({"pins": [{"op": "*layer_norm*", "layout": [[], [], ["dp"]]}]})"));
  ModelFile file(kGpt);
  driver::CompileOptions options = optionsOf(file.path(), kGpt, {4, "dp=4"});
  options.pin = pins;
  Compilation c(options);
  Status status = driver::compileTo(c, "planned");
  std::filesystem::remove(pins);
  CHECK(status.kind() == StatusKind::Infeasible);
  INFO(status.message());
  CHECK(status.message().starts_with("no way is left to place node_layer_norm"));
}
