// Coordinates of ranks in a mesh, and the blocks of even and uneven tensors.
#include "dialects/interfaces/Sharding.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;

static const Mesh mesh{{{"dp", 2}, {"tp", 3}, {"pp", 2}}};

TEST_CASE("a rank's coordinates count the first axis as major") {
  CHECK(mesh.ranks() == 12);
  CHECK(mesh.coordinates(0) == std::vector<int64_t>{0, 0, 0});
  CHECK(mesh.coordinates(11) == std::vector<int64_t>{1, 2, 1});
  CHECK(mesh.coordinates(8) == std::vector<int64_t>{1, 1, 0});
  CHECK(mesh.axisIndex("pp") == 2);
  CHECK(mesh.axisIndex("ep") == -1);
  CHECK(Mesh().ranks() == 1);
}

TEST_CASE("a group holds the ranks that differ only along its axes, in the order of their index") {
  CHECK(mesh.group(8, {1}) == std::vector<int64_t>{6, 8, 10});
  CHECK(mesh.group(8, {0, 2}) == std::vector<int64_t>{2, 3, 8, 9});
  CHECK(mesh.group(8, {2, 0}) == std::vector<int64_t>{2, 8, 3, 9});
  CHECK(mesh.group(8, {}) == std::vector<int64_t>{8});
  for (const std::vector<int> &axes : {std::vector<int>{1}, {2, 0}, {0, 1, 2}}) {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<int64_t> group = mesh.group(rank, axes);
      CHECK(static_cast<int64_t>(group.size()) == mesh.ranksAlong(axes));
      CHECK(group[mesh.indexAlong(rank, axes)] == rank);
    }
  }
}

TEST_CASE("the blocks of a dim cover it once, uneven or not") {
  for (int64_t size : {1, 6, 7, 12, 13, 50257}) {
    Sharding sharding{.dims = {{2, 1}}};
    int64_t block = localShape({size}, sharding, mesh)[0];
    CHECK(block == (size + 5) / 6);
    std::set<int64_t> begins;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      begins.insert(localOffset({size}, sharding, mesh, rank)[0]);
    CHECK(begins.size() == 6);
    CHECK(*begins.begin() == 0);
    CHECK(*begins.rbegin() == 5 * block);
    CHECK(6 * block >= size);
  }
}

TEST_CASE("the order of axes in a dim decides which block a rank holds") {
  Sharding tpMajor{.dims = {{}, {1, 2}}};
  Sharding ppMajor{.dims = {{}, {2, 1}}};
  CHECK(localShape({5, 12}, tpMajor, mesh) == std::vector<int64_t>{5, 2});
  CHECK(localOffset({5, 12}, tpMajor, mesh, 3) == std::vector<int64_t>{0, 6});
  CHECK(localOffset({5, 12}, ppMajor, mesh, 3) == std::vector<int64_t>{0, 8});
}

TEST_CASE("a sharding prints its axes by name") {
  CHECK(Sharding{.dims = {{0}, {}, {0, 1}}, .partial = {1}}.str(mesh) ==
        "[dp, _, dp+tp] partial(tp)");
  CHECK(Sharding{.dims = {{}}, .partial = {0, 2}, .reduce = ReduceKind::Max}.str(mesh) ==
        "[_] partial(max dp+pp)");
  CHECK(Sharding::replicated(0).str(mesh) == "[]");
  CHECK(Sharding::replicated(2).isReplicated());
  CHECK_FALSE(Sharding{.dims = {{}}, .partial = {0}}.isReplicated());
  CHECK_FALSE(Sharding{.dims = {{0}}}.isReplicated());
}
