#include "test/unit/planner/search/FakeStep.h"

#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"

#include <algorithm>
#include <map>

namespace cleave::test {

using namespace cleave::planner;

namespace {

// Inserts recomputed ops into a step.
class Recomputation {
public:
  Recomputation(const StepModel &model, const RematPolicy &policy)
      : policy_(policy), model_(model) {}

  StepModel run() {
    const std::vector<Op> ops = std::exchange(model_.ops, {});
    for (size_t i = 0; i < ops.size(); ++i) {
      Op op = ops[i];
      if (op.part != Part::Forward)
        for (int &operand : op.operands)
          operand = recomputed(ops, operand);
      add(std::move(op));
    }
    for (Value &value : model_.values)
      value.uses.clear();
    for (int i = 0; i < static_cast<int>(model_.ops.size()); ++i)
      for (size_t k = 0; k < model_.ops[size_t(i)].operands.size(); ++k)
        model_.values[size_t(model_.ops[size_t(i)].operands[k])].uses.push_back(
            {i, static_cast<int>(k)});
    classifyOps(model_);
    setPlainStores(model_);
    return std::move(model_);
  }

private:
  void add(Op op) {
    for (int result : op.results)
      model_.values[size_t(result)].producer = static_cast<int>(model_.ops.size());
    model_.ops.push_back(std::move(op));
  }

  // The value that the backward part reads in place of `value`.
  int recomputed(const std::vector<Op> &ops, int value) {
    const int producer = origin(ops, value);
    if (producer < 0 || !policy_.isRecomputed(producer, model_.values[size_t(value)].result))
      return value;
    if (auto known = recomputed_.find(value); known != recomputed_.end())
      return known->second;
    Op op = ops[size_t(producer)];
    op.name += ", recomputed";
    op.isRecomputed = true;
    for (int &operand : op.operands)
      operand = recomputed(ops, operand);
    for (int &result : op.results) {
      const int copy = static_cast<int>(model_.values.size());
      model_.values.push_back(model_.values[size_t(result)]);
      recomputed_[result] = copy;
      result = copy;
    }
    add(std::move(op));
    return recomputed_.at(value);
  }

  // The op of the step without recomputed ops that makes a value of it, or -1.
  static int origin(const std::vector<Op> &ops, int value) {
    for (size_t i = 0; i < ops.size(); ++i)
      if (std::ranges::count(ops[i].results, value))
        return static_cast<int>(i);
    return -1;
  }

  const RematPolicy &policy_;
  StepModel model_;
  std::map<int, int> recomputed_;
};

void moveTo(Space space, Value &value) {
  value.space = space;
  value.awayCopies = 2;
}

} // namespace

int64_t peakOf(const StepModel &model) {
  int64_t peak = 0;
  for (int64_t now = 0; now < model.instants; ++now) {
    int64_t bytes = 0;
    for (const Store &store : model.stores)
      bytes += store.span.begin <= now && now < store.span.end ? store.bytes : 0;
    peak = std::max(peak, bytes);
  }
  return peak;
}

Result<std::unique_ptr<Step>> FakeStep::realise(const RematPolicy &policy) const {
  CLEAVE_TRY(programs_.failure);
  ++programs_.copies;
  StepModel model = model_;
  for (const auto &[op, space] : policy.away)
    for (int result : model.ops[size_t(op)].results)
      moveTo(space, model.values[size_t(result)]);
  for (const auto &[argument, space] : policy.arguments)
    moveTo(space, model.values[size_t(model.arguments[size_t(argument)].value)]);
  model = Recomputation(model, policy).run();
  std::erase_if(model.stores, [&](const Store &store) {
    return store.value >= 0 && model.values[size_t(store.value)].space != Space::Device;
  });
  return std::unique_ptr<Step>(new FakeStep(std::move(model), programs_));
}

Result<ProgramMemory> FakeStep::memory(const Decisions &, const cluster::Cluster &,
                                       const Budget &budget) const {
  ++programs_.read;
  const int64_t peak = peakOf(model_);
  ProgramMemory memory;
  memory.peak = memory.arena = programs_.bytesIn ? programs_.bytesIn(budget.ofSpace())
                               : programs_.bytes ? programs_.bytes(peak)
                                                 : peak;
  for (const Value &value : model_.values) {
    memory.host += value.space == Space::Host ? value.bytes() : 0;
    memory.file += value.space == Space::File ? value.bytes() : 0;
  }
  return memory;
}

StepModel nineLayers() { return modelOf(deepStep(9, 64, 16)); }

PlannerOptions onOneRank(int64_t budget) {
  PlannerOptions options;
  options.budget = budget;
  return options;
}

} // namespace cleave::test
