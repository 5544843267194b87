// Recomputation on chains of forward and backward stages, against the optimal costs that Rotor
// publishes (Beaumont et al.): a chain becomes a step, a policy is chosen for it, and the sequence
// that it leads to is replayed by the rules of the chain.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/remat/ChooseRemat.h"
#include "compiler/planner/search/Planner.h"
#include "runtime/base/Json.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <set>

using namespace cleave;
using namespace cleave::planner;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int64_t kSlot = int64_t(1) << 20; // bytes of one slot of memory
constexpr double kFlops = 1e12;             // of one unit of time, far above a launch

// A chain of `length` stages. Stage i reads x[i] and makes x[i + 1]; its backward stage reads x[i],
// xbar[i + 1], in which x[i + 1] is contained, and the gradient of x[i + 1], and makes that of
// x[i] in the same place. Memory in slots.
struct Chain {
  int length = 0, memory = 0;
  std::vector<double> forward, backward;    // per stage, seconds
  std::vector<int> x, xbar;                 // length + 1 each; xbar[0] is not used
  std::vector<int> forwardTmp, backwardTmp; // per stage, while it runs
  double cost = kNever;                     // the least seconds within the memory, by Rotor
};

Chain chainOf(const Json &fact) {
  const int length = fact.at("L");
  Chain chain{length, fact.at("mem")};
  if (fact.contains("ftime")) {
    fact.at("ftime").get_to(chain.forward);
    fact.at("btime").get_to(chain.backward);
    fact.at("x").get_to(chain.x);
    fact.at("xbar").get_to(chain.xbar);
    fact.at("ftmp").get_to(chain.forwardTmp);
    fact.at("btmp").get_to(chain.backwardTmp);
  } else {
    chain.forward.assign(length, 1);
    chain.backward.assign(length, 2);
    chain.x.assign(length + 1, 1);
    chain.xbar.assign(length + 1, 2);
    chain.forwardTmp.assign(length, 0);
    chain.backwardTmp.assign(length, 0);
  }
  if (!fact.at("cost").is_null())
    chain.cost = fact.at("cost");
  return chain;
}

// A device on which a unit of time of a chain takes one second, and all else nothing.
cluster::Cluster plainMachine() {
  cluster::Cluster machine;
  machine.name = "plain";
  machine.deviceBytes = int64_t(1) << 50;
  machine.compute["f32"] = {kFlops, {}, {}};
  machine.vectorFlops = machine.memoryBytesPerSecond = 1e30;
  return machine;
}

// Null if the file is not there.
Json readChains() {
  std::ifstream file(CLEAVE_SOURCE "/../shared/facts/rotor_chains.json");
  if (!file) {
    WARN("skipped: ../shared/facts/rotor_chains.json is not there");
    return Json::array();
  }
  return Json::parse(file);
}

// The least seconds of a chain in which no stage runs forward more than `runs` times, by Rotor's
// dynamic program: what crosses a checkpoint is kept until its segment is done. The loss is a stage
// that takes nothing.
class Optimum {
public:
  explicit Optimum(const Chain &chain) : chain_(chain) {}

  double seconds(int runs) { return least(0, chain_.length, chain_.memory - chain_.x[0], runs); }

private:
  int x(int i) const { return i <= chain_.length ? chain_.x[i] : 0; }
  int xbar(int i) const { return i <= chain_.length ? chain_.xbar[i] : 0; }
  double forward(int i) const { return i < chain_.length ? chain_.forward[i] : 0; }
  int forwardTmp(int i) const { return i < chain_.length ? chain_.forwardTmp[i] : 0; }

  double single(int i, int memory) const {
    if (i == chain_.length)
      return memory >= 0 ? 0 : kNever;
    const int tmp = std::max(chain_.forwardTmp[i], chain_.backwardTmp[i]);
    return memory >= x(i + 1) + xbar(i + 1) + tmp ? forward(i) + chain_.backward[i] : kNever;
  }

