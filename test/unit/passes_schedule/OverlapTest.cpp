// Orders with overlap by hand, and those of random programs: what they keep, and what they gain.
#include "passes/schedule/Overlap.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace cleave;
using namespace cleave::schedule;

namespace {

using Order = std::vector<int64_t>;

ByteAccess reads(int64_t buffer) { return {buffer, buffer + 1, false}; }
ByteAccess writes(int64_t buffer) { return {buffer, buffer + 1, true}; }

// One segment of instructions.
TimedProgram programOf(const std::vector<std::pair<QueuedInstruction, double>> &instructions,
                       std::vector<int64_t> bytes) {
  TimedProgram timed;
  timed.program.segments.emplace_back();
  timed.program.schedule = {0};
  for (const auto &[instruction, seconds] : instructions) {
    timed.program.segments[0].push_back(instruction);
    timed.seconds.push_back(seconds);
  }
  timed.bytes = std::move(bytes);
  return timed;
}

QueuedInstruction compute(std::vector<ByteAccess> accesses) {
  return {kComputeQueue, std::move(accesses)};
}
QueuedInstruction transfer(std::vector<ByteAccess> accesses) {
  return {kCommunicationQueue, std::move(accesses)};
}

QueuedInstruction copyBetweenSpaces(std::vector<ByteAccess> accesses) {
  return {kTransferQueue, std::move(accesses), 0};
}

bool mustStayInOrder(const QueuedInstruction &a, const QueuedInstruction &b) {
  for (const QueuedInstruction *each : {&a, &b})
    if (each->queue == kSendQueue || each->queue == kReceiveQueue)
      return true;
  for (const ByteAccess &x : a.accesses)
    for (const ByteAccess &y : b.accesses)
      if ((x.isWritten || y.isWritten) && x.begin == y.begin)
        return true;
  return false;
}

// Three layers: each gathers a weight (of buffer 10 + layer into 20 + layer) and multiplies by it.
TimedProgram gatheredLayers(int64_t peakElsewhere) {
  std::vector<std::pair<QueuedInstruction, double>> list;
  for (int64_t layer = 0; layer < 3; ++layer) {
    list.push_back({transfer({reads(10 + layer), writes(20 + layer)}), 1e-3});
    list.push_back({compute({reads(layer), reads(20 + layer), writes(layer + 1)}), 2e-3});
  }
  list.push_back({compute({reads(3), writes(5)}), 1e-3}); // with a temporary
  std::vector<int64_t> bytes(23, 1);
  bytes[5] = peakElsewhere;
  bytes[10] = bytes[11] = bytes[12] = 0; // parameters
  return programOf(list, bytes);
}

// A random program of one to three segments.
TimedProgram randomTimedProgram(std::mt19937 &random) {
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  TimedProgram timed;
  const int64_t buffers = draw(3, 12);
  for (int64_t i = 0; i < buffers; ++i)
    timed.bytes.push_back(draw(0, 3) ? draw(1, 50) : 0);
  for (int64_t s = draw(1, 3); s-- > 0;) {
    timed.program.schedule.push_back(int64_t(timed.program.segments.size()));
    auto &segment = timed.program.segments.emplace_back();
    for (int64_t i = draw(1, 25); i-- > 0;) {
      const uint32_t queue = draw(0, 9) == 0    ? kTransferQueue
                             : draw(0, 2) == 0  ? kCommunicationQueue
                             : draw(0, 19) == 0 ? (draw(0, 1) ? kSendQueue : kReceiveQueue)
                                                : kComputeQueue;
      QueuedInstruction instruction{queue, {writes(draw(0, buffers - 1))}};
      for (int64_t k = draw(0, 2); k-- > 0;)
        instruction.accesses.push_back(reads(draw(0, buffers - 1)));
      segment.push_back(instruction);
      timed.seconds.push_back(queue == kTransferQueue ? 0 : double(draw(1, 50)) * 1e-4);
    }
  }
  return timed;
}

} // namespace

