// Decisions as sentences.
#include "compiler/planner/report/Remarks.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// The texts of all remarks of this kind, about any op or argument.
static std::vector<std::string> remarksOf(const PlanReport &plan, const std::string &kind) {
  std::vector<std::string> texts;
  for (const PlanRemark &remark : plan.remarks)
    if (remark.kind == kind)
      texts.push_back(remark.text);
  return texts;
}

TEST_CASE("every decision is a remark with its reason and numbers") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  options.pins = *Pins::parse("megatron");
  Result<PlanReport> plan = planStep(model, h100Node(), options);
  REQUIRE(plan.isOk());
  REQUIRE(remarksOf(*plan, "mesh").size() == 1);
  CHECK_THAT(remarksOf(*plan, "mesh")[0], Catch::StartsWith("the only mesh tried: tp=4: "));
  REQUIRE(remarksOf(*plan, "axis").size() == 1);
  CHECK(remarksOf(*plan, "axis")[0] == "tp (4 ranks) splits features");
  CHECK_THAT(remarksOf(*plan, "bound").at(0),
             Catch::Contains(" per step; no plan on the meshes tried takes less than "));
  CHECK_THAT(remarksOf(*plan, "memory").at(0), Catch::Contains("; not binding; largest at the"));
  CHECK_THAT(remarksOf(*plan, "pin").at(0), Catch::StartsWith("megatron leaves "));
  REQUIRE(remarksOf(*plan, "parameter").size() == 2);
  CHECK_THAT(remarksOf(*plan, "parameter")[0],
             Catch::StartsWith("up.weight lives as [_, tp]; ") && Catch::Contains(" choices"));
  CHECK_THAT(remarksOf(*plan, "state").at(0),
             Catch::StartsWith("up.weight.m lives as [_, tp], the layout that its only reader "));
  for (const PlanRemark &remark : plan->remarks)
    if (remark.kind == "op")
      CHECK_THAT(remark.text, Catch::StartsWith(model.ops[remark.op].name + ": "));
  // The product with the rows of the second weight gives partial sums of 512 x 1024 floats.
  std::vector<std::string> collectives = remarksOf(*plan, "collective");
  CHECK(std::any_of(collectives.begin(), collectives.end(), [](const std::string &text) {
    return text.find("partial(tp) to [") != std::string::npos &&
           text.find(" over tp of 2.00 MiB (") != std::string::npos;
  }));
}

TEST_CASE("remarks name the other meshes and the budget") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  Result<PlanReport> free = planStep(model, h100Node(), options);
  REQUIRE(free.isOk());
  CHECK_THAT(remarksOf(*free, "mesh").at(0),
             Catch::StartsWith("tp=4 chosen out of 2: tp=4: ") && Catch::Contains("; x=2,y=2: "));
  CHECK(remarksOf(*free, "pin").empty());
  options.budget = 60 << 20;
  Result<PlanReport> larger = planStep(model, h100Node(), options);
  REQUIRE(larger.isOk());
  CHECK_THAT(remarksOf(*larger, "memory").at(0),
             Catch::Contains(" at the peak, budget 60.0 MiB; not binding; "));
  CHECK(!larger->isBinding);
}
