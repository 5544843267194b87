// The parts of a step, and its clock and buffers where no program is known.
#include "compiler/planner/model/StepModel.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a step has a forward, a backward and an update part") {
  StepModel model = trainingModel(8, 4, 16);
  std::string parts;
  for (const Op &op : model.ops)
    parts += "FBU"[static_cast<int>(op.part)];
  // dots, relu, mul, reduce | constant … accumulate, step count | adam, adam
  CHECK(parts == "FFFFFBBBBBBBBBBUU");
}

TEST_CASE("plain stores live from their producer to their last reader") {
  StepModel model = trainingModel(8, 4, 16);
  setPlainStores(model);
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Span &runs = model.ops[i].runs;
    CHECK(runs.begin <= runs.end);
    if (i > 0)
      CHECK(model.ops[i - 1].runs.end <= runs.end);
    CHECK(runs.end <= model.instants);
  }
  std::vector<int> homes(model.values.size(), 0);
  for (const Store &store : model.stores) {
    if (store.value < 0 || store.op >= 0)
      continue;
    ++homes[store.value];
    const Value &value = model.values[store.value];
    CHECK(store.bytes == value.bytes());
    if (value.argument >= 0)
      CHECK(store.span == Span{0, model.instants});
    for (const Use &use : value.uses)
      CHECK(model.ops[use.op].runs.end <= store.span.end);
    if (value.producer >= 0)
      CHECK(store.span.begin <= model.ops[value.producer].runs.begin);
  }
  for (const Argument &argument : model.arguments)
    CHECK(homes[argument.value] == 1);
}

TEST_CASE("a value has the bytes of its elements, and the name of its maker or argument") {
  StepModel model = trainingModel(8, 4, 16);
  CHECK(model.values[model.arguments[0].value].bytes() == 8 * 4 * 4);
  CHECK(nameOf(model, model.arguments[0].value) == model.arguments[0].name);
  CHECK(nameOf(model, model.ops[0].results[0]) == model.ops[0].name);
  CHECK(std::string(name(Part::Forward)) + name(Part::Backward) + name(Part::Update) ==
        "forwardbackwardupdate");
}
