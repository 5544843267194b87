// Cluster: the planner's model of a machine: number, speed and memory of the devices, latency and
// bandwidth of the links between them. Read from a JSON file, whose fields are documented in
// compiler/cluster/README.md.
#pragma once

#include "runtime/base/Collective.h"
#include "runtime/base/Space.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cleave::cluster {

// The reached share of a peak by size (FLOPs or bytes of one kernel): interpolated between points
// over the logarithm of the size, constant beyond them, 1 without points.
struct Curve {
  std::vector<std::pair<double, double>> points; // (size, share in (0, 1]), sizes rising
  double at(double size) const;                  // the share at this size
  bool operator==(const Curve &) const = default;
};

// A size of the blocks of a result that the processors of a device compute, one at a time each.
struct Tile {
  int64_t rows = 0, columns = 0;
  double share = 1; // of the peak, if the tiles fill all processors and the sums are long
  bool operator==(const Tile &) const = default;
};

// The arithmetic of one device for one element type.
struct Compute {
  double peakFlops = 0;    // FLOP/s of one device, 2 per multiply-add
  Curve efficiency;        // over the FLOPs of one kernel
  std::vector<Tile> tiles; // of matrix products; empty: these follow `efficiency`, too
  bool operator==(const Compute &) const = default;
};

// The kind whose links a collective uses: its own; all messages use those of Send.
CollectiveKind linkKind(CollectiveKind kind);
// The kinds that cluster files give links to, in their order there.
std::vector<CollectiveKind> linkKinds();
// The field of cluster files with the links of a kind: its name, or `send_recv` for messages.
std::string linkName(CollectiveKind kind);

// Latency and bandwidth of one protocol of one kind of collective on one level, for groups of up to
// `ranks` ranks.
struct Link {
  int64_t ranks = 0;          // 0: any number
  double latencySeconds = 0;  // of one call
  double hopSeconds = 0;      // of each step from rank to rank, in addition
  double bytesPerSecond = 0;  // through the connection of one device, in one direction
  double doublingSeconds = 0; // of pipelined trees, for each doubling of their units; 0: no such
                              // trees (compiler/cost/Collective.h)
  bool operator==(const Link &) const = default;
};

// The queries and keys of the attention that cleave-calibrate measures.
inline constexpr int64_t kMeasuredTokens = 256;

// One level of the topology, such as the inside of a node, or the network between nodes.
struct Level {
  std::string name;    // `node`, `network`, …
  int64_t devices = 0; // spanned by one unit of this level; 0: all
  // By linkKind(), in the order of rising `ranks`; a kind without entries uses those of Send.
  // Entries of equal `ranks` are protocols, of which a library takes the fastest.
  std::map<CollectiveKind, std::vector<Link>> links;

  // The protocols for a group of `ranks` ranks: the entries with the least `ranks` that is large
  // enough, else those with the largest. At least one.
  std::span<const Link> protocols(CollectiveKind kind, int64_t ranks) const;
  // The first of these protocols.
  const Link &link(CollectiveKind kind, int64_t ranks) const { return protocols(kind, ranks)[0]; }
  bool operator==(const Level &) const = default;
};

// The speed of attention in a library of GPUs: shares of the 16-bit peak by the number of keys, for
// heads of 128 columns. Without points: as compiler/cost/Roofline.h says.
struct LibraryAttention {
  Curve forward, gradient;
  bool operator==(const LibraryAttention &) const = default;
};

// How the source of measured clusters begins.
inline constexpr const char *kCalibrated = "measured by cleave-calibrate";

// A machine or several of the same kind. Sizes and speeds are those of one device unless stated.
struct Cluster {
  std::string name;           // for messages and plan files
  std::string source;         // where the numbers come from; see isCalibrated()
  std::string target;         // of a GPU, its compute capability `sm_90`; empty: not known
  bool isCpu = false;         // ranks share the memory, and the cores if there are fewer
  int64_t nodes = 0;          // 0: as many as needed
  int64_t devicesPerNode = 1; // for a CPU: cores
  int64_t deviceBytes = 0;    // memory of one device
  int64_t reservedBytes = 0;  // of it, for driver, libraries and fragmentation
  int64_t hostBytes = 0;      // memory of one node's host
  std::map<std::string, Compute> compute; // by element type: `f32`, `bf16`, …
  int64_t processors = 0;                 // of one device, which compute tiles; 0: unknown
  double tileSeconds = 0;    // of a tile, whatever its size: its first reads and last writes
  double vectorFlops = 0;    // FLOP/s of kernels other than products; 0: as in `compute`
  double attentionFlops = 0; // FLOP/s of causal attention to kMeasuredTokens; 0: as
                             // cost/Roofline.h says
  LibraryAttention libraryAttention;
  double columnsPerSecond = 0; // of convolutions that are lowered (MeasureConvolution.h); 0: all
                               // have kernels of their own
  double memoryBytesPerSecond = 0; // of one device's memory, reads and writes together
  Curve memoryEfficiency;          // over the bytes of one kernel
  double launchSeconds = 0;        // of one kernel
  Link hostLink;                   // between a device and its host
  // Between a device and a file of its rank; by default a common SSD.
  Link fileLink = {.latencySeconds = 1e-4, .bytesPerSecond = 2e9};
  std::vector<Level> levels; // from the innermost outwards, at least one
  bool isView = false;       // of some ranks of a CPU (forRanks)
  double ranksPerCore = 1;   // of such a view whose ranks share cores; else 1

  // The link between device memory and another space.
  const Link &linkTo(Space space) const { return space == Space::File ? fileLink : hostLink; }
  // Bytes of one device that a plan may use.
  int64_t usableBytes() const { return deviceBytes - reservedBytes; }
  // The entry of an element type (`f32`, …); types without an entry use that of f32.
  const Compute &computeOf(const std::string &elementType) const;
  // Whether cleave-calibrate measured its speeds: `source` begins with kCalibrated.
  bool isCalibrated() const { return source.starts_with(kCalibrated); }
  bool operator==(const Cluster &) const = default;
};

// The view of `ranks` ranks: the memory of a CPU is divided among them, and so are its cores if
// there are fewer. A view is returned unchanged: it also describes some of its ranks. A user error
// if the cluster has fewer devices.
Result<Cluster> forRanks(const Cluster &cluster, int64_t ranks);

// The JSON form. Messages of errors begin with the place, such as `/levels/0/links`.
Result<Cluster> fromJson(const std::string &text);
std::string toJson(const Cluster &cluster);

} // namespace cleave::cluster
