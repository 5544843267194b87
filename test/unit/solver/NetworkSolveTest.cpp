// The steps of a solve on networks that were not presolved, against enumeration.
#include "compiler/solver/NetworkSolve.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape stepsShape() {
  RandomShape shape;
  shape.nodes = 7;
  shape.maxChoices = 3;
  shape.edgesPerNode = 2;
  shape.budgetShare = 0.35;
  shape.isInteger = false;
  return shape;
}

// A network with all its nodes, as the steps expect it: single choices are finite.
struct Instance {
  Network network;
  std::vector<MemorySpace> spaces;
  double least = 0;
};

Instance instanceOf(std::mt19937 &random) {
  while (true) {
    const Problem problem = randomProblem(stepsShape(), random);
    Instance instance{networkOf(problem), problem.spaces};
    instance.least = leastWithin(instance.network);
    if (leastWithoutRows(instance.network) < kForbidden)
      return instance;
  }
}

// Limits that leave something to each of the steps.
std::vector<SolveOptions> allOptions() {
  SolveOptions whole, hasty, split, searching;
  hasty.maxIterations = hasty.maxSearchRounds = 2;
  split.maxTableEntries = 9;
  split.maxIterations = 10;
  split.maxWork = 100;
  searching.maxIterations = 3;
  searching.maxBranches = 0;
  return {whole, hasty, split, searching};
}

} // namespace

TEST_CASE("the steps bound the least cost from below and find solutions that fit") {
  std::mt19937 random(1);
  int optimal = 0, infeasible = 0, solved = 0;
  for (int k = 0; k < 60; ++k) {
    const Instance instance = instanceOf(random);
    for (const SolveOptions &options : allOptions()) {
      NetworkSolve steps(instance.network, instance.spaces, options);
      const double bound = steps.run();
      INFO("network " << k);
      if (instance.least == kForbidden) {
        CHECK(steps.search().best().empty());
        infeasible += bound == kForbidden;
        continue;
      }
      ++solved;
      CHECK(bound <= instance.least * (1 + 1e-8));
      CHECK(steps.search().bestCost() >= instance.least * (1 - 1e-9));
      if (!steps.search().best().empty())
        CHECK(fitsRows(instance.network, steps.search().best()));
      CHECK(steps.isProven(instance.least) ==
            (steps.search().bestCost() <= instance.least * (1 + 1e-9)));
      if (steps.isProven(bound)) {
        CHECK(steps.search().bestCost() == Approx(instance.least).epsilon(1e-8));
        ++optimal;
      }
      for (double price : steps.prices())
        CHECK(price >= 0);
    }
  }
  CHECK(infeasible > 10);
  CHECK(solved > 100);
  CHECK(optimal > 0.9 * solved);
}

TEST_CASE("the first bound rises step by step and ignores memory") {
  std::mt19937 random(2);
  for (int k = 0; k < 20; ++k) {
    const Instance instance = instanceOf(random);
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    double before = -kForbidden;
    while (!steps.isFirstBoundFinal()) {
      const double bound = steps.raiseFirstBound();
      CHECK(bound >= before);
      before = bound;
    }
    CHECK(before == Approx(leastWithoutRows(instance.network)));
    CHECK(steps.raiseFirstBound() == before);
    CHECK(steps.run() >= before * (1 - 1e-12));
  }
}

TEST_CASE("below a cutoff the bound is the cutoff, and above it the solution is found") {
  std::mt19937 random(3);
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least == kForbidden || instance.least <= 0)
      continue;
    ++compared;
    SolveOptions options;
    options.cutoff = 0.9 * instance.least;
    NetworkSolve below(instance.network, instance.spaces, options);
    CHECK(below.run() >= options.cutoff * (1 - 1e-9));
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    steps.setLimits(1.1 * instance.least, /*closesGap=*/true);
    steps.run();
    CHECK(steps.search().bestCost() == Approx(instance.least).epsilon(1e-8));
  }
  CHECK(compared > 10);
}

TEST_CASE("a solve that starts from a solution never ends with a worse one") {
  std::mt19937 random(4);
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least == kForbidden)
      continue;
    std::vector<int> known;
    forAllChoices(instance.network, [&](const std::vector<int> &choices) {
      if (instance.network.totalCost(choices) == instance.least &&
          fitsRows(instance.network, choices))
        known = choices;
    });
    ++compared;
    SolveOptions options;
    options.maxIterations = 1;
    options.maxSearchRounds = 0;
    NetworkSolve steps(instance.network, instance.spaces, options);
    steps.startFrom(Prices(instance.network.rows.size(), 0.0), known);
    steps.run();
    CHECK(steps.search().best() == known);
  }
  CHECK(compared > 10);
}

TEST_CASE("what a budget must be at least is proven if nothing fits") {
  std::mt19937 random(5);
  int proven = 0;
  for (int k = 0; k < 60; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least < kForbidden)
      continue;
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    CHECK(steps.run() == kForbidden);
    if (steps.provenBudget().empty())
      continue;
    proven += steps.provenBudget()[0] > instance.spaces[0].budget;
  }
  CHECK(proven > 5);
}
