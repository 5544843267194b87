// Programs in an order in which communication runs beside computation: seconds, and bytes that are
// exactly as stated.
#include "passes/driver/HideTransfers.h"

#include "compiler/artifact/ExportPlan.h"
#include "dialects/program/Program.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Predict.h"
#include "passes/schedule/Queues.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// The step of a GPT for GPUs before its transfers are hidden.
struct Step {
  driver::Compilation c;
  cluster::Cluster cluster;

  explicit Step(const Split &split) : c(options(split)) {
    Status status = driver::compileTo(c, "partitioned");
    INFO((status ? "" : status.message()));
    REQUIRE(status.isOk());
    cluster = *cluster::forRanks(*c.cluster, split.ranks);
    REQUIRE(succeeded(bufferize::lowerPrograms(c.module())));
    schedule::assignQueues(c.module());
  }

  static driver::CompileOptions options(const Split &split) {
    const ModelCase &model = bundledCases()[1];
    ModelFile file(model);
    driver::CompileOptions options = optionsOf(file.path(), model, split);
    options.device = "";
    return options;
  }

  int64_t hide(const planner::Budget &budget) {
    auto added = driver::hideTransfers(c.module(), cluster, budget);
    INFO((added ? "" : added.status().message()));
    REQUIRE(added.isOk());
    return added->front();
  }

  // Names of the instructions in order.
  std::string order() {
    std::string text;
    c.module().walk([&](program::SegmentOp segment) {
      for (mlir::Operation &instruction : segment.getBody().front())
        text += instruction.getName().getStringRef().str() + "\n";
    });
    return text;
  }

  // The arena, and the predicted seconds of the step, with places and waits.
  bufferize::ArenaSizes arena;
  double seconds() {
    mlir::OwningOpRef<mlir::ModuleOp> placed = c.module().clone();
    arena = bufferize::placePrograms(*placed).front();
    schedule::setWaits(*placed);
    auto plan = artifact::exportOutline(*placed);
    REQUIRE(plan.isOk());
    driver::predictInstructions(*plan, cluster, c.decided.mesh,
                                driver::attentionKernels(c.module()));
    return driver::secondsOfStep(*plan)->step;
  }
};

} // namespace

TEST_CASE("hidden transfers make a step shorter, and the added bytes are those of its peak") {
  for (const char *pin : {"fsdp", "zero1", "dp"}) {
    INFO(pin);
    Step step({4, "", 1, pin});
    const double before = step.seconds();
    const int64_t peak = step.arena.peak;
    const int64_t added = step.hide(planner::Budget::unlimited());
    CHECK(step.seconds() < 0.99 * before);
    CHECK(step.arena.peak == peak + added);
  }
}

TEST_CASE("a budget bounds the bytes in which transfers are hidden") {
  Step step({4, "", 1, "fsdp"});
  const double before = step.seconds();
  const int64_t arena = step.arena.arena;
  CHECK(step.hide(planner::Budget(arena)) <= 0);
  CHECK(step.seconds() <= before);
  CHECK(step.arena.arena <= arena);
}

TEST_CASE("where nothing communicates, the order stays") {
  Step one({1});
  const std::string order = one.order();
  CHECK(one.hide(planner::Budget::unlimited()) == 0);
  CHECK(one.order() == order);
}
