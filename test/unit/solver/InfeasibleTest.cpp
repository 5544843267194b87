// Results of the solver when nothing fits.
#include "compiler/solver/Check.h"
#include "compiler/solver/Solver.h"
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

TEST_CASE("the checker finds errors of a solution") {
  Problem problem = trainingStepProblem(2, 4, 1, 1);
  Result<Solution> solution = solve(problem);
  REQUIRE(checkSolution(problem, *solution));
  Solution wrong = *solution;
  wrong.cost *= 1.01;
  CHECK(checkSolution(problem, wrong).message().find("stated cost") == 0);
  wrong = *solution;
  wrong.lowerBound = solution->cost * 2;
  CHECK(checkSolution(problem, wrong).message().find("the lower bound") == 0);
  wrong = *solution;
  wrong.peaks[0].bytes -= 1;
  CHECK(checkSolution(problem, wrong).message().find("the stated peak") == 0);
  wrong = *solution;
  wrong.choices[0] = 99;
  CHECK(checkSolution(problem, wrong).message().find("node 0 has no choice") == 0);
  problem.spaces[0].budget = solution->peaks[0].bytes - 1;
  CHECK(checkSolution(problem, *solution).message().find("memory space 'device'") == 0);
}
