// Branch and bound alone, from a root without bound and prices, against exhaustive search.
#include "compiler/solver/Branch.h"
#include "compiler/solver/Presolve.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

namespace {

struct Found {
  BranchResult result;
  double cost = kForbidden;
  std::vector<int> choices; // of the problem
};

Found branchFrom(const Presolve &presolve, const BranchOptions &options) {
  const Network &network = presolve.result();
  Ascent root;
  root.prices.assign(network.rows.size(), 0.0);
  Search search(network, 1);
  Found found{branch(network, root, search, options), search.bestCost(), {}};
  if (!search.best().empty())
    found.choices = presolve.expand(search.best());
  return found;
}

// All nodes need memory at one time, and have a third of what they could take: the bound mixes
// choices of few and of many bytes, so that trees grow.
Problem tightProblem(std::mt19937 &random) {
  RandomShape shape;
  shape.nodes = 13;
  shape.maxChoices = 3;
  shape.edgesPerNode = 2.5;
  shape.forbiddenShare = 0.03;
  shape.isInteger = false;
  Problem problem = randomProblem(shape, random);
  int64_t most = 0;
  for (Node &node : problem.nodes)
    for (Usage &usage : node.usages) {
      usage = {0, 1, 0};
      most += 9;
    }
  problem.spaces[0].budget = most / 3;
  return problem;
}

// Calls check(presolve, least cost) for networks that have permitted choices.
template <typename Check> void forNetworks(int count, unsigned seed, Check check) {
  std::mt19937 random(seed);
  for (int k = 0; k < count; ++k) {
    const Problem problem = tightProblem(random);
    const Presolve presolve(problem);
    if (presolve.contradiction() >= 0)
      continue;
    INFO("problem " << k << " of seed " << seed);
    check(presolve, bruteForce(problem));
  }
}

} // namespace

TEST_CASE("a tree that ends proves the optimum, with exact and with split tables") {
  int branched = 0, infeasible = 0;
  for (bool isExact : {true, false}) {
    BranchOptions options;
    options.sweeps = options.iterations = 1;
    options.maxBranches = 100'000;
    if (!isExact) {
      options.maxExactWork = 0;
      options.maxTableEntries = 9;
    }
    forNetworks(300, 5, [&](const Presolve &presolve, double best) {
      const Found found = branchFrom(presolve, options);
      CHECK(found.result.isComplete);
      branched += found.result.branches > 1;
      infeasible += best == kForbidden;
      if (best == kForbidden) {
        CHECK(found.choices.empty());
        return;
      }
      CHECK(found.result.bound == Approx(best).epsilon(1e-8));
      CHECK(found.cost == Approx(best).epsilon(1e-8));
    });
  }
  CHECK(branched > 25);
  CHECK(infeasible > 5);
}

TEST_CASE("the bound of a tree that was ended early is never above the optimum") {
  int open = 0;
  for (int maxBranches : {1, 2, 4, 8}) {
    BranchOptions options;
    options.sweeps = options.iterations = 2;
    options.maxBranches = maxBranches;
    options.maxExactWork = 0;
    options.maxTableEntries = 9;
    forNetworks(150, 6, [&](const Presolve &presolve, double best) {
      const Found found = branchFrom(presolve, options);
      CHECK(found.result.branches <= maxBranches);
      open += !found.result.isComplete;
      CHECK(found.result.bound <= best + 1e-9 * (1 + best));
      CHECK(found.cost >= best * (1 - 1e-9));
    });
  }
  CHECK(open > 10);
}

TEST_CASE("a tree below a cutoff finds what is below, and proves that there is nothing") {
  BranchOptions options;
  options.maxBranches = 100'000;
  forNetworks(150, 7, [&](const Presolve &presolve, double best) {
    if (best == kForbidden || best <= 0)
      return;
    options.cutoff = 0.9 * best;
    CHECK(branchFrom(presolve, options).result.bound == Approx(0.9 * best).epsilon(1e-8));
    options.cutoff = 1.1 * best;
    CHECK(branchFrom(presolve, options).cost == Approx(best).epsilon(1e-8));
  });
}

TEST_CASE("nodes of a tree that are visited at once give the same result in every run") {
  BranchOptions options;
  options.sweeps = options.iterations = 1;
  options.threads = 3;
  options.maxBranches = 9;
  forNetworks(40, 8, [&](const Presolve &presolve, double best) {
    const Found one = branchFrom(presolve, options), other = branchFrom(presolve, options);
    CHECK(one.result.bound == other.result.bound);
    CHECK(one.result.branches == other.result.branches);
    CHECK(one.choices == other.choices);
    CHECK(one.result.bound <= best + 1e-9 * (1 + best));
  });
}
