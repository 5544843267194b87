// Why a choice was made, and why nothing fits.
#include "compiler/planner/report/Explain.h"
#include "compiler/solver/Check.h"
#include "compiler/solver/Solver.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("parameters are explained with the next best choice") {
  StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  Result<PlanReport> plan = planStep(model, h100Node(), options);
  REQUIRE(plan.isOk());
  REQUIRE(plan->reasons.size() >= 2);
  CHECK(plan->reasons[0].name == "up.weight");
  CHECK(plan->reasons[0].kind == "parameter");
  CHECK_THAT(plan->reasons[0].choice, Catch::StartsWith("lives as ["));
  CHECK(!plan->reasons[0].alternative.empty());
}

TEST_CASE("the next best choice is the best of all others, and what it adds is never less than "
          "nothing where all others are fixed") {
  const StepModel model = trainingModel(512, 1024, 4096);
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  Costs costs(model, h100Node(), mesh);
  const PlanProblem problem =
      *buildProblem(costs, {}, Budget::unlimited(), {{.perOp = 10000, .perArgument = 10000}});
  const Result<solver::Solution> solution = solver::solve(problem.network, defaultLimits());
  REQUIRE((solution && solution->isFound()));
  const Explainer explainer(model, mesh, problem, *solution);
  for (int op = 0; op < static_cast<int>(model.ops.size()); ++op) {
    const Reason reason = explainer.ofOp(op);
    CHECK(reason.seconds == problem.network.nodes[op].choices[solution->choices[op]].cost);
    double least = solver::kForbidden; // of the network with another choice for the op
    std::vector<int> choices = solution->choices;
    for (int other = 0; other < static_cast<int>(problem.choicesOf(op).size()); ++other)
      if (other != solution->choices[op]) {
        choices[op] = other;
        least = std::min(least, solver::totalCost(problem.network, choices));
      }
    if (reason.alternative.empty() || least == solver::kForbidden)
      continue;
    CHECK(reason.alternativeSeconds == Approx(least - solution->cost).margin(1e-12));
    CHECK(reason.alternativeSeconds > -1e-12);
  }
}

TEST_CASE("a decision without another choice says why") {
  const StepModel model = trainingModel(512, 1024, 4096);
  const PlanReport pinned = plannedBy(model, "dp", 4);
  REQUIRE(!pinned.reasons.empty());
  CHECK(pinned.reasons[0].whyNone == "the only choice under the pins");
  const PlanReport alone = plannedBy(model, "", 1);
  REQUIRE(!alone.reasons.empty());
  CHECK(alone.reasons[0].whyNone == "the only choice");
}

TEST_CASE("ops are explained by kind, all members of the kinds that cost most") {
  const StepModel model = trainingModel(512, 1024, 4096);
  PlannerOptions options;
  options.ranks = 4;
  options.maxReasons = 1;
  const Result<PlanReport> plan = planStep(model, h100Node(), options);
  REQUIRE(plan.isOk());
  std::vector<Reason> ops;
  for (const Reason &reason : plan->reasons)
    if (reason.op >= 0)
      ops.push_back(reason);
  REQUIRE(!ops.empty());
  for (const Reason &reason : ops) {
    CHECK(reason.name == model.ops[reason.op].name);
    CHECK(reason.choice == ops[0].choice);
  }
}

TEST_CASE("the holders at the peak hold all of it, the largest first") {
  const StepModel model = trainingModel(64, 256, 1024);
  const Mesh mesh = *Mesh::parse("a=2");
  Costs costs(model, h100Node(), mesh);
  const PlanProblem problem = *buildProblem(costs, {}, Budget::unlimited());
  const Result<solver::Solution> solution = solver::solve(problem.network, defaultLimits());
  REQUIRE((solution && solution->isFound()));
  const std::vector<Holder> all = holdersAtPeak(problem, *solution, 1000);
  int64_t bytes = 0;
  for (const Holder &holder : all)
    bytes += holder.bytes;
  CHECK(bytes == solution->peaks[0].bytes);
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const Holder &a, const Holder &b) { return a.bytes > b.bytes; }));
  CHECK(holdersAtPeak(problem, *solution, 2).size() == 2);
}

TEST_CASE("an amount that is needed is rounded up") {
  CHECK(memoryOption(1024) == "(--memory 1KiB");
  CHECK(memoryOption(1025) == "(--memory 2KiB");
}

TEST_CASE("a refusal says what is missing, and whether that is proven") {
  Refusal refusal{.budget = 100 << 10, .needed = 151 << 10, .ranks = 4};
  CHECK(refusalText(refusal) == "no plan was found that fits into 100 KiB per rank on 4 ranks: the "
                                "smallest found needs 151 KiB (--memory 151KiB), 51.0 KiB more");
  refusal.isProven = true;
  refusal.ranks = 1;
  refusal.pins = "zero3";
  CHECK_THAT(refusalText(refusal), Catch::StartsWith("no plan fits into 100 KiB per rank on 1 rank "
                                                     "under the pins of zero3: "));
}

TEST_CASE("ops whose names differ in numbers only are one entry of a list") {
  CHECK(groupedNames({"linear_5, recomputed", "embedding", "linear_4, recomputed", "linear_3"}) ==
        "linear_{4,5} recomputed, embedding, linear_3");
  CHECK(groupedNames({"a", "b", "c"}, 2) == "a, b");
  CHECK(groupedNames({}).empty());
}

TEST_CASE("a refusal tells whether buffers found no places in the budget") {
  PlanReport plan;
  plan.mesh = *Mesh::parse("dp=2");
  plan.atPeak = {{"a", 600}, {"b", 300}};
  plan.peakBytes = 1000;
  const std::string text = refusalText(plan, 1024, 1000);
  CHECK(text == "no plan was found that fits into 1000 B per rank on 2 ranks: the smallest found "
                "needs 1.00 KiB (--memory 1KiB), 24 B more; largest at its peak: a, b; no more "
                "than 1000 B of it are in use at a time, but its buffers found no places in less");
  CHECK_THAT(refusalText(plan, 1024, 999), Catch::EndsWith("peak: a, b"));
}
