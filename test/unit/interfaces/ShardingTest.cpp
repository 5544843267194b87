// The blocks of even and uneven tensors.
#include "dialects/interfaces/Sharding.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;

static const Mesh threeAxes{{{"dp", 2}, {"tp", 3}, {"pp", 2}}};

TEST_CASE("the blocks of a dim cover it once, uneven or not") {
  for (int64_t size : {1, 6, 7, 12, 13, 50257}) {
    Sharding sharding{.dims = {{2, 1}}};
    int64_t block = localShape({size}, sharding, threeAxes)[0];
    CHECK(block == (size + 5) / 6);
    std::set<int64_t> begins;
    for (int64_t rank = 0; rank < threeAxes.ranks(); ++rank)
      begins.insert(localOffset({size}, sharding, threeAxes, rank)[0]);
    CHECK(begins.size() == 6);
    CHECK(*begins.begin() == 0);
    CHECK(*begins.rbegin() == 5 * block);
    CHECK(6 * block >= size);
  }
}

TEST_CASE("the order of axes in a dim decides which block a rank holds") {
  Sharding tpMajor{.dims = {{}, {1, 2}}};
  Sharding ppMajor{.dims = {{}, {2, 1}}};
  CHECK(localShape({5, 12}, tpMajor, threeAxes) == std::vector<int64_t>{5, 2});
  CHECK(localOffset({5, 12}, tpMajor, threeAxes, 3) == std::vector<int64_t>{0, 6});
  CHECK(localOffset({5, 12}, ppMajor, threeAxes, 3) == std::vector<int64_t>{0, 8});
}

TEST_CASE("a sharding prints its axes by name") {
  CHECK(Sharding{.dims = {{0}, {}, {0, 1}}, .partial = {1}}.str(threeAxes) ==
        "[dp, _, dp+tp] partial(tp)");
  CHECK(Sharding{.dims = {{}}, .partial = {0, 2}, .reduce = ReduceKind::Max}.str(threeAxes) ==
        "[_] partial(max dp+pp)");
  CHECK(Sharding::replicated(0).str(threeAxes) == "[]");
  CHECK(Sharding::replicated(2).isReplicated());
  CHECK_FALSE(Sharding{.dims = {{}}, .partial = {0}}.isReplicated());
  CHECK_FALSE(Sharding{.dims = {{0}}}.isReplicated());
}
