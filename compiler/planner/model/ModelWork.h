// ModelWork: the products that a step has to compute under every plan, for the model FLOPs
// utilization (MFU).
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/model/StepModel.h"

namespace cleave::planner {

struct ModelWork {
  double flops = 0;       // of products, convolutions and attention, each once; no recomputation
  double peakSeconds = 0; // in which one device would compute them at its peak rates; 0: not known
  std::string type;       // that 95 % of these FLOPs or more compute in, `bf16`; empty: none
};

ModelWork modelWork(const StepModel &model, const cluster::Cluster &cluster);

} // namespace cleave::planner
