// MeasureDevice: the numbers of a GPU and its links, from times that a device reports.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "runtime/comm/Communicator.h"

namespace cleave::cluster {

// Times of a device's work, in seconds of one execution with the device otherwise idle. All ranks
// of a job call the same functions in the same order and get the same numbers.
class DeviceTimes {
public:
  virtual ~DeviceTimes() = default;
  // A kernel that does nothing.
  virtual Result<double> emptyKernel() = 0;
  // The product of two square matrices of `size` rows; `elementType` as in Cluster::compute.
  virtual Result<double> product(const std::string &elementType, int64_t size) = 0;
  // A kernel that adds an array to another one, and moves `bytes` in all.
  virtual Result<double> addition(int64_t bytes) = 0;
  // A kernel of `flops` operations in registers.
  virtual Result<double> arithmetic(double flops) = 0;
  // A copy of `bytes` from the host's pinned memory.
  virtual Result<double> upload(int64_t bytes) = 0;
  // A collective of f32 among the first `ranks` ranks, whose larger buffer has `bytes`.
  virtual Result<double> collective(CollectiveKind kind, int ranks, int64_t bytes) = 0;
  // The ranks of the job, one per GPU of this machine.
  virtual int ranks() const = 0;
};

// The cluster `like` with what could be measured: products by type, vector operations, memory,
// launches, the host's link, and, with several ranks, the links of the innermost level. Sizes of
// memories and the other levels stay. The first failure of `times`.
Result<Cluster> measureDevice(const Cluster &like, DeviceTimes &times);

// The link that gives a tiny collective's time and a large one's by the formulas of
// compiler/cost/Collective.h, without hops; `bytes` as in DeviceTimes::collective().
Link linkOf(CollectiveKind kind, int ranks, double tinySeconds, int64_t bytes, double seconds);

// The call by which a rank takes part in a measured collective, of linkKinds(), of all `ranks`
// ranks of a group, whose larger buffer has `floats` f32. All ranks move the same bytes; with Send,
// rank 0 sends to rank 1, which receives, and the others have a call without buffers.
comm::Call measuredCall(CollectiveKind kind, int rank, int ranks, int64_t floats, void *send,
                        void *recv);

// The best of the rates, each given as (size, rate); `curve` gets the shares of it.
double bestRate(const std::vector<std::pair<double, double>> &rates, Curve &curve);

} // namespace cleave::cluster