TEST_CASE("a weight is gathered while the layer before computes") {
  const TimedProgram timed = gatheredLayers(4);
  CHECK(secondsOf(timed) == Approx(10e-3));
  const Order order = overlapOrder(timed, 0);
  CHECK(order == Order{0, 2, 1, 4, 3, 5, 6});
  CHECK(secondsOf(reordered(timed, order)) == Approx(8e-3));

  // Without a peak elsewhere, no byte is left for a second weight.
  const TimedProgram tight = gatheredLayers(1);
  CHECK(overlapOrder(tight, 0) == Order{0, 1, 2, 3, 4, 5, 6});
  CHECK(peakOf(tight) == 3);
  CHECK(overlapOrder(tight, 4) == Order{0, 2, 1, 4, 3, 5, 6});
}

TEST_CASE("a gather that stands behind a reduction overtakes it") {
  // Backward: gradient, its reduction, then the gather for the layer before.
  const TimedProgram timed = programOf({{compute({writes(0)}), 4e-3},
                                        {transfer({reads(0), writes(1)}), 3e-3},
                                        {transfer({reads(2), writes(3)}), 3e-3},
                                        {compute({reads(3), writes(4)}), 4e-3},
                                        {compute({reads(1), reads(4), writes(5)}), 1e-3}},
                                       {1, 1, 0, 1, 1, 3});
  const Order order = overlapOrder(timed, 0);
  CHECK(order == Order{2, 0, 1, 3, 4});
  CHECK(secondsOf(timed) == Approx(15e-3));
  CHECK(secondsOf(reordered(timed, order)) == Approx(9e-3));

  TimedProgram tight = timed; // no byte more than the given order needs at its peak
  tight.bytes = {1, 1, 0, 5, 1, 1};
  CHECK(peakOf(tight) == 7);
  CHECK(peakOf(reordered(tight, overlapOrder(tight, 0))) <= 7);
}

TEST_CASE("an update waits for its reduction behind the computation that follows") {
  // A gradient, its reduction, the update, then the gradient of the layer before.
  const TimedProgram timed = programOf({{compute({writes(0)}), 2e-3},
                                        {transfer({reads(0), writes(1)}), 2e-3},
                                        {compute({reads(1), writes(2)}), 1e-3},
                                        {compute({reads(3), writes(4)}), 3e-3},
                                        {compute({reads(4), writes(5)}), 1e-3}},
                                       {1, 1, 0, 0, 1, 2});
  const Order order = overlapOrder(timed, 0);
  CHECK(order == Order{0, 1, 3, 2, 4});
  CHECK(secondsOf(timed) == Approx(9e-3));
  CHECK(secondsOf(reordered(timed, order)) == Approx(7e-3));
}

TEST_CASE("a computation moves for a stall of more than a microsecond, by up to 256 instructions") {
  // A gradient, its reduction, updates that wait for it, then the gradient of the layer before.
  auto orderWith = [](double stall, int64_t updates) {
    std::vector<std::pair<QueuedInstruction, double>> list = {
        {compute({writes(0)}), 1e-3}, {transfer({reads(0), writes(1)}), stall}};
    for (int64_t i = 0; i < updates; ++i)
      list.push_back({compute({reads(1), writes(4 + i)}), 1e-5});
    list.push_back({compute({reads(2), writes(3)}), 1e-3});
    return overlapOrder(programOf(list, std::vector<int64_t>(size_t(4 + updates), 1)), 1 << 10);
  };
  CHECK(orderWith(0.9e-6, 1) == Order{0, 1, 2, 3});
  CHECK(orderWith(1.1e-6, 1) == Order{0, 1, 3, 2});
  CHECK(orderWith(1e-3, 256)[2] == 2 + 256);
  CHECK(orderWith(1e-3, 257)[2] == 2);
}

