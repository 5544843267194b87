// The seconds of a step under decisions, and its memory over time.
#include "compiler/planner/network/PricedDecisions.h"
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/solver/Check.h"
#include "test/unit/planner/TrainingStep.h"

#include <map>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("the seconds of a plan are those of its decisions") {
  const StepModel model = trainingModel(64, 256, 1024);
  for (const char *pins : {"", "dp", "zero3", "megatron"}) {
    const PlanReport plan = plannedBy(model, pins, 4);
    Costs costs(model, h100Node(), plan.mesh);
    CHECK(secondsOf(costs, plan) == Approx(plan.seconds).epsilon(1e-9));
  }
}

TEST_CASE("every layout change takes its seconds as often as it is made") {
  const StepModel model = trainingModel(64, 256, 1024, 4);
  PlanReport plan = plannedBy(model, "zero3", 4);
  Costs costs(model, h100Node(), plan.mesh);
  for (OpDecision &op : plan.ops)
    op.buckets.clear();
  double changes = 0, kernels = 0;
  for (const LayoutChange &change : layoutChanges(model, plan))
    changes +=
        static_cast<double>(change.times) * costs.reshard(change.value, change.from, change.to);
  for (size_t i = 0; i < model.ops.size(); ++i)
    kernels += costs.kernels(model.ops[i], choiceOf(model.ops[i], plan.ops[i]));
  for (size_t i = 0; i < model.arguments.size(); ++i)
    kernels += costs.replacement(model.arguments[i], plan.arguments[i].storage);
  REQUIRE(changes > 0);
  CHECK(secondsOf(costs, plan) == Approx(kernels + changes));
}

TEST_CASE("at every instant the holdings are the bytes of the network") {
  StepModel model = trainingModel(64, 256, 1024);
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  Costs costs(model, h100Node(), mesh);
  const PlanProblem problem = *buildProblem(costs, {}, int64_t(1) << 40);
  const std::vector<int> choices(problem.network.nodes.size(), 0);
  std::map<int64_t, int64_t> changes;
  int results = 0;
  for (const Holding &holding : holdingsOf(problem, choices)) {
    CHECK(holding.bytes > 0);
    changes[holding.span.begin] += holding.bytes;
    changes[holding.span.end] -= holding.bytes;
    if (holding.result < 0)
      continue;
    ++results;
    CHECK(holding.name == model.ops[holding.op].name);
    CHECK(holding.span.end > model.ops[holding.op].runs.begin);
  }
  CHECK(results > 5);
  int64_t bytes = 0, most = 0;
  for (auto [instant, change] : changes)
    most = std::max(most, bytes += change);
  CHECK(bytes == 0);
  CHECK(most == solver::memoryPeaks(problem.network, choices)[0].bytes);
}
