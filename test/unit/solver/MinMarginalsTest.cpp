// Lower bounds per choice against exhaustive search, and what follows from them.
#include "compiler/solver/MinMarginals.h"
#include "compiler/solver/Check.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

// The least cost of all combinations, in any memory, that take choice i of node v.
static double leastWith(Problem problem, size_t v, size_t i) {
  for (size_t j = 0; j < problem.nodes[v].choices.size(); ++j)
    if (j != i)
      problem.nodes[v].choices[j].cost = kForbidden;
  return bruteForce(problem);
}

TEST_CASE("min-marginals are the least costs with each choice, or bounds on them") {
  RandomShape shape;
  shape.nodes = 5;
  shape.budgetShare = 1;
  shape.edgesPerNode = 2;
  std::mt19937 random(5);
  int inexact = 0;
  for (int k = 0; k < 60; ++k) {
    Problem problem = randomProblem(shape, random);
    SolveOptions small;
    small.maxTableEntries = 4;
    small.maxWork = 1; // large tables are not affordable
    Result<MinMarginals> exact = minMarginals(problem), bounds = minMarginals(problem, small);
    REQUIRE((exact && bounds));
    REQUIRE(exact->isExact);
    inexact += !bounds->isExact;
    for (size_t v = 0; v < problem.nodes.size(); ++v)
      for (size_t i = 0; i < problem.nodes[v].choices.size(); ++i) {
        const double least = leastWith(problem, v, i);
        INFO("problem " << k << ", node " << v << ", choice " << i);
        if (least == kForbidden)
          CHECK(exact->least[v][i] == kForbidden);
        else
          CHECK(exact->least[v][i] == Approx(least).margin(1e-9));
        CHECK(bounds->least[v][i] <= (least == kForbidden ? kForbidden : least + 1e-9));
        CHECK(bounds->least[v][i] >= bounds->bound - 1e-9);
      }
  }
  CHECK(inexact > 20);
}

TEST_CASE("within any budget the best solution takes only choices that are kept below its cost") {
  RandomShape shape;
  shape.nodes = 7;
  shape.budgetShare = 0.3;
  std::mt19937 random(6);
  int dropped = 0;
  for (int k = 0; k < 60; ++k) {
    Problem problem = randomProblem(shape, random);
    const double best = bruteForce(problem);
    if (best == kForbidden)
      continue;
    const auto kept = keptBelow(*minMarginals(problem), best);
    for (size_t v = 0; v < problem.nodes.size(); ++v)
      for (size_t i = 0; i < problem.nodes[v].choices.size(); ++i)
        if (!kept[v][i]) {
          problem.nodes[v].choices[i].cost = kForbidden;
          ++dropped;
        }
    CHECK(bruteForce(problem) == Approx(best));
  }
  CHECK(dropped > 100);
}
