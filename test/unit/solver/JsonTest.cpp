// Problems, solutions and contest instances as JSON.
#include "compiler/solver/Json.h"
#include "compiler/solver/Check.h"
#include "compiler/solver/Contest.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

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

TEST_CASE("a solution is the same after writing and reading") {
  std::mt19937 random(6);
  Problem problem = randomProblem({}, random);
  Result<Solution> solution = solve(problem);
  REQUIRE(solution);
  Result<Solution> read = solutionFromJson(toJson(*solution));
  REQUIRE(read);
  CHECK(read->choices == solution->choices);
  CHECK(read->status == solution->status);
  CHECK(checkSolution(problem, *read));
  CHECK(toJson(*read) == toJson(*solution));
}

TEST_CASE("choices are read from a solution or from a list of numbers") {
  CHECK(*choicesFromJson(R"({"choices": [0, 2, 1], "cost": 3})") == std::vector<int>{0, 2, 1});
  CHECK(*choicesFromJson("[0, 2]") == std::vector<int>{0, 2});
  for (const char *text : {"{}", "[0.5]", "[0", "3"})
    CHECK_FALSE(choicesFromJson(text));
}

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

TEST_CASE("an invalid problem is a user error that names the node") {
  Problem problem;
  problem.nodes.push_back({"lonely", {}, {}});
  Result<Solution> solution = solve(problem);
  REQUIRE_FALSE(solution);
  CHECK(solution.status().message() == "node 0 ('lonely') has no choices, expected at least one");
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

TEST_CASE("a malformed solution and files of the contest that cannot be read are refused") {
  CHECK(solutionFromJson("[]").status().message().find("not a solution in JSON: ") == 0);
  CHECK(readContestFile("/nowhere/x.json.gz").status().message() ==
        "cannot open '/nowhere/x.json.gz'");
  std::string path = (std::filesystem::temp_directory_path() /
                      ("cleave-contest-" + std::to_string(getpid()) + ".gz"))
                         .string();
  std::ofstream(path, std::ios::binary)
      << std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x07zzzzzzzz", 19);
  CHECK(readContestFile(path).status().message() ==
        "'" + path + "' is damaged: it cannot be decompressed");
  std::filesystem::remove(path);
}

TEST_CASE("an instance of the contest is read with its forbidden costs") {
  Result<Problem> problem = contestFromJson(R"({"problem": {"name": "tiny", "nodes": {
      "intervals": [[0, 2], [1, 1]], "costs": [[5, 1], [2, 1000000000000000000]],
      "usages": [[1, 9], [7, 7]]}, "edges": {"nodes": [[0, 1]], "costs": [[0, 1, 2, 3]]},
      "usage_limit": 8}})");
  REQUIRE(problem);
  CHECK(problem->nodes[1].choices[1].cost == kForbidden);
  Result<Solution> solution = solve(*problem);
  REQUIRE(solution);
  CHECK(solution->choices == std::vector<int>{0, 0});
  CHECK(solution->cost == 7);
  CHECK(solution->status == SolveStatus::Optimal);
}
