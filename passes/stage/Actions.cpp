// See Actions.h.
#include "passes/stage/Actions.h"

#include "compiler/schedule/pipelines/Evaluate.h"
#include "compiler/schedule/pipelines/Schedules.h"
#include "runtime/base/Concat.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cleave::stage {

using graph::Action;
using graph::ScheduledAction;
using pipelines::Kind;

Result<pipelines::Order> orderOf(const std::string &schedule, int64_t stages, int64_t chunks,
                                 int64_t microBatches) {
  for (const pipelines::Schedule &each : pipelines::schedules()) {
    if (schedule != each.name)
      continue;
    if (chunks == 0)
      chunks = std::min<int64_t>(each.mostPerRank, 2);
    if (chunks < each.leastPerRank || chunks > each.mostPerRank)
      return Status::userError(schedule, ": found ", chunks, " chunks per stage; expected ",
                               each.leastPerRank,
                               each.mostPerRank > each.leastPerRank ? " or more" : "",
                               "; leave --chunks out, or choose a schedule of several, such as "
                               "interleaved");
  }
  return pipelines::orderOf(schedule, {.ranks = static_cast<uint32_t>(stages),
                                       .stagesPerRank = static_cast<uint32_t>(chunks),
                                       .microBatches = static_cast<uint32_t>(microBatches)});
}

namespace {

Action actionOf(Kind kind) {
  switch (kind) {
  case Kind::Forward:
    return Action::Forward;
  case Kind::Backward:
  case Kind::InputGradient:
    return Action::Backward;
  case Kind::WeightGradient:
    return Action::Weights;
  case Kind::Recompute:
    return Action::Recompute;
  }
  llvm_unreachable("a task has one of these kinds");
}

// An action at the time at which it begins. At equal times, messages go first, those of backward
// parts before others, because they end a micro-batch. The actions of a task keep their order.
struct Timed {
  double seconds = 0;
  bool isPart = false;
  size_t place = 0; // of a part, in the list of its rank
  bool isForward = false;
  int64_t sender = 0; // the chunk that sends a message
  ScheduledAction action;
  auto key() const {
    return std::tuple(seconds, isPart, place, isForward, sender, action.microBatch);
  }
};

class Lister {
public:
  Lister(const pipelines::Order &order, const pipelines::Evaluation &evaluation)
      : order_(order), evaluation_(evaluation), timed_(order.tasks.size()) {
    std::vector<int64_t> counts(order.tasks.size());
    for (const uint32_t rank : order.rankOf) {
      actions_.placement.push_back(rank);
      number_.push_back(counts[rank]++);
    }
  }

  Actions run() {
    forEach([&](const pipelines::Action &action, size_t rank, size_t task) {
      if (action.kind == Kind::WeightGradient)
        hasWeights_.insert(rank);
      if (actionOf(action.kind) == Action::Forward || actionOf(action.kind) == Action::Backward)
        ends_[{action.stage, action.kind != Kind::Forward, action.microBatch}] =
            evaluation_.times[rank][task].end;
    });
    forEach([&](const pipelines::Action &action, size_t rank, size_t task) {
      add(action, rank, task);
    });
    for (std::vector<Timed> &list : timed_) {
      std::ranges::stable_sort(list, {}, &Timed::key);
      actions_.lists.emplace_back();
      for (const Timed &each : list)
        actions_.lists.back().push_back(each.action);
    }
    return std::move(actions_);
  }

private:
  template <typename Visit> void forEach(Visit visit) const {
    for (size_t rank = 0; rank < order_.tasks.size(); ++rank)
      for (size_t task = 0; task < order_.tasks[rank].size(); ++task)
        for (const pipelines::Action &action : order_.tasks[rank][task].actions())
          visit(action, rank, task);
  }

  // Adds the part, and the message that it waits for. Where the stage has backward parts in two
  // halves, a full one is both.
  void add(const pipelines::Action &task, size_t rank, size_t place) {
    const Action action = actionOf(task.kind);
    const bool isForward = action == Action::Forward;
    auto addPart = [&](Action part) {
      timed_[rank].push_back({.seconds = evaluation_.times[rank][place].begin,
                              .isPart = true,
                              .place = timed_[rank].size(),
                              .action = {part, task.microBatch, number_[task.stage]}});
    };
    addPart(action);
    if (task.kind == Kind::Backward && hasWeights_.contains(rank))
      addPart(Action::Weights);
    if (!isForward && action != Action::Backward)
      return;
    const int64_t sender = isForward ? int64_t(task.stage) - 1 : int64_t(task.stage) + 1;
    auto sent = ends_.find({sender, !isForward, task.microBatch});
    if (sent == ends_.end() || actions_.placement[sender] == int64_t(rank))
      return;
    const double free = place == 0 ? 0 : evaluation_.times[rank][place - 1].end;
    const double passed = std::max(sent->second, free);
    auto message = [&](Action kind, int64_t chunk) {
      return Timed{.seconds = passed,
                   .isForward = isForward,
                   .sender = sender,
                   .action = {kind, task.microBatch, number_[chunk]}};
    };
    timed_[rank].push_back(
        message(isForward ? Action::ReceiveForward : Action::ReceiveBackward, task.stage));
    timed_[actions_.placement[sender]].push_back(
        message(isForward ? Action::SendForward : Action::SendBackward, sender));
  }

  const pipelines::Order &order_;
  const pipelines::Evaluation &evaluation_;
  std::map<std::tuple<int64_t, bool, int64_t>, double> ends_; // by chunk, direction, micro-batch
  std::set<size_t> hasWeights_;                               // stages with weight gradients
  std::vector<int64_t> number_;                               // by chunk: its number in its stage
  std::vector<std::vector<Timed>> timed_;                     // by stage
  Actions actions_;
};

} // namespace

// Refuses orders that recompute only some micro-batches of a chunk, whose other backward parts
// would miss what the recompute part makes.
static Status checkRecomputes(const pipelines::Order &order) {
  std::map<uint32_t, std::set<uint32_t>> recomputed; // by chunk
  for (const std::vector<pipelines::Task> &tasks : order.tasks)
    for (const pipelines::Task &task : tasks)
      for (const pipelines::Action &action : task.actions())
        if (action.kind == Kind::Recompute)
          recomputed[action.stage].insert(action.microBatch);
  for (const auto &[chunk, microBatches] : recomputed)
    if (microBatches.size() != order.microBatches())
      return Status::userError("the schedule recomputes ", microBatches.size(), " of ",
                               order.microBatches(), " micro-batches of chunk ", chunk,
                               "; expected all of them or none");
  return Status::ok();
}

Result<Actions> actionsOf(const pipelines::Order &order) {
  if (order.pipelines() != 1)
    return Status::userError("the schedule runs ", order.pipelines(),
                             " pipelines, which needs as many copies of the model; expected one "
                             "that runs one pipeline, such as 1f1b");
  CLEAVE_TRY(checkRecomputes(order));
  pipelines::Costs costs;
  costs.stages.assign(order.rankOf.size(),
                      {.forward = 1, .inputGradient = 1, .weightGradient = 1, .recompute = 1});
  CLEAVE_TRY_ASSIGN(const pipelines::Evaluation evaluation, evaluate(order, costs));
  return Lister(order, evaluation).run();
}

} // namespace cleave::stage
