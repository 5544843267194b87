// A build without oneDNN (CLEAVE_RUNTIME_ONLY), which measures GPUs but not CPUs.
#include "compiler/cluster/Measure.h"

namespace cleave::cluster {

Result<Cluster> measureLocalCpu(double) {
  return Status::userError("this build has no oneDNN, with which CPUs are measured; use a build "
                           "without CLEAVE_RUNTIME_ONLY");
}

} // namespace cleave::cluster
