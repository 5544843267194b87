#include "compiler/schedule/plan/PlanMeetings.h"

#include "runtime/artifact/Mesh.h"

#include <algorithm>

namespace cleave::schedule {

bool PlanMeetings::exist(const std::vector<uint32_t> &axes) const {
  uint64_t ranks = 1; // without overflow, for meshes that are not valid
  for (const plan::MeshAxis &axis : plan_.mesh())
    ranks = std::min<uint64_t>(ranks, UINT32_MAX) * axis.size();
  return ranks == ranks_ && std::all_of(axes.begin(), axes.end(), [&](uint32_t axis) {
           return axis < uint32_t(plan_.mesh_size());
         });
}

const PlanMeetings::Groups &PlanMeetings::groupsOf(std::vector<uint32_t> axes) {
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  auto [at, isNew] = groups_.try_emplace(axes);
  Groups &groups = at->second;
  if (!isNew)
    return groups;
  groups.number = static_cast<uint32_t>(groups_.size());
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::vector<uint32_t> group = artifact::groupOf(plan_, rank, axes);
    groups.size = static_cast<uint32_t>(group.size());
    groups.ofRank.push_back(*std::min_element(group.begin(), group.end()));
  }
  return groups;
}

uint32_t PlanMeetings::meet(uint32_t rank, const Key &key, uint32_t size,
                            std::vector<Meeting> &meetings) {
  const uint32_t ordinal = counts_[{rank, key}]++;
  auto [at, isNew] = meetings_.try_emplace({key, ordinal}, uint32_t(meetings.size()));
  if (isNew)
    meetings.push_back({size});
  return at->second;
}

uint32_t PlanMeetings::message(uint32_t rank, const plan::Collective &message,
                               std::vector<Meeting> &meetings) {
  const std::vector<uint32_t> group = artifact::groupOf(
      plan_, rank, std::vector<uint32_t>(message.axes().begin(), message.axes().end()));
  if (message.peer() >= group.size())
    return kNone;
  const uint32_t other = group[message.peer()];
  const bool isSent = message.kind() == plan::Collective::SEND;
  return meet(rank, {kNone, isSent ? rank : other, isSent ? other : rank}, 2, meetings);
}

uint32_t PlanMeetings::next(uint32_t rank, const plan::Collective &collective,
                            std::vector<Meeting> &meetings) {
  const std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  if (!exist(axes))
    return kNone;
  if (collective.kind() == plan::Collective::SEND || collective.kind() == plan::Collective::RECV)
    return message(rank, collective, meetings);
  const Groups &groups = groupsOf(axes);
  if (groups.size <= 1)
    return kNone;
  return meet(rank, {groups.number, groups.ofRank[rank], 0}, groups.size, meetings);
}

} // namespace cleave::schedule
