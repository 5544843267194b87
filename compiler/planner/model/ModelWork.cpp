#include "compiler/planner/model/ModelWork.h"

#include "compiler/planner/model/Products.h"

namespace cleave::planner {

ModelWork modelWork(const StepModel &model, const cluster::Cluster &cluster) {
  ModelWork work;
  bool isKnown = true;
  for (const Op &op : model.ops) {
    if (op.isAgain || !(op.isProduct || op.isAttention))
      continue;
    const double flops = op.flops * static_cast<double>(op.repeats);
    const double peak = cluster.computeOf(computeType(model, op)).peakFlops;
    work.flops += flops;
    isKnown &= peak > 0;
    work.peakSeconds += peak > 0 ? flops / peak : 0;
  }
  if (!isKnown)
    work.peakSeconds = 0;
  return work;
}

} // namespace cleave::planner