  // Of stages from … to, whose input is there, within the memory that is left.
  double least(int from, int to, int memory, int runs) {
    if (memory < 0 || runs < 1)
      return kNever;
    if (from == to)
      return single(from, memory);
    auto [known, isNew] = known_.insert({{from, to, memory, runs}, kNever});
    if (!isNew)
      return known->second;
    double best = single(from, memory) + least(from + 1, to, memory - xbar(from + 1), runs);
    double passed = 0;
    int needed = 0;
    for (int next = from + 1; next <= to; ++next) { // keeps x[next] only
      passed += forward(next - 1);
      const int input = next - 1 > from ? x(next - 1) : 0;
      needed = std::max(needed, x(to + 1) + input + x(next) + forwardTmp(next - 1));
      if (needed <= memory)
        best = std::min(best, passed + least(next, to, memory - x(next), runs) +
                                  least(from, next - 1, memory, runs - 1));
    }
    return known_[{from, to, memory, runs}] = best;
  }

  const Chain &chain_;
  std::map<std::array<int, 4>, double> known_;
};

// -- the chain as a step --------------------------------------------------------------------------

// Op i < length is stage i, op length the loss; backward stages follow from the last to the first.
class ChainStep {
public:
  explicit ChainStep(const Chain &chain) : chain_(chain) {
    std::vector<int> x = {addValue(chain.x[0], -1)}, extra = {-1};
    model_.arguments.push_back({"x", {}, Role::Input, "", 0, -1});
    model_.values[0].argument = 0;
    for (int i = 0; i < chain.length; ++i) {
      const int op = addOp("forward", chain.forward[i], {x.back()});
      x.push_back(addResult(op, chain.x[i + 1]));
      if (chain.xbar[i + 1] > chain.x[i + 1])
        extra.push_back(addResult(op, chain.xbar[i + 1] - chain.x[i + 1]));
      else
        extra.push_back(-1);
    }
    const int loss = addResult(addOp("loss", 0, {x.back()}), 0);
    model_.outputs.push_back({"loss", Role::Loss, loss, -1});
    int gradient = addResult(addOp("backward", 0, {x.back()}), chain.x[chain.length]);
    for (int i = chain.length; i-- > 0;) {
      std::vector<int> operands = {x[i], x[i + 1], gradient};
      if (extra[i + 1] >= 0)
        operands.push_back(extra[i + 1]);
      gradient = addResult(addOp("backward", chain.backward[i], operands), chain.x[i]);
    }
    model_.outputs.push_back({"gradient", Role::Output, gradient, -1});
    for (Op &op : model_.ops)
      op.part = op.name == "backward" ? Part::Backward : Part::Forward;
    setStores();
  }

  const StepModel &model() const { return model_; }
  // The backward op of a stage, and the inverse.
  int backwardOf(int stage) const { return 2 * chain_.length + 1 - stage; }
  int stageOf(int op) const { return op <= chain_.length ? op : backwardOf(op); }

private:
  int addValue(int slots, int producer) {
    Value value;
    value.shape = {slots * kSlot / 4};
    value.producer = producer;
    model_.values.push_back(std::move(value));
    return static_cast<int>(model_.values.size()) - 1;
  }
  int addOp(const char *name, double time, std::vector<int> operands) {
    Op op;
    op.name = op.kind = name;
    op.work.flops = time * kFlops;
    op.work.isProduct = true; // the only ops that take time on a plain machine
    for (size_t i = 0; i < operands.size(); ++i)
      model_.values[operands[i]].uses.push_back(
          {static_cast<int>(model_.ops.size()), static_cast<int>(i)});
    op.rule.operands.resize(operands.size(), {{}});
    op.operands = std::move(operands);
    model_.ops.push_back(std::move(op));
    return static_cast<int>(model_.ops.size()) - 1;
  }
  int addResult(int op, int slots) {
    const int value = addValue(slots, op);
    model_.values[value].result = static_cast<int>(model_.ops[op].results.size());
    model_.ops[op].results.push_back(value);
    model_.ops[op].rule.results.push_back({{}});
    return value;
  }

