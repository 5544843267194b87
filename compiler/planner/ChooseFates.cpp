#include "compiler/planner/ChooseFates.h"

#include "compiler/planner/LayoutChanges.h"
#include "runtime/base/Units.h"

namespace cleave::planner {

double secondsAgain(Costs &costs, const Decisions &decisions, int index) {
  const StepModel &model = costs.model();
  const Op &op = model.ops[index];
  const OpChoice choice = choiceOf(op, decisions.ops[index]);
  double seconds = costs.kernels(op, choice);
  double changes = costs.resolve(op, choice);
  for (size_t i = 0; i < op.operands.size(); ++i)
    changes +=
        costs.reshard(op.operands[i], homeOf(model, decisions, op.operands[i]), choice.operands[i]);
  return seconds + static_cast<double>(op.repeats) * changes;
}

namespace {

// How many slots an op has: the last ones before its first reader.
constexpr size_t kSlots = 10;

// One choice of a node: from when to when the results are in memory behind the forward part.
struct FateChoice {
  bool isAgain = false;
  bool isPartial = false;      // OpenOp::partial is kept until the op runs again
  int64_t from = 0, until = 0; // empty: they are not
};

// An op whose fate is open.
struct OpenOp {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int op = 0;
  int64_t forwardEnd = 0;                       // of its last reader in the forward part
  int64_t firstRead = kNone;                    // before its first reader outside
  int64_t lastRead = 0;                         // until then the plan keeps its results
  int64_t keptBytes = 0;                        // of the results that the plan keeps
  int64_t until = 0;                            // behind the latest slot of any op that reads it
  std::optional<std::vector<int>> partial = {}; // results that may be kept without the others
  bool needsOperands = true;                    // if these are kept; else they suffice
  int64_t firstOther = kNone;                   // as firstRead, of the results but these
  std::vector<int64_t> slots = {};              // descending
  std::vector<FateChoice> choices = {};
};

class FateNetwork {
public:
  FateNetwork(Costs &costs, const Plan &plan, const ForcedFates &forced, int64_t memoryBytes)
      : costs_(costs), model_(costs.model()), plan_(plan), forced_(forced), reads_(readsOf(model_)),
        openOf_(model_.ops.size(), -1) {
    problem_.name = "fates";
    problem_.spaces = {{"device", memoryBytes}};
  }

  solver::Problem build() {
    findOpenOps();
    findSlots();
    for (OpenOp &open : open_)
      addNode(open);
    addOthers();
    for (size_t i = 0; i < open_.size(); ++i)
      for (int input : reads_.inputs[open_[i].op])
        if (openOf_[input] >= 0)
          addEdge(open_[i], open_[openOf_[input]]);
    return std::move(problem_);
  }

  Fates fatesOf(const std::vector<int> &choices) const {
    Fates fates = keepAll(model_);
    for (size_t i = 0; i < open_.size(); ++i) {
      const FateChoice &choice = open_[i].choices[choices[i]];
      fates.again[open_[i].op] = choice.isAgain;
      if (choice.isPartial)
        fates.kept[open_[i].op] = *open_[i].partial;
    }
    normalise(model_, fates);
    return fates;
  }

private:
  // -- instants -----------------------------------------------------------------------------------

  // Ops of the forward part with operands that are no views, and when their results are read.
  void findOpenOps() {
    for (size_t i = 0; i < model_.ops.size(); ++i) {
      const Op &op = model_.ops[i];
      if (op.part != Part::Forward || op.isView || op.operands.empty())
        continue;
      openOf_[i] = static_cast<int>(open_.size());
      open_.push_back({.op = static_cast<int>(i), .forwardEnd = op.runs.end});
    }
    for (size_t i = 0; i < model_.ops.size(); ++i)
      for (int input : reads_.inputs[i]) {
        OpenOp &open = open_[openOf_[input]];
        const Op &reader = model_.ops[i];
        if (reader.part == Part::Forward) {
          open.forwardEnd = std::max(open.forwardEnd, reader.runs.end);
          continue;
        }
        open.firstRead = std::min(open.firstRead, reader.runs.begin - 1);
        open.lastRead = std::max(open.lastRead, reader.runs.end);
      }
    for (OpenOp &open : open_) {
      findKept(open);
      findPartial(open);
    }
    findOtherReads();
  }

  void findPartial(OpenOp &open) const {
    open.partial = sufficientResults(model_, open.op);
    open.needsOperands = !open.partial;
    if (!open.partial)
      open.partial = passedOnResults(model_, open.op);
    open.firstOther = open.partial ? OpenOp::kNone : open.firstRead;
  }

