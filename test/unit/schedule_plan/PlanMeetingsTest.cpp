// Which collectives of the ranks of a mesh meet.
#include "compiler/schedule/plan/PlanMeetings.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::schedule;

// 2 x 3 ranks.
static plan::Plan meshPlan() {
  plan::Plan plan;
  for (uint32_t size : {2, 3})
    plan.add_mesh()->set_size(size);
  return plan;
}

static plan::Collective collective(plan::Collective::Kind kind, const std::vector<uint32_t> &axes,
                                   uint32_t peer = 0) {
  plan::Collective result;
  result.set_kind(kind);
  result.mutable_axes()->Add(axes.begin(), axes.end());
  result.set_peer(peer);
  return result;
}

TEST_CASE("collectives meet in their groups, in order, whatever the order of axes") {
  const plan::Plan plan = meshPlan();
  PlanMeetings meetings(plan, 6);
  std::vector<Meeting> found;
  const plan::Collective rows = collective(plan::Collective::ALL_REDUCE, {1}),
                         all = collective(plan::Collective::ALL_GATHER, {0, 1}),
                         turned = collective(plan::Collective::ALL_GATHER, {1, 0});
  std::vector<std::vector<uint32_t>> ofRank;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    std::vector<uint32_t> &mine = ofRank.emplace_back();
    mine.push_back(meetings.next(rank, rows, found));
    mine.push_back(meetings.next(rank, rank == 5 ? turned : all, found));
    mine.push_back(meetings.next(rank, rows, found));
  }
  for (uint32_t rank = 0; rank < 6; ++rank) {
    CHECK(ofRank[rank] == ofRank[rank / 3 * 3]); // ranks 0 to 2 are a row, and 3 to 5
    CHECK(ofRank[rank][0] != ofRank[rank][2]);
    CHECK(ofRank[rank][1] == ofRank[0][1]);
  }
  CHECK(ofRank[0][0] != ofRank[3][0]);
  CHECK(found.size() == 5);
  CHECK(found[ofRank[0][0]].size == 3);
  CHECK(found[ofRank[0][1]].size == 6);
}

TEST_CASE("messages meet by sender and receiver, in both directions") {
  const plan::Plan plan = meshPlan();
  PlanMeetings meetings(plan, 6);
  std::vector<Meeting> found;
  // Along axis 0, rank 1 is index 0 and rank 4 is index 1 of their group.
  const uint32_t there = meetings.next(1, collective(plan::Collective::SEND, {0}, 1), found);
  const uint32_t back = meetings.next(1, collective(plan::Collective::RECV, {0}, 1), found);
  CHECK(there != back);
  CHECK(meetings.next(4, collective(plan::Collective::SEND, {0}, 0), found) == back);
  CHECK(meetings.next(4, collective(plan::Collective::RECV, {0}, 0), found) == there);
  CHECK(meetings.next(4, collective(plan::Collective::RECV, {0}, 0), found) == 2); // a second one
  CHECK(found[there].size == 2);
}

TEST_CASE("groups of one rank, axes and peers that do not exist have no meeting") {
  const plan::Plan plan = meshPlan();
  PlanMeetings meetings(plan, 6);
  std::vector<Meeting> found;
  CHECK(meetings.next(0, collective(plan::Collective::ALL_REDUCE, {}), found) == kNone);
  CHECK(meetings.next(0, collective(plan::Collective::ALL_REDUCE, {2}), found) == kNone);
  CHECK(meetings.next(0, collective(plan::Collective::SEND, {0}, 2), found) == kNone);
  CHECK(PlanMeetings(plan, 5).next(0, collective(plan::Collective::ALL_REDUCE, {0}), found) ==
        kNone); // a plan of 6 ranks with programs for 5
  CHECK(found.empty());
}