  // Plain stores, but a gradient takes the place of the one that it is made from, and stages have
  // temporary memory.
  void setStores() {
    setPlainStores(model_);
    for (Store &store : model_.stores)
      if (const int producer = model_.values[store.value].producer;
          producer >= 0 && model_.ops[producer].part == Part::Backward)
        store.span.begin = model_.ops[producer].runs.end;
    for (int i = 0; i < chain_.length; ++i) {
      addScratch(i, chain_.forwardTmp[i]);
      addScratch(backwardOf(i), chain_.backwardTmp[i]);
    }
  }
  void addScratch(int op, int slots) {
    if (slots > 0)
      model_.stores.push_back({-1, op, -1, slots * kSlot, model_.ops[op].runs});
  }

  const Chain &chain_;
  StepModel model_;
};

// -- the sequence and its replay ------------------------------------------------------------------

// The ops in the order in which they run: a recomputed op stands at its place, or directly before
// the first op of the backward part, or recomputed op, that reads what it makes.
std::vector<int> sequenceOf(const StepModel &model, const RematPolicy &policy) {
  const int count = static_cast<int>(model.ops.size());
  std::vector<std::set<int>> before(count); // per op the backward ops before which it is recomputed
  for (int i = count; i-- > 0;) {
    if (!policy.recomputed[i])
      continue;
    // Ops of the backward part that read it, or directly before which a reader is recomputed.
    std::set<int> readers;
    for (int result : model.ops[i].results)
      if (policy.isRecomputed(i, model.values[result].result))
        for (const Use &use : model.values[result].uses) {
          readers.insert(before[use.op].begin(), before[use.op].end());
          if (model.ops[use.op].part != Part::Forward)
            readers.insert(use.op);
        }
    if (auto places = policy.places.find(i); places != policy.places.end())
      before[i].insert(places->second.begin(), places->second.end());
    else if (!readers.empty())
      before[i].insert(*readers.begin());
  }
  std::vector<int> sequence;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i; ++j)
      if (before[j].count(i))
        sequence.push_back(j);
    sequence.push_back(i);
  }
  return sequence;
}

// The seconds and the most slots of memory of a sequence, by the rules of the chain.
class Replay {
public:
  Replay(const Chain &chain, const ChainStep &step, const std::vector<int> &sequence)
      : chain_(chain), step_(step), model_(step.model()), sequence_(sequence) {
    for (size_t at = 0; at < sequence_.size(); ++at)
      run(at);
  }

  double seconds = 0;
  int peak = 0;

private:
  // Whether a value is read behind a place before it is made once more.
  bool isNeeded(int value, size_t place) const {
    for (size_t at = place + 1; at < sequence_.size(); ++at) {
      const Op &op = model_.ops[sequence_[at]];
      if (std::count(op.operands.begin(), op.operands.end(), value))
        return true;
      if (model_.values[value].producer == sequence_[at])
        return false;
    }
    return false;
  }
  bool isLastRun(size_t at) const {
    return std::count(sequence_.begin() + at, sequence_.end(), sequence_[at]) == 1;
  }
  bool holdsGradient() const {
    return std::any_of(there_.begin(), there_.end(), [&](int value) {
      const int maker = model_.values[value].producer;
      return maker >= 0 && model_.ops[maker].part == Part::Backward;
    });
  }
  int slots(int value) const { return static_cast<int>(model_.values[value].bytes() / kSlot); }

  void run(size_t at) {
    const Op &op = model_.ops[sequence_[at]];
    const int stage = step_.stageOf(sequence_[at]);
    const bool isForward = op.part == Part::Forward;
    for (int value : op.operands)
      REQUIRE(there_.count(value));
    std::set<int> during = there_;
    for (int value : op.results) // of a forward stage xbar only if it is read
      if (isForward && (value == op.results[0] || isNeeded(value, at)))
        during.insert(value);
    int used = 0;
    for (int value : during)
      used += slots(value);
    if (stage < chain_.length) {
      seconds += (isForward ? chain_.forward : chain_.backward)[stage];
      used += (isForward ? chain_.forwardTmp : chain_.backwardTmp)[stage];
      if (isForward && isLastRun(at) && !holdsGradient()) // as Rotor counts
        used += chain_.x[stage + 1];
    }
    peak = std::max(peak, used);
    there_.insert(op.results.begin(), op.results.end());
    std::erase_if(there_, [&](int value) { return !isNeeded(value, at); });
  }

