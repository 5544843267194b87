#include "compiler/planner/FateRemarks.h"

#include "compiler/planner/ChooseFates.h"
#include "runtime/base/Units.h"

namespace cleave::planner {

// The bytes of an op's results on one rank; `areRead`: only those that other parts of the step than
// its own read.
static int64_t bytesOf(Costs &costs, const Decisions &decisions, int index, bool areRead) {
  const StepModel &model = costs.model();
  const Op &op = model.ops[index];
  int64_t bytes = 0;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Value &value = model.values[op.results[i]];
    auto isElsewhere = [&](const Use &use) { return model.ops[use.op].part != op.part; };
    if (!areRead || std::any_of(value.uses.begin(), value.uses.end(), isElsewhere))
      bytes += localBytes(value, decisions.ops[index].results[i], costs.mesh());
  }
  return bytes;
}

std::vector<Repetition> repetitionsOf(Costs &costs, const Decisions &decisions) {
  std::vector<Repetition> repetitions;
  for (int i = 0; i < static_cast<int>(costs.model().ops.size()); ++i)
    if (const Op &op = costs.model().ops[i]; op.isAgain && !op.isView)
      repetitions.push_back({op.name, i, secondsAgain(costs, decisions, i),
                             bytesOf(costs, decisions, i, /*areRead=*/false)});
  return repetitions;
}

std::vector<PlanRemark> remarksOnFates(Costs &costs, const Plan &plan) {
  const StepModel &model = costs.model();
  const ForwardReads reads = readsOf(model);
  std::vector<PlanRemark> remarks;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    if (op.part != Part::Forward || reads.first[i] == ForwardReads::kNever)
      continue;
    const double waits = static_cast<double>(model.ops[reads.first[i]].runs.begin - op.runs.end) /
                         static_cast<double>(model.instants);
    remarks.push_back({.kind = "kept",
                       .text = concat(op.name, ": ", bytesText(bytesOf(costs, plan, i, true)),
                                      " wait for the backward pass during ", percentText(waits),
                                      " of the step; again would take ",
                                      secondsText(secondsAgain(costs, plan, i))),
                       .op = i});
  }
  for (const Repetition &again : plan.repetitions)
    remarks.push_back({.kind = "again",
                       .text = concat(again.name, ": takes ", secondsText(again.seconds), "; ",
                                      bytesText(again.bytes), " need not be kept"),
                       .op = again.op});
  return remarks;
}

} // namespace cleave::planner
