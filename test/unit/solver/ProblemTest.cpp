// The conditions on a problem, each violated once.
#include "compiler/solver/Problem.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/RandomProblem.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("an invalid problem is a user error that names the node") {
  Problem problem;
  problem.nodes.push_back({"lonely", {}, {}});
  Result<Solution> solution = solve(problem);
  REQUIRE_FALSE(solution);
  CHECK(solution.status().message() == "node 0 ('lonely') has no choices, expected at least one");
}

TEST_CASE("each condition on a problem is refused by a sentence of its own") {
  Problem good;
  good.spaces.push_back({"device", 5});
  good.nodes.push_back({"a", {{0, 2, 0}}, {{"", 1, {3}}, {"", 2, {0}}}});
  good.nodes.push_back({"", {}, {{"", 1, {}}}});
  good.edges.push_back({0, 1, {1, kForbidden}});
  REQUIRE(validate(good));
  auto messageOf = [&](auto change) {
    Problem problem = good;
    change(problem);
    const Status status = validate(problem);
    CHECK(status.exitCode() == 1);
    return status.message();
  };
  const double nan = std::nan("");
  CHECK(messageOf([](Problem &p) { p.spaces[0].budget = -1; }) ==
        "memory space 'device' has a negative budget");
  CHECK(messageOf([](Problem &p) { p.nodes[1].choices = {}; }) ==
        "node 1 has no choices, expected at least one");
  CHECK(messageOf([](Problem &p) { p.nodes[0].usages[0].space = 1; }) ==
        "node 0 ('a') uses memory space 1, but there are 1");
  CHECK(messageOf([](Problem &p) { p.nodes[0].usages[0].space = -1; }) ==
        "node 0 ('a') uses memory space -1, but there are 1");
  CHECK(messageOf([&](Problem &p) { p.nodes[1].choices = {{"", nan, {}}}; }) ==
        "node 1, choice 0 has a cost that is no number or -infinity");
  CHECK(messageOf([](Problem &p) { p.nodes[1].choices = {{"", -kForbidden, {}}}; }) ==
        "node 1, choice 0 has a cost that is no number or -infinity");
  CHECK(messageOf([](Problem &p) { p.nodes[1].choices = {{"", 1, {7}}}; }) ==
        "node 1, choice 0 states bytes for 1 intervals, expected 0");
  CHECK(messageOf([](Problem &p) { p.nodes[0].choices = {{"", 1, {-7}}}; }) ==
        "node 0 ('a'), choice 0 takes -7 bytes, expected a number >= 0");
  CHECK(messageOf([](Problem &p) { p.edges[0].to = 2; }) ==
        "edge 0 joins nodes 0 and 2, but there are 2");
  CHECK(messageOf([](Problem &p) { p.edges[0].from = -1; }) ==
        "edge 0 joins nodes -1 and 1, but there are 2");
  CHECK(messageOf([](Problem &p) { p.edges[0].to = 0; }) ==
        "edge 0 joins node 0 ('a') with itself; add its cost to the choices instead");
  CHECK(messageOf([](Problem &p) { p.edges[0].cost = {1}; }) ==
        "edge 0 has 1 costs, expected 2 (choices of one times choices of the other)");
  CHECK(messageOf([&](Problem &p) { p.edges[0].cost = {1, nan}; }) ==
        "edge 0 has a cost that is no number or -infinity");
}

TEST_CASE("a table that several edges share is refused in whichever edge has it first") {
  Problem problem;
  for (int v = 0; v < 3; ++v)
    problem.nodes.push_back({"", {}, {{"", 1, {}}}});
  const CostTable good = {1}, bad = {-kForbidden};
  problem.edges = {{0, 1, good}, {1, 2, bad}, {0, 2, bad}};
  CHECK(validate(problem).message() == "edge 1 has a cost that is no number or -infinity");
}

TEST_CASE("random problems are valid") {
  std::mt19937 random(3);
  for (int k = 0; k < 50; ++k)
    CHECK(validate(randomProblem({}, random)));
}
