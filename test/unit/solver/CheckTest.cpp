// Cost, peaks and violations of given choices.
#include "compiler/solver/Check.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/RandomProblem.h"
#include "test/unit/solver/TrainingStepProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("every violation of given choices is named") {
  Problem problem;
  problem.spaces.push_back({"device", 5});
  problem.nodes.push_back({"a", {{0, 2, 0}}, {{"", 1, {3}}, {"never", kForbidden, {0}}}});
  problem.nodes.push_back({"b", {{1, 3, 0}}, {{"", 1, {3}}, {"", 2, {1}}}});
  problem.edges.push_back({0, 1, {0, kForbidden, 0, 0}});
  CHECK(violations(problem, {0, 0}) ==
        std::vector<std::string>{"memory space 'device' holds 6 bytes at time 1, its budget is 5"});
  CHECK(violations(problem, {0, 1}) ==
        std::vector<std::string>{"forbidden: choice 0 of node 0 'a' with choice 1 of node 1 'b'"});
  CHECK(violations(problem, {1, 0}) ==
        std::vector<std::string>{"forbidden: choice 1 (never) of node 0 'a'"});
  CHECK(violations(problem, {2, 0}) == std::vector<std::string>{"node 0 has no choice 2"});
  CHECK(violations(problem, {0}).size() == 1);
  problem.spaces[0].budget = 6;
  CHECK(violations(problem, {0, 0}).empty());
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

TEST_CASE("peaks are the most bytes of any time point, and name the nodes that hold them") {
  RandomShape shape;
  shape.spaces = 2;
  shape.maxUsages = 3;
  std::mt19937 random(9);
  for (int k = 0; k < 100; ++k) {
    const Problem problem = randomProblem(shape, random);
    std::vector<int> choices;
    for (const Node &node : problem.nodes)
      choices.push_back(static_cast<int>(random() % node.choices.size()));
    const std::vector<MemoryPeak> peaks = memoryPeaks(problem, choices);
    REQUIRE(peaks.size() == 2);
    for (int space = 0; space < 2; ++space) {
      MemoryPeak most;
      for (int64_t time = 0; time < int64_t(2) * shape.nodes; ++time) {
        int64_t inUse = 0;
        std::vector<std::pair<int64_t, int>> holders;
        for (size_t v = 0; v < problem.nodes.size(); ++v) {
          const Node &node = problem.nodes[v];
          int64_t bytes = 0;
          for (size_t u = 0; u < node.usages.size(); ++u)
            if (const Usage &usage = node.usages[u];
                usage.space == space && usage.begin <= time && time < usage.end)
              bytes += node.choices[choices[v]].bytes[u];
          if (bytes > 0)
            holders.push_back({-bytes, static_cast<int>(v)});
          inUse += bytes;
        }
        if (inUse <= most.bytes)
          continue;
        std::sort(holders.begin(), holders.end());
        most = {inUse, time, {}};
        for (auto [bytes, v] : holders)
          most.liveNodes.push_back(v);
      }
      INFO("problem " << k << ", space " << space);
      CHECK(peaks[space].bytes == most.bytes);
      if (most.bytes > 0) {
        CHECK(peaks[space].time == most.time);
        CHECK(peaks[space].liveNodes == most.liveNodes);
      }
    }
  }
}

TEST_CASE("numbers that differ by more than rounding are not the same") {
  Problem problem;
  problem.nodes.push_back({"a", {}, {{"", 1, {}}}});
  Solution solution = *solve(problem);
  REQUIRE(checkSolution(problem, solution));
  for (double tolerated : {1 + 0.9e-9, 1 - 0.9e-9}) {
    solution.cost = tolerated;
    CHECK(checkSolution(problem, solution));
  }
  for (double wrong : {1 + 1.1e-9, 1 - 1.1e-9}) {
    solution.cost = wrong;
    CHECK_FALSE(checkSolution(problem, solution));
  }
  solution.cost = 1;
  solution.gap = 1e-8;
  CHECK(checkSolution(problem, solution).message().find("stated gap") == 0);
}
