// Plans as text: comparisons and JSON.
#include "compiler/planner/report/PlanReport.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/Planner.h"
#include "runtime/base/Json.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a choice is compared with the next best one") {
  Reason reason{.whyNone = "the only choice"};
  CHECK(comparisonText(reason) == "the only choice");
  reason.alternative = "lives as [dp, _]";
  CHECK(comparisonText(reason) == "equally fast: lives as [dp, _]");
  reason.alternativeSeconds = 12.3e-6;
  CHECK(comparisonText(reason) == "+12.3 us: lives as [dp, _]");
  reason.alternativeSeconds = -12.3e-6;
  CHECK(comparisonText(reason) == "-12.3 us: lives as [dp, _]");
  reason.alternativeBytes = 64 << 20;
  CHECK(comparisonText(reason) == "-12.3 us, but 64.0 MiB more: lives as [dp, _]");
}

TEST_CASE("a mesh that was tried has its seconds, or a bound on them, and a note") {
  TriedMesh tried{*Mesh::parse("dp=2"), true, 0.0123, 0, ""};
  CHECK(text(tried) == "dp=2: 12.3 ms");
  tried.isPlanned = false;
  CHECK(text(tried) == "dp=2: at least 12.3 ms");
  tried.note = "no better one found";
  CHECK(text(tried) == "dp=2: at least 12.3 ms, no better one found");
  tried.seconds = 0;
  CHECK(text(tried) == "dp=2: no better one found");
}

TEST_CASE("the JSON of a plan states its numbers and all decisions") {
  const StepModel model = trainingModel(64, 256, 1024);
  const cluster::Cluster machine = *cluster::findCluster("h100-node");
  PlannerOptions options;
  options.ranks = 4;
  Result<PlanReport> plan = planStep(model, machine, options);
  REQUIRE(plan.isOk());
  const Json written = Json::parse(toJson(*plan, model));
  CHECK(written["mesh"] == plan->mesh.str());
  CHECK(written["predicted"]["step_seconds"] == plan->seconds);
  CHECK(written["predicted"]["bound_seconds"] == plan->boundSeconds);
  CHECK(written["predicted"]["peak_bytes"] == plan->peakBytes);
  CHECK(written["predicted"]["budget_bytes"].is_null());
  REQUIRE(written["ops"].size() == model.ops.size());
  REQUIRE(written["arguments"].size() == model.arguments.size());
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK(written["ops"][i]["name"] == model.ops[i].name);
  CHECK(written["meshes"].size() == plan->meshesTried.size());
}
