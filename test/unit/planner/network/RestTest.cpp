// Dominance, lists and rests.
#include "compiler/planner/network/Rest.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

using Indices = std::vector<size_t>;

TEST_CASE("a choice is dominated by one of the same layouts that is neither slower nor larger") {
  const std::vector<solver::Choice> all = {{"", 3, {10, 10}}, {"", 1, {20, 5}}, {"", 2, {20, 6}},
                                           {"", 4, {1, 1}},   {"", 1, {20, 5}}, {"", 4, {1, 1}}};
  const LayoutNumbers alike(all.size(), {7, 8});
  CHECK(listChoices(all, alike, {}, 10).listed == Indices{0, 1, 3});
  LayoutNumbers different = alike;
  different[2] = {8, 7};
  CHECK(listChoices(all, different, {}, 10).listed == Indices{0, 1, 2, 3});
}

TEST_CASE("impossible choices are neither listed nor part of a rest") {
  const Listed list = listChoices({{"", solver::kForbidden, {1}}, {"", 2, {5}}, {"", 3, {4}}},
                                  {{1}, {2}, {3}}, {}, 1);
  CHECK(list.listed == Indices{1});
  CHECK(list.others == Indices{2});
}

TEST_CASE("a rest has the least seconds, bytes and layouts of all that it stands for") {
  // The first is listed, then the fastest, then the smallest.
  const std::vector<solver::Choice> all = {
      {"", 9, {9, 9}}, {"", 1, {7, 8}}, {"", 5, {6, 2}}, {"", 4, {3, 7}}, {"", 8, {0, 1}}};
  const LayoutNumbers layouts = {{0}, {1}, {2}, {1}, {3}};
  const Listed list = listChoices(all, layouts, {42}, 3);
  CHECK(list.listed == Indices{0, 1, 4});
  CHECK(list.others == Indices{2, 3});
  REQUIRE(list.priced.size() == 4);
  CHECK(list.priced[3] == solver::Choice{"rest", 4, {3, 2}});
  CHECK(list.rest.choice == 3);
  CHECK(list.rest.list == ListKey{42});
  const LayoutSet set = layoutsOf(list, layouts, 0);
  CHECK(set.ofChoice == std::vector<int>{0, 1, 2, 3});
  CHECK(set.alternatives() == std::vector<std::vector<int>>{{0}, {1}, {3}, {1, 2}});
  CHECK(set.all() == std::vector<int>{0, 1, 3, 2});
}
