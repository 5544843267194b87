// The check of orders: one test per rule, and random changes of valid orders against a check by
// brute force that shares no code with the library's.
#include "compiler/schedule/pipelines/Check.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

Order small() { return made("1f1b", {.ranks = 2, .microBatches = 2}); }

template <typename Change> std::string refusalOf(Order order, Change change) {
  change(order);
  return refusal(check(order));
}

template <typename Change> std::string refusalOf(Change change) {
  return refusalOf(small(), change);
}

// Whether every action runs once on the rank of its stage, as sets of actions.
bool isCompleteByBruteForce(const Order &order) {
  for (uint32_t rank = 0; rank < order.ranks(); ++rank)
    for (const Task &task : order.tasks[rank])
      for (const Action &action : task.actions())
        if (order.rankOf[action.stage] != rank)
          return false;
  std::multiset<Action> actions;
  for (const std::vector<Task> &tasks : order.tasks)
    for (const Task &task : tasks)
      actions.insert(task.actions().begin(), task.actions().end());
  for (uint32_t stage = 0; stage < order.rankOf.size(); ++stage)
    for (uint32_t m = 0; m < order.microBatches(); ++m) {
      const auto count = [&](Kind kind) { return actions.count({kind, stage, m}); };
      const size_t times = order.pipelineOf[m] == stage / order.stages;
      const size_t whole = count(Kind::Backward), half = count(Kind::InputGradient);
      if (count(Kind::Forward) != times || whole + half != times ||
          count(Kind::WeightGradient) != half || count(Kind::Recompute) > times)
        return false;
    }
  return true;
}

class BruteForce {
public:
  explicit BruteForce(const Order &order) : order_(order), next_(order.ranks()) {}

  // Runs what can run until nothing can; whether all has run.
  bool ends() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
        while (next_[rank] < order_.tasks[rank].size() && runs(order_.tasks[rank][next_[rank]])) {
          ++next_[rank];
          isChanged = true;
        }
    }
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
      if (next_[rank] < order_.tasks[rank].size())
        return false;
    return true;
  }

private:
  bool has(Kind kind, uint32_t stage, uint32_t m) const { return done_.contains({kind, stage, m}); }

  bool isReady(const Action &action, const Task &task) const {
    const auto [kind, stage, m] = action;
    if (kind == Kind::Forward)
      return stage % order_.stages == 0 || has(Kind::Forward, stage - 1, m);
    if (kind == Kind::WeightGradient)
      return has(Kind::InputGradient, stage, m);
    if (!has(Kind::Forward, stage, m))
      return false;
    if (kind == Kind::Recompute)
      return true;
    const bool hasGradient = (stage + 1) % order_.stages == 0 ||
                             has(Kind::Backward, stage + 1, m) ||
                             has(Kind::InputGradient, stage + 1, m);
    const bool recomputes = isListed({Kind::Recompute, stage, m});
    const bool isWithRecompute = task.actions().front().kind == Kind::Recompute;
    return hasGradient && (!recomputes || isWithRecompute || has(Kind::Recompute, stage, m));
  }

  bool isListed(const Action &action) const {
    for (const Task &task : order_.tasks[order_.rankOf[action.stage]])
      for (const Action &other : task.actions())
        if (other == action)
          return true;
    return false;
  }

  bool runs(const Task &task) {
    for (const Action &action : task.actions())
      if (!isReady(action, task))
        return false;
    done_.insert(task.actions().begin(), task.actions().end());
    return true;
  }

  const Order &order_;
  std::vector<size_t> next_; // by rank: the task that is due
  std::set<Action> done_;
};

// Drops, duplicates, exchanges or moves one task.
void changeAtRandom(Order &order, RandomCase &random) {
  const auto rankWithTasks = [&] {
    uint32_t rank = 0;
    do
      rank = random.from(0, order.ranks() - 1);
    while (order.tasks[rank].empty());
    return rank;
  };
  std::vector<Task> &from = order.tasks[rankWithTasks()];
  const auto place = [&](const std::vector<Task> &tasks) {
    return random.from(0, static_cast<uint32_t>(tasks.size()) - 1);
  };
  const uint32_t at = place(from);
  const Task task = from[at];
  switch (random.from(0, 4)) {
  case 0: // drop
    from.erase(from.begin() + at);
    return;
  case 1: { // duplicate
    std::vector<Task> &to = order.tasks[rankWithTasks()];
    to.insert(to.begin() + place(to), task);
    return;
  }
  case 2: // exchange neighbours
    if (at > 0)
      std::swap(from[at - 1], from[at]);
    return;
  case 3: // exchange any two of the rank
    std::swap(from[at], from[place(from)]);
    return;
  default: { // move
    from.erase(from.begin() + at);
    std::vector<Task> &to = random.from(0, 4) == 0 ? order.tasks[rankWithTasks()] : from;
    to.insert(to.begin() + random.from(0, static_cast<uint32_t>(to.size())), task);
  }
  }
}

} // namespace

TEST_CASE("an action on another rank than its stage is an error with its place") {
  CHECK(refusalOf([](Order &order) { std::swap(order.tasks[0], order.tasks[1]); }) ==
        "rank 0, task 0: 1F0: stage 1 is on rank 1");
}

TEST_CASE("a second run of an action is an error") {
  CHECK(refusalOf([](Order &order) { order.tasks[1].push_back(Action{Kind::Backward, 1, 0}); }) ==
        "rank 1, task 4: 1B0: runs a second time");
}

