// The reports of solve(): costs, prices of memory, and the reasons for infeasibility.
#include "compiler/solver/Solver.h"
#include "compiler/solver/Check.h"
#include "test/unit/solver/TrainingStepProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("too little memory is infeasible, and the smallest budget it names is enough") {
  Problem problem = trainingStepProblem(8, 8, 0.1, 1);
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  REQUIRE(solution->status == SolveStatus::Infeasible);
  const Infeasibility why = solution->infeasibility;
  CHECK(why.space == 0);
  CHECK(why.smallestBudget[0] > problem.spaces[0].budget);
  CHECK(why.provenBudget[0] > problem.spaces[0].budget);
  CHECK(why.provenBudget[0] <= why.smallestBudget[0]);
  CHECK_FALSE(why.bindingNodes.empty());
  CHECK(why.message.find("memory space 'device' has ") == 0);

  problem.spaces[0].budget = why.smallestBudget[0];
  solution = solve(problem);
  REQUIRE(solution);
  CHECK(checkSolution(problem, *solution));
  problem.spaces[0].budget = why.provenBudget[0] - 1;
  CHECK(solve(problem)->status == SolveStatus::Infeasible);
}

TEST_CASE("choices that exclude each other are infeasible and name a node") {
  Problem problem;
  problem.nodes.push_back({"a", {}, {{"x", 1, {}}, {"y", 2, {}}}});
  problem.nodes.push_back({"b", {}, {{"x", 1, {}}, {"y", 2, {}}}});
  problem.edges.push_back({0, 1, {kForbidden, kForbidden, kForbidden, kForbidden}});
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  CHECK(solution->status == SolveStatus::Infeasible);
  CHECK(solution->infeasibility.space == -1);
  CHECK(solution->infeasibility.message.find("node 'a'") != std::string::npos);
}

TEST_CASE("a problem without nodes costs nothing") {
  Result<Solution> solution = solve({});
  REQUIRE(solution);
  CHECK(solution->status == SolveStatus::Optimal);
  CHECK(solution->cost == 0);
}

TEST_CASE("the price of memory is the seconds that one more byte saves") {
  // Each node saves 3 seconds per byte by taking its bytes; the budget ends within one of them.
  Problem problem;
  problem.spaces = {{"slack", 1000}, {"device", 22}};
  for (int v = 0; v < 9; ++v)
    problem.nodes.push_back(
        {"n" + std::to_string(v), {{0, 9, 1}, {0, 9, 0}}, {{"", 0, {5, 1}}, {"", 15, {0, 0}}}});
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  CHECK(checkSolution(problem, *solution));
  CHECK(solution->cost == 5 * 15);
  CHECK(solution->shadowPrice[0] == 0);
  CHECK(solution->shadowPrice[1] == Approx(3).epsilon(0.05));
}

TEST_CASE("a gap within the accepted one is reported as none") {
  Problem problem = trainingStepProblem(8, 8, 0.2, 3);
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = 20;
  options.maxBranches = 0;
  Result<Solution> open = solve(problem, options);
  REQUIRE(open);
  REQUIRE(open->gap > 0);
  CHECK(open->status == SolveStatus::Feasible);
  CHECK(open->gap == Approx((open->cost - open->lowerBound) / open->cost));
  options.acceptedGap = 2 * open->gap;
  Result<Solution> accepted = solve(problem, options);
  REQUIRE(accepted);
  CHECK(accepted->status == SolveStatus::Optimal);
  CHECK(accepted->gap == 0);
  CHECK(accepted->lowerBound == accepted->cost);
}

TEST_CASE("of two spaces that are exceeded the one that is exceeded by the larger share binds") {
  Problem problem;
  problem.spaces = {{"host", 100}, {"device", 10}};
  problem.nodes.push_back({"large", {{0, 2, 0}}, {{"", 1, {130}}}});
  problem.nodes.push_back({"small", {{3, 6, 1}}, {{"", 1, {11}}, {"", 2, {12}}}});
  problem.nodes.push_back({"beside", {{4, 5, 1}}, {{"", 1, {9}}}});
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  REQUIRE(solution->status == SolveStatus::Infeasible);
  const Infeasibility &why = solution->infeasibility;
  CHECK(why.space == 1); // 20 bytes in 10, and 130 in 100
  CHECK(why.time == 4);
  CHECK(why.bindingNodes == std::vector<int>{1, 2});
  CHECK(why.smallestBudget == std::vector<int64_t>{130, 20});
  CHECK(why.message == "memory space 'device' has 10 bytes, but 20 bytes are needed at time 4");
  problem.spaces[1].budget = 19;
  CHECK(solve(problem)->infeasibility.space == 0); // 130 in 100 is more than 20 in 19
}
