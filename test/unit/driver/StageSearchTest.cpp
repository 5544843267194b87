// --stages auto: the choice is the fastest of all explicit numbers, and bounds hold.
#include "passes/driver/StageSearch.h"

#include "compiler/artifact/ExportPlan.h"
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/Predict.h"
#include "passes/driver/Record.h"
#include "passes/driver/Stages.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;

namespace {

CompileOptions optionsFor(const ModelFile &file, const char *cluster, int64_t ranks) {
  CompileOptions options = optionsOf(file.path(), bundledCases()[1], {.ranks = ranks});
  options.cluster = cluster;
  options.device.clear();
  options.accumulate = 4;
  return options;
}

// The makespan with the options as they are, whose bound is checked.
double makespanWith(const CompileOptions &options) {
  Compilation c(options);
  check(compileTo(c, "program"));
  Result<double> seconds = makespanOf(c);
  check(seconds.status());
  plan::Plan recorded;
  addRecordedDecisions(c.module(), recorded);
  const double work = recorded.predicted().peak_seconds();
  REQUIRE(work > 0);
  const auto microBatches = static_cast<double>(options.accumulate);
  const auto perStage = static_cast<double>(options.ranks) / static_cast<double>(options.stages);
  CHECK(pipelineBound(work / microBatches / perStage, options.stages, options.accumulate) <=
        *seconds);
  return *seconds;
}

} // namespace

TEST_CASE("the bound of a pipeline is the busy time of one stage, and grows with bubbles") {
  CHECK(pipelineBound(3, 1, 8) == Approx(24));     // M W
  CHECK(pipelineBound(3, 5, 1) == Approx(3));      // one micro-batch passes all stages
  CHECK(pipelineBound(1, 2, 2) == Approx(4. / 3)); // stages of 2/3 and 1/3
  for (int64_t stages : {2, 3, 8})
    for (int64_t count : {1, 2, 16}) { // equal stages take (M + P - 1) W / P
      const double equal = static_cast<double>(count + stages - 1) / static_cast<double>(stages);
      CHECK(pipelineBound(1, stages, count) <= equal * (1 + 1e-12));
      CHECK(pipelineBound(1, stages, count) >=
            static_cast<double>(count) / static_cast<double>(stages));
    }
}

TEST_CASE("the first rank of each stage takes as long as all ranks") {
  const ModelFile file(bundledCases()[1]);
  CompileOptions options = optionsFor(file, "h100-node", 8);
  options.stages = 2;
  Compilation c(options);
  check(compileTo(c, "program"));
  const plan::Plan outline = *predictedOutline(c);
  const auto timeline = schedule::timelineOf(outline, schedule::TimelineForm::Full).timeline;
  CHECK(*makespanOf(c) == Approx(schedule::simulate(timeline)->seconds).epsilon(1e-12));
}

TEST_CASE("--stages auto takes the number whose simulated step is fastest") {
  const ModelFile file(bundledCases()[1]);
  const char *cluster = GENERATE("local-cpu", "h100-node");
  CompileOptions options = optionsFor(file, cluster, 4);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t stages : {1, 2, 4}) {
    options.stages = stages;
    least = std::min(least, makespanWith(options));
  }
  options.stages = 1;
  options.autoStages = true;
  Compilation c(options);
  check(chooseStages(c));
  INFO(cluster << ": " << c.remarks.back().text);
  CHECK(*makespanOf(c) <= least * (1 + 1e-12)); // less if the model is cut again
  CHECK(c.stagePeaks.size() == (c.options.stages == 1 ? 0 : size_t(c.options.stages)));
  CHECK(c.arenaBytes > 0);
  CHECK_THAT(c.remarks.back().text, Contains(" in 4 micro-batches chosen: 1: "));
  CHECK_THAT(c.remarks.back().text, Contains("; 2: "));
}

TEST_CASE("stages and micro-batches are chosen together") {
  const ModelFile file(bundledCases()[1]);
  CompileOptions options = optionsFor(file, "h100-node", 2);
  options.symbols["batch"] = 8;
  options.accumulate = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t stages : {1, 2})
    for (int64_t count : {1, 2, 4, 8}) {
      CompileOptions given = options;
      given.stages = stages;
      given.accumulate = count;
      given.symbols["batch"] = 8 / count;
      least = std::min(least, makespanWith(given));
    }
  options.microBatch = "auto";
  SECTION("both open") { options.autoStages = true; }
  SECTION("stages given") { options.stages = 2; }
  Compilation c(options);
  check(chooseStages(c));
  INFO(c.remarks.back().text);
  CHECK_THAT(c.remarks.back().text, Contains(" of batch="));
  CHECK(c.options.symbols.at("batch") * c.options.accumulate == 8);
  if (options.autoStages)
    CHECK(*makespanOf(c) <= least * (1 + 1e-12)); // less if the model is cut again
  else
    CHECK(c.options.stages == 2);
}

TEST_CASE("numbers of stages for which nothing fits are left out") {
  const ModelFile file(bundledCases()[1]);
  CompileOptions options = optionsFor(file, "h100-node", 2);
  options.autoStages = true;
  options.memory = 1 << 10;
  Compilation c(options);
  const Status status = chooseStages(c);
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(), Contains("needs"));
}

TEST_CASE("a mesh of one stage leaves one number of stages") {
  const ModelFile file(bundledCases()[1]);
  CompileOptions options = optionsFor(file, "local-cpu", 4);
  options.autoStages = true;
  options.mesh = *Mesh::parse("x=2");
  Compilation c(options);
  check(chooseStages(c));
  CHECK(c.options.stages == 2);
}

TEST_CASE("--schedule auto takes the schedule whose simulated step is fastest") {
  const ModelFile file(bundledCases()[1]);
  const char *cluster = GENERATE("local-cpu", "h100-node");
  CompileOptions options = optionsFor(file, cluster, 2);
  options.stages = 2;
  double least = std::numeric_limits<double>::infinity();
  for (const char *schedule : {"1f1b", "interleaved", "zb-h1", "zb-v"}) {
    options.schedule = schedule;
    Compilation c(options);
    check(compileTo(c, "program"));
    least = std::min(least, *makespanOf(c));
  }
  options.schedule = "auto";
  Compilation c(options);
  check(chooseStages(c));
  INFO(cluster << ": " << c.remarks.back().text);
  CHECK(*makespanOf(c) <= least * (1 + 1e-12)); // less if the model is cut again
  for (const char *schedule : {"; 1f1b: ", "; interleaved: ", "; zb-h1: ", "; zb-v: "})
    CHECK_THAT(c.remarks.back().text, Contains(schedule));
}
