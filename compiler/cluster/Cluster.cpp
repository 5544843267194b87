// Curves, links, and the view of a number of ranks.
#include "compiler/cluster/Cluster.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace cleave::cluster {

double Curve::at(double size) const {
  if (points.empty())
    return 1;
  if (size <= points.front().first)
    return points.front().second;
  for (size_t k = 1; k < points.size(); ++k) {
    auto [left, low] = points[k - 1];
    auto [right, high] = points[k];
    if (size <= right)
      return low + (high - low) * std::log(size / left) / std::log(right / left);
  }
  return points.back().second;
}

CollectiveKind linkKind(CollectiveKind kind) {
  return factsOf(kind).route == CollectiveRoute::Message ? CollectiveKind::Send : kind;
}

std::vector<CollectiveKind> linkKinds() {
  std::vector<CollectiveKind> kinds;
  for (const CollectiveFacts &facts : kCollectives)
    if (linkKind(facts.kind) == facts.kind)
      kinds.push_back(facts.kind);
  return kinds;
}

std::string linkName(CollectiveKind kind) {
  return linkKind(kind) == CollectiveKind::Send ? "send_recv" : std::string(name(kind));
}

std::span<const Link> Level::protocols(CollectiveKind kind, int64_t ranks) const {
  auto entries = links.find(linkKind(kind));
  if (entries == links.end())
    entries = links.find(CollectiveKind::Send);
  assert(entries != links.end() && !entries->second.empty() && "fromJson() ensures an entry");
  const std::vector<Link> &all = entries->second;
  auto first = std::find_if(all.begin(), all.end(), [&](const Link &link) {
    return link.ranks == 0 || link.ranks >= ranks;
  });
  const int64_t size = first == all.end() ? all.back().ranks : first->ranks;
  first =
      std::find_if(all.begin(), all.end(), [&](const Link &link) { return link.ranks == size; });
  auto last = std::find_if(first, all.end(), [&](const Link &link) { return link.ranks != size; });
  return {first, last};
}

const Compute &Cluster::computeOf(const std::string &elementType) const {
  auto entry = compute.find(elementType);
  if (entry == compute.end())
    entry = compute.find("f32");
  assert(entry != compute.end() && "fromJson() ensures an entry for f32");
  return entry->second;
}

// Divides the memory of a CPU among the ranks of one node, and its cores if there are more ranks.
static Cluster shareCpu(const Cluster &cluster, int64_t ranksPerNode) {
  Cluster shared = cluster;
  shared.isView = true;
  const double crowd = std::max(1.0, static_cast<double>(ranksPerNode) /
                                         static_cast<double>(cluster.devicesPerNode));
  shared.ranksPerCore = crowd;
  shared.deviceBytes = cluster.deviceBytes * cluster.devicesPerNode / ranksPerNode;
  shared.reservedBytes = cluster.reservedBytes * cluster.devicesPerNode / ranksPerNode;
  shared.devicesPerNode = ranksPerNode;
  shared.memoryBytesPerSecond /= crowd;
  shared.launchSeconds *= crowd;
  for (auto &[type, compute] : shared.compute)
    compute.peakFlops /= crowd;
  shared.vectorFlops /= crowd;
  shared.attentionFlops /= crowd;
  shared.columnsPerSecond /= crowd;
  for (Level &level : shared.levels) {
    if (level.devices == cluster.devicesPerNode)
      level.devices = ranksPerNode;
    for (auto &[kind, links] : level.links)
      for (Link &link : links) {
        link.bytesPerSecond /= crowd;
        link.latencySeconds *= crowd;
        link.hopSeconds *= crowd;
      }
  }
  return shared;
}

Result<Cluster> forRanks(const Cluster &cluster, int64_t ranks) {
  if (ranks < 1)
    return Status::userError("found ", ranks, " ranks, expected at least 1");
  if (cluster.isView)
    return cluster;
  if (cluster.isCpu) {
    int64_t nodes = std::max<int64_t>(1, cluster.nodes);
    return shareCpu(cluster, (ranks + nodes - 1) / nodes);
  }
  int64_t devices = cluster.nodes * cluster.devicesPerNode;
  if (cluster.nodes > 0 && ranks > devices)
    return Status::userError("found ", ranks, " ranks, but cluster '", cluster.name, "' has ",
                             devices, " devices; use fewer ranks or raise \"nodes\" in its file");
  if (ranks > cluster.devicesPerNode && cluster.levels.back().devices > 0 &&
      ranks > cluster.levels.back().devices)
    return Status::userError("found ", ranks, " ranks, but the outermost level of cluster '",
                             cluster.name, "' joins only ", cluster.levels.back().devices,
                             " devices; add a level with \"devices\": 0");
  return cluster;
}

} // namespace cleave::cluster
