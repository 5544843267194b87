// A plan of one stage for stages that are alike, and tensors that several stages store.
#include "passes/driver/AlikeStages.h"

#include "dialects/graph/Step.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Variants.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;

namespace {

CompileOptions zooStages(const ModelFile &file, const ModelCase &model, int64_t stages,
                         int64_t ranks) {
  CompileOptions options = optionsOf(file.path(), model, {.ranks = ranks, .accumulate = 4});
  options.stages = stages;
  return options;
}

bool hasArgument(mlir::ModuleOp module, const std::string &name) {
  return graph::argNamed(graph::stepOf(module), name).has_value();
}

} // namespace

TEST_CASE("a stage takes the plan of one that is alike, under its own names") {
  ModelCase model = zooCases()[1];
  model.sizes["layers"] = 16;
  model.symbols["seq"] = 256; // stages of two layers, since messages take less than products
  const ModelFile file(model);
  Compilation c(zooStages(file, model, 8, 16));
  check(compileTo(c, "primitive"));
  check(loadCluster(c));
  mlir::ModuleOp one, other;
  for (size_t i = 1; !one && i + 1 < c.units.size(); ++i)
    if (areAlike(*c.units[i].module, *c.units[i + 1].module)) {
      one = *c.units[i].module;
      other = *c.units[i + 1].module;
    }
  REQUIRE(one);
  CHECK_FALSE(areAlike(*c.units.front().module, one));
  CHECK_FALSE(areAlike(*c.units.back().module, one));

  CompileOptions asked = c.options;
  asked.ranks = 2;
  planner::PlannerOptions options = *plannerOptions(asked, *c.cluster);
  options.mesh = *Mesh::parse("x=2");
  Result<Decided> first = decideStep(one, *c.cluster, options);
  check(first.status());
  Result<Decided> searched = decideStep(other, *c.cluster, options);
  check(searched.status());
  auto compare = [&](const Decided &like) {
    Result<std::optional<Decided>> alike = decideAlike(other, like, *c.cluster, options);
    check(alike.status());
    REQUIRE(*alike);
    const planner::Plan &plan = (*alike)->plan;
    CHECK(plan.seconds == Approx(searched->plan.seconds));
    CHECK(plan.peakBytes == searched->plan.peakBytes);
    REQUIRE(!plan.reasons.empty());
    CHECK(hasArgument(other, plan.reasons[0].name));
    CHECK_FALSE(hasArgument(one, plan.reasons[0].name));
  };
  SECTION("everything is kept") { compare(*first); }
  SECTION("repetitions give way where everything fits") {
    planner::PlannerOptions less = options;
    less.budget = planner::Budget(first->plan.arenaBytes * 9 / 10);
    Result<Decided> again = decideStep(one, *c.cluster, less);
    check(again.status());
    REQUIRE(!again->plan.repetitions.empty());
    compare(*again);
  }
  SECTION("repetitions are taken over where it does not") {
    options.budget = planner::Budget(first->plan.arenaBytes * 9 / 10);
    Result<Decided> again = decideStep(one, *c.cluster, options);
    check(again.status());
    Result<std::optional<Decided>> alike = decideAlike(other, *again, *c.cluster, options);
    check(alike.status());
    if (*alike) {
      CHECK((*alike)->plan.repetitions.size() == again->plan.repetitions.size());
      CHECK((*alike)->plan.arenaBytes <= options.budget.bytes());
    }
  }
}

TEST_CASE("stages that share a tensor store it in one layout") {
  const ModelCase model = {"gpt2",
                           "softmax-cross-entropy:logits",
                           {{"batch", 16}, {"seq", 64}},
                           {{"layers", 4},
                            {"hidden", 256},
                            {"heads", 4},
                            {"ffn", 1024},
                            {"vocab", 50000},
                            {"context", 64}}};
  const ModelFile file(model);
  for (int64_t stages : {2, 4}) {
    Compilation c(zooStages(file, model, stages, 16));
    check(compileTo(c, "program")); // which has one tensor for both
  }
}
