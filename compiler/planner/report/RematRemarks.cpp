#include "compiler/planner/report/RematRemarks.h"

#include "compiler/planner/remat/ChooseRemat.h"
#include "runtime/base/Units.h"

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cleave::planner {

// Whether other parts of the step than this one read the value or a view of it.
static bool isReadOutside(const StepModel &model, const Value &value, Part part) {
  return std::ranges::any_of(value.uses, [&](const Use &use) {
    const Op &reader = model.ops[use.op];
    return reader.part != part ||
           (reader.isView && std::ranges::any_of(reader.results, [&](int result) {
              return isReadOutside(model, model.values[result], part);
            }));
  });
}

// The bytes of an op's results on one rank; `areRead`: only those that other parts of the step than
// its own read.
static int64_t bytesOf(Costs &costs, const Decisions &decisions, int index, bool areRead) {
  const StepModel &model = costs.model();
  const Op &op = model.ops[index];
  int64_t bytes = 0;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Value &value = model.values[op.results[i]];
    if (!areRead || isReadOutside(model, value, op.part))
      bytes += localBytes(value, decisions.ops[index].results[i], costs.mesh());
  }
  return bytes;
}

// The share of the step's clock between the end of an op and the beginning of another one.
static double shareBetween(const StepModel &model, const Op &from, const Op &to) {
  return static_cast<double>(to.runs.begin - from.runs.end) / static_cast<double>(model.instants);
}

// By op: the op of the forward part that it recomputes; -1 for other ops. Ops that come from one op
// of the model share its name (ReadStep.cpp); their operands tell them apart.
static std::vector<int> originsOf(const StepModel &model) {
  std::vector<int> origins(model.ops.size(), -1), values(model.values.size());
  std::iota(values.begin(), values.end(), 0); // of a recomputed value: the original
  std::map<std::tuple<std::string, std::string, std::vector<int>>, int> forward;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    std::vector<int> operands;
    for (int operand : op.operands)
      operands.push_back(values[operand]);
    const size_t end = op.isRecomputed ? op.name.rfind(", recomputed") : std::string::npos;
    const auto key = std::tuple(op.name.substr(0, end), op.kind, std::move(operands));
    if (!op.isRecomputed && op.part == Part::Forward)
      forward.emplace(key, i);
    const auto origin = op.isRecomputed ? forward.find(key) : forward.end();
    if (origin == forward.end())
      continue;
    origins[i] = origin->second;
    for (size_t r = 0; r < op.results.size(); ++r)
      values[op.results[r]] = model.ops[origins[i]].results[r];
  }
  return origins;
}

std::vector<RecomputedOp> recomputedOps(Costs &costs, const Decisions &decisions) {
  const StepModel &model = costs.model();
  const std::vector<int> origins = originsOf(model);
  std::vector<RecomputedOp> recomputed;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (const Op &op = model.ops[i]; op.isRecomputed && !op.isView) {
      recomputed.push_back({op.name, i, recomputeSeconds(costs, decisions, i),
                            bytesOf(costs, decisions, i, /*areRead=*/false),
                            origins[i] >= 0 ? shareBetween(model, model.ops[origins[i]], op) : 0});
    }
  return recomputed;
}

// The space in which results of the op wait.
static Space spaceOf(const StepModel &model, const Op &op) {
  Space space = Space::Device;
  for (int value : op.results)
    if (model.values[value].awayCopies > 0)
      space = model.values[value].space;
  return space;
}

namespace {

// The cost of recomputing an op of the forward part before its first reader in the backward part.
class Recomputation {
public:
  Recomputation(Costs &costs, const Decisions &decisions, const ForwardReads &reads)
      : costs_(costs), decisions_(decisions), reads_(reads),
        isRecomputed_(costs.model().ops.size()) {
    for (int origin : originsOf(costs.model()))
      if (origin >= 0)
        isRecomputed_[origin] = true;
  }

