// The choices of ops that may be kept or recomputed.
#include "compiler/planner/remat/RematChoices.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// A deep step, and its plan that keeps everything.
struct OpenRemat {
  const StepModel model = modelOf(deepStep(6, 64, 16));
  const PlanReport plan = plannedBy(model, "", 1);
  PinnedRemat pinned{model.ops.size()};
};

bool isKept(const RematChoices &choices, const OpenOp &open, const RematChoice &choice) {
  return !choice.lives.empty() && choices.recomputationsOf(open, choice).empty();
}

} // namespace

TEST_CASE("the decision on every forward op that reads something is open") {
  const OpenRemat c;
  const RematChoices choices(c.model, c.plan, c.pinned, {}, 1, 0);
  for (int i = 0; i < static_cast<int>(c.model.ops.size()); ++i) {
    const Op &op = c.model.ops[i];
    const OpenOp *open = choices.find(i);
    CHECK((open != nullptr) == (op.part == Part::Forward && !op.isView && !op.operands.empty()));
    if (!open)
      continue;
    CHECK(open->op == i);
    CHECK(&choices.ops()[choices.numberOf(*open)] == open);
    for (int input : choices.inputs(*open))
      CHECK(choices.find(input));
  }
  CHECK(choices.isSmall());
}

TEST_CASE("results that are kept are there from their last forward reader to their last one") {
  const OpenRemat c;
  const RematChoices choices(c.model, c.plan, c.pinned, {}, 1, 0);
  const ForwardReads reads = readsOf(c.model);
  int kept = 0;
  for (const OpenOp &open : choices.ops())
    for (const RematChoice &choice : open.choices) {
      if (!isKept(choices, open, choice))
        continue;
      ++kept;
      REQUIRE(choice.lives.size() == 1);
      CHECK(choices.instantOf(choice.lives[0].begin) == open.forwardEnd);
      if (reads.first[open.op] != ForwardReads::kNever) {
        CHECK(choices.instantOf(choice.until()) >= open.lastRead);
        CHECK(choice.holds(choices.tickOf(open.firstRead)));
      }
    }
  CHECK(kept > 6);
}

TEST_CASE("an op is recomputed before its first reader, at one of a few slots") {
  const OpenRemat c;
  const RematChoices choices(c.model, c.plan, c.pinned, {}, 1, 0);
  int recomputed = 0;
  for (const OpenOp &open : choices.ops())
    for (const RematChoice &choice : open.choices) {
      const std::vector<int64_t> ticks = choices.recomputationsOf(open, choice);
      CHECK(ticks.size() <= 1);
      if (ticks.empty())
        continue;
      ++recomputed;
      CHECK(isRecomputable(c.model, open.op));
      CHECK(std::count(open.slots.begin(), open.slots.end(), choices.instantOf(ticks[0])) == 1);
      CHECK(choices.instantOf(ticks[0]) > open.forwardEnd);
      CHECK(choices.instantOf(ticks[0]) <= open.firstRead);
      CHECK(c.model.ops[choices.readerAt(ticks[0])].part != Part::Forward);
      CHECK_FALSE(choice.holds(ticks[0] - 1));
      CHECK(choice.holds(ticks[0]));
    }
  CHECK(recomputed > 6);
}

TEST_CASE("a decision that the user determines leaves no other choice") {
  OpenRemat c;
  const RematChoices free(c.model, c.plan, c.pinned, {}, 1, 0);
  std::vector<int> both; // ops that may be kept and may be recomputed
  for (const OpenOp &open : free.ops()) {
    const auto kept = std::count_if(open.choices.begin(), open.choices.end(),
                                    [&](const RematChoice &f) { return isKept(free, open, f); });
    if (kept > 0 && kept < static_cast<int64_t>(open.choices.size()))
      both.push_back(open.op);
  }
  REQUIRE(both.size() >= 2);
  c.pinned.recomputed[both[0]] = false;
  c.pinned.recomputed[both[1]] = true;
  const RematChoices choices(c.model, c.plan, c.pinned, {}, 1, 0);
  for (const RematChoice &choice : choices.find(both[0])->choices)
    CHECK(choices.recomputationsOf(*choices.find(both[0]), choice).empty());
  for (const RematChoice &choice : choices.find(both[1])->choices)
    CHECK_FALSE(isKept(choices, *choices.find(both[1]), choice));
}

TEST_CASE("ops may be recomputed as often as they are allowed to") {
  const OpenRemat c;
  size_t most = 0;
  const RematChoices choices(c.model, c.plan, c.pinned, {}, 2, 2);
  for (const OpenOp &open : choices.ops())
    for (const RematChoice &choice : open.choices) {
      const std::vector<int64_t> ticks = choices.recomputationsOf(open, choice);
      most = std::max(most, ticks.size());
      CHECK(std::is_sorted(ticks.begin(), ticks.end()));
      for (size_t i = 0; i + 1 < choice.lives.size(); ++i)
        CHECK(choice.lives[i].end <= choice.lives[i + 1].begin);
    }
  CHECK(most == 2);
}

TEST_CASE("an op is recomputed before its first reader at one of ten instants") {
  const StepModel model = modelOf(deepStep(20, 64, 16));
  const PlanReport plan = plannedBy(model, "", 1);
  const RematChoices choices(model, plan, PinnedRemat(model.ops.size()), {}, 1, 0);
  size_t most = 0;
  for (const OpenOp &open : choices.ops()) {
    std::set<int64_t> instants;
    for (const RematChoice &choice : open.choices)
      for (int64_t tick : choices.recomputationsOf(open, choice))
        instants.insert(choices.instantOf(tick));
    most = std::max(most, instants.size());
  }
  CHECK(most == 10);
}

TEST_CASE("with several recomputations 2000 choices are few") {
  int few = 0, many = 0;
  for (int64_t layers = 2; layers <= 16; ++layers) {
    const StepModel model = modelOf(deepStep(layers, 64, 16));
    const PlanReport plan = plannedBy(model, "", 1);
    const RematChoices choices(model, plan, PinnedRemat(model.ops.size()), {}, 2, 0);
    size_t count = 0;
    for (const OpenOp &open : choices.ops())
      count += open.choices.size();
    INFO(layers << " layers have " << count << " choices");
    CHECK(choices.isSmall() == (count <= 2000));
    few += count > 1000 && count <= 2000;
    many += count > 2000 && count <= 4000;
  }
  CHECK(few > 0);
  CHECK(many > 0);
}
