// The solver on problems with the structure and size of training steps.
#include "compiler/solver/Check.h"
#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/TrainingStepProblem.h"

#include <catch2/catch.hpp>

#include <random>

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

// Layers of a parameter and the ops that use it, which agree to keep it whole or split: what a
// change of one of them alone would cost is more than it saves. Bytes and seconds of a layer are in
// proportion, so that at any price all layers are whole or all are split.
static Problem layersProblem(int layers, int ops, double budgetShare) {
  Problem problem;
  int64_t whole = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const int64_t bytes = 1000 + 37 * (layer % 7);
    const double seconds = 1e-3 * static_cast<double>(bytes);
    const int first = static_cast<int>(problem.nodes.size());
    problem.nodes.push_back({"parameter", {{0, 10, 0}}, {{"", 0, {bytes}}, {"", seconds, {0}}}});
    for (int op = 1; op <= ops; ++op) {
      problem.nodes.push_back({"op", {}, {{"", 0, {}}, {"", 0, {}}}});
      for (int other = first; other < first + op; ++other)
        problem.edges.push_back({other, first + op, {0, seconds, seconds, 0}});
    }
    whole += bytes;
  }
  problem.spaces = {{"device", static_cast<int64_t>(budgetShare * static_cast<double>(whole))}};
  return problem;
}

TEST_CASE("of layers that cannot all be whole, as many are as fit") {
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 20;
  for (double share : {0.3, 0.6, 0.9}) {
    const Problem problem = layersProblem(40, 4, share);
    Result<Solution> solution = solve(problem, options);
    REQUIRE(solution);
    CHECK(checkSolution(problem, *solution));
    CHECK(solution->gap < 0.01);
  }
}

// A square of nodes, each with an edge to its right and to its lower neighbour: too wide for exact
// elimination. Costs are random.
static Problem gridProblem(int side, int choices, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> cost(0.0, 1.0);
  Problem problem;
  auto addEdge = [&](int from, int to) {
    std::vector<double> costs(static_cast<size_t>(choices) * choices);
    for (double &entry : costs)
      entry = cost(random);
    problem.edges.push_back({from, to, std::move(costs)});
  };
  for (int v = 0; v < side * side; ++v) {
    std::vector<Choice> list;
    for (int i = 0; i < choices; ++i)
      list.push_back({"", 1 + cost(random), {}});
    problem.nodes.push_back({"node", {}, std::move(list)});
    if (v % side > 0)
      addEdge(v - 1, v);
    if (v >= side)
      addEdge(v - side, v);
  }
  return problem;
}

TEST_CASE("a solve that goes on from its bound finds a solution above it") {
  const Problem problem = gridProblem(12, 6, 1);
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 20;
  Result<Bounded> bounded = lowerBound(problem, options);
  REQUIRE(bounded);
  Result<Solution> solution = solve(problem, options, bounded->begun);
  REQUIRE(solution);
  CHECK(checkSolution(problem, *solution));
  CHECK(solution->lowerBound >= bounded->seconds);
  CHECK(solution->cost < 1.02 * bounded->seconds); // messages: split tables are further off
}

TEST_CASE("a bound rises step by step to the final one") {
  const Problem problem = gridProblem(12, 6, 2);
  Result<Bounded> bounded = beginBound(problem);
  REQUIRE(bounded);
  CHECK(bounded->seconds == -kForbidden);
  int steps = 0;
  for (double before = -kForbidden; !bounded->isFinal; before = bounded->seconds, ++steps) {
    raise(*bounded);
    CHECK(bounded->seconds >= before);
  }
  CHECK(steps > 2);
  CHECK(bounded->seconds == lowerBound(problem)->seconds);
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 20;
  Result<Solution> solution = solve(problem, options);
  REQUIRE(solution);
  CHECK(bounded->seconds <= solution->cost);
}

TEST_CASE("a bound of a network without permitted choices is final at once") {
  Problem problem = gridProblem(2, 2, 1);
  problem.edges[0].cost = std::vector<double>(4, kForbidden);
  Result<Bounded> bounded = beginBound(problem);
  REQUIRE(bounded);
  raise(*bounded);
  CHECK(bounded->isFinal);
  CHECK(bounded->seconds == kForbidden);
}

TEST_CASE("a gap that one solve leaves is closed by another one that goes on") {
  const Problem problem = gridProblem(12, 6, 1);
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 20;
  Result<Solution> whole = solve(problem, options);
  Result<Bounded> begun = beginBound(problem, options);
  REQUIRE((whole && begun));
  options.closesGap = false;
  Result<Solution> first = solve(problem, options, begun->begun);
  options.closesGap = true;
  Result<Solution> second = solve(problem, options, begun->begun);
  REQUIRE((first && second));
  CHECK(checkSolution(problem, *first));
  CHECK(first->gap > second->gap);
  whole->seconds = second->seconds = 0;
  CHECK(toJson(*whole) == toJson(*second));
}

TEST_CASE("a good gap ends the solve and is reported as it is") {
  const Problem problem = gridProblem(12, 6, 1);
  SolveOptions options;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 20;
  Result<Solution> whole = solve(problem, options);
  options.goodGap = 0.1;
  Result<Solution> good = solve(problem, options);
  REQUIRE((whole && good));
  CHECK(checkSolution(problem, *good));
  CHECK(good->iterations < whole->iterations);
  CHECK(good->status == SolveStatus::Feasible);
  CHECK((good->gap > 0 && good->gap <= 0.1));
  CHECK(good->lowerBound <= whole->cost);
}
