// Begins, ends, critical paths and deadlocks of timelines that can be followed by hand.
#include "test/unit/schedule/Simulated.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>

using namespace cleave::schedule;
using Catch::Matchers::Contains;
using Seconds = std::vector<double>;
using Tasks = std::vector<uint32_t>;

TEST_CASE("a collective begins when its last member is ready, and takes as long as the slowest") {
  TimelineBuilder b;
  const uint32_t meeting = b.meeting(2);
  Tasks forward, reduce;
  for (uint32_t rank : {0u, 1u}) {
    const uint32_t compute = b.resource(ResourceKind::Compute, rank);
    const uint32_t link = b.resource(ResourceKind::Link, rank);
    forward.push_back(b.task("forward", compute, rank ? 4 : 1));
    reduce.push_back(b.task("reduce", link, rank ? 2 : 3, {forward.back()}, meeting));
  }
  const Simulation found = simulated(b.timeline);
  CHECK(found.begins[reduce[0]] == 4);
  CHECK(found.begins[reduce[1]] == 4);
  CHECK(found.ends[reduce[0]] == 7);
  CHECK(found.ends[reduce[1]] == 7);
  CHECK(found.busySeconds == Seconds{1, 3, 4, 3}); // rank 0 does not work while it waits
  CHECK(found.exposedSeconds == Seconds{0, 3, 0, 3});
  CHECK(found.criticalPath == Tasks{forward[1], reduce[1]});
}

TEST_CASE("the critical path crosses ranks by their meetings") {
  TimelineBuilder b;
  const uint32_t first = b.resource(ResourceKind::Compute, 0);
  const uint32_t out = b.resource(ResourceKind::Link, 0);
  const uint32_t in = b.resource(ResourceKind::Link, 1);
  const uint32_t second = b.resource(ResourceKind::Compute, 1);
  const uint32_t message = b.meeting(2);
  const uint32_t produce = b.task("produce", first, 3);
  const uint32_t send = b.task("send", out, 1, {produce}, message);
  const uint32_t receive = b.task("receive", in, 1, {}, message);
  b.task("something else", second, 2);
  const uint32_t consume = b.task("consume", second, 2, {receive});
  const Simulation found = simulated(b.timeline);
  CHECK(found.seconds == 6);
  // `consume` waits for `receive`, which met `send` at second 3.
  CHECK(found.ends[send] == found.begins[consume]);
  CHECK(found.criticalPath == Tasks{produce, send, consume});
}

TEST_CASE("a deadlock between two ranks names the tasks that wait for each other") {
  TimelineBuilder b;
  const uint32_t links[] = {b.resource(ResourceKind::Link, 0), b.resource(ResourceKind::Link, 1)};
  const uint32_t there = b.meeting(2), back = b.meeting(2);
  b.task("send a", links[0], 1, {}, there);
  b.task("receive b", links[0], 1, {}, back);
  b.task("send b", links[1], 1, {}, back);
  b.task("receive a", links[1], 1, {}, there);
  CHECK(refusal(b.timeline) ==
        "deadlock: 'send a' (task 0: rank 0, link 0) waits for 'receive a' (task 3: rank 1, link "
        "0), which waits for 'send b' (task 2: rank 1, link 0), which waits for 'receive b' (task "
        "1: rank 0, link 0), which waits for 'send a' (task 0: rank 0, link 0)");
}

TEST_CASE("a long cycle of waits is cut short") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute);
  Tasks tasks;
  for (int i = 0; i < 20; ++i)
    tasks.push_back(b.task("t" + std::to_string(i), compute, 1));
  b.timeline.dependencies.push_back({tasks.back(), tasks.front()});
  const std::string message = refusal(b.timeline);
  CHECK_THAT(message, Contains("deadlock: 't0'") && Contains("which waits for …, which waits for"));
  CHECK(message.size() < 600);
}

TEST_CASE("of tasks that end together, the critical path has the first one of the list") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute);
  const uint32_t links[] = {b.resource(ResourceKind::Link), b.resource(ResourceKind::Link)};
  const uint32_t first = b.task("first", links[0], 2), second = b.task("second", links[1], 2);
  const uint32_t both = b.task("both", compute, 1, {first, second});
  b.task("as late", links[1], 1);
  CHECK(simulated(b.timeline).criticalPath == Tasks{first, both});
}

TEST_CASE("a delay occupies no resource: values on a connection do not queue") {
  TimelineBuilder b;
  const uint32_t first = b.resource(ResourceKind::Compute, 0);
  const uint32_t second = b.resource(ResourceKind::Compute, 1);
  Tasks made, used;
  for (int i = 0; i < 2; ++i) {
    made.push_back(b.task("make", first, 1));
    used.push_back(b.task("use", second, 1, {made.back()}));
    b.timeline.dependencies.back().delay = 5;
  }
  const Simulation found = simulated(b.timeline);
  CHECK(found.begins[used[0]] == 6);
  CHECK(found.begins[used[1]] == 7);
  CHECK(found.busySeconds == Seconds{2, 2});
  CHECK(found.criticalPath == Tasks{made[0], used[0], used[1]});
}
