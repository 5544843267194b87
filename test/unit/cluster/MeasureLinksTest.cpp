// Times of collectives between threads.
#include "compiler/cluster/MeasureLinks.h"

#include "runtime/comm/local/LocalWorld.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::cluster;

TEST_CASE("a collective that fails has no time") {
  // Ranks of two jobs, which wait for each other in vain.
  comm::Options brief{.timeout = std::chrono::milliseconds(50)};
  auto one = comm::makeLocalWorlds(2, brief), other = comm::makeLocalWorlds(2, brief);
  std::vector<std::unique_ptr<comm::World>> worlds;
  worlds.push_back(std::move(one[0]));
  worlds.push_back(std::move(other[1]));
  Result<double> seconds = leastSeconds(CollectiveKind::AllReduce, std::move(worlds), 256, 0.001);
  REQUIRE_FALSE(seconds);
  CHECK(seconds.status().kind() == StatusKind::Lost);
}

TEST_CASE("every kind of collective has a time between two ranks, and between more") {
  for (int ranks : {2, 3})
    for (CollectiveKind kind : linkKinds()) {
      Result<double> seconds = leastSeconds(kind, comm::makeLocalWorlds(ranks), 300, 0.001);
      REQUIRE(seconds);
      CHECK(*seconds > 0);
      CHECK(*seconds < 60);
    }
}
