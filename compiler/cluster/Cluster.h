// Cluster: what the planner knows about a machine: how many devices, what they can compute and
// hold, and how fast they talk to each other. Read from a JSON file (docs of the fields:
// compiler/cluster/README.md).
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave::cluster {

// The share of a peak that is reached, by size (FLOPs or bytes of one kernel). Between the points
// it is interpolated over the logarithm of the size, beyond them constant. Without points it is 1.
struct Curve {
  std::vector<std::pair<double, double>> points; // (size, share in (0, 1]), sizes rising
  double at(double size) const;
  bool operator==(const Curve &) const = default;
};

struct Compute {
  double peakFlops = 0; // FLOP/s of one device, 2 per multiply-add
  Curve efficiency;     // over the FLOPs of one kernel
  bool operator==(const Compute &) const = default;
};

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, AllToAll, SendRecv };
inline constexpr int collectiveKinds = 5;
const char *name(CollectiveKind kind); // `all_reduce`, …

// How a collective of one kind behaves on one level, for groups of up to `ranks` ranks.
struct Link {
  int64_t ranks = 0;         // 0: any number
  double latencySeconds = 0; // of one call
  double bytesPerSecond = 0; // through the connection of one device, in one direction
  bool operator==(const Link &) const = default;
};

// One level of the topology, such as the inside of a node, or the network between nodes.
struct Level {
  std::string name;
  int64_t devices = 0; // that one unit of this level spans; 0: all
  // By kind, ordered by rising `ranks`; a kind without entries behaves like SendRecv's.
  std::map<CollectiveKind, std::vector<Link>> links;

  // The entry for a group of that size: the first one that is large enough, else the last.
  const Link &link(CollectiveKind kind, int64_t ranks) const;
  bool operator==(const Level &) const = default;
};

struct Cluster {
  std::string name;
  std::string source;         // where the numbers come from
  bool isCpu = false;         // then ranks beyond the cores share them, and ranks share the memory
  int64_t nodes = 0;          // 0: as many as needed
  int64_t devicesPerNode = 1; // for a CPU: cores
  int64_t deviceBytes = 0;    // memory of one device
  int64_t reservedBytes = 0;  // of it, for driver, libraries and fragmentation
  int64_t hostBytes = 0;      // memory of one node's host
  std::map<std::string, Compute> compute; // by element type: `f32`, `bf16`, …
  double vectorFlops = 0; // FLOP/s of kernels that are no products; 0: as `compute` says
  double memoryBytesPerSecond = 0;        // of one device's memory, reads and writes together
  Curve memoryEfficiency;                 // over the bytes of one kernel
  double launchSeconds = 0;               // of one kernel
  Link hostLink;                          // between a device and its host
  std::vector<Level> levels;              // from the innermost outwards, at least one

  // What a plan may use of one device's memory.
  int64_t usableBytes() const { return deviceBytes - reservedBytes; }
  // The compute entry of the element type; narrower floats without one use f32's.
  const Compute &computeOf(const std::string &elementType) const;
  bool operator==(const Cluster &) const = default;
};

// The cluster as `ranks` ranks see it: a CPU's cores and memory are divided where several ranks
// share them. A user error if there are not that many devices.
Result<Cluster> forRanks(const Cluster &cluster, int64_t ranks);

// JSON. The message of an error begins with the place, such as `/levels/0/links`.
Result<Cluster> fromJson(const std::string &text);
std::string toJson(const Cluster &cluster);

} // namespace cleave::cluster
