// Orders of parts with messages: complete, in the order of dependencies, and without a rank that
// waits forever if senders wait for their receivers.
#include "passes/stage/Actions.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::graph;
using namespace cleave::stage;
using Catch::Matchers::Contains;

namespace {

using Lists = std::vector<std::vector<ScheduledAction>>;

bool isSend(Action action) {
  return action == Action::SendForward || action == Action::SendBackward;
}
bool isReceive(Action action) {
  return action == Action::ReceiveForward || action == Action::ReceiveBackward;
}

// The stage at the other end of a message.
int64_t peerOf(int64_t stage, Action action) {
  const bool isNext = action == Action::SendForward || action == Action::ReceiveBackward;
  return isNext ? stage + 1 : stage - 1;
}

// The receive of a send.
Action receiveOf(Action send) {
  return send == Action::SendForward ? Action::ReceiveForward : Action::ReceiveBackward;
}

// Runs all lists; a message needs both ends at the head of their lists. Returns whether all end.
bool endsWithRendezvous(const Lists &lists) {
  std::vector<size_t> next(lists.size());
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (int64_t s = 0; s < static_cast<int64_t>(lists.size()); ++s) {
      if (next[s] == lists[s].size() || isReceive(lists[s][next[s]].action))
        continue;
      const ScheduledAction &at = lists[s][next[s]];
      if (isSend(at.action)) {
        const int64_t peer = peerOf(s, at.action);
        if (next[peer] == lists[peer].size() ||
            lists[peer][next[peer]].action != receiveOf(at.action) ||
            lists[peer][next[peer]].microBatch != at.microBatch)
          continue;
        ++next[peer];
      }
      ++next[s];
      isMoving = true;
    }
  }
  for (size_t s = 0; s < lists.size(); ++s)
    if (next[s] < lists[s].size())
      return false;
  return true;
}

Lists actions(const std::string &schedule, int64_t stages, int64_t microBatches) {
  auto found = actionsOf(schedule, stages, microBatches);
  INFO((found ? "" : found.status().message()));
  REQUIRE(found.isOk());
  return *found;
}

} // namespace

TEST_CASE("no stage waits forever, for any number of stages and micro-batches") {
  for (int64_t stages : {1, 2, 3, 4, 7})
    for (int64_t microBatches : {1, 2, 3, 4, 5, 9, 16}) {
      INFO(stages << " stages, " << microBatches << " micro-batches");
      CHECK(endsWithRendezvous(actions("1f1b", stages, microBatches)));
      CHECK(endsWithRendezvous(actions("gpipe", stages, microBatches)));
    }
}

TEST_CASE("a stage receives before it computes, and sends after it") {
  const Lists lists = actions("1f1b", 3, 5);
  for (size_t s = 0; s < lists.size(); ++s)
    for (int64_t i = 0; i < 5; ++i) {
      std::vector<Action> of;
      for (const ScheduledAction &each : lists[s])
        if (each.microBatch == i)
          of.push_back(each.action);
      std::vector<Action> wanted;
      for (Action action : {Action::ReceiveForward, Action::Forward, Action::SendForward,
                            Action::ReceiveBackward, Action::Backward, Action::SendBackward}) {
        const bool isMessage = isSend(action) || isReceive(action);
        const int64_t peer = peerOf(static_cast<int64_t>(s), action);
        if (!isMessage || (peer >= 0 && peer < 3))
          wanted.push_back(action);
      }
      CHECK(of == wanted);
    }
}

TEST_CASE("stage s of 1f1b has at most P - s micro-batches in flight, of gpipe all") {
  for (const std::string schedule : {"1f1b", "gpipe"}) {
    const Lists lists = actions(schedule, 4, 9);
    for (int64_t s = 0; s < 4; ++s) {
      int64_t inFlight = 0, most = 0;
      for (const ScheduledAction &each : lists[s]) {
        inFlight += each.action == Action::Forward;
        inFlight -= each.action == Action::Backward;
        most = std::max(most, inFlight);
      }
      CHECK(most == (schedule == "gpipe" ? 9 : 4 - s));
    }
  }
}

TEST_CASE("schedules that programs cannot run yet are refused") {
  CHECK_THAT(actionsOf("zb-h1", 2, 4).status().message(), Contains("expected 1f1b or gpipe"));
  CHECK_THAT(actionsOf("chimera", 2, 4).status().message(), Contains("expected 1f1b or gpipe"));
  CHECK_THAT(actionsOf("fastest", 2, 4).status().message(), Contains("'fastest'"));
}