  // Seconds per step, and the number of further ops to recompute: its ancestors whose results are
  // neither kept nor recomputed already.
  std::pair<double, int> of(int op) const {
    double seconds = 0;
    std::vector<int> waiting = {op};
    std::set<int> seen = {op};
    while (!waiting.empty()) {
      const int next = waiting.back();
      waiting.pop_back();
      seconds += recomputeSeconds(costs_, decisions_, next);
      for (int input : reads_.inputs[next])
        if (reads_.first[input] == ForwardReads::kNever && !isRecomputed_[input] &&
            seen.insert(input).second)
          waiting.push_back(input);
    }
    return {seconds, static_cast<int>(seen.size()) - 1};
  }

  // Whether the op is recomputed, for other results.
  bool repeats(int op) const { return isRecomputed_[op]; }

private:
  Costs &costs_;
  const Decisions &decisions_;
  const ForwardReads &reads_;
  std::vector<bool> isRecomputed_; // by op
};

} // namespace

std::vector<KeptValue> keptValuesOf(Costs &costs, const Decisions &decisions) {
  const StepModel &model = costs.model();
  const ForwardReads reads = readsOf(model);
  const Recomputation recomputation(costs, decisions, reads);
  std::vector<KeptValue> kept;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    if (op.part != Part::Forward || reads.first[i] == ForwardReads::kNever)
      continue;
    const auto [seconds, before] = recomputation.of(i);
    kept.push_back({op.name, i, spaceOf(model, op), bytesOf(costs, decisions, i, /*areRead=*/true),
                    shareBetween(model, op, model.ops[reads.first[i]]), seconds, before,
                    isRecomputable(model, i), recomputation.repeats(i)});
  }
  return kept;
}

std::string choiceText(const KeptValue &value) {
  const char *place = value.space == Space::Host   ? " in host memory"
                      : value.space == Space::File ? " in a file"
                                                   : "";
  return concat(bytesText(value.bytes), " kept", place, " during ", percentText(value.share),
                " of the step",
                value.isPartRecomputed ? "; another result of the op is recomputed" : "");
}

std::string choiceText(const RecomputedOp &op) {
  return concat(bytesText(op.bytes), " not kept during ", percentText(op.share), " of the step");
}

// `3.20 ms per GiB`: a price of memory.
static std::string priceText(double seconds, int64_t bytes) {
  constexpr double kGiB = 1 << 30;
  return secondsText(seconds / static_cast<double>(bytes) * kGiB) + " per GiB";
}

// What more memory saves, where the layouts depend on it.
static std::string paidText(const PlanReport &plan) {
  return plan.secondsPerByte > 0 ? "; here it saves " + priceText(plan.secondsPerByte, 1) : "";
}

std::string reasonText(const KeptValue &value, const PlanReport &plan) {
  if (!value.mayRecompute)
    return "cannot be recomputed: a result of the step, or read more often than it is made";
  std::string text = "recomputing it would take " + secondsText(value.recomputeSeconds);
  if (value.recomputedBefore > 0)
    text += concat(", including ", value.recomputedBefore,
                   value.recomputedBefore == 1 ? " op" : " ops", " that it depends on");
  if (value.bytes > 0)
    text += "; worth it where memory saves more than " +
            priceText(value.recomputeSeconds, value.bytes) + paidText(plan);
  return text;
}

std::string reasonText(const RecomputedOp &op, const PlanReport &plan) {
  std::string text = "recomputing takes " + secondsText(op.seconds);
  if (op.bytes > 0)
    text += "; not worth it where memory saves less than " + priceText(op.seconds, op.bytes) +
            paidText(plan);
  return text;
}

std::vector<PlanRemark> remarksOnRemat(const PlanReport &plan) {
  std::vector<PlanRemark> remarks;
  for (const KeptValue &value : plan.kept)
    remarks.push_back(
        {.kind = "kept",
         .text = concat(value.name, ": ", choiceText(value), "; ", reasonText(value, plan)),
         .op = value.op});
  for (const RecomputedOp &op : plan.recomputed)
    remarks.push_back({.kind = "recompute",
                       .text = concat(op.name, ": ", choiceText(op), "; ", reasonText(op, plan)),
                       .op = op.op});
  return remarks;
}

} // namespace cleave::planner
