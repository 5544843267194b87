// Simulated timelines that can be followed by hand.
#include "compiler/schedule/Simulate.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace cleave;
using namespace cleave::schedule;
using Catch::Matchers::Contains;
using Seconds = std::vector<double>;
using Tasks = std::vector<uint32_t>;

static Simulation simulated(const Timeline &timeline) {
  Result<Simulation> found = simulate(timeline);
  INFO(found.status().message());
  REQUIRE(found);
  return *found;
}

static std::string refusal(const Timeline &timeline) {
  Result<Simulation> found = simulate(timeline);
  REQUIRE_FALSE(found);
  CHECK(found.status().kind() == StatusKind::UserError);
  return found.status().message();
}

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

TEST_CASE("a message that nobody sends is an error") {
  TimelineBuilder b;
  const uint32_t link = b.resource(ResourceKind::Link);
  b.task("receive a", link, 1, {}, b.meeting(2));
  CHECK_THAT(refusal(b.timeline), Contains("'receive a' (task 0: rank 0, link 0) is in a meeting "
                                           "of 2 tasks, of which 1 exist"));
}

TEST_CASE("indices to nothing and invalid seconds are errors") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute);
  const uint32_t task = b.task("t", compute, 1);
  const uint32_t device = b.space(SpaceKind::Device);
  b.buffer(device, 1, {task});
  auto refusalOf = [&](auto change) {
    Timeline broken = b.timeline;
    change(broken);
    return refusal(broken);
  };
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].name = 1; }),
             Contains("task 0 has name 1 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].unit = 1; }), Contains("has unit 1 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].resource = 2; }),
             Contains("has resource 2 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].meeting = 0; }),
             Contains("has meeting 0 of 0"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.tasks[0].seconds = -1; }), Contains("takes -1 seconds"));
  for (double seconds :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK_THAT(refusalOf([&](Timeline &t) { t.tasks[0].seconds = seconds; }),
               Contains("expected a finite number"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.dependencies.push_back({4, 0}); }),
             Contains("task 0 depends on task 4, and there are 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.buffers[0].space = 3; }), Contains("space 3 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.accesses[0].buffer = 9; }), Contains("buffer 9 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.accesses[0].task = 9; }), Contains("task 9 of 1"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.resources[0].rank = 5; }), Contains("rank 5"));
  CHECK_THAT(refusalOf([](Timeline &t) { t.resources.push_back(t.resources[0]); }),
             Contains("rank 0 has two compute resources"));
}
