// Tables of seconds between the choices of two nodes.
#include "compiler/planner/network/EdgeCosts.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// Two values of one shape, on 4 ranks.
struct EdgeCase {
  EdgeCase()
      : rows(costs.number({{{0}, {}}, {}, {}})), columns(costs.number({{{}, {0}}, {}, {}})),
        whole(costs.number(Sharding::replicated(2))) {}

  const StepModel model = trainingModel(64, 32, 32);
  const Mesh mesh = *Mesh::parse("a=4");
  Costs costs{model, h100Node(), mesh};
  EdgeCosts edges{costs};
  int rows, columns, whole;
  const int value = model.ops[0].results[0], other = model.ops[1].results[0];
};

LayoutSet setOf(const std::vector<int> &layouts) {
  LayoutSet set;
  for (int layout : layouts)
    set.add(layout);
  return set;
}

} // namespace

TEST_CASE("a table has the seconds of every pair of choices, as often as the edge is passed") {
  EdgeCase c;
  const std::vector<int> made = {c.rows, c.whole, c.rows}, wanted = {c.columns, c.rows};
  const solver::CostTable table = c.edges.between(c.value, setOf(made), setOf(wanted), 3);
  REQUIRE(table.size() == made.size() * wanted.size());
  for (size_t a = 0; a < made.size(); ++a)
    for (size_t b = 0; b < wanted.size(); ++b)
      CHECK(table[a * wanted.size() + b] == 3 * c.costs.reshard(c.value, made[a], wanted[b]));
  CHECK(table[0] > 0);
}

TEST_CASE("a table that costs nothing is empty") {
  EdgeCase c;
  CHECK(c.edges.between(c.value, setOf({c.rows}), setOf({c.rows}), 1).empty());
  CHECK(c.edges.between(c.value, setOf({c.rows, c.rows}), setOf({c.rows}), 5).empty());
}

TEST_CASE("values of one shape share the table between equal layouts") {
  EdgeCase c;
  REQUIRE(c.model.values[c.value].shape == c.model.values[c.other].shape);
  const LayoutSet made = setOf({c.rows, c.whole}), wanted = setOf({c.columns});
  const solver::CostTable first = c.edges.between(c.value, made, wanted, 1);
  CHECK(c.edges.between(c.other, made, wanted, 1).identity() == first.identity());
  CHECK(c.edges.between(c.value, made, wanted, 2).identity() != first.identity());
}

TEST_CASE("a rest has the least seconds of all layouts that it stands for") {
  EdgeCase c;
  LayoutSet made = setOf({c.rows});
  made.others = {c.columns, c.whole};
  made.ofChoice.push_back(1);
  const solver::CostTable table = c.edges.between(c.value, made, setOf({c.columns}), 1);
  REQUIRE(table.size() == 2);
  CHECK(table[0] == c.costs.reshard(c.value, c.rows, c.columns));
  CHECK(table[1] == 0);
}

TEST_CASE("a reader takes the value where it lives only in the layout that it has there") {
  EdgeCase c;
  const LayoutSet made = setOf({c.rows, c.columns}), read = setOf({c.rows, c.rows});
  const solver::CostTable table = c.edges.homes(made, read, {true, false});
  REQUIRE(table.size() == 4);
  CHECK(table[0] == 0);                  // by rows, where it lives by rows
  CHECK(table[1] == 0);                  // a copy
  CHECK(table[2] == solver::kForbidden); // by rows, where it lives by columns
  CHECK(table[3] == 0);
  CHECK(c.edges.homes(made, read, {false, false}).empty());
}
