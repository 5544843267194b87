// Roofline: the seconds of a kernel on one device (S. Williams et al., CACM 52(4), 2009, with
// efficiencies that depend on the kernel's size).
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cost {

struct KernelWork {
  double flops = 0;                // 2 per multiply-add
  double bytes = 0;                // read and written in device memory
  std::string elementType = "f32"; // that it computes in
  int64_t launches = 1;
  bool isProduct = true; // of matrices, or a convolution
};

// max(FLOPs / (peak * efficiency), bytes / (bandwidth * efficiency)) + launches * launch overhead; what is no product
// computes at the cluster's vectorFlops, if these are known.
// Several launches share the work equally.
double kernelSeconds(const cluster::Cluster &cluster, const KernelWork &work);

// Seconds to copy `bytes` within one device's memory, by one kernel.
double copySeconds(const cluster::Cluster &cluster, double bytes);

} // namespace cleave::cost
