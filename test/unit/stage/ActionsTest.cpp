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

// The receive of a send.
Action receiveOf(Action send) {
  return send == Action::SendForward ? Action::ReceiveForward : Action::ReceiveBackward;
}

// The chunk of the model, by a stage and a number in it.
int64_t chunkOf(const Actions &actions, int64_t stage, int64_t number) {
  int64_t chunk = 0;
  while (actions.placement[chunk] != stage || number-- > 0)
    ++chunk;
  return chunk;
}

// The chunk at the other end of a message.
int64_t peerOf(const Actions &actions, int64_t stage, const ScheduledAction &each) {
  const bool isNext = each.action == Action::SendForward || each.action == Action::ReceiveBackward;
  return chunkOf(actions, stage, each.chunk) + (isNext ? 1 : -1);
}

// Runs all lists; a message needs both ends at the head of their lists. Returns whether all end.
bool endsWithRendezvous(const Actions &actions) {
  const Lists &lists = actions.lists;
  std::vector<size_t> next(lists.size());
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (int64_t s = 0; s < static_cast<int64_t>(lists.size()); ++s) {
      if (next[s] == lists[s].size() || isReceive(lists[s][next[s]].action))
        continue;
      const ScheduledAction &at = lists[s][next[s]];
      if (isSend(at.action)) {
        const int64_t chunk = peerOf(actions, s, at), peer = actions.placement[chunk];
        const ScheduledAction *other =
            next[peer] < lists[peer].size() ? &lists[peer][next[peer]] : nullptr;
        if (!other || other->action != receiveOf(at.action) || other->microBatch != at.microBatch ||
            chunkOf(actions, peer, other->chunk) != chunk)
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

Actions actions(const std::string &schedule, int64_t stages, int64_t microBatches,
                int64_t chunks = 0) {
  Result<pipelines::Order> order = orderOf(schedule, stages, chunks, microBatches);
  INFO((order ? "" : order.status().message()));
  REQUIRE(order.isOk());
  Result<Actions> found = actionsOf(*order);
  INFO((found ? "" : found.status().message()));
  REQUIRE(found.isOk());
  return *found;
}

} // namespace

TEST_CASE("no stage waits forever, for any schedule, number of stages and micro-batches") {
  const std::vector<std::pair<const char *, int64_t>> schedules = {
      {"1f1b", 1},          {"gpipe", 1},
      {"looped-bfs", 2},    {"looped-bfs", 3},
      {"interleaved", 2},   {"interleaved", 3},
      {"zb-h1", 1},         {"interleaved-zb", 2},
      {"zb-h2", 1},         {"zb-v", 2},
      {"dualpipe-v", 2},    {"1f1b-recompute", 1},
      {"pre-recompute", 1}, {"last-no-recompute", 1},
      {"critical-path", 1}};
  int64_t count = 0;
  for (auto [schedule, chunks] : schedules)
    for (int64_t stages : {1, 2, 3, 4, 7})
      for (int64_t microBatches : {1, 2, 3, 4, 5, 9, 14, 16}) {
        Result<pipelines::Order> order = orderOf(schedule, stages, chunks, microBatches);
        if (!order) // not defined for these numbers
          continue;
        INFO(schedule << ", " << stages << " stages, " << microBatches << " micro-batches");
        Result<Actions> found = actionsOf(*order);
        REQUIRE(found.status().message() == "");
        CHECK(endsWithRendezvous(*found));
        ++count;
      }
  CHECK(count > 300);
}

TEST_CASE("a chunk receives before it computes, and sends after it") {
  for (const char *schedule : {"1f1b", "interleaved", "zb-h1", "zb-v", "pre-recompute"}) {
    INFO(schedule);
    const Actions all = actions(schedule, 2, 4);
    for (size_t c = 0; c < all.placement.size(); ++c) {
      const auto chunk = static_cast<int64_t>(c);
      const int64_t stage = all.placement[c];
      for (int64_t i = 0; i < 4; ++i) {
        std::vector<Action> of;
        for (const ScheduledAction &each : all.lists[stage])
          if (each.microBatch == i && chunkOf(all, stage, each.chunk) == chunk &&
              each.action != Action::Recompute && each.action != Action::Weights)
            of.push_back(each.action);
        std::vector<Action> wanted;
        for (Action action : {Action::ReceiveForward, Action::Forward, Action::SendForward,
                              Action::ReceiveBackward, Action::Backward, Action::SendBackward}) {
          const bool isNext = action == Action::SendForward || action == Action::ReceiveBackward;
          const int64_t peer = chunk + (isNext ? 1 : -1);
          const bool isMessage = isSend(action) || isReceive(action);
          const bool isInside = peer >= 0 && peer < static_cast<int64_t>(all.placement.size()) &&
                                all.placement[peer] != stage;
          if (!isMessage || isInside)
            wanted.push_back(action);
        }
        CHECK(of == wanted);
      }
    }
  }
}

TEST_CASE("stage s of 1f1b has at most P - s micro-batches in flight, of gpipe all") {
  for (const std::string schedule : {"1f1b", "gpipe"}) {
    const Lists lists = actions(schedule, 4, 9).lists;
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

TEST_CASE("interleaved stages hold two chunks unless told otherwise, others one") {
  CHECK(actions("interleaved", 2, 4).placement == std::vector<int64_t>{0, 1, 0, 1});
  CHECK(actions("interleaved", 2, 4, 3).placement == std::vector<int64_t>{0, 1, 0, 1, 0, 1});
  CHECK(actions("zb-v", 2, 4).placement == std::vector<int64_t>{0, 1, 1, 0});
  CHECK(actions("zb-h1", 2, 4).placement == std::vector<int64_t>{0, 1});
}

TEST_CASE("orders that programs cannot run are refused") {
  CHECK_THAT(actionsOf(*orderOf("chimera", 2, 0, 4)).status().message(), Contains("2 pipelines"));
  CHECK_THAT(orderOf("fastest", 2, 0, 4).status().message(), Contains("fastest"));
  pipelines::Order some = *orderOf("1f1b-recompute", 2, 0, 4);
  for (pipelines::Task &task : some.tasks[0])
    if (task.actions().size() == 2 && task.actions()[1].microBatch == 3)
      task = pipelines::Task(task.actions()[1]);
  CHECK_THAT(actionsOf(some).status().message(), Contains("recomputes 3 of 4 micro-batches"));
}
