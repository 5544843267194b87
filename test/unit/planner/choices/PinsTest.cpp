// Reading of pins, and plans under recipes and rules.
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

struct Planned {
  StepModel model;
  PlanReport plan;

  Planned(const std::string &pin, const std::optional<Mesh> &mesh = {})
      : model(trainingModel(64, 256, 1024)) {
    PlannerOptions options;
    options.ranks = 4;
    options.mesh = mesh;
    options.pins = *Pins::parse(pin);
    Result<PlanReport> result = planStep(model, h100Node(), options);
    INFO((result.isOk() ? "" : result.status().message()));
    REQUIRE(result.isOk());
    plan = *result;
  }
  std::string storage(size_t argument) const {
    return plan.arguments[argument].storage.str(plan.mesh);
  }
  std::string use(size_t argument) const { return plan.arguments[argument].compute.str(plan.mesh); }
  std::string result(size_t op) const { return plan.ops[op].results[0].str(plan.mesh); }
};

// Arguments and ops of the training step.
constexpr size_t kX = 0, kUp = 1, kDown = 2, kUpM = 3;
constexpr size_t kHidden = 0, kOut = 2;

} // namespace

TEST_CASE(
    "sums over micro-batches are kept in full and reduced once, or split if memory is short") {
  StepModel model = trainingModel(8, 512, 2048, 4);
  auto planned = [&](const Budget &budget) {
    PlannerOptions options{.ranks = 4, .mesh = *Mesh::parse("dp=4"), .budget = budget};
    options.pins = *Pins::parse("zero3");
    Result<PlanReport> plan = planStep(model, h100Node(), options);
    INFO(plan.status().message());
    REQUIRE(plan.isOk());
    return *plan;
  };
  auto sumsInFull = [&](const PlanReport &plan) {
    int count = 0;
    for (size_t i = 0; i < model.ops.size(); ++i)
      count += model.ops[i].isAccumulate && !plan.ops[i].partial.empty();
    return count;
  };
  const PlanReport large = planned(int64_t(1) << 40);
  const PlanReport small = planned(large.peakBytes - 1);
  CHECK(sumsInFull(large) == 2);
  CHECK(sumsInFull(small) < 2);
  CHECK(small.seconds > large.seconds);
}

TEST_CASE(
    "a weight may stay gathered for the backward pass, which takes less time and more memory") {
  StepModel model = trainingModel(8, 512, 2048);
  const std::string stored =
      R"({"name": "*.weight", "layout": [["dp"], []], "use": [[], []]}, {"op": "dot_general*", "layout": [["dp"], []]})";
  auto planned = [&](const std::string &rule, const Budget &budget) {
    PlannerOptions options{.ranks = 4, .mesh = *Mesh::parse("dp=4"), .budget = budget};
    options.pins = *Pins::fromJson(R"({"pins": [)" + stored + rule + "]}");
    Result<PlanReport> plan = planStep(model, h100Node(), options);
    INFO(plan.status().message());
    REQUIRE(plan.isOk());
    return *plan;
  };
  constexpr int64_t kEnough = int64_t(1) << 40;
  const PlanReport keep = planned(R"(, {"name": "*.weight", "gathered": "keep"})", kEnough);
  const PlanReport again = planned(R"(, {"name": "*.weight", "gathered": "again"})", kEnough);
  CHECK(keep.arguments[kDown].staysGathered); // both passes read it
  CHECK_FALSE(again.arguments[kDown].staysGathered);
  CHECK_FALSE(keep.arguments[kUp].staysGathered);
  CHECK(keep.seconds < again.seconds);
  CHECK(keep.peakBytes > again.peakBytes);
  CHECK(planned("", kEnough).seconds == keep.seconds);
  const PlanReport tight = planned("", again.peakBytes);
  CHECK(tight.peakBytes <= again.peakBytes);
  CHECK(tight.seconds > keep.seconds);
  auto gathers = [](const PlanReport &plan) {
    return std::count_if(plan.remarks.begin(), plan.remarks.end(), [](const PlanRemark &remark) {
      return remark.kind == "collective" && remark.argument == static_cast<int>(kDown);
    });
  };
  CHECK(gathers(keep) == 1);
  CHECK(gathers(again) == 2);
}

