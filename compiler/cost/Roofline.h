// Roofline: the seconds of a kernel on one device (S. Williams et al., CACM 52(4), 2009, with
// efficiencies that depend on the kernel's size).
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cost {

// The work of one kernel on one device.
struct KernelWork {
  double flops = 0;                // 2 per multiply-add
  double bytes = 0;                // read and written in device memory
  std::string elementType = "f32"; // the type it computes in
  int64_t launches = 1;            // that share the work equally
  bool isProduct = true;           // a matrix product or convolution
  double columns = 0;              // elements to which a convolution is lowered
};

// Seconds of the work: max(FLOPs / (peak * efficiency), bytes / (bandwidth * efficiency)) +
// launches * launch overhead. Kernels other than products compute at Cluster::vectorFlops if that
// is not 0; lowered convolutions take at least columns / Cluster::columnsPerSecond.
double kernelSeconds(const cluster::Cluster &cluster, const KernelWork &work);

// Seconds to set `bytes` of one device's memory, by one kernel.
double fillSeconds(const cluster::Cluster &cluster, double bytes);

// Seconds to copy `bytes` within one device's memory, by one kernel.
double copySeconds(const cluster::Cluster &cluster, double bytes);

} // namespace cleave::cost