  const Chain &chain_;
  const ChainStep &step_;
  const StepModel &model_;
  const std::vector<int> &sequence_;
  std::set<int> there_ = {0}; // values
};

// The result of the planner for a chain.
struct Found {
  double seconds = kNever;   // the least within the memory
  int leastPeak = INT_MAX;   // slots of the smallest sequence
  int maxRecomputations = 1; // of one op at most
};

// No op is recomputed more often than it must be. Targets lie around the memory: the network does
// not know temporary memory of recomputed ops, and counts all results of a stage while it runs.
Found planChain(const Chain &chain) {
  const ChainStep step(chain);
  const cluster::Cluster machine = plainMachine();
  PlannerOptions options;
  options.mesh = Mesh{{{"dp", 1}}};
  Result<PlanReport> plan = planStep(step.model(), machine, options);
  REQUIRE(plan.isOk());
  Costs costs(step.model(), machine, plan->mesh);
  const PinnedRemat free(step.model().ops.size());
  Found found;
  for (; found.maxRecomputations < chain.length; ++found.maxRecomputations) {
    for (int target = chain.memory - 3; target <= chain.memory + 5; ++target) {
      Result<ChosenRemat> chosen = chooseRemat(costs, *plan, free, target * kSlot + kSlot / 2,
                                               defaultLimits(), found.maxRecomputations);
      REQUIRE(chosen.isOk());
      const std::vector<int> sequence = sequenceOf(step.model(), chosen->policy);
      const Replay replay(chain, step, sequence);
      found.leastPeak = std::min(found.leastPeak, replay.peak);
      if (replay.peak <= chain.memory)
        found.seconds = std::min(found.seconds, replay.seconds);
    }
    if (found.seconds < kNever)
      break;
  }
  return found;
}

} // namespace

TEST_CASE("Rotor's dynamic program is understood") {
  for (const Json &fact : readChains()) {
    const Chain chain = chainOf(fact);
    INFO("length " << chain.length << ", memory " << chain.memory);
    CHECK(Optimum(chain).seconds(chain.length + 1) == chain.cost);
  }
}

TEST_CASE("Rotor's optimal costs are reached or beaten") {
  const Json facts = readChains();
  int reached = 0, beaten = 0, several = 0;
  for (const Json &fact : facts) {
    const Chain chain = chainOf(fact);
    if (chain.cost == kNever)
      continue;
    const Found found = planChain(chain);
    INFO("length " << chain.length << ", memory " << chain.memory << ", found " << found.seconds);
    CHECK(found.seconds <= chain.cost);
    reached += found.seconds == chain.cost;
    beaten += found.seconds < chain.cost;
    several += found.maxRecomputations > 1;
    if (std::getenv("CLEAVE_SHOW"))
      std::cout << "| " << chain.length << " | " << chain.memory << " | " << chain.cost << " | "
                << found.seconds << " | " << found.leastPeak << " | " << found.maxRecomputations
                << " |\n";
  }
  CHECK((facts.empty() || (reached + beaten == 28 && several == 4)));
}

TEST_CASE("a value is kept for other recomputed ops, while its stage is recomputed later") {
  // The second stage needs much for its backward pass, and the first one little more than it makes.
  const Chain chain{3, 18, {1, 3, 9}, {4, 12, 1}, {1, 2, 4, 2}, {0, 7, 6, 4}, {2, 3, 0}, {0, 3, 3}};
  CHECK(Optimum(chain).seconds(2) == 31);
  CHECK(planChain(chain).seconds == 31);
}
