// MeasureLinks: latency and bandwidth of collectives through the shared memory of this machine.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "runtime/comm/Communicator.h"

namespace cleave::cluster {

// The only level of a machine with `cores` cores. Threads stand in for ranks: two, `cores`, and
// 2 * `cores` of them. Takes about `seconds`. Status::lost if a collective fails.
Result<Level> measureLinks(int64_t cores, double seconds);

// Seconds of one collective of `floats` floats between all ranks of a job, one World each: the
// least over those that fit into `budget` seconds, at least 5. Status::lost if one fails.
Result<double> leastSeconds(CollectiveKind kind, std::vector<std::unique_ptr<comm::World>> worlds,
                            int64_t floats, double budget);

} // namespace cleave::cluster
