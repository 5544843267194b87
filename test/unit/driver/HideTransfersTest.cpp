// Programs in an order in which communication runs beside computation: seconds, and bytes that are
// exactly as stated.
#include "passes/driver/HideTransfers.h"

#include "compiler/artifact/ExportPlan.h"
#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Predict.h"
#include "passes/driver/StageSearch.h"
#include "passes/driver/Stages.h"
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
    driver::predictInstructions(*plan, *placed, cluster);
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

namespace {

// A GPT in stages of two ranks that gather parameters in each part, after the phase `program`.
void compileStages(driver::Compilation &c) {
  Status status = driver::compileTo(c, "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
}
driver::CompileOptions inStages(const ModelFile &file, const char *schedule) {
  driver::CompileOptions options = optionsOf(file.path(), bundledCases()[1], {4, "", 1, "fsdp"});
  options.device = "";
  options.stages = 2;
  options.accumulate = 4;
  options.schedule = schedule;
  return options;
}

// Positions of the instructions of communication in a program.
std::vector<int64_t> placesOfTransfers(program::ProgramOp program) {
  std::vector<int64_t> places;
  int64_t place = 0;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (mlir::Operation &instruction : segment.getBody().front()) {
      if (instruction.hasTrait<program::Communicates>() &&
          !mlir::isa<program::SendOp, program::RecvOp>(instruction))
        places.push_back(place);
      ++place;
    }
  return places;
}

} // namespace

TEST_CASE("stages hide transfers in each slot of each part, and take the planned bytes") {
  const ModelFile file(bundledCases()[1]);
  const char *schedule = GENERATE("1f1b", "zb-h1");
  INFO(schedule);
  driver::Compilation c(inStages(file, schedule)), given(inStages(file, schedule));
  compileStages(c);
  REQUIRE(driver::compileTo(given, "partitioned").isOk());
  llvm::SmallVector<mlir::func::FuncOp> others;
  driver::addStageAxis(given);
  for (driver::Unit &unit : llvm::drop_begin(given.units))
    others.push_back(graph::stepOf(*unit.module));
  REQUIRE(succeeded(bufferize::lowerPrograms(given.module(), others)));
  schedule::assignQueues(given.module());
  size_t stage = 0;
  for (auto [hidden, shown] : llvm::zip_equal(c.module().getOps<program::ProgramOp>(),
                                              given.module().getOps<program::ProgramOp>())) {
    CHECK(hidden.getSchedule() == shown.getSchedule());
    CHECK(placesOfTransfers(hidden) != placesOfTransfers(shown));
    CHECK(hidden.getArena()->getPeak() == c.stagePeaks[stage++]);
  }
  const double seconds = *driver::makespanOf(c);
  bufferize::placePrograms(given.module());
  schedule::setWaits(given.module());
  given.cluster = c.cluster;
  CHECK(seconds < 0.99 * *driver::makespanOf(given));
}

TEST_CASE("where nothing communicates, the order stays") {
  Step one({1});
  const std::string order = one.order();
  CHECK(one.hide(planner::Budget::unlimited()) == 0);
  CHECK(one.order() == order);
}
