// Recompute decisions as part of the prices of nodes, and the bytes that certainly are in memory.
#include "compiler/planner/remat/JointNetwork.h"
#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/remat/JointBound.h"
#include "compiler/solver/Check.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// A step with the networks of its prices.
struct PricedStep {
  explicit PricedStep(StepModel plain, const char *text)
      : model(withRoomForRecomputation(plain)), mesh(*Mesh::parse(text)),
        kept(*buildProblem(costs, {}, Budget::unlimited(),
                           {{.perOp = 10000, .perArgument = 10000}})) {}

  const StepModel model;
  const Mesh mesh;
  Costs costs{model, h100Node(), mesh};
  const PlanProblem kept;
  const PinnedRemat pinned{model.ops.size()};
  JointNetwork network{costs, kept, pinned};
  std::vector<int> choices = std::vector<int>(kept.network.nodes.size(), 0);

  // Seconds of the choices, with the price of their bytes.
  double costAt(double price, int64_t instant) {
    return solver::totalCost(network.priced(price, instant), choices);
  }
};

} // namespace

TEST_CASE("without a price of memory nothing costs more than where everything is kept") {
  PricedStep c(modelOf(deepStep(4, 64, 16)), "a=2");
  const solver::Problem &free = c.network.priced(0, 0);
  REQUIRE(free.nodes.size() == c.kept.network.nodes.size());
  for (size_t v = 0; v < free.nodes.size(); ++v) {
    REQUIRE(free.nodes[v].choices.size() == c.kept.network.nodes[v].choices.size());
    CHECK(free.nodes[v].usages.empty());
    for (size_t k = 0; k < free.nodes[v].choices.size(); ++k)
      CHECK(free.nodes[v].choices[k].cost <= c.kept.network.nodes[v].choices[k].cost);
  }
}

TEST_CASE("what memory costs rises with its price, until values are recomputed") {
  PricedStep c(modelOf(deepStep(4, 64, 16)), "a=1");
  const int64_t instant = c.network.fullest(c.choices);
  double before = c.costAt(0, instant);
  const int64_t all = c.network.bytesOf(c.choices, 0, instant);
  int64_t bytes = all;
  for (double price = 1e-12; price < 1; price *= 10) {
    const double cost = c.costAt(price, instant);
    CHECK(cost >= before);
    CHECK(c.network.bytesOf(c.choices, price, instant) <= bytes);
    bytes = c.network.bytesOf(c.choices, price, instant);
    before = cost;
  }
  CHECK(bytes < all);
}

TEST_CASE("the cost of choices is their seconds and the price of their bytes") {
  PricedStep c(modelOf(deepStep(4, 64, 16)), "a=1");
  const int64_t instant = c.network.fullest(c.choices);
  const double price = 1e-15; // too little for a recomputation
  const double seconds = c.costAt(0, instant), cost = c.costAt(price, instant);
  const double bytes = static_cast<double>(c.network.bytesOf(c.choices, price, instant));
  CHECK(cost == Approx(seconds + price * bytes).epsilon(1e-12));
}

TEST_CASE("no choices take more seconds than the worst") {
  PricedStep c(trainingModel(64, 32, 128), "a=2,b=2");
  const double worst = c.network.worstSeconds();
  CHECK(worst < solver::kForbidden);
  for (size_t v = 0; v < c.choices.size(); ++v)
    c.choices[v] = static_cast<int>(c.kept.network.nodes[v].choices.size()) - 1;
  for (int round = 0; round < 2; ++round, c.choices.assign(c.choices.size(), 0))
    if (const double cost = solver::totalCost(c.kept.network, c.choices); cost < solver::kForbidden)
      CHECK(cost <= worst);
}

TEST_CASE("arguments are there all the time; a gathered copy is only where it is kept") {
  PricedStep c(trainingModel(64, 32, 128), "a=4");
  const int weight = 2; // both passes read it
  const int node = c.kept.argumentNode[weight];
  REQUIRE(node >= 0);
  const std::vector<ArgumentChoice> &choices = c.kept.argumentChoices[weight];
  const std::vector<ArgumentNeed> &needs = c.kept.argumentNeeds[weight];
  REQUIRE(needs.size() == c.kept.network.nodes[node].usages.size());
  int64_t between = -1;
  for (size_t u = 0; u < needs.size(); ++u)
    if (needs[u] == ArgumentNeed::KeptCopy)
      between = c.kept.network.nodes[node].usages[u].begin;
  REQUIRE(between >= 0);
  auto bytesWith = [&](size_t choice, int64_t instant) {
    c.choices[node] = static_cast<int>(choice);
    return c.network.bytesOf(c.choices, 0, instant);
  };
  const Value &value = c.model.values[c.model.arguments[weight].value];
  c.network.priced(0, 0);
  int gathered = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    const int64_t stored = storedBytes(value, choices[i].storage, c.mesh),
                  copy = storedBytes(value, choices[i].compute, c.mesh);
    gathered += choices[i].isGathered();
    for (int64_t instant = 0; instant < c.model.instants; ++instant) {
      const bool isKept = choices[i].staysGathered && between <= instant &&
                          instant < c.kept.network.nodes[node].usages[4].end;
      const int64_t more = bytesWith(i, instant) - bytesWith(0, instant);
      const int64_t first = storedBytes(value, choices[0].storage, c.mesh);
      CHECK(more == stored - first + (isKept ? copy : 0));
    }
  }
  CHECK(gathered > 0);
}
