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

ModelCase sixteenLayers() {
  ModelCase model = zooCases()[1];
  model.sizes["layers"] = 16;
  model.symbols["seq"] = 256; // stages of two layers, since messages take less than products
  return model;
}

// Two stages of a pipeline that are alike.
struct AlikePair {
  AlikePair() : file(sixteenLayers()), c(zooStages(file, sixteenLayers(), 8, 16)) {
    check(compileTo(c, "primitive"));
    check(loadCluster(c));
    for (size_t i = 1; !one && i + 1 < c.units.size(); ++i)
      if (areAlike(*c.units[i].module, *c.units[i + 1].module)) {
        one = *c.units[i].module;
        other = *c.units[i + 1].module;
      }
    REQUIRE(one);
    CompileOptions asked = c.options;
    asked.ranks = 2;
    options = *plannerOptions(asked, *c.cluster);
    options.mesh = *Mesh::parse("x=2");
  }

  // The plan of a module whose budget is a share of the memory that its fastest plan needs.
  PlannedModule decideOn(mlir::ModuleOp module, double share = 1) {
    Result<PlannedModule> fastest = planModule(module, *c.cluster, options);
    check(fastest.status());
    if (share == 1)
      return std::move(*fastest);
    planner::PlannerOptions less = options;
    less.budget = planner::Budget(static_cast<int64_t>(share * double(fastest->plan.arenaBytes)));
    Result<PlannedModule> planned = planModule(module, *c.cluster, less);
    check(planned.status());
    REQUIRE(!planned->plan.recomputed.empty());
    return std::move(*planned);
  }

  std::optional<PlannedModule> planLike(const PlannedModule &like) {
    Result<std::optional<PlannedModule>> alike = planAlike(other, like, *c.cluster, options);
    check(alike.status());
    return std::move(*alike);
  }

  ModelFile file;
  Compilation c;
  mlir::ModuleOp one, other;
  planner::PlannerOptions options; // without a limit
};

} // namespace

TEST_CASE("a stage takes the plan of one that is alike, under its own names") {
  AlikePair pair;
  CHECK_FALSE(areAlike(*pair.c.units.front().module, pair.one));
  CHECK_FALSE(areAlike(*pair.c.units.back().module, pair.one));
  const PlannedModule searched = pair.decideOn(pair.other);
  for (double share : {1.0, 0.9}) { // everything is kept where it fits
    const std::optional<PlannedModule> alike = pair.planLike(pair.decideOn(pair.one, share));
    REQUIRE(alike);
    const planner::PlanReport &plan = alike->plan;
    CHECK(plan.seconds == Approx(searched.plan.seconds));
    CHECK(plan.peakBytes == searched.plan.peakBytes);
    REQUIRE(!plan.reasons.empty());
    CHECK(hasArgument(pair.other, plan.reasons[0].name));
    CHECK_FALSE(hasArgument(pair.one, plan.reasons[0].name));
  }
}

TEST_CASE("a stage recomputes what one that is alike does, or less where it has more memory") {
  AlikePair pair;
  const int64_t whole = pair.decideOn(pair.one).plan.arenaBytes;
  const PlannedModule like = pair.decideOn(pair.one, 0.8);
  REQUIRE(like.around);
  pair.options.budget = like.plan.budget;
  const std::optional<PlannedModule> same = pair.planLike(like);
  REQUIRE(same);
  CHECK(same->plan.recomputed.size() == like.plan.recomputed.size());
  CHECK(same->plan.arenaBytes <= pair.options.budget.bytes());
  pair.options.budget = planner::Budget(whole * 19 / 20);
  const std::optional<PlannedModule> less = pair.planLike(like);
  REQUIRE(less);
  CHECK(less->plan.recomputed.size() < like.plan.recomputed.size());
  CHECK(less->plan.seconds < like.plan.seconds);
  CHECK(less->plan.arenaBytes <= pair.options.budget.bytes());
  CHECK(less->plan.boundSeconds == 0); // with a larger budget, that of `like` does not hold
  REQUIRE(!less->plan.recomputed.empty());
  CHECK_FALSE(less->recomputation.empty());
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
