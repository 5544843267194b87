// Overlap and exposed seconds of timelines that can be followed by hand.
#include "test/unit/schedule/Simulated.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>

using namespace cleave::schedule;
using Seconds = std::vector<double>;
using Tasks = std::vector<uint32_t>;

TEST_CASE("an empty timeline takes no time") {
  const Simulation found = simulated({});
  CHECK(found.seconds == 0);
  CHECK(found.criticalPath.empty());
}

TEST_CASE("a transfer overlaps with what does not wait for it, and the rest of it is exposed") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute), link = b.resource(ResourceKind::Link);
  const uint32_t gradient = b.task("gradient", compute, 1);
  const uint32_t reduce = b.task("reduce", link, 5, {gradient});
  const uint32_t other = b.task("other gradient", compute, 2);
  const uint32_t update = b.task("update", compute, 1, {reduce});
  const Simulation found = simulated(b.timeline);
  CHECK(found.begins == Seconds{0, 1, 1, 6});
  CHECK(found.ends == Seconds{1, 6, 3, 7});
  CHECK(found.seconds == 7);
  CHECK(found.busySeconds == Seconds{4, 5});
  CHECK(found.exposedSeconds == Seconds{0, 3});
  CHECK(found.exposed[link] == std::vector<Interval>{{3, 6}});
  CHECK(found.criticalPath == Tasks{gradient, reduce, update});
  CHECK(other == 2);
}
