// Waits by hand, and those of random programs against all pairs of runs.
#include "passes/schedule/Waits.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

using namespace cleave;
using namespace cleave::schedule;

namespace {

using Lists = std::vector<std::vector<int64_t>>;

// Instructions of these queues on byte number `byte` each.
QueuedInstruction writes(uint32_t queue, int64_t byte) { return {queue, {{byte, byte + 1, true}}}; }
QueuedInstruction reads(uint32_t queue, int64_t byte) { return {queue, {{byte, byte + 1, false}}}; }

// A run of an instruction, and the runs that are complete when it starts.
struct Run {
  int64_t number;
  const QueuedInstruction *instruction;
  std::vector<bool> before;
};

// All runs of a step in the order of the list, by program.proto and no shortcut.
std::vector<Run> runsOf(const QueuedProgram &program, const Lists &waits) {
  std::vector<Run> runs;
  for (int64_t segment : program.schedule) {
    int64_t number = 0;
    for (int64_t s = 0; s < segment; ++s)
      number += static_cast<int64_t>(program.segments[s].size());
    for (const QueuedInstruction &instruction : program.segments[segment]) {
      std::vector<bool> before(runs.size());
      auto follow = [&](auto matches) {
        for (size_t r = runs.size(); r-- > 0;)
          if (matches(runs[r])) {
            before[r] = true;
            for (size_t i = 0; i < r; ++i)
              before[i] = before[i] || runs[r].before[i];
            return;
          }
      };
      follow([&](const Run &run) { return run.instruction->queue == instruction.queue; });
      for (int64_t wait : waits[number])
        follow([&](const Run &run) { return run.number == wait; });
      runs.push_back({number++, &instruction, before});
    }
  }
  return runs;
}

bool conflict(const QueuedInstruction &a, const QueuedInstruction &b) {
  for (const ByteAccess &x : a.accesses)
    for (const ByteAccess &y : b.accesses)
      if ((x.isWritten || y.isWritten) && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

bool areOrdered(const QueuedProgram &program, const Lists &waits) {
  const std::vector<Run> runs = runsOf(program, waits);
  for (size_t b = 0; b < runs.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (!runs[b].before[a] && conflict(*runs[a].instruction, *runs[b].instruction))
        return false;
  return true;
}

QueuedProgram randomProgram(std::mt19937 &random) {
  QueuedProgram program;
  for (int s = 0; s < 3; ++s) {
    auto &segment = program.segments.emplace_back();
    for (size_t count = random() % 7; count > 0; --count) {
      QueuedInstruction &instruction = segment.emplace_back();
      instruction.queue = random() % 3;
      for (size_t accesses = random() % 3; accesses > 0; --accesses) {
        const auto begin = static_cast<int64_t>(random() % 6);
        instruction.accesses.push_back(
            {begin, begin + 1 + static_cast<int64_t>(random() % 2), random() % 3 == 0});
      }
    }
  }
  for (size_t runs = random() % 8; runs > 0; --runs) {
    const auto segment = static_cast<int64_t>(random() % 3);
    for (size_t times = 1 + (random() % 4 == 0 ? random() % 5 : 0); times > 0; --times)
      program.schedule.push_back(segment);
  }
  return program;
}

} // namespace

TEST_CASE("an instruction waits for the last one that it conflicts with, in each queue") {
  const QueuedProgram program{
      {{writes(0, 1), reads(1, 1), writes(0, 2), writes(2, 1), reads(0, 1)}}, {0}};
  // The last one waits for queue 2, which waits for queue 1.
  CHECK(orderOf(program).waits == Lists{{}, {0}, {}, {1}, {3}});
}

TEST_CASE("a wait can be for the run before") {
  // The sum of a run is read by the computation of the next one, whose wait orders both queues.
  const QueuedProgram program{{{reads(0, 2), writes(0, 1)}, {}, {reads(1, 1), writes(1, 2)}},
                              {0, 2, 0, 2}};
  CHECK(orderOf(program).waits == Lists{{3}, {}, {1}, {}});
  CHECK(orderOf({program.segments, {0, 2}}).waits == Lists{{}, {}, {1}, {}});
}

TEST_CASE("a transfer is in flight until queue 0 goes on behind it") {
  const std::vector<QueuedInstruction> segment = {writes(0, 1), reads(1, 1),  writes(1, 2),
                                                  writes(0, 3), writes(0, 4), reads(0, 2),
                                                  reads(2, 4),  writes(0, 5)};
  // Queue 0 waits for both transfers of queue 1 at number 5, and for that of queue 2 never.
  CHECK(orderOf({{segment}, {0}}).until == std::vector<int64_t>{0, 4, 4, 3, 4, 5, 7, 7});
}

TEST_CASE("the waits of random programs order all runs that conflict, and few are in vain") {
  std::mt19937 random(1);
  size_t found = 0, needless = 0;
  for (int i = 0; i < 2000; ++i) {
    const QueuedProgram program = randomProgram(random);
    Lists waits = orderOf(program).waits;
    REQUIRE(areOrdered(program, waits));
    for (std::vector<int64_t> &list : waits)
      for (size_t w = 0; w < list.size(); ++w, ++found) {
        const int64_t wait = list[w];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(w));
        needless += areOrdered(program, waits);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(w), wait);
      }
  }
  CHECK(found > 3000);
  CAPTURE(needless, found); // a wait that a later run needs may imply that of an earlier one
  CHECK(needless * 1000 <= found);
}

// Gives every buffer the lowest bytes that no buffer has which is alive at the same time.
static QueuedProgram placed(QueuedProgram program) {
  const std::vector<int64_t> until = orderOf(program).until;
  struct Life {
    int64_t first, last, byte;
  };
  std::map<int64_t, Life> lives;
  int64_t number = 0;
  for (const auto &segment : program.segments)
    for (const QueuedInstruction &instruction : segment) {
      for (const ByteAccess &access : instruction.accesses) {
        Life &life = lives.try_emplace(access.begin, Life{number, number, -1}).first->second;
        life.last = std::max(life.last, until[number]);
      }
      ++number;
    }
  for (auto &[buffer, life] : lives) {
    std::set<int64_t> taken;
    for (const auto &[other, its] : lives)
      if (its.byte >= 0 && its.first <= life.last && life.first <= its.last)
        taken.insert(its.byte);
    for (life.byte = 0; taken.contains(life.byte);)
      ++life.byte;
  }
  for (auto &segment : program.segments)
    for (QueuedInstruction &instruction : segment)
      for (ByteAccess &access : instruction.accesses) {
        access.begin = lives.at(access.begin).byte;
        access.end = access.begin + 1;
      }
  return program;
}

TEST_CASE("queue 0 waits for no transfer because of the place of a buffer") {
  std::mt19937 random(2);
  size_t shared = 0;
  for (int i = 0; i < 500; ++i) {
    QueuedProgram program{{{}}, {0}};
    for (int n = 0; n < 12; ++n) {
      QueuedInstruction &instruction = program.segments[0].emplace_back();
      instruction.queue = random() % 3;
      for (int access = 0; access < 2; ++access)
        instruction.accesses.push_back(writes(0, static_cast<int64_t>(random() % 12)).accesses[0]);
    }
    const QueuedProgram inBytes = placed(program);
    const std::vector<Run> byBuffers = runsOf(program, orderOf(program).waits),
                           byBytes = runsOf(inBytes, orderOf(inBytes).waits);
    for (size_t run = 0; run < byBuffers.size(); ++run)
      for (size_t other = 0; other < run; ++other)
        if (byBuffers[run].instruction->queue == 0 && byBuffers[other].instruction->queue != 0)
          CHECK(byBytes[run].before[other] == byBuffers[run].before[other]);
    shared += orderOf(inBytes).waits != orderOf(program).waits;
  }
  CHECK(shared > 100); // transfers that wait for the bytes that they write
}
