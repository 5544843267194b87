// Meshes as text, their checks, and the coordinates and groups of ranks.
#include "runtime/base/Mesh.h"

#include <catch2/catch.hpp>

using namespace cleave;

static const Mesh threeAxes{{{"dp", 2}, {"tp", 3}, {"pp", 2}}};

TEST_CASE("a mesh is read from what it is written as") {
  for (const char *text : {"dp=2", "dp=2,tp=4", "a=1,b=16,c=3"}) {
    const Result<Mesh> mesh = Mesh::parse(text);
    REQUIRE(mesh);
    CHECK(mesh->str() == text);
  }
  CHECK(*Mesh::parse("dp=2,tp=4") == Mesh{{{"dp", 2}, {"tp", 4}}});
  auto expected = [](const std::string &text) {
    return "found '" + text + "', expected AXIS=N,..., for example dp=2,tp=2";
  };
  for (const char *text :
       {"", "dp", "=2", "dp=", "dp=2x", "dp=2,", ",dp=2", "dp=99999999999999999999"})
    CHECK(Mesh::parse(text).status().message() == expected(text));
  for (auto [text, reason] :
       {std::pair("dp=0", "mesh axis \"dp\" has 0 ranks, expected at least one"),
        std::pair("dp=-1", "mesh axis \"dp\" has -1 ranks, expected at least one"),
        std::pair("dp=2,dp=4", "mesh axis \"dp\" occurs twice")})
    CHECK(Mesh::parse(text).status().message() == expected(text) + ": " + reason);
}

TEST_CASE("every axis has ranks and a name of its own") {
  CHECK(Mesh().check());
  CHECK(threeAxes.check());
  CHECK(Mesh{{{"dp", 2}, {"tp", 0}}}.check().message() ==
        "mesh axis \"tp\" has 0 ranks, expected at least one");
  CHECK(Mesh{{{"dp", 2}, {"tp", 2}, {"dp", 2}}}.check().message() ==
        "mesh axis \"dp\" occurs twice");
}

TEST_CASE("axes are named in their order") {
  CHECK(threeAxes.axesText({2, 0}) == "pp+dp");
  CHECK(threeAxes.axesText({}) == "");
}

TEST_CASE("a rank's coordinates count the first axis as major") {
  CHECK(threeAxes.sizes() == std::vector<int64_t>{2, 3, 2});
  CHECK(threeAxes.ranks() == 12);
  CHECK(threeAxes.coordinates(0) == std::vector<int64_t>{0, 0, 0});
  CHECK(threeAxes.coordinates(11) == std::vector<int64_t>{1, 2, 1});
  CHECK(threeAxes.coordinates(8) == std::vector<int64_t>{1, 1, 0});
  CHECK(threeAxes.axisIndex("pp") == 2);
  CHECK(threeAxes.axisIndex("ep") == -1);
  CHECK(Mesh().ranks() == 1);
}

TEST_CASE("a group holds the ranks that differ only along its axes, in the order of their index") {
  CHECK(threeAxes.group(8, {1}) == std::vector<int64_t>{6, 8, 10});
  CHECK(threeAxes.group(8, {0, 2}) == std::vector<int64_t>{2, 3, 8, 9});
  CHECK(threeAxes.group(8, {2, 0}) == std::vector<int64_t>{2, 8, 3, 9});
  CHECK(threeAxes.group(8, {}) == std::vector<int64_t>{8});
  for (const std::vector<int> &axes : {std::vector<int>{1}, {2, 0}, {0, 1, 2}}) {
    for (int64_t rank = 0; rank < threeAxes.ranks(); ++rank) {
      std::vector<int64_t> group = threeAxes.group(rank, axes);
      CHECK(static_cast<int64_t>(group.size()) == threeAxes.ranksAlong(axes));
      CHECK(group[threeAxes.indexAlong(rank, axes)] == rank);
    }
  }
}