TEST_CASE("dp splits samples and nothing else") {
  Planned planned("dp");
  CHECK(planned.storage(kX) == "[dp, _]");
  CHECK(planned.storage(kUp) == "[_, _]");
  CHECK(planned.storage(kUpM) == "[_, _]");
  CHECK(planned.result(kHidden) == "[dp, _]");
}

TEST_CASE("zero1 splits the optimizer's state, zero3 the parameters as well") {
  Planned one("zero1"), two("zero2"), three("zero3");
  for (const Planned *planned : {&one, &two}) {
    CHECK(planned->storage(kUp) == "[_, _]");
    CHECK(planned->storage(kUpM) != "[_, _]");
    CHECK(planned->result(kHidden) == "[dp, _]");
  }
  CHECK(three.storage(kUp) != "[_, _]");
  CHECK(three.use(kUp) == "[_, _]");
  CHECK(three.storage(kUpM) == three.storage(kUp));
  CHECK(three.result(kHidden) == "[dp, _]");
}

TEST_CASE("fsdp splits every parameter along its first dim") {
  Planned planned("fsdp");
  for (size_t weight : {kUp, kDown}) {
    CHECK(planned.storage(weight) == "[dp, _]");
    CHECK(planned.use(weight) == "[_, _]");
  }
  CHECK(planned.storage(kUpM) == "[dp, _]");
  CHECK(planned.result(kHidden) == "[dp, _]");
}

TEST_CASE("fsdp gathers a parameter for the forward pass and again for the backward pass") {
  Planned planned("fsdp");
  const int down = planned.model.arguments[kDown].value;
  std::set<Part> gathered;
  for (const LayoutChange &change : layoutChanges(planned.model, planned.plan))
    if (change.value == down && change.to.isReplicated())
      gathered.insert(change.part);
  CHECK(gathered == std::set<Part>{Part::Forward, Part::Backward});
}

TEST_CASE("hsdp is fsdp along the axis shard and dp along the others") {
  for (const Mesh &mesh :
       {Mesh{{{"replicate", 2}, {"shard", 2}}}, Mesh{{{"a", 2}, {"shard", 2}}}}) {
    Planned planned("hsdp", mesh);
    CHECK(planned.storage(kUp) == "[shard, _]");
    CHECK(planned.use(kUp) == "[_, _]");
    CHECK(planned.storage(kUpM) == "[shard, _]");
    CHECK(planned.storage(kX) == "[" + mesh.axes[0].name + "+shard, _]");
  }
  CHECK(Planned("hsdp", Mesh{{{"shard", 2}, {"b", 2}}}).storage(kUp) == "[shard, _]");
  CHECK(Planned("hsdp", Mesh{{{"a", 2}, {"b", 2}}}).storage(kUp) == "[b, _]");
}

TEST_CASE("the mesh of hsdp has an axis inside of nodes") {
  const Pins pins = *Pins::parse("hsdp");
  CHECK(pins.defaultMesh(64, 8)->str() == "replicate=8,shard=8");
  CHECK(pins.defaultMesh(4, 8)->str() == "replicate=1,shard=4");
  CHECK(pins.defaultMesh(12, 8)->str() == "replicate=3,shard=4");
}

TEST_CASE("the free plan is at least as fast as that of any recipe") {
  StepModel model = trainingModel(64, 256, 1024);
  PlannerOptions options;
  options.ranks = 4;
  const double best = planStep(model, h100Node(), options)->seconds;
  for (const char *recipe : {"dp", "zero1", "zero2", "zero3", "fsdp", "hsdp", "megatron"}) {
    INFO(recipe);
    CHECK(best <= Planned(recipe).plan.seconds * (1 + 1e-9));
  }
  CHECK(best <= Planned("hsdp", Mesh{{{"a", 2}, {"b", 2}}}).plan.seconds * (1 + 1e-9));
}

TEST_CASE("megatron splits the first weight by columns and the second by rows") {
  Planned planned("megatron");
  CHECK(planned.storage(kUp) == "[_, tp]");
  CHECK(planned.storage(kDown) == "[tp, _]");
  CHECK(planned.result(kHidden) == "[_, tp]");
  CHECK(planned.use(kUp) == planned.storage(kUp));
}

