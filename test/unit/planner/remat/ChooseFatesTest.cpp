// Fates for a budget, for layouts that are decided.
#include "compiler/planner/remat/ChooseFates.h"
#include "compiler/planner/remat/FatePins.h"
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

size_t againIn(const Fates &fates) {
  return static_cast<size_t>(std::count(fates.again.begin(), fates.again.end(), true));
}

} // namespace

TEST_CASE("a smaller budget computes more again, takes longer, and is kept") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const ForcedFates free(model.ops.size());
  double seconds = 0;
  for (int64_t budget = plan.peakBytes; budget > plan.peakBytes - 12 * kActivation;
       budget -= kActivation) {
    Result<ChosenFates> chosen = chooseFates(costs, plan, free, budget, defaultLimits());
    REQUIRE(chosen.isOk());
    INFO("budget " << budget << " of " << plan.peakBytes);
    REQUIRE(chosen->isFitting);
    CHECK(chosen->peakBytes <= budget);
    CHECK(chosen->seconds >= seconds * (1 - 1e-9));
    CHECK((againIn(chosen->fates) > 0) == (budget < plan.peakBytes));
    seconds = chosen->seconds;
  }
}

TEST_CASE("rules on fates bind") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  Pins pins = *Pins::fromJson(R"({"pins": [{"op": "*exp*", "recompute": "keep"}]})");
  Result<ForcedFates> forced = forcedFates(model, pins);
  REQUIRE(forced.isOk());
  CHECK_FALSE(isDetermined(*forced));
  Result<ChosenFates> chosen =
      chooseFates(costs, plan, *forced, plan.peakBytes - kActivation, defaultLimits());
  REQUIRE(chosen.isOk());
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((model.ops[i].kind == "graph.exp" && chosen->fates.again[i]));
}

TEST_CASE("where nothing fits, the fates with the least peak are not fitting") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const Result<ChosenFates> chosen =
      chooseFates(costs, plan, ForcedFates(model.ops.size()), 1, defaultLimits());
  REQUIRE(chosen.isOk());
  CHECK_FALSE(chosen->isFitting);
  CHECK(chosen->peakBytes > 1);
  CHECK(chosen->peakBytes < plan.peakBytes);
}

TEST_CASE("a repetition takes its kernels, and the layout changes of its operands and results") {
  const StepModel model = nineLayers();
  const PlanReport one = plannedBy(model, "", 1), four = plannedBy(model, "zero3", 4);
  int changed = 0;
  for (const PlanReport *plan : {&one, &four}) {
    Costs costs(model, h100Node(), plan->mesh);
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
      const OpChoice choice = choiceOf(model.ops[i], plan->ops[i]);
      const double kernels = costs.kernels(model.ops[i], choice),
                   again = secondsAgain(costs, *plan, i);
      CHECK(again >= kernels);
      if (plan == &one)
        CHECK(again == kernels);
      changed += again > kernels;
    }
  }
  CHECK(changed > 0); // gathers of weights
}

TEST_CASE("values go where keeping them takes the least time, within the bytes of each space") {
  const StepModel model = nineLayers();
  const PlanReport plan = plannedBy(model, "", 1);
  const ForcedFates free(model.ops.size());
  cluster::Cluster fast = h100Node(), slow = fast;
  fast.hostLink = {.bytesPerSecond = 1e15};
  slow.hostLink = {.latencySeconds = 1, .bytesPerSecond = 1};
  const int64_t budget = plan.peakBytes - 8 * kActivation;
  double seconds = 0;
  for (int64_t host : {int64_t(0), 2 * kActivation, 8 * kActivation, 1000 * kActivation}) {
    INFO(host);
    Costs costs(model, fast, plan.mesh);
    const ChosenFates chosen =
        *chooseFates(costs, plan, free, {budget, {.host = host}}, defaultLimits());
    REQUIRE(chosen.isFitting);
    CHECK(chosen.peakBytes <= budget);
    CHECK((host == 0 || chosen.seconds <= seconds));
    CHECK(chosen.fates.away.size() + chosen.fates.arguments.size() <=
          static_cast<size_t>(host / kLeastAwayBytes));
    if (host > 100 * kActivation)
      CHECK(againIn(chosen.fates) == 0);
    seconds = chosen.seconds;
  }
  Costs costs(model, slow, plan.mesh);
  const ChosenFates again =
      *chooseFates(costs, plan, free, {budget, {.host = 1000 * kActivation}}, defaultLimits());
  CHECK(again.fates.away.empty());
  CHECK(again.fates.arguments.empty());
}
