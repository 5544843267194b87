// Policies for a budget, for layouts that are decided.
#include "compiler/planner/remat/ChooseRemat.h"
#include "compiler/planner/remat/RematPins.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr int64_t kActivation = 4 * 64 * 16; // bytes

StepModel nineLayers() { return modelOf(deepStep(9, 64, 16)); }

size_t countOf(const RematPolicy &policy) {
  return static_cast<size_t>(std::count(policy.recomputed.begin(), policy.recomputed.end(), true));
}

} // namespace

TEST_CASE("a smaller budget recomputes more, takes longer, and is kept") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const PinnedRemat free(model.ops.size());
  double seconds = 0;
  for (int64_t budget = plan.peakBytes; budget > plan.peakBytes - 12 * kActivation;
       budget -= kActivation) {
    Result<ChosenRemat> chosen = chooseRemat(costs, plan, free, budget, defaultLimits());
    REQUIRE(chosen.isOk());
    INFO("budget " << budget << " of " << plan.peakBytes);
    REQUIRE(chosen->isFitting);
    CHECK(chosen->peakBytes <= budget);
    CHECK(chosen->seconds >= seconds * (1 - 1e-9));
    CHECK((countOf(chosen->policy) > 0) == (budget < plan.peakBytes));
    seconds = chosen->seconds;
  }
}

TEST_CASE("rules on recomputation bind") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  Pins pins = *Pins::fromJson(R"({"pins": [{"op": "*exp*", "recompute": false}]})");
  Result<PinnedRemat> pinned = pinnedRemat(model, pins);
  REQUIRE(pinned.isOk());
  CHECK_FALSE(isDetermined(*pinned));
  Result<ChosenRemat> chosen =
      chooseRemat(costs, plan, *pinned, plan.peakBytes - kActivation, defaultLimits());
  REQUIRE(chosen.isOk());
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((model.ops[i].kind == "graph.exp" && chosen->policy.recomputed[i]));
}

TEST_CASE("where nothing fits, the policy with the least peak is not fitting") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const Result<ChosenRemat> chosen =
      chooseRemat(costs, plan, PinnedRemat(model.ops.size()), 1, defaultLimits());
  REQUIRE(chosen.isOk());
  CHECK_FALSE(chosen->isFitting);
  CHECK(chosen->peakBytes > 1);
  CHECK(chosen->peakBytes < plan.peakBytes);
}

TEST_CASE("a recomputation takes its kernels, and the layout changes of its operands and results") {
  const StepModel model = nineLayers();
  const PlanReport one = plannedBy(model, "", 1), four = plannedBy(model, "zero3", 4);
  int changed = 0;
  for (const PlanReport *plan : {&one, &four}) {
    Costs costs(model, h100Node(), plan->mesh);
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
      const OpChoice choice = choiceOf(model.ops[i], plan->ops[i]);
      const double kernels = costs.kernels(model.ops[i], choice),
                   seconds = recomputeSeconds(costs, *plan, i);
      CHECK(seconds >= kernels);
      if (plan == &one)
        CHECK(seconds == kernels);
      changed += seconds > kernels;
    }
  }
  CHECK(changed > 0); // gathers of weights
}

TEST_CASE("values go where keeping them takes the least time, within the bytes of each space") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  const PinnedRemat free(model.ops.size());
  cluster::Cluster fast = h100Node(), slow = fast;
  fast.hostLink = {.bytesPerSecond = 1e15};
  slow.hostLink = {.latencySeconds = 1, .bytesPerSecond = 1};
  const int64_t budget = plan.peakBytes - 8 * kActivation;
  double seconds = 0;
  for (int64_t host : {int64_t(0), 2 * kActivation, 8 * kActivation, 1000 * kActivation}) {
    INFO(host);
    Costs costs(model, fast, plan.mesh);
    const ChosenRemat chosen =
        *chooseRemat(costs, plan, free, {budget, {.host = host}}, defaultLimits());
    REQUIRE(chosen.isFitting);
    CHECK(chosen.peakBytes <= budget);
    CHECK((host == 0 || chosen.seconds <= seconds));
    CHECK(chosen.policy.away.size() + chosen.policy.arguments.size() <=
          static_cast<size_t>(host / kLeastAwayBytes));
    if (host > 100 * kActivation)
      CHECK(countOf(chosen.policy) == 0);
    seconds = chosen.seconds;
  }
  Costs costs(model, slow, plan.mesh);
  const ChosenRemat other =
      *chooseRemat(costs, plan, free, {budget, {.host = 1000 * kActivation}}, defaultLimits());
  CHECK(other.policy.away.empty());
  CHECK(other.policy.arguments.empty());
}