TEST_CASE("megatron on two axes splits samples along the first") {
  Planned planned("megatron", Mesh{{{"dp", 2}, {"tp", 2}}});
  CHECK(planned.storage(kX) == "[dp, _]");
  CHECK(planned.storage(kUp) == "[_, tp]");
  CHECK(planned.result(kHidden) == "[dp, tp]");
  CHECK(planned.result(kOut).substr(0, 4) == "[dp,");
}

TEST_CASE("megatron beside zero1 splits weights, and updates and states along the other axis") {
  const Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  Planned planned("megatron+zero1", mesh);
  CHECK(planned.storage(kX) == "[dp, _]");
  CHECK(planned.storage(kUp) == "[_, tp]");
  CHECK(planned.use(kUp) == "[_, tp]");
  CHECK(planned.storage(kDown) == "[tp, _]");
  CHECK(planned.storage(kUpM) == "[dp, tp]");
  CHECK(Planned("megatron", mesh).storage(kUpM) == "[_, tp]");
  CHECK(planned.result(kHidden) == "[dp, tp]");
}

TEST_CASE("fsdp beside tp gathers the part of a weight that a rank uses") {
  Planned planned("fsdp+tp:2");
  CHECK(planned.plan.mesh.str() == "dp=2,tp=2");
  CHECK(planned.storage(kUp) == "[dp, tp]");
  CHECK(planned.use(kUp) == "[_, tp]");
  CHECK(planned.storage(kDown).substr(0, 6) != "[tp, _");
  CHECK(planned.use(kDown) == "[tp, _]");
  CHECK(planned.storage(kUpM) == planned.storage(kUp));
  CHECK(planned.result(kHidden) == "[dp, tp]");
}

TEST_CASE("hsdp beside tp has three axes") {
  Planned planned("hsdp:2+tp:2", Mesh{{{"replicate", 1}, {"shard", 2}, {"tp", 2}}});
  CHECK(planned.storage(kUp) == "[shard, tp]");
  CHECK(planned.use(kUp) == "[_, tp]");
  CHECK(planned.storage(kX) == "[shard, _]");
}

TEST_CASE("pins by name bind") {
  StepModel model = trainingModel(64, 256, 1024);
  PlannerOptions options;
  options.ranks = 4;
  options.mesh = Mesh{{{"dp", 4}}};
  options.pins = *Pins::fromJson(
      R"({"pins": [{"name": "*.weight", "layout": [["dp"], []], "use": [[], []]}]})");
  Result<PlanReport> plan = planStep(model, h100Node(), options);
  REQUIRE(plan.isOk());
  for (size_t weight : {kUp, kDown}) {
    CHECK(plan->arguments[weight].storage.str(plan->mesh) == "[dp, _]");
    CHECK(plan->arguments[weight].compute.isReplicated());
  }
}

TEST_CASE("pins bind arguments that otherwise follow their only reader") {
  StepModel model = trainingModel(64, 256, 1024);
  for (const char *layout : {R"([["dp"], []])", R"([[], ["dp"]])", "[[], []]"}) {
    PlannerOptions options;
    options.ranks = 4;
    options.mesh = Mesh{{{"dp", 4}, {"tp", 1}}};
    options.pins = *Pins::fromJson(R"({"pins": [{"name": ")" + model.arguments[kUpM].name +
                                   R"(", "layout": )" + layout + "}]}");
    Result<PlanReport> plan = planStep(model, h100Node(), options);
    INFO(layout << (plan.isOk() ? "" : plan.status().message()));
    REQUIRE(plan.isOk());
    const Sharding &found = plan->arguments[kUpM].storage;
    CHECK(found.dims[0].size() == (layout[2] == '"'));
    CHECK(found.dims[1].size() == (layout[6] == '"'));
  }
}

