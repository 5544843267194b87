// Problems and solutions as JSON.
#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
#include "runtime/base/Json.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("a problem is the same after writing and reading") {
  std::mt19937 random(5);
  for (int k = 0; k < 20; ++k) {
    Problem problem = randomProblem({}, random);
    Result<Problem> read = problemFromJson(toJson(problem));
    REQUIRE(read);
    CHECK(*read == problem);
  }
}

TEST_CASE("a solution is written with all its numbers") {
  std::mt19937 random(6);
  Problem problem = randomProblem({}, random);
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  const Json written = Json::parse(toJson(*solution));
  CHECK(written["status"] == "optimal");
  CHECK(written["choices"] == solution->choices);
  CHECK(*choicesFromJson(toJson(*solution)) == solution->choices);
  CHECK(written["cost"] == solution->cost);
  CHECK(written["lower_bound"] == solution->lowerBound);
  CHECK(written["gap"] == 0);
  CHECK(written["peaks"][0]["bytes"] == solution->peaks[0].bytes);
  CHECK(written["peaks"][0]["live_nodes"] == solution->peaks[0].liveNodes);
  CHECK(written["shadow_price"] == solution->shadowPrice);
  CHECK(written["iterations"] == solution->iterations);
  CHECK(written.count("infeasibility") == 0);
}

TEST_CASE("why nothing fits is written, and costs that are infinite as null") {
  Problem problem;
  problem.spaces.push_back({"device", 3});
  problem.nodes.push_back({"a", {{0, 1, 0}}, {{"", 1, {5}}}});
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  const Json written = Json::parse(toJson(*solution));
  CHECK(written["status"] == "infeasible");
  CHECK(written["lower_bound"].is_null());
  CHECK(written["infeasibility"]["smallest_budget"] == std::vector<int64_t>{5});
  CHECK(written["infeasibility"]["space"] == 0);
  CHECK(written["infeasibility"]["message"] == solution->infeasibility.message);
}

TEST_CASE("choices are read from a solution or from a list of numbers") {
  CHECK(*choicesFromJson(R"({"choices": [0, 2, 1], "cost": 3})") == std::vector<int>{0, 2, 1});
  CHECK(*choicesFromJson("[0, 2]") == std::vector<int>{0, 2});
  for (const char *text : {"{}", "[0.5]", "[0", "3"})
    CHECK_FALSE(choicesFromJson(text));
}

TEST_CASE("a malformed problem is refused with the place of the error") {
  CHECK(problemFromJson("{").status().message().find("not a problem in JSON") == 0);
  Result<Problem> noCost = problemFromJson(
      R"({"spaces": [], "nodes": [{"choices": [{"cost": 1}]}, {"choices": [{}]}], "edges": []})");
  REQUIRE_FALSE(noCost);
  CHECK(noCost.status().message().find("at '/nodes/1'") != std::string::npos);
  CHECK(noCost.status().exitCode() == 1);
  Result<Problem> badEdge = problemFromJson(
      R"({"spaces": [], "nodes": [{"choices": [{"cost": 1}]}], "edges": [{"from": 0, "to": 3, "cost": []}]})");
  REQUIRE_FALSE(badEdge);
  CHECK(badEdge.status().message() == "edge 0 joins nodes 0 and 3, but there are 1");
}

TEST_CASE("numbers of a problem that do not fit each other are refused with their place") {
  // Two nodes, one interval of memory and an edge, which each case changes in one place.
  auto messageOf = [](const std::string &choices, const std::string &edge,
                      const std::string &budget = "8") {
    return problemFromJson(R"({"spaces": [{"name": "device", "budget": )" + budget +
                           R"(}], "nodes": [{"choices": [{"cost": 1}]}, {"usages": [[0, 1]],
                           "choices": [)" +
                           choices + R"(]}], "edges": [)" + edge + "]}")
        .status()
        .message();
  };
  const std::string good = R"({"cost": 1, "bytes": [4]})";
  const std::string edge = R"({"from": 0, "to": 1, "cost": [2]})";
  CHECK(messageOf(good, edge) == "");
  CHECK(messageOf(R"({"cost": 1, "bytes": [4, 4]})", edge) ==
        "node 1, choice 0 states bytes for 2 intervals, expected 1");
  CHECK(messageOf(R"({"cost": 1, "bytes": [-4]})", edge) ==
        "node 1, choice 0 takes -4 bytes, expected a number >= 0");
  CHECK(messageOf(good, R"({"from": 1, "to": 1, "cost": [2]})") ==
        "edge 0 joins node 1 with itself; add its cost to the choices instead");
  CHECK(messageOf(good, R"({"from": 0, "to": 1, "cost": [2, 3]})") ==
        "edge 0 has 2 costs, expected 1 (choices of one times choices of the other)");
  CHECK(messageOf(good, edge, "-1").find("budget") != std::string::npos);
}
