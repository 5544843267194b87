// The layout changes that follow from decisions.
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// exp(x), read by three ops of the forward pass.
static const char *const kReaders = R"(
func.func @step(%x: tensor<64x64xf32> {graph.role = "input", graph.name = "x"}) ->
    (tensor<64x64xf32> {graph.role = "output", graph.name = "a"}, tensor<64x64xf32> {graph.role = "output", graph.name = "b"},
     tensor<64x64xf32> {graph.role = "output", graph.name = "c"}) {
  %h = graph.exp %x : tensor<64x64xf32>
  %a = graph.neg %h : tensor<64x64xf32>
  %b = graph.abs %h : tensor<64x64xf32>
  %c = graph.tanh %h : tensor<64x64xf32>
  return %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
})";

TEST_CASE("readers share changes and begin from the copy") {
  GraphText text(kReaders);
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  Decisions plan;
  plan.mesh = Mesh{{{"dp", 2}}};
  const Sharding whole = Sharding::replicated(2), rows{{{0}, {}}, {}, {}},
                 columns{{{}, {0}}, {}, {}};
  plan.arguments = {{rows, rows}};
  plan.ops = {{{{0}, {}}, {}, {rows}},
              {{{}, {}}, {}, {whole}},
              {{{}, {}}, {}, {whole}},
              {{{}, {0}}, {}, {columns}}};
  std::vector<LayoutChange> changes = layoutChanges(*model, plan);
  REQUIRE(changes.size() == 2); // rows to whole once, rows to columns
  CHECK((changes[0].from == rows && changes[0].to == whole && changes[0].user == 1));
  CHECK((changes[1].from == rows && changes[1].to == columns && changes[1].user == 3));
  plan.copies = {{1, Part::Forward, whole}};
  changes = layoutChanges(*model, plan);
  REQUIRE(changes.size() == 2); // the copy serves two readers as it is
  CHECK((changes[0].purpose == ChangePurpose::Copy && changes[0].to == whole));
  CHECK((changes[1].from == whole && changes[1].to == columns));
  plan.copies = {{1, Part::Backward, whole}}; // no reader there
  CHECK(layoutChanges(*model, plan).size() == 2);
  CHECK(layoutChanges(*model, plan)[1].from == rows);
}

TEST_CASE("every operand is read in the layout that its op wants") {
  const StepModel model = trainingModel(512, 1024, 4096);
  for (const char *pins : {"dp", "zero3", "megatron", ""}) {
    const PlanReport plan = plannedBy(model, pins, 4);
    const std::vector<LayoutChange> changes = layoutChanges(model, plan);
    INFO(pins);
    for (const LayoutChange &change : changes)
      CHECK(change.from != change.to);
    for (size_t i = 0; i < model.ops.size(); ++i) {
      const Op &op = model.ops[i];
      const OpChoice choice = choiceOf(op, plan.ops[i]);
      for (size_t k = 0; k < op.operands.size(); ++k) {
        const int value = op.operands[k];
        const bool isMade = std::any_of(changes.begin(), changes.end(), [&](const auto &change) {
          return change.value == value && change.to == choice.operands[k];
        });
        CHECK((isMade || homeOf(model, plan, value) == choice.operands[k]));
      }
    }
    CHECK(std::is_sorted(changes.begin(), changes.end(), [](const auto &a, const auto &b) {
      return static_cast<int>(a.purpose) < static_cast<int>(b.purpose);
    }));
  }
}
