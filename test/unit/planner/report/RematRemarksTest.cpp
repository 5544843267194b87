// Remarks on values that are kept or recomputed.
#include "compiler/planner/report/RematRemarks.h"
#include "compiler/planner/remat/ChooseRemat.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("what the backward part reads of the forward part is kept, with its price") {
  const StepModel model = modelOf(deepStep(4, 64, 16));
  const PlanReport plan = plannedBy(model, "", 2);
  Costs costs(model, h100Node(), plan.mesh);
  const ForwardReads reads = readsOf(model);
  std::vector<int> read;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (model.ops[i].part == Part::Forward && reads.first[i] != ForwardReads::kNever)
      read.push_back(i);
  REQUIRE(read.size() > 4);
  const std::vector<KeptValue> kept = keptValuesOf(costs, plan);
  REQUIRE(kept.size() == read.size());
  for (size_t k = 0; k < kept.size(); ++k) {
    const Op &op = model.ops[read[k]];
    CHECK(kept[k].op == read[k]);
    CHECK(kept[k].name == op.name);
    // An exponential needs its product again; an input is a sum of two values that are kept.
    const bool isExponential = op.kind == "graph.exp";
    CHECK(kept[k].recomputedBefore == (isExponential ? 1 : 0));
    double seconds = recomputeSeconds(costs, plan, read[k]);
    if (isExponential)
      seconds += recomputeSeconds(costs, plan, model.values[op.operands[0]].producer);
    CHECK(kept[k].recomputeSeconds == seconds);
    CHECK(kept[k].bytes ==
          localBytes(model.values[op.results[0]], plan.ops[read[k]].results[0], plan.mesh));
    CHECK(kept[k].share > 0);
    CHECK(kept[k].share < 1);
  }
  CHECK(kept.front().share > kept.back().share); // the first layer waits longest
  CHECK(recomputedOps(costs, plan).empty());
}

TEST_CASE("a value of which the backward part reads a view is kept with its bytes") {
  const StepModel model = modelOf(R"(
    func.func @step(%x: tensor<8x16xf32> {graph.role = "input", graph.name = "x"},
                    %w: tensor<16x16xf32> {graph.role = "parameter", graph.name = "w"})
        -> (tensor<f32> {graph.role = "loss", graph.name = "loss"},
            tensor<16x16xf32> {graph.role = "parameter", graph.name = "w", graph.alias = 1 : i64}) {
      %h = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
          : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
      %v = graph.reshape %h : tensor<8x16xf32> -> tensor<128xf32>
      %s = graph.mul %v, %v : tensor<128xf32>
      %l = graph.reduce sum %s over [0] : tensor<128xf32> -> tensor<f32>
      %two = graph.constant dense<2.0> : tensor<128xf32>
      %dv = graph.mul %v, %two : tensor<128xf32>
      %dh = graph.reshape %dv : tensor<128xf32> -> tensor<8x16xf32>
      %g = graph.dot_general %x, %dh batch [] x [] contract [0] x [0]
          : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
      %n = graph.add %w, %g : tensor<16x16xf32>
      return %l, %n : tensor<f32>, tensor<16x16xf32>
    })");
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const std::vector<KeptValue> kept = keptValuesOf(costs, plan);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].bytes == 8 * 16 * 4);
}

TEST_CASE("ops that come from one op of the model are told apart by their operands") {
  const StepModel model = modelOf(R"(
    func.func @step(%x: tensor<8x16xf32> {graph.role = "input", graph.name = "x"},
                    %w: tensor<16x16xf32> {graph.role = "parameter", graph.name = "w"})
        -> (tensor<f32> {graph.role = "loss", graph.name = "loss"},
            tensor<16x16xf32> {graph.role = "parameter", graph.name = "w", graph.alias = 1 : i64}) {
      %h = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
          : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32> loc("layer")
      %e = graph.exp %h : tensor<8x16xf32> loc("layer")
      %d = graph.exp %e : tensor<8x16xf32> loc("layer")
      %l = graph.reduce sum %d over [0, 1] : tensor<8x16xf32> -> tensor<f32>
      %again = graph.exp %h {graph.recomputed = 1 : i64} : tensor<8x16xf32> loc("layer")
      %dh = graph.mul %again, %h : tensor<8x16xf32>
      %g = graph.dot_general %x, %dh batch [] x [] contract [0] x [0]
          : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
      %n = graph.add %w, %g : tensor<16x16xf32>
      return %l, %n : tensor<f32>, tensor<16x16xf32>
    })");
  const PlanReport plan = plannedBy(model, "", 1);
  Costs costs(model, h100Node(), plan.mesh);
  const std::vector<RecomputedOp> recomputed = recomputedOps(costs, plan);
  REQUIRE(recomputed.size() == 1);
  // From the first exponential, not from the product.
  CHECK(recomputed[0].share ==
        Approx(double(model.ops[recomputed[0].op].runs.begin - model.ops[1].runs.end) /
               double(model.instants)));
  const std::vector<KeptValue> kept = keptValuesOf(costs, plan);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].op == 0);
  CHECK_FALSE(kept[0].isPartRecomputed); // a namesake is recomputed
}

TEST_CASE("a value that is kept says from which price of memory on it would be recomputed") {
  KeptValue value{.name = "gelu", .bytes = 1 << 20, .share = 0.25, .recomputeSeconds = 1e-6};
  PlanReport plan;
  CHECK(choiceText(value) == "1.00 MiB kept during 25.0 % of the step");
  CHECK(reasonText(value, plan) ==
        "recomputing it would take 1.00 us; worth it where memory saves more than 1.02 ms per GiB");
  plan.secondsPerByte = 1e-3 / (1 << 30);
  CHECK_THAT(reasonText(value, plan), Catch::EndsWith("; here it saves 1.00 ms per GiB"));
  value.mayRecompute = false;
  CHECK_THAT(reasonText(value, plan), Catch::StartsWith("cannot be recomputed"));
}

TEST_CASE("a recomputed op says up to which price of memory it is not worth it") {
  const RecomputedOp op{
      .name = "gelu, recomputed", .op = 7, .seconds = 2e-6, .bytes = 1 << 20, .share = 0.5};
  PlanReport plan;
  CHECK(choiceText(op) == "1.00 MiB not kept during 50.0 % of the step");
  CHECK(reasonText(op, plan) ==
        "recomputing takes 2.00 us; not worth it where memory saves less than 2.05 ms per GiB");
  plan.recomputed = {op};
  plan.kept = {{.name = "tanh", .op = 3, .bytes = 1024, .share = 0.1}};
  const std::vector<PlanRemark> remarks = remarksOnRemat(plan);
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[0].kind == "kept");
  CHECK(remarks[0].op == 3);
  CHECK_THAT(remarks[0].text, Catch::StartsWith("tanh: 1.00 KiB kept during 10.0 % of the step; "));
  CHECK(remarks[1].kind == "recompute");
  CHECK(remarks[1].op == 7);
}
