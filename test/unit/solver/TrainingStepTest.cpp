// The solver on problems with the structure and size of training steps.
#include "compiler/solver/Check.h"
#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/TrainingStepProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("a training step of 512 nodes and 20 choices with slack memory is solved to optimality") {
  Problem problem = trainingStepProblem(64, 20, 1.0, 1);
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  CHECK(checkSolution(problem, *solution));
  CHECK(solution->status == SolveStatus::Optimal);
  CHECK(solution->seconds < 30); // below 1 on an idle machine
}

TEST_CASE("with tight memory the gap stays small and proven") {
  for (double budget : {0.3, 0.15}) {
    Problem problem = trainingStepProblem(24, 8, budget, 2);
    Result<Solution> solution = solve(problem);
    REQUIRE(solution);
    CHECK(checkSolution(problem, *solution));
    CHECK(solution->gap < 0.02);
    CHECK(solution->shadowPrice[0] > 0);
  }
}

TEST_CASE("the same problem gives the same solution") {
  Problem problem = trainingStepProblem(8, 8, 0.25, 3);
  Result<Solution> first = solve(problem), second = solve(problem);
  REQUIRE((first && second));
  first->seconds = second->seconds = 0;
  CHECK(toJson(*first) == toJson(*second));
}

TEST_CASE("with two threads the same problem gives the same solution, too") {
  Problem problem = trainingStepProblem(12, 8, 0.2, 5);
  SolveOptions options;
  options.threads = 2;
  options.maxIterations = options.maxBranches = 20;
  Result<Solution> first = solve(problem, options), second = solve(problem, options);
  REQUIRE((first && second));
  CHECK(checkSolution(problem, *first));
  first->seconds = second->seconds = 0;
  CHECK(toJson(*first) == toJson(*second));
}

TEST_CASE("beyond a cutoff it is enough to prove that nothing costs less") {
  Problem problem = trainingStepProblem(24, 8, 0.3, 2);
  Result<Solution> whole = solve(problem);
  REQUIRE(whole);
  CHECK(lowerBound(problem)->seconds <= whole->cost);
  SolveOptions options;
  options.cutoff = whole->cost * 0.9;
  Result<Solution> less = solve(problem, options);
  REQUIRE(less);
  CHECK(less->lowerBound >= options.cutoff);
  CHECK(less->lowerBound <= whole->cost);
  CHECK(less->iterations < whole->iterations);
  options.cutoff = whole->cost * 1.1;
  Result<Solution> more = solve(problem, options);
  REQUIRE(more);
  CHECK(checkSolution(problem, *more));
  CHECK(more->cost < options.cutoff);
}
