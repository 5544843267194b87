#include "compiler/planner/model/ModelWork.h"

#include "compiler/planner/model/Products.h"

#include <map>

namespace cleave::planner {

// The share of the FLOPs that names the type.
static constexpr double kNearlyAll = 0.95;

ModelWork modelWork(const StepModel &model, const cluster::Cluster &cluster) {
  ModelWork work;
  bool isKnown = true;
  std::map<std::string, double> flopsOf; // by type
  for (const Op &op : model.ops) {
    if (op.isRecomputed || !op.work.isProduct)
      continue;
    const double flops = op.work.flops * static_cast<double>(op.repeats);
    const std::string type = op.work.elementType;
    const double peak = cluster.computeOf(type).peakFlops;
    work.flops += flops;
    flopsOf[type] += flops;
    isKnown &= peak > 0;
    work.peakSeconds += peak > 0 ? flops / peak : 0;
  }
  if (!isKnown)
    work.peakSeconds = 0;
  for (const auto &[type, flops] : flopsOf)
    if (flops > 0 && flops >= kNearlyAll * work.flops)
      work.type = type;
  return work;
}

} // namespace cleave::planner
