// The solver against exhaustive search on small random problems.
#include "compiler/solver/Check.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

static int compareMany(const RandomShape &shape, int count, unsigned seed,
                       const SolveOptions &options, int &infeasible) {
  std::mt19937 random(seed);
  int optimal = 0;
  for (int k = 0; k < count; ++k) {
    Problem problem = randomProblem(shape, random);
    double best = bruteForce(problem);
    Result<Solution> solution = solve(problem, options);
    INFO("problem " << k << " of seed " << seed);
    REQUIRE(solution);
    if (best == kForbidden) {
      ++infeasible;
      CHECK(solution->choices.empty());
      CHECK(solution->status == SolveStatus::Infeasible);
      CHECK_FALSE(solution->infeasibility.message.empty());
      continue;
    }
    REQUIRE(
        (solution->status == SolveStatus::Optimal || solution->status == SolveStatus::Feasible));
    Status status = checkSolution(problem, *solution);
    INFO(status.message());
    CHECK(status);
    CHECK(solution->lowerBound <= best + 1e-9 * (1 + best));
    if (solution->status == SolveStatus::Optimal) {
      CHECK(solution->cost == Approx(best).epsilon(1e-8));
      ++optimal;
    }
  }
  return optimal;
}

TEST_CASE("without memory the solver finds the optimum of every small problem") {
  RandomShape shape;
  shape.spaces = 1;
  shape.budgetShare = 1;
  int infeasible = 0;
  int optimal = compareMany(shape, 300, 1, {}, infeasible);
  CHECK(optimal + infeasible == 300);
}

TEST_CASE("with memory the solver finds the optimum of every small problem") {
  for (double budget : {0.1, 0.2, 0.3, 0.4}) {
    RandomShape shape;
    shape.nodes = 7;
    shape.budgetShare = budget;
    shape.isInteger = budget < 0.25;
    int infeasible = 0;
    int optimal = compareMany(shape, 150, 7 + static_cast<unsigned>(100 * budget), {}, infeasible);
    CHECK(optimal + infeasible == 150);
    CHECK(optimal > 0);
  }
}

TEST_CASE("several memory spaces are respected together") {
  RandomShape shape;
  shape.nodes = 7;
  shape.spaces = 3;
  shape.budgetShare = 0.35;
  int infeasible = 0;
  int optimal = compareMany(shape, 200, 3, {}, infeasible);
  CHECK(optimal + infeasible == 200);
}

TEST_CASE("2000 networks with up to four intervals per node in 1 to 3 spaces are solved exactly") {
  int infeasible = 0, optimal = 0;
  for (int spaces : {1, 2, 3})
    for (double budget : {0.3, 0.5}) {
      RandomShape shape;
      shape.nodes = 5 + spaces;
      shape.maxChoices = 3;
      shape.spaces = spaces;
      shape.maxUsages = 4;
      shape.budgetShare = budget;
      shape.isInteger = spaces != 2;
      optimal += compareMany(shape, 334, 31 + static_cast<unsigned>(spaces), {}, infeasible);
    }
  CHECK(optimal + infeasible == 2004);
  CHECK(optimal > 1000);
  CHECK(infeasible > 50);
}

TEST_CASE("problems with many followers are solved to the optimum") {
  RandomShape shape;
  shape.nodes = 8;
  shape.maxChoices = 3;
  shape.edgesPerNode = 1.1;
  shape.forbiddenShare = 0.35;
  shape.budgetShare = 0.4;
  int infeasible = 0;
  int optimal = compareMany(shape, 400, 23, {}, infeasible);
  CHECK(optimal + infeasible == 400);
  CHECK(optimal > 40);
}

TEST_CASE("split tables and few iterations still give valid bounds") {
  RandomShape shape;
  shape.nodes = 8;
  shape.maxChoices = 3;
  shape.edgesPerNode = 2.5;
  shape.forbiddenShare = 0.02;
  shape.budgetShare = 0.35;
  SolveOptions options;
  options.maxTableEntries = 9;
  options.maxIterations = 15;
  options.maxSearchRounds = 5;
  options.maxBranches = 2000;
  int infeasible = 0;
  int optimal = compareMany(shape, 200, 11, options, infeasible);
  CHECK(optimal > 100);
}

TEST_CASE("followers whose intervals overlap with their leader's are counted together") {
  // Three nodes that must agree, each with its own interval around the same time.
  Problem problem;
  problem.spaces.push_back({"device", 10});
  for (int v = 0; v < 3; ++v)
    problem.nodes.push_back({"n" + std::to_string(v),
                             {{v, v + 3, 0}},
                             {{"large", 0, {4}}, {"middle", 1, {3}}, {"small", 2, {1}}}});
  const double no = kForbidden;
  for (int v = 0; v < 2; ++v)
    problem.edges.push_back({v, v + 1, {0, no, no, no, 0, no, no, no, 0}});
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  CHECK(checkSolution(problem, *solution));
  CHECK(solution->choices == std::vector<int>{1, 1, 1});
}
