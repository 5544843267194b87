// The planner's decisions in the form of the plan file.
#include "passes/driver/DescribePlan.h"

#include "compiler/cluster/Presets.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;

namespace {

// A compilation whose step has no ops.
struct PlannedModule : Compilation {
  PlannedModule() : Compilation(CompileOptions()) {
    setModule(
        mlir::parseSourceString<mlir::ModuleOp>("func.func @step() { return }", context.get()));
    cluster = *cluster::findCluster("h100-node");
  }

  plan::Plan described(const planner::StepModel &model = {}) {
    plan::Plan plan;
    REQUIRE(describePlan(*this, model, plan));
    return plan;
  }
};

} // namespace

TEST_CASE("the prediction has the planner's seconds and bytes") {
  PlannedModule c;
  c.report.seconds = 0.012;
  c.report.boundSeconds = 0.01;
  c.report.gap = 0.2;
  c.report.arenaBytes = 1000;
  c.report.budget = 1200;
  c.report.isBinding = true;
  const plan::Prediction predicted = c.described().predicted();
  CHECK(predicted.planned_seconds() == 0.012);
  CHECK(predicted.bound_seconds() == 0.01);
  CHECK(predicted.gap() == 0.2);
  CHECK(predicted.peak_bytes() == 1000);
  CHECK(predicted.budget_bytes() == 1200);
  CHECK(predicted.is_memory_binding());
  CHECK(!predicted.is_calibrated()); // a preset
}

TEST_CASE("a layout is compared with the next best one") {
  PlannedModule c;
  c.report.reasons = {{"fc", "graph.dot_general", "split", 1e-3, "whole", 2e-3},
                      {"w", "parameter", "lives as [_]", 0, "", 0, 0, "the only choice"}};
  const plan::Plan plan = c.described();
  REQUIRE(plan.decisions_size() == 2);
  CHECK(plan.decisions(0).name() == "fc");
  CHECK(plan.decisions(0).choice() == "split");
  CHECK(plan.decisions(0).seconds() == 1e-3);
  REQUIRE(plan.decisions(0).alternatives_size() == 1);
  CHECK(plan.decisions(0).alternatives(0).choice() == "whole");
  CHECK(plan.decisions(0).alternatives(0).seconds() == 2e-3);
  CHECK(plan.decisions(1).reason() == "the only choice");
  CHECK(plan.decisions(1).alternatives().empty());
}

TEST_CASE("recomputed ops and kept values have the other decision as an alternative") {
  PlannedModule c;
  c.report.recomputed = {
      {.name = "gelu, recomputed", .op = -1, .seconds = 1e-3, .bytes = 64, .share = 0.5}};
  c.report.kept = {
      {.name = "fc", .op = -1, .bytes = 64, .recomputeSeconds = 2e-3},
      {.name = "y", .op = -1, .bytes = 64, .recomputeSeconds = 2e-3, .mayRecompute = false}};
  const plan::Plan plan = c.described();
  REQUIRE(plan.decisions_size() == 3);
  CHECK(plan.decisions(0).kind() == "recompute");
  CHECK(plan.decisions(0).bytes() == 64);
  CHECK(plan.decisions(0).alternatives(0).choice() == "kept");
  CHECK(plan.decisions(0).alternatives(0).seconds() == -1e-3);
  CHECK(plan.decisions(1).kind() == "kept");
  CHECK(plan.decisions(1).alternatives(0).seconds() == 2e-3);
  CHECK(plan.decisions(2).alternatives().empty());
}

