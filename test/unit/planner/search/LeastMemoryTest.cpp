// The least memory in which a plan is found, and the memory that a refusal names.
#include "compiler/planner/search/LeastMemory.h"
#include "compiler/planner/search/SearchPlan.h"
#include "runtime/base/Units.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// The bytes that a refusal names.
static int64_t namedBytes(const std::string &message) {
  const std::string key = "(--memory ";
  const size_t at = message.find(key);
  REQUIRE(at != std::string::npos);
  const size_t begin = at + key.size();
  return static_cast<int64_t>(*parseBytes(message.substr(begin, message.find(')', begin) - begin)));
}

TEST_CASE("a plan is found in the least memory, and none in one per cent less") {
  FakePrograms programs;
  const FakeStep step(modelOf(deepStep(4, 64, 16)), programs);
  std::vector<std::string> told;
  const Result<LeastMemory> least =
      leastMemory(step, h100Node(), PlannerOptions(),
                  [&](const std::string &result) { told.push_back(result); });
  INFO(least.status().message());
  REQUIRE(least);
  CHECK(least->bytes < peakOf(step.model()));
  CHECK(least->planned.plan.arenaBytes <= least->bytes);
  CHECK_FALSE(least->planned.plan.recomputed.empty());
  CHECK(least->remark == concat("--memory ", least->bytes,
                                " is the least in which a plan was found; 1 % less was refused"));
  CHECK(std::ranges::count(told, concat("--memory ", least->bytes, ": a plan was found")) == 1);
  const int64_t less = least->bytes * 99 / 100;
  CHECK(std::ranges::count(told, concat("--memory ", less, ": no plan found")) == 1);
  CHECK(searchPlan(step, h100Node(), onOneRank(less)).status().kind() == StatusKind::Infeasible);
}

TEST_CASE("a plan is found in the memory that a refusal names") {
  FakePrograms programs;
  for (int64_t more : {int64_t(0), 3 * kActivation}) {
    programs.bytes = [more](int64_t peak) { return peak + more; };
    const FakeStep step(nineLayers(), programs);
    const Status refused = searchOrRefuse(step, h100Node(), onOneRank(kActivation)).status();
    INFO(refused.message());
    REQUIRE(refused.kind() == StatusKind::Infeasible);
    CHECK(searchPlan(step, h100Node(), onOneRank(namedBytes(refused.message()))));
  }
}

TEST_CASE("a failure that is not about memory is passed on") {
  FakePrograms programs{.failure = Status::userError("unreadable")};
  const FakeStep step(nineLayers(), programs);
  CHECK(searchOrRefuse(step, h100Node(), onOneRank(1)).status().message() == "unreadable");
  CHECK(leastMemory(step, h100Node(), PlannerOptions(), [](const std::string &) {})
            .status()
            .message() == "unreadable");
}

TEST_CASE("a search for the least memory ends after 30 amounts") {
  // Programs fit in what is a little less than the last one, and are far too large for less.
  FakePrograms programs;
  const FakeStep step(modelOf(deepStep(2, 64, 16)), programs);
  int64_t last = peakOf(step.model());
  programs.bytesIn = [&](int64_t budget) {
    if (budget < last * 988 / 1000)
      return 2 * peakOf(step.model());
    last = std::min(last, budget);
    return last;
  };
  int amounts = 0;
  const Result<LeastMemory> least =
      leastMemory(step, h100Node(), PlannerOptions(), [&](const std::string &) { ++amounts; });
  INFO(least.status().message());
  REQUIRE(least);
  CHECK(amounts == 30);
  CHECK_THAT(least->remark, Catch::EndsWith("; less was not tried"));
}

TEST_CASE("a refusal names one of three amounts, each a fiftieth more than the one before") {
  // Nothing fits in less than `enough` bytes.
  auto refusedFor = [](double enough) {
    FakePrograms programs;
    const FakeStep step(modelOf(deepStep(2, 64, 16)), programs);
    const int64_t smallest = 1 << 20;
    const auto least = static_cast<int64_t>(enough * (1 << 20));
    programs.bytesIn = [=](int64_t budget) {
      return budget >= least ? smallest : std::max(smallest, budget + 1);
    };
    return searchOrRefuse(step, h100Node(), onOneRank(smallest / 2)).status().message();
  };
  CHECK(namedBytes(refusedFor(1.01)) == ((1 << 20) * 102 / 100 + 1023) / 1024 * 1024);
  CHECK(namedBytes(refusedFor(1.03)) > (1 << 20) * 104 / 100);
  CHECK(namedBytes(refusedFor(1.05)) == 1 << 20); // not confirmed
}