TEST_CASE("a missing action is an error") {
  CHECK(refusalOf([](Order &order) { order.tasks[0].erase(order.tasks[0].begin()); }) ==
        "rank 0: 0F0 is missing");
  CHECK(refusalOf([](Order &order) { order.tasks[1].pop_back(); }) ==
        "rank 1: 1B1, or 1I1 and 1W1 is missing");
  const Order split = made("zb-h1", {.ranks = 2, .microBatches = 2});
  CHECK(refusalOf(split, [](Order &order) { order.tasks[1].pop_back(); }) ==
        "rank 1: 1W1 is missing");
  CHECK(refusalOf(split, [](Order &order) { order.tasks[0].erase(order.tasks[0].begin() + 2); }) ==
        "rank 0: 0I0 is missing");
}

TEST_CASE("both forms of a backward for one micro-batch are an error, one for each are not") {
  CHECK_THAT(refusalOf([](Order &order) {
               order.tasks[1].push_back(Action{Kind::InputGradient, 1, 0});
               order.tasks[1].push_back(Action{Kind::WeightGradient, 1, 0});
             }),
             Contains("rank 1: 1B0 is a full backward, but"));
  Order mixed = small();
  mixed.tasks[1].back() = Action{Kind::InputGradient, 1, 1};
  mixed.tasks[1].push_back(Action{Kind::WeightGradient, 1, 1});
  CHECK(check(mixed).isOk());
}

TEST_CASE("indices out of range are errors") {
  CHECK(refusalOf([](Order &order) { order.tasks[0][0] = Action{Kind::Forward, 7, 0}; }) ==
        "rank 0, task 0: 7F0: there are 2 stages");
  CHECK(refusalOf([](Order &order) { order.tasks[0][0] = Action{Kind::Forward, 0, 9}; }) ==
        "rank 0, task 0: 0F9: there are 2 micro-batches");
  CHECK(refusalOf([](Order &order) { order.rankOf[1] = 5; }) == "stage 1 is on rank 5 of 2");
  CHECK(refusalOf([](Order &order) { order.rankOf[1] = 0; }) == "rank 1 has no stage");
  CHECK(refusalOf([](Order &order) { order.pipelineOf[1] = 3; }) ==
        "micro-batch 1 goes through pipeline 3 of 1");
  CHECK_THAT(refusalOf([](Order &order) { order.stages = 3; }),
             Contains("2 stages in pipelines of 3"));
  CHECK_THAT(refusalOf([](Order &order) { order.pipelineOf.clear(); }), Contains("no micro-batch"));
}

TEST_CASE("a micro-batch runs on the stages of its pipeline only") {
  CHECK_THAT(refusalOf(made("chimera", {.ranks = 2, .microBatches = 2}),
                       [](Order &order) { order.tasks[0][0] = Action{Kind::Forward, 0, 1}; }),
             Contains("0F1: micro-batch 1 goes through pipeline 1, stage 0 is of pipeline 0"));
}

TEST_CASE("only three kinds of pairs run as one task") {
  const auto why = [](Action first, Action second) {
    return refusalOf([&](Order &order) { order.tasks[0][0] = {first, second}; });
  };
  const Action forward{Kind::Forward, 0, 0}, backward{Kind::Backward, 0, 1};
  CHECK_THAT(why(backward, forward), Contains("one task cannot run B and F"));
  CHECK_THAT(why({Kind::Recompute, 0, 0}, backward), Contains("of its stage and micro-batch"));
  CHECK_THAT(why(forward, {Kind::Forward, 1, 0}), Contains("are of one stage"));
}

TEST_CASE("ranks that wait for each other are an error that names what waits for what") {
  CHECK(refusalOf([](Order &order) { std::swap(order.tasks[1][0], order.tasks[1][1]); }) ==
        "deadlock: '1B0' (task 4: rank 1, compute) waits for '1F0' (task 5: rank 1, compute), "
        "which waits for '1B0' (task 4: rank 1, compute)");
  CHECK_THAT(refusalOf([](Order &order) { std::swap(order.tasks[0][0], order.tasks[0][2]); }),
             Contains("'0B0' (task 0: rank 0, compute) waits for '0F0'"));
}

TEST_CASE("random changes of orders are refused exactly if brute force refuses them") {
  const std::pair<const char *, Shape> cases[] = {
      {"gpipe", {3, 1, 3}},           {"1f1b", {3, 1, 4}},         {"interleaved", {2, 2, 4}},
      {"zb-h1", {3, 1, 4}},           {"zb-h2", {2, 1, 4}},        {"zb-v", {3, 2, 5}},
      {"dualpipe", {2, 1, 4}},        {"dualpipe-v", {2, 2, 4}},   {"chimera", {4, 1, 4, 2}},
      {"chimera-doubled", {2, 1, 4}}, {"critical-path", {3, 1, 4}}};
  size_t accepted = 0, incomplete = 0, deadlocks = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    RandomCase random(seed);
    const auto &[schedule, shape] = cases[random.from(0, std::size(cases) - 1)];
    Order order = *orderOf(schedule, shape);
    for (uint32_t changes = random.from(1, 3); changes > 0; --changes)
      changeAtRandom(order, random);
    const Status status = check(order);
    INFO(schedule << ", seed " << seed << ": " << status.message() << "\n" << textOf(order));
    const bool isComplete = isCompleteByBruteForce(order);
    CHECK(checkActions(order).isOk() == isComplete);
    CHECK(status.isOk() == (isComplete && BruteForce(order).ends()));
    accepted += status.isOk();
    incomplete += !isComplete;
    deadlocks += isComplete && !status.isOk();
  }
  CHECK(accepted > 400);
  CHECK(incomplete > 1000);
  CHECK(deadlocks > 400);
}