TEST_CASE("a copy to another space is in flight while computation runs, as far as memory permits") {
  // A value, its copy to another space, three layers, the copy back, and its reader.
  auto programWith = [](int64_t atTheEnd) { // bytes
    return programOf({{compute({writes(0)}), 1e-3},
                      {copyBetweenSpaces({reads(0), writes(1)}), 3e-3},
                      {compute({writes(2)}), 2e-3},
                      {compute({reads(2), writes(3)}), 2e-3},
                      {compute({reads(3), writes(4)}), 2e-3},
                      {copyBetweenSpaces({reads(1), writes(5)}), 1e-3},
                      {compute({reads(4), reads(5), writes(6)}), 1e-3}},
                     {4, 0, 1, 1, 1, 1, atTheEnd});
  };
  const TimedProgram timed = programWith(5);
  CHECK(peakOf(timed) == 7);
  const TimedProgram moved = reordered(timed, overlapOrder(timed, 12));
  CHECK(secondsOf(moved) < secondsOf(timed) - .9e-3); // the copy back runs early
  auto flightsOf = [](const TimedProgram &program) {
    std::vector<int64_t> flights;
    for (const QueuedInstruction &instruction : program.program.segments[0])
      flights.push_back(instruction.flight);
    return flights;
  };
  const std::vector<int64_t> none = {-1, 0, -1, -1, -1, 0, -1};
  CHECK(flightsOf(timed) == none);
  // The copy ends while the second layer computes, and the third begins after it.
  CHECK(flightsOf(withFlights(timed, 7)) == std::vector<int64_t>{-1, 2, -1, -1, -1, 0, -1});
  CHECK(peakOf(withFlights(timed, 7)) == 7);
  // Without that peak, no byte is left for the value beside two others.
  CHECK(flightsOf(withFlights(programWith(3), 5)) ==
        std::vector<int64_t>{-1, 1, -1, -1, -1, 0, -1});
}

TEST_CASE("nothing passes a message between stages") {
  // A gather that could begin before the message from which it does not read, and an update that
  // waits for its reduction, before a message and further computation.
  const TimedProgram timed = programOf({{compute({writes(0)}), 4e-3},
                                        {{kReceiveQueue, {writes(1)}}, 1e-3},
                                        {transfer({reads(2), writes(3)}), 3e-3},
                                        {compute({reads(3), writes(4)}), 1e-3},
                                        {transfer({reads(4), writes(5)}), 3e-3},
                                        {compute({reads(5), writes(6)}), 1e-3},
                                        {{kSendQueue, {reads(0)}}, 1e-3},
                                        {compute({reads(1), writes(7)}), 4e-3}},
                                       std::vector<int64_t>(8, 1));
  CHECK(overlapOrder(timed, 100) == Order{0, 1, 2, 3, 4, 5, 6, 7});
  TimedProgram other = timed; // without the messages
  for (QueuedInstruction &each : other.program.segments[0])
    if (each.queue == kReceiveQueue || each.queue == kSendQueue)
      each.queue = kComputeQueue;
  CHECK(overlapOrder(other, 100) != Order{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("random programs keep their order where it counts, take no more bytes and no more time") {
  std::mt19937 random(1);
  int faster = 0;
  for (int round = 0; round < 2000; ++round) {
    const TimedProgram timed = randomTimedProgram(random);
    const int64_t limit = round % 2 ? 100 : 0;
    const Order order = overlapOrder(timed, limit);
    INFO(round);
    Order sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      REQUIRE(sorted[i] == int64_t(i));
    int64_t begin = 0;
    for (const auto &segment : timed.program.segments) {
      const auto size = int64_t(segment.size());
      for (int64_t i = begin; i < begin + size; ++i) {
        REQUIRE(order[size_t(i)] >= begin);
        REQUIRE(order[size_t(i)] < begin + size);
        for (int64_t k = i + 1; k < begin + size; ++k)
          REQUIRE((order[size_t(i)] < order[size_t(k)] ||
                   !mustStayInOrder(segment[size_t(order[size_t(i)] - begin)],
                                    segment[size_t(order[size_t(k)] - begin)])));
      }
      begin += size;
    }
    const TimedProgram found = reordered(timed, order);
    REQUIRE(peakOf(found) <= std::max(limit, peakOf(timed)));
    REQUIRE(secondsOf(found) <= secondsOf(timed));
    faster += secondsOf(found) < secondsOf(timed);
  }
  CHECK(faster > 200);
}
