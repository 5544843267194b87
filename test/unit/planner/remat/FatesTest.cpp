// What is computed again: the recipes, the rules of the user, and the choice for a budget.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/remat/ChooseFates.h"
#include "compiler/planner/remat/FatePins.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr int64_t kLayers = 9, kBatch = 64, kWidth = 16;
constexpr int64_t kValue = 4 * kBatch * kWidth; // bytes of one activation

StepModel deepModel() {
  GraphText text(deepStep(kLayers, kBatch, kWidth));
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

Plan freePlan(const StepModel &model) {
  Result<Plan> plan = planStep(model, *cluster::findCluster("h100-node"), {});
  REQUIRE(plan.isOk());
  return *plan;
}

int64_t keptBytes(const StepModel &model, const Fates &fates) {
  const ForwardReads reads = readsOf(model);
  int64_t bytes = 0;
  for (size_t i = 0; i < model.ops.size(); ++i)
    bytes += fates.again[i] ? 0 : reads.bytes[i];
  return bytes;
}

size_t repetitions(const Fates &fates) {
  return static_cast<size_t>(std::count(fates.again.begin(), fates.again.end(), true));
}

// Whether every op that runs again finds what it reads in the backward part: kept because the
// backward part reads it, or computed again.
bool isClosed(const StepModel &model, const Fates &fates) {
  const ForwardReads reads = readsOf(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    for (int input : reads.inputs[i])
      if (fates.again[i] && !fates.again[input] && reads.first[input] == ForwardReads::kNever)
        return false;
  return true;
}

} // namespace

TEST_CASE("the backward part reads the exponential and the input of every block") {
  StepModel model = deepModel();
  ForwardReads reads = readsOf(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].part == Part::Forward && model.ops[i].kind == "graph.exp")
      CHECK(reads.first[i] != ForwardReads::kNever);
    else if (model.ops[i].part == Part::Forward && model.ops[i].kind == "graph.dot_general")
      CHECK(reads.first[i] == ForwardReads::kNever);
}

TEST_CASE("full recomputation keeps a few block boundaries") {
  StepModel model = deepModel();
  Fates fates = fullRecompute(model);
  const int64_t all = keptBytes(model, keepAll(model)), kept = keptBytes(model, fates);
  CHECK(all >= 2 * (kLayers - 1) * kValue);
  CHECK(kept <= all / 2);
  CHECK(repetitions(fates) > 0);
}

TEST_CASE("selective recomputation repeats no product and keeps no more values") {
  StepModel model = deepModel();
  Fates fates = selectiveRecompute(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((fates.again[i] && model.ops[i].isProduct));
  CHECK(isClosed(model, fates));
}

TEST_CASE("a smaller budget computes more again, takes longer, and is kept") {
  StepModel model = deepModel();
  Plan plan = freePlan(model);
  auto cluster = cluster::forRanks(*cluster::findCluster("h100-node"), 1);
  Costs costs(model, *cluster, plan.mesh);
  const ForcedFates free(model.ops.size());
  double seconds = 0;
  for (int64_t budget = plan.peakBytes; budget > plan.peakBytes - 12 * kValue; budget -= kValue) {
    Result<ChosenFates> chosen = chooseFates(costs, plan, free, budget, defaultLimits());
    REQUIRE(chosen.isOk());
    INFO("budget " << budget << " of " << plan.peakBytes);
    REQUIRE(chosen->isFitting);
    CHECK(chosen->peakBytes <= budget);
    CHECK(chosen->seconds >= seconds * (1 - 1e-9));
    CHECK((repetitions(chosen->fates) > 0) == (budget < plan.peakBytes));
    seconds = chosen->seconds;
  }
}

TEST_CASE("rules on fates bind") {
  StepModel model = deepModel();
  Plan plan = freePlan(model);
  auto cluster = cluster::forRanks(*cluster::findCluster("h100-node"), 1);
  Costs costs(model, *cluster, plan.mesh);
  Pins pins = *Pins::fromJson(R"({"pins": [{"op": "*exp*", "recompute": "keep"}]})");
  Result<ForcedFates> forced = forcedFates(model, pins);
  REQUIRE(forced.isOk());
  CHECK_FALSE(isDetermined(*forced));
  Result<ChosenFates> chosen =
      chooseFates(costs, plan, *forced, plan.peakBytes - kValue, defaultLimits());
  REQUIRE(chosen.isOk());
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((model.ops[i].kind == "graph.exp" && chosen->fates.again[i]));
}

TEST_CASE("pins on fates that mean nothing are refused") {
  StepModel model = deepModel();
  auto messageOf = [&](const char *rules) {
    return forcedFates(model, *Pins::fromJson(rules)).status().message();
  };
  CHECK_THAT(messageOf(R"({"pins": [{"op": "nothing", "recompute": "again"}]})"),
             Catch::Contains("matches no op of the forward pass"));
  CHECK_THAT(messageOf(R"({"pins": [{"op": "reduce*", "recompute": "again"}]})"),
             Catch::Contains("cannot be computed again"));
  CHECK_FALSE(Pins::fromJson(R"({"pins": [{"op": "*", "recompute": "maybe"}]})").isOk());
  CHECK_THAT(Pins::parse("full-recompute,no-recompute").status().message(),
             Catch::Contains("at most one"));
  CHECK(Pins::parse("zero3,full-recompute")->recompute() == Recompute::Full);
  CHECK(Pins::parse("zero3,full-recompute")->recipe() == Recipe::Zero3);
}