  bool isPartial(const OpenOp &open, int result) const {
    return open.partial &&
           std::find(open.partial->begin(), open.partial->end(), result) != open.partial->end();
  }

  // When the results that may not be kept alone are read first.
  void findOtherReads() {
    for (const Op &reader : model_.ops)
      if (reader.part != Part::Forward && !reader.isView)
        for (int operand : reader.operands) {
          const Value &value = model_.values[sourceOf(model_, operand)];
          const int open = value.producer < 0 ? -1 : openOf_[value.producer];
          if (open >= 0 && !isPartial(open_[open], value.result))
            open_[open].firstOther = std::min(open_[open].firstOther, reader.runs.begin - 1);
        }
  }

  void findKept(OpenOp &open) {
    int64_t end = 0;
    for (const Holding &holding : plan_.holdings)
      if (holding.op == open.op && holding.isResult && holding.span.end > open.forwardEnd) {
        open.keptBytes += holding.bytes;
        end = std::max(end, holding.span.end);
      }
    if (end > 0 && open.firstRead != OpenOp::kNone)
      open.lastRead = end;
  }

  // From the last op to the first: the slots of an op are its own one and those of its readers.
  void findSlots() {
    for (size_t i = open_.size(); i-- > 0;) {
      OpenOp &open = open_[i];
      for (int64_t slot : {open.firstRead, open.firstOther})
        if (slot != OpenOp::kNone)
          open.slots.push_back(slot);
      std::erase_if(open.slots, [&](int64_t slot) {
        return slot > open.firstOther || slot <= open.forwardEnd;
      });
      std::sort(open.slots.begin(), open.slots.end(), std::greater<>());
      open.slots.erase(std::unique(open.slots.begin(), open.slots.end()), open.slots.end());
      open.slots.resize(std::min(open.slots.size(), kSlots));
      for (int input : reads_.inputs[open.op]) {
        OpenOp &source = open_[openOf_[input]];
        source.slots.insert(source.slots.end(), open.slots.begin(), open.slots.end());
        if (!open.slots.empty())
          source.until = std::max(source.until, open.slots.front() + 1);
      }
    }
  }

  // -- nodes --------------------------------------------------------------------------------------

  bool mayBe(const OpenOp &open, bool again) const {
    const std::optional<bool> &fate = forced_.again[open.op];
    return !fate || *fate == again;
  }

  void addChoices(OpenOp &open) const {
    const bool isRead = open.firstRead != OpenOp::kNone;
    std::vector<int64_t> ends = {open.lastRead};
    if (open.until > open.lastRead)
      ends.push_back(open.until);
    if (!isRead)
      open.choices.push_back({}); // gone
    for (int64_t end : ends)
      if (end > open.forwardEnd && mayBe(open, false))
        open.choices.push_back({false, false, open.forwardEnd, end});
    if (open.choices.empty() && mayBe(open, false))
      open.choices.push_back({}); // read only while it is there anyway
    if (!mayBe(open, true) || !isRecomputable(model_, open.op))
      return;
    for (int64_t slot : open.slots) {
      for (int64_t end : ends)
        if (end > slot) {
          if (slot <= open.firstRead)
            open.choices.push_back({true, false, slot, end});
          if (open.partial)
            open.choices.push_back({true, true, slot, end});
        }
      if (!isRead) // for ops that run again at once
        open.choices.push_back({true, false, slot, slot + 1});
    }
    if (open.choices.empty())
      open.choices.push_back({});
  }

  // The bytes of all results of the op.
  int64_t bytesOf(int op) const {
    int64_t bytes = 0;
    for (const Sharding *layout = plan_.ops[op].results.data(); int value : model_.ops[op].results)
      bytes += storedBytes(model_.values[value], *layout++, plan_.mesh);
    return bytes;
  }
  // Those that a choice holds. For longer than the plan keeps any, it holds all.
  int64_t bytesOf(const OpenOp &open, const FateChoice &choice) const {
    const bool isAsPlanned = open.keptBytes > 0 && choice.until <= open.lastRead;
    return isAsPlanned ? open.keptBytes : bytesOf(open.op);
  }

  // Those that wait for the slot, from which the others are computed.
  int64_t keptBytes(const OpenOp &open, const FateChoice &choice) const {
    int64_t bytes = 0;
    if (choice.isPartial)
      for (int result : *open.partial)
        bytes += storedBytes(model_.values[model_.ops[open.op].results[result]],
                             plan_.ops[open.op].results[result], plan_.mesh);
    return std::min(bytes, bytesOf(open, choice));
  }

