// The choices of ops whose fate is open.
#include "compiler/planner/remat/FateChoices.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// A deep step, and its plan that keeps everything.
struct OpenFates {
  const StepModel model = modelOf(deepStep(6, 64, 16));
  const PlanReport plan = plannedBy(model, "", 1);
  ForcedFates forced{model.ops.size()};
};

bool isKept(const FateChoices &fates, const OpenOp &open, const FateChoice &choice) {
  return !choice.lives.empty() && fates.repetitionsOf(open, choice).empty();
}

} // namespace

TEST_CASE("the fate of every forward op that reads something is open") {
  const OpenFates c;
  const FateChoices fates(c.model, c.plan, c.forced, {}, 1, 0);
  for (int i = 0; i < static_cast<int>(c.model.ops.size()); ++i) {
    const Op &op = c.model.ops[i];
    const OpenOp *open = fates.find(i);
    CHECK((open != nullptr) == (op.part == Part::Forward && !op.isView && !op.operands.empty()));
    if (!open)
      continue;
    CHECK(open->op == i);
    CHECK(&fates.ops()[fates.numberOf(*open)] == open);
    for (int input : fates.inputs(*open))
      CHECK(fates.find(input));
  }
  CHECK(fates.isSmall());
}

TEST_CASE("results that are kept are there from their last forward reader to their last one") {
  const OpenFates c;
  const FateChoices fates(c.model, c.plan, c.forced, {}, 1, 0);
  const ForwardReads reads = readsOf(c.model);
  int kept = 0;
  for (const OpenOp &open : fates.ops())
    for (const FateChoice &choice : open.choices) {
      if (!isKept(fates, open, choice))
        continue;
      ++kept;
      REQUIRE(choice.lives.size() == 1);
      CHECK(fates.instantOf(choice.lives[0].begin) == open.forwardEnd);
      if (reads.first[open.op] != ForwardReads::kNever) {
        CHECK(fates.instantOf(choice.until()) >= open.lastRead);
        CHECK(choice.holds(fates.tickOf(open.firstRead)));
      }
    }
  CHECK(kept > 6);
}

TEST_CASE("an op runs again before its first reader, at one of a few slots") {
  const OpenFates c;
  const FateChoices fates(c.model, c.plan, c.forced, {}, 1, 0);
  int again = 0;
  for (const OpenOp &open : fates.ops())
    for (const FateChoice &choice : open.choices) {
      const std::vector<int64_t> ticks = fates.repetitionsOf(open, choice);
      CHECK(ticks.size() <= 1);
      if (ticks.empty())
        continue;
      ++again;
      CHECK(isRecomputable(c.model, open.op));
      CHECK(std::count(open.slots.begin(), open.slots.end(), fates.instantOf(ticks[0])) == 1);
      CHECK(fates.instantOf(ticks[0]) > open.forwardEnd);
      CHECK(fates.instantOf(ticks[0]) <= open.firstRead);
      CHECK(c.model.ops[fates.readerAt(ticks[0])].part != Part::Forward);
      CHECK_FALSE(choice.holds(ticks[0] - 1));
      CHECK(choice.holds(ticks[0]));
    }
  CHECK(again > 6);
}

TEST_CASE("a fate that the user determines leaves no other choice") {
  OpenFates c;
  const FateChoices free(c.model, c.plan, c.forced, {}, 1, 0);
  std::vector<int> both; // ops that may be kept and may run again
  for (const OpenOp &open : free.ops()) {
    const auto kept = std::count_if(open.choices.begin(), open.choices.end(),
                                    [&](const FateChoice &f) { return isKept(free, open, f); });
    if (kept > 0 && kept < static_cast<int64_t>(open.choices.size()))
      both.push_back(open.op);
  }
  REQUIRE(both.size() >= 2);
  c.forced.again[both[0]] = false;
  c.forced.again[both[1]] = true;
  const FateChoices fates(c.model, c.plan, c.forced, {}, 1, 0);
  for (const FateChoice &choice : fates.find(both[0])->choices)
    CHECK(fates.repetitionsOf(*fates.find(both[0]), choice).empty());
  for (const FateChoice &choice : fates.find(both[1])->choices)
    CHECK_FALSE(isKept(fates, *fates.find(both[1]), choice));
}

TEST_CASE("ops may run again as often as they are allowed to") {
  const OpenFates c;
  size_t most = 0;
  const FateChoices fates(c.model, c.plan, c.forced, {}, 2, 2);
  for (const OpenOp &open : fates.ops())
    for (const FateChoice &choice : open.choices) {
      const std::vector<int64_t> ticks = fates.repetitionsOf(open, choice);
      most = std::max(most, ticks.size());
      CHECK(std::is_sorted(ticks.begin(), ticks.end()));
      for (size_t i = 0; i + 1 < choice.lives.size(); ++i)
        CHECK(choice.lives[i].end <= choice.lives[i + 1].begin);
    }
  CHECK(most == 2);
}
