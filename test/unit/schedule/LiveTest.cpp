// Live bytes of timelines that can be followed by hand.
#include "test/unit/schedule/Simulated.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>

using namespace cleave::schedule;
using Tasks = std::vector<uint32_t>;

TEST_CASE("a buffer on its way to the host stays allocated until the copy is done") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute);
  const uint32_t hostLink = b.resource(ResourceKind::HostLink);
  const uint32_t device = b.space(SpaceKind::Device), host = b.space(SpaceKind::Host);
  const uint32_t make = b.task("make", compute, 1);
  const uint32_t out = b.task("out", hostLink, 3, {make});
  b.task("work", compute, 5);
  const uint32_t in = b.task("in", hostLink, 3, {out});
  const uint32_t use = b.task("use", compute, 1, {in});
  b.buffer(device, 10, {make, out});
  b.buffer(host, 10, {out, in});
  b.buffer(device, 10, {in, use});
  b.timeline.buffers.push_back({device, 7, true});
  const Simulation found = simulated(b.timeline);
  CHECK(found.seconds == 8);
  CHECK(found.live[device].levels ==
        std::vector<LiveLevel>{{0, 17}, {8, 7}}); // one copy ends when the other one begins
  CHECK(found.live[device].peak == 17);
  CHECK(found.live[device].peakSeconds == 0);
  CHECK(found.live[host].levels == std::vector<LiveLevel>{{0, 0}, {1, 10}, {7, 0}});
  CHECK(found.live[host].peakSeconds == 1);
}

TEST_CASE("each slot of a value has memory of its own while its micro-batch is in flight") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute), device = b.space(SpaceKind::Device);
  Tasks forward, backward;
  for (int slot : {0, 1, 2})
    forward.push_back(b.task("forward " + std::to_string(slot), compute, 1));
  for (int slot : {0, 1, 2})
    backward.push_back(b.task("backward " + std::to_string(slot), compute, 2));
  for (int slot : {0, 1, 2})
    b.buffer(device, 100, {forward[slot], backward[slot]});
  const Simulation found = simulated(b.timeline);
  CHECK(found.live[device].levels ==
        std::vector<LiveLevel>{{0, 100}, {1, 200}, {2, 300}, {5, 200}, {7, 100}, {9, 0}});
  CHECK(found.live[device].peakSeconds == 2);
}
