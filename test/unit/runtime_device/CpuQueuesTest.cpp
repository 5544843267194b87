// The queues of a CPU: order, events, failures.
#include "runtime/device/cpu/CpuQueues.h"

#include <catch2/catch.hpp>

#include <future>
#include <vector>

using namespace cleave;
using namespace cleave::device;

namespace {

constexpr uint32_t kOther = kTransferQueue, kThird = kSendQueue;

// Work that ends when the test says so.
struct Gate {
  std::promise<void> opened;
  CpuQueues::Work work(std::vector<int> &ran, int number) {
    return [&ran, number, open = opened.get_future().share()] {
      open.wait();
      ran.push_back(number);
      return Status::ok();
    };
  }
};

CpuQueues::Work note(std::vector<int> &ran, int number) {
  return [&ran, number] {
    ran.push_back(number);
    return Status::ok();
  };
}

} // namespace

TEST_CASE("work of a queue runs in order, beside queue 0") {
  std::vector<int> ran;
  Gate gate;
  CpuQueues queues;
  queues.push(kOther, gate.work(ran, 1));
  queues.push(kOther, note(ran, 2));
  CHECK(ran.empty()); // this thread goes on
  gate.opened.set_value();
  REQUIRE(queues.synchronize(kOther));
  CHECK(ran == std::vector{1, 2});
}

TEST_CASE("a wait is for the last record of its event") {
  std::vector<int> ran;
  Gate first, second;
  CpuQueues queues;
  const Event event = queues.createEvent(/*isTimed=*/false);
  REQUIRE(queues.wait(event, kComputeQueue)); // never recorded
  queues.push(kOther, first.work(ran, 1));
  queues.record(event, kOther);
  queues.push(kOther, second.work(ran, 2));
  SECTION("in queue 0") {
    first.opened.set_value();
    REQUIRE(queues.wait(event, kComputeQueue));
    CHECK(ran == std::vector{1});
  }
  SECTION("in another queue") {
    REQUIRE(queues.wait(event, kThird)); // does not block
    std::vector<int> seen;
    queues.push(kThird, [&] {
      seen = ran;
      return Status::ok();
    });
    first.opened.set_value();
    REQUIRE(queues.synchronize(kThird));
    CHECK(seen == std::vector{1});
  }
  SECTION("recorded in queue 0, where all is complete") {
    queues.record(event, kComputeQueue);
    REQUIRE(queues.wait(event, kComputeQueue));
    first.opened.set_value();
  }
  second.opened.set_value();
  REQUIRE(queues.synchronize());
}

TEST_CASE("after a failure work is skipped until the failure is returned") {
  std::vector<int> ran;
  CpuQueues queues;
  queues.push(kOther, [] { return Status::userError("the disk is full"); });
  queues.push(kOther, note(ran, 1));
  const Event event = queues.createEvent(/*isTimed=*/false);
  queues.record(event, kOther);
  CHECK(queues.wait(event, kComputeQueue).message() == "the disk is full");
  queues.push(kThird, note(ran, 2));
  CHECK(queues.synchronize().message() == "the disk is full");
  CHECK(ran == std::vector{2});
  queues.push(kOther, note(ran, 3));
  CHECK(queues.synchronize());
  CHECK(ran == std::vector{2, 3});
}

TEST_CASE("timed events of all queues have one clock") {
  std::vector<int> ran;
  CpuQueues queues;
  const Event begin = queues.createEvent(/*isTimed=*/true), end = queues.createEvent(true);
  queues.record(begin, kComputeQueue);
  queues.push(kOther, note(ran, 1));
  queues.record(end, kOther);
  REQUIRE(queues.synchronize());
  CHECK(queues.secondsBetween(begin, end) >= 0);
}
