#include "compiler/schedule/pipelines/Check.h"

#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/pipelines/OrderTimeline.h"

#include <algorithm>

namespace cleave::pipelines {
namespace {

Status checkSizes(const Order &order) {
  if (order.stages == 0 || order.rankOf.empty() || order.rankOf.size() % order.stages != 0)
    return Status::userError("found ", order.rankOf.size(), " stages in pipelines of ",
                             order.stages, "; expected a multiple of at least one stage");
  if (order.microBatches() == 0)
    return Status::userError("found no micro-batch; expected at least one");
  if (order.rankOf.size() > kMostPairs / order.microBatches())
    return Status::userError("found ", order.rankOf.size(), " stages and ", order.microBatches(),
                             " micro-batches, more than ", kMostPairs, " pairs of them");
  std::vector<bool> hasStage(order.ranks());
  for (size_t stage = 0; stage < order.rankOf.size(); ++stage) {
    if (order.rankOf[stage] >= order.ranks())
      return Status::userError("stage ", stage, " is on rank ", order.rankOf[stage], " of ",
                               order.ranks());
    hasStage[order.rankOf[stage]] = true;
  }
  for (size_t rank = 0; rank < hasStage.size(); ++rank)
    if (!hasStage[rank])
      return Status::userError("rank ", rank, " has no stage");
  for (size_t m = 0; m < order.pipelineOf.size(); ++m)
    if (order.pipelineOf[m] >= order.pipelines())
      return Status::userError("micro-batch ", m, " goes through pipeline ", order.pipelineOf[m],
                               " of ", order.pipelines());
  return Status::ok();
}

// Why two actions cannot run as one task; empty if they can.
std::string whyNotPair(const Action &first, const Action &second) {
  const bool isSameStage = first.stage == second.stage;
  if (first.kind == Kind::Forward && second.kind == Kind::Forward)
    return isSameStage ? "" : "two forwards in one task are of one stage";
  if (first.kind == Kind::Forward && second.kind == Kind::Backward)
    return "";
  if (first.kind == Kind::Recompute && second.kind == Kind::Backward)
    return isSameStage && first.microBatch == second.microBatch
               ? ""
               : "a recompute in one task with a backward is of its stage and micro-batch";
  return concat("one task cannot run ", letterOf(first.kind), " and ", letterOf(second.kind));
}

class ActionCheck {
public:
  explicit ActionCheck(const Order &order)
      : order_(order), found_(order.rankOf.size() * order.microBatches()) {}

  Status run() {
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
      for (size_t at = 0; at < order_.tasks[rank].size(); ++at)
        CLEAVE_TRY(add(order_.tasks[rank][at], rank)
                       .withContext(concat("rank ", rank, ", task ", at, ": ",
                                           textOf(order_.tasks[rank][at]))));
    for (uint32_t stage = 0; stage < order_.rankOf.size(); ++stage)
      for (uint32_t m = 0; m < order_.microBatches(); ++m)
        if (order_.pipelineOf[m] == stage / order_.stages)
          CLEAVE_TRY(checkComplete(stage, m));
    return Status::ok();
  }

private:
  static uint8_t bit(Kind kind) { return uint8_t(1) << static_cast<uint8_t>(kind); }
  bool has(uint32_t stage, uint32_t m, Kind kind) const {
    return found_[order_.indexOf(stage, m)] & bit(kind);
  }

  Status add(const Task &task, uint32_t rank) {
    const std::span<const Action> actions = task.actions();
    if (actions.size() == 2)
      if (std::string why = whyNotPair(actions[0], actions[1]); !why.empty())
        return Status::userError(why);
    for (const Action &action : actions)
      CLEAVE_TRY(add(action, rank));
    return Status::ok();
  }

  Status add(const Action &action, uint32_t rank) {
    if (action.stage >= order_.rankOf.size())
      return Status::userError("there are ", order_.rankOf.size(), " stages");
    if (action.microBatch >= order_.microBatches())
      return Status::userError("there are ", order_.microBatches(), " micro-batches");
    if (order_.rankOf[action.stage] != rank)
      return Status::userError("stage ", action.stage, " is on rank ", order_.rankOf[action.stage]);
    if (const uint32_t pipeline = order_.pipelineOf[action.microBatch];
        pipeline != action.stage / order_.stages)
      return Status::userError("micro-batch ", action.microBatch, " goes through pipeline ",
                               pipeline, ", stage ", action.stage, " is of pipeline ",
                               action.stage / order_.stages);
    if (has(action.stage, action.microBatch, action.kind))
      return Status::userError("runs a second time");
    found_[order_.indexOf(action.stage, action.microBatch)] |= bit(action.kind);
    return Status::ok();
  }

  Status checkComplete(uint32_t stage, uint32_t m) {
    std::string missing, surplus;
    const auto text = [&](Kind kind) { return textOf(Action{kind, stage, m}); };
    const bool isSplit = has(stage, m, Kind::InputGradient) || has(stage, m, Kind::WeightGradient);
    if (!has(stage, m, Kind::Forward))
      missing = text(Kind::Forward);
    else if (has(stage, m, Kind::Backward))
      surplus = isSplit ? text(Kind::Backward) : "";
    else if (!isSplit)
      missing = concat(text(Kind::Backward), ", or ", text(Kind::InputGradient), " and ",
                       text(Kind::WeightGradient));
    else if (!has(stage, m, Kind::InputGradient))
      missing = text(Kind::InputGradient);
    else if (!has(stage, m, Kind::WeightGradient))
      missing = text(Kind::WeightGradient);
    if (!missing.empty())
      return Status::userError("rank ", order_.rankOf[stage], ": ", missing, " is missing");
    if (!surplus.empty())
      return Status::userError("rank ", order_.rankOf[stage], ": ", surplus,
                               " is a full backward, but the list also has one in two halves");
    return Status::ok();
  }

  const Order &order_;
  std::vector<uint8_t> found_; // by Order::indexOf: a bit per kind
};

} // namespace

Status checkActions(const Order &order) {
  CLEAVE_TRY(checkSizes(order));
  return ActionCheck(order).run();
}

Status check(const Order &order) {
  CLEAVE_TRY(checkActions(order));
  Costs costs;
  costs.stages.resize(order.stages);
  return schedule::simulate(timelineOf(order, costs)).status();
}

} // namespace cleave::pipelines