  // The usages of a node: its intervals, cut at all instants at which a choice begins or ends.
  void addNode(OpenOp &open) {
    addChoices(open);
    std::vector<int64_t> cuts = {open.forwardEnd};
    for (const FateChoice &choice : open.choices)
      cuts.insert(cuts.end(), {choice.from, choice.until});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    solver::Node node{model_.ops[open.op].name, {}, {}};
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      node.usages.push_back({cuts[i], cuts[i + 1], 0});
    const double again = secondsAgain(costs_, plan_, open.op);
    for (const FateChoice &choice : open.choices) {
      const int64_t bytes = bytesOf(open, choice), kept = keptBytes(open, choice);
      std::vector<int64_t> held;
      for (const solver::Usage &usage : node.usages) {
        const bool isBefore = usage.begin >= open.forwardEnd && usage.end <= choice.from;
        const bool isThere = choice.from <= usage.begin && usage.end <= choice.until;
        held.push_back(isThere ? bytes : isBefore ? kept : 0);
      }
      node.choices.push_back({"", choice.isAgain ? again : 0, std::move(held)});
    }
    problem_.nodes.push_back(std::move(node));
  }

  // What the plan holds apart from the results of open ops behind the forward part.
  void addOthers() {
    for (const Holding &holding : plan_.holdings) {
      int64_t end = holding.span.end;
      if (holding.isResult && openOf_[holding.op] >= 0)
        end = std::min(end, open_[openOf_[holding.op]].forwardEnd);
      if (holding.span.begin < end)
        problem_.nodes.push_back(
            {holding.name, {{holding.span.begin, end, 0}}, {{"", 0, {holding.bytes}}}});
    }
  }

  // -- edges --------------------------------------------------------------------------------------

  // Whether the reader reads no results of the source but those that may be kept alone.
  bool readsPartial(const OpenOp &reader, const OpenOp &source) const {
    if (!source.partial)
      return false;
    for (int operand : model_.ops[reader.op].operands) {
      const Value &value = model_.values[sourceOf(model_, operand)];
      if (value.producer == source.op && !isPartial(source, value.result))
        return false;
    }
    return true;
  }

  // An op that runs again must find its operand in memory, unless it computes without it.
  void addEdge(const OpenOp &reader, const OpenOp &source) {
    std::vector<double> cost;
    const bool isPartial = readsPartial(reader, source);
    bool isAlwaysFree = true;
    for (const FateChoice &a : reader.choices)
      for (const FateChoice &b : source.choices) {
        const int64_t from = b.isPartial && isPartial ? source.forwardEnd : b.from;
        bool isThere = (from <= a.from && a.from < b.until) || a.from < source.forwardEnd;
        const bool isFree = !a.isAgain || (a.isPartial && !reader.needsOperands);
        cost.push_back(isFree || isThere ? 0 : solver::kForbidden);
        isAlwaysFree &= cost.back() == 0;
      }
    if (!isAlwaysFree)
      problem_.edges.push_back({openOf_[reader.op], openOf_[source.op], std::move(cost)});
  }

  Costs &costs_;
  const StepModel &model_;
  const Plan &plan_;
  const ForcedFates &forced_;
  ForwardReads reads_;
  std::vector<OpenOp> open_; // in program order; their nodes have the same numbers
  std::vector<int> openOf_;  // per op
  solver::Problem problem_;
};

} // namespace

Result<ChosenFates> chooseFates(Costs &costs, const Plan &plan, const ForcedFates &forced,
                                int64_t memoryBytes, const solver::SolveOptions &limits) {
  FateNetwork network(costs, plan, forced, memoryBytes);
  solver::Problem problem = network.build();
  CLEAVE_TRY_ASSIGN(solver::Solution solution, solver::solve(problem, limits));
  ChosenFates chosen;
  if (!solution.isFound() && !solution.infeasibility.smallestBudget.empty()) {
    chosen.isFitting = false;
    problem.spaces[0].budget = solution.infeasibility.smallestBudget[0];
    CLEAVE_TRY_ASSIGN(solution, solver::solve(problem, limits));
  }
  if (!solution.isFound())
    return Status::infeasible("no choice of what is computed again was found that fits into ",
                              bytesText(memoryBytes));
  chosen.fates = network.fatesOf(solution.choices);
  chosen.seconds = solution.cost;
  chosen.peakBytes = solution.peaks.empty() ? 0 : solution.peaks[0].bytes;
  return chosen;
}

} // namespace cleave::planner