TEST_CASE("pins of ops may name axes of one rank") {
  StepModel model = trainingModel(64, 256, 1024);
  PlannerOptions options;
  options.ranks = 4;
  options.mesh = Mesh{{{"dp", 4}, {"tp", 1}}};
  options.pins = *Pins::fromJson(R"({"pins": [{"op": ")" + model.ops[kHidden].name +
                                 R"(", "layout": [["dp"], ["tp"]]}]})");
  Result<PlanReport> plan = planStep(model, h100Node(), options);
  INFO((plan.isOk() ? "" : plan.status().message()));
  REQUIRE(plan.isOk());
  CHECK(plan->ops[kHidden].results[0].str(plan->mesh) == "[dp, _]");
}

TEST_CASE("a mesh on which a rule cannot be kept leaves the others") {
  StepModel model = trainingModel(2, 256, 1024); // two samples, which four ranks cannot share
  PlannerOptions options;
  options.ranks = 4;
  options.pins = *Pins::fromJson(R"({"pins": [{"op": ")" + model.ops[kHidden].name +
                                 R"(", "layout": [["dp"], []]}]})");
  Result<PlanReport> plan = planStep(model, h100Node(), options);
  INFO((plan.isOk() ? "" : plan.status().message()));
  REQUIRE(plan.isOk());
  CHECK(plan->mesh.str() == "dp=2,tp=2"); // the rule names an axis: names are kept
  options.mesh = Mesh{{{"dp", 4}}};
  Status alone = planStep(model, h100Node(), options).status();
  CHECK(alone.exitCode() == 2);
  CHECK_THAT(alone.message(), Catch::StartsWith("no way is left to place"));
}

TEST_CASE("wrong pins are refused with the reason") {
  CHECK(Pins::parse("zero4").status().message() ==
        "unknown pin zero4; did you mean zero1, zero2 or zero3?");
  CHECK(Pins::parse("none").status().message() ==
        "unknown pin none: expected dp, zero1, zero2, zero3, fsdp, hsdp, megatron, tp, sp, cp, "
        "several of them joined by +, full-recompute, selective-recompute, no-recompute, "
        "sharding-first, offload:states, offload:parameters, offload:activations or a JSON file");
  CHECK_THAT(Pins::fromJson("[]").status().message(), Catch::StartsWith("not a file of pins"));
  CHECK_THAT(Pins::fromJson(R"({"pins": [{"name": "w"}]})").status().message(),
             Catch::StartsWith("pin 1 is malformed"));
  StepModel model = trainingModel(8, 4, 16);
  const Mesh mesh = {{{"dp", 4}}};
  auto check = [&](const std::string &json) {
    return Pins::fromJson(json)->check(model, mesh).message();
  };
  CHECK(check(R"({"pins": [{"name": "up.weight", "layout": [["tp"], []]}]})") ==
        "the pin for up.weight names the axis tp, which the mesh does not have: give --mesh");
  CHECK(check(R"({"pins": [{"name": "nobody", "layout": [["dp"], []]}]})") ==
        "the pin for nobody matches nothing with 2 dims");
  CHECK(check(R"({"pins": [{"name": "up.weight", "layout": [["dp"], []]},
                           {"name": "*.weight", "layout": [["dp"], []]}]})")
            .empty());
  CHECK(check(R"({"pins": [{"name": "up.weight", "layout": [["dp"], []]},
                           {"name": "*.weight", "layout": [[], ["dp"]]}]})") ==
        "the pins for up.weight and for *.weight give up.weight different layouts; leave it out of "
        "one of them");
  model.arguments[kUp].otherNames = {"head.weight"};
  CHECK(check(R"({"pins": [{"name": "head.weight", "layout": [["dp"], []]},
                           {"name": "head.weight", "gathered": "keep"}]})")
            .empty());
  CHECK_THAT(check(R"({"pins": [{"name": "head.weight", "layout": [["dp"], []]},
                                {"name": "up.weight", "layout": [[], []]}]})"),
             Catch::Contains("give up.weight different layouts"));
  CHECK(check(R"({"pins": [{"name": "up.weight", "layout": [["dp"], ["dp"]]}]})") ==
        "the pin for up.weight names the axis dp twice");
  CHECK(check(R"({"pins": [{"name": "up.weight", "layout": [["dp"], []], "use": [[]]}]})") ==
        "the pin for up.weight has a layout of 2 dims and a use of 1, expected as many");
}
