// Seconds of kernels.
#include "compiler/cost/Roofline.h"

#include <algorithm>

namespace cleave::cost {

double kernelSeconds(const cluster::Cluster &cluster, const KernelWork &work) {
  const double launches = static_cast<double>(std::max<int64_t>(1, work.launches));
  const cluster::Compute &compute = cluster.computeOf(work.elementType);
  double computing = 0, moving = 0;
  if (work.flops > 0 && !work.isProduct && cluster.vectorFlops > 0)
    computing = work.flops / cluster.vectorFlops;
  else if (work.flops > 0)
    computing = work.flops / (compute.peakFlops * compute.efficiency.at(work.flops / launches));
  if (work.columns > 0 && cluster.columnsPerSecond > 0)
    computing = std::max(computing, work.columns / cluster.columnsPerSecond);
  if (work.bytes > 0)
    moving = work.bytes /
             (cluster.memoryBytesPerSecond * cluster.memoryEfficiency.at(work.bytes / launches));
  return std::max(computing, moving) + static_cast<double>(work.launches) * cluster.launchSeconds;
}

double fillSeconds(const cluster::Cluster &cluster, double bytes) {
  return kernelSeconds(cluster, {0, bytes, "f32", 1, false});
}

double copySeconds(const cluster::Cluster &cluster, double bytes) {
  return kernelSeconds(cluster, {0, 2 * bytes, "f32", 1, false});
}

} // namespace cleave::cost
