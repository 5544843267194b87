// Measure: speed of this machine's CPU, as a cluster of one node.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// Measures for about `seconds`, and fills memory before: matrix products of several sizes (oneDNN),
// attention, sums of arrays, polynomials and convolutions on one thread, and collectives between
// threads. Status::lost if a collective fails.
Result<Cluster> measureLocalCpu(double seconds = 0.7);

} // namespace cleave::cluster