TEST_CASE("the cast of a parameter is marked, and so is how the parameter is gathered") {
  // All values are scalars; `cast` reads the parameter, `fc` reads the input and the cast.
  planner::StepModel model;
  model.arguments = {{.name = "w", .role = Role::Parameter, .value = 0},
                     {.name = "x", .role = Role::Input, .value = 1}};
  model.values.resize(4);
  model.values[0].argument = 0, model.values[1].argument = 1;
  auto add = [&](const char *name, std::vector<int> operands, int result) {
    planner::Op &op = model.ops.emplace_back();
    op.name = name, op.operands = operands, op.results = {result};
    op.rule.operands.resize(operands.size()), op.rule.results.resize(1);
  };
  add("cast", {0}, 2), add("fc", {1, 2}, 3);
  PlannedModule c;
  c.report.recomputed = {{.name = "cast, recomputed", .op = 0},
                         {.name = "fc, recomputed", .op = 1}};
  c.report.kept = {{.name = "cast", .op = 0}, {.name = "fc", .op = 1}};
  c.report.mesh = *Mesh::parse("dp=2");
  c.report.arguments.resize(2);
  c.report.reasons = {{"w", "parameter", "lives whole"}};
  auto gathering = [&] { return c.described(model).decisions(0).gathering(); };
  CHECK(gathering() == plan::NOT_GATHERED);
  c.report.arguments[0].storage.dims = {{0}};
  c.report.arguments[0].staysGathered = true;
  CHECK(gathering() == plan::GATHERED_ONCE);
  c.report.arguments[0].staysGathered = false;
  CHECK(gathering() == plan::GATHERED_AGAIN);
  const plan::Plan plan = c.described(model);
  std::vector<std::string> ofParameters;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.is_of_parameters())
      ofParameters.push_back(decision.kind() + " " + decision.name());
  CHECK(ofParameters == std::vector<std::string>{"recompute cast, recomputed", "kept cast"});
}

TEST_CASE("products in f32 on a device that is faster in bf16 are a hint") {
  PlannedModule c;
  plan::Plan plan;
  plan.mutable_predicted()->set_peak_type("bf16");
  suggestLowType(c, plan);
  CHECK(c.remarks.empty());
  plan.mutable_predicted()->set_peak_type("f32");
  suggestLowType(c, plan);
  REQUIRE(c.remarks.size() == 1);
  CHECK(c.remarks[0].kind == "hint");
  CHECK(c.remarks[0].text == "matrix products compute in f32, at most 66.9 TFLOP/s per device; "
                             "--dtype bf16 computes them at up to 989 TFLOP/s");
  c.cluster->isCpu = true;
  suggestLowType(c, plan);
  CHECK(c.remarks.size() == 1);
}

TEST_CASE("a type in which products are less than four times as fast is no hint") {
  for (double factor : {3.9, 4.1}) {
    PlannedModule c;
    c.cluster->compute["bf16"].peakFlops = factor * c.cluster->computeOf("f32").peakFlops;
    plan::Plan plan;
    plan.mutable_predicted()->set_peak_type("f32");
    suggestLowType(c, plan);
    CHECK(c.remarks.empty() == (factor < 4));
  }
}

TEST_CASE("a mesh that was tried has an outcome") {
  PlannedModule c;
  const Mesh mesh = *Mesh::parse("dp=2");
  c.report.meshesTried = {{mesh, true, 1, 64, "chosen"},
                          {mesh, true, 2, 64, ""},
                          {mesh, false, 3, 0, ""},
                          {mesh, false, 0, 0, "does not fit"}};
  const plan::Plan plan = c.described();
  REQUIRE(plan.decisions_size() == 4);
  std::vector<std::string> outcomes;
  for (const plan::Decision &decision : plan.decisions()) {
    CHECK(decision.name() == "dp=2");
    CHECK(decision.kind() == "mesh");
    outcomes.push_back(decision.choice());
  }
  CHECK(outcomes == std::vector<std::string>{"chosen", "slower", "at least", "none"});
}

TEST_CASE("answers of what-if, the pin and remarks on memory are decisions, too") {
  PlannedModule c;
  c.variants = {{"--ranks 2", "12 % less time", 0.01, "mesh dp=2"}};
  c.report.pin = "zero3 splits parameters";
  c.report.remarks = {{.kind = "memory", .text = "12 MiB"}, {.kind = "op", .text = "fc"}};
  const plan::Plan plan = c.described();
  REQUIRE(plan.decisions_size() == 3);
  CHECK(plan.decisions(0).kind() == "what-if");
  CHECK(plan.decisions(0).seconds() == 0.01);
  CHECK(plan.decisions(1).reason() == "zero3 splits parameters");
  CHECK(plan.decisions(2).reason() == "12 MiB");
}
