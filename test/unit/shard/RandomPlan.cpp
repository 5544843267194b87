#include "test/unit/shard/RandomPlan.h"

#include "compiler/planner/choices/Zigzag.h"
#include "compiler/planner/network/Costs.h"

#include <cmath>

namespace cleave::test {

using namespace cleave::planner;

template <typename T> static const T &pick(const std::vector<T> &list, std::mt19937 &random) {
  return list[random() % list.size()];
}

PlanReport randomPlan(const StepModel &model, const cluster::Cluster &cluster, const Mesh &mesh,
                      std::mt19937 &random) {
  PlanReport plan;
  plan.mesh = mesh;
  Costs costs(model, cluster, mesh);
  std::vector<Sharding> layouts(model.values.size());
  for (const Argument &argument : model.arguments) {
    const std::vector<int64_t> &shape = model.values[argument.value].shape;
    ArgumentChoice choice = pick(enumerateArgument(shape, mesh, {}, true), random);
    if (argument.role != Role::Parameter)
      choice.compute = choice.storage;
    const bool staysGathered = choice.isGathered() && random() % 2;
    plan.arguments.push_back({choice.storage, choice.compute, staysGathered});
    layouts[argument.value] = choice.storage;
  }
  for (const Op &op : model.ops) {
    std::vector<OpChoice> choices = enumerateOp(op, model, mesh);
    std::erase_if(choices, [&](const OpChoice &choice) {
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (std::isinf(costs.reshard(op.operands[i], layouts[op.operands[i]], choice.operands[i])))
          return true;
      return false;
    });
    const OpChoice &choice = pick(choices, random);
    plan.ops.push_back({choice.factors, choice.partial, choice.results});
    plan.ops.back().isZigzag = zigzagFactor(op, choice.factors, mesh) && random() % 2;
    for (size_t i = 0; i < op.results.size(); ++i)
      layouts[op.results[i]] = choice.results[i];
  }
  return plan;
}

} // namespace cleave::test
