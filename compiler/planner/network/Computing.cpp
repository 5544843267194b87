#include "compiler/planner/network/Computing.h"

#include "compiler/cost/Roofline.h"
#include "compiler/planner/choices/Zigzag.h"
#include "compiler/planner/model/Products.h"

#include <algorithm>

namespace cleave::planner {

static double blockBytes(const Costs &costs, int value, const Sharding &layout) {
  return static_cast<double>(localBytes(costs.model().values[value], layout, costs.mesh()));
}

// Libraries of GPUs refuse the blocks of a causal attention.
static bool mayUseLibrary(const Op &op, const OpChoice &choice, const Mesh &mesh) {
  return !op.triangle || mesh.ranksAlong(choice.factors[op.triangle->first]) == 1;
}

// One run of a kernel that computes `flops` in `launches` parts.
static double kernelSeconds(const Costs &costs, const Op &op, const OpChoice &choice, double flops,
                            int64_t launches) {
  const StepModel &model = costs.model();
  const Mesh &mesh = costs.mesh();
  KernelWork work = op.work;
  work.flops = flops;
  work.launches = launches;
  if (!mayUseLibrary(op, choice, mesh))
    work.library.reset();
  if (work.columns > 0)
    work.columns *= flops / op.work.flops;
  double written = 0;
  for (size_t i = 0; i < op.results.size(); ++i)
    written += blockBytes(costs, op.results[i], choice.natural[i]);
  if (work.directResults > 0)
    work.directResults =
        written / static_cast<double>(byteSize(model.values[op.results[0]].element));
  // A sum is read and written.
  work.bytes = op.isAccumulate || op.addsToSum ? 2 * written : written;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const double bytes = blockBytes(costs, op.operands[i], choice.operands[i]);
    work.bytes += op.readsSparsely(static_cast<int>(i)) ? std::min(bytes, written) : bytes;
  }
  work.sizes = matrixSizes(op, choice.factors, mesh);
  work.grouped = groupedSizes(op, choice.factors, mesh);
  return cost::kernelSeconds(costs.cluster(), work);
}

double inOrder(const Costs &costs, const Op &op, const OpChoice &choice) {
  const double flops = localFlops(op, choice.factors, costs.mesh()),
               slowest = slowestShare(op, choice.factors, costs.mesh());
  return kernelSeconds(costs, op, choice, flops * cost::waitingShare(costs.cluster(), slowest), 1);
}

// The second half of a block is copied, because it is not dense, and exchanged. The halves of a
// result are copied, or added.
std::optional<double> inZigzag(const Costs &costs, const Op &op, const OpChoice &choice) {
  const std::optional<int> factor = zigzagFactor(op, choice.factors, costs.mesh());
  if (!factor)
    return std::nullopt;
  double seconds =
      kernelSeconds(costs, op, choice, localFlops(op, choice.factors, costs.mesh()), 2);
  auto exchange = [&](double bytes) {
    return costs.collectives().seconds(CollectiveKind::Permute, choice.factors[*factor], bytes);
  };
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (dimOfFactor(op.rule.operands[i], *factor) >= 0) {
      const double half = blockBytes(costs, op.operands[i], choice.operands[i]) / 2;
      seconds += cost::copySeconds(costs.cluster(), half) + exchange(half);
    }
  for (size_t i = 0; i < op.results.size(); ++i) {
    const double bytes = blockBytes(costs, op.results[i], choice.natural[i]);
    seconds += cost::copySeconds(costs.cluster(), bytes);
    if (dimOfFactor(op.rule.results[i], *factor) >= 0)
      seconds += exchange(bytes / 2);
  }
  return seconds;
}

bool isFasterInZigzag(const Costs &costs, const Op &op, const OpChoice &choice) {
  const std::optional<double> seconds = inZigzag(costs, op, choice);
  return seconds && *seconds < inOrder(costs, op, choice);
}

double computingSeconds(const Costs &costs, const Op &op, const OpChoice &choice) {
  const double ordered = inOrder(costs, op, choice);
  return std::min(ordered, inZigzag(costs, op, choice).value_or(ordered));
}

} // namespace cleave::planner
