// PlanMeetings: which collectives of a plan's ranks meet.
#pragma once

#include "compiler/schedule/Timeline.h"
#include "runtime/artifact/program.pb.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace cleave::schedule {

// All members of a group issue the same collectives in one order, so the n-th one of each of them
// on the same axes are one meeting. Messages of one rank to another stay in order.
class PlanMeetings {
public:
  explicit PlanMeetings(const plan::Plan &plan, uint32_t ranks) : plan_(plan), ranks_(ranks) {}

  // The meeting of the next collective of `rank`, which is added to `meetings` for its first
  // member. kNone if the group has one rank, or if the axes or the peer do not exist.
  uint32_t next(uint32_t rank, const plan::Collective &collective, std::vector<Meeting> &meetings);

private:
  // The groups of some axes.
  struct Groups {
    uint32_t number = 0;          // of these axes
    uint32_t size = 0;            // of each group
    std::vector<uint32_t> ofRank; // by rank: the first rank of its group
  };
  using Key = std::array<uint32_t, 3>; // axes or kNone, and two ranks

  bool exist(const std::vector<uint32_t> &axes) const;
  const Groups &groupsOf(std::vector<uint32_t> axes);
  uint32_t meet(uint32_t rank, const Key &key, uint32_t size, std::vector<Meeting> &meetings);
  uint32_t message(uint32_t rank, const plan::Collective &message, std::vector<Meeting> &meetings);

  const plan::Plan &plan_;
  uint32_t ranks_;
  std::map<std::vector<uint32_t>, Groups> groups_;        // by sorted axes
  std::map<std::pair<uint32_t, Key>, uint32_t> counts_;   // by rank: its meetings of a key
  std::map<std::pair<Key, uint32_t>, uint32_t> meetings_; // the n-th one of a key
};

} // namespace cleave::schedule
